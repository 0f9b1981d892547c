"""The SQL front end: a read-only subset of SQL over events as virtual tables, read into the query tree."""
