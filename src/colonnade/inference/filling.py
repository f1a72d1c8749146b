"""Tables with gaps: predicted, filled in, and scored row by row, many rows at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Integers
from colonnade.configurations import sort_keys
from colonnade.cpt import Cpt
from colonnade.exceptions import (
    Advice,
    DataError,
    NotSupportedError,
    TooLargeError,
    checked_whole,
    counted,
    expected,
    inapplicable,
    is_word,
    not_among,
    row_at,
)
from colonnade.inference.predictions import Anomalies, Predictions
from colonnade.inference.queries import Precision, check_draws, fixed_tables
from colonnade.lookup import Lookup
from colonnade.missing.filling import LARGEST, SUM, Blanks, Filled
from colonnade.missing.gaps import Members
from colonnade.network import BayesianNetwork
from colonnade.network.learning import coded_for_network
from colonnade.network.new_rows import Unknown, advising_rows, rows_with_gaps
from colonnade.network.rows import in_states, log_likelihood
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.tables.coded import CodedTable
from colonnade.tables.returned import completed, index_of

How = Literal["probable", "sample", "mean"]

# Draws of all tables that are held at a time, in cells; and the answers of all draws, a gigabyte.
_MAX_TABLE_CELLS = 1 << 24
_MAX_ANSWER_CELLS = 1 << 27


def predict(
    network: BayesianNetwork, table: Any, target: str, precision: Precision, unknown: Unknown
) -> Predictions:
    """See :meth:`colonnade.BayesianNetwork.predict`."""
    if not isinstance(target, str) or target not in network:
        raise not_among(network.dag.variables, "target", target)
    check_draws(*precision)
    if len(network) == 1:
        raise NotSupportedError(
            f"A prediction of {target!r} from a table",
            "the network has no other variable",
            f"ask query({target!r})",
        )
    rows = _Rows.of(network, rows_with_gaps(table, network, unknown, besides=target))
    place = network.dag.variables.index(target)
    wanted = np.arange(len(network)) == place
    blanks = Blanks.of(rows.members, rows.codes, wanted, each=False)
    totals, found = blanks.solved(rows.logs(blanks), SUM)
    rows.check(blanks, totals)
    variable = network[target].family.child
    probabilities = _by_row(found, place, (len(rows.codes), variable.cardinality))
    index = index_of(table)
    if not precision.draws:
        return Predictions.of(variable, probabilities, index=index)
    fixed = fixed_tables(rows.behind(blanks, place), "these predictions")
    samples = _samples(rows, blanks, place, precision)
    ends = [(1.0 - precision.level) / 2.0, (1.0 + precision.level) / 2.0]
    lower, upper = np.quantile(samples, ends, axis=0)
    level = precision.level
    return Predictions.of(variable, probabilities, lower, upper, level, index, fixed)


def impute(
    network: BayesianNetwork,
    table: Any,
    how: How,
    draws: int | None,
    rng: Any,
    unknown: Unknown,
) -> Any:
    """See :meth:`colonnade.BayesianNetwork.impute`."""
    if not is_word(how, "probable", "sample", "mean"):
        hint = "'mean' averages integers, and 'probable' takes the states that are most probable"
        raise expected("'probable', 'sample' or 'mean'", "how", how, hint)
    for name, value in (("draws", draws), ("rng", rng)):
        if value is not None and how != "sample":
            raise inapplicable(name, value, "how='sample'")
    random = generator(rng)
    number = None if draws is None else checked_whole(draws, "draws")
    rows = _Rows.of(network, rows_with_gaps(table, network, unknown))
    every = np.ones(len(network), dtype=np.bool_)
    blanks = Blanks.of(rows.members, rows.codes, every, each=how == "sample")
    if number is not None:
        drawn = rows.drawn(blanks, number, random)
        return [completed(table, rows.filled(blanks, logs, random)) for logs in drawn]
    if how == "mean":
        totals, found = blanks.solved(rows.logs(blanks), SUM)
        rows.check(blanks, totals)
        return completed(table, _means(network, rows.codes, found))
    way = random if how == "sample" else LARGEST
    return completed(table, rows.filled(blanks, rows.logs(blanks), way))


def anomaly(network: BayesianNetwork, table: Any, unknown: Unknown) -> Anomalies:
    """See :meth:`colonnade.BayesianNetwork.anomaly`."""
    with advising_rows(network):
        coded = coded_for_network(table, network, None, unknown)
    rows = _Rows.of(network, coded)
    members, codes = rows.members, rows.codes
    columns = np.ascontiguousarray(codes.T)
    there = columns != np.array(members.sizes)[:, None]
    shares = np.zeros(columns.shape)
    rank = np.empty(len(network), dtype=np.int64)
    rank[list(members.order)] = np.arange(len(network))
    with Progress("Rows", len(network)) as progress:
        for k, cpt in enumerate(network.tables.values()):
            *parents, _ = members.families[k]
            simple = np.flatnonzero(there[k] & there[parents].all(axis=0))
            with np.errstate(divide="ignore"):
                logs = cpt.table.lookup.mapped(np.log).filled()
            if len(simple):
                given = [columns[parent][simple] for parent in parents]
                shares[k, simple] = logs.cells(given, columns[k][simple])
            rest = np.flatnonzero(there[k] & ~there[parents].all(axis=0))
            if len(rest):
                # Given what comes before it, which none of its descendants does.
                before = codes[rest].copy()
                later = rank >= rank[k]
                before[:, later] = np.array(members.sizes, dtype=np.int32)[later]
                shares[k, rest] = rows.log_share(before, k, columns[k][rest])
            progress.advance()
    tables = list(network.tables.values())
    if all(cpt.table.complete for cpt in tables):
        totals = shares.sum(axis=0)
    else:  # a sum may not depend on a probability that does not exist, and its shares do
        totals = log_likelihood(coded, network.dag, tables)
    index = index_of(table)
    return Anomalies(network.dag.variables, totals, np.ascontiguousarray(shares.T), index)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of codes ``[row, variable]`` of a network; the number of states means missing."""

    network: BayesianNetwork
    members: Members
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, network: BayesianNetwork, coded: CodedTable) -> _Rows:
        codes = np.stack([coded.codes[coded.position(name)] for name in network], axis=1)
        members = Members.of(network.dag, network.families)
        return cls(network, members, codes.astype(np.int32))

    def logs(self, blanks: Blanks) -> list[Lookup]:
        """Logarithms of the estimated probabilities of all configurations that matter."""
        found = []
        for family, cpt in enumerate(self.network.tables.values()):
            table = cpt.table.lookup
            if callable(table.other):
                table = table.covering(blanks.needed(family))
            with np.errstate(divide="ignore"):
                found.append(table.mapped(np.log).filled())
        return found

    def drawn(self, blanks: Blanks, draws: int, rng: np.random.Generator) -> Iterator[list[Lookup]]:
        """Logarithms in independent draws of all tables that have a posterior; others stay."""
        tables = list(self.network.tables.values())
        sizes = [cpt.family.parent_sizes for cpt in tables]
        needed = [_distinct(blanks.needed(k), own) for k, own in enumerate(sizes)]
        fixed = self.logs(blanks)
        cells = sum(len(own) * n for own, n in zip(needed, self.members.sizes, strict=True))
        batch = max(1, min(draws, _MAX_TABLE_CELLS // max(1, cells)))
        while draws:
            size = min(batch, draws)
            rows = [
                cpt.posterior.draws(size, rng).log_rows(own) if cpt.has_posterior else None
                for own, cpt in zip(needed, tables, strict=True)
            ]
            for d in range(size):
                yield [
                    fixed[k] if own is None else _stored(sizes[k], needed[k], own[d])
                    for k, own in enumerate(rows)
                ]
            draws -= size

    def filled(
        self, blanks: Blanks, logs: Sequence[Lookup], how: str | np.random.Generator
    ) -> dict[str, Array]:
        """The columns of states, with what is missing filled in."""
        totals, found = blanks.solved(logs, how)
        self.check(blanks, totals)
        codes = self.codes.astype(np.int64)
        for k, own in found.items():
            codes[own.rows, k] = own.values.argmax(axis=1)
        return in_states(self.network.tables, dict(zip(self.network, codes.T, strict=True)))

    def log_share(self, before: NDArray[np.int32], k: int, states: Integers) -> Floats:
        """Log probability of the states of one variable given what is known before it."""
        wanted = np.arange(len(self.network)) == k
        blanks = Blanks.of(self.members, before, wanted, each=False, only_wanted=True)
        _, found = blanks.solved(_Rows(self.network, self.members, before).logs(blanks), SUM)
        size = self.members.sizes[k]
        values = _by_row(found, k, (len(before), size))
        own = values[np.arange(len(before)), states]
        # What comes before may be impossible already: then there is nothing more to say.
        impossible = values.sum(axis=1) == 0.0
        with np.errstate(divide="ignore"):
            return np.where(impossible, 0.0, np.log(own))

    def behind(self, blanks: Blanks, place: int) -> list[Cpt]:
        """The tables that the answers for one variable depend on, in any of the rows."""
        used = {k for gap in blanks.gaps if place in gap.missing for k in gap.families}
        return [cpt for k, cpt in enumerate(self.network.tables.values()) if k in used]

    def check(self, blanks: Blanks, totals: Floats) -> None:
        """Refuse rows with gaps that cannot occur, or need what has no probabilities.

        What a row lacks may have nothing to do with it.
        """
        gaps = blanks.gaps
        logs = np.zeros(len(self.codes))
        logs += np.bincount(gaps.rows, weights=totals[gaps.case], minlength=len(logs))
        asked = np.unique(gaps.rows)
        logs[asked] += self._known_part(asked)
        undefined = "needs a configuration without probabilities"
        impossible = "cannot occur: the probability is 0"
        for bad, problem, hint in (
            (np.isnan(logs), undefined, Advice.PRIOR_FOR_UNOBSERVED),
            (np.isneginf(logs), impossible, "correct it or leave it out"),
        ):
            if bad.any():
                rows = np.flatnonzero(bad)
                first, where = int(rows[0]), row_at(int(rows[0]))
                more = f" ({counted(len(rows), 'such row')})" if len(rows) > 1 else ""
                raise DataError(f"R{where[1:]}", f"{problem}{more}.", hint, row=first)

    def _known_part(self, rows: Integers) -> Floats:
        """Log probability of rows by the families of which all values are known.

        Those that exclude nothing are left out: whether a row can occur does not depend on them.
        """
        total = np.zeros(len(rows))
        columns = np.ascontiguousarray(self.codes[rows].T)
        there = columns != np.array(self.members.sizes)[:, None]
        for family, cpt in zip(self.members.families, self.network.tables.values(), strict=True):
            if cpt.table.positive:
                continue
            own = np.flatnonzero(there[list(family)].all(axis=0))
            *given, child = columns[list(family)][:, own]
            cells = cpt.table.lookup.filled().cells(given, child)
            with np.errstate(divide="ignore"):
                total[own] += np.log(cells)
        return total


def _samples(rows: _Rows, blanks: Blanks, place: int, precision: Precision) -> Floats:
    """The answers in draws of the tables, ``[draw, row, state]``."""
    shape = (len(rows.codes), rows.members.sizes[place])
    size = precision.draws * shape[0] * shape[1]
    if size > _MAX_ANSWER_CELLS:
        hint = "use fewer draws, or predict the rows in parts"
        raise TooLargeError(
            "The answers of all draws", size=size, limit=_MAX_ANSWER_CELLS, hint=hint
        )
    samples = np.empty((precision.draws, *shape))
    with Progress("Draws", precision.draws) as progress:
        drawn = rows.drawn(blanks, precision.draws, generator(precision.rng))
        for d, logs in enumerate(drawn):
            _, found = blanks.solved(logs, SUM)
            samples[d] = _by_row(found, place, shape)
            progress.advance()
    return samples


def _by_row(found: dict[int, Filled], place: int, shape: tuple[int, int]) -> Floats:
    values = np.zeros(shape)
    if place in found:
        values[found[place].rows] = found[place].values
    return values


def _means(
    network: BayesianNetwork, codes: NDArray[np.int32], found: dict[int, Filled]
) -> dict[str, Array]:
    """Columns in which numbers have their mean, and other states the most probable one."""
    columns: dict[str, Array] = {}
    for k, variable in enumerate(network.variables):
        own, blank = codes[:, k].astype(np.int64), found.get(k)
        if blank is not None:
            own[blank.rows] = blank.values.argmax(axis=1)
        if all(isinstance(state, int) and not isinstance(state, bool) for state in variable.states):
            numbers = np.array(variable.states, dtype=np.float64)
            column = numbers[own]
            if blank is not None:
                column[blank.rows] = blank.values @ numbers
            columns[variable.name] = column
        else:
            columns |= in_states(network.tables, {variable.name: own})
    return columns


def _distinct(codes: Array, sizes: Sequence[int]) -> Array:
    """Return the different rows of codes, in the order of configurations."""
    keys = sort_keys(codes, sizes)
    return codes[np.unique(keys, axis=0, return_index=True)[1]].astype(np.int64)


def _stored(sizes: tuple[int, ...], codes: Array, rows: Floats) -> Lookup:
    if len(codes) == np.prod(sizes, dtype=np.float64):
        return Lookup(sizes, rows)
    return Lookup(sizes, rows, codes)
