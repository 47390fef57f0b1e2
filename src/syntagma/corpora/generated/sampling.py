"""Trees drawn from a grammar in bulk: one round of array operations for each level of depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.generated.grammar import LatentGrammar
from syntagma.corpora.generated.trees import Dependencies, Trees

IntArray = NDArray[np.int32]


class Choices:
    """Many discrete distributions, one per row, drawn from by one binary search each.

    The cumulative sum of row ``r`` is stored shifted by ``r``, so that one sorted array holds all.
    """

    def __init__(self, probability: list[NDArray[np.float64]], outcome: list[IntArray]) -> None:
        sizes = np.array([len(row) for row in probability], np.int64)
        self.first = np.cumsum(sizes) - sizes
        self.last = self.first + sizes - 1
        self.outcome = np.concatenate(outcome) if outcome else np.zeros(0, np.int32)
        self.cumulative = np.concatenate(
            [np.cumsum(row) / row.sum() + number for number, row in enumerate(probability)]
            or [np.zeros(0)]
        )

    def entries(self, rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one entry for each row asked for: an index into ``outcome``."""
        found = np.searchsorted(self.cumulative, rows + rng.random(len(rows)), side="right")
        return np.clip(found, self.first[rows], self.last[rows])


class Drawn(NamedTuple):
    """A batch of trees with what only the sampler knows: each word's lemma, tag and arc."""

    trees: Trees
    dependencies: Dependencies
    lemmas: IntArray
    upos: IntArray


@dataclass(frozen=True, eq=False)
class _Level:
    """All nodes of one depth: the children of one parent stand together, in order."""

    types: NDArray[np.int64]
    parents: NDArray[np.int64]
    slots: NDArray[np.int64]
    expansions: NDArray[np.int64]
    entries: NDArray[np.int64]


