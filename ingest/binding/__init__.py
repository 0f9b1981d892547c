"""Binding: which value, organ and tumor a word belongs to."""
