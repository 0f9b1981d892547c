"""Expressions of change against annotated corpora: exact spans, by class."""
