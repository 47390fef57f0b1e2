"""The real command in a process of its own, the same in this process, and one small model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from syntagma.corpora import write_treebank
from syntagma.corpora.generated import english

COMMAND = (sys.executable, "-m", "syntagma")
# everything that tagging must keep: comments, ranges, empty nodes, MISC, odd spaces
RICH = """\
# sent_id = r1
# text = The vans don't stop.
1\tThe\tthe\tX\tDT\tDefinite=Def\t2\tdet\t_\t_
2\tvans\tvan\tX\tNNS\tNumber=Plur\t3\tnsubj\t2:nsubj\tSrc=a|TagProb=0.5
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\tdo\tdo\tX\tVBP\t_\t0\troot\t_\t_
3.1\tghost\tghost\tVERB\tVB\t_\t_\t_\t0:root\t_
4\tn't\tnot\tX\tRB\t_\t3\tadvmod\t_\tLang=en
5\tstop\tstop\tX\tVB\t_\t3\txcomp\t_\tSpaceAfter=No
6\t.\t.\tX\t.\t_\t3\tpunct\t_\t_


# sent_id = r2
1\tEvery\tevery\tX\tDT\t_\t2\tdet\t_\t_
2\tcrew\tcrew\tX\tNN\t_\t3\tnsubj\t_\t_
3\tmoves\tmove\tX\tVBZ\t_\t0\troot\t_\t_

"""


class Result(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: bytes
    err: str

    @property
    def json(self):
        """The one JSON object on stdout."""
        assert self.status == 0, self.err
        assert self.out.endswith(b"\n")
        assert self.out.count(b"\n") == 1
        return json.loads(self.out, parse_constant=pytest.fail)


@pytest.fixture(scope="session")
def command():
    """Run the real command in a process of its own."""

    def run(*arguments, stdin=b"", **options):
        finished = subprocess.run(
            [*COMMAND, *map(os.fspath, arguments)],
            input=stdin,
            capture_output=True,
            timeout=300,
            **options,
        )
        return Result(finished.returncode, finished.stdout, finished.stderr.decode())

    run.words = COMMAND
    return run


@pytest.fixture
def here(capfdbinary):
    """Run a command line in this process: the same but for the start of the interpreter."""
    from syntagma.cli.app import run

    def call(*arguments):
        capfdbinary.readouterr()
        status = run([os.fspath(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Result(status, out, err.decode())

    return call


class Files(NamedTuple):
    """Files that many tests read and none writes to."""

    train: Path
    dev: Path
    rich: Path
    model: Path
    trained: dict


@pytest.fixture(scope="session")
def files(command, tmp_path_factory) -> Files:
    """A small corpus and a tagger trained on it by the real command."""
    home = tmp_path_factory.mktemp("files")
    train, dev, rich = home / "train.conllu", home / "dev.conllu.xz", home / "rich.conllu"
    write_treebank(english(150, seed=3).treebank, train)
    write_treebank(english(40, seed=4).treebank, dev)
    rich.write_text(RICH, encoding="utf-8")
    model = home / "model.syntagma"
    options = ["--dev", dev, "--iterations", "25", "--json"]
    result = command("train", "tagger", train, "-o", model, *options)
    assert result.err == "", "no progress bar where stderr is no terminal"
    return Files(train, dev, rich, model, result.json)
