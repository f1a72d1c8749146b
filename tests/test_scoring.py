"""Log probability of rows against a sum written out row by row."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from colonnade.configurations import configuration_index
from colonnade.exceptions import DataError, InputError
from colonnade.lookup import Lookup
from colonnade.tables import CodedTable, row_log_probability, scoring
from colonnade.variables import Family, Variable

RNG = np.random.default_rng(0)


def variable(name: str, cardinality: int) -> Variable:
    return Variable(name, range(cardinality))


# Families with their logarithms.
Tables = list[tuple[Family, Lookup]]


def score(coded: CodedTable, tables: Tables, **options: Any) -> tuple[Any, Any]:
    families, logs = [family for family, _ in tables], [logs for _, logs in tables]
    return row_log_probability(coded, families, logs, **options)


def plain(coded: CodedTable, tables: Tables) -> NDArray[np.float64]:
    """Add up one row after the other; NaN where a value is missing."""
    sums = np.zeros(coded.rows)
    for family, logs in tables:
        columns = [coded.codes[coded.position(v.name)] for v in (*family.parents, family.child)]
        stored = None
        if logs.codes is not None:
            stored = {tuple(codes): k for k, codes in enumerate(logs.codes.tolist())}
        for row in range(coded.rows):
            *parents, child = (int(column[row]) for column in columns)
            sizes = family.parent_sizes
            gap = child == family.cardinality or any(
                p == size for p, size in zip(parents, sizes, strict=True)
            )
            if gap:
                sums[row] = np.nan
            elif stored is None:
                sums[row] += logs.rows[configuration_index(parents, sizes), child]
            elif tuple(parents) in stored:
                sums[row] += logs.rows[stored[tuple(parents)], child]
            else:
                assert logs.other is not None
                sums[row] += logs.other[child]
    return sums


def logs(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    values = rng.random(shape)
    values[values < 0.1] = 0.0
    with np.errstate(divide="ignore"):
        return np.log(values)


def some_table(rng: np.random.Generator, family: Family, sparse: bool) -> tuple[Family, Lookup]:
    sizes = family.parent_sizes
    if not sparse:
        return family, Lookup(sizes, logs(rng, family.configurations, family.cardinality))
    codes = np.array([[rng.integers(size) for size in sizes] for _ in range(9)])
    codes = np.unique(codes.reshape(9, -1).astype(int), axis=0)
    rows = logs(rng, len(codes), family.cardinality)
    return family, Lookup(sizes, rows, codes, logs(rng, family.cardinality))


@st.composite
def problems(draw: st.DrawFn) -> tuple[CodedTable, Tables]:
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 5, 300]), min_size=1, max_size=6))
    variables = [variable(f"v{k}", size) for k, size in enumerate(sizes)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.integers(0, 40))
    gap = draw(st.booleans())
    columns = [rng.integers(0, size + (gap and rng.random() < 0.5), rows) for size in sizes]
    tables: Tables = []
    for _ in range(draw(st.integers(0, 9))):
        chosen = draw(st.permutations(variables))[: draw(st.integers(1, 3))]
        family = Family(chosen[0], chosen[1:])
        sparse = draw(st.booleans()) or family.configurations * family.cardinality > 10**5
        tables.append(some_table(rng, family, sparse))
    return CodedTable(variables, columns), tables


@given(problems(), st.sampled_from([0, None, 2**16]))
def test_sums_are_those_of_a_plain_sum(
    problem: tuple[CodedTable, Tables], limit: int | None
) -> None:
    coded, tables = problem
    with pytest.MonkeyPatch.context() as patch:
        if limit is not None:
            patch.setattr(scoring, "joint_limit", lambda rows: limit)
        values, complete = score(coded, tables)
    expected = plain(coded, tables)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert np.array_equal(complete, ~np.isnan(expected))


@pytest.mark.parametrize("tables", range(1, 10))
def test_any_number_of_joint_tables(tables: int) -> None:
    # so many states that no two families share a joint table
    rng = np.random.default_rng(tables)
    variables = [variable(f"v{k}", 50) for k in range(tables)]
    coded = CodedTable(variables, rng.integers(0, 50, (tables, 1000)))
    chosen = [(Family(v), Lookup((), logs(rng, 1, 50))) for v in variables]
    values, _ = score(coded, chosen)
    np.testing.assert_allclose(values, plain(coded, chosen), rtol=1e-12)


@pytest.mark.parametrize("parents", [10, 30])
def test_huge_families(parents: int) -> None:
    rng = np.random.default_rng(1)
    variables = [variable(f"v{k}", 20) for k in range(parents + 1)]
    columns = rng.choice([0, 19], size=(parents + 1, 300))
    columns[0, 7], columns[3, 9] = 20, 20
    coded = CodedTable(variables, columns)
    stored = np.unique(columns[1:, 50:200].T, axis=0)
    family = Family(variables[0], variables[1:])
    table = Lookup(family.parent_sizes, logs(rng, len(stored), 20), stored, logs(rng, 20))
    values, complete = score(coded, [(family, table)])
    np.testing.assert_allclose(values, plain(coded, [(family, table)]), rtol=1e-12)
    assert np.flatnonzero(~complete).tolist() == [7, 9]


def test_the_number_of_threads_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    rows = 150_000
    sizes = [2, 3, 4, 5, 300]
    variables = [variable(f"v{k}", size) for k, size in enumerate(sizes)]
    columns = [rng.integers(0, size, rows) for size in sizes]
    coded = CodedTable(variables, columns)
    families = [Family(v, tuple(u for u in variables[:k])) for k, v in enumerate(variables)]
    tables = [some_table(rng, f, f.configurations > 100) for f in families]
    one, two, seven = (score(coded, tables, threads=n)[0] for n in (1, 2, 7))
    assert np.array_equal(one, two)
    assert np.array_equal(one, seven)
    part = [0, 131_071, 131_072, 149_999]
    few = CodedTable(variables, [column[part] for column in columns])
    np.testing.assert_allclose(one[part], plain(few, tables), rtol=1e-12)


def test_no_tables_and_no_rows() -> None:
    coded = CodedTable([variable("x", 2)], [[0, 2]])
    values, complete = score(coded, [])
    assert values.tolist() == [0.0, 0.0]
    assert complete.tolist() == [True, True]
    empty = CodedTable([variable("x", 2)], [[]])
    tables = [(Family(variable("x", 2)), Lookup((), np.log([[0.5, 0.5]])))]
    assert score(empty, tables)[0].shape == (0,)


X, Y = variable("x", 2), variable("y", 3)
ROW = np.log([0.25, 0.75])
FULL = np.array([ROW] * 3)


@pytest.mark.parametrize(
    ("family", "logs", "message"),
    [
        (Family(X), ROW[None], "only Lookup"),
        (Family(X), Lookup((3,), FULL), r"parent sizes \(\) and 2 states for `logs`, got \(3,\)"),
        (Family(Y), Lookup((), ROW[None]), "3 states for `logs`"),
        (Family(X), Lookup((), np.array([[np.nan, 0.0]])), "neither NaN"),
        (Family(X), Lookup((), np.array([[np.inf, 0.0]])), "neither NaN"),
        (Family(X, (Y,)), Lookup((3,), FULL[:1], np.array([[0]]), ROW * np.nan), "neither NaN"),
    ],
)
def test_bad_tables(family: Family, logs: Any, message: str) -> None:
    coded = CodedTable([X, Y], [[0, 1], [0, 1]])
    with pytest.raises(InputError, match=message):
        row_log_probability(coded, [family], [logs])


def test_what_cannot_be_scored() -> None:
    coded = CodedTable([X], [[0, 1]])
    with pytest.raises(DataError, match="Column 'y': not in the table"):
        score(coded, [(Family(X, (Y,)), Lookup((3,), FULL))])
    with pytest.raises(InputError, match="CodedTable"):
        row_log_probability({"x": [0]}, [], [])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="only Family"):
        row_log_probability(coded, [X], [Lookup((), ROW[None])])  # type: ignore[list-item]
