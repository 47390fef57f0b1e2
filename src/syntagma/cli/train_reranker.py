"""`syntagma train reranker`: learn a parser, and to choose among its best trees."""

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
    Resume,
    Train,
    check_directory,
    checkpointed,
    join,
    read_all,
    read_embedding,
    require_heads,
    require_tags,
)
from syntagma.cli.train_latent_tree import Embedding, Moments


def reranker(
    train: Train,
    output: Output,
    dev: Annotated[
        str | None, typer.Option("--dev", help="Parsed with the base parser and re-ranked.")
    ] = None,
    tags: Tags = None,
    format: Format = None,
    limit: Limit = 0,
    order: Annotated[int, typer.Option("--order", min=1, max=2, help="Of the base parser.")] = 1,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="Of the base parser, at most.")
    ] = 10,
    n: Annotated[int, typer.Option("-n", min=2, help="Trees in a list.")] = 50,
    folds: Annotated[
        int, typer.Option("--folds", min=2, help="Parts that are parsed by what the others teach.")
    ] = 3,
    latent: Annotated[
        str,
        typer.Option(
            "--latent", help="How latent trees are learnt: em, spectral, spectral+em or none."
        ),
    ] = "em",
    dim: Annotated[int, typer.Option("--dim", min=1, help="Of the latent trees.")] = 20,
    moments: Moments = "matched",
    embedding: Embedding = None,
    learner: Annotated[
        str, typer.Option("--learner", help="Of the choice: log-linear or perceptron.")
    ] = "log-linear",
    resume: Resume = False,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn to choose among the n best trees of a dependency parser.

    Each part of the training file is parsed by what the other parts teach; the lists teach how to
    choose, by tags around heads and by the probability of latent trees. While it runs the finished
    parts are kept in FILE.checkpoint; --resume goes on from there to the identical model.
    """
    watch = Stopwatch()
    use_threads(jobs)
    check_directory(output)

    from syntagma.models.latent_tree import LatentTree
    from syntagma.models.parser import DependencyParser
    from syntagma.models.reranker import Reranker

    model = Reranker(
        DependencyParser(order=order, epochs=epochs, seed=seed),
        None
        if latent == "none"
        else LatentTree(dim=dim, learner=latent, moments=moments, seed=seed),
        n=n,
        folds=folds,
        learner=learner,
        seed=seed,
    )
    model._check_parameters()
    vectors = read_embedding(embedding) if embedding else None
    files = read_all(train, tags, format)
    treebank = join(files, limit)
    for part, path in [*zip(files, train, strict=True), (treebank, train[0])]:
        require_tags(part, path)
        require_heads(part, path)
    held_out = read(dev, tags or treebank.tag_column, format) if dev else None
    if held_out is not None and dev is not None:
        require_heads(held_out, dev)
    with checkpointed(output, resume) as checkpoint:
        with progress_bar("training", quiet=json) as progress, blaming(train[0]):
            model.fit(
                treebank,
                embedding=vectors,
                checkpoint=checkpoint,
                resume=resume,
                made=lambda what, done, total: progress(done, total, done),
            )
        model.save(output)
    summary: dict[str, Any] = {"model": output, **model.summary_}
    if held_out is not None:
        summary["dev"] = {"uas": model.score(held_out), "base": model.parser_.score(held_out)}
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


def _told(summary: dict[str, Any]) -> str:
    shown = {name: summary[name] for name in ("model", "sentences", "words", "trees")}
    shown["lists"] = (
        f"first tree {summary['uas_of_lists']:.2f}% right, best tree {summary['oracle']:.2f}%"
    )
    if "dev" in summary:
        shown["dev, parser"] = summary["dev"]["base"]
        shown["dev, re-ranked"] = summary["dev"]["uas"]
    shown["seconds"] = summary["seconds"]
    return figures(shown)
