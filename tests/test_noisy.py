"""Noisy-or and noisy-max tables: by definition, and fitted by EM."""

from itertools import product

import numpy as np
import pytest

import colonnade as cn
from colonnade.counts import FamilyCounts
from colonnade.exceptions import InputError
from colonnade.priors import Effects, NoisyMax


def drawn(rng, sizes, states, absent=True):
    parents = [rng.dirichlet(np.ones(states), size) for size in sizes]
    for table in parents if absent else ():
        table[0] = np.eye(states)[0]
    return Effects(tuple(parents), rng.dirichlet(np.full(states, 3.0)))


def by_definition(effects, codes):
    """Sum over all effects of all causes."""
    states = effects.leak.size
    rows = np.zeros((len(codes), states))
    for k, code in enumerate(codes):
        causes = [t[c] for t, c in zip(effects.parents, code, strict=True)] + [effects.leak]
        for seen in product(range(states), repeat=len(causes)):
            rows[k, max(seen)] += np.prod([f[z] for f, z in zip(causes, seen, strict=True)])
    return rows


@pytest.mark.parametrize(("sizes", "states"), [((2, 2), 2), ((3, 2, 2), 3), ((), 3), ((4,), 4)])
def test_rows_are_those_of_the_definition(sizes, states):
    rng = np.random.default_rng(0)
    effects = drawn(rng, sizes, states, absent=False)
    every = list(product(*map(range, sizes)))
    codes = np.array(every, np.int64).reshape(len(every), len(sizes))
    np.testing.assert_allclose(effects.rows(codes), by_definition(effects, codes), atol=1e-14)
    child = cn.Variable("x", range(states))
    parents = [cn.Variable(f"p{k}", range(size)) for k, size in enumerate(sizes)]
    cpt = cn.Cpt.noisy_max(cn.Family(child, parents), effects.parents, effects.leak)
    np.testing.assert_allclose(cpt.probabilities, effects.rows(codes), atol=1e-12)


def test_expected_effects_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    effects = drawn(rng, (2, 3), 3, absent=False)
    codes = np.array([[1, 2], [0, 1]])
    counts = rng.integers(0, 9, (2, 3)).astype(float)
    found = effects.expected(codes, counts)
    for k, code in enumerate(codes):
        causes = [t[c] for t, c in zip(effects.parents, code, strict=True)] + [effects.leak]
        wanted = np.zeros((3, 3))
        total = by_definition(effects, codes[k : k + 1])[0]
        for seen in product(range(3), repeat=3):
            chance = np.prod([f[z] for f, z in zip(causes, seen, strict=True)])
            for cause, z in enumerate(seen):
                wanted[cause, z] += counts[k, max(seen)] * chance / total[max(seen)]
        np.testing.assert_allclose([each[k] for each in found], wanted, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_em_finds_the_effects_that_made_the_counts(seed):
    rng = np.random.default_rng(seed)
    sizes, states = ((2, 2, 3), 3) if seed % 2 else ((2, 2, 2, 2), 2)
    effects = drawn(rng, sizes, states)
    codes = np.array(list(product(*map(range, sizes))), np.int64)
    counts = FamilyCounts.from_observed(sizes, codes, 1e4 * effects.rows(codes))
    found = NoisyMax(1e-6).effects(counts)
    np.testing.assert_allclose(found.leak, effects.leak, atol=5e-3)
    for mine, own in zip(found.parents, effects.parents, strict=True):
        np.testing.assert_allclose(mine, own, atol=5e-3)
    np.testing.assert_allclose(NoisyMax(1e-6).estimate(counts), effects.rows(codes), atol=1e-4)


def test_few_rows_and_many_parents_are_learned_better_than_a_free_table():
    rng = np.random.default_rng(3)
    sizes = (2,) * 8
    effects = drawn(rng, sizes, 2)
    table = {f"p{k}": rng.integers(2, size=300) for k in range(8)}
    codes = np.stack(list(table.values()), axis=1)
    table["x"] = (rng.random(300) < effects.rows(codes)[:, 1]).astype(int)
    dag = cn.Dag([(f"p{k}", "x") for k in range(8)])
    noisy = cn.fit(table, dag, cn.BDeu(1), per_variable={"x": NoisyMax()})
    free = cn.fit(table, dag, cn.BDeu(1))
    truth = effects.rows(np.array(list(product(range(2), repeat=8))))
    errors = [np.abs(each["x"].probabilities - truth).mean() for each in (noisy, free)]
    assert errors[0] < errors[1] / 3


def test_networks_with_it_are_saved_and_learn(tmp_path):
    rng = np.random.default_rng(4)
    table = {"a": rng.integers(2, size=50), "b": rng.integers(3, size=50)}
    table["x"] = np.maximum(table["a"], rng.integers(2, size=50))
    dag = cn.Dag([("a", "x"), ("b", "x")])
    network = cn.fit(table, dag, cn.BDeu(1), per_variable={"x": NoisyMax(2)})
    network.save(tmp_path / "model.json")
    again = cn.load(tmp_path / "model.json")
    np.testing.assert_allclose(again["x"].probabilities, network["x"].probabilities)
    more = network.update(table)
    both = {name: np.concatenate([column, column]) for name, column in table.items()}
    wanted = cn.fit(both, dag, cn.BDeu(1), per_variable={"x": NoisyMax(2)})
    np.testing.assert_allclose(more["x"].probabilities, wanted["x"].probabilities, atol=1e-9)


@pytest.mark.parametrize(
    ("effects", "leak", "message"),
    [
        ([], None, "1 array, one for each parent, for `effects`, got 0"),
        ([[[1, 0]]], None, r"an array of shape \(2, 2\) for 'a' for `effects`, got shape \(1, 2\)"),
        ([[[1, 0], [0.5, 0.4]]], None, "rows that sum to 1 for `effects`"),
        ([[[1, 0], [0.5, 0.5]]], [1.0], "2 probabilities for `leak`, got 1"),
        (3, None, "an array for each parent for `effects`, got 3"),
    ],
)
def test_wrong_effects_are_refused(effects, leak, message):
    family = cn.Family(cn.Variable("x", [0, 1]), [cn.Variable("a", [0, 1])])
    with pytest.raises(InputError, match=message):
        cn.Cpt.noisy_max(family, effects, leak)
