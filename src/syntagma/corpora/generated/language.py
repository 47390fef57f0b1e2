"""A small notation for grammars with features, compiled into a `LatentGrammar`.

One rule a line: a weight, the left side with the feature values it needs, and its children::

    4 NP{num=sg,kind=person|group} -> DT:det JJ:amod NN^

``^`` marks the head child, ``:label`` is the relation of another child to it (``@k`` hangs the
child on child ``k`` instead, counted from 1). A state is one choice of values for the features of
its symbol. A child takes over the values of the features that it shares with its parent, draws the
others from the feature's prior, and obeys its own braces: ``num=sg`` sets a value, ``kind=a|b``
draws among some, ``kind=@table`` draws from a table that is indexed by a feature of the parent.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from syntagma.corpora.generated.grammar import Attachment, Emission, LatentGrammar, Rule

State = tuple[str, ...]
Weights = dict[str, float]
# the words of a tag in a state, each as (word, lemma) with its weight, and its universal tag
Words = tuple[dict[tuple[str, str], float], str]
Lexicon = Callable[[str, Mapping[str, str]], Words]
# what is known of one rule, by the state of its left side: its weight, its children's states, arcs
Rows = dict[State, tuple[float, list[dict[State, float]], Attachment]]

_NODE = re.compile(
    r"(?P<symbol>[^\s{^@:]+)(?:\{(?P<features>[^}]*)\})?(?P<head>\^)?"
    r"(?::(?P<label>[^\s@]+))?(?:@(?P<to>\d+))?"
)


@dataclass(frozen=True)
class Language:
    """What the notation speaks about: the features of each symbol and how their values are drawn.

    ``features[symbol][feature]`` lists the values; ``tables[name]`` is a feature of the parent and
    the weights for each of its values.
    """

    features: dict[str, dict[str, list[str]]]
    priors: dict[str, Weights]
    tables: dict[str, tuple[str, dict[str, Weights]]]
    lexicon: Lexicon


@dataclass(frozen=True)
class _Child:
    symbol: str
    features: dict[str, str]


@dataclass(frozen=True)
class _Line:
    text: str
    weight: float
    left: str
    needs: dict[str, list[str]]
    children: tuple[_Child, ...]
    attachment: Attachment

    @property
    def skeleton(self) -> tuple[str, ...]:
        """The rule without its states."""
        return (self.left, *(child.symbol for child in self.children))

    def applies(self, state: Mapping[str, str]) -> bool:
        """Tell whether a state of the left side may use the rule."""
        return all(state[feature] in values for feature, values in self.needs.items())


def compile_language(rules: str, language: Language) -> LatentGrammar:
    """Make the grammar of all states that can be reached; the first rule's left side starts."""
    lines = [_parse(line) for line in rules.splitlines() if line.strip() and line.strip()[0] != "#"]
    by_left: dict[str, list[_Line]] = {}
    for line in lines:
        by_left.setdefault(line.left, []).append(line)
    top = lines[0].left
    reached: dict[str, dict[State, int]] = {top: {}}
    expansions: dict[tuple[str, ...], Rows] = {}
    words: dict[str, dict[State, Words]] = {}
    agenda = [(top, state) for state in _all_states(top, language)]
    while agenda:
        symbol, state = agenda.pop(0)
        known = reached.setdefault(symbol, {})
        if state in known:
            continue
        known[state] = len(known)
        values = dict(zip(language.features.get(symbol, {}), state, strict=True))
        if symbol not in by_left:
            words.setdefault(symbol, {})[state] = language.lexicon(symbol, values)
            continue
        usable = [line for line in by_left[symbol] if line.applies(values)]
        if not usable:
            raise ValueError(f"no rule expands {symbol}{values}")
        total = sum(line.weight for line in usable)
        for line in usable:
            children = [_child_states(child, values, language, line) for child in line.children]
            rows = expansions.setdefault(line.skeleton, {})
            if state in rows:
                raise ValueError(f"{line.text!r}: another rule with these symbols fits {values}")
            rows[state] = (line.weight / total, children, line.attachment)
            for child, distribution in zip(line.children, children, strict=True):
                agenda += [(child.symbol, reachable) for reachable in distribution]
    return _assemble(reached, expansions, words, language)


def _all_states(symbol: str, language: Language) -> list[State]:
    return list(itertools.product(*language.features.get(symbol, {}).values()))


def _braces(text: str | None) -> dict[str, str]:
    pairs = (item.split("=") for item in (text or "").split(",") if item)
    return {feature.strip(): value.strip() for feature, value in pairs}


