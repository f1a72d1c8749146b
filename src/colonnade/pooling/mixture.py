"""Mixtures over s of posteriors of alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.pooling.alpha import AlphaPosterior, Component, ErrorEstimate
from colonnade.pooling.strength import Strength
from colonnade.randomness import generator

# Components of s of less weight do not matter for the error.
_NEGLIGIBLE_WEIGHT = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class AlphaMixture(AlphaPosterior):
    """Posterior of alpha with s integrated out."""

    components: tuple[Component, ...]
    strength: Strength

    @classmethod
    def of(cls, components: tuple[Component, ...], strength: Strength) -> AlphaMixture:
        """Average over s, by the laws of total mean and total covariance."""
        mean = np.asarray(sum(part.weight * part.alpha.mean for part in components))
        covariance = np.zeros((mean.size, mean.size))
        for part in components:
            apart = part.alpha.mean - mean
            covariance += part.weight * (part.alpha.covariance + np.outer(apart, apart))
        engine = components[0].alpha.engine
        return cls(mean, covariance, strength.log_evidence, engine, components, strength)

    @property
    def error(self) -> ErrorEstimate:
        """The error of the integration over s on top of that of the worst component."""
        errors = [part.alpha.error for part in self.components if part.weight > _NEGLIGIBLE_WEIGHT]
        spread = float(np.ptp([part.alpha.mean for part in self.components], axis=0).max())
        evidence = [error.log_evidence for error in errors if error.log_evidence is not None]
        mean = max(error.mean for error in errors) + self.strength.error * spread
        return ErrorEstimate(mean, max(evidence) + self.strength.error)

    def sample(self, n: int, rng: Seed = None) -> Floats:
        return sample_components(self.components, n, generator(rng))[0]

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        rules = [part.alpha.points(state, finest) for part in self.components]
        weights = [part.weight * w for part, (_, w) in zip(self.components, rules, strict=True)]
        return np.concatenate([nodes for nodes, _ in rules]), np.concatenate(weights)


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
