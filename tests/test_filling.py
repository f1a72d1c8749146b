"""Tables with gaps, row by row against queries, and drawn values against their probabilities."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alarm import draw, graph
from colonnade import BayesianNetwork, Cpt, Dag, Family, MaximumLikelihood, Tiered, Variable, fit
from colonnade.exceptions import DataError, DataWarning, InputError, NotSupportedError
from colonnade.tables import discretize
from drawn_networks import joint, networks

COMPLETE = {"a": [1], "b": [1], "c": [1]}


@st.composite
def tables(draw):
    """A network, and rows of it that lack values."""
    network = draw(networks(least=2, most=5))
    assume(all(network[name].table.complete for name in network))
    seed = draw(st.integers(0, 2**32 - 1))
    rows, rng = network.sample(8, seed), np.random.default_rng(seed)
    gaps = {}
    for name, column in rows.items():
        gaps[name] = [None if rng.random() < 0.4 else state for state in column.tolist()]
    return network, gaps


def row_of(table, r, without=()):
    kept = [name for name in table if name not in without]
    return {name: table[name][r] for name in kept if table[name][r] is not None}


def total_of(network, states):
    """Sum of the joint over all states that agree with some."""
    index = tuple(
        network[n].family.child.index(states[n]) if n in states else slice(None) for n in network
    )
    return joint(network)[index].sum()


@settings(max_examples=30, deadline=None)
@given(tables(), st.data())
def test_predictions_are_those_of_queries(drawn, data):
    network, table = drawn
    target = data.draw(st.sampled_from(list(network)))
    found = network.predict(table, target)
    states = network[target].family.child.states
    for r in range(8):
        known = row_of(table, r, [target])
        wanted = network.query(target, known).probabilities
        np.testing.assert_allclose(found.probabilities[r], wanted, atol=1e-12)
        assert found.states[r] == states[int(found.probabilities[r].argmax())]
    absent = {name: column for name, column in table.items() if name != target}
    again = network.predict(absent, target).probabilities
    np.testing.assert_array_equal(again, found.probabilities)


@settings(max_examples=30, deadline=None)
@given(tables())
def test_what_is_filled_in_is_most_probable(drawn):
    network, table = drawn
    filled = network.impute(table)
    for r in range(8):
        known = row_of(table, r)
        states = {name: filled[name][r] for name in network}
        assert all(states[name] == state for name, state in known.items())
        best = math.exp(network.most_probable(known).log_probability)
        assert math.isclose(total_of(network, states), best, rel_tol=1e-9)
    drawn_once = network.impute(table, "sample", rng=0)
    for r in range(8):
        assert total_of(network, {name: drawn_once[name][r] for name in network}) > 0.0


@settings(max_examples=20, deadline=None)
@given(tables())
def test_shares_follow_the_chain_rule(drawn):
    network, table = drawn
    found = network.anomaly(table)
    np.testing.assert_allclose(found.log_likelihood, network.log_likelihood(table), atol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=1), found.log_likelihood, atol=1e-9)
    for r in range(8):
        before = {}
        for name in network.dag.order:
            share = found.shares[r, network.dag.variables.index(name)]
            if table[name][r] is None:
                assert share == 0.0
                continue
            wanted = total_of(network, before | {name: table[name][r]}) / total_of(network, before)
            assert math.isclose(share, math.log(wanted), abs_tol=1e-9)
            before[name] = table[name][r]


@pytest.fixture(scope="module")
def chain():
    a, b, c = (Variable(name, [0, 1, 2]) for name in "abc")
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(3), size=7)
    tables = {
        "a": Cpt.known(Family(a), rows[:1]),
        "b": Cpt.known(Family(b, (a,)), rows[1:4]),
        "c": Cpt.known(Family(c, (b,)), rows[4:]),
    }
    return BayesianNetwork(Dag([("a", "b"), ("b", "c")]), tables)


def test_values_drawn_have_their_joint_probabilities(chain):
    n = 30_000
    table = {"a": [None] * n, "b": [None] * n, "c": [1] * n}
    rows = chain.impute(table, "sample", rng=1)
    wanted = chain.query(["a", "b"], {"c": 1}).probabilities
    for a, b in itertools.product(range(3), repeat=2):
        share = ((rows["a"] == a) & (rows["b"] == b)).mean()
        assert abs(share - wanted[a, b]) < 5 * math.sqrt(wanted[a, b] / n)
    # In several tables, too; tables that are known stay as they are.
    one, two = chain.impute({"a": [None] * n, "b": [0] * n, "c": [1] * n}, "sample", draws=2, rng=3)
    assert (one["a"] != two["a"]).any()
    assert abs((two["a"] == 0).mean() - chain.query("a", {"b": 0})[0]) < 0.02
    # Also of what nothing observed depends on.
    rows = chain.impute({"a": [2] * n, "b": [None] * n, "c": [None] * n}, "sample", rng=1)
    wanted = chain.query(["b", "c"], {"a": 2}).probabilities
    for b, c in itertools.product(range(3), repeat=2):
        share = ((rows["b"] == b) & (rows["c"] == c)).mean()
        assert abs(share - wanted[b, c]) < 5 * math.sqrt(wanted[b, c] / n)


def test_means_of_integers(chain):
    filled = chain.impute({"a": [0, None], "b": [None, 2], "c": [1, None]}, "mean")
    wanted = chain.query("b", {"a": 0, "c": 1}).probabilities @ np.arange(3)
    np.testing.assert_allclose(filled["b"], [wanted, 2.0])
    words = fit({"x": ["a", "b", "b"], "y": ["c", "d", "d"]}, Dag([("x", "y")]))
    assert words.impute({"x": ["a", None], "y": [None, "d"]}, "mean")["x"].tolist() == ["a", "b"]


def test_many_rows_of_a_large_network():
    network = fit(draw(500), graph())
    rng = np.random.default_rng(0)
    table = {
        name: np.where(rng.random(300) < 0.2, None, column)
        for name, column in network.sample(300, 1).items()
    }
    found = network.predict(table, "BP")
    filled, drawn = network.impute(table), network.impute(table, "sample", rng=0)
    scores = network.log_likelihood(filled)
    assert (scores >= network.log_likelihood(drawn) - 1e-9).all()
    for r in (0, 100, 299):
        known = row_of(table, r, ["BP"])
        wanted = network.query("BP", known).probabilities
        np.testing.assert_allclose(found.probabilities[r], wanted, atol=1e-12)
        known = row_of(table, r)
        assert math.isclose(scores[r], network.most_probable(known).log_probability, abs_tol=1e-9)
    anomalies = network.anomaly(table)
    np.testing.assert_allclose(anomalies.shares.sum(axis=1), network.log_likelihood(table))


@pytest.mark.parametrize("group", [None, "site"])
def test_tiers_and_groups(group):
    rng = np.random.default_rng(3)
    table = {name: rng.choice(list("abcd"), 60) for name in ("p", "q", "r")}
    table["y"] = rng.choice(["no", "yes"], 60)
    table["site"] = rng.choice(["x", "z"], 60)
    network = fit(table, Dag([("p", "y"), ("q", "y"), ("r", "y")]), Tiered(), group=group)
    rows = pd.DataFrame({name: table[name] for name in network}).astype(object)
    rows = rows.where(rng.random(rows.shape) > 0.3, None)
    found = network.predict(rows, "y")
    sampled = network.predict(rows, "y", draws=200, rng=0)
    for r in range(0, 60, 7):
        known = {n: v for n, v in rows.iloc[r].items() if v is not None and n != "y"}
        asked = network.query("y", known, draws=2000, rng=1)
        np.testing.assert_allclose(found.probabilities[r], asked.probabilities, atol=1e-12)
        width = (asked.upper - asked.lower).max()
        assert np.abs(sampled.lower[r] - asked.lower).max() < 0.3 * width
        assert np.abs(sampled.upper[r] - asked.upper).max() < 0.3 * width
    assert len(network.impute(rows, "sample", draws=3, rng=0)) == 3
    assert set(network.impute(rows)["y"]) <= {"no", "yes"}


def test_completed_tables_differ_by_what_is_unknown_of_the_tables():
    """With five rows of data, tables are uncertain, and completed tables show it."""
    network = fit({"x": [0, 1, 1, 0, 1], "y": [0, 1, 1, 1, 0]}, Dag([("x", "y")]))
    gaps = {"x": [1] * 2000, "y": [None] * 2000}
    means = [each["y"].mean() for each in network.impute(gaps, "sample", draws=200, rng=0)]
    spread = network["y"].posterior.sample(4000, 0)[:, 1, 1].std()
    assert abs(np.std(means) - spread) < 0.25 * spread


def test_numbers_are_cut_and_unknown_values_refused():
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=100), "y": rng.choice(["a", "b"], 100)}
    network = fit(discretize(table, bins=2), Dag([("x", "y")]))
    filled = network.impute({"x": [0.5, None], "y": ["a", "b"]})
    assert set(filled["x"]) <= set(network["x"].family.child.states)
    for ask in (lambda t: network.predict(t, "x"), network.log_likelihood, network.anomaly):
        with pytest.raises(DataError, match=r"state 'z'.*Hint: .*unknown='missing'"):
            ask({"x": [0.5], "y": ["z"]})
    texts = network.predict({"x": ["0.5"], "y": ["a"]}, "y")
    np.testing.assert_array_equal(
        texts.probabilities, network.predict({"x": [0.5], "y": ["a"]}, "y").probabilities
    )
    assert len(network.predict({"x": [0.5], "y": ["z"]}, "x", unknown="missing")) == 1
    cut, frame = discretize(table, bins=2), pd.DataFrame({**table, "source": 1})
    for same in (cut, frame):
        found = network.predict(same, "y").probabilities
        np.testing.assert_array_equal(found, network.predict(table, "y").probabilities)
    assert list(network.predict({"y": []}, "x").states) == []
    assert network.impute({"x": [], "y": []})["x"].tolist() == []


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.predict({"a": [1], "b": [1]}, "z"), "one of 'a', 'b', 'c' for `target`"),
        (lambda n: n.predict({"d": [1]}, "c"), "Columns 'a' and 'b': not in the table"),
        (
            lambda n: n.impute(COMPLETE, "median"),
            "'probable', 'sample' or 'mean'",
        ),
        (
            lambda n: n.impute(COMPLETE, draws=2),
            "applies only to how='sample'",
        ),
        (lambda n: n.impute(COMPLETE, rng=2), "applies only to how='sample'"),
        (lambda n: n.predict({"a": [1], "b": [1]}, "c", rng=2), "applies only to draws > 0"),
        (lambda n: n.anomaly({"a": [9], "b": [1], "c": [1]}), "state 9"),
    ],
)
def test_what_is_refused(chain, ask, message):
    with pytest.raises((InputError, DataError), match=message):
        ask(chain)


def test_rows_that_cannot_occur():
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    tables = {
        "a": Cpt.known(Family(a), [1.0, 0.0]),
        "b": Cpt.known(Family(b, (a,)), [[1.0, 0.0], [0.5, 0.5]]),
    }
    network = BayesianNetwork(Dag([("a", "b")]), tables)
    rows = {"a": [None, None], "b": [0, 1]}
    for ask in (
        network.impute,
        lambda t: network.impute(t, "sample"),
        lambda t: network.predict(t, "a"),
    ):
        with pytest.raises(DataError, match=r"Row 2 .*cannot occur") as caught:
            ask(rows)
        assert caught.value.row == 1
    found = network.anomaly({"a": [None, 1], "b": [1, 1]})
    assert np.isneginf(found.log_likelihood).all()
    assert np.isneginf(found.shares.sum(axis=1)).all()
    with pytest.raises(NotSupportedError, match="'a', 'b' only, which have no posterior"):
        network.predict({"b": [0]}, "a", draws=100)
    prior = MaximumLikelihood("nan")
    dag = Dag([("a", "b")])
    sparse = fit({"a": [0, 0], "b": [0, 1]}, dag, prior, variables={"a": [0, 1]})
    with pytest.raises(DataError, match=r"Row 1 .*without probabilities"):
        sparse.predict({"a": [1]}, "b")


def test_rows_that_cannot_occur_for_reasons_that_do_not_touch_the_target():
    """One rule: what a query refuses, a prediction refuses."""
    table = {"a": ["x", "x", "y"], "b": ["u", "u", "v"], "c": ["p", "q", "q"], "d": ["s", "t", "t"]}
    dag = Dag([("a", "b"), ("b", "c"), ("c", "d")])
    network = fit(table, dag, MaximumLikelihood())
    rows = {"a": ["x", "x"], "b": ["u", "v"], "c": [None] * 2, "d": [None] * 2}
    with pytest.raises(DataError, match="cannot occur together"):
        network.query("c", {"a": "x", "b": "v"})
    for ask in (lambda: network.predict(rows, "c"), lambda: network.impute(rows)):
        with pytest.raises(DataError, match=r"Row 2 .*cannot occur"):
            ask()
    # A row that lacks nothing is not asked about.
    whole = {"a": ["x"], "b": ["v"], "c": ["p"], "d": ["t"]}
    assert network.impute(whole)["b"].tolist() == ["v"]


def test_effects_that_cannot_occur():
    """Rows of noisy-max tables are computed when they are asked for, and may be 0."""
    flu, fever, other = (Variable(name, ["no", "yes"]) for name in ("flu", "fever", "other"))
    network = BayesianNetwork(
        Dag([("flu", "fever")], ["flu", "fever", "other"]),
        {
            "flu": Cpt.known(Family(flu), [1.0, 0.0]),
            "fever": Cpt.noisy_max(Family(fever, (flu,)), [[[1, 0], [0.2, 0.8]]]),
            "other": Cpt.known(Family(other), [0.5, 0.5]),
        },
    )
    with pytest.raises(DataError, match="cannot occur"):
        network.query("other", {"fever": "yes"})
    rows = {"flu": [None, "no"], "fever": ["no", "yes"]}
    with pytest.raises(DataError, match=r"Row 2 .*cannot occur"):
        network.predict(rows, "other")


def test_intervals_need_tables_with_a_posterior():
    rng = np.random.default_rng(0)
    table = {name: rng.choice(["x", "y"], 60) for name in "abc"}
    dag, fixed = Dag([("a", "b"), ("b", "c")]), MaximumLikelihood()
    network = fit(table, dag, per_variable={"b": fixed, "c": fixed})
    refused = "it depends on the tables of .*'c' only, which have no posterior.*noisy-max"
    for ask in (
        lambda: network.query("c", {"a": "x"}, draws=100),
        lambda: network.predict({"a": ["x"], "b": [None]}, "c", draws=100),
        lambda: network.effect("c", {"a": ("x", "y")}, draws=100),
        lambda: network.association("c", {"a": ("x", "y")}, draws=100),
    ):
        with pytest.raises(NotSupportedError, match=refused):
            ask()
    network = fit(table, dag, per_variable={"c": fixed})
    line = "Fixed, with no share in the intervals: c."
    for found in (
        network.query("c", {"a": "x"}, draws=100, rng=0),
        network.predict({"a": ["x"], "b": [None]}, "c", draws=100, rng=0),
        network.effect("c", {"a": ("x", "y")}, draws=100, rng=0),
        network.association("c", {"a": ("x", "y")}, draws=100, rng=0),
        network.explain("c", {"a": "x"}, draws=100, rng=0),
        network.informative("c", draws=100, rng=0),
        network.informative("a", draws=100, rng=0),
    ):
        assert found.fixed == ("c",)
        assert line in repr(found)
    for number in (
        network.entropy("c", draws=100, rng=0),
        network.entropy(draws=100, rng=0),
        network.mutual_information("a", "c", draws=100, rng=0),
        network.informative("a", draws=100, rng=0)["c"],
        network.kl(fit(table, dag), draws=100, rng=0),
    ):
        assert number.fixed == ("c",)
        assert "fixed=('c',)" in repr(number)
    assert network.mutual_information("a", "b", draws=100, rng=0).fixed == ()
    assert network.informative("a", {"b": "x"}, draws=100, rng=0)["c"].to_dict()["fixed"] == ["c"]
    assert network.entropy().fixed == network.explain("c", {"a": "x"}).fixed == ()
    assert network.query("b", draws=100, rng=0).fixed == ()
    assert network.query("c", {"a": "x"}, draws=100, rng=0).to_dict()["fixed"] == ["c"]
    assert network.do({"a": "x"}).query("b", draws=100, rng=0).fixed == ()
    assert network.query("c", {"a": "x"}).fixed == ()


def test_columns_that_nobody_measured(chain):
    rows = {"c": [0, 2, None], "note": ["", "", ""]}
    absent = {**rows, "a": [None] * 3, "b": [None] * 3}
    asks = (
        lambda t: chain.predict(t, "a").probabilities,
        lambda t: np.array([chain.impute(t)[name] for name in chain]),
    )
    for ask in asks:
        with pytest.warns(DataWarning, match=r"'b': not in the table, so missing in every row"):
            found = ask(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(found, ask(absent))
    network = fit({"sex": [0, 1], "dose": [1, 2]}, Dag([("sex", "dose")]))
    with pytest.warns(DataWarning, match="did you mean 'Dose'"):
        network.impute({"sex": [0], "Dose": [2]})
    for ask in (chain.log_likelihood, chain.anomaly):
        with pytest.raises(
            DataError, match=r"'a' and 'b': not in the table.*Hint: give a column of N"
        ):
            ask(rows)


def test_the_rows_of_a_frame_keep_their_labels(chain):
    frame = pd.DataFrame(
        {"note": ["r", "s", "t"], "c": [0, 2, None], "b": [None, 1, 1], "a": [0, None, 2]},
        index=[30, 10, 20],
    )
    for found in (chain.predict(frame, "a"), chain.anomaly(frame)):
        assert found.to_frame().index.tolist() == [30, 10, 20]
    assert chain.predict(frame.to_dict("list"), "a").to_frame().index.tolist() == [0, 1, 2]
    plain = chain.impute({name: frame[name].tolist() for name in "abc"})
    filled = chain.impute(frame)
    assert filled.index.tolist() == [30, 10, 20]
    assert list(filled) == ["note", "c", "b", "a"]
    assert filled["note"].tolist() == ["r", "s", "t"]
    assert frame["b"].isna().any()
    for several in (chain.impute(frame, "sample", draws=2, rng=0)[1], chain.impute(frame, "mean")):
        assert several.index.tolist() == [30, 10, 20]
    for same in (filled, chain.impute(frame.to_dict("list"))):
        for name in "abc":
            assert list(same[name]) == plain[name].tolist()
    assert list(chain.impute(frame.to_dict("list"))) == ["note", "c", "b", "a"]


def test_frames_of_other_packages_come_back_as_they_are():
    network = fit({"x": ["a", "b", "b"], "y": ["c", "d", "d"]}, Dag([("x", "y")]))
    table = {"id": [7, 8], "x": ["a", None], "y": [None, "d"]}
    native = pl.DataFrame(table, schema_overrides={"x": pl.Enum(["b", "a"])})
    filled = network.impute(native)
    assert filled.schema == native.schema
    assert filled.rows() == [(7, "a", "c"), (8, "b", "d")]
    arrow = pa.table(table)
    arrow = arrow.set_column(1, "x", arrow["x"].dictionary_encode())
    filled = network.impute(arrow)
    assert filled.schema.types == arrow.schema.types
    assert filled.to_pylist()[1] == {"id": 8, "x": "b", "y": "d"}
    with pytest.warns(DataWarning, match="'y'"):
        assert network.impute(arrow.drop(["y"])).column_names == ["id", "x", "y"]
    ordered = pd.CategoricalDtype(["b", "a"], ordered=True)
    frame = pd.DataFrame(table).astype({"x": ordered})
    assert network.impute(frame)["x"].dtype == ordered
    # A category that the column cannot hold must not become a gap.
    lacking = pd.DataFrame(table).astype({"x": pd.CategoricalDtype(["a"])})
    assert network.impute(lacking)["x"].tolist() == ["a", "b"]
