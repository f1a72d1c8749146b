"""The sum of a product of factors over its variables, by eliminating one variable after another.

One pass serves many cases at once, which may be rows of data or draws of the tables. Factors are
given as logarithms, so a case may be as improbable as it likes. The backward pass gives the
distribution of the variables of every factor: the gradient of the log sum with respect to the logs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from colonnade.arrays import Floats
from colonnade.elimination.layout import Answers, Cases, Program, Workspace
from colonnade.elimination.planning import plan
from colonnade.elimination.programs import write_program

Scope = tuple[int, ...]


@dataclass(frozen=True)
class Elimination:
    """An order in which to eliminate all variables of some factors but those that are kept.

    Parameters
    ----------
    sizes : mapping of int to int
        Number of states of each variable.
    scopes : tuple of tuples of int
        Variables of the factors, of which there is at least one.
    order : tuple of int
    keep : tuple of int
    cells : int
        Cells of the largest table of one case; a Python integer of any size.
    """

    sizes: Mapping[int, int]
    scopes: tuple[Scope, ...]
    order: tuple[int, ...]
    keep: tuple[int, ...]
    cells: int

    @classmethod
    def of(cls, sizes: Mapping[int, int], scopes: Sequence[Scope], keep: Scope = ()) -> Elimination:
        """Choose the order.

        Examples
        --------
        >>> chain = Elimination.of({0: 2, 1: 2, 2: 2}, [(0,), (0, 1), (1, 2)])
        >>> chain.order, chain.cells
        ((0, 1, 2), 4)
        """
        found = plan(scopes, sizes, keep)
        return cls(sizes, tuple(scopes), found.order, keep, found.largest)

    @cached_property
    def program(self) -> Program:
        """The steps of the elimination."""
        return write_program([self])

    def log_total(self, factors: Sequence[Floats]) -> Floats:
        """Logarithm of the sum over all variables, ``[case]``.

        Parameters
        ----------
        factors : sequence of arrays [case, *scope]
            Logarithms of probabilities; minus infinity for what is impossible. A factor that is
            the same in all cases may have a first axis of length 1.

        Examples
        --------
        >>> pair = Elimination.of({0: 2, 1: 3}, [(0,), (0, 1)])
        >>> np.exp(pair.log_total([np.zeros((1, 2)), np.zeros((1, 2, 3))])).round(6)
        array([6.])
        """
        return self._run(factors).log_total

    def table(self, factors: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Distribution of the variables that are kept.

        Parameters
        ----------
        factors : sequence of arrays [case, *scope]
            As for `log_total`.

        Returns
        -------
        table : array [case, *keep]
            Sums to one in each case; all zero if the case is impossible.
        log_total : array [case]

        Examples
        --------
        >>> pair = Elimination.of({0: 2, 1: 2}, [(0,), (0, 1)], keep=(1,))
        >>> first, second = np.log([[0.5, 0.5]]), np.log([[[0.8, 0.2], [0.6, 0.4]]])
        >>> pair.table([first, second])[0].round(3)
        array([[0.7, 0.3]])
        """
        shape = tuple(self.sizes[v] for v in self.keep)
        answers = self._run(factors, kept=math.prod(shape))
        return answers.kept.reshape(-1, *shape), answers.log_total

    def marginals(
        self, factors: Sequence[Floats], largest: bool = False
    ) -> tuple[Floats, list[Floats]]:
        """Logarithm of the sum, and the distribution of the variables of each factor.

        Parameters
        ----------
        factors : sequence of arrays [case, *scope]
            As for `log_total`, but every factor with all cases.
        largest : bool
            Take the largest cell of the product in place of the sum over all cells. The
            distributions then are that cell: one where it is, zero elsewhere. Of equally large
            cells one is taken.

        Returns
        -------
        log_total : array [case]
        list of arrays [case, *scope]
            Like `factors`. All zero for an impossible case.

        Examples
        --------
        >>> pair = Elimination.of({0: 2, 1: 3}, [(0,), (0, 1)])
        >>> factors = [np.log([[1.0, 3.0]]), np.zeros((1, 2, 3))]
        >>> pair.marginals(factors)[1][0].round(6)
        array([[0.25, 0.75]])
        >>> pair.marginals(factors, largest=True)[1][0]
        array([[0., 1.]])
        """
        counts = np.zeros(sum(factor.size for factor in factors))
        answers = self._run(factors, counts=counts, largest=largest)
        parts = np.split(counts, np.cumsum([factor.size for factor in factors])[:-1])
        shaped = [part.reshape(f.shape) for part, f in zip(parts, factors, strict=True)]
        return answers.log_total, shaped

    def _run(
        self,
        factors: Sequence[Floats],
        kept: int = 0,
        counts: Floats | None = None,
        largest: bool = False,
    ) -> Answers:
        cases = max(len(factor) for factor in factors)
        logs = np.concatenate([factor.reshape(-1) for factor in factors])
        width = np.array([factor[0].size for factor in factors], dtype=np.int64)
        # One row per factor and case; a factor with one case has the same row in all of them.
        first = np.cumsum([0, *(factor.size for factor in factors)])[:-1]
        step = np.where([len(factor) == 1 for factor in factors], 0, width)
        begin = first + np.arange(cases)[:, None] * step
        rows = Cases(
            first_case=np.array([0, cases]),
            first_factor=np.array([0, len(factors)]),
            rows=np.ones(len(factors), dtype=np.int64),
            width=width,
            begin=begin.reshape(-1),
            weight=np.ones(cases),
        )
        answers = Answers(
            np.empty(cases), np.empty((cases, kept)), np.empty(0) if counts is None else counts
        )
        run(self.program, rows, logs, answers, largest)
        return answers


def run(
    program: Program, cases: Cases, logs: Floats, answers: Answers, largest: bool = False
) -> None:
    """Run all cases on tables given by their logarithms, and write their answers.

    Plain numbers are fast. What is too small for them is computed again in logarithms; so is the
    largest cell in place of the sum.
    """
    from colonnade.kernels.elimination import LARGEST, LOGS, PLAIN, run_cases

    work = Workspace.of(program, back=answers.counts.size > 0)
    answers.log_total.fill(np.nan)
    if not largest:
        run_cases(program, cases, np.exp(logs), PLAIN, work, answers)
    if np.isnan(answers.log_total).any():
        run_cases(program, cases, logs, LARGEST if largest else LOGS, work, answers)
