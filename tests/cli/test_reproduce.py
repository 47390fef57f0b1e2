"""`syntagma reproduce`: rows of figures on a treebank of one's own, and refusals."""

from __future__ import annotations

import pytest

from syntagma.corpora import write_treebank
from syntagma.corpora.generated import english

KEYS = {"system", "setting", "metric", "ours", "paper", "low", "high"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    home = tmp_path_factory.mktemp("reproduce")
    for name, size, seed in (("train", 40, 1), ("dev", 20, 2)):
        write_treebank(english(size, seed=seed).treebank, home / f"{name}.conllu")
    return str(home / "train.conllu"), str(home / "dev.conllu")


def test_rows_of_an_own_treebank(here, pair):
    train, dev = pair
    found = here("reproduce", "mst", "--train", train, "--dev", dev, "--seeds", "2", "--json").json
    assert found["paper"] == "mst"
    assert all(set(row) == KEYS for row in found["rows"])
    assert all(row["low"] <= row["ours"] <= row["high"] for row in found["rows"])
    assert all(0 <= row["ours"] <= 100 for row in found["rows"])
    systems = {row["system"] for row in found["rows"]}
    assert {"order 1, 1-best MIRA", "order 2, log-linear"} <= systems
    best = max(row["ours"] for row in found["rows"] if row["metric"] == "uas")
    assert best > 70


def test_reranking_rows_of_an_own_treebank(here, pair, monkeypatch):
    from syntagma.experiments import dhillon2012

    chosen = ("spectral, matched, k = 5", "EM, k = 5")
    few = {name: dhillon2012.SETTINGS[name] for name in chosen}
    monkeypatch.setattr(dhillon2012, "SETTINGS", few)
    train, dev = pair
    order = ("reproduce", "dhillon2012", "--train", train, "--dev", dev, "--seeds", "1", "--json")
    rows = here(*order).json["rows"]
    assert all(set(row) == KEYS for row in rows)
    by = {(row["system"], row["metric"]): row["ours"] for row in rows}
    for number in ("order 1", "order 2"):
        base = by[f"{number}, no re-ranking", "uas"]
        assert base <= by[f"{number}, no re-ranking", "oracle uas of 50"]
        baseline = by[f"{number}, baseline features", "uas"]
        gain = by[f"{number}, baseline features", "gain of uas"]
        assert gain == pytest.approx(baseline - base, abs=0.011)
        for name in chosen:
            system = f"{number}, + log p ({name})"
            assert 0 < by[system, "p of the gain"] <= 1
            told = by[system, "uas"] - baseline
            assert by[system, "gain of uas"] == pytest.approx(told, abs=0.011)


def test_the_error_of_a_probability_falls_as_one_over_the_root(here, monkeypatch):
    from syntagma.experiments import dhillon2012

    monkeypatch.setattr(dhillon2012, "SIZES", (1_000, 10_000, 100_000))
    monkeypatch.setattr(dhillon2012, "STATES", {2: 1_000})
    order = ("reproduce", "dhillon2012", "--part", "samples", "--seeds", "3", "--json")
    rows = here(*order).json["rows"]
    slopes = {row["system"]: row["ours"] for row in rows if row["metric"] == "slope of the error"}
    assert -0.7 < slopes["matched, 2 states"] < -0.3
    assert slopes["paper, 2 states"] > slopes["matched, 2 states"], "its bias stays"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "nonsense"),
        (["mst"], "--data"),
        (["dhillon2012", "--data", ".", "--part", "nbest"], "nbest"),
        (["mst", "--train", "x.conllu"], "go together"),
        (["mst", "--data", "no/such/place"], "no/such/place"),
        (["mst", "--data", ".", "--part", "wsjj"], "wsjj"),
        (["mst", "--data", "."], "wsj"),
    ],
)
def test_what_cannot_be_made_is_refused(here, monkeypatch, arguments, said):
    monkeypatch.delenv("SYNTAGMA_DATA", raising=False)
    result = here("reproduce", *arguments)
    assert result.status == 2
    assert said in result.err
    assert result.err.count("\n") == 1
