"""`syntagma tag`: apply a saved tagger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from syntagma.cli.common import (
    Format,
    Jobs,
    Json,
    Stopwatch,
    emit,
    free_stdout,
    read,
    use_threads,
)
from syntagma.errors import InputError

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Treebank
    from syntagma.models.tagger import Tagger


def tag(
    model: Annotated[str, typer.Argument(help="A saved tagger.", metavar="FILE")],
    input: Annotated[str, typer.Argument(help="Text to tag; - is stdin.", metavar="INPUT")] = "-",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Where the result goes.  [default: stdout]")
    ] = None,
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
    target = free_stdout(output, json)
    from syntagma.corpora.files import ending

    if nbest and marginals:
        raise InputError("--nbest and --marginals do not go together: choose one")
    if ending(target) == ".txt":
        raise InputError("plain text has no room for tags: choose .conllu or .tsv", path=target)

    from syntagma.corpora import write_treebank
    from syntagma.corpora.edits import annotate
    from syntagma.models.tagger import Tagger

    tagger = Tagger.load(model)
    treebank = read(input, tagger.summary_["column"], format)
    if decode:
        tagger.set_params(decode=decode)._check_parameters()
    loaded = watch.seconds
    if nbest:
        result = _ranked(tagger, treebank, nbest)
    else:
        chosen, confidence = tagger.decide(treebank)
        result = tagger.with_tags(treebank, chosen)
        if marginals:
            result = annotate(result, "TagProb", [f"{p:.4f}" for p in confidence.tolist()])
    tagged = watch.seconds
    write_treebank(result, target)
    summary: dict[str, Any] = {
        "output": target,
        "sentences": len(treebank),
        "words": treebank.words,
        "seconds": watch.seconds,
        "seconds_tagging": round(tagged - loaded, 3),
    }
    if json or target != "-":
        emit(summary, json, lambda: f"tagged {treebank.words:,} words in {watch.seconds:.2f} s")


def _ranked(tagger: Tagger, treebank: Treebank, nbest: int) -> Treebank:
    """Write the likeliest tag sequences of each sentence one after another, best first."""
    import numpy as np

    from syntagma.corpora.edits import comment

    score, outcome = tagger.kbest(treebank, nbest)
    log_partition = tagger.log_partition(treebank)
    found = np.isfinite(score).sum(1)
    ranks = np.concatenate([np.arange(n) for n in found.tolist()])
    sentences = np.repeat(np.arange(len(treebank)), found)
    repeated = treebank.take(sentences)
    words = np.arange(repeated.words) + np.repeat(
        treebank.offsets[sentences] - repeated.offsets[:-1], repeated.lengths
    )
    chosen = outcome[np.repeat(ranks, repeated.lengths), words]
    result = tagger.with_tags(repeated, chosen)
    log_probability = score[sentences, ranks] - log_partition[sentences]
    result = comment(result, "log_probability", [f"{p:.6f}" for p in log_probability.tolist()])
    return comment(result, "rank", [str(rank + 1) for rank in ranks.tolist()])
