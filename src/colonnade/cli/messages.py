"""Errors and warnings of the package in the words of the command line.

What a message is about comes as data: its statement, the parameter it names and its hint. A
parameter is named as the option or argument of the running command that has its value, and a
hint that would speak Python is replaced by the one in the table below.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from colonnade.cli.values import Misuse
from colonnade.exceptions import (
    Advice,
    ColonnadeError,
    ColonnadeWarning,
    ColumnWarning,
    DataError,
    InputError,
    with_hint,
)
from colonnade.wording import did_you_mean, joined

# Hints of the package that name something of Python, in the words of the command line. Of several
# wordings a command takes the first whose options it has, or else the last.
_ADVICE: dict[Advice, str | tuple[str, ...]] = {
    Advice.ONE_WAY: (
        "write each state in one way, or see with colonnade inspect how to --recode",
        "write each state in one way",
    ),
    Advice.ALLOW_MORE_ITERATIONS: (
        "check the result, or fit in Python, where missing=EM(iterations=...) allows more"
    ),
    Advice.CHOOSE_CODES: "give --na for each text that is missing; --na '' if none is",
    Advice.COUNT_COMPLETE_ROWS: (
        "give --missing available to count complete rows, family by family, or fit with "
        "--missing em"
    ),
    Advice.CORRECT_NUMBERS: "correct them, or give --na for each text that means missing",
    Advice.CUT: (
        "cut them into intervals with --bins 5",
        "cut them at the same points in all parts, with --cut '{name}: 1, 2'",
    ),
    Advice.DECLARE_STATES: (
        "leave the column out, with --ignore or by not naming it in --dag",
        "leave the column out with --ignore",
        "leave it out of the graph",
    ),
    Advice.DECLARE_ORDER: (
        "write all of its values as text, or leave the column out with --ignore",
        "write all of its values as text",
    ),
    Advice.KEEP_COLUMNS: "give {kept} to keep what you need",
    Advice.LEARN_FROM_COMPLETE_ROWS: (
        "give --missing available or --missing em to learn the graph from the complete rows, or "
        "--missing state to learn it from all of them"
    ),
    Advice.LEAVE_OUT_DATES: (
        "leave the column out with --ignore {first}, or turn it into parts such as the month",
        "turn it into parts such as the month",
    ),
    Advice.ADD_GROUP: "fit again to all rows, with those of the new group",
    Advice.ASK_NEW_GROUP: (
        "leave it out of --observed, or fit again to all rows, with those of the new group"
    ),
    Advice.LOAD_CLASSIFIER: (
        "it is a classifier: read it in Python, with BayesianNetworkClassifier.load, and save its "
        "network_"
    ),
    Advice.LOAD_FOREST: (
        "it is a forest: predict and report take it, and Python, with BayesianNetworkForest.load"
    ),
    Advice.LEAVE_OUT: (
        "leave out what does not describe rows, with {ignored}, or by not naming it in --dag",
        "leave out what does not describe rows, with {ignored}",
        "leave out of the graph what does not describe rows",
    ),
    Advice.NAMED_BY_BINS: "--bins names it: give the names of columns",
    Advice.NAMED_BY_DAG: "the graph names it: take it out, or call the column so",
    Advice.NAMED_BY_GROUP: "--group names it: give the name of a column",
    Advice.NAMED_BY_WEIGHTS: "--weights names it: give the name of a column",
    Advice.NAME_BINS: (
        "say how with --bins {first}=4, or keep the values as states with --bins {first}=keep"
    ),
    Advice.NAME_DIALECT: "give --separator and --decimal if that is wrong",
    Advice.NAME_ENCODING: "give --encoding, such as cp1252, if that is wrong",
    Advice.NAME_COLUMNS: "name all columns in the file",
    Advice.NAME_TABLE: "give --table with one of them",
    Advice.NOT_OBSERVED: "leave it out of --observed, or ask for another variable",
    Advice.NO_COMPLETE_ROWS: (
        "give --missing state, or leave the columns that lack most values out with --ignore"
    ),
    Advice.MARK_MISSING: "correct the file, and store what means missing as null",
    Advice.EMPTY_COLUMN: "give an empty column for what was not measured",
    Advice.FIRST_LINE_IS_DATA: "give --no-header if the first line is data",
    Advice.NO_HEADER: "give --no-header if it is data, --header if it is names",
    Advice.NO_BARS: "leave out --tables",
    Advice.NO_DRAWS: "leave out --draws, or fit with a prior such as hierarchical",
    Advice.NO_DRAWS_OF_KNOWN_TABLES: (
        "leave out --draws; for one of several groups, ask the model of all groups, with "
        "--observed for the group"
    ),
    Advice.NO_DRAWS_OR_POSSIBLE_STATES: (
        "leave out --draws, or fit with a prior that leaves every state possible"
    ),
    Advice.ONE_TEXT_PER_VARIABLE: "give the option once for each variable",
    Advice.OVERWRITE: "choose another name, or give --overwrite",
    Advice.PRIOR_FOR_HUGE_TABLES: "use the prior hierarchical or symmetric",
    Advice.PRIOR_FOR_UNOBSERVED: "fit with a prior such as hierarchical, or with ml:uniform",
    Advice.READ_FIRST: "save the data as one of these",
    Advice.PRIOR_WITH_POSTERIOR: "fit with the prior hierarchical, symmetric or bdeu",
    Advice.LIMIT_PARENTS: "limit the number of parents, for example with --max-parents 5",
    Advice.SEARCH_BY_SCORES: "search by scores instead, with --learn ges",
    Advice.TOO_MANY_FOR_EXACT: "give --learn ges, or leave columns out with --ignore",
    Advice.SAME_VARIABLES: "name variables without arcs in a line of their own",
    Advice.TWO_STATES: "write smoker=yes,no",
    Advice.SAME_CUTS: "fit both with the same --cut",
    Advice.SAVE_COUNTS: "make one with colonnade count",
    Advice.FIT_COUNTS: "it holds counts: colonnade fit --counts makes a network of them",
    Advice.SAME_GRAPH: "fit both with the same --dag",
    Advice.SAME_PRIORS: "fit both with the same --prior",
    Advice.SAME_STATES: "fit one of them, and let it learn from the other data with update",
    Advice.SIMPLIFY_EM: (
        "give --missing available, use fewer parents, or complete some of the rows"
    ),
    Advice.WEIGH_KNOWN_TABLES: "fit a network to data first",
    Advice.UNKNOWN_AS_ERROR: "",
    Advice.UNKNOWN_AS_MISSING: "correct them, or leave them empty",
    Advice.USE_ALL_ROWS: (
        "leave the columns that lack most values out with --ignore, or give --missing state"
    ),
}
# Parameters of the package that are called otherwise in every command.
_NAMES = {"table": "path"}


def spellings(parameters: Iterable[Any]) -> dict[str, str]:
    """Return how the parameters of a command are typed: options by name, arguments in capitals."""
    return {each.name: _spelled(each) for each in parameters}


def _spelled(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name.upper())


def worded_usage(error: Any) -> str:
    """Word the error for a command that cannot be understood, Typer's own errors included."""
    parameter = getattr(error, "param", None)
    if isinstance(error, Misuse):
        name = "" if parameter is None else _spelled(parameter)
        return with_hint(name.join(error.parts), error.hint)
    # Typer's errors come from Click or from a copy of it, depending on its version.
    kind, text = type(error).__name__, error.format_message().rstrip(".")
    if kind == "MissingParameter" and parameter is not None:
        return f"{_spelled(parameter)} is missing."
    if kind == "NoSuchOption" and error.ctx is not None:
        known = (option for each in error.ctx.command.params for option in each.opts)
        statement = f"{error.option_name} is not an option of {error.ctx.command_path}."
        return with_hint(statement, did_you_mean(error.option_name, known).replace("'", ""))
    if kind == "BadOptionUsage" and text.endswith("requires an argument"):
        return f"{error.option_name} needs a value."
    if extra := re.fullmatch(r"Got unexpected extra argument[()s]* \((.*)\)", text):
        return f"Expected no further argument, got {extra[1]}."
    if kind == "UsageError" and (asked := re.match(r"No such command '(.*?)'", text)):
        known = [] if error.ctx is None else error.ctx.command.list_commands(error.ctx)
        longer = [name for name in known if name.startswith(asked[1])]
        hint = did_you_mean(asked[1], known)
        hint = hint or (f"did you mean {joined(map(repr, longer), 'or')}?" if longer else "")
        return with_hint(f"{asked[1]!r} is not a command.", hint)
    # Options are written without quotes in all our messages.
    return re.sub(r"'(--?[a-z][a-z-]*)'", r"\1", text) + "."


