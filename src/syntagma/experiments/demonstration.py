"""What `syntagma demo` does: every model at work on generated corpora with known truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.edits import annotate
from syntagma.corpora.generated import HiddenMarkovSequences, english, hmm_sequences
from syntagma.corpora.treebank import Treebank
from syntagma.evaluation import evaluate
from syntagma.models.hmm import HMM
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger
from syntagma.moments.recovery import HiddenMarkov

IntArray = NDArray[np.int32]

TAGGER_SIZES = (10, 25, 50, 100, 200, 400, 800)
PARSER_SIZES = (25, 50, 100, 200, 400)
HMM_SIZES = (300, 1000, 3000, 10_000, 30_000)
HMM_STATES, HMM_SYMBOLS, HMM_LENGTH = 4, 30, 10
HELD_OUT = 400
EPOCHS, BITS = 5, 18  # of the parser: enough for so few sentences


class Demonstration(NamedTuple):
    """One model on one generated corpus: gold, prediction and what was learnt on the way.

    `headline` names the figure of the evaluation that says most, and `does` what the model does.
    `curves` are charts as `syntagma.reports.evaluation_summary` takes them.
    """

    title: str
    does: str
    headline: str
    gold: Treebank
    predicted: Treebank
    training_forms: set[str]
    model: dict[str, Any]
    curves: list[dict[str, Any]]


def tagger(seed: int, progress: Callable[[int, int, float], None]) -> Demonstration:
    """Learn to tag from 10 to 800 sentences, and tag 400 unseen ones."""
    train = english(TAGGER_SIZES[-1], seed=seed).treebank
    held_out = english(HELD_OUT, seed=seed + 1).treebank
    accuracies = []
    for done, size in enumerate(TAGGER_SIZES):
        model = Tagger().fit(train[:size])
        accuracies.append(model.score(held_out))
        progress(done + 1, len(TAGGER_SIZES), accuracies[-1])
    chosen, confidence = model.decide(held_out)
    predicted = annotate(
        model.with_tags(held_out, chosen), "TagProb", [f"{p:.4f}" for p in confidence.tolist()]
    )
    # the heads are not the tagger's: without them the report shows tags
    predicted = predicted.replace(heads=[-1] * predicted.words)
    lines = [{"name": "unseen sentences", "x": list(TAGGER_SIZES), "y": accuracies}]
    return Demonstration(
        "A tagger on generated English",
        "learns the tags of words",
        "accuracy",
        held_out,
        predicted,
        model.known_forms(),
        {"kind": model.kind, **model.summary_},
        [_learning_curve("tagging accuracy", lines)],
    )


def prepare() -> None:
    """Compile what parser and HMM need, and leave it on disk; little is done if it is there."""
    corpus = english(10, seed=0).treebank
    DependencyParser(learner="log-linear", epochs=1, bits=8).fit(corpus).decide(corpus)
    HMM(states=2, learner="spectral+em", iterations=1, column="tags").fit(corpus).predict(corpus)


def mst(seed: int, progress: Callable[[int, int, float], None]) -> Demonstration:
    """Learn to parse from 25 to 400 tagged sentences, and parse 400 unseen ones."""
    train = english(PARSER_SIZES[-1], seed=seed).treebank
    held_out = english(HELD_OUT, seed=seed + 1).treebank
    scores = []
    for done, size in enumerate(PARSER_SIZES):
        model = DependencyParser(learner="log-linear", epochs=EPOCHS, bits=BITS)
        model.fit(train[:size])
        parsed = model.predict(held_out)
        found = evaluate(held_out, parsed, bootstrap=0).summary()
        scores.append((found["uas"], found["las"]))
        progress(done + 1, len(PARSER_SIZES), scores[-1][0])
    heads, labels, sure, _ = model.decide(held_out)
    # the tags are not the parser's: without them the report shows trees
    predicted = annotate(
        held_out.replace(heads=heads, labels=labels, tags=["_"] * held_out.words),
        "HeadProb",
        [f"{p:.4f}" for p in sure.tolist()],
    )
    uas, las = (list(column) for column in zip(*scores, strict=True))
    lines = [
        {"name": name, "x": list(PARSER_SIZES), "y": values}
        for name, values in (("UAS", uas), ("LAS", las))
    ]
    return Demonstration(
        "A dependency parser on generated English",
        "learns the trees of tagged sentences",
        "uas",
        held_out,
        predicted,
        set(train.forms.names),
        {"kind": model.kind, **model.summary_},
        [_learning_curve("words with the right head, and label", lines)],
    )


def hmm(seed: int, progress: Callable[[int, int, float], None]) -> Demonstration:
    """Learn the states of 300 to 30,000 generated sequences, and find those of unseen ones."""
    drawn = hmm_sequences(HMM_STATES, HMM_SYMBOLS, HMM_SIZES[-1] + HELD_OUT, HMM_LENGTH, seed=seed)
    train, test = drawn.symbols[: HMM_SIZES[-1]], drawn.symbols[HMM_SIZES[-1] :]
    hidden = drawn.states[HMM_SIZES[-1] :]
    gold = _with_states(test, hidden)
    truth = _score_of_truth(drawn, test)
    accuracies: list[float] = []
    scores: dict[str, list[float]] = {"spectral": [], "spectral+em": []}
    for done, size in enumerate(HMM_SIZES):
        for learner, found in scores.items():
            model = HMM(HMM_STATES, learner, iterations=30, min_count=0).fit(train[:size])
            found.append(model.score(test))
        states = _matched(np.stack(model.predict(test)), hidden)
        accuracies.append(100.0 * float((states == hidden).mean()))
        progress(done + 1, len(HMM_SIZES), accuracies[-1])
    sizes = list(HMM_SIZES)
    likelihood = [{"name": name, "x": sizes, "y": values} for name, values in scores.items()]
    likelihood.append({"name": "truth", "x": sizes, "y": [truth] * len(sizes)})
    return Demonstration(
        "A hidden Markov model on generated sequences",
        "learns hidden states from symbols alone (spectral, then EM)",
        "accuracy",
        gold,
        _with_states(test, states),
        set(gold.forms.names),
        {"kind": model.kind, **model.summary_},
        [
            _learning_curve("right states", [{"name": "unseen", "x": sizes, "y": accuracies}]),
            {
                "title": "Log-likelihood of unseen sequences",
                "x_label": "training sequences",
                "y_label": "nats a symbol",
                "x_log": True,
                "series": likelihood,
            },
        ],
    )


def _with_states(symbols: IntArray, states: IntArray) -> Treebank:
    """Write sequences as a treebank: symbols are words, states are tags."""
    return Treebank.from_sentences(
        [[f"w{symbol}" for symbol in row] for row in symbols.tolist()],
        upos=[[f"S{state + 1}" for state in row] for row in states.tolist()],
    )


def _matched(states: IntArray, truth: IntArray) -> IntArray:
    """Rename states one to one so that they agree with the truth as often as they can."""
    from scipy.optimize import linear_sum_assignment

    together = np.zeros((HMM_STATES, HMM_STATES))
    np.add.at(together, (states.ravel(), truth.ravel()), 1)
    names = linear_sum_assignment(together, maximize=True)[1]
    return names[states].astype(np.int32)


def _score_of_truth(drawn: HiddenMarkovSequences, test: IntArray) -> float:
    """Mean log-likelihood of a symbol under the model that the sequences come from."""
    operators = HiddenMarkov(drawn.start, drawn.transitions, drawn.emissions).operators()
    logs, _ = operators.log_probability(test.ravel(), np.arange(len(test) + 1) * test.shape[1])
    return float(logs.sum() / test.size)


def _learning_curve(measure: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "title": "Learning curve",
        "x_label": "training sentences",
        "y_label": measure,
        "unit": "%",
        "x_log": True,
        "series": lines,
    }


DEMONSTRATIONS = {"tagger": tagger, "mst": mst, "hmm": hmm}
