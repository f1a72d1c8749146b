"""Study 1: mean squared error of the estimated table, against a truth that is known (Fig. 1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from colonnade import __version__
from colonnade.exceptions import expected
from colonnade.priors import Hierarchical, Prior, SymmetricDirichlet
from colonnade.studies.cells import Cell, Workers, fingerprint, generator, run_cells
from colonnade.studies.claims import Claim, Winner, judged, mean_gain, share, winners
from colonnade.studies.tidy import Row, Tidy, pooled_interval, strata
from colonnade.theory import mse_bayesian, mse_ideal

__all__ = ["ESTIMATORS", "MseSettings", "claims", "draw_table", "run", "who_won"]

Floats = NDArray[np.float64]

# Parameter of the Dirichlet distribution of alpha, one for all states.
TESTS = {1: 1.0, 2: 1e6}
ESTIMATORS: dict[str, Prior] = {
    "hierarchical": Hierarchical(),
    "bayesian": SymmetricDirichlet(),
    "learned": Hierarchical(s="learn"),
}


@dataclass(frozen=True, slots=True)
class MseSettings:
    """What study 1 runs over.

    Parameters
    ----------
    r, q, n : tuples of int
        Numbers of states, configurations and observations.
    repetitions : int
    seed : int
    parents : {"uniform", "drawn", "balanced"}
        Distribution of Y: uniform; drawn from Dirichlet(1) for each table; or every configuration
        observed equally often.
    truth : {"fresh", "fixed"}
        Whether alpha is drawn for every repetition, or once for each r, q and test.
    """

    r: tuple[int, ...] = (2, 4, 6, 8)
    q: tuple[int, ...] = (2, 4, 6, 8)
    n: tuple[int, ...] = (20, 40, 80, 160, 320, 640)
    repetitions: int = 10
    seed: int = 1
    parents: Literal["uniform", "drawn", "balanced"] = "uniform"
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
    """Draw alpha, then a table with s = r, then a sample of n observations.

    Examples
    --------
    >>> drawn = draw_table(MseSettings(), test=1, r=3, q=2, n=20, repetition=0)
    >>> drawn.theta.shape, int(drawn.counts.sum())
    ((2, 3), 20)
    """
    rng = generator(settings.seed, "mse", test, r, q, n, repetition)
    first = rng if settings.truth == "fresh" else generator(settings.seed, "truth", test, r, q)
    alpha = first.dirichlet(np.full(r, TESTS[test]))
    # Rounded to zero, a parameter would be refused; so small, it gives zeros anyway.
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
    """Run all repetitions of one cell.

    Examples
    --------
    >>> rows = run_cell(MseSettings(repetitions=1), test=1, r=2, q=2, n=20)
    >>> [row["estimator"] for row in rows][:4]
    ['hierarchical', 'bayesian', 'learned', 'ideal']
    """
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
    settings: MseSettings,
    folder: Path,
    workers: Workers | None = None,
    what: str = "Study 1, MSE",
) -> Tidy:
    """Run the study; what was run before is not run again.

    Parameters
    ----------
    settings : MseSettings
    folder : Path
        Where parts are kept.
    workers : Workers, optional
        By default everything is run in this process.
    what : str
        For the progress bar.
    """
    cells = [
        Cell(f"test{test}-r{r}-q{q}-n{n}", partial(run_cell, settings, test, r, q, n))
        for test, r, q, n in product(TESTS, settings.r, settings.q, settings.n)
    ]
    mark = fingerprint({**asdict(settings), "estimators": ESTIMATORS, "version": __version__})
    return run_cells(what, cells, folder / f"mse-{mark}", workers)


def who_won(results: Tidy) -> list[Winner]:
    """Return which estimator won how often."""
    return winners(results, {"mse": -1}, list(ESTIMATORS), "test")


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
    base = float(results.where(test=1, estimator="bayesian")["mse"].mean())
    small, large = min(one.unique("n")), max(one.unique("n"))
    by_q = {q: float(one.where(q=q)["gain"].mean()) for q in sorted(one.unique("q"))}
    early, late = (float(one.where(n=n)["gain"].mean()) for n in (small, large))
    last = {q: float(one.where(q=q, n=large)["gain"].mean()) for q in by_q}
    mean = float(one["gain"].mean())
    positive = one["gain"] > 0
    values = list(by_q.values())
    full = large >= 640 and len(by_q) > 1
    fewest, most = min(last), max(last)
    return [
        judged(
            "Test 1: the advantage is generally large",
            "large",
            "MSE lower by a tenth or more on average, and lower in most repetitions",
            (
                f"{mean:.2g} of {base:.2g} ({mean / base:.0%}); lower in {share(positive)}",
                mean / base >= 0.1 and positive.mean() > 0.5,
            ),
        ),
        judged(
            "Test 1: the advantage steadily increases with q",
            "relevant for q = 6, 8",
            "the mean gain rises with every step of q",
            (
                "; ".join(f"q = {q}: {value:.2g}" for q, value in by_q.items()),
                len(values) > 1 and bool(np.all(np.diff(values) > 0)),
            ),
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
            (
                f"q = {most}: {last[most]:.2g}, q = {fewest}: {last[fewest]:.2g}",
                last[most] > last[fewest],
            )
            if full
            else None,
        ),
    ]


def _second_test(gains: Tidy, results: Tidy) -> list[Claim]:
    two = gains.where(test=2)
    base = float(results.where(test=2, estimator="bayesian")["mse"].mean())
    mean, first = float(two["gain"].mean()), float(gains.where(test=1)["gain"].mean())
    small = [n for n in two.unique("n") if n <= 40]
    by_q = {q: mean_gain(two, q=q, n=small) for q in sorted(two.unique("q"))} if small else {}
    losses = {q: -value for q, value in by_q.items() if value is not None}
    by_n = {n: -float(two.where(n=n)["gain"].mean()) for n in sorted(two.unique("n"))}
    worst = max(losses, key=losses.__getitem__) if losses else None
    listed = "; ".join(f"q = {q}: {loss:.1e}" for q, loss in losses.items())
    full = set(losses) >= {4, 8}
    return [
        judged(
            "Test 2: the traditional estimator is just slightly better",
            "slightly",
            "the mean loss is positive, but less than a tenth of the MSE and of the gain in test 1",
            (
                f"loss {-mean:.1e}, {-mean / base:.0%} of the MSE, {-mean / first:.0%} of the gain",
                0.0 < -mean < 0.1 * min(base, first),
            ),
        ),
        judged(
            "Test 2: its small advantage is only for q = 4 and small n",
            "q = 4",
            "at n = 20 and 40 the mean loss is largest for q = 4",
            (listed, worst == 4) if full else None,
        ),
        judged(
            "Test 2: the advantage decreases if q increases",
            "quickly",
            "at n = 20 and 40 the mean loss is smaller for q = 8 than for q = 4",
            (listed, losses[8] < losses[4]) if full else None,
        ),
        judged(
            "Test 2: the advantage decreases if n increases",
            "quickly",
            "the mean loss at n = 640 is less than half of that at n = 20",
            (f"{by_n[640]:.1e} against {by_n[20]:.1e}", by_n[640] < 0.5 * by_n[20])
            if {20, 640} <= set(by_n)
            else None,
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
    off = {
        f"{name}, test {test}": results.where(test=test).gains("mse", name, f"{name}, theorem")
        for name in ("ideal", "bayesian")
        for test in TESTS
    }
    base = {test: results.where(test=test, estimator="ideal, theorem")["mse"] for test in TESTS}
    around = {name: pooled_interval(strata(gains), 0.997) for name, gains in off.items()}
    excess = [
        float(results.where(test=t, estimator="bayesian, theorem")["mse"].mean() / base[t].mean())
        - 1.0
        for t in TESTS
    ]
    enough = all(np.isfinite(each.lower) for each in around.values())
    listed = "; ".join(f"{name}: {value.mean:+.1e}" for name, value in around.items())
    return [
        judged(
            "Theorem 2 gives the MSE of the ideal and of the Bayesian estimator",
            "equality",
            "simulated less analytic MSE within three standard errors of 0",
            (listed, all(e.lower <= 0.0 <= e.upper for e in around.values())) if enough else None,
        ),
        judged(
            "Theorem 2: the ideal estimator is better, except where all alpha are equal",
            "equality only then",
            "the Bayesian MSE is higher in test 1, and the same to a thousandth in test 2",
            (
                f"higher by {excess[0]:.0%} in test 1, by {excess[1]:.1g} in test 2",
                excess[0] > 0.0 and abs(excess[1]) < 1e-3,
            ),
        ),
    ]
