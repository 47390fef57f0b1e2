"""An embedding of words by their neighbours in trees, for treebanks that come with none."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, hstack

from syntagma.errors import InputError
from syntagma.moments.inverses import FloatArray
from syntagma.moments.sparse import strongest
from syntagma.moments.trees import TreeChunk

SMOOTHING = 1.0  # added to how often a word or a neighbour is seen, before correlations are taken


def head_words(chunk: TreeChunk) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of all words that have a head among the words, and those heads' places."""
    starts = np.repeat(chunk.offsets[:-1], np.diff(chunk.offsets))
    children = np.flatnonzero(chunk.heads > 0)
    return children, (starts + chunk.heads - 1)[children]


def tree_embedding(chunk: TreeChunk, vocabulary: int, dim: int, seed: int) -> FloatArray:
    """Embed words by canonical correlation with their neighbours in the tree.

    A neighbour is a head to the left or right, or a child to the left or right; each of the four is
    a view of its own. The rows belong to the ``vocabulary``; the first dimension is about the same
    for all words.
    """
    children, heads = head_words(chunk)
    left = children < heads
    views = []
    for side in (left, ~left):
        below, above = chunk.rows[children[side]], chunk.rows[heads[side]]
        pairs = coo_array((np.ones(len(below)), (below, above)), shape=(vocabulary, vocabulary))
        views += [pairs.tocsr(), pairs.T.tocsr()]
    counts = csr_array(hstack(views))
    if min((counts.sum(1) > 0).sum(), (counts.sum(0) > 0).sum()) < dim:
        raise InputError(
            f"expected at least {dim} different words with neighbours in the trees, found "
            f"{int((counts.sum(1) > 0).sum())}: ask for fewer dimensions, or give more trees"
        )
    rows, columns = (1.0 / np.sqrt(counts.sum(axis) + SMOOTHING) for axis in (1, 0))
    whitened = diags_array(rows) @ counts @ diags_array(columns)
    return np.ascontiguousarray(strongest(whitened, dim, seed).left * rows[:, None])
