"""`syntagma train latent-tree`: learn how probable the words of a dependency tree are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from syntagma.cli.common import (
    Format,
    Jobs,
    Json,
    Seed,
    Stopwatch,
    Tags,
    blaming,
    emit,
    figures,
    progress_bar,
    read,
    use_threads,
)
from syntagma.cli.train import (
    Limit,
    Output,
    Train,
    check_directory,
    join,
    read_all,
    read_embedding,
    require_heads,
)

Dim = Annotated[
    int, typer.Option("--dim", min=1, help="Dimensions of the embedding, and hidden states.")
]
Moments = Annotated[
    str,
    typer.Option("--moments", help="matched: exact for every model; paper: as published."),
]
Embedding = Annotated[
    str | None,
    typer.Option(
        "--embedding",
        help="Word vectors: a model of `syntagma embed`, or a word2vec text (.txt, .vec).  "
        "[default: made of the trees]",
    ),
]


def latent_tree(
    train: Train,
    output: Output,
    dev: Annotated[
        str | None, typer.Option("--dev", help="Scored, and parsed, with the finished model.")
    ] = None,
    tags: Tags = None,
    format: Format = None,
    limit: Limit = 0,
    dim: Dim = 10,
    learner: Annotated[
        str,
        typer.Option(
            "--learner", help="spectral (one pass), em, or spectral+em (EM from moments)."
        ),
    ] = "spectral",
    moments: Moments = "matched",
    symbols: Annotated[
        str, typer.Option("--symbols", help="What the trees are made of: words or tags.")
    ] = "words",
    embedding: Embedding = None,
    ridge: Annotated[
        float,
        typer.Option(
            "--ridge", min=0, help="Softens inverses, in units of the moments' sampling error."
        ),
    ] = 1.0,
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, help="Rarer words share a row.")
    ] = 2,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="At most so many steps of EM.")
    ] = 50,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, help="Stop EM when a word gains less.")
    ] = 1e-4,
    smoothing: Annotated[
        float, typer.Option("--smoothing", min=0, help="Added to the expected counts of EM.")
    ] = 0.1,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn hidden states on the words of dependency trees, by spectral moments or EM.

    The model tells how probable the words of a sentence are given its tree (`syntagma score`), and
    with tags it parses by itself (`syntagma parse`). Sentences without heads are left out.
    """
    watch = Stopwatch()
    use_threads(jobs)
    check_directory(output)

    from syntagma.models.latent_tree import LatentTree

    model = LatentTree(
        dim=dim,
        moments=moments,
        learner=learner,
        symbols=symbols,
        ridge=ridge,
        min_count=min_count,
        iterations=iterations,
        tolerance=tolerance,
        smoothing=smoothing,
        seed=seed,
    )
    model._check_parameters()
    vectors = read_embedding(embedding) if embedding else None
    files = read_all(train, tags, format)
    treebank = join(files, limit)
    for part, path in [*zip(files, train, strict=True), (treebank, train[0])]:
        require_heads(part, path)
    held_out = read(dev, tags or treebank.tag_column, format) if dev else None
    if held_out is not None and dev is not None:
        require_heads(held_out, dev)
    with progress_bar("training", quiet=json) as progress, blaming(train[0]):
        model.fit(treebank, embedding=vectors, progress=progress)
    model.save(output)
    summary: dict[str, Any] = {"model": output, **model.summary_}
    if held_out is not None:
        known = held_out.heads >= 0
        parsed = model.predict(held_out)
        summary["dev"] = {
            "log_likelihood": model.score(held_out) if known.all() else None,
            "uas": 100.0 * float((parsed.heads == held_out.heads)[known].mean()),
            "words": int(known.sum()),
        }
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


def _told(summary: dict[str, Any]) -> str:
    shown = {name: summary[name] for name in ("model", "sentences", "words", "vocabulary")}
    shown["left out"] = f"{summary['skipped']:,} sentences without heads"
    shown["coverage"] = f"{summary['coverage']:.1f}% of the words have a row of their own"
    if "triples" in summary:
        worst = max(summary["condition"].values())
        shown["triples"] = summary["triples"]
        shown["condition"] = f"{worst:.3g} at worst"
    if summary["iterations"]:
        shown["iterations"] = summary["iterations"]
    shown["flagged"] = f"{summary['flagged']:.2f}% of the trees have no positive probability"
    shown["log-likelihood"] = f"{summary['log_likelihood']:.4f} a word"
    for name, value in summary.get("dev", {}).items():
        shown[f"dev {name}"] = value
    shown["seconds"] = summary["seconds"]
    return figures(shown)
