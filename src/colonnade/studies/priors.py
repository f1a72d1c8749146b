"""Which prior? Every prior on the same samples of real data, with three kinds of structures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from colonnade.arrays import Floats
from colonnade.network import BayesianNetwork
from colonnade.priors import BDeu, Hierarchical, Prior, Tiered
from colonnade.studies.cells import Workers
from colonnade.studies.classification import class_log_joint, measures
from colonnade.studies.plan import Plan
from colonnade.studies.prepared import LABELS, Prepared, with_climbing, with_kdb, with_tan
from colonnade.studies.samples import SampleStudy
from colonnade.studies.summary import Section, Table
from colonnade.studies.tidy import Row, Tidy
from colonnade.tables import CodedTable

PRIORS: dict[str, Prior] = {
    "bdeu 1": BDeu(1),
    "bdeu 10": BDeu(10),
    "hierarchical": Hierarchical(),
    "learned": Hierarchical(s="learn", s_mean=1.0),
    "learned 4r": Hierarchical(s="learn", s_mean=4.0),
    "tiered": Tiered(),
}
# As in the paper, structures are those of all rows of a data set, and fixed for all samples.
STRUCTURES: dict[str, Callable[..., Prepared]] = {
    "tan": with_tan,
    "kdb": with_kdb,
    "climbing": with_climbing,
}
STRUCTURE_LABELS = {
    "tan": "TAN",
    "kdb": "k-DB, k = 2",
    "climbing": "hill climbing",
}
# 1 if larger is better, -1 if smaller is.
MEASURES = {"log_likelihood": 1, "log_loss": -1, "accuracy": 1, "auc": 1}
# Which pairs of priors are compared sample by sample.
PAIRS = [("tiered", name) for name in PRIORS if name != "tiered"] + [("learned 4r", "learned")]
# A difference is beyond chance if the signed ranks of the repetitions give less than this.
_SIGNIFICANT = 0.05


def _measured(network: BayesianNetwork, test: CodedTable, target: str) -> dict[str, float]:
    truth = test.codes[test.position(target)].astype(np.int64)
    log_joint = class_log_joint(network, test, target)
    found = measures(log_joint, truth)
    found["log_likelihood"] = float(log_joint[np.arange(len(truth)), truth].mean())
    return {name: found[name] for name in MEASURES}


STUDY = SampleStudy("priors", _measured, limited=True, estimators=PRIORS)


def run(plan: Plan, workers: Workers) -> Section:
    """Run the study, write its tables, and say what it found."""
    parts = []
    for structure, make in STRUCTURES.items():
        what = f"Priors, {STRUCTURE_LABELS[structure]}"
        found = STUDY.run(plan.priors, plan.prepared(make), plan.parts, workers, what)
        column = np.full(len(found), structure)
        parts.append(Tidy({"structure": column, **found.columns}))
    results = Tidy.joined(parts)
    return report(results, plan.out)


def report(results: Tidy, out: Path) -> Section:
    """Write every repetition, the means and the paired wins; return what the summary says."""
    averages, wins = means(results), paired_wins(results)
    results.write(out / "priors.csv")
    Tidy.of(averages).write(out / "priors-means.csv")
    Tidy.of([win.row for win in wins]).write(out / "priors-wins.csv")
    tables = (_questions(averages), *_mean_tables(averages), *_win_tables(wins))
    text = (
        "Structures are those of all rows, and fixed. All priors see the same samples, and are "
        "measured on the same rows, none of them in the sample: at most "
        f"{int(results['test_rows'].max()):,}. Every repetition is in `priors.csv`."
    )
    return Section("Which prior?", text, tables)


def means(results: Tidy) -> list[Row]:
    """Mean of every measure over data sets, each with the same weight, by structure and n."""
    rows: list[Row] = []
    for structure, n in _cells(results):
        part = results.where(structure=structure, n=n)
        for measure, name in product(MEASURES, PRIORS):
            by_data = [
                part.mean(measure, data=data, estimator=name) for data in part.unique("data")
            ]
            about = {"structure": structure, "n": n, "sets": len(by_data)}
            rows.append({**about, "measure": measure, "estimator": name, "mean": np.mean(by_data)})
    return rows


@dataclass(frozen=True, slots=True)
class PairedWins:
    """How often one prior was better than another on the same sample."""

    structure: str
    n: int
    measure: str
    of: str
    over: str
    won: float  # samples; equal ones count as a half
    samples: int
    gain: float  # in the mean over data sets, positive if better
    sets_better: int  # data sets on which it is better beyond chance, by Wilcoxon's test
    sets_worse: int

    @property
    def row(self) -> Row:
        """The same by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def paired_wins(results: Tidy) -> list[PairedWins]:
    """Compare pairs of priors sample by sample."""
    found = []
    for structure, n in _cells(results):
        part = results.where(structure=structure, n=n)
        for (of, over), (measure, sign) in product(PAIRS, MEASURES.items()):
            gains = part.gains(measure, of, over)
            by_data = [sign * gains.where(data=d)["gain"] for d in gains.unique("data")]
            every = np.concatenate(by_data)
            won = float((every > 0.0).sum() + 0.5 * (every == 0.0).sum())
            signs = [_beyond_chance(g) for g in by_data]
            better, worse = signs.count(1), signs.count(-1)
            gain = float(np.mean([g.mean() for g in by_data]))
            about = (structure, n, measure, of, over)
            found.append(PairedWins(*about, won, len(every), gain, better, worse))
    return found


