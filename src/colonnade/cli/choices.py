"""Words of the command line become priors and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from colonnade.exceptions import InputError

if TYPE_CHECKING:
    from colonnade.priors import Prior
    from colonnade.structure import Score

__all__ = ["prior_of", "score_of"]


def prior_of(text: str, option: str = "--prior") -> Prior:
    """Return the prior that a word stands for.

    Examples
    --------
    >>> prior_of("hierarchical:learn"), prior_of("bdeu:10")
    (Hierarchical(s='learn', alpha0=1.0, engine=None), BDeu(ess=10.0))
    """
    from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet

    name, colon, rest = text.partition(":")
    # The class, and what its setting is read as.
    priors: dict[str, tuple[Callable[..., Prior], Callable[[str], Any]]] = {
        "hierarchical": (Hierarchical, lambda s: s if s == "learn" else float(s)),
        "bdeu": (BDeu, float),
        "symmetric": (SymmetricDirichlet, float),
        "ml": (MaximumLikelihood, str),
    }
    if name not in priors:
        known = "hierarchical, hierarchical:learn, hierarchical:8, bdeu:10, symmetric, symmetric:2"
        raise typer.BadParameter(f"{text!r} is not one of {known}, ml.", param_hint=option)
    make, setting = priors[name]
    try:
        return make(setting(rest)) if colon else make()
    except InputError as error:
        raise typer.BadParameter(f"{text!r}: {error}", param_hint=option) from None
    except ValueError:
        problem = f"{text!r}: {rest!r} is not a number."
        raise typer.BadParameter(problem, param_hint=option) from None


def score_of(text: str) -> Score:
    """Return the score that a word stands for; a prior is one by its log evidence.

    Examples
    --------
    >>> score_of("bic"), score_of("symmetric")
    (BIC(), SymmetricDirichlet(s=None))
    """
    from colonnade.structure import AIC, BIC, LogLikelihood

    penalised: dict[str, Score] = {"bic": BIC(), "aic": AIC(), "loglik": LogLikelihood()}
    if text in penalised:
        return penalised[text]
    if text.partition(":")[0] not in ("hierarchical", "bdeu", "symmetric"):
        known = "bic, aic, loglik, hierarchical, hierarchical:learn, bdeu:10, symmetric"
        raise typer.BadParameter(f"{text!r} is not one of {known}.", param_hint="--score")
    return prior_of(text, "--score")
