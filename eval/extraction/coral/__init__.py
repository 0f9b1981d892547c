"""Scores of oncologic extraction, as the CORAL paper defines them, of our reading and of a chat model's answers."""
