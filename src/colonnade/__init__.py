"""Hierarchical estimation of Bayesian-network tables, exactly and with uncertainty.

Data become counts; counts and a prior become a posterior over one table; tables and a graph
become a network. The names below load on first use, so that importing the package is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from colonnade import theory
    from colonnade.counts import FamilyCounts
    from colonnade.exceptions import ColonnadeError
    from colonnade.pooling import Exact, Quadrature, Reference, Variational
    from colonnade.posterior import CptPosterior
    from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
    from colonnade.variables import Family, Variable

__all__ = [
    "BDeu",
    "ColonnadeError",
    "CptPosterior",
    "Exact",
    "Family",
    "FamilyCounts",
    "Hierarchical",
    "MaximumLikelihood",
    "Quadrature",
    "Reference",
    "SymmetricDirichlet",
    "Variable",
    "Variational",
    "__version__",
    "theory",
]

# Where each name lives; a module stands for itself.
_HOMES = {
    "BDeu": "colonnade.priors",
    "ColonnadeError": "colonnade.exceptions",
    "CptPosterior": "colonnade.posterior",
    "Exact": "colonnade.pooling",
    "Family": "colonnade.variables",
    "FamilyCounts": "colonnade.counts",
    "Hierarchical": "colonnade.priors",
    "MaximumLikelihood": "colonnade.priors",
    "Quadrature": "colonnade.pooling",
    "Reference": "colonnade.pooling",
    "SymmetricDirichlet": "colonnade.priors",
    "Variable": "colonnade.variables",
    "Variational": "colonnade.pooling",
}
_MODULES = {"theory"}


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
