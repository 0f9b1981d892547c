"""Notes of many styles from simulated courses, with the place of every fact that they state."""
