"""Credible intervals of class probabilities, from joint draws of all tables they depend on.

The ends of an interval are quantiles far out in the tails, where there are few draws, so steady
ends take many. Drawing is expensive and adding up is cheap. But the tables of a network are
independent of each other: a draw of one goes with any draw of another. So tables are put into a few
groups, and the draws of the groups are combined in several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from colonnade.arrays import Array, Floats, Seed
from colonnade.classifier._drawn import DrawnLogs, drawn_tables
from colonnade.classifier._gaps import add_gaps
from colonnade.classifier._tables import ClassTables
from colonnade.exceptions import checked_draws, checked_level, warn_of_few_draws
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
# The same for all networks of a forest together: for so many rows that adding up takes long, where
# drawing takes long, and for few rows.
_LEAST_OF_MANY, _LEAST_OF_ALL, _MOST_OF_ALL = 400, 1000, 4000
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
    warn_of_few_draws(draws, level)
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
    # Rows that all networks see alike have the same interval.
    seen = [_codes(tables, coded) for tables, coded in members]
    cases, which = distinct(np.concatenate(seen, axis=1))
    borders = np.cumsum([each.shape[1] for each in seen])[:-1]
    if draws is None:
        draws = _affordable_of_all([tables for tables, _ in members], weights, len(cases))
    warn_of_few_draws(checked_draws(draws), level)
    shares = _shares(weights, draws)
    seeds = generator(rng).integers(1 << 63, size=(len(members), 2))
    codes = np.split(cases, borders, axis=1)
    used = []
    for (tables, _), own, share, seed in zip(members, codes, shares.tolist(), seeds, strict=True):
        if share:
            drawn = drawn_tables(tables, share, np.random.default_rng(seed.tolist()))
            used.append(_Member(tables, np.ascontiguousarray(own), drawn))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    ends = np.empty((2, len(cases), members[0][0].classes))
    fill = _fill_at_once if _can_be_held(used, len(cases)) else _fill_by_blocks
    fill(used, tails, ends)
    return Interval(ends[0, which], ends[1, which])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Member:
    """One network of several, the rows as it sees them, ``[row, variable]``, and its draws."""

    tables: ClassTables
    codes: Array
    drawn: Sequence[DrawnLogs]

    @property
    def draws(self) -> int:
        return self.drawn[0].draws

    def terms(self, rows: slice) -> Iterator[_Term]:
        """Everything that adds to the log probability of some rows with each class."""
        network, codes = self.tables.network, self.codes[rows]
        names = network.dag.variables
        target = names.index(self.tables.target)
        for name, logs in zip(names, self.drawn, strict=True):
            members = [names.index(member) for member in (*network.dag.parents(name), name)]
            if target in members:
                yield _relative(_term(self.tables, target, codes, logs, members))
        sizes = [network[name].family.cardinality for name in names]
        gappy = np.flatnonzero((codes >= sizes).any(axis=1))
        if len(gappy):
            sums = np.zeros((self.draws, len(gappy), self.tables.classes))
            families = Members.of(network.dag, network.families)
            add_gaps(families, target, codes[gappy], self.drawn, sums)
            yield _relative(_Term.of_some(np.moveaxis(sums, 0, -1), gappy, len(codes)))

    def gappy_rows(self) -> int:
        """How many rows lack a value."""
        sizes = [self.tables.network[n].family.cardinality for n in self.tables.network.dag]
        return int((self.codes >= sizes).any(axis=1).sum())


def _relative(term: _Term) -> _Term:
    """Of two classes, what the second has more than the first: half of the work."""
    if term.index.shape[1] != 2:
        return term
    pairs, which = distinct(term.index)
    return _Term(term.logs[pairs[:, 1]] - term.logs[pairs[:, 0]], which[:, None])


def _affordable_of_all(tables: Sequence[ClassTables], weights: Floats, rows: int) -> int:
    """As many draws of all members together as take little time."""
    each = float(weights @ [_numbers_drawn(own, rows) for own in tables])
    added = float(weights @ [rows * own.classes * (len(own.features) + 6) for own in tables])
    most = min(_MAX_DRAWN / max(1.0, each), _MAX_ADDITIONS / max(1.0, added))
    least = _LEAST_OF_ALL if _MAX_ADDITIONS / max(1.0, added) > _LEAST_OF_ALL else _LEAST_OF_MANY
    return int(min(_MOST_OF_ALL, max(least, most)))


def _can_be_held(members: Sequence[_Member], rows: int) -> bool:
    """Whether all that is drawn for all rows can be held, so that nothing is drawn twice."""
    drawn = 0
    for member in members:
        sums = 2 * member.gappy_rows() * member.tables.classes
        drawn += (sum(_cells(member.tables, rows)) + sums) * member.draws
    return drawn <= _MAX_DRAWN


def _fill_at_once(members: Sequence[_Member], tails: Sequence[float], ends: Floats) -> None:
    """Draw what all rows need, and look it up in blocks that the cache of a processor holds."""
    _, rows, classes = ends.shape
    every = slice(0, rows)
    terms = run([partial(lambda own: list(own.terms(every)), member) for member in members])
    draws = [member.draws for member in members]
    places = np.cumsum([0, *draws]).tolist()
    size = max(1, _BLOCK_CELLS // (_sums(classes) * sum(draws)))
    blocks = [slice(low, min(low + size, rows)) for low in range(0, rows, size)]
    with Progress("Intervals", len(blocks)) as progress:

        def task(block: slice) -> None:
            values = np.zeros((block.stop - block.start, _sums(classes), sum(draws)))
            for own, (low, high) in zip(terms, pairwise(places), strict=True):
                for term in own:
                    values[:, :, low:high] += term.at(block)
            ends[:, block] = _ends_of(values, tails, classes)
            progress.advance()

        run([partial(task, block) for block in blocks])


def _fill_by_blocks(members: Sequence[_Member], tails: Sequence[float], ends: Floats) -> None:
    """Draw what a block of rows needs, one table after the other, and forget it again."""
    _, rows, classes = ends.shape
    draws = [member.draws for member in members]
    places = np.cumsum([0, *draws])
    # The sums themselves, what is added to them, and those over what is missing.
    size = max(1, _MAX_DRAWN // (4 * classes * sum(draws)))
    blocks = [slice(low, min(low + size, rows)) for low in range(0, rows, size)]
    with Progress("Intervals", len(blocks) * len(members)) as progress:
        for block in blocks:
            values = np.zeros((block.stop - block.start, _sums(classes), sum(draws)))

            def task(member: _Member, part: Floats, block: slice = block) -> None:
                for term in member.terms(block):
                    part += term.at(slice(None))
                progress.advance()

            parts = [values[:, :, low:high] for low, high in pairwise(places.tolist())]
            run([partial(task, *pair) for pair in zip(members, parts, strict=True)])
            ends[:, block] = _ends_of(values, tails, classes)


def _sums(classes: int) -> int:
    """How many sums a row has: of two classes their difference is enough."""
    return 1 if classes == 2 else classes


def _ends_of(logs: Floats, tails: Sequence[float], classes: int) -> Floats:
    """Quantiles ``[tail, row, class]`` of class probabilities, given their logarithms, up to a sum.

    Overwrites `logs`, ``[row, class, draw]``. Of two classes there is the difference alone: the
    probability of the second grows with it, so that few of them have to be computed.
    """
    if classes != 2:
        logs -= logs.max(axis=1, keepdims=True)
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=1, keepdims=True)
        return _quantiles(logs, tails)
    # The quantiles of one class are those of the other from the other end.
    both = [_quantiles(logs[:, 0], tails, of) for of in (lambda x: expit(-x), expit)]
    return np.sort(np.stack(both, axis=-1), axis=0)


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

    @classmethod
    def of_some(cls, sums: Floats, some: Array, rows: int) -> _Term:
        """The same for some of the rows; nothing is added to the others."""
        own = cls.of(sums)
        index = np.full((rows, sums.shape[1]), len(own.logs))
        index[some] = own.index
        return cls(np.vstack([own.logs, np.zeros(sums.shape[2])]), index)

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


def _quantiles(
    values: Floats, tails: Sequence[float], of: Callable[[Floats], Floats] = np.asarray
) -> Floats:
    """Quantiles along the last axis, as by numpy.quantile, of values or what grows with them.

    Sorts in place, which is faster, and faster than a partition.
    """
    last = values.shape[-1] - 1
    lows = [int(tail * last) for tail in tails]
    values.sort(axis=-1)
    found = []
    for tail, low in zip(tails, lows, strict=True):
        first, second = of(values[..., low]), of(values[..., min(low + 1, last)])
        found.append(first + (tail * last - low) * (second - first))
    return np.stack(found)
