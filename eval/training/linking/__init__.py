"""Training of the linker."""
