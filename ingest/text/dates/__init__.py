"""Dates in text: words, patterns, parts, and their reader."""
