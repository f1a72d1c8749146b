"""Cutting numbers: where, what the intervals are called, and that nothing is lost."""

import decimal
import json
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.exceptions import ColumnWarning, DataError, InputError
from colonnade.tables import Bins, Cuts, Discretizer, discretize, encode

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def points(
    values: Any, bins: int = 5, strategy: Any = "quantile", weights: Any = None
) -> tuple[float, ...]:
    table = {"x": np.asarray(values, dtype=float)}
    return Discretizer.fit(table, bins, strategy, ["x"], weights).columns[0].points


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
    # the points are shortened, but every value stays where it is
    wanted = np.searchsorted(expected, values, side="left")
    assert Cuts("x", points(values, 7)).codes(values).tolist() == wanted.tolist()
    rounded = values.round(2)
    expected = np.quantile(rounded, share, method="averaged_inverted_cdf")
    assert points(rounded, 7) == pytest.approx(expected, rel=1e-12)


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
        ([1, 2, 3, 4], [1, 1, 1, 5], 2, (3.0,)),
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
    weights = np.array([5, 1, 2, 4, 30, 30, 1])
    (found,) = points(values, 2, "kmeans", weights)
    assert found == pytest.approx(points(np.repeat(values, weights), 2, "kmeans")[0])
    assert found != pytest.approx(points(values, 2, "kmeans")[0])


def test_weights_may_be_a_column_which_is_not_cut() -> None:
    frame = pd.DataFrame({"x": np.arange(8) + 0.5, "w": [5.5, 1, 1, 1, 1, 1, 1, 1]})
    table, discretizer = discretize(frame, bins=2, weights="w")
    assert [column.name for column in discretizer.columns] == ["x"]
    assert discretizer.columns[0].points == points(frame["x"], 2, weights=frame["w"]) == (1.5,)
    assert table["w"].equals(frame["w"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, -1]}, "`weights`: weight -1 in row 2 .counted from 1. is negative"),
        ({"weights": [1]}, r"`weights`: weights of shape \(1,\) for 2 rows"),
        ({"weights": [0, 0]}, "Column 'x': no number"),
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
    assert Cuts("x", ()).states == ("any number",)
    assert Cuts("x", (3.2, 5.1)).states == ("up to 3.2", "3.2 to 5.1", "above 5.1")
    assert Cuts("x", (6356.4,)).states == ("up to 6356.4", "above 6356.4")
    assert Cuts("x", (1 / 3,)).states[0] == "up to 0.3333333333333333"
    assert Cuts("x", (1.00001, 1.00002)).states[1] == "1.00001 to 1.00002"
    assert Cuts("x", (1234567.0, 1234568.0)).states[1] == "1234567 to 1234568"
    assert Cuts("x", (-1e-05, -0.0, 2e12)).states[1:3] == ("-0.00001 to 0", "0 to 2000000000000")
    assert Cuts("x", (1e-300, 1e300)).states[1] == "1e-300 to 1e+300"


@given(st.lists(FLOATS, unique=True, max_size=8).map(sorted))
def test_names_always_differ(values: list[float]) -> None:
    values = [v + 0.0 for v in values]  # no negative zero
    cuts = Cuts("x", values)  # type: ignore[arg-type]
    assert len(set(cuts.states)) == len(values) + 1


NUMBER = r"-?[0-9.]+(?:e[+-][0-9]+)?"


def named_interval(name: str) -> tuple[float, float]:
    """What a reader of the name takes it for: above the first number, up to the second."""
    if name == "any number":
        return -math.inf, math.inf
    if found := re.fullmatch(f"up to ({NUMBER})", name):
        return -math.inf, float(found[1])
    if found := re.fullmatch(f"above ({NUMBER})", name):
        return float(found[1]), math.inf
    found = re.fullmatch(f"({NUMBER}) to ({NUMBER})", name)
    assert found, name
    return float(found[1]), float(found[2])


