"""Features of dependency parts as readable tuples, a template and a word at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from naive.arcs import siblings

Words = list[dict[str, Any]]


def described(
    forms: Sequence[str],
    tags: Sequence[str],
    other: Sequence[str] | None = None,
    feats: Sequence[str] | None = None,
) -> Words:
    """What the fields of every word hold; None is a value that is not there.

    Without morphology there is no such field, and no template that looks at it.
    """
    words: Words = []
    for i, (form, tag) in enumerate(zip(forms, tags, strict=True)):
        if other is None:
            instead = tag[:2] if tag != "_" else None
        else:
            instead = other[i] if other[i] != "_" else None
        words.append(
            {
                "word": form,
                "lower": form.lower(),
                "prefix": form[:5] if len(form) > 5 else None,
                "suffix": form[-3:].lower() if len(form) > 3 else None,
                "tag": tag,
                "other": instead,
            }
        )
        if feats is not None:
            words[-1]["feats"] = None if feats[i] == "_" else feats[i]
    return words


def atoms(template: str) -> list[tuple[str, int, str]]:
    """Anchor, step and field of everything a template looks at."""
    found = []
    for part in template.split():
        where, field = part.split(".")
        found.append((where[0], int(where[1:] or 0), field))
    return found


def seen(words: Words, position: int | None, field: str) -> Any:
    """What stands at a position: 0 is the root, None is nobody."""
    if position is None:
        return ("nobody",)
    if position == 0:
        return ("root",)
    if position < 0:
        return ("before", -position)
    if position > len(words):
        return ("after", position - len(words))
    value = words[position - 1][field]
    return None if value is None else ("=", value)


def where(anchor: int, modifier: int) -> tuple[str, str]:
    """Direction and distance: up to five exactly, up to ten, or more."""
    distance = abs(anchor - modifier)
    size = str(distance) if distance <= 5 else "6-10" if distance <= 10 else "more"
    return ("right" if anchor < modifier else "left", size)


def filled(words: Words, template: str, at: dict[str, int | None]) -> tuple | None:
    """The values a template sees from these anchors, or None if one of them is not there."""
    values = []
    for anchor, step, field in atoms(template):
        if field not in words[0]:
            return None
        position = at[anchor]
        values.append(seen(words, None if position is None else position + step, field))
    return None if None in values else tuple(values)


def twice(template: str, values: tuple | None, place: tuple) -> Iterator[tuple]:
    if values is not None:
        yield (template, values)
        yield (template, values, place)


def tags_between(words: Words, head: int, modifier: int, most: int) -> list[int]:
    """The first position of every different pair of tags between two words, left to right."""
    first: dict[tuple[str, str], int] = {}
    for position in range(min(head, modifier) + 1, max(head, modifier)):
        word = words[position - 1]
        first.setdefault((word["tag"], word["other"]), position)
    return list(first.values())[:most]


def arc_features(
    words: Words, templates: Sequence[str], head: int, modifier: int, most: int = 64
) -> list[tuple]:
    """Features of one arc; the templates that look between come last."""
    between = tags_between(words, head, modifier, most)
    found: list[tuple] = []
    for looks_between in (False, True):
        for template in templates:
            if any(anchor == "b" for anchor, _, _ in atoms(template)) != looks_between:
                continue
            for b in between if looks_between else [None]:
                values = filled(words, template, {"h": head, "m": modifier, "b": b})
                found += twice(template, values, where(head, modifier))
    return found


def sibling_features(
    words: Words, templates: Sequence[str], head: int, modifier: int, sibling: int
) -> list[tuple]:
    """Features of a modifier and the one before it; the head itself stands for none."""
    nobody = sibling == head
    place = ("right" if head < modifier else "left",) if nobody else where(sibling, modifier)
    found: list[tuple] = []
    for template in templates:
        at = {"h": head, "m": modifier, "s": None if nobody else sibling}
        found += twice(template, filled(words, template, at), place)
    return found


def relatives(heads: Sequence[int], modifier: int) -> dict[str, int | None]:
    """Where the anchors of a label's templates stand."""
    head = heads[modifier - 1]
    modifiers = [m for m, h in enumerate(heads, start=1) if h == modifier]
    others = [m for m, h in enumerate(heads, start=1) if h == head]
    return {
        "h": head,
        "m": modifier,
        "g": heads[head - 1] if head else None,
        "l": min(modifiers, default=None),
        "r": max(modifiers, default=None),
        "s": max((m for m in others if m < modifier), default=None),
        "n": min((m for m in others if m > modifier), default=None),
    }


def label_features(
    words: Words, templates: Sequence[str], heads: Sequence[int], modifier: int
) -> list[tuple]:
    """Features of the label of one arc of a tree."""
    at = relatives(heads, modifier)
    place = where(heads[modifier - 1], modifier)
    found: list[tuple] = []
    for template in templates:
        found += twice(template, filled(words, template, at), place)
    return found


def tree_features(
    words: Words,
    arc_templates: Sequence[str],
    sibling_templates: Sequence[str],
    heads: Sequence[int],
) -> Counter:
    """How often a tree has each feature."""
    found: Counter = Counter()
    for modifier, head in enumerate(heads, start=1):
        found.update(arc_features(words, arc_templates, head, modifier))
    if sibling_templates:
        for head, modifier, sibling in siblings(tuple(heads)):
            found.update(sibling_features(words, sibling_templates, head, modifier, sibling))
    return found


def smallest_change(
    weights: np.ndarray, differences: list[np.ndarray], losses: list[float], most: float
) -> np.ndarray:
    """Weights moved as little as makes each difference score its loss, no step above `most`.

    The dual: each constraint has a step between 0 and `most`, and the change is the sum of the
    differences, each times its step.
    """
    rows = np.array(differences, float)
    products = rows @ rows.T
    missing = np.array(losses, float) - rows @ weights

    def dual(steps):
        slope = products @ steps - missing
        return 0.5 * steps @ products @ steps - missing @ steps, slope

    found = minimize(
        dual,
        np.zeros(len(rows)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, most)] * len(rows),
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-12},
    )
    return weights + found.x @ rows


def probabilities(scores: Sequence[float]) -> np.ndarray:
    """Softmax."""
    powers = np.exp(np.array(scores, float) - max(scores))
    return powers / powers.sum()


def portions_hold(portions: list[list[int]], sizes: list[int], most: int, room: int) -> bool:
    """Whether every portion keeps to both bounds, or is a single sentence."""
    return all(
        len(portion) == 1
        or (len(portion) <= most and sum(sizes[sentence] for sentence in portion) <= room)
        for portion in portions
    )
