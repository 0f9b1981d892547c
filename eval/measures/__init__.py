"""Measures: what each number means, how it is computed, and its interval."""
