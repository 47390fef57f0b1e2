"""Train and apply the dependency parser, and beside it the parser of UDPipe 1 on the same tags.

Every measurement has a process of its own, so that its peak of memory is its own. Parsing begins
with words and tags in memory and ends with heads and labels.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numba
import numpy as np

from benchmarks.structures_arcs import LENGTHS, seconds_of
from syntagma import (
    Column,
    DependencyParser,
    Treebank,
    english,
    evaluate,
    read_treebank,
    write_treebank,
)

EPOCHS, UDPIPE_ITERATIONS = 10, 1
WORDS = 1600  # in the sentences of one length
CORPORA = {
    "wsj": ("wsj/dep-train.conllu.xz", None, "wsj/dep-dev.conllu.xz"),
    "en_ewt": ("ud/en_ewt-train.conllu.xz", 1500, "ud/en_ewt-dev.conllu.xz"),
}
GENERATED = {"generated": (1000, 400)}


def run(data: Path | None) -> Iterator[dict[str, Any]]:
    """Measure training, parsing and growth with length: one dict a measurement."""
    corpora = list(CORPORA if data else GENERATED)
    for corpus in corpora:
        for order in (1, 2):
            yield from _apart(_ours, data, corpus, order, corpus == corpora[0])
    if find_spec("ufal") is None or find_spec("ufal.udpipe") is None:
        yield {"benchmark": "parser", "system": "udpipe", "skipped": "not installed"}
        return
    yield from _apart(_udpipe, data, corpora[-1])


def _apart(job: Any, *arguments: Any) -> list[dict[str, Any]]:
    """Do a job in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        lines: list[dict[str, Any]] = pool.submit(job, *arguments).result()
    return lines


def _read(data: Path | None, corpus: str) -> tuple[Treebank, Treebank]:
    if data is None:
        size, held_out = GENERATED[corpus]
        return english(size, seed=0).treebank, english(held_out, seed=1).treebank
    train, most, dev = CORPORA[corpus]
    return read_treebank(data / train)[:most], read_treebank(data / dev)


def _ours(data: Path | None, corpus: str, order: int, by_length: bool) -> list[dict[str, Any]]:
    train, dev = _read(data, corpus)
    # compiles, or loads what was compiled
    DependencyParser(order=order, epochs=1, bits=16).fit(train[:20]).predict(dev[:20])
    start = perf_counter()
    parser = DependencyParser(order=order, epochs=EPOCHS).fit(train)
    seconds = perf_counter() - start
    line = {
        "benchmark": "parser",
        "system": "syntagma",
        **_size(corpus, train, dev),
        "order": order,
        "epochs": EPOCHS,
        "train_seconds": round(seconds, 1),
        "train_threads": numba.get_num_threads(),
        **_scores(dev, parser.predict(dev)),
    }
    for threads in (1, min(2, numba.get_num_threads())):
        numba.set_num_threads(threads)
        line |= _speed(dev, seconds_of(partial(parser.predict, dev)), threads)
    numba.set_num_threads(1)
    grown = list(growth_with_length(parser, train)) if by_length else []
    return [line | {"peak_megabytes": _peak_megabytes()}, *grown]


