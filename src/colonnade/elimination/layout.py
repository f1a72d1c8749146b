"""What the kernels read and write: the one layout of steps, cases and answers.

A *case* is a product of factors to be summed over its variables. Its values are one array: the
cells of its factors, one factor after the other, and behind them the messages. Cells of a factor
or message are in C order, the last variable fastest.

A *step* eliminates one variable. It multiplies its *operands*, which are all factors and messages
that have the variable, and sums the product over the variable; the sum is a *message* to a later
step. The steps of an elimination are its *program*; all cases of one program share it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colonnade.arrays import Floats, Integers

# Room for a batch of small cases; half a megabyte stays in the processor's cache.
_MIN_WORK_CELLS = 1 << 16


class Orders(NamedTuple):
    """Eliminations whose programs are to be written, one after the other.

    The variables of an elimination have numbers: from 0 on in the order in which they are
    eliminated, then those that are kept, the last one first.

    Attributes
    ----------
    first_variable : array [elimination + 1]
    size : array [variable]
        Variables first_variable[e]..first_variable[e + 1] are those of elimination e, with the
        number of their states.
    kept : array [elimination]
        How many of them are kept.
    first_factor : array [elimination + 1]
    first_member : array [factor + 1]
    member : array [member]
        Factors first_factor[e]..first_factor[e + 1] are those of elimination e, and the numbers of
        the variables of factor f are member[first_member[f]:first_member[f + 1]].
    """

    first_variable: Integers
    size: Integers
    kept: Integers
    first_factor: Integers
    first_member: Integers
    member: Integers


class Program(NamedTuple):
    """The steps of one or more programs, one after the other.

    The product of a step has one axis per variable of its operands, the variable that is
    eliminated last. Its message has the other axes. The last step of a program eliminates nothing
    if variables are kept or factors are left: its last axis then has length 1. The message of the
    last step is the table of the variables that are kept. Arrays may be longer than their contents.

    Attributes
    ----------
    first_step : array [program + 1]
        Steps first_step[p]..first_step[p + 1] are those of program p.
    values, products : arrays [program]
        Values of a case, messages included; cells of the products of all its steps.
    message, cells : arrays [step]
        Where the message begins among the values of the case, and its cells. Messages that are
        no longer needed are overwritten.
    first_axis : array [step + 1]
    size : array [axis]
        Axes first_axis[s]..first_axis[s + 1] are those of step s, with their lengths.
    first_operand : array [step + 1]
    begin : array [operand]
        Where each operand of a step begins among the values of the case.
    first_stride : array [step + 1]
    stride : array [stride]
        One per operand and axis of a step, those of an operand together: how far the next state
        is away, 0 if the operand does not have the variable.
    """

    first_step: Integers
    values: Integers
    products: Integers
    message: Integers
    cells: Integers
    first_axis: Integers
    size: Integers
    first_operand: Integers
    begin: Integers
    first_stride: Integers
    stride: Integers


class Cases(NamedTuple):
    """Where the values of the factors of all cases are found in an array of tables.

    A factor takes its values from one or more rows of a table, each of which is a run of cells.

    Attributes
    ----------
    first_case, first_factor : arrays [program + 1]
        Cases first_case[p]..first_case[p + 1] run program p; its factors are
        first_factor[p]..first_factor[p + 1].
    rows, width : arrays [factor]
        How many rows a factor takes in each case, and the cells of each.
    begin : array [case, factor, row], flat
        Where each row begins in the array of tables.
    weight : array [case]
        How often the case occurs.
    """

    first_case: Integers
    first_factor: Integers
    rows: Integers
    width: Integers
    begin: Integers
    weight: Floats


class Answers(NamedTuple):
    """What is wanted of all cases; an array of size 0 is not.

    Attributes
    ----------
    log_total : array [case]
        Logarithm of the sum (or of the largest cell) of the product.
    kept : array [case, cell]
        Distribution of the variables that are kept; only with a single program.
    counts : array [cell of the tables]
        The probability of each cell, times the weight of the case, is added to the cell of the
        table that it came from.
    """

    log_total: Floats
    kept: Floats
    counts: Floats


class Workspace(NamedTuple):
    """Room for a batch of cases.

    Attributes
    ----------
    values, found : arrays [value]
        The values of the cases; in the backward pass, the probabilities of the same cells.
    shares : array [cell]
        Shares of the cells of the products of all steps; of one row if there is no backward pass.
    place, digit : arrays [operand], [axis]
        Where the operands are at the present row of a product, and its codes.
    """

    values: Floats
    found: Floats
    shares: Floats
    place: Integers
    digit: Integers

    @classmethod
    def of(cls, program: Program, back: bool) -> Workspace:
        """Room for at least one case of each program."""
        values = program.values.max(initial=1)
        shares = (program.products if back else program.size).max(initial=1)
        return cls(
            np.empty(max(values, _MIN_WORK_CELLS)),
            np.zeros(max(values, _MIN_WORK_CELLS) if back else 0),
            np.empty(max(shares, _MIN_WORK_CELLS)),
            np.empty(np.diff(program.first_operand).max(initial=1), dtype=np.int64),
            np.zeros(np.diff(program.first_axis).max(initial=1), dtype=np.int64),
        )
