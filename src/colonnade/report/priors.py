"""Priors in words, for a reader who has not written them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from colonnade.exceptions import counted
from colonnade.priors import Informed, NoisyMax, Prior, Smoothed


def in_words(prior: Prior | None) -> str:
    """Say what a prior is: the word of the command line if it has one."""
    if prior is None:
        return "known"
    if isinstance(prior, Smoothed):
        share = "learned" if isinstance(prior.weight, str) else f"{prior.weight:g}"
        return f"{in_words(prior.prior)}, neighbouring states mixed (weight {share})"
    if isinstance(prior, Informed):
        return f"given probabilities (worth {_observations(prior.weight)})"
    if isinstance(prior, NoisyMax):
        around = "" if prior.around is None else " around given effects"
        return f"noisy-max ({_observations(prior.weight)} added{around})"
    if prior.word != repr(prior):
        return prior.word
    own = {each.name: getattr(prior, each.name) for each in fields(prior) if each.compare}
    usual = {each.name: each.default for each in fields(prior)}
    changed = [_option(name, value) for name, value in own.items() if value != usual[name]]
    name = prior.keyword or type(prior).__name__
    return f"{name} ({', '.join(changed)})" if changed else name


def _observations(weight: float) -> str:
    return counted(1, "observation") if weight == 1.0 else f"{weight:g} observations"


def _option(name: str, value: Any) -> str:
    if (name, value) == ("one_parent", "left_out"):
        return "strengths learned by leaving out"
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
