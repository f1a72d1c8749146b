"""Related data sets: Adult cut by education and by native country, estimated in several ways.

Prints the tables of docs/groups.md. Every method is trained on the same n rows, drawn at random,
with the structure that hill climbing by BIC finds on all rows without the group; all other rows
are scored by their log probability given their group. `python -m benchmarks.groups 2` runs two
repetitions instead of ten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from colonnade import BayesianNetwork, Cpt, Dag, Hierarchical, Tiered, fit, hill_climb
from colonnade.priors import Prior
from colonnade.studies.data import load
from colonnade.studies.prepared import coded
from colonnade.tables import CodedTable, encode

SIZES = (200, 1000, 5000)
# A column with groups, and columns that say the same in other words.
GROUPINGS = {"education": ("education-num",), "native-country": ()}
# Groups with fewer rows in the whole data set are small.
MIN_LARGE = 1000

# From training rows, a graph and the group to the log probability of test rows given their group.
Method = Callable[[CodedTable, CodedTable, Dag, str], np.ndarray]


def taken(table: CodedTable, chosen: np.ndarray) -> CodedTable:
    return CodedTable(table.variables, tuple(codes[chosen] for codes in table.codes))


def column(table: CodedTable, name: str) -> np.ndarray:
    return table.codes[table.position(name)]


def separate(train: CodedTable, test: CodedTable, dag: Dag, group: str) -> np.ndarray:
    """A network for each group, from its own rows alone."""
    values = np.empty(test.rows)
    for code in range(train.variables[train.position(group)].cardinality):
        here = column(test, group) == code
        network = fit(taken(train, column(train, group) == code), dag, Tiered())
        values[here] = network.log_likelihood(taken(test, here))
    return values


def pooled(prior: Prior) -> Method:
    """One network for all groups."""

    def method(train: CodedTable, test: CodedTable, dag: Dag, group: str) -> np.ndarray:
        return fit(train, dag, prior).log_likelihood(test)

    return method


def given_group(network: BayesianNetwork, test: CodedTable, group: str) -> np.ndarray:
    share = network[group].probabilities[0]
    return network.log_likelihood(test) - np.log(share)[column(test, group)]


def as_parent(prior: Prior) -> Method:
    """The group as one more parent of every table."""

    def method(train: CodedTable, test: CodedTable, dag: Dag, group: str) -> np.ndarray:
        return given_group(fit(train, dag, prior, group=group), test, group)

    return method


def joint(prior: Prior) -> Method:
    """The joint table of a variable and its parents, pooled over groups (the model of hdir)."""

    def method(train: CodedTable, test: CodedTable, dag: Dag, group: str) -> np.ndarray:
        network = fit(train, dag, Hierarchical(), group=group)
        tables = {group: network[group]}
        for name in dag.variables:
            family, counts = network[name].family, network[name].counts
            shape = (*family.parent_sizes, family.cardinality)
            means = prior.estimate(counts.to_array().reshape(shape[0], -1)).reshape(shape)
            tables[name] = Cpt.known(family, means / means.sum(axis=-1, keepdims=True))
        return given_group(BayesianNetwork(network.dag, tables, group=group), test, group)

    return method


METHODS: dict[str, Method] = {
    "separate, tiered": separate,
    "pooled, $s$ learned": pooled(Hierarchical(s="learn")),
    "pooled, tiered": pooled(Tiered()),
    "parent, $s = r$": as_parent(Hierarchical()),
    "parent, $s$ learned": as_parent(Hierarchical(s="learn")),
    "joint, $s = rq$": joint(Hierarchical()),
    "joint, $s$ learned": joint(Hierarchical(s="learn")),
    "parent, tiered": as_parent(Tiered()),
}


def measured(
    table: CodedTable, group: str, dag: Dag, size: int, seed: int
) -> dict[str, tuple[float, float, float, float]]:
    """Mean log probability: all rows; rows of large groups; of small ones; mean over groups."""
    chosen = np.zeros(table.rows, dtype=bool)
    rng = np.random.default_rng([seed, size])
    chosen[rng.choice(table.rows, size, replace=False)] = True
    train, test = taken(table, chosen), taken(table, ~chosen)
    groups = column(test, group)
    large = np.bincount(column(table, group))[groups] >= MIN_LARGE
    found = {}
    for name, method in METHODS.items():
        values = method(train, test, dag, group)
        sums = np.bincount(groups, weights=values)
        rows = np.bincount(groups)
        by_group = (sums[rows > 0] / rows[rows > 0]).mean()
        found[name] = (values.mean(), values[large].mean(), values[~large].mean(), by_group)
    return found


def new_groups(table: CodedTable, group: str, dag: Dag, size: int, seed: int) -> np.ndarray:
    """Mean log probability of the rows of each group, by networks that saw no row of it.

    ``[group, network]``: the network of a new group, and that of all groups together.
    """
    rng = np.random.default_rng([seed, size])
    chosen = rng.choice(table.rows, size, replace=False)
    found = []
    for code in np.unique(column(table, group)):
        train = taken(table, chosen[column(table, group)[chosen] != code])
        test = taken(table, column(table, group) == code)
        network = fit(train, dag, group=group)
        both = network.for_group(network.groups[code]), network.pooled()
        found.append([each.log_likelihood(test).mean() for each in both])
    return np.array(found)


def run(repetitions: int = 10) -> None:
    """Print a table for each grouping; for the first, also what is said about groups never seen."""
    whole = coded(load("adult"))
    for group, others in GROUPINGS.items():
        table = encode(whole, columns=[name for name in whole.names if name not in others])
        rest = encode(table, columns=[name for name in table.names if name != group])
        dag = hill_climb(rest).dag
        sizes = np.bincount(column(table, group))
        small = sizes[sizes < MIN_LARGE]
        rows = f"{small.sum():,} of {table.rows:,} rows"
        print(f"\n**{group}**: {len(sizes)} groups, {len(small)} of them small ({rows})\n")
        print("| rows | method | all rows | large groups | small groups | mean over groups |")
        print("|---|---|---|---|---|---|")
        for size in SIZES:
            found = [measured(table, group, dag, size, seed) for seed in range(repetitions)]
            print_rows(size, {name: np.array([each[name] for each in found]) for name in METHODS})
            sys.stdout.flush()
        if group == "education":
            left_out = [new_groups(table, group, dag, 1000, seed) for seed in range(repetitions)]
            print_left_out(np.array(left_out))


def print_left_out(values: np.ndarray) -> None:
    """One sentence about ``[repetition, group, new group or pool]``."""
    new, pool = values.mean(axis=(0, 1))
    gains = values[:, :, 0] - values[:, :, 1]
    print(f"\nEach group left out, 1000 rows: new group {new:.3f}, pool {pool:.3f}, gain", end=" ")
    print(f"{gains.mean():.3f} ± {gains.mean(axis=1).std():.3f}", end=", ")
    print(f"better in {(gains > 0).sum()} of {gains.size} cases", flush=True)


def print_rows(size: int, found: dict[str, np.ndarray]) -> None:
    """One line per method: means and standard deviations over the repetitions; the best is bold."""
    means = {name: values.mean(axis=0).round(2) for name, values in found.items()}
    best = np.max(list(means.values()), axis=0)
    for name, values in found.items():
        cells = []
        for k, spread in enumerate(values.std(axis=0)):
            bold = "**" if means[name][k] == best[k] else ""
            cells.append(f"{bold}{means[name][k]:.2f}{bold} ± {spread:.2f}")
        print(f"| {size} | {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
