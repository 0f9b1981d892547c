"""Consistency without labels: paraphrases, intersections, subtypes and set laws (ACR paper, section 4.4)."""
