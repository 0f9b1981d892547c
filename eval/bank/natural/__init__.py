"""Questions in plain English: whether their translations mean what is meant, and what they answer."""
