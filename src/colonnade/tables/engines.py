"""Engines: whoever holds rows that are not in memory, and counts them where they are.

narwhals says for all of them what is to be counted. How many counts are asked for at once is each
engine's own affair: one scan that counts everything, or one query, so that rows are read and a
cluster is set to work as seldom as can be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import narwhals as nw
import numpy as np

from colonnade.exceptions import ColonnadeError, DataError, require
from colonnade.progress import Progress
from colonnade.tables.bounds import Memory
from colonnade.tables.databases import database_table
from colonnade.tables.sources import source_of

if TYPE_CHECKING:
    from colonnade.arrays import Weights
    from colonnade.tables.asked import Asked
    from colonnade.tables.bins import Bins
    from colonnade.tables.cuts import Cuts, Strategy
    from colonnade.tables.numbers import Numbers
    from colonnade.tables.parts import Block
    from colonnade.tables.queries import Queried

Lazy: TypeAlias = nw.LazyFrame[Any]
Eager: TypeAlias = nw.DataFrame[Any]

# What is counted in each group: rows, and if there are weights their sum, the least and the
# largest, and the rows without one.
ROWS, SUM, LEAST, LARGEST, GAPS = "rows", "sum", "least", "largest", "gaps"
WEIGHT = "weight"
_SET = "which"
_MAX_BATCH_ROWS = 1 << 17
# Packages whose errors mean that an engine failed, and not that we did.
_PACKAGES = frozenset(
    (
        "duckdb", "_duckdb", "polars", "narwhals", "dask", "distributed", "ibis", "sqlglot",
        "pyspark", "py4j",
    )
)  # fmt: skip
_OF_CONNECTION = "see that its connection is open, and that its tables and files are there"
_OF_VALUES = "correct the values, or what the table computes from them"
# What errors are called that are about values: of Polars, DuckDB, Ibis and Spark.
_VALUE_ERRORS = ("Conversion", "OutOfRange", "InvalidOperation", "NumberFormat", "Arithmetic")
_CONNECTED = frozenset(("pyspark", "py4j", "ibis", "distributed"))


@dataclass(frozen=True, eq=False)
class Engine(ABC):
    """A table that is not in memory, as narwhals sees it.

    `memory` is what its rows may take here, where they pass by or are kept as compact columns.
    """

    frame: Lazy
    memory: Memory = field(default_factory=Memory)
    title: ClassVar[str]
    rows: ClassVar[None] = None  # not known without asking
    # Rows are in this process already, and compact columns of them are counted faster.
    embedded: ClassVar[bool] = False
    # Group-bys of one query: more take longer to plan than to run.
    at_once: ClassVar[int] = 64

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        with self.answering():
            return tuple(self.frame.collect_schema())

    @property
    def all_names(self) -> Sequence[str]:
        """Names of the columns; if several have one name, all of them, where narwhals sees one."""
        return self.names

    def within(self, memory: Memory) -> Self:
        """Return the same table, to be kept here within another bound."""
        return replace(self, memory=memory)

    def opened(self, asked: Asked) -> Queried:
        """Return the table with its states declared or to be found."""
        from colonnade.tables.queries import Queried

        return Queried(self, asked)

    def cut_points(self, bins: Bins, strategy: Strategy, weights: Weights) -> tuple[Cuts, ...]:
        """Choose cut points: in a pass over rows that are in this process, else by the engine."""
        from colonnade.tables.groups import refuse_array
        from colonnade.tables.numbers import asked_cuts
        from colonnade.tables.sketches import passed_cuts

        if not self.embedded:
            return asked_cuts(self, bins, strategy, weights)
        refuse_array(weights)
        with self.answering():
            return passed_cuts(self, bins, strategy, weights)

    def numbers(self, frame: Lazy, columns: Sequence[str], weighted: bool) -> list[Numbers]:
        """Sum up the numbers of columns; asked only of engines that are not in this process."""
        raise NotImplementedError

    def passed(self, columns: Sequence[str]) -> Iterator[Block]:
        """Yield all rows, with the columns named."""
        from colonnade.tables.parts import Block

        for batch in self.batches(self.frame.select(*columns)):
            source = source_of(batch)
            yield Block(source.rows, source.columns)

    @abstractmethod
    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        """Count the rows of every combination of values, for several sets of columns.

        `frame` is this table, prepared for counting. Each result has the columns of its set, then
        `ROWS`, and with weights the others.
        """

    def batches(self, frame: Lazy) -> Iterator[Any]:
        """Yield the rows in order, as tables in memory."""
        yield frame.collect().to_native()

    def _batch_rows(self, frame: Lazy) -> int:
        return min(_MAX_BATCH_ROWS, self.memory.block_rows(len(frame.collect_schema())))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Word the errors of the engine; rows and counts are asked for inside."""
        try:
            with Progress(f"Counting in {self.title}"):
                yield
        except Exception as error:
            if not _is_of_engine(error):
                raise
            hint = _OF_VALUES if _is_of_values(error) else _OF_CONNECTION
            raise DataError("Table", f"{self.title} failed: {_first_line(error)}", hint) from error


