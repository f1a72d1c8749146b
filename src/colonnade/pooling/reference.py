"""The paper's two engines, NUTS and ADVI, through NumPyro: references for the exact ones.

Both work on the marginal posterior of alpha, where every theta is integrated out
(Dirichlet-multinomial), in float64, on the stick-breaking coordinates Stan uses for a simplex
(`colonnade.pooling._sticks`).
"""

from __future__ import annotations

import math
import operator
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import ConvergenceWarning, expected, require
from colonnade.pooling._sticks import StickPosterior, log_simplex
from colonnade.pooling.alpha import AlphaPosterior, DrawsAlpha, ErrorEstimate, without_data
from colonnade.pooling.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

__all__ = ["Reference", "ReferenceDiagnostics"]

_Floats = NDArray[np.float64]

# Split r_hat above this, or fewer effective draws per chain, says the chains have not mixed.
_LARGEST_R_HAT = 1.02
_FEWEST_EFFECTIVE = 50
# ADVI has converged when one Newton step would raise the bound by less than this many nats.
_LARGEST_GAIN = 0.01
_PARTICLES = 8


@dataclass(frozen=True, slots=True)
class ReferenceDiagnostics:
    """How far a run of `Reference` can be trusted.

    Attributes
    ----------
    error : array, shape (r,)
        NUTS: Monte-Carlo standard error of E[alpha], from the effective sample size.  ADVI: that
        of its own draws plus the distance to the mean reweighted by importance, which estimates
        what the approximation itself gets wrong.
    effective_size : array, shape (r,)
        Number of independent draws the mean is worth; for ADVI that of the importance weights.
    r_hat : array, shape (r,), or None
        Split potential scale reduction over the chains; None for ADVI.
    divergences : int or None
        Divergent transitions after warm-up; None for ADVI.
    gain : float or None
        ADVI: nats by which one more Newton step would raise the bound; None for NUTS.
    doubts : tuple of str
        What speaks against the result, in words; empty for a run that converged.
    """

    error: _Floats
    effective_size: _Floats
    r_hat: _Floats | None
    divergences: int | None
    gain: float | None
    doubts: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against the result."""
        return not self.doubts


@dataclass(frozen=True, slots=True)
class Reference:
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
        if self.kind not in ("nuts", "advi"):
            raise expected('"nuts" or "advi"', "kind", self.kind)
        nuts = self.kind == "nuts"
        if not nuts and self.chains is not None:
            hint = 'leave it out, or use kind="nuts"'
            raise expected('nothing with kind="advi"', "chains", self.chains, hint)
        warmup = (1000 if nuts else 4000) if self.warmup is None else self.warmup
        object.__setattr__(self, "warmup", _whole(warmup, "warmup", 1))
        object.__setattr__(self, "seed", _whole(self.seed, "seed", 0))
        object.__setattr__(self, "draws", _whole(self.draws, "draws", 8))
        if nuts:
            chains = _whole(4 if self.chains is None else self.chains, "chains", 1)
            object.__setattr__(self, "chains", chains)
            if self.draws % chains or self.draws < 8 * chains:
                what = f"a multiple of chains={chains}, at least {8 * chains},"
                raise expected(what, "draws", self.draws)

    def solve(self, tally: Tally, s: float, alpha0: _Floats) -> AlphaPosterior:
        """Posterior of alpha from a tally."""
        trivial = without_data(tally, alpha0, self)
        if trivial is not None:
            return trivial
        draws, log_evidence, diagnostics = self.run(tally, s, alpha0)
        estimate = ErrorEstimate(float(diagnostics.error.max()), None)
        return DrawsAlpha.of(draws, log_evidence, self, estimate, diagnostics)

    def log_evidence(self, tally: Tally, s: float, alpha0: _Floats) -> float | None:
        """ADVI: the lower bound; NUTS: None."""
        return self.solve(tally, s, alpha0).log_evidence

    def run(
        self, tally: Tally, s: float, alpha0: _Floats
    ) -> tuple[_Floats, float | None, ReferenceDiagnostics]:
        """Draw from the posterior of alpha.

        Parameters
        ----------
        tally : Tally
            Of counts, whole or fractional.
        s : float
            Strength of the rows' Dirichlet distribution.
        alpha0 : array, shape (r,)
            Parameters of the prior of alpha.

        Returns
        -------
        draws : array, shape (draws, r)
            Chain after chain for NUTS.
        log_evidence : float or None
            None for NUTS, which has none.  For ADVI a *lower bound* in expectation, the mean of
            log p - log q over the draws.
        diagnostics : ReferenceDiagnostics

        Warns
        -----
        ConvergenceWarning
            When the run diverged or did not settle; ``diagnostics.doubts`` says the same.
        """
        require("numpyro", feature=f'Reference(kind="{self.kind}")', extra="reference")
        alpha0 = np.asarray(alpha0, dtype=np.float64)
        posterior = StickPosterior(tally, float(s), alpha0)
        with _float64():
            result = _nuts(self, posterior) if self.kind == "nuts" else _advi(self, posterior)
        if result[2].doubts:
            warnings.warn(
                f"{self}: {'; '.join(result[2].doubts)}. Hint: raise `warmup` or `draws`.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return result


_Result = tuple[_Floats, float | None, ReferenceDiagnostics]


def _model(posterior: StickPosterior) -> Callable[[], None]:
    import jax.numpy as jnp
    import numpyro
    from jax.scipy.special import gammaln
    from numpyro.distributions import ImproperUniform, constraints

    def model() -> None:
        shape = (posterior.r - 1,)
        z = numpyro.sample("z", ImproperUniform(constraints.real_vector, (), shape))
        numpyro.factor("posterior", posterior.log_density(z, jnp, gammaln))

    return model


def _nuts(engine: Reference, posterior: StickPosterior) -> _Result:
    import jax
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
    from numpyro.infer import MCMC, NUTS

    assert engine.chains is not None
    sampler = MCMC(
        NUTS(_model(posterior), target_accept_prob=0.9),
        num_warmup=engine.warmup,
        num_samples=engine.draws // engine.chains,
        num_chains=engine.chains,
        chain_method="vectorized",
        progress_bar=False,
    )
    sampler.run(jax.random.key(engine.seed), extra_fields=("diverging",))
    z = np.asarray(sampler.get_samples(group_by_chain=True)["z"], dtype=np.float64)
    alpha = np.exp(log_simplex(z, posterior.r, np)[0])
    divergences = int(np.sum(np.asarray(sampler.get_extra_fields()["diverging"])))
    r_hat = np.asarray(split_gelman_rubin(alpha), dtype=np.float64)
    size = np.asarray(effective_sample_size(alpha), dtype=np.float64)
    doubts = []
    if divergences:
        doubts.append(f"{divergences} of {engine.draws} transitions diverged")
    # Written so that a NaN counts as a doubt.
    if not np.all(r_hat <= _LARGEST_R_HAT):
        doubts.append(f"r_hat is {np.max(r_hat):.3f}, above {_LARGEST_R_HAT}")
    if not np.all(size >= _FEWEST_EFFECTIVE * engine.chains):
        needed = _FEWEST_EFFECTIVE * engine.chains
        doubts.append(f"the draws are worth {np.min(size):.0f} independent ones, not {needed}")
    draws = alpha.reshape(-1, posterior.r)
    error = draws.std(axis=0, ddof=1) / np.sqrt(size)
    return (
        _sealed(draws),
        None,
        ReferenceDiagnostics(
            _sealed(error), _sealed(size), _sealed(r_hat), divergences, None, tuple(doubts)
        ),
    )


def _advi(engine: Reference, posterior: StickPosterior) -> _Result:
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    location, log_scale = _fit_normal(engine, posterior)
    noise = np.random.default_rng(engine.seed).standard_normal((engine.draws, posterior.r - 1))

    def log_ratios(parameters: Any) -> Any:
        """log p(z, D) - log q(z) at z = location + scale * noise."""
        center, spread = parameters
        z = center + jnp.exp(spread) * noise
        log_p = jax.vmap(lambda row: posterior.log_density(row, jnp, gammaln))(z)
        entropy = jnp.sum(spread + 0.5 * math.log(2.0 * math.pi))
        return log_p + entropy + 0.5 * jnp.sum(noise * noise, axis=-1)

    parameters = (jnp.asarray(location), jnp.asarray(log_scale))
    ratios = np.asarray(jax.jit(log_ratios)(parameters), dtype=np.float64)
    slope = jax.jit(jax.grad(lambda p: jnp.mean(log_ratios(p))))(parameters)
    # On the scale of q the bound bends by 1 in the location and by 2 in the log scale.
    by_location, by_scale = (np.asarray(part, dtype=np.float64) for part in slope)
    scale = np.exp(log_scale)
    gain = float(0.5 * np.sum((scale * by_location) ** 2) + 0.25 * np.sum(by_scale**2))

    draws = np.exp(log_simplex(location + scale * noise, posterior.r, np)[0])
    weights = np.exp(ratios - ratios.max())
    weights /= weights.sum()
    bias = np.abs(weights @ draws - draws.mean(axis=0))
    error = bias + draws.std(axis=0, ddof=1) / math.sqrt(engine.draws)
    size = np.full(posterior.r, 1.0 / np.sum(weights**2))
    doubts = []
    if not gain <= _LARGEST_GAIN:
        doubts.append(f"a further step would raise the bound by {gain:.2g} nats")
    return (
        _sealed(draws),
        float(ratios.mean()),
        ReferenceDiagnostics(_sealed(error), _sealed(size), None, None, gain, tuple(doubts)),
    )


def _fit_normal(engine: Reference, posterior: StickPosterior) -> tuple[_Floats, _Floats]:
    """Location and log scale of the factorised normal on z."""
    import jax
    from numpyro.infer import SVI, Trace_ELBO, init_to_value
    from numpyro.infer.autoguide import AutoDiagonalNormal
    from numpyro.optim import Adam

    model, steps = _model(posterior), engine.warmup
    assert steps is not None
    start = init_to_value(values={"z": posterior.start})
    guide = AutoDiagonalNormal(model, init_loc_fn=start, init_scale=0.1)
    # The rate falls a hundredfold: large steps to arrive, small ones to average out the noise.
    optimiser = Adam(lambda step: 0.05 * 0.01 ** (step / steps))
    svi = SVI(model, guide, optimiser, Trace_ELBO(num_particles=_PARTICLES))
    found = svi.run(jax.random.key(engine.seed), steps, progress_bar=False).params
    location = np.asarray(found["auto_loc"], dtype=np.float64)
    return location, np.log(np.asarray(found["auto_scale"], dtype=np.float64))


def _float64() -> AbstractContextManager[None]:
    """Double precision inside a block only: the caller's JAX settings stay as they are."""
    import jax

    # Its place and name before JAX 0.8 are kept as a second choice.
    enable = getattr(jax, "enable_x64", None)
    if enable is None:
        enable = require("jax.experimental", feature="Reference()", extra="reference").enable_x64
    context: AbstractContextManager[None] = enable(True)
    return context


def _whole(value: Any, parameter: str, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise expected(f"a whole number of at least {least}", parameter, value)
    return number


def _sealed(array: Any) -> _Floats:
    result = np.array(array, dtype=np.float64)
    result.setflags(write=False)
    return result
