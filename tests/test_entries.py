"""Two entries of tables at once, against tables that are changed and asked again."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colonnade import BayesianNetwork, Cpt, Dag, Family, Variable, fit
from colonnade.exceptions import InputError
from drawn_networks import situations


def changed(network, values):
    """The network in which entries have other values, the rest of each row in proportion."""
    tables = dict(network.tables)
    rows = {}
    for entry, x in values:
        key = entry.variable, tuple(entry.configuration.values())
        rows.setdefault(key, []).append((entry, x))
    for (name, configuration), entries in rows.items():
        family = network[name].family
        table = tables[name].probabilities.copy()
        row = table[family.configuration_index(configuration)]
        codes = [family.child.index(entry.state) for entry, _ in entries]
        row *= (1.0 - sum(x for _, x in entries)) / (1.0 - row[codes].sum())
        row[codes] = [x for _, x in entries]
        tables[name] = Cpt.known(family, table)
    return BayesianNetwork(network.dag, tables)


@settings(max_examples=25, deadline=None)
@given(situations(), st.data())
def test_two_entries_by_changing_tables(situation, data):
    network, target, state, observed = situation
    found = network.sensitivity(target, state, observed)
    assume(len(found) >= 2)
    pairs = data.draw(st.permutations(list(itertools.combinations(found, 2))))[:3]
    for one, other in pairs:
        same = (one.variable, one.configuration) == (other.variable, other.configuration)
        if same and one.value + other.value > 1.0 - 1e-9:
            continue
        pair = network.joint_sensitivity(target, state, (one, other), observed)
        before = network.query(target, observed)[state]
        assert math.isclose(pair.at(one.value, other.value), before, abs_tol=1e-9)
        for x, y in ((0.3, 0.6), (0.05, 0.4), (one.value, 0.2)):
            if same and x + y > 1.0:
                continue
            wanted = changed(network, [(one, x), (other, y)]).query(target, observed)[state]
            assert math.isclose(pair.at(x, y), wanted, abs_tol=1e-9)
        # Along one entry it is the function of that entry alone, unless they share a row.
        if not same:
            assert math.isclose(pair.at(0.3, other.value), one.at(0.3), abs_tol=1e-9)


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(0)
    ill = rng.random(60) < 0.3
    table = {"ill": ill, "test": np.where(rng.random(60) < 0.9, ill, ~ill)}
    return fit(table, Dag([("ill", "test")]))


def test_the_mixed_derivative_is_that_of_differences(network):
    known = {"test": True}
    one, other, *rest = network.sensitivity("ill", True, known).first()
    assert len(rest) == 1  # of six entries, one of each row
    pair = network.joint_sensitivity("ill", True, (one, other), known)
    h, x, y = 1e-4, one.value, other.value
    corners = [pair.at(x + a * h, y + b * h) * a * b for a in (-1, 1) for b in (-1, 1)]
    assert math.isclose(pair.derivative, sum(corners) / (4 * h * h), rel_tol=1e-4)
    assert abs(pair.derivative) > 0.1


def test_intervals_say_what_is_worth_more_data(network):
    found = network.sensitivity("ill", True, {"test": True}, level=0.9)
    assert found.level == 0.9
    swings = [entry.swing[1] - entry.swing[0] for entry in found]
    assert np.all(np.diff(swings) <= 1e-12)  # equal ones are in the order of the tables
    assert swings[0] > 0.0
    for entry in found:
        family = network[entry.variable].family
        row = family.configuration_index(tuple(entry.configuration.values()))
        ends = network[entry.variable].posterior.interval(0.9)
        k = family.child.index(entry.state)
        assert entry.interval == (ends.lower[row, k], ends.upper[row, k])
        low, high = sorted(
            changed(network, [(entry, end)]).query("ill", {"test": True})[True]
            for end in entry.interval
        )
        assert entry.swing == pytest.approx((low, high), abs=1e-9)
    assert list(found.to_frame().columns)[-2:] == ["probability lower", "probability upper"]
    plain = network.sensitivity("ill", True, {"test": True})
    assert plain[0].interval is None
    assert plain[0].swing is None
    assert plain.probability == pytest.approx(network.query("ill", {"test": True})[True])
    assert "Sensitivity of ill = True (probability" in repr(plain)


def test_what_a_pair_may_not_be(network):
    known = {"test": True}
    one, *_ = found = network.sensitivity("ill", True, known)
    twin = next(
        e for e in found if e.variable == one.variable and e.configuration == one.configuration
        and e.state != one.state
    )  # fmt: skip
    for pair in ((one, one), (one, twin)):
        with pytest.raises(InputError, match=f"two of one row of {one.variable!r}"):
            network.joint_sensitivity("ill", True, pair, known)
    for pair in (one, [one], "ab", (one, "x")):
        with pytest.raises(InputError, match="two entries of `sensitivity` for `entries`"):
            network.joint_sensitivity("ill", True, pair, known)
    elsewhere = next(e for e in found if e.variable == "test" and e.configuration == {"ill": True})
    with pytest.raises(InputError, match="entries that matter to this question"):
        network.joint_sensitivity("test", True, (one, elsewhere), {"ill": False})


def test_entries_of_one_row_stay_in_it():
    x = Variable("x", ["a", "b", "c"])
    tables = {"x": Cpt.known(Family(x), [0.2, 0.3, 0.5])}
    network = BayesianNetwork(Dag([], ["x"]), tables)
    found = {entry.state: entry for entry in network.sensitivity("x", "c")}
    pair = network.joint_sensitivity("x", "c", (found["a"], found["b"]))
    assert pair.at(0.1, 0.6) == pytest.approx(0.3)
    assert pair.derivative == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="add up to at most 1"):
        pair.at(0.7, 0.6)
    with pytest.raises(InputError, match="a probability for `y`"):
        pair.at(0.7, -0.1)


def test_what_a_finding_adds_has_an_interval_from_the_same_draws():
    rng = np.random.default_rng(1)
    ill = rng.random(80) < 0.4
    table = {
        "ill": ill,
        "test": np.where(rng.random(80) < 0.9, ill, ~ill),
        "cough": np.where(rng.random(80) < 0.6, ill, ~ill),
        "coin": rng.random(80) < 0.5,
    }
    network = fit(table, Dag([("ill", "test"), ("ill", "cough")], ["ill", "test", "cough", "coin"]))
    observed = {"test": True, "cough": True, "coin": True}
    found = network.explain("ill", observed, draws=2000, rng=0)
    # By hand: draws of all tables, and Bayes' rule in each.
    draws = {name: network[name].posterior.sample(8000, 3) for name in ("ill", "test", "cough")}
    prior, test, cough = draws["ill"][:, 0], draws["test"][:, :, 1], draws["cough"][:, :, 1]

    def answers(*parts):
        joint = np.prod(parts, axis=0)
        return joint / joint.sum(axis=1, keepdims=True)

    wanted = answers(prior, test, cough) - answers(prior, cough)
    shift = found.findings["test"].shift
    ends = np.quantile(wanted, [0.025, 0.975], axis=0)
    np.testing.assert_allclose([shift.lower, shift.upper], ends, atol=0.03)
    np.testing.assert_array_equal(shift.values, found.after - found.findings["test"].without)
    np.testing.assert_allclose(found.findings["coin"].shift.lower, 0.0, atol=1e-12)
    assert found.level == 0.95
    assert "95 % intervals of the shifts" in repr(found)
    frame = found.to_frame()
    assert len(frame) == 6
    assert "shift lower" in frame.columns
    with pytest.raises(InputError, match="at least one variable for `observed`, got none"):
        network.explain("ill", {})


def test_what_to_ask_has_intervals(network):
    found = network.informative("ill", draws=500, rng=0)
    alone = network.mutual_information("ill", "test", draws=500, rng=0)
    assert found["test"] == alone
    assert found.level == 0.95
    assert alone.lower < alone.value < alone.upper
    plain = network.informative("ill")
    assert {name: tuple(each) for name, each in plain.items()} == {
        "test": (alone.value, None, None)
    }
    assert repr(found).splitlines()[1].startswith("  test  0.")
    frame = found.to_frame()
    assert list(frame.columns) == ["variable", "value", "lower", "upper"]
