"""What classifiers refuse, and what they say: the name, the value and the row that are wrong."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import numpy as np
import pandas as pd
import polars as pl
import pytest

import colonnade as cn
from colonnade import BayesianNetworkClassifier, BayesianNetworkForest
from colonnade.exceptions import ColumnWarning, DataError, DataWarning, InputError, TooLargeError
from colonnade.files import disk


def rows(count=60):
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.normal(50.0, 10.0, count).round(1),
        "sex": rng.choice(["m", "f"], count),
        "group": rng.choice(list("abc"), count),
    }
    return pd.DataFrame(columns), pd.Series(rng.choice(["ill", "ok"], count), name="out")


def forest(**options):
    return BayesianNetworkForest(n_members=2, random_state=0, **options)


KINDS = pytest.mark.parametrize("kind", [forest, BayesianNetworkClassifier])


# ------------------------------------------------------------------------ the name of the class


@KINDS
@pytest.mark.parametrize("states", [["ill", "ok"], ["a"], ["ok", "ill"]])
def test_a_declared_variable_does_not_rename_labels_that_have_a_name(kind, states):
    X, y = rows()
    told = "got 'nope', which is neither a feature nor the class 'out'. Hint: target_name='nope'"
    with pytest.raises(InputError, match=told) as caught:
        kind(variables={"nope": states}).fit(X, y)
    assert caught.value.parameter == "variables"
    with pytest.raises(InputError, match=r"Hint: did you mean 'group'\?"):
        kind(variables={"grup": ["a", "b", "c"]}).partial_fit(X, y)
    assert kind(variables={"out": ["ill", "ok"]}).fit(X, y).target_name_ == "out"
    assert kind(variables={"k": ["ill", "ok"]}, target_name="k").fit(X, y).target_name_ == "k"


@KINDS
def test_labels_without_a_name_take_that_of_the_one_variable_that_is_no_feature(kind):
    X, y = rows()
    declared = {"ill": ["ill", "ok"]}
    assert kind(variables=declared).fit(X, y.to_numpy()).target_name_ == "ill"
    # The name of a feature is none for the class.
    assert kind(variables=declared).fit(X, y.rename("age")).target_name_ == "ill"
    with pytest.raises(InputError, match="'ill', 'nope', of which one at most is the class"):
        kind(variables={**declared, "nope": ["a"]}).fit(X, y.to_numpy())


def test_a_dag_does_not_rename_labels_that_have_a_name():
    X, y = rows()
    dag = cn.Dag([("age", "zzz")])
    with pytest.raises(InputError, match=r"'zzz', which is neither .* 'out'") as caught:
        BayesianNetworkClassifier(dag).fit(X, y)
    assert caught.value.parameter == "structure"
    assert BayesianNetworkClassifier(dag).fit(X, y.to_numpy()).target_name_ == "zzz"
    model = BayesianNetworkClassifier(dag, target_name="zzz").fit(X, y)
    assert model.target_name_ == "zzz"
    both = cn.Dag([("out", "age"), ("zzz", "age")])
    with pytest.raises(InputError, match=r"'zzz', which is neither .* Hint: leave it out"):
        BayesianNetworkClassifier(both).fit(X, y)
    with pytest.raises(InputError, match="Hint: add the class, such as with arcs from 'out'"):
        BayesianNetworkClassifier(cn.Dag([("age", "sex")])).fit(X, y)


@pytest.mark.parametrize("root", ["nope", "out", 3])
def test_a_root_is_a_feature_and_never_the_name_of_the_class(root):
    X, y = rows()
    for labels in (y, y.to_numpy()):
        with pytest.raises(InputError, match="one of 'age', 'sex', 'group' for `root`"):
            BayesianNetworkClassifier("tan", root=root).fit(X, labels)


# ------------------------------------------------------------------------------------ columns


@KINDS
@pytest.mark.parametrize("count", [1, 2])
def test_a_table_of_dates_leaves_nothing_to_learn_from(kind, count):
    dates = pd.DataFrame({f"d{k}": pd.date_range("2020", periods=60) for k in range(count)})
    told = r"no column is left to learn from, because dates are neither .* Hint: add columns"
    with pytest.raises(DataError, match=told) as caught:
        kind().fit(dates, np.arange(60) % 2)
    assert caught.value.place == ("Column 'd0'" if count == 1 else "Columns 'd0', 'd1'")
    # A column that seems to identify rows is better than none.
    with pytest.warns(ColumnWarning):
        model = kind().fit(dates.assign(b=[f"n{k}" for k in range(60)]), np.arange(60) % 2)
    assert model.identifiers_ == tuple(dates)


@KINDS
def test_durations_are_no_dates(kind):
    X, y = rows()
    days = pd.to_timedelta(np.arange(60), "D")
    with pytest.warns(
        ColumnWarning, match=r"durations are neither .* numbers, such as by .dt.days"
    ):
        model = kind().fit(X.assign(stay=days), y)
    assert model.identifiers_ == ("stay",)
    with pytest.raises(DataError, match=r"durations are not states\. .* into numbers of days"):
        kind(identifiers="keep").fit(X.assign(stay=days), y)
    with pytest.raises(DataError, match=r"no column is left .* because durations are"):
        kind().fit(pd.DataFrame({"stay": days}), y)
    for column in (list(days.to_pytimedelta()), days.to_numpy(), pd.Series(days)):
        (found,) = cn.inspect({"stay": column}).columns
        assert found.reason == "durations, 60 different"


# ------------------------------------------------------------------ parameters by their names


@KINDS
def test_errors_name_the_parameter_that_the_caller_knows(kind, tmp_path):
    X, y = rows()
    model = kind().fit(X, y)
    absent = tmp_path / "absent.csv"
    for call, parameter, told in (
        (lambda: kind().fit(X.rename(columns={"age": ""}), y), "X", "non-empty strings as column"),
        (lambda: kind().partial_fit(X.rename(columns={"age": ""}), y), "X", "for `X`"),
        (lambda: model.predict(absent), "X", "an existing file for `X`"),
        (lambda: model.predict_interval([str(absent)]), "X", "an existing file for `X`"),
        (lambda: kind(variables={"sex": []}).fit(X, y), "variables", "at least one state of 'sex'"),
        (
            lambda: kind(variables={"sex": ["m", "m"]}).fit(X, y),
            "variables",
            "different states of 'sex' for `variables`",
        ),
        (
            lambda: kind(prior=cn.Hierarchical()).set_params(prior__zz=1),
            "prior",
            "an option of Hierarchical, one of 's', .* for `prior`, got 'zz'",
        ),
        (lambda: kind(prior=cn.Hierarchical()).set_params(prior__s=-1), "prior__s", "`prior__s`"),
    ):
        with pytest.raises(InputError, match=told) as caught:
            call()
        assert caught.value.parameter == parameter


def test_a_score_of_structures_is_named_as_the_classifier_names_it():
    X, y = rows()
    for score, hint in (("aic", r"structure_score=AIC\(\)"), (3, r"structure_score=BIC\(\)")):
        with pytest.raises(InputError, match=f"for `structure_score`, .* Hint: write {hint}"):
            BayesianNetworkClassifier("hill_climb", structure_score=score).fit(X, y)


@KINDS
@pytest.mark.parametrize("form", ["series", "array", "objects", "durations"])
def test_dates_are_no_labels(kind, form):
    X, _ = rows()
    dates = pd.Series(pd.date_range("2020", periods=2).repeat(30))
    labels = {
        "series": dates,
        "array": dates.to_numpy(),
        "objects": np.array(list(dates.dt.date), dtype=object),
        "durations": dates - dates[0],
    }[form]
    what = "durations" if form == "durations" else "dates"
    with pytest.raises(DataError, match=rf"^`y`: {what} are no labels.* by astype\(str\)"):
        kind().fit(X, labels)
    assert kind().fit(X, labels.astype(str)).classes_.size == 2


@KINDS
def test_classes_of_rows_in_parts_are_not_balanced(kind):
    X, y = rows()
    model = kind(class_weight="balanced").partial_fit(X, y)
    told = "'balanced', which needs the totals of all rows, while these come in parts"
    with pytest.raises(InputError, match=told) as caught:
        model.partial_fit(X, y)
    assert caught.value.hint == "give a weight for each class, such as {'ill': 1, 'ok': 5}"


# ------------------------------------------------------------------------- texts among numbers


def written(table, folder, form):
    """The same rows as data frames and as files of several kinds."""
    if form == "csv":
        table.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    if form == "polars":
        return pl.DataFrame({name: list(map(str, own)) for name, own in table.items()})
    if form == "lazy":
        return pl.LazyFrame({name: list(map(str, own)) for name, own in table.items()})
    if form == "parquet":
        table.astype(str).to_parquet(folder / "rows.parquet")
        return folder / "rows.parquet"
    return {"objects": table, "strings": table.astype(str)}[form]


FORMS = ["objects", "strings", "csv", "parquet", "polars", "lazy"]


@KINDS
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:Column 'age'. text, not numbers")  # said of files, too
def test_a_text_among_numbers_is_named_with_its_row(kind, form, tmp_path):
    X, y = rows()
    model = kind().fit(X, y)
    ages = X["age"].astype(object)
    ages[3] = ages[9] = "old"
    with pytest.raises(
        DataError, match=r"Column 'age': not a column of numbers: 'old' is in row 4"
    ):
        model.predict_proba(written(X.assign(age=ages), tmp_path, form))


@KINDS
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("objects", "csv")])
def test_numbers_that_are_texts_are_called_so(kind, form, tmp_path):
    X, y = rows()
    told = r"not a column of numbers but of texts, such as '([0-9.]+)' in row ([0-9]+) "
    with pytest.raises(DataError, match=told) as caught:
        kind().fit(X, y).predict_proba(written(X, tmp_path, form))
    assert str(X["age"][caught.value.row]) == caught.value.value


@KINDS
def test_booleans_among_numbers_are_named_and_gaps_are_not(kind, tmp_path):
    X, y = rows()
    model = kind().fit(X, y)
    table = X.assign(age=[None, None, *(X["age"][2:] > 50)])
    with pytest.raises(DataError, match=r"'age': not .*: (True|False) is in row 3"):
        model.predict_proba(table)
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"'age': not .*: (True|False) is in row 3"):
        model.predict_proba(tmp_path / "rows.parquet")
    gaps = X.assign(age=[None] * 60)
    assert np.isfinite(model.predict_proba(gaps)).all()


# ------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        (forest, "learn fewer members, or members with fewer intervals or parents"),
        (BayesianNetworkClassifier, "learn it with fewer intervals or parents"),
    ],
)
def test_a_file_that_would_be_too_large_says_what_makes_it_smaller(
    kind, hint, tmp_path, monkeypatch
):
    model = kind().fit(*rows())
    monkeypatch.setattr(disk, "MAX_BYTES", 500)
    with pytest.raises(TooLargeError, match="more than the limit of 500") as caught:
        model.save(tmp_path / "model.json")
    assert caught.value.hint == hint
    assert not list(tmp_path.iterdir())
    assert f"{1 << 27:,} bytes" in type(model).save.__doc__


# --------------------------------------------------------------------- classes without weight


@KINDS
def test_a_class_without_weight_is_told(kind):
    X, y = rows()
    told = "`class_weight` is 0 for 'ill': these rows are left out, and it is no class"
    with pytest.warns(DataWarning, match=told):
        model = kind(class_weight={"ill": 0}).fit(X, y)
    assert model.classes_.tolist() == ["ok"]
    # Whoever declares it knows that it is one, and later rows are nothing new.
    declared = kind(class_weight={"ill": 0}, classes=["ill", "ok"]).fit(X, y)
    assert declared.classes_.tolist() == ["ill", "ok"]
    kind(class_weight={"ill": 0}).partial_fit(X, y, classes=["ill", "ok"]).partial_fit(X, y)
    model.partial_fit(X, y)


@pytest.mark.parametrize("kind", [BayesianNetworkClassifier, BayesianNetworkForest])
def test_a_misspelt_name_that_is_taken_for_the_class_is_named(kind):
    X = pd.DataFrame({"stage": ["I", "II"] * 20})
    model = kind(variables={"stagee": ["I", "II", "III"]})
    with pytest.raises(DataError, match=r"not among the known classes of 'stagee' \('I', 'II'"):
        model.fit(X, ["no", "yes"] * 20)