def _beyond_chance(gains: Floats) -> int:
    """1 if gains are positive beyond chance, -1 if negative, else 0, by Wilcoxon's signed ranks."""
    from scipy.stats import wilcoxon

    if len(gains) < 2 or not np.any(gains):
        return 0
    sign = 1 if gains.mean() > 0.0 else -1
    # Ties are common, and exact chances with ties take minutes for all pairs.
    found = wilcoxon(sign * gains, alternative="greater", method="asymptotic")
    return sign if found.pvalue < _SIGNIFICANT else 0


def _cells(results: Tidy) -> Iterator[tuple[str, int]]:
    return product(results.unique("structure"), sorted(results.unique("n")))


def _questions(averages: Sequence[Row]) -> Table:
    """Which prior has the best mean, and where tiers do not."""
    best = {
        (row["structure"], row["n"], row["measure"]): _values(averages, row) for row in averages
    }
    rows = []
    for name in PRIORS:
        firsts = [_rank(values, key[2], name) == 0 for key, values in best.items()]
        worse = [
            f"{STRUCTURE_LABELS[s]} n = {n} {_words(measure)}"
            for (s, n, measure), values in best.items()
            if MEASURES[measure] * (values["tiered"] - values[name]) < 0.0
        ]
        listed = ", ".join(worse) if len(worse) <= 8 else f"{len(worse)} of {len(best)}"
        rows.append((LABELS[name], f"{sum(firsts)} of {len(firsts)}", listed or "nowhere"))
    head = ("prior", "best mean", "better than tiered in the mean")
    return Table("Who is best", head, tuple(rows))


def _values(averages: Sequence[Row], cell: Row) -> Mapping[str, float]:
    keys = ("structure", "n", "measure")
    return {
        row["estimator"]: row["mean"]
        for row in averages
        if all(row[key] == cell[key] for key in keys)
    }


def _rank(values: Mapping[str, float], measure: str, name: str) -> int:
    sign = MEASURES[measure]
    return sum(sign * value > sign * values[name] for value in values.values())


def _mean_tables(averages: Sequence[Row]) -> Iterator[Table]:
    for structure in dict.fromkeys(row["structure"] for row in averages):
        rows = []
        part = [row for row in averages if row["structure"] == structure]
        for measure, n in dict.fromkeys((row["measure"], row["n"]) for row in part):
            cell = {"structure": structure, "n": n, "measure": measure}
            values = _values(part, cell)
            written = [
                f"{value:.4g}" + (" *" if _rank(values, measure, name) == 0 else "")
                for name, value in values.items()
            ]
            rows.append((_words(measure), str(n), *written))
        rows.sort(key=lambda row: list(MEASURES).index(row[0].replace(" ", "_")))
        head = ("measure", "n", *(LABELS[name] for name in PRIORS))
        note = (
            "Means over data sets and repetitions, the best with an asterisk. The log likelihood "
            "is that of a row. A data set without enough rows for an n is left out there."
        )
        yield Table(f"Means, {STRUCTURE_LABELS[structure]}", head, tuple(rows), note)


def _win_tables(wins: Sequence[PairedWins]) -> Iterator[Table]:
    note = (
        "Samples in which the first was better, of all; in brackets the data sets on which it was "
        "better and worse beyond chance (Wilcoxon's signed ranks by the normal approximation, "
        f"one-sided, {_SIGNIFICANT:g})."
    )
    for of in dict.fromkeys(win.of for win in wins):
        chosen = [win for win in wins if win.of == of]
        rows: dict[tuple[str, int, str], list[str]] = {}
        for win in chosen:
            key = (STRUCTURE_LABELS[win.structure], win.n, _words(win.measure))
            text = f"{win.won:g} of {win.samples} (+{win.sets_better} −{win.sets_worse})"
            rows.setdefault(key, []).append(text)
        others = dict.fromkeys(LABELS[win.over] for win in chosen)
        head = ("structure", "n", "measure", *(f"over {name}" for name in others))
        cells = tuple((s, str(n), m, *texts) for (s, n, m), texts in rows.items())
        yield Table(f"Paired wins of {LABELS[of]}", head, cells, note)


def _words(measure: str) -> str:
    return measure.replace("_", " ")
