"""Actions: what follows if a variable is set, not seen, and how much that changes another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import Advice, DataError, expected, not_among
from colonnade.inference.effects import Effect, How, Sides
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.queries import Precision, answer, check_draws, fixed_tables
from colonnade.inference.reduction import Question
from colonnade.network import BayesianNetwork
from colonnade.variables import Family, State


def do(network: BayesianNetwork, actions: Any) -> BayesianNetwork:
    """See :meth:`colonnade.BayesianNetwork.do`."""
    codes = _codes(network, actions)
    return _set(network, {name: _one_hot(network, name, code) for name, code in codes})


def effect(
    network: BayesianNetwork,
    target: str,
    of: Mapping[str, tuple[Any, Any]],
    given: Observed,
    precision: Precision,
) -> Effect:
    """See :meth:`colonnade.BayesianNetwork.effect`."""
    pairs = _checked_pairs(network, target, of)
    # In one network whose actions are as probable as each other, both are answered by the same
    # draws of all other tables; which probabilities they have makes no difference.
    even = {name: np.full(network[name].family.cardinality, 1.0) for name in pairs}
    world = _set(network, {name: own / own.sum() for name, own in even.items()})
    causes = tuple(pairs)
    adjusted = network.dag.backdoor_set(causes[0], target) if len(causes) == 1 else None
    return _contrast(world, target, pairs, given, precision, (True, adjusted))


def association(
    network: BayesianNetwork,
    target: str,
    of: Mapping[str, tuple[Any, Any]],
    given: Observed,
    precision: Precision,
) -> Effect:
    """See :meth:`colonnade.BayesianNetwork.association`."""
    pairs = _checked_pairs(network, target, of)
    return _contrast(network, target, pairs, given, precision, (False, None))


def checked_do(
    network: BayesianNetwork, actions: Any, names: Mapping[str, str]
) -> tuple[BayesianNetwork, dict[str, State]]:
    """Return the network after actions, none of which may be on what is asked for or observed.

    Also returns the states that were set.

    `names` says of every variable that is used how.
    """
    done = {}
    for name, code in _codes(network, actions):
        done[name] = network[name].family.child.states[code]
        if name in names:
            what = f"variables that are not {names[name]}"
            raise expected(what, "do", name, "a variable is set, observed or asked for")
    return do(network, actions), done


def _contrast(
    world: BayesianNetwork,
    target: str,
    pairs: Mapping[str, tuple[int, int]],
    given: Observed,
    precision: Precision,
    how: tuple[bool, frozenset[str] | None],
) -> Effect:
    check_draws(*precision)
    evidence = Evidence.of(world, given, "given")
    causal, adjusted = how
    for name in (target, *pairs):
        if name in evidence:
            what = "variables besides the target and what it is compared by"
            raise expected(what, "given", name, "leave it out")
    fixed: tuple[str, ...] = ()
    if precision.draws:
        # The tables of what is compared have no part in what the sides differ by.
        fixed = fixed_tables(
            _given_states(world, target, pairs, evidence).tables, "this comparison"
        )
    result = answer(world, [*pairs, target], evidence, precision)
    states = {name: world[name].family.child.states for name in pairs}
    compared = {name: (states[name][a], states[name][b]) for name, (a, b) in pairs.items()}
    found: list[Floats] = []
    drawn: list[Floats] = []
    for side in (0, 1):
        place = tuple(codes[side] for codes in pairs.values())
        own = result.probabilities[place]
        if not own.sum() > 0.0:
            raise _impossible({name: pair[side] for name, pair in compared.items()}, evidence)
        found.append(own / own.sum())
        if result.samples is not None:
            each = np.moveaxis(result.samples, 0, -1)[place].T
            drawn.append(each / each.sum(axis=1, keepdims=True))
    pair = (drawn[0], drawn[1]) if drawn else None
    sides = Sides((found[0], found[1]), pair, result.level)
    variable = world[target].family.child
    after = world.dag.descendants(list(pairs)) if causal else ()
    changed = tuple(name for name in evidence.likelihoods if name in after)
    facts = How(compared, evidence.findings, causal, adjusted, changed, fixed)
    return Effect.of(variable, sides, facts)


def _given_states(
    world: BayesianNetwork, target: str, pairs: Mapping[str, tuple[int, int]], evidence: Evidence
) -> Question:
    """Ask for the target on one side of a comparison."""
    variables = (world[name].family.child for name in pairs)
    states = {name: _one_hot(world, name, one) for name, (one, _) in pairs.items()}
    known = Evidence((*evidence.variables, *variables), {**evidence.likelihoods, **states})
    return Question(world, [target], known)


def _impossible(side: Mapping[str, State], evidence: Evidence) -> DataError:
    shown = ", ".join(f"{name} = {state!r}" for name, state in side.items())
    problem = f"{shown} cannot occur"
    problem += f" together with {evidence.in_words()}" if evidence.variables else ""
    hint = "compare states that are possible, or change `given`"
    return DataError("States compared", f"{problem}: the probability is 0.", hint)


def _set(network: BayesianNetwork, rows: Mapping[str, Floats]) -> BayesianNetwork:
    """Return the network in which variables have given probabilities, whatever their parents.

    In a grouped network the group remains a parent, with the same row in every group.
    """
    group = network.group
    arcs = tuple(arc for arc in network.dag.arcs if arc[1] not in rows or arc[0] == group)
    dag = Dag(arcs, network.dag.variables)
    tables = dict(network.tables)
    for name, row in rows.items():
        parents = tuple(network[parent].family.child for parent in dag.parents(name))
        family = Family(network[name].family.child, parents)
        tables[name] = Cpt.known(family, np.tile(row, (family.configurations, 1)))
    return BayesianNetwork(dag, tables, network.discretizer, network.diagnostics, group)


def _codes(network: BayesianNetwork, actions: Any) -> list[tuple[str, int]]:
    evidence = Evidence.of(network, actions, "do")
    if not evidence:
        hint = "write {'smoker': 'no'}"
        raise expected("a mapping of names to states", "do", actions, hint)
    for variable in evidence.variables:
        if variable.name not in evidence.fixed:
            what, hint = f"one state of {variable.name!r}", "an action sets a variable to one state"
            raise expected(what, "do", evidence.findings[variable.name], hint)
    return list(evidence.fixed.items())


def _one_hot(network: BayesianNetwork, name: str, code: int) -> Floats:
    row = np.zeros(network[name].family.cardinality)
    row[code] = 1.0
    return row


def _checked_pairs(network: BayesianNetwork, target: Any, of: Any) -> dict[str, tuple[int, int]]:
    """Codes of the two states of each variable that are compared."""
    if not isinstance(target, str) or target not in network:
        raise not_among(network.dag.variables, "target", target)
    if not isinstance(of, Mapping) or not of:
        what = "a mapping of names to two states"
        raise expected(what, "of", of, Advice.TWO_STATES)
    pairs = {}
    for name, states in of.items():
        if not isinstance(name, str) or name not in network:
            raise not_among(network.dag.variables, "of", name)
        if name == target:
            raise expected("other variables than the target", "of", name)
        if not isinstance(states, list | tuple) or len(states) != 2:
            raise expected(f"two states of {name!r}", "of", states, Advice.TWO_STATES)
        one, other = (_single(network, name, state) for state in states)
        if one == other:
            what, got = (
                f"two different states of {name!r}",
                f"{network[name].family.child.states[one]!r} twice",
            )
            raise expected(what, "of", states, Advice.TWO_STATES, got=got)
        pairs[name] = (one, other)
    return pairs


def _single(network: BayesianNetwork, name: str, state: Any) -> int:
    """Code of the one state on a side of a comparison."""
    code = Evidence.of(network, {name: state}, "of").fixed.get(name)
    if code is None:
        what = f"one state of {name!r} on each side"
        raise expected(what, "of", state, Advice.TWO_STATES)
    return code
