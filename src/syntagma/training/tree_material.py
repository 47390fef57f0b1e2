"""What a dependency parser learns from: a treebank's whole trees, hashed and put in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from syntagma.corpora.treebank import UNKNOWN, Column, Treebank
from syntagma.errors import InputError
from syntagma.structures.projectivity import crossing_trees, lift_crossings
from syntagma.training.arc_features import Heads, present_fields, sentence_keys, word_codes
from syntagma.training.forests import Sentences


class Material(NamedTuple):
    """Sentences to learn trees from.

    ``gold_labels`` numbers every word's label among ``labels``, -1 where it has none; ``fields``
    are those that templates may look at; ``crossing`` counts trees with crossing arcs.
    """

    sentences: Sentences
    labels: list[str]
    gold_labels: Heads
    fields: list[str]
    skipped: int
    crossing: int
    single_root: bool

    def lifted(self) -> Material:
        """Return the same sentences without crossing arcs."""
        heads = lift_crossings(self.sentences.heads, self.sentences.offsets)
        return self._replace(sentences=self.sentences._replace(heads=heads))


def whole_trees(treebank: Treebank) -> Treebank:
    """Keep the sentences whose words all have heads; refuse a treebank without any."""
    missing = np.concatenate([[0], np.cumsum(treebank.heads < 0)])[treebank.offsets]
    whole = np.flatnonzero((np.diff(missing) == 0) & (treebank.lengths > 0))
    if not len(whole):
        raise InputError("expected heads in the treebank, found no sentence with all of them")
    return treebank if len(whole) == len(treebank) else treebank.take(whole)


def make_material(treebank: Treebank, only_tags: bool) -> Material:
    """Choose the sentences whose words all have heads, in an order that is their own.

    The order depends on the sentences alone, so a treebank that is shuffled teaches the same.
    ``only_tags`` leaves out what a tagger could not supply: the other tag column and morphology.
    """
    if not len(treebank):
        raise InputError("expected training sentences, found none")
    usable = whole_trees(treebank)
    fields = present_fields(usable, only_tags)
    labels, gold_labels = _numbered(usable.labels)
    keys = sentence_keys(word_codes(usable, fields), usable.heads, gold_labels, usable.offsets)
    usable = usable.take(np.argsort(keys, kind="stable"))
    _, gold_labels = _numbered(usable.labels)
    return Material(
        Sentences(word_codes(usable, fields), usable.offsets, usable.heads),
        labels,
        gold_labels,
        fields,
        len(treebank) - len(usable),
        int(crossing_trees(usable.heads, usable.offsets).sum()),
        not len(usable.multiple_roots),
    )


def _numbered(labels: Column) -> tuple[list[str], Heads]:
    """Number the labels in use by name; ``_`` is no label."""
    ids, names = labels.used()
    used = sorted(set(names) - {UNKNOWN}) or [UNKNOWN]
    number = {name: i for i, name in enumerate(used)} if used != [UNKNOWN] else {}
    return used, np.array([number.get(name, -1) for name in names], np.int32)[ids]
