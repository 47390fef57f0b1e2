"""What a parser has learnt about tags, read back out of its table of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from syntagma.training.arc_features import (
    FIELD_COUNT,
    HEAD,
    MODIFIER,
    Codes,
    FloatArray,
    Weights,
    add_up,
    hashes,
    padded_codes,
    program_parts,
    put,
    table_shift,
    where_code,
)
from syntagma.training.arc_templates import FIELDS, make_program

LEFT, RIGHT = 0, 1  # of its head stands the modifier


def describe_tags(
    templates: Sequence[str], tags: Sequence[str], weights: Weights, top: int
) -> dict[str, Any]:
    """Say what the two tags of an arc add to its score, at the distance that suits them best.

    ``arcs`` has a matrix for modifiers left of their head and one for those right of it: a row for
    each head tag, a column for each modifier tag. ``root`` is what each tag gets below the root,
    and ``strongest`` lists the best heads of each tag.
    """
    found = weigh_tags(templates, tags, weights).max(axis=3)
    left, right = found[:, 1:].round(3)
    return {
        "arcs": {"left": left.tolist(), "right": right.tolist()},
        "root": found[RIGHT, 0].round(3).tolist(),
        "strongest": {tag: _best_heads(found, tags, i, top) for i, tag in enumerate(tags)},
    }


def _best_heads(
    weights: FloatArray, tags: Sequence[str], modifier: int, top: int
) -> list[list[Any]]:
    """List the tags that draw one under them most, and from which side."""
    sides = [(weights[RIGHT, 0, modifier], "root")]
    for head, name in enumerate(tags, start=1):
        sides.append((weights[LEFT, head, modifier], f"{name} to the right"))
        sides.append((weights[RIGHT, head, modifier], f"{name} to the left"))
    sides.sort(reverse=True)
    return [[name, round(float(weight), 3)] for weight, name in sides[:top]]


@njit(cache=True, nogil=True)
def _weigh_tags(parts: Codes, weights: Weights, out: FloatArray) -> None:
    shift = table_shift(len(weights))
    places = np.empty(2, np.int64)
    sides, heads, modifiers, distances = out.shape
    for side in range(sides):
        for distance in range(distances):
            far = distance + 1 if distance < 6 else 11
            where = where_code(0, far) if side else where_code(far, 0)
            for head in range(heads):
                for modifier in range(modifiers):
                    for t in range(parts.shape[2]):
                        a, b = parts[HEAD, head, t], parts[MODIFIER, modifier + 1, t]
                        count = put(places, 0, a + b, where, shift)
                        out[side, head, modifier, distance] += add_up(weights, places, count)


def weigh_tags(templates: Sequence[str], tags: Sequence[str], weights: Weights) -> FloatArray:
    """Weigh arcs between tags by the templates that look at both tags and nothing else.

    Returns ``[side, head, modifier, distance]``: the modifier stands left or right of the head; the
    root is head 0; distances are 1 to 5, up to 10, and beyond.
    """
    plain = [text for text in templates if set(text.split()) == {"h.tag", "m.tag"}]
    codes = np.zeros((len(tags), FIELD_COUNT), np.uint64)
    codes[:, FIELDS.index("tag")] = hashes(list(tags), "tag")
    parts = program_parts(padded_codes(codes, 0, len(tags)), make_program(plain, "hm", ["tag"]))
    out = np.zeros((2, len(tags) + 1, len(tags), 7))
    _weigh_tags(parts, weights, out)
    return out
