"""The ontology: concepts, names, scales, search, lint, and the files that hold them."""
