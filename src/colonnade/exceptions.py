"""Every error Colonnade raises on purpose, and the one place that words them.

All derive from :class:`ColonnadeError`; most are also the built-in error a caller would expect
(``ValueError``, ``ImportError``), so that either ``except`` clause catches them. What an error is
about travels in attributes, never only in its text: the command line builds its own message from
them, with options where Python has parameters.
"""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from colonnade.wording import amount as amount
from colonnade.wording import conditions as conditions
from colonnade.wording import counted as counted
from colonnade.wording import did_you_mean as did_you_mean
from colonnade.wording import listing as listing
from colonnade.wording import row_at as row_at
from colonnade.wording import shown
from colonnade.wording import tally as tally
from colonnade.wording import with_hint as with_hint

# Of fewer draws the ends of an interval say nothing; more take hours and change no digit.
MIN_DRAWS, MAX_DRAWS = 100, 1_000_000


class Advice(StrEnum):
    """Hints that name something of Python, for which the command line has words of its own.

    A member is its wording in Python, so it is given wherever an error takes a hint. The table
    with the wordings of the command line is in ``colonnade.cli.messages``.
    """

    ADD_GROUP = "add a new group first: network.with_group(name)"
    ASK_NEW_GROUP = (
        "ask network.for_new_group() about a group of which nothing was seen, or add it with "
        "network.with_group(name)"
    )
    ONE_WAY = "write each state in one way"
    ALLOW_MORE_ITERATIONS = "allow more with missing=EM(iterations=...)"
    CHOOSE_CODES = "name the texts that are missing with na=[...] of read or scan"
    COUNT_COMPLETE_ROWS = (
        "use missing='available' to count complete rows only, family by family, "
        "or fit with missing='em'"
    )
    CORRECT_NUMBERS = "correct them, or name those that mean missing with na=[...] of read or scan"
    CUT = "cut them into intervals with discretize(table)"
    DECLARE_STATES = "declare its states with `variables`, or drop the column"
    DECLARE_ORDER = "declare its states with `variables`, or use strings for all of them"
    KEEP_COLUMNS = "keep what you need with inspect(table, keep={columns})"
    LEARN_FROM_COMPLETE_ROWS = (
        "use missing='available' to take the complete rows, or missing='state' to take all of them"
    )
    LOAD_CLASSIFIER = "it is a classifier: write BayesianNetworkClassifier.load(path)"
    LOAD_FOREST = "it is a forest: write BayesianNetworkForest.load(path)"
    LEAVE_OUT_DATES = "leave the column out, or turn it into parts such as the month"
    LEAVE_OUT = "leave out what does not describe rows, with table.drop(columns={columns})"
    NAMED_BY_BINS = "`bins` names it: give the names of columns"
    NAMED_BY_DAG = "`dag` names it: take it out of the graph, or call the column so"
    NAMED_BY_GROUP = "`group` names it: give the name of a column"
    NAMED_BY_WEIGHTS = "`weights` names it: give the name of a column, or an array"
    NAME_BINS = (
        "say how with bins={{{first!r}: 4}}, or keep the values as states with {{{first!r}: None}}"
    )
    NAME_DIALECT = "give separator=... and decimal=... to read or scan if that is wrong"
    NAME_ENCODING = "give another encoding=... to read or scan if that is wrong"
    NAME_COLUMNS = "name the columns, for example df.columns = [f'x{c}' for c in df.columns]"
    NAME_TABLE = "write the table after the path of the database, as in 'clinic.duckdb/visits'"
    NOT_OBSERVED = "leave it out of `observed`, or ask for another variable"
    NO_COMPLETE_ROWS = "use missing='state', or leave out the columns that lack most values"
    MARK_MISSING = "correct the values, or replace what means missing by None"
    EMPTY_COLUMN = "give a column of None for what was not measured"
    FIRST_LINE_IS_DATA = "give header=False to read or scan if the first line is data"
    NO_HEADER = "give header=False to read or scan if it is data, header=True if it is names"
    NO_BARS = "draw a part of the network, or leave out `tables`"
    NO_DRAWS = "use draws=0, or fit with a prior such as Hierarchical()"
    NO_DRAWS_OF_KNOWN_TABLES = (
        "use draws=0; for one of several groups, ask the whole network with the group observed"
    )
    NO_DRAWS_OR_POSSIBLE_STATES = "use draws=0, or a prior that leaves every state possible"
    ONE_TEXT_PER_VARIABLE = (
        "one text per variable: give a list, such as ['age > 60', 'smoker = yes']"
    )
    OVERWRITE = "choose another name, or write overwrite=True"
    PRIOR_FOR_HUGE_TABLES = "use Hierarchical() or SymmetricDirichlet()"
    PRIOR_FOR_UNOBSERVED = (
        "fit with a prior such as Hierarchical(), or with MaximumLikelihood('uniform')"
    )
    READ_FIRST = "read it into memory with read(path)"
    PRIOR_WITH_POSTERIOR = "use Hierarchical(), SymmetricDirichlet() or BDeu()"
    LIMIT_PARENTS = "limit the number of parents, for example with max_parents=5"
    SEARCH_BY_SCORES = (
        "see what was found in `pdag`, take another alpha, or a search by scores such as ges"
    )
    TOO_MANY_FOR_EXACT = "use ges, or leave out columns"
    SAME_VARIABLES = "add variables without arcs with Dag(arcs, variables)"
    TWO_STATES = "write {'smoker': ('yes', 'no')}"
    SAME_CUTS = "cut both tables by one discretizer"
    SAVE_COUNTS = "make one with count(table, dag).save(path)"
    FIT_COUNTS = "it holds counts: NetworkCounts.load(path).fit() makes a network of them"
    SAME_GRAPH = "fit both with the same `dag`"
    SAME_PRIORS = "fit both with the same priors"
    SAME_STATES = "fit both with the same `variables`"
    SIMPLIFY_EM = "use missing='available', fewer parents, or fewer rows without values"
    WEIGH_KNOWN_TABLES = "say what they are worth, with network.with_weight(50)"
    UNKNOWN_AS_ERROR = "unknown='raise' makes this an error"
    UNKNOWN_AS_MISSING = "correct them, or take them as missing with unknown='missing'"
    USE_ALL_ROWS = "leave out the columns that lack most values, or use missing='state'"


