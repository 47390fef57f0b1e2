"""The graph-based dependency parser: the contract of every model, and what is its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

import numba
import numpy as np
import pytest

from contracts import ModelContract
from naive.arcs import is_projective, is_tree
from syntagma.corpora import write_treebank
from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Column, Treebank
from syntagma.errors import InputError
from syntagma.models import parser as module
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger
from syntagma.structures.arcs import arc_cells, arc_offsets

FAST = {"epochs": 2, "bits": 14}


@cache
def language():
    """Sentences of the generated language, enough to learn something."""
    return english(260, seed=7, max_length=20).treebank


def train():
    return language()[:200]


def held_out():
    return language()[200:]


@cache
def tagger():
    return Tagger(iterations=15, features=("word", "suffix2")).fit(language()[:60])


@cache
def crossing(sentences=40):
    """Sentences in which the second word hangs on the last and the third on the first."""
    forms, tags, heads, labels = [], [], [], []
    for i in range(sentences):
        forms.append([f"v{i % 5}", f"a{i % 3}", f"b{i % 4}", f"n{i % 7}"])
        tags.append(["V", "A", "B", "N"])
        heads.append([0, 4, 1, 1])
        labels.append(["root", "amod", "mark", "obj"])
    return Treebank.from_sentences(forms, upos=tags, heads=heads, labels=labels)


class ParserContract(ModelContract):
    def corpus(self):
        return language()[:40]

    def outputs(self, model, treebank):
        decided = model.decide(treebank)
        best = model.kbest(treebank, 3)
        flat = np.concatenate([block.ravel() for block in model.marginals(treebank)])
        return [
            decided.heads,
            decided.labels.ids,
            decided.head_probability,
            decided.label_probability,
            flat,
            model.log_partition(treebank),
            *best,
        ]


class TestFirstOrderMira(ParserContract):
    def make(self):
        return DependencyParser(**FAST)


class TestSecondOrderMira(ParserContract):
    def make(self):
        return DependencyParser(order=2, k=3, decode="mbr", **FAST)


class TestLogLinear(ParserContract):
    def make(self):
        return DependencyParser(learner="log-linear", **FAST)


class TestNotProjective(ParserContract):
    def make(self):
        return DependencyParser(projective=False, learner="log-linear", decode="mbr", **FAST)


class TestParserWithTagger(ParserContract):
    def make(self):
        parser = DependencyParser(**FAST)
        parser.fit = partial(parser.fit, tagger=tagger())
        return parser


@pytest.fixture(scope="module")
def parser():
    return DependencyParser(epochs=4, bits=16).fit(train())


@pytest.fixture(scope="module")
def second():
    return DependencyParser(order=2, epochs=4, bits=16).fit(train())


@pytest.fixture(scope="module")
def log_linear():
    return DependencyParser(learner="log-linear", epochs=4, bits=16).fit(train())


def uas(heads, treebank):
    return 100.0 * float((heads == treebank.heads).mean())


def previous_word(treebank):
    return np.concatenate([np.arange(n) for n in treebank.lengths])


# ---- what is learnt ---------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["parser", "second", "log_linear"])
def test_it_learns(kind, request):
    model = request.getfixturevalue(kind)
    baseline = uas(previous_word(held_out()), held_out())
    assert model.score(held_out()) > 80 > baseline + 30
    assert model.score(train()) > 90
    predicted = model.predict(held_out())
    right = predicted.heads == held_out().heads
    labels = zip(predicted.labels.strings(), held_out().labels.strings(), strict=True)
    labelled = right & np.array([a == b for a, b in labels])
    assert 100 * labelled.mean() > 75
    np.testing.assert_allclose(model.score(held_out()), 100 * right.mean())
    assert (held_out().labels.strings() != predicted.labels.strings()) or labelled.all()


def test_crossing_arcs_are_learnt_where_there_are_many():
    model = DependencyParser(**FAST).fit(crossing())
    assert model.projective_ is False
    assert model.summary_["not_projective"] == 40
    assert model.score(crossing()) == 100.0


def test_trees_are_projective_unless_training_says_otherwise(parser):
    assert parser.projective_ is True
    few = DependencyParser(**FAST).fit(mixed(10))
    many = DependencyParser(**FAST).fit(mixed(14))
    assert (few.projective_, many.projective_) == (True, False)
    assert DependencyParser(order=2, **FAST).fit(mixed(14)).projective_ is True
    assert DependencyParser(projective=True, **FAST).fit(mixed(14)).projective_ is True
    assert DependencyParser(projective=False, **FAST).fit(mixed(0)).projective_ is False


def mixed(crossed):
    """Sixty sentences, so many of them with crossing arcs."""
    treebank = crossing(60)
    heads = treebank.heads.reshape(-1, 4).copy()
    heads[crossed:] = [0, 1, 2, 1]
    return treebank.replace(heads=heads.ravel())


def test_crossing_trees_are_kept_or_lifted():
    kept = DependencyParser(projective=True, crossings="keep", **FAST).fit(crossing())
    lifted = DependencyParser(projective=True, crossings="lift", **FAST).fit(crossing())
    assert (kept.summary_["crossings"], lifted.summary_["crossings"]) == ("kept", "lifted")
    trees = lifted.predict(crossing()).heads.reshape(-1, 4).tolist()
    # the shorter of the crossing arcs moves up: 3 from 1 to the root, or 2 from 4 to 1
    assert {tuple(tree) for tree in trees} == {(0, 1, 1, 1)}


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_the_root_has_one_child_unless_training_says_otherwise(single, projective):
    forms = [[f"a{i}", f"b{i}", f"c{i}"] for i in range(12)]
    tags = [["A", "B", "C"]] * 12
    heads = [[0, 1, 2] if single or i % 2 else [0, 0, 2] for i in range(12)]
    treebank = Treebank.from_sentences(forms, upos=tags, heads=heads)
    model = DependencyParser(projective=projective, **FAST).fit(treebank)
    assert model.single_root_ is single
    roots = [block[0].sum() for block in model.marginals(treebank)]
    if single:
        np.testing.assert_allclose(roots, 1.0)
        assert ((model.kbest(treebank, 4).outcome == 0).reshape(4, 12, 3).sum(axis=2) <= 1).all()
    else:
        assert max(roots) > 1.01
        assert min(roots) > 1.0 - 1e-9


# ---- order, threads and memory change nothing -------------------------------------------------
def rebuilt(treebank, order):
    """The same sentences in another order, as if read from another file."""
    chosen = [treebank[int(i)] for i in order]
    return Treebank.from_sentences(
        [s.forms for s in chosen],
        upos=[s.tags for s in chosen],
        xpos=[s._strings(treebank.xpos) for s in chosen],
        heads=[s.heads for s in chosen],
        labels=[s.labels for s in chosen],
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"order": 2}, {"learner": "log-linear"}, {"learner": "log-linear", "projective": False}],
    ids=str,
)
def test_neither_order_nor_threads_change_a_byte(options, tmp_path):
    treebank = language()[:40]
    before = numba.get_num_threads()
    files = []
    for threads, some in ((before, treebank), (1, rebuilt(treebank, range(39, -1, -1)))):
        try:
            numba.set_num_threads(threads)
            DependencyParser(**FAST, **options).fit(some).save(tmp_path / "model")
        finally:
            numba.set_num_threads(before)
        files.append((tmp_path / "model").read_bytes())
    assert files[0] == files[1]


def test_parsing_in_portions_changes_nothing(parser, second, monkeypatch):
    for model in (parser, second):
        whole = [model.decide(held_out()), model.kbest(held_out(), 2)]
        with monkeypatch.context() as patch:
            patch.setattr(module, "CELLS", 500)
            parts = [model.decide(held_out()), model.kbest(held_out(), 2)]
        np.testing.assert_array_equal(whole[0].heads, parts[0].heads)
        np.testing.assert_array_equal(whole[0].head_probability, parts[0].head_probability)
        np.testing.assert_array_equal(whole[0].label_probability, parts[0].label_probability)
        for one, other in zip(whole[1], parts[1], strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_sentence_is_parsed_alike_in_any_company(parser):
    decided = parser.decide(held_out())
    alone = parser.decide(held_out()[5:6])
    words = slice(int(held_out().offsets[5]), int(held_out().offsets[6]))
    np.testing.assert_array_equal(alone.heads, decided.heads[words])
    np.testing.assert_array_equal(alone.head_probability, decided.head_probability[words])


# ---- what is predicted ------------------------------------------------------------------------
def test_predictions_fill_only_heads_and_labels(parser, tmp_path):
    predicted = parser.predict(held_out())
    for name in ("forms", "lemmas", "upos", "xpos", "feats", "misc"):
        assert getattr(predicted, name).strings() == getattr(held_out(), name).strings()
    write_treebank(held_out(), tmp_path / "a.conllu")
    write_treebank(predicted, tmp_path / "b.conllu")

    def rest(name):
        lines = (tmp_path / name).read_text(encoding="utf-8").split("\n")
        rows = [line.split("\t") for line in lines]
        return [row[:6] + row[8:] if len(row) == 10 else row for row in rows]

    assert rest("a.conllu") == rest("b.conllu")
    # what stood in the two columns is not looked at
    words = held_out().words
    blank = held_out().replace(heads=np.full(words, -1), labels=["_"] * words)
    again = parser.predict(blank)
    np.testing.assert_array_equal(again.heads, predicted.heads)
    assert again.labels.strings() == predicted.labels.strings()


def test_predictions_are_trees_with_labels_seen_in_training(parser, second, log_linear):
    for model in (parser, second, log_linear):
        predicted = model.predict(held_out())
        for a, b in pairwise(held_out().offsets):
            heads = tuple(predicted.heads[a:b].tolist())
            assert is_tree(heads)
            assert is_projective(heads)
            assert heads.count(0) == 1
        assert set(predicted.labels.strings()) <= set(train().labels.strings())
        assert model.labels_ == sorted(set(train().labels.strings()))


@pytest.mark.parametrize("kind", ["parser", "second", "log_linear"])
def test_probabilities_are_probabilities(kind, request):
    model = request.getfixturevalue(kind)
    blocks = model.marginals(held_out())
    assert [block.shape for block in blocks] == [(n + 1, n) for n in held_out().lengths]
    for block in blocks:
        assert (block >= 0).all()
        np.testing.assert_allclose(block.sum(axis=0), 1.0, rtol=1e-9)
    decided = model.decide(held_out())
    np.testing.assert_array_equal(decided.heads, model.predict(held_out()).heads)
    assert decided.labels.strings() == model.predict(held_out()).labels.strings()
    word = 0
    for block, n in zip(blocks, held_out().lengths, strict=True):
        for m in range(n):
            assert decided.head_probability[word] == block[decided.heads[word], m]
            word += 1
    assert ((decided.label_probability > 0) & (decided.label_probability <= 1)).all()


def test_the_log_linear_parser_knows_how_sure_it_is(log_linear):
    decided = log_linear.decide(held_out())
    assert abs(100 * decided.head_probability.mean() - uas(decided.heads, held_out())) < 6
    right = decided.heads == held_out().heads
    assert decided.head_probability[right].mean() > decided.head_probability[~right].mean() + 0.1


@pytest.mark.parametrize("kind", ["parser", "second"])
def test_the_best_of_the_k_best_is_the_prediction(kind, request):
    model = request.getfixturevalue(kind)
    best = model.kbest(held_out(), 3)
    np.testing.assert_array_equal(best.outcome[0], model.predict(held_out()).heads)
    assert best.score.shape == (len(held_out()), 3)
    finite = np.where(np.isfinite(best.score), best.score, -1e300)
    assert (np.diff(finite, axis=1) <= 0).all()
    log_partition = model.log_partition(held_out())
    assert (np.logaddexp.reduce(best.score, axis=1) <= log_partition + 1e-9).all()


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"projective": False}], ids=str)
def test_the_tree_with_the_most_arcs_expected_right(options):
    models = [
        DependencyParser(learner="log-linear", decode=decode, **FAST, **options).fit(train()[:60])
        for decode in ("best", "mbr")
    ]
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    best, mbr = (model.decide(held_out()) for model in models)
    assert (best.heads != mbr.heads).any()
    starts = held_out().offsets[:-1]
    expected = [np.add.reduceat(d.head_probability, starts) for d in (best, mbr)]
    assert (expected[1] >= expected[0] - 1e-9).all()
    np.testing.assert_array_equal(models[1].predict(held_out()).heads, mbr.heads)
    # decoding is chosen when a tree is asked for: the other marginals are the same
    models[0].set_params(decode="mbr")
    np.testing.assert_array_equal(models[0].predict(held_out()).heads, mbr.heads)
    cells = arc_cells(mbr.heads, held_out().offsets)
    assert cells.max() < arc_offsets(held_out().offsets)[-1]


# ---- tags and labels --------------------------------------------------------------------------
def test_a_parser_with_a_tagger_looks_at_its_tags_alone():
    corpus = train()[:60]
    model = DependencyParser(**FAST).fit(corpus, tagger=tagger())
    test = held_out()
    blank = test.replace(upos=["_"] * test.words, xpos=["_"] * test.words)
    one, other = model.predict(test), model.predict(blank)
    np.testing.assert_array_equal(one.heads, other.heads)
    assert one.upos.strings() == other.upos.strings() == tagger().predict(test).upos.strings()
    assert other.xpos.strings() == blank.xpos.strings()
    assert model.tagged(blank).upos.strings() == one.upos.strings()


def test_the_tag_column_is_the_one_it_learnt_from():
    corpus = language()[:60]
    fine = replace(corpus, tag_column="xpos")
    model = DependencyParser(**FAST).fit(fine)
    assert model.summary_["column"] == "xpos"
    np.testing.assert_array_equal(model.predict(corpus).heads, model.predict(fine).heads)


def test_unseen_words_tags_and_labels_are_no_obstacle(parser):
    strange = Treebank.from_sentences(
        [["Zyx", "wvutsr", "Ω"], ["Birds", "sing"]],
        upos=[["WEIRD", "_", "STRANGE"], ["NOUN", "VERB"]],
        heads=[[2, 0, 2], [2, 0]],
        labels=[["unheard", "root", "unheard:of"], ["nsubj", "root"]],
    )
    predicted = parser.predict(strange)
    assert set(predicted.labels.strings()) <= set(parser.labels_)
    assert 0 <= parser.score(strange) <= 100
    watched = DependencyParser(**FAST).fit(train()[:20], dev=strange)
    assert len(watched.summary_["learning_curve"]) == 2


def test_a_treebank_without_labels_teaches_trees():
    bare = train()[:40].replace(labels=["_"] * train()[:40].words)
    model = DependencyParser(**FAST).fit(bare)
    assert model.labels_ == ["_"]
    assert model.label_weights_.shape == (0,)
    decided = model.decide(held_out())
    assert set(decided.labels.strings()) == {"_"}
    assert (decided.label_probability == 1).all()
    assert uas(decided.heads, held_out()) > uas(previous_word(held_out()), held_out()) + 20


def test_one_label_is_given_to_all():
    treebank = Treebank.from_sentences(
        [["a", "b"], ["c"]], heads=[[2, 0], [0]], labels=[["dep", "dep"], ["_"]]
    )
    model = DependencyParser(**FAST).fit(treebank)
    assert set(model.predict(treebank).labels.strings()) == {"dep"}


def test_sentences_without_heads_are_left_out():
    whole = train()[:30]
    heads = whole.heads.copy()
    heads[: whole.offsets[10]] = -1
    model = DependencyParser(**FAST).fit(whole.replace(heads=heads))
    assert (model.summary_["sentences"], model.summary_["skipped"]) == (20, 10)
    same = DependencyParser(**FAST).fit(whole[10:])
    np.testing.assert_array_equal(model.weights_, same.weights_)


# ---- sizes ------------------------------------------------------------------------------------
def cut(sizes):
    """Words of the language, cut into sentences of these sizes."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    columns = {
        "forms": Column.of(train().forms.strings()[: offsets[-1]]),
        "upos": Column.of(train().upos.strings()[: offsets[-1]]),
    }
    return Treebank.from_columns(offsets, columns)


