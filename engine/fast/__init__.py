"""The fast engine: plan, rewrites, bitmaps, then candidates."""
