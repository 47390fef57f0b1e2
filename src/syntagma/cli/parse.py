"""`syntagma parse`: apply a saved parser."""

from __future__ import annotations

from typing import Annotated

import typer

from syntagma.cli.applying import Output, account, find_target, ranked
from syntagma.cli.common import Format, Jobs, Json, Stopwatch, blaming, read, use_threads

LABEL_PROBABILITY = "LabelProb"


def parse(
    model: Annotated[str, typer.Argument(help="A saved parser.", metavar="FILE")],
    input: Annotated[str, typer.Argument(help="Text to parse; - is stdin.", metavar="INPUT")] = "-",
    output: Output = None,
    nbest: Annotated[
        int, typer.Option("--nbest", min=0, help="Write the so many best trees instead.")
    ] = 0,
    marginals: Annotated[
        bool,
        typer.Option(
            "--marginals",
            help="Write HeadProb= and LabelProb=, probabilities of head and label, into MISC.",
        ),
    ] = False,
    decode: Annotated[
        str | None,
        typer.Option(
            "--decode",
            help="best (tree) or mbr (most heads expected right).  [default: the model's]",
        ),
    ] = None,
    format: Format = None,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Parse a tagged treebank, or plain text (one sentence a line), with a saved parser.

    Only heads and labels change, and tags where the parser has a tagger of its own: comments,
    multiword tokens and every other column are kept. Probabilities can be believed of log-linear
    parsers; those of MIRA only rank.
    """
    watch = Stopwatch()
    use_threads(jobs)
    target = find_target(output, json, nbest, marginals, "trees")

    from syntagma.corpora import write_treebank
    from syntagma.corpora.edits import annotate
    from syntagma.evaluation.comparison import HEAD_PROBABILITY
    from syntagma.models.parser import DependencyParser

    parser = DependencyParser.load(model)
    if decode:
        parser.set_params(decode=decode)._check_parameters()
    treebank = read(input, parser.tag_column_, format)
    began = watch.seconds
    with blaming(input):
        tagged = parser.tagged(treebank)
        parser = parser.without_tagger()
        if nbest:
            found = parser.kbest(tagged, nbest)
            result = ranked(tagged, found, parser.log_partition(tagged), parser.with_heads)
        elif marginals:
            heads, labels, sure, sure_of_label = parser.decide(tagged)
            result = tagged.replace(heads=heads, labels=labels)
            result = annotate(result, HEAD_PROBABILITY, [f"{p:.4f}" for p in sure.tolist()])
            if labels.known:
                stated = [f"{p:.4f}" for p in sure_of_label.tolist()]
                result = annotate(result, LABEL_PROBABILITY, stated)
        else:
            result = parser.predict(tagged)
    ended = watch.seconds
    write_treebank(result, target)
    account(treebank, target, ("parsed", "parsing"), began, ended, watch, json)
