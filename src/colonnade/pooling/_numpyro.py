"""NUTS and ADVI on the posterior of alpha, as NumPyro runs them.

Both work on the marginal posterior of alpha, where every theta is integrated out
(Dirichlet-multinomial), in float64, on the stick-breaking coordinates z Stan uses for a simplex:

    v_i = sigmoid(z_i - log(r - 1 - i)),   alpha_i = v_i * prod_{j<i} (1 - v_j)

Everything is computed from log alpha, so that a state without counts and alpha0 < 1, whose alpha
may be as small as 1e-100, neither overflows nor is clipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import require
from colonnade.pooling.reference import DrawsAlpha, Reference, ReferenceDiagnostics
from colonnade.pooling.tally import Pool

# A larger split r_hat, or fewer effective draws per chain, says that the chains have not mixed.
_MAX_R_HAT = 1.02
_MIN_EFFECTIVE_DRAWS = 50
# ADVI has converged if one Newton step would raise the bound by at most this many nats.
_MAX_GAIN = 0.01
# Draws per gradient step of ADVI.
_PARTICLES = 8

# Draws [draw, state], the log evidence or its bound, and how far both can be trusted.
_Run: TypeAlias = tuple[Floats, float | None, ReferenceDiagnostics]


def run(engine: Reference, pool: Pool) -> DrawsAlpha:
    """Draw from the posterior of alpha, or from its variational approximation."""
    posterior, method = _StickPosterior(pool), _nuts if engine.kind == "nuts" else _advi
    with _float64():
        draws, log_evidence, diagnostics = method(engine, posterior)
    mean, covariance = draws.mean(axis=0), np.cov(draws, rowvar=False)
    return DrawsAlpha(mean, covariance, log_evidence, engine, draws, diagnostics)


def _model(posterior: _StickPosterior) -> Callable[[], None]:
    import numpyro
    from numpyro.distributions import ImproperUniform, constraints

    def model() -> None:
        shape = (posterior.r - 1,)
        z = numpyro.sample("z", ImproperUniform(constraints.real_vector, (), shape))
        numpyro.factor("posterior", posterior.log_density(z))

    return model


def _nuts(engine: Reference, posterior: _StickPosterior) -> _Run:
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
    alpha = np.exp(_log_simplex(z, posterior.r, np)[0])
    divergences = int(np.sum(np.asarray(sampler.get_extra_fields()["diverging"])))
    r_hat = np.array(split_gelman_rubin(alpha), dtype=np.float64)
    size = np.array(effective_sample_size(alpha), dtype=np.float64)
    doubts = []
    if divergences:
        doubts.append(f"{divergences} of {engine.draws} transitions diverged")
    # Written so that a NaN counts as a doubt.
    if not np.all(r_hat <= _MAX_R_HAT):
        doubts.append(f"r_hat is {np.max(r_hat):.3f}, above {_MAX_R_HAT}")
    needed = _MIN_EFFECTIVE_DRAWS * engine.chains
    if not np.all(size >= needed):
        doubts.append(f"the draws are worth {np.min(size):.0f} independent ones, not {needed}")
    draws = alpha.reshape(-1, posterior.r)
    error = draws.std(axis=0, ddof=1) / np.sqrt(size)
    found = ReferenceDiagnostics(error, size, r_hat, divergences, None, tuple(doubts))
    return draws, None, found


def _advi(engine: Reference, posterior: _StickPosterior) -> _Run:
    import jax
    import jax.numpy as jnp

    location, log_scale = _fit_normal(engine, posterior)
    noise = np.random.default_rng(engine.seed).standard_normal((engine.draws, posterior.r - 1))

    def log_ratios(parameters: Any) -> Any:
        """log p(z, D) - log q(z) at z = location + scale * noise."""
        center, spread = parameters
        z = center + jnp.exp(spread) * noise
        log_p = jax.vmap(posterior.log_density)(z)
        entropy = jnp.sum(spread + 0.5 * math.log(2.0 * math.pi))
        return log_p + entropy + 0.5 * jnp.sum(noise * noise, axis=-1)

    parameters = (jnp.asarray(location), jnp.asarray(log_scale))
    ratios = np.asarray(jax.jit(log_ratios)(parameters), dtype=np.float64)
    slope = jax.jit(jax.grad(lambda p: jnp.mean(log_ratios(p))))(parameters)
    # On the scale of q the bound bends by 1 in the location and by 2 in the log scale.
    by_location, by_scale = (np.asarray(part, dtype=np.float64) for part in slope)
    scale = np.exp(log_scale)
    gain = float(0.5 * np.sum((scale * by_location) ** 2) + 0.25 * np.sum(by_scale**2))

    draws = np.exp(_log_simplex(location + scale * noise, posterior.r, np)[0])
    weights = np.exp(ratios - ratios.max())
    weights /= weights.sum()
    bias = np.abs(weights @ draws - draws.mean(axis=0))
    error = bias + draws.std(axis=0, ddof=1) / math.sqrt(engine.draws)
    size = np.full(posterior.r, 1.0 / np.sum(weights**2))
    # Written so that a NaN counts as a doubt.
    doubt = f"a further step would raise the bound by {gain:.2g} nats"
    doubts = () if gain <= _MAX_GAIN else (doubt,)
    found = ReferenceDiagnostics(error, size, None, None, gain, doubts)
    return draws, float(ratios.mean()), found


def _fit_normal(engine: Reference, posterior: _StickPosterior) -> tuple[Floats, Floats]:
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

    home = jax
    if not hasattr(jax, "enable_x64"):  # where it was before JAX 0.8
        home = require("jax.experimental", feature="Reference()", extra="reference")
    context: AbstractContextManager[None] = home.enable_x64(True)
    return context


class _StickPosterior:
    """log p(z, D), where z are the stick-breaking coordinates of alpha."""

    def __init__(self, pool: Pool) -> None:
        tally, s, alpha0 = pool.tally, float(pool.s), pool.alpha0
        self.s, self.alpha0, self.r = s, alpha0, alpha0.size
        self.state = np.repeat(tally.tallied, np.diff(tally.start))
        self.count, self.times = tally.count, tally.times
        self.seen = np.bincount(self.state, tally.times, minlength=self.r)
        # Evidence constant: Gamma(A0) / prod Gamma(alpha0_x) * prod_y Gamma(s) / Gamma(s + n_y).
        self.constant = math.lgamma(alpha0.sum()) - math.fsum(map(math.lgamma, alpha0))
        self.constant += math.fsum(
            times * (math.lgamma(s) - math.lgamma(s + n))
            for n, times in zip(tally.row_count, tally.row_times, strict=True)
        )
        # A start near the bulk: each row stands for about as many tables as s allows.
        kept = (tally.row_times @ (s * tally.row_count / (s + tally.row_count))) / tally.total
        totals = np.bincount(self.state, tally.count * tally.times, minlength=self.r)
        self.start = _sticks(alpha0 + kept * totals)

    def log_density(self, z: Any) -> Any:
        """Return the log density of one point z [r - 1]; its integral over z is the evidence."""
        import jax.numpy as jnp
        from jax.scipy.special import gammaln

        log_alpha, jacobian = _log_simplex(z, self.r, jnp)
        total = self.constant + jacobian + jnp.sum((self.alpha0 - 1.0) * log_alpha)
        # Gamma(t + n) / Gamma(t) = t Gamma(t + n) / Gamma(t + 1): finite however small t is.
        total = total + jnp.sum(self.seen * (math.log(self.s) + log_alpha))
        t = self.s * jnp.exp(log_alpha)[self.state]
        return total + jnp.sum(self.times * (gammaln(t + self.count) - gammaln(t + 1.0)))


def _log_simplex(z: Any, r: int, xp: Any) -> tuple[Any, Any]:
    """Return log alpha [..., r] and the log Jacobian of alpha in z [..., r - 1].

    `xp` is the array module to compute with, NumPy or JAX's.
    """
    u = z - np.log(r - 1.0 - np.arange(r - 1))
    taken, rest = -xp.logaddexp(0.0, -u), -xp.logaddexp(0.0, u)
    left = xp.cumsum(rest, axis=-1)
    before = left - rest
    log_alpha = xp.concatenate([taken + before, left[..., -1:]], axis=-1)
    return log_alpha, xp.sum(taken + rest + before, axis=-1)


def _sticks(weights: Floats) -> Floats:
    """Coordinates z of alpha = weights / sum(weights)."""
    r = weights.size
    after = np.cumsum(weights[::-1])[::-1][1:]
    sticks: Floats = np.log(weights[:-1]) - np.log(after) + np.log(r - 1.0 - np.arange(r - 1))
    return sticks
