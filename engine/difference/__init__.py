"""Two states of the same patients: who joins and who leaves the answer to a query, and what caused it."""
