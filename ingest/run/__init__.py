"""One run of ingest: pipeline, batches, workers, spool, versions, report."""
