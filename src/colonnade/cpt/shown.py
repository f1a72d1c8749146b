"""A table of probabilities as text and as HTML: its first rows, and what was left out."""

from __future__ import annotations

from typing import NamedTuple

from colonnade.exceptions import counted
from colonnade.markup import safe
from colonnade.sparse import SparseTable
from colonnade.variables import Family

_MAX_ROWS = 20
_MAX_STATES = 12
# The names of the parents take at least this much, so that tables without parents look the same.
_MIN_PARENTS_WIDTH = 8


class Shown(NamedTuple):
    """What is shown of a table."""

    parents: int  # how many of the columns are parents
    lines: list[list[str]]  # the cells of the head and of the rows
    notes: list[str]  # what was left out

    @classmethod
    def of(cls, family: Family, table: SparseTable) -> Shown:
        """Choose the rows and states to be shown."""
        parents = family.parents
        states = [str(state) for state in family.child.states[:_MAX_STATES]]
        lines = [[parent.name for parent in parents] + states]
        for codes, row in zip(table.codes[:_MAX_ROWS], table.rows[:_MAX_ROWS], strict=True):
            given = [str(p.states[code]) for p, code in zip(parents, codes.tolist(), strict=True)]
            lines.append(given + [f"{value:.4f}" for value in row[:_MAX_STATES]])
        notes = []
        unseen = table.configurations - len(table.rows)
        if table.default is not None and unseen:
            other = ["(any other)", *("" for _ in parents[1:])]
            default = [f"{value:.4f}" for value in table.default[:_MAX_STATES]]
            lines.append(other[: len(parents)] + default)
        elif unseen:
            notes.append(f"{counted(unseen, 'configuration')} without probabilities")
        if (more := len(table.rows) - _MAX_ROWS) > 0:
            notes.append(counted(more, "more configuration"))
        if (more := table.states - _MAX_STATES) > 0:
            notes.append(counted(more, "more state"))
        return cls(len(parents), lines, notes)

    def text(self, title: str) -> str:
        """Write the table for a terminal."""
        widths = [max(map(len, column)) for column in zip(*self.lines, strict=True)]
        written = [title]
        for line in self.lines:
            cells = list(zip(line, widths, strict=True))
            given = " ".join(cell.ljust(width) for cell, width in cells[: self.parents])
            values = " ".join(cell.rjust(width) for cell, width in cells[self.parents :])
            written.append(f"{given.ljust(_MIN_PARENTS_WIDTH)} | {values}")
        return "\n  ".join([*written, *self.notes])

    def html(self, title: str) -> str:
        """Write the table for a notebook."""
        head, *body = self.lines
        rows = "".join(_html_row(line, "td") for line in body)
        notes = "".join(f"<p>{safe(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>{safe(title)}</caption>"
            f"<thead>{_html_row(head, 'th')}</thead><tbody>{rows}</tbody></table>{notes}"
        )


def _html_row(cells: list[str], kind: str) -> str:
    return "<tr>" + "".join(f"<{kind}>{safe(cell)}</{kind}>" for cell in cells) + "</tr>"
