"""One table as the page shows it: its configurations by every estimator, and what was borrowed."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from colonnade.arrays import Array, Floats
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.pooling.tiers import Step
from colonnade.priors import CptPosterior, TieredPosterior
from colonnade.wording import amount, tally

# Strength of the BDeu prior that is shown for comparison, as an equivalent sample size.
BDEU_SIZE = 1.0
# States and configurations of one table that a page has room for.
_MAX_STATES = 24
_MAX_CONFIGURATIONS = 60
# Configurations whose ladder is written out, and tiers of one ladder.
_MAX_LADDERS = 12
_MAX_TIERS = 17
# Unseen configurations that are shown as examples, and those they are chosen from.
_MAX_EXAMPLES = 6
_MAX_CANDIDATES = 4096
_MAX_CHANGED = 8
_STEP_OF_POOL = 0.05  # of the logit
_DECIMALS = 5


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of each table is shown.

    Attributes
    ----------
    level : float
        Probability inside the credible intervals.
    configurations : int
        Largest number of configurations of one table.
    """

    level: float = 0.95
    configurations: int = _MAX_CONFIGURATIONS

    def of_states(self, states: int) -> int:
        """Return how many states of a variable are shown."""
        return min(states, _MAX_STATES)


def described_table(cpt: Cpt, extent: Extent) -> dict[str, Any]:
    """Describe a table in plain values: the configurations with most rows first."""
    return _Shown(cpt, extent).description()


def rounded(values: Any) -> Any:
    """Return probabilities with the digits that a page needs; what is undefined is None."""
    if isinstance(values, np.ndarray | list | tuple):
        return [rounded(value) for value in values]
    return round(float(values), _DECIMALS) if math.isfinite(values) else None


