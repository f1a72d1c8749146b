"""Compiling ahead, what is said while compiling, and compiled code of another version on disk."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import pty
import shutil
import subprocess
import sys
from math import lgamma
from pathlib import Path

import pytest

import colonnade
from colonnade import kernels
from colonnade.warm import STEPS, quietly
from command_line import run as run_command

PACKAGE = Path(colonnade.__file__).parent
POSTERIOR = (
    "import colonnade as cn; print(cn.Hierarchical().posterior([[2, 0], [3, 1]]).mean[0, 0])"
)


def entries():
    for module in pkgutil.iter_modules(kernels.__path__, "colonnade.kernels."):
        for name, value in vars(importlib.import_module(module.name)).items():
            options = getattr(value, "targetoptions", {"no_cpython_wrapper": True})
            if not options.get("no_cpython_wrapper") and value.py_func.__module__ == module.name:
                yield f"{module.name}.{name}", value


def test_every_kernel_is_compiled_ahead() -> None:
    with quietly():
        for step in STEPS.values():
            step()
    assert [name for name, kernel in entries() if not kernel.signatures] == []


def test_searches_are_compiled_ahead_for_codes_of_two_bytes() -> None:
    from colonnade.kernels.additions import _fill_sums

    with quietly():
        STEPS["learning graphs"]()
    kinds = {str(array.dtype) for signature in _fill_sums.signatures for array in signature[4:5]}
    assert {"uint8", "uint16"} <= kinds


def test_no_kernel_takes_an_object_of_the_package() -> None:
    """An index on disk is unpickled before anything about it is checked."""
    for name, kernel in entries():
        for signature in kernel.signatures:
            assert "colonnade" not in "".join(map(repr, signature)), name
            assert not any("NamedTuple" in type(each).__name__ for each in signature), name


def run(code: str, source: Path, cache: Path | str, **more: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache), **more}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def copied(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "colonnade", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


CONSTANT = """
import numpy as np
from colonnade.kernels.special import row_constant
print(row_constant(np.array([3.0]), np.array([1.0]), 2.0))
"""


def test_compiled_code_of_another_version_is_not_used(tmp_path: Path) -> None:
    source, cache = copied(tmp_path / "source"), tmp_path / "cache"
    before = run(CONSTANT, source, cache)
    # The file of the kernel stays as it is; a part that it calls changes.
    text = (source / "colonnade/kernels/special.py").read_text(encoding="utf-8")
    (source / "colonnade/kernels/parts.py").write_text(text, encoding="utf-8")
    moved = text[: text.index("@entry\ndef row_constant")]
    kernel = text[text.index("@entry\ndef row_constant") :]
    header = "from colonnade.kernels.compiled import entry\n"
    (source / "colonnade/kernels/parts.py").write_text(moved, encoding="utf-8")
    (source / "colonnade/kernels/special.py").write_text(
        f"{header}from colonnade.kernels.parts import *\n\n\n{kernel}", encoding="utf-8"
    )
    assert run(CONSTANT, source, cache) == before
    changed = moved.replace("return log_rise(large, small)", "return 1.0 + log_rise(large, small)")
    assert changed != moved
    (source / "colonnade/kernels/parts.py").write_text(changed, encoding="utf-8")
    assert float(run(CONSTANT, source, cache)) == pytest.approx(float(before) + 1.0)


def test_a_class_may_be_moved(tmp_path: Path) -> None:
    source, cache = copied(tmp_path / "source"), tmp_path / "cache"
    before = run(POSTERIOR, source, cache)
    for path in (source / "colonnade").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "States" in text:
            path.write_text(text.replace("States", "Tallied"), encoding="utf-8")
    assert run(POSTERIOR, source, cache) == before


def said_on_terminal(cache: Path | str, **more: str) -> str:
    """What a first posterior writes to standard error, if that is a terminal."""
    inside, outside = pty.openpty()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **more}
    with subprocess.Popen(
        [sys.executable, "-c", SLOWLY + POSTERIOR],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=outside,
    ) as process:
        process.wait()
    os.close(outside)
    try:
        return os.read(inside, 10_000).decode()
    except OSError:
        return ""
    finally:
        os.close(inside)


# As if compiling took more than a second, whatever the machine.
SLOWLY = "from colonnade.kernels import notice; notice._SECONDS_BEFORE_SAID = 0.0\n"


def test_compiling_is_said_once_on_a_terminal(tmp_path: Path) -> None:
    said = said_on_terminal(tmp_path)
    assert said.count("Colonnade compiles") == said.count("\n") == 1
    assert "this happens once" in said
    assert said_on_terminal(tmp_path) == ""


def test_compiling_is_not_said_if_not_wanted(tmp_path: Path) -> None:
    assert said_on_terminal(tmp_path, COLONNADE_QUIET="1") == ""


UNWRITABLE = """
from numba.core import caching
for kind in caching.CacheImpl._locator_classes:
    kind.from_function = classmethod(lambda *_: None)
"""


def test_a_machine_that_keeps_nothing_computes_and_says_so(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SLOWLY", UNWRITABLE + SLOWLY)
    said = said_on_terminal(tmp_path)
    assert "no folder for compiled code can be written" in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


# The version that is installed, and one that nobody has tested.
VERSIONS = pytest.mark.parametrize(("version", "linked"), [("", True), ("99.0.0", False)])
# A kernel that calls parts which call parts, a part called from Python, and by a function that
# Numba compiles as usual.
KERNELS = """
import json, sys, numba
numba.__version__ = {version!r} or numba.__version__
from colonnade.kernels import special
found = [special.minus_log_beta(0.25, 3.0)]
try:
    special.log_rise(0.25, 3.0)
except TypeError as error:
    found.append(str(error))
rise = numba.njit(lambda z, d: special.log_rise(z, d))
found += [rise(0.25, 3.0), "colonnade.kernels.linking" in sys.modules]
print(json.dumps(found))
"""


@VERSIONS
def test_kernels_are_the_same_in_versions_that_linking_does_not_know(
    version, linked, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", KERNELS.format(version=version)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    beta, said, rise, used = json.loads(ran.stdout)
    assert beta == pytest.approx(lgamma(3.25) - lgamma(0.25) - lgamma(3.0), abs=1e-14)
    assert rise == pytest.approx(lgamma(3.25) - lgamma(0.25), abs=1e-14)
    assert "`log_rise` is a part of kernels" in said
    assert used == linked


def test_nothing_is_compiled_ahead_where_nothing_can_be_kept(monkeypatch) -> None:
    from colonnade.kernels.compiled import notice

    monkeypatch.setattr(notice, "cannot_keep", True)
    told = run_command("warm", code=1).stderr
    assert "No folder for compiled code can be written" in told
    assert "set NUMBA_CACHE_DIR" in told
