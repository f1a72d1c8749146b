"""The same states, codes and counts from every kind of table."""

import importlib.util
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.exceptions import DataError, InputError
from colonnade.tables import CodedTable, Discretizer, discretize, encode, memory
from colonnade.tables.coding import CodedColumn, coded_table
from colonnade.tables.counting import count_families
from colonnade.tables.levels import Levels
from colonnade.tables.sources import StateColumn
from colonnade.variables import Family, Variable

# Modin says so whenever it has no way of its own.
pytestmark = pytest.mark.filterwarnings("ignore:.*defaulting to pandas:UserWarning")

Kind = Callable[[dict[str, list[Any]]], Any]

KINDS: dict[str, Kind] = {
    "dict": dict,
    "dict of arrays": lambda d: {name: np.array(v, dtype=object) for name, v in d.items()},
    "dict of series": lambda d: {name: pl.Series(name, v) for name, v in d.items()},
    "array": lambda d: (
        np.array(list(zip(*d.values(), strict=True)), dtype=object),
        list(d),
    ),
    "pandas": lambda d: pd.DataFrame(d).convert_dtypes(),
    "pandas object": lambda d: pd.DataFrame(d, dtype=object),
    "pandas arrow": lambda d: pd.DataFrame(d).convert_dtypes(dtype_backend="pyarrow"),
    "pandas index": lambda d: pd.DataFrame(d, index=[7] * len(next(iter(d.values())))),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow chunks": lambda d: pa.concat_tables(
        pa.table({name: values[part] for name, values in d.items()}, _schema(d))
        for part in (slice(2), slice(2, None))
    ),
}
if importlib.util.find_spec("modin"):
    KINDS["modin"] = lambda d: importlib.import_module("modin.pandas").DataFrame(d)


def _schema(columns: dict[str, list[Any]]) -> pa.Schema:
    return pa.table(columns).schema


DATA = {
    "smoker": ["yes", "no", "no", "yes", "no", "yes"],
    "visits": [3, 1, 10, 3, 3, 1],
    "ill": [True, False, False, True, True, True],
    "none": [True] * 6,
    "one": ["x"] * 6,
}
GAPS = {
    "smoker": ["yes", None, "no", "yes", "no", None],
    "visits": [3, 1, None, 3, 3, 1],
    "ill": [True, False, None, True, True, True],
}


def codes(table: CodedTable) -> dict[str, list[int]]:
    return {name: c.tolist() for name, c in zip(table.names, table.codes, strict=True)}


def states(table: CodedTable) -> dict[str, tuple[Any, ...]]:
    return {v.name: v.states for v in table.variables}


@pytest.mark.parametrize("kind", KINDS)
def test_states_and_codes_are_the_same_from_every_kind(kind: str) -> None:
    table = encode(KINDS[kind](DATA))
    assert states(table) == {
        "smoker": ("no", "yes"),
        "visits": (1, 3, 10),
        "ill": (False, True),
        "none": (False, True),
        "one": ("x",),
    }
    assert {type(state) for state in table.variables[1].states} == {int}
    assert {type(state) for state in table.variables[2].states} == {bool}
    assert codes(table) == {
        "smoker": [1, 0, 0, 1, 0, 1],
        "visits": [1, 0, 2, 1, 1, 0],
        "ill": [1, 0, 0, 1, 1, 1],
        "none": [1] * 6,
        "one": [0] * 6,
    }
    assert table.missing == (0,) * 5
    assert all(c.dtype == np.uint8 and not c.flags.writeable for c in table.codes)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_the_same_from_every_kind(kind: str) -> None:
    table = encode(KINDS[kind](GAPS))
    assert table.missing == (2, 1, 1)
    assert codes(table)["visits"] == [1, 0, 2, 1, 1, 0]
    smoker, visits, ill = table.variables
    families = [Family(ill, (smoker, visits)), Family(visits)]
    joint, single = count_families(table, families, missing="available")
    # visits has the states 1 and 3: 10 is gone with the gap
    assert single.to_array().tolist() == [[2, 3]]
    assert joint.to_array().tolist() == [[0, 0], [0, 1], [0, 0], [0, 2]]
    lacking = r"Columns 'smoker' \(2\), 'visits' \(1\): values are missing in some of 6 rows"
    with pytest.raises(DataError, match=lacking):
        count_families(table, [Family(smoker, (visits,))])


