"""The read-back of a query: what it asks, in plain English."""