def test_long_sentences_are_parsed_in_second_order_too(second):
    predicted = second.predict(cut([200]))
    assert is_tree(tuple(predicted.heads.tolist()))
    assert is_projective(tuple(predicted.heads.tolist()))


@pytest.mark.parametrize("kind", ["parser", "second", "log_linear"])
def test_short_long_and_empty_sentences(kind, request):
    model = request.getfixturevalue(kind)
    sizes = [1, 80 if kind == "second" else 300, 0, 2]
    treebank = cut(sizes)
    decided = model.decide(treebank)
    for a, b in pairwise(treebank.offsets.tolist()):
        assert is_tree(tuple(decided.heads[a:b].tolist()))
    assert decided.heads[0] == 0
    assert decided.head_probability[0] == pytest.approx(1.0)
    assert np.isfinite(decided.head_probability).all()
    assert [block.shape for block in model.marginals(treebank)] == [(n + 1, n) for n in sizes]
    best = model.kbest(treebank, 2)
    assert best.score[0, 1] == -np.inf
    assert best.outcome[1, 0] == -1
    assert np.isfinite(model.log_partition(treebank)).all()
    assert model.predict(treebank).heads.tolist() == best.outcome[0].tolist()


def test_no_sentences_give_nothing(parser):
    nothing = held_out()[:0]
    assert len(parser.predict(nothing)) == 0
    assert parser.decide(nothing).heads.shape == (0,)
    assert parser.marginals(nothing) == []
    assert np.isnan(parser.score(nothing))
    assert parser.log_partition(nothing).shape == (0,)
    assert parser.kbest(nothing, 3).outcome.shape == (3, 0)


