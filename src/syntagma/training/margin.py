"""Margin-infused learning of parts: the right tree must win by as much as another is wrong.

A portion of sentences is parsed with the weights as they stand (in parallel), then their updates
are made one after another: each is the smallest change of the weights after which the right tree
outscores every one of the k trees found by the number of its wrong heads (Hildreth's algorithm),
bounded by the aggressiveness. The result is the average of the weights over all updates.
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
    Parts,
    Places,
    Weights,
    places_of_arc,
    places_of_sibling,
    room,
    sentence_parts,
    table_shift,
)
from syntagma.training.arc_templates import Program

SWEEPS = 50  # of Hildreth's algorithm


@njit(cache=True, nogil=True)
def _tree_difference(
    parts: Parts, gold: Heads, other: Heads, shift: np.uint64, places: Places, signs: FloatArray
) -> int:
    """Write the features of the right tree minus those of another, sorted by place."""
    between = np.empty(BETWEEN, np.int64)
    second = parts.siblings.shape[2] > 0
    count = 0
    for modifier in range(1, len(gold) + 1):
        heads = (gold[modifier - 1], other[modifier - 1])
        same_head = heads[0] == heads[1]
        if not same_head:
            for tree in range(2):
                found = places_of_arc(parts, heads[tree], modifier, between, shift, places[count:])
                signs[count : count + found] = 1.0 - 2.0 * tree
                count += found
        if second:
            siblings = (sibling_of(gold, modifier), sibling_of(other, modifier))
            if same_head and siblings[0] == siblings[1]:
                continue
            for tree in range(2):
                found = places_of_sibling(
                    parts, heads[tree], modifier, siblings[tree], shift, places[count:]
                )
                signs[count : count + found] = 1.0 - 2.0 * tree
                count += found
    return _merge(places, signs, count)


@njit(cache=True, nogil=True)
def _merge(places: Places, signs: FloatArray, count: int) -> int:
    """Sort places and add up the signs of equal ones; return how many are left."""
    order = np.argsort(places[:count], kind="mergesort")
    sorted_places, sorted_signs = places[:count][order], signs[:count][order]
    kept = 0
    i = 0
    while i < count:
        total = 0.0
        place = sorted_places[i]
        while i < count and sorted_places[i] == place:
            total += sorted_signs[i]
            i += 1
        if total != 0.0:
            places[kept] = place
            signs[kept] = total
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _product(
    places: Places,
    signs: FloatArray,
    count: int,
    others: Places,
    other_signs: FloatArray,
    size: int,
) -> float:
    """Inner product of two sorted sparse vectors."""
    total = 0.0
    i = j = 0
    while i < count and j < size:
        if places[i] == others[j]:
            total += signs[i] * other_signs[j]
            i += 1
            j += 1
        elif places[i] < others[j]:
            i += 1
        else:
            j += 1
    return total


@njit(cache=True, nogil=True)
def _hildreth(slopes: FloatArray, products: FloatArray, most: float) -> FloatArray:
    """Solve the dual of the smallest change: each constraint's step, from 0 to ``most``."""
    count = len(slopes)
    steps = np.zeros(count)
    for _ in range(SWEEPS):
        largest = 0.0
        for a in range(count):
            if products[a, a] <= 0.0:
                continue
            slope = slopes[a]
            for b in range(count):
                slope -= products[a, b] * steps[b]
            moved = min(max(steps[a] + slope / products[a, a], 0.0), most)
            largest = max(largest, abs(moved - steps[a]))
            steps[a] = moved
        if largest < 1e-8:
            break
    return steps


@njit(cache=True, nogil=True)
def learn_by_margin(
    codes: Codes,
    offsets: Int64,
    sentences: Int64,
    arc_program: Program,
    sibling_program: Program,
    gold: Heads,
    found: Heads,
    found_offsets: Int64,
    weights: Weights,
    sums: Weights,
    step: int,
    aggressiveness: float,
) -> int:
    """Make the updates of a portion of sentences; return how many sentences were wrong.

    ``found`` holds k trees a sentence, (k, words of the portion), -1 where there are fewer.
    ``sums`` collects every change times the step it was made at, for the average.
    """
    shift = table_shift(len(weights))
    k = len(found)
    wrong_sentences = 0
    slopes = np.empty(k)
    products = np.empty((k, k))
    for s in range(len(sentences)):
        now = step + s
        start = offsets[sentences[s]]
        words = offsets[sentences[s] + 1] - start
        right = gold[start : start + words]
        first = found_offsets[s]
        if words == 0 or not (found[:, first : first + words] != right).any():
            continue
        parts = sentence_parts(codes, start, words, arc_program, sibling_program)
        width = 2 * words * (room(parts) + 2 * parts.siblings.shape[2])
        places = np.empty((k, width), np.int64)
        signs = np.empty((k, width))
        sizes = np.zeros(k, np.int64)
        trees = 0
        for r in range(k):
            tree = found[r, first : first + words]
            if tree[0] < 0:
                continue
            loss = 0
            for i in range(words):
                loss += 1 if tree[i] != right[i] else 0
            if r == 0 and loss > 0:
                wrong_sentences += 1
            if loss == 0:
                continue
            sizes[trees] = _tree_difference(parts, right, tree, shift, places[trees], signs[trees])
            margin = 0.0
            for i in range(sizes[trees]):
                margin += signs[trees, i] * weights[places[trees, i]]
            slopes[trees] = loss - margin
            trees += 1
        for a in range(trees):
            for b in range(a + 1):
                products[a, b] = products[b, a] = _product(
                    places[a], signs[a], sizes[a], places[b], signs[b], sizes[b]
                )
        steps = _hildreth(slopes[:trees], products[:trees, :trees], aggressiveness)
        for a in range(trees):
            if steps[a] > 0.0:
                for i in range(sizes[a]):
                    change = steps[a] * signs[a, i]
                    weights[places[a, i]] += change
                    sums[places[a, i]] += now * change
    return wrong_sentences
