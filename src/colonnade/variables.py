"""Variables and families: names and states; their order is in :mod:`colonnade.configurations`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from colonnade.configurations import configuration_codes, configuration_index
from colonnade.exceptions import DataError, conditions, did_you_mean, expected, listing

__all__ = ["Family", "State", "Variable"]

State: TypeAlias = str | int | bool


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A categorical variable: a name and its states, in order.

    States keep their type, and types count: ``(0, 1)`` and ``(False, True)`` are different.

    Parameters
    ----------
    name : str
        Not empty.
    states : iterable of str, int or bool
        At least one, all different; booleans do not mix with integers, because Python
        takes ``True`` and ``1`` for the same key.
    spellings : mapping of str, int or bool to state, optional
        Other values that stand for a state in data and questions, such as ``{"Y": "yes"}``. They
        make no difference between variables.

    Examples
    --------
    >>> smoker = Variable("smoker", ["no", "yes"], {"Y": "yes", "N": "no"})
    >>> smoker.cardinality, smoker.index("yes"), smoker.index("Y")
    (2, 1, 1)
    >>> Variable("x", (0, 1)) == Variable("x", (False, True))
    False
    """

    name: str
    states: tuple[State, ...]
    spellings: Mapping[State, State] = field(default_factory=dict, repr=False)
    _positions: dict[State, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise expected("a non-empty string", "name", self.name)
        if isinstance(self.states, str | bytes) or not isinstance(self.states, Iterable):
            hint = "give a list, such as ['no', 'yes']"
            raise expected("a sequence of states", "states", self.states, hint)
        states = tuple([_checked_state(state, self.name) for state in self.states])
        if not states:
            raise expected(f"at least one state of {self.name!r}", "states", states, got="none")
        if {bool, int} <= set(map(type, states)):
            what = f"either booleans or integers as states of {self.name!r}, not both,"
            raise expected(what, "states", states, "use strings for all of them")
        positions = {state: position for position, state in enumerate(states)}
        if len(positions) < len(states):
            repeated = [s for i, s in enumerate(states) if positions[s] != i]
            hint = f"remove {listing(repeated)}"
            raise expected(f"different states of {self.name!r}", "states", states, hint)
        object.__setattr__(self, "name", str(self.name))
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "spellings", self._checked_spellings(positions))
        object.__setattr__(self, "_positions", positions)

    def _checked_spellings(self, positions: Mapping[State, int]) -> dict[State, State]:
        if not isinstance(self.spellings, Mapping):
            hint = "such as {'Y': 'yes'}"
            raise expected("a mapping of values to states", "spellings", self.spellings, hint)
        checked: dict[State, State] = {}
        for value, state in self.spellings.items():
            value, state = _checked_state(value, self.name), _checked_state(state, self.name)
            if value in positions:
                raise expected(f"values that are no states of {self.name!r}", "spellings", value)
            if state not in positions:
                raise expected(f"states of {self.name!r}", "spellings", state)
            checked[value] = state
        return checked

    @property
    def cardinality(self) -> int:
        """Number of states."""
        return len(self.states)

    def index(self, state: Any) -> int:
        """Return the position of a state.

        Parameters
        ----------
        state : str, int or bool
            NumPy scalars count as the Python values they hold, and whole floating-point numbers
            as integers.

        Examples
        --------
        >>> Variable("x", (0, 1)).index(True)
        Traceback (most recent call last):
        colonnade.exceptions.DataError: Variable 'x': state True is not one of 0, 1.
        """
        plain = _plain(state)
        if isinstance(plain, float) and plain.is_integer():
            plain = int(plain)
        if isinstance(plain, str | int):
            plain = self.spellings.get(plain, plain)
        position = self._positions.get(plain) if isinstance(plain, str | int) else None
        if position is None or isinstance(plain, bool) != isinstance(self.states[position], bool):
            raise DataError(
                f"Variable {self.name!r}",
                f"state {plain!r} is not one of {listing(self.states)}.",
                did_you_mean(plain, self.states),
                variable=self.name,
                state=state,
                allowed=self.states,
            )
        return position

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variable):
            return NotImplemented
        return self._typed() == other._typed()

    def __hash__(self) -> int:
        return hash((self.name, self.states))

    def _typed(self) -> tuple[str, tuple[tuple[type, State], ...]]:
        return self.name, tuple((type(state), state) for state in self.states)


