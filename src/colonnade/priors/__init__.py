"""From counts to a table: priors, and the posterior they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colonnade.priors.base import LOG_EVIDENCE as LOG_EVIDENCE
    from colonnade.priors.base import Inconsistency as Inconsistency
    from colonnade.priors.base import Prior as Prior
    from colonnade.priors.draws import Draws as Draws
    from colonnade.priors.hierarchical import Hierarchical as Hierarchical
    from colonnade.priors.independent import BDeu as BDeu
    from colonnade.priors.independent import Independent as Independent
    from colonnade.priors.independent import MaximumLikelihood as MaximumLikelihood
    from colonnade.priors.independent import SymmetricDirichlet as SymmetricDirichlet
    from colonnade.priors.informed import Informed as Informed
    from colonnade.priors.informed import InformedPosterior as InformedPosterior
    from colonnade.priors.noisy import Effects as Effects
    from colonnade.priors.noisy import NoisyMax as NoisyMax
    from colonnade.priors.posterior import CptPosterior as CptPosterior
    from colonnade.priors.registry import PRIORS as PRIORS
    from colonnade.priors.registry import no_prior as no_prior
    from colonnade.priors.registry import prior_named as prior_named
    from colonnade.priors.registry import register as register
    from colonnade.priors.registry import restored as restored
    from colonnade.priors.registry import restored_effects as restored_effects
    from colonnade.priors.registry import saved as saved
    from colonnade.priors.registry import saved_effects as saved_effects
    from colonnade.priors.smoothed import MIXING as MIXING
    from colonnade.priors.smoothed import Smoothed as Smoothed
    from colonnade.priors.smoothed import SmoothedPosterior as SmoothedPosterior
    from colonnade.priors.table_posterior import Interval as Interval
    from colonnade.priors.table_posterior import TablePosterior as TablePosterior
    from colonnade.priors.tiered import Tiered as Tiered
    from colonnade.priors.tiered import TieredPosterior as TieredPosterior

# The module that each name lives in.
_ROOMS = {
    "base": ("LOG_EVIDENCE", "Inconsistency", "Prior"),
    "draws": ("Draws",),
    "hierarchical": ("Hierarchical",),
    "independent": ("BDeu", "Independent", "MaximumLikelihood", "SymmetricDirichlet"),
    "informed": ("Informed", "InformedPosterior"),
    "noisy": ("Effects", "NoisyMax"),
    "posterior": ("CptPosterior",),
    "registry": (
        *("PRIORS", "no_prior", "prior_named", "register"),
        *("restored", "restored_effects", "saved", "saved_effects"),
    ),
    "smoothed": ("MIXING", "Smoothed", "SmoothedPosterior"),
    "table_posterior": ("Interval", "TablePosterior"),
    "tiered": ("Tiered", "TieredPosterior"),
}
_HOMES = {name: module for module, names in _ROOMS.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    # A posterior must not wait for all other priors.
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'colonnade.priors' has no attribute {name!r}")
    return getattr(importlib.import_module(f"colonnade.priors.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