def _parse(text: str) -> _Line:
    weight, left, arrow, *right = text.split()
    nodes = [_NODE.fullmatch(node) for node in [left, *right]]
    if arrow != "->" or not all(nodes) or not right:
        raise ValueError(f"{text!r}: expected 'weight LEFT -> CHILD ...'")
    first, *rest = [node for node in nodes if node]
    heads = [k for k, node in enumerate(rest) if node["head"]] or [0]
    if len(heads) > 1 or (len(rest) > 1 and not any(node["head"] for node in rest)):
        raise ValueError(f"{text!r}: expected one head, marked ^")
    head = heads[0]
    to = tuple(
        k if k == head else int(node["to"]) - 1 if node["to"] else head
        for k, node in enumerate(rest)
    )
    labels = tuple(node["label"] or "dep" for node in rest)
    return _Line(
        text.strip(),
        float(weight),
        first["symbol"],
        {feature: value.split("|") for feature, value in _braces(first["features"]).items()},
        tuple(_Child(node["symbol"], _braces(node["features"])) for node in rest),
        Attachment(head, to, labels),
    )


def _child_states(
    child: _Child, parent: Mapping[str, str], language: Language, line: _Line
) -> dict[State, float]:
    """Distribution of a child's state: its features are drawn independently of one another."""
    choices: list[list[tuple[str, float]]] = []
    features = language.features.get(child.symbol, {})
    if strange := set(child.features) - set(features):
        raise ValueError(f"{line.text!r}: {child.symbol} has no feature {sorted(strange)}")
    for feature, domain in features.items():
        asked = child.features.get(feature)
        weights: Weights
        if asked is None and parent.get(feature) in domain:
            weights = {parent[feature]: 1.0}
        elif asked is None:
            weights = language.priors[feature]
        elif asked.startswith("@"):
            key, rows = language.tables[asked[1:]]
            weights = rows[parent[key]]
        else:
            values = asked.split("|")
            prior = language.priors.get(feature, {})
            weights = {value: prior.get(value, 1.0) if values[1:] else 1.0 for value in values}
        weights = {value: weight for value, weight in weights.items() if value in domain}
        if not weights:
            raise ValueError(
                f"{line.text!r}: no value of {feature} suits {child.symbol} in {parent}"
            )
        total = sum(weights.values())
        choices.append([(value, weight / total) for value, weight in weights.items()])
    return {
        tuple(value for value, _ in combination): float(np.prod([p for _, p in combination]))
        for combination in itertools.product(*choices)
    }


def _assemble(
    reached: dict[str, dict[State, int]],
    expansions: dict[tuple[str, ...], Rows],
    words: dict[str, dict[State, Words]],
    language: Language,
) -> LatentGrammar:
    """Number symbols, states and words, and fill the matrices."""
    symbols = list(reached)
    number = {symbol: i for i, symbol in enumerate(symbols)}
    names = [
        [_name(language.features.get(symbol, {}), state) for state in reached[symbol]]
        for symbol in symbols
    ]
    rules = []
    for (left, *right), rows in expansions.items():
        size = len(reached[left])
        probability = np.zeros(size)
        children = [np.zeros((size, len(reached[symbol]))) for symbol in right]
        attachments: list[Attachment | None] = [None] * size
        for state, (weight, distributions, attachment) in rows.items():
            row = reached[left][state]
            probability[row], attachments[row] = weight, attachment
            for symbol, matrix, distribution in zip(right, children, distributions, strict=True):
                for child, share in distribution.items():
                    matrix[row, reached[symbol][child]] = share
        rules.append(
            Rule(
                number[left],
                tuple(number[symbol] for symbol in right),
                probability,
                tuple(children),
                tuple(attachments),
            )
        )
    vocabulary: dict[str, int] = {}
    emissions = {}
    for tag, by_state in words.items():
        # one spelling has one lemma within a tag: the lemma of the state that was met first
        lemmas: dict[str, str] = {}
        for entries, _ in by_state.values():
            for word, lemma in entries:
                lemmas.setdefault(word, lemma)
        column = {word: i for i, word in enumerate(lemmas)}
        probability = np.zeros((len(by_state), len(column)))
        for row, (entries, _) in enumerate(by_state.values()):
            for (word, _), weight in entries.items():
                probability[row, column[word]] += weight
        probability /= probability.sum(axis=1, keepdims=True)
        numbers = np.array([vocabulary.setdefault(word, len(vocabulary)) for word in lemmas])
        emissions[number[tag]] = Emission(
            numbers.astype(np.int32),
            probability,
            tuple(lemmas.values()),
            tuple(upos for _, upos in by_state.values()),
        )
    start = np.full(len(names[0]), 1.0 / len(names[0]))
    return LatentGrammar(symbols, names, start, rules, emissions, list(vocabulary))


def _name(features: Mapping[str, list[str]], state: State) -> str:
    return ",".join(f"{feature}={value}" for feature, value in zip(features, state, strict=True))
