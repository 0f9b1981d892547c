"""Systems that the engine is measured against: dense and lexical retrieval, a chat model that reads what was found."""