class ColonnadeError(Exception):
    """Root of all errors raised by Colonnade.

    Attributes
    ----------
    statement, hint : str
        What is wrong, and one action that would help, worded for Python; empty if there is none.
        An :class:`Advice` where other ways to use Colonnade word it differently.
    """

    def __init__(self, statement: str, hint: str = "", **builtin: Any) -> None:
        super().__init__(with_hint(statement, hint), **builtin)
        self.statement, self.hint = statement, hint

    def __str__(self) -> str:
        # A subclass may be another built-in error as well, and KeyError would quote the message.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the constructor with the finished message, which has other parameters;
        # errors raised in a worker process must arrive whole.
        return type(self).__new__, (type(self), *self.args), self.__dict__.copy()


class InputError(ColonnadeError, ValueError):
    """A parameter has a value it cannot take.

    Attributes
    ----------
    parts : tuple of str
        The statement, cut where the name of the parameter belongs.
    parameter, value : str or None, object
        Name of the parameter, and the value received.

    Examples
    --------
    >>> error = InputError("Expected an integer for ", ", got 1.5.", parameter="k", value=1.5)
    >>> print(error)
    Expected an integer for `k`, got 1.5.
    >>> error.naming("--k")
    'Expected an integer for --k, got 1.5.'
    """

    def __init__(
        self, *parts: str, hint: str = "", parameter: str | None = None, value: Any = None
    ) -> None:
        super().__init__(f"`{parameter}`".join(parts), hint)
        self.parts, self.parameter, self.value = parts, parameter, value

    def naming(self, name: str) -> str:
        """Return the statement with another name for the parameter."""
        return name.join(self.parts)

    def rename(self, parameter: str) -> None:
        """Name another parameter."""
        self.parameter, self.statement = parameter, self.naming(f"`{parameter}`")
        self.args = (with_hint(self.statement, self.hint),)


