"""False and true arcs of every score: pairs of columns, noise, and samples of known networks.

Takes about half an hour and is not part of `make bench`: run `python -m benchmarks.arcs`, or some
of it, as in `python -m benchmarks.arcs pairs noise`. The known networks are files that come with
pgmpy.
"""

from __future__ import annotations

import gzip
import importlib.util
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

import colonnade as cn
from benchmarks.timing import print_table
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork, fit
from colonnade.structure import BIC, arc_strength, hill_climb
from colonnade.structure.resampling import Learner
from colonnade.structure.scores import GraphPrior, Score
from colonnade.tables.coded import CodedTable
from colonnade.variables import Variable

LEARNED = "Hierarchical(learn)"
SCORES: dict[str, Score] = {
    "BIC": BIC(),
    "BDeu(1)": cn.BDeu(1),
    "BDeu(10)": cn.BDeu(10),
    "K2": cn.SymmetricDirichlet(),
    "Hierarchical()": cn.Hierarchical(),
    LEARNED: cn.Hierarchical(s="learn"),
}
ROWS = (50, 200, 500, 2000, 5000)
COPIED = 0.35
# With a learned strength a climb over more variables, or more cells of a table, takes minutes.
_MAX_LEARNED_VARIABLES, _MAX_LEARNED_CELLS = 30, 30_000


# ------------------------------------------------------------------------------- pairs


def pairs(repeats: int = 200, repeats_learned: int = 100) -> None:
    """Print how often two columns get an arc: independent ones, and where values are copied."""
    kinds = {f"r = {r}": np.full(r, 1.0 / r) for r in (2, 5, 10)}
    kinds |= {f"a state of {100 * p:g} %": np.array([1.0 - p, p]) for p in (0.1, 0.05, 0.02)}
    for title, shares in kinds.items():
        rows = []
        for name, judge in SCORES.items():
            times = repeats_learned if name == LEARNED else repeats
            found = (
                [_arcs_of_pairs(judge, shares, n, copied, times) for n in ROWS]
                for copied in (0.0, COPIED)
            )
            cells = zip(*found, strict=True)
            rows.append([name, *(f"{false:.0f} / {true:.0f}" for false, true in cells)])
        print_table(
            f"Two columns, {title}: per cent of {repeats} pairs ({repeats_learned} for a learned s)"
            f" with an arc, independent / {100 * COPIED:g} % copied.",
            ["score", *(f"{n} rows" for n in ROWS)],
            rows,
        )


def _arcs_of_pairs(judge: Score, shares: np.ndarray, n: int, copied: float, times: int) -> float:
    rng = np.random.default_rng(n)
    variables = (Variable("a", range(len(shares))), Variable("b", range(len(shares))))
    arcs = 0
    for _ in range(times):
        a, b = rng.choice(len(shares), (2, n), p=shares)
        b = np.where(rng.random(n) < copied, a, b)
        arcs += len(hill_climb(CodedTable(variables, (a, b)), judge).dag.arcs)
    return 100.0 * arcs / times


# ------------------------------------------------------------------------------- noise


def noise(tables: int = 5, resamples: int = 40, rows: int = 113) -> None:
    """Print the arcs found between nine independent columns of two or three states."""
    lines = []
    for name, judge in SCORES.items():
        for graph_prior in (None, "sizes"):
            learner = partial(hill_climb, score=judge, graph_prior=graph_prior)
            once, cells = [], []
            for seed in range(tables):
                once.append(len(learner(_noise(rows, seed)).dag.arcs))
            for how in ("halves", "bootstrap"):
                found = [
                    arc_strength(_noise(rows, seed), learner, resamples, seed, resampling=how)
                    for seed in range(tables if name != LEARNED else 1)
                ]
                kept = [len(each.averaged().arcs) for each in found]
                half = [int(np.sum(np.triu(each.strength) > 0.5)) for each in found]
                cells += [_spread(kept), _spread(half)]
            lines.append([_label(name, graph_prior), _spread(once), *cells])
    print_table(
        f"Nine independent columns of 2 to 3 states, {rows} rows: arcs of 36, mean (least - most) "
        f"of {tables} tables (resamples with a learned s: 1), {resamples} resamples.",
        ["score", "one fit", "halves", "above 0.5", "bootstrap", "above 0.5"],
        lines,
    )


def rare(tables: int = 20, share: float = 0.02, sizes: Iterable[int] = (100, 500, 2000)) -> None:
    """Print the arcs found between nine independent columns with a rare state each."""
    variables = tuple(Variable(f"x{k}", range(2)) for k in range(9))
    lines = []
    for name, judge in SCORES.items():
        for graph_prior in (None, "sizes"):
            cells = []
            for n in sizes:
                arcs = []
                for seed in range(tables):
                    rows = np.random.default_rng(seed).random((9, n)) < share
                    coded = CodedTable(variables, tuple(rows.astype(np.int64)))
                    arcs.append(len(hill_climb(coded, judge, graph_prior=graph_prior).dag.arcs))
                cells.append(_spread(arcs))
            lines.append([_label(name, graph_prior), *cells])
    print_table(
        f"Nine independent columns of two states, one of them {100 * share:g} %: arcs of 36, mean "
        f"(least - most) of {tables} tables.",
        ["score", *(f"{n} rows" for n in sizes)],
        lines,
    )


def _noise(rows: int, seed: int) -> CodedTable:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, 9).tolist()
    columns = tuple(rng.choice(r, rows, p=rng.dirichlet(np.full(r, 3.0))) for r in sizes)
    return CodedTable(tuple(Variable(f"x{k}", range(r)) for k, r in enumerate(sizes)), columns)


