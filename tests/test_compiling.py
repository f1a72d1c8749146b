"""The short cuts of the compiler: compiled kernels do what Python does, and keep no memory."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from colonnade.kernels.compiled import entry, part

ENDS = [-9, -4, -1, 0, 1, 3, 4, 9]


@entry
def up(start, stop, out):
    found = -1
    for i in range(start, stop):
        out[i - start] = i
        found = i
    return found


@entry
def steps(start, stop, out):
    n = 0
    for i in range(start, stop, 3):
        out[n] = i
        n += 1
    for i in range(start, stop, -2):
        out[n] = i
        n += 1
    for i in range(stop):
        if i == 2:
            continue
        if i == 5:
            break
        out[n] = i
        n += 1
    return n


@entry
def any_steps(start, stop, step):
    total = 0
    for i in range(start, stop, step):
        total = 10 * total + i
    return total


@pytest.mark.parametrize(("start", "stop"), list(itertools.product(ENDS, ENDS)))
def test_ranges(start, stop):
    for kernel in (up, steps):
        out, expected = np.zeros(40, int), np.zeros(40, int)
        assert kernel(start, stop, out) == kernel.py_func(start, stop, expected)
        assert out.tolist() == expected.tolist()
    for step in (-3, -1, 2):
        assert any_steps(start, stop, step) == any_steps.py_func(start, stop, step)


@entry
def stretch(values, start, stop, out):
    view = values[start:stop]
    head, tail = values[:stop], values[start:]
    for k in range(view.size):
        out[0] += (k + 1) * view[k]
    for k in range(len(head)):
        out[1] += (k + 1) * head[k]
    for k in range(tail.shape[0]):
        out[2] += (k + 1) * tail[k]
    out[3] = view.size
    return out[0]


@entry
def boxes(values, i, start, stop, out):
    plane, rows = values[i], values[i, start:stop]
    line, column = values[i, 1], values[start:stop, 1, i]
    deep = rows[:, 1:]
    for k in range(column.size):
        out[0] += column[k]
    for k in range(line.size):
        out[1] += line[k] * plane[-1, k]
    for r in range(deep.shape[0]):
        for c in range(deep.shape[1]):
            out[2] += (10 * r + c) * deep[r, c]
            deep[r, c] = -1.0
    return plane.size + 100.0 * deep.size


@pytest.mark.parametrize(("start", "stop"), list(itertools.product(ENDS, ENDS)))
def test_views(start, stop):
    values = np.arange(1.0, 5.0)
    out, expected = np.zeros(4), np.zeros(4)
    assert stretch(values, start, stop, out) == stretch.py_func(values, start, stop, expected)
    assert out.tolist() == expected.tolist()
    for i in (0, 2, -1):
        box = np.arange(60.0).reshape(4, 5, 3)
        other = box.copy()
        out, expected = np.zeros(3), np.zeros(3)
        found = boxes(box, i, start, stop, out)
        assert found == boxes.py_func(other, i, start, stop, expected)
        assert out.tolist() == expected.tolist()
        assert box.tolist() == other.tolist()


@entry
def outer(a, b, i, j, out):
    out[0], out[1] = max(a, b), min(a, b)
    out[2], out[3] = max(i, j), min(i, j)
    out[4], out[5] = max(i, 2), min(a, 0.5)


NUMBERS = [-1.5, 0.0, 2.0, math.inf, math.nan]


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMBERS, NUMBERS)))
def test_the_larger_and_the_smaller(a, b):
    out, expected = np.zeros(6), np.zeros(6)
    outer(a, b, 3, -4, out)
    outer.py_func(a, b, 3, -4, expected)
    np.testing.assert_array_equal(out, expected)


@entry
def whole(value):
    return int(value)


@pytest.mark.parametrize("value", [-2.7, -0.5, 0.0, 0.99, 1e15 + 0.5])
def test_the_whole_part(value):
    assert whole(value) == int(value)


@part
def made(n, value):
    """Arrays of all kinds, of which some are dropped."""
    dropped = np.empty((n, 2))
    dropped[:, 0] = value
    table = np.full((n, 3), value)
    return table, np.ones(n), np.zeros(n, np.int64)


@part
def handed_on(values, other, which):
    """One of two arguments: it belongs to the caller."""
    chosen = values
    if which:
        chosen = other
    return chosen


@entry
def owned(values, n, rounds):
    kept = np.zeros(n)
    for r in range(rounds):
        table, ones, counts = made(n, float(r))
        row = table[r % n]
        kept = handed_on(kept, ones, r % 2 == 1)
        both = (kept, row)
        for k in range(n):
            counts[k] += r
            kept[k] += both[1][k % 3] + counts[k] + values[k]
    view = kept[1:]
    return view, kept


def expected_of_owned(values, n, rounds):
    kept = np.zeros(n)
    for r in range(rounds):
        kept = np.ones(n) if r % 2 == 1 else kept
        kept += 2.0 * r + values
    return kept


@pytest.fixture
def _counted_allocations():
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.mark.usefixtures("_counted_allocations")
def test_arrays_that_kernels_make_are_dropped_once():
    values = np.arange(5.0)
    owned(values, 5, 3)
    references, before = sys.getrefcount(values), rtsys.get_allocation_stats()
    for rounds in (0, 1, 2, 7):
        view, kept = owned(values, 5, rounds)
        assert kept.tolist() == expected_of_owned(values, 5, rounds).tolist()
        assert view.tolist() == kept[1:].tolist()
        assert np.shares_memory(view, kept)
        del view, kept
    after = rtsys.get_allocation_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free
    assert sys.getrefcount(values) == references


@part
def held(values, n, early):
    """What is made here stays until one of the returns."""
    table, pair = np.zeros((3, n)), (np.ones(n), np.full(n, 2.0))
    _, ones, counts = made(n, 5.0)
    for row in range(3):
        view = table[row]
        for k in range(n):
            view[k] += row * values[k] + pair[row % 2][k]
        chosen = pair[0] if row else view[1:]
        chosen[0] += 1.0
    if early:
        return table[0, 1]
    total = 0.0
    for k in range(n):
        total += table[2, k] + pair[0][k] + ones[k] + counts[k]
    return total


def expected_of_held(values, n, early):
    # The first number of ones becomes three, but for the third row only two.
    return 2.0 if early else 2.0 * values.sum() + (n + 1) + (n + 2) + n


@part
def made_anew(values, n, rounds):
    """What is made here goes before the function returns: in a loop, or a variable's second."""
    kept = np.ones(n)
    for r in range(rounds):
        other = np.full(n, float(r))
        for k in range(n):
            other[k] += kept[k] + values[k]
        kept = other
    if rounds > 1:
        last = np.zeros(n)
        last[1] = kept[1]
        kept = last
    return kept[1]


