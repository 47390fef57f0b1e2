"""Dependency trees, projective or not, by trying every assignment of heads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np


def ancestors(heads: tuple[int, ...], word: int) -> list[int]:
    """Head, head's head and so on up to the root; empty if there is a cycle."""
    chain: list[int] = []
    while word != 0:
        word = heads[word - 1]
        if word in chain:
            return []
        chain.append(word)
    return chain


def is_tree(heads: tuple[int, ...]) -> bool:
    return all(ancestors(heads, word) for word in range(1, len(heads) + 1))


def is_projective(heads: tuple[int, ...]) -> bool:
    """Every word between a head and its modifier descends from that head."""
    for modifier, head in enumerate(heads, start=1):
        for between in range(min(head, modifier) + 1, max(head, modifier)):
            if head not in ancestors(heads, between):
                return False
    return True


@cache
def all_trees(words: int, single_root: bool) -> tuple[tuple[int, ...], ...]:
    candidates = product(range(words + 1), repeat=words)
    return tuple(
        heads
        for heads in candidates
        if is_tree(heads) and (heads.count(0) == 1 or not single_root or words == 0)
    )


@cache
def projective_trees(words: int, single_root: bool) -> tuple[tuple[int, ...], ...]:
    return tuple(heads for heads in all_trees(words, single_root) if is_projective(heads))


def siblings(heads: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Head, modifier and the modifier one step closer to the head on its side, or the head."""
    for head in range(len(heads) + 1):
        modifiers = [m for m, h in enumerate(heads, start=1) if h == head]
        outward = (sorted(m for m in modifiers if m > head), sorted(modifiers, reverse=True))
        for side in (outward[0], [m for m in outward[1] if m < head]):
            previous = head
            for modifier in side:
                yield head, modifier, previous
                previous = modifier


def scored_trees(
    arcs: np.ndarray,
    sibling_scores: np.ndarray | None,
    words: int,
    single_root: bool,
    projective: bool = True,
) -> list[tuple[tuple[int, ...], float]]:
    """Return every possible tree with its score; the scores come as flat blocks."""
    arcs = arcs.reshape(words + 1, words + 1)
    found = []
    for heads in (projective_trees if projective else all_trees)(words, single_root):
        score = sum((arcs[head, m] for m, head in enumerate(heads, start=1)), 0.0)
        if sibling_scores is not None:
            cube = sibling_scores.reshape(words + 1, words + 1, words + 1)
            score += sum(cube[part] for part in siblings(heads))
        if np.isfinite(score):
            found.append((heads, float(score)))
    return found
