r"""Mean squared errors known in closed form (Theorem 2 of the paper).

One configuration is observed ``n`` times.  Its probabilities are themselves drawn,
``theta ~ Dirichlet(s * alpha)``, so an estimator is judged on average over ``theta`` and over the
sample:

.. math:: \mathrm{MSE}(\hat\theta_x) = E_\theta E_n (\hat\theta_x - \theta_x)^2 .

Every estimator here is ``w * n_x / n + (1 - w) * target``: the sample frequencies, shrunk towards a
target with weight ``1 - w``.  Maximum likelihood has ``w = 1``, the *ideal* estimator knows the
true ``alpha`` and shrinks towards it, the *Bayesian* one towards the uniform distribution.  The
hierarchical estimator shrinks towards its estimate of ``alpha``, and its error approaches the ideal
one as that estimate improves.

The paper prints the last term of the Bayesian error with ``1 - w**2``; its proof, and the truth,
have ``(1 - w)**2``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from colonnade.arrays import Floats
from colonnade.exceptions import InputError, expected

__all__ = ["mse_bayesian", "mse_ideal", "mse_maximum_likelihood"]

# Sums of a few thousand rounded probabilities stay well within this distance of one.
_SUM_TOLERANCE = 1e-9


def mse_maximum_likelihood(alpha: ArrayLike, s: ArrayLike, n: ArrayLike) -> Floats:
    """Mean squared error of the sample frequencies ``n_x / n``, per state.

    Parameters
    ----------
    alpha : array_like, shape (..., r)
        True mean of the probabilities; the last axis sums to one.
    s : array_like
        True strength of the Dirichlet distribution, above 0.
    n : array_like
        Number of observations of the configuration, at least 1.

    Returns
    -------
    array, shape (..., r)
        `s` and `n` broadcast against each other and the leading axes of `alpha`.

    Examples
    --------
    >>> mse_maximum_likelihood([0.5, 0.5], s=4.0, n=[10, 100])
    array([[0.02 , 0.02 ],
           [0.002, 0.002]])
    """
    mean, strength, size = _checked(alpha, s, n, least=1)
    return strength / size * _variance(mean, strength)


def mse_ideal(
    alpha: ArrayLike, s: ArrayLike, n: ArrayLike, weight: ArrayLike | None = None
) -> Floats:
    """Mean squared error of the estimator that knows `alpha`, per state.

    The estimator is ``weight * n_x / n + (1 - weight) * alpha_x``.

    Parameters
    ----------
    alpha, s, n : array_like
        As for :func:`mse_maximum_likelihood`, but `n` may be 0.
    weight : array_like, optional
        Weight of the sample frequencies, from 0 to 1.  By default ``n / (n + s)``, which makes the
        error as small as it can be; the estimator is then ``(n_x + s * alpha_x) / (n + s)``.
        It broadcasts against `s` and `n`.

    Examples
    --------
    >>> mse_ideal([0.9, 0.1], s=2.0, n=[0, 8]).round(6)
    array([[0.03 , 0.03 ],
           [0.006, 0.006]])
    """
    return _shrunk(alpha, s, n, weight)[1]


def mse_bayesian(
    alpha: ArrayLike, s: ArrayLike, n: ArrayLike, weight: ArrayLike | None = None
) -> Floats:
    """Mean squared error of the estimator that shrinks towards uniform, per state.

    The estimator is ``weight * n_x / n + (1 - weight) / r``.

    Parameters
    ----------
    alpha, s, n, weight : array_like
        As for :func:`mse_ideal`. By default the estimator is ``(n_x + s / r) / (n + s)``; one that
        assumes another strength ``t`` has ``weight = n / (n + t)``.

    Examples
    --------
    >>> mse_bayesian([0.9, 0.1], s=2.0, n=[0, 8]).round(6)
    array([[0.19  , 0.19  ],
           [0.0124, 0.0124]])
    """
    mean, error, shrinking = _shrunk(alpha, s, n, weight)
    bias: Floats = mean - 1.0 / mean.shape[-1]
    return error + shrinking * (bias * bias)


def _shrunk(
    alpha: ArrayLike, s: ArrayLike, n: ArrayLike, weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Return alpha, the error of shrinking towards it, and (1 - w)^2."""
    mean, strength, size = _checked(alpha, s, n)
    sampling, shrinking = _parts(strength, size, weight)
    return mean, (sampling + shrinking) * _variance(mean, strength), shrinking


def _variance(mean: Floats, strength: Floats) -> Floats:
    """Variance of theta_x: alpha_x (1 - alpha_x) / (s + 1)."""
    return mean * (1.0 - mean) / (strength + 1.0)


def _parts(strength: Floats, size: Floats, weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return w^2 s / n and (1 - w)^2, with w = n / (n + s) unless given."""
    if weight is None:
        # Written without w: exact at n = 0, and 1 - w loses no digits when n is large.
        rest = strength / (size + strength)
        return rest * (size / (size + strength)), rest * rest
    w = _numbers(weight, "weight")[..., None]
    if not np.all((w >= 0.0) & (w <= 1.0)):
        raise expected("numbers from 0 to 1", "weight", weight)
    w, size = _broadcast(w, size)
    if np.any((size == 0.0) & (w > 0.0)):
        hint = "without observations there are no frequencies: give n >= 1 or weight=0"
        raise expected("0 where n is 0", "weight", weight, hint)
    return w * w * (strength / np.maximum(size, 1.0)), (1.0 - w) ** 2


def _checked(
    alpha: ArrayLike, s: ArrayLike, n: ArrayLike, least: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Return alpha [..., r], s and n [..., 1], ready to broadcast."""
    mean = _numbers(alpha, "alpha")
    hint = "give the mean probability of every state"
    if mean.ndim == 0 or mean.shape[-1] == 0:
        raise expected("an array [..., state]", "alpha", alpha, hint)
    if np.any(mean < 0.0) or np.any(np.abs(mean.sum(axis=-1) - 1.0) > _SUM_TOLERANCE):
        raise expected("probabilities that sum to 1 over the last axis", "alpha", alpha, hint)
    strength = _numbers(s, "s")
    if np.any(strength <= 0.0):
        raise expected("numbers above 0", "s", s)
    size = _numbers(n, "n")
    if np.any(size < least) or np.any(size != np.floor(size)):
        raise expected(f"integers of at least {least}", "n", n)
    strength, size = strength[..., None], size[..., None]
    _broadcast(mean, strength, size)
    return mean, strength, size


def _numbers(value: ArrayLike, parameter: str) -> Floats:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise expected("numbers", parameter, value) from None
    if not np.all(np.isfinite(array)):
        raise expected("finite numbers", parameter, value)
    return array


def _broadcast(*arrays: Floats) -> tuple[Floats, ...]:
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape[:-1]) for array in arrays)
        message = f"Expected shapes that broadcast together, got {shapes}."
        raise InputError(message, hint="the last axis of `alpha` holds the states") from None
