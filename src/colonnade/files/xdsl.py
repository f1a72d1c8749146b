"""XDSL, the XML format of GeNIe and SMILE.

The first parent varies slowest and the node itself fastest, as SMILE's manual has it. aGrUM (3.3)
writes and reads the parents in the opposite order; files signed by it are read accordingly.
"""

from __future__ import annotations

from functools import partial
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

import numpy as np

from colonnade.files.drafts import Draft, DraftTable, DraftVariable, Format, numbers, only_types
from colonnade.files.misfit import MisfitError
from colonnade.files.names import TEXT, TYPES, Alphabet, pattern
from colonnade.files.tree import only, root_of, text_of, words_of

_ID = pattern(r"[A-Za-z][A-Za-z0-9_]*")
_TITLE = pattern(TEXT)
_AGRUM = "aGrUM"  # how it signs its files


def render(draft: Draft, app: str = "Colonnade") -> str:
    """The text of a file that is signed by a program, with parents in the order of that program.

    Nodes come after their parents, as SMILE wants them. The extensions list them in the order of
    the network, which is restored from there.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines += ['<smile version="1.0" id="network" numsamples="10000" discsamples="10000">']
    lines += ["  <nodes>"]
    for name in _parents_first(draft):
        variable, table = draft.variables[name], draft.tables[name]
        lines.append(f'    <cpt id="{name}">')
        lines += [f'      <state id="{label}" />' for label in variable.labels]
        if table.parents:
            # The table stays: what varies fastest is named first instead of last.
            parents = table.parents[::-1] if app == _AGRUM else table.parents
            lines.append(f"      <parents>{' '.join(parents)}</parents>")
        values = " ".join(map(repr, table.rows.ravel().tolist()))
        lines.append(f"      <probabilities>{values}</probabilities>")
        if variable.types:
            lines.append(f'      <property id="{TYPES}">{variable.types}</property>')
        lines.append("    </cpt>")
    lines += ["  </nodes>", "  <extensions>"]
    lines += [f'    <genie version="1.0" app="{app}" name="network">']
    for k, variable in enumerate(draft.variables.values()):
        title = variable.title if _TITLE.fullmatch(variable.title) else variable.name
        x, y = 40 + 160 * (k % 6), 40 + 100 * (k // 6)
        lines += [
            f'      <node id="{variable.name}">',
            f"        <name>{escape(title)}</name>",
            f"        <position>{x} {y} {x + 120} {y + 50}</position>",
            "      </node>",
        ]
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>", ""])


def _parents_first(draft: Draft) -> list[str]:
    waiting, ordered = dict(draft.tables), dict[str, None]()
    while waiting:
        ready = [name for name in waiting if ordered.keys() >= set(waiting[name].parents)]
        ordered.update(dict.fromkeys(ready))
        for name in ready:
            del waiting[name]
    return list(ordered)


def parse(content: bytes) -> Draft:
    """What the content of a file says; the nodes are named by their identifiers."""
    root = root_of(content)
    nodes = only(root, "nodes", "")
    if root.tag != "smile" or nodes is None:
        raise MisfitError("", "it has no smile element with nodes.")
    if root.find("dynamic") is not None:
        raise MisfitError("", "dynamic networks are not supported.")
    genie = root.find("extensions/genie")
    app = "" if genie is None else genie.get("app", "")
    by_agrum = app.startswith(_AGRUM)
    found = [_node(element, by_agrum) for element in nodes]
    if genie is not None:
        listed = {node.get("id"): k for k, node in enumerate(genie.iter("node"))}
        found.sort(key=lambda each: listed.get(each[0].name, len(listed)))
    draft = Draft()
    for variable, table in found:
        draft.add(variable, table)
    if by_agrum and any(len(table.parents) > 1 for _, table in found):
        draft.notes.append(
            f"it was written by {app}, which orders the parents of a node in its own way; "
            "they were read in that way"
        )
    return draft


# The elements that hold the table of a node, by the kind of the node.
_VALUES = {"cpt": "probabilities", "deterministic": "resultingstates"}


def _node(element: Element, by_agrum: bool) -> tuple[DraftVariable, DraftTable]:
    name = element.get("id", "")
    if not name:
        raise MisfitError("", f"a {element.tag[:40]} has no id.")
    labels = [state.get("id", "") for state in element.findall("state")]
    types = [text_of(own) for own in element.findall("property") if own.get("id") == TYPES]
    variable = DraftVariable(name, labels, only_types(types, name))
    if element.tag not in _VALUES:
        raise variable.misfit(f"nodes of the kind {element.tag[:40]!r} are not supported.")
    found = {tag: only(element, tag, variable.place) for tag in (*_VALUES.values(), "parents")}
    values = found[_VALUES[element.tag]]
    if values is None:
        raise variable.misfit(f"it has no {_VALUES[element.tag]}.")
    if all(found[tag] is not None for tag in _VALUES.values()):
        raise variable.misfit(f"it has {' and '.join(_VALUES.values())}.")
    words = words_of(values)
    if element.tag == "cpt":
        rows = numbers(words, variable.place)
    else:
        rows = np.zeros((len(words), len(labels)))
        for row, word in enumerate(words):
            if word not in labels:
                raise variable.misfit(f"{word[:80]!r} is not one of its states.")
            rows[row, labels.index(word)] = 1.0
    parents = words_of(found["parents"])
    return variable, DraftTable(parents[::-1] if by_agrum else parents, rows)


_FOR_AGRUM = partial(render, app=_AGRUM)
FORMAT = Format("XDSL", (".xdsl",), Alphabet(_ID, _ID), parse, render, {"agrum": _FOR_AGRUM})
