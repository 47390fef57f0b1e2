"""`syntagma tag`: apply a saved tagger."""

from __future__ import annotations

from typing import Annotated

import typer

from syntagma.cli.applying import Output, account, find_target, ranked
from syntagma.cli.common import Format, Jobs, Json, Stopwatch, read, use_threads


def tag(
    model: Annotated[str, typer.Argument(help="A saved tagger.", metavar="FILE")],
    input: Annotated[str, typer.Argument(help="Text to tag; - is stdin.", metavar="INPUT")] = "-",
    output: Output = None,
    nbest: Annotated[
        int, typer.Option("--nbest", min=0, help="Write the so many likeliest sequences instead.")
    ] = 0,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Write TagProb=, the tag's probability, into MISC.")
    ] = False,
    decode: Annotated[
        str | None, typer.Option("--decode", help="posterior or viterbi.  [default: the model's]")
    ] = None,
    format: Format = None,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Tag a treebank or plain text (one sentence a line) with a saved tagger.

    Only the tag column changes: comments, multiword tokens and every other column are kept.
    """
    watch = Stopwatch()
    use_threads(jobs)
    target = find_target(output, json, nbest, marginals, "tags")

    from syntagma.corpora import write_treebank
    from syntagma.corpora.edits import annotate
    from syntagma.evaluation.comparison import TAG_PROBABILITY
    from syntagma.models.tagger import Tagger

    tagger = Tagger.load(model)
    treebank = read(input, tagger.summary_["column"], format)
    if decode:
        tagger.set_params(decode=decode)._check_parameters()
    began = watch.seconds
    if nbest:
        found = tagger.kbest(treebank, nbest)
        log_partition = tagger.log_partition(treebank)
        result = ranked(treebank, found, log_partition, tagger.with_tags)
    else:
        chosen, confidence = tagger.decide(treebank)
        result = tagger.with_tags(treebank, chosen)
        if marginals:
            result = annotate(result, TAG_PROBABILITY, [f"{p:.4f}" for p in confidence.tolist()])
    ended = watch.seconds
    write_treebank(result, target)
    account(treebank, target, ("tagged", "tagging"), began, ended, watch, json)
