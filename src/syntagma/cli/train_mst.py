"""`syntagma train mst`: learn a dependency parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from syntagma.cli.common import (
    Format,
    Jobs,
    Json,
    Seed,
    Stopwatch,
    Tags,
    emit,
    figures,
    progress_bar,
    read,
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
    require_heads,
    require_tags,
)
from syntagma.errors import InputError

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Treebank
    from syntagma.models.parser import DependencyParser
    from syntagma.models.tagger import Tagger

PROJECTIVE: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}
MUCH = 10**9  # bytes of memory that the user is told of beforehand


def mst(
    train: Train,
    output: Output,
    dev: Annotated[
        str | None, typer.Option("--dev", help="Scored after each epoch; steers only --patience.")
    ] = None,
    tags: Tags = None,
    format: Format = None,
    limit: Limit = 0,
    order: Annotated[
        int, typer.Option("--order", min=1, max=2, help="1: scores arcs; 2: also neighbours.")
    ] = 1,
    learner: Annotated[
        str,
        typer.Option(
            "--learner", help="mira, or log-linear (whose probabilities can be believed)."
        ),
    ] = "mira",
    projective: Annotated[
        str,
        typer.Option(
            "--projective", help="Arcs may not cross: yes, no, or auto: as in the training trees."
        ),
    ] = "auto",
    crossings: Annotated[
        str,
        typer.Option(
            "--crossings",
            help="Training trees with crossing arcs, if arcs may not cross: keep them, or lift "
            "arcs until none cross.",
        ),
    ] = "keep",
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="At most so many times through the text.")
    ] = 10,
    k: Annotated[int, typer.Option("-k", min=1, help="Trees that an update of MIRA sees.")] = 1,
    aggressiveness: Annotated[
        float, typer.Option("--aggressiveness", min=0, help="Bound on a step of MIRA.")
    ] = 0.03,
    rate: Annotated[
        float, typer.Option("--rate", min=0, help="First step of the log-linear learner.")
    ] = 0.05,
    bits: Annotated[
        int, typer.Option("--bits", min=8, max=28, help="2 to this power weights are kept.")
    ] = 22,
    patience: Annotated[
        int,
        typer.Option(
            "--patience", min=0, help="Stop after so many epochs without gain on --dev; 0: never."
        ),
    ] = 0,
    decode: Annotated[
        str, typer.Option("--decode", help="best (tree) or mbr (most heads expected right).")
    ] = "best",
    portion: Annotated[
        int, typer.Option("--portion", min=1, help="Sentences parsed before the weights move.")
    ] = 8,
    jackknife: Annotated[
        int,
        typer.Option(
            "--jackknife",
            min=0,
            help="Learn from tags like a tagger's, made in so many parts, and keep the tagger "
            "with the parser; 0: learn from the tags given.",
        ),
    ] = 0,
    tagger: Annotated[
        str | None, typer.Option("--tagger", help="Keep this tagger with the parser.")
    ] = None,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = 10.0,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn a graph-based dependency parser (k-best MIRA or log-linear).

    Sentences without heads are left out. A parser that is to parse raw text needs a tagger:
    --jackknife makes one, --tagger takes one. While it runs the state is kept in FILE.checkpoint;
    --resume goes on from there to the identical model.
    """
    watch = Stopwatch()
    use_threads(jobs)
    check_directory(output)

    from syntagma.models.parser import DependencyParser
    from syntagma.models.tagger import Tagger

    if projective not in PROJECTIVE:
        raise InputError(f"projective: expected one of auto, yes, no, found {projective!r}")
    if jackknife and tagger:
        raise InputError("--jackknife and --tagger do not go together: choose one")
    if patience and not dev:
        raise InputError("--patience needs held-out text: give it with --dev")
    parser = DependencyParser(
        order=order,
        learner=learner,
        projective=PROJECTIVE[projective],
        crossings=crossings,
        epochs=epochs,
        k=k,
        aggressiveness=aggressiveness,
        rate=rate,
        portion=portion,
        bits=bits,
        patience=patience,
        decode=decode,
        seed=seed,
    )
    parser._check_parameters()
    own = Tagger.load(tagger) if tagger else None
    if own is not None:
        column = own.summary_["column"]
        if tags not in (None, column):
            raise InputError(f"--tags {tags}: this tagger fills the {column} column", path=tagger)
        tags = column
    files = read_all(train, tags, format)
    treebank = join(files, limit)
    for part, path in [*zip(files, train, strict=True), (treebank, train[0])]:
        require_tags(part, path)
        require_heads(part, path)
    held_out = read(dev, tags or treebank.tag_column, format) if dev else None
    if held_out is not None and dev is not None:
        require_heads(held_out, dev)
        if not (jackknife or tagger):
            require_tags(held_out, dev)
    memory = _memory(parser, treebank)
    if memory > MUCH:
        warn(
            f"this training needs about {_readable(memory)} of memory (the longest sentence has "
            f"{treebank.lengths.max():,} words, the tables 2 to the power of {bits} weights)"
        )

    jackknifed: dict[str, Any] = {}
    with checkpointed(output, resume) as checkpoint:
        if jackknife:
            treebank, own, accuracy = _jackknife(treebank, jackknife, json)
            jackknifed = {"jackknife": {"parts": jackknife, "accuracy": accuracy}}
        with progress_bar("training", quiet=json) as progress:
            parser.fit(
                treebank,
                dev=held_out,
                tagger=own,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
                progress=progress,
            )
        parser.save(output)
    summary = {"model": output, **parser.summary_, **jackknifed, "memory": memory}
    if held_out is not None:
        curve = {epoch: (uas, las) for epoch, uas, las in summary["learning_curve"]}
        uas, las = curve[summary["best_epoch"]]
        words = int((held_out.heads >= 0).sum())
        summary["dev"] = {"uas": uas, "las": las, "words": words}
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


