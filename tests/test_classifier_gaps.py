"""Missing values in prediction: exact sums, and what is done where these would be too large."""

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from colonnade.classifier import UnknownStateWarning, _gaps
from colonnade.classifier._drawn import DrawnLogs
from colonnade.missing.gaps import Members, find_gaps


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=400)
    columns = {}
    before = label
    for k in range(5):
        before = np.where(rng.random(400) < 0.6, before, rng.integers(3, size=400))
        columns[f"x{k}"] = pd.Categorical.from_codes(before, list("abc"))
    return pd.DataFrame(columns), label


# x3 and x4 have two feature parents each.
ARCS = [("class", f"x{k}") for k in range(5)]
ARCS += [("x0", "x3"), ("x1", "x3"), ("x1", "x4"), ("x2", "x4")]


def model_of(rows, prior):
    dag = cn.Dag(ARCS)
    return cn.BayesianNetworkClassifier(dag, prior).fit(*rows)


def lacking(frame, *names):
    frame = frame.copy()
    for name in names:
        frame[name] = pd.Categorical([None] * len(frame), categories=list("abc"))
    return frame


@pytest.mark.parametrize("prior", [cn.Tiered(), cn.BDeu(2), cn.Smoothed(cn.Tiered())])
def test_a_child_leans_on_its_known_parents_where_a_sum_is_too_large(rows, prior, monkeypatch):
    model = model_of(rows, prior)
    asked = lacking(rows[0].head(20), "x0", "x1", "x2")
    exact = model.predict_proba(asked)
    monkeypatch.setattr(_gaps, "_MAX_ROW_CELLS", 1)
    found = model_of(rows, prior).predict_proba(asked)
    # The tables of x3 and x4 given the class alone, estimated from the counts of these.
    logs = np.log(model.network_["class"].table.rows[0])[None].repeat(20, axis=0)
    for name in ("x3", "x4"):
        counts = model.network_[name].counts
        kept = [k for k, p in enumerate(model.network_[name].family.parents) if p.name == "class"]
        fewer = cn.FamilyCounts.from_observed([2], counts.codes[:, kept], counts.values)
        table = prior.estimate(fewer)
        logs += np.log(table[:, asked[name].cat.codes]).T
    wanted = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
    assert np.abs(found - exact).max() < 0.1
    assert not np.allclose(found, exact, atol=1e-6)


def one_row_that_lacks_three(rows):
    network = model_of(rows, cn.Tiered()).network_
    names = network.dag.variables
    codes = np.zeros((1, len(names)), dtype=np.int32)
    for name in ("x0", "x1", "x2"):
        codes[0, names.index(name)] = 3
    return Members.of(network.dag, network.families), codes, names


def test_only_as_many_sums_are_given_up_as_needed(rows):
    members, codes, names = one_row_that_lacks_three(rows)
    (whole,) = find_gaps(members, codes, np.ones(1), affordable=27)
    assert whole.relaxed == ()
    assert len(whole.missing) == 3
    (part,) = find_gaps(members, codes, np.ones(1), affordable=9)
    assert len(part.relaxed) == (0 if whole.elimination.cells <= 9 else 1)
    (none,) = find_gaps(members, codes, np.ones(1), affordable=1)
    assert {names[f] for f in none.relaxed} == {"x3", "x4"}
    assert none.missing == none.families == ()


def test_rows_that_have_to_be_computed_count_as_a_whole(rows):
    members, codes, names = one_row_that_lacks_three(rows)
    (whole,) = find_gaps(members, codes, np.ones(1), affordable=27)
    prices = [7 if name == "x3" else 1 for name in names]
    (same,) = find_gaps(members, codes, np.ones(1), affordable=63, prices=prices)
    assert same.relaxed == whole.relaxed == ()
    assert (same.cells, whole.cells) == (63, whole.elimination.cells)
    (part,) = find_gaps(members, codes, np.ones(1), affordable=62, prices=prices)
    assert [names[f] for f in part.relaxed] == ["x3"]


