"""Inverses of estimated moments: how many directions they support, cut off or softened.

A moment estimated from a sample has directions that are noise; its plain inverse blows them up.
`inverted` keeps the strongest ``rank`` directions (truncation) or adds to every singular value
(ridge), and tells what it found, so that a model can say how far its moments can be trusted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError

FloatArray = NDArray[np.float64]

WORST = 1e-10  # a singular value below this share of the largest counts as none


class Inverse(NamedTuple):
    """An inverse, and the singular values of what was inverted."""

    matrix: FloatArray
    singular_values: FloatArray
    rank: int

    @property
    def condition(self) -> float:
        """The largest singular value that was used over the smallest."""
        used = self.singular_values[: self.rank]
        return float(used[0] / used[-1]) if len(used) and used[-1] > 0 else float("inf")


def inverted(
    moment: FloatArray, name: str, *, rank: int | None = None, ridge: float = 0.0
) -> Inverse:
    """Invert a moment on its ``rank`` strongest directions (all, if not told).

    Parameters
    ----------
    moment
        Any matrix; of one that is not square the pseudo-inverse is returned.
    name
        What it is called in the sentence that says it cannot be inverted.
    rank
        Directions to keep; the others are mapped to zero.
    ridge
        Each singular value s becomes s + ridge times the largest, before it is inverted.

    Raises
    ------
    InputError
        If the moment has fewer directions than asked for, and no ridge softens it.
    """
    if not np.isfinite(moment).all():
        raise InputError(f"{name}: expected finite numbers, found NaN or infinity")
    left, values, right = np.linalg.svd(moment, full_matrices=False)
    wanted = len(values) if rank is None else rank
    supported = int((values > WORST * values[:1].max(initial=0.0)).sum())
    if wanted > len(values) or (supported < wanted and ridge <= 0.0):
        raise InputError(
            f"{name} supports {supported} dimensions, not {wanted}: "
            "ask for fewer, give more text, or set a ridge"
        )
    softened = values[:wanted] + ridge * values[:1].max(initial=0.0)
    if not (softened > 0.0).all():
        raise InputError(f"{name} is zero: nothing was counted that could fill it")
    matrix = (right[:wanted].T / softened) @ left[:, :wanted].T
    return Inverse(matrix, values, wanted)
