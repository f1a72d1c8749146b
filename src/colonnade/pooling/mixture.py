"""Mixtures over s of posteriors of alpha."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.pooling.alpha import AlphaPosterior, Component, Engine, ErrorEstimate, PendingAlpha
from colonnade.pooling.draws import gauss_rule
from colonnade.pooling.strength import Strength
from colonnade.randomness import generator

# Components of s of less weight do not matter for the error.
_NEGLIGIBLE_WEIGHT = 1e-7
# Values of s that intervals and variances of rows need.
_NODES_OF_S = 10


class AlphaMixture(AlphaPosterior):
    """Posterior of alpha with s integrated out, by the laws of total mean and total covariance."""

    def __init__(self, components: tuple[Component, ...], strength: Strength) -> None:
        mean = np.asarray(sum(part.weight * part.mean for part in components))
        mean.setflags(write=False)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "log_evidence", strength.log_evidence)
        object.__setattr__(self, "components", components)
        object.__setattr__(self, "strength", strength)

    components: tuple[Component, ...]
    strength: Strength

    @cached_property
    def covariance(self) -> Floats:
        covariance = np.zeros((self.mean.size, self.mean.size))
        for part in self.components:
            apart = part.mean - self.mean
            covariance += part.weight * (part.alpha.covariance + np.outer(apart, apart))
        covariance.setflags(write=False)
        return covariance

    @property
    def engine(self) -> Engine | None:
        return self.components[0].alpha.engine

    @property
    def error(self) -> ErrorEstimate:
        """The error of the integration over s on top of that of the worst component."""
        errors = [part.known.error for part in self.components if part.weight > _NEGLIGIBLE_WEIGHT]
        spread = float(np.ptp([part.mean for part in self.components], axis=0).max())
        evidence = [error.log_evidence for error in errors if error.log_evidence is not None]
        mean = max(error.mean for error in errors) + self.strength.error * spread
        return ErrorEstimate(mean, max(evidence) + self.strength.error)

    def sample(self, n: int, rng: Seed = None) -> Floats:
        return sample_components(self.components, n, generator(rng))[0]

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        rules = [part.alpha.points(state, finest) for part in self.components]
        weights = [part.weight * w for part, (_, w) in zip(self.components, rules, strict=True)]
        return np.concatenate([nodes for nodes, _ in rules]), np.concatenate(weights)


def fewer(components: Sequence[Component]) -> Sequence[Component]:
    """A Gauss rule of few values of s, where much is to be computed at each of them.

    Rows depend on s through s / (n_y + s); what is a polynomial of such a share is integrated as by
    all components, and rows are to 1e-6.
    """
    known = components[0].known
    if not isinstance(known, PendingAlpha):
        return components
    s = np.array([part.s for part in components])
    weights = np.array([part.weight for part in components])
    middle = float(np.exp(weights @ np.log(s)))
    shares, masses = gauss_rule(s / (s + middle), weights, _NODES_OF_S)
    pairs = zip(masses.tolist(), (middle * shares / (1.0 - shares)).tolist(), strict=True)
    return [Component(mass, s, known.solve(s)) for mass, s in pairs]


def sample_components(
    components: Sequence[Component], n: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Independent draws of alpha ``[draw, state]`` and of s ``[draw]``, together."""
    chosen = rng.multinomial(n, [part.weight for part in components])
    pairs = zip(components, chosen.tolist(), strict=True)
    drawn = [part.alpha.sample(size, rng) for part, size in pairs if size]
    strength = np.repeat([part.s for part in components], chosen)
    order = rng.permutation(n)
    return np.concatenate(drawn)[order], strength[order]
