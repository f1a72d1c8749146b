"""What `import colonnade` costs and offers."""

import ast
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import colonnade

SOURCE = Path(colonnade.__file__).read_text(encoding="utf-8")
HEAVY = {
    *("duckdb", "jax", "matplotlib", "narwhals", "numba", "numpy", "numpyro", "pandas", "polars"),
    *("pyagrum", "pyarrow", "rich", "scipy", "sklearn", "typer"),
}


def test_import_loads_no_heavy_package() -> None:
    code = "import sys; import colonnade; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "colonnade" in loaded
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


def test_counts_need_only_numpy() -> None:
    code = "import sys; from colonnade import FamilyCounts, Family; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {name.split(".")[0] for name in loaded} & HEAVY == {"numpy"}


@pytest.mark.parametrize("name", colonnade.__all__)
def test_every_public_name_loads(name: str) -> None:
    value = getattr(colonnade, name)
    home = colonnade._HOMES.get(name, "")
    if isinstance(value, ModuleType):
        assert value.__name__ == f"colonnade.{name}"
    elif home:
        assert value.__name__ == name
        assert value.__module__.startswith(home)
        # What type checkers are told is what is loaded.
        assert (home, name) in declared()
    assert name in dir(colonnade)
    assert not {"Any", "TYPE_CHECKING", "annotations"} & set(dir(colonnade))


def declared() -> set[tuple[str, str]]:
    """Where the block for type checkers takes each name from."""
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    lines = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    # Only a name that is imported as itself is public for them.
    assert all(alias.asname == alias.name for line in lines for alias in line.names)
    return {(line.module or "", alias.name) for line in lines for alias in line.names}


def test_type_checkers_are_told_every_name_and_no_other() -> None:
    homes = {*colonnade._HOMES.items(), *((name, "colonnade") for name in colonnade._MODULES)}
    assert declared() == {(home, name) for name, home in homes}
    assert len(colonnade.__all__) == len(set(colonnade.__all__))


@pytest.mark.parametrize("name", ["exceptions", "files", "priors", "structure", "tables", "theory"])
def test_modules_are_reached_through_the_package(name: str) -> None:
    code = f"import colonnade; print(colonnade.{name}.__name__)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout == f"colonnade.{name}\n", printed.stderr


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Columns'"):
        _ = colonnade.Columns  # type: ignore[attr-defined]


def test_version_is_the_installed_one() -> None:
    assert version("colonnade") == colonnade.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", colonnade.__version__)
