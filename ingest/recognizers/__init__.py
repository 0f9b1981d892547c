"""Pattern recognisers, each gated by literal triggers; all follow the protocol of ``ingest.frame``."""