def _jackknife(treebank: Treebank, parts: int, quiet: bool) -> tuple[Treebank, Tagger, float]:
    """Tag the training sentences by taggers that have not seen them; tell how well that went."""
    from syntagma.models.jackknife import jackknife
    from syntagma.models.tagger import Tagger

    accuracy = 0.0
    with progress_bar("taggers", quiet=quiet) as progress:

        def made(done: int, total: int, value: float) -> None:
            nonlocal accuracy
            accuracy = value
            progress(done, total, value)

        tagged, tagger = jackknife(treebank, parts, Tagger(), made)
    return tagged, tagger, accuracy


def _memory(parser: DependencyParser, treebank: Treebank) -> int:
    """Estimate the bytes that a training holds at once: scores of parts and tables of weights."""
    from syntagma.models.parser import CELLS
    from syntagma.training import arc_labels, likelihood

    likely = parser.learner == "log-linear"
    largest = int(treebank.lengths.max() + 1) ** (parser.order + 1)
    # a portion is cut where it grows too large, but a sentence is never cut
    cells = min(parser.portion * largest, max(CELLS, largest))
    blocks = 8 * cells * (2 if likely else 1)  # marginals stand beside the scores
    tables = 1 + (likelihood.COLUMNS if likely else 1)
    if treebank.labels.known:
        tables += 1 + arc_labels.COLUMNS
    # a checkpoint is made of copies, and copied once more when it is written
    return blocks + 3 * tables * 4 * 2**parser.bits


def _readable(memory: int) -> str:
    return f"{memory / 1e9:,.1f} GB" if memory >= 1e9 else f"{memory / 1e6:,.0f} MB"


def _told(summary: dict[str, Any]) -> str:
    """Say what was learnt from, and above all what became of crossing arcs."""
    crossing = summary["not_projective"]
    share = 100 * crossing / summary["sentences"]
    jackknifed = summary.get("jackknife")
    shown = {
        name: summary[name] for name in ("model", "column", "sentences", "words", "tags", "labels")
    }
    shown["left out"] = f"{summary['skipped']:,} sentences without heads"
    shown["trees"] = "projective" if summary["projective"] else "arcs may cross"
    shown["crossing arcs"] = (
        f"in {crossing:,} training trees ({share:.2f}%), {summary['crossings']}"
    )
    shown["roots"] = "one in each tree" if summary["single_root"] else "any number in a tree"
    shown["tagger"] = "its own" if summary["own_tagger"] else "none: it parses tagged text"
    if jackknifed:
        shown["tagger"] += (
            f"; it learnt from {jackknifed['parts']}-fold tags, {jackknifed['accuracy']:.2f}% right"
        )
    shown["epochs"] = summary["epochs"]
    if "dev" in summary:
        shown |= {f"dev {score}": summary["dev"][score] for score in ("uas", "las")}
        shown["best epoch"] = summary["best_epoch"]
    shown["weights"] = summary["used_weights"]
    shown["memory"] = f"about {_readable(summary['memory'])}"
    shown["seconds"] = summary["seconds"]
    return figures(shown)
