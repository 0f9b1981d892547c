"""An independent verifier of proofs: it looks at the knowledge base itself and imports nothing of the engine."""
