"""The commands, and what all of them share: how errors and warnings are reported."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from colonnade import __version__
from colonnade.cli.commands import compare, convert, demo, fit, query, reproduce, show
from colonnade.cli.messages import spellings, worded
from colonnade.cli.options import flattened, with_priors
from colonnade.cli.output import complain, say
from colonnade.exceptions import ColonnadeError

# In the order of the help.
_COMMANDS = (
    fit.fit,
    show.show,
    query.query,
    compare.compare,
    convert.convert,
    reproduce.reproduce,
    demo.demo,
)


class _Command(TyperCommand):
    """A command whose errors are one line on standard error and exit code 1."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for each in self.params:
            if isinstance(each, TyperOption):
                each.help = with_priors(each.help or "")
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        options = spellings(self.params)

        def warn(message: Warning | str, *where: Any, **more: Any) -> None:
            complain(f"Warning: {worded(message, options)}")

        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = warn
            try:
                return super().invoke(ctx)
            except ColonnadeError as error:
                complain(f"Error: {worded(error, options)}")
            except BrokenPipeError:
                raise
            except OSError as error:
                where = f"{error.filename!r}: " if error.filename else ""
                complain(f"Error: {where}{error.strerror or error}.")
        raise typer.Exit(1)


app = typer.Typer(
    name="colonnade",
    help="Bayesian networks whose every table is a posterior: fit them to data, ask them "
    "questions, compare them, convert them.",
    epilog="Exit codes: 0 done; 1 the data, the model or a file cannot be used; 2 wrong usage; "
    "130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # paragraphs of a docstring are filled, not broken as written
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in _COMMANDS:
    app.command(cls=_Command)(flattened(_command))


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


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a name must not end the program.
            stream.reconfigure(errors="backslashreplace")
    app()