def _is_of_engine(error: Exception) -> bool:
    """Whether an engine failed: by the error, or because it no longer has what it needs itself."""
    if isinstance(error, ColonnadeError):
        return False
    if type(error).__module__.partition(".")[0] in _PACKAGES or isinstance(error, OSError):
        return True
    rooms = []
    trace = error.__traceback__
    while trace is not None:
        rooms.append(trace.tb_frame.f_globals.get("__name__", "").partition(".")[0])
        trace = trace.tb_next
    # What Dask computes for us raises whatever it likes.
    if "dask" in rooms or "distributed" in rooms:
        return True
    # Of a session that was stopped nothing is left but None.
    return isinstance(error, AssertionError | AttributeError) and rooms[-1] in _CONNECTED


def _is_of_values(error: Exception) -> bool:
    """Whether an engine failed because of values that it could not convert or compute."""
    return type(error).__name__.startswith(_VALUE_ERRORS)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else "no connection"
    return text if text.endswith(".") else f"{text}."


def aggregated(frame: Lazy, chosen: Sequence[str], weighted: bool) -> Lazy:
    """Count the rows of every combination of values of some columns."""
    counts = [nw.len().alias(ROWS)]
    if weighted:
        weight = nw.col(WEIGHT)
        counts += [
            weight.sum().alias(SUM),
            weight.min().alias(LEAST),
            weight.max().alias(LARGEST),
            weight.is_null().cast(nw.Int64).sum().alias(GAPS),
        ]
    return frame.group_by(*chosen).agg(*counts)


# --------------------------------------------------------------------- in this process


class Polars(Engine):
    """A Polars ``LazyFrame``: all group-bys are collected together."""

    title = "Polars"
    embedded = True

    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        import polars as pl

        wanted = [aggregated(frame, own, weighted).to_native() for own in sets]
        return [nw.from_native(each) for each in pl.collect_all(wanted)]

    def batches(self, frame: Lazy) -> Iterator[Any]:
        rows = self._batch_rows(frame)
        yield from frame.to_native().collect_batches(chunk_size=rows, maintain_order=True)


