"""A probabilistic grammar whose symbols carry latent states, with its parameters in the open.

The model is that of Cohen, Stratos, Collins, Foster and Ungar (2012) without the restriction to
binary rules: a node with symbol ``a`` and state ``h`` picks a rule with probability
``q(rule | a, h)``; then each child picks its state with ``c_k(h' | rule, h)``, independently of
the other children; a tag in state ``h`` picks a word with ``e(word | tag, h)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.brackets import Brackets
from syntagma.corpora.generated.trees import Trees

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Attachment(NamedTuple):
    """How a rule becomes arcs: which child is the head, where each other child hangs, and as what.

    ``to[k]`` is the child that child ``k`` depends on; ``labels[head]`` is not used.
    """

    head: int
    to: tuple[int, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule without its states, and its probabilities with them.

    ``probability[h]`` is q(rule | left, h), ``children[k][h, i]`` is c_k(i | rule, h); rows of
    states that never use the rule are zero. ``attachments[h]`` says how state ``h`` makes arcs.
    """

    left: int
    right: tuple[int, ...]
    probability: FloatArray
    children: tuple[FloatArray, ...]
    attachments: tuple[Attachment | None, ...]


@dataclass(frozen=True, eq=False)
class Emission:
    """The words of one tag: ``probability[h, i]`` is e(words[i] | tag, h).

    ``lemmas`` goes with ``words``; ``upos[h]`` is the universal tag that state ``h`` stands for.
    """

    words: IntArray
    probability: FloatArray
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LatentGrammar:
    """The true parameters of a generated language; symbol 0 is the start symbol.

    A *type* is a symbol in a state; types are numbered symbol by symbol from ``type_offsets``.
    """

    symbols: list[str]
    states: list[list[str]]
    start: FloatArray
    rules: list[Rule]
    emissions: dict[int, Emission]
    vocabulary: list[str]

    def __post_init__(self) -> None:
        size = int(self.type_offsets[-1])
        children = self.expected_children
        # 1 + M x = x has a solution with x >= 1 exactly if the spectral radius of M is below 1
        try:
            total = np.linalg.solve(np.eye(size) - children, np.ones(size))
        except np.linalg.LinAlgError:
            total = np.zeros(size)
        if not (total >= 1 - 1e-9).all():
            raise ValueError("the grammar's trees grow without bound: expected fewer children")

    # ---- types --------------------------------------------------------------------------------
    @cached_property
    def type_offsets(self) -> NDArray[np.int64]:
        """Where each symbol's states begin among the types."""
        return np.concatenate([[0], np.cumsum([len(states) for states in self.states])])

    @cached_property
    def expected_children(self) -> FloatArray:
        """Expected number of children of each type (column) that a type (row) has."""
        offsets = self.type_offsets
        matrix = np.zeros((offsets[-1], offsets[-1]))
        for rule in self.rules:
            rows = slice(offsets[rule.left], offsets[rule.left + 1])
            for symbol, child in zip(rule.right, rule.children, strict=True):
                columns = slice(offsets[symbol], offsets[symbol + 1])
                matrix[rows, columns] += rule.probability[:, None] * child
        return matrix

    @cached_property
    def spectral_radius(self) -> float:
        """Growth of the trees from level to level; below 1, so that they end."""
        # tags have no children: their rows are zero and add only zeros to the spectrum
        inner = np.flatnonzero(self.expected_children.any(axis=1))
        return float(np.abs(np.linalg.eigvals(self.expected_children[np.ix_(inner, inner)])).max())

    # ---- exact expectations -------------------------------------------------------------------
    @cached_property
    def expected_types(self) -> FloatArray:
        """Expected number of nodes of each type in one tree: the fixed point n = start + n M."""
        start = np.zeros(int(self.type_offsets[-1]))
        start[: len(self.start)] = self.start
        identity = np.eye(len(start))
        return np.asarray(np.linalg.solve(identity - self.expected_children.T, start), np.float64)

    def expected_symbols(self) -> dict[str, float]:
        """Return the expected number of nodes of each symbol in one tree."""
        counts = np.add.reduceat(self.expected_types, self.type_offsets[:-1])
        return dict(zip(self.symbols, counts.tolist(), strict=True))

    def expected_tags(self) -> dict[str, float]:
        """Return the share of each tag among the words, in expectation over trees."""
        counts = self.expected_symbols()
        tags = {self.symbols[tag]: counts[self.symbols[tag]] for tag in self.emissions}
        return {tag: count / self.expected_length for tag, count in tags.items()}

    @property
    def expected_length(self) -> float:
        """Expected number of words of a tree."""
        counts = self.expected_symbols()
        return sum(counts[self.symbols[tag]] for tag in self.emissions)

    # ---- trees --------------------------------------------------------------------------------
    @cached_property
    def _rule_numbers(self) -> dict[tuple[int, tuple[int, ...]], int]:
        return {(rule.left, rule.right): number for number, rule in enumerate(self.rules)}

    @cached_property
    def _tag_words(self) -> dict[int, dict[str, int]]:
        return {
            tag: {self.vocabulary[word]: word for word in emission.words.tolist()}
            for tag, emission in self.emissions.items()
        }

    def word_number(self, tag: int, form: str) -> int:
        """Look a written form up among the tag's words; a strange one is the number after them all.

        Undoes what spelling does to words: a capital at the sentence's start, "an" for "a".
        """
        words = self._tag_words.get(tag, {})
        small = form[:1].lower() + form[1:]
        for spelling in (form, small, "a" if small == "an" else small):
            if spelling in words:
                return words[spelling]
        return len(self.vocabulary)

    def trees(self, brackets: Brackets) -> Trees:
        """Read trees as this grammar's: states unknown, symbols and rules it does not have -1.

        A word that its tag does not have gets a number beyond the vocabulary.
        """
        number = {symbol: i for i, symbol in enumerate(self.symbols)}
        phrases, leaves = len(brackets.parents), len(brackets.leaf_parents)
        # phrases and leaves in one order: a phrase comes before the first leaf it covers
        before = brackets.first + np.repeat(brackets.leaf_offsets[:-1], np.diff(brackets.offsets))
        order = np.argsort(np.append(2 * before, 2 * np.arange(leaves) + 1), kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        offsets = brackets.offsets + brackets.leaf_offsets
        sizes = np.diff(brackets.offsets), np.diff(brackets.leaf_offsets)
        within = np.concatenate([brackets.parents, brackets.leaf_parents])
        base = np.concatenate([np.repeat(brackets.offsets[:-1], size) for size in sizes])
        start = np.concatenate([np.repeat(offsets[:-1], size) for size in sizes])
        parents = np.where(within < 0, -1, place[np.where(within < 0, 0, within + base)] - start)
        labels, tags = brackets.labels.strings(), brackets.leaf_tags.strings()
        symbols = np.array([number.get(name, -1) for name in labels + tags], np.int32)[order]
        words = np.full(len(order), -1, np.int32)
        forms = brackets.leaf_forms.strings()
        words[place[phrases:]] = [
            self.word_number(number.get(tag, -1), form)
            for tag, form in zip(tags, forms, strict=True)
        ]
        trees = Trees(
            offsets,
            symbols,
            np.full(len(order), -1, np.int32),
            parents[order].astype(np.int32),
            words,
            np.full(len(order), -1, np.int32),
        )
        trees.rules[:] = self._rules_of(trees)
        return trees

    def _rules_of(self, trees: Trees) -> list[int]:
        """Find the rule that expands each node, -1 where there is none."""
        right: list[list[int]] = [[] for _ in trees.symbols]
        symbols = trees.symbols.tolist()
        for node, parent in enumerate(trees.global_parents().tolist()):
            if parent >= 0:
                right[parent].append(symbols[node])
        return [
            self._rule_numbers.get((symbol, tuple(children)), -1)
            for symbol, children in zip(symbols, right, strict=True)
        ]

    def log_probability(self, trees: Trees | Brackets) -> FloatArray:
        """Probability of each tree with its words, summed over all latent states, as logarithms.

        A tree with a rule or a word that the grammar does not have gets ``-inf``. All nodes with
        one depth and one rule are taken at once, deepest first.
        """
        if not isinstance(trees, Trees):
            trees = self.trees(trees)
        depths, parents = trees.depths(), trees.global_parents()
        inside, row, scale = self._leaves(trees)
        bad = (trees.words < 0) & (trees.rules < 0)
        siblings = np.argsort(parents, kind="stable")
        first_child = np.searchsorted(parents[siblings], np.arange(len(parents)))
        inner = np.flatnonzero((trees.words < 0) & ~bad)
        # groups of nodes that are expanded together, deepest first
        order = inner[np.lexsort((trees.rules[inner], -depths[inner]))]
        key = np.stack([depths[order], trees.rules[order]])
        cuts = np.flatnonzero((key[:, 1:] != key[:, :-1]).any(axis=0)) + 1
        for nodes in np.split(order, cuts) if len(order) else []:
            rule = self.rules[int(trees.rules[nodes[0]])]
            used = np.flatnonzero(rule.probability)
            value = np.repeat(rule.probability[None, used], len(nodes), axis=0)
            for k, (symbol, child) in enumerate(zip(rule.right, rule.children, strict=True)):
                below = siblings[first_child[nodes] + k]
                value *= inside[symbol][row[below]] @ child[used].T
                scale[nodes] += scale[below]
            inside[rule.left][np.ix_(row[nodes], used)] = _rescaled(value, scale, nodes)
        tops = trees.offsets[:-1]
        totals = np.full(len(trees), -np.inf)
        right_start = np.flatnonzero(trees.symbols[tops] == 0)
        with np.errstate(divide="ignore"):
            sums = np.log(inside[0][row[tops[right_start]]] @ self.start)
        totals[right_start] = sums + scale[tops[right_start]]
        totals[np.logical_or.reduceat(bad, tops)] = -np.inf
        return totals

    def _leaves(self, trees: Trees) -> tuple[list[FloatArray], NDArray[np.int64], FloatArray]:
        """Make inside values by symbol (words filled in), each node's row there, and log scales."""
        row = np.zeros(len(trees.symbols), np.int64)
        scale = np.zeros(len(trees.symbols))
        inside = []
        for symbol, states in enumerate(self.states):
            nodes = np.flatnonzero(trees.symbols == symbol)
            row[nodes] = np.arange(len(nodes))
            value = np.zeros((len(nodes), len(states)))
            if symbol in self.emissions:
                emission = self.emissions[symbol]
                column = np.full(len(self.vocabulary) + 1, len(emission.words))
                column[emission.words] = np.arange(len(emission.words))
                padded = np.append(emission.probability.T, np.zeros((1, len(states))), axis=0)
                value = _rescaled(padded[column[trees.words[nodes]]], scale, nodes)
            inside.append(value)
        return inside, row, scale


def _rescaled(value: FloatArray, scale: FloatArray, nodes: NDArray[np.int64]) -> FloatArray:
    """Divide each row by its largest entry and add that entry's logarithm to the node's scale."""
    top = value.max(axis=1, initial=0.0)
    alive = top > 0
    scale[nodes[alive]] += np.log(top[alive])
    value[alive] /= top[alive, None]
    return value
