"""Damage files in thousands of ways: each is one clear error or read right, and quickly.

``python -m tests.robustness.mutations --count 20000`` prints a summary as JSON and exits with 1
if anything went wrong. Every input follows from the seed and its number alone: ``--first 17
--count 1`` repeats number 17.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from robustness.damage import BYTES, TEXTS, damaged
from robustness.hostile import hostile, join_parts, read_parts
from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.brackets import Brackets
from syntagma.corpora.dictionary import read_dictionary
from syntagma.corpora.files import atomic_write, read_bytes
from syntagma.corpora.generated import english
from syntagma.corpora.sentences import read_sentences
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError
from syntagma.models import load
from syntagma.models.eigenwords import Eigenwords
from syntagma.models.tagger import Tagger

LIMIT = 2.0  # seconds for one input
HANGS = 60.0
MEMORY = 8 << 30  # bytes of address space beyond what is there at the start
COMPRESSIONS = (".xz", ".gz", ".bz2", ".zst")
DICTIONARY = "the\tDET\nvans\tNOUN,VERB\nvans\tADJ\n  odd \tX\r\n\n日本\tPROPN, X\n"
EXTRAS = """\
# sent_id = x1
# text = don't
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tdo\tdo\tAUX\tVBP\tMood=Ind\t0\troot\t0:root\tA=b|C=d
2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_
2.1\tghost\t_\tVERB\t_\t_\t_\t_\t1:dep\t_

"""


class Seed(NamedTuple):
    """A right file, how it is damaged, and what must then hold."""

    name: str  # the file's name, which tells its format
    data: bytes
    damage: Callable[[random.Random, bytes, bytes], bytes]
    check: Callable[[Path], None]


class Outcome(NamedTuple):
    """What became of one damaged file."""

    number: int
    name: str
    result: str  # "error", "success", or what went wrong
    seconds: float


@cache
def sentences() -> Treebank:
    """A few sentences to learn from and to tag."""
    return english(12, seed=9, max_length=14).treebank


def seeds(home: Path) -> list[Seed]:
    """Small right files of every format, each compression, and two models."""
    treebank = sentences()
    texts = {"a.mrg": "\n".join(english(12, seed=9, max_length=14).brackets[:3]).encode()}
    for name in ("a.conllu", "a.conllx", "a.tsv", "a.txt"):
        write_treebank(treebank[:3], home / name)
        texts[name] = (home / name).read_bytes()
    texts["a.conllu"] += EXTRAS.encode()
    out = [Seed(name, data, _text, check_treebank) for name, data in texts.items()]
    out.append(Seed("a.dictionary", DICTIONARY.encode(), _text, check_dictionary))
    for ending in COMPRESSIONS:
        path = home / f"a.conllu{ending}"
        with atomic_write(path) as file:
            file.write(texts["a.conllu"])
        out.append(Seed(path.name, path.read_bytes(), _bytes, check_treebank))
        out.append(Seed(path.name, path.read_bytes(), _bytes, check_sentences))
    lines = texts["a.txt"].decode().splitlines()
    documents = "".join(json.dumps({"id": i, "text": line}) + "\n" for i, line in enumerate(lines))
    out.append(Seed("a.jsonl", documents.encode(), _text, check_sentences))
    with zipfile.ZipFile(home / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", texts["a.txt"])
        archive.writestr("b.conllu", texts["a.conllu"])
    out.append(Seed("a.zip", (home / "a.zip").read_bytes(), _bytes, check_sentences))
    vectors = Eigenwords(dim=3, min_count=1).fit(treebank)
    vectors.to_word2vec(home / "a.vectors")
    vectors.save(home / "a.eigenwords")
    out.append(Seed("a.vectors", (home / "a.vectors").read_bytes(), _text, check_vectors))
    saved = (home / "a.eigenwords").read_bytes()
    out.append(Seed("a.eigenwords", saved, _bytes, check_eigenwords))
    out.append(Seed("a.eigenwords", saved, _inside, check_eigenwords))
    dictionary = {"the": ["DET"], "vans": ["NOUN", "VERB"]}
    for order, decode in ((1, "viterbi"), (2, "posterior")):
        model = Tagger(
            order=order,
            features=("word", "suffix2", "lower[-1]|lower", "shape[1]"),
            iterations=5,
            decode=decode,
            restrict=2,
        ).fit(treebank, dictionary=dictionary, embedding=vectors if order == 2 else None)
        path = home / f"order{order}.syntagma"
        model.save(path)
        out.append(Seed(path.name, path.read_bytes(), _bytes, check_model))
        out.append(Seed(path.name, path.read_bytes(), _inside, check_model))
        out.append(Seed(path.name, path.read_bytes(), _inside, check_model))
    return out


def _text(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return damaged(rng, data, other, TEXTS)


def _bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return damaged(rng, data, other, BYTES)


def _inside(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return hostile(rng, data)


# ---- what must hold for a file that was read ----------------------------------------------------
def check_treebank(path: Path) -> None:
    """Written back it has the same bytes; its columns are those of the written file."""
    treebank = read_treebank(path)
    copy = path.with_name(f"copy-{path.name}")
    write_treebank(treebank, copy)
    assert read_bytes(copy) == read_bytes(path), "other bytes after writing"
    same_columns(treebank, read_treebank(copy))
    if treebank.brackets is not None:
        lines = "\n".join(treebank.brackets.strings())
        again = Brackets.parse(lines)
        assert " ".join(lines.split()) == " ".join(" ".join(again.strings()).split())
        same_columns(treebank, again.treebank())
    elif "upos" in treebank.written.layout.fields:
        changed = treebank.replace(upos=[f"T{i}" for i in range(treebank.words)])
        write_treebank(changed, copy)
        again = read_treebank(copy, tags=treebank.tag_column)
        assert again.upos.strings() == changed.upos.strings()
        same_columns(treebank, again, but="upos")


def same_columns(one: Treebank, other: Treebank, but: str = "") -> None:
    """Both hold the same sentences."""
    assert one.offsets.tolist() == other.offsets.tolist()
    assert one.heads.tolist() == other.heads.tolist()
    for name in one.columns.keys() - {but}:
        assert one.columns[name].strings() == other.columns[name].strings(), name


def check_dictionary(path: Path) -> None:
    """Written again it reads the same."""
    read = read_dictionary(path)
    lines = [f"{word}\t{','.join(tags)}\n" for word, tags in read.items()]
    path.write_bytes("\n".join(["", *lines]).encode())
    assert read_dictionary(path) == read


def check_model(path: Path) -> None:
    """It tags, ranks, describes itself and can be saved; its tags are its own."""
    model = load(path)
    assert isinstance(model, Tagger)
    tagged = model.predict(sentences())
    assert set(tagged.columns[model.summary_["column"]].strings()) <= set(model.labels_)
    best = model.kbest(sentences(), 2)
    assert best.outcome.max() < len(model.labels_)
    probabilities = model.marginals(sentences()).probabilities
    assert ((probabilities >= 0) & (probabilities <= 1 + 1e-9)).all()
    model.score(sentences())
    json.dumps(model.describe(2), ensure_ascii=False).encode()
    json.dumps({**model.get_params(), **model.summary_}, ensure_ascii=False).encode()
    model.save(path)
    again = load(path).predict(sentences())
    assert again.written.text == tagged.written.text


def check_sentences(path: Path) -> None:
    """Every sentence that is streamed from it has words."""
    assert all(sentence and all(sentence) for sentence in read_sentences(path))


def check_vectors(path: Path) -> None:
    """Its vectors make a model, which is written and read back bit for bit."""
    model = Eigenwords.from_word2vec(path)
    copy = path.with_name("copy.vectors")
    model.to_word2vec(copy)
    again = Eigenwords.from_word2vec(copy)
    assert again.words_ == model.words_
    assert (again.vectors_ == model.vectors_).all()


def check_eigenwords(path: Path) -> None:
    """It has a bounded vector for every word, neighbours, and can be saved."""
    model = load(path)
    assert isinstance(model, Eigenwords)
    assert (np.abs(model.transform(sentences())) <= 1).all()
    assert len(model.neighbours(model.words_[0], 3)) <= 3
    json.dumps({**model.get_params(), **model.summary_}, ensure_ascii=False).encode()
    model.save(path)
    assert Eigenwords.load(path).words_ == model.words_


# ---- running ------------------------------------------------------------------------------------
def run(home: Path, count: int, seed: int = 0, first: int = 0) -> Iterator[Outcome]:
    """Damage and check so many files, one after the other."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)  # the files are small, and other processes may hold the cores
    try:
        yield from _run(seeds(home), home, count, seed, first)
    finally:
        numba.set_num_threads(threads)


