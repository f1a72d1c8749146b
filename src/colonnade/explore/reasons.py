"""Reasons: what each finding and each action adds to the probabilities of one variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from colonnade.explore.beliefs import Beliefs
from colonnade.explore.situation import Situation
from colonnade.report.tables import rounded

_MAX_REASONS = 8


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
