"""Jackknifed tags: every sentence is tagged by a tagger that has not seen it."""

from __future__ import annotations

from functools import cache

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import PROPERTY
from syntagma.corpora import write_treebank
from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError
from syntagma.models.jackknife import jackknife
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """So few sentences wait longer for threads than they take to sum over."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def quick():
    return Tagger(iterations=6, features=("word", "suffix2"))


@cache
def corpus():
    return english(60, seed=5, max_length=12).treebank


def lists(treebank, order):
    """Sentences as lists, in this order."""
    chosen = [treebank[int(i)] for i in order]
    return [s.forms for s in chosen], [s.tags for s in chosen]


def rebuilt(treebank, order):
    """The same sentences in another order, as if read from another file."""
    forms, tags = lists(treebank, order)
    return Treebank.from_sentences(forms, upos=tags)


def test_no_sentence_is_tagged_by_a_tagger_that_has_seen_it():
    # a tag that occurs in one sentence alone cannot be guessed by a tagger that has not seen it
    forms, tags = lists(corpus(), range(15))
    for i, sentence in enumerate(tags):
        sentence[0] = f"ONLY{i}"
    treebank = Treebank.from_sentences(forms, upos=tags)
    for folds in (2, 5):
        tagged, whole = jackknife(treebank, folds, quick())
        for found, gold in zip(tagged, treebank, strict=True):
            assert gold.tags[0] not in found.tags
        # while the tagger that has seen them all knows them all
        assert {f"ONLY{i}" for i in range(len(treebank))} <= set(whole.labels_)


def test_with_as_many_parts_as_sentences_each_is_tagged_by_all_others():
    treebank = corpus()[:6]
    tagged, whole = jackknife(treebank, 6, quick())
    for i in range(6):
        # the order of what teaches is the jackknife's own: tags may not depend on it
        others = treebank.take([j for j in range(6) if j != i])
        assert tagged[i].tags == quick().fit(others).predict(treebank[i : i + 1])[0].tags
    seen_all = quick().fit(treebank).predict(treebank)
    assert whole.predict(treebank).tags.strings() == seen_all.tags.strings()


@settings(PROPERTY, max_examples=4)
@given(order=st.permutations(range(10)), folds=st.sampled_from([2, 3]), repeated=st.booleans())
def test_the_order_of_the_sentences_changes_nothing(order, folds, repeated):
    treebank = corpus()[:10]
    if repeated:  # equal sentences are not told apart, and need not be
        treebank = treebank.take([0, 1, 2, 3, 4] * 2)
    tagger = Tagger(iterations=2, features=("word",))
    plain, whole = jackknife(treebank, folds, tagger)
    shuffled, other = jackknife(treebank.take(order), folds, tagger)
    if not repeated:
        assert shuffled.tags.strings() == plain.take(order).tags.strings()
    assert sorted(map(str, lists(shuffled, range(10))[1])) == sorted(
        map(str, lists(plain, range(10))[1])
    )
    np.testing.assert_array_equal(other.weights_, whole.weights_)


def test_another_file_with_the_same_sentences_gives_the_same_tags_and_tagger(tmp_path):
    order = np.random.default_rng(0).permutation(30)
    plain, whole = jackknife(rebuilt(corpus(), range(30)), 3, quick())
    shuffled, other = jackknife(rebuilt(corpus(), order), 3, quick())
    assert shuffled.tags.strings() == plain.take(order).tags.strings()
    whole.save(tmp_path / "a")
    other.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_only_tags_are_replaced(tmp_path):
    tagged, _ = jackknife(corpus(), 3, quick())
    assert tagged.upos.strings() != corpus().upos.strings()
    for name in ("forms", "lemmas", "xpos", "feats", "labels", "misc"):
        assert getattr(tagged, name).strings() == getattr(corpus(), name).strings()
    np.testing.assert_array_equal(tagged.heads, corpus().heads)
    write_treebank(tagged.replace(upos=corpus().upos), tmp_path / "a.conllu")
    write_treebank(corpus(), tmp_path / "b.conllu")
    assert (tmp_path / "a.conllu").read_bytes() == (tmp_path / "b.conllu").read_bytes()


def test_its_tags_are_as_good_as_those_of_new_text():
    train, new = corpus()[:40], corpus()[40:]
    tagged, whole = jackknife(train, 8, quick())
    right = np.mean(
        [a == b for a, b in zip(tagged.tags.strings(), train.tags.strings(), strict=True)]
    )
    assert abs(100 * right - whole.score(new)) < 8
    assert whole.score(train) > 100 * right + 3


def test_the_given_tagger_is_left_alone_and_progress_is_told():
    tagger, told = quick(), []
    tagged, whole = jackknife(corpus(), 3, tagger, lambda *what: told.append(what))
    assert not tagger.fitted
    assert whole is not tagger
    assert whole.get_params() == tagger.get_params()
    assert [(made, of) for made, of, _ in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    right = [a == b for a, b in zip(tagged.tags.strings(), corpus().tags.strings(), strict=True)]
    np.testing.assert_allclose(told[-1][2], 100 * np.mean(right))


def test_a_parser_can_be_trained_on_them():
    tagged, whole = jackknife(corpus()[:40], 4, quick())
    parser = DependencyParser(epochs=2, bits=14).fit(tagged, tagger=whole)
    new = corpus()[40:]
    blank = new.replace(upos=["_"] * new.words)
    np.testing.assert_array_equal(parser.predict(blank).heads, parser.predict(new).heads)
    assert parser.score(new) > 50


@pytest.mark.parametrize("folds", [-1, 0, 1, 7])
def test_parts_out_of_range_are_refused(folds):
    with pytest.raises(InputError, match=f"expected 2 to 6 parts .* found {folds}"):
        jackknife(corpus()[:6], folds, quick())


def test_too_few_sentences_are_refused():
    for sentences in (0, 1):
        with pytest.raises(InputError, match=f"there are {sentences} sentences"):
            jackknife(corpus()[:sentences], 2, quick())
