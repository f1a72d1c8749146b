"""The commands, and what all of them share: how errors and warnings are told."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from colonnade import __version__
from colonnade.cli import asking, learning, reproducing
from colonnade.cli.output import complain, say, spoken
from colonnade.exceptions import ColonnadeError

__all__ = ["app", "main"]


class _Group(TyperGroup):
    """Commands whose errors are one line on standard error and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _warn
            try:
                return super().invoke(ctx)
            except ColonnadeError as error:
                complain(f"Error: {spoken(str(error))}")
            except BrokenPipeError:
                raise
            except OSError as error:
                where = f"{error.filename!r}: " if error.filename else ""
                complain(f"Error: {where}{error.strerror or error}.")
        raise typer.Exit(1)


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    complain(f"Warning: {spoken(str(message))}")


app = typer.Typer(
    name="colonnade",
    cls=_Group,
    help="Bayesian networks whose every table is a posterior: fit them to data, ask them "
    "questions, compare them, convert them.",
    epilog="Exit codes: 0 done; 1 the data, the model or a file cannot be used; 2 wrong usage.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # paragraphs of a docstring are filled, not broken as written
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(learning.fit)
app.command()(asking.show)
app.command()(asking.query)
app.command()(learning.compare)
app.command()(asking.convert)
app.command()(reproducing.reproduce)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"colonnade {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """Show the main job on data that ship with scikit-learn.

    A network is estimated from 60 rows under every prior; the held-out log likelihoods stand side
    by side.
    """
    from colonnade.demo import main as run

    run()


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a name must not end the program.
            stream.reconfigure(errors="backslashreplace")
    app()
