"""English-like text from a latent-state grammar, with its trees, states and true parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.generated.english_rules import FEATURES, PRIORS, RULES, TABLES
from syntagma.corpora.generated.english_words import lexicon
from syntagma.corpora.generated.grammar import LatentGrammar
from syntagma.corpora.generated.language import Language, compile_language
from syntagma.corpora.generated.sampling import Sampler, join
from syntagma.corpora.generated.trees import Trees
from syntagma.corpora.treebank import Column, Treebank

# trees are drawn in chunks of a fixed size, each from its own random numbers: memory stays small
# and a short sample is the beginning of a long one
CHUNK = 1000


@dataclass(frozen=True, eq=False)
class Generated:
    """A corpus with its truth: what a learner sees, and what it should find.

    ``treebank`` has forms, lemmas, both tag sets, heads and labels, and ``treebank.brackets`` the
    constituency trees; ``trees`` are the same trees with the rule and the state of every node.
    """

    treebank: Treebank
    trees: Trees
    grammar: LatentGrammar

    @property
    def brackets(self) -> list[str]:
        """The constituency trees in Penn brackets, one a line, over the treebank's forms."""
        assert self.treebank.brackets is not None
        return self.treebank.brackets.strings()

    @property
    def states(self) -> NDArray[np.int32]:
        """The latent state of every node of ``trees``, as a number within the node's symbol."""
        return self.trees.states

    @property
    def word_states(self) -> NDArray[np.int32]:
        """The latent state of every word, as a number within its Penn tag."""
        return self.trees.states[self.trees.words >= 0]


@cache
def english_grammar() -> LatentGrammar:
    """Return the grammar of the generated English; always the same one."""
    return compile_language(RULES, Language(FEATURES, PRIORS, TABLES, lexicon))


@cache
def _english_sampler() -> Sampler:
    return Sampler(english_grammar())


def english(sentences: int, seed: int = 0, *, max_length: int | None = 60) -> Generated:
    """Make an English-like corpus of any size: the same seed gives the same text everywhere.

    Samples of different seeds are independent and of one language, so they serve as training and
    test data; a smaller sample is the beginning of a larger one. Sentences above ``max_length``
    words (about one in 1,500 at 60) are drawn again; None keeps all.

    >>> corpus = english(100, seed=7)
    >>> len(corpus.treebank), len(corpus.brackets)
    (100, 100)
    """
    if sentences < 1:
        raise ValueError(f"sentences: expected at least 1, found {sentences}")
    if max_length is not None and max_length < 1:
        raise ValueError(f"max_length: expected at least 1, found {max_length}")
    sampler = _english_sampler()
    drawn = join(
        [
            sampler.draw(CHUNK, np.random.default_rng([seed, chunk]), max_length)
            for chunk in range(-(-sentences // CHUNK))
        ]
    )
    trees = drawn.trees.take(0, sentences)
    forms = _spelled(trees, sampler.grammar.vocabulary)
    columns = {"forms": Column.of(forms)}
    leaves = drawn.trees.symbols[drawn.trees.words >= 0]
    for name, strings, ids in (
        ("lemmas", sampler.lemmas, drawn.lemmas),
        ("upos", sampler.upos, drawn.upos),
        ("xpos", sampler.grammar.symbols, leaves),
        ("labels", sampler.labels, drawn.dependencies.labels),
    ):
        columns[name] = Column.of(np.array(strings, object)[ids[: len(forms)]].tolist())
    treebank = Treebank.from_columns(
        trees.word_offsets,
        columns,
        drawn.dependencies.heads[: len(forms)],
        brackets=trees.columns(sampler.grammar.symbols, columns["forms"]),
    )
    return Generated(treebank, trees, sampler.grammar)


def _spelled(trees: Trees, vocabulary: list[str]) -> list[str]:
    """Write words as they stand in text: "an" before a vowel, a capital where a sentence starts."""
    words = trees.words[trees.words >= 0]
    forms = np.array(vocabulary, object)[words]
    vowel = np.array([_sounds_like_vowel(word) for word in vocabulary])
    before_vowel = np.append(vowel[words[1:]], False)
    forms[(words == vocabulary.index("a")) & before_vowel] = "an"
    starts = trees.word_offsets[:-1]
    quoted = starts[forms[starts] == '"'] + 1
    for position in (*starts.tolist(), *quoted.tolist()):
        forms[position] = forms[position][:1].upper() + forms[position][1:]
    return list(forms.tolist())


def _sounds_like_vowel(word: str) -> bool:
    """Tell whether "an" goes before a word, by its spelling and the usual exceptions."""
    small = word.lower()
    if small.startswith(("uni", "use", "eu", "one")):
        return False
    return small.startswith(("a", "e", "i", "o", "u", "honest", "hour"))