def growth_with_length(parser: DependencyParser, train: Treebank) -> Iterator[dict[str, Any]]:
    """Measure parsing of sentences of each length, then the exponent of growth."""
    times = []
    for words in LENGTHS:
        treebank = cut_runs(train, words, max(4, WORDS // words))
        seconds = seconds_of(partial(parser.predict, treebank)) / len(treebank)
        times.append(seconds)
        yield {
            "benchmark": "parsing by length",
            "order": parser.order,
            "words": words,
            "threads": 1,
            "milliseconds_per_sentence": round(seconds * 1e3, 3),
            "tokens_per_second": round(words / seconds),
        }
    yield {
        "benchmark": "growth of parsing",
        "order": parser.order,
        "words": [LENGTHS[0], LENGTHS[-1]],
        "exponent": round(float(np.polyfit(np.log(LENGTHS), np.log(times), 1)[0]), 2),
    }


def cut_runs(treebank: Treebank, words: int, sentences: int) -> Treebank:
    """Make sentences of one length: runs of words from random places of a corpus."""
    starts = np.random.default_rng(words).integers(treebank.words - words, size=sentences)
    places = (starts[:, None] + np.arange(words)).ravel()
    columns = {
        name: Column(column.ids[places], column.names).used()  # every name would be hashed
        for name, column in treebank.columns.items()
    }
    offsets = np.arange(sentences + 1) * words
    return Treebank.from_columns(offsets, columns, tags=treebank.tag_column)


def _udpipe(data: Path | None, corpus: str) -> list[dict[str, Any]]:
    from ufal import udpipe

    train, dev = _read(data, corpus)
    with TemporaryDirectory() as scratch:
        model_file = f"{scratch}/model"
        sentences = udpipe.Sentences()
        for sentence in _udpipe_sentences(train, f"{scratch}/train.conllu"):
            sentences.append(sentence)
        options = f"iterations={UDPIPE_ITERATIONS}"
        error = udpipe.ProcessingError()
        none = udpipe.Trainer.NONE
        start = perf_counter()
        trained = udpipe.Trainer.train(
            "morphodita_parsito", sentences, udpipe.Sentences(), none, none, options, error
        )
        seconds = perf_counter() - start
        if error.occurred():
            return [{"benchmark": "parser", "system": "udpipe", "failed": error.message}]
        Path(model_file).write_bytes(trained)
        model = udpipe.Model.load(model_file)
        bare = dev.replace(heads=[-1] * dev.words, labels=["_"] * dev.words)
        held_out = _udpipe_sentences(bare, f"{scratch}/dev.conllu")
    start = perf_counter()
    for sentence in held_out:
        model.parse(sentence, udpipe.Model.DEFAULT, error)
    parsing = perf_counter() - start
    words = [word for sentence in held_out for word in list(sentence.words)[1:]]
    parsed = dev.replace(heads=[w.head for w in words], labels=[w.deprel for w in words])
    return [
        {
            "benchmark": "parser",
            "system": "udpipe",
            **_size(corpus, train, dev),
            "iterations": UDPIPE_ITERATIONS,
            "train_seconds": round(seconds, 1),
            "train_threads": 1,
            **_scores(dev, parsed),
            **_speed(dev, parsing, 1),
            "peak_megabytes": _peak_megabytes(),
        }
    ]


def _udpipe_sentences(treebank: Treebank, path: str) -> list[Any]:
    """Hand a treebank over: UDPipe has its own reader."""
    from ufal import udpipe

    write_treebank(treebank, path)
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(Path(path).read_text(encoding="utf-8"))
    sentences, error = [], udpipe.ProcessingError()
    while True:
        sentence = udpipe.Sentence()
        if not reader.nextSentence(sentence, error):
            return sentences
        sentences.append(sentence)


def _size(corpus: str, train: Treebank, dev: Treebank) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "sentences": len(train),
        "words": train.words,
        "dev_sentences": len(dev),
        "dev_words": dev.words,
    }


def _scores(dev: Treebank, parsed: Treebank) -> dict[str, float]:
    scores = evaluate(dev, parsed, bootstrap=0).summary()
    wanted = ("uas", "las", "complete", "uas_no_punct")
    return {name: round(scores[name], 2) for name in wanted if scores.get(name) is not None}


def _speed(dev: Treebank, seconds: float, threads: int) -> dict[str, int]:
    what = f"{threads}_thread" + "s" * (threads > 1)
    return {
        f"parse_sentences_per_second_{what}": round(len(dev) / seconds),
        f"parse_tokens_per_second_{what}": round(dev.words / seconds),
    }


def _peak_megabytes() -> int:
    """Return the most memory that this process has held.

    A new process inherits ru_maxrss from the one that started it: Linux has a better figure.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return round(int(lines["VmHWM"].split()[0]) / 1024)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
