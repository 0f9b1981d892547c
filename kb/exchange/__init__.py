"""A knowledge base as a folder of Parquet files that any program reads, and back."""
