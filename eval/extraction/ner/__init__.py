"""Scores of named entities, as the NeuroTrialNER paper defines them: of abstracts and of tokens."""