@given(
    st.lists(FLOATS | st.integers(-999, 999).map(lambda k: k / 100), min_size=1, max_size=40),
    st.lists(FLOATS, max_size=10),
    st.integers(2, 8),
    st.sampled_from(["quantile", "uniform", "kmeans"]),
)
def test_every_value_has_the_state_whose_name_contains_it(
    values: list[float], others: list[float], bins: int, strategy: Any
) -> None:
    values = [value for value in values if abs(value) < 1e100] or [0.0]
    cuts = Discretizer.fit({"x": values}, bins, strategy, ["x"]).columns[0]
    probes = [*values, *others, *cuts.points]
    for value, code in zip(probes, cuts.codes(np.array(probes)), strict=True):
        held = [low < value <= high for low, high in map(named_interval, cuts.states)]
        assert held == [k == code for k in range(len(cuts.states))]


@given(st.lists(st.integers(-9999, 9999), min_size=2, max_size=60), st.integers(2, 8))
def test_points_read_well_and_leave_every_hundredth_where_it_was(
    hundredths: list[int], bins: int
) -> None:
    values = np.array(hundredths) / 100
    found = points(values, bins)
    assert all(len(repr(point)) <= len("-99.995") for point in found)
    # as with the quantiles themselves, which binary fractions hardly ever hit
    distinct, mass = np.unique(values, return_counts=True)
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    if len(distinct) <= bins:
        exact = middle
    else:
        total = mass.cumsum()
        at = [int(np.argmax(total * bins >= k * total[-1])) for k in range(1, bins)]
        exact = np.array(
            [
                middle[i] if total[i] * bins == k * total[-1] else distinct[min(i, len(middle) - 1)]
                for k, i in enumerate(at, start=1)
            ]
        )
        exact = np.unique(exact)
    every = np.arange(-10000, 10001) / 100
    assert np.array_equal(
        np.searchsorted(found, every, side="left"), np.searchsorted(exact, every, side="left")
    )


def test_long_points_are_shortened_as_far_as_the_values_allow() -> None:
    values = np.random.default_rng(0).normal(size=300)
    assert all(len(repr(point)) <= len("-0.12345") for point in points(values, 4))
    close = [0.123456789012, 0.123456789017, 0.5, 0.6]
    assert points(close, 2) == (0.312,)
    assert points(close[:2], 2) == (0.123456789014,)
    # a point that is a value is the upper end of its interval, and may move up to the next value
    assert points([0.1234567890123] * 9 + [0.7, 0.8, 0.9], 2) == (0.1235,)


def test_the_order_of_intervals_is_not_that_of_their_names() -> None:
    table = discretize({"x": np.arange(-60, 60) / 4}, 4).table  # a dictionary has no categories
    wanted = ("up to -7.625", "-7.625 to -0.125", "-0.125 to 7.375", "above 7.375")
    assert encode(table).variables[0].states == wanted


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
    cuts = Discretizer.fit({"x": values}, bins, strategy, ["x"]).columns[0]
    assert len(cuts.states) <= bins
    ends = [-math.inf, *cuts.points, math.inf]
    for value, code in zip(values, cuts.codes(np.array(values)), strict=True):
        assert ends[code] < value <= ends[code + 1]
    if len(set(values)) > 1 and strategy == "uniform":
        assert cuts.codes(np.array([min(values), max(values)])).tolist() == [
            0,
            len(cuts.states) - 1,
        ]


def test_outside_and_missing() -> None:
    values = [0.0, 1.0, 2.0, 3.5, math.nan]
    table, discretizer = discretize({"x": values}, bins=2)
    assert discretizer.columns[0].points == (1.5,)
    codes = encode(table).codes[0].tolist()
    assert codes == [0, 0, 1, 1, 2]
    later = encode({"x": [-99.0, 99.0, None]}, discretizer=discretizer)
    assert later.codes[0].tolist() == [0, 1, 2]


COUNTS = list(range(11)) * 3


