"""Links a mention that the lexicon lacks to a concept, or says that it cannot."""
