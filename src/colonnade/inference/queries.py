"""Questions to a network: probabilities with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.cpt import Cpt
from colonnade.elimination import Elimination
from colonnade.exceptions import (
    Advice,
    NotSupportedError,
    TooLargeError,
    checked_draws,
    checked_level,
    expected,
    inapplicable,
    listing,
    not_among,
    warn_of_few_draws,
)
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.reduction import Question
from colonnade.inference.results import QueryResult
from colonnade.network import BayesianNetwork
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.variables import State

# Draws are taken in batches, so that the tables of a batch are not too large to be held.
_MAX_BATCH_CELLS = 1 << 21
_MAX_BATCH_DRAWS = 200
_MAX_SAMPLE_CELLS = 1 << 27  # of all draws together: a gigabyte


class Precision(NamedTuple):
    """How intervals are computed: draws (0 for none), the probability inside, random numbers."""

    draws: int = 0
    level: float = 0.95
    rng: Seed = None


def query(
    network: BayesianNetwork,
    target: str | Sequence[str],
    observed: Observed = None,
    draws: int = 0,
    level: float = 0.95,
    rng: Seed = None,
    do: Observed = None,
) -> QueryResult:
    """See :meth:`colonnade.BayesianNetwork.query`."""
    targets = checked_targets(network, target)
    check_draws(draws, level, rng)
    evidence = Evidence.of(network, observed)
    done: dict[str, State] = {}
    if do is not None:
        from colonnade.inference.actions import checked_do

        used = dict.fromkeys(targets, "targets") | dict.fromkeys(evidence.likelihoods, "observed")
        network, done = checked_do(network, do, used)
    result = answer(network, targets, evidence, Precision(draws, level, rng))
    return replace(result, done=done) if done else result


def answer(
    network: BayesianNetwork, targets: Sequence[str], evidence: Evidence, precision: Precision
) -> QueryResult:
    """Answer a question whose parts are checked."""
    draws, level = precision.draws, precision.level
    question = Question(network, targets, evidence)
    question.check_aside()
    elimination = question.elimination()
    variables = [network[name].family.child for name in targets]
    shape = tuple(variable.cardinality for variable in variables)
    table, log_total = elimination.table([piece.logs() for piece in question.pieces])
    if log_total[0] == -np.inf:
        raise question.impossible()
    probabilities = table[0].reshape(shape)
    if not draws:
        return QueryResult.of(variables, probabilities, evidence.findings)
    if draws * probabilities.size > _MAX_SAMPLE_CELLS:
        size, limit = draws * probabilities.size, _MAX_SAMPLE_CELLS
        hint = "use fewer draws, or ask for fewer variables at once"
        raise TooLargeError("The answers of all draws", size=size, limit=limit, hint=hint)
    fixed = fixed_tables(question.tables, "this answer")
    with Progress("Draws", draws) as progress:
        samples = _draws(question, elimination, draws, generator(precision.rng), progress)
        samples = samples.reshape(draws, *shape)
        result = QueryResult.of(variables, probabilities, evidence.findings, samples, level)
        return replace(result, fixed=fixed)


def _draws(
    question: Question,
    elimination: Elimination,
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Floats:
    """The answer in independent draws of all tables that matter."""
    fixed = [None if piece.uncertain else piece.logs() for piece in question.pieces]
    batch = max(1, min(_MAX_BATCH_DRAWS, _MAX_BATCH_CELLS // elimination.cells))
    found: list[Floats] = []
    while draws:
        size = min(batch, draws)
        logs = [
            logs if logs is not None else piece.draw(size, rng)
            for piece, logs in zip(question.pieces, fixed, strict=True)
        ]
        table, log_total = elimination.table(logs)
        check_possible(log_total)
        found.append(table)
        draws -= size
        progress.advance(size)
    return np.concatenate(found)


def fixed_tables(tables: Iterable[Cpt], what: str) -> tuple[str, ...]:
    """Names of the tables that have no share in intervals; refuse these if none has.

    `tables` are those that matter for `what`. Known ones that leave nothing to chance, such as
    those of actions, are not named: no posterior would make them uncertain.
    """
    tables = list(tables)
    without = [cpt for cpt in tables if not cpt.has_posterior]
    if len(without) == len(tables):
        names = listing(cpt.family.child.name for cpt in tables)
        known = all(cpt.prior is None for cpt in tables)
        raise NotSupportedError(
            f"A credible interval of {what}",
            f"it depends on the tables of {names} only, which have no posterior: they were given, "
            "or estimated by maximum likelihood or as noisy-max",
            Advice.NO_DRAWS_OF_KNOWN_TABLES if known else Advice.NO_DRAWS,
        )
    return tuple(cpt.family.child.name for cpt in without if not _is_certain(cpt))


def _is_certain(cpt: Cpt) -> bool:
    """Whether a table was given, and says of every state that it is certain or impossible."""
    rows = cpt.table.rows
    return cpt.prior is None and cpt.effects is None and bool(((rows == 0) | (rows == 1)).all())


def check_possible(log_totals: Floats) -> None:
    """Refuse draws in which what is observed cannot occur."""
    if np.isneginf(log_totals).any():
        raise NotSupportedError(
            "An interval for these observed states",
            "in some draws of the tables their probability is 0 in floating point",
            Advice.NO_DRAWS_OR_POSSIBLE_STATES,
        )


def checked_targets(network: BayesianNetwork, target: Any) -> list[str]:
    """Return different names of variables, at least one, or say what is wrong."""
    hint = "give a name, or a list of names"
    names = [target] if isinstance(target, str) else target
    if not isinstance(names, Sequence) or isinstance(names, bytes):
        raise expected("a name or a sequence of names", "target", target, hint)
    if not names:
        raise expected("at least one name", "target", target, hint)
    for name in names:
        if not isinstance(name, str) or name not in network:
            raise not_among(network.dag.variables, "target", name)
    repeated = [name for k, name in enumerate(names) if name in names[:k]]
    if repeated:
        raise expected("different names", "target", target, got=f"{repeated[0]!r} twice")
    return list(names)


def check_draws(draws: Any, level: Any, rng: Any) -> None:
    """Refuse what is no number of draws, and options that apply only to draws."""
    if not isinstance(draws, int) or isinstance(draws, bool) or draws:
        checked_draws(draws)
    checked_level(level)
    if draws:
        warn_of_few_draws(draws, level)
    generator(rng)
    if not draws and rng is not None:
        raise inapplicable("rng", rng, "draws > 0", "give draws=500")
    if not draws and level != 0.95:
        raise inapplicable("level", level, "draws > 0", "give draws=500")
