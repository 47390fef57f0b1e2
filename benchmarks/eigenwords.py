"""Learn word vectors beside gensim's word2vec: the same text, the same threads.

Each system runs in a process of its own, so that its peak memory can be told. ``same_tag`` is the
share of the ten nearest neighbours of frequent words that have the word's most frequent tag.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from syntagma import Eigenwords, Treebank, english, read_treebank
from syntagma.corpora.sentences import read_sentences

DIM, MIN_COUNT, NEAREST, PROBED = 50, 5, 10, 2000
GENERATED_SENTENCES = 20_000
METHODS = ("cca", "cca2", "bigram", "lr-mvl")
# a window of 1 sees what ours see; 5 is gensim's own choice
PEERS = (("cbow", 0, 1), ("skip-gram", 1, 1), ("cbow", 0, 5))
BROWN = "tagged/brown.zip/brown/c[a-r][0-9]*"


def run(data: Path | None) -> Iterator[dict[str, Any]]:
    """Compare time, memory and neighbours: one dict a measurement."""
    with TemporaryDirectory() as scratch:
        text = Path(scratch) / "text.txt"
        words = _write(data, text)
        tags = _tags(data)
        size = {"words": words, "dim": DIM, "threads": _threads()}
        for method in METHODS:
            yield _measured(f"syntagma {method}", _ours, (text, method), tags, size)
        if find_spec("gensim") is None:
            yield {"benchmark": "eigenwords", "system": "gensim", "skipped": "not installed"}
        else:
            for name, skip, window in PEERS:
                shown = f"gensim word2vec {name}, window {window}"
                yield _measured(shown, _gensim, (text, skip, window), tags, size)


def _threads() -> int:
    return len(os.sched_getaffinity(0))


def _write(data: Path | None, path: Path) -> int:
    """Write the corpus a sentence a line; return its words."""
    total = 0
    with open(path, "w", encoding="utf-8") as file:
        for sentence in _sentences(data):
            total += len(sentence)
            file.write(" ".join(sentence) + "\n")
    return total


def _sentences(data: Path | None) -> Iterator[list[str]]:
    if data is None:
        yield from (s.forms for s in english(GENERATED_SENTENCES, seed=0).treebank)
        return
    news = data / "news"
    for path in [
        news / "reuters21578.jsonl.xz",
        *sorted((news / "timeline17").glob("*.jsonl.xz")),
    ]:
        yield from read_sentences(path, tokenise=True)
    yield from read_sentences(data / BROWN, format="slash")


def _tags(data: Path | None) -> dict[str, str]:
    """Return the most frequent tag of each word of a treebank."""
    if data is None:
        treebank: Treebank = english(2000, seed=1).treebank
    else:
        treebank = read_treebank(data / "ud" / "en_ewt-train.conllu.xz", tags="upos")
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in zip(treebank.forms.strings(), treebank.tags.strings(), strict=True):
        seen[word][tag] += 1
    return {word: tags.most_common(1)[0][0] for word, tags in seen.items()}


def _measured(
    system: str, work: Callable[..., Any], arguments: Any, tags: dict[str, str], size: Any
) -> dict[str, Any]:
    context = get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_child, args=(results, work, arguments, tags))
    process.start()
    found = results.get()
    process.join()
    rate = round(size["words"] / found["seconds"])
    return {"benchmark": "eigenwords", "system": system, **size, "words_per_second": rate, **found}


def _child(results: Any, work: Callable[..., Any], arguments: Any, tags: dict[str, str]) -> None:
    seconds, words, vectors = work(*arguments)
    # that of getrusage would count the process that this one was started from
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) >> 10
    same = round(100 * _same_tag(words, vectors, tags), 1)
    results.put({"seconds": round(seconds, 2), "peak_megabytes": peak, "same_tag": same})


def _ours(text: Path, method: str) -> tuple[float, list[str], Any]:
    Eigenwords(method, dim=2, min_count=1).fit([["a", "b", "c"]] * 9)  # loads what is compiled
    start = time.perf_counter()
    model = Eigenwords(method, dim=DIM, min_count=MIN_COUNT).fit(text, jobs=-1)
    return time.perf_counter() - start, model.words_, model.vectors_


def _gensim(text: Path, skip: int, window: int) -> tuple[float, list[str], Any]:
    from gensim.models import Word2Vec

    start = time.perf_counter()
    model = Word2Vec(
        corpus_file=str(text),
        vector_size=DIM,
        min_count=MIN_COUNT,
        workers=_threads(),
        sg=skip,
        window=window,
        seed=0,
    )
    return time.perf_counter() - start, model.wv.index_to_key, model.wv.vectors


def _same_tag(words: list[str], vectors: Any, tags: dict[str, str]) -> float:
    """Return the share of neighbours that have the word's tag, among the words with a tag."""
    known = [i for i, word in enumerate(words) if word in tags]
    rows = vectors[known].astype(np.float64)
    rows -= rows.mean(0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.array([tags[words[i]] for i in known])
    cosines = rows[:PROBED] @ rows.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.argsort(-cosines, axis=1)[:, :NEAREST]
    return float((labels[nearest] == labels[:PROBED, None]).mean())
