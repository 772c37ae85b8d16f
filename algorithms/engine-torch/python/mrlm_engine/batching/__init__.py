"""Units of sequences: decoded and checked, planned into micro-batches, laid out for the model."""
