"""Linear chains against enumeration, and where scaled probabilities would go wrong."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from contracts import StructureContract
from naive.chain import expectations as naive_expectations
from naive.chain import long_expectations as naive_long_expectations
from naive.chain import sequences
from syntagma.structures.chain import Chain, expectations
from syntagma.structures.exponential import exponentiate


class ChainLaws(StructureContract):
    """What the four ways to give a chain's potentials have in common."""

    size = 3
    triples: int | None = None  # axes of the triples, if there are any
    pairs = 2
    largest = 4

    def build(self, rng, sizes, scale, forbid):
        words, size = sum(sizes), self.size

        def potentials(shape):
            values = rng.normal(size=shape) * scale
            values[rng.random(shape) < forbid] = -np.inf
            return values

        def table(axes, order):
            return potentials(((words,) if axes > order + 1 else ()) + (size,) * (order + 1))

        triples = None if self.triples is None else table(self.triples, 2)
        return Chain(
            potentials((words, size)),
            table(self.pairs, 1),
            np.cumsum([0, *sizes]),
            triples,
        )

    def rebuild(self, structure, potentials):
        labels, pairs, *triples = potentials
        return Chain(labels, pairs, structure.offsets, *triples)

    def permute(self, structure, order):
        offsets = structure.offsets
        words = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in order]).astype(int)
        tables = [
            table[words] if table.ndim > n + 1 or n == 0 else table
            for n, table in enumerate(structure.potentials)
        ]
        sizes = np.diff(offsets)[order]
        return Chain(tables[0], tables[1], np.cumsum([0, *sizes]), *tables[2:])

    def outcomes(self, structure, sentence):
        for sequence, score in sequences(*sentence_tables(structure, sentence)):
            if score > -np.inf:
                yield sequence, score


def sentence_tables(chain: Chain, sentence: int) -> list[np.ndarray]:
    words = slice(chain.offsets[sentence], chain.offsets[sentence + 1])
    return [
        table[words] if table.ndim > n + 1 or n == 0 else table
        for n, table in enumerate(chain.potentials)
    ]


class TestFirstOrderShared(ChainLaws):
    largest = 5


class TestFirstOrderByWord(ChainLaws):
    pairs = 3


class TestSecondOrderShared(ChainLaws):
    triples = 3


class TestSecondOrderByWord(ChainLaws):
    pairs = 3
    triples = 4


