"""Retrieval baselines: chunks, encoders, vectors, nearest neighbours, tuning."""
