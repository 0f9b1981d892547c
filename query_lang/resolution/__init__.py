"""The resolution of a parsed query: names to concepts, conditions to the form in which values are recorded."""
