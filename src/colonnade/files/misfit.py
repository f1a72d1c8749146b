"""The one error of all readers, before anybody knows the path of the file."""

from __future__ import annotations

from typing import Any

from colonnade.exceptions import ColonnadeError


class MisfitError(Exception):
    """The content of a file is wrong at a place; `load` adds the path and words the message.

    Attributes
    ----------
    place : str
        Where in the file; empty for the file as a whole.
    problem : str
        A sentence with its full stop.
    hint : str
        One action that would help, or nothing.
    """

    def __init__(self, place: str, problem: str, hint: str = "") -> None:
        super().__init__(place, problem, hint)
        self.place = place
        self.problem = problem
        self.hint = hint


def made(place: str, make: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a constructor that checks its arguments; its complaint is about the file.

    Examples
    --------
    >>> made("line 3", int, "x")
    Traceback (most recent call last):
    colonnade.files.misfit.MisfitError: ('line 3', "invalid literal for int() ... 'x'.", '')
    """
    try:
        return make(*args, **kwargs)
    except (ColonnadeError, TypeError, ValueError, OverflowError) as error:
        raise MisfitError(place, f"{str(error).rstrip('.')}.") from None
