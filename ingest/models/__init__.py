"""Learned parts of reading: taggers, linking, chat models; none is needed."""
