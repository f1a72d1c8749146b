"""Evidence: what is known of some variables, as a likelihood per state, from what people write.

A state, several states of which one is true, a bound on a number, or how likely a finding is under
each state: all are a likelihood per state, and every verb takes them in this one form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import Advice, DataError, did_you_mean, expected, listing
from colonnade.inference.conditions import Condition, check_alone, split_condition, state_in_words
from colonnade.tables.intervals import infinite, without_cut_points
from colonnade.tables.levels import as_float
from colonnade.variables import State, Variable
from colonnade.wording import shown

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork
    from colonnade.tables.cuts import Cuts

# What is known of one variable: its state, several of which one is true, or a likelihood per state.
Finding: TypeAlias = State | tuple[State, ...] | dict[State, float]

# What may be known, as people write it.
Observed: TypeAlias = "Mapping[str, Any] | str | Sequence[str] | Evidence | None"

_HINT = "write {'smoker': 'yes'}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence:
    """What is known of some variables: how likely the findings are under each of their states.

    Every verb that takes `observed` makes one from what it is given, so it need be made by hand
    only to be used several times.

    Attributes
    ----------
    variables : tuple of Variable
        Those of which something is known.
    likelihoods : dict of str to array [state]
        Not negative, with a largest entry of 1. A state that was observed has 1, all others 0.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> table = {"age": ["young", "middle", "old"], "test": ["no", "yes", "yes"]}
    >>> network = fit(table, Dag([("age", "test")]))
    >>> Evidence.of(network, {"age": ["middle", "old"], "test": {"no": 0.1, "yes": 0.4}})
    Evidence(age is 'middle' or 'old', test has likelihoods 'no': 0.25, 'yes': 1)
    >>> Evidence.of(network, {"age": "not old"}).likelihoods
    {'age': array([1., 0., 1.])}
    """

    variables: tuple[Variable, ...]
    likelihoods: dict[str, Floats]

    @classmethod
    def of(cls, network: BayesianNetwork, observed: Any, parameter: str = "observed") -> Evidence:
        """Read what is known of the variables of a network.

        Parameters
        ----------
        network : BayesianNetwork
        observed : mapping, str or sequence of str, Evidence or None
            For each variable: a state; several states, one of which is true (``["middle",
            "old"]``); a condition (``"not no"``, ``"> 60"``, ``"> 18 and <= 65"``); or the
            likelihood of what was found under each state (``{"no": 0.1, "yes": 0.4}``), several of
            them in a list if there were several independent findings. Conditions may also be
            written with the names, a text for each variable (``["age > 60", "smoker = yes"]``, or
            ``"age > 60"`` alone). Numbers stand for the intervals of a variable
            that was cut, and bounds must be cut points of it.
        parameter : str, optional
            How messages call what was given.
        """
        if isinstance(observed, Evidence):
            _check_variables(network, observed, parameter)
            return observed
        found: dict[str, Floats] = {}
        for name, value in _items(network, observed, parameter):
            place = _Place(network, network[name].family.child, parameter)
            try:
                own = place.likelihood(value)
            except DataError as error:
                if name != network.group or "state" not in error.details:
                    raise
                raise error.advising(Advice.ASK_NEW_GROUP) from None
            if name in found:
                own = own * found[name]
                place.check_possible(own, "the conditions")
            found[name] = own / own.max()
        variables = tuple(network[name].family.child for name in found)
        for array in found.values():
            array.setflags(write=False)
        return cls(variables, found)

    @property
    def fixed(self) -> dict[str, int]:
        """Codes of the variables that can have one state only."""
        return {
            name: int(own.argmax())
            for name, own in self.likelihoods.items()
            if np.count_nonzero(own) == 1
        }

    @property
    def open(self) -> dict[str, Floats]:
        """Likelihoods of the variables that can have several states."""
        return {name: own for name, own in self.likelihoods.items() if np.count_nonzero(own) > 1}

    @property
    def findings(self) -> dict[str, Finding]:
        """What is known of each variable: a state, several, or a likelihood for each."""
        return {variable.name: self._finding(variable) for variable in self.variables}

    def in_words(self) -> str:
        """Write what is known for a message.

        Examples
        --------
        >>> Evidence((), {}).in_words()
        'nothing'
        """
        parts = []
        for variable in self.variables:
            found = self._finding(variable)
            if isinstance(found, dict):
                given = ", ".join(f"{state!r}: {value:g}" for state, value in found.items())
                parts.append(f"{variable.name} has likelihoods {given}")
            elif isinstance(found, tuple):
                parts.append(f"{variable.name} is {' or '.join(map(repr, found))}")
            else:
                parts.append(f"{variable.name} = {found!r}")
        return ", ".join(parts) or "nothing"

    def without(self, names: Iterable[str]) -> Evidence:
        """Return what is known of the other variables.

        Examples
        --------
        >>> x = Variable("x", (0, 1))
        >>> Evidence((x,), {"x": np.array([1.0, 0.0])}).without(["x"])
        Evidence(nothing)
        """
        left = tuple(each for each in self.variables if each.name not in set(names))
        return Evidence(left, {each.name: self.likelihoods[each.name] for each in left})

    def __len__(self) -> int:
        return len(self.variables)

    def __contains__(self, name: object) -> bool:
        return name in self.likelihoods

    def __repr__(self) -> str:
        return f"Evidence({self.in_words()})"

    def _finding(self, variable: Variable) -> Finding:
        own = self.likelihoods[variable.name]
        possible = [state for state, value in zip(variable.states, own, strict=True) if value > 0.0]
        if len(possible) == 1:
            return possible[0]
        if set(own.tolist()) <= {0.0, 1.0}:
            return tuple(possible)
        return dict(zip(variable.states, own.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something was written: reads it, and words what is wrong with it."""

    network: BayesianNetwork
    variable: Variable
    parameter: str

    def likelihood(self, value: Any) -> Floats:
        """Return the likelihood of each state."""
        if isinstance(value, Mapping):
            return self._weighted(value)
        if isinstance(value, Sequence | set | frozenset | np.ndarray) and not isinstance(
            value, str | bytes
        ):
            return self._one_of(value)
        return self._chosen(self._codes(value))

    def check_possible(self, own: Floats, what: str) -> None:
        if not own.any():
            raise DataError(
                f"Variable {self.variable.name!r}",
                f"{what} leave no state of {listing(self.variable.states)}.",
                "give at least one state that is possible",
                variable=self.variable.name,
            )

    def _chosen(self, codes: Iterable[int]) -> Floats:
        own = np.zeros(self.variable.cardinality)
        own[list(codes)] = 1.0
        return own

    def _one_of(self, values: Iterable[Any]) -> Floats:
        listed = list(values)
        name = self.variable.name
        if not listed:
            what, hint = f"at least one state of {name!r}", "name the states that are possible"
            raise expected(what, self.parameter, values, hint, got="none")
        if all(isinstance(each, Mapping) for each in listed):
            own = np.ones(self.variable.cardinality)
            for each in listed:
                own *= self._weighted(each)
            self.check_possible(own, "the likelihoods together")
            return own
        if _cuts(self.network, name) is None and all(isinstance(each, float) for each in listed):
            self._refuse_bare_likelihoods(listed)
        return self._chosen(code for each in listed for code in self._codes(each))

    def _refuse_bare_likelihoods(self, values: list[float]) -> None:
        """Refuse numbers that are no states; as many as states are likelihoods without names."""
        states = self.variable.states
        if len(values) == len(states) and not all(value in states for value in values):
            hint = f"write {dict(zip(states, values, strict=True))} if these are likelihoods"
            raise expected(f"states of {self.variable.name!r}", self.parameter, values, hint)

    def _weighted(self, value: Mapping[Any, Any]) -> Floats:
        variable = self.variable
        own = np.full(variable.cardinality, np.nan)
        keys: dict[int, Any] = {}  # how each state was written
        for state, likelihood in value.items():
            number = as_float(likelihood) if _is_number(likelihood) else math.nan
            if not 0.0 <= number < math.inf:
                what = f"likelihoods of at least 0 for the states of {variable.name!r}"
                raise expected(what, self.parameter, likelihood)
            code = variable.index(self._interval(state))
            if code in keys:
                raise self._named_twice(keys[code], state, code)
            keys[code], own[code] = state, number
        if np.isnan(own).any():
            lacking = [s for s, value in zip(variable.states, own, strict=True) if np.isnan(value)]
            what = f"a likelihood for every state of {variable.name!r}"
            hint = "give 0 for a state that is impossible"
            raise expected(what, self.parameter, value, hint, got=f"none for {listing(lacking)}")
        if not own.any():
            what = f"a likelihood above 0 for a state of {variable.name!r}"
            hint = "is what was found impossible?"
            raise expected(what, self.parameter, value, hint, got="0 for all of them")
        return np.asarray(own / own.max())

    def _named_twice(self, one: Any, other: Any, code: int) -> DataError:
        """Word the error for likelihoods of which only the last would count."""
        state = self.variable.states[code]
        return DataError(
            f"Variable {self.variable.name!r}",
            f"{shown(one)} and {shown(other)} are the same state, {state!r}.",
            f"give one likelihood for {state!r}",
            variable=self.variable.name,
            state=state,
        )

    def _codes(self, value: Any) -> list[int]:
        """Codes of the states that a state, a number or a condition leaves."""
        variable = self.variable
        if isinstance(value, str) and value not in variable.states:
            condition = Condition.parse(value)
            if condition is not None:
                return self._checked(condition)
        return [variable.index(self._interval(value))]

    def _checked(self, condition: Condition) -> list[int]:
        codes = condition.codes(self.variable, _cuts(self.network, self.variable.name))
        if not codes:
            raise DataError(
                f"Variable {self.variable.name!r}",
                f"no state of {listing(self.variable.states)} is {condition.text}.",
                "change or leave out this condition",
                variable=self.variable.name,
            )
        return codes

    def _interval(self, state: Any) -> Any:
        """For a variable that was cut, the interval of a number; else the state itself."""
        cuts = _cuts(self.network, self.variable.name)
        if not _is_number(state) or state != state:
            return state
        if cuts is not None:
            number = as_float(state)
            if math.isinf(number):
                raise infinite(self.variable.name, shown(state))
            return cuts.states[int(cuts.codes(np.array([number]))[0])]
        if error := without_cut_points(self.variable, state):
            raise error
        return state


