"""Whether a knowledge base holds together: its keys, spans, ids, dates, worlds, order and index; and its repair."""
