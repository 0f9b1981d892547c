"""Mapped files that answer without event rows: posting lists, lists by attribute value, the ids of patients."""
