"""Eigenwords: vectors of words from what stands around them, by canonical correlation analysis.

Words that occur in the same contexts get similar vectors. They come from singular value
decompositions of counts, so there is one best answer and it takes seconds; see
`syntagma.moments.eigenwords` for the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.sentences import Texts, sentences_of
from syntagma.corpora.tokens import CHUNK, FIRST, UNKNOWN, Tokens, spilled
from syntagma.corpora.treebank import Column, Treebank, check_strings
from syntagma.corpora.vectors import read_vectors, write_vectors
from syntagma.corpora.wordclasses import WordClasses
from syntagma.errors import InputError
from syntagma.models.base import Estimator
from syntagma.moments import eigenwords as methods
from syntagma.moments.clusters import divided, flattened
from syntagma.moments.cooccurrence import PairCounts
from syntagma.moments.passes import gather
from syntagma.training.storage import Arrays, Path, finite_array

Float32 = NDArray[np.float32]
FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]
Progress = Callable[[int, int, float], None]

METHODS = ("cca", "cca2", "lr-mvl", "bigram")
CLASSES = (64, 256, 1024)
UNKNOWN_WORD = "<unk>"  # the name of the unknown word's row in a text file
SMALLEST = 1e-7  # a direction this much weaker than the strongest is rounding
MAPPED, GROUPS = 120, 6  # words in the picture, and their colours


class Eigenwords(Estimator):
    """Learn a vector for every frequent word from plain text of any size.

    Parameters
    ----------
    method
        "cca" correlates words with their neighbours; "cca2" left with right neighbours first,
        then words with both; "lr-mvl" smoothed left with right contexts, then words with both,
        again and again; "bigram" decomposes the bigram probabilities.
    dim
        Numbers in a vector.
    min_count, max_words
        Rarer words, and all but the most frequent, share the vector of the unknown word.
    window
        Neighbours on each side that "cca" and "cca2" look at, each place apart.
    root
        Whether they take square roots of counts: rare words are less noisy then.
    rates
        Smoothing rates of "lr-mvl": near 1 only near words count, near 0 all of the sentence.
    iterations, tolerance
        "lr-mvl" stops after so many, or when no more than this share of the directions changes.
    lower
        Whether words that differ in case only are one.
    seed
        Of the random start of the decompositions.

    Attributes
    ----------
    words_, vectors_, counts_
        The words, most frequent first, their vectors, of length 1, and their frequencies.
    unknown_
        The vector of every other word.
    singular_values_
        How strong each dimension is: correlations for "lr-mvl" and "cca2".
    summary_

    Examples
    --------
    >>> from syntagma.corpora.generated import english
    >>> model = Eigenwords(method="cca", dim=10).fit(english(1500, seed=1).treebank)
    >>> [word for word, _ in model.neighbours("will", 2)]
    ['can', 'may']
    """

    kind: ClassVar[str] = "eigenwords"

    def __init__(
        self,
        method: str = "cca",
        dim: int = 50,
        min_count: int = 5,
        max_words: int = 100_000,
        window: int = 1,
        root: bool = True,
        rates: Sequence[float] = (0.5, 0.1),
        iterations: int = 5,
        tolerance: float = 0.01,
        lower: bool = False,
        seed: int = 0,
    ) -> None:
        self.method = method
        self.dim = dim
        self.min_count = min_count
        self.max_words = max_words
        self.window = window
        self.root = root
        self.rates = rates
        self.iterations = iterations
        self.tolerance = tolerance
        self.lower = lower
        self.seed = seed

    # ---- fitting ------------------------------------------------------------------------------
    def fit(
        self,
        texts: Texts,
        *,
        format: str | None = None,
        field: str | None = None,
        tokenise: bool = False,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from files, a treebank, or lists of words.

        Parameters
        ----------
        texts
            One path or several, a treebank, or sentences as lists of words. Files are read in
            pieces, once; what is kept of them is a temporary file of four bytes a word.
        format, field, tokenise
            How files are read: see `syntagma.corpora.sentences`.
        jobs
            Workers, as joblib understands them; the result does not depend on them.
        progress
            Called with steps done, all steps (0 while the text is read) and words read.
        """
        from threadpoolctl import threadpool_limits

        self._check_parameters()
        report = progress or (lambda done, total, words: None)
        with (
            # sums would be rounded differently with another number of threads
            threadpool_limits(1, "blas"),
            spilled(
                sentences_of(texts, format=format, field=field, tokenise=tokenise),
                min_count=self.min_count,
                max_words=self.max_words,
                lower=self.lower,
                read=lambda words: report(0, 0, words),
            ) as tokens,
        ):
            self._check_size(tokens)
            spectrum, changes = self._learn(tokens, jobs, report)
            self._take(tokens, spectrum, changes)
        return self

    def _learn(
        self, tokens: Tokens, jobs: int | None, report: Progress
    ) -> tuple[methods.Spectrum, list[float]]:
        """Run the method; return what it found and how much each iteration changed."""
        again = {"lr-mvl": self.iterations, "cca2": 1}.get(self.method, 0)
        chunks = max(1, len(tokens.ids) // CHUNK)
        total = chunks * (1 + again)

        def counting(passes: int) -> Callable[[int], None]:
            return lambda done: report(min(passes * chunks + done, total), total, tokens.words)

        reach = {"cca": self.window, "cca2": 2 * self.window}.get(self.method, 1)
        pairs = PairCounts(tokens.size, range(1, reach + 1))
        counts = gather(pairs, tokens.chunks(), jobs, counting(0), threads=True)
        if self.method == "bigram":
            return methods.bigram(counts, self.dim, self.seed), []
        if self.method == "cca2":
            options = (self.window, self.dim, self.seed, self.root, jobs, counting(1))
            return methods.two_step(tokens, counts, *options), []
        window = self.window if self.method == "cca" else 1
        found = methods.one_step(
            counts, tokens.frequencies(), window, self.dim, self.seed, self.root
        )
        changes: list[float] = []
        if self.method == "lr-mvl":
            rates = tuple(float(rate) for rate in self.rates)
            for iteration in range(self.iterations):
                if changes and changes[-1] <= self.tolerance:
                    break
                heard = counting(1 + iteration)
                found, change = methods.multi_view(tokens, found, rates, jobs, heard)
                changes.append(change)
        return found, changes

    def _check_parameters(self) -> None:
        if self.method not in METHODS:
            known = ", ".join(METHODS)
            raise InputError(f"method: expected one of {known}, found {self.method!r}")
        for name in ("dim", "min_count", "max_words", "window"):
            if not isinstance(value := getattr(self, name), int) or not 1 <= value < 2**30:
                raise InputError(f"{name}: expected a number from 1, found {value!r}")
        for name in ("iterations", "tolerance"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise InputError(f"{name}: expected a number that is not negative, found {value!r}")
        rates = list(self.rates)
        if not rates or not all(isinstance(r, int | float) and 0 < r <= 1 for r in rates):
            raise InputError(f"rates: expected numbers above 0 and up to 1, found {rates}")

    def _check_size(self, tokens: Tokens) -> None:
        """Refuse a text with fewer words than dimensions."""
        found = len(tokens.vocabulary.words)
        if not tokens.words:
            raise InputError("expected text, found no word")
        if found < self.dim:
            raise InputError(
                f"the text has {found} different words seen at least {self.min_count} times: "
                f"too few for {self.dim} dimensions; give more text or lower dim or min_count"
            )

    def _take(self, tokens: Tokens, spectrum: methods.Spectrum, changes: list[float]) -> None:
        values = spectrum.values
        supported = int((values > SMALLEST * values[0]).sum())
        if supported < self.dim:
            raise InputError(
                f"the text supports {supported} dimensions, not {self.dim}: lower dim or give more"
            )
        rows = methods.vectors_of(spectrum, tokens.frequencies())
        words, counts, unknown = tokens.vocabulary
        if not unknown:  # none was cut off: the rarest words stand for those never seen
            rows[UNKNOWN] = _unit(rows[FIRST:][counts == counts.min()].mean(0))
        self.words_ = words
        self.counts_ = counts
        self.unknown_: Float32 = rows[UNKNOWN].astype(np.float32)
        self.vectors_: Float32 = rows[FIRST:].astype(np.float32)
        self.singular_values_ = values
        self.summary_ = {
            "words": tokens.words,
            "sentences": tokens.sentences,
            "vocabulary": len(words),
            "dimensions": self.dim,
            "unknown_words": unknown,
            "iterations": len(changes),
            "changes": changes,
        }

    # ---- applying -----------------------------------------------------------------------------
    def transform(self, words: Treebank | Sequence[str]) -> FloatArray:
        """Return the vector of every word of a treebank, or of some words: (words, dim)."""
        self._check_fitted()
        ids, names = _column(words)
        rows = np.concatenate([self.vectors_, self.unknown_[None]]).astype(np.float64)
        out: FloatArray = rows[self._places(names)][ids]
        return out

    def coverage(self, words: Treebank | Sequence[str]) -> float:
        """Return the percentage of words that have a vector of their own."""
        ids, names = _column(words)
        known = self._places(names) < len(self.words_)
        return 100.0 * float(known[ids].mean()) if len(ids) else float("nan")

    def neighbours(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """Return the words with the most similar vectors, and the cosine of the angle to each.

        What all vectors have in common, their mean, is taken off before.
        """
        self._check_fitted()
        (place,) = self._places([word]).tolist()
        if place == len(self.words_):
            near = get_close_matches(word, self.words_[:50_000], 3, 0.75)
            hint = f"did you mean {', '.join(near)}?" if near else "it was too rare in the text"
            raise InputError(f"the word {word!r} has no vector: {hint}")
        rows = self._centred()
        cosines = rows @ rows[place]
        cosines[place] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(count, len(rows) - 1)]
        return [(self.words_[i], round(float(cosines[i]), 6)) for i in best.tolist()]

    def classes(self, sizes: Sequence[int] = CLASSES) -> WordClasses:
        """Divide the words into classes of similar ones, once for each number of classes.

        Numbers that leave fewer than two words a class are left out.
        """
        self._check_fitted()
        fitting = [size for size in sizes if 2 * size <= len(self.words_)] or [1]
        return WordClasses(self.words_, divided(self._centred(), fitting, self.seed))

    def _places(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each word, behind the last one for those that have none."""
        self._check_fitted()
        place = {word: i for i, word in enumerate(self.words_)}
        wanted = [name.lower() for name in names] if self.lower else names
        return np.array([place.get(name, len(place)) for name in wanted], np.int64)

    def _centred(self) -> FloatArray:
        rows = self.vectors_.astype(np.float64)
        rows -= rows.mean(0)
        return _unit(rows)

    # ---- word2vec's text format ---------------------------------------------------------------
    def to_word2vec(self, path: Path) -> None:
        """Write the vectors as text that other programs read, that of unknown words first."""
        self._check_fitted()
        rows = np.concatenate([self.unknown_[None], self.vectors_])
        write_vectors(path, [UNKNOWN_WORD, *self.words_], rows)

    @classmethod
    def from_word2vec(cls, path: Path) -> Self:
        """Make a model of vectors in word2vec's text format, the most frequent words first.

        They are divided by their largest entry if that is above 1. The word ``<unk>`` is the
        unknown one; without it, that is the mean of all.
        """
        words, rows = read_vectors(path)
        rows = rows / max(1.0, float(np.abs(rows).max()))
        model = cls(dim=rows.shape[1])
        if UNKNOWN_WORD in words:
            at = words.index(UNKNOWN_WORD)
            words.pop(at)
            model.unknown_, rows = rows[at], np.delete(rows, at, axis=0)
        else:
            model.unknown_ = rows.mean(0)
        if not words:
            raise InputError("expected vectors of words, found that of unknown ones", path=path)
        model.words_, model.vectors_ = words, rows
        model.counts_ = np.zeros(len(words), np.int64)
        model.singular_values_ = np.linalg.svd(rows.astype(np.float64).T @ rows)[1] ** 0.5
        model.summary_ = {"source": "word2vec", "vocabulary": len(words), "dimensions": model.dim}
        return model

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say what was learnt: dimensions, a map of frequent words, and neighbours of some."""
        self._check_fitted()
        rows = self._centred()[:MAPPED]
        groups = divided(rows, [min(GROUPS, len(rows))], self.seed)[0]
        places = flattened(rows, self.seed).round(3).tolist()
        return {
            "singular_values": self.singular_values_.round(6).tolist(),
            "map": [
                [word, *place, group]
                for word, place, group in zip(self.words_, places, groups.tolist(), strict=False)
            ],
            "strongest": {
                word: [list(pair) for pair in self.neighbours(word, top)]
                for word in self.words_[: 20 if top else 0]
            },
        }

    # ---- model files --------------------------------------------------------------------------
    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        return {"words": self.words_}, {
            "vectors": self.vectors_,
            "unknown": self.unknown_,
            "counts": self.counts_,
            "singular_values": self.singular_values_,
        }

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        self._check_parameters()
        self.words_ = [str(word) for word in vocabulary["words"]]
        if not self.words_ or len(set(self.words_)) < len(self.words_):
            raise ValueError("expected words, each once")
        check_strings("words", Column.of(self.words_))
        count = len(self.words_)
        self.vectors_ = _bounded_array(arrays["vectors"], (count, self.dim))
        self.unknown_ = _bounded_array(arrays["unknown"], (self.dim,))
        self.counts_ = arrays["counts"]
        if self.counts_.shape != (count,) or self.counts_.dtype != np.int64:
            raise ValueError("expected a frequency for each word")
        self.singular_values_ = finite_array(arrays, "singular_values", (self.dim,))


def _column(words: Treebank | Sequence[str]) -> Column:
    return words.forms if isinstance(words, Treebank) else Column.of(words)


def _unit(rows: FloatArray) -> FloatArray:
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    out: FloatArray = rows / np.where(length > 0, length, 1.0)
    return out


def _bounded_array(array: NDArray[Any], shape: tuple[int, ...]) -> Float32:
    if array.shape != shape or array.dtype != np.float32 or not (np.abs(array) <= 1).all():
        raise ValueError(f"expected vectors of shape {shape} with entries up to 1")
    return np.ascontiguousarray(array)
