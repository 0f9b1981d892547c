"""Answering: the engine that defines each query node, the fast one that agrees with it, cohorts and explanations."""
