"""Labels of arcs given the tree: a log-linear classifier over hashed features of each arc.

The weights of one feature for all labels stand side by side in a table like that of the arcs, so
that a look-up is one short run of numbers. Learning is AdaGrad, averaged, one arc after another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, prange

from syntagma.training.arc_features import (
    Codes,
    FloatArray,
    Heads,
    Int64,
    Places,
    Weights,
    padded_codes,
    program_parts,
    put_apart,
    table_shift,
    where_code,
)
from syntagma.training.arc_templates import Program, make_program
from syntagma.training.forests import Sentences
from syntagma.training.storage import Arrays

ANCHORS = "hmglrsn"
SMALLEST = 0.1  # gradient of a label that is still followed
SQUARES, SUMS, COLUMNS = 0, 1, 2  # of the state that goes with every weight


@njit(cache=True, nogil=True)
def _relatives(heads: Heads) -> Int64:
    """Find the words at every anchor of every word, in the order of `ANCHORS`; -1 is nobody."""
    words = len(heads)
    found = np.full((words, len(ANCHORS)), -1, np.int64)
    latest = np.full(words + 1, -1, np.int64)  # the modifier of each head seen last
    for i in range(words):
        head = heads[i]
        found[i, 0], found[i, 1] = head, i + 1
        found[i, 2] = heads[head - 1] if head > 0 else -1
        before = latest[head]
        if before > 0:
            found[i, 5] = before
            found[before - 1, 6] = i + 1
        latest[head] = i + 1
        if head > 0:
            if found[head - 1, 3] < 0:
                found[head - 1, 3] = i + 1
            found[head - 1, 4] = i + 1
    return found


@njit(cache=True, nogil=True)
def _label_places(parts: Codes, relatives: Int64, shift: np.uint64, out: Places) -> int:
    """List the places of the features of one arc; a row of `parts` is an anchor."""
    where = where_code(relatives[0], relatives[1])
    n = 0
    for t in range(parts.shape[2]):
        feature = np.uint64(0)
        for anchor in range(parts.shape[0]):
            part = parts[anchor, relatives[anchor], t]
            if part == 0:
                feature = np.uint64(0)
                break
            feature += part
        if feature != 0:
            n = put_apart(out, n, feature, where, shift)
    return n


@njit(cache=True, nogil=True)
def _label_scores(places: Places, count: int, weights: Weights, scores: Weights) -> None:
    scores[:] = 0.0
    for i in range(count):
        first = places[i]
        for label in range(len(scores)):
            scores[label] += weights[first + label]


@njit(cache=True, nogil=True)
def _normalise(scores: Weights) -> None:
    top = scores.max()
    total = np.float32(0.0)
    for label in range(len(scores)):
        scores[label] = np.exp(scores[label] - top)
        total += scores[label]
    for label in range(len(scores)):
        scores[label] /= total


@njit(cache=True, nogil=True)
def learn_labels(
    codes: Codes,
    offsets: Int64,
    order: Int64,
    program: Program,
    heads: Heads,
    gold: Heads,
    labels: int,
    weights: Weights,
    state: Weights,
    step: int,
    rate: float,
) -> FloatArray:
    """Go through the arcs of some sentences once; return log-likelihood, wrong labels and arcs."""
    shift = table_shift(len(weights) - labels + 1)
    places = np.empty(2 * program.seeds.shape[1], np.int64)
    scores = np.empty(labels, np.float32)
    moving = np.empty(labels, np.int64)
    told = np.zeros(3)
    for sentence in order:
        start, words = offsets[sentence], offsets[sentence + 1] - offsets[sentence]
        parts = program_parts(padded_codes(codes, start, words), program)
        relatives = _relatives(heads[start : start + words])
        for i in range(words):
            right = gold[start + i]
            if right < 0:
                continue
            count = _label_places(parts, relatives[i], shift, places)
            _label_scores(places, count, weights, scores)
            told[1] += 1.0 if scores.argmax() != right else 0.0
            _normalise(scores)
            told[0] += np.log(max(scores[right], np.float32(1e-30)))
            told[2] += 1.0
            scores[right] -= np.float32(1.0)
            moved = 0
            for label in range(labels):
                if abs(scores[label]) > SMALLEST:
                    moving[moved] = label
                    moved += 1
            for j in range(count):
                for m in range(moved):
                    gradient = scores[moving[m]]
                    place = places[j] + moving[m]
                    state[place, SQUARES] += gradient * gradient
                    change = -rate * gradient / np.sqrt(state[place, SQUARES] + np.float32(1e-8))
                    weights[place] += change
                    state[place, SUMS] += step * change
            step += 1
    return told


@njit(cache=True, nogil=True, parallel=True)
def label_probabilities(
    codes: Codes,
    offsets: Int64,
    program: Program,
    heads: Heads,
    labels: int,
    weights: Weights,
    out: Heads,
    confidence: FloatArray,
) -> None:
    """Choose the likeliest label of every arc of the given trees, and tell how likely it is."""
    shift = table_shift(len(weights) - labels + 1)
    for sentence in prange(len(offsets) - 1):
        start, words = offsets[sentence], offsets[sentence + 1] - offsets[sentence]
        parts = program_parts(padded_codes(codes, start, words), program)
        relatives = _relatives(heads[start : start + words])
        places = np.empty(2 * program.seeds.shape[1], np.int64)
        scores = np.empty(labels, np.float32)
        for i in range(words):
            count = _label_places(parts, relatives[i], shift, places)
            _label_scores(places, count, weights, scores)
            _normalise(scores)
            best = scores.argmax()
            out[start + i] = best
            confidence[start + i] = scores[best]


class LabelLearner:
    """Weights of labels that learn from arcs, and their average."""

    def __init__(self, program: Program, labels: int, size: int, rate: float) -> None:
        self.program = program
        self.labels = labels
        self.rate = rate
        self.weights: Weights = np.zeros(size + labels - 1, np.float32)
        self.state = np.zeros((len(self.weights), COLUMNS), np.float32)

    def learn(self, sentences: Sentences, chosen: Int64, gold: Heads, step: int) -> int:
        """Go through some sentences; ``step`` counts their labelled words. Return it afterwards."""
        _, _, arcs = learn_labels(
            sentences.codes,
            sentences.offsets,
            chosen,
            self.program,
            sentences.heads,
            gold,
            self.labels,
            self.weights,
            self.state,
            step,
            self.rate,
        )
        return step + int(arcs)

    def averaged(self, step: int) -> Weights:
        """Return the mean of the weights over all steps."""
        return self.weights - self.state[:, SUMS] / np.float32(max(step, 1))

    def arrays(self) -> Arrays:
        """Return what has been learnt so far: arrays that are changed in place."""
        return {"label_weights": self.weights, "label_state": self.state}


def label_program(templates: Sequence[str], present: Sequence[str]) -> Program:
    """Make templates of labels ready for a treebank that has these fields."""
    return make_program(templates, ANCHORS, present)
