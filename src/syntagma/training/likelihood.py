"""Maximum likelihood of trees by AdaGrad: the gradient of a part is its truth minus its marginal.

A portion of sentences is summed over with the weights as they stand (in parallel), then each
sentence in turn moves the weights of its parts (Duchi, Hazan and Singer 2011). Parts whose gradient
is below `SMALLEST` are passed over. The result is the average of the weights over all steps.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from syntagma.structures.eisner import sibling_of
from syntagma.training.arc_features import (
    BETWEEN,
    Codes,
    FloatArray,
    Heads,
    Int64,
    Places,
    Weights,
    arc_places,
    note_tag,
    places_of_sibling,
    room,
    sentence_parts,
    table_shift,
)
from syntagma.training.arc_templates import Program

SMALLEST = 1e-4  # gradient of a part that is still followed
START = 1.0  # of the sums of squares: what was seen once moves by a part of the rate only
ROUNDING = 1e-6  # sums of gradients below this are rounding, which AdaGrad would blow up
GRADIENT, SQUARES, SUMS, COLUMNS = 0, 1, 2, 3  # of the state that goes with every weight


@njit(cache=True, nogil=True)
def _collect(
    places: Places, count: int, gradient: float, state: Weights, touched: Int64, used: int
) -> int:
    for i in range(count):
        place = places[i]
        if state[place, GRADIENT] == 0.0:
            touched[used] = place
            used += 1
        state[place, GRADIENT] += gradient
    return used


@njit(cache=True, nogil=True)
def learn_by_likelihood(
    codes: Codes,
    offsets: Int64,
    sentences: Int64,
    arc_program: Program,
    sibling_program: Program,
    gold: Heads,
    arc_starts: Int64,
    sibling_starts: Int64,
    arcs: FloatArray,
    siblings: FloatArray,
    weights: Weights,
    state: Weights,
    step: int,
    rate: float,
) -> None:
    """Move the weights for a portion of sentences, given the marginals of their parts."""
    shift = table_shift(len(weights))
    between = np.empty(BETWEEN, np.int64)
    for s in range(len(sentences)):
        start = offsets[sentences[s]]
        words = offsets[sentences[s] + 1] - start
        side = words + 1
        right = gold[start : start + words]
        parts = sentence_parts(codes, start, words, arc_program, sibling_program)
        places = np.empty(room(parts), np.int64)
        arc_block = arcs[arc_starts[s] : arc_starts[s + 1]]
        moving = 0
        for i in range(len(arc_block)):
            moving += 1 if arc_block[i] > SMALLEST else 0
        second = parts.siblings.shape[2] > 0
        pairs = siblings[sibling_starts[s] : sibling_starts[s + 1]]
        for i in range(len(pairs)):
            moving += 1 if pairs[i] > SMALLEST else 0
        touched = np.empty((moving + 2 * words) * len(places), np.int64)
        used = 0
        for i in range(side):
            distinct = 0
            for j in range(i + 1, side):
                for head, modifier in ((i, j), (j, i)):
                    if modifier == 0:
                        continue
                    gradient = -arc_block[head * side + modifier]
                    if right[modifier - 1] == head:
                        gradient += 1.0
                    if abs(gradient) > SMALLEST:
                        count = arc_places(parts, head, modifier, between, distinct, shift, places)
                        used = _collect(places, count, gradient, state, touched, used)
                distinct = note_tag(parts, between, distinct, j)
        if second:
            for modifier in range(1, side):
                true_head, true_sibling = right[modifier - 1], sibling_of(right, modifier)
                for head in range(side):
                    if head == modifier:
                        continue
                    move = -1 if head < modifier else 1
                    for third in range(modifier + move, head + move, move):
                        gradient = -pairs[(head * side + modifier) * side + third]
                        if head == true_head and third == true_sibling:
                            gradient += 1.0
                        if abs(gradient) > SMALLEST:
                            count = places_of_sibling(parts, head, modifier, third, shift, places)
                            used = _collect(places, count, gradient, state, touched, used)
        for i in range(used):
            place = touched[i]
            gradient = state[place, GRADIENT]
            state[place, GRADIENT] = 0.0
            if abs(gradient) > ROUNDING:
                state[place, SQUARES] += gradient * gradient
                change = rate * gradient / np.sqrt(np.float32(START) + state[place, SQUARES])
                weights[place] += change
                state[place, SUMS] += (step + s) * change
