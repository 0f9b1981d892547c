"""A model behind an OpenAI-compatible address: where it is, one request to it, and the leave to send it notes."""
