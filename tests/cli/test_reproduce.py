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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "nonsense"),
        (["mst"], "--data"),
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
