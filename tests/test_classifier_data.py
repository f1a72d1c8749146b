"""What the classifier makes of tables, gaps, labels, weights and more rows."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import decimal
import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import cross_val_score

from colonnade.classifier import (
    BayesianNetworkClassifier,
    BayesianNetworkForest,
    ImpossibleRowWarning,
    SmallWeightWarning,
    UnknownStateWarning,
)
from colonnade.dag import Dag
from colonnade.exceptions import ColumnWarning, DataError, InputError
from colonnade.network import fit
from colonnade.priors import MaximumLikelihood, Tiered
from colonnade.structure import AIC
from colonnade.tables import Discretizer, frames
from labelled_tables import STRUCTURES, frame_of, letters, mixed, with_gaps

# ------------------------------------------------------------------------ more and more rows


@pytest.mark.parametrize(
    "options",
    [
        {"structure": "naive"},
        {"structure": "naive", "prior": "auto"},
        {"structure": Dag([("class", "colour"), ("colour", "size"), ("class", "size")])},
    ],
    ids=["naive", "auto", "dag"],
)
def test_partial_fit_equals_fit_on_the_union(options) -> None:
    first, second = frame_of(60), frame_of(50, seed=1, more=True)
    first.loc[:5, "colour"] = None
    rng = np.random.default_rng(2)
    labels = rng.choice(["n", "o"], 60), rng.choice(["m", "n", "o"], 50)
    weights = rng.integers(0, 3, 110)
    together = BayesianNetworkClassifier(**options).fit(
        pd.concat([first, second]), np.concatenate(labels), weights
    )
    model = BayesianNetworkClassifier(**options)
    model.partial_fit(first, labels[0], sample_weight=weights[:60])
    model.partial_fit(second, labels[1], sample_weight=weights[60:])
    assert list(model.classes_) == list(together.classes_)
    assert model.network_ == together.network_
    assert model.prior_ == together.prior_


def test_partial_fit_keeps_structure_and_cut_points() -> None:
    data = load_wine()
    odd = np.arange(len(data.target)) % 2 == 1
    bins = {"x4": 5, "x12": 5}  # whole numbers
    model = BayesianNetworkClassifier("tan", bins=bins).fit(data.data[odd], data.target[odd])
    dag, cuts = model.network_.dag, model.network_.discretizer
    model.partial_fit(data.data[~odd], data.target[~odd])
    assert model.network_.dag == dag
    assert model.network_.discretizer == cuts
    columns = dict(zip((f"x{j}" for j in range(13)), data.data.T, strict=True))
    cut = cuts.apply(columns) | {"class": data.target}
    whole = fit(cut, dag, Tiered(), variables=model.network_.variables)
    assert all(model.network_[name] == whole[name] for name in whole)


def test_partial_fit_of_declared_classes() -> None:
    X, y = letters(rows=30)
    model = BayesianNetworkClassifier("naive").partial_fit(X, y, classes=[0, 1, 2, 3])
    assert model.predict_proba(X).shape == (30, 4)
    model.partial_fit(X, y, classes=[3, 2, 1, 0])
    with pytest.raises(
        DataError, match=r"label 7 is not among the known classes of 'class' \(0, 1, 2, 3\)"
    ):
        model.partial_fit(X[:1], [7])
    with pytest.raises(InputError, match="the classes known already"):
        model.partial_fit(X, y, classes=[0, 1, 2])


def test_partial_fit_of_a_column_that_was_empty() -> None:
    model = BayesianNetworkClassifier("naive")
    model.partial_fit(np.array([[np.nan, 1.0], [np.nan, 2.0]]), ["a", "b"])
    assert model.network_["x0"].family.child.states == ("(no value)",)
    model.partial_fit(np.array([[0.0, 1.0], [5.0, 2.0]]), ["a", "b"])
    assert model.network_["x0"].counts.to_array().tolist() == [[1, 0], [0, 1]]
    assert model.predict([[0.0, np.nan], [5.0, np.nan]]).tolist() == ["a", "b"]


def test_new_states_come_last_if_the_others_are_in_an_order_of_their_own() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["b", "a"])})
    model = BayesianNetworkClassifier("naive").partial_fit(frame, [0, 1])
    model.partial_fit(pd.DataFrame({"x": ["c", "a"]}), [0, 1])
    assert model.network_["x"].family.child.states == ("b", "a", "c")
    assert model.network_["x"].counts.to_array().tolist() == [[1, 0, 1], [0, 2, 0]]


def test_partial_fit_refuses_another_kind_of_values() -> None:
    model = BayesianNetworkClassifier("naive").partial_fit(np.array([[1], [2]]), [0, 1])
    with pytest.raises(DataError, match=r"Column 'x0': 'b' are of another kind than 1, 2"):
        model.partial_fit(np.array([["b"]], dtype=object), [0])
    with pytest.raises(DataError, match=r"Column 'x0': 2.5 of type float is not a state"):
        model.partial_fit(np.array([[2.5]]), [0])
    with pytest.raises(DataError, match=r"`y`: '0' are of another kind than 0, 1"):
        model.partial_fit(np.array([[2]]), ["0"])
    model.partial_fit(np.array([[2.0], [3.0]]), [0, 1])  # whole numbers, as floats
    assert model.network_["x0"].family.child.states == (1, 2, 3)


# --------------------------------------------------------------------------- kinds of tables


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_kind_of_table_gives_the_same(structure) -> None:
    frame, y = mixed()
    wanted = BayesianNetworkClassifier(structure).fit(frame, y)
    chances = wanted.predict_proba(frame)
    plain = frame.assign(size=frame["size"].astype(object))
    for table in (
        pl.from_pandas(plain).with_columns(pl.col("size").cast(pl.Enum(["s", "m", "l"]))),
        pa.Table.from_pandas(frame, preserve_index=False),
    ):
        model = BayesianNetworkClassifier(structure).fit(table, y)
        assert model.network_ == wanted.network_
        assert list(model.feature_names_in_) == list(frame.columns)
        np.testing.assert_array_equal(model.predict_proba(table), chances)
    # An array of objects has no list of categories, so the one nobody has is unknown.
    objects = BayesianNetworkClassifier(structure).fit(plain.to_numpy(dtype=object), y)
    assert objects.network_["x3"].family.child.states == ("m", "s")
    assert objects.network_["x4"].family.cardinality == 5


def test_states_of_each_kind_of_column() -> None:
    frame, y = mixed()
    network = BayesianNetworkClassifier("naive", bins=3).fit(frame, y).network_
    states = {name: network[name].family.child.states for name in network}
    assert states["colour"] == ("blue", "red")
    assert states["count"] == (1, 2, 3, 4)
    assert states["flag"] == (False, True)
    assert states["size"] == ("s", "m", "l")
    assert len(states["weight"]) == 3
    assert states["class"] == (0, 1)


@pytest.mark.parametrize("values", [10, 11])
def test_whole_numbers_are_treated_alike_whatever_their_type(values: int) -> None:
    """Also those among which there is a NaN: a fold without it must not differ."""
    X = np.arange(44)[:, None] % values
    gappy = np.append(X.astype(float), [[np.nan]], axis=0)
    y = np.arange(44) // 22
    families = []
    for table, labels in (
        (X, y),
        (X.astype(float), y),
        (gappy, np.append(y, 0)),
        (pd.DataFrame({"x0": X[:, 0]}), y),
        (pl.DataFrame({"x0": pl.Series(X[:, 0], dtype=pl.Int128)}), y),
        (pl.DataFrame({"x0": pl.Series(X[:, 0]).cast(pl.Decimal(9, 2))}), y),
        (np.array([decimal.Decimal(int(k)) for k in X[:, 0]], dtype=object)[:, None], y),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = BayesianNetworkClassifier().fit(table, labels)
        assert [type(each.message) for each in caught] == [ColumnWarning] * (values > 10)
        families.append(model.network_["x0"].family)
    assert all(family == families[0] for family in families)
    cuts = Discretizer.fit((X, ["x0"]), {"x0": 5}).columns[0]
    assert families[0].child.states == (cuts.states if values > 10 else tuple(range(10)))


@pytest.mark.parametrize("estimator", [BayesianNetworkClassifier, BayesianNetworkForest])
@pytest.mark.parametrize("kind", [int, float])
def test_few_whole_numbers_that_show_that_there_are_more_are_cut(estimator, kind) -> None:
    scores = [0, 0, 0, 3, 3, 5, 9, 12, 12, 16, 16, 16]
    X, y = np.array(scores, dtype=kind)[:, None], np.arange(12) // 6
    with pytest.warns(ColumnWarning, match="'x0' \\(6 different values\\).*in one row each"):
        model = estimator().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(np.array([[10], [-4], [99]]))  # no state, but in an interval
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = estimator(bins={"x0": None}).fit(X, y)
        # As if every row was there twice.
        weighted = estimator().fit(X, y, sample_weight=np.full(12, 2.0))
    for each in (kept, weighted):
        with pytest.warns(UnknownStateWarning):
            each.predict(np.array([[10]]))
    # A row without weight does not show anything.
    weights = np.array([1] * 6 + [0] + [1] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 99], [100, 200, 300, 100, 200], range(1, 11)])
def test_few_whole_numbers_are_states(values) -> None:
    X = np.array([*values, *values[:4]])[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BayesianNetworkClassifier().fit(X, np.arange(len(X)) % 2)
    assert model.network_["x0"].family.child.states == tuple(sorted(set(X[:, 0].tolist())))


def test_single_columns_are_cut_as_the_user_says() -> None:
    X = pd.DataFrame(
        {"age": np.arange(60) % 20, "stage": np.arange(60) % 4, "n": np.arange(60) % 12}
    )
    model = BayesianNetworkClassifier("naive", bins={"age": 3, "stage": 2, "n": None})
    network = model.fit(X, np.arange(60) % 2).network_
    sizes = {name: network[name].family.cardinality for name in X}
    assert sizes == {"age": 3, "stage": 2, "n": 12}
    with pytest.raises(DataError, match="Column 'size': not in the table"):
        BayesianNetworkClassifier(bins={"size": 3}).fit(X, np.arange(60) % 2)


# ------------------------------------------------------------------------------- identifiers


def with_identifiers(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(9)
    names = [f"patient {k}" for k in rng.permutation(rows)]
    days = pd.date_range("2020-01-01", periods=rows)
    return {
        "number": np.arange(1, rows + 1),
        "decimal": np.arange(1.0, rows + 1.0),
        "customer_id": rng.choice(10**12, rows, replace=False),
        "name": names,
        "category": pd.Categorical(names),
        "day": days.astype(str),
        "time": days,
    }


@pytest.mark.parametrize("kind", with_identifiers(1))
@pytest.mark.parametrize("structure", ["naive", "tan", "hill_climb"])
def test_a_column_that_identifies_rows_is_left_out(kind, structure) -> None:
    X, y = letters(rows=120)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    wanted = BayesianNetworkClassifier(structure).fit(frame, y)
    added = frame.assign(**{kind: with_identifiers(120)[kind]})
    with pytest.warns(ColumnWarning) as caught:
        model = BayesianNetworkClassifier(structure).fit(added, y)
    told = (
        f"Column {kind!r} (120 different values in 120 rows): left out, because it seems to "
        "identify rows. Hint: identifiers='keep' keeps such columns."
    )
    if kind == "time":
        told = (
            "Column 'time': left out, because dates are neither numbers nor states. "
            "Hint: add columns of what matters about them, such as the month."
        )
    assert [str(each.message) for each in caught] == [told]
    assert model.identifiers_ == caught[0].message.columns == (kind,)
    assert wanted.identifiers_ == ()
    assert model.network_ == wanted.network_
    # what new rows have there does not matter, not even its type
    for new in (added, added.assign(**{kind: "new"}), added.assign(**{kind: None})):
        np.testing.assert_array_equal(model.predict_proba(new), wanted.predict_proba(frame))
    assert model.n_features_in_ == 7
    model.partial_fit(added, y)
    assert model.network_ == wanted.partial_fit(frame, y).network_


@pytest.mark.parametrize("model", [BayesianNetworkClassifier(), BayesianNetworkForest(2)])
def test_numbers_of_rows_are_left_out_whatever_their_type(model) -> None:
    # With a gap pandas makes integers floats; sorted by class, their numbers give it away.
    y = np.repeat(["a", "b"], 30)
    age = np.random.default_rng(0).normal(size=60)
    for number in (np.arange(60), np.arange(60.0), np.where(age > 2.0, np.nan, np.arange(60))):
        with pytest.warns(ColumnWarning, match="Column 'number' .*: left out"):
            model.fit(pd.DataFrame({"age": age, "number": number}), y)
        assert model.identifiers_ == ("number",)


@pytest.mark.parametrize(
    "model", [BayesianNetworkClassifier(), BayesianNetworkForest(2, random_state=0)]
)
@pytest.mark.parametrize("values", [[1, pd.NA, 2], [1.5, pd.NA, 2.5], [True, pd.NA, False]])
def test_gaps_of_pandas_in_columns_of_objects_are_missing(model, values) -> None:
    y = [0, 1, 0] * 10
    found = []
    for gap in (pd.NA, None):
        each = [gap if value is pd.NA else value for value in values]
        X = pd.DataFrame({"a": pd.Series(each * 10, dtype=object)})
        found.append(model.fit(X, y).predict_proba(X))
    np.testing.assert_array_equal(*found)


def test_an_identifier_does_not_change_cross_validation() -> None:
    data = load_breast_cancer(as_frame=True)
    frame, y = data.data.iloc[:, :10], data.target
    model = BayesianNetworkClassifier("tan")
    wanted = cross_val_score(model, frame, y, scoring="roc_auc", cv=3)
    for name in ("number", "name"):
        added = frame.assign(**{name: with_identifiers(len(frame))[name]})
        with pytest.warns(ColumnWarning, match=f"Column '{name}'"):
            found = cross_val_score(model, added, y, scoring="roc_auc", cv=3)
        assert found.tolist() == wanted.tolist()


def test_identifiers_stay_if_the_user_says_so() -> None:
    X, y = letters(rows=60)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(name=with_identifiers(60)["name"])
    kept = BayesianNetworkClassifier("naive", identifiers="keep").fit(frame, y)
    assert "name" in kept.network_
    assert kept.identifiers_ == ()
    dag = Dag([("class", "a"), ("class", "name")])
    for options in ({"structure": dag}, {"structure": "tan", "root": "name"}):
        with pytest.warns(ColumnWarning, match="Column 'name' .*: seems to identify rows"):
            model = BayesianNetworkClassifier(**options).fit(frame, y)
        assert "name" in model.network_
    with pytest.warns(ColumnWarning, match="Column 'name' .*: seems to identify rows"):
        assert "name" in BayesianNetworkClassifier().fit(frame[["name"]], y).network_
    with pytest.raises(InputError, match="'drop' or 'keep' for `identifiers`"):
        BayesianNetworkClassifier(identifiers="no").fit(frame, y)


def test_measurements_that_never_repeat_are_no_identifiers() -> None:
    X, y = letters(rows=60)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": X[:, 0], "income": rng.choice(10**5, 60, replace=False)})
    with pytest.warns(ColumnWarning, match="were cut into intervals") as caught:
        model = BayesianNetworkClassifier().fit(frame, y)
    assert len(caught) == 1
    assert model.identifiers_ == ()
    assert model.network_["income"].family.cardinality == 5


def test_numbers_beside_strings_in_a_list_stay_numbers() -> None:
    rows = [["a", 1.5], ["b", 2.5], ["a", 3.5], ["b", 9.5]]
    model = BayesianNetworkClassifier("naive", bins=2).fit(rows, [0, 1, 0, 1])
    assert model.network_["x1"].family.child.states == ("up to 3", "above 3")
    assert model.predict([["a", 1.0]]).tolist() == [0]


def test_numbers_in_columns_of_objects_are_cut() -> None:
    frame, y = mixed()
    wanted = BayesianNetworkClassifier("naive").fit(frame, y).network_
    found = BayesianNetworkClassifier("naive").fit(
        frame.assign(weight=frame["weight"].astype(object)), y
    )
    assert found.network_ == wanted


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_every_column_is_read_once(kind, monkeypatch) -> None:
    frame = kind({"s": list("abab"), "f": [0.5, 1.5, 2.5, 3.5], "i": [1, 2, 1, 2]})
    read = []
    for question in ("levels", "numbers"):
        answer = getattr(frames.SeriesColumn, question)
        counted = _counted(answer, read)
        monkeypatch.setattr(frames.SeriesColumn, question, counted)
    model = BayesianNetworkClassifier("naive")
    for work in (
        lambda: model.fit(frame, [0, 1, 0, 1]),
        lambda: model.predict(frame),
        lambda: model.partial_fit(frame, [0, 1, 0, 1]),
    ):
        read.clear()
        work()
        assert sorted(read) == ["f", "i", "s"]


def _counted(answer, read):
    """The same method or property, which notes the column it is asked of."""
    if isinstance(answer, property):
        return property(lambda column: read.append(column.name) or answer.fget(column))
    return lambda column, declared: read.append(column.name) or answer(column, declared)


def test_integers_may_come_back_as_floats() -> None:
    X, y = letters()
    model = BayesianNetworkClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X.astype(float)), model.predict_proba(X))


def test_floats_are_cut_as_by_discretize() -> None:
    frame = pd.DataFrame(load_wine().data[:, :4], columns=list("abcd"))
    frame.loc[::7, "b"] = np.nan
    weights = np.random.default_rng(0).integers(1, 4, len(frame))
    y = load_wine().target
    for counted in (None, weights):
        model = BayesianNetworkClassifier("naive", bins=4).fit(frame, y, counted)
        wanted = Discretizer.fit(frame, bins=4, weights=counted)
        assert model.network_.discretizer == wanted
    assert wanted != Discretizer.fit(frame, bins=4)


def test_a_column_that_mostly_has_its_largest_value_is_cut_below_it() -> None:
    X = np.array([[1.0], [2.0], [3.0], [np.nan], *[[9.0]] * 20])
    model = BayesianNetworkClassifier("naive", bins={"x0": 3}).fit(X, np.arange(24) < 3)
    assert model.network_.discretizer.get("x0").points == (3.0,)
    assert model.predict([[2.5], [9.0]]).tolist() == [True, False]
    same = BayesianNetworkClassifier("naive", bins={"x0": 5}).fit(X[4:], np.arange(20) < 3)
    assert same.network_.discretizer.get("x0").points == ()


# ---------------------------------------------------------------------- missing and unknown


def test_missing_in_training_is_counted_where_available() -> None:
    X = np.array([[0, 0], [1, np.nan], [np.nan, 1], [1, 1]])
    model = BayesianNetworkClassifier(Dag([("class", "x0"), ("class", "x1"), ("x0", "x1")]))
    model.fit(X, [0, 0, 1, 1])
    assert model.network_["class"].counts.total == 4
    assert model.network_["x0"].counts.total == 3
    assert model.network_["x1"].counts.total == 2


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("share", [0.05, 0.6])
def test_structures_are_learned_despite_gaps(structure, share) -> None:
    X, y = letters(rows=600)
    gappy = with_gaps(X, share)
    model = BayesianNetworkClassifier(structure).fit(gappy, y)
    assert model.score(X.astype(float), y) > 0.75
    assert set(model.network_) == {*(f"x{j}" for j in range(6)), "class"}
    assert max(model.network_[f"x{j}"].family.cardinality for j in range(6)) == 4


def test_a_column_without_any_value_plays_no_part() -> None:
    X, y = letters()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = BayesianNetworkClassifier("naive").fit(frame, y)
    empty = frame.assign(none=None, nan=np.nan)
    extended = BayesianNetworkClassifier("naive").fit(empty, y)
    np.testing.assert_allclose(extended.predict_proba(empty), model.predict_proba(frame))
    with pytest.warns(UnknownStateWarning, match="Column 'none': 400 rows with"):
        extended.predict(empty.assign(none="some"))


NOTHING = {
    "None": [None],
    "NA": [pd.NA],
    "NaT": [pd.NaT],
    "objects": pd.Series([None], dtype=object),
    "category": pd.Categorical([None], categories=["a", "b"]),
    "boolean": pd.array([None], dtype="boolean"),
    "string": pd.array([None], dtype="string"),
    "float": [np.nan],
}


@pytest.mark.parametrize("kind", NOTHING)
@pytest.mark.parametrize(
    "estimator",
    [partial(BayesianNetworkClassifier, "naive"), partial(BayesianNetworkForest, 2)],
    ids=["classifier", "forest"],
)
def test_a_column_of_missing_values_has_any_type(estimator, kind) -> None:
    ages = np.random.default_rng(0).normal(40.0, 9.0, 60)
    frame = pd.DataFrame({"age": ages, "sex": ["f", "m"] * 30})
    model = estimator().fit(frame, np.where(ages > 40, "old", "young"))
    absent = frame.head(1).assign(age=np.nan)
    wanted = model.predict_proba(absent)
    row = pd.DataFrame({"age": NOTHING[kind], "sex": ["f"]})
    np.testing.assert_array_equal(model.predict_proba(row), wanted)
    of_states = pd.DataFrame({"age": ages[:1], "sex": NOTHING[kind]})
    wanted = model.predict_proba(frame.head(1).assign(sex=None))
    np.testing.assert_array_equal(model.predict_proba(of_states), wanted)
    model.partial_fit(row, ["old"])


def test_unknown_values_are_missing_and_told_once() -> None:
    frame, y = mixed()
    model = BayesianNetworkClassifier().fit(frame, y)
    strange = frame.head(6).copy()
    strange.loc[:2, "colour"] = ["green", "green", "pink"]
    strange.loc[4, "count"] = 99
    missing = frame.head(6).copy()
    missing.loc[:2, "colour"] = None
    missing["count"] = missing["count"].astype("Int64")
    missing.loc[4, "count"] = pd.NA
    with pytest.warns(UnknownStateWarning) as caught:
        found = model.predict_proba(strange)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert str(caught[0].message) == (
        "Values that did not occur in training are treated as missing. Column 'colour': 3 rows "
        "with 'green', 'pink'; Column 'count': 1 row with 99. "
        "Hint: unknown='raise' makes this an error."
    )
    np.testing.assert_array_equal(found, model.predict_proba(missing))
    strict = BayesianNetworkClassifier(unknown="raise").fit(frame, y)
    with pytest.raises(DataError, match="Column 'colour': states 'green'"):
        strict.predict(strange)


def test_infinity_is_refused() -> None:
    frame, y = mixed()
    model = BayesianNetworkClassifier().fit(frame, y)
    frame.loc[7, "weight"] = np.inf
    with pytest.raises(DataError, match=r"Column 'weight': infinity, .* in row 8 \("):
        BayesianNetworkClassifier().fit(frame, y)
    with pytest.raises(DataError, match="Column 'weight': infinity, or"):
        model.predict(frame)
    with pytest.raises(ValueError, match="infinity"):
        BayesianNetworkClassifier().fit(np.array([[1.0], [np.inf]]), [0, 1])


def test_impossible_rows_are_told() -> None:
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    y = np.array(["a", "a", "b", "b"])
    model = BayesianNetworkClassifier("naive", MaximumLikelihood("uniform")).fit(X, y)
    assert model.predict_log_proba([[0, 0]]).tolist() == [[0.0, -np.inf]]
    with pytest.warns(ImpossibleRowWarning, match=r"1 row cannot occur .*, first row 2 \("):
        found = model.predict_proba([[0, 0], [0, 1]])
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.5, 0.5]])
    # Three columns: the class with fewer impossible values is taken.
    model.fit(np.column_stack([X, X[:, 0]]), y)
    with pytest.warns(ImpossibleRowWarning):
        assert model.predict([[0, 1, 1]]).tolist() == ["b"]
    assert np.isneginf(model.predict_joint_log_proba([[0, 1, 1]])).all()


def test_probabilities_that_do_not_exist_are_refused() -> None:
    X, y = letters(rows=20, states=4)
    model = BayesianNetworkClassifier("kdb", MaximumLikelihood()).fit(X, y)
    with pytest.raises(DataError, match=r"Row \d+ .*: MaximumLikelihood\(unobserved='nan'\)"):
        model.predict(letters(seed=3)[0])


# ----------------------------------------------------------------------- classes and weights


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [0, 1], [False, True], [0.0, 1.0], [-3, 7]], ids=str
)
def test_labels_of_every_kind(labels) -> None:
    X, y = letters(classes=2)
    y = np.array(labels)[y]
    model = BayesianNetworkClassifier().fit(X, y)
    assert model.classes_.dtype == y.dtype
    assert model.classes_.tolist() == labels
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.8
    assert model.network_["class"].family.child.states == tuple(
        int(label) if isinstance(label, float) else label for label in labels
    )


@pytest.mark.parametrize("nothing", [np.nan, None, pd.NA])
@pytest.mark.parametrize("kind", [list, tuple, pd.Series])
@pytest.mark.parametrize("estimator", [BayesianNetworkClassifier, BayesianNetworkForest])
def test_missing_labels_are_refused(estimator, kind, nothing) -> None:
    labels = kind(["se", nothing, nothing, "ve"])
    message = r"`y`: 2 labels missing, the first in row 2"
    with pytest.raises(DataError, match=message):
        estimator().fit(np.arange(4.0)[:, None], labels)


def test_declared_classes_keep_their_column() -> None:
    X, y = letters()
    some = y < 2
    model = BayesianNetworkClassifier(classes=[2, 1, 0]).fit(X[some], y[some])
    assert model.classes_.tolist() == [0, 1, 2]
    chances = model.predict_proba(X)
    assert chances.shape == (400, 3)
    assert (chances[:, 2] > 0).all()
    assert chances[:, 2].max() < 0.5
    with pytest.raises(
        DataError, match=r"`y`: label 2 is not among the known classes of 'class' \(0, 1\)"
    ):
        BayesianNetworkClassifier(classes=[0, 1]).fit(X, y)
    with pytest.raises(DataError, match=r"labels '0', '1', '2' are not among"):
        BayesianNetworkClassifier(classes=[0, 1, 2]).fit(X, y.astype(str))
    with pytest.raises(InputError, match="Expected different labels for `classes`"):
        BayesianNetworkClassifier(classes=[0, 1, 1]).fit(X, y)


def test_a_single_class_is_certain() -> None:
    X, _ = letters(rows=10)
    model = BayesianNetworkClassifier().fit(X, ["only"] * 10)
    assert model.predict_proba(X).tolist() == [[1.0]] * 10
    assert set(model.predict(X)) == {"only"}


def test_weights_count_rows() -> None:
    X, y = letters(rows=60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    weighted = BayesianNetworkClassifier().fit(X, y, sample_weight=weights)
    repeated = BayesianNetworkClassifier().fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    assert weighted.network_ == repeated.network_
    with pytest.raises(InputError, match=r"some of them positive, for `sample_weight`, got -1\.0"):
        BayesianNetworkClassifier().fit(X, y, sample_weight=weights - 1)
    with pytest.raises(DataError, match=r"^`sample_weight`: the weights add up to"):
        BayesianNetworkClassifier().fit(X, y, sample_weight=np.full(60, 1e300))
    halves = BayesianNetworkClassifier("naive").fit(X, y, sample_weight=np.full(60, 0.5))
    assert halves.network_["class"].counts.total == 30


def test_a_row_without_weight_is_not_there() -> None:
    X, y = letters(rows=60)
    strange = np.vstack([X, [[50] * 6]])
    model = BayesianNetworkClassifier().fit(strange, np.append(y, 9), [1.0] * 60 + [0.0])
    assert model.network_ == BayesianNetworkClassifier().fit(X, y).network_


# ---------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "tree"}, r"one of 'naive', 'tan', 'kdb', 'hill_climb' or a Dag"),
        ({"structure": 3}, "or a Dag for `structure`"),
        ({"structure": Dag([("x0", "x1")])}, "a graph that has the class, 'class',"),
        ({"structure": Dag([("class", "z")])}, "'z', which is neither a feature nor the class"),
        ({"structure": "kdb", "root": "x0"}, "`root` applies only to structure='tan'"),
        ({"structure_score": AIC()}, "`structure_score` applies only to structure='hill_climb'"),
        ({"graph_prior": "sizes"}, "`graph_prior` applies only to structure='hill_climb'"),
        ({"structure": "hill_climb", "graph_prior": "size"}, "'sizes' or None for `graph_prior`"),
        ({"structure": "kdb", "k": -1}, "`k`"),
        ({"structure": "tan", "root": "z"}, "`root`"),
        ({"root": "x0"}, "`root` applies only to structure='tan'"),
        ({"prior": "bdeu"}, "a prior, 'auto' or None for `prior`"),
        ({"bins": 1}, "of at least 2 for `bins`"),
        ({"unknown": "ignore"}, "'missing' or 'raise' for `unknown`"),
        ({"target_name": ""}, "a non-empty string or None for `target_name`"),
        ({"target_name": "x1"}, "a name that no feature has for `target_name`"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_options_that_cannot_be(options, message) -> None:
    X, y = letters(rows=20)
    with pytest.raises(InputError, match=message):
        BayesianNetworkClassifier(**options).fit(X, y)


def test_options_reach_the_structure() -> None:
    X, y = letters()
    rooted = BayesianNetworkClassifier("tan", root="x4").fit(X, y).network_.dag
    assert rooted.parents("x4") == ("class",)
    wide = BayesianNetworkClassifier("kdb", k=4).fit(X, y).network_.dag
    assert max(len(wide.parents(f"x{j}")) for j in range(6)) == 5
    sparse, dense = (
        BayesianNetworkClassifier("hill_climb", structure_score=score).fit(X, y).network_.dag
        for score in (None, AIC())
    )
    assert len(dense.arcs) > len(sparse.arcs)
    free, priced = (
        BayesianNetworkClassifier("hill_climb", graph_prior=graph_prior)
        for graph_prior in (None, "sizes")
    )
    few = X[:40], y[:40]
    arcs = [len(model.fit(*few).network_.dag.arcs) for model in (free, priced)]
    assert arcs[1] < arcs[0]
    named = BayesianNetworkClassifier(target_name="species").fit(X, y)
    assert "species" in named.network_


def test_features_outside_a_dag_play_no_part() -> None:
    X, y = letters()
    dag = Dag([("class", "x0"), ("x2", "class")])
    model = BayesianNetworkClassifier(dag).fit(X, y)
    changed = X.copy()
    changed[:, [1, 3, 4, 5]] = 0
    np.testing.assert_array_equal(model.predict_proba(changed), model.predict_proba(X))
    assert set(model.network_) == {"class", "x0", "x2"}


def test_bad_frames() -> None:
    frame, y = mixed()
    model = BayesianNetworkClassifier()
    with pytest.raises(InputError, match="at least one row and one column for `X`"):
        model.fit(frame.head(0), y[:0])
    twice = pd.concat([frame, frame["flag"]], axis=1)
    with pytest.raises(DataError, match=r"Column 'flag': the name occurs 2 times"):
        model.fit(twice, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.fit(frame, y).predict(frame.rename(columns={"flag": "flags"}))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(frame, y[:-1])


# ------------------------------------------------------------------ what a user did not mean


def _mixed(rows: int = 120) -> tuple[pd.DataFrame, Any]:
    X, y = letters(rows=rows)
    return pd.DataFrame(X, columns=list("abcdef")), np.where(np.asarray(y) % 2, "yes", "no")


@pytest.mark.parametrize("different", [2, 12, 120])
def test_dates_are_left_out_however_few(different) -> None:
    frame, y = _mixed()
    days = pd.date_range("2020-01-01", periods=different)[np.arange(120) % different]
    with pytest.warns(ColumnWarning, match="'day': left out, because dates are neither"):
        model = BayesianNetworkClassifier("naive").fit(frame.assign(day=days), y)
    assert model.identifiers_ == ("day",)
    wanted = BayesianNetworkClassifier("naive").fit(frame, y)
    found = model.predict_proba(frame.assign(day=days))
    assert np.array_equal(found, wanted.predict_proba(frame))


def test_dates_that_are_to_be_kept_are_refused() -> None:
    frame, y = _mixed()
    frame = frame.assign(day=pd.date_range("2020-01-01", periods=120))
    with pytest.raises(DataError, match="'day': dates are not states"):
        BayesianNetworkClassifier(identifiers="keep").fit(frame, y)


def test_text_that_reads_as_numbers_is_named_when_it_is_left_out() -> None:
    frame, y = _mixed()
    text = [f"{value:.3f}" for value in np.random.default_rng(0).normal(size=120)]
    with pytest.warns(ColumnWarning, match="Hint: convert 'size', text that reads as numbers"):
        BayesianNetworkClassifier("naive").fit(frame.assign(size=text), y)


@pytest.mark.parametrize("kind", [BayesianNetworkClassifier, BayesianNetworkForest])
def test_weights_that_add_up_to_one_are_worth_a_warning(kind) -> None:
    frame, y = _mixed()
    with pytest.warns(SmallWeightWarning, match="add up to 1 for 120 rows.*multiply them by 120 "):
        kind().fit(frame, y, sample_weight=np.full(120, 1 / 120))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SmallWeightWarning)
        kind().fit(frame, y, sample_weight=np.full(120, 0.5))


def test_weights_of_labels_that_do_not_occur() -> None:
    frame, y = _mixed()
    with pytest.raises(InputError, match=r"got 'No'. Hint: did you mean 'no'\?"):
        BayesianNetworkClassifier("naive", class_weight={"No": 2}).fit(frame, y)
    # A fold may lack a class.
    weights = {"no": 2, "yes": 1, "perhaps": 3}
    BayesianNetworkClassifier("naive", class_weight=weights).fit(frame, y)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (None, "Expected an array or a data frame for `X`, got None."),
        ("rows.csv", "got 'rows.csv'. Hint: read the file first"),
        ([{"a": 1}, {"a": 2}], "got list of records. Hint: write pandas.DataFrame"),
        (np.zeros(2, dtype=[("a", "f8")]), "got ndarray of records. Hint: write pandas.DataFrame"),
        (pl.LazyFrame({"a": [1, 2]}), "got a LazyFrame. Hint: collect its rows first"),
    ],
    ids=["none", "path", "records", "structured", "lazy"],
)
def test_what_is_no_table_is_refused_in_words(table, told) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        BayesianNetworkClassifier().fit(table, [0, 1])


def test_hints_name_options_that_a_classifier_has() -> None:
    frame, y = _mixed()
    with pytest.raises(DataError, match="Hint: use strings for all of them"):
        BayesianNetworkClassifier().fit(frame.assign(a=[1, "x"] * 60), y)
    with pytest.raises(DataError, match="Hint: leave it out of `bins`"):
        BayesianNetworkClassifier(bins={"a": None}).fit(frame.assign(a=np.arange(120) / 7), y)
    with pytest.raises(InputError, match="'ill', 'cot', of which one at most is the class"):
        BayesianNetworkClassifier(Dag([("ill", "cot"), ("ill", "a")])).fit(frame, y)
    with pytest.raises(DataError, match="scikit-learn seems to have numbered the labels"):
        BayesianNetworkClassifier(classes=["no", "yes"]).fit(frame, (y == "yes").astype(int))
    with pytest.raises(InputError, match="Hint: give a seed, such as 0"):
        BayesianNetworkForest(random_state=np.random.default_rng(0)).fit(frame, y)
    model = BayesianNetworkClassifier("naive").fit(frame.assign(a=[True, False] * 60), y)
    with pytest.warns(UnknownStateWarning, match=r"Hint: did you mean True\?"):
        model.predict(frame.assign(a=1))
