"""What `tag` and `parse` share: where results go, ranked analyses, and the account of the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syntagma.cli.common import Stopwatch, emit, free_stdout
from syntagma.errors import InputError

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Treebank
    from syntagma.structures.base import FloatArray, IntArray, KBest

Output = Annotated[
    str | None, typer.Option("--output", "-o", help="Where the result goes.  [default: stdout]")
]


def find_target(output: str | None, json: bool, nbest: int, marginals: bool, what: str) -> str:
    """Return where the result goes, which must have room for `what` is found."""
    from syntagma.corpora.files import ending
    from syntagma.corpora.formats import ENDINGS

    target = free_stdout(output, json)
    if nbest and marginals:
        raise InputError("--nbest and --marginals do not go together: choose one")
    if ending(target) == ".txt":
        raise InputError(f"plain text has no room for {what}: choose .conllu or .tsv", path=target)
    if marginals and ENDINGS.get(ending(target), "conllu") != "conllu":
        raise InputError("--marginals needs a MISC column: choose .conllu", path=target)
    return target


def ranked(
    treebank: Treebank,
    found: KBest,
    log_partition: FloatArray,
    write: Callable[[Treebank, IntArray], Treebank],
) -> Treebank:
    """Repeat each sentence for each of its k best outcomes, best first, as `write` puts them in.

    Comments tell rank and log-probability.
    """
    import numpy as np

    from syntagma.corpora.edits import comment

    counts = np.isfinite(found.score).sum(1)
    ranks = np.concatenate([np.arange(count) for count in counts.tolist()])
    sentences = np.repeat(np.arange(len(treebank)), counts)
    repeated = treebank.take(sentences)
    words = np.arange(repeated.words) + np.repeat(
        treebank.offsets[sentences] - repeated.offsets[:-1], repeated.lengths
    )
    result = write(repeated, found.outcome[np.repeat(ranks, repeated.lengths), words])
    logs = found.score[sentences, ranks] - log_partition[sentences]
    result = comment(result, "log_probability", [f"{p:.6f}" for p in logs.tolist()])
    return comment(result, "rank", [str(rank + 1) for rank in ranks.tolist()])


def account(
    treebank: Treebank,
    target: str,
    verbs: tuple[str, str],
    began: float,
    ended: float,
    watch: Stopwatch,
    json: bool,
) -> None:
    """Tell the work done, unless the result itself went to stdout.

    ``verbs`` are those of the work ("tagged", "tagging"), which lasted from `began` to `ended`.
    """
    done, doing = verbs
    summary: dict[str, Any] = {
        "output": target,
        "sentences": len(treebank),
        "words": treebank.words,
        "seconds": watch.seconds,
        f"seconds_{doing}": round(ended - began, 3),
    }
    if json or target != "-":
        emit(summary, json, lambda: f"{done} {treebank.words:,} words in {watch.seconds:.2f} s")
