"""One note: its steps, its mentions, what models propose."""
