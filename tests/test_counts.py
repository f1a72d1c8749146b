import decimal
import fractions
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import CountsError, InputError, ShortfallError, TooLargeError

HUGE = (20,) * 30


@st.composite
def tables(draw: st.DrawFn, number: int = 1) -> list[FamilyCounts]:
    """Tables of one family, from rows in any order with repetitions, perhaps with huge q."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
    sizes += (10**6,) * draw(st.sampled_from([0, 0, 4]))
    states = draw(st.integers(1, 4))
    cell = draw(st.sampled_from([st.integers(0, 5), st.integers(0, 40).map(lambda n: n / 8)]))
    row = st.tuples(
        st.tuples(*(st.integers(0, min(size, 3) - 1) for size in sizes)),
        st.tuples(*[cell] * states),
    )
    made = []
    for _ in range(number):
        rows = draw(st.lists(row, max_size=8))
        codes = np.array([codes for codes, _ in rows], dtype=int).reshape(len(rows), len(sizes))
        values = np.array([values for _, values in rows]).reshape(len(rows), states)
        made.append(FamilyCounts.from_observed(sizes, codes, values))
    return made


def as_dict(counts: FamilyCounts) -> dict[tuple[int, ...], list[float]]:
    return dict(zip(map(tuple, counts.codes.tolist()), counts.values.tolist(), strict=True))


def assert_sound(counts: FamilyCounts) -> None:
    rows = [tuple(codes) for codes in counts.codes.tolist()]
    assert rows == sorted(set(rows))
    assert counts.values.dtype in (np.int64, np.float64)
    assert counts.codes.dtype in (np.int32, np.int64)
    assert counts.codes.shape == (counts.observed, len(counts.parent_sizes))
    assert (counts.values >= 0).all()
    assert (counts.row_totals > 0).all()
    assert not counts.values.flags.writeable
    assert not counts.codes.flags.writeable


class TestMaking:
    def test_from_array(self) -> None:
        counts = FamilyCounts.from_array([[3, 1], [0, 0], [2, 5]])
        assert counts.parent_sizes == (3,)
        assert (counts.states, counts.configurations, counts.observed) == (2, 3, 2)
        assert counts.codes.tolist() == [[0], [2]]
        assert counts.values.tolist() == [[3, 1], [2, 5]]
        assert (counts.row_totals.tolist(), counts.state_totals.tolist()) == ([4, 7], [5, 6])
        assert (counts.total, counts.index.tolist()) == (11, [0, 2])
        assert type(counts.total) is int
        assert_sound(counts)

    def test_axes_are_parents(self) -> None:
        dense = np.arange(24).reshape(2, 3, 4)
        counts = FamilyCounts.from_array(dense)
        assert counts.parent_sizes == (2, 3)
        assert counts == FamilyCounts.from_array(dense.reshape(6, 4), parent_sizes=(2, 3))
        assert counts == FamilyCounts.from_array(dense, parent_sizes=(2, 3))
        assert counts.row((1, 2)).tolist() == dense[1, 2].tolist() == counts.row(5).tolist()
        assert counts != FamilyCounts.from_array(dense.reshape(6, 4))
        assert counts == FamilyCounts.from_array(np.asfortranarray(dense))

    def test_no_parents(self) -> None:
        alone = FamilyCounts.from_array([[3, 1]], parent_sizes=())
        assert (alone.configurations, alone.codes.shape, alone.index.tolist()) == (1, (1, 0), [0])
        assert alone == FamilyCounts.from_array([3, 1], parent_sizes=())
        assert alone == FamilyCounts.from_observed((), [], [[3, 1]])
        assert alone == FamilyCounts.from_observed((), [[], []], [[1, 1], [2, 0]])
        assert alone.row(()).tolist() == alone.row(0).tolist() == [3, 1]
        assert (alone + alone - alone) == alone
        assert (alone - alone).to_array().tolist() == [[0, 0]]

    def test_nothing_observed(self) -> None:
        empty = FamilyCounts.from_array(np.zeros((3, 2), dtype=int))
        assert (empty.observed, empty.total, empty.state_totals.tolist()) == (0, 0, [0, 0])
        assert empty.integral
        assert empty == FamilyCounts.from_observed((3,), [], np.zeros((0, 2)))
        assert empty == FamilyCounts.from_observed((3,), [[1]], [[0, 0]])
        assert empty.row(1).tolist() == [0, 0]
        assert (empty + empty) == empty == (empty - empty)

    def test_single_state(self) -> None:
        assert FamilyCounts.from_array([[3], [0]]).states == 1

    @pytest.mark.parametrize(
        ("given_as", "kind"),
        [
            ([[True, False]], "i"),
            (np.array([[1, 0]], dtype=np.uint8), "i"),
            (np.array([[1, 0]], dtype=object), "i"),
            (np.array([[1, 0]], dtype=np.float32), "f"),
            (np.array([[1, 0]], dtype=np.longdouble), "f"),
            ([[1.0, 0.0]], "f"),
            ([[fractions.Fraction(1), 0]], "f"),
            (pd.DataFrame({"a": [1], "b": [0]}), "i"),
            (np.ma.masked_array([[1, 0]], mask=[[False, False]]), "i"),
        ],
    )
    def test_types(self, given_as: object, kind: str) -> None:
        counts = FamilyCounts.from_array(given_as)  # type: ignore[arg-type]
        assert counts.values.dtype.kind == kind
        assert counts == FamilyCounts.from_array([[1, 0]])
        assert counts.integral
        assert_sound(counts)

    def test_integral(self) -> None:
        assert not FamilyCounts.from_array([[0.5, 1]]).integral
        assert type(FamilyCounts.from_array([[0.5, 1]]).total) is float

    def test_the_callers_arrays_stay_theirs(self) -> None:
        for dense in (np.array([[3, 1], [2, 5]]), np.array([[3.0, 1.0], [2.0, 5.0]])):
            counts = FamilyCounts.from_array(dense)
            codes = np.array([[0], [1]], dtype=np.int32)
            observed = FamilyCounts.from_observed((2,), codes, dense)
            dense[0, 0] = 100
            codes[0] = 1
            assert counts == observed == FamilyCounts.from_array([[3, 1], [2, 5]])
            with pytest.raises(ValueError, match="read-only"):
                counts.values[0, 0] = 1
        with pytest.raises(AttributeError):
            counts.values = dense  # type: ignore[misc]

    def test_repeated_rows_are_merged(self) -> None:
        counts = FamilyCounts.from_observed(
            (2, 3), [[1, 0], [0, 2], [1, 0], [0, 0]], [[1, 0], [0, 1], [2, 3], [0, 0]]
        )
        assert as_dict(counts) == {(0, 2): [0, 1], (1, 0): [3, 3]}
        assert counts.index.tolist() == [2, 3]
        assert counts == FamilyCounts((2, 3), counts.codes, counts.values)

    def test_as_counts(self) -> None:
        counts = as_counts([[3, 1]])
        assert as_counts(counts) is counts
        assert as_counts(np.array([[3, 1]])) == counts

    def test_large_numbers(self) -> None:
        assert FamilyCounts.from_array([[10**12, 1]]).total == 10**12 + 1
        assert FamilyCounts.from_array([[2**62, 2**62 - 1]]).total == 2**63 - 1
        assert FamilyCounts.from_array([[1e300, 1]]).total == 1e300


class TestHuge:
    def test_more_configurations_than_64_bits(self) -> None:
        codes = np.zeros((3, 30), dtype=int)
        codes[0], codes[1, -1] = 19, 1
        counts = FamilyCounts.from_observed(HUGE, codes, [[1, 0], [0, 2], [4, 4]])
        assert counts.configurations == 20**30
        assert counts.codes.tolist() == [[0] * 30, [0] * 29 + [1], [19] * 30]
        assert counts.row(20**30 - 1).tolist() == [1, 0] == counts.row((19,) * 30).tolist()
        assert counts.row(1).tolist() == [0, 2]
        assert counts.row(20**29).tolist() == [0, 0]
        assert (counts.position(0), counts.position(20**30 - 2)) == (0, None)
        assert (counts + counts).total == 22
        assert (counts + counts - counts) == counts

    def test_refusals_give_the_size(self) -> None:
        counts = FamilyCounts.from_observed(HUGE, [[0] * 30], [[1, 2]])
        with pytest.raises(TooLargeError, match=r"2\.15e39 cells") as caught:
            counts.to_array()
        assert caught.value.size == 2 * 20**30
        with pytest.raises(TooLargeError, match="use `codes`"):
            _ = counts.index

    def test_limit(self) -> None:
        counts = FamilyCounts.from_observed((10,), [[3]], [[1, 2]])
        assert counts.to_array(limit=20).sum() == 3
        with pytest.raises(TooLargeError, match="20 cells, more than the limit of 19"):
            counts.to_array(limit=19)

    def test_short_repr(self) -> None:
        counts = FamilyCounts.from_observed(HUGE, [[0] * 30], [[1, 2]])
        assert "(20, ..., 20; 30 parents)" in repr(counts)

    def test_parent_of_many_states(self) -> None:
        counts = FamilyCounts.from_observed((2**40,), [[2**40 - 1], [5]], [[1], [1]])
        assert counts.codes.dtype == np.int64
        assert counts.index.tolist() == [5, 2**40 - 1]


class TestBadInput:
    @pytest.mark.parametrize(
        ("counts", "message"),
        [
            (3, r"an array \[configuration, state\].*Hint: write \[\[3, 1\]\]"),
            ([3, 1], r"an array \[configuration, state\].*Hint: write \[\[3, 1\]\]"),
            ([], "at least one state"),
            ([[]], "at least one state"),
            (np.zeros((2, 3, 0)), "at least one state"),
            (np.zeros((0, 3)), "at least one configuration.*Hint: give a row of zeros"),
            ([[1, -1]], "0 or more for `counts`, got -1 at configuration 0, state 1"),
            ([[1, 2], [-0.5, 1]], "0 or more for `counts`, got -0.5 at configuration 1, state 0"),
            ([[[1], [-2]]], r"got -2 at configuration \(0, 1\), state 0"),
            ([[1, math.nan]], "finite counts for `counts`, got nan at configuration 0, state 1"),
            ([[math.inf, 1]], "finite counts for `counts`, got inf"),
            ([[-math.inf, 1]], "finite counts for `counts`, got -inf"),
            ([[1e308, 1e308]], "a finite total"),
            (np.array([[np.finfo(np.longdouble).max, 1]]), "finite"),
            ([[1, 2], [3]], "rows of one length"),
            ([["1", "2"]], "numbers for `counts`"),
            ("table", "numbers for `counts`"),
            ([[1 + 2j, 1]], "numbers for `counts`"),
            ([[None, 1]], "numbers for `counts`"),
            ([[decimal.Decimal(1), "a"]], "numbers for `counts`"),
            (None, "numbers for `counts`"),
            (np.array([[np.timedelta64(1, "s")]]), "numbers for `counts`"),
            (np.array([[2**63, 1]], dtype=np.uint64), r"below 2\*\*63"),
            ([[10**30, 1]], r"below 2\*\*63 .* got 1.00e30"),
            ([[2**62, 2**62]], r"below 2\*\*63 .* got 9.22e18"),
            (np.ma.masked_array([[1, 0]], mask=[[True, False]]), "without masked cells"),
        ],
    )
    def test_arrays(self, counts: object, message: str) -> None:
        with pytest.raises(CountsError, match=message):
            as_counts(counts)  # type: ignore[arg-type]

    def test_the_place_is_in_the_error(self) -> None:
        with pytest.raises(CountsError) as caught:
            as_counts([[1, 2], [3, -4]])
        error = caught.value
        assert (error.configuration, error.state, error.value) == (1, 1, -4)

    @pytest.mark.parametrize("sizes", [(3,), (2, 3), (4, 1, 2)])
    def test_sizes_that_do_not_fit(self, sizes: tuple[int, ...]) -> None:
        with pytest.raises(CountsError, match="rows for `parent_sizes`"):
            FamilyCounts.from_array([[1, 2], [3, 4]], parent_sizes=sizes)

    @pytest.mark.parametrize("sizes", [(0,), (-1,), (2.5,), ("2",), 3, (2**63,)])
    def test_sizes(self, sizes: object) -> None:
        with pytest.raises(InputError, match="integers of at least 1 for `parent_sizes`"):
            FamilyCounts.from_observed(sizes, [[0]], [[1]])  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("codes", "values", "message"),
        [
            ([[2, 0]], [[1, 1]], r"below the parent sizes \(2, 3\), for `codes`, got \(2, 0\)"),
            ([[0, 0], [0, -1]], [[1, 1]] * 2, r"got \(0, -1\) in row 1"),
            ([[0]], [[1, 1]], r"integers of shape \(1, 2\)"),
            ([0, 1], [[1, 1]], r"integers of shape \(1, 2\)"),
            ([[0.0, 1.0]], [[1, 1]], "integers of shape"),
            ([[0, 1]], [1, 1], r"an array \[observed, state\]"),
            ([[0, 1]], [[[1, 1]]], r"an array \[observed, state\]"),
            ([[0, 1]], [[1, -1]], "0 or more for `values`"),
            ([[0, 1]], [[1, 1], [1, 1]], r"integers of shape \(2, 2\)"),
        ],
    )
    def test_observed(self, codes: object, values: object, message: str) -> None:
        with pytest.raises(CountsError, match=message):
            FamilyCounts.from_observed((2, 3), codes, values)  # type: ignore[arg-type]

    @pytest.mark.parametrize("configuration", [-1, 6, (0,), (0, 3), (-1, 0), 1.5, "ab", None])
    def test_configurations(self, configuration: object) -> None:
        counts = FamilyCounts.from_array(np.ones((2, 3, 2)))
        with pytest.raises(InputError, match="`configuration`"):
            counts.row(configuration)  # type: ignore[arg-type]


class TestArithmetic:
    @given(tables(number=3))
    def test_addition_is_that_of_dictionaries(self, three: list[FamilyCounts]) -> None:
        a, b, c = three
        total = a + b
        assert_sound(total)
        wanted = as_dict(a)
        for codes, row in as_dict(b).items():
            old = wanted.get(codes, [0] * a.states)
            wanted[codes] = [x + y for x, y in zip(old, row, strict=True)]
        assert as_dict(total) == wanted
        # Eighths add exactly, so the laws hold to the last bit.
        assert a + b == b + a
        assert (a + b) + c == a + (b + c)

    @given(tables(number=2))
    def test_subtraction_undoes_addition(self, two: list[FamilyCounts]) -> None:
        a, b = two
        assert (a + b) - b == a
        assert (a - a).observed == 0
        assert_sound((a + b) - b)

    @given(tables(), st.randoms(use_true_random=False))
    def test_order_of_rows_does_not_matter(self, one: list[FamilyCounts], random) -> None:
        (a,) = one
        rows = [*range(a.observed)] * 2
        random.shuffle(rows)
        again = FamilyCounts.from_observed(a.parent_sizes, a.codes[rows], a.values[rows])
        assert again == a + a

    @given(tables())
    def test_round_trips(self, one: list[FamilyCounts]) -> None:
        (a,) = one
        assert FamilyCounts.from_observed(a.parent_sizes, a.codes, a.values) == a
        assert pickle.loads(pickle.dumps(a)) == a
        if a.configurations < 2**63:
            assert [a.position(int(i)) for i in a.index] == list(range(a.observed))
        for position, codes in enumerate(a.codes.tolist()):
            assert a.position(tuple(codes)) == position
        if a.configurations < 1000:
            assert FamilyCounts.from_array(a.to_array(), a.parent_sizes) == a
            dense = a.to_array()
            assert all((a.row(i) == dense[i]).all() for i in range(a.configurations))

    def test_taking_too_much(self) -> None:
        a = FamilyCounts.from_array(np.ones((2, 2, 2), dtype=int))
        b = FamilyCounts.from_observed((2, 2), [[1, 0]], [[0, 3]])
        message = r"cannot take 3 from 1 count of state 1 in configuration \(1, 0\)\. Hint"
        with pytest.raises(ShortfallError, match=message) as e:
            _ = a - b
        assert (e.value.taken, e.value.held) == (3, 1)
        assert (e.value.configuration, e.value.state, e.value.value) == ((1, 0), 1, -2)
        with pytest.raises(CountsError, match="cannot take 3 from 0"):
            _ = (a - a) - b

    def test_rounding_dust_is_cleared(self) -> None:
        tenth = FamilyCounts.from_array([[0.1, 1.0]])
        total = tenth + tenth + tenth
        left = total - FamilyCounts.from_array([[0.3, 3.0]])
        assert left.observed == 0
        assert (FamilyCounts.from_array([[0.3, 3.0]]) - total).observed == 0

    def test_what_is_no_dust_stays(self) -> None:
        whole = FamilyCounts.from_array([[1e10, 1.0]]) - FamilyCounts.from_array([[1e10 - 1, 0.0]])
        assert whole.values.tolist() == [[1.0, 1.0]]
        with pytest.raises(CountsError, match="cannot take"):
            _ = FamilyCounts.from_array([[1e10, 1.0]]) - FamilyCounts.from_array([[1e10 + 1, 0.0]])
        with pytest.raises(CountsError, match="cannot take"):
            _ = FamilyCounts.from_array([[0.3, 1]]) - FamilyCounts.from_array([[0.3001, 0]])
        small = FamilyCounts.from_array([[1e-12, 0.0]])
        assert (small + small - small).total == pytest.approx(1e-12)

    def test_overflow(self) -> None:
        large = FamilyCounts.from_array([[2**62, 0]])
        with pytest.raises(CountsError, match=r"below 2\*\*63"):
            _ = large + large

    def test_whole_and_fractional(self) -> None:
        whole, half = FamilyCounts.from_array([[2, 1]]), FamilyCounts.from_array([[0.5, 0.5]])
        assert (whole + half).values.tolist() == [[2.5, 1.5]]
        assert (whole - half).values.tolist() == [[1.5, 0.5]]
        assert FamilyCounts.from_array([[2.0, 1.0]]) == whole

    @pytest.mark.parametrize(
        "other", [[[1, 2, 3]], [[1, 2], [3, 4]], [[[1, 2]]]], ids=["states", "rows", "axes"]
    )
    def test_different_families(self, other: list) -> None:
        counts = FamilyCounts.from_array([[1, 2]])
        with pytest.raises(CountsError, match="counts of one family"):
            _ = counts + FamilyCounts.from_array(other)
        with pytest.raises(CountsError, match="counts of one family"):
            _ = counts - FamilyCounts.from_array(other)

    def test_only_counts_add_to_counts(self) -> None:
        counts = FamilyCounts.from_array([[1, 2]])
        for other in (1, np.ones((1, 2)), np.ones((0, 2)), [[1, 2]]):
            with pytest.raises(TypeError):
                _ = counts + other  # type: ignore[operator]
            with pytest.raises(TypeError):
                _ = other - counts  # type: ignore[operator]

    def test_equality(self) -> None:
        counts = FamilyCounts.from_array([[1, 2]])
        assert counts != [[1, 2]]
        assert counts != FamilyCounts.from_array([[1, 3]])
        assert counts != FamilyCounts.from_array([[1, 2, 0]])
        assert counts == FamilyCounts.from_array([[1.0, 2.0]])
        assert counts != FamilyCounts.from_array([[1.0, 2.5]])
        zeros = FamilyCounts.from_observed((3,), [[1], [0]], [[1, 2], [0, 0]])
        assert zeros == FamilyCounts.from_array([[0, 0], [1, 2], [0, 0]])
        # As floating-point numbers these would be the same.
        large = FamilyCounts.from_array([[2**53 + 1, 1]])
        assert large != FamilyCounts.from_array([[2.0**53, 1.0]])
        assert large != FamilyCounts.from_array([[2**53, 1]])
        with pytest.raises(TypeError, match="unhashable"):
            hash(counts)