class DuckDb(Engine):
    """A DuckDB relation: grouping sets, all counted in one scan."""

    title = "DuckDB"
    embedded = True

    @property
    def all_names(self) -> Sequence[str]:
        return list(self.frame.to_native().columns)

    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        require("pyarrow", feature="Counting a DuckDB table", extra="formats")
        relation = frame.to_native()
        columns = list(dict.fromkeys(name for own in sets for name in own))
        counts = [f"count(*) AS {ROWS}"]
        if weighted:
            # A sum of integers is wider than any integer of NumPy.
            whole = frame.collect_schema()[WEIGHT].is_integer()
            counts += [
                f"sum({WEIGHT}){'::BIGINT' if whole else ''} AS {SUM}",
                f"min({WEIGHT}) AS {LEAST}",
                f"max({WEIGHT}) AS {LARGEST}",
                f"count(*) - count({WEIGHT}) AS {GAPS}",
            ]
        found = []
        for begin in range(0, len(sets), self.at_once):
            some = sets[begin : begin + self.at_once]
            used = [name for name in columns if any(name in own for own in some)]
            # Each set is told from the others by the columns that it does not have.
            bits = ", ".join(f"grouping({name})::TINYINT AS {name}_out" for name in used)
            grouping = ", ".join(f"({', '.join(own)})" for own in some)
            query = (
                f"SELECT {', '.join(used)}, {bits}, {', '.join(counts)} FROM rows_to_count "
                f"GROUP BY GROUPING SETS ({grouping})"
            )
            table = relation.query("rows_to_count", query)
            whole_table = nw.from_native(table.to_arrow_table())
            found += [_of_set(whole_table, used, own) for own in some]
        return found

    def batches(self, frame: Lazy) -> Iterator[Any]:
        import pyarrow as pa

        for batch in frame.to_native().to_arrow_reader(self._batch_rows(frame)):
            yield pa.Table.from_batches([batch])


def _of_set(table: Eager, columns: Sequence[str], own: Sequence[str]) -> Eager:
    """Take the groups of one grouping set."""
    bits = (nw.col(f"{name}_out") == int(name not in own) for name in columns)
    out = [name for name in columns if name not in own] + [f"{name}_out" for name in columns]
    return table.filter(reduce(lambda a, b: a & b, bits)).drop(out)


# ----------------------------------------------------------------- databases, clusters


