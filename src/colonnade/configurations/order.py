"""The order of the configurations of one family.

**The convention, for the whole package.** Arrays about one family are ``[configuration, state]``.
A configuration is one joint state of the parents. Parents come in the order given, and the last
one varies fastest, so that a C-ordered array of shape ``(*parent_sizes, r)`` is the same memory.
A family without parents has exactly one configuration. The number of configurations is a Python
integer: it may exceed 64 bits. No names live here: a state of a parent is its code, from 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import amount, expected, listing

# A configuration is given by its position among all configurations, or by its parent codes.
Configuration: TypeAlias = int | tuple[int, ...]

# Positions below this fit into a 64-bit word.
INT64_SPAN = 2**63


def configuration_index(codes: Sequence[int], parent_sizes: Sequence[int]) -> int:
    """Return the position of the configuration with these parent codes.

    Examples
    --------
    >>> configuration_index((1, 0), (2, 3))
    3
    """
    if len(codes) != len(parent_sizes):
        raise expected(f"{len(parent_sizes)} parent codes", "configuration", codes)
    index = 0
    for code, size in zip(codes, parent_sizes, strict=True):
        code = _integer(code)
        if not 0 <= code < size:
            what = f"parent codes below {listing(parent_sizes)}"
            raise expected(what, "configuration", tuple(codes))
        index = index * size + code
    return index


def configuration_codes(index: int, parent_sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the parent codes of the configuration at a position.

    Examples
    --------
    >>> configuration_codes(3, (2, 3))
    (1, 0)
    """
    rest = _integer(index)
    configurations = math.prod(parent_sizes)
    if not 0 <= rest < configurations:
        what = f"an integer from 0, below {amount(configurations)},"
        raise expected(what, "configuration", index)
    codes = []
    for size in reversed(parent_sizes):
        rest, code = divmod(rest, size)
        codes.append(code)
    return tuple(reversed(codes))


def parent_codes(configuration: Configuration, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the parent codes of a configuration that is given by them, or by its position.

    Examples
    --------
    >>> parent_codes(3, (2, 3)), parent_codes((1, 0), (2, 3))
    ((1, 0), (1, 0))
    """
    if isinstance(configuration, Sequence | np.ndarray) and np.ndim(configuration) == 1:
        configuration_index(configuration, sizes)  # refuses what does not exist
        return tuple(operator.index(code) for code in configuration)
    return configuration_codes(configuration, sizes)  # type: ignore[arg-type]


def all_codes(sizes: tuple[int, ...]) -> NDArray[Any]:
    """Return the parent codes of all configurations, in order, ``[configuration, parent]``.

    Examples
    --------
    >>> all_codes((2, 2)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return codes_at(np.arange(math.prod(sizes)), sizes)


def codes_at(index: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[Any]:
    """Return the parent codes of configurations given by position, ``[position, parent]``."""
    codes = np.empty((len(index), len(sizes)), dtype=code_type(sizes))
    if len(sizes) == 1:
        codes[:, 0] = index
    elif sizes:
        for column, code in enumerate(np.unravel_index(index, sizes)):
            codes[:, column] = code
    return codes


def sort_keys(codes: NDArray[Any], parent_sizes: Sequence[int]) -> NDArray[np.int64]:
    """Pack rows of parent codes into as few 64-bit words as hold them, keeping their order.

    Comparing two rows word by word orders them as their configurations are ordered. With fewer
    than 2**63 configurations there is one word, and it is the position of the configuration.

    Parameters
    ----------
    codes : array [row, parent]
        Valid parent codes.
    parent_sizes : sequence of int

    Returns
    -------
    array [row, word]

    Examples
    --------
    >>> sort_keys(np.array([[0, 2], [1, 0]]), (2, 3)).ravel().tolist()
    [2, 3]
    """
    words = []
    word = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for column, size in enumerate(parent_sizes):
        if span * size >= INT64_SPAN:
            words.append(word)
            word, span = codes[:, column].astype(np.int64), size
        else:
            word = word * size + codes[:, column]
            span *= size
    return np.stack([*words, word], axis=1)


def code_type(sizes: tuple[int, ...]) -> type[np.signedinteger[Any]]:
    """Return the smaller integer type that holds the codes of all parents."""
    return np.int32 if max(sizes, default=0) < 2**31 else np.int64


def _integer(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise expected("an integer", "configuration", value) from None
