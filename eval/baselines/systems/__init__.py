"""Systems that answer cohort questions, behind one contract: the engine, retrievers, retrievers with a reader."""
