"""`syntagma train mst`: what it writes and says, options, tags for training, stops and refusals."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from cli.checks import refused
from syntagma.cli import train_mst
from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.treebank import Column, Treebank
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger
from syntagma.structures.projectivity import crossing_trees

SMALL = ("--epochs", "2", "--bits", "16")
QUICK = (*SMALL, "--json")


def trained(here, output, *arguments):
    summary = here("train", "mst", *arguments, "-o", output, *QUICK).json
    assert summary["model"] == str(output)
    return summary, DependencyParser.load(output)


def bare(treebank, what):
    """The treebank without its heads, labels or tags."""
    blank = Column.blank(treebank.words)
    if what == "heads":
        return treebank.replace(heads=np.full(treebank.words, -1), labels=blank)
    return treebank.replace(**dict.fromkeys(what.split(), blank))


def crossed(sentences):
    """Sentences of four words; in every third the arcs of the second and the third cross."""
    heads = [[3, 4, 0, 3] if i % 3 == 0 else [2, 3, 0, 3] for i in range(sentences)]
    forms = [["a", f"b{i % 3}", "c", f"d{i % 3}"] for i in range(sentences)]
    tags = [["A", "B", "C", "D"]] * sentences
    labels = [["x", "y", "root", "z"]] * sentences
    return Treebank.from_sentences(forms, upos=tags, heads=heads, labels=labels)


@pytest.fixture
def crossing(tmp_path):
    path = tmp_path / "crossing.conllu"
    write_treebank(crossed(30), path)
    return path


def test_the_summary_tells_the_work_done(here, files, tmp_path):
    output = tmp_path / "model"
    summary, model = trained(here, output, files.train, "--dev", files.dev)
    treebank, dev = read_treebank(files.train), read_treebank(files.dev)
    assert (summary["words"], summary["sentences"]) == (treebank.words, len(treebank))
    assert (summary["epochs"], summary["skipped"], summary["not_projective"]) == (2, 0, 0)
    assert summary["labels"] == len(set(treebank.labels.strings()))
    assert summary["seconds"] > 0
    right = model.predict(dev).heads == dev.heads
    assert summary["dev"]["uas"] == pytest.approx(100 * right.mean())
    assert summary["dev"]["uas"] > summary["dev"]["las"] > 60
    assert summary["dev"]["words"] == dev.words
    assert [epoch for epoch, _, _ in summary["learning_curve"]] == [1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["model"], "no checkpoint is left"


def test_the_defaults_are_those_of_the_model(here, files, tmp_path):
    _, model = trained(here, tmp_path / "model", files.train)
    assert model.get_params() == DependencyParser(epochs=2, bits=16).get_params()
    assert model.tagger_ is None


def test_model_options_reach_the_model(here, files, tmp_path):
    options = ["--order", "2", "--projective", "yes", "--crossings", "lift", "-k", "2"]
    options += ["--aggressiveness", "0.1", "--decode", "mbr", "--portion", "4", "--seed", "7"]
    options += ["--limit", "30", "--jobs", "1"]
    _, model = trained(here, tmp_path / "a", files.train, *options)
    chosen = dict(order=2, projective=True, crossings="lift", k=2, aggressiveness=0.1)
    chosen |= dict(decode="mbr", portion=4, seed=7)
    assert chosen.items() <= model.get_params().items()
    options = ["--learner", "log-linear", "--rate", "0.1", "--projective", "no", "--limit", "30"]
    summary, model = trained(here, tmp_path / "b", files.train, *options)
    assert (model.learner, model.rate, model.projective) == ("log-linear", 0.1, False)
    assert summary["projective"] is False


def test_the_seed_changes_the_model(here, files, tmp_path):
    for name, seed in (("a", "0"), ("b", "1")):
        trained(here, tmp_path / name, files.train, "--seed", seed, "--limit", "40")
    first, second = (DependencyParser.load(tmp_path / name).weights_ for name in "ab")
    assert (first != second).any()


def test_several_files_limit_and_tag_column(here, files, tmp_path):
    summary, model = trained(here, tmp_path / "a", files.train, files.dev, "--tags", "xpos")
    assert (summary["sentences"], summary["column"]) == (190, "xpos")
    assert model.tag_column_ == "xpos"
    summary, _ = trained(here, tmp_path / "b", files.train, files.dev, "--limit", "160")
    assert summary["sentences"] == 160


def test_one_and_two_threads_write_the_same_bytes(command, files, tmp_path):
    order = ("train", "mst", files.train, "--dev", files.dev, "--order", "2", *SMALL)
    for jobs in ("1", "2"):
        result = command(*order, "-o", tmp_path / jobs, "--jobs", jobs)
        assert (result.status, result.err) == (0, "")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_crossing_arcs_decide_whether_trees_are_projective(here, files, crossing, tmp_path):
    summary, model = trained(here, tmp_path / "a", crossing)
    assert (summary["not_projective"], summary["projective"]) == (10, False)
    assert summary["crossings"] == "kept"
    text = read_treebank(crossing)
    parsed = model.predict(text)
    assert crossing_trees(parsed.heads, parsed.offsets).any(), "it learnt to cross arcs"
    _, model = trained(here, tmp_path / "b", crossing, "--projective", "yes")
    parsed = model.predict(text)
    assert not crossing_trees(parsed.heads, parsed.offsets).any()


def test_people_are_told_of_crossing_arcs_and_what_was_left_out(here, files, crossing, tmp_path):
    order = ["train", "mst", "-o", tmp_path / "m", *SMALL]
    told = " ".join(here(*order, crossing).out.decode().split())
    assert "trees arcs may cross" in told
    assert "crossing arcs in 10 training trees (33.33%), kept" in told
    assert "left out 0 sentences without heads" in told
    assert "tagger none" in told
    options = ["--projective", "yes", "--crossings", "lift"]
    partly = tmp_path / "partly.conllu"
    write_treebank(bare(read_treebank(files.train)[:7], "heads"), partly)
    lifted = here(*order, crossing, *options)
    assert "(33.33%), lifted" in lifted.out.decode()
    assert "trees projective" in " ".join(lifted.out.decode().split())
    joined = tmp_path / "joined.conllu"
    joined.write_bytes(crossing.read_bytes() + partly.read_bytes())
    told = " ".join(here(*order, joined, "--dev", files.dev).out.decode().split())
    assert "left out 7 sentences without heads" in told
    assert "dev uas" in told
    assert trained(here, tmp_path / "m", joined)[0]["skipped"] == 7


def test_lifting_is_learning_from_other_trees(here, crossing, tmp_path):
    _, kept = trained(here, tmp_path / "a", crossing, "--projective", "yes")
    _, lifted = trained(
        here, tmp_path / "b", crossing, "--projective", "yes", "--crossings", "lift"
    )
    assert (kept.weights_ != lifted.weights_).any()


def test_patience_keeps_the_best_epoch(here, files, tmp_path):
    output = tmp_path / "m"
    order = ["train", "mst", files.train, "-o", output, "--limit", "40", "--bits", "16", "--json"]
    summary = here(*order, "--dev", files.dev, "--epochs", "12", "--patience", "1").json
    curve = {epoch: (uas, las) for epoch, uas, las in summary["learning_curve"]}
    assert summary["epochs"] == len(curve) < 12
    assert summary["best_epoch"] == summary["epochs"] - 1
    assert (summary["dev"]["uas"], summary["dev"]["las"]) == max(curve.values())
    parser = DependencyParser.load(output)
    assert parser.score(read_treebank(files.dev)) == pytest.approx(summary["dev"]["uas"])


def test_jackknifed_tags_bring_a_tagger_along(here, files, tmp_path):
    summary, model = trained(
        here, tmp_path / "a", files.train, "--limit", "60", "--jackknife", "2", "--dev", files.dev
    )
    assert summary["own_tagger"] is True
    assert summary["jackknife"]["parts"] == 2
    assert 70 < summary["jackknife"]["accuracy"] < 100
    assert isinstance(model.tagger_, Tagger)
    assert summary["dev"]["uas"] == pytest.approx(
        model.score(bare(read_treebank(files.dev), "upos xpos"))
    ), "the development text is tagged by the parser"
    (tmp_path / "in.txt").write_text("The vans stop .\n", encoding="utf-8")
    parsed = here("parse", tmp_path / "a", tmp_path / "in.txt").out.decode()
    rows = [line.split("\t") for line in parsed.splitlines() if line]
    assert [row[3] for row in rows][:2] == ["DET", "NOUN"]
    assert [row[6] for row in rows].count("0") == 1
    told = here(
        *("train", "mst", files.train, "-o", tmp_path / "b", *SMALL),
        *("--limit", "60", "--jackknife", "2"),
    )
    assert f"2-fold tags, {summary['jackknife']['accuracy']:.2f}% right" in told.out.decode()
    again = DependencyParser.load(tmp_path / "b")
    assert again.weights_.tolist() == model.weights_.tolist(), "--dev steered nothing"


def test_a_tagger_is_kept_and_training_tags_are_as_given(here, files, tmp_path):
    _, model = trained(here, tmp_path / "a", files.train, "--tagger", files.model)
    tagger = Tagger.load(files.model)
    assert model.tagger_.weights_.tolist() == tagger.weights_.tolist()
    dev = read_treebank(files.dev)
    assert model.predict(dev).upos.strings() == tagger.predict(dev).upos.strings()
    same = DependencyParser(epochs=2, bits=16).fit(read_treebank(files.train), tagger=tagger)
    assert same.weights_.tolist() == model.weights_.tolist()
    order = ["train", "mst", files.train, "-o", tmp_path / "b", "--tagger", files.model]
    refused(here(*order, "--tags", "xpos"), files.model, "this tagger fills the upos column")
    refused(here(*order, "--jackknife", "5"), "--jackknife and --tagger do not go together")
    refused(here(*order[:-1], tmp_path / "a"), tmp_path / "a", "expected a tagger model")
    assert not (tmp_path / "b").exists()


def interrupting(after):
    """A progress bar that is interrupted once so many epochs are over."""

    @contextmanager
    def bar(task, quiet=False):
        def progress(done, total, value):
            if task == "training" and done == after:
                raise KeyboardInterrupt

        yield progress

    return bar


def test_a_stopped_training_goes_on_to_the_same_bytes(here, files, tmp_path, monkeypatch):
    output, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    order = ["train", "mst", files.train, "-o", output, "--limit", "60", "--bits", "16"]
    order += ["--epochs", "3", "--dev", files.dev, "--checkpoint-every", "0"]
    assert here(*order, "--resume").status == 0, "without a checkpoint it starts afresh"
    whole = output.read_bytes()
    assert not checkpoint.exists()
    output.write_bytes(b"earlier")
    with monkeypatch.context() as patched:
        patched.setattr(train_mst, "progress_bar", interrupting(2))
        stopped = here(*order)
    assert (stopped.status, stopped.out) == (130, b"")
    assert stopped.err == f"syntagma: interrupted: --resume goes on from {checkpoint}\n"
    assert output.read_bytes() == b"earlier"
    state = checkpoint.read_bytes()
    refused(here(*order, "--resume", "-k", "2"), checkpoint, "belongs to other data")
    checkpoint.write_bytes(state[: len(state) // 2])
    refused(here(*order, "--resume"), checkpoint)
    checkpoint.write_bytes(state)
    assert here(*order, "--resume").status == 0
    assert output.read_bytes() == whole
    assert not checkpoint.exists()


def test_an_interruption_before_a_checkpoint_says_so(here, files, tmp_path, monkeypatch):
    monkeypatch.setattr(train_mst, "progress_bar", interrupting(1))
    stopped = here("train", "mst", files.train, "-o", tmp_path / "m", "--limit", "20", *SMALL)
    assert stopped.status == 130
    assert "there is no checkpoint yet" in stopped.err
    assert list(tmp_path.iterdir()) == []


def test_much_memory_is_announced_in_one_line(here, files, tmp_path, monkeypatch):
    def memory(*options):
        order = ["train", "mst", files.train, "-o", tmp_path / "m", "--limit", "9", "--json"]
        result = here(*order, "--epochs", "1", *options)
        return result.json["memory"], result.err

    first, told = memory("--bits", "14")
    assert told == ""
    assert first < memory("--bits", "15")[0]
    assert first < memory("--bits", "14", "--order", "2")[0]
    assert first < memory("--bits", "14", "--learner", "log-linear")[0]
    longest = read_treebank(files.train)[:9].lengths.max()
    monkeypatch.setattr(train_mst, "MUCH", 10**6)
    _, told = memory("--bits", "16")
    assert told.startswith("syntagma: this training needs about ")
    assert f"the longest sentence has {longest} words" in told
    assert told.count("\n") == 1


def test_files_that_teach_no_trees_are_named(here, files, tmp_path):
    treebank = read_treebank(files.train)[:20]
    output = tmp_path / "m"
    for what, message in (
        ("heads", "expected sentences with heads, found none"),
        ("upos xpos", "expected tags in the upos column, found none"),
    ):
        path = tmp_path / f"{what}.conllu"
        write_treebank(bare(treebank, what), path)
        order = ["train", "mst", "-o", output, *SMALL]
        refused(here(*order, path), f"{path}: {message}")
        refused(here(*order, files.train, path), f"{path}: {message}")
        refused(here(*order, files.train, "--dev", path), f"{path}: {message}")
    late = tmp_path / "late.conllu"
    late.write_bytes((tmp_path / "heads.conllu").read_bytes() + files.train.read_bytes())
    refused(here("train", "mst", late, "-o", output, "--limit", "5"), late, "with heads")
    raw = tmp_path / "raw.txt"
    raw.write_text("no trees here\n", encoding="utf-8")
    refused(here("train", "mst", raw, "-o", output), raw, "found none")
    cyclic = tmp_path / "cyclic.conllu"
    row = "{}\tw\t_\tN\t_\t_\t{}\tdep\t_\t_\n"
    cyclic.write_text(row.format(1, 0) + "\n" + row.format(1, 2) + row.format(2, 1) + "\n")
    refused(here("train", "mst", cyclic, "-o", output), f"{cyclic}:3: ", "cycle")
    empty = tmp_path / "empty.conllu"
    empty.write_bytes(b"")
    refused(here("train", "mst", empty, "-o", output), empty, "expected at least one sentence")
    assert not output.exists()


def test_trees_without_labels(here, files, tmp_path):
    path = tmp_path / "unlabelled.conllu"
    write_treebank(bare(read_treebank(files.train), "labels"), path)
    summary, _ = trained(here, tmp_path / "m", path, "--dev", files.dev)
    assert summary["dev"]["uas"] > 60
    assert summary["dev"]["las"] == 0
    parsed = here("parse", tmp_path / "m", files.dev, "--marginals", "-o", tmp_path / "out.conllu")
    assert parsed.status == 0
    out = read_treebank(tmp_path / "out.conllu")
    assert not out.labels.known, "earlier labels do not fit new heads"
    assert (out.heads >= 0).all()
    misc = out.misc.strings()
    assert all(m.startswith("HeadProb=") and "LabelProb" not in m for m in misc)


def test_sentences_of_one_word(here, tmp_path):
    path = tmp_path / "one.conllu"
    ones = Treebank.from_sentences(
        [["Go"], ["Stop"]] * 3, upos=[["V"], ["V"]] * 3, heads=[[0]] * 6, labels=[["root"]] * 6
    )
    write_treebank(ones, path)
    for name, options in (("a", ["--order", "2"]), ("b", ["--learner", "log-linear"])):
        summary, _ = trained(here, tmp_path / name, path, "--dev", path, *options)
        assert (summary["dev"]["uas"], summary["dev"]["las"]) == (100, 100)
        assert here("parse", tmp_path / name, path).out == path.read_bytes()


def test_values_that_cannot_be(here, files, tmp_path):
    order = ["train", "mst", files.train, "-o", tmp_path / "m"]
    for options, message in [
        (["--projective", "maybe"], "projective: expected one of auto, yes, no, found 'maybe'"),
        (["--crossings", "drop"], "crossings: expected one of keep, lift, found 'drop'"),
        (["--learner", "neural"], "learner: expected one of mira, log-linear, found 'neural'"),
        (["--decode", "viterbi"], "decode: expected one of best, mbr, found 'viterbi'"),
        (["--order", "2", "--projective", "no"], "second-order trees are projective"),
        (["--order", "3"], "--order"),
        (["--epochs", "0"], "--epochs"),
        (["-k", "0"], "-k"),
        (["--bits", "40"], "--bits"),
        (["--rate", "0"], "rate: expected above 0"),
        (["--aggressiveness", "inf"], "aggressiveness: expected above 0"),
        (["--seed", "-1"], "seed: expected 0"),
        (["--patience", "2"], "--patience needs held-out text: give it with --dev"),
        (["--jackknife", "1"], "jackknife: expected 2 to 150 parts"),
        (["--jackknife", "151"], "jackknife: expected 2 to 150 parts"),
        (["--tags", "pos"], "tags: expected upos or xpos, found 'pos'"),
        (["--tagger", tmp_path / "none"], "No such file"),
        (["--dev", tmp_path / "none"], "No such file"),
    ]:
        refused(here(*order, *options), message)
    refused(here(*order[:3], "-o", "-"), "-o")
    refused(here(*order[:3], "-o", tmp_path / "no" / "m"), tmp_path / "no")
    assert list(tmp_path.iterdir()) == []
