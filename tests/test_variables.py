import copy
import enum
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.configurations import configuration_codes, configuration_index, sort_keys
from colonnade.exceptions import DataError, InputError
from colonnade.variables import Family, Variable

A = Variable("a", ("x", "y"))
B = Variable("b", (1, 2, 3))
C = Variable("c", (False, True))


class Colour(enum.StrEnum):
    RED = "red"


def test_states_keep_their_order_and_type() -> None:
    variable = Variable("v", [np.int64(3), np.int8(1), 2])
    assert variable.states == (3, 1, 2)
    assert [type(state) for state in variable.states] == [int, int, int]
    assert type(Variable("v", [np.bool_(True)]).states[0]) is bool
    assert type(Variable("v", [np.str_("u")]).states[0]) is str
    assert type(Variable("v", [Colour.RED]).states[0]) is str
    assert Variable("v", [Colour.RED]).index(Colour.RED) == 0
    assert Variable("v", ["1", 1]).cardinality == 2


def test_equality_looks_at_types() -> None:
    numbers, truths = Variable("v", (0, 1)), Variable("v", (False, True))
    assert numbers != truths
    assert numbers == Variable("v", [0, 1])
    assert hash(numbers) == hash(Variable("v", [0, 1]))
    assert len({numbers, truths}) == 2
    assert numbers != Variable("w", (0, 1))
    assert numbers != Variable("v", (1, 0))
    assert numbers != "v"


@pytest.mark.parametrize("state", [True, 1.5, "1", None, [1], np.True_, float("nan")])
def test_index_of_what_is_no_state(state: object) -> None:
    with pytest.raises(DataError, match=r"Variable 'b': state .* is not one of 1, 2, 3"):
        B.index(state)


def test_index_of_a_whole_float() -> None:
    assert B.index(2.0) == B.index(np.float64(2)) == 1
    with pytest.raises(DataError):
        Variable("t", (False, True)).index(1.0)


def test_index() -> None:
    assert [B.index(state) for state in (1, np.int64(2), np.uint8(3))] == [0, 1, 2]
    assert [C.index(state) for state in (False, np.True_)] == [0, 1]
    with pytest.raises(DataError) as caught:
        A.index("z")
    assert vars(caught.value)["variable"] == "a"
    assert vars(caught.value)["state"] == "z"
    assert vars(caught.value)["allowed"] == ("x", "y")
    with pytest.raises(DataError, match="90 more"):
        Variable("many", range(100)).index(100)


@pytest.mark.parametrize(
    ("name", "states", "message"),
    [
        ("", "ab", "non-empty string"),
        (3, ["a"], "non-empty string"),
        ("v", [], "at least one state"),
        ("v", "ab", "a sequence of states"),
        ("v", b"ab", "a sequence of states"),
        ("v", 3, "a sequence of states"),
        ("v", ["a", "a"], r"different states .* remove 'a'"),
        ("v", [0, True], "either booleans or integers"),
        ("v", [1, True], "either booleans or integers"),
        ("v", [0.5, 1.5], "cut the numbers into intervals"),
        ("v", ["a", None], "a missing value is not a state"),
        ("v", ["a", float("nan")], "strings, integers or booleans"),
        ("v", [("a",)], "strings, integers or booleans"),
        ("v", [["a"]], "strings, integers or booleans"),
        ("v", [np.datetime64("2020-01-01")], "strings, integers or booleans"),
    ],
)
def test_bad_variables(name: object, states: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Variable(name, states)  # type: ignore[arg-type]


def test_frozen_and_copyable() -> None:
    with pytest.raises(AttributeError):
        A.name = "other"  # type: ignore[misc]
    family = Family(A, [B, C])
    assert pickle.loads(pickle.dumps(family)) == family
    assert copy.deepcopy(family) == family
    assert pickle.loads(pickle.dumps(C)).index(True) == 1
    assert repr(A) == "Variable(name='a', states=('x', 'y'))"


def test_family() -> None:
    family = Family(A, (B, C))
    assert (family.cardinality, family.parent_sizes, family.configurations) == (2, (3, 2), 6)
    listed = [(b, c) for b in B.states for c in C.states]  # the last parent is the fastest
    assert [family.configuration(i) for i in range(6)] == listed
    assert [family.configuration_index(states) for states in listed] == list(range(6))
    assert family.configuration_index({"c": True, "b": 3}) == 5
    assert family.configuration_index([np.int64(3), np.True_]) == 5
    assert (Family(A).configurations, Family(A).configuration_index(())) == (1, 0)
    assert Family(A, (B, C)) == Family(A, [B, C]) != Family(A, (C, B))
    assert len({Family(A, (B,)), Family(A, (B,))}) == 1


def test_more_configurations_than_64_bits() -> None:
    parents = [Variable(f"p{i}", range(20)) for i in range(30)]
    family = Family(A, parents)
    assert family.configurations == 20**30
    last = family.configuration(20**30 - 1)
    assert last == (19,) * 30
    assert family.configuration_index(last) == 20**30 - 1


@pytest.mark.parametrize(
    ("child", "parents", "message"),
    [
        ("a", (), "a Variable for `child`"),
        (A, B, "a sequence of Variable"),
        (A, 3, "a sequence of Variable"),
        (A, ["b"], "only Variable objects"),
        (A, [B, Variable("b", (0, 1))], "different names"),
        (A, [Variable("a", (0, 1))], "different names"),
    ],
)
def test_bad_families(child: object, parents: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Family(child, parents)  # type: ignore[arg-type]


@pytest.mark.parametrize("states", [(), (1,), (1, True, 1), "xy", {"b": 1}, {"b": 1, "d": 2}, 3])
def test_wrong_number_of_parent_states(states: object) -> None:
    with pytest.raises(InputError, match=r"one state for each of 'b', 'c'"):
        Family(A, (B, C)).configuration_index(states)  # type: ignore[arg-type]


@pytest.mark.parametrize("index", [-1, 6, 1.5, "1", None])
def test_wrong_configuration(index: object) -> None:
    with pytest.raises(InputError, match="`configuration`"):
        Family(A, (B, C)).configuration(index)  # type: ignore[arg-type]


sizes_and_codes = st.lists(st.integers(1, 10**6), max_size=12).flatmap(
    lambda sizes: st.tuples(
        st.just(tuple(sizes)),
        st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=9),
    )
)


@given(sizes_and_codes)
def test_codes_and_positions_are_one_to_one(case: tuple) -> None:
    sizes, rows = case
    for codes in rows:
        index = configuration_index(codes, sizes)
        assert 0 <= index < math.prod(sizes)
        assert configuration_codes(index, sizes) == codes


@given(sizes_and_codes)
def test_sort_keys_order_rows_as_their_positions(case: tuple) -> None:
    sizes, rows = case
    keys = sort_keys(np.array(rows, dtype=np.int64).reshape(len(rows), len(sizes)), sizes)
    assert keys.min() >= 0
    by_keys = sorted(range(len(rows)), key=lambda row: tuple(keys[row].tolist()))
    positions = [configuration_index(codes, sizes) for codes in rows]
    assert [positions[row] for row in by_keys] == sorted(positions)
    assert len({tuple(key) for key in keys.tolist()}) == len(set(positions))
    if math.prod(sizes) < 2**63:
        assert keys.ravel().tolist() == positions
