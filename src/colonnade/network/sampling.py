"""Rows drawn from a network."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from colonnade.arrays import Array, Integers
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import Advice, DataError, checked_whole, listing
from colonnade.variables import Variable

# Rows whose running sums are held at a time.
_BLOCK_ROWS = 1 << 16


def sample(
    dag: Dag, tables: Mapping[str, Cpt], n: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Draw the states of `n` independent rows: parents before their children."""
    n = checked_whole(n, "n", least=0)
    codes: dict[str, Integers] = {}
    for name in dag.order:
        given = np.empty((n, len(dag.parents(name))), dtype=np.int64)
        for k, parent in enumerate(dag.parents(name)):
            given[:, k] = codes[parent]
        codes[name] = _drawn(tables[name], given, rng)
    return {name: _states(tables[name].family.child)[codes[name]] for name in dag.variables}


def _drawn(cpt: Cpt, given: Integers, rng: np.random.Generator) -> Integers:
    """Draw the codes of a child for rows of parent codes."""
    sums = cpt.table.lookup.mapped(lambda rows: rows.cumsum(axis=1)).filled()
    places = sums.places(given)
    undefined = np.isnan(sums.values[:, 0])[places]
    if undefined.any():
        raise _undefined(cpt, given[int(undefined.argmax())].tolist())
    drawn = np.empty(len(given), dtype=np.int64)
    for low in range(0, len(given), _BLOCK_ROWS):
        rows = sums.values[places[low : low + _BLOCK_ROWS]]
        # Scaled by the sum, which rounding may leave below 1: no state of probability 0 is drawn.
        place = rng.random((len(rows), 1)) * rows[:, -1:]
        drawn[low : low + _BLOCK_ROWS] = (place >= rows[:, :-1]).sum(axis=1)
    return drawn


def _undefined(cpt: Cpt, codes: list[int]) -> DataError:
    family = cpt.family
    states = [parent.states[code] for parent, code in zip(family.parents, codes, strict=True)]
    return DataError(
        f"Variable {family.child.name!r}",
        f"no probabilities given {listing(states)}, which was drawn for its parents.",
        Advice.PRIOR_FOR_UNOBSERVED,
        variable=family.child.name,
        configuration=tuple(states),
    )


def _states(variable: Variable) -> Array:
    """Return the states as an array that keeps their types."""
    kinds = {type(state) for state in variable.states}
    small = kinds == {int} and all(-(2**63) <= int(state) < 2**63 for state in variable.states)
    return np.array(variable.states, dtype=None if small or kinds == {bool} else object)
