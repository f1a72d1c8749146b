"""Hierarchical estimation of Bayesian-network tables, exactly and with uncertainty.

Data become counts; counts and a prior become a posterior over one table; tables and a graph
become a network. The names below load on first use, so that importing the package is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from colonnade import files, tables, theory
    from colonnade.classifier import BayesianNetworkClassifier
    from colonnade.counts import FamilyCounts
    from colonnade.cpt import Cpt
    from colonnade.dag import Dag
    from colonnade.exceptions import ColonnadeError
    from colonnade.files import load
    from colonnade.missing.em import EM
    from colonnade.network import BayesianNetwork, fit
    from colonnade.pooling import Exact, Quadrature, Reference, Variational
    from colonnade.priors import (
        BDeu,
        CptPosterior,
        Hierarchical,
        MaximumLikelihood,
        SymmetricDirichlet,
    )
    from colonnade.structure import (
        AIC,
        BIC,
        LogLikelihood,
        arc_strength,
        chow_liu,
        compare,
        hill_climb,
        kdb,
        naive_bayes,
        score,
        score_families,
        tan,
    )
    from colonnade.tables import discretize, read
    from colonnade.variables import Family, Variable

__all__ = [
    "AIC",
    "BIC",
    "EM",
    "BDeu",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "ColonnadeError",
    "Cpt",
    "CptPosterior",
    "Dag",
    "Exact",
    "Family",
    "FamilyCounts",
    "Hierarchical",
    "LogLikelihood",
    "MaximumLikelihood",
    "Quadrature",
    "Reference",
    "SymmetricDirichlet",
    "Variable",
    "Variational",
    "__version__",
    "arc_strength",
    "chow_liu",
    "compare",
    "discretize",
    "files",
    "fit",
    "hill_climb",
    "kdb",
    "load",
    "naive_bayes",
    "read",
    "score",
    "score_families",
    "tables",
    "tan",
    "theory",
]

# The room that each name lives in; a module stands for itself.
_ROOMS = {
    "classifier": ("BayesianNetworkClassifier",),
    "counts": ("FamilyCounts",),
    "cpt": ("Cpt",),
    "dag": ("Dag",),
    "exceptions": ("ColonnadeError",),
    "files": ("load",),
    "missing.em": ("EM",),
    "network": ("BayesianNetwork", "fit"),
    "pooling": ("Exact", "Quadrature", "Reference", "Variational"),
    "priors": ("BDeu", "CptPosterior", "Hierarchical", "MaximumLikelihood", "SymmetricDirichlet"),
    "structure": (
        *("AIC", "BIC", "LogLikelihood", "arc_strength", "chow_liu", "compare"),
        *("hill_climb", "kdb", "naive_bayes", "score", "score_families", "tan"),
    ),
    "tables": ("discretize", "read"),
    "variables": ("Family", "Variable"),
}
_HOMES = {name: f"colonnade.{room}" for room, names in _ROOMS.items() for name in names}
_MODULES = {"files", "tables", "theory"}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"colonnade.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'colonnade' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
