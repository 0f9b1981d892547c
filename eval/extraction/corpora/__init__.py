"""Annotated corpora of entities as one type: readers, splits, overlap, maps of labels."""
