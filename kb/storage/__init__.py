"""The store: generations on disk, the tables, who writes and who reads them."""
