"""XDSL, the XML format of GeNIe and SMILE.

The first parent varies slowest and the node itself fastest, as SMILE's manual has it. aGrUM (3.3)
writes and reads the parents the other way round. Files signed by it are read as it means them, and
`write_for_agrum` makes such files.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

import numpy as np

from colonnade.files.drafts import Draft, DraftError, numbers
from colonnade.files.names import TEXT, TYPES, Alphabet, pattern
from colonnade.files.tree import parse, text_of

__all__ = ["ALPHABET", "read", "write", "write_for_agrum"]

_ID = pattern(r"[A-Za-z][A-Za-z0-9_]*")
_TITLE = pattern(TEXT)
ALPHABET = Alphabet(_ID, _ID)


# How a program signs its files; the order of parents depends on it.
_OURS = "Colonnade"
_AGRUM = "aGrUM"


def write(drafts: Sequence[Draft]) -> str:
    """The text of a file; parents come before their children, as SMILE wants them.

    The extensions list the nodes in the order of the network, which is restored from there.
    """
    return _written(drafts, _OURS)


def write_for_agrum(drafts: Sequence[Draft]) -> str:
    """The same with parents in the order of aGrUM, and its signature."""
    return _written(drafts, _AGRUM)


def _written(drafts: Sequence[Draft], app: str) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines += ['<smile version="1.0" id="network" numsamples="10000" discsamples="10000">']
    lines += ["  <nodes>"]
    for draft in _parents_first(drafts):
        assert draft.rows is not None
        lines.append(f'    <cpt id="{draft.name}">')
        lines += [f'      <state id="{label}" />' for label in draft.labels]
        if draft.parents:
            # The table stays: what varies fastest is named first instead of last.
            parents = reversed(draft.parents) if app == _AGRUM else draft.parents
            lines.append(f"      <parents>{' '.join(parents)}</parents>")
        values = " ".join(map(repr, draft.rows.ravel().tolist()))
        lines.append(f"      <probabilities>{values}</probabilities>")
        if draft.types:
            lines.append(f'      <property id="{TYPES}">{draft.types}</property>')
        lines.append("    </cpt>")
    lines += ["  </nodes>", "  <extensions>"]
    lines += [f'    <genie version="1.0" app="{app}" name="network">']
    for k, draft in enumerate(drafts):
        title = draft.title if _TITLE.fullmatch(draft.title) else draft.name
        x, y = 40 + 160 * (k % 6), 40 + 100 * (k // 6)
        lines += [
            f'      <node id="{draft.name}">',
            f"        <name>{escape(title)}</name>",
            f"        <position>{x} {y} {x + 120} {y + 50}</position>",
            "      </node>",
        ]
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>", ""])


def read(content: bytes, notes: list[str]) -> list[Draft]:
    """What the content of a file says; the nodes are named by their identifiers."""
    root = parse(content)
    nodes = root.find("nodes")
    if root.tag != "smile" or nodes is None:
        raise DraftError("", "it has no smile element with nodes.")
    genie = root.find("extensions/genie")
    app = "" if genie is None else genie.get("app", "")
    drafts = [_node(element) for element in nodes]
    if genie is not None:
        listed = {node.get("id"): k for k, node in enumerate(genie.iter("node"))}
        drafts.sort(key=lambda draft: listed.get(draft.name, len(listed)))
    if app.startswith(_AGRUM):
        for draft in drafts:
            draft.parents.reverse()
        if any(len(draft.parents) > 1 for draft in drafts):
            notes.append(
                f"it was written by {app}, which orders the parents of a node in its own way; "
                "they were read in that way"
            )
    return drafts


def _parents_first(drafts: Sequence[Draft]) -> list[Draft]:
    waiting, done, ordered = list(drafts), set[str](), list[Draft]()
    while waiting:
        ready = [draft for draft in waiting if done.issuperset(draft.parents)]
        waiting = [draft for draft in waiting if not done.issuperset(draft.parents)]
        ordered += ready
        done.update(draft.name for draft in ready)
    return ordered


def _node(element: Element) -> Draft:
    draft = Draft(element.get("id", ""))
    draft.labels = [state.get("id", "") for state in element.findall("state")]
    parents = element.find("parents")
    draft.parents = [] if parents is None else text_of(parents).split()
    for own in element.findall("property"):
        if own.get("id") == TYPES:
            draft.types = text_of(own)
    values = element.find("probabilities" if element.tag == "cpt" else "resultingstates")
    if element.tag not in ("cpt", "deterministic") or values is None:
        raise DraftError(draft.place, f"nodes of the kind {element.tag[:40]!r} are not supported.")
    words = text_of(values).split()
    if element.tag == "cpt":
        draft.rows = numbers(words, draft.place)
        return draft
    rows = np.zeros((len(words), len(draft.labels)))
    for row, word in enumerate(words):
        if word not in draft.labels:
            raise DraftError(draft.place, f"{word[:80]!r} is not one of its states.")
        rows[row, draft.labels.index(word)] = 1.0
    draft.rows = rows
    return draft
