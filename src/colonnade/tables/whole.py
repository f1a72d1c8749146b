"""Tables whose rows are elsewhere, read into memory: for what needs all values of all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from colonnade.progress import Progress
from colonnade.tables.alongside import joined_columns, plain_values
from colonnade.tables.engines import Engine
from colonnade.tables.files import TextTable
from colonnade.tables.parts import Block
from colonnade.tables.scanning import Scanned
from colonnade.tables.text_files import TextFiles, TextTrack

_Kept = Mapping[str, Any]


def whole_table(table: Scanned | Engine) -> TextTable | None:
    r"""Return all columns as :func:`colonnade.read` does, or None if they do not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colonnade import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, rows in (("a.csv", "yes,1\nno,2\n"), ("b.csv", "yes,\n")):
    ...         _ = Path(folder, name).write_text("smoker,age\n" + rows)
    ...     whole_table(scan(f"{folder}/*.csv"))
    {'smoker': ['yes', 'no', 'yes'], 'age': [1, 2, None]}
    """
    if isinstance(table, Scanned) and isinstance(table.parts, TextFiles):
        return _whole_text(table, table.parts)
    with table.answering() if isinstance(table, Engine) else nullcontext():
        blocks = _kept(table, _plain_columns)
    if blocks is None:
        return None
    return TextTable({name: joined_columns([own[name] for own in blocks]) for name in table.names})


def _whole_text(table: Scanned, files: TextFiles) -> TextTable | None:
    """Read columns of text files, whose types are decided on all rows."""
    tracks: dict[str, TextTrack] = {}
    for name in table.names:
        track = files.track(name, False, None)
        assert isinstance(track, TextTrack)  # no column is cut
        tracks[name] = track

    def numbered(block: Block) -> _Kept:
        return {name: tracks[name].codes(column) for name, column in block.columns.items()}

    blocks = _kept(table, numbered)
    if blocks is None:
        return None
    files.remark(tracks)
    readings = {name: track.reading for name, track in tracks.items()}
    found = {}
    for name, track in tracks.items():
        # A reading knows texts without the blanks before them.
        texts = np.array([text.lstrip(" ") for text in track.texts], dtype=object)
        rows = np.concatenate([own[name] for own in blocks])
        found[name] = readings[name].values(texts[rows])
    missing = {name: reading.missing for name, reading in readings.items() if reading.missing}
    return TextTable(found, missing)


def _kept(table: Scanned | Engine, keep: Callable[[Block], _Kept]) -> list[_Kept] | None:
    """Return what is to be kept of each block, or None as soon as it would not fit."""
    passed = table.parts if isinstance(table, Scanned) else table
    blocks = []
    rows = 0
    with Progress("Reading") as progress:
        for block in passed.passed(table.names):
            rows += block.rows
            if not table.memory.holds_values(rows * len(table.names)):
                return None
            blocks.append(keep(block))
            progress.advance(block.rows, f"Reading: {rows:,} rows")
    return blocks


def _plain_columns(block: Block) -> _Kept:
    return {name: plain_values(column.values) for name, column in block.columns.items()}
