"""The benchmark: every system is asked every question of the bank, and the answers are scored side by side."""