class Sampler:
    """Tables that turn random numbers into trees of one grammar."""

    def __init__(self, grammar: LatentGrammar) -> None:
        self.grammar = grammar
        offsets = grammar.type_offsets
        size = int(offsets[-1])
        self.symbol_of = np.repeat(np.arange(len(grammar.symbols)), np.diff(offsets))
        self.is_tag = np.isin(self.symbol_of, list(grammar.emissions))
        self._expansions(size)
        self._words(size)

    # ---- tables -------------------------------------------------------------------------------
    def _expansions(self, size: int) -> None:
        """An expansion is a rule in a state of its left side: its rows say what happens."""
        grammar, offsets = self.grammar, self.grammar.type_offsets
        label_number = {"root": 0}
        weights: list[list[float]] = [[] for _ in range(size)]
        numbers: list[list[int]] = [[] for _ in range(size)]
        rules: list[int] = []
        heads: list[int] = []
        sizes: list[int] = []
        slot_to: list[int] = []
        slot_label: list[int] = []
        slot_probability, slot_outcome = [], []
        for number, rule in enumerate(grammar.rules):
            for state in np.flatnonzero(rule.probability).tolist():
                attachment = rule.attachments[state]
                assert attachment is not None
                type_ = int(offsets[rule.left]) + state
                weights[type_].append(float(rule.probability[state]))
                numbers[type_].append(len(rules))
                rules.append(number)
                heads.append(attachment.head)
                sizes.append(len(rule.right))
                slot_to += attachment.to
                slot_label += [
                    label_number.setdefault(label, len(label_number)) for label in attachment.labels
                ]
                for symbol, child in zip(rule.right, rule.children, strict=True):
                    reached = np.flatnonzero(child[state])
                    slot_probability.append(child[state, reached])
                    slot_outcome.append((offsets[symbol] + reached).astype(np.int32))
        self.choose_rule = Choices(
            [np.array(row or [1.0]) for row in weights],
            [np.array(row or [-1], np.int32) for row in numbers],
        )
        self.choose_child = Choices(slot_probability, slot_outcome)
        self.rule_of = np.array(rules, np.int32)
        self.head_of = np.array(heads, np.int64)
        self.size_of = np.array(sizes, np.int64)
        self.first_slot = np.cumsum(self.size_of) - self.size_of
        self.slot_to = np.array(slot_to, np.int64)
        self.slot_label = np.array(slot_label, np.int32)
        self.labels = list(label_number)

    def _words(self, size: int) -> None:
        """One table of words for all tags; an entry is a word with its lemma."""
        probability = [np.ones(1)] * size
        outcome = [np.full(1, -1, np.int32)] * size
        entry_lemma = [np.zeros(1, np.int32)] * size
        lemma_number: dict[str, int] = {}
        upos_number: dict[str, int] = {}
        self.type_upos = np.zeros(size, np.int32)
        for tag, emission in self.grammar.emissions.items():
            first = int(self.grammar.type_offsets[tag])
            lemmas = np.array(
                [lemma_number.setdefault(lemma, len(lemma_number)) for lemma in emission.lemmas],
                np.int32,
            )
            for state, row in enumerate(emission.probability):
                reached = np.flatnonzero(row)
                probability[first + state] = row[reached]
                outcome[first + state] = emission.words[reached]
                entry_lemma[first + state] = lemmas[reached]
                name = emission.upos[state]
                self.type_upos[first + state] = upos_number.setdefault(name, len(upos_number))
        self.choose_word = Choices(probability, outcome)
        self.entry_lemma = np.concatenate(entry_lemma)
        self.lemmas, self.upos = list(lemma_number), list(upos_number)

    # ---- drawing ------------------------------------------------------------------------------
    def draw(self, count: int, rng: np.random.Generator, max_length: int | None) -> Drawn:
        """Draw trees; those of more than ``max_length`` words are replaced by later draws."""
        if count < 1:
            raise ValueError(f"count: expected at least 1, found {count}")
        drawn = self._assemble(self._levels(count, rng))
        if max_length is None:
            return drawn
        long = np.flatnonzero(np.diff(drawn.trees.word_offsets) > max_length)
        failures = 0
        while len(long):
            more = self._assemble(self._levels(max(2 * len(long), 200), rng))
            short = np.flatnonzero(np.diff(more.trees.word_offsets) <= max_length)[: len(long)]
            failures = 0 if len(short) else failures + 1
            if failures == 20:
                raise ValueError(f"max_length: no tree has at most {max_length} words")
            order = np.arange(count)
            order[long[: len(short)]] = count + short
            drawn, long = _merge(drawn, more, order), long[len(short) :]
        return drawn

    def _levels(self, count: int, rng: np.random.Generator) -> list[_Level]:
        """Expand all trees together, level by level."""
        start = Choices([self.grammar.start], [np.arange(len(self.grammar.start), dtype=np.int32)])
        types = start.outcome[start.entries(np.zeros(count, np.int64), rng)].astype(np.int64)
        parents = np.full(count, -1, np.int64)
        slots = np.full(count, -1, np.int64)
        levels = []
        while len(types):
            tags = self.is_tag[types]
            expansions = np.full(len(types), -1, np.int64)
            entries = np.full(len(types), -1, np.int64)
            entries[tags] = self.choose_word.entries(types[tags], rng)
            inner = np.flatnonzero(~tags)
            chosen = self.choose_rule.outcome[self.choose_rule.entries(types[inner], rng)]
            expansions[inner] = chosen
            levels.append(_Level(types, parents, slots, expansions, entries))
            sizes = self.size_of[chosen]
            parents = np.repeat(inner, sizes)
            slots = np.arange(len(parents)) + np.repeat(
                self.first_slot[chosen] - (np.cumsum(sizes) - sizes), sizes
            )
            types = self.choose_child.outcome[self.choose_child.entries(slots, rng)].astype(
                np.int64
            )
        return levels

    def _assemble(self, levels: list[_Level]) -> Drawn:
        """Put the nodes in reading order and hang each word under its head."""
        places = _places(levels)
        total = int(places.node_offsets[-1])
        order = np.concatenate(places.nodes)
        types, expansions, entries, parents = (np.empty(total, np.int64) for _ in range(4))
        types[order] = np.concatenate([level.types for level in levels])
        expansions[order] = np.concatenate([level.expansions for level in levels])
        entries[order] = np.concatenate([level.entries for level in levels])
        starts = [places.node_offsets[tree] for tree in places.trees]
        tops = np.full(len(levels[0].types), -1, np.int64)
        inner = zip(levels[1:], places.nodes, starts[1:], strict=False)
        parents[order] = np.concatenate(
            [tops, *(above[level.parents] - start for level, above, start in inner)]
        )
        leaf = expansions < 0
        symbols = self.symbol_of[types]
        trees = Trees(
            places.node_offsets,
            symbols.astype(np.int32),
            (types - self.grammar.type_offsets[symbols]).astype(np.int32),
            parents.astype(np.int32),
            np.where(leaf, self.choose_word.outcome[entries], -1).astype(np.int32),
            np.where(leaf, -1, self.rule_of[expansions]).astype(np.int32),
        )
        dependencies = self._dependencies(levels, places)
        return Drawn(
            trees, dependencies, self.entry_lemma[entries[leaf]], self.type_upos[types[leaf]]
        )

    def _dependencies(self, levels: list[_Level], places: _Places) -> Dependencies:
        """Carry the word that heads each node upwards, then hang every other child's under it."""
        head_words = [words.copy() for words in places.words]
        for depth in range(len(levels) - 1, 0, -1):
            expansions = levels[depth - 1].expansions
            inner = np.flatnonzero(expansions >= 0)
            child = places.first_child[depth - 1][inner] + self.head_of[expansions[inner]]
            head_words[depth - 1][inner] = head_words[depth][child]
        heads = np.zeros(int(places.word_offsets[-1]), np.int32)
        labels = np.zeros(len(heads), np.int32)
        for depth, level in enumerate(levels[1:], 1):
            own = head_words[depth]
            eldest = places.first_child[depth - 1][level.parents]
            target = own[eldest + self.slot_to[level.slots]]
            arc = own != target
            sentence = places.word_offsets[places.trees[depth]]
            heads[own[arc]] = (target - sentence + 1)[arc]
            labels[own[arc]] = self.slot_label[level.slots[arc]]
        return Dependencies(heads, labels)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where each node of each level stands in reading order, and its first word."""

    node_offsets: NDArray[np.int64]
    word_offsets: NDArray[np.int64]
    nodes: list[NDArray[np.int64]]
    words: list[NDArray[np.int64]]
    trees: list[NDArray[np.int64]]
    first_child: list[NDArray[np.int64]]


def _places(levels: list[_Level]) -> _Places:
    """Count nodes and words below each node going up, then number them going down."""
    nodes = [np.ones(len(level.types), np.int64) for level in levels]
    words = [(level.expansions < 0).astype(np.int64) for level in levels]
    first_child = [np.zeros(len(level.types), np.int64) for level in levels]
    for depth in range(len(levels) - 1, 0, -1):
        parents = levels[depth].parents
        for count in (nodes, words):
            below = np.bincount(parents, count[depth], len(count[depth - 1]))
            count[depth - 1] += below.astype(np.int64)
        eldest = np.concatenate([[True], parents[1:] != parents[:-1]])
        first_child[depth - 1][parents[eldest]] = np.flatnonzero(eldest)
    node_offsets = np.concatenate([[0], np.cumsum(nodes[0])])
    word_offsets = np.concatenate([[0], np.cumsum(words[0])])
    node_at, word_at = [node_offsets[:-1]], [word_offsets[:-1]]
    trees = [np.arange(len(nodes[0]))]
    for depth, level in enumerate(levels[1:], 1):
        eldest = first_child[depth - 1][level.parents]
        for count, at, own in ((nodes, node_at, 1), (words, word_at, 0)):
            before = np.cumsum(count[depth]) - count[depth]
            at.append(at[-1][level.parents] + own + before - before[eldest])
        trees.append(trees[-1][level.parents])
    return _Places(node_offsets, word_offsets, node_at, word_at, trees, first_child)


def _gather(offsets: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the items of the pieces ``order``, piece after piece."""
    sizes = np.diff(offsets)[order]
    return np.arange(sizes.sum()) + np.repeat(offsets[order] - (np.cumsum(sizes) - sizes), sizes)


