"""What is returned for a table: predictions, and how unusual its rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colonnade.arrays import Array, Floats
from colonnade.exceptions import checked_whole, counted
from colonnade.inference.results import without_share
from colonnade.tables.tabular import Tabular
from colonnade.variables import State, Variable
from colonnade.wording import percent


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictions(Tabular):
    """A variable predicted for every row of a table.

    Attributes
    ----------
    target : str
    labels : tuple of state
        The states of the target.
    states : array [row]
        The most probable state of each row.
    probabilities : array [row, state]
    lower, upper : array [row, state] or None
        Ends of the equal-tailed credible intervals.
    level : float or None
        Probability inside the intervals.
    index : pandas.Index or None
        Labels of the rows, if the table was a pandas data frame; ``to_frame()`` has them.
    fixed : tuple of str
        Variables whose tables matter and have no posterior: the intervals lack their share.
    """

    target: str
    labels: tuple[State, ...]
    states: Array
    probabilities: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    level: float | None = None
    index: Any = None
    fixed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        target: Variable,
        probabilities: Floats,
        lower: Floats | None = None,
        upper: Floats | None = None,
        level: float | None = None,
        index: Any = None,
        fixed: tuple[str, ...] = (),
    ) -> Predictions:
        """Put predictions together."""
        labels = np.empty(target.cardinality, dtype=object)
        labels[:] = target.states
        states = labels[probabilities.argmax(axis=1)]
        ends = (lower, upper, level)
        return cls(target.name, target.states, states, probabilities, *ends, index, fixed)

    def to_dict(self) -> dict[str, Any]:
        """One column of the predicted states, and of probabilities and ends for each label.

        Examples
        --------
        >>> x = Variable("x", ["no", "yes"])
        >>> columns = Predictions.of(x, np.array([[0.25, 0.75]])).to_dict()
        >>> list(columns), columns["predicted x"].tolist()
        (['predicted x', 'P(x = no)', 'P(x = yes)'], ['yes'])
        """
        columns: dict[str, Any] = {f"predicted {self.target}": self.states}
        for k, label in enumerate(self.labels):
            columns[f"P({self.target} = {label})"] = self.probabilities[:, k]
            if self.lower is not None and self.upper is not None:
                columns[f"P({self.target} = {label}) lower"] = self.lower[:, k]
                columns[f"P({self.target} = {label}) upper"] = self.upper[:, k]
        return columns

    def _columns(self) -> dict[str, list[Any]]:
        return {name: column.tolist() for name, column in self.to_dict().items()}

    @property
    def _index(self) -> Any:
        return self.index

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        inside = "" if self.level is None else f", with {percent(self.level)} intervals"
        first = f"Predictions of {self.target!r} for {counted(len(self), 'row')}{inside}"
        return "\n".join([first, *without_share(self.fixed)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Anomalies(Tabular):
    """How unusual the rows of a table are, and which variables make them so.

    Attributes
    ----------
    variables : tuple of str
    log_likelihood : array [row]
        Log probability of each row; the lowest are the most unusual.
    shares : array [row, variable]
        The log probability of each value given the values there are of the variables before it, in
        an order with parents before children; 0 for a missing one. They add up to the log
        likelihood.
    index : pandas.Index or None
        Labels of the rows, if the table was a pandas data frame; ``to_frame()`` has them.
    """

    variables: tuple[str, ...]
    log_likelihood: Floats
    shares: Floats
    index: Any = None

    def lowest(self, number: int = 10) -> Array:
        """Positions of the most unusual rows, the most unusual first.

        Examples
        --------
        >>> logs = np.array([-1.0, -5.0, -2.0])
        >>> Anomalies(("x",), logs, logs[:, None]).lowest(2).tolist()
        [1, 2]
        """
        number = checked_whole(number, "number")
        return np.argsort(self.log_likelihood, kind="stable")[:number]

    def of(self, row: int) -> dict[str, float]:
        """Shares of the variables of one row, the most unusual value first.

        Examples
        --------
        >>> found = Anomalies(("x", "y"), np.array([-3.0]), np.array([[-1.0, -2.0]]))
        >>> found.of(0)
        {'y': -2.0, 'x': -1.0}
        """
        row = checked_whole(row, "row", 0, len(self.log_likelihood) - 1)
        order = np.argsort(self.shares[row], kind="stable")
        return {self.variables[k]: float(self.shares[row, k]) for k in order}

    def _columns(self) -> dict[str, list[Any]]:
        shares = {name: self.shares[:, k].tolist() for k, name in enumerate(self.variables)}
        return {"log likelihood": self.log_likelihood.tolist(), **shares}

    @property
    def _index(self) -> Any:
        return self.index

    def __len__(self) -> int:
        return len(self.log_likelihood)

    def __repr__(self) -> str:
        return f"Anomalies of {counted(len(self), 'row')}"