def test_sums_over_columns_of_many_states_take_no_longer_than_others(monkeypatch):
    # A table of 60 x 60 x 80 x 2 cells is not held, and its rows are computed when asked for.
    rng = np.random.default_rng(0)
    sizes = {"a": 60, "b": 60, "c": 80}
    train = pd.DataFrame(
        {
            k: pd.Categorical.from_codes(rng.integers(n, size=300), range(n))
            for k, n in sizes.items()
        }
    )
    label = rng.integers(2, size=300)
    dag = cn.Dag([*(("class", k) for k in "abc"), ("a", "c"), ("b", "c")])
    model = cn.BayesianNetworkClassifier(dag).fit(train, label)
    asked = train.head(4).copy()
    asked[["a", "b"]] = None
    exact = model.predict_proba(asked)
    monkeypatch.setattr(_gaps, "_COMPUTED_FOR_HELD", 1)
    monkeypatch.setattr(_gaps, "_MAX_ROW_CELLS", 2 * 80 * 3600 - 1)
    again = cn.BayesianNetworkClassifier(dag).fit(train, label)
    relaxed = again.predict_proba(asked)
    assert np.abs(exact - relaxed).max() > 1e-4
    for row, found in zip(asked["c"], exact, strict=True):
        wanted = model.network_.query("class", {"c": row}).probabilities
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
        own = model.network_["c"].counts
        fewer = cn.FamilyCounts.from_observed([2], own.codes[:, :1], own.values)
        table = cn.Tiered().estimate(fewer)[:, model.network_["c"].family.child.states.index(row)]
    joint = table * model.network_["class"].table.rows[0]
    np.testing.assert_allclose(relaxed[-1], joint / joint.sum(), rtol=1e-9)


def test_intervals_where_sums_are_too_large(rows, monkeypatch):
    monkeypatch.setattr(_gaps, "_MAX_DRAWN_CELLS", 1)
    monkeypatch.setattr(_gaps, "_MAX_ROW_CELLS", 1)
    model = model_of(rows, cn.Tiered())
    asked = lacking(rows[0].head(8), "x0", "x1", "x2")
    lower, upper = model.predict_interval(asked, rng=0)
    again = model.predict_interval(asked, rng=0)
    assert np.array_equal(lower, again.lower)
    found = model.predict_proba(asked)
    assert (lower < found).all()
    assert (found < upper).all()


def test_rows_drawn_for_an_interval_are_as_many_as_can_be_held(monkeypatch):
    rng = np.random.default_rng(0)
    train = pd.DataFrame(
        {k: pd.Categorical.from_codes(rng.integers(0, 20, 200), range(20)) for k in "abc"}
    )
    dag = cn.Dag([*(("class", k) for k in "abc"), ("a", "c"), ("b", "c")])
    model = cn.BayesianNetworkClassifier(dag).fit(train, rng.integers(2, size=200))
    asked = train.head(1).copy()
    asked[["a", "b"]] = None
    monkeypatch.setattr(_gaps, "_MAX_DRAWN_CELLS", 1 << 20)
    sizes, original = [], DrawnLogs.rows

    def watched(self, wanted):
        found = original(self, wanted)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(DrawnLogs, "rows", watched)
    # 400 combinations of what is missing, 20 states, 2 classes, and 200 draws: 3.2 million cells.
    found = model.predict_interval(asked, draws=200, rng=0)
    assert max(sizes, default=0) <= 1 << 20
    assert (found.lower < model.predict_proba(asked)).all()
    monkeypatch.setattr(_gaps, "_MAX_DRAWN_CELLS", 1 << 22)
    model.predict_interval(asked, draws=200, rng=0)
    assert max(sizes) == 3_200_000


def test_a_forest_never_refuses_gaps():
    # Thirty columns of letters, of which new rows have others than those in training.
    rng = np.random.default_rng(1)
    train = pd.DataFrame({f"x{k}": rng.choice(list("abcdefgh"), size=60) for k in range(30)})
    test = pd.DataFrame({f"x{k}": ["z"] * 25 + ["a"] * 5 for k in range(30)})
    test.iloc[0, 20:] = "a"
    forest = cn.BayesianNetworkForest(3, random_state=0).fit(train, rng.integers(3, size=60))
    with pytest.warns(UnknownStateWarning):
        chances = forest.predict_proba(test)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
