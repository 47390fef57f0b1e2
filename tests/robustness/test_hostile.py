"""Model files and checkpoints made to mislead: each attack by name, refused when it is read."""

from __future__ import annotations

import numpy as np
import pytest

from robustness.hostile import join_parts, read_parts
from syntagma.corpora.generated import english
from syntagma.errors import ModelFileError
from syntagma.models import load
from syntagma.models.tagger import Tagger

WRAPPED = (2**63 - 1, -(2**63), -1)  # each less than the next, if differences wrap round


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model file."""
    path = tmp_path_factory.mktemp("model") / "model"
    corpus = english(12, seed=9, max_length=14).treebank
    Tagger(features=("word", "lower[-1]|lower"), iterations=1).fit(corpus).save(path)
    return path.read_bytes()


def put(name, place, value):
    def attack(header, texts, arrays):
        arrays[name][place] = value

    return attack


def swap(name, change):
    def attack(header, texts, arrays):
        arrays[name] = change(arrays[name])

    return attack


def text(part, key, value):
    def attack(header, texts, arrays):
        {"header": header, "texts": texts, "summary": header["summary"]}[part][key] = value

    return attack


ATTACKS = {
    "votes that wrap round": put("votes.starts", slice(1, 4), WRAPPED),
    "votes that fall": put("votes.starts", 1, 10_000),
    "votes beyond the file": put("votes.starts", -1, 2**40),
    "a vote for no tag": put("votes.labels", 0, 10_000),
    "a vote below zero": put("votes.labels", 0, -1),
    "votes as fractions": swap("votes.starts", lambda a: a.astype(np.float64)),
    "a weight that is none": put("weights", 0, np.nan),
    "an infinite weight": put("weights", 0, np.inf),
    "a weight whose sums overflow": put("weights", 0, 1e300),
    "too few weights": swap("weights", lambda a: a[:-1].copy()),
    "an attribute beyond the last": put("single.word", 0, 2**31 - 1),
    "attributes in a table": swap("single.word", lambda a: a.reshape(-1, 1)),
    "keys that wrap round": put("keys.lower[-1]|lower", slice(1, 4), WRAPPED),
    "a key below zero": put("keys.lower[-1]|lower", 0, -1),
    "keys in a table": swap("keys.lower[-1]|lower", lambda a: a.reshape(-1, 1)),
    "no tags": text("texts", "labels", []),
    "half a character": text("texts", "labels", ["\ud800"]),
    "tags with line ends": text("texts", "labels", ["A\nB"]),
    "a dictionary of other tags": text("texts", "dictionary", {"the": ["NOTHING"]}),
    "another column": text("summary", "column", "heads"),
    "no kind": text("header", "kind", None),
    "another format": text("header", "format", 2**70),
    "a name with line ends": text("header", "parameters", {"order\n": 1}),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_models(whole, tmp_path, name):
    header, texts, arrays = read_parts(whole)
    arrays = {key: array.copy() for key, array in arrays.items()}
    ATTACKS[name](header, texts, arrays)
    (tmp_path / "model").write_bytes(join_parts(header, texts, arrays))
    with pytest.raises(ModelFileError) as caught:
        load(tmp_path / "model")
    assert str(caught.value).startswith(str(tmp_path / "model"))
    assert "\n" not in str(caught.value)


def test_the_parts_put_together_again_are_the_model(whole, tmp_path):
    (tmp_path / "model").write_bytes(join_parts(*read_parts(whole)))
    assert load(tmp_path / "model").get_params()["iterations"] == 1


CHECKPOINTS = {
    "a count out of range": put("counters", 3, 99),
    "no reason": put("counters", 5, 99),
    "no memory": put("counters", 0, 0),
    "too few steps": swap("values", lambda a: a[:-1].copy()),
    "too few parameters": swap("x", lambda a: a[:-1].copy()),
    "a short history": swap("history", lambda a: a[:, :-1].copy()),
    "products that are none": put("products", 0, np.nan),
    "nothing": swap("counters", lambda a: a[:0].copy()),
}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints(tmp_path, name):
    corpus = english(12, seed=9, max_length=14).treebank
    path = tmp_path / "checkpoint"

    def stop(iteration, total, value):
        if iteration == 3:
            raise KeyboardInterrupt

    def train(**options):
        Tagger(features=("word",)).fit(
            corpus, checkpoint=path, checkpoint_every=0, resume=True, **options
        )

    with pytest.raises(KeyboardInterrupt):
        train(progress=stop)
    header, texts, arrays = read_parts(path.read_bytes())
    arrays = {key: array.copy() for key, array in arrays.items()}
    CHECKPOINTS[name](header, texts, arrays)
    path.write_bytes(join_parts(header, texts, arrays))
    with pytest.raises(ModelFileError, match="the checkpoint is damaged"):
        train()
