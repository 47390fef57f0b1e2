"""Read tab-separated words in bulk: every check is an array operation over the whole file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.files import AnyPath
from syntagma.corpora.heads import find_fault
from syntagma.corpora.ids import check_ids
from syntagma.corpora.lines import IntArray, Lines, cut, fields, numbers
from syntagma.corpora.treebank import STRINGS, Column, Treebank
from syntagma.corpora.written import Layout, Written
from syntagma.errors import InputError


def parse(
    raw: bytes, layout: Layout, path: AnyPath | None = None, tags: str | None = None
) -> Treebank:
    """Read a treebank in a tab-separated layout, or name the first line that breaks it."""
    mark, lines = cut(raw, path)
    filled = lines.ends > lines.starts
    first = np.flatnonzero(filled & ~np.append(False, filled[:-1]))
    if not len(first):
        raise InputError("expected at least one sentence, found none", path=path)
    tokens = filled.copy()
    if layout.comments:
        tokens[filled] = lines.buffer[lines.starts[filled]] != ord("#")
    rows = np.flatnonzero(tokens)
    begins, stops = fields(lines, rows, len(layout.fields))
    if "ids" in layout.fields:
        ids = numbers(lines.buffer, begins[0], stops[0])
        words = ids > 0
    else:
        ids, words = None, np.ones(len(rows), bool)
    # words before each line, and from it the words before each sentence
    before = np.zeros(len(filled) + 1, np.int64)
    before[rows[words] + 1] = 1
    np.cumsum(before, out=before)
    offsets = np.append(before[first], before[-1])
    if ids is not None:
        check_ids(lines, layout.ranges, rows, ids, begins[0], stops[0], first, before)
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if len(empty):
        lines.fail(first[empty[0]], "expected a sentence, found comments without a word")
    rows, begins, stops = rows[words], begins[:, words], stops[:, words]
    heads = _heads(lines, layout, rows, begins, stops, offsets)
    blocks = np.append(lines.starts[first], len(lines.text))
    blocks[0] = 0
    return Treebank.from_columns(
        offsets,
        _strings(lines, layout, begins, stops),
        heads,
        tags=tags,
        written=Written(layout, lines.text, blocks, lines.starts[rows], mark),
    )


def _heads(
    lines: Lines,
    layout: Layout,
    rows: IntArray,
    begins: IntArray,
    stops: IntArray,
    offsets: IntArray,
) -> NDArray[np.int32]:
    """Read the heads, or name the first line whose head cannot be."""
    if "heads" not in layout.fields:
        return np.full(len(rows), -1, np.int32)
    column = layout.fields.index("heads")
    begin, stop = begins[column], stops[column]
    values = numbers(lines.buffer, begin, stop)
    unknown = (stop - begin == 1) & (lines.buffer[begin] == ord("_"))
    wrong = np.flatnonzero((values < 0) & ~unknown)
    if len(wrong):
        word = wrong[0]
        found = lines.show(begin[word], stop[word])
        lines.fail(rows[word], f"expected the number of a head, or _, found {found}")
    heads = values.astype(np.int32)
    fault = find_fault(heads, offsets)
    if fault is not None:
        lines.fail(rows[fault.word], fault.message)
    return heads


def _strings(lines: Lines, layout: Layout, begins: IntArray, stops: IntArray) -> dict[str, Column]:
    """Read the columns of strings, one after another so that each stays small in memory."""
    return {
        name: Column.of(lines.strings(begins[i], stops[i]))
        for i, name in enumerate(layout.fields)
        if name in STRINGS
    }
