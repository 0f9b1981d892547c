"""Proofs: records of why a patient is a member, and the checker that trusts none of them."""
