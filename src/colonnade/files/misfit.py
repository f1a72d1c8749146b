"""The one error of all readers, before anybody knows the path of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from colonnade.exceptions import ColonnadeError, InputError

Made = TypeVar("Made")


class MisfitError(Exception):
    """The content of a file is wrong at a place, or as a whole if the place is empty.

    `load` adds the path and words the message; `problem` is a sentence with its full stop.
    """

    def __init__(self, place: str, problem: str, hint: str = "") -> None:
        super().__init__(place, problem, hint)
        self.place, self.problem, self.hint = place, problem, hint

    def below(self, line: str) -> MisfitError:
        """Return the error with the line where what it is about begins."""
        place = ", ".join(filter(None, (line, self.place)))
        return MisfitError(place, self.problem, self.hint)


def times(number: int) -> str:
    """How often something is given that should be given once."""
    return "twice" if number == 2 else f"{number} times"


def made(place: str, make: Callable[..., Made], *args: Any) -> Made:
    """Call a constructor that checks its arguments; its complaint is about the file."""
    try:
        return make(*args)
    except ColonnadeError as error:
        raise MisfitError(place, _without_parameter(error), error.hint) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise MisfitError(place, f"{str(error).rstrip('.')}.") from None


def _without_parameter(error: ColonnadeError) -> str:
    """The statement without the parameter of Python, which means nothing to who wrote the file."""
    if isinstance(error, InputError) and error.parts[0].endswith(" for "):
        return error.parts[0].removesuffix(" for ").removesuffix(",") + "".join(error.parts[1:])
    return error.statement
