"""How variants are written: the exact spans of expressions of change, in HGVS, older and prose notation."""
