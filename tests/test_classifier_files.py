"""Classifiers in files: nothing is lost, and nothing that is damaged is taken."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from colonnade.exceptions import FileFormatError, InputError
from colonnade.files import native
from colonnade.tables import Bins, Cuts
from command_line import flat, plain_terminal, run

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 80)
X = pd.DataFrame(
    {
        "id": [f"P{k}" for k in range(80)],
        "dose": (RNG.normal(size=80) + Y).round(2),
        "stage": RNG.choice(["I", "II", "III"], 80),
        "empty": [None] * 80,
    }
).where(RNG.random((80, 4)) < 0.95)
STAGE = cn.Variable("stage", ["I", "II", "III", "IV"], {"1": "I"})


def fitted(**options: Any) -> cn.BayesianNetworkClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are left out or cut
        return cn.BayesianNetworkClassifier(**options).fit(X, pd.Series(Y, name="kind"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"structure": "naive", "prior": "auto"},
        {"structure": "tan", "root": "stage", "prior": cn.Hierarchical(s=4), "bins": {"dose": 3}},
        {"structure": "kdb", "k": 1, "prior": "auto", "bins": Bins(3, {"dose": Cuts("dose", [0])})},
        {"structure": "hill_climb", "structure_score": cn.AIC(), "graph_prior": "sizes"},
        {"structure": "hill_climb", "structure_score": cn.BDeu(2), "classes": [0, 1, 2]},
        {"structure": cn.Dag([("kind", "dose")]), "class_weight": {0: 1.0, 1: 3.0}},
        {"variables": [STAGE], "identifiers": "keep", "unknown": "raise"},
    ],
    ids=str,
)
def test_a_classifier_is_saved_and_loaded(options: dict[str, Any], tmp_path: Path) -> None:
    model, path = fitted(**options), tmp_path / "model.json"
    model.save(path)
    again = cn.BayesianNetworkClassifier.load(path)
    assert again.get_params() == model.get_params()
    assert again.network_ == model.network_
    assert again.prior_ == model.prior_
    assert again.target_name_ == "kind"
    assert again.identifiers_ == model.identifiers_
    assert hasattr(again, "prior_scores_") == hasattr(model, "prior_scores_")
    if hasattr(model, "prior_scores_"):
        assert again.prior_scores_ == model.prior_scores_
    for name in ("classes_", "feature_names_in_", "feature_importances_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    ends, same = (each.predict_interval(X, draws=200, rng=1) for each in (again, model))
    np.testing.assert_array_equal(ends.lower, same.lower)
    # Rows that come later change both alike, also columns that had no value so far.
    more = X.assign(empty=["u", "v"] * 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in (again, model):
            each.partial_fit(more, Y)
    assert again.network_ == model.network_
    with pytest.raises(InputError, match="a name that is not taken"):
        model.save(path)


def test_arrays_have_no_names(tmp_path: Path) -> None:
    model = cn.BayesianNetworkClassifier("naive").fit(
        np.array([[0.5, 1], [1.5, 2]] * 9), [0, 1] * 9
    )
    model.save(tmp_path / "model.json")
    again = cn.BayesianNetworkClassifier.load(tmp_path / "model.json")
    assert not hasattr(again, "feature_names_in_")
    assert again.n_features_in_ == 2


def test_a_classifier_is_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    fitted().save(path)
    advice = r"not a network saved by Colonnade\. Hint: .*BayesianNetworkClassifier\.load\(path\)"
    with pytest.raises(FileFormatError, match=advice):
        cn.load(path)
    with pytest.raises(FileFormatError, match="not a forest saved by Colonnade"):
        cn.BayesianNetworkForest.load(path)
    plain_terminal(monkeypatch)
    assert "and save its network_" in flat(run("show", path, code=1).stderr)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted(prior="auto").save(path)
    text = path.read_text()
    path.write_text(text.replace('"target": "kind"', '"target": "sort"'))
    with pytest.raises(FileFormatError, match="checksum"):
        cn.BayesianNetworkClassifier.load(path)
    document = json.loads(text)
    features, network = document["features"], document["network"]
    changes: list[tuple[str, Any]] = [
        ("format", "colonnade forest"),
        ("version", 9),
        ("parameters", {}),
        ("parameters", {**document["parameters"], "structure": {"arcs": []}}),
        ("parameters", {**document["parameters"], "structure": "jungle"}),
        ("parameters", {**document["parameters"], "structure_score": "SIC"}),
        ("parameters", {**document["parameters"], "variables": 1}),
        ("features", 1),
        ("features", [1]),
        ("features", features[:-1] + features[:1]),
        ("features", [{**each, "cuts": {"points": [0.0], "states": ["a"]}} for each in features]),
        ("features", [{**each, "cuts": None} for each in features]),
        ("features", []),
        ("network", {}),
        ("network", {**network, "discretizer": None}),
        ("classes", [0, "1"]),
        ("classes", [0, 2]),
        ("prior", {"class": "Nothing"}),
        ("scores", [1]),
        ("scores", [[document["prior"], "x"]]),
        ("columns", [1]),
        ("identifiers", 1),
        ("bins", 3),
        ("more", 1),
    ]
    for key, value in changes:
        wrong = {**document, key: value}
        wrong["checksum"] = native.checksum(wrong)
        path.write_text(json.dumps(wrong))
        with pytest.raises(FileFormatError):
            cn.BayesianNetworkClassifier.load(path)


@pytest.mark.parametrize("kind", [cn.BayesianNetworkClassifier, cn.BayesianNetworkForest])
@pytest.mark.parametrize(
    "points",
    [[40, 60], (40, 60.5), np.array([40.0, 60.0]), range(40, 61, 20), pd.Series([40, 60])],
    ids=lambda points: type(points).__name__,
)
def test_cut_points_are_kept_whatever_holds_them(kind, points, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50.0, 10.0, 60), "sex": rng.choice(["m", "f"], 60)})
    model = kind(bins={"age": points}).fit(table, table["age"] > 45)
    model.save(tmp_path / "model.json")
    again = kind.load(tmp_path / "model.json")
    assert again.bins == {"age": list(points)}
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table))
    networks = getattr(again, "networks_", None) or [again.network_]
    for network in networks:
        assert network.discretizer.columns[0].points == tuple(points)
    few = kind(bins={"age": np.int64(3)}).fit(table, table["age"] > 45)
    few.save(tmp_path / "few.json")
    assert kind.load(tmp_path / "few.json").bins == {"age": 3}
