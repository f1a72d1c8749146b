"""Rows of a network: their log probability, with missing values summed out, and rows drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from colonnade.arrays import Array, Floats, Integers
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import (
    Advice,
    DataError,
    TooLargeError,
    checked_whole,
    conditions,
    counted,
)
from colonnade.lookup import Lookup
from colonnade.missing.completions import Layout
from colonnade.missing.gaps import Gaps, Members, distinct, find_gaps
from colonnade.progress import Progress
from colonnade.tables.coded import CodedTable
from colonnade.tables.countable import Countable
from colonnade.tables.scoring import row_log_probability
from colonnade.variables import Variable

# Rows whose running sums are held at a time.
_BLOCK_ROWS = 1 << 16
_MAX_SAMPLE_CELLS = 1 << 28  # of a sample: two gigabytes

# ------------------------------------------------------------------ log probability


def log_likelihood(rows: Countable, dag: Dag, tables: Sequence[Cpt]) -> Floats:
    """Log probability of each row; columns and tables are in the order of the graph.

    NaN if probabilities that a table does not have are part of the sum.
    """
    parts = [_of_block(block, dag, tables) for block in rows.blocks()]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])


def _of_block(coded: CodedTable, dag: Dag, tables: Sequence[Cpt]) -> Floats:
    # A sum of products rises with every entry: if it does not matter whether the entries that do
    # not exist are 0 or 1, it does not depend on them.
    low = _filled(coded, dag, tables, -np.inf)
    if all(cpt.table.complete for cpt in tables):
        return low
    low[low < _filled(coded, dag, tables, 0.0)] = np.nan
    return low


def _filled(coded: CodedTable, dag: Dag, tables: Sequence[Cpt], fill: float) -> Floats:
    """Log probability of each row, with `fill` as the logarithm of what does not exist."""

    def log(rows: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(np.isnan(rows), fill, np.log(rows))

    families = [cpt.family for cpt in tables]
    logs = [cpt.table.lookup.mapped(log).filled() for cpt in tables]
    values, complete = row_log_probability(coded, families, logs)
    if not complete.all():
        rest = ~complete
        codes = np.stack([column[rest] for column in coded.codes], axis=1).astype(np.int32)
        cases, which = distinct(codes)
        values[rest] = _incomplete(Members.of(dag, families), logs, cases)[which]
    return values


def _incomplete(members: Members, logs: Sequence[Lookup], codes: Array) -> Floats:
    """Log probability of rows of codes ``[row, variable]`` that lack values."""
    values = np.zeros(len(codes))
    present = ~members.missing(codes)
    for variables, table in zip(members.families, logs, strict=True):
        rows = present[:, list(variables)].all(axis=1)
        *parents, child = codes[rows][:, variables].T
        values[rows] += table.cells(parents, child)
    gaps = find_gaps(members, codes, np.ones(len(codes)))
    logs = _covering(logs, gaps)
    begins = np.cumsum([0, *(table.values.size for table in logs)])
    entries = np.concatenate([table.values.reshape(-1) for table in logs])
    totals = np.empty(len(gaps.codes))
    for block in Layout(gaps).blocks():
        for family, table in enumerate(logs):
            completed = block.of(family)
            places = table.places(completed.codes)
            block.place(completed, begins[family] + places * table.states)
        totals[block.cases] = block.log_totals(entries)
    return values + np.bincount(gaps.rows, weights=totals[gaps.case], minlength=len(codes))


def _covering(logs: Sequence[Lookup], gaps: Gaps) -> list[Lookup]:
    """Store all rows that the completions of the gaps need."""
    blocks = Layout(gaps).blocks()
    if not any(callable(table.other) for table in logs):
        return list(logs)
    for block in blocks:
        logs = [table.covering(block.of(family).codes) for family, table in enumerate(logs)]
    return list(logs)


# ------------------------------------------------------------------------- drawing


def sample(
    dag: Dag, tables: Mapping[str, Cpt], n: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Draw the states of `n` independent rows."""
    n = checked_size(n, len(dag))
    return in_states(tables, drawn_codes(dag, tables, n, rng, {}))


def checked_size(n: int, variables: int) -> int:
    """Return a number of rows that fits into memory, or say what is wrong."""
    n = checked_whole(n, "n", least=0)
    if (cells := n * variables) > _MAX_SAMPLE_CELLS:
        hint = "draw them in parts, with one generator as `rng`"
        what = f"A sample of {counted(n, 'row')}"
        raise TooLargeError(what, size=cells, limit=_MAX_SAMPLE_CELLS, hint=hint)
    return n


def drawn_codes(
    dag: Dag,
    tables: Mapping[str, Cpt],
    n: int,
    rng: np.random.Generator,
    known: Mapping[str, Integers],
) -> dict[str, Integers]:
    """Draw what is not known of `n` rows, parents before their children.

    What is known must not depend on what is drawn.
    """
    codes = dict(known)
    with Progress("Sample", n * (len(dag) - len(known))) as progress:
        for name in dag.order:
            if name in known:
                continue
            given = np.empty((n, len(dag.parents(name))), dtype=np.int64)
            for k, parent in enumerate(dag.parents(name)):
                given[:, k] = codes[parent]
            codes[name] = _drawn(tables[name], given, rng, progress)
    return {name: codes[name] for name in dag.variables}


def in_states(tables: Mapping[str, Cpt], codes: Mapping[str, Integers]) -> dict[str, Array]:
    """Return columns of states for columns of codes."""
    return {name: _states(tables[name].family.child)[own] for name, own in codes.items()}


def _drawn(cpt: Cpt, given: Integers, rng: np.random.Generator, progress: Progress) -> Integers:
    """Draw the codes of a child for rows of parent codes."""
    sums = cpt.table.lookup.mapped(lambda rows: rows.cumsum(axis=1)).filled().covering(given)
    places = sums.places(given)
    undefined = np.isnan(sums.values[:, 0])[places]
    if undefined.any():
        raise _undefined(cpt, given[int(undefined.argmax())].tolist())
    drawn = np.empty(len(given), dtype=np.int64)
    for low in range(0, len(given), _BLOCK_ROWS):
        rows = sums.values[places[low : low + _BLOCK_ROWS]]
        # Scaled by the sum, which rounding may leave below 1: no state of probability 0 is drawn.
        place = rng.random((len(rows), 1)) * rows[:, -1:]
        drawn[low : low + _BLOCK_ROWS] = (place >= rows[:, :-1]).sum(axis=1)
        progress.advance(len(rows))
    return drawn


def _undefined(cpt: Cpt, codes: list[int]) -> DataError:
    family = cpt.family
    states = {p.name: p.states[code] for p, code in zip(family.parents, codes, strict=True)}
    return DataError(
        f"Variable {family.child.name!r}",
        f"no probabilities given {conditions(states)}, which was drawn for its parents.",
        Advice.PRIOR_FOR_UNOBSERVED,
        variable=family.child.name,
        configuration=tuple(states.values()),
    )


def _states(variable: Variable) -> Array:
    """Return the states as an array that keeps their types."""
    kinds = {type(state) for state in variable.states}
    small = kinds == {int} and all(-(2**63) <= int(state) < 2**63 for state in variable.states)
    return np.array(variable.states, dtype=None if small or kinds == {bool} else object)
