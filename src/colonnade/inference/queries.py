"""Questions to a network: probabilities with their uncertainty, and the most probable states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.elimination import Elimination
from colonnade.exceptions import (
    Advice,
    NotSupportedError,
    checked_level,
    checked_whole,
    expected,
    inapplicable,
    listing,
)
from colonnade.inference.reduction import Question
from colonnade.inference.results import MostProbable, QueryResult
from colonnade.network import BayesianNetwork
from colonnade.progress import Progress

# Draws are taken in batches, so that the tables of a batch are not too large to be held.
_MAX_BATCH_CELLS = 1 << 21
_MAX_BATCH_DRAWS = 200


def query(
    network: BayesianNetwork,
    target: str | Sequence[str],
    observed: Mapping[str, Any] | None = None,
    draws: int = 0,
    level: float = 0.95,
    rng: Seed = None,
) -> QueryResult:
    """Probabilities of one or several variables together, given what was observed.

    The answer is exact for the estimated tables. With a prior it is the probability for the
    next case, all uncertainty about the tables averaged out: the estimated tables are posterior
    means, and the probability of a case is linear in each table. The mean of the draws is
    something else once anything is observed: each draw divides by its own probability of what
    was observed, so draws in which that is improbable count as much as the others.

    Parameters
    ----------
    network : BayesianNetwork
    target : str or sequence of str
        What is asked for; several names give their joint probabilities.
    observed : mapping of str to state, optional
    draws : int, optional
        Independent draws of all tables that matter, for credible intervals; 0 for none. Tables
        without a posterior (known ones, and those of ``MaximumLikelihood``) stay as they are.
    level : float, optional
        Probability inside the intervals; only with draws.
    rng : Generator or int, optional
        Only with draws.

    Returns
    -------
    QueryResult

    Raises
    ------
    DataError
        If a state does not exist, if what is observed cannot occur, or if a configuration that
        matters has no probabilities.
    TooLargeError
        If exact inference would need more memory than is sensible; the error says how much.
    NotSupportedError
        If draws are asked for and no table that matters has a posterior.

    Examples
    --------
    >>> from colonnade.cpt import Cpt
    >>> from colonnade.dag import Dag
    >>> from colonnade import Family, Variable
    >>> smoker, cancer = Variable("smoker", ["no", "yes"]), Variable("cancer", [False, True])
    >>> network = BayesianNetwork(
    ...     Dag([("smoker", "cancer")]),
    ...     {
    ...         "smoker": Cpt.known(Family(smoker), [0.75, 0.25]),
    ...         "cancer": Cpt.known(Family(cancer, (smoker,)), [[0.99, 0.01], [0.9, 0.1]]),
    ...     },
    ... )
    >>> query(network, "smoker", {"cancer": True})
    QueryResult of 'smoker' given {'cancer': True}
      smoker | probability
      no     |      0.2308
      yes    |      0.7692
    """
    targets = _checked_targets(network, target)
    _check_draws(draws, level, rng)
    question = Question(network, targets, observed)
    question.check_aside()
    elimination = question.elimination()
    variables = [network[name].family.child for name in targets]
    shape = tuple(variable.cardinality for variable in variables)
    probabilities = _point(question, elimination).reshape(shape)
    if not draws:
        return QueryResult.of(variables, probabilities, question.observed)
    samples = _draws(question, elimination, draws, np.random.default_rng(rng))
    samples = samples.reshape(draws, *shape)
    return QueryResult.of(variables, probabilities, question.observed, samples, level)


def most_probable(
    network: BayesianNetwork, observed: Mapping[str, Any] | None = None
) -> MostProbable:
    """Most probable states of all variables together, given what was observed.

    Exact. These need not be the states that are most probable one by one.

    Parameters
    ----------
    network : BayesianNetwork
    observed : mapping of str to state, optional

    Returns
    -------
    MostProbable
        ``states`` of all variables, of equally probable ones the first; and their
        ``log_probability`` together, the observed ones included.

    Examples
    --------
    >>> from colonnade.cpt import Cpt
    >>> from colonnade.dag import Dag
    >>> from colonnade import Family, Variable
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [1, 2])
    >>> network = BayesianNetwork(
    ...     Dag([("x", "y")]),
    ...     {
    ...         "x": Cpt.known(Family(x), [0.6, 0.4]),
    ...         "y": Cpt.known(Family(y, (x,)), [[0.5, 0.5], [0.1, 0.9]]),
    ...     },
    ... )
    >>> most_probable(network).states
    {'x': 'b', 'y': 2}
    """
    question = Question(network, (), observed)
    logs = [piece.logs() for piece in question.pieces]
    log_total, cells = question.elimination().marginals(logs, largest=True)
    if log_total[0] == -np.inf:
        raise question.impossible()
    codes = dict(question.fixed)
    for piece, cell in zip(question.pieces, cells, strict=True):
        # The states of the variables of this table are where the probability is.
        for label, code in zip(piece.scope, np.argwhere(cell[0])[0].tolist(), strict=True):
            codes[question.names[label]] = code
    total = 0.0
    for name in network:
        cpt = network[name]
        row = cpt.table.row(tuple(codes[parent.name] for parent in cpt.family.parents))
        total += math.log(row[codes[name]])
    states = {name: network[name].family.child.states[codes[name]] for name in network}
    return MostProbable(states, total)


def _point(question: Question, elimination: Elimination) -> Floats:
    """The answer for the estimated tables."""
    table, log_total = elimination.table([piece.logs() for piece in question.pieces])
    if log_total[0] == -np.inf:
        raise question.impossible()
    return np.asarray(table[0])


def _draws(
    question: Question, elimination: Elimination, draws: int, rng: np.random.Generator
) -> Floats:
    """The answer in independent draws of all tables that matter."""
    if not any(piece.uncertain for piece in question.pieces):
        names = [piece.cpt.family.child.name for piece in question.pieces]
        raise NotSupportedError(
            "An interval without a posterior",
            f"the answer depends on the tables of {listing(names)}, which are known or estimated "
            "by maximum likelihood",
            Advice.NO_DRAWS,
        )
    fixed = {k: piece.logs() for k, piece in enumerate(question.pieces) if not piece.uncertain}
    batch = max(1, min(_MAX_BATCH_DRAWS, _MAX_BATCH_CELLS // elimination.cells))
    found: list[Floats] = []
    with Progress("Draws", draws) as progress:
        while draws:
            size = min(batch, draws)
            logs = [
                fixed[k] if k in fixed else piece.draw(size, rng)
                for k, piece in enumerate(question.pieces)
            ]
            table, log_total = elimination.table(logs)
            if np.isneginf(log_total).any():
                raise NotSupportedError(
                    "An interval for these observed states",
                    "in some draws of the tables their probability is 0 in floating point",
                    Advice.NO_DRAWS_OR_POSSIBLE_STATES,
                )
            found.append(table)
            draws -= size
            progress.advance(size)
    return np.concatenate(found)


def _checked_targets(network: BayesianNetwork, target: Any) -> list[str]:
    hint = "give a name, or a list of names"
    names = [target] if isinstance(target, str) else target
    if not isinstance(names, Sequence) or isinstance(names, bytes):
        raise expected("a name or a sequence of names", "target", target, hint)
    if not names:
        raise expected("at least one name", "target", target, hint)
    for name in names:
        if not isinstance(name, str) or name not in network:
            raise expected(f"one of {listing(network.dag.variables)}", "target", name)
    if len(set(names)) < len(names):
        raise expected("different names", "target", target)
    return list(names)


def _check_draws(draws: Any, level: Any, rng: Any) -> None:
    checked_whole(draws, "draws", 0)
    checked_level(level)
    if not draws and rng is not None:
        raise inapplicable("rng", rng, "draws > 0", "give draws=500")
    if not draws and level != 0.95:
        raise inapplicable("level", level, "draws > 0", "give draws=500")
