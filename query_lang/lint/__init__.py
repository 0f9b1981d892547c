"""The linter: what is doubtful in a query that can be read, each finding with its place and what to do about it."""
