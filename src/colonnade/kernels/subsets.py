"""Sums and maxima over all subsets of variables; a subset is a number whose bits are its members.

Arrays about the parents of one child are indexed by subsets of the other variables, whose bits
close up where the child is left out: ``[2^(V - 1)]``. Logarithms throughout.
"""

import math

import numpy as np

from colonnade.kernels.compiled import entry, part


@part
def _log_add(a, b):
    """Logarithm of exp(a) + exp(b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@part
def _without(members, child):
    """A subset that lacks the child, by the numbers of the other variables."""
    low = members & ((1 << child) - 1)
    return low | (members >> (child + 1) << child)


@entry
def best_subsets(scores):
    """Replace each score by the best of all subsets, and return which; of equals the smallest."""
    chosen = np.arange(scores.size)
    bit = 1
    while bit < scores.size:
        for members in range(scores.size):
            if members & bit and scores[members ^ bit] >= scores[members]:
                scores[members] = scores[members ^ bit]
                chosen[members] = chosen[members ^ bit]
        bit *= 2
    return chosen


@entry
def best_order(best):
    """Best score of the variables of every subset, and which of them comes last.

    `best` is ``[child, subset]``, the score of the best parents within a subset.
    """
    variables = best.shape[0]
    total = np.full(1 << variables, -np.inf)
    last = np.full(1 << variables, -1)
    total[0] = 0.0
    for members in range(1, 1 << variables):
        for child in range(variables):
            if members >> child & 1:
                before = members ^ (1 << child)
                value = total[before] + best[child, _without(before, child)]
                if value >= total[members]:
                    total[members] = value
                    last[members] = child
    return total, last


@entry
def log_sums_within(values):
    """Replace each value by the sum over all subsets."""
    bit = 1
    while bit < values.size:
        for members in range(values.size):
            if members & bit:
                values[members] = _log_add(values[members], values[members ^ bit])
        bit *= 2


@entry
def log_sums_beyond(values):
    """Replace each value by the sum over all supersets."""
    bit = 1
    while bit < values.size:
        for members in range(values.size):
            if not members & bit:
                values[members] = _log_add(values[members], values[members | bit])
        bit *= 2


@entry
def log_orders(within):
    """Sums over all orders of the variables of every subset, if they come first and if last.

    `within` is ``[child, subset]``, the sum over all parents within a subset.
    """
    variables = within.shape[0]
    whole = (1 << variables) - 1
    first = np.full(1 << variables, -np.inf)
    last = np.full(1 << variables, -np.inf)
    first[0] = last[0] = 0.0
    for members in range(1, 1 << variables):
        for child in range(variables):
            if members >> child & 1:
                rest = members ^ (1 << child)
                at_the_end = first[rest] + within[child, _without(rest, child)]
                first[members] = _log_add(first[members], at_the_end)
                begun = last[rest] + within[child, _without(whole ^ members, child)]
                last[members] = _log_add(last[members], begun)
    return first, last


@entry
def log_chances_before(first, last, child, variables):
    """Sum over all orders in which the variables of a subset, and no others, precede the child."""
    whole = (1 << variables) - 1
    found = np.empty(1 << (variables - 1))
    for members in range(1 << variables):
        if not members >> child & 1:
            after = whole ^ members ^ (1 << child)
            found[_without(members, child)] = first[members] + last[after]
    return found


@entry
def parent_shares(scores, beyond, total):
    """Probability of each of the other variables as a parent."""
    others = 0
    while 1 << others < scores.size:
        others += 1
    shares = np.zeros(others)
    for members in range(scores.size):
        share = math.exp(scores[members] + beyond[members] - total)
        if share > 0.0:
            for k in range(others):
                if members >> k & 1:
                    shares[k] += share
    return shares
