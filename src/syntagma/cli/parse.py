"""`syntagma parse`: apply a saved parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from syntagma.cli.applying import Output, account, find_target, ranked
from syntagma.cli.common import Format, Jobs, Json, Stopwatch, blaming, read, use_threads
from syntagma.errors import InputError, ModelFileError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syntagma.corpora.treebank import Treebank
    from syntagma.models.parser import DependencyParser

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
    """Parse a tagged treebank, or plain text (one sentence a line), with a saved model.

    The model is one of `train mst`, `train reranker` or `train latent-tree`.

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
    from syntagma.models import load
    from syntagma.models.latent_tree import LatentTree
    from syntagma.models.parser import DependencyParser
    from syntagma.models.reranker import Reranker

    loaded = load(model)
    if not isinstance(loaded, DependencyParser | LatentTree | Reranker):
        raise ModelFileError(f"expected a model that parses, found a {loaded.kind}", path=model)
    if nbest and not isinstance(loaded, DependencyParser):
        raise InputError(f"--nbest: a {loaded.kind} finds one tree", path=model)
    if marginals and isinstance(loaded, Reranker):
        raise InputError("--marginals: a reranker has no probabilities of heads", path=model)
    if decode and not isinstance(loaded, DependencyParser):
        raise InputError(f"--decode: a {loaded.kind} has one way to decode", path=model)
    parser = loaded.parser_ if isinstance(loaded, Reranker) else loaded
    treebank = read(input, parser.tag_column_, format)
    began = watch.seconds
    with blaming(input):
        if isinstance(loaded, DependencyParser):
            if decode:
                loaded.set_params(decode=decode)._check_parameters()
            result = _parse(loaded, treebank, nbest, marginals)
        elif marginals and isinstance(loaded, LatentTree):
            heads, sure = loaded.decide(treebank)
            result = annotate(treebank.replace(heads=heads), HEAD_PROBABILITY, _stated(sure))
        else:
            result = loaded.predict(treebank)
    ended = watch.seconds
    write_treebank(result, target)
    account(treebank, target, ("parsed", "parsing"), began, ended, watch, json)


def _parse(parser: DependencyParser, treebank: Treebank, nbest: int, marginals: bool) -> Treebank:
    """Parse with a dependency parser, and write what was asked for besides the best trees."""
    from syntagma.corpora.edits import annotate
    from syntagma.evaluation.comparison import HEAD_PROBABILITY

    tagged = parser.tagged(treebank)
    parser = parser.without_tagger()
    if nbest:
        found = parser.kbest(tagged, nbest)
        return ranked(tagged, found, parser.log_partition(tagged), parser.with_heads)
    if not marginals:
        return parser.predict(tagged)
    heads, labels, sure, sure_of_label = parser.decide(tagged)
    result = tagged.replace(heads=heads, labels=labels)
    result = annotate(result, HEAD_PROBABILITY, _stated(sure))
    return annotate(result, LABEL_PROBABILITY, _stated(sure_of_label)) if labels.known else result


def _stated(probabilities: NDArray[np.float64]) -> list[str]:
    return [f"{p:.4f}" for p in probabilities.tolist()]
