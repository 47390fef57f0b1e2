"""Train and apply the tagger beside crfsuite, with the very same attributes and labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from syntagma import Tagger, Treebank, english, read_treebank
from syntagma.training.features import FeatureMap

SENTENCES, ITERATIONS, C2, REPEATS = 2000, 100, 1.0, 3
# the features that crfsuite's users usually take
TEMPLATES = (
    *("bias", "word", "lower", "suffix1", "suffix2", "suffix3", "prefix1"),
    *("capitalised", "uppercase", "digit", "hyphen", "word[-1]", "word[1]"),
)
FLAGS = {
    "capitalised": lambda w: w[:1].isupper(),
    "uppercase": str.isupper,
    "digit": lambda w: any(c.isdigit() for c in w),
    "hyphen": lambda w: "-" in w,
}


def run(data: Path | None) -> Iterator[dict[str, Any]]:
    """Compare training time, likelihood reached and tagging speed: one dict a measurement."""
    for column in ("upos", "xpos"):
        train, dev = _corpora(data, column)
        size = {"labels": len(set(train.tags.strings())), "sentences": len(train)}
        yield from _training(train, dev, {"column": column, **size})


def _corpora(data: Path | None, column: str) -> tuple[Treebank, Treebank]:
    if data is None:
        english_like = english(SENTENCES + 500, seed=0).treebank
        from dataclasses import replace

        chosen = replace(english_like, tag_column=column)
        return chosen[:SENTENCES], chosen[SENTENCES:]
    train = read_treebank(data / "ud" / "en_ewt-train.conllu.xz", tags=column)
    return train[:SENTENCES], read_treebank(data / "ud" / "en_ewt-dev.conllu.xz", tags=column)


def _training(train: Treebank, dev: Treebank, size: dict[str, Any]) -> Iterator[dict[str, Any]]:
    def fit() -> Tagger:
        return Tagger(
            features=TEMPLATES,
            l2=2 * C2,
            unseen_pairs=0,
            iterations=ITERATIONS,
            tolerance=0.0,
            decode="viterbi",
        ).fit(train)

    fit()  # compiles, or loads what was compiled
    seconds, tagger = _timed(fit, REPEATS)
    tagging, _ = _timed(lambda: tagger.predict(dev), REPEATS)
    believing, _ = _timed(lambda: tagger.marginals(dev), REPEATS)
    yield {
        "benchmark": "tagger",
        "system": "syntagma",
        **size,
        "weights": tagger.summary_["weights"],
        "train_seconds": seconds,
        "objective": round(tagger.penalised_values_[-1], 2),
        "iterations": tagger.summary_["iterations"],
        "accuracy": round(tagger.score(dev), 2),
        "tag_sentences_per_second": round(len(dev) / tagging),
        "marginal_sentences_per_second": round(len(dev) / believing),
    }
    if find_spec("pycrfsuite") is None:
        yield {"benchmark": "tagger", "system": "crfsuite", "skipped": "not installed"}
        return
    with TemporaryDirectory() as scratch:
        yield from _crfsuite(train, dev, size, Path(scratch) / "model", seconds)


def _crfsuite(
    train: Treebank, dev: Treebank, size: dict[str, Any], model: Path, ours: float
) -> Iterator[dict[str, Any]]:
    import pycrfsuite

    names = _named(train, train)
    labels = [sentence.tags for sentence in train]

    def fit() -> Any:
        trainer = pycrfsuite.Trainer(verbose=False)
        for attributes, tags in zip(names, labels, strict=True):
            trainer.append(attributes, tags)
        trainer.set_params(
            {
                "c1": 0.0,
                "c2": C2,
                "max_iterations": ITERATIONS,
                "epsilon": 0.0,
                "delta": 0.0,
                "period": ITERATIONS,
            }
        )
        start = time.perf_counter()
        trainer.train(str(model))
        return time.perf_counter() - start, trainer.logparser.last_iteration

    runs = [fit() for _ in range(REPEATS)]
    seconds = median(run[0] for run in runs)
    last = runs[-1][1]
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    sentences = [sentence.forms for sentence in dev]

    def tag_all() -> list[list[str]]:
        return [tagger.tag(_extract(words)) for words in sentences]

    tagging, predicted = _timed(tag_all, REPEATS)
    ready = [_extract(words) for words in sentences]
    tagging_ready, _ = _timed(lambda: [tagger.tag(x) for x in ready], REPEATS)
    tags = tagger.labels()

    def believe() -> None:
        for words in sentences:
            tagger.set(_extract(words))
            for t in range(len(words)):
                for tag in tags:
                    tagger.marginal(tag, t)

    believing, _ = _timed(believe, 1)
    right = [
        a == b for s, p in zip(dev, predicted, strict=True) for a, b in zip(s.tags, p, strict=True)
    ]
    yield {
        "benchmark": "tagger",
        "system": "crfsuite",
        **size,
        "weights": last["active_features"],
        "train_seconds": round(seconds, 3),
        "objective": round(last["loss"], 2),
        "iterations": last["num"],
        "accuracy": round(100 * float(np.mean(right)), 2),
        "tag_sentences_per_second": round(len(dev) / tagging),
        "tag_sentences_per_second_features_ready": round(len(dev) / tagging_ready),
        "marginal_sentences_per_second": round(len(dev) / believing),
        "train_seconds_ratio": round(ours / seconds, 2),
    }


def _named(train: Treebank, corpus: Treebank) -> list[list[list[str]]]:
    """Name the attributes that our templates find, a list for each word of each sentence."""
    forms, strings = train.forms.used()
    feature_map = FeatureMap.fit(TEMPLATES, forms, strings, train.offsets)
    names = feature_map.names(np.arange(feature_map.size))
    forms, strings = corpus.forms.used()
    attributes = feature_map.transform(forms, strings, corpus.offsets)
    starts, flat = attributes.starts.tolist(), attributes.attributes.tolist()
    by_row = [[names[a] for a in flat[a0:a1]] for a0, a1 in pairwise(starts)]
    first = attributes.rows - attributes.words
    words = [
        [name for row in (*rows, first + t) for name in by_row[row]]
        for t, rows in enumerate(attributes.forms.tolist())
    ]
    cuts = corpus.offsets.tolist()
    return [words[a:b] for a, b in pairwise(cuts)]


def _extract(words: list[str]) -> list[list[str]]:
    """Find the same attributes as `TEMPLATES` in plain Python, as a user of crfsuite would."""
    out = []
    for t, word in enumerate(words):
        lower = word.lower()
        fired = ["bias=yes", "word=" + word, "lower=" + lower, "prefix1=" + lower[0]]
        fired += [f"suffix{n}={lower[-n:]}" for n in (1, 2, 3) if len(lower) >= n]
        fired += [name + "=yes" for name, holds in FLAGS.items() if holds(word)]
        fired.append("word[-1]=" + (words[t - 1] if t else "(boundary)"))
        fired.append("word[1]=" + (words[t + 1] if t + 1 < len(words) else "(boundary)"))
        out.append(fired)
    return out


def _timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return round(median(times), 4), result
