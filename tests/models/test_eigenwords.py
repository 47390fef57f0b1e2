"""Eigenwords: the contract of every model, known classes found again, files and refusals."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from contracts import ModelContract
from syntagma.corpora import tokens, write_treebank
from syntagma.corpora.generated import english, hmm_sequences
from syntagma.errors import InputError, NotFittedError
from syntagma.models.eigenwords import METHODS, Eigenwords


@cache
def language():
    return english(1500, seed=7).treebank


class TestEigenwords(ModelContract):
    def make(self):
        return Eigenwords("lr-mvl", dim=8, min_count=2, iterations=2)

    def corpus(self):
        return language()[:100]

    def outputs(self, model, treebank):
        return [model.transform(treebank), model.vectors_, model.unknown_, model.counts_]

    def apply(self, model, treebank):
        model.transform(treebank)
        model.neighbours(model.words_[0], 3)


class TestBigrams(TestEigenwords):
    def make(self):
        return Eigenwords("bigram", dim=5, min_count=2, lower=True, max_words=100)


@pytest.mark.parametrize("method", METHODS)
def test_words_of_one_class_are_neighbours(method):
    model = Eigenwords(method, dim=15, min_count=3).fit(language())
    forms, tags = language().forms.strings(), language().xpos.strings()
    seen: dict[str, set[str]] = {}
    for form, tag in zip(forms, tags, strict=True):
        seen.setdefault(form, set()).add(tag)
    shared = [
        bool(seen[word] & seen[other])
        for word in model.words_[:150]
        for other, _ in model.neighbours(word, 3)
    ]
    assert np.mean(shared) > (0.4 if method == "bigram" else 0.7)
    assert np.abs(model.vectors_).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(model.vectors_, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_classes_of_a_language_are_found_again(method):
    rng = np.random.default_rng(3)
    follows = rng.dirichlet(np.full(5, 0.5), size=5)
    sentences = []
    for _ in range(3000):
        state, sentence = 0, []
        for _ in range(8):
            state = int(rng.choice(5, p=follows[state]))
            sentence.append(f"{'abcde'[state]}{rng.integers(6)}")
        sentences.append(sentence)
    model = Eigenwords(method, dim=5, min_count=1).fit(sentences)
    classes = model.classes((5,)).function("class1")(model.words_)
    assert len(set(zip(classes, (word[0] for word in model.words_), strict=True))) == 5


def test_a_hidden_markov_model_has_a_dimension_for_each_state_and_the_boundary():
    texts = [[f"w{i}" for i in row] for row in hmm_sequences(4, 30, 4000, 15, seed=2).symbols]
    model = Eigenwords("cca", dim=7, min_count=1, root=False).fit(texts)
    values = model.singular_values_
    assert values[4] > 2 * values[5]
    assert values[5] < 1.3 * values[6]


@pytest.mark.parametrize("method", METHODS)
def test_files_lists_treebanks_and_chunks_of_any_size_are_the_same(tmp_path, monkeypatch, method):
    treebank = language()[:300]
    write_treebank(treebank, tmp_path / "a.conllu.xz")
    write_treebank(treebank[:100], tmp_path / "b.txt")
    write_treebank(treebank[100:], tmp_path / "c.conllu")
    make = Eigenwords(method, dim=6, min_count=2, iterations=1)
    first = make.fit(treebank).vectors_.copy()
    lists = [sentence.forms for sentence in treebank]
    for texts in (lists, tmp_path / "a.conllu.xz", [tmp_path / "b.txt", tmp_path / "c.conllu"]):
        np.testing.assert_array_equal(make.fit(texts).vectors_, first)
    monkeypatch.setattr(tokens, "CHUNK", 500)
    monkeypatch.setattr(tokens.Tokens.chunks, "__defaults__", (500,))
    small = make.fit(treebank, jobs=1).vectors_.copy()
    np.testing.assert_allclose(small, first, atol=2e-3)
    np.testing.assert_array_equal(make.fit(treebank, jobs=2).vectors_, small)


def test_workers_of_any_kind_count_the_same(monkeypatch):
    from joblib import parallel_config

    monkeypatch.setattr(tokens.Tokens.chunks, "__defaults__", (2000,))
    make = Eigenwords("lr-mvl", dim=5, iterations=1)
    first = make.fit(language()).vectors_.copy()
    with parallel_config("loky", n_jobs=2):
        again = make.fit(language()).vectors_
    np.testing.assert_allclose(again, first, atol=1e-4)


def test_rows_coverage_and_unknown_words():
    model = Eigenwords("cca", dim=5, min_count=3).fit(language())
    rows = model.transform(["the", "qwerty"])
    np.testing.assert_array_equal(rows[0], model.vectors_[model.words_.index("the")])
    np.testing.assert_array_equal(rows[1], model.unknown_)
    assert np.linalg.norm(rows[1]) == pytest.approx(1, abs=1e-6)
    assert model.transform(language()).shape == (language().words, 5)
    unknown = 100 * model.summary_["unknown_words"] / language().words
    assert model.coverage(language()) == pytest.approx(100 - unknown)
    assert model.coverage(["the", "qwerty"]) == 50
    low = Eigenwords("cca", dim=5, lower=True).fit(language())
    assert "The" not in low.words_
    assert low.coverage(["The", "THE"]) == 100
    alone = Eigenwords("cca", dim=5, min_count=1).fit(language())
    assert alone.summary_["unknown_words"] == 0
    assert np.linalg.norm(alone.unknown_) == pytest.approx(1, abs=1e-6)


def test_neighbours():
    model = Eigenwords("cca", dim=10).fit(language())
    near = model.neighbours("the", 4)
    assert len(near) == 4
    assert [cosine for _, cosine in near] == sorted((c for _, c in near), reverse=True)
    assert "the" not in [word for word, _ in near]
    assert len(model.neighbours("the", 10**6)) == len(model.words_) - 1
    with pytest.raises(InputError, match="'teh' has no vector"):
        model.neighbours("teh")
    with pytest.raises(InputError, match=r"did you mean .*the"):
        model.neighbours("thee")
    with pytest.raises(NotFittedError):
        Eigenwords().neighbours("the")


def test_there_and_back_as_text(tmp_path):
    model = Eigenwords("cca", dim=5).fit(language())
    model.to_word2vec(tmp_path / "v.txt.gz")
    again = Eigenwords.from_word2vec(tmp_path / "v.txt.gz")
    assert again.words_ == model.words_
    np.testing.assert_array_equal(again.vectors_, model.vectors_)
    np.testing.assert_array_equal(again.unknown_, model.unknown_)
    assert again.neighbours("the") == model.neighbours("the")
    again.save(tmp_path / "m")
    assert Eigenwords.load(tmp_path / "m").words_ == model.words_
    (tmp_path / "w.txt").write_text("2 2\na 4 0\nb 0 2\n", encoding="utf-8")
    large = Eigenwords.from_word2vec(tmp_path / "w.txt")
    assert large.vectors_.tolist() == [[1, 0], [0, 0.5]]
    assert large.unknown_.tolist() == [0.5, 0.25]
    (tmp_path / "w.txt").write_text("1 2\n<unk> 4 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected vectors of words"):
        Eigenwords.from_word2vec(tmp_path / "w.txt")


REFUSED = [
    (dict(method="glove"), "method: expected one of cca"),
    (dict(dim=0), "dim: expected a number from 1"),
    (dict(window=1.5), "window: expected"),
    (dict(rates=()), "rates: expected numbers above 0"),
    (dict(rates=(0.5, 2.0)), "rates: expected numbers above 0"),
    (dict(tolerance=-1), "tolerance: expected"),
    (dict(dim=5000), "different words seen at least 5 times: too few for 5000 dimensions"),
]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_parameters_that_cannot_be(parameters, message):
    with pytest.raises(InputError, match=message):
        Eigenwords(**parameters).fit(language()[:50])


def test_texts_that_teach_nothing(tmp_path):
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    for texts in (tmp_path / "empty.txt", [], [[]]):
        with pytest.raises(InputError, match="expected text, found no word"):
            Eigenwords().fit(texts)
    for method in METHODS:
        with pytest.raises(InputError, match="dimensions, not 20: lower dim"):
            Eigenwords(method, dim=20, min_count=1).fit([[f"w{i}"] for i in range(30)])


def test_classes_are_divisions_of_the_words():
    model = Eigenwords("cca", dim=10).fit(language())
    classes = model.classes((4, 16, 10**6))
    assert classes.names == ["class1", "class2"]
    assert classes.classes.max(1).tolist() == [3, 15]
    the, other = classes.function("class2")(["the", "qwerty"])
    assert classes.function("class2")(["THE"]) == [the]
    assert other == "other"
