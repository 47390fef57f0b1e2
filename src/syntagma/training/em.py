"""The loop of expectation maximisation: expectations, new parameters, until the gain is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from syntagma.errors import ModelFileError
from syntagma.training.checkpoints import Checkpoint
from syntagma.training.loop import Progress
from syntagma.training.storage import Arrays, finite_array

Step = Callable[[Arrays], tuple[float, Arrays]]


@dataclass
class Estimation:
    """Where EM stands: the parameters, and the log-likelihood of each so far, theirs last."""

    parameters: Arrays
    log_likelihoods: list[float]
    converged: bool = False

    @property
    def iterations(self) -> int:
        """How many times the parameters were renewed."""
        return len(self.log_likelihoods) - 1


def maximise(
    step: Step,
    start: Arrays,
    *,
    iterations: int,
    least: float,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> Estimation:
    """Renew parameters from `start`, or from a checkpoint, until they gain less than `least`.

    Parameters
    ----------
    step
        Returns the log-likelihood of parameters, and better parameters.
    progress
        Called with iteration, number of iterations and log-likelihood after each step.
    """
    state = _restored(checkpoint, start) or Estimation(start, [])
    value, better = step(state.parameters)
    if not state.log_likelihoods:
        state.log_likelihoods.append(value)
    while state.iterations < iterations:
        state.parameters = better
        value, better = step(state.parameters)
        state.log_likelihoods.append(value)
        if checkpoint and checkpoint.due():
            curve = np.array(state.log_likelihoods)
            checkpoint.save({**state.parameters, "log_likelihoods": curve})
        if progress:
            progress(state.iterations, iterations, value)
        if value - state.log_likelihoods[-2] < least:
            state.converged = True
            break
    return state


def _restored(checkpoint: Checkpoint | None, start: Arrays) -> Estimation | None:
    arrays = checkpoint.restore() if checkpoint else None
    if arrays is None:
        return None
    try:
        parameters = {name: finite_array(arrays, name, part.shape) for name, part in start.items()}
        curve = finite_array(arrays, "log_likelihoods", arrays["log_likelihoods"].shape)
        return Estimation(parameters, curve.reshape(-1).tolist())
    except (KeyError, TypeError, ValueError) as error:
        found = f"the checkpoint is damaged: {error}"
        raise ModelFileError(found, path=checkpoint.path if checkpoint else None) from error
