"""Dynamic programs: queries over ragged batches, in compiled kernels."""
