"""`syntagma evaluate`, `inspect` and `render`: what they say and write."""

from __future__ import annotations

import pytest

from syntagma.corpora import read_treebank, write_treebank
from syntagma.models.tagger import Tagger


@pytest.fixture(scope="module")
def tagged(files, tmp_path_factory):
    """The development file tagged by the model, with probabilities, and a worse tagging."""
    home = tmp_path_factory.mktemp("tagged")
    treebank = read_treebank(files.dev)
    tagger = Tagger.load(files.model)
    write_treebank(tagger.predict(treebank), home / "good.conllu")
    write_treebank(treebank.replace(tags=["NOUN"] * treebank.words), home / "bad.conllu")
    return home


def test_scores_stand_beside_their_intervals(command, here, files, tagged, tmp_path):
    page = tmp_path / "report.html"
    order = ["evaluate", files.dev, tagged / "good.conllu", "--train", files.train]
    summary = command(*order, "--json", "--report", page).json
    treebank = read_treebank(files.dev)
    assert (summary["words"], summary["sentences"]) == (treebank.words, len(treebank))
    assert summary["accuracy"] == pytest.approx(files.trained["dev"]["accuracy"])
    assert summary["intervals"]["accuracy"]["low"] <= summary["accuracy"]
    assert summary["uas"] == summary["las"] == 100
    assert summary["accuracy_known"] > summary["accuracy_unknown"]
    assert summary["report"] == str(page)
    assert "<svg" in page.read_text(encoding="utf-8")
    told = here(*order).out.decode()
    assert f"{summary['accuracy']:.2f}" in told


def test_a_baseline_and_a_greatest_length(here, files, tagged):
    order = ["evaluate", files.dev, tagged / "good.conllu", "--json"]
    summary = here(*order, "--baseline", tagged / "bad.conllu").json
    change = summary["against_baseline"]["accuracy"]
    assert change["value"] > 20
    assert change["low"] <= change["value"] <= change["high"]
    short = here(*order, "--max-length", "8", "--bootstrap", "0").json
    lengths = read_treebank(files.dev).lengths
    assert short["sentences"] == (lengths <= 8).sum()
    assert short["intervals"] == {}


def test_gold_against_itself_through_a_pipe(command, files):
    gold = files.rich.read_bytes()
    summary = command("evaluate", "-", files.rich, "--tags", "xpos", "--json", stdin=gold).json
    assert summary["accuracy"] == summary["uas"] == 100


def test_tags_never_seen_in_training_are_mistakes(here, files, tmp_path):
    treebank = read_treebank(files.dev)
    strange = ["STRANGE" if i == 0 else t for i, t in enumerate(treebank.tags.strings())]
    write_treebank(treebank.replace(tags=strange), tmp_path / "strange.conllu")
    train = ["train", "tagger", files.train, "-o", tmp_path / "m", "--json", "--jobs", "1"]
    train += ["--features", "word,suffix2", "--iterations", "9", "--dev"]
    known, unknown = (here(*train, dev).json for dev in (files.dev, tmp_path / "strange.conllu"))
    assert unknown["dev"]["accuracy"] < known["dev"]["accuracy"]
    assert "STRANGE" not in here("inspect", tmp_path / "m", "--json").json["labels"]


def test_inspect_tells_what_the_model_holds(command, here, files, tmp_path):
    order = ["inspect", files.model, "--top", "2"]
    card = command(*order, "--picture", tmp_path / "p.svg", "--json").json
    assert card["kind"] == "tagger"
    assert card["bytes"] == files.model.stat().st_size
    assert card["parameters"]["iterations"] == 25
    assert card["summary"]["words"] == files.trained["words"]
    assert "NOUN" in card["labels"]
    assert len(card["strongest"]["NOUN"]) == 2
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "tagger" in here(*order).out.decode()


def test_render_draws_so_many_sentences_and_their_errors(command, here, files, tagged, tmp_path):
    page = tmp_path / "page.html"
    good = tagged / "good.conllu"
    order = ["render", good, "--gold", files.dev, "--limit", "3", "--title", "A <b> title"]
    summary = command(*order, "-o", page, "--json").json
    assert (summary["output"], summary["sentences"]) == (str(page), 3)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") >= 3
    assert "A &lt;b&gt; title" in text
    assert "<b> title" not in text
    assert here(*order).out.decode() == text, "without -o the page is printed"
