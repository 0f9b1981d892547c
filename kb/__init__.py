"""The knowledge base: event model, ontology, DuckDB store and posting lists."""
