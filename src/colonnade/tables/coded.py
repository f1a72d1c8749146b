"""CodedTable: a table whose columns are compact integer codes of states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colonnade.arrays import Array
from colonnade.exceptions import DataError, counted, expected, listing, not_among, row_at
from colonnade.tables.levels import missing_weight
from colonnade.tables.texts import is_number
from colonnade.variables import Variable
from colonnade.wording import shown

if TYPE_CHECKING:
    from colonnade.counts import FamilyCounts
    from colonnade.tables.bounds import Memory
    from colonnade.tables.countable import Members
    from colonnade.tables.discretizing import Discretizer

_MAX_TOTAL = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CodedTable:
    """Rows of states, as one compact column of codes for each variable.

    Usually made by :func:`colonnade.tables.encode`. The code of a state is its position in the
    variable; the code equal to the number of states means *missing*.

    Parameters
    ----------
    variables : sequence of Variable
        At least one, all names different.
    codes : sequence of arrays [row]
        One column of integers per variable.
    weights : array [row], optional
        How often each row counts: non-negative and finite. Integers stay integers.
    discretizer : Discretizer, optional
        How numeric columns were cut, for cutting new rows the same way.
    unknown : mapping of str to mapping of value to int, optional
        Values that are not states and are coded as missing: for each variable that had any, the
        number of rows of each.
    memory : Memory, optional
        Bytes that may be taken for rows of a file or a database; None if nobody limited them.

    Attributes
    ----------
    codes : tuple of arrays of uint8, uint16 or uint32 [row]
        The narrowest type that holds the cardinality; not writeable.
    weights : array of int64 or float64 [row] or None
        Not writeable.
    missing : tuple of int
        Number of rows without a value, for each variable.

    Examples
    --------
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1, 2])
    >>> table = CodedTable([x, y], [[0, 0], [2, 3]])
    >>> table
    CodedTable(variables=['x', 'y'], rows=2, missing=1)
    >>> table.missing, table.codes[1].dtype
    ((0, 1), dtype('uint8'))
    """

    variables: tuple[Variable, ...]
    codes: tuple[Array, ...]
    weights: Array | None = None
    discretizer: Discretizer | None = None
    unknown: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    memory: Memory | None = None
    missing: tuple[int, ...] = field(init=False)
    _positions: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        variables, columns = tuple(self.variables), tuple(self.codes)
        for variable in variables:
            if not isinstance(variable, Variable):
                raise expected("only Variable objects", "variables", variable)
        if not variables:
            raise expected("at least one Variable", "variables", variables)
        positions = {variable.name: k for k, variable in enumerate(variables)}
        if len(positions) < len(variables):
            names = [variable.name for variable in variables]
            raise expected("different names", "variables", names)
        if len(columns) != len(variables):
            what = f"{counted(len(variables), 'column')}, one for each variable,"
            raise expected(what, "codes", columns, got=f"{len(columns)}")
        columns, missing = zip(*map(_compact, columns, variables), strict=True)
        rows = {len(column) for column in columns}
        if len(rows) > 1:
            raise expected("columns of one length", "codes", columns, got=f"lengths {sorted(rows)}")
        weights = self.weights
        if weights is not None:
            weights = checked_weights(weights, rows.pop(), "`weights`")
        for name, value in (
            ("variables", variables),
            ("codes", columns),
            ("weights", weights),
            ("missing", missing),
            ("_positions", positions),
        ):
            object.__setattr__(self, name, value)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes[0])

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None

    @property
    def total(self) -> float:
        """Sum of the weights; without any, the number of rows."""
        return float(self.rows if self.weights is None else self.weights.sum())

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Whether each row has all its values, ``[row]``.

        Examples
        --------
        >>> CodedTable([Variable("x", ["a", "b"])], [[0, 2]]).complete
        array([ True, False])
        """
        complete = np.ones(self.rows, dtype=bool)
        for variable, column, gaps in zip(self.variables, self.codes, self.missing, strict=True):
            if gaps:
                complete &= column < variable.cardinality
        return complete

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in order."""
        return tuple(self._positions)

    def position(self, name: str) -> int:
        """Return which column a variable is.

        Examples
        --------
        >>> CodedTable([Variable("x", ["a", "b"])], [[0]]).position("z")
        Traceback (most recent call last):
        colonnade.exceptions.InputError: Expected one of 'x' for `name`, got 'z'.
        """
        position = self._positions.get(name) if isinstance(name, str) else None
        if position is None:
            raise not_among(self.names, "name", name)
        return position

    def select(self, names: Sequence[str]) -> CodedTable:
        """Return the table with some columns only, in the order given; nothing is copied.

        Examples
        --------
        >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1])
        >>> table = CodedTable([x, y], [[0, 1], [1, 1]])
        >>> table.select(["y"]).names
        ('y',)
        """
        chosen = [self.position(name) for name in names]
        if not chosen or len(set(chosen)) < len(chosen):
            raise expected("different names", "names", list(names))
        part = object.__new__(CodedTable)  # what is part of a table need not be checked
        for field_name, value in (
            ("variables", tuple(self.variables[k] for k in chosen)),
            ("codes", tuple(self.codes[k] for k in chosen)),
            ("weights", self.weights),
            ("discretizer", self.discretizer.only(names) if self.discretizer else None),
            ("unknown", {name: self.unknown[name] for name in names if name in self.unknown}),
            ("memory", self.memory),
            ("missing", tuple(self.missing[k] for k in chosen)),
            ("_positions", {name: k for k, name in enumerate(names)}),
        ):
            object.__setattr__(part, field_name, value)
        return part

    def take(self, rows: Array) -> CodedTable:
        """Return some rows, given by their numbers in the order wanted, or by a mask.

        Examples
        --------
        >>> table = CodedTable([Variable("x", ["a", "b"])], [[0, 1, 2]])
        >>> table.take(table.complete).codes[0].tolist()
        [0, 1]
        """
        if self.memory is not None and rows.dtype == bool:
            return self.take_in_blocks(lambda low, high: rows[low:high])
        weights = None if self.weights is None else self.weights[rows]
        columns = tuple(column[rows] for column in self.codes)
        return CodedTable(self.variables, columns, weights, self.discretizer, memory=self.memory)

    def only_complete(self) -> CodedTable:
        """Return the rows that have all their values.

        Examples
        --------
        >>> CodedTable([Variable("x", ["a", "b"])], [[0, 1, 2]]).only_complete().rows
        2
        """
        if not any(self.missing):
            return self
        return self.take(self.complete)

    def take_in_blocks(self, choose: Callable[[int, int], Array]) -> CodedTable:
        """Return some rows, on disk where memory is short.

        `choose` says which, by a mask or by positions, of those from one row up to another.
        """
        from colonnade.tables.bounds import Memory
        from colonnade.tables.compact import CompactColumns

        memory = self.memory or Memory()
        sizes = [variable.cardinality for variable in self.variables]
        step = memory.block_rows(len(sizes))
        weights: list[Array] = []
        with CompactColumns(memory.size) as store:
            for low in range(0, self.rows, step):
                high = min(low + step, self.rows)
                rows = choose(low, high)
                store.add([column[low:high][rows] for column in self.codes])
                weights += [] if self.weights is None else [self.weights[low:high][rows]]
            columns = store.recoded([np.arange(size + 1) for size in sizes], sizes)
        own = np.concatenate(weights) if weights else self.weights
        cuts = self.discretizer
        return CodedTable(self.variables, tuple(columns), own, cuts, memory=self.memory)

    def counts(
        self, families: Sequence[Members], missing: Literal["raise", "available"] = "raise"
    ) -> list[FamilyCounts]:
        """Count families, given by the names of their columns, parents first; see :func:`count`.

        Examples
        --------
        >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1, 2])
        >>> CodedTable([x, y], [[0, 1, 1], [2, 0, 2]]).counts([("y", "x")])[0].to_array().tolist()
        [[0, 1], [0, 0], [1, 1]]
        """
        from colonnade.tables.counting import count_families
        from colonnade.variables import Family

        own = [[self.variables[self.position(name)] for name in each] for each in families]
        return count_families(
            self, [Family(child, tuple(parents)) for *parents, child in own], missing
        )

    def settled(self) -> CodedTable:
        """Return the table itself: its columns are as compact as can be."""
        return self

    def blocks(self) -> Iterator[CodedTable]:
        """Yield the table itself: it is one block."""
        yield self

    def with_missing_states(self) -> CodedTable:
        """Return the table with *missing* as one more state, the last, of columns that have gaps.

        The state is called ``"missing"``, with strokes after it if there is such a state already.

        Examples
        --------
        >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1])
        >>> table = CodedTable([x, y], [[0, 2], [0, 1]]).with_missing_states()
        >>> table.variables[0].states, table.variables[1].states, table.missing
        (('a', 'b', 'missing'), (0, 1), (0, 0))
        """
        pairs = zip(self.variables, self.missing, strict=True)
        variables = tuple(with_missing(each) if gaps else each for each, gaps in pairs)
        # The code for missing is the one after the last state: that of the new state.
        cuts, unknown = self.discretizer, self.unknown
        return CodedTable(variables, self.codes, self.weights, cuts, unknown, self.memory)

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        return (
            f"CodedTable(variables=[{listing(self.names)}], rows={self.rows}, "
            f"missing={sum(self.missing)}{weighted})"
        )


def with_missing(variable: Variable) -> Variable:
    """Return a variable with *missing* as one more state, the last."""
    name = "missing"
    while name in variable.states:
        name += "'"
    return replace(variable, states=(*variable.states, name))


def code_type(cardinality: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest type for the codes of a variable and the code for missing."""
    if cardinality < 255:
        return np.uint8
    return np.uint16 if cardinality < 65535 else np.uint32


