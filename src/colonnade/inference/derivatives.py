"""How an answer depends on entries of the tables: exactly, on one of them or on two together.

As a function of one entry, while the others of its row change in proportion, a probability is a
ratio of two linear functions (Castillo, Gutierrez and Hadi 1997); of two entries, of two bilinear
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.configurations import MAX_DENSE_CELLS
from colonnade.elimination import Elimination
from colonnade.exceptions import TooLargeError, checked_level, expected
from colonnade.inference.entries import Entry, EntryPair, Sensitivity, same_row, tied
from colonnade.inference.evidence import Evidence, Observed
from colonnade.inference.queries import checked_targets
from colonnade.inference.reduction import Piece, Question
from colonnade.network import BayesianNetwork
from colonnade.variables import State, Variable


def sensitivity(
    network: BayesianNetwork,
    target: str,
    state: State,
    observed: Observed,
    level: float | None,
) -> Sensitivity:
    """See :meth:`colonnade.BayesianNetwork.sensitivity`."""
    if level is not None:
        level = checked_level(level)
    asked = _Asked(network, target, state, observed)
    if asked.label is None:  # it has a single state: nothing can move it
        return Sensitivity(target, state, 1.0, (), level)
    question = asked.question
    found = asked.elimination((), [asked.label])
    # With the target free, and with its state fixed.
    marks = np.zeros((2, asked.variable.cardinality))
    marks[1] = -np.inf
    marks[1, asked.code] = 0.0
    both = [np.repeat(piece.logs(), 2, axis=0) for piece in question.pieces]
    totals, cells = found.marginals([*both, marks])
    if totals[0] == -np.inf:
        raise question.impossible()
    share = float(np.exp(totals[1] - totals[0]))
    entries: list[Entry] = []
    for piece, own in zip(question.pieces, cells, strict=False):
        if isinstance(piece, Piece):
            entries += _entries(piece, own, share, level)

    def weight(entry: Entry) -> tuple[float, float]:
        # What differs by rounding only stays in the order of the tables.
        low, high = entry.swing or (0.0, 0.0)
        return round(low - high, 12), -round(abs(entry.derivative), 12)

    return Sensitivity(target, state, share, tuple(sorted(entries, key=weight)), level)


def joint_sensitivity(
    network: BayesianNetwork,
    target: str,
    state: State,
    entries: tuple[Entry, Entry],
    observed: Observed,
) -> EntryPair:
    """See :meth:`colonnade.BayesianNetwork.joint_sensitivity`."""
    one, other = _checked_pair(entries)
    asked = _Asked(network, target, state, observed)
    question = asked.question
    found = asked.elimination(question.targets)
    base = [piece.logs() for piece in question.pieces]
    _, log_total = found.table(base)
    if log_total[0] == -np.inf:
        raise question.impossible()
    # Both parts are linear in each entry, so their values at the corners determine them; entries
    # of one row cannot both be 1, and there is no product of the two.
    corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] + [(1.0, 1.0)] * (not same_row(one, other))
    places = [asked.place(entry) for entry in (one, other)]
    logs = [np.repeat(own, len(corners), axis=0) for own in base]
    for k, corner in enumerate(corners):
        for number, rows in asked.changed(dict(zip(places, corner, strict=True))).items():
            logs[number][k] = asked.pieces[number].logs_of(rows)[0]
    table, totals = found.table(logs)
    free = np.exp(totals - log_total[0])
    hit = np.where(free > 0.0, table.reshape(len(corners), -1)[:, asked.code] * free, 0.0)
    numerator, denominator = _bilinear(hit), _bilinear(free)
    x, y = one.value, other.value
    return EntryPair(one, other, _mixed(numerator, denominator, x, y), numerator, denominator)


class _Place(NamedTuple):
    """Where an entry is: the number of the piece, its row, and the code of the state."""

    piece: int
    row: int
    code: int


class _Asked:
    """The probability of one state, and the tables that it depends on."""

    def __init__(
        self, network: BayesianNetwork, target: str, state: State, observed: Observed
    ) -> None:
        (name,) = checked_targets(network, [target])
        evidence = Evidence.of(network, observed)
        self.question = Question(network, [name], evidence)
        self.question.check_aside()
        self.variable: Variable = network[name].family.child
        self.code = self.variable.index(state)
        self.label = self.question.label.get(name)
        numbered = enumerate(self.question.pieces)
        self.pieces = {k: piece for k, piece in numbered if isinstance(piece, Piece)}

    def elimination(self, keep: tuple[int, ...], more: Sequence[int] = ()) -> Elimination:
        """Sums over all tables, and over one more factor for each of some variables."""
        pieces = self.question.pieces
        for piece in pieces:
            piece.check_size()
        scopes = [*(piece.scope for piece in pieces), *((label,) for label in more)]
        found = Elimination.of(self.question.sizes, scopes, keep)
        if found.cells > MAX_DENSE_CELLS:
            what, hint = "The largest table of exact inference", "observe more variables"
            raise TooLargeError(what, size=found.cells, limit=MAX_DENSE_CELLS, hint=hint)
        return found

    def place(self, entry: Entry) -> _Place:
        """Find an entry; refuse one that does not matter."""
        for number, piece in self.pieces.items():
            family = piece.cpt.family
            if family.child.name != entry.variable:
                continue
            given = entry.configuration
            if set(given) != {parent.name for parent in family.parents}:
                break
            codes = [parent.index(given[parent.name]) for parent in family.parents]
            if any(codes[p] != code for p, code in piece.known.items()):
                break
            free = [code for p, code in enumerate(codes) if p not in piece.known]
            row = int(np.ravel_multi_index(free, piece.sizes)) if free else 0
            return _Place(number, row, family.child.index(entry.state))
        what = "entries that matter to this question"
        hint = "take them from `sensitivity` with the same target and observed states"
        raise expected(what, "entries", entry, hint, got=f"one of {entry.variable!r}")

    def changed(self, values: dict[_Place, float]) -> dict[int, Floats]:
        """Rows of the tables in which entries have other values, by the number of the piece."""
        found: dict[int, Floats] = {}
        together: dict[tuple[int, int], dict[int, float]] = {}
        for place, x in values.items():
            together.setdefault((place.piece, place.row), {})[place.code] = x
        for (number, row), entries in together.items():
            if number not in found:
                found[number] = self.pieces[number].lookup.filled(MAX_DENSE_CELLS).rows.copy()
            own = found[number][row]
            rest = 1.0 - sum(own[code] for code in entries)
            own *= (1.0 - sum(entries.values())) / rest
            for code, x in entries.items():
                own[code] = x
        return found


def _entries(piece: Piece, cells: Floats, share: float, level: float | None) -> list[Entry]:
    """The entries of one table that matter; P(observed) counts as 1, P(state) is the `share`."""
    family = piece.cpt.family
    rows = piece.lookup.filled(MAX_DENSE_CELLS).rows
    size = family.cardinality
    # Probabilities of the cells [free or fixed, configuration, state].
    joint = np.zeros((2, len(rows), size))
    if piece.child is None:
        joint[:, :, piece.state] = cells.reshape(2, len(rows))
    else:
        joint[:] = cells.reshape(2, len(rows), size)
    joint[1] *= share
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(rows > 0.0, joint / rows, 0.0)
        rest = (slopes * rows).sum(axis=2, keepdims=True) - slopes * rows
        # What the others of the row lose in proportion.
        slopes = slopes - np.where(rows < 1.0, rest / (1.0 - rows), 0.0)
    derivative = slopes[1] - share * slopes[0]
    matter = (rows > 0.0) & (rows < 1.0) & (slopes != 0.0).any(axis=0)
    ends = _ends(piece, level, np.flatnonzero(matter.any(axis=1)).tolist())
    found = []
    for row, k in np.argwhere(matter).tolist():
        b, d, x = float(slopes[1, row, k]), float(slopes[0, row, k]), float(rows[row, k])
        codes = _codes(piece, row)
        pairs = zip(family.parents, codes, strict=True)
        given = {parent.name: parent.states[code] for parent, code in pairs}
        coefficients = (share - b * x, b, 1.0 - d * x, d)
        interval = None if ends is None else (float(ends[row][0][k]), float(ends[row][1][k]))
        change = float(derivative[row, k])
        name, state = family.child.name, family.child.states[k]
        found.append(Entry(name, given, state, x, change, coefficients, interval))
    return found


def _ends(
    piece: Piece, level: float | None, rows: list[int]
) -> dict[int, tuple[Floats, Floats]] | None:
    """Ends of the credible intervals of some rows; None if there are none, or nobody asked."""
    if level is None or not piece.uncertain or not rows:
        return None
    found = piece.cpt.posterior.interval(level, [_codes(piece, row) for row in rows])
    return {row: (found.lower[k], found.upper[k]) for k, row in enumerate(rows)}


def _codes(piece: Piece, row: int) -> tuple[int, ...]:
    """Codes of all parents in one row of a piece."""
    free = iter(np.unravel_index(row, piece.sizes) if piece.sizes else ())
    number = len(piece.cpt.family.parents)
    return tuple(piece.known[p] if p in piece.known else int(next(free)) for p in range(number))


def _checked_pair(entries: Any) -> tuple[Entry, Entry]:
    """Return two entries that can change apart from each other."""
    pair = entries if isinstance(entries, list | tuple) and not isinstance(entries, Entry) else ()
    if len(pair) != 2 or not all(isinstance(each, Entry) for each in pair):
        raise expected("two entries of `sensitivity`", "entries", entries)
    one, other = pair
    if tied(one, other):
        what = "entries that can change apart from each other"
        hint = "the other entry of a row of two follows from the first"
        raise expected(what, "entries", entries, hint, got=f"two of one row of {one.variable!r}")
    return one, other


def _bilinear(values: Floats) -> tuple[float, float, float, float]:
    """Coefficients of a + b x + c y + d x y from its values at the corners."""
    zero, one, other = (float(value) for value in values[:3])
    both = float(values[3]) if len(values) > 3 else one + other - zero
    return zero, one - zero, other - zero, both - one - other + zero


def _mixed(
    numerator: tuple[float, ...], denominator: tuple[float, ...], x: float, y: float
) -> float:
    """The mixed second derivative of the ratio of two bilinear functions."""

    def parts(own: tuple[float, ...]) -> tuple[float, float, float, float]:
        a, b, c, d = own
        return a + b * x + c * y + d * x * y, b + d * y, c + d * x, d

    n, nx, ny, nxy = parts(numerator)
    m, mx, my, mxy = parts(denominator)
    return nxy / m - (nx * my + ny * mx + n * mxy) / m**2 + 2.0 * n * mx * my / m**3
