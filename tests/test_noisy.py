"""Noisy-or and noisy-max tables: by definition, and fitted by EM."""

import warnings
from itertools import product

import numpy as np
import pytest

import colonnade as cn
from colonnade.counts import FamilyCounts
from colonnade.exceptions import FileFormatError, InputError
from colonnade.files import FormatWarning
from colonnade.priors import Effects, NoisyMax


def drawn(rng, sizes, states, absent=True, descending=False):
    parents = [rng.dirichlet(np.ones(states), size) for size in sizes]
    for table in parents if absent else ():
        table[-1 if descending else 0] = np.eye(states)[-1 if descending else 0]
    return Effects(tuple(parents), rng.dirichlet(np.full(states, 3.0)), descending)


def by_definition(effects, codes):
    """Sum over all effects of all causes."""
    states = effects.leak.size
    strongest = min if effects.descending else max
    rows = np.zeros((len(codes), states))
    for k, code in enumerate(codes):
        causes = [t[c] for t, c in zip(effects.parents, code, strict=True)] + [effects.leak]
        for seen in product(range(states), repeat=len(causes)):
            rows[k, strongest(seen)] += np.prod([f[z] for f, z in zip(causes, seen, strict=True)])
    return rows


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("sizes", "states"), [((2, 2), 2), ((3, 2, 2), 3), ((), 3), ((4,), 4)])
def test_rows_are_those_of_the_definition(sizes, states, descending):
    rng = np.random.default_rng(0)
    effects = drawn(rng, sizes, states, False, descending)
    every = list(product(*map(range, sizes)))
    codes = np.array(every, np.int64).reshape(len(every), len(sizes))
    np.testing.assert_allclose(effects.rows(codes), by_definition(effects, codes), atol=1e-14)
    child = cn.Variable("x", range(states))
    parents = [cn.Variable(f"p{k}", range(size)) for k, size in enumerate(sizes)]
    family = cn.Family(child, parents)
    cpt = cn.Cpt.noisy_max(family, effects.parents, effects.leak, descending)
    assert cpt.effects == effects
    np.testing.assert_allclose(cpt.probabilities, effects.rows(codes), atol=1e-12)


@pytest.mark.parametrize("descending", [False, True])
def test_expected_effects_are_those_of_the_definition(descending):
    rng = np.random.default_rng(1)
    effects = drawn(rng, (2, 3), 3, False, descending)
    strongest = min if descending else max
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
                wanted[cause, z] += counts[k, strongest(seen)] * chance / total[strongest(seen)]
        np.testing.assert_allclose([each[k] for each in found], wanted, atol=1e-12)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_em_finds_the_effects_that_made_the_counts(seed, descending):
    rng = np.random.default_rng(seed)
    sizes, states = ((2, 2, 3), 3) if seed % 2 else ((2, 2, 2, 2), 2)
    effects = drawn(rng, sizes, states, descending=descending)
    codes = np.array(list(product(*map(range, sizes))), np.int64)
    counts = FamilyCounts.from_observed(sizes, codes, 1e4 * effects.rows(codes))
    # Parts that say nothing, and in which absence is what it is in the truth.
    even = [np.where(table == 1.0, 1.0, table > 0.0) for table in effects.parents]
    even = [table / table.sum(axis=1, keepdims=True) for table in even]
    around = Effects(even, np.full(states, 1 / states), True) if descending else None
    prior = NoisyMax(1e-6, around)
    found = prior.effects(counts)
    np.testing.assert_allclose(found.leak, effects.leak, atol=5e-3)
    for mine, own in zip(found.parents, effects.parents, strict=True):
        np.testing.assert_allclose(mine, own, atol=5e-3)
    np.testing.assert_allclose(prior.estimate(counts), effects.rows(codes), atol=1e-4)


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


def a_network(rng, descending=True):
    """Two causes and a noisy-max effect, and a variable that depends on it."""
    a, b = cn.Variable("a", ["no", "yes"]), cn.Variable("b", [0, 1, 2])
    x, y = cn.Variable("x", ["high", "low", "none"]), cn.Variable("y", [False, True])
    effects = drawn(rng, (2, 3), 3, True, descending)
    tables = {
        "a": cn.Cpt.known(cn.Family(a), [[0.7, 0.3]]),
        "b": cn.Cpt.known(cn.Family(b), [[0.5, 0.3, 0.2]]),
        "x": cn.Cpt.of_effects(cn.Family(x, [a, b]), effects),
        "y": cn.Cpt.known(cn.Family(y, [x]), [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]),
    }
    return cn.BayesianNetwork(cn.Dag([("a", "x"), ("b", "x"), ("x", "y")]), tables)