def checked_weights(weights: ArrayLike, rows: int, place: str, first_row: int = 0) -> Array:
    """Return weights as int64 or float64, not writeable, or say what is wrong with them.

    Messages begin with `place`, where the weights come from; `first_row` is the number of rows of
    a table before these.
    """
    raw = np.asarray(weights)
    if raw.dtype.kind == "O":
        raw = _numbers(raw)
    if raw.dtype.kind not in "biuf":
        raise _not_numbers(raw.ravel().tolist(), place, first_row)
    if raw.shape != (rows,):
        problem = f"weights of shape {raw.shape} for {counted(rows, 'row')}."
        raise DataError(place, problem, "give one weight per row")
    if raw.dtype.kind == "f":
        missing = np.isnan(raw)
        if missing.any():
            raise missing_weight(place, first_row + int(missing.argmax()))
        _refuse(np.isinf(raw), raw, "is not finite", place, first_row)
    _refuse(raw < 0, raw, "is negative", place, first_row)
    whole = raw.dtype.kind != "f"
    refuse_total(raw, place)
    values = raw.astype(np.int64 if whole else np.float64)
    values.setflags(write=False)
    return values


def refuse_total(weights: Array, place: str) -> None:
    """Raise if weights, or sums of them, add up to more than can be counted."""
    with np.errstate(over="ignore"):
        total = weights.sum(dtype=np.float64)
    if not total <= 0.999 * _MAX_TOTAL:
        hint = "divide all of them by the same number"
        raise DataError(place, f"the weights add up to {total:.3g}, too much to count.", hint)


