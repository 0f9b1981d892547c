"""The query bank and questions in English: their labels, scores and consistency."""
