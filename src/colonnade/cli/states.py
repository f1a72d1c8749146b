"""Texts of the command line become observed states of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import typer

from colonnade.exceptions import DataError, listing

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork
    from colonnade.variables import State, Variable


def observed_of(network: BayesianNetwork, texts: Sequence[str]) -> dict[str, State]:
    """Return the observed states that texts such as ``smoker=yes`` stand for."""
    observed: dict[str, State] = {}
    for text in texts:
        name, state = _split(network, text)
        if name in observed:
            raise typer.BadParameter(f"{name!r} is given twice.", param_hint="--observed")
        observed[name] = _interval(network, name, state)
    return observed


def _split(network: BayesianNetwork, text: str) -> tuple[str, str]:
    """Split at the equals sign that leaves a name; names may contain the sign themselves."""
    signs = [k for k, letter in enumerate(text) if letter == "="]
    if not signs:
        problem = f"{text!r} is not VARIABLE=STATE."
        raise typer.BadParameter(problem, param_hint="--observed")
    fitting = [k for k in signs if text[:k] in network]
    if not fitting:
        problem = f"not a variable of the network, which has {listing(network.dag.variables)}."
        raise DataError(f"Variable {text[: signs[0]]!r}", problem)
    # The longest name that fits: a shorter one would need a state that contains the sign.
    return text[: fitting[-1]], text[fitting[-1] + 1 :]


def _interval(network: BayesianNetwork, name: str, text: str) -> State:
    """Return a state; for a variable that was cut, a number stands for its interval."""
    variable = network[name].family.child
    cuts = network.discretizer.get(name) if network.discretizer is not None else None
    if cuts is not None and text not in variable.states:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isnan(number):
            return cuts.states[int(cuts.codes(np.array([number]))[0])]
    return state_of(variable, text)


def state_of(variable: Variable, text: str) -> State:
    """Return the state of a variable that a text stands for, with its type.

    Examples
    --------
    >>> from colonnade import Variable
    >>> state_of(Variable("x", [0, 1]), "1"), state_of(Variable("x", [False, True]), "true")
    (1, True)
    """
    written = [
        state
        for state in variable.states
        if text == str(state) or (isinstance(state, bool) and text.lower() == str(state).lower())
    ]
    if len(written) == 1:
        return written[0]
    where = f"Variable {variable.name!r}"
    if written:
        problem = f"{text!r} stands for each of {listing(written)}."
        raise DataError(where, problem, "ask with `network.query` in Python, which knows types")
    problem = f"state {text!r} is not one of {listing(variable.states)}."
    raise DataError(where, problem, variable=variable.name, state=text, allowed=variable.states)
