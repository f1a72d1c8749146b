"""Comparing graphs and priors on one table, by held-out log likelihood and log evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.dag import Dag
from colonnade.exceptions import NotSupportedError, counted, expected
from colonnade.network import fit
from colonnade.priors import LOG_EVIDENCE, Hierarchical, Prior
from colonnade.progress import Progress
from colonnade.structure.columns import prepare
from colonnade.structure.resampling import Learner, learned, take
from colonnade.structure.scores import score


@dataclass(frozen=True, slots=True)
class Compared:
    """One graph (or learner) with one prior.

    Attributes
    ----------
    structure, prior : str
    arcs : int
        Of the graph on all rows.
    held_out : float
        Mean log likelihood of a row that was not used for fitting, by cross-validation.
    standard_error : float
        Of that mean, from the rows; infinite if a row has probability zero.
    log_evidence : float or None
        Of all rows; None if the prior has none.
    """

    structure: str
    prior: str
    arcs: int
    held_out: float
    standard_error: float
    log_evidence: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What :func:`compare` found, best held-out log likelihood first."""

    rows: tuple[Compared, ...]
    folds: int

    @property
    def best(self) -> Compared:
        """The row with the largest held-out log likelihood."""
        return self.rows[0]

    def __repr__(self) -> str:
        head = ("structure", "prior", "arcs", "held-out", "s.e.", "log evidence")
        cells = [head]
        for row in self.rows:
            held_out, error = f"{row.held_out:.4f}", f"{row.standard_error:.4f}"
            evidence = "-" if row.log_evidence is None else f"{row.log_evidence:.2f}"
            cells.append((row.structure, row.prior, str(row.arcs), held_out, error, evidence))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [f"Mean log likelihood of held-out rows, {self.folds} folds"]
        for line in cells:
            names = [text.ljust(width) for text, width in zip(line[:2], widths[:2], strict=True)]
            numbers = [text.rjust(width) for text, width in zip(line[2:], widths[2:], strict=True)]
            lines.append("  ".join(names + numbers).rstrip())
        return "\n".join(lines)


def compare(
    table: Any,
    structures: Mapping[str, Dag | Learner] | Sequence[Dag | Learner] | Dag | Learner,
    priors: Mapping[str, Prior] | Sequence[Prior] | Prior | None = None,
    *,
    folds: int = 5,
    rng: Seed = None,
) -> Comparison:
    """Compare graphs, or ways to learn them, under several priors.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes, without missing values.
    structures : Dag, learner, or several by name or in a list
        A learner (such as :func:`hill_climb`) learns again in every fold, from its rows only.
    priors : prior, or several by name or in a list
        By default ``Hierarchical()``.
    folds : int
        Number of parts for cross-validation.
    rng : Generator or int, optional
        Assigns the rows to the folds; by default the same way every time.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from colonnade import BDeu, Hierarchical
    >>> table = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8}
    >>> dags = {"arc": Dag([("a", "b")]), "none": Dag([], ["a", "b"])}
    >>> compare(table, dags, [Hierarchical(), BDeu(1)]).best.structure
    'arc'
    """
    coded = prepare(table).coded
    if coded.rows < 2:
        got = counted(coded.rows, "row")
        raise expected("at least 2 rows, to hold some out,", "table", coded, got=got)
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= coded.rows:
        raise expected(f"an integer from 2 to {coded.rows}, the number of rows,", "folds", folds)
    graphs = _named(structures, "structures")
    chosen = _named(Hierarchical() if priors is None else priors, "priors")
    for prior in chosen.values():
        if not isinstance(prior, Prior):
            raise expected("priors", "priors", prior)
    fold_of = np.random.default_rng(0 if rng is None else rng).permutation(coded.rows) % folds
    held: dict[tuple[str, str], list[Floats]] = {(g, p): [] for g in graphs for p in chosen}
    with Progress("Comparing", total=folds * len(graphs)) as progress:
        for fold in range(folds):
            train = take(coded, np.flatnonzero(fold_of != fold))
            test = take(coded, np.flatnonzero(fold_of == fold))
            for name, structure in graphs.items():
                dag = learned(structure, train)
                for label, prior in chosen.items():
                    network = fit(train, dag, prior)
                    held[name, label].append(network.log_likelihood(test))
                progress.advance()
    rows = []
    for name, structure in graphs.items():
        dag = learned(structure, coded)
        for label, prior in chosen.items():
            values = np.concatenate(held[name, label])
            mean, error = float(values.mean()), math.inf
            if np.isfinite(values).all():
                error = float(values.std(ddof=1)) / math.sqrt(values.size)
            evidence = _evidence(coded, dag, prior)
            rows.append(Compared(name, label, len(dag.arcs), mean, error, evidence))
    rows.sort(key=lambda row: -row.held_out if math.isfinite(row.held_out) else math.inf)
    return Comparison(tuple(rows), folds)


def _evidence(coded: Any, dag: Dag, prior: Prior) -> float | None:
    if prior.score_name != LOG_EVIDENCE:
        return None
    try:
        return score(coded, dag, prior)
    except NotSupportedError:
        return None


def _named(items: Any, parameter: str) -> dict[str, Any]:
    """Several things by name; those of a list are named by their text or their number."""
    if isinstance(items, Mapping):
        found = dict(items)
    elif isinstance(items, list | tuple):
        found = {}
        for item in items:
            name = getattr(item, "__name__", None) or repr(item)
            if isinstance(item, Dag):
                name = f"graph {len(found) + 1}"
            found[name if name not in found else f"{name} {len(found) + 1}"] = item
    else:
        return _named([items], parameter)
    if not found:
        raise expected("at least one", parameter, items)
    return found
