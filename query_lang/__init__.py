"""The query language: grammar, syntax tree, name resolution and rendering."""
