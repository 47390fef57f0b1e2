"""Moments on a real cluster of processes: the same to the last bit, also when a worker dies."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from syntagma.corpora.generated import latent_trees
from syntagma.moments.passes import gather
from syntagma.moments.trees import TreeChunk, TreeMoments

SIZE = 500  # trees of a chunk

distributed = pytest.importorskip("distributed")


def test_a_cluster_counts_the_same_and_survives_the_death_of_a_worker():
    import joblib

    drawn = latent_trees(3, 8, 20 * SIZE, seed=0)
    embedding = np.linalg.svd(drawn.emissions.T, full_matrices=False)[0]
    chunks = [
        TreeChunk(
            drawn.symbols[first : first + SIZE].ravel(),
            drawn.heads[first : first + SIZE].ravel(),
            np.arange(SIZE + 1) * 5,
        )
        for first in range(0, len(drawn.symbols), SIZE)
    ] * 10
    empty = TreeMoments.of(embedding)
    serial = gather(empty, chunks)
    processes = gather(empty, chunks, 2)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):  # fmt: skip
        whole = gather(empty, chunks)
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def kill(done: int) -> None:
            """When the first chunks have been counted, and others are still to come."""
            if not killed:
                os.kill(victim, signal.SIGKILL)
                killed.append(done)

        survived = gather(empty, chunks, counted=kill)
        assert 0 < killed[0] < len(chunks)
    for found in (processes, whole, survived):
        assert found.words == serial.words
        for name in ("word", "left_pairs", "triples", "children", "right_child"):
            np.testing.assert_array_equal(getattr(found, name), getattr(serial, name))
