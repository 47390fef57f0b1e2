"""Weights of attributes for labels: scores of every word, and their gradient.

Rows of a corpus (see `features`) hold attributes, attributes hold votes. Scores flow from
attributes to rows to words, gradients back the same way. Each step gathers into its own output, so
nothing is shared between threads and sums are made in one fixed order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from syntagma.training.features import Attributes

FloatArray = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Votes(NamedTuple):
    """Which labels an attribute votes for: ``labels[starts[a]:starts[a + 1]]``, a weight each."""

    starts: Int64
    labels: Int32

    @property
    def size(self) -> int:
        """Number of weights."""
        return len(self.labels)

    def look_up(
        self, attribute: Int32, label: Int64, other: Votes, weights: FloatArray
    ) -> FloatArray:
        """Find the weight each vote has among another map's votes, 0 where it has none.

        `attribute` and `label` translate this map's numbers into the other's (-1: not there).
        """
        labels = max(int(label.max(initial=-1)), int(other.labels.max(initial=0))) + 1
        owner = np.repeat(attribute, np.diff(self.starts)).astype(np.int64)
        theirs = label[self.labels]
        key = np.where((owner >= 0) & (theirs >= 0), owner * labels + theirs, -1)
        known = np.repeat(np.arange(len(other.starts) - 1), np.diff(other.starts)) * labels
        known = known + other.labels
        if not len(known):
            return np.zeros(len(key))
        at = np.minimum(np.searchsorted(known, key), len(known) - 1)
        return np.where(known[at] == key, weights[at], 0.0)

    @classmethod
    def checked(
        cls, starts: NDArray[Any], labels: NDArray[Any], size: int, label_count: int
    ) -> Votes:
        """Take votes from a file; ValueError unless every number is in range."""
        if starts.dtype != np.int64 or labels.dtype != np.int32:
            raise ValueError("the votes of the attributes are not whole numbers")
        votes = cls(np.ascontiguousarray(starts), np.ascontiguousarray(labels))
        if (
            votes.starts.shape != (size + 1,)
            or votes.labels.ndim != 1
            or votes.starts[0] != 0
            or votes.starts[-1] != len(votes.labels)
            or (votes.starts[1:] < votes.starts[:-1]).any()  # a difference might wrap round
            or (votes.labels < 0).any()
            or (votes.labels >= label_count).any()
        ):
            raise ValueError("the votes of the attributes are out of range")
        return votes


class Sources(NamedTuple):
    """The way back: the words of each form row, and the rows of each attribute."""

    word_starts: Int64
    words: Int32
    row_starts: Int64
    rows: Int32


def sources(attributes: Attributes, size: int) -> Sources:
    """Turn rows -> attributes and words -> form rows around."""
    form_rows = attributes.rows - attributes.words
    starts, order = _inverse(attributes.forms.ravel(), form_rows)
    used = max(1, attributes.forms.shape[1])
    row_of = np.repeat(np.arange(attributes.rows, dtype=np.int32), np.diff(attributes.starts))
    attribute_starts, places = _inverse(attributes.attributes, size)
    return Sources(starts, (order // used).astype(np.int32), attribute_starts, row_of[places])


def _inverse(keys: Int32, size: int) -> tuple[Int64, Int64]:
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=size), out=starts[1:])
    return starts, np.argsort(keys, kind="stable")


def choose_votes(
    attributes: Attributes, way_back: Sources, allowed: NDArray[np.bool_], size: int, all_from: int
) -> Votes:
    """Give each attribute a vote for every label that some word it fires on may have.

    Attributes that fire at least `all_from` times vote for all labels (0: none of them do), so
    that they can speak against what they were never seen with. `allowed` has one row for each
    word and one column for each label.
    """
    labels = allowed.shape[1]
    form_rows = attributes.rows - attributes.words
    seen = np.zeros((size, labels), np.bool_)
    by_form = np.zeros((form_rows, labels), np.bool_)
    for k in range(attributes.forms.shape[1]):
        np.logical_or.at(by_form, attributes.forms[:, k], allowed)
    _mark(way_back.row_starts, way_back.rows, by_form, allowed, seen)
    if all_from:
        words = np.ones(attributes.rows)
        words[:form_rows] = np.diff(way_back.word_starts)
        owner = np.repeat(np.arange(size), np.diff(way_back.row_starts))
        seen[np.bincount(owner, words[way_back.rows], size) >= all_from] = True
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(seen.sum(1), out=starts[1:])
    return Votes(starts, np.nonzero(seen)[1].astype(np.int32))


def word_scores(
    attributes: Attributes,
    votes: Votes,
    weights: FloatArray,
    labels: int,
    out: FloatArray | None = None,
) -> FloatArray:
    """Score every label at every word, (words, labels); `out` is written over if given."""
    form_rows = attributes.rows - attributes.words
    by_form = np.zeros((form_rows, labels))
    scores = np.empty((attributes.words, labels)) if out is None else out
    scores[:] = 0.0
    _add_votes(attributes.starts, attributes.attributes, *votes, weights, by_form, scores)
    _add_forms(attributes.forms, by_form, scores)
    return scores


def weight_gradient(way_back: Sources, votes: Votes, by_word: FloatArray) -> FloatArray:
    """Turn a gradient by word and label into one by weight."""
    by_form = _sum_words(way_back.word_starts, way_back.words, by_word)
    return _sum_rows(way_back.row_starts, way_back.rows, *votes, by_form, by_word)


@njit(cache=True, nogil=True)
def _mark(
    row_starts: Int64,
    rows: Int32,
    forms: NDArray[np.bool_],
    words: NDArray[np.bool_],
    seen: NDArray[np.bool_],
) -> None:
    for attribute in range(len(row_starts) - 1):
        for i in range(row_starts[attribute], row_starts[attribute + 1]):
            row = rows[i]
            for label in range(seen.shape[1]):
                if row < len(forms):
                    seen[attribute, label] |= forms[row, label]
                else:
                    seen[attribute, label] |= words[row - len(forms), label]


@njit(cache=True, nogil=True)
def _add(target: FloatArray, values: FloatArray) -> None:
    for i in range(len(values)):
        target[i] += values[i]


@njit(cache=True, nogil=True, parallel=True)
def _add_votes(
    starts: Int64,
    attributes: Int32,
    vote_starts: Int64,
    vote_labels: Int32,
    weights: FloatArray,
    by_form: FloatArray,
    by_word: FloatArray,
) -> None:
    forms = len(by_form)
    for row in prange(len(starts) - 1):
        target = by_form[row] if row < forms else by_word[row - forms]
        for i in range(starts[row], starts[row + 1]):
            first, last = vote_starts[attributes[i]], vote_starts[attributes[i] + 1]
            if last - first == len(target):  # a vote for every label, in order
                _add(target, weights[first:last])
            else:
                for k in range(first, last):
                    target[vote_labels[k]] += weights[k]


@njit(cache=True, nogil=True, parallel=True)
def _add_forms(forms: Int32, by_form: FloatArray, by_word: FloatArray) -> None:
    for word in prange(len(forms)):
        for k in range(forms.shape[1]):
            _add(by_word[word], by_form[forms[word, k]])


@njit(cache=True, nogil=True, parallel=True)
def _sum_words(starts: Int64, words: Int32, by_word: FloatArray) -> FloatArray:
    by_form = np.zeros((len(starts) - 1, by_word.shape[1]))
    for row in prange(len(by_form)):
        for i in range(starts[row], starts[row + 1]):
            _add(by_form[row], by_word[words[i]])
    return by_form


@njit(cache=True, nogil=True, parallel=True)
def _sum_rows(
    starts: Int64,
    rows: Int32,
    vote_starts: Int64,
    vote_labels: Int32,
    by_form: FloatArray,
    by_word: FloatArray,
) -> FloatArray:
    gradient = np.zeros(len(vote_labels))
    forms = len(by_form)
    for attribute in prange(len(starts) - 1):
        first, last = vote_starts[attribute], vote_starts[attribute + 1]
        for i in range(starts[attribute], starts[attribute + 1]):
            row = rows[i]
            source = by_form[row] if row < forms else by_word[row - forms]
            if last - first == len(source):
                _add(gradient[first:last], source)
            else:
                for k in range(first, last):
                    gradient[k] += source[vote_labels[k]]
    return gradient