def trap(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Potentials under which scaled sums lose the part that decides in the end."""
    labels = np.zeros((60, 4))
    pairs = np.zeros((4, 4))
    pairs[:2, 2:] = pairs[2:, :2] = -np.inf  # two blocks that never meet
    pairs[0, 1] = 0.5
    if kind == "one block dies":
        labels[:40, 2:] = -30.0
        labels[50, :2] = -np.inf
    elif kind == "one block fades":
        labels[:30, 2:] = -40.0
        labels[30:, :2] = -41.0
    elif kind == "lost from both ends":
        labels[:20, 2:] = labels[40:, 2:] = -40.0
        labels[20:40, :2] = -81.0
    elif kind == "forbidden softly":
        pairs[np.isneginf(pairs)] = -1e4
        labels[10, :2] = -np.inf
        labels[20, 2:] = -np.inf
    elif kind == "one word decides":
        labels[30, 1:] = -2000.0
        pairs[:, 0] = -3000.0
    return labels, pairs


@pytest.mark.parametrize(
    "kind",
    [
        "one block dies",
        "one block fades",
        "lost from both ends",
        "forbidden softly",
        "one word decides",
    ],
)
def test_parts_that_underflow_and_matter_later_are_kept(kind):
    labels, pairs = trap(kind)
    chain = Chain(np.tile(labels, (2, 1)), pairs, [0, 60, 120])
    log_partition, parts = naive_long_expectations(labels, pairs)
    found = chain.marginals()
    np.testing.assert_allclose(found.log_partition, log_partition, rtol=1e-12)
    np.testing.assert_allclose(chain.log_partition(), log_partition, rtol=1e-12)
    np.testing.assert_allclose(found.parts[0], np.tile(parts[0], (2, 1)), atol=1e-10)
    np.testing.assert_allclose(found.parts[1], 2 * parts[1], atol=1e-9)
    samples = chain.sample(3, seed=1)
    assert all(np.isfinite(chain.score(sample)).all() for sample in samples)
    assert (samples[0, :60] != samples[0, 60:]).any()


def test_an_impossible_sentence_leaves_the_others_alone():
    labels = np.array([[0.0, 1.0], [2.0, 0.5], [-np.inf, -np.inf], [1.0, 0.0], [0.0, 0.0]])
    pairs = np.array([[0.0, 0.3], [-0.2, 0.1]])
    offsets = [0, 2, 2, 5]
    chain = Chain(labels, pairs, offsets)
    log_partition, parts = naive_expectations(labels[:2], pairs)
    found = chain.marginals()
    np.testing.assert_allclose(found.log_partition, [log_partition, 0.0, -np.inf])
    np.testing.assert_allclose(found.parts[0], [*parts[0], [0, 0], [0, 0], [0, 0]])
    np.testing.assert_allclose(found.parts[1], parts[1])
    assert chain.argmax().outcome[2:].tolist() == [-1, -1, -1]
    assert (chain.sample(2)[:, 2:] == -1).all()
    assert chain.entropy()[2] == 0.0
    assert chain.score(chain.argmax().outcome)[2] == -np.inf


@pytest.mark.parametrize("kept", [2, 9])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("by_word", [False, True])
def test_expectations_with_more_labels_than_a_vector_holds(kept, second, by_word):
    rng = np.random.default_rng(kept)
    size, words = 9, 5 if kept == 2 else 3
    labels = rng.normal(size=(2 * words, size))
    labels[rng.permuted(np.tile(np.arange(size), (2 * words, 1)), axis=1) >= kept] = -np.inf
    lead = (2 * words,) if by_word else ()
    pairs = rng.normal(size=(*lead, size, size))
    triples = rng.normal(size=(*lead, size, size, size)) if second else None
    chain = Chain(labels, pairs, [0, words, 2 * words], triples)
    found = expectations(labels, pairs, chain.offsets, triples)
    expected = [naive_expectations(*sentence_tables(chain, s)) for s in (0, 1)]
    np.testing.assert_allclose(found.log_partition, [e[0] for e in expected])
    for n, part in enumerate(found.parts):
        one, two = expected[0][1][n], expected[1][1][n]
        joined = np.concatenate([one, two]) if by_word or n == 0 else one + two
        np.testing.assert_allclose(part, joined, atol=1e-12)


@pytest.mark.parametrize("second", [False, True])
def test_expectations_reuse_their_arrays_and_ignore_threads(second):
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 40, size=60)
    offsets = np.cumsum([0, *sizes])
    labels, pairs = rng.normal(size=(offsets[-1], 5)), rng.normal(size=(5, 5))
    triples = rng.normal(size=(5, 5, 5)) if second else None
    first = expectations(labels, pairs, offsets, triples)
    copies = [part.copy() for part in first.parts]
    assert len(Chain(labels, pairs, offsets, triples)._chunks()) > 4
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        again = expectations(labels, pairs, offsets, triples, out=first.parts)
    finally:
        numba.set_num_threads(threads)
    assert all(one is two for one, two in zip(first.parts, again.parts, strict=True))
    for copy, part in zip(copies, again.parts, strict=True):
        np.testing.assert_array_equal(copy, part)
    np.testing.assert_array_equal(first.log_partition, again.log_partition)
    np.testing.assert_allclose(again.parts[1].sum(), (sizes - 1).sum())


def test_more_sequences_wanted_than_there_are():
    chain = Chain(np.zeros((3, 2)), [[0.0, 0.0], [0.0, -np.inf]], [0, 3])
    score, outcome = chain.kbest(300)
    assert np.isfinite(score[0]).sum() == 5  # no two ones in a row
    assert len({tuple(row) for row in outcome[:5].tolist()}) == 5
    assert (outcome[5:] == -1).all()
    with pytest.raises(ValueError, match="at least 1"):
        chain.kbest(0)


@pytest.mark.parametrize("triples", [None, np.zeros((3, 3, 3))])
def test_ties_are_always_broken_the_same_way(triples):
    offsets = np.array([0, 6, 12])
    chain = Chain(np.zeros((12, 3)), np.zeros((3, 3)), offsets, triples)
    score, outcome = chain.kbest(200)
    assert (score == 0.0).all()
    np.testing.assert_array_equal(outcome[:, :6], outcome[:, 6:])
    np.testing.assert_array_equal(outcome[0], chain.argmax().outcome)
    assert len(np.unique(outcome[:, :6], axis=0)) == 200


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match="pairs: expected"):
        Chain(np.zeros((3, 2)), np.zeros((3, 3)), [0, 3])
    with pytest.raises(ValueError, match="triples: expected"):
        Chain(np.zeros((3, 2)), np.zeros((2, 2)), [0, 3], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="at least one label"):
        Chain(np.zeros((3, 0)), np.zeros((0, 0)), [0, 3])


def test_the_exponential_is_right_to_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(-708, 709, 50_000), rng.normal(size=50_000), [0.0]])
    found, expected = np.empty(len(values)), np.exp(values)
    exponentiate(values, found)
    assert (np.abs(found - expected) <= 2 * np.spacing(expected)).all()
    assert found[-1] == 1.0
    tiny = np.array([-np.inf, -1e308, -709.0])
    exponentiate(tiny, tiny)
    assert (tiny == 0.0).all()