@pytest.mark.parametrize("kind", KINDS)
def test_declared_states_win(kind: str) -> None:
    declared = {"smoker": ["yes", "sometimes", "no"], "visits": range(12)}
    table = encode(KINDS[kind](GAPS), declared)
    assert states(table)["smoker"] == ("yes", "sometimes", "no")
    assert codes(table)["smoker"] == [0, 3, 2, 0, 2, 3]
    assert codes(table)["visits"] == [3, 1, 12, 3, 3, 1]
    again = encode(KINDS[kind](DATA), [table.variables[1], table.variables[0]])
    assert again.names == ("visits", "smoker")
    assert codes(again)["smoker"] == [0, 2, 2, 0, 2, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_states_are_named_and_counted(kind: str) -> None:
    table = KINDS[kind](DATA)
    with pytest.raises(
        DataError, match=r"Column 'smoker': state 'no' \(3 rows\) is not one of 'yes'\."
    ) as caught:
        encode(table, {"smoker": ["yes"]})
    assert caught.value.details == {"column": "smoker", "states": {"no": 3}, "allowed": ("yes",)}
    with pytest.raises(DataError, match=r"states 1 \(2 rows\), 10 \(1 row\) are not among 3"):
        encode(table, {"visits": [3]})
    assert codes(encode(table, {"visits": [3]}, unknown="missing"))["visits"] == [0, 1, 1, 0, 0, 1]
    with pytest.raises(DataError, match=r"state False \(2 rows\)|states False \(2 rows\), True"):
        encode(table, {"ill": [0, 1]})


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_states_are_reported_for_every_column(kind: str) -> None:
    table = KINDS[kind](GAPS)
    declared = {"smoker": ["yes"], "visits": [3, 4], "ill": [False, True]}
    coded = encode(table, declared, unknown="missing")
    assert coded.unknown == {"smoker": {"no": 2}, "visits": {1: 2}}
    # what is unknown is missing, besides what was missing anyway
    assert coded.missing == (4, 3, 1)
    assert coded.select(["visits", "ill"]).unknown == {"visits": {1: 2}}
    assert encode(table).unknown == {}
    with pytest.raises(DataError, match=r"Column 'smoker': .* Column 'visits': ") as caught:
        encode(table, declared)
    assert caught.value.details["columns"] == coded.unknown


@pytest.mark.parametrize("kind", KINDS)
def test_columns_may_be_chosen(kind: str) -> None:
    table = KINDS[kind]({**DATA, "when": [0.5] * 6})
    coded = encode(table, [Variable("visits", range(12))], columns=["visits", "smoker"])
    assert coded.names == ("visits", "smoker")
    assert codes(coded)["visits"] == DATA["visits"]
    assert encode(coded, columns=["smoker"]).codes[0] is coded.codes[1]
    with pytest.raises(InputError, match=r"only states of 'visits' for `variables`"):
        encode(table, {"smoker": ["no", "yes"]}, columns=["visits"])
    with pytest.raises(DataError, match="Columns 'z' and 'n': not in the table"):
        encode(table, weights="n", columns=["visits", "z"])


@pytest.mark.parametrize("kind", KINDS)
def test_weights_from_a_column(kind: str) -> None:
    data = {"x": ["a", "b", "a"], "n": [2, 5, 0]}
    table = encode(KINDS[kind](data), weights="n")
    assert table.names == ("x",)
    assert table.weights is not None
    assert table.weights.dtype == np.int64
    counts = count_families(table, [Family(table.variables[0])])[0]
    assert counts.values.tolist() == [[2, 5]]
    assert counts.values.dtype == np.int64
    with pytest.raises(DataError, match=r"Column 'm': not in the table, which has 'x', 'n'"):
        encode(KINDS[kind](data), weights="m")
    with pytest.raises(DataError, match=r"Column 'n': .*weight"):
        encode(KINDS[kind]({"x": ["a", "b"], "n": [1, None]}), weights="n")


def test_fractional_weights_from_every_kind() -> None:
    data = {"x": ["a", "b", "a"], "n": [0.5, 1.0, 2.25]}
    for kind in KINDS.values():
        table = encode(kind(data), weights="n")
        (counts,) = count_families(table, [Family(table.variables[0])])
        assert counts.values.tolist() == [[2.75, 1.0]]


@pytest.mark.parametrize("kind", KINDS)
def test_floats_are_refused_with_a_hint(kind: str) -> None:
    with pytest.raises(DataError, match=r"Column 'x': floating-point.*discretize"):
        encode(KINDS[kind]({"x": [0.5, 1.5]}))


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(kind: str) -> None:
    empty: dict[str, list[Any]] = {"x": [], "y": []}
    variables = [Variable("y", ["a"]), Variable("x", [0, 1])]
    table = KINDS[kind](empty) if kind != "array" else (np.empty((0, 2)), ["x", "y"])
    coded = encode(table, variables)
    assert (coded.rows, coded.names) == (0, ("y", "x"))
    assert count_families(coded, [Family(variables[0], variables[1:])])[0].observed == 0
    with pytest.raises(DataError, match="Table: it has no rows"):
        encode(table)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_without_values(kind: str) -> None:
    data = {"x": [1, 2], "y": [None, None]}
    with pytest.raises(DataError, match=r"Column 'y': no values, so no states\. Hint: declare"):
        encode(KINDS[kind](data))
    assert encode(KINDS[kind](data), {"y": ["a"]}).missing == (0, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = KINDS[kind]({**GAPS, "word": list("cabbac"), "two": list("xyxyxy")})
    alone = encode(table)
    monkeypatch.setattr(memory, "_MIN_ROWS_FOR_THREADS", 0)
    together = encode(table)
    assert together.variables == alone.variables
    assert codes(together) == codes(alone)
    with pytest.raises(DataError, match=r"Column 'two': state 'y' \(3 rows\)"):
        encode(table, {"two": ["x"]})


# What only some packages have


CATEGORIES = ["low", "high", "never"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["high", "low", None], categories=CATEGORIES)),
        pd.Series(pd.Categorical(["high", "low", None], categories=CATEGORIES, ordered=True)),
        pd.Series(
            pa.DictionaryArray.from_arrays([1, 0, None], CATEGORIES),
            dtype=pd.ArrowDtype(pa.dictionary(pa.int64(), pa.string())),
        ),
        pl.Series(["high", "low", None], dtype=pl.Enum(CATEGORIES)),
        pa.chunked_array([pa.DictionaryArray.from_arrays([1, 0, None], CATEGORIES)]),
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays([1], CATEGORIES),
                pa.DictionaryArray.from_arrays([0, None], ["low", "never"]),
            ]
        ),
    ],
    ids=["pandas", "pandas ordered", "pandas arrow", "polars", "pyarrow", "pyarrow chunks"],
)
def test_all_categories_are_states_in_their_order(column: Any) -> None:
    table = encode({"x": column})
    assert states(table) == {"x": tuple(CATEGORIES)}
    assert codes(table) == {"x": [1, 0, 3]}
    # a category that is not declared does no harm as long as nobody has it
    assert codes(encode({"x": column}, {"x": ["high", "low"]})) == {"x": [0, 1, 2]}


