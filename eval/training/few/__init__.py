"""Learning from few documents: augmentation, guidelines, silver labels, curves."""
