"""The index of a generation: plain binary files that derive from its tables alone and are read where they lie."""
