"""The graph-based parser over treebanks, beside what MSTParser and UDPipe reach on the same files.

Parts of the table: ``wsj`` (the Penn Treebank sample, gold tags), ``ewt`` (English-EWT, 1,500
sentences and all, gold tags and its own), ``languages`` (projective trees against any),
``nbest`` (the best tree among so many) and ``certainty`` (calibration, and abstention).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from syntagma.corpora.formats import read_treebank
from syntagma.corpora.treebank import Treebank
from syntagma.evaluation.calibration import calibrate
from syntagma.evaluation.comparison import evaluate
from syntagma.experiments.rows import Part, Row, Said, rows_of, rows_of_parts
from syntagma.models.jackknife import jackknife
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger

Figures = dict[str, float]

# UAS over all words and complete trees of MSTParser, ten iterations, on the same split
MSTPARSER = {1: {"uas": 87.75, "complete": 22.3}, 2: {"uas": 88.09, "complete": 26.5}}
UDPIPE = {"gold": {"uas": 80.8, "las": 77.7}, "own": {"uas": 73.5}}  # 1,500 sentences of EWT
LEARNERS: dict[str, dict[str, Any]] = {
    "1-best MIRA": {"k": 1},
    "5-best MIRA": {"k": 5},
    "log-linear": {"learner": "log-linear"},
}
LANGUAGES = {  # train and dev, in the folder ud
    "Dutch": ("nl_lassysmall_old-train", "nl_lassysmall-dev"),
    "Czech": ("cs_cltt-train", "cs_cltt-dev"),
    "Greek": ("el_gdt-train", "el_gdt-test"),
    "Slovenian": ("sl_sst_old-train", "sl_sst-dev"),
    "Portuguese": ("pt_bosque-train", "pt_bosque-dev"),
    "Italian": ("it_partut-train", "it_partut-test"),
    "Turkish": ("tr_imst-train", "tr_imst-dev"),
}
RANKS = (1, 5, 10, 50)
JACKKNIFE = 10
ABSTAIN = 10  # per cent of the arcs


def attachment(gold: Treebank, predicted: Treebank) -> Figures:
    """UAS, LAS and complete trees, over all words."""
    found = evaluate(gold, predicted, bootstrap=0).summary()
    return {name: found[name] for name in ("uas", "las", "complete") if found.get(name) is not None}


def runs(
    train: Treebank, dev: Treebank, seeds: int, tagger: Tagger | None = None, **options: Any
) -> list[Figures]:
    """Train and score a parser once for each seed."""
    return [
        attachment(
            dev, DependencyParser(seed=seed, **options).fit(train, tagger=tagger).predict(dev)
        )
        for seed in range(seeds)
    ]


def wsj(data: Path, seeds: int) -> Iterator[Row]:
    """Gold tags on the Penn Treebank sample, as MSTParser was measured."""
    train, dev = _read(data / "wsj", "dep-train"), _read(data / "wsj", "dep-dev")
    yield from _orders("WSJ sample, gold tags", train, dev, seeds, MSTPARSER)


def _orders(
    setting: str, train: Treebank, dev: Treebank, seeds: int, paper: dict[int, Figures]
) -> Iterator[Row]:
    for order in (1, 2):
        for name, options in LEARNERS.items():
            found = runs(train, dev, seeds, order=order, **options)
            yield from rows_of(f"order {order}, {name}", setting, found, paper.get(order))


def ewt(data: Path, seeds: int) -> Iterator[Row]:
    """English-EWT with gold tags, and with its own from end to end."""
    whole, dev = _read(data / "ud", "en_ewt-train"), _read(data / "ud", "en_ewt-dev")
    for size in (1500, len(whole)):
        train, setting = whole[:size], f"EWT, {min(size, len(whole)):,} sentences"
        few = size == 1500
        for order in (1, 2):
            found = runs(train, dev, seeds, order=order)
            yield from rows_of(
                f"order {order}", f"{setting}, gold tags", found, UDPIPE["gold"] if few else None
            )
        tagged, tagger = jackknife(train, JACKKNIFE, Tagger())
        found = runs(tagged, dev, seeds, tagger, order=2)
        yield from rows_of("order 2", f"{setting}, own tags", found, UDPIPE["own"] if few else None)


def languages(data: Path, seeds: int) -> Iterator[Row]:
    """Projective trees against any, and what is chosen by itself."""
    for language, (train_name, dev_name) in LANGUAGES.items():
        train, dev = _read(data / "ud", train_name), _read(data / "ud", dev_name)
        kinds: dict[str, dict[str, Any]] = {
            "projective": {"projective": True},
            "projective, lifted": {"projective": True, "crossings": "lift"},
            "not projective": {"projective": False},
            "projective, order 2": {"projective": True, "order": 2},
        }
        for name, options in kinds.items():
            yield from rows_of(name, language, runs(train, dev, seeds, **options))
        chosen = DependencyParser(epochs=1, bits=16).fit(train).summary_
        share = 100.0 * chosen["not_projective"] / chosen["sentences"]
        yield from rows_of("training trees", language, [{"with crossing arcs": share}])
        yield from rows_of(
            "auto", language, [{"chooses projective": 100.0 * float(chosen["projective"])}]
        )


def nbest(data: Path, seeds: int) -> Iterator[Row]:
    """The best UAS among the k best trees of every sentence."""
    train, dev = _read(data / "wsj", "dep-train"), _read(data / "wsj", "dep-dev")
    settings: dict[str, dict[str, Any]] = {
        "order 1": {},
        "order 2": {"order": 2},
        "not projective": {"projective": False},
    }
    for name, options in settings.items():
        found = []
        for seed in range(seeds):
            parser = DependencyParser(seed=seed, **options).fit(train)
            found.append(oracle(dev, parser.kbest(dev, max(RANKS)).outcome))
        yield from rows_of(name, "WSJ sample, gold tags", found)


def oracle(gold: Treebank, ranked: np.ndarray[Any, Any]) -> Figures:
    """UAS of the best tree among the first 1, 5, ... of every sentence; -1 is no tree."""
    right = np.add.reduceat(ranked == gold.heads, gold.offsets[:-1], axis=1)
    return {f"oracle uas of {k}": 100.0 * right[:k].max(0).sum() / gold.words for k in RANKS}


def certainty(data: Path, seeds: int) -> Iterator[Row]:
    """Whether the probabilities of heads can be believed, and what it helps to abstain."""
    train, dev = _read(data / "wsj", "dep-train"), _read(data / "wsj", "dep-dev")
    for order in (1, 2):
        for name in ("1-best MIRA", "log-linear"):
            found = []
            for seed in range(seeds):
                parser = DependencyParser(seed=seed, order=order, **LEARNERS[name]).fit(train)
                found.append(_certainty(parser, dev))
            yield from rows_of(f"order {order}, {name}", "WSJ sample, gold tags", found)


def _certainty(parser: DependencyParser, dev: Treebank) -> Figures:
    decided = parser.decide(dev)
    probability = np.clip(decided.head_probability, 0.0, 1.0)
    stated = calibrate(probability, decided.heads == dev.heads)
    best = parser.predict(dev)
    mbr = DependencyParser.predict(parser.set_params(decode="mbr"), dev)
    return {
        "expected calibration error": 100.0 * stated.equal_width.error,
        "mean probability": 100.0 * stated.mean_probability,
        "uas": attachment(dev, best)["uas"],
        "uas, mbr": attachment(dev, mbr)["uas"],
        f"uas without the least certain {ABSTAIN}%": 100.0
        * float(stated.accuracy[stated.abstained.index(ABSTAIN)]),
    }


PARTS: dict[str, Part] = {
    "wsj": wsj,
    "ewt": ewt,
    "languages": languages,
    "nbest": nbest,
    "certainty": certainty,
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
        yield from _orders("own treebank", train, dev, seeds, {})
    elif data is not None:
        yield from rows_of_parts(PARTS, data, parts, seeds, said)


def _read(folder: Path, name: str) -> Treebank:
    return read_treebank(str(folder / f"{name}.conllu.xz"))
