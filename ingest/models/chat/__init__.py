"""Mentions that a chat model finds: off unless it is asked for, and allowed to have the notes."""
