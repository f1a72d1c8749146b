"""A network as a file of another program describes it, before it is believed.

The module of a format parses the content of a file into a :class:`Draft`, with names as the file
writes them, and renders a draft as text. `assembly.assemble` checks a draft and makes a network of
it; `sketch` makes a draft of a network, with names as the format holds them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.cpt import Cpt
from colonnade.exceptions import Advice, DataError, TooLargeError, counted, warn
from colonnade.files.misfit import MisfitError, times
from colonnade.files.names import Spelling, decode, types_of
from colonnade.network import BayesianNetwork
from colonnade.variables import Variable

# Cells of all tables of a network that is written out in full: about as many as a file may hold.
_MAX_CELLS_IN_FILE = 5_000_000

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
    # What is written, or what a file keeps beside the name and the labels.
    original: Variable | None = None

    @property
    def title(self) -> str:
        """The name for people to read."""
        return decode(self.name) if self.original is None else self.original.name

    @property
    def place(self) -> str:
        """How messages call it."""
        return f"variable {self.title!r}"

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
    line: str = ""  # where it stands in a text file


@dataclass(frozen=True, slots=True)
class DraftEffects:
    """The effects of single parents, of a variable whose states run from the strongest to none."""

    parents: list[str]
    rows: Floats  # [states of the first parent, of the next, ..., leak; state], of any shape
    order: list[int] | None  # which state of its parent each row is of; None: as they come
    line: str = ""  # where it stands in a text file


@dataclass(frozen=True, slots=True)
class Draft:
    """Variables and tables by the names the file has for them, in its order.

    Notes are what a user should know although the file can be used.
    """

    variables: dict[str, DraftVariable] = field(default_factory=dict)
    tables: dict[str, DraftTable | DraftEffects] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def define(self, variable: DraftVariable) -> None:
        """Add a variable."""
        if variable.name in self.variables:
            raise variable.misfit("it is defined twice.")
        self.variables[variable.name] = variable

    def tabulate(self, variable: DraftVariable, table: DraftTable | DraftEffects) -> None:
        """Add the table of a variable."""
        if variable.name in self.tables:
            raise variable.misfit("its probabilities are given twice.")
        self.tables[variable.name] = table

    def add(self, variable: DraftVariable, table: DraftTable | DraftEffects) -> None:
        """Add a variable and its table."""
        self.define(variable)
        self.tabulate(variable, table)


@dataclass(frozen=True, slots=True)
class Format:
    """The file format of another program, which holds graph, states and probabilities."""

    name: str
    suffixes: tuple[str, ...]  # in lower case
    spelling: Spelling  # names and states that it does not hold are written as others
    parse: Callable[[bytes], Draft]  # raises `MisfitError`
    render: Callable[[Draft], str]
    dialects: Mapping[Dialect, Callable[[Draft], str]] = field(default_factory=dict)
    # What every file of the format lacks; each time one is written, a warning says so.
    lost: str = ""
    effects: bool = False  # whether it holds the effects of single parents


def sketch(
    network: BayesianNetwork,
    spelling: Spelling,
    holder: str,
    max_cells: int = _MAX_CELLS_IN_FILE,
    effects: bool = False,
) -> Draft:
    """Write a network in the names that a format or program (`holder`) holds, with dense tables.

    If it holds `effects` of single parents, tables that are made of these are written so.
    """
    draft = Draft()
    noisy = _noisy_tables(network, draft) if effects else {}
    check_writable([cpt for name, cpt in network.tables.items() if name not in noisy], max_cells)
    names = dict(zip(network, spelling.write_names(network), strict=True))
    for name, cpt in network.tables.items():
        child = cpt.family.child
        labels = spelling.write_states(child.states)
        variable = DraftVariable(names[name], labels, types_of(child.states), child)
        parents = [names[parent.name] for parent in cpt.family.parents]
        if name in noisy:
            draft.add(variable, replace(noisy[name], parents=parents))
        else:
            draft.add(variable, DraftTable(parents, cpt.table.dense()))
    _note_encoded(draft, holder)
    return draft


def _noisy_tables(network: BayesianNetwork, draft: Draft) -> dict[str, DraftEffects]:
    """The tables that are made of effects, if those are as programs want them.

    The last state of the variable is no effect, and each parent has a state without any, which
    comes last among its rows.
    """
    found = {}
    for name, cpt in network.tables.items():
        if (effects := cpt.effects) is None:
            continue
        without = [np.flatnonzero(table[:, -1] == 1.0) for table in effects.parents]
        if not effects.descending or not all(states.size for states in without):
            why = "its last state is not that of no effect, or a parent has always an effect"
            draft.notes.append(f"wrote the noisy-max table of {name!r} in full: {why}")
            continue
        order, rows = [], []
        for table, absent in zip(effects.parents, without, strict=True):
            states = [state for state in range(len(table)) if state != absent[-1]]
            order += [*states, int(absent[-1])]
            rows.append(table[order[-len(table) :]])
        found[name] = DraftEffects([], np.concatenate([*rows, effects.leak[None]]), order)
    return found


def check_writable(tables: Collection[Cpt], max_cells: int) -> None:
    """Refuse tables that are too large to be written in full, or that lack probabilities."""
    families = [cpt.family for cpt in tables]
    cells = sum(family.configurations * family.cardinality for family in families)
    if cells > max_cells:
        hint = "save it in the native format, which stores what was observed only"
        raise TooLargeError("The tables of the network", size=cells, limit=max_cells, hint=hint)
    for cpt in tables:
        if not cpt.table.complete:
            name = cpt.family.child.name
            unseen = cpt.family.configurations - len(cpt.table.rows)
            of = f"{counted(unseen, 'configuration')} of its parents"
            problem = f"there are no probabilities to write for {of}."
            hint = Advice.PRIOR_FOR_UNOBSERVED
            raise DataError(f"Variable {name!r}", problem, hint, variable=name)


def _note_encoded(draft: Draft, holder: str) -> None:
    """Note which names and states had to be encoded."""
    encoded: dict[str, str] = {}
    for variable in draft.variables.values():
        states = variable.original.states if variable.original else ()
        texts = variable.title, *map(str, states)
        pairs = zip(texts, (variable.name, *variable.labels), strict=True)
        encoded |= {text: written for text, written in pairs if written != text}
    if encoded:
        original, code = next(iter(encoded.items()))
        number = counted(len(encoded), "name or state", "names or states")
        example = f"{'for example ' * (len(encoded) > 1)}{original!r} as {code!r}"
        decodes = "Colonnade decodes " + ("it" if len(encoded) == 1 else "them")
        draft.notes.append(f"encoded {number} that {holder} cannot hold, {example}; {decodes}")


def tell(subject: str, notes: Sequence[str]) -> None:
    """Warn once of what a user should know about a file or a call, if there is anything."""
    if notes:
        more = f" (and {len(notes) - 3} more of this kind)" if len(notes) > 3 else ""
        warn(f"{subject}: {'; '.join(notes[:3])}{more}.", FormatWarning)


def only_property(key: str, given: Sequence[str], name: str) -> str:
    """A property of ours, which a file has once or not at all."""
    if len(set(given)) > 1:
        raise MisfitError(place_of(name), f"its property {key} is given {times(len(given))}.")
    return given[0] if given else ""


def refuse_function(text: str, child: DraftVariable) -> None:
    """Refuse a property that makes the numbers of a table the parameters of a noisy gate."""
    if match := re.match(r"function\b[\s=:]*(.*)", text):
        raise child.misfit(f"tables of the function {match[1][:40]!r} are not supported.")


def numbers(words: Sequence[str], place: str) -> Floats:
    """Numbers from the words of a file."""
    return np.array([_number(word, place) for word in words], dtype=np.float64)


def _number(word: str, place: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise MisfitError(place, f"{word[:80]!r} is not a number.") from None
