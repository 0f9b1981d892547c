"""Consistency without gold: paraphrases, intersections, subtypes and set laws (Automatic Cohort Retrieval, section 4.4)."""
