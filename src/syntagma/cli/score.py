"""`syntagma score`: how likely a saved model finds each sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from syntagma.cli.common import (
    Format,
    Jobs,
    Json,
    Stopwatch,
    blaming,
    emit,
    figures,
    free_stdout,
    read,
    use_threads,
)
from syntagma.errors import ModelFileError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syntagma.models.base import Estimator
    from syntagma.models.hmm import HMM
    from syntagma.models.latent_tree import LatentTree


class Scored(NamedTuple):
    """Log-likelihood, number of words and flag of each sequence: a flag says it was floored."""

    logs: NDArray[np.float64]
    words: NDArray[np.int64]
    flags: NDArray[np.bool_]


def score(
    model: Annotated[str, typer.Argument(help="A saved model.", metavar="MODEL")],
    input: Annotated[str, typer.Argument(help="Sequences; - is stdin.", metavar="FILE")] = "-",
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Write the log-likelihood of each sequence here, one a line."
        ),
    ] = None,
    format: Format = None,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Tell how likely a model finds sequences: log-likelihoods in nats.

    A hidden Markov model scores sequences; latent trees score the words of parsed sentences given
    their trees.

    Probabilities that spectral estimates give as zero or below are floored, flagged and counted.
    """
    watch = Stopwatch()
    use_threads(jobs)
    if output is not None:
        free_stdout(output, json)

    from syntagma.models import load

    loaded = load(model)
    if loaded.kind not in SCORERS:
        kinds = ", ".join(SCORERS)
        raise ModelFileError(f"expected a model of {kinds}, found a {loaded.kind}", path=model)
    with blaming(input):
        scored = SCORERS[loaded.kind](loaded, input, format)
    if output is not None:
        _write(scored, output)
    words, total = int(scored.words.sum()), float(scored.logs.sum())
    summary: dict[str, Any] = {
        "model": model,
        "kind": loaded.kind,
        "output": output,
        "log_likelihood": total,
        "per_word": total / words,
        "flagged": int(scored.flags.sum()),
        "words": words,
        "sentences": len(scored.logs),
        "seconds": watch.seconds,
    }
    if json or output != "-":
        shown = {k: v for k, v in summary.items() if v is not None}
        shown["per_word"] = f"{summary['per_word']:.4f}"
        emit(summary, json, lambda: figures(shown))


def _hmm(loaded: Estimator, path: str, format: str | None) -> Scored:
    """Score the sequences of a file by the column that a hidden Markov model has learnt."""
    model = cast("HMM", loaded)
    treebank = read(path, None, format)
    logs, flags = model.log_likelihood(treebank)
    return Scored(logs, treebank.lengths, flags)


def _latent_tree(loaded: Estimator, path: str, format: str | None) -> Scored:
    """Score the words of parsed sentences given their trees."""
    model = cast("LatentTree", loaded)
    treebank = read(path, model.tag_column_, format)
    logs, flags = model.log_probability(treebank)
    return Scored(logs, treebank.lengths, flags)


# how a file is scored by each kind of model
SCORERS: dict[str, Callable[[Estimator, str, str | None], Scored]] = {
    "hmm": _hmm,
    "latent-tree": _latent_tree,
}


def _write(scored: Scored, output: str) -> None:
    """Write one line for each sequence under the names of the columns."""
    from syntagma.corpora.files import atomic_write

    lines = ["log_likelihood\twords\tflagged"]
    lines += [
        f"{log:.6f}\t{words}\t{int(flag)}"
        for log, words, flag in zip(*(part.tolist() for part in scored), strict=True)
    ]
    with atomic_write(output) as file:
        file.write(("\n".join(lines) + "\n").encode())
