"""Dhillon et al. (2012): re-ranking by the probability of latent trees, and how fast it is learnt.

Parts of the table: ``wsj`` and ``ewt`` (Table 1: the base parser, re-ranking by the paper's
baseline features, and with the log-probability of latent trees besides; first and second order),
``parser`` (latent trees that parse by themselves) and ``samples`` (the error of a probability
against the size of the sample).

The paper's own figures are for the whole Penn Treebank, section 23, without punctuation, with tags
of a tagger; the files here are other and smaller ones, with gold tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.formats import read_treebank
from syntagma.corpora.generated import latent_trees
from syntagma.corpora.treebank import Treebank
from syntagma.evaluation.counting import Ratio
from syntagma.evaluation.significance import bootstrap_difference
from syntagma.experiments.rows import Part, Row, Said, rows_of, rows_of_parts
from syntagma.models.latent_tree import LatentTree
from syntagma.models.parser import DependencyParser
from syntagma.models.reranker import (
    Fold,
    choose,
    in_own_order,
    joined_lists,
    list_folds,
    real_features,
    tag_codes,
)
from syntagma.moments.passes import gather
from syntagma.moments.tree_messages import score_trees
from syntagma.moments.tree_operators import solve_matched, solve_paper
from syntagma.moments.trees import TreeChunk, TreeMoments
from syntagma.training.reranking import Choice, Lists, learn_to_choose
from syntagma.training.tree_states import TreeStates, expect

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

N, FOLDS, EPOCHS, RATE, BITS = 50, 3, 10, 0.02, 20
# accuracy and complete trees: no re-ranking, baseline features, and log p
PAPER: dict[int, dict[str, tuple[float, float]]] = {
    1: {"parser": (90.8, 37.2), "baseline": (91.3, 37.5), "log p": (91.7, 37.8)},
    2: {"parser": (91.8, 40.6), "baseline": (92.4, 41.0), "log p": (92.7, 41.3)},
}
SETTINGS: dict[str, dict[str, Any]] = {
    **{
        f"spectral, {moments}, k = {k}": {"learner": "spectral", "moments": moments, "dim": k}
        for moments in ("paper", "matched")
        for k in (5, 10, 20, 30)
    },
    **{f"EM, k = {k}": {"learner": "em", "dim": k} for k in (5, 10, 20, 30)},
    "spectral + EM, k = 20": {"learner": "spectral+em", "dim": 20},
}
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SYMBOLS, LENGTH, TESTED, CHUNK = 8, 5, 2_000, 20_000
STATES = {2: SIZES[0], 3: 30_000}  # hidden states, and the size from which errors are small


class Tried(NamedTuple):
    """The right heads of every sentence by one system."""

    right: IntArray
    gold: Treebank

    @property
    def uas(self) -> Ratio:
        """Right heads of words."""
        return Ratio(self.right.astype(np.int64), self.gold.lengths.astype(np.int64))

    def figures(self) -> dict[str, float]:
        """UAS and complete trees."""
        complete = (self.right == self.gold.lengths).mean()
        return {
            "uas": 100.0 * float(self.right.sum()) / self.gold.words,
            "complete": 100.0 * float(complete),
        }


def table_one(
    setting: str, train: Treebank, dev: Treebank, seeds: int, settings: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield the rows of Table 1 for one pair of treebanks."""
    train = in_own_order(train)
    for order in (1, 2):
        base = DependencyParser(order=order)
        folds = list(list_folds(train, base, FOLDS, N))
        ranked = DependencyParser(**base.get_params()).fit(train).kbest(dev, N)
        held_out = Fold(np.arange(len(dev)), ranked.outcome, ranked.score)
        first = _right(dev, ranked.outcome)
        best = Tried(first.max(1), dev).figures()["uas"]
        parser = Tried(first[:, 0], dev)
        name = f"order {order}"
        yield from _rows(f"{name}, no re-ranking", setting, [parser], order, "parser")
        yield from rows_of(f"{name}, no re-ranking", setting, [{f"oracle uas of {N}": best}])
        plain = [[fold.scores] for fold in (*folds, held_out)]
        baseline = _chosen(train, dev, folds, held_out, plain, seeds)
        yield from _rows(f"{name}, baseline features", setting, baseline, order, "baseline")
        yield from _compared(f"{name}, baseline features", setting, baseline, [parser] * seeds)
        for told in settings or SETTINGS:
            columns = _log_probabilities(train, dev, folds, held_out, SETTINGS[told])
            both = [[*p, c] for p, c in zip(plain, columns, strict=True)]
            found = _chosen(train, dev, folds, held_out, both, seeds)
            system = f"{name}, + log p ({told})"
            yield from _rows(system, setting, found, order, "log p")
            yield from _compared(system, setting, found, baseline)


