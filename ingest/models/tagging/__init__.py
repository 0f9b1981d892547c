"""Learned recognition: words and pieces, decoding, model directories, runtimes, the recogniser."""
