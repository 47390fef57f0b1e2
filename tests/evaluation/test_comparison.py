"""Figures computed by hand on three sentences, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.corpora import Treebank, read_treebank
from syntagma.errors import InputError
from syntagma.evaluation import compare, evaluate

FORMS = [["The", "cat", "sleeps", "."], ["Dogs", "bark"], ["No"]]
TAGS = [["DET", "NOUN", "VERB", "PUNCT"], ["NOUN", "VERB"], ["_"]]
HEADS = [[2, 3, 0, 3], [2, 0], [0]]
LABELS = [["det", "nsubj", "root", "punct"], ["nsubj", "root"], ["root"]]
GOLD = Treebank.from_sentences(FORMS, upos=TAGS, heads=HEADS, labels=LABELS)
PREDICTED = Treebank.from_sentences(
    FORMS,
    upos=[["DET", "VERB", "VERB", "PUNCT"], ["NOUN", "VERB"], ["X"]],
    heads=[[2, 3, 0, 2], [0, 1], [0]],
    labels=[["det", "obj", "root", "punct"], ["root", "obj"], ["root"]],
)


def test_tagging_by_hand():
    summary = evaluate(GOLD, PREDICTED, training_forms={"The", ".", "Dogs"}).summary()
    assert summary["sentences"] == 3
    assert summary["words"] == 7
    assert summary["accuracy"] == pytest.approx(100 * 5 / 6)  # the untagged word is not scored
    assert summary["exact"] == 50.0
    assert summary["accuracy_known"] == 100.0
    assert summary["accuracy_unknown"] == pytest.approx(100 * 2 / 3)
    assert summary["unknown_words"] == 3
    assert summary["confusions"] == [{"gold": "NOUN", "predicted": "VERB", "count": 1}]
    verb = {"words": 2, "precision": pytest.approx(200 / 3), "recall": 100.0, "f1": 80.0}
    assert summary["tags"]["VERB"] == verb
    assert summary["tags"]["NOUN"]["recall"] == 50.0


def test_attachment_by_hand():
    evaluation = evaluate(GOLD, PREDICTED)
    summary = evaluation.summary()
    assert summary["uas"] == pytest.approx(100 * 4 / 7)
    assert summary["las"] == pytest.approx(100 * 3 / 7)
    assert summary["complete"] == pytest.approx(100 / 3)
    assert summary["uas_no_punct"] == pytest.approx(100 * 4 / 6)
    assert summary["las_no_punct"] == 50.0
    assert summary["complete_no_punct"] == pytest.approx(200 / 3)
    assert summary["by_length"] == {
        "1-10": {"words": 7, "uas": pytest.approx(400 / 7), "las": pytest.approx(300 / 7)}
    }
    assert summary["by_arc_length"] == {
        "root": {"words": 3, "uas": pytest.approx(200 / 3), "las": pytest.approx(200 / 3)},
        "1": {"words": 4, "uas": 50.0, "las": 25.0},
    }
    assert summary["by_tag"]["NOUN"] == {"words": 2, "uas": 50.0, "las": 0.0}
    assert evaluation.worst().tolist() == [1, 0]


def test_only_what_both_have_is_scored():
    forms_only = Treebank.from_sentences(FORMS)
    heads_only = Treebank.from_sentences(FORMS, heads=HEADS)
    summary = evaluate(GOLD, heads_only).summary()
    assert summary["uas"] == 100.0
    assert not {"las", "accuracy", "exact", "calibration"} & set(summary)
    assert "uas" not in evaluate(GOLD, Treebank.from_sentences(FORMS, upos=TAGS)).summary()
    with pytest.raises(InputError, match="neither tags nor heads"):
        evaluate(GOLD, forms_only)


def test_max_length_keeps_the_short_sentences():
    evaluation = evaluate(GOLD, PREDICTED, max_length=2)
    assert evaluation.indices.tolist() == [1, 2]
    assert evaluation.worst().tolist() == [1]
    assert evaluation.summary()["uas"] == pytest.approx(100 / 3)
    with pytest.raises(InputError, match="at most 0 words"):
        evaluate(GOLD, PREDICTED, max_length=0)


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        ([FORMS[0], ["Dogs", "bite"], ["No"]], "sentence 2: word 2 is 'bark' in gold, 'bite'"),
        ([FORMS[0], ["Dogs"], ["No"]], "sentence 2: 2 words in gold, 1 in predicted"),
        ([["The", "dog", "sleeps", "."], ["Dogs"]], "sentence 1: word 2 is 'cat' in gold, 'dog'"),
        (FORMS[:2], "sentence 3: not in predicted; gold has 3 sentences, predicted 2"),
        ([*FORMS, ["Yes"]], "sentence 4: not in gold; gold has 3 sentences, predicted 4"),
    ],
)
def test_different_texts_are_refused(forms, message):
    other = Treebank.from_sentences(forms, upos=[["X"] * len(s) for s in forms])
    with pytest.raises(InputError, match=message):
        evaluate(GOLD, other)


def test_stated_probabilities_are_judged():
    misc = ["HeadProb=0.9|TagProb=0.5", "SpaceAfter=No|HeadProb=0.8", "HeadProb=1", "_"]
    stated = PREDICTED.replace(misc=[*misc, "HeadProb=x", "MyHeadProb=0.1", "HeadProb=0.7"])
    calibration = evaluate(GOLD, stated).summary()["calibration"]
    assert calibration["heads"]["words"] == 4
    assert calibration["heads"]["brier"] == pytest.approx((0.01 + 0.04 + 0.09) / 4)
    assert calibration["tags"]["words"] == 1
    assert calibration["tags"]["ece"] == pytest.approx(0.5)


def random_tree(rng, size):
    """Heads of a random tree: words join in random order, each under one that is there."""
    order = rng.permutation(size) + 1
    heads = [0] * size
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = int(order[rng.integers(i)])
    return heads


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_gold_against_itself_is_perfect_and_errors_are_counted(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, size=rng.integers(1, 8)).tolist()
    forms = [[f"w{rng.integers(9)}" for _ in range(n)] for n in sizes]
    tags = [rng.choice(["NOUN", "VERB", "PUNCT"], n).tolist() for n in sizes]
    gold = Treebank.from_sentences(forms, upos=tags, heads=[random_tree(rng, n) for n in sizes])
    summary = evaluate(gold, gold, bootstrap=20).summary()
    json.dumps(summary, allow_nan=False)
    assert {summary[key] for key in ("accuracy", "exact", "uas", "complete")} == {100.0}
    other = gold.replace(heads=np.concatenate([random_tree(rng, n) for n in sizes]))
    right = np.equal(gold.heads, other.heads)
    evaluation = evaluate(gold, other, bootstrap=50)
    assert evaluation.summary()["uas"] == pytest.approx(100 * right.mean())
    for breakdown in ("by_length", "by_arc_length", "by_tag"):
        assert sum(row["words"] for row in evaluation.summary()[breakdown].values()) == sum(sizes)
    by_sentence = np.split(right, gold.offsets[1:-1])
    assert len(evaluation.worst(99)) == sum(not part.all() for part in by_sentence)
    change = compare(evaluate(gold, gold, 99, 0).ratios(), evaluation.ratios(), samples=50)
    assert change["uas"].value == pytest.approx(100 * (1 - right.mean()))


@pytest.mark.realdata
def test_a_real_treebank_with_other_heads(data):
    gold = read_treebank(data / "ud" / "en_ewt-dev.conllu.xz")
    rng = np.random.default_rng(0)
    heads = np.concatenate([random_tree(rng, n) for n in gold.lengths])
    summary = evaluate(gold, gold.replace(heads=heads)).summary()
    assert (summary["sentences"], summary["words"]) == (2001, 25147)
    assert summary["uas"] == pytest.approx(100 * np.mean(heads == gold.heads))
    assert summary["intervals"]["uas"]["low"] < summary["uas"]
    assert summary["las"] == summary["uas"]