class AbsentFileError(InputError, FileNotFoundError):
    """A file that is to be read does not exist."""

    def __reduce__(self) -> tuple[Any, ...]:
        _, args, attributes = super().__reduce__()
        # OSError keeps more than ValueError can make, and leaves the message to `__init__`.
        return FileNotFoundError.__new__, args, {**attributes, "args": self.args}


class UnknownNameError(InputError, KeyError):
    """A name is none of those that can be looked up."""


class CountsError(InputError):
    """A table of counts is malformed, or two tables do not fit together.

    Attributes
    ----------
    configuration, state : int or None
        The cell the error is about, if it is about one; a configuration may be a tuple of codes.
    """

    configuration: int | tuple[int, ...] | None = None
    state: int | None = None

    def named(self, place: str, cell: Callable[[tuple[int, ...], int], str]) -> CountsError:
        """Return the same error with names: of the variable, and of a cell given by its codes."""
        if isinstance(self.configuration, tuple) and self.state is not None:
            place = f"{place}, {cell(self.configuration, self.state)}"
        statement = f"{place}: {self.statement}"
        named = CountsError(statement, hint=self.hint, parameter=self.parameter, value=self.value)
        named.configuration, named.state = self.configuration, self.state
        return named


class ShortfallError(CountsError):
    """More was to be taken from a cell than it holds.

    Attributes
    ----------
    taken, held : int or float
        What was to be taken, and what there is.
    """

    configuration: tuple[int, ...]
    state: int

    def __init__(
        self,
        taken: float,
        held: float,
        configuration: tuple[int, ...],
        state: int,
        *,
        place: str = "Counts",
        cell: str = "",
    ) -> None:
        where = f" in configuration {configuration}" if configuration else ""
        cell = cell or f"state {state}{where}"
        statement = f"{place}: cannot take {taken} from {counted(held, 'count')} of {cell}."
        hint = "only take away counts that were added"
        super().__init__(statement, hint=hint, parameter="counts", value=held - taken)
        self.taken, self.held = taken, held
        self.configuration, self.state = configuration, state

    def named(self, place: str, cell: Callable[[tuple[int, ...], int], str]) -> ShortfallError:
        at = self.configuration, self.state
        return ShortfallError(self.taken, self.held, *at, place=place, cell=cell(*at))


class UnobservedError(CountsError):
    """Some configurations have no counts, and the prior has been told to refuse that.

    Attributes
    ----------
    unobserved, configurations : int
        How many have none, and how many there are.
    """

    def __init__(self, unobserved: int, configurations: int, value: Any) -> None:
        of = f"{amount(unobserved)} of {counted(configurations, 'configuration')}"
        have = "has" if unobserved == 1 else "have"
        statement, hint = f"{of} {have} no counts.", Advice.PRIOR_FOR_UNOBSERVED
        super().__init__(statement, hint=hint, parameter="counts", value=value)
        self.unobserved, self.configurations = unobserved, configurations


class DataError(ColonnadeError, ValueError):
    """The data a user handed over cannot be used; the message begins with the place.

    Attributes
    ----------
    place, problem : str
        Where in the data, for example ``"Column 'smoker'"``, and what is wrong there.
    details : dict
        Whatever else the error is about, by name; each is an attribute as well.
    """

    def __init__(self, place: str, problem: str, hint: str = "", **details: Any) -> None:
        super().__init__(f"{place}: {problem}", hint)
        self.__dict__.update(details)
        self.place, self.problem, self.details = place, problem, details

    def advising(self, hint: str) -> DataError:
        """Return the error with a hint; one that has a hint already keeps it."""
        return DataError(self.place, self.problem, self.hint or hint, **self.details)

    def reworded(self, hints: Mapping[str, str]) -> DataError:
        """Return the error with the hint that stands for its own, if there is one."""
        hint = hints.get(self.hint, self.hint)
        return DataError(self.place, self.problem, hint, **self.details)


