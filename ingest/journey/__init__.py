"""The patient's journey: one patient's mentions, of all notes, joined to events, tumors and decisions."""
