"""The command as a process: pipes that break, Ctrl-C, terminals, odd encodings, a quick start."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.startup import median_seconds
from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.generated import english
from syntagma.models.tagger import Tagger

SLOWER = 3.0  # machines that run tests are busy: so much slower than promised may they be


def test_the_start_is_quick():
    assert median_seconds("import syntagma", 3) < SLOWER * 0.3
    assert median_seconds("--help", 3) < SLOWER * 0.4


def test_help_loads_nothing_heavy():
    heavy = "numpy scipy numba sklearn jinja2 safetensors"
    code = (
        "import sys; from syntagma.cli.app import run; run(['train', 'tagger', '--help']); "
        f"sys.exit(' '.join(set('{heavy}'.split()) & set(sys.modules)) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_help_and_version(here):
    shown = here("--help").out.decode()
    for name in ("demo", "train", "tag", "evaluate", "inspect", "render"):
        assert name in shown
        assert here(name, "--help").status == 0
    assert here().out.decode() == shown
    assert here("train").status == 0
    assert here("--version").out.decode().startswith("syntagma ")


@pytest.fixture(scope="module")
def long_text(tmp_path_factory):
    """A text whose tagging fills any pipe."""
    path = tmp_path_factory.mktemp("long") / "long.conllu"
    write_treebank(english(400, seed=5).treebank, path)
    path.write_bytes(path.read_bytes() * 8)
    return path


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_hears_no_complaint(files, long_text, unbuffered):
    line = f"exec {sys.executable} -m syntagma tag {files.model} {long_text}"
    piped = subprocess.run(
        ["bash", "-c", f"({line}) | head -1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert piped.stdout.count(b"\n") == 1
    assert piped.stderr == b""
    assert piped.returncode == 1


def test_closed_streams_are_named(files):
    line = f"{sys.executable} -m syntagma tag {files.model}"
    for redirection, message in (("<&-", "-: it is closed"), (">&-", "standard output: it is")):
        source = files.rich if redirection == ">&-" else ""
        ended = subprocess.run(
            ["sh", "-c", f"{line} {source} {redirection}"], capture_output=True, check=False
        )
        assert ended.returncode == 2
        assert ended.stderr.decode().startswith(f"syntagma: {message}")
        assert ended.stderr.count(b"\n") == 1


def test_json_is_ascii_whatever_the_terminal(command, files, tmp_path):
    names = [tmp_path / "größe.html", os.fsencode(tmp_path) + b"/\xff.html"]
    for name in names:
        result = command(
            *("render", files.rich, "-o", name, "--json"),
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
        )
        assert os.fsencode(result.json["output"]) == os.fsencode(name)
        assert os.path.exists(name)


def begin(corpus, output, *options):
    """Start a training that would take a while, and wait until it is under way."""
    order = [sys.executable, "-m", "syntagma", "train", "tagger", corpus, "-o", output]
    order += ["--iterations", "5000", "--tolerance", "0", *options]
    # a test run in the background ignores Ctrl-C, and so would its children
    return subprocess.Popen(
        order,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_ctrl_c_keeps_the_earlier_model_and_a_checkpoint(long_text, tmp_path):
    output = tmp_path / "model"
    output.write_bytes(b"earlier")
    checkpoint = tmp_path / "model.checkpoint"
    process = begin(long_text, output, "--checkpoint-every", "0")
    wait_for(checkpoint.exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == f"syntagma: interrupted: --resume goes on from {checkpoint}\n"
    assert output.read_bytes() == b"earlier"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "model.checkpoint"]
    resumed = Tagger(iterations=5000, tolerance=0.0)

    class Enough(Exception):
        pass

    def first(iteration, total, value):
        raise Enough(iteration)

    with pytest.raises(Enough) as caught:
        resumed.fit(read_treebank(long_text), checkpoint=checkpoint, resume=True, progress=first)
    assert caught.value.args[0] > 1, "it went on where it had been"


def wait_for_kernels(pid, longest=60.0):
    """Wait until a command is past its start: it has loaded what runs kernels in parallel."""
    maps = Path(f"/proc/{pid}/maps")
    until = time.monotonic() + (longest if maps.exists() else 2.5)
    pools = ("omppool", "tbbpool", "workqueue")
    while time.monotonic() < until:
        if maps.exists() and any(pool in maps.read_text() for pool in pools):
            break
        time.sleep(0.05)
    time.sleep(0.5)


def test_ctrl_c_before_a_checkpoint_says_so(long_text, tmp_path):
    output = tmp_path / "model"
    process = begin(long_text, output, "--checkpoint-every", "1000")
    wait_for_kernels(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().startswith("syntagma: interrupted")
    assert err.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_progress_bar_on_a_terminal_only(files, tmp_path):
    order = [sys.executable, "-m", "syntagma", "train", "tagger", files.train]
    order += ["-o", tmp_path / "model", "--features", "word", "--iterations", "40", "--jobs", "1"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        order, stdout=subprocess.PIPE, stderr=theirs, env=os.environ | {"TERM": "xterm"}
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end has closed
                break
            if not piece:
                break
            shown += piece
        out = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"training" in shown
    assert b"\x1b[" in shown
    assert b"iterations" in out
    assert b"\x1b[" not in out
