"""From a trained network to the files that are shipped."""