class FileFormatError(ColonnadeError, ValueError):
    """A file is not what its name says, is damaged, or contradicts itself.

    Attributes
    ----------
    path, place, problem : str
        The file, where in it, for example ``"tables[2].counts"`` (empty for the file as a whole),
        and what is wrong there.

    Examples
    --------
    >>> raise FileFormatError("model.json", "arcs[3]", "parent 9 does not exist.")
    Traceback (most recent call last):
    colonnade.exceptions.FileFormatError: File 'model.json', arcs[3]: parent 9 does not exist.
    """

    def __init__(self, path: str, place: str, problem: str, hint: str = "") -> None:
        where = f"File {path!r}, {place}" if place else f"File {path!r}"
        super().__init__(f"{where}: {problem}", hint)
        self.path, self.place, self.problem = path, place, problem


class MissingExtraError(ColonnadeError, ImportError):
    """An optional package is not installed.

    Attributes
    ----------
    feature, package, extra : str
        What needs the package, the package, and the extra of Colonnade that installs it.
    """

    def __init__(self, feature: str, *, package: str, extra: str) -> None:
        hint = f'install the extra {extra!r}: in a clone of Colonnade, pip install ".[{extra}]"'
        super().__init__(f"{feature} needs the package {package!r}.", hint, name=package)
        self.feature, self.package, self.extra = feature, package, extra

    def __reduce__(self) -> tuple[Any, ...]:
        make, args, attributes = super().__reduce__()
        # What ImportError keeps beside the dictionary of an object.
        return make, args, {**attributes, "name": self.name, "msg": self.msg}


class TooLargeError(ColonnadeError, ValueError):
    """An answer would be larger than the limit the caller set.

    Attributes
    ----------
    size, limit : int
        Size of the answer, and the limit it exceeds.
    unit : str
        What is counted.
    """

    def __init__(
        self, what: str, *, size: int, limit: int, hint: str = "", unit: str = "cells"
    ) -> None:
        beyond = f"{amount(size)} {unit}, more than the limit of {amount(limit)}"
        super().__init__(f"{what} would have {beyond}.", hint)
        self.size, self.limit, self.unit = size, limit, unit


class TooManyStatesError(TooLargeError):
    """A variable has more states than its table can be computed for.

    Attributes
    ----------
    states : int
    """

    def __init__(self, states: int, limit: int, place: str = "") -> None:
        what = f"{place}{': the' if place else 'The'} covariance of a pool of {states:,} states"
        hint = "is this column an identifier? Leave it out, or put states together"
        super().__init__(what, size=states**2, limit=limit**2, hint=hint)
        self.states, self._limit = states, limit

    def named(self, variable: str) -> TooManyStatesError:
        """Return the same error with the name of the variable."""
        return TooManyStatesError(self.states, self._limit, f"Variable {variable!r}")


