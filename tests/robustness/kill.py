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


class Trainings:
    """The same training again and again, whole or killed.

    Parameters
    ----------
    home
        An empty directory to work in.
    sentences, iterations
        How long the training is.
    every
        Seconds between checkpoints; 0: one each step.
    """

    def __init__(self, home: Path, sentences: int, iterations: int, every: float = 0.0) -> None:
        self.home = home
        corpus = home / "train.conllu"
        self.output = home / "model"
        self.checkpoint = home / "model.checkpoint"
        write_treebank(english(sentences, seed=6).treebank, corpus)
        self.order = [
            *(sys.executable, "-m", "syntagma", "train", "tagger", str(corpus)),
            *("-o", str(self.output), "--iterations", str(iterations), "--tolerance", "0"),
            *("--checkpoint-every", str(every), "--resume", "--jobs", "1"),
        ]
        self.whole = self.finish()

    def finish(self) -> bytes:
        """Train to the end, from the checkpoint if there is one."""
        subprocess.run(self.order, check=True, stdout=subprocess.DEVNULL)
        assert not self.checkpoint.exists()
        return self.output.read_bytes()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the training."""
        return subprocess.Popen(self.order, stdout=subprocess.DEVNULL)

    def kill(self, after: float) -> bool:
        """Start the training and kill it after so many seconds; False if it ended before."""
        process = self.start()
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        return False

    def once(self, after: float, several: int = 1) -> dict[str, Any]:
        """Kill a training, or several runs of it, then resume it and compare."""
        self.output.write_bytes(EARLIER)
        killed = checkpoints = 0
        for _ in range(several):
            if not self.kill(after):
                break
            killed += 1
            checkpoints += self.checkpoint.exists()
        stood = self.output.read_bytes()
        unharmed = stood == self.whole or (killed > 0 and stood == EARLIER)
        same = self.finish() == self.whole
        for left in self.home.glob(".syntagma-*.tmp"):
            left.unlink()  # what a killed process was writing
        return {
            "after": round(after, 3),
            "killed": killed,
            "with_checkpoint": checkpoints,
            "finished": stood == self.whole,
            "unharmed": unharmed,
            "same": same,
        }


def run(home: Path, times: int, seed: int = 0) -> dict[str, Any]:
    """Kill so many trainings at any moment, several times over, and near the end."""
    rng = random.Random(seed)
    trainings = Trainings(home, sentences=300, iterations=60)
    start = time.perf_counter()
    assert trainings.finish() == trainings.whole
    length = time.perf_counter() - start  # unlike the first, it compiled nothing
    moments = [rng.uniform(0.1, 0.95) * length for _ in range(times)]
    outcomes = [trainings.once(after) for after in moments]
    outcomes.append(trainings.once(0.7 * length, several=3))
    # the model is written last: these fall before, into and behind that
    outcomes += [trainings.once(length * (1 + (i - times / 2) / 50)) for i in range(times)]
    return {
        "trainings": len(outcomes),
        "kills": sum(o["killed"] for o in outcomes),
        "before_a_checkpoint": sum(o["killed"] - o["with_checkpoint"] for o in outcomes),
        "after_a_checkpoint": sum(o["with_checkpoint"] for o in outcomes),
        "finished_before_the_kill": sum(o["finished"] for o in outcomes),
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
