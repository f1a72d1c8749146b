"""What is left of the estimates of cells without one observation.

`counts` `[row, state]` are those of a table, and left `[cell, state]` are the rows without one
observation of a cell, for each cell that has any, in order.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry

# Two numbers above this may be multiplied.
_SMALL = 1e-150


@entry
def add_mixed_scores(counts, left, weights, scores):
    """Add to scores `[weight]` the leave-one-out log scores if neighbours are mixed by a weight."""
    last, cell = counts.shape[1] - 1, 0
    # Of single observations products are taken, as long as they keep their digits.
    products = np.ones(weights.size)
    for row in range(len(counts)):
        for x in range(last + 1):
            n = counts[row, x]
            if n > 0.0:
                beside = left[cell, max(x - 1, 0)] + left[cell, min(x + 1, last)]
                for w in range(weights.size):
                    mixed = (1.0 - weights[w]) * left[cell, x] + 0.5 * weights[w] * beside
                    if n == 1.0 and mixed > _SMALL:
                        products[w] *= mixed
                    else:
                        scores[w] += n * math.log(mixed)
                    if products[w] < _SMALL:
                        scores[w] += math.log(products[w])
                        products[w] = 1.0
                cell += 1
    for w in range(weights.size):
        scores[w] += math.log(products[w])


@entry
def fill_mixed_cells(counts, left, weight, cells):
    """Fill cells `[cell]` with their estimates in `left`, with neighbours mixed by a weight."""
    last, cell = counts.shape[1] - 1, 0
    for row in range(len(counts)):
        for x in range(last + 1):
            if counts[row, x] > 0.0:
                beside = left[cell, max(x - 1, 0)] + left[cell, min(x + 1, last)]
                cells[cell] = (1.0 - weight) * left[cell, x] + 0.5 * weight * beside
                cell += 1


@entry
def mix_neighbours(rows, weight):
    """Mix every state of rows `[outer, state, inner]` with its neighbours, in place."""
    last = rows.shape[1] - 1
    before = np.empty(rows.shape[2])
    for i in range(len(rows)):
        before[:] = rows[i, 0]
        for x in range(last + 1):
            here, after = rows[i, x], rows[i, min(x + 1, last)]
            for k in range(len(before)):
                own = here[k]
                here[k] = (1.0 - weight) * own + 0.5 * weight * (before[k] + after[k])
                before[k] = own
