"""Scores of named entities, as the Real-MedNLP task defines them: weighted by how often an entity occurs."""
