"""From the name of a structure, or a graph, to the graph of a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.dag import Dag
from colonnade.exceptions import expected, listing
from colonnade.structure import hill_climb, kdb, naive_bayes, tan
from colonnade.structure.scores import Score
from colonnade.tables.coded import CodedTable
from colonnade.variables import Variable

__all__ = ["Structure"]

_NAMES = ("naive", "tan", "kdb", "hill_climb")


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure and its options, which must belong to it.

    Parameters
    ----------
    structure : {"naive", "tan", "kdb", "hill_climb"} or Dag
    k : int
        Of ``"kdb"``; 2 by default.
    root : str or None
        Of ``"tan"``.
    score : Score or None
        Of ``"hill_climb"``.

    Examples
    --------
    >>> Structure("naive", k=3, root=None, score=None)
    Traceback (most recent call last):
    colonnade.exceptions.InputError: Expected its default, 2, with structure='naive' for `k`, got 3.
    Hint: it belongs to structure='kdb'.
    """

    structure: str | Dag
    k: int
    root: str | None
    score: Score | None

    def __post_init__(self) -> None:
        named = isinstance(self.structure, str) and self.structure in _NAMES
        if not named and not isinstance(self.structure, Dag):
            what = f"one of {listing(_NAMES)} or a Dag"
            raise expected(what, "structure", self.structure)
        for name, value, default, owner in (
            ("k", self.k, 2, "kdb"),
            ("root", self.root, None, "tan"),
            ("structure_score", self.score, None, "hill_climb"),
        ):
            if owner != self.structure and value is not default and value != default:
                what = f"its default, {default!r}, with structure={self._shown}"
                raise expected(what, name, value, f"it belongs to structure={owner!r}")

    def learn(self, coded: CodedTable, target: str) -> Dag:
        """Return the graph; unless it is given, learn it.

        Parameters
        ----------
        coded : CodedTable
            The features and the class.
        target : str
            The class.
        """
        if isinstance(self.structure, Dag):
            return _checked(self.structure, coded, target)
        if self.structure == "naive":
            return naive_bayes(filled(coded), target)
        if self.structure == "tan":
            return tan(filled(coded), target, self.root)
        if self.structure == "kdb":
            return kdb(filled(coded), target, self.k)
        return hill_climb(filled(coded), self.score).dag

    @property
    def learned(self) -> bool:
        """Whether the graph depends on the rows."""
        return isinstance(self.structure, str) and self.structure != "naive"

    @property
    def _shown(self) -> str:
        return repr(self.structure) if isinstance(self.structure, str) else "Dag(...)"


def filled(coded: CodedTable) -> CodedTable:
    """Make a table complete for learning a structure: only that, never for counting.

    If at least half of the rows are complete, these are taken. Otherwise all rows are, and
    *missing* is one more state.

    Examples
    --------
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1])
    >>> filled(CodedTable([x, y], [[0, 2, 1], [1, 0, 0]])).rows
    2
    >>> filled(CodedTable([x, y], [[0, 2, 2], [1, 0, 0]])).variables[0].states
    ('a', 'b', 'missing')
    """
    if not any(coded.missing):
        return coded
    complete = np.ones(coded.rows, dtype=bool)
    for variable, column in zip(coded.variables, coded.codes, strict=True):
        complete &= column < variable.cardinality
    if 2 * int(complete.sum()) >= coded.rows:
        weights: Any = None if coded.weights is None else coded.weights[complete]
        return CodedTable(coded.variables, [c[complete] for c in coded.codes], weights)  # type: ignore[arg-type]
    variables = [
        _with_gap(variable) if gaps else variable
        for variable, gaps in zip(coded.variables, coded.missing, strict=True)
    ]
    return CodedTable(variables, coded.codes, coded.weights)  # type: ignore[arg-type]


def _with_gap(variable: Variable) -> Variable:
    """One more state, last, where the code for missing is."""
    name = "missing"
    while name in variable.states:
        name += "'"
    return Variable(variable.name, (*variable.states, name))


def _checked(dag: Dag, coded: CodedTable, target: str) -> Dag:
    if target not in dag:
        hint = "name the class with `target_name`"
        raise expected(f"a graph that has the class, {target!r},", "structure", dag, hint)
    strange = [name for name in dag.variables if name not in coded.names]
    if strange:
        names = [name for name in coded.names if name != target]
        what = f"a graph of the features {listing(names)} and the class"
        raise expected(what, "structure", dag, got=f"{listing(strange)} as well")
    return dag
