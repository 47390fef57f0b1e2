"""The training loop of dependency parsers: portions, early stop, and ends that are the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY
from hashed import random_treebank, sentences_of
from naive import parts as naive
from syntagma.errors import InputError, ModelFileError
from syntagma.training.arc_features import make_templates, present_fields
from syntagma.training.arc_labels import LabelLearner, label_program
from syntagma.training.checkpoints import Checkpoint
from syntagma.training.forests import Grammar
from syntagma.training.tree_learning import LikelihoodLearner, MarginLearner
from syntagma.training.tree_loop import Plan, train_trees

SIZE = 2**10


class Stopped(Exception):
    pass


def counter(stop):
    """Something that is called again and again until it raises."""
    calls = []

    def called():
        calls.append(None)
        if len(calls) == stop:
            raise Stopped

    return called


@PROPERTY
@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=40),
    portion=st.integers(1, 9),
    cells=st.integers(1, 900),
    epoch=st.integers(0, 5),
    seed=st.integers(0, 99),
)
def test_an_epoch_visits_every_sentence_once(sizes, portion, cells, epoch, seed):
    plan = Plan(10, portion, seed, 0, cells)
    portions = plan.portions(epoch, np.array(sizes))
    assert sorted(np.concatenate(portions).tolist()) == list(range(len(sizes)))
    assert naive.portions_hold([p.tolist() for p in portions], sizes, portion, cells)
    # and none is smaller than it must be
    for one, other in pairwise(portions):
        full = sum(sizes[s] for s in one) + sizes[other[0]] > cells
        assert len(one) == portion or full
    again = Plan(99, portion, seed, 3, cells).portions(epoch, np.array(sizes))
    for one, other in zip(portions, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_order_depends_on_seed_and_epoch_alone():
    cells = np.full(50, 10)

    def order(epoch, seed, portion=4):
        return np.concatenate(Plan(10, portion, seed, 0, 100).portions(epoch, cells)).tolist()

    assert order(0, 1) == order(0, 1, portion=7)
    assert order(0, 1) != order(1, 1)
    assert order(0, 1) != order(0, 2)


class Setting:
    """A little treebank, and everything that learns from it, anew each time."""

    def __init__(self, learner="mira", order=1, labels=True, sizes=(4, 3, 1, 5, 2, 4, 3)):
        self.treebank = random_treebank(np.random.default_rng(1), sizes)
        self.sentences = sentences_of(self.treebank)
        fields = present_fields(self.treebank)
        siblings = ("s.tag m.tag",) if order == 2 else ()
        self.grammar = Grammar(make_templates(("h.tag m.tag", "m.word"), siblings, fields), 1, 1)
        self.program = label_program(("h.tag m.tag",), fields) if labels else None
        self.kind = learner
        self.gold = (np.arange(self.treebank.words) % 4 - 1).astype(np.int32)  # some unknown

    def train(self, plan, called=None, **options):
        if self.kind == "mira":
            learner = MarginLearner(self.sentences, self.grammar, SIZE, 3, 0.1)
        else:
            learner = LikelihoodLearner(self.sentences, self.grammar, SIZE, 0.1)
        labeller = LabelLearner(self.program, 3, SIZE, 0.1) if self.program else None
        if called:
            slow = labeller or learner  # the last to learn from a portion
            learn = slow.learn

            def watched(*arguments):
                called()
                return learn(*arguments)

            slow.learn = watched
        return train_trees(learner, labeller, self.gold, plan, **options)


def scores_by_rule(weights, label_weights):
    """A made-up figure that rises and falls."""
    return float(np.abs(weights).sum() * 7 % 5), float(np.abs(label_weights).sum() % 3)


def same(one, other):
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.label_weights, other.label_weights)
    for name in ("epoch", "step", "label_step", "best_epoch", "costs", "curve"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize(
    ("learner", "order", "labels", "patience"),
    [("mira", 1, True, 2), ("log-linear", 2, True, 0), ("mira", 2, False, 2)],
)
def test_a_stopped_training_ends_the_same(tmp_path, learner, order, labels, patience):
    setting = Setting(learner, order, labels, sizes=(4, 3, 1, 5, 2))
    plan = Plan(3, 3, 5, patience, 10_000)

    def keeper(resume):
        return Checkpoint(tmp_path / "c", "me", resume=resume, every=0)

    calls = []
    whole = setting.train(plan, lambda: calls.append(None), monitor=scores_by_rule)
    assert len(calls) >= 4
    for stop in range(1, len(calls) + 1):
        with pytest.raises(Stopped):
            setting.train(plan, counter(stop), monitor=scores_by_rule, checkpoint=keeper(False))
        # nothing that was saved is done again
        left = counter(len(calls) - stop + 2)
        resumed = setting.train(plan, left, monitor=scores_by_rule, checkpoint=keeper(True))
        same(resumed, whole)
        (tmp_path / "c").unlink()


def test_a_training_can_be_stopped_again_and_again(tmp_path):
    setting = Setting()
    plan = Plan(3, 2, 0, 0, 10_000)
    whole = setting.train(plan)
    stops = 0
    while True:
        keeper = Checkpoint(tmp_path / "c", "me", resume=True, every=0)
        try:
            found = setting.train(plan, counter(2), checkpoint=keeper)
        except Stopped:
            stops += 1
        else:
            break
    assert stops > 5
    same(found, whole)


def test_a_training_stopped_while_it_is_judged_ends_the_same(tmp_path):
    setting = Setting()
    plan = Plan(5, 3, 1, 2, 10_000)
    whole = setting.train(plan, monitor=scores_by_rule)
    for stop in range(1, whole.epoch + 1):
        called = counter(stop)

        def monitor(*weights, called=called):
            called()
            return scores_by_rule(*weights)

        def keeper(resume):
            return Checkpoint(tmp_path / "c", "me", resume=resume, every=0)

        with pytest.raises(Stopped):
            setting.train(plan, monitor=monitor, checkpoint=keeper(False))
        same(setting.train(plan, monitor=scores_by_rule, checkpoint=keeper(True)), whole)


def test_a_checkpoint_that_does_not_fit_is_one_clear_error(tmp_path):
    setting = Setting()
    plan = Plan(2, 2, 0, 0, 10_000)

    def keeper(name="me"):
        return Checkpoint(tmp_path / "c", name, resume=True, every=0)

    setting.train(plan, checkpoint=keeper())
    arrays = keeper().restore()
    with pytest.raises(InputError, match="other data"):
        setting.train(plan, checkpoint=keeper("you"))
    for name in arrays:
        keeper().save({n: a for n, a in arrays.items() if n != name})
        with pytest.raises(ModelFileError, match="checkpoint is damaged"):
            setting.train(plan, checkpoint=keeper())
    for name in ("weights", "sums", "label_weights", "label_state"):
        for broken in (arrays[name][:-1], arrays[name].astype(np.float64)):
            keeper().save({**arrays, name: broken})
            with pytest.raises(ModelFileError, match=f"damaged: {name} should have shape"):
                setting.train(plan, checkpoint=keeper())


def scripted(scores):
    """A monitor that tells these scores in turn, and keeps what it was shown."""
    shown = []

    def monitor(weights, label_weights):
        shown.append((weights.copy(), label_weights.copy()))
        return scores[len(shown) - 1]

    return monitor, shown


@pytest.mark.parametrize(
    ("scores", "patience", "epochs", "best"),
    [
        ([10, 20, 15, 18, 19, 30], 2, 4, 2),
        ([10, 20, 15, 18, 19, 30], 4, 6, 6),
        ([50, 40, 30, 20, 10, 0], 1, 2, 1),
        ([10, 20, 30, 40, 50, 60], 1, 6, 6),
        ([10, 10, 10, 10, 10, 10], 3, 4, 1),
        ([0, 0, 0, 0, 0, 0], 2, 3, 1),
    ],
)
def test_patience_ends_the_training_and_keeps_the_best_epoch(scores, patience, epochs, best):
    monitor, shown = scripted([(float(score), 0.0) for score in scores])
    told = []
    found = Setting().train(
        Plan(6, 2, 0, patience, 10_000), monitor=monitor, progress=lambda *what: told.append(what)
    )
    assert (found.epoch, found.best_epoch) == (epochs, best)
    assert found.curve == [(i + 1, float(scores[i]), 0.0) for i in range(epochs)]
    np.testing.assert_array_equal(found.weights, shown[best - 1][0])
    np.testing.assert_array_equal(found.label_weights, shown[best - 1][1])
    assert told == [(i + 1, 6, cost) for i, cost in enumerate(found.costs)]
    assert len(found.costs) == epochs


def test_equal_trees_are_told_apart_by_their_labels():
    monitor, shown = scripted([(50.0, 20.0), (50.0, 30.0), (50.0, 25.0), (50.0, 25.0)])
    found = Setting().train(Plan(4, 2, 0, 3, 10_000), monitor=monitor)
    assert found.best_epoch == 2
    np.testing.assert_array_equal(found.label_weights, shown[1][1])


def test_without_patience_scores_steer_nothing():
    setting = Setting()
    monitor, shown = scripted([(9.0, 0.0), (1.0, 0.0), (1.0, 0.0)])
    watched = setting.train(Plan(3, 2, 0, 0, 10_000), monitor=monitor)
    plain = setting.train(Plan(3, 2, 0, 5, 10_000))
    np.testing.assert_array_equal(watched.weights, plain.weights)
    np.testing.assert_array_equal(watched.label_weights, plain.label_weights)
    np.testing.assert_array_equal(shown[-1][0], plain.weights)
    assert len(watched.curve) == 3
    assert plain.curve == []


def test_scores_of_nothing_leave_the_last_weights():
    # held-out text without heads has no score
    setting = Setting()
    plain = setting.train(Plan(3, 2, 0, 0, 10_000))
    monitor, _ = scripted([(float("nan"), float("nan"))] * 3)
    found = setting.train(Plan(3, 2, 0, 5, 10_000), monitor=monitor)
    np.testing.assert_array_equal(found.weights, plain.weights)
    np.testing.assert_array_equal(found.label_weights, plain.label_weights)


def test_the_same_seed_gives_the_same_weights_and_another_gives_others():
    setting = Setting()
    one, again, other = (setting.train(Plan(2, 2, seed, 0, 10_000)) for seed in (3, 3, 4))
    same(one, again)
    assert (one.weights != other.weights).any()


def test_steps_count_sentences_and_labelled_words():
    setting = Setting()
    found = setting.train(Plan(3, 2, 0, 0, 10_000))
    assert found.step == 1 + 3 * len(setting.treebank)
    assert found.label_step == 1 + 3 * (setting.gold >= 0).sum()
    assert Setting(labels=False).train(Plan(1, 2, 0, 0, 10_000)).label_weights.shape == (0,)
