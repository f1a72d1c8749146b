"""Study 1: mean squared error of the estimated table, against a truth that is known (Fig. 1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from colonnade.arrays import Floats
from colonnade.exceptions import expected
from colonnade.priors import Hierarchical, Prior, SymmetricDirichlet
from colonnade.studies.cells import Cell, Workers, fingerprint, generator, run_cells
from colonnade.studies.claims import Claim, judged, share
from colonnade.studies.tidy import Row, Tidy, pooled_interval, strata
from colonnade.theory import mse_bayesian, mse_ideal

# Parameter of the Dirichlet distribution of alpha in each test, the same for all states.
TESTS = {1: 1.0, 2: 1e6}
ESTIMATORS: dict[str, Prior] = {
    "hierarchical": Hierarchical(),
    "bayesian": SymmetricDirichlet(),
    "learned": Hierarchical(s="learn"),
}


@dataclass(frozen=True, slots=True)
class MseSettings:
    """What study 1 runs over."""

    r: tuple[int, ...] = (2, 4, 6, 8)  # states
    q: tuple[int, ...] = (2, 4, 6, 8)  # configurations
    n: tuple[int, ...] = (20, 40, 80, 160, 320, 640)  # observations
    repetitions: int = 10
    seed: int = 1
    # Distribution of Y: uniform, drawn from Dirichlet(1) per table, or equal counts.
    parents: Literal["uniform", "drawn", "balanced"] = "uniform"
    # Whether alpha is drawn for every repetition, or once per r, q and test.
    truth: Literal["fresh", "fixed"] = "fresh"

    def __post_init__(self) -> None:
        if self.parents not in ("uniform", "drawn", "balanced"):
            raise expected("'uniform', 'drawn' or 'balanced'", "parents", self.parents)
        if self.truth not in ("fresh", "fixed"):
            raise expected("'fresh' or 'fixed'", "truth", self.truth)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table drawn from the model, with a sample from it."""

    alpha: Floats
    theta: Floats
    counts: NDArray[np.int64]


