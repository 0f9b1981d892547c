"""The optional translator that asks a chat model for a query: off unless it is set up and asked for by the caller."""
