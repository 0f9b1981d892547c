"""Scores of reading: entities, relations, facts, notation, and the corpora they are scored on."""
