"""What is left of the estimates of cells without one observation.

`seen` `[row, state]` says which cells of a table have observations, and left `[cell, state]` are
the rows without one of them, for each such cell in order.
"""

import math

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
def fill_changes(seen, left, rows, changes):
    """Fill changes `[row, state]` with the logarithm of what a cell loses without an observation.

    That is, of its estimate without one by that in `rows` `[row, state]`, and zero if it has none.
    """
    cell = 0
    for row in range(len(seen)):
        for x in range(seen.shape[1]):
            changes[row, x] = 0.0
            if seen[row, x]:
                changes[row, x] = math.log(left[cell, x]) - math.log(rows[row, x])
                cell += 1
