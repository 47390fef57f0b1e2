"""Weights of arcs and siblings, scaled so that sums over trees stay within floating point.

Every word has exactly one head (and one adjacent sibling), so its largest score can be taken out
of all scores that end in it: the weights are then at most 1, and every inside and outside value at
most the number of projective trees, below 6.75 to the power of words. `spread` takes out more from
sentences so long that this number would overflow.

What can get lost is what falls below the smallest normal number. Each of the fewer than 16 (n+1)^3
operations loses at most exp(-708), which the rest of a derivation multiplies by at most the number
of trees; a sum over trees larger than `smallest_sum` therefore has lost less than 1e-12 of itself.
"""

from __future__ import annotations

import math

from numba import njit

from syntagma.structures.base import FloatArray
from syntagma.structures.eisner import Sentence
from syntagma.structures.exponential import LOWEST, exponential

_LOG_GROWTH = math.log(6.75)
_LOG_ROOM = 240 * math.log(10.0)
_LOG_ACCURACY = math.log(16e12)


@njit(cache=True, nogil=True)
def spread(words: int) -> float:
    """Logarithm to take out of every weight so that no sum over trees overflows."""
    return max(0.0, _LOG_GROWTH - _LOG_ROOM / max(words, 1))


@njit(cache=True, nogil=True)
def smallest_sum(words: int) -> float:
    """Sum over trees above which underflow has cost less than 1e-12 of it."""
    operations = 3 * math.log(words + 1.0)
    return math.exp(LOWEST + _LOG_ACCURACY + operations + min(_LOG_GROWTH * words, _LOG_ROOM))


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def largest(values: FloatArray) -> float:
    """Find the largest value; NaN is none."""
    top = -math.inf
    for k in range(values.size):
        top = values[k] if values[k] > top else top
    return top


@njit(cache=True, nogil=True)
def word_shifts(sentence: Sentence, shifts: FloatArray) -> float:
    """Write what each word's scores are lowered by; return the sum, -inf if a word has no head."""
    n = sentence.words
    shifts[: n + 1] = -math.inf
    for head in range(n + 1):
        scores = sentence.arcs[head * (n + 1) : (head + 1) * (n + 1)]
        own = shifts[head]
        if not sentence.second:
            for m in range(n + 1):
                shifts[m] = scores[m] if scores[m] > shifts[m] else shifts[m]
        else:
            for m in range(1, n + 1):
                row = sentence.siblings[(head * (n + 1) + m) * (n + 1) :][: n + 1]
                top = row[head]
                if head > 0 or not sentence.single:
                    top = max(top, largest(row[min(head, m) + 1 : max(head, m)]))
                shifts[m] = max(shifts[m], scores[m] + top)
        shifts[head] = own  # a word does not modify itself
    shifts[0] = 0.0
    for m in range(1, n + 1):
        shifts[m] += spread(n)
    return shifts[: n + 1].sum()


@njit(cache=True, nogil=True)
def arc_weights(sentence: Sentence, shifts: FloatArray, weights: FloatArray) -> None:
    """Write the weight of every arc."""
    n = sentence.words
    shift = shifts[: n + 1]
    for head in range(n + 1):
        scores = sentence.arcs[head * (n + 1) : (head + 1) * (n + 1)]
        row = weights[head * (n + 1) : (head + 1) * (n + 1)]
        for m in range(n + 1):
            row[m] = exponential(scores[m] - shift[m])


@njit(cache=True, nogil=True)
def sibling_weights(
    sentence: Sentence, head: int, modifier: int, shift: float, row: FloatArray
) -> None:
    """Write the weights of one arc with each of its siblings."""
    n = sentence.words
    arc = head * (n + 1) + modifier
    score = sentence.arcs[arc] - shift
    scores = sentence.siblings[arc * (n + 1) : (arc + 1) * (n + 1)]
    row[head] = exponential(scores[head] + score)
    first = min(head, modifier) + 1
    between = scores[first : max(head, modifier)]
    out = row[first : max(head, modifier)]
    for k in range(between.size):
        out[k] = exponential(between[k] + score)
