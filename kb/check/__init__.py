"""The check of a knowledge base: its keys, spans, ids, dates, worlds, order and index; and its repair."""
