"""A corpus as columns: flat arrays over all words, offsets over sentences, and the file's bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagma.corpora.heads import check_heads
from syntagma.corpora.written import CONLLU, Written, compose
from syntagma.errors import InputError

if TYPE_CHECKING:
    from syntagma.corpora.brackets import Brackets

UNKNOWN = "_"
STRINGS = ("forms", "lemmas", "upos", "xpos", "feats", "labels", "misc")


class Column(NamedTuple):
    """One string a word: ``ids`` index ``names``, the distinct strings in order of appearance."""

    ids: NDArray[np.int32]
    names: list[str]

    @classmethod
    def of(cls, strings: Sequence[str]) -> Column:
        """Number the strings in order of first appearance."""
        number: defaultdict[str, int] = defaultdict(count().__next__)
        ids = np.array(list(map(number.__getitem__, strings)), np.int32)
        return cls(ids, list(number))

    @classmethod
    def blank(cls, words: int) -> Column:
        """Return a column that holds ``_`` for every word."""
        return cls(np.zeros(words, np.int32), [UNKNOWN])

    @property
    def known(self) -> bool:
        """Whether any word has a value other than ``_``."""
        if UNKNOWN not in self.names:
            return bool(len(self.ids))
        return bool((self.ids != self.names.index(UNKNOWN)).any())

    def used(self) -> Column:
        """Return the same column without the names that no word has."""
        present = np.unique(self.ids)
        if len(present) == len(self.names):
            return self
        number = np.zeros(len(self.names), np.int32)
        number[present] = np.arange(len(present), dtype=np.int32)
        return Column(number[self.ids], [self.names[i] for i in present.tolist()])

    def strings(self) -> list[str]:
        """Return the string of every word."""
        return list(map(self.names.__getitem__, self.ids.tolist()))


class Sentence:
    """One sentence of a treebank; its lists are made when asked for."""

    __slots__ = ("index", "treebank")

    def __init__(self, treebank: Treebank, index: int) -> None:
        self.treebank, self.index = treebank, index

    def __len__(self) -> int:
        return self._words.stop - self._words.start

    @property
    def _words(self) -> slice:
        offsets = self.treebank.offsets
        return slice(int(offsets[self.index]), int(offsets[self.index + 1]))

    def _strings(self, column: Column) -> list[str]:
        return list(map(column.names.__getitem__, column.ids[self._words].tolist()))

    @property
    def forms(self) -> list[str]:
        """The words."""
        return self._strings(self.treebank.forms)

    @property
    def lemmas(self) -> list[str]:
        """The lemma of each word."""
        return self._strings(self.treebank.lemmas)

    @property
    def tags(self) -> list[str]:
        """The tag of each word, from the treebank's tag column."""
        return self._strings(self.treebank.tags)

    @property
    def labels(self) -> list[str]:
        """The relation of each word to its head."""
        return self._strings(self.treebank.labels)

    @property
    def heads(self) -> list[int]:
        """The head of each word: 0 is the root, words count from 1, -1 is unknown."""
        heads: list[int] = self.treebank.heads[self._words].tolist()
        return heads

    @property
    def comments(self) -> dict[str, str]:
        """The comments of the form ``# name = value``."""
        written = self.treebank.written
        if not written.layout.comments:
            return {}
        lines = written.block(self.index).decode().split("\n")
        pairs = (line[1:].partition("=") for line in lines if line.startswith("#"))
        return {name.strip(): value.strip() for name, equals, value in pairs if equals}

    @property
    def sent_id(self) -> str | None:
        """The identifier that a comment gives, if one does."""
        return self.comments.get("sent_id")

    @property
    def text(self) -> str:
        """The text that a comment gives, else the words with spaces between."""
        return self.comments.get("text", " ".join(self.forms))

    def __repr__(self) -> str:
        return f"<Sentence of {len(self)} words: {self.text}>"


