"""Text before meaning: sections, sentences, tokens, gates, vocabulary."""
