"""From the plain values of a native file back to a network, trusting none of them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from colonnade.arrays import Array
from colonnade.configurations import all_codes
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.exceptions import InputError, counted
from colonnade.files.misfit import MisfitError, made
from colonnade.missing.em import EmDiagnostics
from colonnade.network import BayesianNetwork, Origin
from colonnade.network.counts import NetworkCounts, families_of
from colonnade.priors import Prior, restored, restored_effects
from colonnade.variables import Family, Variable

if TYPE_CHECKING:
    from colonnade.tables.discretizing import Discretizer

_KEYS = {"format", "version", "colonnade", "checksum", "variables", "arcs", "tables", "discretizer"}
_KEYS_SINCE_VERSION_2 = {"em"}
_OPTIONAL_KEYS = {"group"}
_OPTIONAL_KEYS_OF_NETWORKS = {"origin"}
_TABLE_KEYS = {"prior", "codes", "counts", "rows", "default"}


def network_of(document: dict[str, Any]) -> BayesianNetwork:
    """Build a network from the content of a file as parsed from JSON, or raise `MisfitError`."""
    keys = _KEYS if document["version"] == 1 else _KEYS | _KEYS_SINCE_VERSION_2
    frame = _Frame.of(document, keys | (_OPTIONAL_KEYS_OF_NETWORKS & set(document)))
    pairs = zip(frame.families, frame.tables, strict=True)
    tables = {family.child.name: _cpt(family, *item) for family, item in pairs}
    diagnostics = _diagnostics(document.get("em"), "em")
    place = "tables" if frame.group is None else "group"
    origin = _origin(document["origin"]) if "origin" in document else None
    facts = (tables, frame.discretizer, diagnostics, frame.group, origin)
    return made(place, BayesianNetwork, frame.dag, *facts)


def counts_of(document: dict[str, Any]) -> NetworkCounts:
    """Build counts from the content of a file as parsed from JSON, or raise `MisfitError`."""
    frame = _Frame.of(document, _KEYS)
    counts = []
    for family, (value, place) in zip(frame.families, frame.tables, strict=True):
        _keys(value, {"codes", "counts"}, place)
        rows = len(_list(value["counts"], f"{place}.counts"))
        codes = _codes(family, value["codes"], rows, f"{place}.codes")
        counts.append(_counts(family, codes, value["counts"], f"{place}.counts"))
    cuts, group = frame.discretizer, frame.group
    return NetworkCounts(frame.dag, frame.families, counts, {}, cuts, group)


class _Frame(NamedTuple):
    """What files of networks and of counts have in common; tables are not looked at."""

    dag: Dag
    families: list[Family]
    tables: list[tuple[Any, str]]
    discretizer: Discretizer | None
    group: str | None

    @classmethod
    def of(cls, document: dict[str, Any], keys: set[str]) -> _Frame:
        _keys(document, keys | (_OPTIONAL_KEYS & set(document)), "")
        if not isinstance(document["colonnade"], str):
            raise MisfitError("colonnade", "it is not a string.")
        variables = [variable_of(*item) for item in _items(document["variables"], "variables")]
        names = [variable.name for variable in variables]
        if len(set(names)) < len(names):
            raise MisfitError("variables", "two of them have the same name.")
        arcs = [_arc(variables, *item) for item in _items(document["arcs"], "arcs")]
        dag = made("arcs", Dag, arcs, names)
        items = _items(document["tables"], "tables")
        if len(items) != len(variables):
            wanted = counted(len(variables), "variable")
            raise MisfitError("tables", f"{counted(len(items), 'table')} for {wanted}.")
        cutter = document["discretizer"]
        if cutter is not None:
            from colonnade.tables.discretizing import Discretizer

            cutter = made("discretizer", Discretizer.from_dict, cutter)
        group = _group(variables, document["group"]) if "group" in document else None
        return cls(dag, families_of(dag, variables), items, cutter, group)


def _group(variables: list[Variable], value: Any) -> str:
    if type(value) is not int or not 0 <= value < len(variables):
        raise MisfitError("group", f"it is not the position of one of {len(variables)} variables.")
    return variables[value].name


def _origin(value: Any) -> Origin:
    names = [field.name for field in fields(Origin)]
    _keys(value, set(names), "origin")
    return made("origin", Origin, *(value[name] for name in names))


def _diagnostics(value: Any, place: str) -> EmDiagnostics | None:
    if value is None:
        return None
    _keys(value, {"converged", "objective", "rows", "cases"}, place)
    if type(value["converged"]) is not bool:
        raise MisfitError(f"{place}.converged", "it is not a boolean.")
    for name in ("rows", "cases"):
        if type(value[name]) is not int or value[name] < 0:
            raise MisfitError(f"{place}.{name}", "it is not an integer of at least 0.")
    objective = _list(value["objective"], f"{place}.objective")
    values = _floats([objective], len(objective), f"{place}.objective")[0].tolist()
    return EmDiagnostics(value["converged"], tuple(values), value["rows"], value["cases"])


def variable_of(value: Any, place: str) -> Variable:
    """Read a variable from plain values; a message begins with the place."""
    spelled = isinstance(value, dict) and "spellings" in value
    _keys(value, {"name", "states"} | ({"spellings"} if spelled else set()), place)
    states = _items(value["states"], f"{place}.states")
    spellings: dict[Any, Any] = {}
    for pair, where in _items(value["spellings"], f"{place}.spellings") if spelled else ():
        if len(_list(pair, where)) != 2:
            raise MisfitError(where, "it is not a pair of a value and a state.")
        states += [(each, where) for each in pair]
        spellings.update([pair] if type(pair[0]) in (str, int, bool) else [])
    for state, where in states:
        if type(state) not in (str, int, bool):
            raise MisfitError(where, "it is neither a string nor an integer nor a boolean.")
    return made(place, Variable, value["name"], value["states"], spellings)


def _arc(variables: list[Variable], value: Any, place: str) -> tuple[str, str]:
    ends = _list(value, place)
    if len(ends) != 2 or any(type(end) is not int for end in ends):
        raise MisfitError(place, "it is not a pair of integers.")
    if not all(0 <= end < len(variables) for end in ends):
        raise MisfitError(place, f"it names a variable beyond the {len(variables)} of the file.")
    return variables[ends[0]].name, variables[ends[1]].name


def _cpt(family: Family, value: Any, place: str) -> Cpt:
    if isinstance(value, dict) and "effects" in value:
        return _noisy(family, value, place)
    _keys(value, _TABLE_KEYS, place)
    rows = _floats(value["rows"], family.cardinality, f"{place}.rows")
    codes = _codes(family, value["codes"], len(rows), f"{place}.codes")
    default = value["default"]
    if default is not None:
        default = _floats([default], family.cardinality, f"{place}.default")[0]
    table = made(f"{place}.rows", SparseTable, family.parent_sizes, codes, rows, default)
    if default is not None and len(rows) == family.configurations:
        raise MisfitError(
            f"{place}.default", "all configurations are stored, so no default row is allowed."
        )
    if value["prior"] is None and value["counts"] is None:
        if not table.complete:
            raise MisfitError(f"{place}.default", "it is missing.")
        return Cpt(family, None, None, table)
    prior = made(f"{place}.prior", _prior, value["prior"], f"{place}.prior")
    counts = _counts(family, codes, value["counts"], f"{place}.counts")
    if found := made(f"{place}.prior", prior.inconsistency, counts, table):
        raise MisfitError(f"{place}.{found.part}", found.problem)
    return Cpt(family, counts, prior, prior.completed(counts, table))


def _noisy(family: Family, value: dict[str, Any], place: str) -> Cpt:
    """A known table that follows from the effects of single parents."""
    _keys(value, _TABLE_KEYS | {"effects"}, place)
    for key in sorted(_TABLE_KEYS):
        if value[key]:
            raise MisfitError(f"{place}.{key}", "a table has it, or effects, and not both.")
    where = f"{place}.effects"
    return made(where, Cpt.of_effects, family, made(where, restored_effects, value["effects"]))


def _codes(family: Family, value: Any, rows: int, place: str) -> Array:
    if value is None:
        # Compared before anything of this size is made: a graph can ask for any number.
        if rows != family.configurations:
            wanted = counted(family.configurations, "configuration")
            raise MisfitError(place, f"{counted(rows, 'row')} for {wanted}.")
        return all_codes(family.parent_sizes)
    if len(_list(value, place)) != rows:
        found = counted(len(value), "configuration")
        raise MisfitError(place, f"{found} for {counted(rows, 'row')}.")
    if _types(value, len(family.parents), place) - {int}:
        raise MisfitError(place, "they are not all integers.")
    return _array(value, np.int64, len(family.parents), place)


def _counts(family: Family, codes: Array, value: Any, place: str) -> FamilyCounts:
    types = _types(value, family.cardinality, place)
    if types - {int} and types - {float}:
        problem = "they are neither all integers nor all numbers with a decimal point."
        raise MisfitError(place, problem)
    dtype = np.float64 if types == {float} else np.int64
    values = _array(value, dtype, family.cardinality, place)
    if len(values) != len(codes):
        wanted = counted(len(codes), "configuration")
        raise MisfitError(place, f"{counted(len(values), 'row')} for {wanted}.")
    counts = made(place, FamilyCounts.from_observed, family.parent_sizes, codes, values)
    if counts.observed != len(values):
        raise MisfitError(place, "a configuration has no counts.")
    return counts


def _prior(value: Any, place: str) -> Prior:
    try:
        return restored(value)
    except InputError as error:
        where = f"{place}.{error.parameter}" if error.parameter else place
        raise MisfitError(where, error.statement, error.hint) from None


def _keys(value: Any, keys: set[str], place: str) -> None:
    if not isinstance(value, dict):
        raise MisfitError(place, "it is not an object.")
    missing, extra = sorted(keys - set(value)), sorted(set(value) - keys)
    if missing:
        raise MisfitError(place, f"{missing[0]!r} is missing.")
    if extra:
        raise MisfitError(place, f"{extra[0][:80]!r} does not belong here.")


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise MisfitError(place, "it is not a list.")
    return value


def _items(value: Any, place: str) -> list[tuple[Any, str]]:
    """The values of a list, each with its place."""
    return [(item, f"{place}[{k}]") for k, item in enumerate(_list(value, place))]


def _types(value: Any, columns: int, place: str) -> set[type]:
    """Types of all cells of a list of rows; each row must have `columns` cells."""
    types: set[type] = set()
    for k, row in enumerate(_list(value, place)):
        if not isinstance(row, list) or len(row) != columns:
            raise MisfitError(f"{place}[{k}]", f"it is not a list of {counted(columns, 'value')}.")
        types.update(map(type, row))
    return types


def _floats(value: Any, columns: int, place: str) -> Array:
    # Booleans are integers for Python, and numbers for NumPy; here they are neither.
    if _types(value, columns, place) - {int, float}:
        raise MisfitError(place, "they are not all numbers.")
    return _array(value, np.float64, columns, place)


def _array(value: list[Any], dtype: Any, columns: int, place: str) -> Array:
    try:
        return np.array(value, dtype=dtype).reshape(len(value), columns)
    except OverflowError:
        raise MisfitError(place, "a number is too large.") from None