class _Shown:
    """What is shown of one table."""

    def __init__(self, cpt: Cpt, extent: Extent) -> None:
        self.cpt, self.extent = cpt, extent
        self.posterior = cpt.posterior if cpt.has_posterior else None
        self.states = self._states()

    def _states(self) -> Array:
        """The states that are shown: all, or those with most rows, in their own order."""
        number = self.extent.of_states(self.cpt.family.cardinality)
        counts = self.cpt.counts
        weight = self.cpt.table.rows.sum(axis=0) if counts is None else counts.state_totals
        return np.sort(np.argsort(-weight, kind="stable")[:number])

    def description(self) -> dict[str, Any]:
        """Everything about the table, ready for JSON."""
        cpt, family = self.cpt, self.cpt.family
        codes, totals = self._order()
        few = codes[: self.extent.configurations]
        rows = self._rows(few, self.cpt.table.rows_of(few))
        for row, total in zip(rows, totals.tolist(), strict=False):
            row["n"] = None if cpt.counts is None else total
        for row, code in list(zip(rows, few, strict=True))[:_MAX_LADDERS]:
            row["ladder"] = self._ladder(code)
        return {
            "states": self.states.tolist(),
            "prior": "known" if cpt.prior is None else cpt.prior.in_words,
            "n": None if cpt.counts is None else tally(cpt.counts.total),
            "configurations": amount(family.configurations),
            "seen": len(codes),
            "level": self.extent.level if self.posterior is not None else None,
            "rows": rows,
            "left_out": len(codes) - len(few),
            "unseen": self._unseen(len(codes)),
            "pool": self._pool(),
            "changed": self._changed(),
        }

    def _order(self) -> tuple[Array, Array]:
        """The configurations that are stored, those with most rows first; and their rows."""
        counts = self.cpt.counts
        if counts is None:
            codes = self.cpt.table.codes
            return codes, np.zeros(len(codes))
        totals = counts.row_totals
        order = np.argsort(-totals, kind="stable")
        return counts.codes[order], totals[order]

    def _rows(self, codes: Array, ours: Floats) -> list[dict[str, Any]]:
        """Some configurations by every estimator."""
        counts, keep = self.cpt.counts, self.states
        rows: list[dict[str, Any]] = [
            {"given": code.tolist(), "ours": rounded(mean[keep])}
            for code, mean in zip(codes, ours, strict=True)
        ]
        if counts is not None and len(codes):
            seen = np.array([counts.row(tuple(code)) for code in codes.tolist()], dtype=np.float64)
            bdeu, ends = _bdeu(counts, seen, self.extent.level)
            for k, row in enumerate(rows):
                total = seen[k].sum()
                row["counts"] = rounded(seen[k][keep])
                row["ml"] = rounded(seen[k][keep] / total) if total else None
                row["bdeu"] = rounded(bdeu[k][keep])
                row["bdeu_interval"] = [rounded(end[k][keep]) for end in ends]
        if self.posterior is not None and len(codes):
            places = [tuple(code) for code in codes.tolist()]
            lower, upper = self.posterior.interval(self.extent.level, places)
            borrowed = self._borrowed(codes)
            for k, row in enumerate(rows):
                row["interval"] = [rounded(lower[k][keep]), rounded(upper[k][keep])]
                row["borrowed"] = rounded(borrowed[k])
        return rows

    def _borrowed(self, codes: Array) -> Floats:
        """Weight that each configuration takes from what it leans on."""
        counts = self.cpt.counts
        assert counts is not None
        totals = np.array([counts.row(tuple(code)).sum() for code in codes.tolist()])
        if isinstance(self.posterior, TieredPosterior):
            weights, strengths = self.posterior.tiers.last
        elif isinstance(self.posterior, CptPosterior):
            parts = self.posterior.components
            weights = np.array([part.weight for part in parts])
            strengths = np.array([part.s for part in parts])
        else:
            return np.full(len(codes), np.nan)
        return np.asarray((weights * strengths / (totals[:, None] + strengths)).sum(axis=1))

    def _ladder(self, code: Array) -> list[dict[str, Any]] | None:
        """What a row under tiers leaned on, from the pool on."""
        ladder = getattr(self.posterior, "ladder", None)
        if ladder is None:
            return None
        steps: tuple[Step, ...] = ladder(tuple(code.tolist()))
        if len(steps) > _MAX_TIERS:  # the pool, the tiers with one parent, and the last ones
            single = [step for step in steps if len(step.parents) < 2][: _MAX_TIERS - 3]
            steps = (*single, *steps[-3:])
        return [_step(step, self.states) for step in steps]

    def _unseen(self, seen: int) -> dict[str, Any] | None:
        """All configurations that were never seen, in one row, or by examples."""
        family, table = self.cpt.family, self.cpt.table
        number = family.configurations - seen
        if not number:
            return None
        found: dict[str, Any] = {"number": amount(number), "one": number == 1}
        if not table.complete:
            return found | {"kind": "none", "rows": []}
        codes = self._likely_unseen()
        if table.fallback is None:  # they share one row
            codes = codes[:1]
        rows = self._rows(codes, table.rows_of(codes))
        if table.fallback is not None:
            for row, code in zip(rows, codes, strict=True):
                row["ladder"] = self._ladder(code)
        return found | {"kind": "shared" if table.fallback is None else "own", "rows": rows}

    def _likely_unseen(self) -> Array:
        """The unseen configurations to be expected first, by how common their parts are."""
        counts, sizes = self.cpt.counts, self.cpt.family.parent_sizes
        stored = self.cpt.table if counts is None else counts
        each = max(2, int(_MAX_CANDIDATES ** (1 / len(sizes))))
        weights = None if counts is None else counts.row_totals
        choices, chances = [], []
        for k, size in enumerate(sizes):
            seen = np.bincount(stored.codes[:, k], weights, minlength=min(size, each)) + 0.5
            best = np.argsort(-seen, kind="stable")[:each]
            choices.append(best.tolist())
            chances.append(np.log(seen))
        # With many parents not even two states of each can be combined in all ways.
        combined = itertools.islice(itertools.product(*choices), 4 * _MAX_CANDIDATES)
        codes = np.array(list(combined), dtype=np.int64).reshape(-1, len(sizes))
        codes = codes[stored.positions(codes) < 0]
        chance = sum(chances[k][codes[:, k]] for k in range(len(sizes)))
        return codes[np.argsort(-chance, kind="stable")[:_MAX_EXAMPLES]]

    def _pool(self) -> dict[str, Any] | None:
        """What rows lean on, with its uncertainty, and how strongly they do."""
        posterior, tails = self.posterior, (1.0 - self.extent.level) / 2.0
        quantiles = [tails, 1.0 - tails]
        if isinstance(posterior, TieredPosterior):
            first = posterior.ladder((0,) * len(posterior.counts.parent_sizes))[0]
            shapes = first.counts + first.strengths[0] * first.leaned_on[0]
            ends = [betaincinv(shapes, shapes.sum() - shapes, q) for q in quantiles]
            return {
                "kind": "tiers",
                "mean": rounded(first.estimate[self.states]),
                "interval": [rounded(end[self.states]) for end in ends],
                "strength": rounded(posterior.mean_strength),
                "strength_interval": None,
            }
        if not isinstance(posterior, CptPosterior):
            return None
        low, high = _pool_ends(posterior, self.states, quantiles)
        strength = posterior.strength
        fixed = bool(np.allclose(low, high))
        return {
            "kind": "fixed" if fixed else "pool",
            "mean": rounded(np.asarray(posterior.alpha.mean)[self.states]),
            "interval": [rounded(low), rounded(high)],
            "strength": rounded(posterior.mean_strength),
            "strength_interval": None
            if strength is None
            else rounded(strength.interval(self.extent.level)),
        }

    def _changed(self) -> list[dict[str, Any]]:
        """The configurations whose estimate is farthest from their relative frequencies."""
        counts = self.cpt.counts
        if counts is None or not counts.parent_sizes or not self.cpt.has_posterior:
            return []
        ours = self.cpt.table.rows_of(counts.codes)
        frequencies = counts.values / counts.row_totals[:, None]
        distance = np.abs(ours - frequencies).sum(axis=1) / 2.0
        # A part of an observation, as EM expects it, has no frequencies worth the name.
        distance[counts.row_totals < 1.0 - 1e-9] = -1.0
        best = np.argsort(-distance, kind="stable")[:_MAX_CHANGED]
        best = best[distance[best] >= 0.0]
        found = []
        for k in best.tolist():
            gap = np.abs(ours[k] - frequencies[k])
            state = int(gap[self.states].argmax())
            found.append(
                {
                    "given": counts.codes[k].tolist(),
                    "n": counts.row_totals[k].item(),
                    "distance": rounded(distance[k]),
                    "state": int(self.states[state]),
                    "ml": rounded(frequencies[k][self.states[state]]),
                    "ours": rounded(ours[k][self.states[state]]),
                }
            )
        return found


