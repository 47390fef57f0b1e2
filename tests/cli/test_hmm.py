"""`syntagma train hmm` and `syntagma score`."""

from __future__ import annotations

import numpy as np
import pytest

from cli.checks import refused
from syntagma.corpora import write_treebank
from syntagma.corpora.generated import english, hmm_sequences
from syntagma.models.hmm import HMM


def written(path, rows):
    path.write_text("".join(" ".join(f"w{x}" for x in row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Text with a known model behind it, some of it held out, and a treebank."""
    folder = tmp_path_factory.mktemp("hmm")
    rows = hmm_sequences(3, 8, 1200, 8, seed=3).symbols.tolist()
    written(folder / "train.txt", rows[:1000])
    written(folder / "test.txt", rows[1000:])
    write_treebank(english(60, seed=1).treebank, folder / "english.conllu")
    return folder


def test_sequences_are_learnt_and_scored(command, home, tmp_path):
    model, table = tmp_path / "m.hmm", tmp_path / "scores.tsv"
    trained = command("train", "hmm", home / "train.txt", "-o", model, "--states", "3", "--json")
    summary = trained.json
    assert trained.err == ""
    assert summary["model"] == str(model)
    assert (summary["sentences"], summary["words"], summary["symbols"]) == (1000, 8000, 8)
    assert summary["rank"] == 3
    scored = command("score", model, home / "test.txt", "-o", table, "--json").json
    assert {"log_likelihood", "per_word", "flagged", "words", "sentences", "seconds"} <= set(scored)
    assert (scored["sentences"], scored["words"], scored["kind"]) == (200, 1600, "hmm")
    assert scored["per_word"] == pytest.approx(scored["log_likelihood"] / 1600)
    head, *lines = table.read_text().splitlines()
    assert head == "log_likelihood\twords\tflagged"
    rows = np.array([line.split("\t") for line in lines], float)
    sequences = [line.split() for line in (home / "test.txt").read_text().splitlines()]
    logs, flags = HMM.load(model).log_likelihood(sequences)
    np.testing.assert_allclose(rows[:, 0], logs, atol=1e-6)
    np.testing.assert_array_equal(rows[:, 2], flags)
    assert rows[:, 0].sum() == pytest.approx(scored["log_likelihood"], abs=1e-3)
    assert scored["flagged"] == flags.sum()


def test_people_are_told_too(here, home, tmp_path):
    model = tmp_path / "m"
    told = here("train", "hmm", home / "train.txt", "-o", model, "--states", "2")
    assert told.status == 0
    assert "per_word" in told.out.decode()
    told = here("score", model, home / "test.txt")
    assert "log_likelihood" in told.out.decode()
    printed = here("score", model, home / "test.txt", "-o", "-").out.decode().splitlines()
    assert len(printed) == 201, "the table only"
    told = here("inspect", model, "--top", "2", "--picture", tmp_path / "p.svg")
    assert "S1: w" in told.out.decode()
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_states_that_are_noise_are_warned_of(here, home, tmp_path):
    result = here("train", "hmm", home / "train.txt", "-o", tmp_path / "m", "--states", "6")
    assert result.status == 0
    assert "the bigrams support 3 of 6 states" in result.err


@pytest.mark.parametrize("column", ["form", "upos", "xpos"])
def test_columns_of_a_treebank_are_learnt(here, home, tmp_path, column):
    model = tmp_path / "m"
    options = ["--states", "2", "--column", column, "--learner", "spectral+em", "--iterations", "2"]
    summary = here("train", "hmm", home / "english.conllu", "-o", model, *options, "--json").json
    assert summary["sentences"] == 60
    assert summary["iterations"] <= 2
    assert not (tmp_path / "m.checkpoint").exists()
    scored = here("score", model, home / "english.conllu", "--json").json
    assert scored["log_likelihood"] == pytest.approx(summary["log_likelihood"])
    assert scored["flagged"] == 0


def test_training_resumes_to_the_same_model(here, home, tmp_path):
    options = ["--states", "2", "--learner", "em", "--tolerance", "0", "--iterations"]
    train = ["train", "hmm", home / "train.txt", "-o"]
    assert here(*train, tmp_path / "a", *options, "6").status == 0
    model = HMM(states=2, learner="em", tolerance=0.0, iterations=6)

    def stop(done, total, value):
        if done == 3:
            raise KeyboardInterrupt

    from syntagma import read_treebank

    with pytest.raises(KeyboardInterrupt):
        model.fit(
            read_treebank(home / "train.txt"),
            checkpoint=str(tmp_path / "b.checkpoint"),
            checkpoint_every=0.0,
            progress=stop,
        )
    assert here(*train, tmp_path / "b", *options, "6", "--resume").status == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert not (tmp_path / "b.checkpoint").exists()


def test_what_cannot_be_learnt_is_refused(here, home, tmp_path):
    def train(name, text, *options):
        path = tmp_path / name
        path.write_text(text)
        return path, here("train", "hmm", path, "-o", tmp_path / "m", *options)

    path, result = train("few.txt", "a b a\nb a b\n")
    refused(result, path, "5 states need at least as many different symbols, found 2")
    path, result = train("short.txt", "a b\nb\n", "--states", "2")
    refused(result, path, "three symbols or more, found none")
    path, result = train("empty.txt", "")
    refused(result, path, "expected at least one sentence, found none")
    chance = "".join(f"{a} {b} {c}\n" for a in "ab" for b in "ab" for c in "ab")
    path, result = train("chance.txt", chance, "--states", "2")
    refused(result, path, "the bigram matrix supports 1 dimensions, not 2", "ask for fewer")
    options = ["train", "hmm", home / "train.txt", "-o", tmp_path / "m"]
    refused(here(*options, "--column", "upos"), "expected symbols in the upos column, found none")
    refused(here(*options, "--column", "heads"), "--column: expected form, upos or xpos")
    refused(here(*options, "--learner", "luck"), "learner: expected one of spectral, em")
    refused(here(*options, "--method", "luck"), "method: expected one of foster, hsu")
    refused(here(*options, "--states", "0"), "--states")
    refused(here("train", "hmm", home / "train.txt", "-o", "-"), "a file of its own")
    assert not (tmp_path / "m").exists()


def test_what_cannot_be_scored_is_refused(here, home, files, tmp_path):
    model = tmp_path / "m"
    assert here("train", "hmm", home / "train.txt", "-o", model, "--states", "2").status == 0
    other = tmp_path / "other.txt"
    other.write_text("w1 zzz\n")
    refused(here("score", model, other), other, "symbol 'zzz' is not among the 8")
    refused(here("score", files.model, other), files.model, "expected a model of hmm", "tagger")
    refused(here("score", other, other), other, "not a syntagma model file")
    refused(here("score", model, other, "-o", "-", "--json"), "--json prints on stdout")
    refused(here("score", model, tmp_path / "none.txt"), "No such file")
    refused(here("tag", model, other), model, "expected a tagger model, found a 'hmm' model")
