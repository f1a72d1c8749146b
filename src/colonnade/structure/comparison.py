"""Comparing graphs and priors on one table, by held-out log likelihood and log evidence."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from colonnade.arrays import Floats, Integers, Seed
from colonnade.dag import Dag
from colonnade.exceptions import DataError, NotSupportedError, expected, not_among
from colonnade.missing.treatment import (
    Missing,
    checked_missing,
    complete_rows,
    rows_for_graph,
    treated,
    warn_of_rest,
)
from colonnade.network import fit
from colonnade.network.learning import grouped
from colonnade.network.targets import Prediction, target_probabilities
from colonnade.priors import LOG_EVIDENCE, Hierarchical, Prior, Tiered
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.structure.columns import read_rows
from colonnade.structure.resampling import Learner, learned
from colonnade.structure.scores import score
from colonnade.tables.bounds import Allowed
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import gathered
from colonnade.tables.memory import encode
from colonnade.tables.tabular import Tabular


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
        Of all rows that are complete; None if there are none, or if the prior has none.
    prediction : Prediction or None
        How well held-out values of the target were predicted; None without one.
    """

    structure: str
    prior: str
    arcs: int
    held_out: float
    standard_error: float
    log_evidence: float | None
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
    """What :func:`compare` found, best held-out log likelihood first.

    With a target, the smallest log loss is first.

    Attributes
    ----------
    rows : tuple of Compared
        One for each structure and prior.
    folds : int
        Number of parts of the cross-validation.
    target : str or None
        The variable that was predicted.
    """

    rows: tuple[Compared, ...]
    folds: int
    target: str | None = None

    @property
    def best(self) -> Compared:
        """The first row: the largest held-out log likelihood, or the smallest log loss."""
        return self.rows[0]

    @property
    def head(self) -> tuple[str, ...]:
        """What the columns of :meth:`cells` are."""
        of_target = () if self.target is None else ("accuracy", "AUC", "log loss")
        return ("structure", "prior", "arcs", "held-out", "s.e.", "log evidence", *of_target)

    def cells(self) -> list[tuple[str, ...]]:
        """Return all figures, written for a table."""
        cells: list[tuple[str, ...]] = []
        for row in self.rows:
            held_out, error = f"{row.held_out:.4f}", f"{row.standard_error:.4f}"
            evidence = "-" if row.log_evidence is None else f"{row.log_evidence:.2f}"
            line: tuple[str, ...] = row.structure, row.prior, str(row.arcs)
            line = (*line, held_out, error, evidence)
            if (own := row.prediction) is not None:
                auc = "-" if math.isnan(own.auc) else f"{own.auc:.4f}"
                line = (*line, f"{own.accuracy:.4f}", auc, f"{own.log_loss:.4f}")
            cells.append(line)
        return cells

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for JSON."""
        return {"folds": self.folds, "target": self.target, "rows": self._plain_rows()}

    def _plain_rows(self) -> list[dict[str, Any]]:
        rows = []
        for row in self.rows:
            own = {} if row.prediction is None else row.prediction._asdict()
            facts = {each.name: getattr(row, each.name) for each in fields(row)}
            del facts["prediction"]
            rows.append({**facts, **own})
        return rows

    def _columns(self) -> dict[str, list[Any]]:
        rows = self._plain_rows()
        return {name.replace("_", " "): [row[name] for row in rows] for name in rows[0]}

    def __repr__(self) -> str:
        cells = [self.head, *self.cells()]
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
    missing: Missing = "raise",
    target: str | None = None,
    group: str | None = None,
    memory: Allowed = None,
) -> Comparison:
    """Compare graphs, or ways to learn them, under several priors.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes; at least two rows.
    structures : Dag, learner, or several by name or in a list
        A learner (such as :func:`hill_climb`) learns again in every fold, from its rows only.
    priors : prior, or several by name or in a list
        By default ``Hierarchical()``.
    folds : int
        Number of parts for cross-validation.
    rng : Generator or int, optional
        Assigns the rows to the folds; by default the same way every time.
    missing : {"raise", "available", "em", "state"} or EM
        What to do with rows that lack values: refuse; estimate the tables from all rows as
        :func:`colonnade.fit` does; or let a missing value be one more state. With ``"available"``
        and ``"em"`` the log likelihood of a held-out row is that of the values it has, the others
        summed out, and graphs are learned from the rows that are complete, which alone have a log
        evidence. With ``"state"`` what is missing is predicted like any other value, so compare
        its figures with each other only.
    target : str, optional
        A variable whose held-out values are predicted from all others: accuracy, the area under the
        ROC curve, and the mean log loss (see :class:`Prediction`).
    group : str, optional
        A column with the group of each row, as for :func:`colonnade.fit`; it is no part of the
        graphs. The default prior is then ``Tiered()``.
    memory : int or str, optional
        Bytes that files and lazy tables may take here, and the rows of each fold. As for
        :func:`colonnade.scan`. Numbers of folds and log likelihoods, eight bytes a row for each
        graph and prior, come on top.

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
    graphs = _checked_structures(structures)
    chosen = _checked_priors(priors if priors is not None or group is None else Tiered())
    rng = generator(0 if rng is None else rng)
    missing = checked_missing(missing)
    coded = gathered(treated(read_rows(table, group=group, memory=memory), missing))
    for parameter, name in (("target", target), ("group", group)):
        if name is not None and (not isinstance(name, str) or name not in coded.names):
            raise not_among(coded.names, parameter, name)
    if target is not None and target == group:
        raise expected("another column than the group", "target", target)
    fold_of = rng.permutation(coded.rows) % _checked_folds(folds, coded.rows)
    trial = _Trial(graphs, chosen, missing, target, group)
    complete = _complete(coded, graphs, missing)
    with Progress("Comparing", total=(int(folds) + 1) * len(graphs)) as progress:
        dags = {}
        for name, each in graphs.items():
            dags[name] = trial.learned(each, complete)
            progress.advance()
        # Only now: a learner that fails has used no rows.
        learned = "" if _given(graphs) else "learned graphs and "
        warn_of_rest(coded, complete, f"{learned}the log evidence")
        held, predicted = trial.held_out(coded, fold_of, progress)
    rows = []
    for name, dag in dags.items():
        for label, prior in chosen.items():
            values = held[name, label]
            mean, error = float(values.mean()), math.inf
            if np.isfinite(values).all():
                error = float(values.std(ddof=1)) / math.sqrt(values.size)
            evidence = _evidence(complete, trial.whole(dag), prior)
            own = None
            if target is not None:
                own = Prediction.of(*predicted[name, label])
            rows.append(Compared(name, label, len(dag.arcs), mean, error, evidence, own))
    rows.sort(key=_loss)
    return Comparison(tuple(rows), int(folds), target)


