"""Cohort definitions of OHDSI (Circe JSON) into the query language, with a list of what could not be carried."""
