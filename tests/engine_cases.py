"""What every engine has to answer as a table in memory does, for tests of all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colonnade as cn
from colonnade.exceptions import ColonnadeWarning, DataError, InputError
from colonnade.tables import Cuts, Discretizer, encode
from colonnade.tables.countable import countable

# From an Arrow table to the same table in an engine.
Make = Callable[[pa.Table], Any]

DAG = cn.Dag([("town", "ill"), ("number", "ill"), ("smoker", "number"), ("town", "whole")])
NAMES = DAG.variables


def data(rows: int = 240, gaps: bool = True) -> pa.Table:
    """Strings, integers, booleans, floats, a decimal-like column, gaps and weights."""
    rng = np.random.default_rng(3)
    towns = rng.choice(["Oslo", "Ørsta", "x'y\"z", "å b"], rows)
    number = rng.choice([-3, 2, 10, 100], rows)
    smoker = rng.random(rows) < 0.4
    ill = np.where(rng.random(rows) < 0.7, np.where(smoker, "yes", "no"), "perhaps")
    columns = {
        "town": towns.tolist(),
        "number": number.tolist(),
        "smoker": smoker.tolist(),
        "ill": ill.tolist(),
        "whole": (number % 4).astype(float).tolist(),
        "measured": (rng.normal(size=rows).round(1) + number / 10).tolist(),
        "site": rng.choice(["n", "s"], rows).tolist(),
        "times": rng.integers(0, 5, rows).tolist(),
        "share": (rng.integers(0, 9, rows) / 4).tolist(),
    }
    if gaps:
        for name in ("town", "number", "smoker", "whole", "measured"):
            for row in rng.choice(rows, rows // 12, replace=False):
                columns[name][row] = None
    return pa.table(columns)


def same(one: Any, other: Any) -> None:
    """Two networks have the same variables and the same counts."""
    assert one.variables == other.variables
    for mine, yours in zip(one.variables, other.variables, strict=True):
        assert list(map(type, mine.states)) == list(map(type, yours.states))
    for name in one.dag.variables:
        assert one[name].counts == other[name].counts
        assert one[name].counts.values.dtype == other[name].counts.values.dtype


def fits_are_the_same(make: Make) -> None:
    """Types and order of states, missing values of both kinds, in one request."""
    table = data()
    opened = countable(make(table), columns=NAMES)
    coded = encode(table, columns=NAMES)
    assert opened.missing == coded.missing
    assert opened.rows == coded.rows
    same(cn.fit(make(table), DAG, missing="available"), cn.fit(table, DAG, missing="available"))


def missing_values_are_treated_alike(make: Make) -> None:
    table = data()
    with pytest.raises(DataError, match="values are missing in some of 240 rows") as mine:
        cn.fit(make(table), DAG)
    with pytest.raises(DataError) as yours:
        cn.fit(table, DAG)
    assert str(mine.value) == str(yours.value)
    same(cn.fit(make(table), DAG, missing="state"), cn.fit(table, DAG, missing="state"))
    score = cn.score(make(table), DAG, missing="state")
    assert score == pytest.approx(cn.score(table, DAG, missing="state"), rel=1e-12)
    with pytest.warns(ColonnadeWarning, match="Only"):
        score = cn.score(make(table), DAG, missing="available")
    with pytest.warns(ColonnadeWarning, match="Only"):
        assert score == pytest.approx(cn.score(table, DAG, missing="available"), rel=1e-12)


def weights_are_summed(make: Make) -> None:
    """Whole numbers stay whole; those with a fraction are binary here, so sums are exact."""
    table = data()
    for weights in ("times", "share"):
        mine = cn.fit(make(table), DAG, missing="available", weights=weights)
        same(mine, cn.fit(table, DAG, missing="available", weights=weights))


def numbers_are_cut(make: Make) -> None:
    table = data()
    dag = cn.Dag([("measured", "ill"), ("number", "measured")])
    cutter = Discretizer([Cuts("measured", [-0.5, 0.2, 1.0]), Cuts("number", [2])])
    names = dag.variables
    opened = countable(make(table), discretizer=cutter, columns=names)
    coded = encode(table, discretizer=cutter, columns=names)
    families = [(*dag.parents(name), name) for name in names]
    assert opened.counts(families, "available") == coded.counts(families, "available")
    assert opened.variables == coded.variables
    assert opened.discretizer == coded.discretizer
    assert opened.missing == coded.missing
    mine = cn.fit(cutter.cut(make(table)), dag, missing="available")
    same(mine, cn.fit(cutter.cut(table), dag, missing="available"))
    assert mine.discretizer == cutter


def groups_and_declared_states(make: Make) -> None:
    table = data()
    declared = {"ill": ["yes", "no", "perhaps", "never"], "number": [100, 10, 2, -3, 7]}
    options: dict[str, Any] = {
        "group": "site", "variables": declared, "missing": "available", "prior": cn.BDeu(1)
    }  # fmt: skip
    same(cn.fit(make(table), DAG, **options), cn.fit(table, DAG, **options))


def unknown_values_are_missing(make: Make) -> None:
    table = data()
    few = {"town": ["Oslo", "Ørsta"], "number": [2, 10, -3], "whole": [2, 1]}
    opened = countable(make(table), few, unknown="missing", columns=NAMES)
    coded = encode(table, few, unknown="missing", columns=NAMES)
    assert opened.missing == coded.missing
    assert opened.unknown == coded.unknown
    mine, yours = opened.only_complete(), coded.only_complete()
    assert (mine.rows, mine.variables) == (yours.rows, yours.variables)
    assert mine.counts([("town", "whole", "ill")]) == yours.counts([("town", "whole", "ill")])
    with pytest.raises(DataError, match=r"Column 'town': states? .*are not among 'Oslo', 'Ørsta'"):
        countable(make(table), few, columns=NAMES).counts([("town",)])


def searches_find_the_same(make: Make) -> None:
    table = data(gaps=False).select(list(NAMES))
    mine, yours = cn.hill_climb(make(table)), cn.hill_climb(table)
    assert mine.dag == yours.dag
    assert mine.score == pytest.approx(yours.score, rel=1e-12)
    assert len(mine.dag.arcs) > 1
    assert cn.tan(make(table), "ill") == cn.tan(table, "ill")


def rows_are_scored(make: Make) -> None:
    """Row by row: engines that keep no order are compared by sorted values."""
    table = data()
    network = cn.fit(table, DAG, missing="available")
    mine = network.log_likelihood(make(table.select(list(NAMES))))
    np.testing.assert_allclose(np.sort(mine), np.sort(network.log_likelihood(table)), rtol=1e-12)
    more = network.update(make(data(60, gaps=False)))
    same(more, network.update(data(60, gaps=False)))


def warnings_are_the_same(make: Make) -> None:
    rows = 60
    table = pa.table(
        {
            "id": list(range(1000, 1000 + rows)),
            "word": [f"w{k}" for k in range(rows)],
            "yes": ["Yes", "yes", "no"] * (rows // 3),
        }
    )
    told = []
    for each in (make(table), table):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cn.fit(each, cn.Dag([("id", "word"), ("word", "yes")]))
        told.append([str(one.message) for one in caught if one.category is not UserWarning])
    assert told[0] == told[1]
    assert len(told[0]) == 3 - 1


def bad_columns_are_named(make: Make) -> None:
    table = data(gaps=False)
    with pytest.raises(DataError, match=r"Column 'towns': not in the table.*did you mean 'town'"):
        cn.fit(make(table), cn.Dag([("towns", "ill")]))
    with pytest.raises(DataError, match=r"Column 'measured': floating-point numbers.*discretize"):
        cn.fit(make(table), cn.Dag([("measured", "ill")]))
    with pytest.raises(InputError, match="Expected the name of a column for `weights`"):
        cn.fit(make(table), DAG, weights=np.ones(240))
    with pytest.raises(DataError, match="Column 'town': values of type String cannot be weights"):
        cn.fit(make(table), cn.Dag([("number", "ill")]), weights="town")
    low = table.set_column(7, "times", pa.array([-1, *[1] * 239]))
    with pytest.raises(DataError, match="Column 'times': weight -1 is negative"):
        cn.fit(make(low), DAG, weights="times")
    gap = table.set_column(8, "share", pa.array([None, *[0.5] * 239]))
    with pytest.raises(DataError, match="Column 'share': the weight is missing in 1 row"):
        cn.fit(make(gap), DAG, weights="share")


def cut_points_are_the_same(make: Make) -> None:
    """Exactly, for few numbers: with gaps, weights, every strategy, and what is left as it is."""
    table = data().append_column("count", pa.array([k % 37 for k in range(240)]))
    chosen: list[dict[str, Any]] = [
        {"bins": 4},
        {"bins": {"number": 2, "measured": 3}, "weights": "times"},
        {"columns": ["measured"], "weights": "share", "strategy": "uniform"},
        {"columns": ["measured"], "strategy": "kmeans"},
        {"bins": {"measured": [0.1], "count": None}},
    ]
    for options in chosen:
        told = []
        found = []
        for each in (make(table), table):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found.append(Discretizer.fit(each, **options))
            told.append([str(one.message) for one in caught if one.category is not UserWarning])
        assert found[0] == found[1]
        assert found[0].columns
        assert told[0] == told[1]
    infinite = pa.table({"x": [1.0, 2.5, float("inf")], "y": ["a", "b", "a"]})
    with pytest.raises(DataError, match="Column 'x': infinity, or a number too large"):
        Discretizer.fit(make(infinite))
    with pytest.raises(DataError, match=r"Column 'y': .*only numbers are cut"):
        Discretizer.fit(make(infinite), columns=["y"])
    with pytest.raises(InputError, match="Expected the name of a column for `weights`"):
        Discretizer.fit(make(table), weights=np.ones(240))
    for wrong in ([-1, 2, 3], [None, 2, 3]):
        bad = pa.table({"x": [0.5, 1.5, 2.5], "times": wrong})
        with pytest.raises(DataError, match=r"Column 'times': .*(negative|missing)|weight -1"):
            Discretizer.fit(make(bad), weights="times")


def many_numbers_are_cut_closely(make: Make) -> None:
    """Beyond what is counted one by one, quantiles are off by no more than is said."""
    rows = 20_000
    rng = np.random.default_rng(8)
    columns = {
        "x": rng.normal(size=rows),
        "few": rng.integers(0, 40, rows) / 4,  # many rows, but few numbers: exact
        "id": rng.permutation(rows) * 7,
        "w": np.ones(rows, np.int64),
    }
    columns["x"][:5] = np.nan
    table = make(pa.table(columns))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        patch.setattr("colonnade.tables.sketches.MAX_EXACT", 1000)
        patch.setattr("colonnade.tables.numbers.KEPT", 4096)
        found = Discretizer.fit(table, 5, columns=["x", "few", "id"])
        # Parts of Dask are thinned out twice here, to few numbers.
        most = rows * (4e-5 + 2 / (2 * 4096)) + 1.5
        for name in ("x", "id"):
            cuts, own = found.get(name), np.sort(columns[name])
            assert cuts is not None
            ranks = np.searchsorted(own[~np.isnan(own)], cuts.points, side="right")
            wanted = (~np.isnan(own)).sum() * np.arange(1, 5) / 5
            assert np.abs(ranks - wanted).max() <= most
        assert found.get("few") == Discretizer.fit(columns, 5, columns=["few"]).get("few")


CASES: list[Callable[[Make], None]] = [
    cut_points_are_the_same,
    many_numbers_are_cut_closely,
    fits_are_the_same,
    missing_values_are_treated_alike,
    weights_are_summed,
    numbers_are_cut,
    groups_and_declared_states,
    unknown_values_are_missing,
    searches_find_the_same,
    rows_are_scored,
    warnings_are_the_same,
    bad_columns_are_named,
]
