"""What a file of another program says about each variable, before it is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade._rows import codes_of
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.exceptions import ColonnadeError, DataError, TooLargeError, amount
from colonnade.files.names import Alphabet, decode, typed, types_of
from colonnade.network import BayesianNetwork
from colonnade.variables import Family, Variable

__all__ = ["Draft", "DraftError", "FormatWarning", "assemble", "numbers", "sketch"]

# Cells of all tables of a network that is written out in full: about as many as a file may hold.
_LIMIT = 5_000_000
# Rows may be off by the rounding of printed digits; beyond, something else is wrong.
_PRINTED = 0.01
_EXACT = 1e-6


class FormatWarning(UserWarning):
    """A file of another format does not hold everything as it is."""


class DraftError(Exception):
    """A file says something that cannot be."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place
        self.problem = problem


@dataclass(slots=True)
class Draft:
    """One variable of a file, with names as the file writes them.

    Attributes
    ----------
    name : str
    labels : list of str
        Its states.
    types : str
        The property that keeps their types, or nothing.
    parents : list of str
    rows : array [configuration, state] or None
        The probabilities; with `codes` only of the configurations given there.
    codes : array [row, parent] or None
    default : array [state] or None
        The probabilities of all other configurations.
    title : str
        The name for people to read, where a format has a place for one.
    relative : bool
        Whether the format takes any positive numbers and divides each row by its sum.
    """

    name: str
    labels: list[str] = field(default_factory=list)
    types: str = ""
    parents: list[str] = field(default_factory=list)
    rows: NDArray[np.float64] | None = None
    codes: NDArray[Any] | None = None
    default: NDArray[np.float64] | None = None
    title: str = ""
    relative: bool = False

    @property
    def place(self) -> str:
        """How messages call it."""
        return f"variable {decode(self.name)!r}"


def sketch(
    network: BayesianNetwork, alphabet: Alphabet, limit: int = _LIMIT
) -> tuple[list[Draft], dict[str, str]]:
    """Write a network in the names of a format.

    Parameters
    ----------
    network : BayesianNetwork
    alphabet : Alphabet
    limit : int
        Largest number of cells of all tables together.

    Returns
    -------
    drafts : list of Draft
        With dense tables, in the order of the graph.
    encoded : dict of str to str
        How names and states are written that the format does not hold as they are.
    """
    cells = sum(
        cpt.family.configurations * cpt.family.cardinality for cpt in network.tables.values()
    )
    if cells > limit:
        hint = "save it in the native format, which stores what was observed only"
        raise TooLargeError("The tables of the network", size=cells, limit=limit, hint=hint)
    encoded: dict[str, str] = {}
    drafts = []
    for variable in network.variables:
        cpt = network[variable.name]
        if not cpt.table.complete:
            unseen = amount(cpt.family.configurations - len(cpt.table.rows))
            raise DataError(
                f"Variable {variable.name!r}",
                f"{unseen} configurations of its parents have no probabilities to write.",
                "fit with a prior such as Hierarchical(), or with MaximumLikelihood('uniform')",
                variable=variable.name,
            )
        draft = Draft(
            alphabet.write_name(variable.name),
            alphabet.write_states(variable.states),
            types_of(variable.states),
            [alphabet.write_name(parent.name) for parent in cpt.family.parents],
            cpt.table.dense(),
            title=variable.name,
        )
        texts = [variable.name, *map(str, variable.states)]
        written = [draft.name, *draft.labels]
        encoded.update((text, new) for text, new in zip(texts, written, strict=True) if text != new)
        drafts.append(draft)
    return drafts, encoded