def test_a_polars_categorical_has_the_states_seen() -> None:
    other = pl.Series(["never", "z"], dtype=pl.Categorical)
    column = pl.Series("x", ["b", None, "a", "b"], dtype=pl.Categorical)
    table = encode(pl.DataFrame([column]))
    assert len(other) == 2
    assert states(table) == {"x": ("a", "b")}
    assert codes(table) == {"x": [1, 2, 0, 1]}


def test_other_categories_of_pandas() -> None:
    frame = pd.DataFrame(
        {
            "int": pd.Categorical([20, 10, 20], categories=[20, 10]),
            "gap": pd.Categorical([2.0, np.nan, 1.0]),
            "bool": pd.Categorical([True, False, True]),
            "cut": pd.cut([0.1, 0.9, 0.5], [0, 0.5, 1]),
        }
    )
    table = encode(frame)
    assert states(table) == {
        "int": (20, 10),
        "gap": (1, 2),
        "bool": (False, True),
        "cut": ("(0.0, 0.5]", "(0.5, 1.0]"),
    }
    assert codes(table)["gap"] == [1, 2, 0]
    with pytest.raises(DataError, match="Column 'x': categories of type float are not states"):
        encode(pd.DataFrame({"x": pd.Categorical([0.5, 1.5])}))


