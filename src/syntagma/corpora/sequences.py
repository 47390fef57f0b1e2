"""Sequences of symbols, of whatever a user has, as one array of numbers with offsets and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.treebank import Column, Treebank
from syntagma.errors import InputError

UNKNOWN = "<unknown>"
COLUMNS = ("forms", "tags", "upos", "xpos")
Symbol = str | int


class Sequences(NamedTuple):
    """Sequences as columns: ``ids`` index ``names``, ``offsets`` cut them into sequences."""

    ids: NDArray[np.int64]
    offsets: NDArray[np.int64]
    names: list[Symbol]

    @classmethod
    def of(cls, given: Any, column: str = "forms") -> Sequences:
        """Take up sequences of strings or whole numbers in any of their forms.

        Parameters
        ----------
        given
            A treebank, of which `column` is read; a list of sequences of strings or of whole
            numbers; a table of whole numbers with a sequence in each row; or a pair of arrays:
            whole numbers, and the offsets that cut them into sequences.
        column
            forms, tags (the treebank's tag column), upos or xpos.

        Names come sorted, so that they do not depend on the order of the sequences.

        >>> Sequences.of([["b", "a"], ["a"]]).names
        ['a', 'b']
        """
        if isinstance(given, Sequences):
            return given
        if isinstance(given, Treebank):
            return cls._of_column(_column(given, column), given.offsets)
        if isinstance(given, np.ndarray) and given.ndim == 2:
            count, length = given.shape
            return cls._of_numbers(given.ravel(), np.arange(count + 1, dtype=np.int64) * length)
        if isinstance(given, tuple) and len(given) == 2 and _are_arrays(given):
            return cls._of_numbers(given[0], _checked_offsets(given[1], len(given[0])))
        return cls._of_lists(given)

    @classmethod
    def _of_lists(cls, given: Any) -> Sequences:
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise InputError(f"expected a list of sequences of symbols, found {given!r:.60}")
        lists: list[Sequence[Any]] = []
        for number, sequence in enumerate(given, start=1):
            if isinstance(sequence, str | bytes) or not isinstance(sequence, Sequence | np.ndarray):
                raise InputError(
                    f"sequence {number}: expected a list of symbols, found {sequence!r:.60}"
                )
            lists.append(sequence.tolist() if isinstance(sequence, np.ndarray) else sequence)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
        flat = list(chain.from_iterable(lists))
        if all(isinstance(symbol, str) for symbol in flat):
            return cls._of_column(Column.of(flat), offsets)
        for symbol in flat:
            if not isinstance(symbol, int | np.integer) or isinstance(symbol, bool):
                found = f"found {symbol!r:.60}"
                raise InputError(f"symbols: expected all strings or all whole numbers, {found}")
        try:
            return cls._of_numbers(np.array(flat, np.int64), offsets)
        except OverflowError:
            raise InputError("symbols: expected numbers of at most 63 bits") from None

    @classmethod
    def _of_column(cls, column: Column, offsets: NDArray[np.int64]) -> Sequences:
        ids, names = column.used()
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), np.int64)
        place[order] = np.arange(len(names))
        return cls(place[ids], offsets, [names[i] for i in order])

    @classmethod
    def _of_numbers(cls, numbers: NDArray[Any], offsets: NDArray[np.int64]) -> Sequences:
        if not np.issubdtype(numbers.dtype, np.integer) and len(numbers):
            raise InputError(f"symbols: expected whole numbers, found {numbers.dtype}")
        names, ids = np.unique(numbers, return_inverse=True)
        return cls(ids.reshape(-1).astype(np.int64), offsets, names.tolist())

    @property
    def words(self) -> int:
        """How many symbols there are in all."""
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{len(self.offsets) - 1} sequences of {self.words} symbols>"

    def counts(self) -> NDArray[np.int64]:
        """How often each name occurs."""
        return np.bincount(self.ids, minlength=len(self.names)).astype(np.int64)

    def kept(self, min_count: int) -> list[Symbol]:
        """Return the names seen at least so often and, if others were seen, that of the unknown."""
        counts = self.counts()
        frequent = counts >= max(min_count, 1)
        kept = [name for name, keep in zip(self.names, frequent.tolist(), strict=True) if keep]
        kept = [name for name in kept if name != UNKNOWN]
        return kept if len(kept) == (counts > 0).sum() else [*kept, UNKNOWN]

    def numbered(self, symbols: Sequence[Symbol]) -> NDArray[np.int32]:
        """Number the symbols as a model does; what it does not know becomes its unknown symbol."""
        number = {symbol: i for i, symbol in enumerate(symbols)}
        unknown = number.get(UNKNOWN, -1)
        found = np.array([number.get(name, unknown) for name in self.names], np.int32)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            name = self.names[int(missing[0])]
            raise InputError(
                f"symbol {name!r:.60} is not among the {len(symbols)} that the model knows, and "
                "it was trained without rare symbols to stand for unknown ones: train with a "
                "higher min_count"
            )
        return found[self.ids] if len(self.names) else np.zeros(0, np.int32)


def _column(treebank: Treebank, column: str) -> Column:
    if column not in COLUMNS:
        raise InputError(f"column: expected one of {', '.join(COLUMNS)}, found {column!r}")
    found: Column = getattr(treebank, column)
    if not found.known:
        named = treebank.tag_column if column == "tags" else column
        raise InputError(f"expected symbols in the {named} column, found none")
    return found


def _are_arrays(pair: tuple[Any, ...]) -> bool:
    return all(isinstance(part, np.ndarray) and part.ndim == 1 for part in pair)


def _checked_offsets(offsets: NDArray[Any], words: int) -> NDArray[np.int64]:
    whole = np.issubdtype(offsets.dtype, np.integer)
    if not whole or not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise InputError("offsets: expected whole numbers that start at 0 and do not fall")
    if offsets[-1] != words:
        raise InputError(f"offsets: expected {words} at the end, found {offsets[-1]}")
    return offsets.astype(np.int64)
