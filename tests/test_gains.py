"""What an arc is worth, against scores of graphs without it."""

import numpy as np
import pytest

import colonnade as cn
from colonnade.exceptions import InputError

DAG = cn.Dag([("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=300)
    b = np.where(rng.random(300) < 0.6, a, rng.integers(3, size=300))
    return {"a": a, "b": b, "c": (a + b) % 2, "d": rng.integers(2, size=300)}


@pytest.mark.parametrize("prior", [None, "sizes"])
@pytest.mark.parametrize("score", [None, cn.AIC(), cn.BDeu(1), cn.Hierarchical()])
def test_a_gain_is_a_difference_of_scores(table, score, prior):
    found = cn.arc_gain(table, DAG, score, graph_prior=prior)
    assert set(found) == set(DAG.arcs)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for arc in DAG.arcs:
        without = cn.Dag([other for other in DAG.arcs if other != arc], DAG.variables)
        ends = [cn.score(table, dag, score, graph_prior=prior) for dag in (DAG, without)]
        assert found[arc] == pytest.approx(ends[0] - ends[1], abs=1e-8)


def test_noise_is_worth_nothing_and_the_rest_is(table):
    found = cn.arc_gain(table, DAG)
    assert list(found)[-1] == ("c", "d")
    assert found["c", "d"] < 0.0 < found["a", "b"]
    frame = found.to_frame()
    assert list(frame.columns) == ["from", "to", "gain"]
    assert frame.gain.tolist() == list(found.values())
    assert repr(found).splitlines()[-1].startswith("  c -> d: -")


def test_gaps_are_treated_as_in_searches(table):
    gaps = {**table, "d": [None, *table["d"][1:].tolist()]}
    with pytest.raises(ValueError, match="missing"):
        cn.arc_gain(gaps, DAG)
    rest = {name: column[1:] for name, column in table.items()}
    with pytest.warns(cn.exceptions.IncompleteRowsWarning, match="Only 299 of 300 rows"):
        mine = cn.arc_gain(gaps, DAG, missing="available")
    assert mine["a", "b"] == cn.arc_gain(rest, DAG)["a", "b"]
    with pytest.raises(InputError, match="for `dag`"):
        cn.arc_gain(table, [("a", "b")])
