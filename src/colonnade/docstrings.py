"""Docstrings of methods that a class overrides without saying anything new."""

from __future__ import annotations

import inspect
from functools import cached_property


def inherit_docstrings(kind: type) -> None:
    """Describe the methods of a class that have no docstring as its base classes describe them.

    Without the examples, which are about the base class.

    Examples
    --------
    >>> class Base:
    ...     def area(self):
    ...         '''Size of the surface.'''
    >>> class Square(Base):
    ...     def area(self):
    ...         return 1
    >>> inherit_docstrings(Square)
    >>> Square.area.__doc__
    'Size of the surface.'
    """
    for name, value in vars(kind).items():
        own = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        described = inspect.isfunction(own) or isinstance(own, property | cached_property)
        if name.startswith("_") or not described or own.__doc__:
            continue
        for base in kind.__mro__[1:]:
            text = inspect.getdoc(vars(base)[name]) if name in vars(base) else None
            if text:
                own.__doc__ = text.split("\n\nExamples\n", 1)[0]
                break
