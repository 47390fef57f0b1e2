from __future__ import annotations

import doctest
import hashlib
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from naive.grammar import log_probability
from syntagma.corpora.brackets import Brackets
from syntagma.corpora.generated import (
    Emission,
    LatentGrammar,
    Rule,
    Sampler,
    english,
    english_grammar,
    hmm_sequences,
    random_grammar,
)
from syntagma.corpora.generated.language import Language, compile_language

FINGERPRINT = (
    "import hashlib; from syntagma.corpora.generated import english; c = english(1200, 3);"
)
FINGERPRINT += "print(hashlib.sha256(repr((c.treebank.forms.strings(), c.treebank.heads.tolist(),"
FINGERPRINT += "c.brackets, c.states.tolist())).encode()).hexdigest())"


@pytest.fixture(scope="module")
def corpus():
    return english(3000, seed=5)


@pytest.fixture(scope="module")
def unbounded():
    return english(20_000, seed=8, max_length=None)


# ---- the same seed, the same text ---------------------------------------------------------------
def test_a_seed_is_a_text_whatever_the_hash_seed():
    texts = [
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert len(texts[0].strip()) == len(hashlib.sha256().hexdigest())


def test_the_page_shows_what_is_generated():
    page = Path(__file__).parents[2] / "docs" / "generated.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0


def test_a_smaller_sample_begins_a_larger_one(corpus):
    small = english(1100, seed=5)
    words = small.treebank.words
    assert small.treebank.forms.strings() == corpus.treebank.forms.strings()[:words]
    assert (small.treebank.heads == corpus.treebank.heads[:words]).all()
    assert small.brackets == corpus.brackets[:1100]
    assert (small.states == corpus.states[: len(small.states)]).all()
    assert small.treebank.labels.strings() == corpus.treebank.labels.strings()[:words]
    other = english(50, seed=6).treebank.forms.strings()
    assert other != corpus.treebank.forms.strings()[: len(other)]


@pytest.mark.parametrize("wrong", [{"sentences": 0}, {"sentences": 3, "max_length": 0}])
def test_impossible_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match="expected at least 1"):
        english(**wrong)


def test_lengths_that_no_tree_has_are_refused():
    grammar = random_grammar(symbols=1, tags=1, states=1, words=2, seed=0)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="no tree has at most 1 words"):
        Sampler(grammar).draw(3, rng, 1)
    with pytest.raises(ValueError, match="count: expected at least 1"):
        Sampler(grammar).draw(0, rng, None)
    lengths = np.diff(Sampler(grammar).draw(50, rng, 2).trees.word_offsets)
    assert lengths.tolist() == [2] * 50


# ---- trees --------------------------------------------------------------------------------------
def test_lengths_are_bounded(corpus, unbounded):
    lengths = corpus.treebank.lengths
    assert lengths.min() >= 1
    assert lengths.max() <= 60
    short = english(500, seed=5, max_length=9).treebank.lengths
    assert len(short) == 500
    assert short.max() <= 9
    expected = corpus.grammar.expected_length
    lengths = unbounded.treebank.lengths
    assert abs(lengths.mean() - expected) < 4 * lengths.std() / np.sqrt(len(lengths))
    assert 10 < expected < 14


def test_dependencies_are_projective_trees_with_one_root(corpus):
    for sentence in corpus.treebank:
        heads = sentence.heads
        assert heads.count(0) == 1
        assert [label == "root" for label in sentence.labels] == [head == 0 for head in heads]
        above = [0, *heads]
        for word, head in enumerate(heads, 1):
            steps, node = 0, word
            while node:
                node, steps = above[node], steps + 1
                assert steps <= len(heads), "a cycle"
            for between in range(min(word, head) + 1, max(word, head)):
                node = between
                while node and node != head:
                    node = above[node]
                assert node == head, "every word inside an arc hangs below its head"


def test_brackets_hold_the_words_and_are_read_back(corpus):
    parsed = Brackets.parse("\n".join(corpus.brackets))
    assert parsed.leaf_forms.strings() == corpus.treebank.forms.strings()
    assert parsed.leaf_tags.strings() == corpus.treebank.xpos.strings()
    for name in ("offsets", "leaf_offsets", "parents", "first", "last", "leaf_parents"):
        found = getattr(corpus.treebank.brackets, name)
        np.testing.assert_array_equal(found, getattr(parsed, name))
    assert parsed.labels.strings() == corpus.treebank.brackets.labels.strings()
    trees = corpus.grammar.trees(parsed)
    for name in ("offsets", "symbols", "parents", "words", "rules"):
        np.testing.assert_array_equal(getattr(trees, name), getattr(corpus.trees, name))


