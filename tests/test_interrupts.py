"""Ctrl-C at any moment: exit code 130, one line, and no file; a request to terminate likewise."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

# Runs `python -m colonnade ...`, and signals itself at one moment.
STARTER = """
import os, runpy, signal, sys

moment, number, sys.argv[1:] = sys.argv[1], getattr(signal, sys.argv[2]), sys.argv[3:]

def strike(*_):
    os.kill(os.getpid(), number)

def before(owner, name):
    kept = getattr(owner, name)
    def struck(*args, **options):
        strike()
        return kept(*args, **options)
    setattr(owner, name, struck)

class OnImport:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            strike()

if moment == "compile":
    from numba.core.dispatcher import Dispatcher
    before(Dispatcher, "compile")
elif moment == "write":
    before(os, "fsync")
elif moment == "last name":
    kept, names = os.replace, []
    def replaced(source, target):
        if os.path.basename(target) in ("model.json", "page.html"):
            names.append(target)
            if len(names) == 2:
                strike()
        return kept(source, target)
    os.replace = replaced
else:
    sys.meta_path.insert(0, OnImport())
runpy.run_module("colonnade", run_name="__main__", alter_sys=True)
"""
IMPORTS = ["colonnade.cli", "typer", "numpy", "numba", "colonnade.network", "colonnade.files"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = ["a,b,c"] + ["x,y,x" if k % 3 else "y,x,x" for k in range(60)] + ["x,x,y"]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def fitted(
    folder: Path, moment: str, number: str = "SIGINT", more: str = "--learn hc"
) -> subprocess.CompletedProcess[str]:
    """Fit a network, struck at a moment, and look that nothing was left behind."""
    command = [sys.executable, "-c", STARTER, moment, number]
    command += ["fit", "data.csv", "-o", "model.json", *more.split()]
    environment = dict(os.environ)
    if moment == "compile":
        environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    left = {path.name for path in folder.iterdir()} - {"cache"}
    assert left == {"data.csv"}
    return ended


@pytest.mark.skipif(os.name == "nt", reason="signals to itself end a process on Windows")
@pytest.mark.parametrize("moment", [*IMPORTS, "compile", "write"])
def test_an_interrupt_ends_the_command_line(data, moment):
    ended = fitted(data, moment)
    assert (ended.returncode, ended.stderr) == (130, "Interrupted.\n")
    assert "Saved" not in ended.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals to itself end a process on Windows")
@pytest.mark.parametrize("more", ["--learn hc", "--learn forest --target c"])
@pytest.mark.parametrize("moment", ["jinja2", "last name"])
def test_a_model_is_not_left_without_its_page(data, moment, more):
    ended = fitted(data, moment, more=f"{more} --report page.html")
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (130, "Interrupted.")
    assert "Saved" not in ended.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals to itself end a process on Windows")
@pytest.mark.parametrize("moment", ["numpy", "write"])
def test_a_request_to_terminate_leaves_no_half_file(data, moment):
    ended = fitted(data, moment, "SIGTERM")
    assert (ended.returncode, ended.stderr) == (143, "")


# ------------------------------------------------------------------------ in Python

# An interrupt in the middle of an import of Numba, or when LLVM calls Python, which drops what is
# raised there.
TWICE = """
import os, signal, sys
import numpy as np

struck = []

def strike():
    if not struck:
        struck.append(True)
        os.kill(os.getpid(), signal.SIGINT)

class OnImport:
    def find_spec(self, name, path=None, target=None):
        if name == "numba.core.types.misc":
            strike()

if sys.argv[1] == "import":
    sys.meta_path.insert(0, OnImport())
else:
    from numba.core.registry import cpu_target
    engine = cpu_target.target_context.codegen()._engine._ee
    kept = engine._object_cache_notify
    def notify(module, buffer):
        if "take_logs" in module.name:
            strike()
        kept(module, buffer)
    engine._object_cache_notify = notify

def work():
    from colonnade.kernels.special import take_logs
    values = np.array([1.0, 2.0])
    take_logs(values)
    return values

try:
    work()
except KeyboardInterrupt:
    assert struck
    print(work()[1], signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize("moment", ["import", "compile"])
def test_what_was_interrupted_can_be_done_again(moment: str, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", TWICE, moment]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    number, handled = ended.stdout.split()
    assert float(number) == pytest.approx(0.6931471805599453)
    assert handled == "True"


def test_a_second_interrupt_is_not_held_back() -> None:
    import signal

    from colonnade.interrupts import Held

    # Python calls handlers when it comes to it, and once for signals that come together.
    with Held() as held:
        signal.raise_signal(signal.SIGINT)
        while not held._came:
            time.sleep(0.001)
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            signal.raise_signal(signal.SIGINT)
            time.sleep(5.0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# An interrupt while the first name that is asked for imports NumPy.
FIRST = """
import os, signal, sys

class OnImport:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy.matrixlib":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, OnImport())
import colonnade

try:
    colonnade.Hierarchical
except KeyboardInterrupt:
    print(colonnade.Hierarchical().posterior([[3, 1]]).mean.shape)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals to itself end a process on Windows")
def test_an_interrupt_waits_for_the_first_import() -> None:
    ended = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "(1, 2)\n"), ended.stderr
