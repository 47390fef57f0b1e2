"""Kill trainings without warning and resume them: the model must come out the same, byte for byte.

``python -m tests.robustness.kill --times 10`` prints a summary as JSON and exits with 1 if a model
differed or the earlier model file was harmed.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from syntagma.corpora import write_treebank
from syntagma.corpora.generated import english

EARLIER = b"the model that stood here before"


NEVER = 1000.0  # seconds between checkpoints: longer than any training here


class Trainings:
    """The same training again and again, whole or killed.

    Parameters
    ----------
    home
        An empty directory to work in.
    sentences, iterations
        How long the training is.
    """

    def __init__(self, home: Path, sentences: int, iterations: int) -> None:
        self.home = home
        corpus = home / "train.conllu"
        self.output = home / "model"
        self.checkpoint = home / "model.checkpoint"
        write_treebank(english(sentences, seed=6).treebank, corpus)
        self.order = [
            *(sys.executable, "-m", "syntagma", "train", "tagger", str(corpus)),
            *("-o", str(self.output), "--iterations", str(iterations), "--tolerance", "0"),
            *("--resume", "--jobs", "1"),
        ]
        self.whole = self.finish()

    def start(self, every: float = 0.0) -> subprocess.Popen[bytes]:
        """Start or resume the training, with so many seconds between checkpoints."""
        order = [*self.order, "--checkpoint-every", str(every)]
        return subprocess.Popen(order, stdout=subprocess.DEVNULL)

    def finish(self) -> bytes:
        """Train to the end, from the checkpoint if there is one."""
        assert self.start().wait() == 0
        assert not self.checkpoint.exists()
        for left in self.writing():
            left.unlink()  # what a killed process was writing
        return self.output.read_bytes()

    def writing(self) -> list[Path]:
        """Return the files that are being written under another name."""
        return list(self.home.glob(".syntagma-*.tmp"))

    def kill_after(self, seconds: float, every: float) -> bool:
        """Start the training and kill it after so long; False if it ended before."""
        process = self.start(every)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        return False

    def kill_in_the_last_write(self, delay: float) -> bool:
        """Kill the training while it writes the model; False if it ended before."""
        process = self.start(NEVER)
        while process.poll() is None:
            if self.writing():
                time.sleep(delay)
                process.kill()
                return process.wait() != 0
            time.sleep(0)  # the write takes a few milliseconds
        return False

    def judge(self, killed: bool) -> dict[str, Any]:
        """Look at what a killed training left, finish it and compare."""
        stood = self.output.read_bytes()
        return {
            "killed": killed,
            "checkpoint": self.checkpoint.exists(),
            "written": stood == self.whole,
            "unharmed": stood in (EARLIER, self.whole),
            "same": self.finish() == self.whole,
        }


def run(home: Path, times: int, seed: int = 0) -> dict[str, Any]:
    """Kill so many trainings at any moment, one several times over, and in the last write."""
    rng = random.Random(seed)
    trainings = Trainings(home, sentences=300, iterations=60)
    start = time.perf_counter()
    assert trainings.finish() == trainings.whole
    length = time.perf_counter() - start  # unlike the first, it compiled nothing
    anywhere = []
    for i in range(times):
        after = rng.uniform(0.1, 0.95) * length
        trainings.output.write_bytes(EARLIER)
        # every other one has no checkpoint to go on from; a machine may turn out faster
        while not trainings.kill_after(after, NEVER if i % 2 else 0.0):
            trainings.output.write_bytes(EARLIER)
            after *= 0.8
        anywhere.append(trainings.judge(True))
    trainings.output.write_bytes(EARLIER)
    several = 0
    while several < 5 and trainings.kill_after(0.6 * length, 0.0):  # each goes on from the last
        several += 1
    anywhere.append(trainings.judge(several > 0))
    last = []
    for i in range(times):
        trainings.output.write_bytes(EARLIER)
        last.append(trainings.judge(trainings.kill_in_the_last_write(i * 0.0005)))
    outcomes = anywhere + last
    return {
        "kills_at_any_moment": sum(o["killed"] for o in anywhere),
        "with_a_checkpoint": sum(o["killed"] and o["checkpoint"] for o in anywhere),
        "kills_of_one_training": several,
        "kills_in_the_last_write": sum(o["killed"] for o in last),
        "model_already_whole": sum(o["killed"] and o["written"] for o in last),
        "failures": [o for o in outcomes if not (o["same"] and o["unharmed"])],
        "seconds_of_a_whole_training": round(length, 2),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found = run(Path(home), asked.times, asked.seed)
    print(json.dumps(found))
    sys.exit(1 if found["failures"] else 0)


if __name__ == "__main__":
    main()
