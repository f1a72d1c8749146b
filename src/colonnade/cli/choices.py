"""Words of the command line become priors and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colonnade.cli.options import misuse
from colonnade.exceptions import InputError

if TYPE_CHECKING:
    from colonnade.priors import Prior
    from colonnade.structure import Score


def prior_of(text: str, option: str = "--prior") -> Prior:
    """Return the prior that a word such as ``hierarchical:learn`` stands for."""
    from colonnade.priors import prior_named

    try:
        return prior_named(text)
    except InputError as error:
        raise misuse(option, f"{text!r}: {error}") from None


def score_of(text: str) -> Score:
    """Return the score that a word stands for; most priors are scores."""
    from colonnade.priors import PRIORS
    from colonnade.structure import AIC, BIC, LogLikelihood

    penalised: dict[str, Score] = {"bic": BIC(), "aic": AIC(), "loglik": LogLikelihood()}
    if text in penalised:
        return penalised[text]
    scoring = [kind for kind in PRIORS.values() if kind.score_name is not None]
    if text.partition(":")[0] not in {kind.keyword for kind in scoring}:
        known = [*penalised, *(word for kind in scoring for word in kind.examples)]
        raise misuse("--score", f"{text!r} is not one of {', '.join(known)}.")
    return prior_of(text, "--score")