def assemble(drafts: Sequence[Draft], notes: list[str]) -> BayesianNetwork:
    """Build the network that a file describes, or raise `DraftError`.

    Parameters
    ----------
    drafts : sequence of Draft
        One for each variable.
    notes : list of str
        Gets what a user should know although the file can be used.

    Returns
    -------
    BayesianNetwork
    """
    variables: dict[str, Variable] = {}
    for draft in drafts:
        if draft.name in variables:
            raise DraftError(draft.place, "it is defined twice.")
        variables[draft.name] = _made(draft, lambda d: Variable(decode(d.name), _states(d)))
    if not variables:
        raise DraftError("", "it defines no variables.")
    names = {name: variable.name for name, variable in variables.items()}
    if len(set(names.values())) < len(names):
        raise DraftError("", "two variables have the same name.")
    tables = {}
    for draft in drafts:
        for parent in draft.parents:
            if parent not in variables:
                raise DraftError(draft.place, f"its parent {parent[:80]!r} is not defined.")
        family = _made(
            draft, lambda d: Family(variables[d.name], tuple(variables[p] for p in d.parents))
        )
        tables[names[draft.name]] = _cpt(family, draft, notes)
    arcs = [(names[parent], names[draft.name]) for draft in drafts for parent in draft.parents]
    try:
        return BayesianNetwork(Dag(tuple(arcs), tuple(names.values())), tables)
    except ColonnadeError as error:
        raise DraftError("", str(error)) from None


def _states(draft: Draft) -> Any:
    return typed(draft.labels, draft.types)


def _cpt(family: Family, draft: Draft, notes: list[str]) -> Cpt:
    r, sizes = family.cardinality, family.parent_sizes
    if draft.rows is None:
        raise DraftError(draft.place, "it has no probabilities.")
    rows = draft.rows.reshape(-1, r) if draft.rows.size % r == 0 else None
    if rows is None or (draft.codes is None and len(rows) != family.configurations):
        wanted = f"{amount(family.configurations)} configurations of {r} states"
        raise DraftError(draft.place, f"{draft.rows.size:,} probabilities for {wanted}.")
    default = draft.default
    stored = len(rows) if draft.codes is None else len(draft.codes)
    if stored < family.configurations and default is None:
        missing = amount(family.configurations - stored)
        raise DraftError(draft.place, f"{missing} configurations have no probabilities.")
    rows = _summing_to_one(rows, draft, notes)
    if default is not None:
        default = None if stored == family.configurations else default
        if default is not None:
            default = _summing_to_one(default[None], draft, notes)[0]
    codes = codes_of(np.arange(stored), sizes) if draft.codes is None else draft.codes
    table: SparseTable = _made(draft, lambda d: SparseTable(sizes, codes, rows, default))
    return Cpt(family, None, None, table)


def _summing_to_one(
    rows: NDArray[np.float64], draft: Draft, notes: list[str]
) -> NDArray[np.float64]:
    if not (np.isfinite(rows).all() and (rows >= 0.0).all()):
        raise DraftError(draft.place, "a probability is negative or not a number.")
    totals = rows.sum(axis=1)
    off = np.abs(totals - 1.0)
    if off.max(initial=0.0) > _PRINTED and not (draft.relative and (totals > 0.0).all()):
        worst = totals[off.argmax()].item()
        raise DraftError(draft.place, f"its probabilities do not sum to 1 but to {worst:.6g}.")
    if (off > _EXACT).any():
        notes.append(
            f"{int((off > _EXACT).sum())} rows of {draft.place} sum to 1 only within "
            f"{off.max():.2g} and were divided by their sums"
        )
        rows = rows / totals[:, None]
    return rows


def _made(draft: Draft, make: Any) -> Any:
    """Call a constructor that checks its arguments; its complaint is about the file."""
    try:
        return make(draft)
    except ValueError as error:  # among them all errors of this package that matter here
        raise DraftError(draft.place, f"{str(error).rstrip('.')}.") from None


def numbers(words: Sequence[str], place: str) -> NDArray[np.float64]:
    """Numbers from the words of a file."""
    try:
        return np.array([float(word) for word in words])
    except ValueError as error:
        problem = str(error).removeprefix("could not convert string to float: ")
        raise DraftError(place, f"{problem[:80]} is not a number.") from None
