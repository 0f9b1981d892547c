"""What the engine is measured against: dense and lexical retrieval, and a chat model that reads what was retrieved."""
