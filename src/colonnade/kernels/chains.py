"""The posterior of alpha with few counts, at one strength s or at many (docs/exact.md).

The method is that of `simplex`, on the aligned panels of `aligned`. Nothing depends on s but the
place of the last convolution (see `convolutions`): with v = s alpha / scale for some scale, the
curves in ln v of all states and of all sums but the last serve all s.

Given S_j, let t be the share of state j in it. The mean shares of the states before j in S_j are
those in S_(j - 1), times 1 - t = S_(j - 1) / S_j; so means and products of two states take one
matrix at each level.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.aligned import (
    WIDTH,
    Convolution,
    Curve,
    Shape,
    convolved,
    convolved_at,
    nodes_of,
    state_curve,
)
from colonnade.kernels.domains import ranges, spreads
from colonnade.kernels.panels import NODES
from colonnade.kernels.simplex import Panels
from colonnade.kernels.states import States

# How far curves go beyond where the mass is, in ln v. Those of sums go farther down if there are
# many tables: a mistake at the lower end creeps up with each sum, and faster if curves are steep.
_SPARE, _MORE, _MANY_TABLES = 2.0, 1.2, 150.0
# With narrower peaks the rules of `aligned` would have more points than those of `simplex`, and
# with a smaller power of an alpha at zero its tail does not end where they do.
_NARROWEST, _MIN_POWER = 0.25, 0.5


class Centre(NamedTuple):
    """A strength s, and parameters and rates of the variational posterior there."""

    s: float
    a: Floats
    u: Floats


class Moments(NamedTuple):
    """ln Z, mean and covariance of alpha, and the errors of the rule and of the panels."""

    log_z: float
    mean: Floats
    covariance: Floats
    step_error: float
    panel_error: float


def reliable_powers(states: States) -> Floats:
    """The power of each alpha at zero, as far as it can be relied on."""
    start, counts, times, alpha0 = states
    tables = np.concatenate([[0.0], np.cumsum(times * np.minimum(counts, 1.0))])
    return np.asarray(alpha0 + tables[start[1:]] - tables[start[:-1]])


def serves(states: States, centres: Sequence[Centre]) -> bool:
    """Whether chains are for tables like these: few counts, and at least three states."""
    if states.alpha0.size < 3 or reliable_powers(states).min() < _MIN_POWER:
        return False
    free = [_Free.of(states, centre) for centre in centres]
    each = [(slice(j, j + 1), slice(j)) for j in range(1, states.alpha0.size)]
    return all(one.width(*sides) >= _NARROWEST for one in free for sides in each)


class _Free(NamedTuple):
    """Shares of alpha and, if their sum were free, squared deviations; added up from zero on."""

    shares: Floats
    spreads: Floats

    @classmethod
    def of(cls, states: States, centre: Centre) -> "_Free":
        share = centre.a / centre.a.sum()
        each = np.zeros((2, share.size + 1))
        np.cumsum([share, spreads(states, share, centre.u)], axis=1, out=each[:, 1:])
        return cls(*each)

    def share(self, some: slice) -> float:
        return _between(self.shares, some)

    def width(self, some: slice, others: slice) -> float:
        """Deviation of the logit of the share of some states beside others, roughly."""
        share, before = self.share(some), self.share(others)
        t = share / (share + before)
        own, rest = ((1.0 - t) * share) ** 2, (t * before) ** 2
        precision = own / _between(self.spreads, some) + rest / _between(self.spreads, others)
        return 1.0 / math.sqrt(precision)


def _between(sums: Floats, some: slice) -> float:
    first, last, _ = some.indices(sums.size - 1)
    return float(sums[last] - sums[first])


class Layout:
    """Where curves are needed for some strengths, and where the peaks are.

    Steps are `finer` times those that mostly suffice.
    """

    def __init__(self, states: States, centres: Sequence[Centre], finer: float) -> None:
        self.scale = centres[-1].s
        self.finer = finer
        self._found = [ranges(states, *centre) for centre in centres]
        self._free = [_Free.of(states, centre) for centre in centres]
        self._shift = np.array([math.log(centre.s / self.scale) for centre in centres])
        self._floor = float(min(np.array([one.floor for one in self._found]) + self._shift))
        tables = max(float(centre.a.sum()) for centre in centres)
        below = _SPARE + _MORE * max(0.0, math.log(tables / _MANY_TABLES))
        self.f = self._cut("f", _SPARE)
        self.g = self._cut("g", below)
        self.others = self._cut("others", below)
        self.share = self._found[len(centres) // 2].share

    def _cut(self, which: str, below: float) -> list[range]:
        """Panels of all curves of a kind."""
        shift = self._shift[:, None]
        low = np.min([getattr(one, which)[0] for one in self._found] + shift, axis=0)
        high = np.max([getattr(one, which)[1] for one in self._found] + shift, axis=0)
        high = np.minimum(high + _SPARE, self._shift.max())
        low = np.maximum(low - below, np.minimum(self._floor, high - WIDTH))
        first, last = np.floor(low / WIDTH).astype(int), np.ceil(high / WIDTH).astype(int)
        return [range(*ends) for ends in zip(first.tolist(), last.tolist(), strict=True)]

    def shape(self, some: slice, others: slice) -> Shape:
        """The shape of the share of some states beside others."""
        middle = self._free[len(self._free) // 2]
        logit = math.log(middle.share(some) / middle.share(others))
        return Shape.of(logit, min(free.width(some, others) for free in self._free), self.finer)


@dataclass(frozen=True, eq=False)
class Chain:
    """The curves of all states, and of all sums but the last.

    Attributes
    ----------
    states : States
    layout : Layout
    f, g : list of Curve
    levels : list of Convolution
        Of the second sum and all later ones but the last.
    shares : list of array [node, state]
        Mean shares of the states in each sum, if moments are wanted.
    """

    states: States
    layout: Layout
    f: list[Curve]
    g: list[Curve]
    levels: list[Convolution]
    shares: list[Floats]

    @classmethod
    def of(
        cls, states: States, centres: Sequence[Centre], finer: float = 1.0, moments: bool = True
    ) -> "Chain":
        """Make the curves for all strengths between those of some centres, which ascend."""
        layout = Layout(states, centres, finer)
        panels = [layout.f[0], *layout.g[1:]]
        # The first sum is the first state, and the lower end of sums counts.
        own = [range(min(layout.g[0].start, panels[0].start), panels[0].stop), *layout.f[1:]]
        f = [state_curve(states, x, layout.scale, each) for x, each in enumerate(own)]
        chain = cls(states, layout, f, [f[0]], [], [np.ones((f[0].values.size, 1))])
        for j in range(1, len(f) - 1):
            chain._add(layout.g[j], moments)
        return chain

    def _add(self, panels: range, moments: bool) -> None:
        """Add one more state to the sum."""
        j = len(self.g)
        shape = self.layout.shape(slice(j, j + 1), slice(j))
        level = convolved(self.f[j], self.g[-1], shape, panels, moments)
        self.g.append(Curve.through(level.values.reshape(len(panels), -1), panels.start))
        self.levels.append(level)
        if moments:
            self.shares.append(np.hstack([level.matrix @ self.shares[-1], level.share[:, None]]))

    def without_matrices(self) -> "Chain":
        """The same without what only moments need, which is nearly all of it."""
        return replace(self, levels=[], shares=self.shares[-1:])

    def _last(self, w: Floats) -> tuple[Convolution, Floats, Floats]:
        """The last convolution at some places; ln Z and the means of alpha there."""
        shape = self.layout.shape(slice(-1, None), slice(-1))
        last = convolved_at(self.f[-1], self.g[-1], shape, w)
        log_z = last.values + (1.0 - float(self.states.alpha0.sum())) * w
        return last, log_z, np.hstack([last.matrix @ self.shares[-1], last.share[:, None]])

    def means(self, s: Floats) -> tuple[Floats, Floats]:
        """ln Z at some strengths, and the means of alpha ``[strength, state]``."""
        return self._last(np.log(s / self.layout.scale))[1:]

    def at(self, s: float) -> Moments:
        """Moments of alpha at one strength."""
        w = np.array([math.log(s / self.layout.scale)])
        last, log_z, (mean,) = self._last(w)
        levels = [*self.levels, last]
        products = np.empty((mean.size, mean.size))
        # law integrates a function of S_j against the posterior, weighted by the square of S_j / s.
        law, v = np.ones(1), np.exp(w)
        step_error, panel_error = 0.0, 0.0
        for j in range(mean.size - 1, 0, -1):
            level, g = levels[j - 1], self.g[j - 1]
            mass = np.abs(law) / law.sum()
            step_error += float(mass @ level.error)
            products[j, j] = law @ level.square
            before = self._sums[j - 1]
            once = law @ level.matrix
            law = ((law / v) @ level.matrix) * before
            v = before
            products[j, :j] = products[:j, j] = (once - law) @ self.shares[j - 1]
            mass = np.abs(law.reshape(g.values.shape).sum(axis=1)) / law.sum()
            panel_error += float(mass @ self._left_out[j - 1])
        products[0, 0] = law.sum()
        covariance = products - np.outer(mean, mean)
        return Moments(float(log_z[0]), mean, covariance, step_error, panel_error)

    def panels(self, s: float) -> Panels:
        """The curves at one strength, for draws."""
        shift = -math.log(s / self.layout.scale)
        f = [curve.panels(shift, power) for curve, power in zip(self.f, self.powers, strict=True)]
        # There is room for the last sum, too, which has no curve.
        powers = np.cumsum(self.powers)[:-1]
        g = [curve.panels(shift, power) for curve, power in zip(self.g, powers, strict=True)]
        g.append((np.zeros((1, NODES)), np.zeros(5)))
        f_curves, f_domains = zip(*f, strict=True)
        g_curves, g_domains = zip(*g, strict=True)
        domains = np.array(f_domains), np.array(g_domains)
        return Panels(
            _stacked(f_curves), domains[0], _stacked(g_curves), domains[1], self.layout.share
        )

    @cached_property
    def _sums(self) -> list[Floats]:
        """v at all nodes of each sum."""
        return [np.exp(nodes_of(range(g.low, g.low + len(g.values)))) for g in self.g]

    @cached_property
    def _left_out(self) -> list[Floats]:
        return [g.left_out for g in self.g]

    @property
    def powers(self) -> Floats:
        """The power of each alpha at zero."""
        start, _, times, alpha0 = self.states
        tables = np.concatenate([[0.0], np.cumsum(times)])
        return np.asarray(alpha0 + tables[start[1:]] - tables[start[:-1]])


def _stacked(curves: Sequence[Floats]) -> Floats:
    """Curves of different numbers of panels as one array."""
    stacked = np.zeros((len(curves), max(map(len, curves)), NODES))
    for room, curve in zip(stacked, curves, strict=True):
        room[: len(curve)] = curve
    return stacked


class Surroundings(NamedTuple):
    """For each state its own curve, and that of the sum of all others, at many strengths."""

    scale: float
    f: list[Curve]
    others: list[Curve]
    powers: Floats

    @classmethod
    def of(cls, before: Chain, after: Chain) -> "Surroundings":
        """Join the chain of all states and that of all states in reverse around each state."""
        layout, last = before.layout, len(before.f) - 1
        others = [after.g[-1]]
        for x in range(1, last):
            shape = layout.shape(slice(x + 1, None), slice(x))
            panels = layout.others[x]
            joined = convolved(after.g[last - 1 - x], before.g[x - 1], shape, panels, False)
            others.append(Curve.through(joined.values.reshape(len(panels), -1), panels.start))
        return cls(layout.scale, before.f, [*others, before.g[-1]], before.powers)

    def at(self, x: int, s: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Curve and domain of ln f_x, and those of all others, at one strength."""
        shift = -math.log(s / self.scale)
        power, together = float(self.powers[x]), float(self.powers.sum())
        own = self.f[x].panels(shift, power)
        return *own, *self.others[x].panels(shift, together - power)
