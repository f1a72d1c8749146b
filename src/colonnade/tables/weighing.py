"""Blocks of a table that passes by, each with the weights of its rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from colonnade.arrays import Array, Weights
from colonnade.exceptions import DataError, counted
from colonnade.progress import Progress
from colonnade.tables.coded import checked_weights
from colonnade.tables.levels import missing_weight, place
from colonnade.tables.parts import Block, Passed
from colonnade.tables.sources import Column


def weighted(
    parts: Passed, names: Sequence[str], given: Weights, what: str
) -> Iterator[tuple[Block, Array | None]]:
    """Yield all blocks with the weights of their rows, a column or an array; show progress."""
    wanted = [*names, *([given] if isinstance(given, str) else [])]
    array = None if given is None or isinstance(given, str) else np.asarray(given)
    rows, begin = 0, time.monotonic()
    with Progress(what, parts.rows) as progress:
        for block in parts.passed(wanted):
            weights = None
            if isinstance(given, str):
                weights = _weights_of(block.columns[given], block.rows, rows)
            elif array is not None:
                weights = _slice(array, rows, block.rows)
            rows += block.rows
            yield block, weights
            rate = _rounded(rows / max(time.monotonic() - begin, 1e-9))
            progress.advance(block.rows, f"{what}: {rows:,} rows, {rate} a second")
    if array is not None and array.shape != (rows,):
        raise _misfit(array, rows)


def _weights_of(column: Column, rows: int, first_row: int) -> Array:
    try:
        own = column.weights()
    except DataError as error:  # a weight is missing, in a row of the block
        raise missing_weight(place(column.name), first_row + error.details["row"]) from None
    return checked_weights(own, rows, place(column.name), first_row)


def _slice(weights: Array, low: int, rows: int) -> Array:
    if weights.ndim != 1 or low + rows > len(weights):
        raise _misfit(weights, low + rows)
    return checked_weights(weights[low : low + rows], rows, "`weights`", first_row=low)


def _misfit(weights: Array, rows: int) -> DataError:
    problem = f"weights of shape {weights.shape} for a table of {counted(rows, 'row')} or more."
    return DataError("`weights`", problem, "give one weight per row")


def _rounded(rate: float) -> str:
    """A rate with two digits."""
    return f"{float(f'{rate:.2g}'):,.0f}"