def _items(network: BayesianNetwork, observed: Any, parameter: str) -> list[tuple[str, Any]]:
    """Pairs of a variable and what is written about it."""
    if observed is None:
        return []
    if isinstance(observed, Mapping):
        for name in observed:
            if not isinstance(name, str) or name not in network:
                known = network.dag.variables
                what, hint = f"names from {listing(known)}", did_you_mean(name, known)
                raise expected(what, parameter, name, hint)
        return list(observed.items())
    texts = [observed] if isinstance(observed, str) else observed
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise expected("a mapping of names to states", parameter, observed, _HINT)
    return [_named(network, text, parameter) for text in texts]


def _named(network: BayesianNetwork, text: str, parameter: str) -> tuple[str, Any]:
    """Take apart ``age > 60``: the variable, and the state or condition."""
    found = split_condition(text, network.dag.variables)
    if found is None:
        known, hint = network.dag.variables, "write 'smoker = yes' or 'age > 60'"
        raise expected(f"conditions on {listing(known)}", parameter, text, hint)
    name, sign, written = found
    variable = network[name].family.child
    check_alone(variable, written if sign == "=" else f"{sign} {written}", network.dag.variables)
    if sign != "=":
        return name, f"{sign} {written}"
    return name, state_in_words(variable, written, _cuts(network, name) is not None)


def _check_variables(network: BayesianNetwork, evidence: Evidence, parameter: str) -> None:
    for variable in evidence.variables:
        if variable.name not in network or network[variable.name].family.child != variable:
            what = f"evidence about variables of this network, with their states, not {variable!r},"
            raise expected(what, parameter, evidence)


def _cuts(network: BayesianNetwork, name: str) -> Cuts | None:
    return network.discretizer.get(name) if network.discretizer is not None else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