def of_every_type(values: list[int | None]) -> dict[str, Any]:
    """The same whole numbers as integers, floats and decimals of every kind."""
    floats = [math.nan if value is None else float(value) for value in values]
    decimals = [None if value is None else decimal.Decimal(value) for value in values]
    return {
        "python": values,
        "floats": floats,
        "decimals": decimals,
        "fractions": [None if value is None else Fraction(value) for value in values],
        "array": np.array(floats),
        "pandas": pd.Series(values),
        "nullable": pd.Series(values, dtype="Int64"),
        "polars": pl.Series(values, dtype=pl.Int128),
        "polars decimals": pl.Series(decimals, dtype=pl.Decimal(10, 1)),
        "arrow decimals": pa.chunked_array([pa.array(decimals, pa.decimal128(10, 1))]),
    }


@pytest.mark.parametrize("kind", of_every_type([]))
def test_few_whole_numbers_are_states_and_many_are_cut(kind: str) -> None:
    few = {"x": of_every_type([*range(10), None] * 3)[kind]}
    assert discretize(few).discretizer.columns == ()
    assert encode(few).variables[0].states == tuple(range(10))
    assert encode(few).missing == (3,)
    many = {"x": of_every_type([*COUNTS, None])[kind]}
    with pytest.warns(ColumnWarning) as caught:
        (cuts,) = discretize(many).discretizer.columns
    assert cuts.states == ("up to 2", "2 to 4", "4 to 6", "6 to 8", "above 8")
    (told,) = caught
    assert told.message.columns == ("x",)  # type: ignore[union-attr]
    assert str(told.message).startswith(
        "Column 'x' (11 different values): whole numbers, more than 10 different ones, were cut "
        "into intervals. Hint: say how with bins={'x': 4}"
    )
    with pytest.warns(ColumnWarning, match="every number is a state"):
        assert encode(many).variables[0].states == tuple(range(11))


def test_gaps_make_no_difference() -> None:
    whole = pd.DataFrame({"x": COUNTS, "y": [1, 2, 3] * 11})
    gappy = pd.DataFrame({"x": [*COUNTS, None], "y": [1, 2, 3] * 11 + [None]})
    for frame in (whole, gappy, gappy.dropna()):
        with pytest.warns(ColumnWarning, match="Column 'x'"):
            assert [c.name for c in Discretizer.fit(frame, 3).columns] == ["x"]
        assert encode(frame[["y"]]).variables[0].states == (1, 2, 3)


def test_what_is_not_a_whole_number_is_not_mistaken_for_one() -> None:
    frame = pd.DataFrame(
        {
            "float": [0.5, 1.5, 2.5],
            "int": [1, 2, 3],
            "text": ["a", "b", "c"],
            "category": pd.Categorical(["a", "b", "c"]),
            "bool": [True, False, True],
            "huge": [1e300, 2e300, 3e300],
        }
    )
    table, discretizer = discretize(frame, bins=2)
    assert [column.name for column in discretizer.columns] == ["float", "huge"]
    untouched = ["int", "text", "category", "bool"]
    assert table[untouched].equals(frame[untouched])
    assert frame["float"].tolist() == [0.5, 1.5, 2.5]
    for name in ("text", "category", "bool"):
        for table in (frame, {name: frame[name].tolist()}):
            with pytest.raises(DataError, match=f"Column '{name}': not a column of numbers"):
                discretize(table, columns=[name])


def test_single_columns_are_cut_as_the_user_says() -> None:
    table = {"age": COUNTS, "stage": [1, 2, 3] * 11, "bmi": np.arange(33) / 2, "n": COUNTS}
    cut = discretize(table, bins={"age": 4, "stage": 2, "n": None}).discretizer
    assert {each.name: len(each.states) for each in cut.columns} == {"age": 4, "stage": 2, "bmi": 5}
    cut = Discretizer.fit(table, Bins(3, {"age": None, "n": 2}))
    assert {each.name: len(each.states) for each in cut.columns} == {"bmi": 3, "n": 2}
    cut = Discretizer.fit(table, {"age": 3}, columns=["stage", "age"])
    assert {each.name: len(each.states) for each in cut.columns} == {"age": 3, "stage": 3}
    cut = Discretizer.fit(table, Bins(None, {"age": 3}))
    assert [each.name for each in cut.columns] == ["age"]


