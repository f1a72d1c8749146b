"""What is said about the columns of a table on their way in, each thing once for all columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import Advice, DataWarning, counted
from colonnade.tables.levels import place
from colonnade.tables.texts import MISSING_CODES, Codes, Reading, strange_texts
from colonnade.variables import State, Variable
from colonnade.wording import alike, joined, synonyms

# Of the columns that have the same trouble, and of the states or texts of each.
_MAX_SHOWN = 5
_CODES = frozenset(MISSING_CODES)
# Numbers that many surveys write where there is no answer.
_NUMBER_CODES = frozenset((-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0))


# ------------------------------------------------------------ the columns of a file


def of_dialect(
    where: str, separator: str | None, readings: Mapping[str, Reading], sure: bool
) -> Iterator[DataWarning]:
    """Say what was guessed about the signs between values and within numbers.

    `separator` is named if it was guessed; `sure` says that a user told of decimal commas.
    """
    guesses = [] if separator is None else [f"values separated by {separator}"]
    commas = [repr(name) for name, reading in readings.items() if reading.comma]
    if commas and not sure:
        noun = "column" if len(commas) == 1 else "columns"
        guesses.append(f"numbers with a decimal comma in {noun} {_shown(commas)}")
    if guesses:
        yield DataWarning(f"{where}: read {' and '.join(guesses)}.", Advice.NAME_DIALECT)


def of_readings(where: str, readings: Mapping[str, Reading], codes: Codes) -> Iterator[DataWarning]:
    """Say what was made of the texts of a file; what a user chose is no surprise."""
    missing = {name: reading.missing for name, reading in readings.items() if reading.missing}
    if missing and not codes.chosen:
        totals = sum(map(Counter[str], missing.values()), Counter[str]())
        texts = joined(f"{counted(n, 'value')} {text!r}" for text, n in totals.most_common())
        columns = [f"{name!r} ({sum(rows.values()):,})" for name, rows in missing.items()]
        places = (
            f"columns {_shown(columns)}" if len(missing) > 1 else f"column {next(iter(missing))!r}"
        )
        yield DataWarning(f"{where}: read {texts} as missing, in {places}.", Advice.CHOOSE_CODES)
    kept = {
        name: f"{_rows(reading.kept)} read as {_states(len(reading.kept))}, not as missing"
        for name, reading in readings.items()
        if reading.kept
    }
    yield from _told(kept, Advice.CHOOSE_CODES)
    strange = {
        name: f"text, not numbers, because of {_rows(reading.strange)}"
        for name, reading in readings.items()
        if reading.strange
    }
    yield from _told(strange, Advice.CORRECT_NUMBERS)
    stripped = {
        name: f"blanks around {_rows(reading.stripped)} were removed"
        for name, reading in readings.items()
        if reading.stripped
    }
    yield from _told(stripped)


# --------------------------------------------------------- states that were discovered


def of_states(variables: Iterable[Variable], unread: Collection[str]) -> Iterator[DataWarning]:
    """Say which states that were found in a table look like a mistake.

    `unread` are the columns whose texts no reader of files has looked at.
    """
    remarks = {v.name: StateRemarks.of(v.states, v.name in unread) for v in variables}
    for trouble, hint in (
        ("similar", Advice.ONE_WAY),
        ("codes", Advice.MARK_MISSING),
        ("strange", Advice.MARK_MISSING),
    ):
        told = {name: getattr(each, trouble) for name, each in remarks.items()}
        yield from _told({name: text for name, text in told.items() if text}, hint)


def of_one_more(name: str, states: Sequence[State], new: State) -> Iterator[DataWarning]:
    """Say which states of a column a new one is easily mistaken for."""
    similar = [state for state in states if alike(state) == alike(new)]
    texts = all(isinstance(state, str) for state in (*similar, new))
    shown = _shown([repr(state) for state in (*similar, new)])
    what = "case or blanks" if texts else "type"
    problem = f"states {shown} differ only by {what}"
    yield from _told({name: problem} if similar else {}, Advice.ONE_WAY)


class StateRemarks(NamedTuple):
    """What is the matter with the states of one variable, in words; empty where nothing is."""

    similar: str = ""
    codes: str = ""
    strange: str = ""

    @classmethod
    def of(cls, states: Iterable[State], unread: bool) -> StateRemarks:
        """Look at states; `unread` says that no reader of files has looked at them as texts."""
        words = [state for state in states if isinstance(state, str)]
        same, groups = synonyms(words), _lookalikes(words)
        told = [f"states {_enumerated(same)} may mean the same"] if same else []
        other = [group for group in groups if not any({*group} <= {*each} for each in same)]
        told += [f"states {_enumerated(other)} differ only by case or blanks"] if other else []
        similar = "; ".join(told)
        if not unread:
            return cls(similar)
        codes = [state for state in words if not state.strip() or state in _CODES]
        strange = strange_texts([s for s in words if s.strip() and s not in _CODES])
        return cls(
            similar,
            f"{_shown([repr(s) for s in codes])} taken as {_states(len(codes))}, not as missing"
            if codes
            else "",
            f"text, not numbers, because of {_shown([repr(s) for s in strange])}"
            if strange
            else "",
        )


def one_state(states: Sequence[State], counts: Sequence[int]) -> dict[str, str]:
    """Return which texts may be written as which state: the one of their kind with most rows."""
    words = {s: n for s, n in zip(states, counts, strict=True) if isinstance(s, str)}
    found: dict[str, str] = {}
    for group in [*synonyms(words), *_lookalikes(list(words))]:
        best = max(group, key=lambda each: (words[each], len(each)))
        for each in group:
            if each != best:
                found.setdefault(each, found.get(best, best))
    return found


def number_code(numbers: Floats, times: Array | None = None) -> str:
    """Say which number may stand for a missing value; empty if none looks like it.

    If each number occurs once, `times` says how many rows it stands for.
    It is a usual code, the smallest or the largest number, and apart from the others: below zero
    while they are not, or farther from the next one than the others reach.
    """
    values, rows = np.unique(numbers, return_counts=True)
    if times is not None:
        rows = times[np.argsort(numbers)]
    if len(values) < 3:
        return ""
    low, high = values[0], values[-1]
    if low in _NUMBER_CODES and values[1] >= 0.0:
        return f"{low:g} ({counted(int(rows[0]), 'row')}) may stand for a missing value"
    if high in _NUMBER_CODES and high - values[-2] > values[-2] - low:
        return f"{high:g} ({counted(int(rows[-1]), 'row')}) may stand for a missing value"
    return ""


def _lookalikes(states: Sequence[str]) -> list[list[str]]:
    """Return groups of states that differ only by case or blanks."""
    groups: dict[str, list[str]] = {}
    for state in states:
        groups.setdefault(alike(state), []).append(state)
    return [group for group in groups.values() if len(group) > 1]


# -------------------------------------------------------------------------- wording


def _enumerated(groups: Sequence[Sequence[str]]) -> str:
    return "; ".join(_shown([repr(state) for state in group]) for group in groups[:2])


def _told(problems: Mapping[str, str], hint: str = "") -> Iterator[DataWarning]:
    """Word what is the matter with some columns as one warning; none if there are none."""
    if not problems:
        return
    told = [f"{place(name)}: {problem}." for name, problem in problems.items()]
    more = len(told) - _MAX_SHOWN
    rest = [f"The same in {counted(more, 'more column')}."] if more > 0 else []
    yield DataWarning(" ".join(told[:_MAX_SHOWN] + rest), hint)


def _states(n: int) -> str:
    return "a state" if n == 1 else "states"


def _rows(rows: Mapping[str, int]) -> str:
    """Write texts with the number of rows of each."""
    return _shown([f"{text!r} ({counted(n, 'row')})" for text, n in rows.items()])


def _shown(items: Sequence[str]) -> str:
    """Write an enumeration that is not too long."""
    more = len(items) - _MAX_SHOWN
    return joined([*items[:_MAX_SHOWN], *([f"{more:,} more"] if more > 0 else [])])
