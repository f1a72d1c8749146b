"""Cut points of tables that pass by: the numbers of each column in one pass, in bounded memory.

Up to a million different numbers of a column are kept, each with its rows, and its quantiles are
exact. Beyond, they are kept in layers of lists (Munro and Paterson 1980, Manku and others 1998): a
number in layer h stands for 2^h rows, and a layer with 2k numbers is sorted and every other one
moves up. This moves the rank of no number by more than H / 2k of all rows, where H is the number of
layers above the first: with k = 2^18, less than 4e-5 for 10^11 rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from colonnade.arrays import Array, Floats, Weights
from colonnade.exceptions import Advice, NotSupportedError
from colonnade.tables.bins import MAX_NUMERIC_STATES, Bins, Measured, warn_of_cuts
from colonnade.tables.cuts import Cuts, Strategy, refuse_infinite
from colonnade.tables.identifiers import Excess, never_repeat, warn_of_identifiers
from colonnade.tables.levels import are_whole, column_error, refuse_absent
from colonnade.tables.parts import Passed
from colonnade.tables.sources import Column
from colonnade.tables.weighing import weighted

if TYPE_CHECKING:
    from colonnade.tables.numbers import Numbers

MAX_EXACT = 1 << 20
LAYER = 1 << 18


class Sketch:
    """Numbers as they pass, each with its rows: exactly while they are few, then by layers.

    Examples
    --------
    >>> sketch = Sketch(most=4, layer=2)
    >>> sketch.add(np.arange(3.0))
    >>> sketch.exact, sketch.summary()[0].tolist()
    (True, [0.0, 1.0, 2.0])
    >>> sketch.add(np.arange(100.0))
    >>> sketch.exact, int(sketch.summary()[1].sum())
    (False, 105)
    """

    def __init__(self, most: int = MAX_EXACT, layer: int = LAYER) -> None:
        self._most, self._layer = most, layer
        self._values: Floats = np.empty(0)
        self._mass: Array = np.empty(0, np.int64)
        self._layers: list[list[Floats]] = []
        self._odd: list[bool] = []
        self._low, self._high = np.inf, -np.inf
        self.rows = 0
        self.exact = True

    @property
    def different(self) -> int:
        """How many different numbers there are, as far as they were kept exactly."""
        return len(self._values)

    @property
    def error(self) -> float:
        """Most that the rank of a number is off, as a share of all rows."""
        return 0.0 if self.exact else (len(self._layers) - 1) / (2.0 * self._layer)

    def add(self, numbers: Floats, weights: Array | None = None) -> None:
        """Add numbers without gaps, perhaps with the number of times each of them counts."""
        if not numbers.size:
            return
        self.rows += len(numbers)
        self._low = min(self._low, float(numbers.min()))
        self._high = max(self._high, float(numbers.max()))
        if not self.exact:
            self._put(0, numbers)
            return
        values, back = np.unique(np.concatenate([self._values, numbers]), return_inverse=True)
        times = np.ones(len(numbers), np.int64) if weights is None else weights
        joined = np.concatenate([self._mass.astype(np.result_type(self._mass, times)), times])
        mass = np.zeros(len(values), joined.dtype)
        np.add.at(mass, back, joined)
        self._values, self._mass = values, mass
        if len(values) > self._most:
            if weights is not None:
                what = (
                    f"Cutting a column with weights and more than {self._most:,} different values"
                )
                raise NotSupportedError(what, "quantiles of so many are found without weights only")
            self._give_up()

    def _give_up(self) -> None:
        """Move what was kept exactly into layers: a number of rows is a sum of powers of two."""
        self.exact = False
        for height in range(int(self._mass.max()).bit_length()):
            self._put(height, self._values[(self._mass >> height) & 1 == 1])

    def _put(self, height: int, numbers: Floats) -> None:
        """Add numbers to a layer, and thin it out when it is full."""
        while len(self._layers) <= height:
            self._layers.append([])
            self._odd.append(False)
        layer = self._layers[height]
        layer.append(numbers)
        if sum(map(len, layer)) < 2 * self._layer:
            return
        together = np.sort(np.concatenate(layer))
        rest = len(together) % 2
        # Which of each pair moves up alternates: so errors tend to cancel.
        begin, self._odd[height] = int(self._odd[height]), not self._odd[height]
        self._layers[height] = [together[len(together) - rest :]]
        self._put(height + 1, together[: len(together) - rest][begin::2])

    def summary(self) -> tuple[Floats, Array]:
        """Numbers in order, and how many rows each stands for; all of them, if exact."""
        if self.exact:
            return self._values, self._mass
        values = [*self._parts(), np.array([self._low, self._high])]
        masses = [
            np.full(len(part), 1 << height, np.int64)
            for height, layer in enumerate(self._layers)
            for part in layer
        ]
        # The ends are known, and each is at least one row.
        masses.append(np.ones(2, np.int64))
        found, back = np.unique(np.concatenate(values), return_inverse=True)
        mass = np.zeros(len(found), np.int64)
        np.add.at(mass, back, np.concatenate(masses))
        return found, mass

    def _parts(self) -> Iterable[Floats]:
        return (part for layer in self._layers for part in layer)


class NumberTrack:
    """What is known of one column that may be cut: its numbers, or that it holds anything else."""

    def __init__(self, name: str) -> None:
        self.name, self.numeric, self.whole = name, True, True
        self.number_type: type[int] | type[float] | None = None
        self.sketch: Sketch | Numbers = Sketch()
        self._unique_to = 0

    def add(self, column: Column, weights: Array | None) -> None:
        """Add the rows of a block."""
        numbers = column.numbers if self.numeric else None
        if numbers is None:
            self.numeric = False
            return
        if (kind := column.number_type) is not None:
            self.number_type = float if float in (kind, self.number_type) else int
        there = ~np.isnan(numbers)
        if weights is not None:
            there &= weights > 0
        present = numbers[there]
        refuse_infinite(self.name, present, by_row=False)
        self.whole &= are_whole(present)
        assert isinstance(self.sketch, Sketch)
        self.sketch.add(present, None if weights is None else weights[there])
        if self.sketch.different == self.sketch.rows:
            self._unique_to = self.sketch.rows

    def summed_up(self, numbers: Numbers) -> None:
        """Take what an engine says of all rows."""
        self.sketch = numbers
        if numbers.exact and numbers.different == numbers.rows:
            self._unique_to = numbers.rows

    def wanted(self, bins: Bins) -> int | Cuts | None:
        """Into how many intervals it is cut, or where; None if its values are states or texts."""
        if self.name in bins.columns:
            own = bins.columns[self.name]
            return own if isinstance(own, int | Cuts) else None
        if bins.default is None or not self.numeric or self.number_type is None:
            return None
        many = not self.sketch.exact or self.sketch.different > MAX_NUMERIC_STATES
        return bins.default if many or not self.whole else None

    def guessed(self, bins: Bins) -> int:
        """Number of different whole numbers that are cut although nobody said so, or 0."""
        if self.name in bins.columns or not self.whole:
            return 0
        return self.sketch.different

    @property
    def excess(self) -> Excess | None:
        """What is to be said of whole numbers that never repeat."""
        values, _ = self.sketch.summary()
        unique = self.whole and self._unique_to == len(values)
        if unique and never_repeat(self.name, values, len(values)):
            return Excess(self.name, len(values), self._unique_to)
        return None


def columns_to_cut(known: Sequence[str], bins: Bins, weights: str | None) -> list[str]:
    """Return the columns that may be cut, if they hold numbers; those that are named must exist."""
    refuse_absent(list(bins.columns), known, Advice.NAMED_BY_BINS)
    refuse_absent([] if weights is None else [weights], known, Advice.NAMED_BY_WEIGHTS)
    if bins.default is None:
        return [name for name, wanted in bins.columns.items() if wanted is not None]
    return [name for name in known if name != weights and bins.columns.get(name, 1) is not None]


def passed_cuts(
    parts: Passed, bins: Bins, strategy: Strategy, weights: Weights
) -> tuple[Cuts, ...]:
    """Choose cut points in one pass, as :meth:`Discretizer.fit` says."""
    names = columns_to_cut(parts.names, bins, weights if isinstance(weights, str) else None)
    if not names:
        return ()
    tracks = {name: NumberTrack(name) for name in names}
    for block, times in weighted(parts, names, weights, "Cut points"):
        for name, track in tracks.items():
            track.add(block.columns[name], times)
    return learned_cuts(tracks, bins, strategy)


def learned_cuts(
    tracks: Mapping[str, NumberTrack], bins: Bins, strategy: Strategy
) -> tuple[Cuts, ...]:
    """Choose the cut points of all columns that are cut, and warn as for a table in memory."""
    chosen: dict[str, NumberTrack] = {}
    cuts = []
    for name, track in tracks.items():
        wanted = track.wanted(bins)
        if wanted is None:
            continue
        if not track.numeric:
            raise column_error(name, "not a column of numbers.", "only numbers are cut")
        chosen[name] = track
        values, mass = track.sketch.summary()
        cuts.append(Measured(values, wanted).cuts(name, strategy, mass))
    guessed = {name: track.guessed(bins) for name, track in chosen.items()}
    warn_of_cuts({name: n for name, n in guessed.items() if n})
    excess = [track.excess for name, track in chosen.items() if guessed[name]]
    warn_of_identifiers([each for each in excess if each])
    return tuple(cuts)
