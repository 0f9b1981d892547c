"""Facts that follow from facts: rows of rules (the tables here), and the editions of the manuals they come from."""
