"""ColumnSummary: what is known of one column, and what would be made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from colonnade.exceptions import ColonnadeError
from colonnade.tables.cuts import Cuts
from colonnade.tables.remarks import one_state
from colonnade.variables import State

Kind: TypeAlias = Literal[
    "text", "integers", "numbers", "booleans", "dates", "categories", "no values", "other"
]
Fate: TypeAlias = Literal["states", "cut", "left out", "to be corrected"]

_MAX_SHOWN_STATES = 6


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column of a table, and what would be made of it.

    Attributes
    ----------
    name : str
    kind : str
        ``"text"``, ``"integers"``, ``"numbers"``, ``"booleans"``, ``"dates"``, ``"categories"``,
        ``"no values"``, or ``"other"`` for what cannot be states.
    rows, missing, different : int
        Rows of the table, those without a value here, and different values.
    codes : dict of str to int
        Texts of a file that stood for missing values, each with its number of rows.
    fate : {"states", "cut", "left out", "to be corrected"}
        Whether its values are states, are cut into intervals, or are of no use, or whether single
        values, such as infinity, have to be corrected before anything is learned.
    states : tuple
        States of the variable, in order; empty if it is left out.
    counts : tuple of int
        Rows with each state.
    cuts : Cuts or None
        Where numbers are cut.
    reason : str
        Why it is left out, or what has to be corrected.
    remarks : tuple of str
        What else is worth a look: states that are almost equal, dates, many states.
    doubtful : str
        A number that may stand for a missing value, in words; empty if there is none.
    guessed : bool
        Whether they are whole numbers, which might be labels, and nobody asked to cut them.
    error : ColonnadeError or None
        What learning raises because of single values that have to be corrected, such as infinity.
    """

    name: str
    kind: Kind
    rows: int
    missing: int
    different: int
    codes: Mapping[str, int] = field(default_factory=dict)
    fate: Fate = "left out"
    states: tuple[State, ...] = ()
    counts: tuple[int, ...] = ()
    cuts: Cuts | None = None
    reason: str = ""
    remarks: tuple[str, ...] = ()
    doubtful: str = ""
    guessed: bool = False
    error: ColonnadeError | None = field(default=None, repr=False, compare=False)

    @property
    def treatment(self) -> str:
        """What would be made of the column, in a few words."""
        if self.reason:
            return f"{self.fate}: {self.reason}"
        if self.cuts is not None and not self.cuts.points:
            return "one interval"
        pairs = list(zip(self.states, self.counts, strict=True))
        shown = [f"{state} ({n:,})" for state, n in pairs[:_MAX_SHOWN_STATES]]
        more = len(pairs) - len(shown)
        return ("" if self.cuts is None else "cut: ") + ", ".join(
            [*shown, *([f"{more:,} more"] if more > 0 else [])]
        )

    @property
    def gaps(self) -> str:
        """How many values are missing, and the codes that stood for them."""
        codes = ", ".join(self.codes)
        return f"{self.missing:,} ({codes})" if codes else f"{self.missing:,}"

    @property
    def one_state(self) -> dict[str, str]:
        """States that may mean the same as another, which has more rows: Y as yes, No as no.

        Examples
        --------
        >>> from colonnade import inspect
        >>> inspect({"smoker": ["yes", "yes", "Y", "no"]})["smoker"].one_state
        {'Y': 'yes'}
        """
        return one_state(self.states, self.counts) if self.cuts is None else {}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON.

        Examples
        --------
        >>> from colonnade import inspect
        >>> inspect({"x": ["a", "b"]})["x"].to_dict()["states"]
        ['a', 'b']
        """
        return {
            "name": self.name,
            "type": self.kind,
            "rows": self.rows,
            "missing": self.missing,
            "missing_codes": dict(self.codes),
            "different": self.different,
            "use": self.fate,
            "states": list(self.states),
            "counts": list(self.counts),
            "cuts": None if self.cuts is None else list(self.cuts.points),
            "reason": self.reason,
            "remarks": list(self.remarks),
        }
