"""What is done with rows that lack values: one word, one meaning, for tables and for graphs.

| word | tables | graphs |
|---|---|---|
| ``"raise"`` | refused | refused |
| ``"available"`` | each from the rows that are complete for it | from the complete rows |
| ``"em"``, ``EM()`` | from all rows, completed by EM | from the complete rows |
| ``"state"`` | a missing value is one more state | a missing value is one more state |

Graphs are compared by one set of rows. Families that each used the rows they have would be compared
by different rows, and parents with many gaps would gain by leaving rows out.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from colonnade.exceptions import (
    Advice,
    DataError,
    IncompleteRowsWarning,
    counted,
    expected,
    warn,
)
from colonnade.missing.em import EM
from colonnade.tables.countable import Countable
from colonnade.tables.levels import refuse_missing

_Word: TypeAlias = Literal["raise", "available", "em", "state"]
Missing: TypeAlias = _Word | EM

_WORDS: tuple[_Word, ...] = ("raise", "available", "em", "state")
_MAX_SHOWN_COLUMNS = 3


def checked_missing(missing: Any) -> Missing:
    """Return what is to be done with rows that lack values, or say what is wrong."""
    if isinstance(missing, EM):
        return missing
    for word in _WORDS:
        if isinstance(missing, str) and missing == word:
            return word
    raise expected("'raise', 'available', 'em', 'state' or EM()", "missing", missing)


def treated(coded: Countable, missing: Missing) -> Countable:
    """Return a table in which a missing value is a state, if it is to be one."""
    return coded.with_missing_states() if missing == "state" else coded


def rows_for_graph(coded: Countable, missing: Missing) -> Countable:
    """Return the rows that graphs are learned from and compared by: none of them has a gap."""
    coded = treated(coded, missing)
    if missing == "raise":
        gaps = dict(zip(coded.names, coded.missing, strict=True))
        refuse_missing(gaps, coded.rows, Advice.LEARN_FROM_COMPLETE_ROWS)
    return complete_rows(coded)


def warn_of_rest(coded: Countable, chosen: Countable, purpose: str = "the graph") -> None:
    """Say which rows of a table were not chosen for a purpose, and because of which columns."""
    if chosen.rows < coded.rows:
        number = f"Only {chosen.rows:,}" if chosen.rows else "None"
        verb = "are" if chosen.rows > 1 else "is"
        used = f"{number} of {coded.rows:,} rows {verb} used for {purpose}"
        warn(IncompleteRowsWarning(f"{used}: {_lacking(coded)}.", Advice.USE_ALL_ROWS))


def complete_rows(coded: Countable) -> Countable:
    """Return the rows that have all their values; there must be some."""
    if not any(coded.missing):
        return coded
    chosen = coded.only_complete()
    if not chosen.rows:
        problem = f"none of {counted(coded.rows, 'row')} is complete; {_lacking(coded)}."
        raise DataError("Table", problem, Advice.NO_COMPLETE_ROWS, rows=coded.rows)
    return chosen


def _lacking(coded: Countable) -> str:
    """Say which columns lack values, and how many; the worst first."""
    gaps = {name: n for name, n in zip(coded.names, coded.missing, strict=True) if n}
    worst = sorted(gaps, key=lambda name: -gaps[name])
    shown = [f"{name!r} ({gaps[name]:,})" for name in worst[:_MAX_SHOWN_COLUMNS]]
    if len(worst) > len(shown):
        shown.append(f"... {len(worst) - len(shown)} more")
    return f"values are missing in {', '.join(shown)}"
