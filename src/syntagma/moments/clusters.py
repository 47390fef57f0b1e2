"""Classes of words from their vectors: k-means, the same whatever the number of threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError

FloatArray = NDArray[np.float64]
Int32 = NDArray[np.int32]

FEW = 100  # classes, for which the best of several starts is taken


def divided(vectors: FloatArray, sizes: Sequence[int], seed: int = 0) -> Int32:
    """Divide words into classes, once for each number of classes; rows are divisions."""
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    rows = []
    for size in sizes:
        if not 1 <= size <= len(vectors):
            raise InputError(f"expected 1 to {len(vectors)} classes of words, found {size}")
        starts = 5 if size <= FEW else 1
        model = MiniBatchKMeans(
            size, batch_size=4096, n_init=starts, max_iter=20, random_state=seed
        )
        with threadpool_limits(1):
            rows.append(model.fit_predict(vectors).astype(np.int32))
    return np.stack(rows)


def flattened(vectors: FloatArray, seed: int = 0) -> FloatArray:
    """Lay vectors out in the plane so that near ones stay near (t-SNE), for a picture."""
    if len(vectors) < 4:
        return np.zeros((len(vectors), 2)) + np.arange(len(vectors))[:, None]
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(15.0, (len(vectors) - 1) / 3)
    model = TSNE(method="exact", perplexity=perplexity, max_iter=500, random_state=seed)
    with threadpool_limits(1):
        return np.asarray(model.fit_transform(vectors), np.float64)
