"""Rows found by the codes of parents, against a dictionary."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from colonnade import lookup as lookup_module
from colonnade.configurations import Configurations, sort_keys
from colonnade.lookup import Lookup, word_starts


@st.composite
def lookups(draw):
    """A lookup, and the row of every configuration."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
    states = draw(st.integers(1, 3))
    every = list(itertools.product(*(range(size) for size in sizes)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        rows = rng.random((len(every), states))
        return Lookup(sizes, rows), dict(zip(every, rows, strict=True))
    stored = [codes for codes in every if rng.random() < 0.5]
    rows, other = rng.random((len(stored), states)), rng.random(states)
    codes = np.array(stored, dtype=int).reshape(len(stored), len(sizes))
    own = dict(zip(stored, rows, strict=True))
    return Lookup(sizes, rows, codes, other), {codes: own.get(codes, other) for codes in every}


def codes_of(wanted):
    every = list(wanted)
    return np.array(every, dtype=int).reshape(len(every), len(every[0]))


@given(lookups())
def test_every_configuration_has_its_row(case):
    lookup, wanted = case
    for table in (lookup, lookup.filled(), lookup.filled(limit=0)):
        assert table.at(codes_of(wanted)).tolist() == [row.tolist() for row in wanted.values()]
    assert lookup.filled().full
    assert lookup.filled(limit=0).full == lookup.full
    doubled = lookup.mapped(lambda rows: 2 * rows)
    assert (doubled.at(codes_of(wanted)) == 2 * lookup.at(codes_of(wanted))).all()


@given(lookups(), st.data())
def test_fixing_parents_leaves_the_rows_of_the_others(case, data):
    lookup, wanted = case
    fixed = data.draw(st.sampled_from(list(wanted)))
    chosen = data.draw(st.sets(st.sampled_from(range(len(fixed))))) if fixed else set()
    rest = {
        tuple(code for k, code in enumerate(codes) if k not in chosen): row.tolist()
        for codes, row in wanted.items()
        if all(codes[k] == fixed[k] for k in chosen)
    }
    found = lookup.given({k: fixed[k] for k in chosen})
    assert found.filled().rows.tolist() == list(rest.values())


@given(lookups(), st.data())
def test_kernels_find_the_same_rows(case, data):
    from colonnade.kernels.scoring import add_sparse
    from colonnade.tables.joints import column_rows

    lookup, wanted = case
    codes = codes_of(wanted)
    state = data.draw(st.integers(0, lookup.states - 1))
    columns = [np.ascontiguousarray(column, np.uint8) for column in codes.T]
    described = column_rows(columns, lookup.parent_sizes, range(len(columns)))
    sums = np.zeros(len(codes))
    child = np.full(len(codes), state, np.uint8)
    add_sparse(described, child, 0, len(codes), *lookup.index, lookup.values, sums)
    assert sums.tolist() == [row[state] for row in wanted.values()]


@given(lookups(), st.data())
def test_padding_adds_entries_for_missing_codes(case, data):
    lookup, wanted = case
    inner = (*lookup.parent_sizes, lookup.states)
    more = [data.draw(st.booleans()) for _ in inner]
    padded = lookup.filled().padded([s + m for s, m in zip(inner, more, strict=True)], -7.0)
    for cell in np.ndindex(padded.shape):
        missing = any(code == size for code, size in zip(cell, inner, strict=True))
        assert padded[cell] == (-7.0 if missing else wanted[cell[:-1]][cell[-1]])


def test_codes_broadcast() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    sparse = Lookup((2, 3), rows[:4], codes_of(np.ndindex(2, 3))[:4], np.array([-1.0, -2.0]))
    a, b, child = np.array([0, 1]), np.array([[[0]], [[2]]]), np.array([[1], [0]])
    found = sparse.cells([a, b], child)
    assert found.shape == (2, 2, 2)
    for i, j, k in np.ndindex(2, 2, 2):
        assert found[i, j, k] == sparse.at(np.array([[a[k], b[i, 0, 0]]]))[0, child[j, 0]]
    assert Lookup((), rows[:1]).cells([], np.array([1, 0])).tolist() == [1.0, 0.0]


@given(lookups(), st.data())
def test_cells_of_rows_that_are_computed_in_parts(case, data):
    lookup, wanted = case
    assume(lookup.parent_sizes)
    asked = []

    def compute(codes):
        asked.append(len(codes))
        return np.array([wanted[tuple(row)] for row in codes.tolist()])

    computed = Lookup(lookup.parent_sizes, lookup.rows, lookup.codes, compute)
    codes = codes_of(wanted)[
        data.draw(st.lists(st.integers(0, len(wanted) - 1), min_size=1, max_size=9))
    ]
    child = np.arange(lookup.states)[:, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup_module, "_MAX_COMPUTED_CELLS", 2 * lookup.states)
        found = computed.cells(list(codes.T), child)
    each = np.array([wanted[tuple(row)] for row in codes.tolist()])
    assert found.tolist() == each.T.tolist()
    if len(codes) > 2:
        assert max(asked, default=0) <= 2
        stored = {tuple(row) for row in lookup.stored.tolist()}
        assert sum(asked) == len({tuple(row) for row in codes.tolist()} - stored)


@pytest.mark.parametrize(
    ("sizes", "starts"),
    [([], [0, 0]), ([2] * 62, [0, 62]), ([2] * 63, [0, 62, 63]), ([20] * 30, [0, 14, 28, 30])],
    ids=["no parents", "full", "one more", "three words"],
)
def test_words_hold_as_many_codes_as_fit(sizes, starts) -> None:
    assert word_starts(sizes).tolist() == starts
    assert sort_keys(np.zeros((1, len(sizes)), int), sizes).shape == (1, len(starts) - 1)


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=30),
    st.lists(st.integers(0, 60), max_size=30),
)
def test_finding_rows_whose_codes_need_several_words(stored, wanted):
    # 30 parents of 20 states need three words of 64 bits.
    sizes = (20,) * 30
    rng = np.random.default_rng(7)
    pool = rng.integers(0, 20, size=(61, 30))
    pool[1::2, :25] = pool[:-1:2, :25]  # pairs that differ in their last word only
    order = np.lexsort(pool.T[::-1])
    pool = pool[order]
    kept = sorted(set(stored))
    found = Configurations(sizes, pool[kept]).positions(pool[wanted])
    assert found.tolist() == [kept.index(k) if k in kept else -1 for k in wanted]
