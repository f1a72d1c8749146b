"""TablePosterior: what is asked of the posterior of one table, whatever the prior."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from colonnade.arrays import Floats, Seed
from colonnade.configurations import Configuration, all_codes
from colonnade.counts import FamilyCounts
from colonnade.docstrings import inherit_docstrings
from colonnade.exceptions import TooLargeError, checked_whole
from colonnade.lookup import Lookup
from colonnade.priors.base import Prior
from colonnade.priors.draws import Draws
from colonnade.sparse import SparseTable
from colonnade.tables.tabular import Tabular

# What to ask for instead of the uncertainty of too many cells.
SOME_INTERVALS = "`interval(level, configurations)` for some rows"


class Interval(NamedTuple):
    """Ends of credible intervals.

    Attributes
    ----------
    lower, upper : array
        Of the same shape.
    """

    lower: Floats
    upper: Floats


class TablePosterior(Tabular):
    """Posterior of a conditional probability table, ``[configuration, state]``.

    Made by ``prior.posterior(counts)``. Dense answers (``mean``, ``variance``, ``interval``,
    ``sample``) hold all configurations and are refused beyond ``limit`` cells; ``row`` and
    ``table`` work for any number of configurations.

    Attributes
    ----------
    counts : FamilyCounts
    prior : Prior
        The prior it came from.
    limit : int
        Largest number of cells of a dense answer; see :meth:`with_limit`.
    """

    counts: FamilyCounts
    prior: Prior
    limit: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherit_docstrings(cls)

    def with_limit(self, limit: int) -> Self:
        """The same posterior with another limit on the cells of dense answers."""
        made: Any = self  # every kind is a dataclass
        changed: Self = replace(made, limit=checked_whole(limit, "limit"))
        return changed

    @property
    @abstractmethod
    def log_evidence(self) -> float | None:
        """Log probability of the counts, in the order they came; None if there is none."""

    @property
    @abstractmethod
    def mean_strength(self) -> float:
        """How many observations what a row leans on is worth, in the mean."""

    @abstractmethod
    def leave_one_out_score(self) -> float:
        """Sum over all observations of their log probability given all others."""

    @abstractmethod
    def left_out_rows(self) -> Floats:
        """Estimates of rows without one observation of a cell, ``[cell, state]``.

        There is one for each cell that has counts, in the order of ``counts.values``. What was
        learned from all observations, such as strengths and the pool, stays as it is.

        Examples
        --------
        >>> from colonnade import SymmetricDirichlet
        >>> SymmetricDirichlet().posterior([[3, 1], [0, 2]]).left_out_rows().round(3)
        array([[0.6  , 0.4  ],
               [0.8  , 0.2  ],
               [0.333, 0.667]])
        """

    def left_out_cells(self) -> Floats:
        """Estimates of the cells themselves without one of their observations, ``[cell]``.

        Examples
        --------
        >>> from colonnade import SymmetricDirichlet
        >>> SymmetricDirichlet().posterior([[3, 1], [0, 2]]).left_out_cells().round(3)
        array([0.6  , 0.2  , 0.667])
        """
        _, state = np.nonzero(self.counts.values)
        return np.asarray(self.left_out_rows()[np.arange(len(state)), state])

    @property
    @abstractmethod
    def table(self) -> SparseTable:
        """Means of the observed configurations and of any other, for any number of them."""

    def row(self, configuration: Configuration) -> Floats:
        """Mean of one configuration, ``[state]``, given by its index or its parent codes.

        Examples
        --------
        >>> from colonnade import SymmetricDirichlet
        >>> SymmetricDirichlet().posterior([[8, 2], [0, 0]]).row(0)
        array([0.75, 0.25])
        """
        return self.table.row(configuration)

    @property
    def mean(self) -> Floats:
        """Mean of every cell, ``[configuration, state]``: the estimate of the table."""
        return self._dense(self.table.lookup, "The mean")

    def predictive(self) -> Floats:
        """Probability of the next observation in every configuration; another name of ``mean``."""
        return self.mean

    @property
    @abstractmethod
    def borrowed(self) -> Floats:
        """Weight that each configuration takes from others, ``[configuration]``."""

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Variance of every cell, ``[configuration, state]``."""

    @abstractmethod
    def interval(
        self, level: float = 0.95, configurations: Sequence[Configuration] | None = None
    ) -> Interval:
        """Equal-tailed credible interval of every cell, ``[configuration, state]``."""

    @abstractmethod
    def draws(self, n: int, rng: Seed = None, pools: int | None = None) -> Draws:
        """Joint draws of the table, whose rows are drawn when they are asked for.

        Parameters
        ----------
        n : int
            Number of draws.
        rng : seed or Generator, optional
        pools : int, optional
            Number of different draws of what rows lean on, each used several times: drawing them
            takes long, and with many observations little of them is open. By default `n`.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> draws = Hierarchical().posterior([[8, 2], [0, 0], [7, 1]]).draws(4, rng=1)
        >>> draws.log_rows(np.array([[0], [2]])).shape
        (4, 2, 2)
        """

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Independent draws of the whole table, ``[draw, configuration, state]``.

        Each draw takes what rows share, then all rows given that: rows of one draw belong together.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> Hierarchical().posterior([[8, 2], [0, 0], [7, 1]]).sample(4, rng=1).shape
        (4, 3, 2)
        """
        n = checked_whole(n, "n")
        self._must_fit(f"A sample of {n} tables", n)
        return np.asarray(np.exp(self.draws(n, rng).log_rows(all_codes(self.counts.parent_sizes))))

    def plot(self, ax: Any = None, *, level: float = 0.95, columns: int = 1) -> Any:
        """Draw all rows: means with intervals, beside the raw frequencies (extra ``plot``).

        Rows and states are numbered; ``network["X"].plot()`` draws the same with their names. Of
        two states the second is drawn.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        level : float
            Probability inside the intervals.
        columns : {1, 2}
            Width of a new figure, in columns of a journal page.

        Returns
        -------
        matplotlib Axes
        """
        from colonnade.report.rows import Labels, draw_rows

        self._must_fit("The interval", 2)
        codes = all_codes(self.counts.parent_sizes).tolist()
        rows = [[*map(str, row)] for row in codes]
        labels = Labels(rows, [str(k) for k in range(self.counts.states)], "")
        return draw_rows(self, labels, level, ax, columns)

    def _columns(self) -> dict[str, list[Any]]:
        cells, states = self.cells(), self.counts.states
        codes = all_codes(self.counts.parent_sizes).repeat(states, axis=0)
        columns: dict[str, list[Any]] = {
            f"parent {k}": codes[:, k].tolist() for k in range(len(self.counts.parent_sizes))
        }
        return columns | {"state": [*range(states)] * self.counts.configurations} | cells

    def cells(self) -> dict[str, list[Any]]:
        """Numbers about every cell, in the order of configurations and states.

        Its count, its share of the row (None in a row without counts), its mean, and the ends of
        its 95 % interval.
        """
        lower, upper = self.interval(0.95)
        return self.counts.cells(self.limit) | {
            "probability": self.mean.ravel().tolist(),
            "lower": lower.ravel().tolist(),
            "upper": upper.ravel().tolist(),
        }

    def _must_fit(self, what: str, copies: int = 1, instead: str = "`row` or `table`") -> None:
        cells = self.counts.configurations * self.counts.states * copies
        if cells > self.limit:
            hint = f"use {instead}, or raise the limit with `with_limit`"
            raise TooLargeError(what, size=cells, limit=self.limit, hint=hint)

    def _dense(self, rows: Lookup, what: str) -> Floats:
        """Give every configuration its row."""
        self._must_fit(what)
        return rows.dense(self.limit)
