"""The English front end: a clinician's sentence to a query, offline and by rule, or a refusal that says why."""
