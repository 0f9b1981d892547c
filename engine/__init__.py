"""Answering: query evaluation, cohorts, explanations and the Python API."""
