"""Text to query tree: the parser, the builder of nodes, parameters and libraries, and what a wrong query is told."""