def expected_of_made_anew(rounds, values):
    return 1.0 + sum(range(rounds)) + rounds * values[1]


@entry
def held_and_made_anew(values, n, rounds):
    first = held(values, n, rounds == 1)
    return first + 1000.0 * made_anew(values, n, rounds)


@pytest.mark.usefixtures("_counted_allocations")
def test_arrays_that_stay_are_dropped_when_their_function_returns():
    values = np.arange(5.0)
    held_and_made_anew(values, 5, 3)
    references, before = sys.getrefcount(values), rtsys.get_allocation_stats()
    for rounds in (0, 1, 2, 7):
        first = expected_of_held(values, 5, rounds == 1)
        second = expected_of_made_anew(rounds, values)
        assert held_and_made_anew(values, 5, rounds) == first + 1000.0 * second
    after = rtsys.get_allocation_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free
    assert sys.getrefcount(values) == references


@entry
def huge(n):
    return np.empty((n, n)).size


def test_an_array_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="array is too big"):
        huge(2**40)
    with pytest.raises(MemoryError):
        huge(2**29)


# ------------------------------------------------------------------ kernels that are on disk

OF_A_USER = """
import numpy as np
from colonnade.kernels.compiled import entry, part

def compiled():
    return sum(each.stats.cache_misses.total() for each in (inner, outer, huge))

@part
def scaled(values, factor):
    return np.full(values.size, factor) * values[0]

@entry
def inner(values):
    total = 0.0
    for k in range(values.size):
        total += values[k]
    return total

@entry
def outer(values, n):
    made = np.zeros(n)
    for k in range(n):
        made[k] = inner(values) + scaled(values, 2.0)[k % values.size]
    return made, made[1:]

@entry
def huge(n):
    return np.empty((n, n)).size
"""
USE = """
import json, sys
from kernels_of_a_user import *
values = np.arange(1.0, 5.0)
made, rest = outer(values, 3)
try:
    huge(2**40)
except ValueError as error:
    said = str(error)
print(json.dumps([inner(values), made.tolist(), rest.tolist(), said, compiled()]))
"""
USED = [10.0, [12.0, 12.0, 12.0], [12.0, 12.0]]
COMPILING = {"numba.np.arraymath", "scipy.linalg", "colonnade.kernels.linking"}


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Runs code in a process of its own, which finds what earlier ones compiled."""
    (tmp_path / "kernels_of_a_user.py").write_text(OF_A_USER, encoding="utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    places = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(places)

    def run(code):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def used(found, compiled):
    """That a run gave what it should, and compiled so many kernels."""
    assert found[:3] == USED
    assert "array is too big" in found[3]
    assert found[4] == compiled


POSTERIOR = """
import json, sys
import colonnade as cn
posterior = cn.Hierarchical().posterior([[12, 3, 0], [2, 5, 1], [0, 4, 9], [7, 0, 2]])
found = [posterior.mean.tolist(), posterior.interval().lower.tolist()]
found += [posterior.sample(2, rng=1).tolist(), posterior.log_evidence]
print(json.dumps([found, list(sys.modules)]))
"""


def test_loading_kernels_imports_nothing_to_compile_with(fresh):
    first, loaded = fresh(POSTERIOR)
    assert set(loaded) >= COMPILING
    later, loaded = fresh(POSTERIOR)
    assert later == first
    assert not set(loaded) & COMPILING
    # What a posterior needs neither, although rooms that it uses offer it.
    assert not set(loaded) & {"narwhals", "colonnade.tables.files", "colonnade.priors.noisy"}


def test_kernels_are_loaded_as_they_were_compiled(fresh):
    used(fresh(USE), compiled=3)
    used(fresh(USE), compiled=0)


def test_a_kernel_is_compiled_with_one_that_was_loaded(fresh, tmp_path):
    fresh(USE)
    for file in (tmp_path / "cache").rglob("*outer*"):
        file.unlink()
    used(fresh(USE), compiled=1)
    # Types that were not asked for before.
    other = "print(json.dumps([inner(values), inner(np.arange(4)), inner(values), compiled()]))"
    assert fresh(f"{USE.partition('made')[0]}{other}") == [10.0, 6.0, 10.0, 1]


@pytest.mark.parametrize("damage", ["empty", "half", "other"])
@pytest.mark.parametrize("kind", ["nbc", "nbi"])
def test_damaged_files_are_compiled_anew(kind, damage, fresh, tmp_path):
    fresh(USE)
    files = list((tmp_path / "cache").rglob(f"*outer*.{kind}"))
    assert files
    for file in files:
        whole = file.read_bytes()
        contents = {"empty": b"", "half": whole[: len(whole) // 2], "other": b"\x80\x05other."}
        file.write_bytes(contents[damage])
    used(fresh(USE), compiled=1)
    used(fresh(USE), compiled=0)


@pytest.mark.parametrize("order", ["before", "after"])
def test_kernels_of_a_user_do_what_they_did(order, fresh):
    fresh(USE)
    own = """
