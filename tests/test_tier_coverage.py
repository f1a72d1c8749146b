"""Do draws through tiers say how uncertain rows are? Tables are simulated tier by tier.

Rows of one parent are drawn around a pool, rows of more parents around a base that is made of the
true rows below, each tier with a strength from its prior. Intervals of 90 % should hold about nine
in ten of the true probabilities. They cannot do so exactly: the counts of a coarser table are those
of the rows above it, not of the row that was drawn for it. A sampler that takes the tiers below as
known, at their estimates, must be seen to fail.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from colonnade import FamilyCounts, Tiered
from colonnade.pooling.draws import dirichlet
from colonnade.pooling.plan import Plan, log_base
from colonnade.priors import draws as drawing

STATES = 3
SIZES = [(6,), (4, 3), (3, 3, 2)]
TINY = 1e-12


def simulate(rng, sizes, n):
    """A true table and counts of it, with rows of many, few and no observations."""
    plan = Plan.lattice(range(len(sizes)))
    codes = np.array(list(product(*map(range, sizes))))
    alpha = dirichlet(np.ones(STATES), rng)
    tiers = [np.tile(alpha, (len(codes), 1))]
    for t, subset in enumerate(plan.subsets[1:], 1):
        own = codes[:, list(subset)]
        _, example, which = np.unique(own, axis=0, return_index=True, return_inverse=True)
        below = [rows[example] for rows in tiers]
        if len(subset) == 1:
            mean, base = 4.0 * STATES, below[0]
        else:
            kind = int(rng.integers(len(plan.base_names(t))))
            logs = [np.log(np.maximum(rows, TINY)) for rows in below]
            mean, base = 8.0 * STATES, np.exp(log_base(plan, t, kind, logs))
        rows = dirichlet(rng.gamma(2.0, mean / 2.0) * np.maximum(base, TINY), rng)
        tiers.append(rows[which.ravel()])
    totals = rng.multinomial(n, dirichlet(np.ones(len(codes)), rng))
    counts = [rng.multinomial(total, row) for total, row in zip(totals, tiers[-1], strict=True)]
    return tiers[-1], FamilyCounts.from_array(counts, parent_sizes=sizes)


def held(sizes, n, tables, seed=5):
    """Share of the cells that 90 % intervals hold."""
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(tables):
        theta, counts = simulate(rng, sizes, n)
        lower, upper = Tiered().posterior(counts).interval(0.9)
        shares.append(np.mean((lower <= theta) & (theta <= upper)))
    return float(np.mean(shares))


@pytest.mark.parametrize("sizes", SIZES, ids=["one", "two", "three"])
def test_intervals_hold_about_what_they_say(sizes) -> None:
    # Standard errors are near 0.012; one parent is exact, more are a little short.
    assert 0.83 < held(sizes, 80, 20 if len(sizes) == 1 else 40) < 0.95


@pytest.mark.parametrize("sizes", SIZES[1:], ids=["two", "three"])
def test_rows_around_the_estimates_below_hold_too_little(sizes, monkeypatch) -> None:
    def known(plan, t, base, drawn, means):
        logs = {u: np.log(each) for u, each in means.items()}
        shape = next(iter(drawn.values())).shape
        return np.broadcast_to(np.exp(log_base(plan, t, base, logs)), shape)

    monkeypatch.setattr(drawing, "drawn_base", known)
    assert held(sizes, 80, 40) < 0.78


def test_rows_of_one_parent_around_a_known_pool_hold_too_little() -> None:
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(60):
        theta, counts = simulate(rng, (6,), 20)
        posterior = Tiered().posterior(counts)
        parts = posterior.components
        strength = np.exp(sum(part.weight * np.log(part.s) for part in parts))
        pool = strength * sum(part.weight * part.mean for part in parts)
        known = dirichlet(np.broadcast_to(counts.to_array() + pool, (1000, *theta.shape)), rng)
        ends = posterior.interval(0.9), np.quantile(known, [0.05, 0.95], axis=0)
        shares.append([np.mean((lower <= theta) & (theta <= upper)) for lower, upper in ends])
    exact, wrong = np.mean(shares, axis=0)
    # Standard errors are near 0.015 and 0.025.
    assert 0.86 < exact < 0.94
    assert wrong < 0.83


def uncertain_rows():
    """Estimates of three tiers of two parents, and draws of them that are far from certain.

    One state is common and thirty are rare: most draws give a rare state next to nothing.
    """
    rng = np.random.default_rng(3)
    means = [np.concatenate([[0.7], 0.3 * dirichlet(np.ones(30), rng)]) for _ in range(3)]
    strengths = (300.0, 60.0, 6.0)
    drawn = [
        dirichlet(np.tile(s * mean, (20_000, 1)), rng)
        for s, mean in zip(strengths, means, strict=True)
    ]
    return means, drawn


@pytest.mark.parametrize("base", range(6))
def test_bases_of_draws_have_the_mean_of_the_estimates(base) -> None:
    plan = Plan.lattice(range(2))
    means, drawn = uncertain_rows()
    centre = np.exp(log_base(plan, 3, base, [np.log(mean) for mean in means]))
    found = drawing.drawn_base(plan, 3, base, dict(enumerate(drawn)), dict(enumerate(means)))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    rare = np.arange(31) > 0
    # Where a base has a factor below zero it is cut off there, which moves the mean a little.
    assert found.mean(axis=0)[rare].sum() == pytest.approx(centre[rare].sum(), rel=0.15)
    product_of_draws = np.exp(
        log_base(plan, 3, base, [np.log(np.maximum(rows, 1e-300)) for rows in drawn])
    )
    if base == 3:  # the geometric mean itself
        assert product_of_draws.mean(axis=0)[rare].sum() < 0.5 * centre[rare].sum()


def test_a_draw_far_from_the_estimates_still_has_a_base() -> None:
    plan = Plan.lattice(range(2))
    rows = ([0.4, 0.3, 0.3], [0.98, 0.01, 0.01], [0.98, 0.01, 0.01])
    means = {u: np.array(row) for u, row in enumerate(rows)}
    far = ([0.95, 0.025, 0.025], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    drawn = {u: np.array(row) for u, row in enumerate(far)}
    # To first order the meeting has nothing left in any state.
    found = drawing.drawn_base(plan, 3, 4, drawn, means)
    centre = np.exp(log_base(plan, 3, 4, {u: np.log(mean) for u, mean in means.items()}))
    np.testing.assert_allclose(found, centre, rtol=1e-12)


def test_the_mean_of_draws_is_the_estimate() -> None:
    rng = np.random.default_rng(1)
    for sizes in SIZES:
        _, counts = simulate(rng, sizes, 60)
        posterior = Tiered().posterior(counts)
        drawn = posterior.sample(4000, rng=1).mean(axis=0)
        np.testing.assert_allclose(drawn, posterior.mean, atol=0.03)