def test_integers_that_became_floats() -> None:
    frame = pd.DataFrame({"x": [3.0, np.nan, 1.0]})
    table = encode(frame)
    assert states(table) == {"x": (1, 3)}
    assert {type(state) for state in table.variables[0].states} == {int}
    assert table.missing == (1,)
    assert states(encode(frame.dropna())) == {"x": (1, 3)}
    # with declared states whole floats are integers, and others are strange
    assert codes(encode(frame.dropna(), table.variables)) == {"x": [1, 0]}
    with pytest.raises(DataError, match=r"state 2\.5 \(1 row\) is not one of 1, 3"):
        encode({"x": [1.0, 2.5]}, table.variables)
    assert encode({"x": [1.0, 2.5, math.inf]}, table.variables, unknown="missing").missing == (2,)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_integers_of_any_width(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = np.array([info.max, info.min, info.max, info.max - 1], dtype=dtype)
    table = encode({"x": values, "y": np.ma.array(values, mask=[0, 1, 0, 1])})
    assert states(table) == {
        "x": (int(info.min), int(info.max) - 1, int(info.max)),
        "y": (int(info.max),),
    }
    assert codes(table) == {"x": [2, 0, 2, 1], "y": [0, 1, 0, 1]}


@given(st.lists(st.integers(-(2**70), 2**70) | st.integers(-5, 5) | st.none(), min_size=1))
def test_python_integers(values: list[int | None]) -> None:
    if all(value is None for value in values):
        return
    table = encode({"x": values})
    found = table.variables[0].states
    assert found == tuple(sorted({value for value in values if value is not None}))
    decoded = [found[c] if c < len(found) else None for c in table.codes[0]]
    assert decoded == values


@pytest.mark.parametrize(("cardinality", "width"), [(254, 1), (255, 2), (65534, 2), (65535, 4)])
def test_codes_are_as_narrow_as_their_number(cardinality: int, width: int) -> None:
    values: list[int | None] = [*range(cardinality), None]
    table = encode({"x": values}, {"x": range(cardinality)})
    assert table.codes[0].itemsize == width
    assert table.missing == (1,)
    assert table.codes[0][-1] == cardinality
    assert count_families(table, [Family(table.variables[0])], "available")[0].total == cardinality


def test_structured_and_masked_arrays() -> None:
    array = np.array([("a", 1), ("b", 2)], dtype=[("x", "U1"), ("y", "i4")])
    assert states(encode(array)) == {"x": ("a", "b"), "y": (1, 2)}
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    table = encode((masked, ["x", "y"]))
    assert states(table) == {"x": (1, 3), "y": (4,)}
    assert codes(table)["y"] == [1, 0]


def test_objects() -> None:
    class Word(str):
        pass

    table = encode({"x": [np.int64(3), 1, pd.NA], "y": [Word("b"), "a", pd.NaT]})
    assert states(table) == {"x": (1, 3), "y": ("a", "b")}
    assert {type(s) for v in table.variables for s in v.states} == {int, str}
    mixed = {"x": ["a", 1]}
    with pytest.raises(DataError, match=r"Column 'x': strings and integers mixed have no order"):
        encode(mixed)
    assert codes(encode(mixed, {"x": [1, "a"]})) == {"x": [1, 0]}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([True, 1], "booleans mixed with numbers are not states"),
        ([1, True, "a"], "booleans mixed"),
        ([True, 0.5], "booleans mixed"),
        ([1.0, True, 2.5], "booleans mixed"),
        ([[1], [2]], r"values such as \[1\]"),
        (["a", 0.5], "floating-point numbers mixed"),
        ([b"a", b"b"], "of type bytes"),
        ([(1, 2), (3, 4)], "of type tuple"),
    ],
)
def test_objects_that_are_no_states(values: list[Any], problem: str) -> None:
    for table in ({"x": values}, pd.DataFrame({"x": pd.Series(values, dtype=object)})):
        with pytest.raises(DataError, match=f"Column 'x': .*{problem}"):
            encode(table)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pl.Series([[1]]),
        pa.chunked_array([pa.array([b"a"])]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([b"a"]),
        np.array([1j]),
    ],
)
def test_types_that_are_no_states(column: Any) -> None:
    with pytest.raises(DataError, match=r"Column 'x': (dates|values of type .*) are not states"):
        encode({"x": column})