def test_a_single_sentence_of_one_word_can_be_learnt_from():
    treebank = Treebank.from_sentences([["Rain"]], heads=[[0]], labels=[["root"]])
    for options in ({}, {"order": 2}, {"learner": "log-linear"}, {"projective": False}):
        model = DependencyParser(**FAST, **options).fit(treebank)
        assert model.score(treebank) == 100.0
        assert model.predict(treebank).labels.strings() == ["root"]


# ---- training ---------------------------------------------------------------------------------
def test_dev_scores_make_a_learning_curve_and_change_nothing():
    corpus, dev = train()[:40], held_out()[:20]
    options = {"bits": 14, "epochs": 3}
    plain = DependencyParser(**options).fit(corpus)
    told = []
    watched = DependencyParser(**options).fit(
        corpus, dev=dev, progress=lambda *what: told.append(what)
    )
    np.testing.assert_array_equal(plain.weights_, watched.weights_)
    np.testing.assert_array_equal(plain.label_weights_, watched.label_weights_)
    curve = watched.summary_["learning_curve"]
    assert [epoch for epoch, _, _ in curve] == [1, 2, 3]
    assert curve[-1][1] == watched.score(dev)
    assert all(0 <= las <= score <= 100 for _, score, las in curve)
    assert [(epoch, epochs) for epoch, epochs, _ in told] == [(1, 3), (2, 3), (3, 3)]
    assert [cost for _, _, cost in told] == watched.summary_["costs"]


