"""Classes: the labels of a classifier as the states of a variable, and how states are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colonnade.arrays import Array
from colonnade.exceptions import DataError, listing, warn
from colonnade.tables.coding import CodedColumn
from colonnade.tables.remarks import of_states
from colonnade.variables import State, Variable


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The class as a variable, its labels sorted.

    `declared` says whether the user said that there are no others, and `spellings` what else stands
    for them in tables.
    """

    name: str
    labels: Array
    declared: bool
    spellings: Mapping[State, State] = field(default_factory=dict)

    @classmethod
    def seen(cls, name: str, labels: Array) -> Classes:
        """Take the labels of rows; those that look alike are worth a warning."""
        classes = cls(name, np.unique(labels), False)
        for warning in of_states([classes.variable], ()):
            warn(warning)
        return classes

    @property
    def variable(self) -> Variable:
        """The class, with its labels as states."""
        return Variable(self.name, _label_states(self.labels), self.spellings)

    def grown(self, labels: Array) -> Classes:
        """Add the labels of more rows, unless all classes were declared."""
        if self.declared:
            return self
        merged_states("`y`", _label_states(self.labels), _label_states(np.unique(labels)))
        return Classes(self.name, np.unique(np.concatenate([self.labels, labels])), False)

    def column(self, labels: Array) -> CodedColumn:
        """Turn the labels of rows into codes."""
        places = {label: k for k, label in enumerate(self.labels.tolist())}
        found, back = np.unique(labels, return_inverse=True)
        strange = [label for label in found.tolist() if label not in places]
        if strange:
            known = listing(self.labels.tolist())
            noun, verb = ("label", "is") if len(strange) == 1 else ("labels", "are")
            unlike = f"{verb} not among the known classes of {self.name!r} ({known})"
            problem = f"{noun} {listing(strange, 5)} {unlike}."
            raise DataError("`y`", problem, self._hint(strange))
        codes = np.array([places[label] for label in found.tolist()], dtype=np.intp)
        return CodedColumn(self.variable, codes[back])

    def _hint(self, strange: Sequence[Any]) -> str:
        """What to do about labels that are not among the classes."""
        if not self.declared:
            return "declare all of them with `classes`"
        encoded = all(isinstance(label, int) for label in strange)
        if encoded and not any(isinstance(label, int) for label in self.labels.tolist()):
            return "scikit-learn seems to have numbered the labels: leave `classes` out here"
        return "add to `classes` what is lacking there"


def merged_states(where: str, known: Sequence[State], labels: Sequence[Any]) -> tuple[State, ...]:
    """Add labels to states: in order if the states are, else at the end. Messages begin `where`."""
    old = {(isinstance(state, bool), state) for state in known}
    fresh = [label for label in labels if (isinstance(label, bool), label) not in old]
    for label in fresh:
        if not isinstance(label, str | int):
            problem = f"{label!r} of type {type(label).__name__} is not a state."
            raise DataError(where, problem, "use strings, integers or booleans")
    if not fresh:
        return tuple(known)
    kinds = {str if isinstance(s, str) else type(s) for s in (*known, *fresh)}
    if len(kinds) > 1:
        problem = f"{listing(fresh, 5)} are of another kind than {listing(known, 5)}."
        raise DataError(where, problem, "give all batches the same types")
    if list(known) == sorted(known):
        return tuple(sorted((*known, *fresh)))
    return (*known, *fresh)


def _label_states(labels: Array) -> tuple[State, ...]:
    """Return labels of classes as states."""
    # scikit-learn accepts whole floating-point numbers as classes, and no others.
    return tuple(int(v) if isinstance(v, float) else v for v in labels.tolist())
