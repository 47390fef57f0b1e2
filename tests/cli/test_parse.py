"""`syntagma parse`: only heads and labels change; n best; probabilities, and who reads them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cli.checks import refused, without
from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.treebank import Treebank
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger

HEAD, LABEL, MISC = 6, 7, 9


@pytest.fixture(scope="module")
def parsers(files, tmp_path_factory):
    """Three small parsers: of the first order, of the second, and with a tagger of its own."""
    home = tmp_path_factory.mktemp("parsers")
    treebank = read_treebank(files.train)
    DependencyParser(epochs=3, bits=16).fit(treebank).save(home / "first")
    second = DependencyParser(order=2, learner="log-linear", epochs=3, bits=16)
    second.fit(treebank).save(home / "second")
    own = DependencyParser(epochs=2, bits=16).fit(treebank, tagger=Tagger.load(files.model))
    own.save(home / "own")
    return home


@pytest.fixture
def rich(files):
    """The text of the file that holds everything that parsing must keep."""
    return files.rich.read_text(encoding="utf-8")


def test_pipes_and_files_agree_and_keep_every_other_byte(
    command, here, files, parsers, tmp_path, rich
):
    piped = command("parse", parsers / "first", "-", stdin=rich.encode())
    assert (piped.status, piped.err) == (0, "")
    target = tmp_path / "out.conllu"
    summary = here("parse", parsers / "first", files.rich, "-o", target, "--json").json
    assert summary["output"] == str(target)
    assert (summary["words"], summary["sentences"]) == (9, 2)
    assert summary["seconds"] >= summary["seconds_parsing"] >= 0
    assert target.read_bytes() == piped.out
    text = piped.out.decode()
    assert without(text, HEAD, LABEL) == without(rich, HEAD, LABEL)
    parsed = DependencyParser.load(parsers / "first").predict(read_treebank(files.rich))
    out = read_treebank(target)
    assert out.heads.tolist() == parsed.heads.tolist()
    assert out.labels.strings() == parsed.labels.strings()
    told = here("parse", parsers / "first", files.rich, "-o", target).out.decode()
    assert told.startswith("parsed 9 words in ")


def test_it_parses_well(here, files, parsers, tmp_path):
    for name in ("first", "second", "own"):
        target = tmp_path / f"{name}.conllu"
        assert here("parse", parsers / name, files.dev, "-o", target).status == 0
        scores = here("evaluate", files.dev, target, "--json", "--bootstrap", "0").json
        assert scores["uas"] > 75
        assert scores["las"] > 65


def test_one_and_two_threads_write_the_same_bytes(command, files, parsers):
    for options in ([], ["--marginals"]):
        order = ("parse", parsers / "second", files.dev, *options)
        one, two = (command(*order, "--jobs", jobs) for jobs in ("1", "2"))
        assert one.status == two.status == 0
        assert one.out == two.out


def test_a_tagger_of_its_own_tags_first(here, files, parsers, tmp_path, rich):
    parsed = here("parse", parsers / "own", files.rich).out.decode()
    assert without(parsed, 3, HEAD, LABEL) == without(rich, 3, HEAD, LABEL)
    tagged = here("tag", files.model, files.rich).out.decode()
    assert without(parsed, HEAD, LABEL) == without(tagged, HEAD, LABEL)
    (tmp_path / "in.txt").write_text("The vans stop .\n\nStop\n", encoding="utf-8")
    raw = here("parse", parsers / "own", tmp_path / "in.txt").out.decode()
    rows = [line.split("\t") for line in raw.splitlines() if line]
    assert [len(row) for row in rows] == [10] * 5
    assert rows[0][:4] == ["1", "The", "_", "DET"]
    assert rows[4][HEAD] == "0", "the only word is the root"
    ranked = here("parse", parsers / "own", tmp_path / "in.txt", "--nbest", "2").out.decode()
    assert re.findall("# rank = (.)", ranked) == ["1", "2", "1"], "one word has but one tree"


def test_text_without_the_tags_it_needs_is_refused(command, here, files, parsers, tmp_path):
    path, target = tmp_path / "in.txt", tmp_path / "out.conllu"
    path.write_text("The vans stop .\n", encoding="utf-8")
    message = "expected tags in the upos column, found none: this parser has no tagger of its own"
    for options in ([], ["--marginals"], ["--nbest", "2"]):
        refused(here("parse", parsers / "first", path, "-o", target, *options), path, message)
    piped = command("parse", parsers / "first", "--format", "text", stdin=b"The vans\n")
    refused(piped, f"-: {message}")
    fine = tmp_path / "fine.conllu"
    blank = re.sub(r"\tX\t", "\t_\t", files.rich.read_text(encoding="utf-8"))
    fine.write_text(blank, encoding="utf-8")
    refused(here("parse", parsers / "first", fine, "-o", target), fine, message)
    assert not target.exists()


def test_tags_labels_and_words_never_seen(here, parsers, tmp_path, rich):
    strange = rich.replace("\tX\t", "\tQQ\t").replace("\tdet\t", "\tneverseen\t")
    strange = strange.replace("vans", "ωάν")
    (tmp_path / "in.conllu").write_text(strange, encoding="utf-8")
    for name in ("first", "second"):
        text = here("parse", parsers / name, tmp_path / "in.conllu").out.decode()
        assert without(text, HEAD, LABEL) == without(strange, HEAD, LABEL)
        assert "neverseen" not in text
        heads = [row.split("\t")[HEAD] for row in text.split("\n") if row[:1].isdigit()]
        assert heads.count("0") == 2


def test_marginals_stand_in_misc_beside_what_was_there(here, files, parsers, tmp_path, rich):
    (tmp_path / "in.conllu").write_text(rich.replace("Src=a", "HeadProb=0.1"), encoding="utf-8")
    order = ["parse", parsers / "second", tmp_path / "in.conllu"]
    text = here(*order, "--marginals").out.decode()
    rows = [line.split("\t") for line in text.split("\n") if line[:1].isdigit()]
    miscs = {row[0]: row[MISC] for row in rows[:8]}
    stated = r"HeadProb=[01]\.\d{4}\|LabelProb=[01]\.\d{4}"
    assert re.fullmatch(rf"TagProb=0.5\|{stated}", miscs["2"]), "the earlier value is replaced"
    assert re.fullmatch(rf"Lang=en\|{stated}", miscs["4"])
    assert re.fullmatch(stated, miscs["1"])
    assert (miscs["3-4"], miscs["3.1"]) == ("SpaceAfter=No", "_")
    assert without(text, HEAD, LABEL, MISC) == without(rich, HEAD, LABEL, MISC)
    parsed = DependencyParser.load(parsers / "second").decide(read_treebank(files.rich))
    found = np.array(re.findall(r"HeadProb=([\d.]+)\|LabelProb=([\d.]+)", text), float)
    np.testing.assert_allclose(found[:, 0], parsed.head_probability, atol=6e-5)
    np.testing.assert_allclose(found[:, 1], parsed.label_probability, atol=6e-5)
    plain = here(*order).out.decode()
    assert without(plain, MISC) == without(text, MISC)


def test_nbest_is_distinct_sorted_and_no_more_than_certain(here, files, parsers, tmp_path):
    for name in ("second", "own"):
        target = tmp_path / f"{name}.conllu"
        order = ["parse", parsers / name, files.dev, "--nbest", "4"]
        assert here(*order, "-o", target).status == 0
        ranked, source = read_treebank(target), read_treebank(files.dev)
        parser = DependencyParser.load(parsers / name)
        best = parser.predict(source)
        at = 0
        for index, sentence in enumerate(best):
            several = []
            while at < len(ranked) and (ranked[at].comments["rank"] != "1" or not several):
                several.append(ranked[at])
                at += 1
            assert [s.comments["rank"] for s in several] == ["1", "2", "3", "4"][: len(several)]
            assert len(several) == 4 or len(sentence) < 4
            assert all((s.forms, s.tags) == (sentence.forms, sentence.tags) for s in several)
            assert len({tuple(s.heads) for s in several}) == len(several)
            assert several[0].heads == sentence.heads
            assert several[0].labels == sentence.labels
            logs = [float(s.comments["log_probability"]) for s in several]
            assert logs == sorted(logs, reverse=True)
            assert sum(np.exp(logs)) <= 1 + 1e-5
            assert source[index].forms == sentence.forms
        assert at == len(ranked)
        relabelled = parser.with_heads(parser.tagged(ranked), ranked.heads)
        assert relabelled.labels.strings() == ranked.labels.strings(), "labels suit their own tree"


def test_all_trees_of_three_words_are_certain_together(here, parsers, tmp_path):
    (tmp_path / "in.tsv").write_text("The\tDET\nvans\tNOUN\nstop\tVERB\n", encoding="utf-8")
    ranked = here("parse", parsers / "first", tmp_path / "in.tsv", "--nbest", "50").out.decode()
    logs = re.findall("# log_probability = (.*)", ranked)
    assert len(logs) == 7, "the projective trees of three words with one root"
    assert sum(np.exp([float(p) for p in logs])) == pytest.approx(1, abs=1e-5)


def test_the_most_expected_arcs_are_another_way_to_decode(here, files, parsers):
    source = read_treebank(files.dev)
    parser = DependencyParser.load(parsers / "first")
    best = parser.predict(source)
    expected = parser.set_params(decode="mbr").predict(source)
    text = here("parse", parsers / "first", files.dev, "--decode", "mbr").out
    assert text == expected.written.text
    arcs = zip(parser.marginals(source), expected, best, strict=True)
    sums = [
        [sum(m[head, i] for i, head in enumerate(t.heads)) for t in trees] for m, *trees in arcs
    ]
    assert all(ours >= theirs - 1e-9 for ours, theirs in sums)


def test_other_formats_in_and_out(here, files, parsers, tmp_path):
    (tmp_path / "in.tsv").write_text("The\tDET\t2\nvans\tNOUN\t0\n\nStop\tVERB\t0\n")
    target = tmp_path / "out.tsv"
    assert here("parse", parsers / "first", tmp_path / "in.tsv", "-o", target).status == 0
    text = target.read_text(encoding="utf-8")
    assert re.fullmatch(r"The\tDET\t[02]\nvans\tNOUN\t[01]\n\nStop\tVERB\t0\n\n?", text)
    shown = here("parse", parsers / "first", tmp_path / "in.tsv").out.decode()
    assert shown.split("\n")[0].split("\t")[7] != "_", "labels need CoNLL-U"
    (tmp_path / "in.mrg").write_text("( (S (NP (DET The) (NOUN vans)) (VP (VERB stop))))\n")
    order = ["parse", parsers / "own", tmp_path / "in.mrg", "-o", tmp_path / "out.conllu"]
    assert here(*order).status == 0
    out = read_treebank(tmp_path / "out.conllu")
    assert out[0].forms == ["The", "vans", "stop"]
    assert (out.heads >= 0).all()


def test_a_sentence_of_three_hundred_words_in_second_order(here, parsers, tmp_path):
    words = [f"w{i % 40}" for i in range(300)]
    tags = ["NOUN", "VERB", "ADP", "DET", "ADJ"] * 60
    write_treebank(Treebank.from_sentences([words], upos=[tags]), tmp_path / "long.conllu")
    target = tmp_path / "out.conllu"
    order = ["parse", parsers / "second", tmp_path / "long.conllu", "-o", target]
    assert here(*order, "--marginals").status == 0
    out = read_treebank(target)
    assert (out.heads >= 0).all()
    assert (out.heads == 0).sum() == 1
    assert here(*order, "--nbest", "2").status == 0
    assert len(read_treebank(target)) == 2


def test_reports_read_the_probabilities(here, files, parsers, tmp_path):
    target, page, report = (tmp_path / name for name in ("out.conllu", "page.html", "report.html"))
    order = ["parse", parsers / "second", files.dev, "--marginals", "-o", target]
    assert here(*order).status == 0
    source = read_treebank(files.dev)
    scores = here("evaluate", files.dev, target, "--report", report, "--json").json
    heads = scores["calibration"]["heads"]
    parsed = DependencyParser.load(parsers / "second").decide(source)
    assert heads["words"] == source.words
    assert heads["mean_probability"] == pytest.approx(parsed.head_probability.mean(), abs=1e-4)
    assert heads["abstention"][0]["accuracy"] == pytest.approx(scores["uas"])
    assert "Heads" in report.read_text(encoding="utf-8")
    assert here("render", target, "-o", page, "--limit", "5").status == 0
    drawn = page.read_text(encoding="utf-8")
    assert drawn.count('style="stroke-opacity:') == source[:5].words, (
        "every arc shows how sure it is"
    )
    plain = here("render", files.dev, "--limit", "5").out.decode()
    assert 'style="stroke-opacity:' not in plain


def test_inspect_tells_what_the_parser_holds(here, files, parsers):
    card = here("inspect", parsers / "own", "--json").json
    assert card["kind"] == "mst"
    assert card["bytes"] == (parsers / "own").stat().st_size
    assert card["parameters"]["epochs"] == 2
    assert card["summary"]["own_tagger"] is True
    assert card["summary"]["sentences"] == 150
    assert "nsubj" in card["labels"]
    told = here("inspect", parsers / "own").out.decode()
    for name in ("kind", "order", "projective", "own_tagger", "labels"):
        assert re.search(rf"^{name} ", told, flags=re.M)
    assert max(map(len, told.splitlines())) < 400, "matrices and templates are left out"


def test_models_of_another_kind(here, files, parsers, tmp_path):
    target = tmp_path / "out.conllu"
    order = ["parse", files.model, files.rich, "-o", target]
    refused(here(*order), files.model, "expected a model that parses, found a tagger")
    order = ["tag", parsers / "first", files.rich, "-o", target]
    refused(here(*order), parsers / "first", "expected a tagger model, found a 'mst' model")
    refused(here("parse", files.rich, files.rich), files.rich, "not a syntagma model file")
    whole = (parsers / "first").read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    refused(here("parse", tmp_path / "half", files.rich), tmp_path / "half", "damaged")
    assert not target.exists()


def test_values_that_cannot_be(here, files, parsers, tmp_path):
    order = ["parse", parsers / "first", files.rich]
    refused(here(*order, "--json"), "--json prints on stdout")
    refused(here(*order, "--decode", "guess"), "decode: expected one of best, mbr, found 'guess'")
    refused(here(*order, "--nbest", "2", "--marginals"), "--nbest and --marginals")
    refused(here(*order, "-o", tmp_path / "out.txt"), "out.txt: plain text has no room for trees")
    refused(here(*order, "--nbest", "-1"), "--nbest")
    for name in ("out.conllx", "out.tsv.gz", "out.mrg"):
        lost = here(*order, "--marginals", "-o", tmp_path / name)
        refused(lost, f"{name}: --marginals needs a MISC column: choose .conllu")
    (tmp_path / "empty.conllu").write_bytes(b"")
    refused(here(*order[:2], tmp_path / "empty.conllu"), "expected at least one sentence")
    (tmp_path / "cyclic.conllu").write_text(
        "1\ta\t_\tN\t_\t_\t2\td\t_\t_\n2\tb\t_\tN\t_\t_\t1\td\t_\t_\n\n", encoding="utf-8"
    )
    refused(here(*order[:2], tmp_path / "cyclic.conllu"), "cyclic.conllu:1: ", "cycle")
    refused(here(*order[:2], tmp_path / "none"), tmp_path / "none", "No such file")
