"""Rows that lack values, taken apart into what has to be summed over.

A missing value that nothing observed depends on, not even through other missing ones, sums to one:
it is left out, together with its family. The others only interact if they meet in a family, so a
row falls apart into *gaps*: connected groups of missing variables. What happens in a gap depends
on the values around it alone, and rows that agree in those are one *case*, however they differ
elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.dag import Dag
from colonnade.exceptions import TooLargeError
from colonnade.missing.elimination import Elimination
from colonnade.variables import Family, sort_keys

__all__ = ["Gap", "Members", "distinct", "find_gaps"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[Any]

# Cells of the largest array made at a time; cases beyond that are taken in turns.
_BLOCK = 1 << 21
# Cells of one case: what cannot be held for a single case cannot be held at all.
_LIMIT = 1 << 26


@dataclass(frozen=True, slots=True)
class Members:
    """The families of a network, by the positions of their variables.

    Parameters
    ----------
    sizes : tuple of int
        Number of states of each variable.
    families : tuple of tuples of int
        The family of each variable: its parents, then the variable itself.
    order : tuple of int
        The variables, parents before their children.
    """

    sizes: tuple[int, ...]
    families: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, dag: Dag, families: Sequence[Family]) -> Members:
        """Number the variables of a graph, whose families come in the same order.

        Examples
        --------
        >>> from colonnade.variables import Variable
        >>> a, b = Variable("a", [0, 1]), Variable("b", [0, 1, 2])
        >>> Members.of(Dag([("b", "a")], ["a", "b"]), [Family(a, (b,)), Family(b)])
        Members(sizes=(2, 3), families=((1, 0), (1,)), order=(1, 0))
        """
        position = {name: k for k, name in enumerate(dag.variables)}
        members = [(*dag.parents(name), name) for name in dag.variables]
        return cls(
            tuple(family.cardinality for family in families),
            tuple(tuple(position[name] for name in names) for names in members),
            tuple(position[name] for name in dag.order),
        )

    def missing(self, codes: Codes) -> NDArray[np.bool_]:
        """Say which codes ``[row, variable]`` mean missing."""
        return np.asarray(codes == np.array(self.sizes, dtype=codes.dtype))

    def relevant(self, present: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which variables are there, or lead to one that is, ``[row, variable]``."""
        relevant = present.copy()
        for variable in reversed(self.order):
            for parent in self.families[variable][:-1]:
                relevant[:, parent] |= relevant[:, variable]
        return relevant


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """Missing variables that hang together, in all the cases in which they occur.

    Parameters
    ----------
    members : Members
    missing : tuple of int
        The variables, in order.
    families : tuple of int
        The families with at least one of them, in order.
    known : tuple of int
        The other variables of these families.
    codes : array [case, known]
        Their codes in each case.
    weights : array [case]
        How many rows are this case.
    rows, case : arrays of int
        The rows that have the gap, and which case each one is.
    elimination : Elimination
        Of the missing variables; one factor a family.
    """

    members: Members
    missing: tuple[int, ...]
    families: tuple[int, ...]
    known: tuple[int, ...]
    codes: Codes
    weights: Floats
    rows: Integers
    case: Integers
    elimination: Elimination

    def blocks(self) -> Iterator[slice]:
        """Ranges of cases that are few enough to be handled at a time."""
        size = max(1, _BLOCK // self.elimination.cells)
        return (slice(low, low + size) for low in range(0, len(self.codes), size))

    def completions(self, family: int) -> int:
        """In how many ways the missing parents of a family can be filled in."""
        free = set(self.members.families[family][:-1]) & set(self.missing)
        return math.prod(self.members.sizes[v] for v in free)

    def configurations(self, family: int, block: slice) -> Codes:
        """Parent codes of a family in all completions, ``[case * completion, parent]``."""
        parents = self.members.families[family][:-1]
        free = sorted(set(parents) & set(self.missing))
        sizes = [self.members.sizes[v] for v in free]
        completed = np.indices(sizes).reshape(len(free), math.prod(sizes))
        codes = self.codes[block]
        filled = np.empty((len(codes), completed.shape[1], len(parents)), dtype=np.int32)
        for k, parent in enumerate(parents):
            if parent in self.missing:
                filled[:, :, k] = completed[free.index(parent)]
            else:
                filled[:, :, k] = codes[:, self.known.index(parent), None]
        return filled.reshape(filled.shape[0] * filled.shape[1], len(parents))

    def cells(self, family: int, block: slice, positions: Integers) -> Integers:
        """Places in a flat table of the cells of all completions, ``[case, *missing variables]``.

        Parameters
        ----------
        family : int
        block : slice
        positions : array [case * completion]
            Row of each of the `configurations` in the table.
        """
        states = self.members.sizes[family]
        scope = self.elimination.scopes[self.families.index(family)]
        sizes = [self.members.sizes[v] for v in scope if v != family]
        places: Integers = positions.reshape(-1, *sizes) * states
        if family not in self.missing:
            child = self.codes[block, self.known.index(family)].astype(np.int64)
            return places + child.reshape(-1, *(1 for _ in sizes))
        # Tables have the child last; factors have their variables in order.
        places = places[..., None] + np.arange(states)
        return np.moveaxis(places, -1, 1 + scope.index(family))


def find_gaps(members: Members, codes: Codes, weights: Floats) -> list[Gap]:
    """Find the gaps of all rows.

    Parameters
    ----------
    members : Members
    codes : array [row, variable]
        The number of states means missing.
    weights : array [row]

    Returns
    -------
    list of Gap

    Examples
    --------
    >>> chain = Members((2, 2, 2), ((0,), (0, 1), (1, 2)), (0, 1, 2))
    >>> rows = np.array([[0, 2, 1], [0, 2, 1], [2, 1, 0], [2, 1, 1], [1, 1, 2]])
    >>> [
    ...     (gap.missing, gap.codes.tolist(), gap.weights)
    ...     for gap in find_gaps(chain, rows, np.ones(5))
    ... ]
    [((1,), [[0, 1]], array([2.])), ((0,), [[1]], array([2.]))]
    """
    missing = members.missing(codes)
    patterns, which = distinct(missing.astype(np.int8))
    relevant = members.relevant(patterns == 0)
    numbers: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for number in range(len(patterns)):
        for group in _groups(members, patterns[number] == 1, relevant[number]):
            numbers.setdefault(group, []).append(number)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(len(patterns) + 1))
    found = []
    for (variables, families), chosen in numbers.items():
        rows = np.concatenate([order[starts[k] : starts[k + 1]] for k in chosen])
        found.append(_gap(members, variables, families, codes, rows, weights))
    return found


