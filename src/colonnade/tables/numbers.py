"""Numbers of a table elsewhere, as its engine sums them up, so that cut points can be chosen.

Few different numbers come with their rows, and quantiles of them are exact. Of more, an engine
gives its own quantiles, so many that each stands for a small share of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from colonnade.arrays import Array, Floats, Weights
from colonnade.exceptions import NotSupportedError
from colonnade.tables.bins import Bins
from colonnade.tables.cuts import Cuts, Strategy
from colonnade.tables.engines import GAPS, LARGEST, LEAST, SUM, WEIGHT
from colonnade.tables.groups import checked_sums, refuse_array, weight_expression
from colonnade.tables.levels import are_whole, column_error
from colonnade.tables.sketches import MAX_EXACT, NumberTrack, columns_to_cut, learned_cuts

if TYPE_CHECKING:
    from colonnade.tables.engines import Engine, Lazy

# Quantiles of a column that an engine gives; a number that stands for the rows around it is off
# by half a step.
STEPS = 1 << 14
# Most that the rank of a quantile of Spark is off: with half a step, 4e-5 of the rows.
RANK_ERROR = 9e-6
# Numbers that a part of a table of Dask is thinned out to, once for each time parts are added up.
KEPT = 1 << 18


class Numbers(NamedTuple):
    """The numbers of a column: all of them, or quantiles, and how many rows each stands for."""

    values: Floats
    mass: Array
    rows: int
    different: int  # about, if not exact
    exact: bool

    def summary(self) -> tuple[Floats, Array]:
        """Numbers in order, and the rows, or the weight, of each."""
        return self.values, self.mass

    @classmethod
    def counted(cls, values: Floats, mass: Array, rows: Array) -> Numbers:
        """Take groups as they come back: null and what has no weight is left out."""
        there = ~np.isnan(values)
        order = np.argsort(values[there])
        kept = values[there][order]
        return cls(kept, mass[there][order], int(rows[there].sum()), len(kept), True)

    @classmethod
    def at_steps(cls, values: Floats, ends: tuple[float, float], rows: int, about: int) -> Numbers:
        """Take quantiles in the middle of equal steps, and the ends, each at least one row."""
        reached = np.rint(np.linspace(0, rows, len(values) + 1)).astype(np.int64)
        mass = np.concatenate([np.diff(reached), [1, 1]])
        return cls.merged(np.concatenate([values, ends]), mass, rows, about)

    @classmethod
    def merged(cls, values: Floats, mass: Array, rows: int, about: int) -> Numbers:
        """Take the last number of each step, with the rows of the step; an end is at least one."""
        found, back = np.unique(values, return_inverse=True)
        total = np.zeros(len(found), np.int64)
        np.add.at(total, back, mass)
        return cls(found, np.maximum(total, 1), rows, about, False)


def middles() -> list[float]:
    """Shares of the rows below the middle of each step."""
    found: list[float] = ((np.arange(STEPS) + 0.5) / STEPS).tolist()
    return found


def asked_cuts(
    engine: Engine, bins: Bins, strategy: Strategy, weights: Weights
) -> tuple[Cuts, ...]:
    """Choose cut points where the rows are, as :meth:`Discretizer.fit` says."""
    refuse_array(weights)
    own = weights if isinstance(weights, str) else None
    with engine.answering():
        schema = engine.frame.collect_schema()
    names = columns_to_cut(list(schema), bins, own)
    numeric = [name for name in names if schema[name].is_numeric()]
    found: dict[str, Numbers] = {}
    if numeric:
        with engine.answering():
            frame, aliases = _prepared(engine.frame, numeric, own, schema)
            if own is not None:
                _check_weights(frame, own)
            asked = engine.numbers(frame, aliases, own is not None)
        found = dict(zip(numeric, asked, strict=True))
    tracks = {name: _track(name, schema[name], found.get(name)) for name in names}
    return learned_cuts(tracks, bins, strategy)


def _prepared(
    frame: Lazy, names: Sequence[str], weights: str | None, schema: Mapping[str, Any]
) -> tuple[Lazy, list[str]]:
    """Return the columns as floating-point numbers under names of ours, and the weights."""
    aliases = [f"c{k}" for k in range(len(names))]
    wanted = []
    for name, alias in zip(names, aliases, strict=True):
        value = nw.col(name).cast(nw.Float64)
        # Engines do not agree on what is missing, and all of them know null.
        wanted.append(nw.when(~value.is_nan()).then(value).alias(alias))
    if weights is None:
        return frame.select(*wanted), aliases
    weighed = frame.select(*wanted, weight_expression(weights, schema[weights]))
    return weighed, aliases


def _check_weights(frame: Lazy, name: str) -> None:
    """Refuse weights that are missing, negative or infinite, before any row is left out."""
    weight = nw.col(WEIGHT)
    asked = {SUM: weight.sum(), LEAST: weight.min(), LARGEST: weight.max()}
    asked[GAPS] = weight.is_null().cast(nw.Int64).sum()
    found = frame.select(*(each.alias(alias) for alias, each in asked.items()))
    checked_sums(name, found.collect("pyarrow"))


def _track(name: str, kind: Any, numbers: Numbers | None) -> NumberTrack:
    track = NumberTrack(name)
    if numbers is None:
        track.numeric = False
        return track
    if not np.isfinite(numbers.values).all():
        problem = "infinity, or a number too large to be cut."
        raise column_error(name, problem, "correct it, or mark it as missing")
    track.number_type = int if kind.is_integer() else float
    track.whole = kind.is_integer() or are_whole(numbers.values)
    track.summed_up(numbers)
    return track


def refuse_weights(rows: int) -> NotSupportedError:
    """Word the error for weighted numbers that are too many to be counted one by one."""
    what = f"Cutting a column with weights, {rows:,} rows and many different values"
    hint = "learn cut points from a sample in memory, cutter = Discretizer.fit(sample)"
    return NotSupportedError(what, "quantiles of so many are found without weights only", hint)


# ------------------------------------------------------------------------------- Dask


def portable() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what workers of Dask run: they need pandas for it, and not this package.

    Up to `most` different numbers are kept with their rows. More are thinned out to `kept`, which
    moves no rank by more than half of 1 / kept of the rows, each time that parts are added up.
    """

    def thinned(values: Any, mass: Any, most: int, kept: int) -> tuple[Any, Any, bool]:
        import numpy as np

        if len(values) <= most:
            return values, mass, True
        reached = np.cumsum(mass)
        middle = (np.arange(kept) + 0.5) * (reached[-1] / kept)
        found, times = np.unique(np.searchsorted(reached, middle), return_counts=True)
        # The ends stay, whatever they stand for.
        found, times = np.r_[0, found, len(values) - 1], np.r_[0, times, 0]
        return values[found], times * (reached[-1] / kept), False

    def summed(values: Any, mass: Any) -> tuple[Any, Any]:
        import numpy as np

        found, back = np.unique(values, return_inverse=True)
        total = np.zeros(len(found), mass.dtype)
        np.add.at(total, back, mass)
        return found, total

    def sum_up(part: Any, columns: list[str], weighted: bool, most: int, kept: int) -> list[Any]:
        import numpy as np

        result = []
        for name in columns:
            values = part[name].to_numpy(dtype=float, na_value=np.nan)
            mass = np.ones(len(values), np.int64)
            if weighted:
                mass = part["weight"].to_numpy()
            there = ~np.isnan(values) & (mass > 0)
            values, mass = summed(values[there], mass[there])
            values, mass, exact = thinned(values, mass, most, kept)
            result.append((values, mass, int(there.sum()), exact))
        return result

    def add(parts: list[list[Any]], most: int, kept: int) -> list[Any]:
        import numpy as np

        result = []
        for each in zip(*parts, strict=True):
            values, mass = summed(
                np.concatenate([own[0] for own in each]), np.concatenate([own[1] for own in each])
            )
            values, mass, exact = thinned(values, mass, most, kept)
            exact = exact and all(own[3] for own in each)
            result.append((values, mass, sum(own[2] for own in each), exact))
        return result

    return sum_up, add


def of_parts(found: Sequence[tuple[Floats, Array, int, bool]], weighted: bool) -> list[Numbers]:
    """Return what workers of Dask found of each column."""
    for _, _, rows, exact in found:
        if weighted and not exact:
            raise refuse_weights(rows)
    return [
        Numbers(values, mass, rows, len(values) if exact else MAX_EXACT + 1, exact)
        for values, mass, rows, exact in found
    ]
