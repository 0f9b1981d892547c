"""Learns how far statements are to be trusted, from statements that people judged."""