def test_patience_keeps_the_epoch_that_was_best():
    corpus, dev = train()[:30], held_out()[:20]
    model = DependencyParser(epochs=30, bits=14, patience=1).fit(corpus, dev=dev)
    curve = model.summary_["learning_curve"]
    assert model.summary_["epochs"] == len(curve) < 30
    assert model.summary_["best_epoch"] == len(curve) - 1
    assert model.score(dev) == max(score for _, score, _ in curve)
    nameless = dev.replace(heads=np.full(dev.words, -1))
    blind = DependencyParser(epochs=3, bits=14, patience=5).fit(corpus, dev=nameless)
    plain = DependencyParser(epochs=3, bits=14).fit(corpus)
    np.testing.assert_array_equal(blind.weights_, plain.weights_)


@pytest.mark.parametrize("learner", ["mira", "log-linear"])
def test_training_can_be_stopped_and_resumed(learner, tmp_path):
    class Stopped(Exception):
        pass

    def stop(epoch, total, cost):
        if epoch == 2:
            raise Stopped

    corpus = train()[:30]
    keep = {"checkpoint": str(tmp_path / "c"), "checkpoint_every": 0.0}
    make = DependencyParser(epochs=3, bits=10, learner=learner)
    whole = make.fit(corpus)
    whole.save(tmp_path / "whole")
    with pytest.raises(Stopped):
        make.fit(corpus, progress=stop, **keep)
    # the order of the sentences is no part of the data
    make.fit(rebuilt(corpus, range(29, -1, -1)), resume=True, **keep).save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    with pytest.raises(InputError, match="other data"):
        make.fit(train()[:31], resume=True, **keep)
    with pytest.raises(InputError, match="other data"):
        DependencyParser(epochs=4, bits=10, learner=learner).fit(corpus, resume=True, **keep)


