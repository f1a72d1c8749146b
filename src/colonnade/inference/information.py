"""Information: how much is open about variables, and what they tell about each other.

All figures are in nats, the unit of log likelihoods; divide by log 2 for bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import Elimination
from colonnade.exceptions import Advice, TooLargeError, expected, listing
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.queries import (
    Precision,
    answer,
    check_draws,
    checked_targets,
    fixed_tables,
)
from colonnade.inference.reduction import Piece, Question, Weight
from colonnade.inference.results import without_share
from colonnade.network import BayesianNetwork
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.tables.tabular import Tabular
from colonnade.wording import percent

# Cells of all factors of a batch of draws.
_MAX_BATCH_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, repr=False, order=True)
class Estimate(Tabular):
    """A number, and the ends of its credible interval if there were draws: unpacked as a triple.

    Attributes
    ----------
    value : float
    lower, upper : float or None
    fixed : tuple of str
        Variables whose tables matter and have no posterior: the interval lacks their share.

    Examples
    --------
    >>> value, lower, upper = Estimate(0.5, 0.4, 0.6, fixed=("x",))
    >>> lower
    0.4
    """

    value: float
    lower: float | None = None
    upper: float | None = None
    fixed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[float | None]:
        return iter((self.value, self.lower, self.upper))

    def __repr__(self) -> str:
        fixed = f", fixed={self.fixed}" if self.fixed else ""
        return f"Estimate(value={self.value}, lower={self.lower}, upper={self.upper}{fixed})"

    def to_dict(self) -> dict[str, Any]:
        """Value, ends and fixed tables in plain values, ready for JSON.

        Examples
        --------
        >>> Estimate(0.5).to_dict()
        {'value': 0.5, 'lower': None, 'upper': None, 'fixed': []}
        """
        ends = {"value": self.value, "lower": self.lower, "upper": self.upper}
        return {**ends, "fixed": list(self.fixed)}

    def _columns(self) -> dict[str, list[Any]]:
        return _columns([self])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Informative(Mapping[str, Estimate], Tabular):
    """How much each variable would tell about one: a mapping from names to estimates, in nats.

    Attributes
    ----------
    target : str
    estimates : dict of str to Estimate
        The most telling variable first.
    level : float or None
        Probability inside the intervals.
    fixed : tuple of str
        Variables whose tables matter and have no posterior: the intervals lack their share.
    """

    target: str
    estimates: dict[str, Estimate]
    level: float | None = None
    fixed: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def _columns(self) -> dict[str, list[Any]]:
        return {"variable": list(self.estimates), **_columns(list(self.estimates.values()))}

    def __repr__(self) -> str:
        inside = "" if self.level is None else f", {percent(self.level)} intervals"
        lines = [f"Information about {self.target!r} in nats{inside}"]
        width = max(map(len, self.estimates), default=0)
        for name, found in self.estimates.items():
            ends = "" if found.lower is None else f"  [{found.lower:.4f}, {found.upper:.4f}]"
            lines.append(f"  {name.ljust(width)}  {found.value:.4f}{ends}")
        return "\n".join([*lines, *without_share(self.fixed)])


def entropy(
    network: BayesianNetwork,
    target: str | Sequence[str] | None,
    observed: Observed,
    precision: Precision,
) -> Estimate:
    """See :meth:`colonnade.BayesianNetwork.entropy`."""
    check_draws(*precision)
    evidence = Evidence.of(network, observed)
    if target is not None:
        targets = checked_targets(network, target)
        result = answer(network, targets, evidence, precision)
        axes = tuple(range(-len(targets), 0))
        return _estimate(lambda table: _entropy(table, axes), result, precision)
    whole = _Whole(network, evidence)
    return _drawn(lambda size, rng: whole.entropies(whole.logs(size, rng)), [whole], precision)


def mutual_information(
    network: BayesianNetwork,
    x: str | Sequence[str],
    y: str | Sequence[str],
    given: str | Sequence[str],
    observed: Observed,
    precision: Precision,
) -> Estimate:
    """See :meth:`colonnade.BayesianNetwork.mutual_information`."""
    check_draws(*precision)
    given = [given] if isinstance(given, str) else given
    sets = [checked_targets(network, each) if len(each) else [] for each in (x, y, given)]
    for parameter, each in zip(("x", "y"), sets[:2], strict=True):
        if not each:
            raise expected("at least one name", parameter, each)
    names = [name for each in sets for name in each]
    if len(set(names)) < len(names):
        repeated = next(name for k, name in enumerate(names) if name in names[:k])
        got = f"{repeated!r} twice"
        raise expected("different variables in `x`, `y` and", "given", repeated, got=got)
    result = answer(network, names, Evidence.of(network, observed), precision)
    # Counted from the end: draws have an axis in front.
    parts = [[names.index(name) - len(names) for name in each] for each in sets]

    def information(table: Floats) -> Floats:
        ax, ay, az = (tuple(part) for part in parts)
        # I(x; y | z) = H(x, z) + H(y, z) - H(x, y, z) - H(z)
        return (
            _entropy(table.sum(axis=ay, keepdims=True), (*ax, *ay, *az))
            + _entropy(table.sum(axis=ax, keepdims=True), (*ax, *ay, *az))
            - _entropy(table, (*ax, *ay, *az))
            - _entropy(table.sum(axis=(*ax, *ay), keepdims=True), (*ax, *ay, *az))
        )

    return _estimate(information, result, precision)


def informative(
    network: BayesianNetwork, target: str, observed: Observed, precision: Precision
) -> Informative:
    """See :meth:`colonnade.BayesianNetwork.informative`."""
    check_draws(*precision)
    (name,) = checked_targets(network, [target])
    evidence = Evidence.of(network, observed)
    if precision.draws:
        precision = precision._replace(rng=generator(precision.rng))
    others = [each for each in network if each != name and each not in evidence.fixed]
    if not others:  # what is observed may be impossible all the same
        network.query(name, evidence)
    found = {}
    with Progress("Variables", len(others)) as progress:
        for other in others:
            found[other] = mutual_information(network, name, other, (), evidence, precision)
            progress.advance()
    ordered = sorted(found.items(), key=lambda item: -item[1].value)
    lacking = {each for own in found.values() for each in own.fixed}
    fixed = tuple(each for each in network if each in lacking)
    return Informative(name, dict(ordered), precision.level if precision.draws else None, fixed)


def kl(network: BayesianNetwork, other: Any, precision: Precision) -> Estimate:
    """See :meth:`colonnade.BayesianNetwork.kl`."""
    check_draws(*precision)
    if not isinstance(other, BayesianNetwork):
        raise expected("a BayesianNetwork", "other", other)
    _check_same_variables(network, other)
    mine, yours = (_Whole(each, Evidence((), {})) for each in (network, other))
    named = [tuple(mine.question.label[yours.question.names[v]] for v in s) for s in yours.scopes]
    mine.asked_too(named)

    def divergences(size: int, rng: np.random.Generator | None) -> Floats:
        logs, others = mine.logs(size, rng), yours.logs(size, rng)
        _, cells, more = mine.marginals(logs)
        return _expected(cells, logs) - _expected(more, others)

    return _drawn(divergences, [mine, yours], precision)


def _check_same_variables(network: BayesianNetwork, other: BayesianNetwork) -> None:
    if set(network) != set(other):
        lost = [name for name in network if name not in other]
        more = [name for name in other if name not in network]
        parts = [f"{word} {listing(names)}" for word, names in (("without", lost), ("with", more))]
        got = " and ".join(part for part, names in zip(parts, (lost, more), strict=True) if names)
        what, hint = "a network of the same variables", "compare networks of the same table"
        raise expected(what, "other", other, hint, got=f"one {got}")
    for name in network:
        states, found = network[name].family.child.states, other[name].family.child.states
        if states != found:
            what = f"the same states of {name!r}, {listing(states)},"
            raise expected(what, "other", other, Advice.SAME_STATES, got=listing(found))


class _Whole:
    """All variables of a network given evidence, in one elimination with all distributions."""

    def __init__(self, network: BayesianNetwork, evidence: Evidence) -> None:
        self.question = Question(network, (), evidence, network.dag.variables)
        self.pieces: list[Piece | Weight] = self.question.pieces
        self.scopes = [piece.scope for piece in self.pieces]
        for piece in self.pieces:
            piece.check_size()
        self.asked_too([])

    def asked_too(self, scopes: list[tuple[int, ...]]) -> None:
        """Also find the distributions of other sets of variables."""
        self.more = scopes
        self.elimination = Elimination.of(self.question.sizes, [*self.scopes, *scopes])
        if self.elimination.cells > MAX_DENSE_CELLS:
            size = self.elimination.cells
            raise TooLargeError(
                "The largest table of exact inference", size=size, limit=MAX_DENSE_CELLS
            )

    @property
    def uncertain(self) -> bool:
        return any(piece.uncertain for piece in self.pieces)

    @property
    def cells(self) -> int:
        sizes = self.question.sizes
        shapes = [[sizes[v] for v in scope] for scope in (*self.scopes, *self.more)]
        return sum(int(np.prod(shape)) for shape in shapes)

    def logs(self, size: int, rng: np.random.Generator | None) -> list[Floats]:
        """Logarithms of all tables, as estimated or in draws."""
        found = []
        for piece in self.pieces:
            drawn = piece.draw(size, rng) if rng is not None and piece.uncertain else piece.logs()
            found.append(np.ascontiguousarray(np.broadcast_to(drawn, (size, *drawn.shape[1:]))))
        return found

    def marginals(self, logs: list[Floats]) -> tuple[Floats, list[Floats], list[Floats]]:
        """Log totals, and distributions of the variables of all tables and of other sets."""
        sizes = self.question.sizes
        blank = [np.zeros((len(logs[0]), *(sizes[v] for v in scope))) for scope in self.more]
        totals, cells = self.elimination.marginals([*logs, *blank])
        if np.isneginf(totals).any():
            raise self.question.impossible()
        return totals, cells[: len(logs)], cells[len(logs) :]

    def entropies(self, logs: list[Floats]) -> Floats:
        """Entropy of all variables together: log total minus the mean log of the product."""
        totals, cells, _ = self.marginals(logs)
        return np.asarray(totals - _expected(cells, logs))


def _columns(estimates: Sequence[Estimate]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"value": [each.value for each in estimates]}
    if any(each.lower is not None for each in estimates):
        columns["lower"] = [each.lower for each in estimates]
        columns["upper"] = [each.upper for each in estimates]
    return columns


def _expected(cells: list[Floats], logs: list[Floats]) -> Floats:
    """Mean of the sum of logarithms, ``[case]``."""
    total = np.zeros(len(cells[0]))
    for own, log in zip(cells, logs, strict=True):
        flat, values = own.reshape(len(own), -1), log.reshape(len(own), -1)
        with np.errstate(invalid="ignore"):
            total += np.where(flat > 0.0, flat * values, 0.0).sum(axis=1)
    return total


def _entropy(table: Floats, axes: tuple[int, ...]) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.where(table > 0.0, table * np.log(table), 0.0).sum(axis=axes))


def _estimate(measure: Callable[[Floats], Floats], result: Any, precision: Precision) -> Estimate:
    value = max(0.0, float(measure(result.probabilities)))
    if result.samples is None:
        return Estimate(value)
    return _with_ends(value, measure(result.samples), precision, result.fixed)


def _drawn(
    measure: Callable[[int, np.random.Generator | None], Floats],
    networks: list[_Whole],
    precision: Precision,
) -> Estimate:
    """The value for the estimated tables, and its interval in draws of all tables."""
    value = max(0.0, float(measure(1, None)[0]))
    if not precision.draws:
        return Estimate(value)
    tables = (cpt for each in networks for cpt in each.question.tables)
    fixed = tuple(dict.fromkeys(fixed_tables(tables, "this figure")))
    rng, left, found = generator(precision.rng), precision.draws, []
    batch = max(1, _MAX_BATCH_CELLS // max(1, sum(each.cells for each in networks)))
    while left:
        found.append(measure(min(batch, left), rng))
        left -= min(batch, left)
    return _with_ends(value, np.concatenate(found), precision, fixed)


def _with_ends(
    value: float, samples: Floats, precision: Precision, fixed: tuple[str, ...]
) -> Estimate:
    ends = [(1.0 - precision.level) / 2.0, (1.0 + precision.level) / 2.0]
    lower = float(np.quantile(samples, ends[0], method="lower"))
    upper = float(np.quantile(samples, ends[1], method="higher"))
    return Estimate(value, max(0.0, lower), upper, fixed)
