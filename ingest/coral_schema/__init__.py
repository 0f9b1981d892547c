"""The CORAL schema, its questions and its file formats."""