def test_the_seed_decides_the_order_of_learning():
    corpus = train()[:30]
    one, other = (DependencyParser(**FAST, seed=seed).fit(corpus) for seed in (0, 1))
    assert (one.weights_ != other.weights_).any()


def test_it_says_what_it_has_learnt_from(parser):
    summary = parser.summary_
    assert summary["words"] == train().words
    assert summary["sentences"] == len(train())
    assert summary["labels"] == len(parser.labels_)
    assert summary["epochs"] == summary["best_epoch"] == len(summary["costs"]) == 4
    assert summary["used_weights"] == np.count_nonzero(parser.weights_)
    assert summary["costs"][-1] < summary["costs"][0]
    told = parser.describe()
    assert told["labels"] == parser.labels_
    np.testing.assert_allclose(told["table_share_used"], (parser.weights_ != 0).mean())


# ---- refusals ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": 3}, "order: expected one of 1, 2, found 3"),
        ({"order": "2"}, "order: expected one of"),
        ({"learner": "nonsense"}, "learner: expected one of mira, log-linear, found 'nonsense'"),
        ({"projective": "maybe"}, "projective: expected one of auto, True, False"),
        ({"crossings": "drop"}, "crossings: expected one of keep, lift"),
        ({"decode": "luck"}, "decode: expected one of best, mbr"),
        ({"order": 2, "projective": False}, "second-order trees are projective"),
        ({"bits": 7}, "bits: expected 8 to"),
        ({"bits": 64}, "bits: expected 8 to"),
        ({"bits": 12.0}, "bits: expected 8 to"),
        ({"epochs": 0}, "epochs: expected 1 to"),
        ({"k": 0}, "k: expected 1 to"),
        ({"portion": 0}, "portion: expected 1 to"),
        ({"patience": -1}, "patience: expected 0 to"),
        ({"seed": -1}, "seed: expected 0 to"),
        ({"aggressiveness": 0.0}, "aggressiveness: expected above 0"),
        ({"aggressiveness": float("inf")}, "aggressiveness: expected above 0"),
        ({"aggressiveness": float("nan")}, "aggressiveness: expected above 0"),
        ({"rate": "fast"}, "rate: expected above 0"),
        ({"arc_templates": ["x.tag"]}, "template 'x.tag'"),
        ({"order": 2, "sibling_templates": ["b.tag"]}, "template 'b.tag'"),
        ({"label_templates": ["h.shape"]}, "template 'h.shape'"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InputError, match=message) as caught:
        DependencyParser(**{**FAST, **params}).fit(train()[:5])
    assert "\n" not in str(caught.value)


def test_text_without_trees_cannot_be_learnt_from():
    with pytest.raises(InputError, match="expected heads in the treebank"):
        DependencyParser(**FAST).fit(Treebank.from_sentences([["a"], ["b"]]))
    with pytest.raises(InputError, match="found none"):
        DependencyParser(**FAST).fit(train()[:0])