def worded(message: Exception | str, options: Mapping[str, str]) -> str:
    """Word an error or a warning for a command, given how its parameters are typed."""
    if not isinstance(message, ColonnadeError | ColonnadeWarning):
        return str(message)
    statement, hint = message.statement, message.hint
    if isinstance(message, InputError) and message.parameter is not None:
        name = message.parameter
        option = name if name in options.values() else options.get(_NAMES.get(name, name))
        statement = statement if option is None else message.naming(option)
    if isinstance(hint, Advice):
        hint = _advice(hint, _columns(message), {*options.values()})
    return with_hint(statement, hint)


def _advice(advice: Advice, columns: Sequence[str], options: AbstractSet[str]) -> str:
    """Word a hint about some columns for a command that has some options."""
    ways = _ADVICE[advice]
    words: dict[str, str] = {}
    if columns:
        first, *_ = names = [shlex.quote(name) for name in columns]
        words = {"first": first, "name": columns[0]}
        words["ignored"] = " ".join(f"--ignore {name}" for name in names)
        words["kept"] = " ".join(f"--keep {name}" for name in names)
    each = ways if isinstance(ways, tuple) else (ways,)
    hints = [way.format(**words) if words else way for way in each]
    fitting = (hint for hint in hints if {*re.findall(r"--[a-z-]+", hint)} <= options)
    return next(fitting, hints[-1])


def _columns(message: Exception) -> tuple[str, ...]:
    """The columns that a message is about and that its hint may name."""
    if isinstance(message, ColumnWarning):
        return message.columns
    if isinstance(message, DataError) and "column" in message.details:
        return (message.details["column"],)
    return ()
