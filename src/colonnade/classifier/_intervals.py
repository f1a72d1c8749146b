"""Credible intervals of class probabilities, from joint draws of all tables they depend on.

The ends of an interval are quantiles far out in the tails, where there are few draws, so steady
ends take many. Drawing is expensive and adding up is cheap. But the tables of a network are
independent of each other: a draw of one goes with any draw of another. So tables are put into a few
groups, and the draws of the groups are combined in several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Array, Floats, Seed
from colonnade.classifier._drawn import DrawnLogs, drawn_tables
from colonnade.classifier._gaps import add_gaps
from colonnade.classifier._tables import ClassTables
from colonnade.exceptions import checked_draws, checked_level
from colonnade.lookup import broadcast_rows
from colonnade.missing.gaps import Members, distinct
from colonnade.priors import Interval
from colonnade.progress import Progress
from colonnade.randomness import generator
from colonnade.tables.coded import CodedTable
from colonnade.threads import run

# In how many ways the draws of how many groups of tables are combined.
_COMBINATIONS, _MAX_GROUPS = 4, 4
# Draws of every table if nobody says how many: for many rows, and for few.
_MIN_DRAWS, _MAX_DRAWS = 200, 1000
# The same for all networks of a forest together.
_LEAST_OF_ALL, _MOST_OF_ALL = 1000, 4000
# Additions that their number may cost: about a second of work.
_MAX_ADDITIONS = 1 << 29
# Cells [row, class, combination, draw] of one block, small enough for the cache of a processor.
_BLOCK_CELLS = 1 << 18
# Drawn numbers held at a time, 128 MB; and about what can be drawn in a second.
_MAX_DRAWN = 1 << 24


def class_intervals(
    tables: ClassTables, coded: CodedTable, level: float, draws: int | None, rng: Seed
) -> Interval:
    """Equal-tailed credible intervals of the probability of each class, ``[row, class]``.

    Without a number of draws of every table, there are as many as take little time.
    """
    level = checked_level(level)
    if draws is not None:
        draws = checked_draws(draws)
    if not coded.rows:
        return Interval(np.empty((0, tables.classes)), np.empty((0, tables.classes)))
    position = tables.network.dag.variables.index(tables.target)
    cases, which = distinct(_codes(tables, coded))
    draws = _affordable(tables, coded, len(cases)) if draws is None else draws
    drawn = drawn_tables(tables, draws, generator(rng))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    ends = np.empty((2, len(cases), tables.classes))
    size = _rows_at_a_time(tables, coded, len(cases), draws)
    with Progress("Intervals", len(cases)) as progress:
        for low in range(0, len(cases), size):
            groups = _groups(tables, position, cases[low : low + size], drawn)
            _fill_ends(groups, tails, ends[:, low : low + size])
            progress.advance(len(cases[low : low + size]))
    return Interval(ends[0, which], ends[1, which])


def mixed_intervals(
    members: Sequence[tuple[ClassTables, CodedTable]],
    weights: Floats,
    level: float,
    draws: int | None,
    rng: Seed,
) -> Interval:
    """Equal-tailed intervals of class probabilities in draws of several networks together.

    Each network, with the rows as it sees them, has as many of the draws as its weight says.
    """
    level = checked_level(level)
    classes = members[0][0].classes
    seen = [_codes(tables, coded) for tables, coded in members]
    # Rows that all networks see alike have the same interval.
    cases, which = distinct(np.concatenate(seen, axis=1))
    rows, borders = len(cases), np.cumsum([each.shape[1] for each in seen])[:-1]
    if draws is None:
        each = float(weights @ [_numbers_drawn(tables, rows) for tables, _ in members])
        draws = min(_MOST_OF_ALL, max(_LEAST_OF_ALL, int(_MAX_DRAWN / max(1.0, each))))
    shares = _shares(weights, checked_draws(draws))
    seeds = generator(rng).integers(1 << 63, size=(len(members), 2))
    used = [
        (
            tables,
            np.ascontiguousarray(codes),
            drawn_tables(tables, share, np.random.default_rng(seed.tolist())),
        )
        for (tables, _), codes, share, seed in zip(
            members,
            np.split(cases, borders, axis=1),
            shares.tolist(),
            seeds,
            strict=True,
        )
        if share
    ]
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    ends = np.empty((2, rows, classes))
    # Groups of terms, the sums over what is missing, and the chances.
    size = max(1, _MAX_DRAWN // ((_MAX_GROUPS + 3) * classes * int(shares.sum())))
    blocks = range(0, rows, size)
    with Progress("Intervals", len(blocks) * len(used)) as progress:
        for low in blocks:
            part = slice(low, min(low + size, rows))
            chances = []
            for tables, codes, drawn in used:
                chances.append(_network_chances(tables, codes[part], drawn))
                progress.advance()
            ends[:, part] = _quantiles(np.concatenate(chances, axis=-1), tails)
    return Interval(ends[0, which], ends[1, which])


def _network_chances(tables: ClassTables, codes: Array, drawn: Sequence[DrawnLogs]) -> Floats:
    """Class probabilities in draws of one network, ``[row, class, draw]``."""
    position = tables.network.dag.variables.index(tables.target)
    groups = _groups(tables, position, codes, drawn)
    starts = np.zeros((len(groups), 1), dtype=np.intp)
    shape = (tables.classes, 1, drawn[0].draws)
    return _chances(groups, starts, slice(0, len(codes)), shape)[:, :, 0]


def _shares(weights: Floats, total: int) -> NDArray[np.intp]:
    """Divide a number of draws by weights, whole numbers that add up to it."""
    wanted = weights * total
    shares = np.floor(wanted).astype(np.intp)
    rest = total - int(shares.sum())
    shares[np.argsort(shares - wanted, kind="stable")[:rest]] += 1
    return shares


def _codes(tables: ClassTables, coded: CodedTable) -> Array:
    """Codes ``[row, variable]`` in the order of the graph; those of the class are 0."""
    position = tables.network.dag.variables.index(tables.target)
    columns = [coded.codes[coded.position(name)] for name in tables.features]
    columns.insert(position, np.zeros(coded.rows, dtype=np.uint8))
    return np.stack(columns, axis=1).astype(np.int32)


def _affordable(tables: ClassTables, coded: CodedTable, rows: int) -> int:
    """As many draws as take little time."""
    # Normalising and sorting takes as long as adding six numbers; summing over what a row lacks as
    # long as a row for each of its states.
    each = len(tables.network.tables) + _COMBINATIONS * (_MAX_GROUPS + 6)
    for name in tables.features:
        if tables.network.dag.children(name):
            lacking = coded.missing[coded.position(name)]
            rows += lacking * tables.network[name].family.cardinality
    most = min(
        _MAX_ADDITIONS // (rows * tables.classes * each), _MAX_DRAWN // sum(_cells(tables, rows))
    )
    return min(_MAX_DRAWS, max(_MIN_DRAWS, most))


def _rows_at_a_time(tables: ClassTables, coded: CodedTable, rows: int, draws: int) -> int:
    """How many rows to draw for together, so that what is drawn can be held."""
    gaps = 2 if any(coded.missing) else 0  # their sums, and the same turned

    def held(size: int) -> int:
        cells, asked = _cells(tables, size), size * tables.classes
        sums = gaps * asked + min(sum(cells), _MAX_GROUPS * (asked + max(cells)))
        return max(sums * draws, asked * len(cells))

    while rows > 1 and held(rows) > _MAX_DRAWN:
        rows = (rows + 1) // 2
    return rows


def _cells(tables: ClassTables, rows: int) -> list[int]:
    """How many numbers of each table are drawn at most, for this many rows."""
    return [
        min(2 * rows * tables.classes, cpt.table.configurations * cpt.table.states)
        for cpt in tables.network.tables.values()
    ]


def _numbers_drawn(tables: ClassTables, rows: int) -> int:
    """How many numbers a draw of all tables takes at most, those of coarser tables included."""
    cells = zip(_cells(tables, rows), tables.network.families, strict=True)
    return sum(number << len(family.parents) for number, family in cells)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Term:
    """What a table, some of them, or all gaps together, add to the log probabilities of rows.

    `logs` are ``[cell, draw]``, and `index` ``[row, class]`` says which cell is added to each.
    """

    logs: Floats
    index: NDArray[np.intp]

    @classmethod
    def of(cls, sums: Floats) -> _Term:
        """One cell for each ``[row, class]`` of sums ``[row, class, draw]``."""
        cells = np.ascontiguousarray(sums).reshape(-1, sums.shape[2])
        return cls(cells, np.arange(len(cells)).reshape(sums.shape[:2]))

    def at(self, rows: slice) -> Floats:
        """Look up rows: ``[row, class, draw]``."""
        return np.asarray(self.logs[self.index[rows]])


def _groups(
    tables: ClassTables, target: int, codes: Array, drawn: Sequence[DrawnLogs]
) -> list[list[_Term]]:
    """Everything that adds to the log probability of rows with each class, in some groups.

    Families without the class are left out but for those that lack values: they cancel.
    """
    network = tables.network
    names = network.dag.variables
    tasks = []
    for name, logs in zip(names, drawn, strict=True):
        members = [names.index(member) for member in (*network.dag.parents(name), name)]
        if target in members:
            tasks.append(partial(_term, tables, target, codes, logs, members))
    parts = [tasks[k::_MAX_GROUPS] for k in range(min(_MAX_GROUPS, len(tasks)))]
    # For few rows their sums take less memory than the tables, which need not be kept then.
    few = _MAX_GROUPS * len(codes) * tables.classes < sum(_cells(tables, len(codes)))
    made = run([partial(_draw_group, part, few) for part in parts])
    if (codes >= [network[name].family.cardinality for name in names]).any():
        sums = np.zeros((drawn[0].draws, len(codes), tables.classes))
        add_gaps(Members.of(network.dag, network.families), target, codes, drawn, sums)
        made.append([_Term.of(np.moveaxis(sums, 0, -1))])
    return made


def _draw_group(tasks: Sequence[Callable[[], _Term]], together: bool) -> list[_Term]:
    """Draw the tables of a group, and add them up if asked to."""
    if not together:
        return [task() for task in tasks]
    sums = tasks[0]().at(slice(None))
    for task in tasks[1:]:
        sums += task().at(slice(None))
    return [_Term.of(sums)]


def _term(
    tables: ClassTables, target: int, codes: Array, logs: DrawnLogs, members: Sequence[int]
) -> _Term:
    """Draw what rows need of one table; `members` are its parents and its child."""
    network = tables.network
    labels = np.arange(tables.classes)[None, :]
    sizes = [network[network.dag.variables[m]].family.cardinality for m in members]
    rows = (codes[:, members] < sizes).all(axis=1)
    asked, shape = broadcast_rows(
        [labels if m == target else codes[rows, m][:, None] for m in members]
    )
    cells, which = _draw_cells(logs, asked)
    # The last cell is for rows that lack a value of this family.
    index = np.full((len(codes), tables.classes), len(cells))
    index[rows] = which.reshape(shape)
    return _Term(np.vstack([cells, np.zeros(logs.draws)]), index)


def _draw_cells(logs: DrawnLogs, asked: Array) -> tuple[Floats, Array]:
    """Draw what is asked for, codes of parents and child, and say which cell is which.

    Cells drawn one by one take two numbers each, rows one for every state. The class given its
    parents, of which a row of data needs all states together, is always drawn by rows.
    """
    cells, which = distinct(asked)
    wanted, row = distinct(cells[:, :-1])
    states = logs.counts.states
    if 2 * len(cells) < states * len(wanted):
        return logs.margins(cells[:, :-1], cells[:, -1]), which
    values = logs.rows(wanted).reshape(-1, logs.draws)
    return values, (row * states + cells[:, -1])[which]


def _fill_ends(groups: Sequence[Sequence[_Term]], tails: Sequence[float], ends: Floats) -> None:
    """Fill in the quantiles of class probabilities ``[tail, row, class]``."""
    _, rows, classes = ends.shape
    draws = groups[0][0].logs.shape[1]
    # A single group has nothing to be combined with.
    ways = min(_COMBINATIONS, draws) if len(groups) > 1 else 1
    # At which of its draws each group begins in each way.
    starts = np.random.default_rng(0).integers(draws, size=(len(groups), ways))
    starts[:, 0] = 0
    size = max(1, _BLOCK_CELLS // (classes * ways * draws))

    def task(low: int) -> None:
        block = slice(low, min(low + size, rows))
        chances = _chances(groups, starts, block, (classes, ways, draws))
        ends[:, block] = _quantiles(chances.reshape(*chances.shape[:2], -1), tails)

    run([partial(task, low) for low in range(0, rows, size)])


def _chances(
    groups: Sequence[Sequence[_Term]], starts: Array, block: slice, shape: tuple[int, int, int]
) -> Floats:
    """Class probabilities of a block of rows, ``[row, *shape]``: class, way and draw."""
    chances = np.zeros((block.stop - block.start, *shape))
    draws = shape[2]
    for group, begins in zip(groups, starts, strict=True):
        logs = group[0].at(block)
        for term in group[1:]:
            logs += term.at(block)
        for way, start in enumerate(begins):
            chances[:, :, way, : draws - start] += logs[:, :, start:]
            chances[:, :, way, draws - start :] += logs[:, :, :start]
    chances -= chances.max(axis=1, keepdims=True)
    np.exp(chances, out=chances)
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _quantiles(values: Floats, tails: Sequence[float]) -> Floats:
    """Quantiles along the last axis, as by numpy.quantile; sorts in place, which is faster."""
    values.sort(axis=-1)
    found = []
    for tail in tails:
        place = tail * (values.shape[-1] - 1)
        low = int(place)
        high = min(low + 1, values.shape[-1] - 1)
        found.append(values[..., low] + (place - low) * (values[..., high] - values[..., low]))
    return np.stack(found)
