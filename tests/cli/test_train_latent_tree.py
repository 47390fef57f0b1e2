"""`train latent-tree`, `train reranker`, and what parses and scores with their models."""

from __future__ import annotations

import numpy as np
import pytest

from cli.checks import refused
from syntagma.corpora import read_treebank, write_treebank
from syntagma.models.latent_tree import LatentTree
from syntagma.models.reranker import Reranker

TREES = ("--learner", "em", "--dim", "4", "--iterations", "8")
LISTS = ("-n", "6", "--epochs", "2", "--dim", "3", "--folds", "2")


@pytest.fixture(scope="module")
def models(command, files, tmp_path_factory):
    """A latent tree model and a re-ranker made by the real command, and what it said."""
    home = tmp_path_factory.mktemp("latent")
    said = {
        "latent-tree": command(
            "train", "latent-tree", files.train, "-o", home / "latent-tree",
            *TREES, "--dev", files.dev, "--json",
        ).json,
        "reranker": command(
            "train", "reranker", files.train, "-o", home / "reranker",
            *LISTS, "--dev", files.dev, "--json",
        ).json,
    }  # fmt: skip
    return home, said


def test_the_summary_tells_the_work_done(files, models):
    home, said = models
    train, dev = read_treebank(files.train), read_treebank(files.dev)
    trees = said["latent-tree"]
    assert (trees["words"], trees["sentences"]) == (train.words, len(train))
    assert trees["flagged"] == 0
    assert trees["iterations"] == 8
    model = LatentTree.load(home / "latent-tree")
    assert trees["dev"]["log_likelihood"] == pytest.approx(model.score(dev))
    uas = 100 * (model.predict(dev).heads == dev.heads).mean()
    assert trees["dev"]["uas"] == pytest.approx(uas)
    lists = said["reranker"]
    assert lists["oracle"] > lists["uas_of_lists"]
    assert lists["trees"] <= 6 * len(train)
    loaded = Reranker.load(home / "reranker")
    assert lists["dev"]["uas"] == pytest.approx(loaded.score(dev))
    assert not (home / "reranker.checkpoint").exists()


def test_the_library_makes_the_same_model(files, models, tmp_path):
    home, _ = models
    model = LatentTree(dim=4, learner="em", iterations=8).fit(read_treebank(files.train))
    model.save(tmp_path / "same")
    assert (tmp_path / "same").read_bytes() == (home / "latent-tree").read_bytes()


@pytest.mark.parametrize("kind", ["latent-tree", "reranker"])
def test_what_was_parsed_is_what_the_model_predicts(here, files, models, tmp_path, kind):
    home, _ = models
    target = tmp_path / "out.conllu"
    summary = here("parse", home / kind, files.dev, "-o", target, "--json").json
    dev = read_treebank(files.dev)
    assert summary["words"] == dev.words
    loaded = {"latent-tree": LatentTree, "reranker": Reranker}[kind].load(home / kind)
    assert read_treebank(target).heads.tolist() == loaded.predict(dev).heads.tolist()


def test_probabilities_of_heads_are_written(here, files, models, tmp_path):
    home, _ = models
    target = tmp_path / "out.conllu"
    assert here("parse", home / "latent-tree", files.dev, "-o", target, "--marginals").status == 0
    scores = here("evaluate", files.dev, target, "--json", "--bootstrap", "0").json
    assert scores["uas"] > 60
    assert "HeadProb=" in target.read_text(encoding="utf-8")


def test_scores_are_those_of_the_model(here, files, models, tmp_path):
    home, _ = models
    target = tmp_path / "scores.tsv"
    summary = here("score", home / "latent-tree", files.dev, "-o", target, "--json").json
    dev = read_treebank(files.dev)
    logs = LatentTree.load(home / "latent-tree").log_probability(dev).log_probability
    assert summary["log_likelihood"] == pytest.approx(logs.sum())
    assert summary["flagged"] == 0
    lines = target.read_text().splitlines()[1:]
    written = [float(line.split("\t")[0]) for line in lines]
    np.testing.assert_allclose(written, logs, atol=1e-5)


def test_moments_are_told_of(here, files, tmp_path):
    said = here(
        "train", "latent-tree", files.train, "-o", tmp_path / "model",
        "--dim", "3", "--moments", "paper", "--symbols", "tags",
    )  # fmt: skip
    assert said.status == 0, said.err
    text = said.out.decode()
    assert "no positive probability" in text
    assert "triples" in text
    picture = tmp_path / "model.svg"
    assert here("inspect", tmp_path / "model", "--picture", picture).status == 0
    assert picture.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("kind", ["latent-tree", "reranker"])
def test_models_are_inspected_and_drawn(here, models, tmp_path, kind):
    home, _ = models
    picture = tmp_path / "model.svg"
    assert here("inspect", home / kind, "--picture", picture).status == 0
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert here("inspect", home / kind, "--json").json["kind"] == kind


def test_vectors_of_ones_own_are_used(here, files, tmp_path):
    words = sorted(set(read_treebank(files.train).forms.names))
    rng = np.random.default_rng(0)
    rows = [f"{w} {' '.join(f'{x:.4f}' for x in rng.normal(size=4))}" for w in words]
    vectors = tmp_path / "vectors.vec"
    vectors.write_text(f"{len(rows)} 4\n" + "\n".join(rows) + "\n", encoding="utf-8")
    order = ("train", "latent-tree", files.train, "-o", tmp_path / "model", "--embedding", vectors)
    summary = here(*order, "--dim", "3", "--json").json
    assert summary["coverage"] == 100
    refused(here(*order, "--dim", "9"), "at least 9 numbers, found 4")


def test_bad_input_is_refused_in_one_line(here, files, models, tmp_path):
    home, _ = models
    train = ("train", "latent-tree")
    output = ("-o", tmp_path / "model")
    refused(here(*train, files.train, *output, "--learner", "magic"), "spectral, em")
    refused(here(*train, files.train, *output, "--dim", "999"), "999 different words")
    headless = tmp_path / "headless.conllu"
    treebank = read_treebank(files.train)
    write_treebank(treebank.replace(heads=np.full(treebank.words, -1)), headless)
    refused(here(*train, headless, *output), "headless.conllu: expected sentences with heads")
    refused(here("score", home / "latent-tree", headless), "head for every word")
    chains = tmp_path / "chains.conllu"
    few = treebank[:30]
    heads = np.concatenate([np.arange(n) for n in few.lengths.tolist()])
    write_treebank(few.replace(heads=heads), chains)
    refused(here(*train, chains, *output, "--dim", "2"), "both sides")
    refused(here("train", "reranker", files.train, *output, "--latent", "magic"), "spectral, em")
    refused(here("parse", home / "reranker", files.dev, "--marginals"), "no probabilities")
    refused(here("parse", home / "latent-tree", files.dev, "--nbest", "3"), "one tree")
    refused(here("parse", files.model, files.dev), "found a tagger")
    assert not (tmp_path / "model").exists()
