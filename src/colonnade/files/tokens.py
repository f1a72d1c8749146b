"""Words of the text formats, one after another, with the line they are on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from colonnade.files.drafts import Draft, DraftVariable
from colonnade.files.misfit import MisfitError


def as_text(content: bytes) -> str:
    """The text of a file; those of older programs are not in UTF-8, and Latin-1 reads any byte."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


class Tokens:
    """The tokens of a text: punctuation, quoted strings and words.

    `comment` is a pattern of what is skipped besides white space, and `begins` one of how a comment
    begins, which ends a word.
    """

    def __init__(self, text: str, punctuation: str, comment: str, begins: str) -> None:
        stand = re.escape(punctuation)
        self._pattern = re.compile(
            rf'\s+|{comment}|(?P<stand>[{stand}])|"(?P<quoted>(?:[^"\\]|\\.)*)"'
            rf'|(?P<word>(?:(?!{begins})[^\s{stand}"])+)',
            re.DOTALL,
        )
        self._text = text
        self._position = 0
        self._found = self._scan()
        # One token ahead; whether it was quoted decides if it can be a keyword.
        self.peek: str | None = None
        self.quoted = False
        self._advance()

    @property
    def place(self) -> str:
        """The line of the next token."""
        return f"line {self._text.count(chr(10), 0, self._position) + 1}"

    @contextmanager
    def block(self) -> Iterator[str]:
        """Let errors about a block, which do not know their line, name that of its beginning."""
        line = self.place
        try:
            yield line
        except MisfitError as error:
            if error.place.startswith("line "):
                raise
            raise error.below(line) from None

    def next(self) -> str:
        """Take the next token."""
        if self.peek is None:
            raise MisfitError(self.place, "it ends too early.")
        token = self.peek
        self._advance()
        return token

    def take(self, wanted: str) -> None:
        """Take the next token, which must be this one."""
        if not self.find(wanted):
            raise self.error(f"{wanted!r} is missing")

    def find(self, wanted: str) -> bool:
        """Take the next token if it is this one."""
        found = not self.quoted and self.peek == wanted
        if found:
            self._advance()
        return found

    def until(self, stop: str, separators: str = "") -> list[str]:
        """Take tokens up to one, which is taken as well; leave out what separates them."""
        words = []
        while not self.find(stop):
            separates = not self.quoted and self.peek is not None and self.peek in separators
            token = self.next()
            if not separates:
                words.append(token)
        return words

    def error(self, problem: str) -> MisfitError:
        """Word an error about the next token."""
        before = "" if self.peek is None else f" before {self.peek[:40]!r}"
        return MisfitError(self.place, f"{problem}{before}.")

    def _advance(self) -> None:
        self.peek, self.quoted = next(self._found, (None, False))

    def _scan(self) -> Iterator[tuple[str, bool]]:
        position = 0
        while position < len(self._text):
            match = self._pattern.match(self._text, position)
            if match is None:
                self._position = position
                raise MisfitError(self.place, "a quotation mark is not closed.")
            self._position, position = position, match.end()
            if match["quoted"] is not None:
                yield re.sub(r"\\(.)", r"\1", match["quoted"], flags=re.DOTALL), True
            elif match["stand"] or match["word"]:
                yield match["stand"] or match["word"], False
        self._position = len(self._text)


def table_head(tokens: Tokens, draft: Draft, separators: str) -> tuple[DraftVariable, list[str]]:
    """Take ``( child | parent ... )``: the variable that a table is for, and its parents."""
    tokens.take("(")
    names = tokens.until(")", separators)
    if not names:
        raise tokens.error("a name is missing")
    child = draft.variables.get(names[0])
    if child is None:
        raise tokens.error(f"{names[0][:80]!r} is not defined")
    return child, names[1:]
