"""Penn brackets: constituency trees as flat arrays, function tags and traces kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.files import AnyPath
from syntagma.corpora.lines import cut
from syntagma.corpora.treebank import Column, Treebank
from syntagma.corpora.written import BRACKETS, Written
from syntagma.errors import InputError

TRACE = "-NONE-"
# a leaf (TAG word); an opening bracket with its label; a word out of place; a closing bracket
_TOKEN = re.compile(
    r"\([ \t\r\n]*+([^ \t\r\n()]++)[ \t\r\n]++([^ \t\r\n()]++)[ \t\r\n]*+\)"
    r"|(\()[ \t\r\n]*+([^ \t\r\n()]*+)"
    r"|([^ \t\r\n()]++)"
    r"|\)"
)
_ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-", " ": "\u00a0", "\t": "\u00a0"})


@dataclass(frozen=True, eq=False, repr=False)
class Brackets:
    """Constituency trees as columns: phrases and leaves, each cut into trees by offsets.

    Phrases stand in the order their brackets open. ``labels`` are as written (``NP-SBJ-1``, and
    the empty string for the outermost bracket of ``( (S ...))``); ``parents`` are phrases of the
    same tree counted from 0, -1 for the top; phrase ``i`` covers the leaves ``first[i]`` up to
    but not including ``last[i]`` of its tree. Leaves have a tag, a form and a parent, and include
    traces, whose tag is ``-NONE-``.
    """

    offsets: NDArray[np.int64]
    labels: Column
    parents: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    leaf_offsets: NDArray[np.int64]
    leaf_forms: Column
    leaf_tags: Column
    leaf_parents: NDArray[np.int32]

    @classmethod
    def parse(cls, text: str, path: AnyPath | None = None) -> Brackets:
        """Read trees, one or several lines each.

        >>> Brackets.parse("( (S (NP (NNS Birds)) (VP (VBP sing))))").labels.strings()
        ['', 'S', 'NP', 'VP']
        """
        labels: list[str] = []
        parents: list[int] = []
        first: list[int] = []
        last: list[int] = []
        forms: list[str] = []
        tags: list[str] = []
        leaf_parents: list[int] = []
        ends: list[tuple[int, int]] = [(0, 0)]
        _tree_starts(text.encode(), path)
        top = -1
        for match in _TOKEN.finditer(text):
            tag, word, opened, label, stray = match.groups("")
            if word:
                tags.append(tag)
                forms.append(word)
                leaf_parents.append(top)
            elif opened:
                parents.append(top)
                top = len(labels)
                labels.append(label)
                first.append(len(forms))
                last.append(-1)
                continue
            elif stray:
                _fail(match, path, f"expected (TAG word) or a bracket, found {stray[:40]!r}")
            elif first[top] == len(forms):
                _fail(match, path, f"expected a word inside ({labels[top][:40]}")
            else:
                last[top] = len(forms)
                top = parents[top]
            if top < 0:
                ends.append((len(labels), len(forms)))
        if len(ends) == 1:
            raise InputError("expected at least one tree, found none", path=path)
        offsets, leaf_offsets = np.ascontiguousarray(np.array(ends, np.int64).T)
        base, leaf_base = offsets[:-1], leaf_offsets[:-1]
        sizes, leaf_sizes = np.diff(offsets), np.diff(leaf_offsets)
        return cls(
            offsets,
            Column.of(labels),
            _within(parents, base, sizes),
            _within(first, leaf_base, sizes),
            _within(last, leaf_base, sizes),
            leaf_offsets,
            Column.of(forms),
            Column.of(tags),
            _within(leaf_parents, base, leaf_sizes),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Brackets of {len(self)} trees, {len(self.leaf_parents)} leaves>"

    @property
    def is_word(self) -> NDArray[np.bool_]:
        """Which leaves are words, not traces."""
        if TRACE not in self.leaf_tags.names:
            return np.ones(len(self.leaf_parents), bool)
        return self.leaf_tags.ids != self.leaf_tags.names.index(TRACE)

    def take(self, trees: NDArray[np.int64]) -> Brackets:
        """Return some of the trees, in this order."""
        offsets, nodes = _gather(self.offsets, trees)
        leaf_offsets, leaves = _gather(self.leaf_offsets, trees)
        return Brackets(
            offsets,
            Column(self.labels.ids[nodes], self.labels.names),
            self.parents[nodes],
            self.first[nodes],
            self.last[nodes],
            leaf_offsets,
            Column(self.leaf_forms.ids[leaves], self.leaf_forms.names),
            Column(self.leaf_tags.ids[leaves], self.leaf_tags.names),
            self.leaf_parents[leaves],
        )

    def retagged(self, tags: list[str]) -> Brackets:
        """Return the same trees with other tags, one for each word."""
        fresh = np.array(self.leaf_tags.strings(), dtype=object)
        fresh[self.is_word] = tags
        return replace(self, leaf_tags=Column.of(fresh.tolist()))

    def strings(self) -> list[str]:
        """Return each tree as brackets on one line."""
        names = [f"({label.translate(_ESCAPES)}" for label in self.labels.names]
        opened = list(map(names.__getitem__, self.labels.ids.tolist()))
        tags = [f"({tag.translate(_ESCAPES)} " for tag in self.leaf_tags.names]
        forms = [f"{form.translate(_ESCAPES)})" for form in self.leaf_forms.names]
        before = self.first + np.repeat(self.leaf_offsets[:-1], np.diff(self.offsets))
        after = self.last + np.repeat(self.leaf_offsets[:-1], np.diff(self.offsets))
        closed = np.bincount(after, minlength=len(self.leaf_parents) + 1)[1:]
        leaves = [
            f"{tags[tag]}{forms[form]}{')' * count}"
            for tag, form, count in zip(
                self.leaf_tags.ids.tolist(),
                self.leaf_forms.ids.tolist(),
                closed.tolist(),
                strict=True,
            )
        ]
        # a bracket stands before the first leaf it covers, after the brackets around it
        order = np.argsort(np.append(before, np.arange(len(leaves))), kind="stable")
        parts = opened + leaves
        parts = [parts[i] for i in order.tolist()]
        cuts = (self.offsets + self.leaf_offsets).tolist()
        return [" ".join(parts[a:b]) for a, b in pairwise(cuts)]

    def treebank(self, *, tags: str | None = None, written: Written | None = None) -> Treebank:
        """Return the words without traces as a treebank, the tags as xpos unless ``tags`` says so.

        Without ``written`` it is written one tree a line.
        """
        words = self.is_word
        before = np.concatenate([[0], np.cumsum(words)])
        offsets = before[self.leaf_offsets].astype(np.int64)
        tag_column = tags or "xpos"
        if written is None:
            lines = [f"{tree}\n".encode() for tree in self.strings()]
            blocks = np.cumsum([0, *map(len, lines)], dtype=np.int64)
            written = Written(BRACKETS, b"".join(lines), blocks)
        columns = {
            "forms": _spoken(self.leaf_forms, words),
            tag_column: _spoken(self.leaf_tags, words),
        }
        return Treebank.from_columns(
            offsets, columns, tags=tag_column, brackets=self, written=written
        )


def parse_brackets(raw: bytes, path: AnyPath | None = None, tags: str | None = None) -> Treebank:
    """Read Penn brackets; words without traces become the columns, trees are in ``brackets``."""
    mark, lines = cut(raw, path)
    brackets = Brackets.parse(lines.text.decode(), path)
    starts = _tree_starts(lines.text, path)
    blocks = np.append(starts, len(lines.text)).astype(np.int64)
    blocks[0] = 0
    words = np.concatenate([[0], np.cumsum(brackets.is_word)])[brackets.leaf_offsets]
    empty = np.flatnonzero(np.diff(words) == 0)
    if len(empty):
        line = lines.text.count(b"\n", 0, int(starts[empty[0]])) + 1
        raise InputError("expected a word in the tree, found only traces", path=path, line=line)
    return brackets.treebank(tags=tags, written=Written(BRACKETS, lines.text, blocks, mark=mark))


def _tree_starts(text: bytes, path: AnyPath | None) -> NDArray[np.int64]:
    """Find the bracket that opens each tree; the brackets must be balanced."""
    buffer = np.frombuffer(text, np.uint8)
    opens, closes = np.flatnonzero(buffer == ord("(")), np.flatnonzero(buffer == ord(")"))
    depth = np.arange(len(opens)) - np.searchsorted(closes, opens)
    above = np.searchsorted(opens, closes) - np.arange(len(closes))
    message, place = "", 0
    if (above < 1).any():
        message, place = "expected ( before this )", int(closes[np.argmax(above < 1)])
    elif len(opens) > len(closes):
        message = "expected ) to close this tree, found the end of the file"
        place = int(opens[np.flatnonzero(depth == 0)[-1]])
    if message:
        raise InputError(message, path=path, line=text.count(b"\n", 0, place) + 1)
    return opens[depth == 0]


def _within(
    places: list[int], base: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Count places from the start of their own tree; -1 stays."""
    flat = np.array(places, np.int64)
    return np.where(flat < 0, -1, flat - np.repeat(base, sizes)).astype(np.int32)


def _gather(
    offsets: NDArray[np.int64], trees: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of some trees put together and the places of what they own."""
    sizes = np.diff(offsets)[trees]
    fresh = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return fresh, np.arange(fresh[-1]) + np.repeat(offsets[trees] - fresh[:-1], sizes)


def _spoken(column: Column, words: NDArray[np.bool_]) -> Column:
    """Keep the words of a column of leaves, numbered again in order of appearance."""
    return Column.of(list(map(column.names.__getitem__, column.ids[words].tolist())))


def _fail(token: re.Match[str], path: AnyPath | None, message: str) -> NoReturn:
    line = token.string.count("\n", 0, token.start()) + 1
    raise InputError(message, path=path, line=line)
