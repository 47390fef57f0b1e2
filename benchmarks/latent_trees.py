"""Latent trees: moments and parameters, EM, scores of lists of trees, and parsing.

There is no peer to install for latent dependency trees; EM, on the same trees and with as many
states, is what the spectral estimate is measured beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.structures_arcs import seconds_of
from syntagma import LatentTree, english, read_treebank
from syntagma.models.latent_tree import chunks_of
from syntagma.moments.passes import gather
from syntagma.moments.tree_contexts import tree_embedding
from syntagma.moments.tree_operators import solve_matched
from syntagma.moments.trees import TreeChunk, TreeMoments

DIMENSIONS = (5, 10, 20, 50)
TREES = 50  # in a list
PARSED = 200  # sentences


def run(data: Path | None) -> Iterator[dict[str, Any]]:
    """Measure on English-EWT, or on generated English without data: one dict a measurement."""
    train = (
        read_treebank(data / "ud" / "en_ewt-train.conllu.xz")
        if data
        else english(4000, seed=0).treebank
    )
    size = {"sentences": len(train), "words": train.words, "threads": numba.get_num_threads()}
    for dim in DIMENSIONS:
        model = LatentTree(dim=dim, learner="em", iterations=1).fit(train)
        chunk = TreeChunk(model._rows_of(train), train.heads, train.offsets)
        embedding = tree_embedding(chunk, len(model.words_), dim, 0)

        def estimate(chunk: TreeChunk = chunk, embedding: Any = embedding) -> Any:
            moments = gather(TreeMoments.of(embedding), chunks_of(chunk)).whitened()
            return solve_matched(moments, ridge=0.01)

        seconds = seconds_of(estimate)
        yield {
            "benchmark": "parameters of latent trees by moments",
            **size,
            "dim": dim,
            "seconds": round(seconds, 4),
            "words_per_second": round(train.words / seconds),
        }
        by_steps = LatentTree(dim=dim, learner="em", iterations=10, tolerance=0.0)
        seconds = seconds_of(partial(by_steps.fit, train))
        yield {
            "benchmark": "ten iterations of EM",
            **size,
            "dim": dim,
            "seconds": round(seconds, 3),
        }
        some = train[:2000]
        trees = np.repeat(some.heads[None], TREES, axis=0)
        seconds = seconds_of(partial(model.score_trees, some, trees))
        yield {
            "benchmark": "scores of trees",
            **size,
            "dim": dim,
            "trees_per_second": round(TREES * len(some) / seconds),
        }
        if dim <= 20:
            few = train[:PARSED]
            seconds = seconds_of(partial(model.predict, few))
            yield {
                "benchmark": "parsing with latent trees",
                **size,
                "dim": dim,
                "sentences_per_second": round(len(few) / seconds),
                "words_a_sentence": round(few.words / len(few), 1),
            }