def _bdeu(counts: FamilyCounts, seen: Floats, level: float) -> tuple[Floats, list[Floats]]:
    """Means and ends of intervals of rows under BDeu, which spreads its size over all cells."""
    try:
        each = BDEU_SIZE / (counts.configurations * counts.states)
    except OverflowError:
        each = 0.0
    shapes = seen + max(each, 1e-300)
    total = shapes.sum(axis=1, keepdims=True)
    tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    with np.errstate(all="ignore"):
        ends = [betaincinv(shapes, total - shapes, tail) for tail in tails]
    return shapes / total, [np.nan_to_num(end, nan=0.0) for end in ends]


def _pool_ends(posterior: CptPosterior, states: Array, quantiles: list[float]) -> Floats:
    """Quantiles of entries of the pool, ``[quantile, state]``.

    They are those of the points that its posterior is integrated on.
    """
    parts = posterior.few_components
    found = np.empty((len(quantiles), len(states)))
    for k, state in enumerate(states.tolist()):
        rules = [part.alpha.points(state, _STEP_OF_POOL) for part in parts]
        nodes = np.concatenate([points for points, _ in rules])
        shares = [part.weight * masses for part, (_, masses) in zip(parts, rules, strict=True)]
        order = np.argsort(nodes)
        masses = np.concatenate(shares)[order]
        below = np.cumsum(masses) - masses / 2.0
        found[:, k] = np.interp(quantiles, below / masses.sum(), nodes[order])
    return found


def _step(step: Step, states: Array) -> dict[str, Any]:
    """One tier of a ladder in plain values."""
    tiers = [
        (list(base) if isinstance(base, tuple) else base, weight)
        for base, weight in zip(step.bases, step.weights.tolist(), strict=False)
    ]
    return {
        "parents": list(step.parents),
        "n": round(float(step.counts.sum()), 2),
        "estimate": rounded(step.estimate[states]),
        "bases": [[base, rounded(weight)] for base, weight in tiers if weight >= 0.005],
    }