@dataclass(frozen=True, eq=False, repr=False)
class Treebank:
    """Sentences as columns: ``offsets`` (sentences + 1) cut every column into sentences.

    ``heads`` are 0 for the root, 1..n inside the sentence and -1 where unknown; every other column
    is a `Column`. ``written`` is the file as it stood, so that writing gives the same bytes.
    """

    offsets: NDArray[np.int64]
    forms: Column
    lemmas: Column
    upos: Column
    xpos: Column
    feats: Column
    heads: NDArray[np.int32]
    labels: Column
    misc: Column
    tag_column: str
    written: Written
    brackets: Brackets | None = None

    @classmethod
    def from_sentences(
        cls,
        forms: Sequence[Sequence[str]],
        lemmas: Sequence[Sequence[str]] | None = None,
        upos: Sequence[Sequence[str]] | None = None,
        xpos: Sequence[Sequence[str]] | None = None,
        heads: Sequence[Sequence[int]] | None = None,
        labels: Sequence[Sequence[str]] | None = None,
    ) -> Treebank:
        """Make a treebank from lists, one a sentence; it is written as CoNLL-U.

        >>> treebank = Treebank.from_sentences([["Birds", "sing"]], upos=[["NOUN", "VERB"]],
        ...                                    heads=[[2, 0]], labels=[["nsubj", "root"]])
        >>> treebank[0].tags, treebank[0].heads
        (['NOUN', 'VERB'], [2, 0])
        """
        offsets = _offsets(forms)
        total = int(offsets[-1])
        given = {"forms": forms, "lemmas": lemmas, "upos": upos, "xpos": xpos, "labels": labels}
        columns: dict[str, Column] = {}
        for name, lists in given.items():
            if lists is None:
                columns[name] = Column.blank(total)
                continue
            _check_sizes(name, lists, offsets)
            columns[name] = Column.of(list(chain.from_iterable(lists)))
        if heads is None:
            flat = np.full(total, -1, np.int32)
        else:
            _check_sizes("heads", heads, offsets)
            flat = np.fromiter(chain.from_iterable(heads), np.int32, total)
        return cls.from_columns(offsets, columns, flat)

    @classmethod
    def from_columns(
        cls,
        offsets: NDArray[np.int64],
        columns: Mapping[str, Column],
        heads: NDArray[np.int32] | None = None,
        *,
        tags: str | None = None,
        brackets: Brackets | None = None,
        written: Written | None = None,
    ) -> Treebank:
        """Make a treebank from flat columns by name, at least ``forms``; others are unknown.

        ``tags`` chooses the tag column, "upos" or "xpos". Without ``written`` it is written as
        CoNLL-U.
        """
        total = int(offsets[-1])
        if heads is None:
            heads = np.full(total, -1, np.int32)
        check_heads(heads, offsets)
        full = {name: columns.get(name, Column.blank(total)) for name in STRINGS}
        if written is None:
            for name, column in full.items():
                check_strings(name, column)
            written = compose(CONLLU, offsets, written_columns(full, heads))
        if tags is None:
            fields = written.layout.fields
            only_xpos = full["xpos"].known or ("xpos" in fields and "upos" not in fields)
            tags = "xpos" if only_xpos and not full["upos"].known else "upos"
        return cls(
            offsets=offsets,
            heads=heads,
            tag_column=check_tag_column(tags),
            written=written,
            brackets=brackets,
            **full,
        )

    @property
    def tags(self) -> Column:
        """The tags: the column that ``tag_column`` names."""
        return self.upos if self.tag_column == "upos" else self.xpos

    @property
    def columns(self) -> dict[str, Column]:
        """The columns of strings by name."""
        return {name: getattr(self, name) for name in STRINGS}

    @property
    def words(self) -> int:
        """How many words there are."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has."""
        return np.diff(self.offsets)

    @property
    def multiple_roots(self) -> NDArray[np.int64]:
        """The indices of the sentences with more than one root."""
        roots = np.concatenate([[0], np.cumsum(self.heads == 0)])
        return np.flatnonzero(np.diff(roots[self.offsets]) > 1)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Sentence]:
        return (Sentence(self, i) for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> Treebank: ...
    def __getitem__(self, index: int | slice) -> Sentence | Treebank:
        if isinstance(index, slice):
            return self.take(np.arange(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"sentence {index} of a treebank of {len(self)}")
        return Sentence(self, int(place))

    def take(self, indices: ArrayLike) -> Treebank:
        """Return the treebank of these sentences, in this order; the names of columns stay."""
        chosen = np.asarray(indices, np.int64).reshape(-1)
        outside = (chosen < -len(self)) | (chosen >= len(self))
        if outside.any():
            raise IndexError(f"sentence {chosen[outside][0]} of a treebank of {len(self)}")
        chosen = np.where(chosen < 0, chosen + len(self), chosen)
        sizes = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        words = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        columns: dict[str, Any] = {
            name: Column(column.ids[words], column.names) for name, column in self.columns.items()
        }
        return replace(
            self,
            offsets=offsets,
            heads=self.heads[words],
            written=self.written.take(chosen, words, sizes),
            brackets=None if self.brackets is None else self.brackets.take(chosen),
            **columns,
        )

    def replace(
        self,
        *,
        tags: Sequence[str] | Column | None = None,
        heads: ArrayLike | None = None,
        **columns: Sequence[str] | Column,
    ) -> Treebank:
        """Return a treebank with other values in some columns, spliced into its text.

        Columns are given by name (``upos``, ``xpos``, ``labels``, ``misc``, ``lemmas``,
        ``feats``); ``tags`` is the tag column. Every other byte stays. Where the format has no
        place for a column, the result is written as CoNLL-U.
        """
        given: dict[str, Sequence[str] | Column] = dict(columns)
        if tags is not None:
            given[self.tag_column] = tags
        unknown = given.keys() - set(STRINGS[1:])
        if unknown:
            raise TypeError(f"no such column: {', '.join(sorted(unknown))}")
        changed: dict[str, Any] = {}
        for name, strings in given.items():
            column = strings if isinstance(strings, Column) else Column.of(strings)
            if len(column.ids) != self.words:
                raise ValueError(f"{name}: expected {self.words} words, found {len(column.ids)}")
            changed[name] = check_strings(name, column)
        values = {name: _encoded(column) for name, column in changed.items()}
        if heads is not None:
            flat = np.array(heads, np.int32)
            if flat.shape != (self.words,):
                raise ValueError(f"heads: expected {self.words} numbers, found {flat.shape}")
            check_heads(flat, self.offsets)
            changed["heads"] = flat
            values["heads"] = _encoded(head_column(flat))
        if not changed:
            return self
        if self.brackets is not None and self.tag_column in changed:
            changed["brackets"] = self.brackets.retagged(changed[self.tag_column].strings())
        fresh = replace(self, **changed)
        if set(values) <= set(self.written.layout.fields):
            written = self.written.splice(self.offsets, values)
        else:
            written = compose(CONLLU, self.offsets, written_columns(fresh.columns, fresh.heads))
        return replace(fresh, written=written)

    def __repr__(self) -> str:
        return f"<Treebank of {len(self)} sentences, {self.words} words>"


def check_tag_column(tags: str) -> str:
    """Return the name of a tag column, or say which there are."""
    if tags not in ("upos", "xpos"):
        raise InputError(f"tags: expected upos or xpos, found {tags!r}")
    return tags


def head_column(heads: NDArray[np.int32]) -> Column:
    """Return heads as they are written, ``_`` where unknown."""
    return Column(heads + 1, [UNKNOWN, *map(str, range(int(heads.max(initial=-1)) + 1))])


def written_columns(columns: dict[str, Column], heads: NDArray[np.int32]) -> dict[str, list[str]]:
    """Return one string a word for every column, heads too."""
    strings = {name: column.strings() for name, column in columns.items()}
    return {**strings, "heads": head_column(heads).strings()}


def _encoded(column: Column) -> list[bytes]:
    names = [name.encode() for name in column.names]
    return list(map(names.__getitem__, column.ids.tolist()))


def check_strings(name: str, column: Column) -> Column:
    """Refuse strings that would break the lines and fields of a file."""
    joined = "\n".join(column.names)
    parts = max(0, len(column.names) - 1)
    if joined.count("\n") != parts or any(c in joined for c in "\t\r\0") or "" in column.names:
        bad = next(s for s in column.names if not s or any(c in s for c in "\t\n\r\0"))
        raise InputError(f"{name}: expected text without tabs and line ends, found {bad!r}")
    try:
        joined.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: expected text, found {joined[error.start]!r}") from None
    return column


def _offsets(sentences: Iterable[Sequence[str]]) -> NDArray[np.int64]:
    sizes = np.array([len(sentence) for sentence in sentences], np.int64)
    if not sizes.all():
        raise InputError(f"sentence {int(np.argmin(sizes)) + 1}: expected at least one word")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _check_sizes(name: str, lists: Sequence[Sequence[object]], offsets: NDArray[np.int64]) -> None:
    if len(lists) != len(offsets) - 1:
        raise InputError(f"{name}: expected {len(offsets) - 1} sentences, found {len(lists)}")
    found = np.array([len(sentence) for sentence in lists], np.int64)
    wrong = np.flatnonzero(found != np.diff(offsets))
    if len(wrong):
        i = int(wrong[0])
        expected = int(offsets[i + 1] - offsets[i])
        raise InputError(f"{name}: sentence {i + 1}: expected {expected} words, found {found[i]}")
