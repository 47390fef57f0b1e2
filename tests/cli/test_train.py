"""`syntagma train tagger`: what it writes and says, and every option that changes the model."""

from __future__ import annotations

import pytest

from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.generated import english
from syntagma.models.tagger import Tagger

QUICK = ("--iterations", "6", "--features", "word,suffix2", "--json")


def trained(here, output, *arguments):
    summary = here("train", "tagger", *arguments, "-o", output, *QUICK).json
    assert summary["model"] == str(output)
    return summary, Tagger.load(output)


def test_the_summary_tells_the_work_done(files):
    summary = files.trained
    treebank = read_treebank(files.train)
    assert summary["model"] == str(files.model)
    assert (summary["words"], summary["sentences"]) == (treebank.words, len(treebank))
    assert summary["iterations"] == 25
    assert summary["seconds"] > 0
    assert summary["column"] == "upos"
    assert summary["dev"]["accuracy"] > 80
    assert [at for at, _ in summary["learning_curve"]] == [10, 20]
    assert sorted(p.name for p in files.model.parent.iterdir()) == sorted(
        p.name for p in (files.train, files.dev, files.rich, files.model)
    ), "neither a checkpoint nor a temporary file is left"


def test_the_defaults_are_those_of_the_model(files):
    assert Tagger.load(files.model).get_params() == Tagger(iterations=25).get_params()


def test_the_same_command_writes_the_same_bytes_whatever_the_threads(here, files, tmp_path):
    options = ["--iterations", "25", "--dev", files.dev, "--jobs", "1"]
    here("train", "tagger", files.train, "-o", tmp_path / "again", *options)
    assert (tmp_path / "again").read_bytes() == files.model.read_bytes()


def test_several_files_limit_and_tag_column(here, files, tmp_path):
    summary, model = trained(here, tmp_path / "a", files.train, files.dev, "--tags", "xpos")
    assert summary["sentences"] == 190
    assert summary["column"] == "xpos"
    assert "NNS" in model.labels_
    summary, model = trained(here, tmp_path / "b", files.train, files.dev, "--limit", "160")
    assert summary["sentences"] == 160
    assert "NOUN" in model.labels_
    assert model.get_params()["features"] == ("word", "suffix2")


@pytest.mark.parametrize("kind", ["conllx", "tsv", "mrg"])
def test_other_formats_give_the_same_model(here, files, tmp_path, kind):
    path = tmp_path / f"train.{kind}"
    if kind == "mrg":
        path.write_text("\n".join(english(150, seed=3).brackets), encoding="utf-8")
    else:
        write_treebank(read_treebank(files.train, tags="xpos"), path)
    summary, model = trained(here, tmp_path / "a", path, "--tags", "xpos")
    _, same = trained(here, tmp_path / "b", files.train, "--tags", "xpos")
    assert summary["words"] == read_treebank(files.train).words
    assert model.weights_.tolist() == same.weights_.tolist()


def test_model_options_reach_the_model(here, files, tmp_path):
    options = ["--order", "2", "--l2", "0.5", "--min-count", "2", "--decode", "viterbi"]
    _, model = trained(
        here, tmp_path / "a", files.train, *options, "--restrict", "3", "--unseen-pairs", "2"
    )
    chosen = dict(order=2, l2=0.5, min_count=2, decode="viterbi", restrict=3, unseen_pairs=2)
    assert chosen.items() <= model.get_params().items()
    tagged = model.predict(read_treebank(files.dev))
    seen: dict[str, set[str]] = {}
    treebank = read_treebank(files.train)
    forms = treebank.forms.strings()
    for form, tag in zip(forms, treebank.tags.strings(), strict=True):
        seen.setdefault(form, set()).add(tag)
    checked = 0
    for form, tag in zip(tagged.forms.strings(), tagged.tags.strings(), strict=True):
        if forms.count(form) >= 3:
            assert tag in seen[form]
            checked += 1
    assert checked > 100


def test_a_dictionary_limits_words_without_a_tag(here, files, tmp_path):
    (tmp_path / "dictionary").write_text("vans\tVERB,INTJ\nthe\tDET\n", encoding="utf-8")
    summary, model = trained(
        here, tmp_path / "a", files.train, "--dictionary", tmp_path / "dictionary"
    )
    assert summary["annotated_words"] == summary["words"]
    assert set(model.labels_) > {"INTJ", "VERB"}
    tags = model.predict(read_treebank(files.rich)).upos.strings()
    assert tags[1] in ("VERB", "INTJ")


def test_partly_annotated_text_counts_only_its_tags(here, files, tmp_path):
    treebank = read_treebank(files.train)
    tags = [t if i % 2 else "_" for i, t in enumerate(treebank.tags.strings())]
    write_treebank(treebank.replace(tags=tags), tmp_path / "half.conllu")
    summary, _ = trained(here, tmp_path / "a", tmp_path / "half.conllu")
    assert summary["annotated_words"] == treebank.words // 2
    assert summary["words"] == treebank.words


def test_a_warm_start_begins_where_the_other_model_ended(here, files, tmp_path):
    options = ["--features", ",".join(Tagger.load(files.model).features), "--iterations", "0"]
    start = here("train", "tagger", files.train, "-o", tmp_path / "a", *options, "--json").json
    warm = here(
        *("train", "tagger", files.train, "-o", tmp_path / "b", *options, "--json"),
        *("--warm-start", files.model),
    ).json
    assert start["log_likelihood"] < warm["log_likelihood"]
    assert Tagger.load(tmp_path / "b").weights_.tolist() == pytest.approx(
        Tagger.load(files.model).weights_.tolist()
    )


def test_resuming_needs_the_same_data_and_options(here, files, tmp_path):
    output = tmp_path / "model"
    checkpoint = tmp_path / "model.checkpoint"
    order = ["train", "tagger", files.train, "-o", output, "--features", "word,suffix2"]
    assert here(*order, "--resume").status == 0, "without a checkpoint it starts afresh"
    assert not checkpoint.exists()

    def stop(iteration, total, value):
        if iteration == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tagger(features=("word", "suffix2")).fit(
            read_treebank(files.train), checkpoint=checkpoint, checkpoint_every=0, progress=stop
        )
    whole = output.read_bytes()
    state = checkpoint.read_bytes()
    refused = here(*order, "--resume", "--l2", "2")
    assert refused.status == 2
    assert refused.err.startswith(f"syntagma: {checkpoint}: this checkpoint belongs to other data")
    assert refused.err.count("\n") == 1
    checkpoint.write_bytes(state[: len(state) // 2])
    assert here(*order, "--resume").status == 2
    assert output.read_bytes() == whole
    checkpoint.write_bytes(state)
    assert here(*order, "--resume").status == 0
    assert output.read_bytes() == whole
    assert not checkpoint.exists()
