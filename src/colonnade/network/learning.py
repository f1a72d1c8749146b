"""Counts of a network put together with others, and the tables that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.exceptions import CountsError, NotSupportedError
from colonnade.network.preparing import coded_for_network

if TYPE_CHECKING:
    from colonnade.tables.discretize import Discretizer

__all__ = ["combined", "counted", "counts_of"]

Tables = Mapping[str, Cpt]


def counts_of(tables: Tables, request: str) -> dict[str, FamilyCounts]:
    """Return the counts of all tables, or say that one was given and has none.

    Parameters
    ----------
    tables : mapping of str to Cpt
    request : str
        What the user asked for, for the message.
    """
    found = {}
    for name, cpt in tables.items():
        if cpt.counts is None:
            raise NotSupportedError(
                f"`{request}` of a network with known tables",
                f"the table of {name!r} was given and has no counts",
                "fit a network to data",
            )
        found[name] = cpt.counts
    return found


def counted(
    tables: Tables, discretizer: Discretizer | None, table: Any, weights: Any, missing: Any
) -> dict[str, FamilyCounts]:
    """Count the families of tables in new rows.

    Parameters
    ----------
    tables : mapping of str to Cpt
    discretizer : Discretizer or None
    table, weights, missing
        As for :func:`colonnade.fit`.
    """
    from colonnade.tables.counting import count

    families = [cpt.family for cpt in tables.values()]
    variables = [family.child for family in families]
    coded = coded_for_network(table, variables, discretizer, weights)
    return dict(zip(tables, count(coded, families, missing), strict=True))


def combined(
    tables: Tables,
    request: str,
    others: Mapping[str, FamilyCounts],
    combine: Callable[[FamilyCounts, FamilyCounts], FamilyCounts],
) -> dict[str, Cpt]:
    """Combine the counts of all tables with others, and estimate the tables anew.

    Parameters
    ----------
    tables : mapping of str to Cpt
    request : str
        What the user asked for, for a message.
    others : mapping of str to FamilyCounts
    combine : function
        Adds or subtracts.
    """
    fresh = {}
    for name, counts in counts_of(tables, request).items():
        family, prior = tables[name].family, tables[name].prior
        assert prior is not None  # where there are counts there is a prior
        try:
            total = combine(counts, others[name])
        except CountsError as error:
            raise error.named(f"Variable {name!r}", family.cell) from None
        fresh[name] = Cpt.of(family, total, prior)
    return fresh
