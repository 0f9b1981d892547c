"""Free SQL over a knowledge base: what may be said, and the process of its own in which it is answered."""
