"""Tests of independence: whether two variables tell nothing about each other, given some others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.exceptions import checked_list, expected, is_word, not_among
from colonnade.missing.treatment import Missing
from colonnade.structure.columns import CodedColumns, Columns, prepare, read_rows
from colonnade.tables.bounds import Allowed
from colonnade.tables.tabular import Tabular

IndependenceTest: TypeAlias = Literal["g2", "mi"]
# Joint configurations beyond this many are numbered anew, by those that occur.
_MAX_CODE = 1 << 20


@dataclass(frozen=True, slots=True)
class Independence(Tabular):
    """What a test of independence found.

    Attributes
    ----------
    statistic : float
        G², twice the log likelihood ratio: 2 n times the mutual information.
    degrees : int
        Degrees of freedom of its distribution under independence.
    p_value : float
        Probability of a statistic at least as large under independence.
    information : float
        Mutual information of the two variables given the others, in nats.
    """

    statistic: float
    degrees: int
    p_value: float
    information: float

    def _columns(self) -> dict[str, list[Any]]:
        names = [each.name for each in fields(self)]
        return {name.replace("_", " "): [getattr(self, name)] for name in names}


def independence(
    table: Any,
    x: str,
    y: str,
    given: str | Iterable[str] = (),
    *,
    test: IndependenceTest = "g2",
    missing: Missing = "raise",
    memory: Allowed = None,
) -> Independence:
    """Test whether two variables are independent given some others.

    Parameters
    ----------
    table : table
        Anything :func:`colonnade.fit` takes.
    x, y : str
    given : str or iterable of str
    test : {"g2", "mi"}
        Both compare 2 n times the mutual information with a chi-squared distribution. ``"g2"`` has
        (r_x - 1) (r_y - 1) q degrees of freedom for q configurations of the given variables,
        whether they occur or not. ``"mi"`` counts in each configuration only the states that occur
        there, so that sparse tables keep some power.
    missing : {"raise", "available", "em", "state"} or EM
        As for :func:`hill_climb`, of the columns that are tested.
    memory : int or str, optional
        Bytes that files and lazy tables may take here; as for :func:`colonnade.scan`.

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": [0, 1, 0, 1] * 5}
    >>> independence(table, "a", "b").p_value < 0.001
    True
    >>> independence(table, "a", "c", given=["b"])
    Independence(statistic=0.0, degrees=2, p_value=1.0, information=0.0)
    """
    checked_test(test)
    others = [given] if isinstance(given, str) else checked_list(given, "a list of names", "given")
    names = read_rows(table, memory=memory).names
    for name, parameter in ((x, "x"), (y, "y"), *((each, "given") for each in others)):
        if not isinstance(name, str) or name not in names:
            raise not_among(names, parameter, name)
    chosen = [x, y, *others]
    if len(set(chosen)) < len(chosen):
        repeated = next(name for k, name in enumerate(chosen) if name in chosen[:k])
        raise expected("different variables", "given", repeated, "name each variable once")
    columns = prepare(read_rows(table, chosen, memory=memory), missing)
    return tested(columns, 0, 1, tuple(range(2, len(chosen))), test)


def tested(
    columns: Columns, x: int, y: int, given: tuple[int, ...], test: IndependenceTest
) -> Independence:
    """Test two columns given some others, all by position."""
    from scipy.stats import chi2

    counts = _counts(columns, x, y, given)
    rows, cols = counts.sum(axis=2), counts.sum(axis=1)
    totals = rows.sum(axis=1)
    likelihood = _xlogx(counts) - _xlogx(rows) - _xlogx(cols) + _xlogx(totals)
    statistic = 2.0 * max(0.0, likelihood)
    if statistic < 1e-9 * columns.total:
        statistic = 0.0  # rounding of sums that cancel
    if test == "g2":
        r_x, r_y = int(columns.sizes[x]), int(columns.sizes[y])
        degrees = (r_x - 1) * (r_y - 1) * columns.size(given)
    else:
        occurring = ((rows > 0).sum(axis=1) - 1).clip(0) * ((cols > 0).sum(axis=1) - 1).clip(0)
        degrees = int(occurring.sum())
    p_value = float(chi2.sf(statistic, degrees)) if degrees else 1.0
    information = statistic / (2.0 * columns.total) if columns.total else 0.0
    return Independence(statistic, degrees, p_value, information)


def _counts(columns: Columns, x: int, y: int, given: tuple[int, ...]) -> Floats:
    """Joint counts ``[configuration of the given, state of x, state of y]`` of those that occur."""
    r_x, r_y = int(columns.sizes[x]), int(columns.sizes[y])
    if not isinstance(columns, CodedColumns):
        counts = columns.counts(y, (*given, x))
        which, back = np.unique(counts.codes[:, :-1], axis=0, return_inverse=True)
        found = np.zeros((len(which), r_x, r_y))
        found[back.ravel(), counts.codes[:, -1]] = counts.values
        return found
    codes: Integers = np.zeros(columns.coded.rows, np.int64)
    size = 1
    for k in given:
        codes = codes * int(columns.sizes[k]) + columns.codes[k]
        size *= int(columns.sizes[k])
        if size > _MAX_CODE:
            occurring, codes = np.unique(codes, return_inverse=True)
            size = occurring.size
    places = (codes * r_x + columns.codes[x]) * r_y + columns.codes[y]
    at_hand = np.bincount(places, columns.weights, minlength=size * r_x * r_y)
    return at_hand.astype(np.float64).reshape(size, r_x, r_y)


def _xlogx(counts: Floats) -> float:
    return float((counts * np.log(np.where(counts > 0.0, counts, 1.0))).sum())


def checked_test(test: Any) -> IndependenceTest:
    """The word for a test itself, or an error."""
    if not is_word(test, "g2", "mi"):
        raise expected("'g2' or 'mi'", "test", test)
    checked: IndependenceTest = test
    return checked
