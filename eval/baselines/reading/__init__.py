"""Reader baselines: a chat model that reads passages, and its offline stand-in."""
