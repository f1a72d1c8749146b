"""From the draft of a file to a network, checking all that the file says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.configurations import all_codes
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.exceptions import counted
from colonnade.files.drafts import Draft, DraftEffects, DraftTable, DraftVariable
from colonnade.files.misfit import MisfitError, made
from colonnade.files.names import typed
from colonnade.network import BayesianNetwork
from colonnade.priors import Effects
from colonnade.variables import Family, Variable
from colonnade.wording import MAX_SHOWN_PARENTS

# By how much the sum of a row may differ from 1: beyond the first it is divided by its sum, and
# beyond the second, more than the rounding of printed digits, it is refused. A probability may be
# negative by the first, and becomes 0.
_MAX_ROUNDING = 1e-6
_MAX_PRINTED_ROUNDING = 0.01


def assemble(draft: Draft) -> tuple[BayesianNetwork, list[str]]:
    """Build the network that a file describes, with notes for the user, or raise `MisfitError`."""
    if not draft.variables:
        raise MisfitError("", "it defines no variables.")
    variables = {name: _variable(each) for name, each in draft.variables.items()}
    names = [variable.name for variable in variables.values()]
    if len(set(names)) < len(names):
        raise MisfitError("", "two variables have the same name.")
    tables, arcs, notes = {}, [], list(draft.notes)
    for name, variable in variables.items():
        place = draft.variables[name].place
        table = draft.tables.get(name)
        if table is None:
            raise MisfitError(place, "it has no probabilities.")
        try:
            cpt, rescaled = _table(variable, table, variables, place)
        except MisfitError as error:
            raise error.below(table.line) from None
        tables[variable.name] = cpt
        arcs += [(parent.name, variable.name) for parent in cpt.family.parents]
        notes += rescaled
    dag = made("", Dag, tuple(arcs), tuple(names))
    return made("", BayesianNetwork, dag, tables), notes


def _table(
    variable: Variable,
    table: DraftTable | DraftEffects,
    variables: Mapping[str, Variable],
    place: str,
) -> tuple[Cpt, list[str]]:
    """Make the table of a variable, with notes for the user."""
    for parent in table.parents:
        if parent not in variables:
            raise MisfitError(place, f"its parent {parent[:80]!r} is not defined.")
    if variable in (variables[parent] for parent in table.parents):
        raise MisfitError(place, "it is its own parent.")
    if repeated := _repeated(table.parents):
        raise MisfitError(place, f"its parent {repeated[:80]!r} is named twice.")
    parents = tuple(variables[parent] for parent in table.parents)
    family = made(place, Family, variable, parents)
    if isinstance(table, DraftEffects):
        return _noisy_cpt(family, table, place)
    return _cpt(family, table, place)


def _variable(draft: DraftVariable) -> Variable:
    if not draft.name:
        raise MisfitError("", "a variable has no name.")
    if not draft.labels:
        raise draft.misfit("it has no states.")
    if "" in draft.labels:
        raise draft.misfit(f"its state {draft.labels.index('') + 1} has no name.")
    if repeated := _repeated(draft.labels):
        raise draft.misfit(f"its state {repeated[:80]!r} is listed twice.")
    if draft.original is not None:
        return draft.original
    states = made(draft.place, typed, draft.labels, draft.types)
    return made(draft.place, Variable, draft.title, states)


def _cpt(family: Family, table: DraftTable, place: str) -> tuple[Cpt, list[str]]:
    r, configurations = family.cardinality, family.configurations
    listed, rest = divmod(table.rows.size, r)
    if rest or (table.codes is None and listed != configurations):
        found = counted(table.rows.size, "probability", "probabilities")
        wanted = f"{counted(configurations, 'configuration')} of {counted(r, 'state')}"
        hint = f"give {counted(configurations * r, 'probability', 'probabilities')}"
        raise MisfitError(place, f"{found} for {wanted}.", hint)
    unlisted = configurations - listed
    if unlisted and table.default is None:
        problem = f"there are no probabilities for {counted(unlisted, 'configuration')}."
        raise MisfitError(place, problem, "give them, or a default row")
    sizes = family.parent_sizes
    checks = _Checks(place, table.relative)
    codes = all_codes(sizes) if table.codes is None else table.codes
    given = partial(_given, family, codes)
    rows, notes = checks.probabilities(table.rows.reshape(listed, r), given)
    default = None
    if unlisted and table.default is not None:
        (default,), more = checks.probabilities(table.default[None], lambda _: " by default")
        notes += more
    sparse = made(place, SparseTable, sizes, codes, rows, default)
    return Cpt(family, None, None, sparse), notes


def _noisy_cpt(family: Family, table: DraftEffects, place: str) -> tuple[Cpt, list[str]]:
    sizes, r = family.parent_sizes, family.cardinality
    wanted = sum(sizes) + 1
    if table.rows.size != wanted * r:
        found = counted(table.rows.size, "probability", "probabilities")
        states = f"{counted(wanted - 1, 'state')} of its parents and a leak"
        raise MisfitError(place, f"{found} for {states}, {counted(r, 'state')} each.")
    ends = np.cumsum(sizes, dtype=np.int64)
    own = [state for size in sizes for state in range(size)]
    order = own if table.order is None else table.order
    blocks = [order[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    if len(order) != len(own) or any(sorted(block) != list(range(len(block))) for block in blocks):
        raise MisfitError(place, "its strengths do not list the states of its parents.")

    def given(row: int) -> str:
        if row == wanted - 1:
            return " of the leak"
        parent = family.parents[k := int(np.searchsorted(ends, row, side="right"))]
        state = parent.states[blocks[k][row - int(ends[k]) + sizes[k]]]
        return f" of the effect of {parent.name} = {state}"

    rows, notes = _Checks(place, False).probabilities(table.rows.reshape(wanted, r), given)
    *listed, leak = np.split(rows, ends)
    parents = [each[np.argsort(block)] for each, block in zip(listed, blocks, strict=True)]
    effects = made(place, Effects, tuple(parents), leak[0], True)
    return made(place, Cpt.of_effects, family, effects), notes


def _given(family: Family, codes: Array, row: int) -> str:
    """Name the configuration of a row in words."""
    pairs = zip(family.parents, codes[row].tolist(), strict=True)
    given = [f"{parent.name} = {parent.states[code]}" for parent, code in pairs]
    shown = given[:MAX_SHOWN_PARENTS] + ["..."] * (len(given) > MAX_SHOWN_PARENTS)
    return f" given {', '.join(shown)}" if given else ""


@dataclass(frozen=True, slots=True)
class _Checks:
    """What makes rows of numbers probabilities: none is negative, and each row sums to one.

    Both only up to rounding, which is taken out with a note for the user.
    """

    place: str
    relative: bool  # see `DraftTable`

    def probabilities(self, rows: Floats, given: Callable[[int], str]) -> tuple[Floats, list[str]]:
        """The rows as probabilities, and notes; `given` names the configuration of a row."""
        rows, notes = self._without_negatives(rows, given)
        totals = rows.sum(axis=1)
        off = np.abs(totals - 1.0)
        if self.relative and not totals.all():
            where = given(int((totals == 0.0).argmax()))
            raise MisfitError(self.place, f"its probabilities{where} are all 0.")
        if not self.relative and off.max(initial=0.0) > _MAX_PRINTED_ROUNDING:
            worst = int(off.argmax())
            sums = f"do not sum to 1 but to {totals[worst]:.6g}"
            hint = "correct them, or divide them by their sum"
            raise MisfitError(self.place, f"its probabilities{given(worst)} {sums}.", hint)
        inexact = int((off > _MAX_ROUNDING).sum())
        if not inexact:
            return rows, notes
        by = f"off by up to {off.max():.2g}"
        notes.append(f"rescaled {counted(inexact, 'row')} of {self.place} to sum to 1 ({by})")
        return rows / totals[:, None], notes

    def _without_negatives(
        self, rows: Floats, given: Callable[[int], str]
    ) -> tuple[Floats, list[str]]:
        scale = rows.max(axis=1, keepdims=True, initial=0.0) if self.relative else 1.0
        # NaN is not at least anything.
        bad = ~((rows >= -_MAX_ROUNDING * scale) & np.isfinite(rows))
        if bad.any():
            where = given(int(bad.any(axis=1).argmax()))
            problem = f"a probability{where} is negative or not a number."
            raise MisfitError(self.place, problem)
        negative = rows < 0.0
        if not negative.any():
            return rows, []
        number = counted(int(negative.sum()), "negative probability", "negative probabilities")
        lowest = f"the lowest is {rows.min():.2g}"
        return np.where(negative, 0.0, rows), [f"set {number} of {self.place} to 0 ({lowest})"]


def _repeated(names: Sequence[str]) -> str:
    """The first name that occurs twice, or nothing."""
    return next((name for name, number in Counter(names).items() if number > 1), "")
