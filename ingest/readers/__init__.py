"""Sources in: files and folders of notes as a stream of notes and quarantined records, one at a time."""
