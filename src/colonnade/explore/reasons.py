"""Reasons: what each finding adds to the probabilities of one variable, and what to ask next."""

from __future__ import annotations

from typing import Any

import numpy as np

from colonnade.explore.beliefs import Beliefs
from colonnade.explore.situation import Situation
from colonnade.report.beliefs import entropy, information
from colonnade.report.tables import rounded

_MAX_REASONS = 8
# Questions that are proposed, and the share of what is open that their answer must settle.
_MAX_QUESTIONS = 6
_MIN_SETTLED = 0.001
# States of a variable up to which it is worth the time of a click to know what to ask about it.
_MAX_STATES = 24


def next_questions(beliefs: Beliefs, situation: Situation, target: int) -> list[dict[str, Any]]:
    """Say what to ask next: which variables are expected to tell most about one, in a situation.

    Figures are those of ``network.informative``: nats, and the share of the entropy of the target.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
    >>> next_questions(Beliefs(network), Situation(), 0)
    [{'variable': 1, 'information': 0.03755, 'settled': 0.05417}]
    """
    if target in situation.observed or target in situation.done:
        return []
    chances = beliefs.means(situation)[target]
    if len(chances) > _MAX_STATES or not (total := entropy(chances)):
        return []
    possible = np.flatnonzero(chances)
    given = [beliefs.means(situation.observing(target, code)) for code in possible.tolist()]
    known = {target, *situation.observed, *situation.done}
    told = {
        k: information(chances[possible], [each[k] for each in given])
        for k in range(len(given[0]))
        if k not in known
    }
    best = sorted((k for k in told if told[k] >= _MIN_SETTLED * total), key=lambda k: -told[k])
    return [
        {"variable": k, "information": rounded(told[k]), "settled": rounded(told[k] / total)}
        for k in best[:_MAX_QUESTIONS]
    ]


def reasons(beliefs: Beliefs, situation: Situation, target: int) -> dict[str, Any] | None:
    """Say what moved a variable: its state that moved most, and what each finding adds to it.

    What a finding adds is the probability with all findings less that without this one, as in
    ``network.explain``. None if nothing is known, or the variable is known itself.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
    >>> reasons(Beliefs(network), Situation(observed={1: 1}), 0)
    {'target': 0, 'state': 0, 'now': 0.2963, 'adds': [{'variable': 1, 'adds': -0.2037}]}
    """
    known = [*situation.observed, *situation.likely, *situation.done]
    if not known or target in situation.observed or target in situation.done:
        return None
    now = beliefs.means(situation)[target]
    state = int(np.abs(now - beliefs.means(Situation())[target]).argmax())
    found = []
    for k in known:
        before = beliefs.means(situation.without(k))[target]
        found.append({"variable": k, "adds": rounded(float(now[state] - before[state]))})
    found.sort(key=lambda each: -abs(each["adds"]))
    return {
        "target": target,
        "state": state,
        "now": rounded(float(now[state])),
        "adds": found[:_MAX_REASONS],
    }
