"""`syntagma tag`: only the tag column changes; n best; probabilities; every way in and out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cli.checks import without
from syntagma.corpora import read_bytes, read_treebank, write_treebank
from syntagma.corpora.files import atomic_write
from syntagma.models.tagger import Tagger


@pytest.fixture
def rich(files):
    """The text of the file that holds everything that tagging must keep."""
    return files.rich.read_text(encoding="utf-8")


def test_pipes_and_files_agree_and_keep_every_other_byte(command, here, files, tmp_path, rich):
    piped = command("tag", files.model, "-", stdin=rich.encode())
    assert (piped.status, piped.err) == (0, "")
    summary = here("tag", files.model, files.rich, "-o", tmp_path / "out.conllu", "--json").json
    assert summary["output"] == str(tmp_path / "out.conllu")
    assert (summary["words"], summary["sentences"]) == (9, 2)
    assert summary["seconds"] >= summary["seconds_tagging"] >= 0
    assert (tmp_path / "out.conllu").read_bytes() == piped.out
    text = piped.out.decode()
    assert without(text, 3) == without(rich, 3)
    tags = read_treebank(tmp_path / "out.conllu").upos.strings()
    assert tags == Tagger.load(files.model).predict(read_treebank(files.rich)).upos.strings()
    assert tags[:2] == ["DET", "NOUN"]


@pytest.mark.parametrize("ending", [".xz", ".gz", ".bz2", ".zst"])
def test_compressed_in_and_out(here, files, tmp_path, ending, rich):
    source, target = tmp_path / f"in.conllu{ending}", tmp_path / f"out.conllu{ending}"
    with atomic_write(source) as file:
        file.write(rich.encode())
    assert here("tag", files.model, source, "-o", target).status == 0
    plain = here("tag", files.model, files.rich).out
    assert target.read_bytes() != plain
    assert read_bytes(target) == plain


@pytest.mark.parametrize("variant", ["crlf", "mark", "no final newline", "all"])
def test_other_line_ends_and_marks_are_kept(here, files, tmp_path, variant, rich):
    text = rich
    if variant in ("no final newline", "all"):
        text = text.rstrip("\n")
    if variant in ("crlf", "all"):
        text = text.replace("\n", "\r\n")
    if variant in ("mark", "all"):
        text = "\ufeff" + text
    (tmp_path / "in.conllu").write_bytes(text.encode())
    tagged = here("tag", files.model, tmp_path / "in.conllu").out.decode()
    assert without(tagged, 3) == without(text, 3)
    plain = here("tag", files.model, files.rich).out.decode()
    assert tagged.replace("\r\n", "\n").removeprefix("\ufeff").strip() == plain.strip()


def test_marginals_stand_in_misc_beside_what_was_there(here, files):
    tagged = here("tag", files.model, files.rich, "--marginals").out
    rows = [line.split("\t") for line in tagged.decode().split("\n") if line[:1].isdigit()]
    miscs = {row[0]: row[9] for row in rows[:8]}
    assert re.fullmatch(r"Src=a\|TagProb=[01]\.\d{4}", miscs["2"]), "the earlier value is replaced"
    assert re.fullmatch(r"Lang=en\|TagProb=[01]\.\d{4}", miscs["4"])
    assert re.fullmatch(r"TagProb=[01]\.\d{4}", miscs["1"])
    assert (miscs["3-4"], miscs["3.1"]) == ("SpaceAfter=No", "_")
    tagger = Tagger.load(files.model)
    _, confidence = tagger.decide(read_treebank(files.rich))
    stated = [float(row[9].split("TagProb=")[1]) for row in rows if row[0].isdigit()]
    np.testing.assert_allclose(stated, confidence, atol=6e-5)


def test_nbest_is_distinct_sorted_and_no_more_than_certain(here, files, tmp_path):
    target = tmp_path / "ranked.conllu"
    assert here("tag", files.model, files.dev, "--nbest", "4", "-o", target).status == 0
    ranked, source = read_treebank(target), read_treebank(files.dev)
    best = Tagger.load(files.model).set_params(decode="viterbi").predict(source)
    assert len(ranked) == 4 * len(source)
    for index, sentence in enumerate(source):
        several = list(ranked[4 * index : 4 * index + 4])
        assert [s.comments["rank"] for s in several] == ["1", "2", "3", "4"]
        assert all(s.forms == sentence.forms for s in several)
        assert len({tuple(s.tags) for s in several}) == 4
        logs = [float(s.comments["log_probability"]) for s in several]
        assert logs == sorted(logs, reverse=True)
        assert sum(np.exp(logs)) <= 1 + 1e-5
        assert several[0].tags == best[index].tags


def test_all_tags_of_one_word_are_certain_together(here, files, tmp_path):
    (tmp_path / "in.txt").write_text("stop\n", encoding="utf-8")
    ranked = here("tag", files.model, tmp_path / "in.txt", "--nbest", "50").out.decode()
    logs = re.findall("# log_probability = (.*)", ranked)
    assert len(logs) == len(Tagger.load(files.model).labels_)
    assert sum(np.exp([float(p) for p in logs])) == pytest.approx(1, abs=1e-5)


def test_the_best_sequence_is_another_way_to_decode(here, files):
    best = Tagger.load(files.model).set_params(decode="viterbi").predict(read_treebank(files.dev))
    tagged = here("tag", files.model, files.dev, "--decode", "viterbi").out
    assert tagged == best.written.text


def test_plain_text_becomes_conllu(command, files, tmp_path):
    (tmp_path / "in.txt").write_text("The vans stop .\n\nEvery crew moves\n", encoding="utf-8")
    tagged = command("tag", files.model, tmp_path / "in.txt")
    piped = command("tag", files.model, "--format", "text", stdin=b"The vans stop .\n")
    assert tagged.status == piped.status == 0
    assert tagged.out.startswith(piped.out)
    rows = [line.split("\t") for line in tagged.out.decode().split("\n")]
    assert rows[0][:4] == ["1", "The", "_", "DET"]
    assert [row[1] for row in rows if len(row) == 10] == [
        "The",
        "vans",
        "stop",
        ".",
        "Every",
        "crew",
        "moves",
    ]


def test_tsv_and_brackets_stay_what_they_are(here, files, tmp_path):
    (tmp_path / "in.tsv").write_text("The\tX\t2\nvans\tX\t0\n\nCrews\tX\t0\n", encoding="utf-8")
    tagged = here("tag", files.model, tmp_path / "in.tsv").out.decode()
    assert re.fullmatch(r"The\tDET\t2\nvans\tNOUN\t0\n\nCrews\t\w+\t0\n", tagged)
    trees = "( (S (NP (X The) (X vans)) (-NONE- *)\n (VP (X stop))))\n"
    (tmp_path / "in.mrg").write_text(trees, encoding="utf-8")
    assert here("tag", files.model, tmp_path / "in.mrg", "-o", tmp_path / "out.mrg").status == 0
    tagged = (tmp_path / "out.mrg").read_text(encoding="utf-8")
    assert re.sub(r"\((DET|NOUN|VERB) ", "(X ", tagged).split() == trees.split()
    assert "(DET The) (NOUN vans)" in tagged


def test_a_model_of_fine_tags_fills_their_column(here, files, tmp_path, rich):
    model = tmp_path / "fine"
    options = ["--tags", "xpos", "--iterations", "20", "--features", "word,suffix2"]
    assert here("train", "tagger", files.train, "-o", model, *options).status == 0
    tagged = here("tag", model, files.rich).out.decode()
    assert without(tagged, 4) == without(rich, 4)
    write_treebank(read_treebank(files.rich), tmp_path / "in.tsv")
    tagged = here("tag", model, tmp_path / "in.tsv").out.decode()
    assert tagged.startswith("The\tDT\t2\n")


def test_the_model_may_come_through_a_pipe(command, files):
    card = command("inspect", "-", "--json", stdin=files.model.read_bytes()).json
    assert card["kind"] == "tagger"
