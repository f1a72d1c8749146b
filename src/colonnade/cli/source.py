"""A file of data, and what is done with its columns before anything is learned from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from colonnade.tables import Discretized

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A file of data with the options about it, checked together.

    What is None was not given.
    """

    path: Path
    bins: int | None
    cut: Sequence[str] | None
    ignore: Sequence[str] | None
    na: Sequence[str] | None

    def __post_init__(self) -> None:
        if self.cut and self.bins is None:
            raise typer.BadParameter("it needs --bins.", param_hint="--cut")

    def read(self) -> dict[str, Any]:
        """Read the table without the columns to be ignored."""
        from colonnade.tables.files import read_table
        from colonnade.tables.sources import absent

        ignored = self.ignore or ()
        table = read_table(self.path, self.na or ())
        if error := absent(ignored, list(table)):
            raise error
        return {name: column for name, column in table.items() if name not in ignored}

    def discretized(
        self, table: dict[str, Any], weights: str | None = None
    ) -> dict[str, Any] | Discretized:
        """Cut the floating-point columns and those that are named; weights stay numbers."""
        from colonnade.tables import Discretized, Discretizer

        if self.bins is None:
            return table
        variables = {name: column for name, column in table.items() if name != weights}
        found = Discretizer.fit(variables, self.bins).columns
        if self.cut:
            found += Discretizer.fit(variables, self.bins, columns=self.cut).columns
        discretizer = Discretizer(tuple({column.name: column for column in found}.values()))
        return Discretized(discretizer.apply(table), discretizer)
