"""Which tags a word may have: from a dictionary, or from what was seen in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def tags_seen(
    forms: NDArray[np.int32],
    strings: Sequence[str],
    gold: NDArray[np.int32],
    labels: Sequence[str],
    least: int,
) -> dict[str, list[str]]:
    """List the tags of the words seen at least so often; 0 lists none.

    >>> tags_seen(np.array([0, 1, 0]), ["a", "b"], np.array([1, 0, 0]), ["N", "V"], 2)
    {'a': ['N', 'V']}
    """
    if not least:
        return {}
    counts = np.zeros((len(strings), len(labels)), np.int64)
    np.add.at(counts, (forms[gold >= 0], gold[gold >= 0]), 1)
    frequent = np.flatnonzero(counts.sum(1) >= least)
    return {
        strings[f]: [labels[i] for i in np.flatnonzero(counts[f]).tolist()]
        for f in frequent.tolist()
    }


def allowed_tags(
    strings: Sequence[str], labels: Sequence[str], *possible: Mapping[str, Sequence[str]]
) -> NDArray[np.bool_]:
    """Which tags each form may have, (forms, tags), by mappings of which the first counts."""
    allowed = np.ones((len(strings), len(labels)), bool)
    number = {label: i for i, label in enumerate(labels)}
    for form, word in enumerate(strings):
        may = next((known[word] for known in possible if word in known), ())
        if may:
            allowed[form] = False
            allowed[form, [number[tag] for tag in may]] = True
    return allowed


def checked_lists(known: Any, labels: Sequence[str]) -> dict[str, list[str]]:
    """Check a mapping from words to tags that came from a file."""
    lists = {str(word): [str(tag) for tag in may] for word, may in known.items()}
    strange = set().union(*lists.values()) - set(labels)
    if strange:
        raise ValueError(f"a dictionary names tags that the model lacks: {sorted(strange)}")
    return lists
