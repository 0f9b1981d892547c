"""Notations of variants: the exact spans of expressions of change, in HGVS, older and prose notation."""
