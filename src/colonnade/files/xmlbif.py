"""XMLBIF: the interchange format in XML, ``VARIABLE`` and ``DEFINITION`` elements."""

from __future__ import annotations

from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from colonnade.files.drafts import (
    Draft,
    DraftTable,
    DraftVariable,
    Format,
    numbers,
    only_property,
    place_of,
    refuse_function,
)
from colonnade.files.misfit import MisfitError
from colonnade.files.names import TEXT, TYPES, Alphabet, pattern
from colonnade.files.tree import only, root_of, text_of, words_of

_ALPHABET = Alphabet(pattern(TEXT), pattern(TEXT))


def render(draft: Draft) -> str:
    """The text of a file."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines += ["<NAME>unknown</NAME>"]
    for variable in draft.variables.values():
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(variable.name)}</NAME>"]
        lines += [f"  <OUTCOME>{escape(label)}</OUTCOME>" for label in variable.labels]
        if variable.types:
            lines.append(f"  <PROPERTY>{TYPES} = {variable.types}</PROPERTY>")
        lines.append("</VARIABLE>")
    for name, table in draft.tables.items():
        lines += ["<DEFINITION>", f"  <FOR>{escape(name)}</FOR>"]
        lines += [f"  <GIVEN>{escape(parent)}</GIVEN>" for parent in table.parents]
        lines.append("  <TABLE>")
        lines += [f"    {' '.join(map(repr, row))}" for row in table.rows.tolist()]
        lines += ["  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def parse(content: bytes) -> Draft:
    """What the content of a file says."""
    root = root_of(content)
    network = root if root.tag.upper() == "NETWORK" else only(root, "NETWORK", "")
    if network is None:
        raise MisfitError("", "it has no NETWORK.")
    draft = Draft()
    for element in network.findall("VARIABLE"):
        draft.define(_variable(element))
    for element in (e for e in network if e.tag in ("DEFINITION", "PROBABILITY")):
        name = _name(element, "FOR")
        if name not in draft.variables:
            raise MisfitError(place_of(name), "it has probabilities, but is not defined.")
        child = draft.variables[name]
        values = only(element, "TABLE", child.place)
        if values is None:
            raise child.misfit("it has no TABLE.")
        for own in element.findall("PROPERTY"):
            refuse_function(text_of(own), child)
        parents = [text_of(parent) for parent in element.findall("GIVEN")]
        draft.tabulate(child, DraftTable(parents, numbers(words_of(values), child.place)))
    return draft


def _variable(element: Element) -> DraftVariable:
    name = _name(element, "NAME")
    kind = element.get("TYPE", "nature")
    if kind != "nature":
        raise MisfitError(place_of(name), f"its TYPE {kind[:40]!r} is not 'nature'.")
    labels = [text_of(e) for e in element if e.tag in ("OUTCOME", "VALUE")]
    properties = [text_of(own).partition("=") for own in element.findall("PROPERTY")]
    types = [value.strip() for key, _, value in properties if key.strip() == TYPES]
    return DraftVariable(name, labels, only_property(TYPES, types, name))


def _name(element: Element, tag: str) -> str:
    first = element.find(tag)
    name = "" if first is None else text_of(first)
    if not name:
        raise MisfitError("", f"a {element.tag} has no name.")
    only(element, tag, place_of(name))
    return name


FORMAT = Format("XMLBIF", (".xmlbif", ".bifxml", ".xml"), _ALPHABET, parse, render)
