"""What is left of the estimates of cells without one observation.

`seen` `[row, state]` says which cells of a table have observations, and left `[cell, state]` are
the rows without one of them, for each such cell in order.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry


@entry
def add_mixed_scores(seen, counts, left, weights, scores):
    """Add to scores `[weight]` the leave-one-out log scores if neighbours are mixed by a weight.

    `counts` `[cell]` are those of the cells.
    """
    last, cell = seen.shape[1] - 1, 0
    for row in range(len(seen)):
        for x in range(last + 1):
            if seen[row, x]:
                beside = left[cell, max(x - 1, 0)] + left[cell, min(x + 1, last)]
                for w in range(weights.size):
                    mixed = (1.0 - weights[w]) * left[cell, x] + 0.5 * weights[w] * beside
                    scores[w] += counts[cell] * math.log(mixed)
                cell += 1


@entry
def fill_mixed_cells(seen, left, weight, cells):
    """Fill cells `[cell]` with their estimates in `left`, with neighbours mixed by a weight."""
    last, cell = seen.shape[1] - 1, 0
    for row in range(len(seen)):
        for x in range(last + 1):
            if seen[row, x]:
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
