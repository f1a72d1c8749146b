"""The sum of a product of factors over its variables, by eliminating one variable after another.

One pass serves many cases at once, which may be rows of data or draws of the tables. Factors are
given as logarithms, so a case may be as improbable as it likes. The backward pass gives the
distribution of the variables of every factor: the gradient of the log sum with respect to the logs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from colonnade.arrays import Floats, Integers
from colonnade.elimination.layout import Answers, Cases, Orders, Program, Workspace
from colonnade.elimination.planning import plan

Scope = tuple[int, ...]


@dataclass(frozen=True)
class Elimination:
    """An order in which to eliminate all variables of some factors but those that are kept.

    A factor is an array ``[case, *scope]`` of logarithms of probabilities, minus infinity for what
    is impossible. If it is the same in all cases, its first axis may have length 1.
    """

    sizes: Mapping[int, int]  # number of states of each variable
    scopes: tuple[Scope, ...]  # variables of the factors, of which there is at least one
    order: Scope
    keep: Scope
    cells: int  # of the largest table of one case

    @classmethod
    def of(cls, sizes: Mapping[int, int], scopes: Sequence[Scope], keep: Scope = ()) -> Elimination:
        """Choose the order."""
        found = plan(scopes, sizes, keep)
        return cls(sizes, tuple(scopes), found.order, keep, found.largest)

    @cached_property
    def program(self) -> Program:
        """The steps of the elimination."""
        return write_program([self])

    def log_total(self, factors: Sequence[Floats]) -> Floats:
        """Logarithm of the sum over all variables, ``[case]``."""
        if all(scope == self.order for scope in self.scopes) and len(self.order) == 1:
            # One variable, as most gaps have: its sum is taken sooner than a program is written.
            return np.asarray(np.logaddexp.reduce(sum(factors), axis=1))
        return self._run(factors).log_total

    def table(self, factors: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Distribution ``[case, *keep]`` of the variables that are kept, and the log total.

        The distribution is all zero if the case is impossible.
        """
        shape = tuple(self.sizes[v] for v in self.keep)
        answers = self._run(factors, kept=math.prod(shape))
        return answers.kept.reshape(-1, *shape), answers.log_total

    def marginals(
        self, factors: Sequence[Floats], largest: bool = False
    ) -> tuple[Floats, list[Floats]]:
        """The log total, and the distribution of the variables of each factor, shaped like it.

        Every factor must have all cases. The distributions of an impossible case are all zero.
        With `largest` the largest cell of the product takes the place of the sum over all cells:
        the distributions are one where it is and zero elsewhere. Of equally large cells one is
        taken.
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
        logs = np.concatenate([factor.reshape(-1) for factor in factors])
        return run(self.program, rows, logs, kept, counts, largest)


def run(
    program: Program,
    cases: Cases,
    logs: Floats,
    kept: int = 0,
    counts: Floats | None = None,
    largest: bool = False,
) -> Answers:
    """Run all cases on tables given by their logarithms.

    `kept` is the number of cells of the table of the variables that are kept, if that is wanted;
    the probabilities of all cells are added to `counts`, if that is given.

    Plain numbers are fast. What is too small for them is computed again in logarithms; so is the
    largest cell in place of the sum.
    """
    from colonnade.kernels.elimination import LARGEST, LOGS, PLAIN, run_cases

    number = len(cases.weight)
    counts = np.empty(0) if counts is None else counts
    answers = Answers(np.full(number, np.nan), np.empty((number, kept)), counts)
    work = Workspace.of(program, back=counts.size > 0)
    if not largest:
        run_cases(*program, *cases, np.exp(logs), PLAIN, *work, *answers)
    if np.isnan(answers.log_total).any():
        run_cases(*program, *cases, logs, LARGEST if largest else LOGS, *work, *answers)
    return answers


def draw(
    program: Program, cases: Cases, logs: Floats, counts: Floats, rng: np.random.Generator
) -> Floats:
    """Draw the variables of all cases from their joint distribution.

    The cells of the factors that were drawn are counted in `counts`, an array like `logs`. Returns
    the log totals; nothing is drawn where that is minus infinity.
    """
    from colonnade.kernels.drawing import draw_cases

    number = len(cases.weight)
    answers = Answers(np.empty(number), np.empty((number, 0)), counts)
    steps = int(np.diff(cases.first_case) @ np.diff(program.first_step))
    work = Workspace.of(program, back=True)
    draw_cases(*program, *cases, logs, rng.random(steps), *work, *answers)
    return answers.log_total


def write_program(eliminations: Sequence[Elimination]) -> Program:
    """Write the steps of some eliminations one after the other."""
    from colonnade.kernels.programs import write_steps

    orders = _orders(eliminations)
    # An elimination has at most one step per variable, and a step at most one axis per variable.
    steps = np.diff(orders.first_variable)
    operands = np.diff(orders.first_factor) + steps

    def room(length: int) -> Integers:
        return np.zeros(length, dtype=np.int64)

    program = Program(
        first_step=room(len(eliminations) + 1),
        values=room(len(eliminations)),
        products=room(len(eliminations)),
        cells=room(steps.sum()),
        columns=room(steps.sum()),
        first=room(steps.sum() + 1),
        numbers=room((steps + operands) @ (steps + 1)),
    )
    most = operands.max(initial=0) + steps.max(initial=0)
    strides = np.empty((most, steps.max(initial=0)), dtype=np.int64)
    write_steps(*orders, *program, strides, np.empty((5, most), dtype=np.int64))
    return program


def _orders(eliminations: Sequence[Elimination]) -> Orders:
    sizes: list[list[int]] = []
    scopes: list[list[int]] = []
    for each in eliminations:
        # Axes come in the reverse order of the numbers, so those that are kept are reversed here.
        # No variable has the number of the last step, which is -1 here.
        variables = (*each.order, -1, *reversed(each.keep))
        number = {v: k for k, v in enumerate(variables)}
        sizes.append([each.sizes[v] if v >= 0 else 1 for v in variables])
        scopes += [[number[v] for v in scope] for scope in each.scopes]
    return Orders(
        first_variable=_firsts(sizes),
        size=_flat(sizes),
        kept=np.array([len(each.keep) for each in eliminations], dtype=np.int64),
        first_factor=_firsts(each.scopes for each in eliminations),
        first_member=_firsts(scopes),
        member=_flat(scopes),
    )


def _firsts(parts: Iterable[Sized]) -> Integers:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _flat(parts: Iterable[Iterable[int]]) -> Integers:
    return np.array([number for part in parts for number in part], dtype=np.int64)