class _Together(Engine):
    """An engine that is asked for many group-bys by one query, their union."""

    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        schema = frame.collect_schema()
        found = []
        for begin in range(0, len(sets), self.at_once):
            some = sets[begin : begin + self.at_once]
            used = list(dict.fromkeys(name for own in some for name in own))
            parts = []
            for which, own in enumerate(some):
                absent = [nw.lit(None).cast(schema[c]).alias(c) for c in used if c not in own]
                counted = aggregated(frame, own, weighted).with_columns(
                    nw.lit(which).alias(_SET), *absent
                )
                parts.append(counted.select(_SET, *used, *_counts(weighted)))
            table: Eager = nw.concat(parts, how="vertical").collect("pyarrow")
            for which, own in enumerate(some):
                rows = table.filter(nw.col(_SET) == which)
                found.append(rows.select(*own, *_counts(weighted)))
        return found

    def numbers(self, frame: Lazy, columns: Sequence[str], weighted: bool) -> list[Numbers]:
        """Count numbers one by one where they are few, and ask for quantiles of the others."""
        from colonnade.tables.groups import checked_sums
        from colonnade.tables.numbers import Numbers, refuse_weights
        from colonnade.tables.sketches import MAX_EXACT

        if weighted:
            frame = frame.filter(nw.col(WEIGHT) > 0)
        sizes = frame.select(*(nw.col(name).count() for name in columns)).collect("pyarrow")
        rows = {name: int(sizes[name][0]) for name in columns}
        many = [name for name in columns if rows[name] > MAX_EXACT]
        about = dict(zip(many, self._different(frame, many) if many else (), strict=True))
        # An estimate may be off by some percent.
        many = [name for name in many if about[name] > MAX_EXACT // 2]
        if many and weighted:
            raise refuse_weights(rows[many[0]])
        few = [name for name in columns if name not in many]
        found = {}
        for name, table in zip(
            few, self.grouped(frame, [[name] for name in few], weighted), strict=True
        ):
            times = np.asarray(table[ROWS].to_numpy(), dtype=np.int64)
            mass = checked_sums(WEIGHT, table) if weighted else times
            values = np.asarray(table[name].to_numpy(), dtype=np.float64)
            found[name] = Numbers.counted(values, mass, times)
        found |= self._quantiles(frame, {name: (rows[name], about[name]) for name in many})
        return [found[name] for name in columns]

    @abstractmethod
    def _different(self, frame: Lazy, columns: Sequence[str]) -> list[int]:
        """About how many different values columns have."""

    @abstractmethod
    def _quantiles(self, frame: Lazy, columns: Mapping[str, tuple[int, int]]) -> dict[str, Numbers]:
        """Quantiles of columns, given their rows, and about how many different values."""


def _counts(weighted: bool) -> list[str]:
    return [ROWS, SUM, LEAST, LARGEST, GAPS] if weighted else [ROWS]


class Ibis(_Together):
    """An Ibis table, of any database that Ibis knows."""

    title = "Ibis"
    # 64 of two columns each took 2.9 s of processor time by sixteens, and 6.2 s at once.
    at_once = 16

    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        require("ibis", feature="Counting an Ibis table", extra="ibis")
        return super().grouped(frame, sets, weighted)

    def _different(self, frame: Lazy, columns: Sequence[str]) -> list[int]:
        table = frame.to_native()
        found = table.aggregate(**{name: table[name].approx_nunique() for name in columns})
        return [int(found.to_pyarrow()[name][0].as_py()) for name in columns]

    def _quantiles(self, frame: Lazy, columns: Mapping[str, tuple[int, int]]) -> dict[str, Numbers]:
        ibis = require("ibis", feature="Counting an Ibis table", extra="ibis")
        from colonnade.tables.numbers import STEPS, Numbers

        found = {}
        table = frame.to_native()
        for name, (rows, about) in columns.items():
            # Every database sorts: the last of each of twice as many steps is off by one of them.
            there = table.filter(table[name].notnull()).select(value=name)
            steps = there.mutate(step=ibis.ntile(2 * STEPS).over(order_by=there.value))
            groups = steps.group_by("step").aggregate(
                last=steps.value.max(), first=steps.value.min(), rows=steps.count()
            )
            got = nw.from_native(groups.order_by("step").to_pyarrow())
            values, times = (np.asarray(got[each].to_numpy()) for each in ("last", "rows"))
            values = np.append(float(got["first"][0]), values)
            found[name] = Numbers.merged(values, np.append(0, times), rows, about)
        return found


class Spark(_Together):
    """A Spark table: workers count their parts, and the driver gets counts only."""

    title = "Spark"

    @property
    def all_names(self) -> Sequence[str]:
        return list(self.frame.to_native().columns)

    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        # Spark comes without what its tables are brought over by.
        require("pyspark.sql", feature="Counting a Spark table", extra="spark")
        require("pyarrow", feature="Counting a Spark table", extra="spark")
        return super().grouped(frame, sets, weighted)

    def batches(self, frame: Lazy) -> Iterator[Any]:
        yield frame.to_native().toArrow()

    def _different(self, frame: Lazy, columns: Sequence[str]) -> list[int]:
        functions = require("pyspark.sql.functions", feature="Counting in Spark", extra="spark")
        asked = [functions.approx_count_distinct(name).alias(name) for name in columns]
        return [int(value) for value in frame.to_native().agg(*asked).collect()[0]]

    def _quantiles(self, frame: Lazy, columns: Mapping[str, tuple[int, int]]) -> dict[str, Numbers]:
        from colonnade.tables.numbers import RANK_ERROR, Numbers, middles

        if not columns:
            return {}
        shares = [0.0, *middles(), 1.0]
        asked = frame.to_native().approxQuantile(list(columns), shares, RANK_ERROR)
        return {
            name: Numbers.at_steps(np.array(own[1:-1]), (own[0], own[-1]), *columns[name])
            for name, own in zip(columns, asked, strict=True)
        }


class Dask(Engine):
    """A Dask table: each part is read once, and all its group-bys are counted together."""

    title = "Dask"

    @property
    def all_names(self) -> Sequence[str]:
        return list(self.frame.to_native().columns)

    def grouped(self, frame: Lazy, sets: Sequence[Sequence[str]], weighted: bool) -> list[Eager]:
        dask = require("dask", feature="Counting a Dask table", extra="dask")
        count, add = _portable()
        parts = frame.to_native().to_delayed()
        own = [list(each) for each in sets]
        waiting = [dask.delayed(count)(part, own, weighted) for part in parts]
        (found,) = dask.compute(_added(waiting, lambda some: dask.delayed(add)(some, own)))
        return [nw.from_native(each) for each in found]

    def numbers(self, frame: Lazy, columns: Sequence[str], weighted: bool) -> list[Numbers]:
        dask = require("dask", feature="Counting a Dask table", extra="dask")
        from colonnade.tables.numbers import KEPT, of_parts, portable
        from colonnade.tables.sketches import MAX_EXACT

        sum_up, add = portable()
        parts = frame.to_native().to_delayed()
        sizes = MAX_EXACT, KEPT
        waiting = [dask.delayed(sum_up)(part, list(columns), weighted, *sizes) for part in parts]
        (found,) = dask.compute(_added(waiting, lambda some: dask.delayed(add)(some, *sizes)))
        return of_parts(found, weighted)

    def batches(self, frame: Lazy) -> Iterator[Any]:
        native = frame.to_native()
        for k in range(native.npartitions):
            yield native.partitions[k].compute()


def _added(waiting: list[Any], add: Callable[[list[Any]], Any]) -> Any:
    """Add up in a tree: no worker gets what was found of all parts at once."""
    while len(waiting) > 1:
        waiting = [add(waiting[k : k + 8]) for k in range(0, len(waiting), 8)]
    return waiting[0]


def _portable() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what workers run. They need pandas for it, and not this package."""

    def count(part: Any, sets: list[list[str]], weighted: bool) -> list[Any]:
        found = []
        for own in sets:
            groups = part.groupby(own, dropna=False, observed=True, sort=False)
            counts = groups.size().rename("rows").to_frame()
            if weighted:
                weight = groups["weight"]
                counts["sum"] = weight.sum()
                counts["least"] = weight.min()
                counts["largest"] = weight.max()
                counts["gaps"] = counts["rows"] - weight.count()
            found.append(counts.reset_index())
        return found

    def add(parts: list[list[Any]], sets: list[list[str]]) -> list[Any]:
        import pandas as pd

        how = {"rows": "sum", "sum": "sum", "least": "min", "largest": "max", "gaps": "sum"}
        found = []
        for k, own in enumerate(sets):
            filled = [part[k] for part in parts if len(part[k])] or [parts[0][k]]
            table = pd.concat(filled, ignore_index=True)
            known = {name: how[name] for name in table.columns if name not in own}
            groups = table.groupby(own, dropna=False, observed=True, sort=False)
            found.append(groups.agg(known).reset_index())
        return found

    return count, add


_ENGINES: dict[nw.Implementation, type[Engine]] = {
    nw.Implementation.POLARS: Polars,
    nw.Implementation.DUCKDB: DuckDb,
    nw.Implementation.IBIS: Ibis,
    nw.Implementation.DASK: Dask,
    nw.Implementation.PYSPARK: Spark,
    nw.Implementation.PYSPARK_CONNECT: Spark,
}
_MODULES = frozenset(("narwhals", "polars", "duckdb", "_duckdb", "ibis", "dask", "pyspark"))


def engine_of(table: Any) -> Engine | None:
    """Return the engine of a lazy table or a table of a database; None of any other."""
    if (relation := database_table(table)) is not None:
        table = relation
    if type(table).__module__.partition(".")[0] not in _MODULES:
        return None
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.LazyFrame) or frame.implementation not in _ENGINES:
        return None
    return _ENGINES[frame.implementation](frame)
