"""Checkpoints: where a long training stands, on disk, so that it can go on to the same end.

A checkpoint knows the fingerprint of its data and parameters; it refuses to continue anything else.
When one is written depends on the clock, what it leads to does not: it holds the exact state.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path as FilePath
from typing import Any

from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.training.storage import Arrays, Path, read_arrays, write_arrays


class Checkpoint:
    """A checkpoint file beside the model that is being trained.

    Parameters
    ----------
    path
        Where the checkpoint is kept; it is removed by `finish`.
    fingerprint
        Identifies data and parameters; see `fingerprint`.
    resume
        Whether an existing checkpoint is taken up (otherwise it is overwritten in time).
    every
        Least number of seconds between two checkpoints.
    """

    def __init__(
        self, path: Path, fingerprint: str, *, resume: bool = False, every: float = 10.0
    ) -> None:
        self.path = FilePath(path)
        self.fingerprint = fingerprint
        self.resume = resume
        self.every = every
        self._last = time.monotonic()

    def restore(self) -> Arrays | None:
        """Return the saved state, or None to start afresh."""
        if not (self.resume and self.path.exists()):
            return None
        header, _, arrays = read_arrays(self.path)
        if header.get("kind") != "checkpoint" or header.get("fingerprint") != self.fingerprint:
            raise InputError(
                "this checkpoint belongs to other data, options or a different version; "
                "train without --resume to start afresh",
                path=self.path,
            )
        return arrays

    def due(self) -> bool:
        """Whether the last checkpoint is old enough for another."""
        return time.monotonic() - self._last >= self.every

    def save(self, arrays: Arrays) -> None:
        """Save the state now."""
        header = {"kind": "checkpoint", "fingerprint": self.fingerprint}
        write_arrays(self.path, header, None, arrays)
        self._last = time.monotonic()

    def finish(self) -> None:
        """Remove the checkpoint: the model itself has been written."""
        self.path.unlink(missing_ok=True)


def fingerprint(*parts: NDArray[Any] | str) -> str:
    """Hash arrays and texts into one short name.

    >>> fingerprint("a", "b") == fingerprint("ab")
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part.tobytes()
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:32]