def test_every_word_is_its_tags_and_state(corpus):
    grammar, treebank = corpus.grammar, corpus.treebank
    assert len(corpus.word_states) == treebank.words
    assert (corpus.states >= 0).all()
    number = {symbol: i for i, symbol in enumerate(grammar.symbols)}
    xpos, upos = treebank.xpos.strings(), treebank.upos.strings()
    for tag, state, universal in zip(xpos, corpus.word_states.tolist(), upos, strict=True):
        assert grammar.emissions[number[tag]].upos[state] == universal
    assert set(xpos) >= {"NN", "NNS", "NNP", "VBD", "VBZ", "VBN", "MD", "PRP", "IN", "WP", "``"}
    assert len(set(upos)) == 15


# ---- English ------------------------------------------------------------------------------------
SINGULAR = {"a", "an", "this", "that", "every", "each", "another"}
SOUNDS_OTHERWISE = ("honest", "Uni", "uni", "used")
PLURAL = {"these", "those", "some", "all"}
NOUN_NUMBER = {"NN": "sg", "NNP": "sg", "NNS": "pl"}
PRONOUNS = {"sg": {"he", "she", "it"}, "pl": {"they", "we", "you"}}


def finite_number(form: str, tag: str) -> str | None:
    if tag == "VBZ" or form == "was":
        return "sg"
    return "pl" if tag == "VBP" or form == "were" else None


def subject_number(form: str, tag: str, conjoined: bool) -> str | None:
    if conjoined:
        return "pl"
    for number, pronouns in PRONOUNS.items():
        if tag == "PRP" and form in pronouns:
            return number
    return NOUN_NUMBER.get(tag)


def test_determiners_subjects_and_verbs_agree(corpus):
    checked = Counter()
    treebank = corpus.treebank
    tags = treebank.xpos.strings()
    for sentence, first in zip(treebank, treebank.offsets.tolist(), strict=False):
        forms = [form.lower() for form in sentence.forms]
        xpos = tags[first : first + len(forms)]
        children = {head: [] for head in range(len(forms) + 1)}
        for word, head in enumerate(sentence.heads):
            children[head].append(word)
        for word, (label, head) in enumerate(zip(sentence.labels, sentence.heads, strict=True)):
            if label == "det" and forms[word] in SINGULAR | PLURAL:
                assert (xpos[head - 1] == "NNS") == (forms[word] in PLURAL)
                checked["det"] += 1
            if label == "nummod":
                assert xpos[head - 1] == "NNS"
                checked["nummod"] += 1
            if label.startswith("nsubj"):
                conjoined = any(sentence.labels[c] == "conj" for c in children[word + 1])
                subject = subject_number(forms[word], xpos[word], conjoined)
                parts = [c for c in children[head] if sentence.labels[c][:3] in ("aux", "cop")]
                verb = min([head - 1, *parts])
                number = finite_number(forms[verb], xpos[verb])
                if subject and number:
                    assert subject == number, sentence.text
                    checked["subject"] += 1
    assert min(checked[rule] for rule in ("det", "nummod", "subject")) > 100


def test_spelling(corpus):
    for sentence in corpus.treebank:
        start = next(form for form in sentence.forms if form != '"')
        assert start[0] == start[0].upper()
        for form, after in itertools.pairwise(sentence.forms):
            if form.lower() in ("a", "an") and not after.startswith(SOUNDS_OTHERWISE):
                assert (form.lower() == "an") == (after[0].lower() in "aeiou"), (form, after)


def test_words_are_ambiguous_and_some_are_unknown(corpus):
    tags: dict[str, set[str]] = {}
    pairs = zip(corpus.treebank.forms.strings(), corpus.treebank.upos.strings(), strict=True)
    for form, tag in pairs:
        tags.setdefault(form.lower(), set()).add(tag)
    assert tags["that"] == {"DET", "SCONJ", "PRON"}
    assert {"NOUN", "VERB"} <= tags["plan"]
    ambiguous = sum(len(tags[form.lower()]) > 1 for form in corpus.treebank.forms.strings())
    assert ambiguous > 0.1 * corpus.treebank.words
    for train in (1000, 3000):
        known = set(corpus.treebank[:train].forms.used().names)
        dev = english(1000, seed=6).treebank.forms.strings()
        assert 0.02 < np.mean([form not in known for form in dev]) < 0.10


def test_states_carry_information(corpus):
    """Nouns of one latent state share their words, and hardly any with the others."""
    grammar = corpus.grammar
    emission = grammar.emissions[grammar.symbols.index("NN")]
    overlap = np.minimum(emission.probability[:, None], emission.probability[None]).sum(axis=2)
    assert overlap[~np.eye(len(overlap), dtype=bool)].max() < 0.3


