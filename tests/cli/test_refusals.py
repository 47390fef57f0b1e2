"""Bad input: exit status 2, one line that says where and what, and nothing else changed."""

from __future__ import annotations

import gzip
import os
import subprocess
import time
from pathlib import Path

import pytest

from cli.checks import refused
from syntagma.corpora.files import atomic_write
from syntagma.models.tagger import Tagger
from syntagma.training.storage import read_arrays, write_arrays

ROW = "{}\tw\tl\tN\tNN\t_\t{}\tdep\t_\t_\n"
GOOD = ROW.format(1, 0) + ROW.format(2, 1) + "\n"
EARLIER = b"what stood here before"

TEXTS = {
    "missing columns": (GOOD + "1\tw\n", 4, "expected 10 tab-separated columns, found 2"),
    "ragged columns": (GOOD + ROW.format(1, 0)[:-1] + "\t_\n", 4, "found 11"),
    "a cycle": (GOOD + ROW.format(1, 2) + ROW.format(2, 1), 4, "cycle"),
    "a head outside": (GOOD + ROW.format(1, 5), 4, "expected a head from 0 to 1, found 5"),
    "a repeated id": (GOOD + ROW.format(1, 0) * 2, 5, "expected word 2 of the sentence"),
    "a missing id": (GOOD + ROW.format(1, 0) + ROW.format(3, 1), 5, "expected word 2"),
    "an empty file": ("", None, "expected at least one sentence, found none"),
    "a null character": (GOOD + "1\t\0\n", 4, "expected text, found a null character"),
    "another encoding": (GOOD.encode() + b"1\t\xe9\n", 4, "expected UTF-8 text, found byte 0xe9"),
    "utf-16": (GOOD.encode("utf-16"), 1, "expected UTF-8 text, found byte 0xff"),
    "bytes": (bytes(range(256)) * 8, 2, "expected UTF-8 text, found byte 0x80"),
    "no words": (GOOD + "# a comment\n\n", 4, "expected a sentence, found comments without a word"),
    "ten megabytes in a line": ("x" * 10_000_000, 1, "expected 10 tab-separated columns, found 1"),
    "ten megabytes of tabs": ("x\t" * 5_000_000, 1, "expected 10 tab-separated columns"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_broken_treebanks_name_the_line(here, files, tmp_path, case):
    content, line, message = TEXTS[case]
    path = tmp_path / "broken.conllu"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    output = tmp_path / "out.conllu"
    place = f"{path}:{line}: " if line else f"{path}: "
    start = time.perf_counter()
    refused(here("tag", files.model, path, "-o", output), place, message)
    assert not output.exists()
    output.write_bytes(EARLIER)
    refused(here("tag", files.model, path, "-o", output, "--json"), place)
    refused(here("train", "tagger", path, "-o", output), place)
    refused(here("evaluate", path, files.dev, "--report", output), place)
    refused(here("render", path, "-o", output), place)
    assert output.read_bytes() == EARLIER
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken.conllu", "out.conllu"]
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("ending", [".xz", ".gz", ".bz2", ".zst"])
def test_cut_off_compressed_files(here, files, tmp_path, ending):
    path = tmp_path / f"a.conllu{ending}"
    with atomic_write(path) as file:
        file.write(GOOD.encode() * 50)
    whole = path.read_bytes()
    for damaged in (b"", whole[:-3], whole[: len(whole) // 2], b"plain text, not compressed"):
        path.write_bytes(damaged)
        refused(here("tag", files.model, path), path, f"expected {ending[1:]} data")


def test_broken_dictionaries(here, files, tmp_path):
    path, output = tmp_path / "dictionary", tmp_path / "model"
    for content, message in [
        (b"the\tDET\nvan\n", ":2: expected word TAB tag[,tag...]"),
        (b"the\tDET,\n", ":1: expected word TAB"),
        (b"\xff\tDET\n", ":1: expected UTF-8 text"),
        (b"\n\n", ": expected at least one word"),
    ]:
        path.write_bytes(content)
        order = ["train", "tagger", files.train, "-o", output, "--dictionary", path]
        refused(here(*order), f"{path}{message}")
    assert not output.exists()


def hostile(files, tmp_path):
    """Model files that are none, by name."""
    whole = files.model.read_bytes()
    header, texts, arrays = read_arrays(files.model)
    made = {"half": whole[: len(whole) // 2], "empty": b"", "text": GOOD.encode()}
    made |= {"short": whole[:-1], "gzip": gzip.compress(whole)}
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    write_arrays(tmp_path / "kind", header | {"kind": "parser"}, texts, arrays)
    write_arrays(tmp_path / "version", header | {"format": 2}, texts, arrays)
    write_arrays(tmp_path / "labels", header, texts | {"labels": texts["labels"][:-1]}, arrays)
    return {
        "half": "cut off or damaged",
        "empty": "not a syntagma model file",
        "text": "not a syntagma model file",
        "short": "cut off or damaged",
        "gzip": "not a syntagma model file",
        "kind": "'parser'",
        "version": "expected model format 1, found 2",
        "labels": "the tagger model is damaged",
        "nothing": "No such file",
        ".": "directory",
    }


def test_models_of_another_kind_version_or_length(here, files, tmp_path):
    output = tmp_path / "out"
    output.write_bytes(EARLIER)
    for name, message in hostile(files, tmp_path).items():
        path = tmp_path / name
        refused(here("tag", path, files.rich, "-o", output), path, message)
        refused(here("inspect", path, "--picture", output), path)
        train = ["train", "tagger", files.train, "-o", output, "--warm-start", path]
        refused(here(*train), path)
    assert output.read_bytes() == EARLIER


def test_files_that_are_not_there(here, files, tmp_path):
    nothing = tmp_path / "nothing.conllu"
    for order in (
        ["tag", files.model, nothing],
        ["train", "tagger", nothing, "-o", tmp_path / "m"],
        ["train", "tagger", files.train, nothing, "-o", tmp_path / "m"],
        ["train", "tagger", files.train, "--dev", nothing, "-o", tmp_path / "m"],
        ["train", "tagger", files.train, "--dictionary", nothing, "-o", tmp_path / "m"],
        ["evaluate", files.dev, nothing],
        ["evaluate", nothing, files.dev],
        ["evaluate", files.dev, files.dev, "--baseline", nothing],
        ["render", nothing],
        ["render", files.dev, "--gold", nothing],
    ):
        refused(here(*order), nothing, "No such file")
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_cannot_be_written(here, files, tmp_path):
    below = tmp_path / "file" / "out"
    (tmp_path / "file").write_bytes(EARLIER)
    for output in (below, Path("/proc/nothing-here"), tmp_path / "no" / "directory"):
        refused(here("train", "tagger", files.train, "-o", output), output.parent)
        for order in (
            ["tag", files.model, files.rich, "-o", output],
            ["render", files.rich, "-o", output],
            ["inspect", files.model, "--picture", output],
            ["evaluate", files.rich, files.rich, "--report", output],
        ):
            refused(here(*order), output)
    refused(here("demo", "-o", below), tmp_path / "file")
    refused(here("tag", files.model, files.rich, "-o", tmp_path), tmp_path)
    refused(here("train", "tagger", files.train, "-o", tmp_path), tmp_path)
    assert (tmp_path / "file").read_bytes() == EARLIER
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_full_disk(command, here, files, tmp_path):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    for order in (
        ["tag", files.model, files.rich, "-o", full],
        ["render", files.rich, "-o", full],
        ["inspect", files.model, "--picture", full],
    ):
        refused(here(*order), full, "No space left on device")
    shell = 'exec "$@" > /dev/full'
    for order in (["tag", files.model, files.rich], ["inspect", files.model]):
        ended = subprocess.run(
            ["sh", "-c", shell, "sh", *command.words, *order], stderr=subprocess.PIPE, check=False
        )
        assert ended.returncode == 2
        assert ended.stderr.decode() == ("syntagma: standard output: No space left on device\n"), (
            "and no complaint at interpreter exit"
        )


def test_a_disk_that_fills_up_keeps_the_earlier_file(here, files, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        output = disk / "model"
        output.write_bytes(EARLIER)
        train = ["train", "tagger", files.train, "-o", output, "--iterations", "2"]
        refused(here(*train), output, "No space left on device")
        big = tmp_path / "big.conllu"
        big.write_text(GOOD * 5000, encoding="utf-8")
        refused(here("tag", files.model, big, "-o", output), output, "No space left on device")
        assert output.read_bytes() == EARLIER
        assert os.listdir(disk) == ["model"]
    finally:
        subprocess.run(["umount", disk], check=True)


USAGE = {
    "no such command": (["flag"], "flag"),
    "no such model": (["train", "parsnip"], "parsnip"),
    "unknown option": (["tag", "m", "--colour"], "--colour"),
    "no output": (["train", "tagger", "a"], "--output"),
    "no model": (["tag"], "FILE"),
    "one file": (["evaluate", "a"], "PREDICTED"),
    "order": (["train", "tagger", "a", "-o", "m", "--order", "3"], "--order"),
    "negative l2": (["train", "tagger", "a", "-o", "m", "--l2", "-1"], "--l2"),
    "l2 in words": (["train", "tagger", "a", "-o", "m", "--l2", "much"], "--l2"),
    "limit": (["train", "tagger", "a", "-o", "m", "--limit", "-1"], "--limit"),
    "nbest": (["tag", "m", "a", "--nbest", "-2"], "--nbest"),
    "jobs": (["tag", "m", "a", "--jobs", "-1"], "--jobs"),
}


@pytest.mark.parametrize("case", USAGE)
def test_usage(here, case):
    arguments, name = USAGE[case]
    refused(here(*arguments), name, "--help")


def test_values_that_cannot_be(here, files, tmp_path):
    output = tmp_path / "model"
    train = ["train", "tagger", files.train, "-o", output]
    for options, message in [
        (["--decode", "guess"], "decode: expected posterior or viterbi, found 'guess'"),
        (["--l2", "nan"], "'--l2'"),
        (["--l2", "inf"], "l2: expected a number"),
        (["--tolerance", "nan"], "'--tolerance'"),
        (["--features", ""], "a feature template looks like"),
        (["--features", "word,nonsense"], "no word function is called 'nonsense'"),
        (["--features", "word[x]"], "found 'word[x]'"),
        (["--tags", "pos"], "tags: expected upos or xpos, found 'pos'"),
        (["--format", "xml"], "format: expected one of"),
    ]:
        refused(here(*train, *options), message)
    refused(here("train", "tagger", files.train, "-o", "-"), "-o")
    tag = ["tag", files.model, files.rich]
    refused(here(*tag, "--json"), "--json prints on stdout")
    refused(here(*tag, "--decode", "guess"), "decode")
    refused(here(*tag, "--nbest", "2", "--marginals"), "--nbest and --marginals")
    refused(here(*tag, "-o", tmp_path / "out.txt"), "out.txt: plain text has no room for tags")
    refused(here(*tag, "--format", "xml"), "format")
    refused(here("render", files.rich, "--json"), "--json prints on stdout")
    assert list(tmp_path.iterdir()) == []


def test_text_without_tags_teaches_nothing(here, files, tmp_path):
    (tmp_path / "a.txt").write_text("no tags here\n", encoding="utf-8")
    order = ["train", "tagger", tmp_path / "a.txt", "-o", tmp_path / "m"]
    refused(here(*order), tmp_path / "a.txt", "expected tags in the upos column, found none")


def test_gold_and_predicted_of_other_texts(here, files, tmp_path):
    other = tmp_path / "other.conllu"
    text = files.rich.read_text(encoding="utf-8")
    other.write_text(text.replace("vans", "cars"), encoding="utf-8")
    message = "sentence 1 (r1): word 2 is 'vans' in gold, 'cars' in predicted"
    refused(here("evaluate", files.rich, other), other, message)
    refused(here("evaluate", files.rich, files.rich, "--baseline", other), other, message)
    refused(here("render", other, "-o", tmp_path / "p", "--gold", files.rich), message)
    other.write_text(text[: text.index("# sent_id = r2")], encoding="utf-8")
    refused(here("evaluate", files.rich, other), other, "gold has 2 sentences, predicted 1")
    (tmp_path / "bare.txt").write_text("The vans\n", encoding="utf-8")
    refused(here("evaluate", tmp_path / "bare.txt", tmp_path / "bare.txt"), "nothing to score")
    assert not (tmp_path / "p").exists()


def test_debug_shows_the_traceback(here, command, tmp_path):
    nothing = tmp_path / "nothing"
    for result in (here("inspect", nothing, "--debug"), command("--debug", "inspect", nothing)):
        assert result.status == 2
        assert result.err.startswith("Traceback")
        assert "InputError" in result.err
        assert result.err.endswith(f"syntagma: {nothing}: No such file or directory\n")


def test_an_internal_error_is_one_line_too(here, files, monkeypatch):
    monkeypatch.setattr(Tagger, "load", lambda path: 1 // 0)
    result = here("tag", files.model, files.rich)
    assert (result.status, result.out) == (1, b"")
    assert result.err == (
        "syntagma: internal error: ZeroDivisionError: integer division or modulo by zero "
        "(--debug shows where)\n"
    )
