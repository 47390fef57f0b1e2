"""The spectral core: embeddings, moments, observable operators."""
