"""The most probable states: of all variables together, and of some with the others summed out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import Elimination, components
from colonnade.exceptions import TooLargeError, expected
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.queries import checked_targets
from colonnade.inference.reduction import Question
from colonnade.inference.results import MostProbable
from colonnade.network import BayesianNetwork
from colonnade.variables import State

Scope = tuple[int, ...]


def most_probable(
    network: BayesianNetwork, observed: Observed = None, target: str | Sequence[str] | None = None
) -> MostProbable:
    """See :meth:`colonnade.BayesianNetwork.most_probable`."""
    asked = [observed] if isinstance(observed, str) else observed
    names = network.dag.variables
    if isinstance(asked, list | tuple) and asked and all(name in names for name in asked):
        hint = f"name what is asked for as the target: most_probable(target={observed!r})"
        raise expected("what is known of variables", "observed", observed, hint)
    evidence = Evidence.of(network, observed)
    if target is not None:
        return _of_some(network, checked_targets(network, target), evidence)
    question = Question(network, (), evidence, network.dag.variables)
    logs = [piece.logs() for piece in question.pieces]
    scopes = [piece.scope for piece in question.pieces]
    _, codes = _largest(question, scopes, logs)
    codes_of = question.fixed | codes
    total = 0.0
    for name in network:
        cpt = network[name]
        row = cpt.table.row(tuple(codes_of[parent.name] for parent in cpt.family.parents))
        total += math.log(row[codes_of[name]])
    return MostProbable(_states(network, codes_of, network), total)


def _of_some(network: BayesianNetwork, targets: list[str], evidence: Evidence) -> MostProbable:
    """Sum the other variables out first, then look for the largest cell."""
    question = Question(network, targets, evidence)
    scopes: list[Scope] = []
    tables: list[Floats] = []
    constant = 0.0
    rest = [*question.pieces, *question.aside]
    asked = set(question.targets)
    # Variables that are not asked for and meet in factors are summed out together; what is left of
    # them is one factor of the variables around.
    inner = [tuple(v for v in piece.scope if v not in asked) for piece in rest]
    for part in components(inner):
        near = [k for k, scope in enumerate(inner) if not part.isdisjoint(scope)]
        around = tuple(sorted({v for k in near for v in rest[k].scope} & asked))
        for k in near:
            rest[k].check_size()
        found = Elimination.of(question.sizes, [rest[k].scope for k in near], around)
        _check_cells(found.cells)
        table, log_sum = found.table([rest[k].logs() for k in near])
        if log_sum[0] == -np.inf:
            raise question.impossible()
        constant += float(log_sum[0])
        with np.errstate(divide="ignore"):
            tables.append(np.log(table))
        scopes.append(around)
    for piece, scope in zip(rest, inner, strict=True):
        if not scope:
            piece.check_size()
            scopes.append(piece.scope)
            tables.append(piece.logs())
    for scope, table in zip(scopes, tables, strict=True):
        constant += 0.0 if scope else float(table.reshape(-1)[0])
    if constant == -np.inf:
        raise question.impossible()
    log_total, codes = _largest(
        question,
        [scope for scope in scopes if scope],
        [table for scope, table in zip(scopes, tables, strict=True) if scope],
    )
    return MostProbable(_states(network, question.fixed | codes, targets), log_total + constant)


def _largest(
    question: Question, scopes: list[Scope], logs: list[Floats]
) -> tuple[float, dict[str, int]]:
    """Logarithm of the largest cell of a product of factors, and the codes of its variables."""
    if not scopes:
        return 0.0, {}
    found = Elimination.of(question.sizes, scopes)
    _check_cells(found.cells)
    log_total, cells = found.marginals(logs, largest=True)
    if log_total[0] == -np.inf:
        raise question.impossible()
    codes: dict[str, int] = {}
    for scope, cell in zip(scopes, cells, strict=True):
        # The states of the variables of this factor are where the probability is.
        for label, code in zip(scope, np.argwhere(cell[0])[0].tolist(), strict=True):
            codes[question.names[label]] = code
    return float(log_total[0]), codes


def _check_cells(cells: int) -> None:
    if cells > MAX_DENSE_CELLS:
        what, hint = "The largest table of exact inference", "observe more variables"
        raise TooLargeError(what, size=cells, limit=MAX_DENSE_CELLS, hint=hint)


def _states(
    network: BayesianNetwork, codes: dict[str, int], names: Iterable[str]
) -> dict[str, State]:
    return {name: network[name].family.child.states[codes[name]] for name in names}
