"""`make demo`: one network estimated from few rows by every prior, in the terminal."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from colonnade.arrays import Array, Floats, Integers
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, Prior, SymmetricDirichlet
from colonnade.progress import Progress

__all__ = ["main"]

TARGET = "diagnosis"
FEATURES, BINS, ROWS, REPEATS, SEED = 10, 5, 60, 10, 2017
PRIORS: dict[str, Prior] = {
    "maximum likelihood": MaximumLikelihood("uniform"),
    "BDeu(1)": BDeu(1),
    "BDeu(10)": BDeu(10),
    "symmetric Dirichlet": SymmetricDirichlet(),
    "hierarchical": Hierarchical(),
    "hierarchical, s learned": Hierarchical(s="learn"),
}


_Table = dict[str, Array]


class _Trial(NamedTuple):
    """What one sample of training rows gave: networks by prior, held-out log likelihoods."""

    test: _Table
    networks: dict[str, BayesianNetwork]
    held_out: dict[str, Floats]


def main() -> None:
    """Compare the priors, ask one question, save the network."""
    console = Console(highlight=False)
    console.width = min(console.width, 80)
    data = _load()
    size = len(data[TARGET])
    console.print(
        "[bold]Colonnade[/bold]: the tables of a Bayesian network from few rows, by every prior\n\n"
        f"Breast cancer data of scikit-learn: {size} tumours, {FEATURES} measurements "
        f"cut into {BINS} intervals, and the diagnosis. Cut points, graph (tree-augmented naive "
        f"Bayes) and tables are learned from {ROWS} rows drawn at random. Compared is the mean log "
        f"likelihood of one of the other {size - ROWS} rows, over {REPEATS} such "
        "draws. Cut points and graph are the same for every prior; only the tables differ.\n"
    )
    rng = np.random.default_rng(SEED)
    trials = []
    with Progress("Estimating", REPEATS) as progress:
        for _ in range(REPEATS):
            trials.append(_trial(data, rng.permutation(size)))
            progress.advance()
    console.print(_compared(trials))
    console.print(
        "\nMaximum likelihood calls rows impossible that then occur. BDeu and the symmetric "
        "Dirichlet draw every row of a table towards the uniform distribution; the hierarchical "
        "prior draws it towards the other rows and, with s learned, as strongly as the data "
        "suggest.\n"
    )
    network = trials[0].networks["hierarchical, s learned"]
    _ask(console, network, trials[0].test)
    path = Path(tempfile.mkdtemp(prefix="colonnade-"), "tumours.json")
    network.save(path)
    console.print(
        "\nThe network is saved, with counts, priors and cut points. Look at it, and with a name "
        f"such as {TARGET} after it at one table, with"
    )
    console.print(f"  {_program()} show {path}", soft_wrap=True, markup=False)


def _program() -> str:
    """How to call the command line from here."""
    if shutil.which("colonnade"):
        return "colonnade"
    python = Path(sys.executable)
    near = python.is_relative_to(Path.cwd())
    return f"{python.relative_to(Path.cwd()) if near else python} -m colonnade"


def _load() -> _Table:
    """The diagnoses of tumours and their measurements."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    measured = zip(bunch.feature_names[:FEATURES], bunch.data.T, strict=False)
    labels = bunch.target_names[bunch.target].astype(object)
    return {TARGET: labels, **{str(name): column for name, column in measured}}


def _trial(data: _Table, order: Integers) -> _Trial:
    """Learn everything from the first rows of an order, and score the others."""
    from colonnade.structure import tan
    from colonnade.tables import discretize

    train = {name: column[order[:ROWS]] for name, column in data.items()}
    test = {name: column[order[ROWS:]] for name, column in data.items()}
    cut = discretize(train, bins=BINS)
    dag = tan(cut, target=TARGET)
    networks = {name: fit(cut, dag, prior) for name, prior in PRIORS.items()}
    held_out = {name: network.log_likelihood(test) for name, network in networks.items()}
    return _Trial(test, networks, held_out)


def _compared(trials: list[_Trial]) -> Table:
    """One line per prior; differences are taken within each draw of training rows."""
    means = {name: np.array([trial.held_out[name].mean() for trial in trials]) for name in PRIORS}
    best = max(means, key=lambda name: float(means[name].mean()))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("prior", no_wrap=True)
    for title in ("held-out", "behind best (s.e.)", "impossible rows"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, values in means.items():
        impossible = np.mean([np.isneginf(trial.held_out[name]).mean() for trial in trials])
        behind = "" if name == best else "-"
        if name != best and np.isfinite(values).all():
            gap = means[best] - values
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            behind = f"{gap.mean():.3f} ({error:.3f})"
        cells = (name, f"{values.mean():.3f}", behind, f"{100 * impossible:.0f} %")
        table.add_row(*cells, style="bold" if name == best else "")
    return table


def _ask(console: Console, network: BayesianNetwork, rows: _Table) -> None:
    """Ask for the diagnosis of a held-out tumour of which three measurements are known."""
    assert network.discretizer is not None  # the measurements were cut
    cut = network.discretizer.apply(rows)
    observed = {name: cut[name][0] for name in ("mean radius", "mean texture", "mean smoothness")}
    result = network.query(TARGET, observed, draws=500, rng=SEED)
    assert result.lower is not None
    assert result.upper is not None
    console.print("[bold]A question[/bold]: the diagnosis of a held-out tumour, given only")
    for name, state in observed.items():
        console.print(f"  {name} {state}", markup=False)
    console.print("Probability and 95 % interval, which carries the uncertainty of all tables:")
    for k, answer in enumerate(result.states[0]):
        interval = f"{result.lower[k]:.3f} to {result.upper[k]:.3f}"
        console.print(f"  {answer:<10} {result.probabilities[k]:.3f}   {interval}")
    console.print(f"It was {rows[TARGET][0]}.")


if __name__ == "__main__":
    main()
