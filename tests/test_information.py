"""Information against sums over all states, and against pyAgrum."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colonnade import BayesianNetwork, Cpt, Dag, Family, Variable, fit
from colonnade.exceptions import DataError, InputError, NotSupportedError
from drawn_networks import cpts, dags, joint, networks, situations


def entropy(table):
    table = table[table > 0.0]
    return float(-(table * np.log(table)).sum())


@settings(max_examples=30, deadline=None)
@given(networks(least=3, most=5), st.data())
def test_entropy_and_information_by_sums(network, data):
    assume(all(network[name].table.complete for name in network))
    names = list(network)
    x, y, z, *_ = data.draw(st.permutations(names))
    total = joint(network)
    place = {name: k for k, name in enumerate(names)}

    def marginal(*kept):
        return total.sum(axis=tuple(place[name] for name in names if name not in kept))

    close = {"abs_tol": 1e-10}
    assert math.isclose(network.entropy().value, entropy(total), **close)
    assert math.isclose(network.entropy([x, y]).value, entropy(marginal(x, y)), **close)
    wanted = entropy(marginal(x)) + entropy(marginal(y)) - entropy(marginal(x, y))
    assert math.isclose(network.mutual_information(x, y).value, wanted, **close)
    wanted = entropy(marginal(x, z)) + entropy(marginal(y, z))
    wanted -= entropy(marginal(x, y, z)) + entropy(marginal(z))
    assert math.isclose(network.mutual_information(x, y, given=z).value, wanted, **close)
    assert math.isclose(network.mutual_information([x], [y], [z]).value, wanted, **close)
    state = network.sample(1, 0)[z][0]
    given_z = np.take(total, [network[z].family.child.index(state)], axis=place[z])
    given_z = given_z / given_z.sum()
    assert math.isclose(network.entropy(observed={z: state}).value, entropy(given_z), **close)
    told = network.informative(x, {z: state})
    assert set(told) == set(names) - {x, z}
    assert list(told.values()) == sorted(told.values(), reverse=True)
    mine = network.mutual_information(x, y, observed={z: state}).value
    assert told[y].value == mine


@settings(max_examples=30, deadline=None)
@given(networks(least=2, most=4), st.data())
def test_divergence_by_sums(network, data):
    names = list(network)
    variables = {v.name: v for v in network.variables}
    dag = data.draw(dags(st.sampled_from(names), len(names), len(names)))
    tables = {
        name: data.draw(cpts(Family(variables[name], [variables[p] for p in dag.parents(name)])))
        for name in dag
    }
    other = BayesianNetwork(dag, tables)
    assume(all(each[name].table.complete for each in (network, other) for name in names))
    p = joint(network)
    q = joint(other).transpose([dag.variables.index(name) for name in names])
    here = p > 0.0
    found = network.kl(other).value
    if (q[here] == 0.0).any():
        assert found == math.inf
    else:
        wanted = float((p[here] * np.log(p[here] / q[here])).sum())
        assert math.isclose(found, wanted, abs_tol=1e-10)
    assert network.kl(network).value == pytest.approx(0.0, abs=1e-12)


def test_divergence_is_that_of_pyagrum():
    gum = pytest.importorskip("pyagrum")
    rng = np.random.default_rng(0)
    table = {name: rng.choice(["u", "v", "w"], 200) for name in "abc"}
    one = fit(table, Dag([("a", "b"), ("b", "c")]))
    two = fit(table, Dag([("c", "a")], ["a", "b", "c"]))
    models = one.to_pyagrum(), two.to_pyagrum()  # pyAgrum does not keep them
    found = gum.ExactBNdistance(*models).compute()
    assert math.isclose(one.kl(two).value, found["klPQ"] * math.log(2), rel_tol=1e-6)


def test_intervals():
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=80)
    table = {"x": x, "y": np.where(rng.random(80) < 0.8, x, 1 - x)}
    network, other = fit(table, Dag([("x", "y")])), fit(table, Dag([], ["x", "y"]))
    draws = {name: network[name].posterior.sample(4000, 1) for name in "xy"}
    both = draws["x"][:, 0, :, None] * draws["y"]

    def entropies(tables):
        return -(tables * np.log(tables)).reshape(len(tables), -1).sum(axis=1)

    whole = entropies(both)
    told = entropies(both.sum(axis=1)) + entropies(both.sum(axis=2)) - whole
    asked = {"draws": 2000, "rng": 0}
    for found, samples in (
        (network.entropy(**asked), whole),
        (network.entropy(["x", "y"], **asked), whole),
        (network.mutual_information("x", "y", **asked), told),
    ):
        wanted = np.quantile(samples, [0.025, 0.975])
        width = wanted[1] - wanted[0]
        assert abs(found.lower - wanted[0]) < 0.15 * width
        assert abs(found.upper - wanted[1]) < 0.15 * width
        assert found.lower < found.value < found.upper
    apart = network.kl(other, **asked)
    assert 0.0 <= apart.lower < apart.value < apart.upper
    narrow = network.kl(other, draws=2000, level=0.5, rng=0)
    assert narrow.upper - narrow.lower < apart.upper - apart.lower


def test_what_is_refused():
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    tables = {"a": Cpt.known(Family(a), [0.5, 0.5]), "b": Cpt.known(Family(b), [0.5, 0.5])}
    network = BayesianNetwork(Dag([], ["a", "b"]), tables)
    with pytest.raises(InputError, match="'a' twice"):
        network.mutual_information("a", "b", given="a")
    with pytest.raises(InputError, match="at least one name for `x`"):
        network.mutual_information([], "b")
    with pytest.raises(InputError, match="one of 'a', 'b'"):
        network.informative("z")
    with pytest.raises(InputError, match="the same variables"):
        network.kl(fit({"a": [0, 1]}, Dag([], ["a"])))
    with pytest.raises(InputError, match="a BayesianNetwork"):
        network.kl("b")
    for ask in (network.entropy, lambda draws: network.kl(network, draws)):
        with pytest.raises(NotSupportedError, match="have no posterior"):
            ask(draws=100)


@settings(max_examples=40, deadline=None)
@given(situations(), st.integers(0, 2**16))
def test_sensitivity_by_changing_tables(situation, seed):
    """An entry is changed, the rest of its row in proportion, and the question asked again."""
    network, target, state, observed = situation
    before = network.query(target, observed)[state]
    found = network.sensitivity(target, state, observed)
    # Equal ones are in the order of the tables.
    assert np.all(np.diff([abs(e.derivative) for e in found]) <= 1e-12)
    seen = {(e.variable, tuple(e.configuration.values()), e.state): e for e in found}
    tables = {name: network[name].probabilities for name in network}
    between = [
        (name, int(row), int(k))
        for name, table in tables.items()
        for row, k in zip(*np.nonzero((table > 0.0) & (table < 1.0)), strict=True)
    ]
    np.random.default_rng(seed).shuffle(between)
    for name, row, k in between[:8]:
        family, table = network[name].family, tables[name]
        x = 0.5 * table[row, k] + 0.1
        rows = table.copy()
        rows[row] *= (1.0 - x) / (1.0 - table[row, k])
        rows[row, k] = x
        other = {**network.tables, name: Cpt.known(family, rows)}
        after = BayesianNetwork(network.dag, other).query(target, observed)[state]
        entry = seen.get((name, family.configuration(row), family.child.states[k]))
        if entry is None:
            assert math.isclose(after, before, abs_tol=1e-9)
        else:
            assert entry.value == table[row, k]
            assert math.isclose(entry.at(x), after, abs_tol=1e-9)
            assert math.isclose(entry.at(entry.value), before, abs_tol=1e-9)
            step = 1e-6
            slope = (entry.at(entry.value + step) - entry.at(entry.value - step)) / (2 * step)
            assert math.isclose(entry.derivative, slope, rel_tol=1e-3, abs_tol=1e-5)


def test_explanations():
    rng = np.random.default_rng(0)
    ill = rng.random(300) < 0.3
    table = {
        "ill": ill,
        "test": np.where(rng.random(300) < 0.9, ill, ~ill),
        "cough": np.where(rng.random(300) < 0.6, ill, ~ill),
    }
    network = fit(table, Dag([("ill", "test"), ("ill", "cough")]))
    found = network.explain("ill", {"cough": True, "test": True})
    assert list(found.findings) == ["test", "cough"]
    np.testing.assert_array_equal(found.before, network.query("ill").probabilities)
    both = network.query("ill", {"cough": True, "test": True}).probabilities
    np.testing.assert_array_equal(found.after, both)
    alone = network.query("ill", {"test": True}).probabilities
    np.testing.assert_array_equal(found.findings["test"].alone, alone)
    np.testing.assert_array_equal(found.findings["cough"].without, alone)
    with pytest.raises(InputError, match="not observed"):
        network.explain("ill", {"ill": True})
    with pytest.raises(InputError, match="a probability for `x`"):
        network.sensitivity("ill", True)[0].at(2)


def test_what_cannot_occur_is_refused_even_if_nothing_is_left_to_ask():
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    tables = {"a": Cpt.known(Family(a), [[1, 0]]), "b": Cpt.known(Family(b, [a]), np.eye(2))}
    network = BayesianNetwork(Dag([("a", "b")]), tables)
    assert not network.informative("a", {"b": 0})
    with pytest.raises(DataError, match="cannot occur"):
        network.informative("a", {"b": 1})
