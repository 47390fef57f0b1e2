"""Which words are punctuation, in treebanks of several traditions."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from syntagma.evaluation.counting import Mask

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column, Treebank

OPEN = {"ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB"}
CLOSED = {"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"}
UPOS = frozenset(OPEN | CLOSED | {"PUNCT", "SYM", "X"})
PENN = frozenset(["``", "''", ",", ".", ":", "-LRB-", "-RRB-", "(", ")"])


def punctuation(treebank: Treebank) -> Mask:
    """Mark the punctuation of a treebank.

    The tag decides where it can: PUNCT among universal tags, else the Penn punctuation tags.
    Where neither tradition is in use, a form made only of Unicode punctuation counts.
    """
    upos, xpos = treebank.upos, treebank.xpos
    used = {upos.names[i] for i in np.unique(upos.ids)} - {"_"}
    if used and used <= UPOS:
        return _where(upos, lambda name: name == "PUNCT")
    for column in (xpos, upos):
        marked = _where(column, PENN.__contains__)
        if marked.any():
            return marked
    return _where(treebank.forms, _only_punctuation)


def _where(column: Column, test: Callable[[str], bool]) -> Mask:
    return np.array([test(name) for name in column.names], dtype=bool)[column.ids]


def _only_punctuation(form: str) -> bool:
    return all(unicodedata.category(character)[0] == "P" for character in form)