import numba, numpy as np
@numba.njit
def product(a):
    return np.dot(a, a.T).sum() + np.sort(a.ravel())[0]
whole = np.arange(6.0).reshape(2, 3)
assert product(whole) == (whole @ whole.T).sum()
# An entry that was loaded, called by a function that Numba compiles as usual.
from kernels_of_a_user import inner
assert numba.njit(lambda a: inner(a) + 1.0)(np.ones(3)) == 4.0
"""
    used(fresh(own + USE if order == "before" else USE + own), compiled=0)


def test_kernels_are_loaded_from_several_threads_at_once(fresh):
    fresh(USE)
    threads = """
import json
from concurrent.futures import ThreadPoolExecutor
from kernels_of_a_user import *
values = np.arange(1.0, 5.0)
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(lambda n: [inner(values), outer(values, n)[0].size], range(1, 33)))
print(json.dumps([found, compiled()]))
"""
    assert fresh(threads) == [[[10.0, n] for n in range(1, 33)], 0]


def test_a_kernel_can_be_pickled_and_compiled_again(fresh):
    code = """
import json, pickle
from kernels_of_a_user import *
values = np.arange(1.0, 5.0)
found = [inner(values), pickle.loads(pickle.dumps(inner)) is inner]
inner.recompile()
print(json.dumps([*found, inner(values), compiled()]))
"""
    assert fresh(code) == [10.0, True, 10.0, 2]
    assert fresh(code) == [10.0, True, 10.0, 1]


def test_an_interrupt_waits_for_a_kernel_that_is_loaded(fresh):
    fresh(USE)
    code = """
import json, os, signal
from numba.core.codegen import JITCodeLibrary
from kernels_of_a_user import *
kept, strikes = JITCodeLibrary._object_getbuffer_hook, [signal.SIGINT]
def strike(library):
    # Here LLVM calls Python, and drops what is raised.
    if strikes:
        os.kill(os.getpid(), strikes.pop())
    return kept(library)
values, struck = np.arange(1.0, 5.0), False
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
rtsys.initialize(cpu_target.target_context)
cpu_target.target_context.codegen()._engine._ee._object_cache_getbuffer = strike
try:
    inner(values)
except KeyboardInterrupt:
    struck = True
print(json.dumps([struck, inner(values), compiled()]))
"""
    assert fresh(code) == [True, 10.0, 0]
