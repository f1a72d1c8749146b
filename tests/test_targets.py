"""One variable predicted from all others: the same as queries, row by row, and how good it is."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import colonnade as cn
from colonnade.network.targets import Prediction, target_probabilities
from colonnade.tables import encode


def fitted() -> tuple[cn.BayesianNetwork, dict[str, list[str | None]]]:
    rng = np.random.default_rng(2)
    n = 120
    a = rng.integers(0, 2, n)
    c = (rng.random(n) < 0.2 + 0.5 * a).astype(int)
    b = (c + (rng.random(n) < 0.3)) % 3
    d = (rng.random(n) < 0.3 + 0.4 * (b > 0)).astype(int)
    columns = {"a": a, "b": b, "c": c, "d": d}
    table = {name: [str(x) for x in values] for name, values in columns.items()}
    dag = cn.Dag([("a", "c"), ("c", "b"), ("b", "d"), ("a", "b")])
    network = cn.fit(table, dag)
    rows: dict[str, list[str | None]] = {
        "d": ["1", "0", None, "1"],
        "a": ["0", None, "1", None],
        "c": ["1", "0", None, None],
        "b": ["2", "1", None, "0"],
    }
    return network, rows


@pytest.mark.parametrize("target", ["a", "b", "c", "d"])
def test_probabilities_are_those_of_queries(target: str) -> None:
    network, rows = fitted()
    coded = encode(rows, list(network.variables))
    found = target_probabilities(network, coded, target)
    ends = network.predict(rows, target, draws=4000, level=0.9, rng=1)
    for k in range(4):
        given = {name: values[k] for name, values in rows.items()}
        observed = {x: s for x, s in given.items() if s is not None and x != target}
        asked = network.query(target, observed, draws=4000, level=0.9, rng=5)
        assert found[k] == pytest.approx(asked.probabilities, abs=1e-12)
        assert asked.lower is not None
        assert asked.upper is not None
        assert ends.lower[k] == pytest.approx(asked.lower, abs=0.03)
        assert ends.upper[k] == pytest.approx(asked.upper, abs=0.03)


def test_figures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for states in (2, 3):
        probabilities = rng.dirichlet(np.ones(states), 60).round(2)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        codes = rng.integers(0, states, 60)
        found = Prediction.of(probabilities, codes)
        assert found.accuracy == accuracy_score(codes, probabilities.argmax(axis=1))
        with np.errstate(divide="ignore"):
            own = -np.log(probabilities[np.arange(60), codes])
        if np.isfinite(own).all():
            assert found.log_loss == pytest.approx(log_loss(codes, probabilities))
        else:
            assert found.log_loss == np.inf
        told = probabilities.round(12)  # what differs by less is a tie
        area = (
            roc_auc_score(codes, told[:, 1])
            if states == 2
            else roc_auc_score(codes, told, multi_class="ovr", average="macro")
        )
        assert found.auc == pytest.approx(area)
    alone = Prediction.of(np.array([[0.5, 0.5]]), np.array([1]))
    assert np.isnan(alone.auc)
    # What was rounded in computing the same number twice does not count.
    chances = np.array([0.3, 0.1 + 0.2, 0.7, 0.6])
    tied = Prediction.of(np.stack([1.0 - chances, chances], axis=1), np.array([1, 0, 1, 0]))
    assert tied.auc == 0.625
    # A row without a true state is left out.
    lacking = Prediction.of(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0, 2]))
    assert lacking.accuracy == 1.0


def test_comparison_with_groups_is_the_fit_with_groups() -> None:
    rng = np.random.default_rng(1)
    table = {
        "site": rng.choice(["n", "s"], 60).tolist(),
        "x": rng.integers(0, 2, 60).tolist(),
        "y": rng.integers(0, 2, 60).tolist(),
    }
    dag = cn.Dag([("x", "y")])
    found = cn.compare(table, {"arc": dag}, folds=2, rng=3, group="site", target="y")
    fold = np.random.default_rng(3).permutation(60) % 2
    held = []
    coded = encode(table)
    for k in range(2):
        network = cn.fit(coded.take(fold != k), dag, group="site")
        held.append(network.log_likelihood(coded.take(fold == k)))
    assert found.best.held_out == pytest.approx(np.concatenate(held).mean())
    assert found.best.arcs == 1
    assert found.best.prediction is not None
    assert found.to_dict()["rows"][0]["accuracy"] == found.best.prediction.accuracy
    with pytest.raises(cn.ColonnadeError, match="`target`"):
        cn.compare(table, dag, target="z")
