"""The walls of the house: who may import whom, read from the source."""

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SOURCE = ROOT / "src" / "colonnade"

# From the ground up. A room may import the rooms in the lines above its own, never one beside it.
LAYERS: list[set[str]] = [
    {"wording", "arrays", "docstrings"},
    {"exceptions"},
    {"configurations", "progress", "randomness", "threads", "interrupts", "markup", "gum"},
    {"variables", "kernels"},
    {"lookup", "elimination"},
    {"counts", "sparse"},
    {"pooling", "tables", "theory"},
    {"priors"},
    {"dag"},
    {"cpt", "missing", "layout"},
    {"network"},
    {"inference", "structure", "files"},
    {"classifier"},
    {"report"},
    {"studies", "explore"},
    {"demo", "warm"},
    {"cli"},
    {"__main__"},
]
# A network answers questions and saves itself, and results draw themselves: these methods load the
# room above only when called.
SHORTCUTS = {
    "network": {"inference", "files", "report"},
    **{room: {"report"} for room in ("dag", "priors", "cpt", "structure")},
}
HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}

EVERYWHERE = {"numpy", "scipy"}
# Packages that only some rooms (or modules, as "room.module") may import.
ONLY_IN: dict[str, set[str]] = {
    "narwhals": {"tables"},
    "pandas": {"tables"},
    "polars": {"tables"},
    "pyarrow": {"tables"},
    "duckdb": {"tables"},
    "dask": {"tables.engines"},
    "ibis": {"tables.engines"},
    "pyspark": {"tables.engines"},
    "openpyxl": {"tables.sheets"},
    "pyreadstat": {"tables.packages"},
    "zstandard": {"tables.opening"},
    "networkx": {"dag"},
    "arviz": {"priors.posterior"},
    "rich": {"cli", "demo", "progress"},
    "pyagrum": {"gum"},
    "pgmpy": {"files"},
    "matplotlib": {"report", "studies"},
    "jinja2": {"report", "studies", "explore"},
    "starlette": {"explore"},
    "uvicorn": {"explore"},
    "sklearn": {"classifier", "tables.cuts", "demo", "studies"},
    "llvmlite": {"kernels"},
    "numba": {"kernels"},
    "numpyro": {"pooling"},
    "jax": {"pooling"},
    "typer": {"cli"},
}
# Inside a room, these modules alone may use these parts of a package.
ONLY_PARTS: dict[str, tuple[str, ...]] = {
    "tables.cuts": ("sklearn.preprocessing",),
    "demo": ("sklearn.datasets", "sklearn.model_selection"),
}


def modules() -> list[str]:
    paths = sorted(SOURCE.rglob("*.py"))
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names if name != "__init__"]


def tree(module: str) -> ast.Module:
    path = SOURCE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(syntax: ast.Module) -> list[str]:
    """All modules imported anywhere in a file, also inside functions, as dotted names."""
    found = []
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            # `from colonnade import theory` imports a room, so the name belongs to the path.
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and _called(node.func) in {"import_module", "require"}:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.append(first.value)
    return found


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def trespasses(module: str, imported: list[str]) -> list[str]:
    """What is wrong with the imports of one module, in words."""
    room = module.split(".")[0]
    wrong = []
    for name in imported:
        package, _, rest = name.partition(".")
        if package == "colonnade":
            target = rest.split(".")[0]
            private = private_part(rest)
            if target == room or target in {"", "__version__"}:
                continue
            if target not in HEIGHT:
                wrong.append(f"{module} imports colonnade.{target}, which is in no layer")
            elif HEIGHT[target] >= HEIGHT[room] and target not in SHORTCUTS.get(room, ()):
                wrong.append(f"{module} imports colonnade.{target}, which is not below it")
            if private:
                wrong.append(f"{module} imports {private}, which belongs to another room")
        elif package in ONLY_IN:
            if not {room, module} & ONLY_IN[package]:
                wrong.append(f"{module} imports {package}, allowed in {sorted(ONLY_IN[package])}")
            parts = ONLY_PARTS.get(module)
            if package == "sklearn" and parts and not name.startswith(parts):
                wrong.append(f"{module} imports {name}, allowed are {parts}")
        elif package not in EVERYWHERE | sys.stdlib_module_names:
            wrong.append(f"{module} imports {package}: name its rooms in ONLY_IN")
    return wrong