@contextmanager
def about(variable: str) -> Iterator[None]:
    """Let errors from within, which do not know the variable, name it."""
    try:
        yield
    except TooManyStatesError as error:
        raise error.named(variable) from None


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Let errors from within name the parameter that the user knows instead of ours."""
    try:
        yield
    except InputError as error:
        if error.parameter in names:
            error.rename(names[error.parameter])
        raise


class ColonnadeWarning(UserWarning):
    """Root of the warnings that say what is doubtful and what would help.

    Attributes
    ----------
    statement, hint : str
        What is doubtful, and one action that would help, as for :class:`ColonnadeError`.
    """

    def __init__(self, statement: str, hint: str = "") -> None:
        super().__init__(with_hint(statement, hint))
        self.statement, self.hint = statement, hint


class ConvergenceWarning(ColonnadeWarning):
    """A sampler or an iteration stopped before its result could be trusted."""


class IncompleteRowsWarning(ColonnadeWarning):
    """Rows were left out because they lack values."""


class DataWarning(ColonnadeWarning):
    """Data were changed, left out or guessed on the way in, or look like a mistake."""


class ColumnWarning(ColonnadeWarning):
    """Columns were cut or left out without being asked for, or have too many states to be useful.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    """

    def __init__(self, statement: str, hint: str = "", columns: tuple[str, ...] = ()) -> None:
        super().__init__(statement, hint)
        self.columns = columns
        if isinstance(hint, Advice):
            self.args = (with_hint(statement, hint.format(columns=[*columns], first=columns[0])),)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.statement, self.hint, self.columns)


class NotSupportedError(ColonnadeError, NotImplementedError):
    """The request is well formed, but has no meaning or no method here.

    Attributes
    ----------
    request, reason : str
        What was asked for, and why it cannot be done.
    """

    def __init__(self, request: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{request} is not supported: {reason}.", hint)
        self.request, self.reason = request, reason


def expected(
    what: str,
    parameter: str,
    value: Any,
    hint: str = "",
    *,
    got: str = "",
    kind: type[InputError] = InputError,
) -> InputError:
    """Word ``Expected {what} for `{parameter}`, got {value}.``; the caller raises it.

    A long value is shortened in the text, and `got` replaces one that says too little or too much.
    """
    parts = f"Expected {what} for ", f", got {got or shown(value)}."
    return kind(*parts, hint=hint, parameter=parameter, value=value)


def not_among(
    known: Iterable[Any], parameter: str, value: Any, kind: type[InputError] = InputError
) -> InputError:
    """Word the error for a name that is not one of those known, with those that look like it."""
    known = tuple(known)
    hint = did_you_mean(value, known)
    return expected(f"one of {listing(known)}", parameter, value, hint, kind=kind)


def no_such_file(path: Any) -> InputError:
    """Word the error for a file that is to be read and does not exist."""
    return expected("an existing file", "path", str(path), kind=AbsentFileError)


def inapplicable(parameter: str, value: Any, owner: str, hint: str = "") -> InputError:
    """Word the error for an option that belongs to another choice (`owner`) than was made."""
    rest = f" applies only to {owner}"
    got = f", got {parameter}={shown(value)}."
    error = InputError("", rest + got, hint=hint, parameter=parameter, value=value)
    # Under another name the value may have been written differently, too.
    error.parts = ("", f"{rest}.")
    return error


def checked_fraction(value: Any, parameter: str, hint: str = "") -> float:
    """Return a number strictly between 0 and 1, or say what is wrong."""
    try:
        number = float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        number = math.inf
    if isinstance(value, bool) or not 0.0 < number < 1.0:
        raise expected("a number between 0 and 1", parameter, value, hint)
    return number


def checked_level(level: Any) -> float:
    """Return the probability of an interval, or say what is wrong."""
    return checked_fraction(level, "level", "write 0.95 for 95 %")


def checked_whole(
    value: Any, parameter: str, least: int = 1, most: int | None = None, hint: str = ""
) -> int:
    """Return an integer of at least `least` and at most `most`, or say what is wrong."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        limits = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise expected(f"an integer {limits}", parameter, value, hint)
    return int(value)


def is_word(value: Any, *words: str) -> bool:
    """Whether a value is one of some words; it may be anything, even an array."""
    return isinstance(value, str) and value in words


def checked_list(value: Any, what: str, parameter: str) -> list[Any]:
    """Return the items of a collection that is no text, or say what is wrong."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        hint = f"write [{value!r}]" if isinstance(value, str) else ""
        raise expected(what, parameter, value, hint)
    return list(value)


def checked_draws(draws: Any) -> int:
    """Return a number of draws that makes an interval, or say what is wrong."""
    hint = "500 are a good start, and 1000 for a forest"
    return checked_whole(draws, "draws", MIN_DRAWS, MAX_DRAWS, hint)


def warn_of_few_draws(draws: int, level: float) -> None:
    """Say that the ends of intervals are the outermost draws, and so too near to each other."""
    outside = (1.0 - level) / 2.0
    if outside * draws > 1.0 - 1e-9:
        return
    statement = f"{draws:,} draws are too few for intervals of a level of {level}: too narrow."
    enough = min(MAX_DRAWS, math.ceil(10.0 / outside))
    warn(ConvergenceWarning(statement, f"take more draws, such as {enough:,}, or a lower level"))


def require(module: str, *, feature: str, extra: str) -> Any:
    """Import an optional package that a feature needs, or say which extra installs it."""
    import importlib

    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A package that is installed but broken must show its own error, not our hint.
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(feature, package=package, extra=extra) from error


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the first line outside this package as the place."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
