"""`syntagma embed`: learn word vectors from text, ask them, and exchange them with others."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from syntagma.cli.common import (
    Jobs,
    Json,
    Seed,
    Stopwatch,
    emit,
    figures,
    progress_bar,
    use_threads,
)
from syntagma.cli.train import check_directory
from syntagma.errors import InputError

MILLION = 1e6


def embed(
    files: Annotated[
        list[str], typer.Argument(help="Texts to learn from, or one model.", metavar="FILE")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Learn, and save the model here.")
    ] = None,
    neighbours: Annotated[
        list[str] | None,
        typer.Option("--neighbours", "-n", help="Show words like this one (may be repeated)."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="So many neighbours.")] = 10,
    export: Annotated[
        str | None, typer.Option("--export", help="Write the vectors as word2vec text.")
    ] = None,
    word2vec: Annotated[
        bool, typer.Option("--import", help="FILE holds vectors as word2vec text.")
    ] = False,
    method: Annotated[str, typer.Option("--method", help="cca, cca2, lr-mvl or bigram.")] = "cca",
    dim: Annotated[int, typer.Option("--dim", min=1, help="Numbers in a vector.")] = 50,
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, help="Rarer words share one vector.")
    ] = 5,
    max_words: Annotated[
        int, typer.Option("--max-words", min=1, help="At most so many words have their own.")
    ] = 100_000,
    window: Annotated[
        int, typer.Option("--window", min=1, help="Neighbours on each side, of cca and cca2.")
    ] = 1,
    root: Annotated[
        bool, typer.Option("--root/--no-root", help="Take square roots of counts.")
    ] = True,
    rates: Annotated[
        str, typer.Option("--rates", help="Smoothing rates of lr-mvl, with commas between.")
    ] = "0.5,0.1",
    iterations: Annotated[
        int, typer.Option("--iterations", min=0, help="At most so many, of lr-mvl.")
    ] = 5,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, help="Stop when less than this share changes.")
    ] = 0.01,
    lower: Annotated[bool, typer.Option("--lower", help="Take Words and words for one.")] = False,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Format of .txt files and of those whose ending does not tell: text, "
            "slash (word/tag), underscore (word_tag), conllu, conllx, tsv or json.",
        ),
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(
            "--field", help="Field of JSON documents that holds the text.  [default: text or body]"
        ),
    ] = None,
    tokenise: Annotated[
        bool,
        typer.Option("--tokenise", help="Split running text (.txt, JSON) into words first."),
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn a vector for each frequent word of a text, or ask a model that was learnt before.

    With -o the FILEs are text of any size: a sentence a line, CoNLL-U, tagged words, or documents
    as JSON lines; compressed, in a .zip archive (archive.zip/pattern chooses from it), or - for
    stdin. With --import the FILE holds vectors in word2vec's text format. Otherwise it is a model.
    """
    watch = Stopwatch()
    use_threads(jobs)
    if output is not None:
        check_directory(output)
    elif not (neighbours or export):
        raise InputError("say where the model goes (-o), or what to do (--neighbours, --export)")
    if (word2vec or output is None) and len(files) > 1:
        raise InputError(f"expected one file of vectors, found {len(files)}", path=files[1])
    summary: dict[str, Any] = {}

    from syntagma.models.eigenwords import Eigenwords

    if word2vec:
        model = Eigenwords.from_word2vec(files[0])
    elif output is None:
        model = Eigenwords.load(files[0])
    else:
        model = Eigenwords(
            method=method,
            dim=dim,
            min_count=min_count,
            max_words=max_words,
            window=window,
            root=root,
            rates=_numbers(rates),
            iterations=iterations,
            tolerance=tolerance,
            lower=lower,
            seed=seed,
        )
        with progress_bar("learning", quiet=json) as progress:
            model.fit(
                files,
                format=format,
                field=field,
                tokenise=tokenise,
                jobs=jobs or -1,
                progress=lambda done, total, words: progress(done, total, words / MILLION),
            )
        summary |= model.summary_
    found = {word: model.neighbours(word, top) for word in neighbours or ()}
    if output is not None:
        model.save(output)
        summary = {"model": output, **summary}
    if export is not None:
        model.to_word2vec(export)
        summary["exported"] = export
    summary |= {"vocabulary": len(model.words_), "dimensions": model.dim}
    if neighbours:
        summary["neighbours"] = {
            word: [list(pair) for pair in near] for word, near in found.items()
        }
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--rates: expected numbers with commas between, found {text!r}") from None


def _told(summary: dict[str, Any]) -> str:
    lines = []
    if "model" in summary or "exported" in summary:
        hidden = ("neighbours", "changes")
        lines.append(figures({k: v for k, v in summary.items() if k not in hidden}))
    for word, near in summary.get("neighbours", {}).items():
        lines.append(f"{word}: " + ", ".join(f"{other} {cosine:.2f}" for other, cosine in near))
    return "\n".join(lines)