# Bad tables


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2]], columns=["x", "x"]),
        pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]),
        (np.array([[1, 2]]), ["x", "x"]),
    ],
)
def test_duplicate_names(table: Any) -> None:
    with pytest.raises(DataError, match="Column 'x': the name occurs 2 times"):
        encode(table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame([[1, 2]]), "non-empty strings as column names"),
        ({"": [1]}, "non-empty strings as column names"),
        ({}, "at least one column"),
        (pd.DataFrame(index=[1, 2]), "at least one column"),
        ({"x": [1], "y": [1, 2]}, "columns of one length"),
        ({"x": "abc"}, "lists or arrays as columns"),
        ({"x": 3}, "lists or arrays as columns"),
        (np.array([[1, 2]]), r"give the array with its names"),
        ((np.array([[1, 2]]), ["x"]), "2 column names"),
        ((np.array([[1, 2]]), "xy"), "a list of column names"),
        ((np.array([1, 2]), ["x"]), r"an array \[row, column\]"),
        ([1, 2], "a table in memory"),
        (None, "a table in memory"),
        (pd.Series([1]), "a table in memory"),
    ],
)
def test_what_is_no_table(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encode(table)


def test_an_array_of_two_dimensions_is_no_column() -> None:
    with pytest.raises(DataError, match=r"Column 'x': an array of shape \(1, 2\) is not a column"):
        encode({"x": np.array([[1, 2]])})


def test_columns_that_are_not_there() -> None:
    wanted = [Variable("x", [1]), Variable("y", [1]), Variable("z", [1])]
    with pytest.raises(DataError, match="Columns 'y' and 'z': not in the table") as caught:
        encode({"x": [1]}, wanted)
    assert caught.value.details["columns"] == ("y", "z")
    with pytest.raises(DataError, match="Column 'y': not in the table"):
        encode({"x": [1]}, {"y": [1]})


def test_other_columns_are_ignored_only_with_a_list_of_variables() -> None:
    table = {"x": [1, 2], "when": [0.5, 1.5]}
    assert encode(table, [Variable("x", [1, 2])]).names == ("x",)
    with pytest.raises(DataError, match="Column 'when'"):
        encode(table, {"x": [1, 2]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unknown": "ignore"}, "`unknown`"),
        ({"variables": ["x"]}, "mapping, such as"),
        ({"variables": "x"}, "`variables`"),
        ({"variables": []}, "at least one Variable"),
        ({"variables": [Variable("x", [1])] * 2}, "different names"),
        ({"variables": {"x": []}}, "at least one state"),
        ({"weights": "x", "variables": {"x": [1]}}, "not one of `variables`"),
        ({"weights": "x"}, "at least one column besides the weights"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        encode({"x": [1]}, **options)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2], "weight -2 in row 2 .counted from 1. is negative"),
        ([1.0, math.nan], "the weight in row 2 .counted from 1. is missing"),
        ([1.0, math.inf], "weight inf in row 2 .counted from 1. is not finite"),
        ([1e308, 1e308], "add up to inf"),
        ([2**62, 2**62], "add up to 9.22e.18"),
        ([1], r"weights of shape \(1,\) for 2 rows"),
        ([[1, 2]], r"weights of shape \(1, 2\)"),
        (["a", "b"], "'a' in row 1 .counted from 1. cannot be a weight"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[ns]"), "cannot be a weight"),
        ([None, 1], "the weight in row 1 .counted from 1. is missing"),
    ],
)
def test_bad_weights(weights: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"^`weights`: .*{message}"):
        encode({"x": [1, 2]}, weights=weights)


def test_weights_of_any_package() -> None:
    for weights in ([1, 2], np.array([1, 2], dtype=np.uint8), pd.Series([1, 2]), pl.Series([1, 2])):
        table = encode({"x": [1, 2]}, weights=weights)
        assert table.weights is not None
        assert (table.weights.dtype, table.weights.tolist()) == (np.int64, [1, 2])


# CodedTable


def test_a_coded_table_is_returned_as_it_is_or_translated() -> None:
    table = encode({"x": ["a", "b", None], "y": [1, 2, 1]}, weights=[1, 2, 3])
    assert encode(table) is table
    x, y = table.variables
    swapped = encode(table, [y, x])
    assert swapped.names == ("y", "x")
    assert swapped.codes[1] is table.codes[0]
    assert swapped.weights is not None
    wider = encode(table, {"x": ["b", "c", "a"]})
    assert codes(wider) == {"x": [2, 0, 3], "y": [0, 1, 0]}
    with pytest.raises(DataError, match=r"state 'b' \(1 row\) is not one of 'a'"):
        encode(table, {"x": ["a"]})
    assert encode(table, {"x": ["a"]}, unknown="missing").missing == (2, 0)
    with pytest.raises(InputError, match="has weights already"):
        encode(table, weights=[1, 2, 3])
    with pytest.raises(InputError, match="when the table is first encoded"):
        encode(table, weights="y")


def test_a_coded_table_keeps_what_it_was_given() -> None:
    x = Variable("x", ["a", "b"])
    column, weights = np.array([0, 1, 2], dtype=np.uint8), np.array([1.0, 2.0, 3.0])
    table = CodedTable([x], [column], weights)
    column[0], weights[0] = 1, 7.0
    assert table.codes[0].tolist() == [0, 1, 2]
    assert table.weights is not None
    assert table.weights.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0][0] = 1
    again = pickle.loads(pickle.dumps(table))
    assert again.variables == table.variables
    assert codes(again) == codes(table)
    assert repr(table) == "CodedTable(variables=['x'], rows=3, missing=1, weighted)"
    assert table.select(["x"]).missing == (1,)


