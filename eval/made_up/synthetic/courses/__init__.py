"""Simulated clinical courses: who the patients are, what befell them, and at which occasions it was written down."""
