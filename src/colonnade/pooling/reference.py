"""The paper's two engines, NUTS and ADVI, through NumPyro: references for the exact ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.exceptions import (
    ConvergenceWarning,
    checked_whole,
    expected,
    inapplicable,
    is_word,
    require,
    warn,
)
from colonnade.pooling.alpha import AlphaPosterior, Engine, ErrorEstimate
from colonnade.pooling.tally import Pool
from colonnade.randomness import generator

_MAX_DRAWS = 1_000_000


@dataclass(frozen=True, slots=True)
class ReferenceDiagnostics:
    """How far a run of `Reference` can be trusted."""

    # [state] NUTS: Monte-Carlo standard error of E[alpha], from the effective sample size. ADVI:
    # that of its own draws plus the distance to the mean reweighted by importance, which estimates
    # what the approximation itself gets wrong.
    error: Floats
    # [state] Number of independent draws the mean is worth; for ADVI of the importance weights.
    effective_size: Floats
    # [state] Split potential scale reduction over the chains; None for ADVI.
    r_hat: Floats | None
    # Divergent transitions after warm-up; None for ADVI.
    divergences: int | None
    # ADVI: nats by which one more Newton step would raise the bound; None for NUTS.
    gain: float | None
    # What speaks against the result, in words; empty for a run that converged.
    doubts: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.error, self.effective_size, self.r_hat):
            if array is not None:
                array.setflags(write=False)

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against the result."""
        return not self.doubts


@dataclass(frozen=True, slots=True)
class Reference(Engine):
    """Posterior of alpha by a sampler (NUTS) or by automatic variational inference (ADVI).

    Neither is ever chosen for you: the exact engines are faster and have no error of this kind.

    Parameters
    ----------
    kind : {"nuts", "advi"}
        The no-U-turn sampler, or a factorised normal fitted by stochastic gradients.
    draws : int
        Draws to keep, over all chains.
    warmup : int, optional
        NUTS: steps of each chain that only tune the sampler (default 1000).  ADVI: gradient steps
        (default 4000).
    chains : int, optional
        Chains of NUTS (default 4), which must divide `draws`.  ADVI has none.
    seed : int
        Same seed, same machine, same draws.

    Examples
    --------
    >>> Reference(kind="nuts", draws=2000)
    Reference(kind='nuts', draws=2000, warmup=1000, chains=4, seed=0)
    """

    kind: Literal["nuts", "advi"] = "nuts"
    draws: int = 4000
    warmup: int | None = None
    chains: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not is_word(self.kind, "nuts", "advi"):
            raise expected('"nuts" or "advi"', "kind", self.kind)
        nuts = self.kind == "nuts"
        if not nuts and self.chains is not None:
            raise inapplicable("chains", self.chains, 'kind="nuts"')
        warmup = (1000 if nuts else 4000) if self.warmup is None else self.warmup
        object.__setattr__(self, "warmup", checked_whole(warmup, "warmup", most=_MAX_DRAWS))
        object.__setattr__(self, "seed", checked_whole(self.seed, "seed", 0, 2**63 - 1))
        object.__setattr__(self, "draws", checked_whole(self.draws, "draws", 8, _MAX_DRAWS))
        if nuts:
            chains = checked_whole(4 if self.chains is None else self.chains, "chains", most=1000)
            object.__setattr__(self, "chains", chains)
            if self.draws % chains or self.draws < 8 * chains:
                what = f"a multiple of chains={chains}, at least {8 * chains},"
                raise expected(what, "draws", self.draws)

    def _solved(self, pool: Pool) -> DrawsAlpha:
        require("numpyro", feature=f'Reference(kind="{self.kind}")', extra="reference")
        from colonnade.pooling._numpyro import run

        answer = run(self, pool)
        if answer.diagnostics.doubts:
            statement = f"{self}: {'; '.join(answer.diagnostics.doubts)}."
            warn(ConvergenceWarning(statement, "raise `warmup` or `draws`"))
        return answer


@dataclass(frozen=True, eq=False, repr=False)
class DrawsAlpha(AlphaPosterior):
    """Draws from a sampler, with its own account of how good they are.

    ``draws`` are ``[draw, state]``, chain after chain for NUTS. The log evidence is None for NUTS;
    for ADVI it is a *lower bound* in expectation, the mean of log p - log q over the draws.
    """

    draws: Floats
    diagnostics: ReferenceDiagnostics

    @property
    def error(self) -> ErrorEstimate:
        return ErrorEstimate(float(self.diagnostics.error.max()), None)

    def sample(self, n: int, rng: Seed = None) -> Floats:
        rng = generator(rng)
        return self.draws[rng.choice(len(self.draws), size=n, replace=n > len(self.draws))]

    def points(self, state: int, finest: float) -> tuple[Floats, Floats]:
        return self.draws[:, state], np.full(len(self.draws), 1.0 / len(self.draws))
