"""How much the rows of a table lean on their pool, learned from many tables together.

The strength of each table has a Gamma prior, whose mean is a multiple of the number of states. A
single table says little about that multiple, k. Many tables of the same rows, each of a child given
the same parent, say whether that parent matters as a rule: ln k is normal beforehand, and the
strengths of all tables are summed out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colonnade.arrays import Floats
from colonnade.pooling.tiers import STRENGTHS

# Multiples that are tried, and the standard deviation of their logarithm beforehand.
_MULTIPLES, _SPREAD = 2.0 ** np.arange(-2.0, 7.5, 0.5), 0.5


def learn_s_mean(tables: Sequence[Floats], usual: float) -> float:
    """Learn the prior mean of strengths from tables ``[configuration, state]`` of one parent each.

    It is a multiple of the number of states, three digits long. `usual` is what it is taken to be
    beforehand, and stays if the tables say nothing.
    """
    offsets = np.log(_MULTIPLES / usual) / _SPREAD
    scores = -0.5 * offsets * offsets
    # Gamma densities of ln s with shape 2, for each multiple and strength.
    logs = 2.0 * (np.log(STRENGTHS) - STRENGTHS / _MULTIPLES[:, None])
    logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
    for counts in tables:
        scores += np.logaddexp.reduce(logs + left_out_scores(counts), axis=1)
    chances = np.exp(scores - scores.max())
    mean = float(np.exp(chances @ np.log(_MULTIPLES) / chances.sum()))
    return float(f"{mean:.3g}")


def left_out_scores(counts: Floats) -> Floats:
    """Leave-one-out log scores of a table with one parent, for each of the strengths tried.

    Rows lean on the pool, from which the observation is taken out as well, and to which one of each
    state is added.
    """
    states = counts.shape[1]
    row, state = np.nonzero(counts)
    own = counts[row, state]
    taken = np.minimum(own, 1.0)
    pool = counts.sum(axis=0)[state] - taken + 1.0
    pool /= counts.sum() - taken + states
    others = counts.sum(axis=1)[row] - taken
    strengths = (states * STRENGTHS)[:, None]
    chances = (own - taken + strengths * pool) / (others + strengths)
    return np.asarray(np.log(chances) @ own)
