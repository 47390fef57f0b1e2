"""Read a treebank into columns, beside the readers a user would otherwise import."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from syntagma.corpora import read_text, read_treebank, write_treebank

REPEATS = 3
GENERATED_SENTENCES = 10_000


def run(data: Path | None) -> Iterator[dict[str, Any]]:
    """Time reading and writing English-EWT (or a generated file): one dict a measurement."""
    with TemporaryDirectory() as scratch:
        path = _corpus(data, Path(scratch))
        treebank = read_treebank(path)
        size = {"file": path.name, "sentences": len(treebank), "words": treebank.words}
        ours = _seconds(lambda: read_treebank(path))
        yield {"benchmark": "read CoNLL-U", "system": "syntagma", "seconds": ours, **size}
        for name, read in {"conllu": _read_conllu, "pyconll": _read_pyconll}.items():
            if find_spec(name) is None:
                yield {"benchmark": "read CoNLL-U", "system": name, "skipped": "not installed"}
                continue
            seconds = _seconds(lambda read=read: read(path))
            ratio = round(seconds / ours, 1)
            yield {
                "benchmark": "read CoNLL-U",
                "system": name,
                "seconds": seconds,
                "ratio": ratio,
                **size,
            }
        out = Path(scratch) / "spliced.conllu"
        tags, heads = treebank.tags, treebank.heads
        seconds = _seconds(lambda: write_treebank(treebank.replace(tags=tags, heads=heads), out))
        yield {
            "benchmark": "replace tags and heads, write",
            "system": "syntagma",
            "seconds": seconds,
            **size,
        }


def _corpus(data: Path | None, scratch: Path) -> Path:
    if data is not None:
        return data / "ud" / "en_ewt-train.conllu.xz"
    generated = import_module("syntagma.corpora.generated")
    path = scratch / "generated.conllu.xz"
    write_treebank(generated.english(GENERATED_SENTENCES, seed=0).treebank, path)
    return path


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return round(median(times), 3)


def _read_conllu(path: Path) -> int:
    import conllu

    return len(conllu.parse(read_text(path)))


def _read_pyconll(path: Path) -> int:
    import pyconll

    return len(pyconll.load_from_string(read_text(path)))


if __name__ == "__main__":
    import os

    directory = os.environ.get("SYNTAGMA_DATA")
    for measurement in run(Path(directory) if directory else None):
        print(json.dumps(measurement))