def _right(gold: Treebank, trees: IntArray) -> IntArray:
    """Count the right heads of every tree of every sentence."""
    counts = np.add.reduceat(trees == gold.heads, gold.offsets[:-1], axis=1).T
    return np.ascontiguousarray(counts, np.int32)


def _log_probabilities(
    train: Treebank, dev: Treebank, folds: list[Fold], held_out: Fold, options: dict[str, Any]
) -> list[FloatArray]:
    """Score lists by latent trees that have not seen their sentences: each fold, then dev."""
    found = []
    for fold in folds:
        others = np.setdiff1d(np.arange(len(train)), fold.sentences)
        model = LatentTree(**options).fit(train.take(others))
        found.append(model.score_trees(train.take(fold.sentences), fold.trees)[0])
    found.append(LatentTree(**options).fit(train).score_trees(dev, held_out.trees)[0])
    return found


def _chosen(
    train: Treebank,
    dev: Treebank,
    folds: list[Fold],
    held_out: Fold,
    columns: list[list[FloatArray]],
    seeds: int,
) -> list[Tried]:
    """Learn to choose from the folds, and choose on dev, once for each seed."""
    lists, right = joined_lists(train, folds, [real_features(part) for part in columns[:-1]])
    tested = Lists(held_out.trees, real_features(columns[-1]), tag_codes(dev), dev.offsets)
    found = []
    for seed in range(seeds):
        choice: Choice = learn_to_choose(
            lists,
            right,
            learner="log-linear",
            epochs=EPOCHS,
            rate=RATE,
            size=2**BITS,
            seed=seed,
        )
        heads = choose(tested, choice)
        found.append(Tried(_right(dev, heads[None])[:, 0], dev))
    return found


def _rows(system: str, setting: str, found: list[Tried], order: int, column: str) -> Iterator[Row]:
    paper = dict(zip(("uas", "complete"), PAPER[order][column], strict=True))
    yield from rows_of(system, setting, [tried.figures() for tried in found], paper)


