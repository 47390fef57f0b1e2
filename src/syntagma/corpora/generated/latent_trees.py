"""Dependency trees with a hidden state on every word, drawn from a random, known model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.generated.random_models import _distributions, _draw

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

LEFT, RIGHT = 0, 1  # of its head stands the child


class LatentTrees(NamedTuple):
    """Trees and the parameters they came from.

    ``symbols`` and ``heads`` have a row for each sentence. ``transitions[side, i, j]`` is the
    probability of a child's state ``j`` below state ``i``; ``emissions[i, x]`` that of symbol ``x``
    in state ``i``.
    """

    symbols: IntArray
    heads: IntArray
    start: FloatArray
    transitions: FloatArray
    emissions: FloatArray

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each sentence begins when they stand one after another."""
        count, length = self.symbols.shape
        return np.arange(count + 1, dtype=np.int64) * length


def projective_heads(words: int) -> list[tuple[int, ...]]:
    """List the heads of every projective tree of so many words, with one root.

    >>> projective_heads(2)
    [(0, 1), (2, 0)]
    """
    return [tree for root in range(words) for tree in _below(0, words, root, -1)]


@cache
def _below(first: int, last: int, top: int, head: int) -> tuple[tuple[int, ...], ...]:
    """Heads of the words from first to last whose top hangs on head; heads count from 1."""
    return tuple(
        (*left, head + 1, *right)
        for left in _side(first, top, top)
        for right in _side(top + 1, last, top)
    )


def _side(first: int, last: int, head: int) -> Iterator[tuple[int, ...]]:
    """Heads of a run of words that are subtrees of one head, side by side."""
    if first == last:
        yield ()
    for end in range(first + 1, last + 1):
        for top in range(first, end):
            for tree in _below(first, end, top, head):
                for rest in _side(end, last, head):
                    yield (*tree, *rest)


def latent_trees(
    states: int, symbols: int, sentences: int, words: int = 5, seed: int = 0
) -> LatentTrees:
    """Draw trees from a random latent tree model and return them with its parameters.

    Every projective tree of so many words is as likely. Half of each state's probability goes to
    one state below it, another on the left than on the right, and emissions are peaked, so that the
    model has full rank whenever ``symbols >= states``.

    >>> drawn = latent_trees(states=2, symbols=4, sentences=3, words=4, seed=1)
    >>> drawn.symbols.shape, drawn.transitions.shape
    ((3, 4), (2, 2, 2))
    """
    sizes = {"states": states, "symbols": symbols, "sentences": sentences, "words": words}
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name}: expected at least 1, found {size}")
    rng = np.random.default_rng(seed)
    start = _distributions(rng, (1, states), 1)
    transitions = 0.5 * _distributions(rng, (2, states, states), 2)
    for side, shift in ((LEFT, 0), (RIGHT, 1)):
        transitions[side] += 0.5 * np.roll(np.eye(states), shift, axis=1)
    emissions = _distributions(rng, (states, symbols), 3)
    trees = np.array(projective_heads(words), np.int32)
    chosen = rng.integers(len(trees), size=sentences)
    hidden = np.zeros((sentences, words), np.int32)
    for number, heads in enumerate(trees.tolist()):
        some = np.flatnonzero(chosen == number)
        for word in _top_down(heads):
            head = heads[word] - 1
            if head < 0:
                hidden[some, word] = _draw(start, np.zeros(len(some), np.int64), rng)
            else:
                table = transitions[LEFT if word < head else RIGHT]
                hidden[some, word] = _draw(table, hidden[some, head].astype(np.int64), rng)
    seen = _draw(emissions, hidden.ravel().astype(np.int64), rng).reshape(hidden.shape)
    return LatentTrees(seen, trees[chosen], start[0], transitions, emissions)


def _top_down(heads: list[int]) -> list[int]:
    """Order the words so that heads come before their children."""
    order = [heads.index(0)]
    for word in order:
        order += [child for child, head in enumerate(heads) if head == word + 1]
    return order