def _loss(row: Compared) -> float:
    """What the best row has least of."""
    loss = -row.held_out if row.prediction is None else row.prediction.log_loss
    return loss if math.isfinite(loss) else math.inf


_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Trial:
    """What is fitted in every fold."""

    graphs: Mapping[str, Dag | Learner]
    priors: Mapping[str, Prior]
    missing: Missing
    target: str | None
    group: str | None

    def learned(self, structure: Dag | Learner, coded: CodedTable) -> Dag:
        """Learn a graph, of which the group is no part."""
        others = [name for name in coded.names if name != self.group]
        own = coded if self.group is None else encode(coded, columns=others)
        return learned(structure, own, "structures")

    def whole(self, dag: Dag) -> Dag:
        """Return a graph with the group, if there is one."""
        return dag if self.group is None else grouped(dag, self.group)

    def held_out(
        self, coded: CodedTable, fold_of: Integers, progress: Progress
    ) -> tuple[dict[_Key, Floats], dict[_Key, tuple[Floats, Integers]]]:
        """Log likelihood of every row under networks fitted without its fold, fold by fold.

        With a target, also the probabilities of its states, and its codes.
        """
        keys = [(g, p) for g in self.graphs for p in self.priors]
        held: dict[_Key, list[Floats]] = {key: [] for key in keys}
        predicted: dict[_Key, list[Floats]] = {key: [] for key in keys}
        codes = []
        for fold in range(int(fold_of.max()) + 1):
            train, test = coded.take(fold_of != fold), coded.take(fold_of == fold)
            if self.target is not None:
                codes.append(test.codes[test.position(self.target)].astype(np.int64))
            for name, structure in self.graphs.items():
                known = train if isinstance(structure, Dag) else gathered(complete_rows(train))
                dag = self.learned(structure, known)
                for label, prior in self.priors.items():
                    network = fit(train, dag, prior, missing=self.missing, group=self.group)
                    held[name, label].append(network.log_likelihood(test))
                    if self.target is not None:
                        predicted[name, label].append(
                            target_probabilities(network, test, self.target)
                        )
                progress.advance()
        rows = {key: np.concatenate(values) for key, values in held.items()}
        if self.target is None:
            return rows, {}
        truth = np.concatenate(codes)
        return rows, {key: (np.concatenate(p), truth) for key, p in predicted.items()}


def _given(graphs: Mapping[str, Dag | Learner]) -> bool:
    """Whether no graph is to be learned."""
    return all(isinstance(structure, Dag) for structure in graphs.values())


def _complete(
    coded: CodedTable, graphs: Mapping[str, Dag | Learner], missing: Missing
) -> CodedTable:
    """Return the rows for learned graphs and for the log evidence."""
    if _given(graphs) and missing != "raise" and not coded.complete.any():
        return coded.take(coded.complete)  # tables need no complete rows
    return gathered(rows_for_graph(coded, missing))


def _evidence(coded: CodedTable, dag: Dag, prior: Prior) -> float | None:
    if prior.score_name != LOG_EVIDENCE or not coded.rows:
        return None
    try:
        return score(coded, dag, prior)
    except NotSupportedError:
        return None


def _checked_folds(folds: Any, rows: int) -> int:
    if rows < 2:
        raise DataError("Table", "one row cannot be divided into folds.", "give at least two rows")
    whole = isinstance(folds, numbers.Integral) and not isinstance(folds, bool)
    if not whole or not 2 <= folds <= rows:
        raise expected(f"an integer from 2 to {rows:,}, the number of rows,", "folds", folds)
    return int(folds)


def _checked_structures(structures: Any) -> dict[str, Dag | Learner]:
    graphs = _named(structures, "structures")
    for structure in graphs.values():
        if not isinstance(structure, Dag) and not callable(structure):
            hint = "for example hill_climb, or Dag([('parent', 'child')])"
            raise expected("graphs or functions of a table", "structures", structure, hint)
    return graphs


def _checked_priors(priors: Any) -> dict[str, Prior]:
    chosen = _named(Hierarchical() if priors is None else priors, "priors")
    for prior in chosen.values():
        if not isinstance(prior, Prior):
            raise expected("priors", "priors", prior)
    return chosen


def _named(items: Any, parameter: str) -> dict[str, Any]:
    """Several things by name; those of a list are named by their text or their number."""
    if isinstance(items, Mapping):
        found = dict(items)
        strange = [name for name in found if not isinstance(name, str)]
        if strange:
            raise expected("names that are strings", parameter, strange[0])
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
