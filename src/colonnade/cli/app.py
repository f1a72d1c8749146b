"""The commands, and what all of them share: how errors and warnings are reported."""

from __future__ import annotations

import io
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from colonnade import __version__
from colonnade.cli.commands import (
    anomaly,
    compare,
    convert,
    count,
    datasets,
    demo,
    effect,
    explain,
    explore,
    export,
    fit,
    forget,
    graph,
    impute,
    informative,
    inspect,
    merge,
    most_probable,
    plot,
    predict,
    query,
    report,
    reproduce,
    sample,
    sensitivity,
    show,
    structure,
    update,
    warm,
)
from colonnade.cli.messages import spellings, worded, worded_usage
from colonnade.cli.options import flattened, with_priors
from colonnade.cli.output import complain, say
from colonnade.cli.values import Misuse
from colonnade.exceptions import ColonnadeError

# In the order of the help.
_COMMANDS = (
    inspect.inspect,
    fit.fit,
    structure.structure,
    compare.compare,
    show.show,
    query.query,
    most_probable.most_probable,
    effect.effect,
    explain.explain,
    informative.informative,
    sensitivity.sensitivity,
    graph.graph,
    predict.predict,
    impute.impute,
    anomaly.anomaly,
    sample.sample,
    plot.plot,
    export.export,
    update.update,
    forget.forget,
    count.count,
    merge.merge,
    convert.convert,
    datasets.datasets,
    report.report,
    explore.explore,
    reproduce.reproduce,
    demo.demo,
    warm.warm,
)


# Of Typer or of Click, depending on the version of Typer.
_UsageError: Any = typer.BadParameter.__base__


@contextmanager
def _refusing(context: Any = None) -> Iterator[None]:
    """Report a command that cannot be understood by one line and exit code 2."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        complain(f"Error: {worded_usage(error)}")
        if where := error.ctx or context:
            complain(f"See {where.command_path} --help.")
        raise typer.Exit(2) from None


class _Group(TyperGroup):
    """All commands; what cannot be understood is reported as by a command."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with _refusing():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with _refusing(ctx):
            return super().invoke(ctx)


class _Command(TyperCommand):
    """A command whose errors are one line on standard error, and exit code 1 or 2."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with _refusing():
            return super().make_context(*arguments, **more)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The parser would take the last value and forget the others.
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        for each, times in Counter(order).items():
            if times > 1 and isinstance(each, TyperOption) and _has_one_value(each):
                *names, last = (*each.opts[:1], *each.secondary_opts)
                options = f"{', '.join(names)} or {last}" if names else last
                error = Misuse(f"Expected {options} once, got it {_times(times)}.")
                error.ctx = ctx
                raise error
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for each in self.get_params(ctx):
            if isinstance(each, TyperOption):
                each.help = with_priors(each.help or "")
            if not isinstance(each, TyperOption) or each.is_flag:
                # An argument is named by a word that says what it is, and a flag takes nothing:
                # the types of Python that Typer would show say less.
                vars(each)["display_type_rich"] = _no_type
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        options = spellings(self.params)

        def warn(message: Warning | str, *where: Any, **more: Any) -> None:
            complain(f"Warning: {worded(message, options)}")

        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = warn
            try:
                with _refusing(ctx):
                    return super().invoke(ctx)
            except (typer.Exit, typer.Abort, BrokenPipeError):
                raise
            except Exception as error:
                if ctx.params.get("debug"):
                    raise
                complain(f"Error: {_told(error, options)}")
        raise typer.Exit(1)


def _no_type(ctx: Any) -> None:
    """Show no type of Python."""


def _has_one_value(option: TyperOption) -> bool:
    """Whether an option that is given twice would contradict itself."""
    return not option.multiple and (not option.is_flag or bool(option.secondary_opts))


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


def _told(error: Exception, options: Mapping[str, str]) -> str:
    """Word an error in one line."""
    if isinstance(error, ColonnadeError):
        return worded(error, options)
    if isinstance(error, OSError):
        # Files are named where they are written; what has no name is standard output.
        where = repr(error.filename) if error.filename else "Output"
        return f"{where}: {error.strerror or error}."
    if isinstance(error, MemoryError):
        return "the memory of this machine is not enough."
    kind, text = type(error).__name__, " ".join(str(error).split())
    return f"unexpected, and a mistake of colonnade ({kind}: {text}). Hint: --debug shows where."


app = typer.Typer(
    name="colonnade",
    cls=_Group,
    help="Bayesian networks whose every table is a posterior: fit them to data, ask them "
    "questions, compare them, convert them. Begin with colonnade inspect DATA, then colonnade fit "
    "DATA -o model.json.",
    epilog="Exit codes: 0 done; 1 the data, the model or a file cannot be used; 2 wrong usage; "
    "130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # paragraphs of a docstring are filled, not broken as written
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
