"""What is typed after --recode and --order: values that stand for states, and the states in order.

Both are kept with a network: as the states of its variables, and as other spellings of them.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from colonnade.cli.values import Misuse
from colonnade.exceptions import (
    DataError,
    DataWarning,
    did_you_mean,
    listing,
    not_among,
    warn,
)

if TYPE_CHECKING:
    from colonnade.tables import Scanned
    from colonnade.tables.engines import Engine
    from colonnade.tables.files import TextTable
    from colonnade.tables.levels import Levels
    from colonnade.tables.sources import Column, StateColumn
    from colonnade.tables.tallies import Tallies
    from colonnade.variables import State, Variable

_WORDS = re.compile(r"\s*(?P<name>\S.*?)\s*:\s*(?P<words>\S.*?)\s*")
_RECODE = "write 'smoker: Y = yes, N = no'"
_ORDER = "write 'stage: I, II, III, IV'"


@dataclass(frozen=True, slots=True)
class Restating:
    """What options say of one column: what its values mean, and the order of its states.

    All are texts, as they were typed; what types they have is found out from the column.
    """

    name: str
    meanings: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """The option that named the column."""
        return "--recode" if self.meanings else "--order"

    def variable(self, labels: Sequence[State], closed: bool, part: bool = False) -> Variable:
        """Return the variable of a column that has some labels, perhaps in an order of its own.

        Rows that are a part of the data need not have all values that are named.
        """
        from colonnade.tables.coding import discovered
        from colonnade.tables.levels import Levels
        from colonnade.variables import Variable

        typed = {str(label): label for label in labels}
        typed |= {str(label).lower(): label for label in labels if isinstance(label, bool)}
        whole = all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
        for text in self.meanings:
            if text not in typed:
                where = f"Column {self.name!r}"
                problem = f"no value {text!r} to be recoded; it has {listing(labels, 10)}."
                hint = did_you_mean(text, list(map(str, labels)))
                if not part:
                    raise DataError(where, problem, hint, column=self.name)
                warn(DataWarning(f"{where}: {problem}", hint))

        def as_typed(text: str) -> State:
            return int(text) if whole and re.fullmatch(r"-?[0-9]+", text) else text

        def state(text: str) -> State:
            return typed[text] if text in typed and text not in self.meanings else as_typed(text)

        spellings = {
            typed.get(text, as_typed(text)): state(meant) for text, meant in self.meanings.items()
        }
        if self.order:
            states = [state(text) for text in self.order]
        else:
            meant = (spellings.get(label, label) for label in labels)
            found = list(dict.fromkeys((*meant, *spellings.values())))
            states = list(discovered(self.name, Levels(found, np.empty(0), closed)).states)
        for value, own in spellings.items():
            if own not in states:
                raise Misuse(f"--order: {self.name!r} lacks {own!r}, which --recode names.")
            if value in states:
                raise Misuse(f"--order: {value!r} of {self.name!r} is recoded as {own!r}.")
        return Variable(self.name, tuple(states), spellings)


def restatings_of(recode: Sequence[str], order: Sequence[str]) -> dict[str, Restating]:
    """Read what was typed after --recode and --order."""
    found: dict[str, Restating] = {}
    for text in recode:
        name, words = _split(text, "--recode", "COLUMN: VALUE = STATE, ...", _RECODE)
        meanings: dict[str, str] = {}
        for word in words:
            value, sign, state = (part.strip() for part in _pair(word))
            if not sign or not value or not state or value == state or value in meanings:
                what = "VALUE = STATE, each value once,"
                raise Misuse(f"Expected {what} for --recode, got {word!r}.", hint=_RECODE)
            meanings[value] = state
        if name in found:
            raise Misuse(f"--recode: {name!r} is given twice.")
        found[name] = Restating(name, meanings)
    for text in order:
        name, words = _split(text, "--order", "COLUMN: STATE, STATE, ...", _ORDER)
        if len(set(words)) < len(words) or not all(words):
            raise Misuse(f"Expected different states for --order, got {text!r}.", hint=_ORDER)
        own = found.get(name, Restating(name))
        if own.order:
            raise Misuse(f"--order: {name!r} is given twice.")
        found[name] = replace(own, order=tuple(words))
    return found


def variables_in(table: TextTable, wanted: Mapping[str, Restating]) -> list[Variable]:
    """Return the variables that options make of some columns."""
    from colonnade.tables.sources import source_of

    _refuse_absent(wanted, list(table))
    found = source_of(table).columns if wanted else {}
    return [_variable(found[name].levels(declared=True), own) for name, own in wanted.items()]


def restated(table: TextTable, wanted: Mapping[str, Restating]) -> TextTable:
    """Return a table whose columns hold the states that options give them."""
    from colonnade.tables.files import TextTable
    from colonnade.tables.sources import source_of

    _refuse_absent(wanted, list(table))
    found = source_of(table).columns if wanted else {}
    columns = {name: _restated(found[name], own) for name, own in wanted.items()}
    return TextTable({**table, **columns}, table.codes, table.texts)


def restated_values(found: Tallies, wanted: Mapping[str, Restating]) -> Tallies:
    """Return the same of the different values of columns."""
    _refuse_absent(wanted, list(found.columns))
    fresh = {
        name: replace(found.columns[name], column=_restated(found.columns[name].column, own))
        for name, own in wanted.items()
    }
    return replace(found, columns={**found.columns, **fresh})


def _restated(column: Column, own: Restating) -> StateColumn:
    from colonnade.tables.coding import CodedColumn, coded_table, unknown_states
    from colonnade.tables.sources import StateColumn

    levels = column.levels(declared=True)
    variable = _variable(levels, own)
    if column.number_type is not None and not own.order:
        _warn_of_numbers(variable)
    coded = CodedColumn.of(variable, levels)
    if coded.unknown:
        raise unknown_states(coded_table([coded])).advising("name all states in --order")
    return StateColumn(column.name, variable.states, coded.codes, variable.spellings)


def _warn_of_numbers(variable: Variable) -> None:
    """Say that numbers which would be cut are states, because some of them are recoded."""
    from colonnade.tables.bins import MAX_NUMERIC_STATES

    if (numbers := variable.cardinality) > MAX_NUMERIC_STATES:
        what = f"each of its {numbers:,} numbers is a state, and none is cut, because of --recode."
        hint = "correct single numbers in the data instead to have the others cut"
        warn(DataWarning(f"Column {variable.name!r}: {what}", hint))


def _variable(levels: Levels, own: Restating) -> Variable:
    return own.variable(list(dict.fromkeys(levels.present)), levels.closed)


def variables_passing(
    table: Scanned | Engine, wanted: Mapping[str, Restating], part: bool = False
) -> list[Variable]:
    """Return the same of files, or of a part of them, in a pass over the columns named."""
    from colonnade.tables.coding import in_order
    from colonnade.tables.countable import countable

    if not wanted:
        return []
    _refuse_absent(wanted, table.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with the states is about to be mended
        found = countable(table, columns=list(wanted)).variables
    # States in another order than that of words are categories.
    closed = {each.name: in_order(each.states) != list(each.states) for each in found}
    return [wanted[v.name].variable(v.states, closed[v.name], part) for v in found]


def _refuse_absent(wanted: Mapping[str, Restating], columns: Sequence[str]) -> None:
    for name, own in wanted.items():
        if name not in columns:
            raise not_among(columns, own.option.removeprefix("--"), name)


def _split(text: str, option: str, what: str, hint: str) -> tuple[str, list[str]]:
    found = _WORDS.fullmatch(text)
    if found is None:
        raise Misuse(f"Expected {what} for {option}, got {text!r}.", hint=hint)
    words = next(csv.reader([found["words"]], skipinitialspace=True))
    return found["name"], [word.strip() for word in words]


def _pair(word: str) -> tuple[str, str, str]:
    """Split at the sign; if values contain it, at the one between blanks."""
    return word.partition(" = " if " = " in word else "=")
