"""`syntagma embed`, and taggers that use its models: the real command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cli.checks import refused
from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.generated import english
from syntagma.models.eigenwords import Eigenwords
from syntagma.models.tagger import Tagger

SMALL = ("--method", "lr-mvl", "--dim", "8", "--min-count", "2", "--iterations", "1")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """The same sentences as plain text and as documents."""
    home = tmp_path_factory.mktemp("texts")
    treebank = english(400, seed=5).treebank
    write_treebank(treebank, home / "a.txt.xz")
    lines = [" ".join(sentence.forms) for sentence in treebank]
    documents = [json.dumps({"body": "\n".join(lines[i : i + 9])}) for i in range(0, 400, 9)]
    (home / "b.jsonl").write_text("\n".join(documents), encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def model(texts, command):
    """A model that the real command learnt."""
    path = texts / "model"
    result = command("embed", texts / "a.txt.xz", "-o", path, *SMALL, "--json", "--jobs", "1")
    assert result.json["model"] == str(path)
    assert result.err == ""
    return path


def test_it_learns_saves_and_tells(here, texts, model, tmp_path):
    order = ["embed", texts / "b.jsonl", "-o", tmp_path / "m", *SMALL, "--json", "--jobs", "2"]
    summary = here(*order, "--export", tmp_path / "v.txt", "-n", "the", "--top", "3").json
    assert (tmp_path / "m").read_bytes() == model.read_bytes(), "whatever the format and the jobs"
    found = Eigenwords.load(tmp_path / "m")
    assert summary["words"] == read_treebank(texts / "a.txt.xz").words
    assert summary["sentences"] == 400
    assert summary["vocabulary"] == len(found.words_)
    assert summary["neighbours"]["the"] == [list(pair) for pair in found.neighbours("the", 3)]
    assert summary["seconds"] > 0
    assert (tmp_path / "v.txt").read_text().startswith(f"{len(found.words_) + 1} 8\n<unk> ")
    told = here("embed", model, "-n", "the", "-n", "she", "--top", "2").out.decode()
    assert [line.partition(":")[0] for line in told.splitlines()] == ["the", "she"]


def test_the_defaults_are_those_of_the_model(here, texts, tmp_path):
    here("embed", texts / "a.txt.xz", "-o", tmp_path / "m")
    assert Eigenwords.load(tmp_path / "m").get_params() == Eigenwords().get_params()


def test_import_and_inspection(here, model, tmp_path):
    vectors, again = tmp_path / "v.txt", tmp_path / "again"
    assert here("embed", model, "--export", vectors).status == 0
    summary = here("embed", vectors, "--import", "-o", again, "--json").json
    one, other = Eigenwords.load(model), Eigenwords.load(again)
    assert summary["dimensions"] == 8
    assert one.words_ == other.words_
    np.testing.assert_array_equal(one.vectors_, other.vectors_)
    card = here("inspect", model, "--json", "--top", "2", "--picture", tmp_path / "p.svg").json
    assert card["kind"] == "eigenwords"
    assert card["summary"]["sentences"] == 400
    assert len(card["strongest"][one.words_[0]]) == 2
    assert "<svg" in (tmp_path / "p.svg").read_text(encoding="utf-8")
    told = here("inspect", again).out.decode()
    assert "word2vec" in told
    assert "map" not in told


def test_standard_input(command, texts, tmp_path):
    text = b"".join(b"a b c d e f .\n" for _ in range(20))
    options = ["-o", tmp_path / "m", "--method", "cca", "--dim", "2", "--json"]
    assert command("embed", "-", *options, stdin=text).json["words"] == 140


def test_a_tagger_learns_from_an_embedding(here, files, model, tmp_path):
    order = ["train", "tagger", files.train, "--iterations", "25", "--json"]
    summary = here(*order, "-o", tmp_path / "a", "--embedding", model).json
    assert summary["model"] == str(tmp_path / "a")
    tagger = Tagger.load(tmp_path / "a")
    assert {"class1", "class2"} & set(tagger.features_.values)
    tagged = here("tag", tmp_path / "a", files.dev, "-o", tmp_path / "t.conllu", "--json")
    assert tagged.status == 0
    plain = here(*order, "-o", tmp_path / "b")
    assert plain.status == 0
    assert (tmp_path / "b").read_bytes() != (tmp_path / "a").read_bytes()
    refused(here(*order, "-o", tmp_path / "c", "--embedding", files.model), files.model, "tagger")
    only = here(*order, "-o", tmp_path / "d", "--features", "word,class1", "--embedding", model)
    assert only.status == 0
    refused(here(*order, "-o", tmp_path / "e", "--features", "word,class1"), "needs an embedding")
    classed = here(*order, "-o", tmp_path / "e", "--features", "class9", "--embedding", model)
    refused(classed, "the embedding has no class9")


def test_refusals(here, texts, model, files, tmp_path):
    text, output = texts / "a.txt.xz", tmp_path / "m"
    learn = ["embed", text, "-o", output]
    (tmp_path / "v.txt").write_text("2 2\na 1 0\nb nan 0\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    (tmp_path / "raw").write_text("a b\n", encoding="utf-8")
    for order, parts in [
        (["embed", model], ["say where the model goes"]),
        (["embed", model, model, "-n", "the"], ["expected one file of vectors"]),
        (["embed", model, "-n", "qwertyuiop"], ["'qwertyuiop' has no vector"]),
        (["embed", files.model, "-n", "the"], [files.model, "expected a eigenwords model"]),
        (["embed", text, "-n", "the"], [text, "not a syntagma model file"]),
        ([*learn, "--method", "glove"], ["method: expected one of"]),
        ([*learn, "--rates", "x"], ["--rates: expected numbers"]),
        ([*learn, "--rates", "7"], ["rates: expected numbers above 0"]),
        ([*learn, "--dim", "900"], ["too few for 900 dimensions"]),
        ([*learn, "--format", "xml"], ["format: expected one of"]),
        (["embed", tmp_path / "empty.txt", "-o", output], ["expected text, found no word"]),
        (["embed", tmp_path / "raw", "-o", output], [tmp_path / "raw", "expected an ending"]),
        (["embed", texts / "b.jsonl", "-o", output, "--field", "x"], ["b.jsonl:1", "field x"]),
        (["embed", tmp_path / "v.txt", "--import", "-o", output], ["v.txt:3", "found nan for 'b'"]),
        (["embed", tmp_path / "no.txt", "-o", output], ["no.txt", "No such file"]),
        (["embed", text, "-o", tmp_path / "no" / "m"], ["expected a directory"]),
    ]:
        refused(here(*order), *parts)
    assert not output.exists()
    refused(here(*learn, *SMALL, "-n", "qwertyuiop"), "'qwertyuiop' has no vector")
    assert not output.exists(), "what was asked for comes first"
