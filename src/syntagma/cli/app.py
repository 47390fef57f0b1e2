"""The commands, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from typer.exceptions import Abort, Exit, TyperException

from syntagma import __version__
from syntagma.cli import (
    demo,
    embed,
    evaluate,
    inspect,
    parse,
    render,
    reproduce,
    score,
    tag,
    train,
    train_hmm,
    train_latent_tree,
    train_mst,
    train_reranker,
    train_tagger,
)
from syntagma.cli.common import help_text, standard_output
from syntagma.errors import OutputError, SyntagmaError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="syntagma",
    help="Learn linguistic structure (tags, trees, story threads) from little or no annotation.",
    epilog="Files ending in .xz .gz .bz2 .zst are read and written compressed; "
    "- is stdin or stdout.",
)
for command in (
    demo.demo,
    tag.tag,
    parse.parse,
    score.score,
    evaluate.evaluate,
    inspect.inspect,
    render.render,
    reproduce.reproduce,
    embed.embed,
):
    app.command(command.__name__, help=help_text(command))(command)
for training in (
    train_tagger.tagger,
    train_mst.mst,
    train_hmm.hmm,
    train_latent_tree.latent_tree,
    train_reranker.reranker,
):
    name = training.__name__.replace("_", "-")
    train.app.command(name, help=help_text(training))(training)
app.add_typer(train.app, name="train")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"syntagma {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say which version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (anywhere on the line).")
    ] = False,
) -> None:
    """Hold the options of every command."""


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit status; an error is one line on stderr."""
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    if arguments in ([], ["train"]):
        arguments = [*arguments, "--help"]
    try:
        status = _call(arguments)
        _flush()
        return status
    except TyperException as error:
        return _report(f"{error.format_message()} (--help shows the usage)", error, MISUSED, debug)
    except BrokenPipeError:
        # the reader of our output went away: nothing more to say
        _abandon_stdout()
        return FAILED
    except SyntagmaError as error:
        return _report(str(error), error, MISUSED, debug)
    except (KeyboardInterrupt, Abort) as error:
        text = str(error) or "nothing was half written"
        return _report(f"interrupted: {text}", error, INTERRUPTED, debug)
    except MemoryError as error:
        return _report("this needs more memory than there is", error, FAILED, debug)
    except Exception as error:  # the last resort: still one line, and a hint how to see more
        text = f"internal error: {type(error).__name__}: {error} (--debug shows where)"
        return _report(text, error, FAILED, debug)


def _call(arguments: list[str]) -> int:
    """Invoke a command as typer would, but leave interruptions and broken pipes to us."""
    if "_SYNTAGMA_COMPLETE" in os.environ:
        app(arguments, prog_name="syntagma")  # a shell asks how the line may go on
    try:
        with typer.main.get_command(app).make_context("syntagma", arguments) as context:
            context.command.invoke(context)
    except Exit as leaving:
        return leaving.exit_code
    return 0


def _flush() -> None:
    """Write out what was printed: a full disk must show here, not when the interpreter ends."""
    if sys.stdout is not None:
        with standard_output():
            sys.stdout.flush()


def _abandon_stdout() -> None:
    """Let what cannot be written go, so that the interpreter does not complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(text: str, error: BaseException, status: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    print(f"syntagma: {' '.join(text.split())}", file=sys.stderr)
    try:
        _flush()
    except (BrokenPipeError, OutputError):
        _abandon_stdout()
    return status
