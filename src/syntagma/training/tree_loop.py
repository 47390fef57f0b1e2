"""The training loop of dependency parsers: epochs, a score after each, early stop, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from syntagma.errors import ModelFileError
from syntagma.structures.base import Offsets
from syntagma.training.arc_features import Heads, Int64, Weights
from syntagma.training.arc_labels import LabelLearner
from syntagma.training.checkpoints import Checkpoint
from syntagma.training.loop import Progress
from syntagma.training.storage import Arrays
from syntagma.training.tree_learning import TreeLearner

Monitor = Callable[[Weights, Weights], tuple[float, float]]


@dataclass(frozen=True)
class Plan:
    """How long to learn, and in which order.

    ``patience`` epochs without a better score end the training, and the best epoch's weights are
    kept; with 0 the scores steer nothing. ``cells`` bounds the part scores held at once.
    """

    epochs: int
    portion: int
    seed: int
    patience: int
    cells: int

    def portions(self, epoch: int, cells: Int64) -> list[Int64]:
        """Cut an epoch's order of sentences into portions, none larger than allowed."""
        order = np.random.default_rng((self.seed, epoch)).permutation(len(cells))
        cut, held, found = 0, 0, []
        for i, size in enumerate(cells[order].tolist()):
            if i > cut and (i - cut == self.portion or held + size > self.cells):
                found.append(order[cut:i])
                cut, held = i, 0
            held += size
        return [*found, order[cut:]]


@dataclass
class TreeTraining:
    """A finished training, or one that has come this far."""

    weights: Weights
    label_weights: Weights
    epoch: int = 0
    portion: int = 0
    step: int = 1
    label_step: int = 1
    best_epoch: int = 0
    costs: list[float] = field(default_factory=lambda: [0.0])
    curve: list[tuple[int, float, float]] = field(default_factory=list)

    def arrays(self) -> Arrays:
        """Everything needed to go on later, but the learners' own arrays."""
        counters = (self.epoch, self.portion, self.step, self.label_step, self.best_epoch)
        return {
            "counters": np.array(counters, np.int64),
            "costs": np.array(self.costs),
            "curve": np.array(self.curve, float).reshape(-1, 3),
            "best": self.weights,
            "best_labels": self.label_weights,
        }

    def take_up(self, arrays: Arrays, learners: Arrays) -> None:
        """Go back to where `arrays` were saved; fill the learners' arrays."""
        for name, array in learners.items():
            if arrays[name].shape != array.shape or arrays[name].dtype != array.dtype:
                raise ValueError(f"{name} should have shape {array.shape}")
            array[:] = arrays[name]
        self.epoch, self.portion, self.step, self.label_step, self.best_epoch = (
            int(counter) for counter in arrays["counters"]
        )
        self.costs = [float(cost) for cost in arrays["costs"]]
        self.curve = [(int(at), uas, las) for at, uas, las in arrays["curve"].tolist()]
        self.weights, self.label_weights = arrays["best"], arrays["best_labels"]


def train_trees(
    learner: TreeLearner,
    labeller: LabelLearner | None,
    gold_labels: Heads,
    plan: Plan,
    *,
    monitor: Monitor | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> TreeTraining:
    """Learn trees and, beside them, labels; return the averaged weights.

    Parameters
    ----------
    gold_labels
        The number of every word's label, -1 where it is unknown.
    monitor
        Scores averaged weights (of trees, of labels) on held-out text: UAS and LAS.
    progress
        Called with epoch, number of epochs and what the epoch cost.
    """
    sentences = learner.sentences
    cells = _cells(sentences.offsets, learner.grammar.power)
    nothing = np.zeros(0, np.float32)
    state = TreeTraining(nothing, nothing)
    learners = learner.arrays() | (labeller.arrays() if labeller else {})
    restored = checkpoint.restore() if checkpoint else None
    if restored is not None:
        try:
            state.take_up(restored, learners)
        except (KeyError, TypeError, ValueError) as error:
            found = f"the checkpoint is damaged: {error}"
            raise ModelFileError(found, path=checkpoint.path if checkpoint else None) from error
    while state.epoch < plan.epochs and not _given_up(state, plan):
        portions = plan.portions(state.epoch, cells)
        while state.portion < len(portions):
            chosen = portions[state.portion]
            state.costs[-1] += learner.learn(chosen, state.step)
            state.step += len(chosen)
            if labeller:
                state.label_step = labeller.learn(sentences, chosen, gold_labels, state.label_step)
            state.portion += 1
            if checkpoint and checkpoint.due():
                checkpoint.save(learners | state.arrays())
        state.epoch, state.portion = state.epoch + 1, 0
        if progress:
            progress(state.epoch, plan.epochs, state.costs[-1])
        state.costs.append(0.0)
        if monitor:
            _judge(state, learner, labeller, monitor, keep=plan.patience > 0)
    state.costs.pop()
    if not state.best_epoch:  # no score chose one
        state.weights, state.label_weights = _averaged(state, learner, labeller)
    return state


def _averaged(
    state: TreeTraining, learner: TreeLearner, labeller: LabelLearner | None
) -> tuple[Weights, Weights]:
    labels = labeller.averaged(state.label_step) if labeller else np.zeros(0, np.float32)
    return learner.averaged(state.step), labels


def _judge(
    state: TreeTraining,
    learner: TreeLearner,
    labeller: LabelLearner | None,
    monitor: Monitor,
    keep: bool,
) -> None:
    """Score the averaged weights, and keep them if they are the best so far."""
    weights, label_weights = _averaged(state, learner, labeller)
    scores = monitor(weights, label_weights)
    best = max((point[1:] for point in state.curve), default=(-1.0, -1.0))
    state.curve.append((state.epoch, *scores))
    if keep and scores > best:
        state.weights, state.label_weights = weights, label_weights
        state.best_epoch = state.epoch


def _given_up(state: TreeTraining, plan: Plan) -> bool:
    return bool(plan.patience and state.curve and state.epoch - state.best_epoch >= plan.patience)


def _cells(offsets: Offsets, power: int) -> Int64:
    return (np.diff(offsets) + 1) ** power
