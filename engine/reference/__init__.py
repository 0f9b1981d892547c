"""The reference engine in plain Python, which defines every node."""
