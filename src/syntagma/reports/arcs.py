"""Where the arcs of a dependency tree run: columns, levels and ends that do not collide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from syntagma.reports.drawing import text_width

GAP, MARGIN, PORT, PORTS, CORNER, CAPTION = 14.0, 16.0, 9.0, 80.0, 8.0, 11.0


class Arc(NamedTuple):
    """One arc to draw; words count from 1, head 0 is the root."""

    head: int
    modifier: int
    caption: str
    kind: str  # "plain", "wrong", "label" (right head, wrong label) or "missed" (gold only)
    probability: float | None

    @property
    def ends(self) -> tuple[int, int]:
        """Leftmost and rightmost word."""
        head = self.head or self.modifier
        return min(head, self.modifier), max(head, self.modifier)


class Layout(NamedTuple):
    """Coordinates: the middle of each word; left end, right end and level of each arc."""

    width: float
    centres: list[float]
    lefts: list[float]
    rights: list[float]
    levels: list[int]


def lay_out(widths: Sequence[float], arcs: Sequence[Arc]) -> Layout:
    """Place words of these widths and the arcs above them.

    Arcs over the same gap between words run at different levels, longer ones above those inside
    them, so nested arcs never touch. At a word, longer arcs end nearer to its middle.
    """
    order = sorted(range(len(arcs)), key=lambda i: (arcs[i].ends[1] - arcs[i].ends[0], i))
    needs = [float(width) for width in widths]
    lefts, rights = [0.0] * len(arcs), [0.0] * len(arcs)  # first relative to their words
    touching: list[list[int]] = [[] for _ in widths]
    for i in order:
        for word in set(arcs[i].ends):
            touching[word - 1].append(i)
    for word, several in enumerate(touching, start=1):
        for i, x in _ports(word, several, arcs):
            if arcs[i].ends[0] == word:
                lefts[i] = x
            if arcs[i].ends[1] == word:
                rights[i] = x
            aside = 2 * abs(x) + (CORNER if arcs[i].head else text_width(arcs[i].caption, CAPTION))
            needs[word - 1] = max(needs[word - 1], aside)
    centres, width = _columns(needs, arcs, order, lefts, rights)
    lefts = [x + centres[arc.ends[0] - 1] for x, arc in zip(lefts, arcs, strict=True)]
    rights = [x + centres[arc.ends[1] - 1] for x, arc in zip(rights, arcs, strict=True)]
    return Layout(width, centres, lefts, rights, _levels(len(widths), arcs, order))


def _columns(
    needs: Sequence[float],
    arcs: Sequence[Arc],
    order: Sequence[int],
    lefts: Sequence[float],
    rights: Sequence[float],
) -> tuple[list[float], float]:
    """Set the words apart so that captions have room; return their middles and the width."""
    gaps = [(a + b) / 2 + GAP for a, b in pairwise(needs)]
    for i in order:
        left, right = arcs[i].ends
        reach = text_width(arcs[i].caption, CAPTION) + 2.5 * CORNER + lefts[i] - rights[i]
        missing = reach - sum(gaps[left - 1 : right - 1])
        if left < right and missing > 0:
            for gap in range(left - 1, right - 1):
                gaps[gap] += missing / (right - left)
    centres = [MARGIN + need / 2 for need in needs[:1]]
    for distance in gaps:
        centres.append(centres[-1] + distance)
    return centres, (centres[-1] + needs[-1] / 2 if centres else MARGIN) + MARGIN


def _levels(size: int, arcs: Sequence[Arc], order: Sequence[int]) -> list[int]:
    """Give each arc the lowest level that is free over its gaps and above the arcs inside it."""
    taken = [0] * (size + 1)  # for the gap to the right of each word, the levels in use, as bits
    begun: list[list[int]] = [[] for _ in range(size + 1)]  # arcs placed, by their left end
    levels = [0] * len(arcs)
    for i in order:
        left, right = arcs[i].ends
        used = floor = 0
        for word in range(left, right):
            used |= taken[word]
            inside = (levels[j] for j in begun[word] if arcs[j].ends[1] <= right)
            floor = max(floor, max(inside, default=0))
        if left < right:
            free = ~used >> (floor + 1)
            levels[i] = floor + 1 + ((free & -free).bit_length() - 1)
            begun[left].append(i)
            for word in range(left, right):
                taken[word] |= 1 << levels[i]
    for i in order:
        left, right = arcs[i].ends
        if left == right:
            levels[i] = max(1, (taken[left - 1] | taken[left]).bit_length())
    return levels


def _ports(word: int, touching: Sequence[int], arcs: Sequence[Arc]) -> list[tuple[int, float]]:
    """Spread the arc ends of a word: leftward arcs, the root's, then rightward ones."""

    def place(i: int) -> tuple[int, int]:
        left, right = arcs[i].ends
        side = 0 if left == right else (1 if left == word else -1)
        return side, (right - left) * (-1 if side > 0 else 1)

    step = min(PORT, PORTS / max(1, len(touching)))
    first = -step * (len(touching) - 1) / 2
    return [(i, first + step * rank) for rank, i in enumerate(sorted(touching, key=place))]
