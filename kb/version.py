"""The version of the program, where everything may import it: no folder of ours lies below ``kb``."""

__version__ = "0.1.0"
