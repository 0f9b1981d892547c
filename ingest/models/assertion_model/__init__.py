"""Context of a mention as a light classifier, beside the rules."""
