"""Re-make the figures of the documentation that show measurements on treebanks.

``python -m docs.figures --data DIR`` (or SYNTAGMA_DATA) takes some minutes on a quiet machine. The
other pictures are made by ``make docs``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from benchmarks.parser import growth_with_length
from benchmarks.structures_arcs import LENGTHS

import syntagma as sy
from syntagma.evaluation.calibration import calibrate
from syntagma.experiments.dhillon2012 import SIZES, STATES, sample_errors
from syntagma.reports.charts import Series, line_chart

PICTURES = Path(__file__).parent / "pictures"
SEEDS = 5


def parser_calibration(data: Path) -> str:
    """Draw the share of right heads against their probability, by both learners (WSJ sample)."""
    train, dev = (sy.read_treebank(data / f"wsj/dep-{p}.conllu.xz") for p in ("train", "dev"))
    lines = [Series("believed", [0.0, 1.0], [0.0, 100.0])]
    for name, learner in (("log-linear", "log-linear"), ("MIRA", "mira")):
        decided = sy.DependencyParser(learner=learner).fit(train).decide(dev)
        bins = calibrate(decided.head_probability, decided.heads == dev.heads).equal_mass
        lines.append(Series(name, bins.probability.tolist(), (100.0 * bins.right).tolist()))
    return line_chart(
        lines,
        title="Stated probability of a head, and how often it is right",
        x_label="stated probability, mean of tenths of the words",
        y_label="right heads",
        unit="%",
    ).standalone()


def parser_length(data: Path) -> str:
    """Draw the time of parsing against the length of the sentence, both orders, one thread."""
    train = sy.read_treebank(data / "wsj/dep-train.conllu.xz")
    numba.set_num_threads(1)
    lines = []
    for order in (1, 2):
        parser = sy.DependencyParser(order=order, epochs=1).fit(train)
        times = [row["milliseconds_per_sentence"] for row in growth_with_length(parser, train)
                 if "words" in row and isinstance(row["words"], int)]  # fmt: skip
        lines.append(Series(f"order {order}", [float(n) for n in LENGTHS], times))
    first = lines[0]
    cubic = [first.y[-1] * (n / LENGTHS[-1]) ** 3 for n in LENGTHS]
    lines.append(Series("cubic", [float(n) for n in LENGTHS], cubic))
    return line_chart(
        lines,
        title="Parsing by length of sentence",
        x_label="words",
        y_label="milliseconds a sentence",
        x_log=True,
        y_log=True,
    ).standalone()


def latent_tree_error(data: Path) -> str:
    """Draw the relative error of p against the number of trees seen, with its extremes."""
    lines = []
    for states, least in STATES.items():
        errors = np.array([sample_errors(states, seed) for seed in range(SEEDS)])
        used = np.array(SIZES) >= least
        middle = np.exp(np.log(errors).mean(0))[used]
        lines.append(
            Series(
                f"{states} states",
                [float(size) for size in np.array(SIZES)[used]],
                middle.tolist(),
                errors.min(0)[used].tolist(),
                errors.max(0)[used].tolist(),
            )
        )
    top = lines[0].y[0]
    lines.append(
        Series("1/\u221an", [float(n) for n in SIZES], [top * (SIZES[0] / n) ** 0.5 for n in SIZES])
    )
    return line_chart(
        lines,
        title="Error of the probability of a tree's words",
        x_label="trees seen",
        y_label="median relative error",
        x_log=True,
        y_log=True,
    ).standalone()


FIGURES: dict[str, Callable[[Path], str]] = {
    "parser-calibration.svg": parser_calibration,
    "parser-length.svg": parser_length,
    "latent-tree-error.svg": latent_tree_error,
}


def main() -> None:
    """Write the figures named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--data", type=Path, default=os.environ.get("SYNTAGMA_DATA"))
    arguments = parser.parse_args()
    if not arguments.data:
        parser.error("expected --data or SYNTAGMA_DATA")
    for name in arguments.names or FIGURES:
        (PICTURES / name).write_text(FIGURES[name](Path(arguments.data)), encoding="utf-8")
        print(PICTURES / name)


if __name__ == "__main__":
    main()