def draw_table(settings: MseSettings, test: int, r: int, q: int, n: int, repetition: int) -> Drawn:
    """Draw alpha, then a table with s = r, then a sample of n observations."""
    rng = generator(settings.seed, "mse", test, r, q, n, repetition)
    first = rng if settings.truth == "fresh" else generator(settings.seed, "truth", test, r, q)
    alpha = first.dirichlet(np.full(r, TESTS[test]))
    # A parameter rounded to zero would be refused; one as small as this gives zeros as well.
    theta = rng.dirichlet(np.maximum(r * alpha, 1e-300), size=q)
    if settings.parents == "balanced":
        totals = np.full(q, n // q) + (np.arange(q) < n % q)
    else:
        shares = np.full(q, 1.0 / q)
        if settings.parents == "drawn":
            shares = rng.dirichlet(np.ones(q))
        totals = rng.multinomial(n, shares)
    return Drawn(alpha, theta, rng.multinomial(totals, theta))


def run_cell(settings: MseSettings, test: int, r: int, q: int, n: int) -> list[Row]:
    """Run all repetitions of one cell."""
    rows: list[Row] = []
    for repetition in range(settings.repetitions):
        drawn = draw_table(settings, test, r, q, n, repetition)
        sizes = drawn.counts.sum(axis=1)
        known = (drawn.counts + r * drawn.alpha) / (sizes[:, None] + r)
        tables = {name: prior.estimate(drawn.counts) for name, prior in ESTIMATORS.items()}
        errors = {
            name: float(np.mean((table - drawn.theta) ** 2))
            for name, table in {**tables, "ideal": known}.items()
        }
        errors["ideal, theorem"] = float(mse_ideal(drawn.alpha, r, sizes).mean())
        errors["bayesian, theorem"] = float(mse_bayesian(drawn.alpha, r, sizes).mean())
        about = {"test": test, "r": r, "q": q, "n": n, "repetition": repetition}
        rows += [{**about, "estimator": name, "mse": value} for name, value in errors.items()]
    return rows


def run(
    settings: MseSettings, folder: Path, workers: Workers | None = None, what: str = "mse"
) -> Tidy:
    """Run the study; what was run before is not run again."""
    cells = [
        Cell(f"test{test}-r{r}-q{q}-n{n}", partial(run_cell, settings, test, r, q, n))
        for test, r, q, n in product(TESTS, settings.r, settings.q, settings.n)
    ]
    mark = fingerprint({**asdict(settings), "estimators": ESTIMATORS})
    return run_cells(what, cells, folder / f"mse-{mark}", workers)


def claims(results: Tidy) -> list[Claim]:
    """Judge what the paper says of Fig. 1 and of Theorem 2.

    Gains are MSE(Bayesian) - MSE(hierarchical), as in the figure.
    """
    gains = results.gains("mse", "bayesian", "hierarchical")
    return [
        *_first_test(gains, results),
        *_second_test(gains, results),
        _mostly(gains, results),
        *_theorem(results),
    ]


def _first_test(gains: Tidy, results: Tidy) -> list[Claim]:
    one = gains.where(test=1)
    base, mean = results.mean("mse", test=1, estimator="bayesian"), one.mean("gain")
    small, large = min(one.unique("n")), max(one.unique("n"))
    by_q = {q: one.mean("gain", q=q) for q in sorted(one.unique("q"))}
    early, late = (one.mean("gain", n=n) for n in (small, large))
    last = {q: one.mean("gain", q=q, n=large) for q in by_q}
    fewest, most = min(last), max(last)
    positive = one["gain"] > 0
    steps = np.diff(list(by_q.values()))
    full = large >= 640 and len(by_q) > 1
    won = f"{mean:.2g} of {base:.2g} ({mean / base:.0%}); lower in {share(positive)}"
    rising = "; ".join(f"q = {q}: {value:.2g}" for q, value in by_q.items())
    ends = f"q = {most}: {last[most]:.2g}, q = {fewest}: {last[fewest]:.2g}"
    return [
        judged(
            "Test 1: the advantage is generally large",
            "large",
            "MSE lower by a tenth or more on average, and lower in most repetitions",
            (won, mean / base >= 0.1 and positive.mean() > 0.5),
        ),
        judged(
            "Test 1: the advantage steadily increases with q",
            "relevant for q = 6, 8",
            "the mean gain rises with every step of q",
            (rising, steps.size > 0 and bool(np.all(steps > 0))),
        ),
        judged(
            "Test 1: for large n the gap vanishes",
            "vanishes",
            "the mean gain at n = 640 is less than a tenth of that at n = 20",
            (f"{late:.2g} against {early:.2g}", late < 0.1 * early) if full else None,
        ),
        judged(
            "Test 1: the gap is more persistent for large q",
            "q = 6, 8",
            "at n = 640 the mean gain is larger for q = 8 than for q = 2",
            (ends, last[most] > last[fewest]) if full else None,
        ),
    ]


def _second_test(gains: Tidy, results: Tidy) -> list[Claim]:
    two = gains.where(test=2)
    base, first = results.mean("mse", test=2, estimator="bayesian"), gains.mean("gain", test=1)
    loss = -two.mean("gain")
    small = [n for n in two.unique("n") if n <= 40]
    by_q = {q: -two.mean("gain", q=q, n=small) for q in sorted(two.unique("q"))} if small else {}
    by_n = {n: -two.mean("gain", n=n) for n in sorted(two.unique("n"))}
    lost = f"loss {loss:.1e}, {loss / base:.0%} of the MSE, {loss / first:.0%} of the gain"
    listed = "; ".join(f"q = {q}: {value:.1e}" for q, value in by_q.items())
    full, falling = set(by_q) >= {4, 8}, None
    if {20, 640} <= set(by_n):
        falling = f"{by_n[640]:.1e} against {by_n[20]:.1e}", by_n[640] < 0.5 * by_n[20]
    return [
        judged(
            "Test 2: the traditional estimator is just slightly better",
            "slightly",
            "the mean loss is positive, but less than a tenth of the MSE and of the gain in test 1",
            (lost, 0.0 < loss < 0.1 * min(base, first)),
        ),
        judged(
            "Test 2: its small advantage is only for q = 4 and small n",
            "q = 4",
            "at n = 20 and 40 the mean loss is largest for q = 4",
            (listed, max(by_q, key=by_q.__getitem__) == 4) if full else None,
        ),
        judged(
            "Test 2: the advantage decreases if q increases",
            "quickly",
            "at n = 20 and 40 the mean loss is smaller for q = 8 than for q = 4",
            (listed, by_q[8] < by_q[4]) if full else None,
        ),
        judged(
            "Test 2: the advantage decreases if n increases",
            "quickly",
            "the mean loss at n = 640 is less than half of that at n = 20",
            falling,
        ),
    ]


def _mostly(gains: Tidy, results: Tidy) -> Claim:
    close = gains["gain"] >= -0.05 * results.where(estimator="bayesian")["mse"]
    return judged(
        "Both tests: the hierarchical estimator is mostly better or equivalent",
        "mostly",
        "MSE not higher by more than a twentieth in most repetitions",
        (share(close), float(close.mean()) > 0.5),
    )


def _theorem(results: Tidy) -> list[Claim]:
    around = {}
    for name, test in product(("ideal", "bayesian"), TESTS):
        off = results.where(test=test).gains("mse", name, f"{name}, theorem")
        around[f"{name}, test {test}"] = pooled_interval(strata(off), 0.997)
    excess = []
    for test in TESTS:
        bayesian = results.mean("mse", test=test, estimator="bayesian, theorem")
        excess.append(bayesian / results.mean("mse", test=test, estimator="ideal, theorem") - 1.0)
    measured = all(np.isfinite(each.lower) for each in around.values())
    agree = all(each.lower <= 0.0 <= each.upper for each in around.values())
    listed = "; ".join(f"{name}: {value.mean:+.1e}" for name, value in around.items())
    higher = f"higher by {excess[0]:.0%} in test 1, by {excess[1]:.1g} in test 2"
    return [
        judged(
            "Theorem 2 gives the MSE of the ideal and of the Bayesian estimator",
            "equality",
            "simulated less analytic MSE within three standard errors of 0",
            (listed, agree) if measured else None,
        ),
        judged(
            "Theorem 2: the ideal estimator is better, except where all alpha are equal",
            "equality only then",
            "the Bayesian MSE is higher in test 1, and the same to a thousandth in test 2",
            (higher, excess[0] > 0.0 and abs(excess[1]) < 1e-3),
        ),
    ]