def private_part(name: str) -> str:
    """A dotted name up to the first part that begins with an underscore, or nothing."""
    parts = name.split(".")
    for k, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            return ".".join(parts[: k + 1])
    return ""


@pytest.mark.parametrize("module", modules())
def test_imports_only_what_is_below(module: str) -> None:
    assert module.split(".")[0] in HEIGHT, f"{module} is in no layer: add its room to LAYERS"
    assert trespasses(module, imports(tree(module))) == []


def test_the_package_itself_imports_nothing_when_loaded() -> None:
    syntax = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    top = [node for node in syntax.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name for node in top for name in imports(ast.Module([node], []))}
    assert {name.split(".")[0] for name in names} <= {"__future__", "typing"}


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("exceptions", "from colonnade.counts import FamilyCounts"),
        ("pooling.exact", "from colonnade import priors"),
        ("pooling.exact", "from colonnade.tables import memory"),
        ("pooling.exact", "def f():\n    import colonnade.network"),
        ("counts", "import narwhals as nw"),
        ("priors", "import pyagrum"),
        ("inference.queries", "import pyagrum"),
        ("network", "import matplotlib.pyplot as plt"),
        ("network", "from sklearn.base import BaseEstimator"),
        ("tables.cuts", "from sklearn.base import BaseEstimator"),
        ("tables.memory", "from sklearn.preprocessing import KBinsDiscretizer"),
        ("priors.posterior", "import importlib\npd = importlib.import_module('pandas')"),
        ("priors.posterior", "from colonnade.attic import junk"),
        ("priors.posterior", "import requests"),
        ("report.graph", "from colonnade.classifier._intervals import DrawnLogs"),
        ("cli.app", "from colonnade.classifier import _intervals"),
    ],
)
def test_a_trespass_is_seen(module: str, line: str) -> None:
    assert trespasses(module, imports(ast.parse(line)))


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("counts.family", "from colonnade.configurations import sort_keys"),
        ("tables.files", "from colonnade.tables.memory import encode"),
        ("tables.cuts", "from sklearn.preprocessing import KBinsDiscretizer"),
        ("pooling.reference", "require('numpyro', feature='Reference()', extra='reference')"),
        ("classifier.estimator", "from colonnade.classifier._intervals import DrawnLogs"),
    ],
)
def test_an_allowed_import_passes(module: str, line: str) -> None:
    assert trespasses(module, imports(ast.parse(line))) == []


# ------------------------------------------------------------------- tests and extras


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.py")), ids=lambda path: path.stem)
def test_tests_use_public_names_where_there_are_any(path: Path) -> None:
    for name in imports(ast.parse(path.read_text(encoding="utf-8"))):
        assert not name.startswith("benchmarks"), "benchmarks may be left out of a distribution"
        module, _, attribute = name.rpartition(".")
        if name.startswith("colonnade.") and private_part(module.removeprefix("colonnade.")):
            value = getattr(importlib.import_module(module), attribute)
            places = [m for m in public_modules() if vars(m).get(attribute) is value]
            assert places == [], f"{name} has a public name"


def public_modules() -> list[ModuleType]:
    names = [f"colonnade.{name}" for name in modules() if "._" not in f".{name}"]
    return [importlib.import_module(name) for name in names]


def test_extras_hold_what_the_code_asks_for_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for_users = set(extras) - {"all", "lint", "test", "docs", "dev"}
    offered = {(name(each), extra) for extra in for_users for each in extras[extra]}
    assert {request for module in modules() for request in requests(tree(module))} == offered
    assert extras["all"] == [
        f"colonnade[{','.join(extra for extra in extras if extra in for_users)}]"
    ]


# Packages that are imported by another name than they are installed by.
IMPORTED_AS = {"ibis-framework": "ibis"}


def name(requirement: str) -> str:
    installed = re.split(r"[^\w-]", requirement)[0]
    return IMPORTED_AS.get(installed, installed)


def requests(syntax: ast.Module) -> list[tuple[str, str]]:
    """Package and extra of every ``require("package", ..., extra="extra")``."""
    found = []
    for node in ast.walk(syntax):
        if isinstance(node, ast.Call) and _called(node.func) == "require":
            words = [*node.args, *(k.value for k in node.keywords if k.arg == "extra")]
            texts = [word.value for word in words if isinstance(word, ast.Constant)]
            found += [(texts[0].split(".")[0], texts[1])] if len(texts) == 2 else []
    return found
