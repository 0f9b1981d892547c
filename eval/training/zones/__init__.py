"""Learns whom the sentences of notes are about, from notes with marked stretches."""
