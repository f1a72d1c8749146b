"""The documentation: every public name is in it, and its English is plain."""

import importlib
import inspect
import re
import tomllib
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import colonnade
from colonnade import TablePosterior, exceptions

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "colonnade"

# ---------------------------------------------------------------------- public names

# Rooms whose types a user meets, and of the first five also the functions. What one room offers
# another is no concern of the documentation; of `exceptions` that is all but errors and warnings.
FOR_USERS = ("files", "tables", "theory", "structure", "report")
WITH_TYPES = (
    *("inference", "network", "priors", "pooling", "classifier"),
    *("counts", "cpt", "dag", "variables"),
)
# Returned by a property, and never made by a user.
RETURNED = ("missing.em.EmDiagnostics", "pooling.alpha.AlphaPosterior", "pooling.strength.Strength")


def public_names() -> dict[str, Any]:
    """Every name that a user may write, as the documentation writes it."""
    found = {name: getattr(colonnade, name) for name in colonnade.__all__}
    for room in (*FOR_USERS, *WITH_TYPES):
        module = importlib.import_module(f"colonnade.{room}")
        for name in sorted(set(module.__all__) - set(found)):
            value = getattr(module, name)
            if isinstance(value, type) or (room in FOR_USERS and isinstance(value, FunctionType)):
                found[f"{room}.{name}"] = value
    for name, value in vars(exceptions).items():
        if isinstance(value, type) and issubclass(value, BaseException) and name not in found:
            found[f"exceptions.{name}"] = value
    for name in RETURNED:
        module, _, attribute = name.rpartition(".")
        found[name] = getattr(importlib.import_module(f"colonnade.{module}"), attribute)
    return {name: value for name, value in found.items() if not isinstance(value, ModuleType)}


DEFINED = (FunctionType, classmethod, staticmethod, property, cached_property)


def members(kind: type) -> set[str]:
    """Public fields, properties and methods of a class of ours."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("colonnade")]
    found = {
        name for base in ours for name, value in vars(base).items() if isinstance(value, DEFINED)
    }
    found |= {name for base in ours for name in inspect.get_annotations(base)}
    return {name for name in found if not name.startswith("_")}


def listed_names() -> list[str]:
    """The names whose docstrings the reference shows."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return [line.removeprefix("::: colonnade.") for line in lines if line.startswith(":::")]


def described(kind: type, member: str) -> bool:
    """Whether a docstring says what a field, a property or a method is, or a base class does."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("colonnade")]
    for base in ours:
        value = vars(base).get(member)
        own = value.fget if isinstance(value, property) else getattr(value, "func", value)
        if isinstance(value, DEFINED) and inspect.getdoc(own):
            return True
    text = "\n".join(base.__doc__ or "" for base in ours)
    return bool(re.search(rf"^\s*(\w+, )*{member}(, \w+)*( :|$)", text, re.MULTILINE))


def test_the_reference_shows_every_public_name_once() -> None:
    assert sorted(listed_names()) == sorted(public_names())


def test_every_public_name_has_a_docstring() -> None:
    names = {name: value for name, value in public_names().items() if name != "__version__"}
    assert [name for name, value in names.items() if not inspect.getdoc(value)] == []


CLASSES = [name for name, value in public_names().items() if isinstance(value, type)]


@pytest.mark.parametrize("name", CLASSES)
def test_docstrings_describe_every_member(name: str) -> None:
    kind = public_names()[name]
    # The facts that an error carries are named in the text about it.
    fields = set() if issubclass(kind, BaseException) else members(kind)
    assert [member for member in sorted(fields) if not described(kind, member)] == []


MODELS = [
    value
    for value in public_names().values()
    if isinstance(value, type) and issubclass(value, colonnade.priors.Prior | TablePosterior)
]


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_help_about_a_method_of_priors_and_posteriors_says_something(kind: type) -> None:
    """Also about those that override others: ``help(BDeu.table)``."""
    own = {name: value for name, value in vars(kind).items() if isinstance(value, DEFINED)}
    texts = {name: getattr(value, "__func__", value).__doc__ for name, value in own.items()}
    assert [name for name, text in texts.items() if not text and not name.startswith("_")] == []


def test_members_without_a_word_are_seen() -> None:
    class Plain:
        """Something with one field.

        Attributes
        ----------
        known, told : int
        """

        known: int
        told: int
        silent: int

    Plain.__module__ = "colonnade.plain"
    said = {member: described(Plain, member) for member in members(Plain)}
    assert said == {"known": True, "told": True, "silent": False}


def test_every_page_is_in_the_navigation() -> None:
    """MkDocs would leave a page out of the menu without an error."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[\w/-]+\.md", text[text.index("nav:") : text.index("theme:")])
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


# ------------------------------------------------------------------ what pages explain

EXPLAINED = ("plot(", "notebook", "Cpt.known", "to_arviz", "structure.compelled")
DEVELOPERS = {"lint", "test", "docs", "dev"}


@pytest.mark.parametrize("name", EXPLAINED)
def test_a_page_besides_the_reference_explains(name: str) -> None:
    paths = (ROOT / "docs").glob("*.md")
    assert any(name in path.read_text(encoding="utf-8") for path in paths)


def test_every_extra_is_listed_where_installation_is_described() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == extras
    for path in ("README.md", "docs/installation.md"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert "pip install ." in text
        assert all(f"`{extra}`" in text for extra in extras - DEVELOPERS)


def test_tables_show_no_backslashes() -> None:
    """Some Markdown shows the backslash that keeps a bar from ending a cell."""
    for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.startswith("|") and "\\|" in line], path


# ----------------------------------------------------------------------- plain words

PER = "row|line|column|file|state|parent|variable|family|configuration|prior|idea"
WORDS = {
    r"truth values?": "boolean",
    r"foret(ell|old|ells|elling)": "predict",
    r"dear(er|est)?": "expensive",
    rf"one (?!of)\w+ an? ({PER})": "per",
    r"_(MUCH|ENOUGH|NOTHING|WAYS)": "a name that says what the constant bounds",
}


def pages() -> list[Path]:
    return [
        *sorted(SOURCE.rglob("*.py")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ]


def odd_words(text: str) -> list[str]:
    found = []
    for word, plain in WORDS.items():
        # A phrase may be broken over lines, also in a comment.
        pattern = r"\b" + word.replace(" ", r"(?:\s|#)+") + r"\b"
        found += [
            f"{each[0]!r}: write {plain}" for each in re.finditer(pattern, text, re.IGNORECASE)
        ]
    return found


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_words_are_plain(path: Path) -> None:
    assert odd_words(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    ["a truth\n    # value", "Truth values", "is foretold", "one bar a row", "_MUCH = 3", "dearer"],
)
def test_odd_words_are_seen(text: str) -> None:
    assert odd_words(text)


def test_words_that_only_look_odd_are_not() -> None:
    assert odd_words("endeared, the true value, one row a day earlier, one of a row, AS_MUCH") == []
