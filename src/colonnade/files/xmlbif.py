"""XMLBIF: the interchange format in XML, ``VARIABLE`` and ``DEFINITION`` elements."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from colonnade.files.drafts import Draft, DraftError, numbers
from colonnade.files.names import TEXT, TYPES, Alphabet, pattern
from colonnade.files.tree import parse, text_of

__all__ = ["ALPHABET", "read", "write"]

ALPHABET = Alphabet(pattern(TEXT), pattern(TEXT))


def write(drafts: Sequence[Draft]) -> str:
    """The text of a file."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines += ["<NAME>unknown</NAME>"]
    for draft in drafts:
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(draft.name)}</NAME>"]
        lines += [f"  <OUTCOME>{escape(label)}</OUTCOME>" for label in draft.labels]
        if draft.types:
            lines.append(f"  <PROPERTY>{TYPES} = {draft.types}</PROPERTY>")
        lines.append("</VARIABLE>")
    for draft in drafts:
        assert draft.rows is not None
        lines += ["<DEFINITION>", f"  <FOR>{escape(draft.name)}</FOR>"]
        lines += [f"  <GIVEN>{escape(parent)}</GIVEN>" for parent in draft.parents]
        lines.append("  <TABLE>")
        lines += [f"    {' '.join(map(repr, row))}" for row in draft.rows.tolist()]
        lines += ["  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def read(content: bytes) -> list[Draft]:
    """What the content of a file says."""
    root = parse(content)
    network = root if root.tag.upper() == "NETWORK" else root.find("NETWORK")
    if network is None:
        raise DraftError("", "it has no NETWORK.")
    drafts: dict[str, Draft] = {}
    for element in network.findall("VARIABLE"):
        draft = Draft(_name(element.find("NAME"), "a VARIABLE"))
        if draft.name in drafts:
            raise DraftError(draft.place, "it is defined twice.")
        kind = element.get("TYPE", "nature")
        if kind != "nature":
            raise DraftError(draft.place, f"its TYPE {kind[:40]!r} is not 'nature'.")
        draft.labels = [text_of(e) for e in element if e.tag in ("OUTCOME", "VALUE")]
        for own in element.findall("PROPERTY"):
            name, _, value = text_of(own).partition("=")
            if name.strip() == TYPES:
                draft.types = value.strip()
        drafts[draft.name] = draft
    for element in (e for e in network if e.tag in ("DEFINITION", "PROBABILITY")):
        name = _name(element.find("FOR"), "a DEFINITION")
        if name not in drafts:
            raise DraftError(f"variable {name!r}", "it has probabilities, but is not defined.")
        draft, table = drafts[name], element.find("TABLE")
        if draft.rows is not None:
            raise DraftError(draft.place, "its probabilities are given twice.")
        if table is None:
            raise DraftError(draft.place, "it has no TABLE.")
        draft.parents = [text_of(parent) for parent in element.findall("GIVEN")]
        draft.rows = numbers(text_of(table).split(), draft.place)
    return list(drafts.values())


def _name(element: object, of: str) -> str:
    from xml.etree.ElementTree import Element

    if not isinstance(element, Element):
        raise DraftError("", f"{of} has no name.")
    return text_of(element)
