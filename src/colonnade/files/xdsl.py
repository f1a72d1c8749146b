"""XDSL, the XML format of GeNIe and SMILE.

The first parent varies slowest and the node itself fastest, as SMILE's manual has it. aGrUM (3.3)
writes and reads the parents in the opposite order; files signed by it are read accordingly.
"""

from __future__ import annotations

import json
from functools import partial
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

import numpy as np

from colonnade.arrays import Floats
from colonnade.dag import Dag
from colonnade.files.drafts import (
    Draft,
    DraftEffects,
    DraftTable,
    DraftVariable,
    Format,
    numbers,
    only_property,
)
from colonnade.files.identifiers import Identifiers
from colonnade.files.misfit import MisfitError, made
from colonnade.files.names import TEXT, TYPES, decode, pattern, typed
from colonnade.files.tree import only, root_of, text_of, words_of
from colonnade.layout import NODE_HEIGHT, Layout
from colonnade.variables import State, Variable

_TITLE = pattern(TEXT)
_AGRUM = "aGrUM"  # how it signs its files
# Properties that keep what identifiers stand for: objects of JSON, so that a node that was renamed
# in another program has its new name.
_NAME, _STATES = "colonnade_name", "colonnade_states"
# GeNIe writes names into ellipses, which need more room than our pictures give a node.
_STRETCH = 1.5


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
        noisy = isinstance(table, DraftEffects)
        kind, element = ("noisymax", "parameters") if noisy else ("cpt", "probabilities")
        lines.append(f'    <{kind} id="{name}">')
        lines += [f'      <state id="{label}" />' for label in variable.labels]
        if table.parents:
            # The table stays: what varies fastest is named first instead of last.
            parents = table.parents[::-1] if app == _AGRUM else table.parents
            lines.append(f"      <parents>{' '.join(parents)}</parents>")
        values = " ".join(map(repr, table.rows.ravel().tolist()))
        if isinstance(table, DraftEffects) and table.parents:
            order = " ".join(map(str, table.order or ()))
            lines.append(f"      <strengths>{order}</strengths>")
        lines.append(f"      <{element}>{values}</{element}>")
        for key, kept in ((_NAME, _kept_name(variable)), (_STATES, _kept_states(variable))):
            if kept:
                lines.append(f'      <property id="{key}">{escape(json.dumps(kept))}</property>')
        lines.append(f"    </{kind}>")
    lines += ["  </nodes>", "  <extensions>"]
    lines += [f'    <genie version="1.0" app="{app}" name="network">']
    positions = _positions(draft)
    for variable in draft.variables.values():
        title = variable.title if _TITLE.fullmatch(variable.title) else variable.name
        lines += [
            f'      <node id="{variable.name}">',
            f"        <name>{escape(title)}</name>",
            '        <interior color="e5f6f7" />',
            '        <outline color="000080" />',
            '        <font color="000000" name="Arial" size="8" />',
            f"        <position>{positions[variable.name]}</position>",
            "      </node>",
        ]
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>", ""])


def _positions(draft: Draft) -> dict[str, str]:
    """The corners of each node, parents above their children."""
    titles = {name: variable.title for name, variable in draft.variables.items()}
    arcs = [
        (titles[parent], titles[name])
        for name, table in draft.tables.items()
        for parent in table.parents
    ]
    layout = Layout.of(Dag(tuple(arcs), tuple(titles.values())))
    positions = {}
    for name, title in titles.items():
        (x, y), wide, high = layout.places[title], layout.widths[title], NODE_HEIGHT
        corners = x - wide / 2, y - high / 2, x + wide / 2, y + high / 2
        positions[name] = " ".join(str(round(_STRETCH * corner)) for corner in corners)
    return positions


def _kept_name(variable: DraftVariable) -> dict[str, str]:
    return {} if decode(variable.name) == variable.title else {variable.name: variable.title}


def _kept_states(variable: DraftVariable) -> dict[str, State]:
    """What the identifiers of states stand for, where they do not say so themselves."""
    states = variable.original.states if variable.original else ()
    pairs = zip(variable.labels, states, strict=True)
    return {label: state for label, state in pairs if state != decode(label)}


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


def _variable(element: Element, name: str, labels: list[str]) -> DraftVariable:
    kept: dict[str, list[str]] = {_NAME: [], _STATES: [], TYPES: []}
    for own in element.findall("property"):
        if (key := own.get("id", "")) in kept:
            kept[key].append(text_of(own))
    plain = DraftVariable(name, labels, only_property(TYPES, kept[TYPES], name))
    if not kept[_NAME] and not kept[_STATES]:
        return plain
    title, states = (
        _meanings(only_property(key, kept[key], name), key, plain) for key in (_NAME, _STATES)
    )
    known = made(plain.place, typed, labels, plain.types)
    meant = [states.get(label, state) for label, state in zip(labels, known, strict=True)]
    original = made(plain.place, Variable, title.get(name, plain.title), meant)
    return DraftVariable(name, labels, plain.types, original)


def _meanings(text: str, key: str, variable: DraftVariable) -> dict[str, State]:
    """What identifiers stand for, as a property keeps it."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or {type(each) for each in found.values()} - {str, int, bool}:
        raise variable.misfit(f"its property {key} does not say what identifiers stand for.")
    return found


# The elements that hold the table of a node, by the kind of the node.
_VALUES = {
    "cpt": "probabilities",
    "deterministic": "resultingstates",
    "noisymax": "parameters",
}


def _node(element: Element, by_agrum: bool) -> tuple[DraftVariable, DraftTable | DraftEffects]:
    name = element.get("id", "")
    if not name:
        raise MisfitError("", f"a {element.tag[:40]} has no id.")
    labels = [state.get("id", "") for state in element.findall("state")]
    variable = _variable(element, name, labels)
    if element.tag not in _VALUES:
        raise variable.misfit(f"nodes of the kind {element.tag[:40]!r} are not supported.")
    found = {tag: only(element, tag, variable.place) for tag in (*_VALUES.values(), "parents")}
    values = found[_VALUES[element.tag]]
    if values is None:
        raise variable.misfit(f"it has no {_VALUES[element.tag]}.")
    given = [tag for tag in _VALUES.values() if found[tag] is not None]
    if len(given) > 1:
        raise variable.misfit(f"it has {' and '.join(given)}.")
    words = words_of(values)
    if element.tag == "noisymax":
        return variable, _effects(element, variable, numbers(words, variable.place))
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


def _effects(element: Element, variable: DraftVariable, values: Floats) -> DraftEffects:
    """The parameters of a noisy-max node: for each parent its states, and at last the leak.

    The strengths are, for each parent, the numbers of its states in the order of their parameters;
    the last is the one without an effect. SMILE's manual has it so.
    """
    parents = words_of(only(element, "parents", variable.place))
    strengths = only(element, "strengths", variable.place)
    order = numbers(words_of(strengths), variable.place)
    if (order != np.rint(order)).any():
        raise variable.misfit("its strengths are not all integers.")
    whole = None if strengths is None else [int(each) for each in order]
    return DraftEffects(parents, values, whole)


_FOR_AGRUM = partial(render, app=_AGRUM)
FORMAT = Format(
    "XDSL", (".xdsl",), Identifiers(), parse, render, {"agrum": _FOR_AGRUM}, effects=True
)
