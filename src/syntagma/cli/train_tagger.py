"""`syntagma train tagger`: learn a part-of-speech tagger."""

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
    emit,
    figures,
    progress_bar,
    read,
    use_threads,
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
    read_embedding,
    require_tags,
)


def tagger(
    train: Train,
    output: Output,
    dev: Annotated[
        str | None, typer.Option("--dev", help="Scored during training; it steers nothing.")
    ] = None,
    tags: Tags = None,
    format: Format = None,
    limit: Limit = 0,
    order: Annotated[
        int, typer.Option("--order", min=1, max=2, help="Tags before that a tag depends on.")
    ] = 1,
    l2: Annotated[float, typer.Option("--l2", min=0, help="Strength of the penalty.")] = 0.5,
    features: Annotated[
        str | None,
        typer.Option(
            "--features", help="Feature templates with commas between: word,suffix3,lower[-1]|lower"
        ),
    ] = None,
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, help="Drop attributes seen less often.")
    ] = 1,
    unseen_pairs: Annotated[
        int,
        typer.Option(
            "--unseen-pairs",
            min=0,
            help="Attributes seen so often get weights for all tags, seen with or not; 0: none do.",
        ),
    ] = 10,
    iterations: Annotated[
        int, typer.Option("--iterations", min=0, help="At most so many steps.")
    ] = 150,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, help="Stop when ten steps gain less.")
    ] = 1e-4,
    decode: Annotated[
        str, typer.Option("--decode", help="posterior (best tags) or viterbi (best sequence).")
    ] = "posterior",
    restrict: Annotated[
        int,
        typer.Option(
            "--restrict", min=0, help="Words seen so often keep to their tags; 0: none do."
        ),
    ] = 0,
    dictionary: Annotated[
        str | None,
        typer.Option("--dictionary", help="Possible tags of words: word TAB tag[,tag...] a line."),
    ] = None,
    embedding: Annotated[
        str | None,
        typer.Option(
            "--embedding",
            help="Use the classes of words of these vectors: a model, or word2vec .txt.",
        ),
    ] = None,
    warm_start: Annotated[
        str | None, typer.Option("--warm-start", help="Start from the weights of this tagger.")
    ] = None,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = 10.0,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn a part-of-speech tagger (a conditional random field).

    Words tagged _ are summed out, so partly annotated text is welcome. While it runs the state is
    kept in FILE.checkpoint; --resume goes on from there to the identical model.
    """
    watch = Stopwatch()
    use_threads(jobs)
    check_directory(output)
    treebank = join(read_all(train, tags, format), limit)
    require_tags(treebank, train[0])
    held_out = read(dev, tags or treebank.tag_column, format) if dev else None

    from syntagma.corpora.dictionary import read_dictionary
    from syntagma.models.tagger import Tagger

    given: dict[str, Any] = {} if features is None else {"features": tuple(features.split(","))}
    model = Tagger(
        order=order,
        l2=l2,
        min_count=min_count,
        unseen_pairs=unseen_pairs,
        iterations=iterations,
        tolerance=tolerance,
        decode=decode,
        restrict=restrict,
        **given,
    )
    with checkpointed(output, resume) as checkpoint:
        with progress_bar("training", quiet=json) as progress:
            model.fit(
                treebank,
                dictionary=read_dictionary(dictionary) if dictionary else None,
                embedding=read_embedding(embedding) if embedding else None,
                dev=held_out,
                start_from=Tagger.load(warm_start) if warm_start else None,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
                progress=progress,
            )
        model.save(output)
    summary = {"model": output, **model.summary_}
    if held_out is not None:
        summary["dev"] = {"accuracy": model.score(held_out), "words": held_out.words}
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


def _told(summary: dict[str, Any]) -> str:
    shown = {k: v for k, v in summary.items() if k not in ("dev", "learning_curve")}
    if "dev" in summary:
        shown["dev accuracy"] = summary["dev"]["accuracy"]
    return figures(shown)
