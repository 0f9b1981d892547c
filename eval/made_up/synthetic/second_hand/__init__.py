"""A second hand: turns simulated oncology visits into clinical notes whose words all live in TOML tables."""