def _compared(system: str, setting: str, found: list[Tried], against: list[Tried]) -> Iterator[Row]:
    """Gain over another system with its interval and p-value: paired bootstrap, seed by seed."""
    gains = [
        bootstrap_difference(one.uas, other.uas, samples=10_000)
        for one, other in zip(found, against, strict=True)
    ]
    middle = sorted(gains, key=lambda gain: gain.p_value)[len(gains) // 2]
    yield Row(system, setting, "gain of uas", middle.value, None, middle.low, middle.high)
    yield from rows_of(system, setting, [{"p of the gain": gain.p_value} for gain in gains])


def wsj(data: Path, seeds: int) -> Iterator[Row]:
    """Table 1 on the Penn Treebank sample."""
    yield from table_one("WSJ sample, gold tags", *_pair(data, "wsj"), seeds)


def ewt(data: Path, seeds: int) -> Iterator[Row]:
    """Table 1 on English-EWT."""
    yield from table_one("EWT, gold tags", *_pair(data, "ewt"), seeds)


def parser(data: Path, seeds: int) -> Iterator[Row]:
    """Parsing with latent trees and a tree prior alone."""
    for corpus, setting in (("wsj", "WSJ sample, gold tags"), ("ewt", "EWT, gold tags")):
        train, dev = _pair(data, corpus)
        settings: dict[str, dict[str, Any]] = {
            "the prior alone": {"dim": 1, "learner": "em"},
            "spectral, matched, k = 10": {"dim": 10},
            "EM, k = 10": {"dim": 10, "learner": "em"},
            "EM, k = 20": {"dim": 20, "learner": "em"},
        }
        for name, options in settings.items():
            runs = []
            for seed in range(seeds):
                heads = LatentTree(seed=seed, **options).fit(train).predict(dev).heads
                runs.append(Tried(_right(dev, heads[None])[:, 0], dev).figures())
            yield from rows_of(f"latent trees, {name}", setting, runs)


def samples(data: Path | None, seeds: int) -> Iterator[Row]:
    """How the error of a probability falls with the number of trees seen."""
    for moments, solve in (("matched", solve_matched), ("paper", solve_paper)):
        for states, least in STATES.items():
            errors = np.array([sample_errors(states, seed, solve) for seed in range(seeds)])
            for size, column in zip(SIZES, errors.T, strict=True):
                if size >= least:
                    found = [{"relative error of p": float(error)} for error in column]
                    yield from rows_of(f"{moments}, {states} states", f"{size:,} trees", found)
            used = np.array(SIZES) >= least
            logs = np.log(np.array(SIZES)[used])
            slopes = [np.polyfit(logs, np.log(row[used]), 1)[0] for row in errors]
            yield from rows_of(
                f"{moments}, {states} states",
                "all sizes",
                [{"slope of the error": float(slope)} for slope in slopes],
            )


def sample_errors(states: int, seed: int, solve: Any = solve_matched) -> list[float]:
    """Median relative error of p of unseen trees, for samples of each size from one random model.

    The embedding is given: its columns span those of the emissions.
    """
    drawn = latent_trees(states, SYMBOLS, SIZES[-1] + TESTED, LENGTH, seed)
    chunks = [
        TreeChunk(
            drawn.symbols[first : first + CHUNK].ravel(),
            drawn.heads[first : first + CHUNK].ravel(),
            np.arange(len(drawn.symbols[first : first + CHUNK]) + 1) * LENGTH,
        )
        for first in (*range(0, SIZES[-1], CHUNK), SIZES[-1])
    ]
    test = chunks.pop()
    truth = TreeStates(
        drawn.start,
        np.ascontiguousarray(drawn.transitions.transpose(0, 2, 1)),
        np.ascontiguousarray(drawn.emissions.T),
    )
    exact = expect(test, truth)[0]
    embedding = np.linalg.svd(drawn.emissions.T, full_matrices=False)[0]
    found = []
    moments, seen = TreeMoments.of(embedding), 0
    for size in SIZES:
        upto = size // CHUNK
        if upto:
            moments, seen = gather(moments, chunks[seen:upto]), upto
            some = moments
        else:
            part = TreeChunk(
                chunks[0].rows[: size * LENGTH],
                chunks[0].heads[: size * LENGTH],
                chunks[0].offsets[: size + 1],
            )
            some = gather(TreeMoments.of(embedding), [part])
        white = some.whitened()
        space = white.embedding
        vectors = np.ascontiguousarray(space @ np.linalg.inv(space.T @ space))
        operators = solve(white).operators
        logs, signs = score_trees(test.rows, test.heads[None], test.offsets, vectors, operators)
        ratio = signs[:, 0] * np.exp(logs[:, 0] - exact)
        found.append(float(np.median(np.abs(ratio - 1.0))))
    return found


PARTS: dict[str, Part] = {
    "wsj": wsj,
    "ewt": ewt,
    "parser": parser,
    "samples": samples,
}


def table(
    data: Path | None,
    parts: Sequence[str],
    seeds: int,
    train: Treebank | None = None,
    dev: Treebank | None = None,
    said: Said = lambda part: None,
) -> Iterator[Row]:
    """Make the table, row by row, of the named parts, or of a treebank of the user's own."""
    if train is not None and dev is not None:
        yield from table_one("own treebank", train, dev, seeds)
    else:
        yield from rows_of_parts(PARTS, data, parts, seeds, said)


def _pair(data: Path, corpus: str) -> tuple[Treebank, Treebank]:
    name = {"wsj": "wsj/dep", "ewt": "ud/en_ewt"}[corpus]
    train, dev = (read_treebank(str(data / f"{name}-{p}.conllu.xz")) for p in ("train", "dev"))
    return train, dev