def join(parts: list[Drawn]) -> Drawn:
    """Put batches one after another."""
    shifts = np.cumsum([0] + [int(part.trees.offsets[-1]) for part in parts])
    offsets = [part.trees.offsets[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    trees = [part.trees for part in parts]
    arcs = [part.dependencies for part in parts]
    return Drawn(
        Trees(
            np.concatenate([np.zeros(1, np.int64), *offsets]),
            np.concatenate([t.symbols for t in trees]),
            np.concatenate([t.states for t in trees]),
            np.concatenate([t.parents for t in trees]),
            np.concatenate([t.words for t in trees]),
            np.concatenate([t.rules for t in trees]),
        ),
        Dependencies(
            np.concatenate([a.heads for a in arcs]), np.concatenate([a.labels for a in arcs])
        ),
        np.concatenate([part.lemmas for part in parts]),
        np.concatenate([part.upos for part in parts]),
    )


def _merge(one: Drawn, two: Drawn, order: NDArray[np.int64]) -> Drawn:
    """Take the trees ``order`` from two batches, the second numbered after the first."""
    both = join([one, two])
    nodes, words = _gather(both.trees.offsets, order), _gather(both.trees.word_offsets, order)
    sizes = np.diff(both.trees.offsets)[order]
    trees = both.trees
    return Drawn(
        Trees(
            np.concatenate([[0], np.cumsum(sizes)]),
            *(
                column[nodes]
                for column in (trees.symbols, trees.states, trees.parents, trees.words, trees.rules)
            ),
        ),
        Dependencies(both.dependencies.heads[words], both.dependencies.labels[words]),
        both.lemmas[words],
        both.upos[words],
    )
