"""What heads must be: inside the sentence, none its own, no cycle, known for all words or none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError


class Fault(NamedTuple):
    """A head that cannot be: which word has it, and what was expected."""

    word: int
    message: str


def find_fault(heads: NDArray[np.int32], offsets: NDArray[np.int64]) -> Fault | None:
    """Find the first word whose head breaks the tree, if any."""
    sizes = np.diff(offsets)
    start = np.repeat(offsets[:-1], sizes)
    size = np.repeat(sizes, sizes)
    wrong = np.flatnonzero((heads < -1) | (heads > size))
    if len(wrong):
        word = int(wrong[0])
        return Fault(word, f"expected a head from 0 to {size[word]}, found {heads[word]}")
    known = np.concatenate([[0], np.cumsum(heads >= 0)])
    share = np.diff(known[offsets])
    mixed = np.flatnonzero((share > 0) & (share < sizes))
    if len(mixed):
        sentence = int(mixed[0])
        begin = int(offsets[sentence])
        word = begin + int(np.argmin(heads[begin : offsets[sentence + 1]]))
        return Fault(word, "expected a head: other words of the sentence have one")
    place = np.arange(len(heads))
    wrong = np.flatnonzero(heads == place - start + 1)
    if len(wrong):
        return Fault(int(wrong[0]), "expected another head: a word cannot be its own head")
    # climb twice as far each time; what has not left the sentence by then goes round in a cycle
    out = len(heads)
    above = np.append(np.where(heads > 0, start + heads - 1, out), out)
    for _ in range(int(sizes.max(initial=0)).bit_length()):
        above = above[above]
    wrong = np.flatnonzero(above[:-1] != out)
    if len(wrong):
        # a word below a cycle climbs into it: this far up is on the cycle itself
        return Fault(int(above[wrong[0]]), "expected a tree: the heads go round in a cycle")
    return None


def check_heads(heads: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
    """Refuse heads that are no trees, naming the sentence and the word."""
    fault = find_fault(heads, offsets)
    if fault is not None:
        sentence = int(np.searchsorted(offsets, fault.word, side="right")) - 1
        word = fault.word - int(offsets[sentence]) + 1
        raise InputError(f"heads: sentence {sentence + 1}, word {word}: {fault.message}")
