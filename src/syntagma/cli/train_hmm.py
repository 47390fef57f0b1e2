"""`syntagma train hmm`: learn a hidden Markov model of sequences."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from syntagma.cli.common import (
    Format,
    Jobs,
    Json,
    Seed,
    Stopwatch,
    blaming,
    emit,
    figures,
    progress_bar,
    use_threads,
    warn,
)
from syntagma.cli.train import (
    CheckpointEvery,
    Limit,
    Output,
    Resume,
    Train,
    check_directory,
    checkpointed,
    join,
    read_all,
)
from syntagma.errors import InputError

COLUMNS = {"form": "forms", "upos": "upos", "xpos": "xpos"}


def hmm(
    train: Train,
    output: Output,
    states: Annotated[int, typer.Option("--states", min=1, help="How many hidden states.")] = 5,
    learner: Annotated[
        str, typer.Option("--learner", help="spectral, em, or spectral+em (EM from there).")
    ] = "spectral",
    method: Annotated[
        str, typer.Option("--method", help="Spectral estimate: foster (reduced) or hsu.")
    ] = "foster",
    column: Annotated[
        str, typer.Option("--column", help="What is learnt of a treebank: form, upos or xpos.")
    ] = "form",
    format: Format = None,
    limit: Limit = 0,
    min_count: Annotated[
        int, typer.Option("--min-count", min=0, help="Symbols seen less often become unknown.")
    ] = 2,
    ridge: Annotated[
        float, typer.Option("--ridge", min=0, help="Softens the inverse of the bigram matrix.")
    ] = 0.0,
    smoothing: Annotated[
        float | None,
        typer.Option(
            "--smoothing",
            min=0,
            help="Sightings added to each symbol that say nothing of the state.  "
            "[default: what the sequences like best]",
        ),
    ] = None,
    iterations: Annotated[
        int, typer.Option("--iterations", min=0, help="At most so many iterations of EM.")
    ] = 100,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, help="Stop EM when a symbol gains less.")
    ] = 1e-6,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = 10.0,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn a hidden Markov model of sequences of symbols.

    A text has one sequence a line, symbols between spaces; of a treebank one column is read. While
    EM runs its state is kept in FILE.checkpoint; --resume goes on from there to the identical
    model.
    """
    watch = Stopwatch()
    use_threads(jobs)
    check_directory(output)
    if column not in COLUMNS:
        raise InputError(f"--column: expected form, upos or xpos, found {column!r}")
    treebank = join(read_all(train, None, format), limit)

    from syntagma.models.hmm import HMM

    model = HMM(
        states=states,
        learner=learner,
        method=method,
        ridge=ridge,
        smoothing=smoothing,
        min_count=min_count,
        column=COLUMNS[column],
        iterations=iterations,
        tolerance=tolerance,
        seed=seed,
    )
    with checkpointed(output, resume) as checkpoint:
        with progress_bar("training", quiet=json) as progress, blaming(train[0]):
            model.fit(
                treebank,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
                progress=progress,
            )
        model.save(output)
    if learner != "em" and model.rank_ < states:
        warn(
            f"the bigrams support {model.rank_} of {states} states, the others are noise: "
            "ask for fewer, or give more text"
        )
    summary: dict[str, Any] = {"model": output, **model.summary_, "seconds": watch.seconds}
    emit(summary, json, lambda: figures({k: _short(v) for k, v in summary.items()}))


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