def test_rows_without_weight_do_not_count_as_values() -> None:
    weights = [1] * 33
    for row in (10, 21, 32):
        weights[row] = 0
    assert discretize({"x": COUNTS}, weights=weights).discretizer.columns == ()
    with pytest.warns(ColumnWarning):
        assert len(discretize({"x": COUNTS}, weights=[2] * 33).discretizer.columns) == 1


@pytest.mark.parametrize("value", [math.inf, -math.inf, 10**400])
def test_infinity_is_refused_with_its_row(value: float) -> None:
    refused = pytest.raises(DataError, match=r"Column 'x': infinity, .* in row 3 \(counted")
    table = {"x": [0.5, 1.5, value, None]}
    with refused as caught:
        discretize(table, 2)
    assert caught.value.row == 2
    with refused:
        discretize(table, 2, columns=["x"], weights=[1, 1, 0, 1])
    with refused:
        Discretizer([Cuts("x", (1.0,))]).apply(table)


def test_a_largest_value_has_an_interval_of_its_own() -> None:
    for largest, bins in ((180, 2), (188, 5), (255, 5)):
        values = np.r_[np.full(largest, 10.5), np.linspace(0, 10, 300 - largest)]
        column = discretize({"x": values}, bins).discretizer.columns[0]
        assert column.points[-1] == 10.0
        rows = np.bincount(column.codes(values))
        assert rows[-1] == largest
        mirrored = discretize({"x": -values}, bins).discretizer.columns[0]
        assert np.bincount(mirrored.codes(-values)).tolist() == rows[::-1].tolist()
    hours = [40] * 85 + list(range(1, 16))
    assert points(hours, 5) == (15.0,)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.integers(2, 6))
def test_only_a_single_value_is_one_state(values: list[int], bins: int) -> None:
    for strategy in ("quantile", "uniform", "kmeans"):
        found = points(np.array(values) / 4, bins, strategy)
        assert bool(found) == (len(set(values)) > 1)


def test_tables_keep_their_kind() -> None:
    data = {"x": [0.5, 1.5, None, 2.5], "y": ["a", "b", "a", "b"]}
    names = ("up to 1.5", "above 1.5")
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
    assert discretize((array, ["x", "y"]), 2).table["y"].tolist() == ["up to 1.75", "above 1.75"]


@given(st.lists(st.lists(FLOATS, unique=True, max_size=5).map(sorted), max_size=3))
def test_json_loses_nothing(columns: list[list[float]]) -> None:
    kept = Discretizer([Cuts(f"c{k}", p) for k, p in enumerate(columns)])  # type: ignore[arg-type]
    again = Discretizer.from_dict(json.loads(json.dumps(kept.to_dict(), allow_nan=False)))
    assert again == kept
    assert [c.points for c in again.columns] == [tuple(p) for p in columns]


def test_names_of_intervals_in_older_files_stay() -> None:
    kept = {"x": {"points": [6356.4], "states": ["(-inf, 6.36e+03]", "(6.36e+03, inf)"]}}
    older = Discretizer.from_dict(kept)
    assert older.to_dict() == kept
    coded = encode(older.cut({"x": [6356.0, 6357.4]}))
    assert coded.variables[0].states == tuple(kept["x"]["states"])
    assert coded.codes[0].tolist() == [0, 1]


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
    with pytest.raises(DataError, match="Column 'x': no number"):
        discretize({"x": [math.nan, math.nan]}, columns=["x"])
    with pytest.raises(DataError, match="Column 'x': no number"):
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
    other = Discretizer.fit({"x": [5.5, 6.0]})
    with pytest.raises(InputError, match="the discretizer of the table"):
        encode(coded, discretizer=other)


def test_the_order_of_columns_makes_no_difference() -> None:
    one, two = Cuts("x", [0.5]), Cuts("y", [1.5])
    assert Discretizer([one, two]) == Discretizer([two, one])
    assert hash(Discretizer([one, two])) == hash(Discretizer([two, one]))
    assert Discretizer([one]) != Discretizer([one, two])
    assert Discretizer([one]) != Discretizer([Cuts("x", [0.25])])
    assert Discretizer([one]) != "x"
