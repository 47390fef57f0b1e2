"""A small treebank with the columns that evaluation reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Column(NamedTuple):
    ids: np.ndarray
    names: list[str]


class Sentence(NamedTuple):
    sent_id: str | None


def column(values: list[str]) -> Column:
    names = list(dict.fromkeys(values))
    return Column(np.array([names.index(v) for v in values], dtype=np.int32), names)


class Treebank:
    tag_column = "upos"

    def __init__(self, offsets, columns, heads):
        self.offsets, self.columns, self.heads = offsets, columns, heads

    @classmethod
    def from_sentences(cls, forms, tags=None, heads=None, labels=None):
        offsets = np.cumsum([0, *map(len, forms)], dtype=np.int64)
        empty = [["_"] * len(s) for s in forms]
        lists = {
            "forms": forms,
            "upos": tags or empty,
            "xpos": empty,
            "labels": labels or empty,
            "misc": empty,
        }
        flat = {k: column([x for s in v for x in s]) for k, v in lists.items()}
        heads = heads or [[-1] * len(s) for s in forms]
        return cls(offsets, flat, np.array([h for s in heads for h in s], dtype=np.int32))

    def replace(self, heads=None, **columns):
        new = {k: column(v) for k, v in columns.items()}
        return Treebank(self.offsets, self.columns | new, self.heads if heads is None else heads)

    def take(self, indices):
        words = np.concatenate([np.arange(*self.offsets[i : i + 2]) for i in indices])
        offsets = np.cumsum([0, *(self.offsets[i + 1] - self.offsets[i] for i in indices)])
        return Treebank(
            offsets,
            {k: Column(c.ids[words], c.names) for k, c in self.columns.items()},
            self.heads[words],
        )

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, i):
        return Sentence(None)

    @property
    def tags(self):
        return self.upos


for name in ("forms", "upos", "xpos", "labels", "misc"):
    setattr(Treebank, name, property(lambda self, name=name: self.columns[name]))
