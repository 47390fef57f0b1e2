"""Sequences in all the forms a user may have them in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY
from syntagma.corpora.sequences import UNKNOWN, Sequences
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError

LISTS = st.lists(st.lists(st.integers(-5, 5), max_size=6), max_size=6)


def as_lists(sequences):
    cuts = sequences.offsets.tolist()
    names = [sequences.names[i] for i in sequences.ids.tolist()]
    return [names[a:b] for a, b in itertools.pairwise(cuts)]


@PROPERTY
@given(lists=LISTS)
def test_every_form_of_the_same_sequences_is_the_same(lists):
    found = Sequences.of(lists)
    assert as_lists(found) == lists
    assert found.names == sorted({symbol for sequence in lists for symbol in sequence})
    flat = np.array([symbol for sequence in lists for symbol in sequence], np.int64)
    pair = Sequences.of((flat, found.offsets))
    arrays = Sequences.of([np.array(sequence, np.int32) for sequence in lists])
    for other in (pair, arrays, Sequences.of(found)):
        assert as_lists(other) == lists
        assert other.names == found.names
    strings = [[str(symbol) for symbol in sequence] for sequence in lists]
    assert as_lists(Sequences.of(strings)) == strings


def test_tables_have_a_sequence_in_each_row():
    assert as_lists(Sequences.of(np.array([[3, 1], [1, 2]]))) == [[3, 1], [1, 2]]


def test_columns_of_a_treebank():
    treebank = Treebank.from_sentences([["b", "a"], ["a"]], upos=[["X", "Y"], ["Y"]])
    assert as_lists(Sequences.of(treebank)) == [["b", "a"], ["a"]]
    assert as_lists(Sequences.of(treebank, "upos")) == as_lists(Sequences.of(treebank, "tags"))
    assert Sequences.of(treebank[1:]).names == ["a"]
    with pytest.raises(InputError, match="xpos column, found none"):
        Sequences.of(treebank, "xpos")
    with pytest.raises(InputError, match="column: expected one of"):
        Sequences.of(treebank, "heads")


def test_rare_symbols_stand_for_unknown_ones():
    corpus = Sequences.of([["a", "b", "a"], ["b", "c"]])
    assert corpus.kept(1) == ["a", "b", "c"]
    symbols = corpus.kept(2)
    assert symbols == ["a", "b", UNKNOWN]
    assert corpus.numbered(symbols).tolist() == [0, 1, 0, 1, 2]
    assert Sequences.of([["zzz"]]).numbered(symbols).tolist() == [2]
    with pytest.raises(InputError, match="symbol 'zzz' is not among the 3"):
        Sequences.of([["zzz"]]).numbered(corpus.kept(1))


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ("abc", "expected a list of sequences of symbols, found 'abc'"),
        (3, "expected a list of sequences"),
        (["abc"], "sequence 1: expected a list of symbols, found 'abc'"),
        ([[1], 2], "sequence 2: expected a list"),
        ([[1, "a"]], "all strings or all whole numbers, found 'a'"),
        ([[1.5]], "found 1.5"),
        ([[True]], "found True"),
        ([[2**70]], "63 bits"),
        (np.zeros((2, 2)), "expected whole numbers, found float64"),
        ((np.array([1, 2]), np.array([0, 1])), "offsets: expected 2 at the end, found 1"),
        ((np.array([1, 2]), np.array([1, 2])), "start at 0"),
        ((np.array([1, 2]), np.array([0.0, 2.0])), "whole numbers that start at 0"),
    ],
)
def test_what_is_no_sequence_is_named(given_, message):
    with pytest.raises(InputError, match=message):
        Sequences.of(given_)
