"""A network as a file of another program describes it, before it is believed.

The module of a format parses the content of a file into a :class:`Draft`, with names as the file
writes them, and renders a draft as text. `assemble` checks a draft and makes a network of it;
`sketch` makes a draft of a network, with names as the format holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.configurations import all_codes
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.exceptions import Advice, DataError, TooLargeError, counted, warn
from colonnade.files.misfit import MisfitError, made
from colonnade.files.names import Alphabet, decode, typed, types_of
from colonnade.network import BayesianNetwork
from colonnade.variables import Family, Variable

# Cells of all tables of a network that is written out in full: about as many as a file may hold.
_MAX_CELLS_IN_FILE = 5_000_000
# By how much the sum of a row may differ from 1: beyond the first it is divided by its sum, and
# beyond the second, more than the rounding of printed digits, it is refused.
_MAX_ROUNDING = 1e-6
_MAX_PRINTED_ROUNDING = 0.01


Dialect = Literal["standard", "agrum"]


class FormatWarning(UserWarning):
    """A file of another format does not hold everything as it is."""


def place_of(name: str) -> str:
    """How messages call a variable that a file has this name for."""
    return f"variable {decode(name)!r}"


@dataclass(frozen=True, slots=True)
class DraftVariable:
    """One variable of a file: its name, its states, and the property that keeps their types."""

    name: str
    labels: list[str]
    types: str = ""

    @property
    def title(self) -> str:
        """The name for people to read."""
        return decode(self.name)

    @property
    def place(self) -> str:
        """How messages call it."""
        return place_of(self.name)

    def misfit(self, problem: str) -> MisfitError:
        """Word an error about it."""
        return MisfitError(self.place, problem)


@dataclass(frozen=True, slots=True)
class DraftTable:
    """The probabilities of one variable, of all configurations or of those that are listed."""

    parents: list[str]
    rows: Floats  # [configuration, state], of any shape
    codes: Array | None = None  # [row, parent], of the configurations that are listed
    default: Floats | None = None  # [state], of all others
    # Whether the format takes any positive numbers and divides each row by its sum.
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """Variables and tables by the names the file has for them, in its order.

    Notes are what a user should know although the file can be used.
    """

    variables: dict[str, DraftVariable] = field(default_factory=dict)
    tables: dict[str, DraftTable] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def define(self, variable: DraftVariable) -> None:
        """Add a variable."""
        if variable.name in self.variables:
            raise variable.misfit("it is defined twice.")
        self.variables[variable.name] = variable

    def tabulate(self, variable: DraftVariable, table: DraftTable) -> None:
        """Add the table of a variable."""
        if variable.name in self.tables:
            raise variable.misfit("its probabilities are given twice.")
        self.tables[variable.name] = table

    def add(self, variable: DraftVariable, table: DraftTable) -> None:
        """Add a variable and its table."""
        self.define(variable)
        self.tabulate(variable, table)


@dataclass(frozen=True, slots=True)
class Format:
    """The file format of another program, which holds graph, states and probabilities."""

    name: str
    suffixes: tuple[str, ...]  # in lower case
    alphabet: Alphabet  # names and states that it does not hold are encoded
    parse: Callable[[bytes], Draft]  # raises `MisfitError`
    render: Callable[[Draft], str]
    dialects: Mapping[Dialect, Callable[[Draft], str]] = field(default_factory=dict)
    # What every file of the format lacks; each time one is written, a warning says so.
    lost: str = ""


def sketch(
    network: BayesianNetwork, alphabet: Alphabet, holder: str, max_cells: int = _MAX_CELLS_IN_FILE
) -> Draft:
    """Write a network in the names that a format or program (`holder`) holds, with dense tables."""
    check_writable(network, max_cells)
    draft = Draft()
    for cpt in network.tables.values():
        child = cpt.family.child
        variable = DraftVariable(
            alphabet.write_name(child.name),
            alphabet.write_states(child.states),
            types_of(child.states),
        )
        parents = [alphabet.write_name(parent.name) for parent in cpt.family.parents]
        draft.add(variable, DraftTable(parents, cpt.table.dense()))
    _note_encoded(draft, holder)
    return draft


def check_writable(network: BayesianNetwork, max_cells: int) -> None:
    """Refuse tables that are too large to be written in full, or that lack probabilities."""
    families = [cpt.family for cpt in network.tables.values()]
    cells = sum(family.configurations * family.cardinality for family in families)
    if cells > max_cells:
        hint = "save it in the native format, which stores what was observed only"
        raise TooLargeError("The tables of the network", size=cells, limit=max_cells, hint=hint)
    for name, cpt in network.tables.items():
        if not cpt.table.complete:
            unseen = cpt.family.configurations - len(cpt.table.rows)
            of = f"{counted(unseen, 'configuration')} of its parents"
            problem = f"there are no probabilities to write for {of}."
            hint = Advice.PRIOR_FOR_UNOBSERVED
            raise DataError(f"Variable {name!r}", problem, hint, variable=name)


def _note_encoded(draft: Draft, holder: str) -> None:
    """Note which names and states had to be encoded."""
    written = [text for each in draft.variables.values() for text in (each.name, *each.labels)]
    encoded = {decode(text): text for text in written if decode(text) != text}
    if encoded:
        original, code = next(iter(encoded.items()))
        number = counted(len(encoded), "name or state", "names or states")
        example = f"{'for example ' * (len(encoded) > 1)}{original!r} as {code!r}"
        decodes = "Colonnade decodes " + ("it" if len(encoded) == 1 else "them")
        draft.notes.append(f"encoded {number} that {holder} cannot hold, {example}; {decodes}")


def assemble(draft: Draft) -> tuple[BayesianNetwork, list[str]]:
    """Build the network that a file describes, with notes for the user, or raise `MisfitError`."""
    if not draft.variables:
        raise MisfitError("", "it defines no variables.")
    variables = {name: _variable(each) for name, each in draft.variables.items()}
    names = [variable.name for variable in variables.values()]
    if len(set(names)) < len(names):
        raise MisfitError("", "two variables have the same name.")
    tables, arcs, notes = {}, [], list(draft.notes)
    for name, variable in variables.items():
        place = draft.variables[name].place
        table = draft.tables.get(name)
        if table is None:
            raise MisfitError(place, "it has no probabilities.")
        for parent in table.parents:
            if parent not in variables:
                raise MisfitError(place, f"its parent {parent[:80]!r} is not defined.")
        parents = tuple(variables[parent] for parent in table.parents)
        family = made(place, Family, variable, parents)
        tables[variable.name], rescaled = _cpt(family, table, place)
        arcs += [(parent.name, variable.name) for parent in parents]
        notes += rescaled
    dag = made("", Dag, tuple(arcs), tuple(names))
    return made("", BayesianNetwork, dag, tables), notes


def _variable(draft: DraftVariable) -> Variable:
    states = made(draft.place, typed, draft.labels, draft.types)
    return made(draft.place, Variable, draft.title, states)


def _cpt(family: Family, table: DraftTable, place: str) -> tuple[Cpt, list[str]]:
    r, configurations = family.cardinality, family.configurations
    listed, rest = divmod(table.rows.size, r)
    if rest or (table.codes is None and listed != configurations):
        found = counted(table.rows.size, "probability", "probabilities")
        wanted = f"{counted(configurations, 'configuration')} of {counted(r, 'state')}"
        raise MisfitError(place, f"{found} for {wanted}.")
    unlisted = configurations - listed
    if unlisted and table.default is None:
        problem = f"there are no probabilities for {counted(unlisted, 'configuration')}."
        raise MisfitError(place, problem)
    rows, notes = _summing_to_one(table.rows.reshape(listed, r), table.relative, place)
    default = None
    if unlisted and table.default is not None:
        (default,), more = _summing_to_one(table.default[None], table.relative, place)
        notes += more
    sizes = family.parent_sizes
    codes = all_codes(sizes) if table.codes is None else table.codes
    sparse = made(place, SparseTable, sizes, codes, rows, default)
    return Cpt(family, None, None, sparse), notes


def _summing_to_one(rows: Floats, relative: bool, place: str) -> tuple[Floats, list[str]]:
    if not (np.isfinite(rows).all() and (rows >= 0.0).all()):
        raise MisfitError(place, "a probability is negative or not a number.")
    totals = rows.sum(axis=1)
    off = np.abs(totals - 1.0)
    if off.max(initial=0.0) > _MAX_PRINTED_ROUNDING and not (relative and (totals > 0.0).all()):
        worst = totals[off.argmax()].item()
        raise MisfitError(place, f"its probabilities do not sum to 1 but to {worst:.6g}.")
    inexact = int((off > _MAX_ROUNDING).sum())
    if not inexact:
        return rows, []
    by = f"off by up to {off.max():.2g}"
    note = f"rescaled {counted(inexact, 'row')} of {place} to sum to 1 ({by})"
    return rows / totals[:, None], [note]


def tell(subject: str, notes: Sequence[str]) -> None:
    """Warn once of what a user should know about a file or a call, if there is anything."""
    if notes:
        more = f" (and {len(notes) - 3} more of this kind)" if len(notes) > 3 else ""
        warn(f"{subject}: {'; '.join(notes[:3])}{more}.", FormatWarning)


def numbers(words: Sequence[str], place: str) -> Floats:
    """Numbers from the words of a file."""
    return np.array([_number(word, place) for word in words], dtype=np.float64)


def _number(word: str, place: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise MisfitError(place, f"{word[:80]!r} is not a number.") from None