def _run(known: list[Seed], home: Path, count: int, seed: int, first: int) -> Iterator[Outcome]:
    # what is right must pass, and so must large weights; this also compiles the kernels
    for kind in known:
        (home / kind.name).write_bytes(kind.data)
        kind.check(home / kind.name)
        if kind.damage is _inside and kind.check is check_model:
            header, texts, arrays = read_parts(kind.data)
            arrays["weights"] = 1e4 * arrays["weights"]
            (home / kind.name).write_bytes(join_parts(header, texts, arrays))
            kind.check(home / kind.name)
    for number in range(first, first + count):
        rng = random.Random(f"{seed}:{number}")
        kind = known[number % len(known)]
        data = kind.damage(rng, kind.data, rng.choice(known).data)
        path = home / kind.name
        path.write_bytes(data)
        start = time.perf_counter()
        faulthandler.dump_traceback_later(HANGS, exit=True)
        result = _result(kind, path)
        faulthandler.cancel_dump_traceback_later()
        seconds = time.perf_counter() - start
        if seconds > LIMIT:
            result = f"took {seconds:.1f} s"
        yield Outcome(number, kind.name, result, seconds)


def _result(kind: Seed, path: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            kind.check(path)
        except InputError as error:
            told = str(error)
            return "error" if 0 < len(told) < 1000 and "\n" not in told else f"says {told[:200]!r}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
    return "success"


def summary(outcomes: list[Outcome]) -> dict[str, Any]:
    """Count what became of the files."""
    results = Counter(o.result for o in outcomes)
    failures = [o for o in outcomes if o.result not in ("error", "success")]
    slowest = max(outcomes, key=lambda o: o.seconds)
    return {
        "count": len(outcomes),
        "errors": results["error"],
        "successes": results["success"],
        "failures": len(failures),
        "slowest_seconds": round(slowest.seconds, 3),
        "slowest": [slowest.number, slowest.name],
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "first_failures": [[o.number, o.name, o.result] for o in failures[:20]],
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    with tempfile.TemporaryDirectory() as home:
        found = summary(list(run(Path(home), asked.count, asked.seed, asked.first)))
    print(json.dumps(found, ensure_ascii=False))
    sys.exit(1 if found["failures"] else 0)


if __name__ == "__main__":
    main()
