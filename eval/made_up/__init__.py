"""Made-up patients: corpora of notes and knowledge bases of any size."""
