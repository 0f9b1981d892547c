"""Measuring: metrics, the query bank and scored runs; nothing else imports it."""
