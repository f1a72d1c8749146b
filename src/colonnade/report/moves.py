"""Moves: what tells most about a variable, and how far it moves if others are seen, or set."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import NotSupportedError, TooLargeError, not_among
from colonnade.inference.effects import Effect
from colonnade.inference.queries import Precision
from colonnade.network import BayesianNetwork
from colonnade.progress import Progress
from colonnade.report.beliefs import entropy, inference_cells, information, margins
from colonnade.report.tables import rounded

# Variables that are shown, and what they must tell at least, in nats.
_MAX_MOVES = 12
_MIN_INFORMATION = 1e-6
# States that are rarer are not compared: little is known of what follows from them.
_MIN_PROBABILITY = 0.01
# Draws of all tables behind the intervals, and cells of the largest table of exact inference in all
# draws together: in networks where that takes long there are no intervals.
_MAX_DRAWS, _MIN_DRAWS = 400, 100
_MAX_DRAWN_CELLS = 1 << 21
_SEED = 0


def described_moves(network: BayesianNetwork, target: str, level: float) -> dict[str, Any]:
    """Describe, in plain values, what tells most about a variable.

    For each variable, the two of its states between which the target differs most are compared: as
    they are seen, and if the variable leads to the target also as they are set.
    """
    if target not in network:
        raise not_among(network.dag.variables, "target", target)
    place = {name: k for k, name in enumerate(network.dag.variables)}
    found: dict[str, Any] = {"target": place[target], "least": _MIN_PROBABILITY, "draws": 0}
    usual = margins(network)
    if target not in usual:
        return found | {"open": None, "rows": None, "left_out": 0}
    chances = usual[target]
    given = []
    with Progress("What moves it", len(chances)) as progress:
        for code, chance in enumerate(chances.tolist()):
            given.append(margins(network, {target: code}) if chance else usual)
            progress.advance()
    told = {
        name: information(chances, [each[name] for each in given])
        for name in usual
        if name != target
    }
    best = sorted((name for name in told if told[name] > _MIN_INFORMATION), key=lambda n: -told[n])
    found["draws"] = _draws(network)
    rows = []
    with Progress("How far it moves", min(len(best), _MAX_MOVES)) as progress:
        for name in best[:_MAX_MOVES]:
            joint = np.stack([c * each[name] for c, each in zip(chances, given, strict=True)])
            precision = Precision(found["draws"], level, _SEED)
            with contextlib.suppress(TooLargeError):
                own = _compared(network, target, name, joint, precision)
                rows.append({"variable": place[name], "information": rounded(told[name]), **own})
            progress.advance()
    return found | {
        "open": rounded(entropy(chances)),
        "rows": rows,
        "left_out": len(best) - len(rows),
    }


def _draws(network: BayesianNetwork) -> int:
    """Return how many draws there is time for; none if there are too few, or nothing to draw."""
    if not any(cpt.has_posterior for cpt in network.tables.values()):
        return 0
    number = min(_MAX_DRAWS, _MAX_DRAWN_CELLS // inference_cells(network))
    return number if number >= _MIN_DRAWS else 0


def _compared(
    network: BayesianNetwork, target: str, name: str, joint: Floats, precision: Precision
) -> dict[str, Any]:
    """Compare two states of a variable as they are seen, and set if they lead to the target.

    `joint` has the probabilities of both, ``[state of the target, state of the variable]``.
    """
    state, one, other = _widest(joint)
    states = network[name].family.child.states
    asked = {name: (states[one], states[other])}

    def answer(ask: Callable[..., Effect]) -> dict[str, Any]:
        with contextlib.suppress(NotSupportedError):
            if precision.draws:
                return _sides(ask(target, asked, **precision._asdict()), state)
        return _sides(ask(target, asked), state)  # none of the tables between them has a posterior

    leads = name in network.dag.ancestors([target])
    seen, done = answer(network.association), answer(network.effect) if leads else None
    return {"state": state, "from": other, "to": one, "seen": seen, "set": done}


def _widest(joint: Floats) -> tuple[int, int, int]:
    """Find the state of the target, and the two of the other, between which it differs most.

    `joint` is ``[state of the target, state of the other]``; the first of the two makes the state
    of the target more probable.
    """
    total = joint.sum(axis=0)
    common = np.flatnonzero(total >= min(_MIN_PROBABILITY, np.sort(total)[-2:].min()))
    shares = joint[:, common] / total[common]
    state = int(np.ptp(shares, axis=1).argmax())
    if joint.shape[0] == 2:
        state = 1  # the other one is its mirror image
    return state, int(common[shares[state].argmax()]), int(common[shares[state].argmin()])


def _sides(effect: Effect, state: int) -> dict[str, Any]:
    """Probabilities on both sides and their difference, each with the ends of its interval."""
    return {
        name: [
            rounded(each.values[state]),
            None if each.lower is None else rounded(each.lower[state]),
            None if each.upper is None else rounded(each.upper[state]),
        ]
        for name, each in (
            ("to", effect.one),
            ("from", effect.other),
            ("difference", effect.difference),
        )
    }