# ---- the truth is the truth ---------------------------------------------------------------------
def within(counts: np.ndarray, probability: np.ndarray) -> list[float]:
    """Standard errors of each count that is expected often enough for the normal law."""
    total = counts.sum()
    assert (counts[probability == 0] == 0).all()
    usual = (probability * total >= 10) & ((1 - probability) * total >= 10)
    p = probability[usual]
    return ((counts[usual] - p * total) / np.sqrt(p * (1 - p) * total)).tolist()


def check_frequencies(grammar, trees):
    """Rules, states of children and words are as frequent as the parameters say."""
    errors = []
    parents = trees.global_parents()
    siblings = np.argsort(parents, kind="stable")
    first_child = np.searchsorted(parents[siblings], np.arange(len(parents)))
    for symbol, states in enumerate(grammar.states):
        for state in range(len(states)):
            nodes = np.flatnonzero((trees.symbols == symbol) & (trees.states == state))
            if symbol in grammar.emissions:
                emission = grammar.emissions[symbol]
                counts = np.bincount(trees.words[nodes], minlength=len(grammar.vocabulary))
                errors += within(counts[emission.words], emission.probability[state])
                assert counts.sum() == counts[emission.words].sum()
                continue
            counts = np.bincount(trees.rules[nodes], minlength=len(grammar.rules))
            probability = np.array(
                [rule.probability[state] if rule.left == symbol else 0 for rule in grammar.rules]
            )
            np.testing.assert_allclose(probability.sum(), 1)
            errors += within(counts, probability)
            for number in np.flatnonzero(counts):
                rule, using = grammar.rules[number], nodes[trees.rules[nodes] == number]
                for k, child in enumerate(rule.children):
                    below = trees.states[siblings[first_child[using] + k]]
                    errors += within(np.bincount(below, minlength=child.shape[1]), child[state])
    errors = np.array(errors)
    assert len(errors) > 100
    # 6 in 100,000 lie beyond 4 standard errors
    assert (np.abs(errors) > 4).sum() <= 2 + 1e-4 * len(errors)
    # squared standard errors: mean 1, variance about 2 each
    assert abs((errors**2).mean() - 1) < 4 * np.sqrt(2 / len(errors))


def test_english_has_the_frequencies_of_its_grammar(unbounded):
    check_frequencies(unbounded.grammar, unbounded.trees)


def test_a_random_grammar_has_its_own_frequencies():
    grammar = random_grammar(symbols=2, tags=3, states=3, words=6, seed=1)
    drawn = Sampler(grammar).draw(20_000, np.random.default_rng(2), None)
    check_frequencies(grammar, drawn.trees)


def test_expected_tags_are_those_of_a_large_sample(unbounded):
    shares = unbounded.grammar.expected_tags()
    assert abs(sum(shares.values()) - 1) < 1e-12
    lengths, offsets = unbounded.treebank.lengths, unbounded.treebank.offsets
    for tag, share in shares.items():
        xpos = unbounded.treebank.xpos
        mine = np.append(0, np.cumsum(xpos.ids == xpos.names.index(tag)))
        # a ratio of means: the error of count - share * length, over the sentences
        rest = mine[offsets[1:]] - mine[offsets[:-1]] - share * lengths
        assert abs(rest.mean()) < 4.5 * rest.std() / np.sqrt(len(rest)), tag


def test_the_grammar_ends_its_trees():
    assert english_grammar().spectral_radius < 0.9
    endless = Rule(0, (0, 0), np.array([0.7]), (np.eye(1), np.eye(1)), (None,))
    ends = Rule(0, (1,), np.array([0.3]), (np.eye(1),), (None,))
    words = {1: Emission(np.array([0], np.int32), np.eye(1), ("x",), ("X",))}
    with pytest.raises(ValueError, match="without bound"):
        LatentGrammar(["X", "T"], [["0"], ["0"]], np.ones(1), [endless, ends], words, ["x"])


# ---- probabilities of trees ---------------------------------------------------------------------
@pytest.mark.parametrize("states", [1, 2, 3])
def test_log_probability_is_the_sum_over_states(states):
    grammar = random_grammar(symbols=2, tags=2, states=states, words=5, seed=states)
    drawn = Sampler(grammar).draw(60, np.random.default_rng(states), 4)
    found = grammar.log_probability(drawn.trees)
    small = np.flatnonzero(np.diff(drawn.trees.offsets) <= 7)
    assert len(small) > 20
    expected = [log_probability(grammar, drawn.trees, tree) for tree in small]
    np.testing.assert_allclose(found[small], expected, rtol=1e-12)


