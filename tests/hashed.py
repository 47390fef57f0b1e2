"""What ties the naive features of dependency parts to their places in a table of weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from naive import parts as naive
from naive.arcs import all_trees, projective_trees
from syntagma.corpora.treebank import Column, Treebank
from syntagma.training.arc_features import (
    BETWEEN,
    make_templates,
    padded_codes,
    places_of_arc,
    places_of_sibling,
    present_fields,
    program_parts,
    put_apart,
    room,
    sentence_parts,
    table_shift,
    where_code,
    word_codes,
)
from syntagma.training.arc_labels import ANCHORS, label_program
from syntagma.training.forests import Grammar, Sentences

LARGE = 60  # so many bits of a hash never fall together by chance

FORMS = ["a", "B", "b", "walking", "walked", "Straße", "of"]
TAGS = ["N", "V", "NN", "_", "."]


def random_treebank(
    rng: np.random.Generator, sizes: Sequence[int], single_root: bool = True, other: bool = True
) -> Treebank:
    """Random words and projective trees."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total = int(offsets[-1])

    def column(names):
        return Column.of([str(name) for name in rng.choice(names, total)])

    heads: list[int] = []
    for size in sizes:
        trees = projective_trees(int(size), single_root)
        heads += trees[int(rng.integers(len(trees)))]
    columns = {"forms": column(FORMS), "upos": column(TAGS), "feats": column(["_", "F=1", "F=2"])}
    columns["labels"] = column(["x", "y", "z"])
    if other:
        columns["xpos"] = column(["_", "P", "Q"])
    return Treebank.from_columns(offsets, columns, np.array(heads, np.int32), tags="upos")


def described(treebank: Treebank) -> list[naive.Words]:
    """Return every sentence as the naive twins want it."""
    forms, tags = treebank.forms.strings(), treebank.tags.strings()
    other = treebank.xpos if treebank.tag_column == "upos" else treebank.upos
    others = other.strings() if other.known else None
    feats = treebank.feats.strings() if treebank.feats.known else None
    return [
        naive.described(forms[a:b], tags[a:b], others and others[a:b], feats and feats[a:b])
        for a, b in pairwise(treebank.offsets.tolist())
    ]


def sentences_of(treebank: Treebank) -> Sentences:
    """Hash a treebank's words."""
    codes = word_codes(treebank, present_fields(treebank))
    return Sentences(codes, treebank.offsets, treebank.heads)


def all_parts(words: int, second: bool) -> Iterator[tuple[int, ...]]:
    """Every arc, and every modifier with its sibling, that a sentence can have."""
    for head in range(words + 1):
        for modifier in range(1, words + 1):
            if head != modifier:
                yield head, modifier
                if second:
                    low, high = sorted((head, modifier))
                    for sibling in {head, *range(low + 1, high)}:
                        yield head, modifier, sibling


class Hashes(NamedTuple):
    """The templates of a parser, and the hash of every feature that was looked up.

    A hash is the place in a table too large for chance, and where the part lies, which moves it to
    a place close by.
    """

    arcs: tuple[str, ...]
    siblings: tuple[str, ...]
    found: dict[tuple, tuple[int, int]]

    def look_up(self, treebank: Treebank) -> None:
        """Note the hashes of all features of all parts; every part has as many as its twin."""
        templates = make_templates(self.arcs, self.siblings, present_fields(treebank))
        codes = word_codes(treebank, present_fields(treebank))
        between = np.empty(BETWEEN, np.int64)
        shift = np.uint64(table_shift(2**LARGE))
        for words, start in zip(described(treebank), treebank.offsets, strict=False):
            parts = sentence_parts(codes, start, len(words), *templates)
            places = np.empty(room(parts), np.int64)
            for part in all_parts(len(words), bool(self.siblings)):
                if len(part) == 2:
                    count = places_of_arc(parts, *part, between, shift, places)
                else:
                    count = places_of_sibling(parts, *part, shift, places)
                features = self.features(words, part)
                assert count == len(features), (part, count, features)
                alone = np.repeat(places[:count:2], 2)
                hashes = zip(alone.tolist(), (places[:count] ^ alone).tolist(), strict=True)
                for feature, found in zip(features, hashes, strict=True):
                    assert self.found.setdefault(feature, found) == found, (part, feature)

    def features(self, words: naive.Words, part: tuple[int, ...]) -> list[tuple]:
        """Return a part's features, by the naive twin."""
        if len(part) == 2:
            return naive.arc_features(words, self.arcs, *part, BETWEEN)
        return naive.sibling_features(words, self.siblings, *part)

    def vector(self, features: Iterable[tuple], bits: int) -> np.ndarray:
        """Return how often each place of a table of this size is used."""
        out = np.zeros(2**bits)
        for feature in features:
            out[self.place(feature, bits)] += 1.0
        return out

    def place(self, feature: tuple, bits: int) -> int:
        """Return the place of a feature in a table of this size."""
        alone, where = self.found[feature]
        return (alone >> (LARGE - bits)) ^ where

    def tree(self, words: naive.Words, heads: Sequence[int], bits: int) -> np.ndarray:
        """Return a tree's features as a vector."""
        counted = naive.tree_features(words, self.arcs, self.siblings, heads)
        return self.vector(counted.elements(), bits)


def label_hashes(treebank: Treebank, templates: Sequence[str], found: dict[tuple, int]) -> None:
    """Note the hashes of the features of every label."""
    program = label_program(templates, present_fields(treebank))
    codes, offsets, _ = sentences_of(treebank)
    pair, shift = np.empty(2, np.int64), np.uint64(table_shift(2**LARGE))
    for words, start in zip(described(treebank), offsets, strict=False):
        parts = program_parts(padded_codes(codes, start, len(words)), program)
        heads = treebank.heads[start : start + len(words)].tolist()
        for modifier, head in enumerate(heads, start=1):
            at = naive.relatives(heads, modifier)
            seen = [parts[i, -1 if at[a] is None else at[a]] for i, a in enumerate(ANCHORS)]
            features = iter(naive.label_features(words, templates, heads, modifier))
            for numbers in np.transpose(seen):
                if numbers.all():
                    total = np.uint64(sum(numbers.tolist()) % 2**64)
                    where = np.uint64(where_code(head, modifier))
                    put_apart(pair, 0, total, where, shift)
                    for place in pair.tolist():
                        feature = next(features)
                        assert found.setdefault(feature, place) == place, feature
            assert not list(features)


def trees_of(grammar: Grammar, words: int) -> tuple[tuple[int, ...], ...]:
    """Enumerate the trees that a grammar allows."""
    return (projective_trees if grammar.projective else all_trees)(words, grammar.single_root)
