"""The training loop of every model that minimises a smooth objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import ModelFileError
from syntagma.training.checkpoints import Checkpoint
from syntagma.training.lbfgs import LBFGS, Objective
from syntagma.training.storage import Arrays

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int, float], None]


@dataclass
class Training:
    """A finished training: the minimiser's state and the monitored curve.

    `curve` has one (iteration, figure) pair for each time the monitor looked.
    """

    state: LBFGS
    curve: list[tuple[int, float]] = field(default_factory=list)

    def arrays(self) -> Arrays:
        """Everything needed to go on later."""
        return self.state.arrays() | {"curve": np.array(self.curve, float).reshape(-1, 2)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, size: int) -> Training:
        """Take up a training of `size` parameters where `arrays` left it."""
        curve = [(int(at), figure) for at, figure in arrays["curve"].tolist()]
        return cls(LBFGS.from_arrays(arrays, size), curve)


def train(
    objective: Objective,
    start: FloatArray,
    *,
    iterations: int,
    tolerance: float,
    monitor: Callable[[FloatArray], float] | None = None,
    monitor_every: int = 10,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> Training:
    """Minimise an objective from `start`, or from its checkpoint if that holds a state.

    Parameters
    ----------
    iterations, tolerance
        When to stop; see `LBFGS.step`.
    monitor, monitor_every
        A figure of the parameters worth watching, computed now and then; it steers nothing.
    progress
        Called with iteration, number of iterations and objective after each step.
    """
    restored = checkpoint.restore() if checkpoint else None
    if restored is None:
        training = Training(LBFGS.start(objective, start))
    else:
        try:
            training = Training.from_arrays(restored, len(start))
        except (KeyError, TypeError, ValueError) as error:
            found = f"the checkpoint is damaged: {error}"
            raise ModelFileError(found, path=checkpoint.path if checkpoint else None) from error
    state = training.state
    while state.iteration < iterations and state.step(objective, tolerance):
        if monitor and state.iteration % monitor_every == 0:
            training.curve.append((state.iteration, monitor(state.x)))
        if checkpoint and checkpoint.due():
            checkpoint.save(training.arrays())
        if progress:
            progress(state.iteration, iterations, state.value)
    return training
