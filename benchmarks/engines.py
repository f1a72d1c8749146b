"""One table, every engine: time of mean + covariance + log evidence, and error of E[alpha].

The exact answer is checked in the tests against 60-digit arithmetic; here it is what the others
are measured against.
"""

from __future__ import annotations

import warnings

import numpy as np

import colonnade as cn
from benchmarks.timing import median_seconds, print_table, shown
from colonnade.exceptions import ColonnadeError
from colonnade.pooling.strength import learn
from colonnade.pooling.tally import Tally

SIZES = [(2, 8, 160), (5, 25, 320), (5, 125, 1280), (16, 100, 2000), (5, 5000, 100_000)]
SMALL_SIZES = [(2, 2, 20), (3, 5, 80), (5, 10, 80), (5, 26, 320), (5, 26, 1280), (10, 26, 5000)]
# The samplers are slow: beyond this size they are left out, and the table says so.
LARGEST_FOR_SAMPLERS = 3000


def draw_table(r: int, q: int, n: int) -> np.ndarray:
    """Counts drawn from the model with s = r; configurations uniform."""
    rng = np.random.default_rng([r, q, n])
    alpha = rng.dirichlet(np.ones(r))
    theta = rng.dirichlet(r * alpha + 1e-9, size=q)
    sizes = rng.multinomial(n, np.full(q, 1.0 / q))
    return np.array([rng.multinomial(size, row) for size, row in zip(sizes, theta, strict=True)])


def _read(prior: cn.Hierarchical, counts: np.ndarray) -> np.ndarray:
    posterior = prior.posterior(counts)
    # all three are computed when the posterior is made; reading them makes sure of it
    mean, _, _ = posterior.alpha.mean, posterior.alpha.covariance, posterior.log_evidence
    return mean


def run(samplers: bool = True) -> None:
    """Print the comparison."""
    import_time()
    rows = []
    for r, q, n in SIZES:
        counts = draw_table(r, q, n)
        right = _read(cn.Hierarchical(), counts)
        exact = median_seconds(lambda c=counts: _read(cn.Hierarchical(), c))
        learned = median_seconds(lambda c=counts: _read(cn.Hierarchical(s="learn"), c))
        engine = cn.Hierarchical().posterior(counts).alpha.engine
        row = [
            f"{r}, {q}, {n}",
            type(engine).__name__,
            shown(exact),
            f"{shown(learned)} ({learned / exact:.1f}x)",
        ]
        for name in ("variational", "advi", "nuts"):
            row.append(_peer(name, counts, right, exact, samplers and n <= LARGEST_FOR_SAMPLERS))
        rows.append(row)
    print_table(
        "One CPT: mean + covariance + log evidence of alpha, from an array of counts "
        "(median after warm-up).\n"
        "Peers: time, time relative to the exact engine, largest error of E\\[alpha].",
        ["r, q, n", "engine", "exact", "learned s", "Variational", "NumPyro ADVI", "NumPyro NUTS"],
        rows,
    )
    small_tables()


def small_tables() -> None:
    """Print what a learned s costs on the tables of one parent, and without anything of alpha."""
    rows, prior = [], cn.Hierarchical(s="learn")
    for r, q, n in SMALL_SIZES:
        counts = draw_table(r, q, n)
        tally, alpha0 = Tally.of(counts), np.ones(r)
        nodes = median_seconds(lambda t=tally, a=alpha0: learn(t, a))
        table = median_seconds(lambda c=counts: prior.posterior(c).mean)
        evidence = median_seconds(lambda c=counts: prior.log_evidence(c))
        rows.append([f"{r}, {q}, {n}", shown(nodes), shown(table), shown(evidence)])
    print_table(
        "Learned s on small tables: weights, s and E\\[alpha] at all nodes; all means of the "
        "table; log evidence alone.",
        ["r, q, n", "nodes", "table", "log evidence"],
        rows,
    )


def _peer(name: str, counts: np.ndarray, right: np.ndarray, exact: float, samplers: bool) -> str:
    engines = {
        "variational": cn.Variational(),
        "advi": cn.Reference(kind="advi"),
        "nuts": cn.Reference(kind="nuts", draws=2000),
    }
    if name != "variational" and not samplers:
        return "not run"
    prior = cn.Hierarchical(engine=engines[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            error = float(np.abs(_read(prior, counts) - right).max())
            budget = 0.6 if name == "variational" else 0.0
            seconds = median_seconds(lambda: _read(prior, counts), budget=budget, most=3)
        except ColonnadeError as problem:
            return f"not run ({problem})"
    return f"{shown(seconds)}, {seconds / exact:.3g}x, {error:.0e}"


def import_time() -> None:
    """Print how long importing the package takes in a fresh interpreter, and what it loads."""
    import subprocess
    import sys

    code = (
        "import sys, time; t = time.perf_counter(); import colonnade; "
        "heavy = ('numba', 'scipy', 'pandas', 'pyagrum', 'sklearn'); "
        "print(time.perf_counter() - t, [m for m in heavy if m in sys.modules])"
    )
    seconds = sorted(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(5)
    )[2]
    taken, loaded = seconds.split(" ", 1)
    print(
        f"import colonnade: {float(taken) * 1e3:.0f} ms; heavy packages loaded: {loaded.strip()}\n"
    )


if __name__ == "__main__":
    run()
