"""Laws that every structure and every model inherits.

A test class for a structure derives from `StructureContract` and says how to build a random batch
and how to enumerate the outcomes of one sentence by brute force; every law below then holds for it
or the test fails. Enumeration comes from `tests/naive.py`, never from the code under test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syntagma.errors import ModelFileError, NotFittedError
from syntagma.models import load as load_any
from syntagma.structures.base import Structure
from syntagma.training.storage import write_arrays

PROPERTY = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=5)


class StructureContract:
    """What a structure promises, checked against enumeration, derivatives and samples."""

    largest = 5  # words in the longest sentence that is enumerated

    # ---- what a structure's own test supplies -------------------------------------------------
    def build(
        self, rng: np.random.Generator, sizes: Sequence[int], scale: float, forbid: float
    ) -> Structure:
        """Make a batch: potentials normal with this scale, a share `forbid` of them -inf."""
        raise NotImplementedError

    def rebuild(self, structure: Structure, potentials: tuple[np.ndarray, ...]) -> Structure:
        """Make the same batch again with other potentials."""
        raise NotImplementedError

    def permute(self, structure: Structure, order: Sequence[int]) -> Structure:
        """Make the same batch with its sentences in another order."""
        raise NotImplementedError

    def outcomes(
        self, structure: Structure, sentence: int
    ) -> Iterable[tuple[tuple[int, ...], float]]:
        """Enumerate one sentence: every possible outcome with its score (finite ones only)."""
        raise NotImplementedError

    # ---- helpers ------------------------------------------------------------------------------
    def enumerated(self, structure: Structure, sentence: int) -> tuple[np.ndarray, np.ndarray]:
        pairs = list(self.outcomes(structure, sentence))
        words = int(structure.offsets[sentence + 1] - structure.offsets[sentence])
        outcomes = np.array([o for o, _ in pairs], dtype=np.int32).reshape(len(pairs), words)
        scores = np.array([s for _, s in pairs], dtype=np.float64)
        order = np.argsort(-scores, kind="stable")
        return outcomes[order], scores[order]

    @staticmethod
    def log_sum(scores: np.ndarray) -> float:
        if not len(scores):
            return -np.inf
        top = scores.max()
        return float(top + np.log(np.exp(scores - top).sum()))

    # ---- the laws -----------------------------------------------------------------------------
    @PROPERTY
    @given(
        seed=SEEDS,
        sizes=SIZES,
        scale=st.sampled_from([0.0, 1.0, 30.0, 1e4]),
        forbid=st.sampled_from([0.0, 0.2, 0.6]),
    )
    def test_agrees_with_enumeration(self, seed, sizes, scale, forbid):
        sizes = [min(size, self.largest) for size in sizes]
        structure = self.build(np.random.default_rng(seed), sizes, scale, forbid)
        self.check_by_enumeration(structure, sizes, scale)

    @pytest.mark.parametrize("scale", [1.0, 1e4])
    @pytest.mark.parametrize("forbid", [0.0, 0.4])
    def test_sentences_of_six_words_agree_with_enumeration(self, scale, forbid):
        structure = self.build(np.random.default_rng(6), [6, 6], scale, forbid)
        self.check_by_enumeration(structure, [6, 6], scale)

    def check_by_enumeration(
        self, structure: Structure, sizes: Sequence[int], scale: float
    ) -> None:
        """Compare every query with what the list of all outcomes says."""
        log_partition = structure.log_partition()
        best = structure.argmax()
        kbest = structure.kbest(4)
        entropy = structure.entropy()
        marginals = structure.marginals()
        np.testing.assert_allclose(marginals.log_partition, log_partition, rtol=1e-10, atol=1e-10)
        tolerance = dict(rtol=1e-10, atol=1e-9 * max(1.0, scale))
        for s in range(len(sizes)):
            words = slice(structure.offsets[s], structure.offsets[s + 1])
            outcomes, scores = self.enumerated(structure, s)
            assert len(np.unique(outcomes, axis=0)) == len(outcomes)
            np.testing.assert_allclose(log_partition[s], self.log_sum(scores), **tolerance)
            found = kbest.score[s][np.isfinite(kbest.score[s])]
            assert len(found) == min(4, len(scores))
            np.testing.assert_allclose(found, scores[: len(found)], **tolerance)
            known = {tuple(o): x for o, x in zip(outcomes.tolist(), scores, strict=True)}
            seen = set()
            for rank in range(4):
                outcome = tuple(kbest.outcome[rank, words].tolist())
                if rank < len(found):
                    seen.add(outcome)
                    np.testing.assert_allclose(known[outcome], found[rank], **tolerance)
                else:
                    assert set(outcome) <= {-1}
            assert len(seen) == len(found), "the k best outcomes are distinct"
            assert best.outcome[words].tolist() == kbest.outcome[0, words].tolist()
            if len(scores):
                np.testing.assert_allclose(best.score[s], scores[0], **tolerance)
                p = np.exp(scores - self.log_sum(scores))
                expected = -(p[p > 0] * np.log(p[p > 0])).sum()
                np.testing.assert_allclose(entropy[s], expected, atol=1e-8 * max(1.0, scale))
            else:
                assert best.score[s] == -np.inf
                assert entropy[s] == 0.0
        assert not np.isnan(np.concatenate([part.ravel() for part in marginals.parts])).any()

    @PROPERTY
    @given(seed=SEEDS, sizes=SIZES, forbid=st.sampled_from([0.0, 0.3]))
    def test_marginals_are_derivatives(self, seed, sizes, forbid):
        rng = np.random.default_rng(seed)
        structure = self.build(rng, [min(size, self.largest) for size in sizes], 1.0, forbid)
        marginals = structure.marginals()
        live = np.isfinite(marginals.log_partition)
        for k, (potential, part) in enumerate(
            zip(structure.potentials, marginals.parts, strict=True)
        ):
            assert part.shape == potential.shape
            assert (part >= -1e-12).all()
            usable = np.flatnonzero(np.isfinite(potential.ravel()))
            assert (part.ravel()[np.isneginf(potential.ravel())] == 0).all()
            for index in rng.choice(usable, min(4, len(usable)), replace=False):
                ends = []
                for step in (1e-5, -1e-5):
                    moved = [p.copy() for p in structure.potentials]
                    moved[k].ravel()[index] += step
                    ends.append(self.rebuild(structure, tuple(moved)).log_partition()[live].sum())
                slope = (ends[0] - ends[1]) / 2e-5
                np.testing.assert_allclose(part.ravel()[index], slope, rtol=1e-5, atol=1e-6)

    @PROPERTY
    @given(seed=SEEDS, scale=st.sampled_from([1.0, 30.0]))
    def test_order_and_threads_change_nothing(self, seed, scale):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(0, 12, size=9).tolist()
        structure = self.build(rng, sizes, scale, 0.1)
        order = rng.permutation(len(sizes))
        permuted = self.permute(structure, order)
        before = numba.get_num_threads()
        results = []
        try:
            for threads in (1, before):
                numba.set_num_threads(threads)
                results.append(
                    (
                        structure.marginals(),
                        structure.argmax(),
                        structure.kbest(3),
                        structure.sample(2, seed=5),
                    )
                )
        finally:
            numba.set_num_threads(before)
        for one, many in zip(*results, strict=True):
            for a, b in zip(_arrays(one), _arrays(many), strict=True):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(permuted.log_partition(), structure.log_partition()[order])
        np.testing.assert_array_equal(permuted.argmax().score, structure.argmax().score[order])
        np.testing.assert_array_equal(permuted.kbest(3).score, structure.kbest(3).score[order])

    @pytest.mark.parametrize("forbid", [0.0, 0.3])
    def test_samples_follow_the_distribution(self, forbid):
        rng = np.random.default_rng(11)
        structure = self.build(rng, [4, 0, 3], 1.0, forbid)
        count = 20_000
        samples = structure.sample(count, seed=3)
        assert samples.shape == (count, structure.offsets[-1])
        assert (structure.sample(7, seed=3) == structure.sample(7, seed=3)).all()
        checked = 0
        for s in range(len(structure)):
            words = slice(structure.offsets[s], structure.offsets[s + 1])
            outcomes, scores = self.enumerated(structure, s)
            if len(scores) < 2:
                continue
            p = np.exp(scores - self.log_sum(scores))
            index = {tuple(o): i for i, o in enumerate(outcomes.tolist())}
            drawn = np.zeros(len(p))
            for outcome, times in zip(
                *np.unique(samples[:, words], axis=0, return_counts=True), strict=True
            ):
                drawn[index[tuple(outcome.tolist())]] += times  # a KeyError is an impossible draw
            common = p * count >= 5
            chi_square = ((drawn - p * count) ** 2 / (p * count))[common].sum()
            freedom = max(1, common.sum() - 1)
            assert chi_square < freedom + 5 * np.sqrt(2 * freedom) + 5
            checked += 1
        assert checked, "the batch has at least one sentence with a choice"

    @pytest.mark.parametrize("scale", [1.0, 1e4])
    @pytest.mark.parametrize("size", [1, 2, 60, 300])
    def test_long_sentences_and_extreme_potentials_stay_finite(self, size, scale):
        rng = np.random.default_rng(size)
        structure = self.build(rng, [size], scale, 0.0)
        log_partition, parts = structure.marginals()
        best = structure.argmax()
        assert np.isfinite(log_partition).all()
        assert all(np.isfinite(part).all() for part in parts)
        assert best.score[0] <= log_partition[0] + 1e-6 * max(1.0, abs(log_partition[0]))
        np.testing.assert_allclose(structure.score(best.outcome), best.score, rtol=1e-9, atol=1e-6)
        np.testing.assert_allclose(structure.log_partition(), log_partition, rtol=1e-9)
        drawn = structure.sample(2, seed=1)
        assert np.isfinite([structure.score(d)[0] for d in drawn]).all()

    @PROPERTY
    @given(seed=SEEDS)
    def test_scores_sum_the_parts_used(self, seed):
        rng = np.random.default_rng(seed)
        structure = self.build(rng, [4, 1, 3], 2.0, 0.0)
        for s in range(len(structure)):
            outcomes, scores = self.enumerated(structure, s)
            chosen = int(rng.integers(len(scores)))
            full = structure.argmax().outcome.copy()
            full[structure.offsets[s] : structure.offsets[s + 1]] = outcomes[chosen]
            np.testing.assert_allclose(structure.score(full)[s], scores[chosen], rtol=1e-10)

    def test_nan_is_refused(self):
        structure = self.build(np.random.default_rng(0), [3], 1.0, 0.0)
        broken = [p.copy() for p in structure.potentials]
        broken[0].ravel()[:] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            self.rebuild(structure, tuple(broken))


def _arrays(result) -> list[np.ndarray]:
    if isinstance(result, np.ndarray):
        return [result]
    return [array for item in result for array in _arrays(item)]


class ModelContract:
    """What a model promises: scikit-learn manners, faithful files, repeatable results."""

    # ---- what a model's own test supplies -----------------------------------------------------
    def make(self):
        """Make an unfitted model that trains in about a second on `corpus()`."""
        raise NotImplementedError

    def corpus(self):
        """Return a treebank to train on."""
        raise NotImplementedError

    def outputs(self, model, treebank) -> list[np.ndarray]:
        """Return everything the model predicts, as arrays."""
        raise NotImplementedError

    def apply(self, model, treebank):
        """Let the model do its work."""
        return model.predict(treebank)

    # ---- the laws -----------------------------------------------------------------------------
    @pytest.fixture(scope="class")
    @classmethod
    def fitted(cls):
        return cls().make().fit(cls().corpus())

    def same(self, one, other) -> None:
        corpus = self.corpus()
        for a, b in zip(self.outputs(one, corpus), self.outputs(other, corpus), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_scikit_learn_clones_it(self, fitted):
        from sklearn.base import clone

        copied = clone(fitted)
        assert copied.get_params() == fitted.get_params()
        assert not copied.fitted
        with pytest.raises(ValueError, match="no parameter"):
            copied.set_params(nonsense=1)

    def test_unfitted_models_say_so(self):
        with pytest.raises(NotFittedError, match="not fitted"):
            self.apply(self.make(), self.corpus())

    def test_training_again_gives_the_same_file(self, fitted, tmp_path):
        before = numba.get_num_threads()
        try:
            numba.set_num_threads(1)
            again = self.make().fit(self.corpus())
        finally:
            numba.set_num_threads(before)
        fitted.save(tmp_path / "a")
        again.save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_a_loaded_model_is_the_same_model(self, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        loaded = type(fitted).load(tmp_path / "model")
        assert loaded.get_params() == fitted.get_params()
        assert loaded.summary_ == fitted.summary_
        self.same(loaded, fitted)
        general = load_any(tmp_path / "model")
        assert type(general) is type(fitted)
        general.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()

    def test_predicting_leaves_the_input_alone(self, fitted, tmp_path):
        from syntagma.corpora import write_treebank

        corpus = self.corpus()
        write_treebank(corpus, tmp_path / "a.conllu")
        self.apply(fitted, corpus)
        write_treebank(corpus, tmp_path / "b.conllu")
        assert (tmp_path / "a.conllu").read_bytes() == (tmp_path / "b.conllu").read_bytes()

    def test_a_damaged_file_is_one_clear_error(self, fitted, tmp_path):
        path = tmp_path / "model"
        fitted.save(path)
        whole = path.read_bytes()
        rng = np.random.default_rng(0)
        cuts = [whole[:n] for n in (0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 1)]
        flips = []
        header = int.from_bytes(whole[:8], "little") + 8
        for _ in range(60):
            broken = bytearray(whole)
            broken[int(rng.integers(header))] ^= int(rng.integers(1, 256))
            flips.append(bytes(broken))
        for data in [*cuts, *flips]:
            path.write_bytes(data)
            try:
                loaded = load_any(path)
            except ModelFileError as error:
                assert "\n" not in str(error)
            else:  # a flip that hurt nothing that matters
                self.apply(loaded, self.corpus())

    def test_other_kinds_and_formats_are_refused(self, fitted, tmp_path):
        header = {"kind": "nonsense", "parameters": {}, "summary": {}}
        write_arrays(tmp_path / "other", header, {}, {})
        with pytest.raises(ModelFileError, match="nonsense"):
            load_any(tmp_path / "other")
        with pytest.raises(ModelFileError, match="nonsense"):
            type(fitted).load(tmp_path / "other")
        write_arrays(tmp_path / "later", {"format": 99, "kind": fitted.kind}, {}, {})
        with pytest.raises(ModelFileError, match="format 1, found 99"):
            load_any(tmp_path / "later")

    def test_it_describes_itself(self, fitted):
        import json

        assert json.loads(json.dumps(fitted.describe())) == fitted.describe()
        assert type(fitted).__name__ in repr(fitted)