def test_log_probability_of_brackets_and_of_trees_is_the_same(corpus):
    found = corpus.grammar.log_probability(corpus.treebank.brackets)
    np.testing.assert_allclose(found, corpus.grammar.log_probability(corpus.trees), rtol=1e-12)
    assert np.isfinite(found).all()
    assert (found < 0).all()


def test_trees_of_two_words_have_all_their_probability():
    grammar = random_grammar(symbols=1, tags=2, states=2, words=3, seed=4)
    everything = [
        f"(X0 (T{a} w{x}) (T{b} w{y}))"
        for a, b, x, y in itertools.product(range(2), range(2), range(3), range(3))
    ]
    total = np.exp(grammar.log_probability(Brackets.parse("\n".join(everything)))).sum()
    flat = sum(rule.probability for rule in grammar.rules if 0 not in rule.right)
    np.testing.assert_allclose(total, grammar.start @ flat, rtol=1e-12)


def test_what_the_grammar_does_not_have_is_impossible():
    grammar = random_grammar(seed=4)
    lines = [
        "(X0 (T0 w1) (T1 w2))",
        "(X0 (T0 w1) (T1 strange))",
        "(X0 (T0 w1) (T9 w2))",
        "(X0 (X9 (T0 w1)) (T1 w2))",
        "(X0 (T0 w1) (T1 w2) (T1 w2))",
        "(X1 (T0 w1) (T1 w2))",
        "( (X0 (T0 w1) (T1 w2)))",
    ]
    found = grammar.log_probability(Brackets.parse("\n".join(lines)))
    assert np.isfinite(found).tolist() == [True] + [False] * 6
    assert (found[1:] == -np.inf).all()


# ---- the notation -------------------------------------------------------------------------------
def small_language() -> Language:
    features = {"A": {"n": ["one", "two"]}, "B": {"n": ["one", "two"]}}
    words = {"one": {("b", "b"): 1.0}, "two": {("bb", "b"): 3.0, ("bbb", "b"): 1.0}}
    return Language(
        features,
        {"n": {"one": 1.0, "two": 3.0}},
        {"flip": ("n", {"one": {"two": 1.0}, "two": {"one": 1.0}})},
        lambda tag, state: (words[state["n"]], "X"),
    )


def test_the_notation_copies_draws_and_looks_up():
    rules = "1 S -> A^\n3 A -> B^ B{n=@flip}:dep\n1 A{n=two} -> B{n=one|two}^"
    grammar = compile_language(rules, small_language())
    found = grammar.log_probability(
        Brackets.parse(
            "(S (A (B b) (B bb)))\n(S (A (B b)))\n(S (A (B bbb) (B b)))\n(S (A (B b) (B b)))"
        )
    )
    expected = [0.25 * 0.75, 0.75 * 0.25 * 0.25, 0.75 * 0.75 * 0.25, 0]
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("1 S -> A^\n1 A{n=one} -> B^", "no rule expands A"),
        ("1 S -> A^\n1 A -> B^\n2 A{n=one} -> B{n=two}^", "another rule with these symbols"),
        ("1 S -> A B", "expected one head"),
        ("1 S => A^", "expected 'weight LEFT -> CHILD ...'"),
        ("1 S -> A{m=one}^", "has no feature"),
        ("1 S -> A{n=three}^", "no value of n suits"),
    ],
)
def test_mistakes_in_rules_are_named(rules, message):
    with pytest.raises(ValueError, match=message):
        compile_language(rules, small_language())


# ---- hidden Markov sequences --------------------------------------------------------------------
def test_hmm_sequences_follow_their_parameters():
    drawn = hmm_sequences(states=5, symbols=50, sequences=20_000, length=10, seed=3)
    assert drawn.symbols.shape == drawn.states.shape == (20_000, 10)
    assert drawn.symbols.dtype == np.int32
    assert drawn.offsets[-1] == drawn.symbols.size
    errors = within(np.bincount(drawn.states[:, 0], minlength=5), drawn.start)
    for state in range(5):
        here = drawn.states == state
        following = drawn.states[:, 1:][here[:, :-1]]
        errors += within(np.bincount(following, minlength=5), drawn.transitions[state])
        seen = np.bincount(drawn.symbols[here], minlength=50)
        errors += within(seen, drawn.emissions[state])
    assert np.abs(errors).max() < 4
    for matrix in (drawn.transitions, drawn.emissions):
        np.testing.assert_allclose(matrix.sum(axis=1), 1)
        assert np.linalg.svd(matrix, compute_uv=False).min() > 0.05
    again = hmm_sequences(states=5, symbols=50, sequences=20_000, length=10, seed=3)
    assert (again.symbols == drawn.symbols).all()
    with pytest.raises(ValueError, match="length: expected at least 1"):
        hmm_sequences(2, 3, 4, 0)
