"""Counts against a plain count in Python, whatever way they are counted."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts
from colonnade.exceptions import DataError, InputError, TooLargeError
from colonnade.tables import CodedTable, counting, encode
from colonnade.tables.counting import count_families
from colonnade.tables.joints import Columns, Joint, plan
from colonnade.variables import Family, Variable


def variable(name: str, cardinality: int) -> Variable:
    return Variable(name, range(cardinality))


def plain(coded: CodedTable, family: Family) -> dict[tuple[int, ...], Any]:
    """Count the complete rows of a family, by parent codes and child code."""
    chosen = [coded.position(v.name) for v in (*family.parents, family.child)]
    weights = [1] * coded.rows if coded.weights is None else coded.weights.tolist()
    found: Counter[tuple[int, ...]] = Counter()
    for row in range(coded.rows):
        codes = tuple(int(coded.codes[k][row]) for k in chosen)
        if all(c < coded.variables[k].cardinality for c, k in zip(codes, chosen, strict=True)):
            found[codes] += weights[row]
    return {codes: n for codes, n in found.items() if n}


def sparse(counts: FamilyCounts) -> dict[tuple[int, ...], Any]:
    return {
        (*codes, state): n
        for codes, row in zip(counts.codes.tolist(), counts.values.tolist(), strict=True)
        for state, n in enumerate(row)
        if n
    }


def check(coded: CodedTable, families: list[Family]) -> None:
    found = count_families(coded, families, missing="available")
    for family, counts in zip(families, found, strict=True):
        assert counts.parent_sizes == family.parent_sizes
        assert counts.states == family.cardinality
        assert sparse(counts) == plain(coded, family)
        # sorted, complete and without empty rows: what the class itself would make of it
        assert (
            FamilyCounts.from_observed(counts.parent_sizes, counts.codes, counts.values) == counts
        )
        fractional = coded.weights is not None and coded.weights.dtype == np.float64
        assert counts.values.dtype == (np.float64 if fractional else np.int64)


@st.composite
def problems(draw: st.DrawFn) -> tuple[CodedTable, list[Family]]:
    sizes = draw(st.lists(st.sampled_from([1, 1, 2, 3, 5, 300]), min_size=1, max_size=7))
    variables = [variable(f"v{k}", size) for k, size in enumerate(sizes)]
    rows = draw(st.integers(0, 40))
    gap = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = [rng.integers(0, size + (gap and rng.random() < 0.5), rows) for size in sizes]
    weights = draw(
        st.sampled_from([None, rng.integers(0, 3, rows), rng.integers(0, 9, rows) / 8.0])
    )
    families = []
    for _ in range(draw(st.integers(0, 8))):
        chosen = draw(st.permutations(variables))[: draw(st.integers(1, len(variables)))]
        families.append(Family(chosen[0], chosen[1:]))
    return CodedTable(variables, columns, weights), families


@given(problems())
def test_counts_are_those_of_a_plain_count(problem: tuple[CodedTable, list[Family]]) -> None:
    check(*problem)


@given(problems(), st.sampled_from(["joint", "dense", "sparse"]))
def test_every_way_of_counting_gives_the_same(
    problem: tuple[CodedTable, list[Family]], way: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way == "joint":
            patch.setattr(counting, "joint_limit", lambda rows: 2**16)
        else:
            patch.setattr(counting, "joint_limit", lambda rows: 0)
            patch.setattr(counting, "_MAX_DENSE_CELLS", 2**24 if way == "dense" else 0)
            patch.setattr(counting, "_MAX_DENSE_CELLS_PER_ROW", 0)
        check(*problem)


@pytest.mark.parametrize("parents", [10, 14, 15, 30, 100])
@pytest.mark.parametrize("gaps", [0, 1])
def test_huge_families(parents: int, gaps: int) -> None:
    rng = np.random.default_rng(1)
    variables = [variable(f"v{k}", 20) for k in range(parents + 1)]
    # few distinct rows, so that configurations repeat; extreme codes, so that words are full
    distinct = rng.choice([0, 1, 18, 19, 19 + gaps], size=(60, parents + 1))
    columns = distinct[rng.integers(0, 60, 500)].T
    family = Family(variables[0], variables[1:])
    assert family.configurations == 20**parents
    check(CodedTable(variables, columns), [family])
    check(CodedTable(variables, columns, rng.integers(0, 8, 500) / 4), [family])


def test_more_configurations_than_fit_the_first_table() -> None:
    # distinct rows beyond several doublings of the table of configurations
    rng = np.random.default_rng(2)
    variables = [variable(f"v{k}", 200) for k in range(9)]
    columns = rng.integers(0, 200, (9, 50_000))
    columns[:, 25_000:] = columns[:, :25_000]
    family = Family(variables[8], variables[:8])
    (counts,) = count_families(CodedTable(variables, columns), [family])
    assert (counts.observed, counts.total) == (25_000, 50_000)
    assert counts.row_totals.tolist() == [2] * 25_000
    expected = np.unique(columns[:8].T, axis=0)
    assert np.array_equal(counts.codes, expected)


@pytest.mark.parametrize("weights", [None, "whole", "fractional"])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_number_of_threads_does_not_matter(weights: str | None, gaps: bool) -> None:
    rng = np.random.default_rng(3)
    rows = 300_000  # several tasks, the last one not full
    sizes = [2, 3, 4, 5, 17, 300, 70_000]
    variables = [variable(f"v{k}", size) for k, size in enumerate(sizes)]
    columns = [rng.integers(0, size + gaps, rows) for size in sizes]
    values = {None: None, "whole": rng.integers(0, 5, rows), "fractional": rng.random(rows)}[
        weights
    ]
    coded = CodedTable(variables, columns, values)
    v = variables
    families = [
        *(Family(a, (b,)) for a in v[:4] for b in v[:4] if a is not b),
        Family(v[4], v[:4]),
        Family(v[0], (v[5], v[4])),
        Family(v[1], (v[5], v[6])),
        Family(v[6]),
    ]
    one, two, seven = (count_families(coded, families, "available", threads=n) for n in (1, 2, 7))
    # bit by bit, also where sums are rounded
    assert one == two == seven
    for family, counts in zip(families, one, strict=True):
        chosen = [coded.position(u.name) for u in (*family.parents, family.child)]
        complete = np.all([columns[k] < sizes[k] for k in chosen], axis=0)
        w = np.ones(rows) if values is None else values
        assert counts.total == pytest.approx(w[complete].sum())
        by_state = np.bincount(
            columns[chosen[-1]][complete], w[complete], minlength=family.cardinality
        )
        np.testing.assert_allclose(counts.state_totals, by_state)


def test_integer_weights_stay_exact() -> None:
    x = variable("x", 2)
    big = 2**53 + 1
    coded = CodedTable([x], [[0, 0, 1]], np.array([big, 2, big]))
    assert count_families(coded, [Family(x)])[0].values.tolist() == [[big + 2, big]]


def test_precounted_data_are_the_data() -> None:
    rng = np.random.default_rng(4)
    columns = rng.integers(0, 3, (4, 1000))
    variables = [variable(f"v{k}", 3) for k in range(4)]
    distinct, times = np.unique(columns, axis=1, return_counts=True)
    families = [Family(variables[0], variables[1:]), Family(variables[3])]
    table = {f"v{k}": distinct[k] for k in range(4)} | {"n": times}
    assert count_families(encode(table, weights="n"), families) == count_families(
        CodedTable(variables, columns), families
    )


def test_no_families() -> None:
    assert count_families(CodedTable([variable("x", 2)], [[0]]), []) == []


def test_missing_values_are_refused_by_name() -> None:
    x, y, z = (variable(name, 2) for name in "xyz")
    coded = CodedTable([x, y, z], [[0, 1, 2], [2, 2, 1], [0, 0, 0]])
    hint = r"Hint: use missing='available' .*, or fit with missing='em'\."
    with pytest.raises(
        DataError, match=rf"^Column 'y': the value is missing in 2 of 3 rows\. {hint}"
    ):
        count_families(coded, [Family(y, (z,))])
    with pytest.raises(
        DataError, match=r"^Columns 'x' \(1\), 'y' \(2\): values are missing in some of 3 rows\."
    ) as caught:
        count_families(coded, [Family(y, (x,)), Family(z)])
    assert caught.value.details["columns"] == {"x": 1, "y": 2}
    # a column that takes no part may have gaps
    assert count_families(coded, [Family(z)])[0].values.tolist() == [[3, 0]]


def test_what_cannot_be_counted() -> None:
    x, y = variable("x", 2), variable("y", 2)
    coded = CodedTable([x], [[0, 1]])
    with pytest.raises(DataError, match="Column 'y': not in the table"):
        count_families(coded, [Family(x, (y,))])
    with pytest.raises(DataError, match=r"Column 'x': coded with .*\(0, 1\).*\(False, True\)"):
        count_families(coded, [Family(Variable("x", [False, True]))])
    with pytest.raises(InputError, match="CodedTable"):
        count_families({"x": [0, 1]}, [Family(x)])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="only Family"):
        count_families(coded, [x])  # type: ignore[list-item]
    with pytest.raises(InputError, match="`missing`"):
        count_families(coded, [Family(x)], missing="em")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="`threads`"):
        count_families(coded, [Family(x)], threads=0)


def test_counts_that_would_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MAX_SPARSE_CELLS", 100)
    monkeypatch.setattr(counting, "_MAX_DENSE_CELLS", 0)
    variables = [variable("x", 60), variable("y", 90)]
    coded = CodedTable(variables, [[0, 1], [0, 1]])
    with pytest.raises(TooLargeError, match="counts of 'x' would have 120 cells"):
        count_families(coded, [Family(variables[0], variables[1:])])


# The plan


def test_only_columns_that_lack_values_have_a_code_for_it() -> None:
    coded = CodedTable([variable("x", 2), variable("y", 2)], [[0, 1], [0, 2]])
    assert Columns.of(coded).sizes == (2, 3)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.lists(st.sets(st.integers(0, 11), min_size=1, max_size=4), max_size=30),
    st.integers(1, 2000),
)
def test_a_plan_holds_every_family_once(
    sizes: list[int], chosen: list[set[int]], limit: int
) -> None:
    families = [tuple({k % len(sizes) for k in family}) for family in chosen]
    joints, alone = plan(families, sizes, limit)
    placed = [f for joint in joints for f in joint.members]
    assert sorted(placed + alone) == list(range(len(families)))
    for joint in joints:
        assert joint.cells == math.prod(sizes[k] for k in joint.columns) <= limit
        assert len(set(joint.columns)) == len(joint.columns)
        for f in joint.members:
            assert {k for k in families[f] if sizes[k] > 1} <= set(joint.columns)
    assert all(math.prod(sizes[k] for k in families[f]) > limit for f in alone)


def test_families_with_common_columns_share_a_joint_table() -> None:
    chain = [(k, k + 1) for k in range(4)]
    joints, _ = plan(chain, [3] * 5, limit=3**5)
    assert len(joints) == 1
    assert len(plan(chain, [3] * 5, limit=9)[0]) == 4
    assert plan([(0,)], [1], limit=1)[0] == [Joint((), 1, (0,))]
