"""What is told beside a cohort: explanations, evidence, funnels, rank, journeys."""
