"""Memory for the tables of forests: blocks that are used again, but never while they are in use."""

# ruff: noqa: N806 (scikit-learn calls the features X)

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import colonnade as cn
from colonnade.pooling import shelf


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(shelf, "_kept", {})


def address(array):
    return array.__array_interface__["data"][0]


def test_arrays_of_a_shelf_are_parts_of_a_block_that_do_not_overlap():
    own = shelf.Shelf(4)
    arrays = [own.take(size) for size in (100, 90, 110, 400)]
    assert [len(array) for array in arrays] == [100, 90, 110, 400]
    for value, array in enumerate(arrays):
        array[:] = value
    assert all((array == value).all() for value, array in enumerate(arrays))
    assert address(arrays[1]) == address(arrays[0]) + 100 * 8


def test_a_block_is_used_again_when_its_last_array_is_gone():
    own = shelf.Shelf(2)
    first, second = own.take(100), own.take(100)
    place = address(first)
    del own, first
    assert not shelf._kept
    part = second[50:]
    del second
    assert not shelf._kept
    del part
    assert address(shelf.Shelf(2).take(100)) == place


def test_a_block_in_use_is_not_given_again():
    place = address(shelf.Shelf(1).take(100))
    known = shelf.Shelf(1).take(100)
    assert address(known) == place
    assert address(shelf.Shelf(1).take(100)) != place


def test_no_block_that_is_too_small_or_much_too_large_is_taken():
    place = address(shelf.Shelf(1).take(1000))
    assert len(shelf._kept) == 1
    others = [shelf.Shelf(1).take(size) for size in (1001, 249)]
    assert place not in map(address, others)
    assert address(shelf.Shelf(1).take(250)) == place


def test_a_block_that_is_left_when_python_ends_needs_no_names_of_the_module(monkeypatch):
    loan = shelf._Loan(np.empty(100))
    monkeypatch.setattr(shelf, "_kept", None)
    loan.__del__(lambda: True)
    monkeypatch.setattr(shelf, "_kept", {})


def test_no_more_than_the_limit_is_kept(monkeypatch):
    monkeypatch.setattr(shelf, "_MOST_KEPT", 250)
    arrays = [shelf.Shelf(1).take(100) for _ in range(3)]
    del arrays
    assert sum(map(len, shelf._kept.values())) == 200


def labelled():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 5)).astype(float)
    return X, (X.sum(axis=1) > 5).astype(int)


def test_a_forest_is_gone_with_its_last_name_whatever_was_asked_of_it():
    X, y = labelled()
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    model = cn.BayesianNetworkForest(2, bins=2, random_state=0).fit(X, y)
    model.predict_proba(gaps)
    tables = weakref.ref(model._forest.members[0].tables)
    gc.disable()
    try:
        del model
        assert tables() is None
        assert shelf._kept
    finally:
        gc.enable()


def test_forests_in_memory_of_others_are_the_same():
    X, y = labelled()
    options = {"bins": 2, "random_state": 0}
    wanted = cn.BayesianNetworkForest(4, **options).fit(X, y)
    chances = wanted.predict_proba(X)
    for rows in (slice(0, 150), slice(20, 200)):
        cn.BayesianNetworkForest(4, **options).fit(X[rows], y[rows])
    assert shelf._kept
    again = cn.BayesianNetworkForest(4, **options).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), chances)
    np.testing.assert_array_equal(wanted.predict_proba(X), chances)
