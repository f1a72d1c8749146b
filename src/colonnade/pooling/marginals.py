"""Marginals: the posterior of every single alpha, by quadrature, from one chain of sums.

The density of alpha_x is f_x(alpha_x) times H_x(1 - alpha_x), with H_x the convolution of all other
f. The sums of the states before x and of those after x are known from one chain in each direction
(:mod:`colonnade.kernels.simplex`), so each H_x is one convolution more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from colonnade.arrays import Floats
from colonnade.kernels.states import States
from colonnade.pooling.tally import Pool

if TYPE_CHECKING:
    from colonnade.kernels.simplex import Panels

# With a smaller power of alpha at zero, tails are so long that a sum of rare states alone, where
# one of the chains begins, takes longer than a chain of its own for every state.
_MIN_POWER = 0.1


class Marginal(NamedTuple):
    """ln f_x and ln H_x, each a curve and its domain; and a guess of the logit of alpha_x."""

    pair: tuple[Floats, Floats, Floats, Floats]
    logit: float


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """The marginals of all states of a pool.

    Attributes
    ----------
    pool : Pool
    seen : list of Marginal
        Of the tallied states, in their order; empty if each is computed when it is asked for.
    """

    pool: Pool
    seen: list[Marginal]

    @classmethod
    def of(cls, pool: Pool) -> Marginals:
        """Compute both chains, and join them around every state."""
        from colonnade.kernels.chains import reliable_powers
        from colonnade.kernels.domains import domains_of_others
        from colonnade.kernels.simplex import simplex_panels

        states = pool.states
        if reliable_powers(states).min() < _MIN_POWER:
            return cls(pool, [])
        a, u = pool.centre(states)
        _, before = simplex_panels(states, pool.s, a, u)
        _, after = simplex_panels(reversed_states(states), pool.s, a[::-1].copy(), u[::-1].copy())
        chains = _Chains(pool, before, after, domains_of_others(states, pool.s, a, u))
        return cls(pool, [chains.marginal(x) for x in range(pool.tally.tallied.size)])

    def at(self, state: int) -> Marginal:
        """The marginal of one state."""
        place = self.pool.place(state)
        if self.seen and place is not None:
            return self.seen[place]
        return _last(self.pool, state)


class _Chains(NamedTuple):
    """Curves of the sums of the first states and, the other way round, of the last states."""

    pool: Pool
    before: Panels
    after: Panels
    domains: Floats  # of all states but one, [state, .]

    def marginal(self, x: int) -> Marginal:
        share, last = self.before.share, self.before.share.size - 1
        f = self.before.f[x], self.before.f_domain[x]
        logit = math.log(share[x] / (share[:x].sum() + share[x + 1 :].sum()))
        if x == 0:
            return Marginal((*f, self.after.g[last - 1], self.after.g_domain[last - 1]), logit)
        lower = self.before.g[x - 1], self.before.g_domain[x - 1]
        if x == last:
            return Marginal((*f, *lower), logit)
        from colonnade.kernels.marginals import joined

        upper = self.after.g[last - 1 - x], self.after.g_domain[last - 1 - x]
        guess = math.log(share[x + 1 :].sum() / share[:x].sum())
        domain = self.domains[x]
        both = joined((*upper, *lower), domain, self._power(x) - 1.0, guess)
        return Marginal((*f, both, domain), logit)

    def _power(self, x: int) -> float:
        """The power of 1 - alpha_x, where that is small, in the integral over all others."""
        start, _, times, alpha0 = self.pool.states
        own = alpha0[x] + times[start[x] : start[x + 1]].sum()
        return float(alpha0.sum() + times.sum() - own)


def _last(pool: Pool, state: int) -> Marginal:
    """The marginal of a state without counts, which is apart from the others of its kind."""
    from colonnade.kernels.simplex import simplex_panels

    states = pool.with_last(state)
    _, panels = simplex_panels(states, pool.s, *pool.centre(states))
    share, last = panels.share, panels.share.size - 1
    logit = math.log(share[last] / share[:last].sum())
    pair = panels.f[last], panels.f_domain[last], panels.g[last - 1], panels.g_domain[last - 1]
    return Marginal(pair, logit)


def reversed_states(states: States) -> States:
    """The same states, the last one first."""
    start, counts, times, alpha0 = states
    order = [np.arange(*start[x : x + 2]) for x in range(alpha0.size)][::-1]
    cells = np.concatenate(order)
    return States(start[-1] - start[::-1], counts[cells], times[cells], alpha0[::-1].copy())
