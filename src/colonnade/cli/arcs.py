"""Files of arcs: CSV with one arc per line, DOT, model strings, and the graphs of networks."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from colonnade.cli.values import Misuse
from colonnade.exceptions import DataError, InputError, expected, renamed

if TYPE_CHECKING:
    from colonnade.dag import Dag

_HEADS = {("from", "to"), ("parent", "child"), ("source", "target")}
_HINT = "write parent,child in each line"
_DOT = (".dot", ".gv")
# Endings of files that hold arcs and nothing else.
ENDINGS = (".csv", ".tsv", ".txt", *_DOT)
_NAME = r'"(?:[^"\\]|\\.)*"|[\w.]+'
# What is typed instead of PARENT->CHILD.
_OTHER_ARROW = re.compile(r"\s*([^=>\s].*?)\s*(?:=+>|--+>|(?<!-)>|\u2192)\s*([^=>\s].*?)\s*")
# An arc that is written from its end.
_BACK = re.compile(r"\s*([^<>=]*[^<>=\s-])\s*(?:<--?|\u2190)\s*([^<>=\s-][^<>=]*?)\s*")
_NODE = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]]*))?\]")

Arcs = tuple[tuple[str, str], ...]


class ArcFile(NamedTuple):
    """Arcs, and names that stand alone."""

    arcs: Arcs
    names: tuple[str, ...]


def dag_of(path: Path, columns: Sequence[str], *, all_columns: bool = False) -> Dag:
    """Read a graph of the columns of a table from a file of arcs, or of a network.

    With `all_columns`, each column that the file does not name is a variable without arcs.
    """
    from colonnade.dag import Dag
    from colonnade.tables.levels import refuse_absent

    with renamed(path="dag", arcs="dag", variables="dag"):
        arcs, names = read_arcs(path)
        dag = Dag(arcs, tuple(dict.fromkeys((*columns, *names))) if all_columns else names)
    _refuse_separator(path, [name for name in names if name not in columns])
    refuse_absent(dag.variables, columns)
    return dag


def arcs_of(words: Sequence[str], option: str) -> Arcs:
    """Return the arcs that an option names: by files of arcs, or as PARENT->CHILD."""
    arcs: list[tuple[str, str]] = []
    for word in words:
        back = _BACK.fullmatch(word)
        if back is not None and not Path(word).exists():
            arcs.append((back[2], back[1]))
            continue
        if (slip := _OTHER_ARROW.fullmatch(word)) and not Path(word).exists():
            hint = f"write '{slip[1]}->{slip[2]}'"
            raise Misuse(f"Expected PARENT->CHILD or a file for {option}, got {word!r}.", hint=hint)
        if "->" in word and not Path(word).exists():
            parent, _, child = (part.strip() for part in word.partition("->"))
            if not parent or not child:
                raise Misuse(f"Expected PARENT->CHILD for {option}, got {word!r}.")
            arcs.append((parent, child))
            continue
        if not Path(word).exists() and not Path(word).suffix:
            hint = "write 'smoker->cancer'"
            raise Misuse(f"Expected PARENT->CHILD or a file for {option}, got {word!r}.", hint=hint)
        with renamed(path=option.lstrip("-")):
            arcs += read_arcs(Path(word)).arcs
    return tuple(dict.fromkeys(arcs))


def tiers_of(text: str, option: str) -> tuple[tuple[str, ...], ...]:
    """Return the tiers of variables that an option names: as A,B < C, or by a file of such lines.

    In a file each line is a tier. Names with a comma are put in quotes; those with a < need a file.
    """
    if "<" in text and not Path(text).exists():
        lines = [list(row) for part in text.split("<") for row in csv.reader([part.strip()])]
        lines += [[]] * (text.count("<") + 1 - len(lines))  # nothing before or after a sign
    else:
        from colonnade.tables.files import read_lines

        with renamed(path=option.lstrip("-")):
            lines = [row for _, row in read_lines(Path(text)) if row]
    tiers = tuple(tuple(name.strip() for name in line) for line in lines)
    if len(tiers) < 2 or not all(tiers) or not all(name for tier in tiers for name in tier):
        what = "two tiers or more, such as 'age,sex < smoker < cancer', or a file with one per line"
        raise Misuse(f"Expected {what}, for {option}, got {text!r}.")
    return tiers


def read_arcs(path: Path) -> ArcFile:
    """Read arcs from a file, whatever format it has."""
    ending = path.suffix.lower()
    if ending in _DOT:
        return _of_dot(path)
    if ending == ".txt":
        return _of_model_string(path)
    if ending not in (".csv", ".tsv", ""):
        from colonnade.files import load
        from colonnade.files.registry import format_of

        try:
            format_of(path)
        except InputError:
            what = f"a file ending in {', '.join(ENDINGS)}, or one of a network"
            raise expected(what, "path", str(path)) from None
        dag = load(path).dag
        return ArcFile(dag.arcs, dag.variables)
    return _of_csv(path)


def written(dag: Dag, path: Path, columns: Mapping[str, Sequence[float]]) -> str:
    """Write arcs as the ending of a name says; `columns` are numbers of the arcs, by name."""
    ending = path.suffix.lower()
    if ending in _DOT:
        names = [f"  {_quoted(name)};" for name in dag.variables]
        lines = []
        for k, (parent, child) in enumerate(dag.arcs):
            notes = ", ".join(f"{name}={values[k]:.4f}" for name, values in columns.items())
            ends = f"{_quoted(parent)} -> {_quoted(child)}"
            lines.append(f"  {ends}{f' [{notes}]' if notes else ''};")
        return "\n".join(["digraph {", *names, *lines, "}", ""])
    if ending == ".txt":
        return model_string(dag) + "\n"
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    writer.writerow(["from", "to", *columns])
    for k, arc in enumerate(dag.arcs):
        writer.writerow([*arc, *(f"{values[k]:.4f}" for values in columns.values())])
    linked = {name for arc in dag.arcs for name in arc}
    for name in dag.variables:
        if name not in linked:
            writer.writerow([name, "", *("" for _ in columns)])
    return stream.getvalue()


def model_string(dag: Dag) -> str:
    """Write a graph as other programs do: ``[a][b|a]``."""
    for name in dag.variables:
        if set("[]|:") & set(name):
            hint = "save the arcs as .csv or .dot"
            raise DataError(f"Variable {name!r}", "not a name for a model string.", hint)
    nodes = [(name, ":".join(dag.parents(name))) for name in dag.order]
    return "".join(f"[{name}|{given}]" if given else f"[{name}]" for name, given in nodes)


# ------------------------------------------------------------------------ formats


def _of_csv(path: Path) -> ArcFile:
    from colonnade.tables.files import read_lines

    arcs: list[tuple[str, str]] = []
    names: dict[str, None] = {}
    rows = ((line, row) for line, row in read_lines(path) if row)
    width = 2
    for k, (line, row) in enumerate(rows):
        cells = [cell.strip() for cell in row]
        if k == 0 and tuple(cell.lower() for cell in cells[:2]) in _HEADS:
            width = max(2, len(cells))  # strengths and the like may follow
            continue
        if not 1 <= len(cells) <= width or not cells[0]:
            place = f"File {str(path)!r}, line {line}"
            raise DataError(place, f"{','.join(row)!r} is not an arc.", _HINT, line=line)
        if len(cells) >= 2 and cells[1]:
            arcs.append((cells[0], cells[1]))
        else:
            names[cells[0]] = None
    if not arcs and not names:
        raise DataError(f"File {str(path)!r}", "no arcs.", _HINT)
    return ArcFile(tuple(arcs), tuple(names))


def _refuse_separator(path: Path, strange: Sequence[str]) -> None:
    """Raise if names that stand alone and are no columns look like arcs with another separator."""
    for name in strange:
        if found := re.search(r"[;\t|]|->", name):
            sign = "a tab" if found.group() == "\t" else repr(found.group())
            hint = f"separate parent and child by a comma, not by {sign}"
            raise DataError(f"File {str(path)!r}", f"{name!r} is not a column.", hint)


def _text_of(path: Path) -> str:
    from colonnade.tables.opening import TextFile

    with TextFile.of(path).lines() as stream:
        return stream.read()


def _of_dot(path: Path) -> ArcFile:
    """Read the arcs of a graph in the language of Graphviz; attributes are ignored."""
    text = re.sub(r"/\*(?:.|\n)*?\*/|//.*|^#.*", "", _text_of(path), flags=re.MULTILINE)
    head, brace, body = text.partition("{")
    if not brace or "digraph" not in head:
        raise DataError(
            f"File {str(path)!r}", "not a directed graph in DOT.", "write digraph {...}"
        )
    body = re.sub(r"\[[^\]]*\]", "", body.rpartition("}")[0])
    arcs: dict[tuple[str, str], None] = {}
    names: dict[str, None] = {}
    for statement in re.split(r"[;\n]", body):
        chain = [_unquoted(name) for name in re.findall(_NAME, statement)]
        if (
            not chain
            or "=" in re.sub(_NAME, "", statement)
            or chain[0] in ("node", "edge", "graph")
        ):
            continue
        names.update(dict.fromkeys(chain))
        arcs.update(dict.fromkeys(itertools.pairwise(chain)))
    return ArcFile(tuple(arcs), tuple(names))


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name.startswith('"') else name


def _of_model_string(path: Path) -> ArcFile:
    """Read a graph written as ``[a][b|a]``."""
    text = "".join(_text_of(path).split("\n")).strip()
    if not text or _NODE.sub("", text).strip():
        hint = "write [a][b|a], or arcs as parent,child in a .csv file"
        raise DataError(f"File {str(path)!r}", "not a model string.", hint)
    arcs: list[tuple[str, str]] = []
    names = []
    for found in _NODE.finditer(text):
        name, parents = found[1].strip(), found[2] or ""
        names.append(name)
        arcs += [(parent.strip(), name) for parent in parents.split(":") if parent.strip()]
    return ArcFile(tuple(arcs), tuple(names))
