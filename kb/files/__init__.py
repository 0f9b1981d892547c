"""Files that are written whole or not at all, and files that are proven by their digests when they are read."""
