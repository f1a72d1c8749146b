"""From counts to a table: priors, and the posterior they give."""

from colonnade.priors.base import LOG_EVIDENCE, Inconsistency, Prior
from colonnade.priors.draws import Draws
from colonnade.priors.hierarchical import Hierarchical
from colonnade.priors.independent import BDeu, Independent, MaximumLikelihood, SymmetricDirichlet
from colonnade.priors.informed import Informed, InformedPosterior
from colonnade.priors.noisy import Effects, NoisyMax
from colonnade.priors.posterior import CptPosterior
from colonnade.priors.registry import (
    PRIORS,
    no_prior,
    prior_named,
    register,
    restored,
    restored_effects,
    saved,
    saved_effects,
)
from colonnade.priors.smoothed import MIXING, Smoothed, SmoothedPosterior
from colonnade.priors.table_posterior import Interval, TablePosterior
from colonnade.priors.tiered import Tiered, TieredPosterior

__all__ = [
    "LOG_EVIDENCE",
    "MIXING",
    "PRIORS",
    "BDeu",
    "CptPosterior",
    "Draws",
    "Effects",
    "Hierarchical",
    "Inconsistency",
    "Independent",
    "Informed",
    "InformedPosterior",
    "Interval",
    "MaximumLikelihood",
    "NoisyMax",
    "Prior",
    "Smoothed",
    "SmoothedPosterior",
    "SymmetricDirichlet",
    "TablePosterior",
    "Tiered",
    "TieredPosterior",
    "no_prior",
    "prior_named",
    "register",
    "restored",
    "restored_effects",
    "saved",
    "saved_effects",
]
