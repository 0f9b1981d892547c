"""The answers beside a cohort: explanations, evidence, funnels, rank, journeys."""
