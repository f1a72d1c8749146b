"""What the kernels read and write: the one layout of steps, cases and answers.

A *case* is a product of factors to be summed over its variables. Its values are one array: the
cells of its factors, one factor after the other, and behind them the messages. Cells of a factor
or message are in C order, the last variable fastest.

A *step* eliminates one variable. It multiplies its *operands*, which are all factors and messages
that have the variable, and sums the product over the variable; the sum is a *message* to a later
step. The steps of an elimination are its *program*; all cases of one program share it.

Where items of several owners follow each other in one array, those of owner k are at
first[k]..first[k + 1].
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
    eliminated, then one with a single state for the last step, then those that are kept, the last
    one first.
    """

    first_variable: Integers  # [elimination + 1]
    size: Integers  # [variable]: number of states
    kept: Integers  # [elimination]: how many variables are kept
    first_factor: Integers  # [elimination + 1]
    first_member: Integers  # [factor + 1]
    member: Integers  # [member]: numbers of the variables of the factors


class Program(NamedTuple):
    """The steps of one or more programs, one after the other.

    The product of a step has one axis per variable of its operands, the variable that is
    eliminated last. Its message has the other axes. A step is a matrix with one column more than
    axes. The first row says where the message begins among the values of the case, then the lengths
    of the axes. The others are one per operand: where it begins, then how far the next state
    of each axis is away, 0 if the operand does not have the variable.

    The last step of a program eliminates nothing if variables are kept or factors are left: its
    last axis then has length 1. The message of the last step is the table of the variables that are
    kept. Messages that are no longer needed are overwritten. Arrays may be longer than their
    contents.
    """

    first_step: Integers  # [program + 1]
    values: Integers  # [program]: values of a case, messages included
    products: Integers  # [program]: cells of the products of all steps of a case
    cells: Integers  # [step]: cells of the message
    columns: Integers  # [step]: columns of the matrix
    first: Integers  # [step + 1]
    numbers: Integers  # [number]: the matrices


class Cases(NamedTuple):
    """Where the values of the factors of all cases are found in an array of tables.

    A factor takes its values from one or more rows of a table, each of which is a run of cells.
    """

    first_case: Integers  # [program + 1]
    first_factor: Integers  # [program + 1]
    rows: Integers  # [factor]: how many rows the factor takes in each case
    width: Integers  # [factor]: cells of each of these rows
    begin: Integers  # [case, factor, row], flat: where the row begins in the array of tables
    weight: Floats  # [case]: how often the case occurs


class Answers(NamedTuple):
    """What is wanted of all cases; an array of size 0 is not."""

    # [case]: logarithm of the sum (or of the largest cell) of the product.
    log_total: Floats
    # [case, cell]: distribution of the variables that are kept; only with a single program.
    kept: Floats
    # [cell of the tables]: the probability of each cell, times the weight of the case, is added to
    # the cell that it came from.
    counts: Floats


class Workspace(NamedTuple):
    """Room for a batch of cases."""

    values: Floats  # the values of the cases
    found: Floats  # in the backward pass, the probabilities of the same cells
    shares: Floats  # of all cells of all products; of one row if there is no backward pass
    place: Integers  # where the operands are at the present row of a product
    digit: Integers  # the codes of that row

    @classmethod
    def of(cls, program: Program, back: bool) -> Workspace:
        """Room for at least one case of each program."""
        values = max(program.values.max(initial=1), _MIN_WORK_CELLS)
        # A matrix has more numbers than rows or columns.
        numbers = np.diff(program.first).max(initial=1)
        return cls(
            np.empty(values),
            np.zeros(values if back else 0),
            # No row of a product has more cells than the values of its case.
            np.empty(max(values, program.products.max(initial=1)) if back else values),
            np.empty(numbers, dtype=np.int64),
            np.zeros(numbers, dtype=np.int64),
        )