def distinct(codes: Codes) -> tuple[Codes, Integers]:
    """Return the distinct rows of an array of codes, in order, and which of them each row is.

    Examples
    --------
    >>> distinct(np.array([[1, 0], [0, 1], [1, 0]]))
    (array([[0, 1], [1, 0]]), array([1, 0, 1]))
    """
    if not len(codes) or not codes.shape[1]:
        return codes[:1], np.zeros(len(codes), dtype=np.int64)
    keys = sort_keys(codes, [int(top) + 1 for top in codes.max(axis=0)])
    if keys.shape[1] == 1:
        keys = keys[:, 0]
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return codes[first], which.reshape(-1)


def _groups(
    members: Members, missing: NDArray[np.bool_], relevant: NDArray[np.bool_]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Connected groups of the relevant missing variables of a row, each with its families."""
    leader = {v: v for v in np.flatnonzero(missing & relevant).tolist()}

    def find(variable: int) -> int:
        while leader[variable] != variable:
            leader[variable] = leader[leader[variable]]
            variable = leader[variable]
        return variable

    touched: dict[int, int] = {}
    for family, variables in enumerate(members.families):
        free = [v for v in variables if v in leader] if relevant[family] else []
        for variable in free[1:]:
            leader[find(variable)] = find(free[0])
        if free:
            touched[family] = free[0]
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for variable in leader:
        groups.setdefault(find(variable), ([], []))[0].append(variable)
    for family, variable in touched.items():
        groups[find(variable)][1].append(family)
    for gap, families in groups.values():
        yield tuple(gap), tuple(families)


def _gap(
    members: Members,
    missing: tuple[int, ...],
    families: tuple[int, ...],
    codes: Codes,
    rows: Integers,
    weights: Floats,
) -> Gap:
    around = {v for family in families for v in members.families[family]}
    known = sorted(around - set(missing))
    cases, case = distinct(codes[rows][:, known])
    scopes = [tuple(sorted({*members.families[family]} & {*missing})) for family in families]
    elimination = Elimination.of({v: members.sizes[v] for v in missing}, scopes)
    if elimination.cells > _LIMIT:
        raise TooLargeError(
            f"The sum over {len(missing)} missing values that depend on each other",
            size=elimination.cells,
            limit=_LIMIT,
            hint="fill in some of them, or leave such rows out",
        )
    times = np.bincount(case, weights=weights[rows], minlength=len(cases)).astype(np.float64)
    return Gap(members, missing, families, tuple(known), cases, times, rows, case, elimination)
