"""Cutting numbers: where, what the intervals are called, and that nothing is lost."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.exceptions import DataError, InputError
from colonnade.tables import Cuts, Discretizer, discretize, encode

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def points(
    values: Any, bins: int = 5, strategy: Any = "quantile", weights: Any = None
) -> tuple[float, ...]:
    table = {"x": np.asarray(values, dtype=float)}
    return Discretizer.fit(table, bins, strategy, weights=weights).columns[0].points


def test_quantiles_hold_equal_numbers_of_rows() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    table, discretizer = discretize({"x": values}, bins=4)
    coded = encode(table, {"x": discretizer.columns[0].states})
    assert np.bincount(coded.codes[0]).tolist() == [250] * 4


def test_uniform_intervals_have_equal_widths() -> None:
    assert points([0.0, 10.0, 0.1, 0.2, 0.3, 0.4], 4, "uniform") == (2.5, 5.0, 7.5)
    # also those without a row, which are states all the same
    cut = discretize({"x": np.array([0.0, 10.0, 0.1])}, 4, "uniform")
    assert encode(cut).variables[0].cardinality == 4


def test_kmeans_finds_clusters() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(c, 0.1, 50) for c in (0, 8, 20)])
    low, high = points(values, 3, "kmeans")
    assert 1 < low < 7
    assert 9 < high < 19


def test_quantile_points_are_quantiles() -> None:
    values = np.random.default_rng(1).gamma(2.0, size=5000)
    share = np.arange(1, 7) / 7
    expected = np.quantile(values, share, method="averaged_inverted_cdf")
    assert points(values, 7) == pytest.approx(expected, rel=1e-12)


def test_ties_are_merged() -> None:
    # half of the rows are zero: they are an interval of their own, and not split
    values = np.concatenate([np.zeros(50), np.arange(1, 51)])
    found = points(values, 5)
    assert found[0] == 0.0
    assert len(found) == 3
    codes = Cuts("x", found).codes(values)
    assert np.bincount(codes)[0] == 50
    # few values are told apart, however unequal their numbers
    assert points([0.0] * 97 + [1.0, 2.0, 2.0]) == (0.5, 1.5)
    assert points([3.5] * 10) == ()


def test_a_smallest_value_that_fills_its_interval_to_the_brim_takes_no_second_one() -> None:
    assert points([0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]) == (0.5, 2.5, 4.5, 6.5)


def test_ends_of_quantile_intervals_are_no_matter_of_rounding() -> None:
    # a third of nine rows, as a product of floats, is a little more than three
    assert points(np.arange(9.0), 3) == (2.5, 5.5)
    for bins in range(2, 13):
        values = np.arange(bins * 30.0)
        assert np.bincount(Cuts("x", points(values, bins)).codes(values)).tolist() == [30] * bins


def test_a_column_is_cut_however_small_its_numbers() -> None:
    values = np.random.default_rng(0).normal(size=50)
    assert points(values * 1e-12) == pytest.approx(np.array(points(values)) * 1e-12)


@pytest.mark.parametrize(
    ("values", "weights", "bins", "wanted"),
    [
        ([1, 2, 3, 4], [1, 1, 5, 1], 2, (3.0,)),
        ([1, 2, 3, 4], [1, 1, 1, 5], 2, ()),
        ([1, 2, 3, 4], [3, 1, 1, 1], 2, (1.5,)),
        ([1, 2, 3, 4], [0.5, 0.5, 0.5, 0.5], 2, (2.5,)),
        ([1, 2, 3, 4], [1, 1, 0, 0], 2, (1.5,)),
        ([1, 2, 3], [7, 0.5, 9], 5, (1.5, 2.5)),
    ],
)
def test_weighted_quantiles(values: Any, weights: Any, bins: int, wanted: Any) -> None:
    assert points(values, bins, weights=weights) == wanted


@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=40),
    st.integers(2, 6),
    st.sampled_from(["quantile", "uniform"]),
    st.integers(0, 2**32 - 1),
)
def test_a_weight_counts_rows(values: list[int], bins: int, strategy: Any, seed: int) -> None:
    numbers = np.array(values) / 4
    weights = np.random.default_rng(seed).integers(0, 4, len(numbers))
    weights[0] = 2
    found = points(numbers, bins, strategy, weights)
    assert found == points(np.repeat(numbers, weights), bins, strategy)
    assert found == points(numbers, bins, strategy, weights * 0.25)
    assert len(found) < bins


def test_weighted_clusters() -> None:
    values = np.array([0.0, 1.0, 9.0, 10.0, 20.0, 21.0, 60.0])
    weights = np.array([5, 1, 2, 4, 3, 3, 1])
    (found,) = points(values, 2, "kmeans", weights)
    assert found == pytest.approx(points(np.repeat(values, weights), 2, "kmeans")[0])
    assert found != pytest.approx(points(values, 2, "kmeans")[0])


def test_weights_may_be_a_column_which_is_not_cut() -> None:
    frame = pd.DataFrame({"x": np.arange(8.0), "w": [5.5, 1, 1, 1, 1, 1, 1, 1]})
    table, discretizer = discretize(frame, bins=2, weights="w")
    assert [column.name for column in discretizer.columns] == ["x"]
    assert discretizer.columns[0].points == points(frame["x"], 2, weights=frame["w"]) == (1.0,)
    assert table["w"].equals(frame["w"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, -1]}, "`weights`: weight -1 in row 1 is negative"),
        ({"weights": [1]}, r"`weights`: weights of shape \(1,\) for 2 rows"),
        ({"weights": [0, 0]}, "Column 'x': no finite number"),
        ({"weights": "z"}, "Column 'z': not in the table"),
        ({"weights": "x", "columns": ["x"]}, "a column that is not one of `columns`"),
    ],
)
def test_bad_weights(options: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, InputError), match=message):
        discretize({"x": [0.5, 1.5]}, **options)


def test_neighbouring_floats_are_told_apart() -> None:
    # three in a row: whichever way a middle is rounded, it is one of its neighbours
    first = 1.0
    second = math.nextafter(first, 2.0)
    values = [first, second, math.nextafter(second, 2.0)]
    assert Discretizer.fit({"x": values}).columns[0].codes(np.array(values)).tolist() == [0, 1, 2]
    huge = [-1.7e308, 1.7e308]
    assert Discretizer.fit({"x": huge}).columns[0].codes(np.array(huge)).tolist() == [0, 1]


def test_names_have_the_digits_they_need() -> None:
    assert Cuts("x", ()).states == ("(-inf, inf)",)
    assert Cuts("x", (3.2, 5.1)).states == ("(-inf, 3.2]", "(3.2, 5.1]", "(5.1, inf)")
    assert Cuts("x", (1 / 3,)).states == ("(-inf, 0.333]", "(0.333, inf)")
    assert Cuts("x", (1.00001, 1.00002)).states[1] == "(1.00001, 1.00002]"
    assert Cuts("x", (1234567.0, 1234568.0)).states[1] == "(1234567, 1234568]"


@given(st.lists(FLOATS, unique=True, max_size=8).map(sorted))
def test_names_always_differ(values: list[float]) -> None:
    values = [v + 0.0 for v in values]  # no negative zero
    cuts = Cuts("x", values)  # type: ignore[arg-type]
    assert len(set(cuts.states)) == len(values) + 1


@given(
    st.lists(FLOATS | st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=50),
    st.integers(2, 8),
    st.sampled_from(["quantile", "uniform", "kmeans"]),
)
def test_every_value_lies_in_the_interval_it_is_given(
    values: list[float], bins: int, strategy: Any
) -> None:
    # scikit-learn itself overflows on wider ranges
    values = [value for value in values if abs(value) < 1e100] or [0.0]
    cuts = Discretizer.fit({"x": values}, bins, strategy).columns[0]
    assert len(cuts.states) <= bins
    ends = [-math.inf, *cuts.points, math.inf]
    for value, code in zip(values, cuts.codes(np.array(values)), strict=True):
        assert ends[code] < value <= ends[code + 1]
    if len(set(values)) > 1 and strategy == "uniform":
        assert cuts.codes(np.array([min(values), max(values)])).tolist() == [
            0,
            len(cuts.states) - 1,
        ]


def test_outside_missing_and_infinite() -> None:
    values = [0.0, 1.0, 2.0, 3.0, math.nan, math.inf, -math.inf]
    table, discretizer = discretize({"x": values}, bins=2)
    assert discretizer.columns[0].points == (1.5,)
    codes = encode(table).codes[0].tolist()
    assert codes == [0, 0, 1, 1, 2, 1, 0]
    later = encode({"x": [-99.0, 99.0, None]}, discretizer=discretizer)
    assert later.codes[0].tolist() == [0, 1, 2]


def test_only_floats_are_cut_unless_others_are_named() -> None:
    frame = pd.DataFrame(
        {
            "float": [0.5, 1.5, 2.5],
            "int": [1, 2, 3],
            "gaps": [1.0, np.nan, 2.0],
            "text": ["a", "b", "c"],
            "category": pd.Categorical(["a", "b", "c"]),
            "bool": [True, False, True],
        }
    )
    table, discretizer = discretize(frame, bins=2)
    assert [column.name for column in discretizer.columns] == ["float"]
    assert table.drop(columns="float").equals(frame.drop(columns="float"))
    assert frame["float"].tolist() == [0.5, 1.5, 2.5]
    _, discretizer = discretize(frame, bins=2, columns=["gaps", "int"])
    assert [column.name for column in discretizer.columns] == ["gaps", "int"]
    for name in ("text", "category", "bool"):
        for table in (frame, {name: frame[name].tolist()}):
            with pytest.raises(DataError, match=f"Column '{name}': not a column of numbers"):
                discretize(table, columns=[name])


def test_tables_keep_their_kind() -> None:
    data = {"x": [0.5, 1.5, None, 2.5], "y": ["a", "b", "a", "b"]}
    names = ("(-inf, 1.5]", "(1.5, inf)")
    frame = discretize(pd.DataFrame(data, index=[3, 1, 4, 1]), 2).table
    assert isinstance(frame, pd.DataFrame)
    assert tuple(frame["x"].cat.categories) == names
    assert frame["x"].cat.ordered
    assert frame.index.tolist() == [3, 1, 4, 1]
    assert frame["x"].isna().tolist() == [False, False, True, False]
    polars = discretize(pl.DataFrame(data), 2).table
    assert polars.schema["x"] == pl.Enum(names)
    assert polars["x"].to_list() == [names[0], names[0], None, names[1]]
    arrow = discretize(pa.table(data), 2).table
    assert arrow.column_names == ["x", "y"]
    assert arrow["x"].to_pylist() == polars["x"].to_list()
    assert discretize(data, 2).table["x"].tolist() == polars["x"].to_list()
    array = np.array([[0.5, 1.0], [1.5, 2.5]])
    assert discretize((array, ["x", "y"]), 2).table["y"].tolist() == ["(-inf, 1.75]", "(1.75, inf)"]


@given(st.lists(st.lists(FLOATS, unique=True, max_size=5).map(sorted), max_size=3))
def test_json_loses_nothing(columns: list[list[float]]) -> None:
    kept = Discretizer([Cuts(f"c{k}", p) for k, p in enumerate(columns)])  # type: ignore[arg-type]
    again = Discretizer.from_dict(json.loads(json.dumps(kept.to_dict(), allow_nan=False)))
    assert again == kept
    assert [c.points for c in again.columns] == [tuple(p) for p in columns]


@pytest.mark.parametrize(
    "kept",
    [
        [],
        {"x": [1.0]},
        {"x": {"points": [1.0]}},
        {"x": {"points": [1.0], "states": ["a", "b"], "more": 1}},
        {"x": {"points": 1.0, "states": ["a", "b"]}},
        {"x": {"points": [1.0], "states": "ab"}},
        {"x": {"points": [1.0], "states": ["a"]}},
        {"x": {"points": [1.0], "states": ["a", "a"]}},
        {"x": {"points": [1.0], "states": ["a", 2]}},
        {"x": {"points": [2.0, 1.0], "states": ["a", "b", "c"]}},
        {"x": {"points": [1.0, 1.0], "states": ["a", "b", "c"]}},
        {"x": {"points": [math.nan], "states": ["a", "b"]}},
        {"x": {"points": [math.inf], "states": ["a", "b"]}},
        {"x": {"points": ["one"], "states": ["a", "b"]}},
        {"x": {"points": [10**400], "states": ["a", "b"]}},
        {"": {"points": [], "states": ["a"]}},
    ],
)
def test_altered_json_is_refused(kept: Any) -> None:
    with pytest.raises(InputError):
        Discretizer.from_dict(kept)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 1}, "at least 2"),
        ({"bins": 2.0}, "at least 2"),
        ({"bins": True}, "at least 2"),
        ({"strategy": "median"}, "`strategy`"),
        ({"columns": "x"}, r"write \['x'\]"),
        ({"columns": ["x", "x"]}, "different columns"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        discretize({"x": [0.5, 1.5]}, **options)


def test_bad_columns() -> None:
    with pytest.raises(DataError, match="Column 'z': not in the table"):
        discretize({"x": [0.5]}, columns=["z"])
    with pytest.raises(DataError, match="Column 'x': no finite number"):
        discretize({"x": [math.inf, -math.inf]})
    with pytest.raises(DataError, match="Column 'x': no finite number"):
        discretize({"x": [math.nan]}, columns=["x"])
    discretizer = Discretizer.fit({"x": [0.5, 1.5]})
    with pytest.raises(DataError, match="Column 'x': not in the table"):
        discretizer.apply({"y": [0.5]})
    with pytest.raises(DataError, match="Column 'x': not a column of numbers"):
        discretizer.apply({"x": ["a"]})
    with pytest.raises(InputError, match="different columns"):
        Discretizer([Cuts("x", ()), Cuts("x", ())])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="only Cuts"):
        Discretizer(["x"])  # type: ignore[arg-type]


def test_a_discretizer_belongs_to_its_coded_table() -> None:
    cut = discretize({"x": [0.5, 1.5, 2.5]}, bins=2)
    coded = encode(cut)
    assert coded.select(["x"]).discretizer == cut.discretizer
    assert encode(coded, discretizer=cut.discretizer) is coded
    other = Discretizer.fit({"x": [5.0, 6.0]})
    with pytest.raises(InputError, match="the discretizer of the table"):
        encode(coded, discretizer=other)


def test_the_order_of_columns_makes_no_difference() -> None:
    one, two = Cuts("x", [0.5]), Cuts("y", [1.5])
    assert Discretizer([one, two]) == Discretizer([two, one])
    assert hash(Discretizer([one, two])) == hash(Discretizer([two, one]))
    assert Discretizer([one]) != Discretizer([one, two])
    assert Discretizer([one]) != Discretizer([Cuts("x", [0.25])])
    assert Discretizer([one]) != "x"
