"""From counts to a table: priors, and the posterior they give."""

from colonnade.priors.base import LOG_EVIDENCE, Inconsistency, Prior
from colonnade.priors.hierarchical import Hierarchical
from colonnade.priors.independent import BDeu, Independent, MaximumLikelihood, SymmetricDirichlet
from colonnade.priors.posterior import CptPosterior, Interval
from colonnade.priors.registry import PRIORS, prior_named, register, restored, saved

__all__ = [
    "LOG_EVIDENCE",
    "PRIORS",
    "BDeu",
    "CptPosterior",
    "Hierarchical",
    "Inconsistency",
    "Independent",
    "Interval",
    "MaximumLikelihood",
    "Prior",
    "SymmetricDirichlet",
    "prior_named",
    "register",
    "restored",
    "saved",
]
