"""The catalogue of golden posteriors: ``python -m tests.golden`` writes ``golden.json`` anew.

``load()`` reads the file back as a list of ``Case``.  Small tables are stored in the file;
large ones by a recipe of integer arithmetic (no random stream that a NumPy release may change)
with a checksum.  Values carry 25 significant digits; whole-number tables up to n = 2000 come
from ball arithmetic with rigorous bounds.  The others come from quadrature, where successive
refinements agree to 1e-26 or better: an estimate of the error, not a bound.  In the names of
"spread", "fractional" and "dust" tables n is nominal.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["FILE", "SPECS", "Case", "load", "make_table"]

FILE = Path(__file__).with_name("golden.json")
_STORED_CELLS = 4000

# kind, r, q, n, s, alpha0; the row number is the seed.  See ``make_table`` for the kinds.
_EXACT: list[tuple[str, int, int, int, float, Any]] = [
    ("even", 2, 1, 0, 2.0, 1.0),
    ("even", 2, 1, 0, 0.01, [0.1, 3.0]),
    ("even", 2, 1, 1, 2.0, 1.0),
    ("even", 2, 1, 5, 100.0, 0.1),
    ("even", 2, 2, 1, 0.01, 0.1),
    ("even", 2, 2, 5, 1.0, 10.0),
    ("even", 2, 2, 20, 2.0, 1.0),
    ("sparse", 2, 8, 160, 2.0, 1.0),
    ("sparse", 2, 8, 160, 0.01, 0.1),
    ("sparse", 2, 8, 160, 100.0, 10.0),
    ("unseen", 2, 8, 40, 0.1, 0.1),
    ("unseen", 2, 50, 500, 10.0, 0.5),
    ("empty", 2, 50, 60, 1.0, [10.0, 0.1]),
    ("single", 2, 1, 2000, 2.0, 1.0),
    ("single", 2, 1, 2000, 0.01, 0.1),
    ("single", 2, 1, 2000, 100.0, 0.1),
    ("single", 2, 8, 2000, 100.0, 10.0),
    ("even", 2, 100, 2000, 2.0, 1.0),
    ("sparse", 2, 100, 2000, 0.1, [0.1, 10.0]),
    ("even", 3, 1, 0, 3.0, [0.5, 1.0, 2.0]),
    ("even", 3, 1, 5, 3.0, 1.0),
    ("even", 3, 2, 1, 0.1, 1.0),
    ("even", 3, 2, 5, 10.0, [0.1, 1.0, 10.0]),
    ("sparse", 3, 8, 100, 3.0, 1.0),
    ("unseen", 3, 8, 100, 1.0, 0.1),
    ("unseen", 3, 50, 1000, 100.0, 0.1),
    ("empty", 3, 100, 120, 3.0, 1.0),
    ("empty", 3, 50, 40, 0.01, [3.0, 0.2, 1.0]),
    ("single", 3, 2, 2000, 1.0, 1.0),
    ("single", 3, 50, 1500, 0.1, 0.1),
    ("sparse", 3, 50, 2000, 0.01, 10.0),
    ("even", 3, 100, 2000, 100.0, 1.0),
    ("even", 5, 1, 0, 5.0, 0.1),
    ("even", 5, 1, 1, 5.0, 1.0),
    ("even", 5, 2, 5, 1.0, 1.0),
    ("sparse", 5, 8, 80, 5.0, 1.0),
    ("sparse", 5, 25, 320, 5.0, 1.0),
    ("sparse", 5, 125, 1280, 5.0, 1.0),
    ("sparse", 5, 100, 2000, 100.0, [0.1, 0.5, 1.0, 2.0, 10.0]),
    ("unseen", 5, 8, 30, 0.1, [10.0, 2.0, 1.0, 0.5, 0.1]),
    ("unseen", 5, 50, 600, 10.0, 0.1),
    ("empty", 5, 100, 50, 1.0, 0.3),
    ("single", 5, 8, 2000, 5.0, 10.0),
    ("single", 5, 1, 2000, 0.01, 1.0),
    ("even", 7, 1, 20, 7.0, 1.0),
    ("even", 7, 2, 5, 0.01, 0.1),
    ("sparse", 7, 8, 200, 7.0, 1.0),
    ("sparse", 7, 50, 1000, 0.1, 2.0),
    ("unseen", 7, 50, 1000, 100.0, 0.1),
    ("unseen", 7, 8, 15, 1.0, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
    ("empty", 7, 50, 80, 7.0, 0.1),
    ("single", 7, 2, 1000, 10.0, 1.0),
    ("even", 16, 1, 1, 16.0, 1.0),
    ("even", 16, 8, 5, 1.0, 0.1),
    ("sparse", 16, 8, 160, 16.0, 1.0),
    ("unseen", 16, 50, 800, 10.0, 0.1),
    ("empty", 16, 100, 150, 0.1, 1.0),
    ("sparse", 16, 100, 2000, 16.0, 1.0),
    ("sparse", 16, 100, 2000, 0.01, 0.1),
    ("even", 16, 100, 2000, 100.0, 10.0),
    ("single", 16, 2, 2000, 16.0, [0.1, 10.0] * 8),
]
_QUADRATURE: list[tuple[str, int, int, int, float, Any]] = [
    ("fractional", 2, 2, 5, 2.0, 1.0),
    ("fractional", 2, 8, 160, 0.01, 0.1),
    ("fractional", 2, 50, 60, 100.0, [0.1, 10.0]),
    ("fractional", 2, 100, 2000, 1.0, 10.0),
    ("fractional-unseen", 2, 8, 100, 10.0, 0.1),
    ("fractional", 3, 8, 40, 3.0, 1.0),
    ("fractional-unseen", 3, 2, 10, 0.1, [0.1, 0.5, 2.0]),
    ("dust", 2, 8, 60, 2.0, 1.0),
    ("dust", 3, 8, 60, 10.0, [0.3, 1.0, 3.0]),
    ("spread", 2, 2, 10_000_000, 2.0, 1.0),
    ("spread", 2, 1000, 100_000, 0.01, 0.1),
    ("spread", 2, 100_000, 1_000_000, 100.0, 1.0),
    ("spread", 2, 100_000, 10_000_000, 2.0, 1.0),
    ("spread", 2, 100_000, 10_000_000, 0.1, [0.1, 10.0]),
    ("single", 2, 2, 10**12, 2.0, 1.0),
    ("spread", 3, 5, 1_000_000, 3.0, 0.1),
    ("spread", 3, 5000, 100_000, 3.0, 1.0),
    ("spread", 3, 100_000, 1_000_000, 10.0, [0.5, 1.0, 5.0]),
]
SPECS = [("exact", seed, *spec) for seed, spec in enumerate(_EXACT)] + [
    ("quadrature", 1000 + seed, *spec) for seed, spec in enumerate(_QUADRATURE)
]


@dataclass(frozen=True)
class Case:
    """One golden posterior; ``mean``, ``covariance`` and ``log_evidence`` are float64."""

    name: str
    source: str
    counts: np.ndarray
    s: float
    alpha0: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    log_evidence: float

    def __str__(self) -> str:
        return self.name


def load() -> list[Case]:
    """Read ``golden.json``; every table is rebuilt or checked against its checksum."""
    cases = []
    for entry in json.loads(FILE.read_text(encoding="utf-8")):
        r = len(entry["mean"])
        if "counts" in entry:
            counts = np.array(entry["counts"], dtype=float).reshape(-1, r)
        else:
            counts = make_table(*entry["recipe"])
        if _checksum(counts) != entry["checksum"]:
            raise AssertionError(f"the table of golden case {entry['name']} is not the stored one")
        covariance = np.zeros((r, r))
        covariance[np.triu_indices(r)] = [float(value) for value in entry["covariance"]]
        covariance += np.triu(covariance, 1).T
        cases.append(
            Case(
                name=entry["name"],
                source=entry["source"],
                counts=counts,
                s=entry["s"],
                alpha0=np.array(entry["alpha0"]),
                mean=np.array([float(value) for value in entry["mean"]]),
                covariance=covariance,
                log_evidence=float(entry["log_evidence"]),
            )
        )
    return cases


def _uniform(seed: int, stream: int, size: int) -> np.ndarray:
    """Uniforms on [0, 1) by the SplitMix64 mixing steps: the same bits everywhere."""
    with np.errstate(over="ignore"):
        z = np.arange(1, size + 1, dtype=np.uint64)
        z += np.uint64((seed << 40) + (stream << 32))
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(float) * 2.0**-53


def make_table(kind: str, seed: int, r: int, q: int, n: int) -> np.ndarray:
    """Build counts ``[configuration, state]``.

    even        every state likely in every row
    sparse      each row favours a few states of its own
    unseen      sparse, and about a third of the states never occur
    empty       sparse, and half of the rows never occur
    single      one cell holds all but a few observations
    fractional  sparse, each cell cut by a fraction; fractional-unseen likewise
    dust        sparse, each cell cut by a fraction that is often next to nothing
    spread      large tables: cells drawn directly, from zero to many times their average
    """
    if kind.startswith("fractional"):
        whole = make_table("unseen" if kind.endswith("unseen") else "sparse", seed, r, q, n)
        return whole * (0.05 + 0.95 * _uniform(seed, 3, q * r).reshape(q, r))
    if kind == "dust":
        cut = _uniform(seed, 3, q * r).reshape(q, r)
        for _ in range(4):
            cut = cut * cut
        return make_table("sparse", seed, r, q, n) * cut
    if kind == "single":
        counts = np.zeros((q, r))
        counts[0, 0] = n - (q - 1)
        counts[1:, r - 1] = 1.0
        return counts
    noise = _uniform(seed, 0, q * r).reshape(q, r)
    if kind == "spread":
        size = 4.0 * n / (q * r) * np.array([1.6, 0.3, 1.1])[:r]
        return np.floor(size * (noise * noise * noise))
    weights = 0.3 + noise if kind == "even" else noise * noise * noise * noise
    if kind == "unseen":
        weights[:, r - max(r // 3, 1) :] = 0.0
    edges = np.cumsum(weights, axis=1)
    rows = _uniform(seed, 1, n) * (q // 2 if kind == "empty" else q)
    place = rows.astype(int)
    draws = _uniform(seed, 2, n) * edges[place, -1]
    states = np.sum(draws[:, None] >= edges[place], axis=1)
    counts = np.zeros((q, r))
    np.add.at(counts, (place, states), 1.0)
    return counts


def _checksum(counts: np.ndarray) -> str:
    data = np.ascontiguousarray(counts, dtype="<f8").tobytes()
    return hashlib.sha256(data).hexdigest()[:16]


def _entry(source: str, seed: int, kind: str, r: int, q: int, n: int, s: float, a: Any) -> Any:
    import mpmath
    from tests.oracle import exact_reference, quadrature_reference

    counts = make_table(kind, seed, r, q, n)
    alpha0 = [float(value) for value in np.broadcast_to(a, (r,))]
    if source == "exact":
        reference = exact_reference(counts, s, alpha0, 60)
    else:
        reference = quadrature_reference(counts, s, alpha0, 32 if r == 2 else 26)

    def text(value: Any) -> str:
        with mpmath.workdps(60):
            return str(mpmath.nstr(value, 25))

    upper = [reference.precise_covariance[x][x2] for x in range(r) for x2 in range(x, r)]
    kept: dict[str, Any] = {"recipe": [kind, seed, r, q, n]}
    if counts.size <= _STORED_CELLS:
        whole = bool(np.all(counts == np.round(counts)))
        kept = {"counts": (counts.astype(int) if whole else counts).ravel().tolist()}
    label = "equal" if len(set(alpha0)) == 1 else "unequal"
    return {
        "name": f"{kind}-r{r}-q{q}-n{n}-s{s:g}-{alpha0[0]:g}-{label}",
        "source": source,
        **kept,
        "checksum": _checksum(counts),
        "s": s,
        "alpha0": alpha0,
        "mean": [text(value) for value in reference.precise_mean],
        "covariance": [text(value) for value in upper],
        "log_evidence": text(reference.precise_log_evidence),
    }


def _main() -> None:
    lines = []
    for spec in SPECS:
        start = time.perf_counter()
        entry = _entry(*spec)
        lines.append(json.dumps(entry, separators=(",", ":")))
        print(f"{entry['name']:45s} {time.perf_counter() - start:6.1f} s", file=sys.stderr)
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    _main()