@dataclass(frozen=True, slots=True)
class Family:
    """A child variable and its parents, in order.

    Parameters
    ----------
    child : Variable
    parents : iterable of Variable, optional
        All names differ, also from the child's.

    Examples
    --------
    >>> smoker = Variable("smoker", ["no", "yes"])
    >>> age = Variable("age", ["young", "middle", "old"])
    >>> family = Family(Variable("cancer", [False, True]), (smoker, age))
    >>> family.cardinality, family.parent_sizes, family.configurations
    (2, (2, 3), 6)
    >>> family.configuration_index(("yes", "young"))
    3
    >>> family.configuration(3)
    ('yes', 'young')
    """

    child: Variable
    parents: tuple[Variable, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.child, Variable):
            raise expected("a Variable", "child", self.child)
        if isinstance(self.parents, Variable) or not isinstance(self.parents, Iterable):
            raise expected("a sequence of Variable", "parents", self.parents, "give a tuple")
        parents = tuple(self.parents)
        if wrong := [parent for parent in parents if not isinstance(parent, Variable)]:
            raise expected("only Variable objects", "parents", wrong[0])
        names = [self.child.name, *(parent.name for parent in parents)]
        if len(set(names)) < len(names):
            raise expected("different names of child and parents", "parents", names)
        object.__setattr__(self, "parents", parents)

    @property
    def cardinality(self) -> int:
        """Number of states of the child, the paper's r."""
        return self.child.cardinality

    @property
    def parent_sizes(self) -> tuple[int, ...]:
        """Number of states of each parent."""
        return tuple(parent.cardinality for parent in self.parents)

    @property
    def configurations(self) -> int:
        """Number of joint states of the parents, the paper's q."""
        return math.prod(self.parent_sizes)

    def configuration_index(self, states: Sequence[Any] | Mapping[str, Any]) -> int:
        """Return the position of a configuration, from 0 to ``configurations - 1``.

        Parameters
        ----------
        states : sequence or mapping
            One state per parent, in order; or parent names to states.

        Examples
        --------
        >>> family = Family(Variable("x", "ab".split()), (Variable("y", (0, 1, 2)),))
        >>> family.configuration_index({"y": 2})
        2
        """
        names = [parent.name for parent in self.parents]
        given: Any = states
        if isinstance(states, Mapping) and set(states) == set(names):
            given = [states[name] for name in names]
        listed = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
        if not listed or len(given) != len(names):
            raise expected(f"one state for each of {listing(names)}", "states", states)
        codes = [parent.index(state) for parent, state in zip(self.parents, given, strict=True)]
        return configuration_index(codes, self.parent_sizes)

    def configuration(self, index: int) -> tuple[State, ...]:
        """Return the parent states of the configuration at a position, one per parent.

        Examples
        --------
        >>> Family(Variable("x", (0, 1))).configuration(0)
        ()
        """
        codes = configuration_codes(index, self.parent_sizes)
        return tuple(p.states[code] for p, code in zip(self.parents, codes, strict=True))

    def cell(self, codes: Sequence[int], state: int) -> str:
        """Name a cell of the table for a message, given its codes.

        Examples
        --------
        >>> family = Family(Variable("x", ["a", "b"]), (Variable("y", (0, 1, 2)),))
        >>> family.cell((2,), 1)
        "state 'b' given y = 2"
        """
        given = {p.name: p.states[code] for p, code in zip(self.parents, codes, strict=True)}
        named = f"state {self.child.states[state]!r}"
        return f"{named} given {conditions(given)}" if given else named


def _plain(state: Any) -> Any:
    """Return the Python value of a NumPy scalar or of a subclass of str or int, as a plain one."""
    if isinstance(state, np.generic):
        state = state.item()
    if isinstance(state, str):
        return str.__str__(state)
    if isinstance(state, int) and not isinstance(state, bool):
        return int(state)
    return state


def _checked_state(state: Any, name: str) -> State:
    plain = state if type(state) is str else _plain(state)
    if isinstance(plain, str | int):
        return plain
    hint = "use strings"
    if isinstance(plain, float):
        hint += ", or cut the numbers into intervals first"
    elif plain is None:
        hint = "a missing value is not a state; leave it out"
    raise expected(f"strings, integers or booleans as states of {name!r}", "states", state, hint)