def _not_numbers(values: list[Any], place: str, first_row: int) -> DataError:
    """Word the error for weights that are no numbers; it names the first that cannot be one."""
    # Integers may be too large for any array of numbers.
    rows = [row for row, value in enumerate(values) if not isinstance(value, Real)] or [0]
    row = next((row for row in rows if not is_number(str(values[row]).strip())), rows[0])
    problem = f"{shown(values[row])} in {row_at(first_row + row)} cannot be a weight."
    hint = "weights are numbers; name another column, or leave numeric weights uncut"
    if is_number(str(values[row]).strip()):
        hint = "weights are numbers, not texts: convert them"
    return DataError(place, problem, hint, row=first_row + row, value=values[row])


def _refuse(
    bad: NDArray[np.bool_], values: Array, problem: str, place: str, first_row: int
) -> None:
    if bad.any():
        row = int(bad.argmax())
        hint = "weights say how often a row counts; use 0 for rows to leave out"
        message = f"weight {values[row]} in {row_at(first_row + row)} {problem}."
        raise DataError(place, message, hint, row=first_row + row, value=values[row].item())


def _numbers(raw: Array) -> Array:
    """Turn Python numbers into integers or floats; leave anything else as it is."""
    try:
        if all(isinstance(value, int | np.integer) for value in raw.flat):
            return raw.astype(np.int64)
        # NumPy would read texts as numbers, which they are in no other kind of table.
        return raw if any(isinstance(value, str) for value in raw.flat) else raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return raw


def _compact(column: ArrayLike, variable: Variable) -> tuple[Array, int]:
    """Return codes in their narrowest type, contiguous and not writeable; how many are missing."""
    raw = np.asarray(column)
    if raw.ndim != 1 or (raw.dtype.kind not in "iu" and raw.size):
        got = f"{raw.dtype} of shape {raw.shape}"
        raise expected(f"a column of integers for {variable.name!r}", "codes", column, got=got)
    high = int(raw.max(initial=0))
    low = 0 if raw.dtype.kind == "u" else int(raw.min(initial=0))
    if low < 0 or high > variable.cardinality:
        what = f"codes from 0 to {variable.cardinality} (missing) for {variable.name!r}"
        raise expected(what, "codes", low if low < 0 else high)
    gaps = np.count_nonzero(raw == high) if high == variable.cardinality else 0
    compact = np.ascontiguousarray(raw, dtype=code_type(variable.cardinality))
    if compact is raw and raw.flags.writeable:
        compact = raw.copy()  # codes are checked once: nobody may change them afterwards
    compact.setflags(write=False)
    return compact, int(gaps)
