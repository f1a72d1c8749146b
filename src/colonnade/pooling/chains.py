"""Chains: the curves of a table with few counts, which serve one strength s or many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from colonnade.arrays import Floats
from colonnade.pooling.marginals import Marginal, reversed_states
from colonnade.pooling.tally import Pool

if TYPE_CHECKING:
    from colonnade.kernels.chains import Centre, Chain, Moments, Surroundings
    from colonnade.kernels.simplex import Panels

# Beyond this error of ln Z chains are not good enough; those of their rules fall if steps do.
MAX_ERROR = 1e-9
_FINER = (1.0, 0.7, 0.5)


@dataclass(frozen=True, eq=False)
class Chains:
    """What the posterior of alpha is made of, at all strengths between those of some centres.

    Curves are made when they are needed, and then kept. What moments are made of is large and is
    not: those at the centres are found at once, and those at all `nodes` when the first is wanted.
    """

    pool: Pool
    centres: Sequence[Centre]
    nodes: Sequence[float] = ()
    _making: Lock = field(default_factory=Lock)

    @classmethod
    def at(cls, pool: Pool) -> Chains | None:
        """The chains of a pool at its strength; None if they are not for tables like this."""
        return cls.between(pool, [pool.s])

    @classmethod
    def between(
        cls, pool: Pool, strengths: Sequence[float], nodes: Sequence[float] = ()
    ) -> Chains | None:
        """The chains at strengths between the first and the last of some that ascend."""
        from colonnade.kernels.chains import Centre, serves

        pools = [replace(pool, s=s) for s in strengths]
        centres = [Centre(each.s, *each.centre(each.states)) for each in pools]
        return cls(pool, centres, nodes) if serves(pool.states, centres) else None

    def __reduce__(self) -> tuple[Any, ...]:
        # Curves are made again; a lock cannot travel.
        return Chains, (self.pool, self.centres, self.nodes)

    def covers(self, s: float) -> bool:
        """Whether a strength is among those that the curves are for."""
        return self.centres[0].s <= s <= self.centres[-1].s

    @cached_property
    def _chain(self) -> tuple[Chain, dict[float, Moments]]:
        """The curves, and the moments at the centres, which tell whether steps are fine enough."""
        from colonnade.kernels.chains import Chain

        for finer in _FINER:
            chain = Chain.of(self.pool.states, self.centres, finer)
            found = {centre.s: chain.at(centre.s) for centre in self.centres}
            if max(each.step_error for each in found.values()) < MAX_ERROR:
                break
        return chain.without_matrices(), found

    @cached_property
    def _surroundings(self) -> Surroundings:
        from colonnade.kernels.chains import Centre, Chain, Surroundings

        chain, _ = self._chain
        states = reversed_states(self.pool.states)
        centres = [Centre(s, a[::-1].copy(), u[::-1].copy()) for s, a, u in self.centres]
        after = Chain.of(states, centres, chain.layout.finer, moments=False)
        return Surroundings.of(chain, after)

    def moments(self, s: float) -> Moments:
        """Moments of alpha at one strength."""
        from colonnade.kernels.chains import Chain

        with self._making:
            chain, found = self._chain
            if s not in found:
                whole = Chain.of(self.pool.states, self.centres, chain.layout.finer)
                found.update({each: whole.at(each) for each in (s, *self.nodes)})
        return found[s]

    def means(self, s: Floats) -> tuple[Floats, Floats, float]:
        """ln Z and means of alpha at some strengths, and the error of the former at the centres."""
        with self._making:
            chain, found = self._chain
        return *chain.means(s), max(each.step_error + each.panel_error for each in found.values())

    def panels(self, s: float) -> Panels:
        """The curves at one strength, for draws."""
        with self._making:
            chain, _ = self._chain
        return chain.panels(s)

    def marginal(self, state: int, s: float, mean: float) -> Marginal | None:
        """The marginal of one state with a known mean; None if the state has no counts."""
        place = self.pool.place(state)
        if place is None:
            return None
        with self._making:
            surroundings = self._surroundings
        return Marginal(surroundings.at(place, s), math.log(mean / (1.0 - mean)))
