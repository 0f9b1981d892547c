"""Notes in: readers, recognisers, context, dates, the document model and the patient's journey."""
