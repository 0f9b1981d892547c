"""The query bank of the ACR paper: its questions, their formal queries, labels, and the scored run."""
