"""Context of a mention: negated, uncertain, family, planned, whose, when."""