def in_full(network):
    tables = {
        name: cn.Cpt.known(cpt.family, cpt.probabilities) for name, cpt in network.tables.items()
    }
    return cn.BayesianNetwork(network.dag, tables)


@pytest.mark.parametrize("descending", [False, True])
def test_every_question_has_the_answer_of_the_full_table(descending):
    network = a_network(np.random.default_rng(5), descending)
    full = in_full(network)
    assert network == full
    rows = full.sample(200, rng=0)
    gaps = {name: list(column) for name, column in rows.items()}
    for k, name in enumerate(gaps):
        gaps[name][k::5] = [None] * len(gaps[name][k::5])
    exact = [
        lambda net: net.query("x", {"y": True}).probabilities,
        lambda net: net.query(["a", "b"], {"x": ["high", "low"]}).probabilities,
        lambda net: net.query("y", do={"a": "yes"}).probabilities,
        lambda net: net.log_likelihood(gaps),
        lambda net: net.predict(gaps, "x").probabilities,
        lambda net: net.anomaly(gaps).log_likelihood,
    ]
    for question in exact:
        np.testing.assert_allclose(question(network), question(full), atol=1e-12)
    shown = [
        lambda net: net.most_probable({"y": True}),
        lambda net: net.effect("y", of={"a": ("yes", "no")}),
        lambda net: net.sample(50, rng=1, observed={"y": True}),
        lambda net: net.impute(gaps, how="sample", rng=1),
        lambda net: net.entropy(),
        lambda net: net.informative("y"),
        lambda net: net.sensitivity("y", state=True),
        lambda net: net.explain("y", {"x": "low"}),
    ]
    for question in shown:
        assert repr(question(network)) == repr(question(full))
    assert "Cpt('x' given 'a', 'b', known)" in repr(network["x"])
    assert repr(network["x"]).splitlines()[1:] == repr(full["x"]).splitlines()[1:]


GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="fever" numsamples="1000"><nodes>
<cpt id="flu"><state id="severe" /><state id="none" /><state id="mild" />
<probabilities>0.1 0.7 0.2</probabilities></cpt>
<cpt id="cold"><state id="yes" /><state id="no" /><probabilities>0.3 0.7</probabilities></cpt>
<noisymax id="fever"><state id="high" /><state id="low" /><state id="no" />
<parents>flu cold</parents><strengths>0 2 1 0 1</strengths>
<parameters>0.5 0.3 0.2 0.1 0.4 0.5 0 0 1 0.05 0.25 0.7 0 0 1 0.01 0.02 0.97</parameters>
</noisymax></nodes></smile>
"""


def test_noisy_max_nodes_of_genie_are_read_and_written_again(tmp_path):
    path = tmp_path / "fever.xdsl"
    path.write_text(GENIE)
    network = cn.load(path)
    cpt = network["fever"]
    # Nothing of what may cause it is present: the leak. By hand, with a mild flu and a cold.
    np.testing.assert_allclose(cpt.table.row((1, 1)), [0.01, 0.02, 0.97])
    no, not_high = 0.5 * 0.7 * 0.97, 0.9 * 0.95 * 0.99
    np.testing.assert_allclose(cpt.table.row((2, 0)), [1 - not_high, not_high - no, no])
    codes = np.array(list(product(range(3), range(2))))
    np.testing.assert_allclose(cpt.probabilities, by_definition(cpt.effects, codes), atol=1e-15)
    with warnings.catch_warnings(action="error"):
        network.save(tmp_path / "again.xdsl")
    again = cn.load(tmp_path / "again.xdsl")
    assert "<noisymax" in (tmp_path / "again.xdsl").read_text()
    assert again == network
    assert again["fever"].effects == cpt.effects
    for ending in ("bif", "net", "xmlbif", "json"):
        network.save(tmp_path / f"model.{ending}")
        other = cn.load(tmp_path / f"model.{ending}")["fever"]
        np.testing.assert_allclose(other.probabilities, cpt.probabilities, atol=1e-15)
        assert other.effects == (cpt.effects if ending == "json" else None)


def test_a_noisy_or_of_many_parents_is_read_and_written(tmp_path):
    parents = [cn.Variable(f"p{k}", ["yes", "no"]) for k in range(40)]
    x = cn.Variable("x", ["yes", "no"])
    effects = [[[0.02, 0.98], [0, 1]]] * 40
    tables = {p.name: cn.Cpt.known(cn.Family(p), [[0.5, 0.5]]) for p in parents}
    tables["x"] = cn.Cpt.noisy_max(cn.Family(x, parents), effects, descending=True)
    network = cn.BayesianNetwork(cn.Dag([(p.name, "x") for p in parents]), tables)
    for ending in ("xdsl", "json"):
        network.save(tmp_path / f"many.{ending}")
        again = cn.load(tmp_path / f"many.{ending}")
        assert again["x"].effects == network["x"].effects
    observed = {p.name: "yes" for p in parents}
    assert again.query("x", observed)["no"] == pytest.approx(0.98**40)
    assert "more configurations" in repr(again["x"]) or "other configurations" in repr(again["x"])


def test_a_table_that_genie_cannot_hold_is_written_in_full(tmp_path):
    network = a_network(np.random.default_rng(6), descending=False)
    with pytest.warns(FormatWarning, match="noisy-max table of 'x' in full"):
        network.save(tmp_path / "full.xdsl")
    again = cn.load(tmp_path / "full.xdsl")
    assert again == network
    assert again["x"].effects is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<strengths>0 2 1 0 1", "<strengths>0 2 2 0 1", "do not list the states of its parents"),
        ("<strengths>0 2 1 0 1", "<strengths>0 2 1 0", "do not list the states of its parents"),
        ("<strengths>0 2 1 0 1", "<strengths>0 2 1 0 .5", "strengths are not all integers"),
        ("0.5 0.3 0.2", "0.5 0.3", "17 probabilities for 5 states of its parents and a leak"),
        ("0.1 0.4 0.5", "0.1 0.4 0.7", "of the effect of flu = mild do not sum to 1"),
        ("0.05 0.25", "0.5 0.25", "of the effect of cold = yes do not sum to 1"),
        ("0.01 0.02", "-0.01 0.02", "of the leak is negative"),
        ("parameters>", "probabilities>", "it has no parameters"),
    ],
)
def test_damaged_noisy_max_nodes_are_refused(old, new, message, tmp_path):
    path = tmp_path / "bad.xdsl"
    path.write_text(GENIE.replace(old, new))
    with pytest.raises(FileFormatError, match=message):
        cn.load(path)


def test_known_effects_are_learned_on_with_a_weight():
    truth = a_network(np.random.default_rng(7))
    begun = a_network(np.random.default_rng(8))
    weighed = begun.with_weight({"x": 20})
    np.testing.assert_allclose(weighed["x"].probabilities, begun["x"].probabilities, atol=1e-12)
    wanted = truth["x"].probabilities
    errors = [np.abs(begun["x"].probabilities - wanted).max()]
    for rows in (100, 10_000):
        learned = weighed.update(truth.sample(rows, rng=0))
        errors.append(np.abs(learned["x"].probabilities - wanted).max())
        assert learned["x"].effects.parents[0][-1].tolist() == [0, 0, 1]
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.1


def test_rows_with_gaps_are_fitted_by_em():
    truth = a_network(np.random.default_rng(9))
    rows = truth.sample(4000, rng=0)
    rng = np.random.default_rng(0)
    gaps = {
        name: np.where(rng.random(4000) < 0.2, None, np.array(column, object)).tolist()
        for name, column in rows.items()
    }
    prior = NoisyMax(1, truth["x"].effects)
    coded = cn.encode(gaps, variables=truth.variables)
    fitted = cn.fit(coded, truth.dag, cn.BDeu(1), per_variable={"x": prior}, missing="em")
    rise = np.diff(fitted.diagnostics.objective)
    assert fitted.diagnostics.converged
    assert (rise > -1e-6).all()
    assert np.abs(fitted["x"].probabilities - truth["x"].probabilities).max() < 0.1
    # Other effects are worse, by the likelihood of the rows as they are and by the prior.
    found = fitted["x"].effects

    def objective(effects):
        tables = fitted.tables | {"x": cn.Cpt.of_effects(fitted["x"].family, effects)}
        own = cn.BayesianNetwork(fitted.dag, tables).log_likelihood(gaps).sum()
        pairs = zip(prior.around.parts, effects.parts, strict=True)
        return own + sum((a[a > 0] * np.log(b[a > 0])).sum() for a, b in pairs)

    best = objective(found)
    for _ in range(6):
        other = drawn(rng, (2, 3), 3, True, True)
        parts = zip(found.parts, other.parts, strict=True)
        assert objective(found.with_parts([0.98 * a + 0.02 * b for a, b in parts])) < best
