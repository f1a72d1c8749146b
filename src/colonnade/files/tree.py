"""XML without entities and without depth: all that the XML formats need."""

from __future__ import annotations

import re
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from colonnade.files.misfit import MisfitError, times

_MAX_DEPTH = 50
# White space before the declaration, perhaps with the mark of UTF-8 around it.
_LEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s+(?:\xef\xbb\xbf)?\s*")


def root_of(content: bytes) -> Element:
    """Return the root of a document; names of elements are without their namespace."""
    builder = TreeBuilder()
    lead = _LEAD.match(content)
    skipped = lead.group() if lead else b""
    lines = skipped.count(b"\n")
    parser = expat.ParserCreate(namespace_separator="}")
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_DEPTH:
            place = f"line {lines + parser.CurrentLineNumber}"
            raise MisfitError(place, "its elements are nested too deeply.")
        builder.start(name.rpartition("}")[2], attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name.rpartition("}")[2])

    def entity(*_: object) -> NoReturn:
        # A few entities that name each other can stand for any amount of text.
        place = f"line {lines + parser.CurrentLineNumber}"
        raise MisfitError(place, "it defines entities.")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content[len(skipped) :], True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        place = f"line {lines + error.lineno}"
        raise MisfitError(place, f"it is not XML ({problem}).") from None
    except (LookupError, ValueError):
        raise MisfitError("", "its encoding is not known.") from None
    return builder.close()


def only(element: Element, tag: str, place: str) -> Element | None:
    """The one element of this name inside another, None if there is none; two are an error."""
    found = element.findall(tag)
    if len(found) > 1:
        raise MisfitError(place, f"its element {tag!r} is given {times(len(found))}.")
    return found[0] if found else None


def text_of(element: Element) -> str:
    """The text of an element, without white space around it."""
    return "".join(element.itertext()).strip()


def words_of(element: Element | None) -> list[str]:
    """The words in an element; none if it is absent."""
    return [] if element is None else text_of(element).split()
