"""How far a single statement is to be trusted: whose it is and whether it is so, learned from its surroundings."""
