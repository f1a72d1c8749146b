"""Hierarchical estimation of Bayesian-network tables, exactly and with uncertainty.

Data become counts; counts and a prior become a posterior over one table; tables and a graph
become a network. The names below load on first use, so that importing the package is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# What type checkers are told; a name that is imported as itself is public.
if TYPE_CHECKING:
    from colonnade import exceptions as exceptions
    from colonnade import files as files
    from colonnade import priors as priors
    from colonnade import report as report
    from colonnade import structure as structure
    from colonnade import tables as tables
    from colonnade import theory as theory
    from colonnade.classifier import BayesianNetworkClassifier as BayesianNetworkClassifier
    from colonnade.classifier import BayesianNetworkForest as BayesianNetworkForest
    from colonnade.counts import FamilyCounts as FamilyCounts
    from colonnade.cpt import Cpt as Cpt
    from colonnade.dag import Dag as Dag
    from colonnade.exceptions import ColonnadeError as ColonnadeError
    from colonnade.files import load as load
    from colonnade.missing.em import EM as EM
    from colonnade.network import BayesianNetwork as BayesianNetwork
    from colonnade.network import NetworkCounts as NetworkCounts
    from colonnade.network import count as count
    from colonnade.network import fit as fit
    from colonnade.pooling import Exact as Exact
    from colonnade.pooling import Quadrature as Quadrature
    from colonnade.pooling import Reference as Reference
    from colonnade.pooling import Variational as Variational
    from colonnade.priors import BDeu as BDeu
    from colonnade.priors import CptPosterior as CptPosterior
    from colonnade.priors import Hierarchical as Hierarchical
    from colonnade.priors import MaximumLikelihood as MaximumLikelihood
    from colonnade.priors import Smoothed as Smoothed
    from colonnade.priors import SmoothedPosterior as SmoothedPosterior
    from colonnade.priors import SymmetricDirichlet as SymmetricDirichlet
    from colonnade.priors import TablePosterior as TablePosterior
    from colonnade.priors import Tiered as Tiered
    from colonnade.priors import TieredPosterior as TieredPosterior
    from colonnade.structure import AIC as AIC
    from colonnade.structure import BIC as BIC
    from colonnade.structure import LogLikelihood as LogLikelihood
    from colonnade.structure import arc_gain as arc_gain
    from colonnade.structure import arc_posterior as arc_posterior
    from colonnade.structure import arc_strength as arc_strength
    from colonnade.structure import chow_liu as chow_liu
    from colonnade.structure import compare as compare
    from colonnade.structure import exact_search as exact_search
    from colonnade.structure import ges as ges
    from colonnade.structure import hill_climb as hill_climb
    from colonnade.structure import kdb as kdb
    from colonnade.structure import naive_bayes as naive_bayes
    from colonnade.structure import pc as pc
    from colonnade.structure import score as score
    from colonnade.structure import score_families as score_families
    from colonnade.structure import tan as tan
    from colonnade.tables import discretize as discretize
    from colonnade.tables import encode as encode
    from colonnade.tables import inspect as inspect
    from colonnade.tables import read as read
    from colonnade.tables import scan as scan
    from colonnade.variables import Family as Family
    from colonnade.variables import Variable as Variable

# The room that each name lives in; a module stands for itself.
_ROOMS = {
    "classifier": ("BayesianNetworkClassifier", "BayesianNetworkForest"),
    "counts": ("FamilyCounts",),
    "cpt": ("Cpt",),
    "dag": ("Dag",),
    "exceptions": ("ColonnadeError",),
    "files": ("load",),
    "missing.em": ("EM",),
    "network": ("BayesianNetwork", "NetworkCounts", "count", "fit"),
    "pooling": ("Exact", "Quadrature", "Reference", "Variational"),
    "priors": (
        *("BDeu", "CptPosterior", "Hierarchical", "MaximumLikelihood", "Smoothed"),
        *("SmoothedPosterior", "SymmetricDirichlet", "TablePosterior", "Tiered", "TieredPosterior"),
    ),
    "structure": (
        *("AIC", "BIC", "LogLikelihood", "arc_gain", "arc_posterior", "arc_strength"),
        *("chow_liu", "compare", "exact_search", "ges", "hill_climb", "kdb", "naive_bayes"),
        *("pc", "score", "score_families", "tan"),
    ),
    "tables": ("discretize", "encode", "inspect", "read", "scan"),
    "variables": ("Family", "Variable"),
}
_HOMES = {name: f"colonnade.{room}" for room, names in _ROOMS.items() for name in names}
_MODULES = {"exceptions", "files", "priors", "report", "structure", "tables", "theory"}
__all__ = sorted([*_HOMES, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    import importlib

    from colonnade.interrupts import Held

    if name not in _MODULES and name not in _HOMES:
        raise AttributeError(f"module 'colonnade' has no attribute {name!r}")
    # NumPy cannot be imported again after an interrupt.
    with Held():
        if name in _MODULES:
            return importlib.import_module(f"colonnade.{name}")
        value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # Not what this module imports for itself.
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