def _spread(values: list[int]) -> str:
    return f"{np.mean(values):.1f} ({min(values)} - {max(values)})"


# ---------------------------------------------------------------------- known networks


def networks(rows: Iterable[int] = (100, 500, 2000), repeats: int = 5) -> None:
    """Print how near graphs learned from samples come to the networks the samples are from."""
    known = {name: known_network(name) for name in ("asia", "child", "insurance", "alarm")}
    there = {name: network for name, network in known.items() if network is not None}
    heads = [
        f"{name} ({len(network.dag.variables)}, {len(network.dag.arcs)})"
        for name, network in there.items()
    ]
    for n in rows if there else ():
        lines = []
        for name, judge in SCORES.items():
            for graph_prior in (None, "sizes"):
                cells = [
                    "-"
                    if name == LEARNED and _too_slow(network, n)
                    else _near(network, judge, graph_prior, n, repeats)
                    for network in there.values()
                ]
                lines.append([_label(name, graph_prior), *cells])
        print_table(
            f"Graphs learned from {n} rows: F1 of the skeleton / false arcs / held-out log "
            f"likelihood per row less that of the true network; mean ± standard deviation of "
            f"{repeats} samples. Tables by Hierarchical().",
            ["score", *heads],
            lines,
        )


def _too_slow(network: BayesianNetwork, n: int) -> bool:
    variables = len(network.dag.variables)
    return variables > _MAX_LEARNED_VARIABLES or n * variables > _MAX_LEARNED_CELLS


def _near(
    network: BayesianNetwork, judge: Score, graph_prior: GraphPrior, n: int, repeats: int
) -> str:
    """The figures of one score on samples of one network."""
    found = np.array([_judged(network, judge, graph_prior, n, seed) for seed in range(repeats)])
    numbers = zip(found.mean(axis=0), found.std(axis=0, ddof=1), (2, 1, 2), strict=True)
    return " / ".join(f"{mean:.{digits}f} ± {sd:.{digits}f}" for mean, sd, digits in numbers)


def _judged(
    network: BayesianNetwork, judge: Score, graph_prior: GraphPrior, n: int, seed: int
) -> tuple[float, float, float]:
    """F1 of the skeleton, false arcs, and held-out log likelihood per row, of one sample."""
    table = _sample(network, n + 2000, seed)
    train, test = _part(table, slice(0, n)), _part(table, slice(n, None))
    dag = hill_climb(train, judge, graph_prior=graph_prior).dag
    truth = skeleton(network.dag)
    found = skeleton(dag)
    shared = len(truth & found)
    held = fit(train, dag, cn.Hierarchical()).log_likelihood(test).mean()
    right = network.log_likelihood(test).mean()
    return 2.0 * shared / (len(truth) + len(found)), len(found - truth), float(held - right)


def strengths(name: str = "insurance", rows: int = 500, resamples: int = 40) -> None:
    """Print true and false arcs after averaging, by halves and by the bootstrap."""
    network = known_network(name)
    if network is None:
        return
    truth = skeleton(network.dag)
    lines = []
    for label, judge in SCORES.items():
        if label == LEARNED:
            continue
        for graph_prior in (None, "sizes"):
            learner: Learner = partial(hill_climb, score=judge, graph_prior=graph_prior)
            table = _sample(network, rows, 0)
            graphs = [learner(table).dag]
            for how in ("halves", "bootstrap"):
                found = arc_strength(table, learner, resamples, 0, resampling=how)
                graphs += [found.averaged(), found.averaged(0.5)]
            pairs = [skeleton(dag) for dag in graphs]
            cells = [f"{len(each & truth)} + {len(each - truth)}" for each in pairs]
            lines.append([_label(label, graph_prior), *cells])
    print_table(
        f"{name}, {len(truth)} arcs, one sample of {rows} rows, {resamples} resamples: true + false"
        " arcs of the averaged graph.",
        ["score", "one fit", "halves", "above 0.5", "bootstrap", "above 0.5"],
        lines,
    )


def known_network(name: str) -> BayesianNetwork | None:
    """Read a network that comes with pgmpy; say so if it is not there."""
    place = importlib.util.find_spec("pgmpy")
    folders = [] if place is None else place.submodule_search_locations or []
    for folder in folders:
        path = Path(folder) / "utils" / "example_models" / f"{name}.bif.gz"
        if path.exists():
            with tempfile.TemporaryDirectory() as scratch:
                plain = Path(scratch) / f"{name}.bif"
                plain.write_bytes(gzip.decompress(path.read_bytes()))
                return cn.load(plain)
    print(f"Skipped: the network {name!r} comes with pgmpy 1.1, which is not installed.\n")
    return None


def skeleton(dag: Dag) -> set[frozenset[str]]:
    """The arcs without their directions."""
    return {frozenset(arc) for arc in dag.arcs}


def _sample(network: BayesianNetwork, rows: int, seed: int) -> CodedTable:
    return cn.tables.encode(network.sample(rows, rng=seed), variables=network.variables)


def _part(coded: CodedTable, rows: slice) -> CodedTable:
    return CodedTable(coded.variables, tuple(column[rows] for column in coded.codes))


def _label(name: str, graph_prior: GraphPrior) -> str:
    return name if graph_prior is None else f"{name}, sizes"


PARTS = {
    "pairs": pairs,
    "noise": noise,
    "rare": rare,
    "networks": networks,
    "strengths": strengths,
}


def run() -> None:
    """Run the parts named on the command line, all by default."""
    for name in sys.argv[1:] or list(PARTS):
        if name not in PARTS:
            sys.exit(f"Unknown part {name!r}; there are: {', '.join(PARTS)}.")
        PARTS[name]()


if __name__ == "__main__":
    run()
