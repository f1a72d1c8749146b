"""Asked: what is said of a table when it is opened, and checked once for tables of every kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from colonnade.arrays import Weights
from colonnade.exceptions import (
    Advice,
    checked_list,
    expected,
    is_word,
    listing,
    not_among,
    renamed,
)
from colonnade.tables.levels import refuse_absent
from colonnade.variables import State, Variable

if TYPE_CHECKING:
    from colonnade.tables.discretizing import Discretizer

Declared: TypeAlias = Sequence[Variable] | Mapping[str, Iterable[State]] | None


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is asked of a table when it is opened: the parameters of :func:`encode`."""

    variables: Declared = None
    weights: Weights = None
    unknown: Literal["raise", "missing"] = "raise"
    discretizer: Discretizer | None = None
    columns: Sequence[str] | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        from colonnade.tables.discretizing import Discretizer

        if not is_word(self.unknown, "raise", "missing"):
            raise expected("'raise' or 'missing'", "unknown", self.unknown)
        if self.discretizer is not None and not isinstance(self.discretizer, Discretizer):
            raise expected("a Discretizer or None", "discretizer", self.discretizer)

    @property
    def weight_column(self) -> str | None:
        """The column with the weights, if they are one."""
        return self.weights if isinstance(self.weights, str) else None

    def plan(self, known: Sequence[str]) -> tuple[dict[str, Variable], tuple[str, ...]]:
        """Return the declared variables by name, and the columns to take of those known."""
        declared, weights = declared_variables(self.variables), self.weight_column
        if self.columns is not None:
            taken = checked_list(self.columns, "a list of column names", "columns")
            strange = [name for name in declared if name not in taken]
            if strange:
                raise expected(f"only states of {listing(taken)}", "variables", strange)
        elif self.variables is None or isinstance(self.variables, Mapping):
            taken = [name for name in known if name != weights]
        elif not declared:
            raise expected("at least one Variable", "variables", self.variables)
        else:
            taken = list(declared)
        if weights is not None and (weights in declared or weights in taken):
            raise expected("a column that is not one of `variables`", "weights", weights)
        wanted = [*taken, *declared]
        hint = Advice.NAMED_BY_WEIGHTS if set(wanted) <= set(known) else ""
        refuse_absent([*wanted, *([] if weights is None else [weights])], known, hint)
        if not taken:
            raise expected("at least one column besides the weights", "table", list(known))
        if self.group is not None and (not isinstance(self.group, str) or self.group not in taken):
            raise not_among(taken, "group", self.group)
        return declared, tuple(taken)


def declared_variables(variables: Declared) -> dict[str, Variable]:
    """Return declared variables by name, whichever way they were declared."""
    if variables is None:
        return {}
    if isinstance(variables, Mapping):
        return {name: _with_states(name, states) for name, states in variables.items()}
    hint = "or declare states by a mapping, such as {'smoker': ['no', 'yes']}"
    if isinstance(variables, Variable | str) or not isinstance(variables, Iterable):
        raise expected("a list of Variable objects", "variables", variables, hint)
    variables = list(variables)
    for variable in variables:
        if not isinstance(variable, Variable):
            raise expected("only Variable objects", "variables", variable, hint)
    declared = {variable.name: variable for variable in variables}
    if len(declared) < len(variables):
        raise expected("different names", "variables", [v.name for v in variables])
    return declared


def _with_states(name: str, states: Any) -> Variable:
    if isinstance(states, str | Variable) or not isinstance(states, Iterable):
        hint = "such as {'smoker': ['no', 'yes']}"
        raise expected(f"a list of states for {name!r}", "variables", states, hint)
    with renamed(name="variables", states="variables"):
        return Variable(name, tuple(states))