@pytest.mark.parametrize(
    ("variables", "columns", "message"),
    [
        ([], [], "at least one Variable"),
        (["x"], [[0]], "only Variable"),
        ([Variable("x", [1])] * 2, [[0], [0]], "different names"),
        ([Variable("x", [1])], [], "1 column, one for each variable"),
        ([Variable("x", [1])], [[2]], "codes from 0 to 1"),
        ([Variable("x", [1])], [[-1]], "codes from 0 to 1"),
        ([Variable("x", [1])], [np.array([2], dtype=np.uint8)], "codes from 0 to 1"),
        ([Variable("x", [1])], [[256]], "codes from 0 to 1"),
        ([Variable("x", [1])], [[0.5]], "column of integers"),
        ([Variable("x", [1])], [[[0]]], "column of integers"),
        ([Variable("x", [1]), Variable("y", [1])], [[0], [0, 0]], "columns of one length"),
    ],
)
def test_bad_codes(variables: Any, columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CodedTable(variables, columns)


# Tables that were cut


@pytest.mark.parametrize("kind", KINDS)
def test_cut_tables_of_every_kind(kind: str) -> None:
    data = {"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"], "n": [1, 2, 3, 4]}
    cut = discretize(KINDS[kind](data), bins=2)
    table = encode(cut)
    assert table.discretizer == cut.discretizer
    assert states(table)["x"] == ("up to 2", "above 2")
    assert codes(table) == {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "n": [0, 1, 2, 3]}
    # the rest of the interface is the same for a cut table
    assert encode(cut, weights="n").weights is not None
    # later tables, raw or cut already, have all intervals
    later = {"x": [-9.0, 1.0], "y": ["a", "a"], "n": [1, 1]}
    raw = encode(KINDS[kind](later), table.variables, discretizer=cut.discretizer)
    done = encode(cut.discretizer.apply(KINDS[kind](later)), table.variables)
    assert codes(raw) == codes(done) == {"x": [0, 0], "y": [0, 0], "n": [0, 0]}
    named = {**later, "x": ["above 2", None]}
    assert codes(encode(KINDS[kind](named), discretizer=cut.discretizer))["x"] == [1, 2]
    with pytest.raises(InputError, match="cut already"):
        encode(cut, discretizer=cut.discretizer)


def test_an_unknown_interval() -> None:
    cutter = Discretizer.fit({"x": [0.5, 1.5]}, bins=2)
    variables = [Variable("x", cutter.columns[0].states)]
    with pytest.raises(DataError, match=r"state 'above 9' \(1 row\) is not one of"):
        encode({"x": ["above 9", "above 1"]}, variables, discretizer=cutter)


def test_what_was_cut_is_never_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """From floats to codes: names of intervals are for those who look at the table."""
    data = {"x": [0.5, 1.5, math.nan, 3.5], "y": ["a", "b", "a", "b"]}
    cut = discretize(data, bins=2)
    assert cut.table["x"].tolist() == ["up to 1.5", "up to 1.5", None, "above 1.5"]
    wanted = encode(cut.table, discretizer=cut.discretizer)
    monkeypatch.setattr(StateColumn, "values", property(lambda column: 1 / 0))
    direct = encode(discretize(data, bins=2))
    assert direct.variables == wanted.variables
    assert codes(direct) == codes(wanted) == {"x": [0, 0, 2, 1], "y": [0, 1, 0, 1]}
    assert encode(direct, direct.variables, discretizer=cut.discretizer).codes[0] is direct.codes[0]


def test_codes_belong_to_their_table() -> None:
    """Codes are checked once, so memory that somebody else may change is copied."""
    values = np.array([1, 0, 1], dtype=np.uint8)
    view = values[:]
    view.setflags(write=False)
    column = CodedColumn.of(Variable("x", ["a", "b"]), Levels(["a", "b"], view, closed=True))
    values[:] = 99
    assert coded_table([column]).codes[0].tolist() == [1, 0, 1]
