"""One pass over a corpus: statistics that add up, chunk by chunk, on any number of workers.

Statistics are a monoid: they start at `zero`, `add` a chunk, and `merge` with those of other
chunks. Every chunk is counted apart and merged in the corpus's order, so the result does not
depend on the number of workers, down to the last bit. The workers are joblib's: in a
``joblib.parallel_config("dask")`` block (or Ray's, or Spark's) they are a cluster's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Generic, Self, TypeVar

WAVE = 64  # chunks whose statistics are held at once

Chunk = TypeVar("Chunk")
Kind = TypeVar("Kind", bound="Statistics[Any]")
Counted = Callable[[int], None]


class Statistics(ABC, Generic[Chunk]):
    """Sums over chunks of a corpus."""

    @abstractmethod
    def zero(self) -> Self:
        """Return statistics of the same kind that have seen nothing."""

    @abstractmethod
    def add(self, chunk: Chunk) -> None:
        """Count a chunk."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Count what `other` has counted."""


def gather(
    start: Kind,
    chunks: Iterable[Chunk],
    jobs: int | None = None,
    counted: Counted = lambda chunks: None,
    *,
    threads: bool = False,
    held: int = WAVE,
) -> Kind:
    """Return `start` and what all chunks add to it; `start` itself is left alone.

    Parameters
    ----------
    start
        Statistics of the kind that is wanted; usually empty ones.
    chunks
        Parts of the corpus. They may be made one after another: only some are held at once.
    jobs
        Workers, as joblib understands them; None: one, or as `joblib.parallel_config` says.
    counted
        Told how many chunks have been counted so far.
    threads
        Prefer threads to processes, for counting that is compiled and lets go of the interpreter.
    held
        Chunks whose statistics are held at once; less for large statistics.
    """
    from joblib import Parallel, delayed

    whole = start.zero()
    whole.merge(start)
    waiting = iter(chunks)
    done = 0
    workers = Parallel(n_jobs=jobs, prefer="threads" if threads else None)
    alone = workers.n_jobs == 1
    while wave := list(islice(waiting, 1 if alone else held)):
        if alone:
            found = [_count(start.zero(), wave[0])]
        else:
            found = workers(delayed(_count)(start.zero(), chunk) for chunk in wave)
        for part in found:
            whole.merge(part)
        done += len(wave)
        counted(done)
    return whole


def _count(statistics: Kind, chunk: Chunk) -> Kind:
    statistics.add(chunk)
    return statistics
