"""Tiers of a table all of whose configurations are estimated, in long loops.

What is computed is what `tier_learning` and `tiers` compute, for whole counts. Every configuration
of a tier is an *item*, and after those every cell with observations is one: the row of its
configuration without one observation of the cell. Cells are in the order of their states. Arrays
`[state, item]` have the items innermost, so that loops are as long as a tier, and idx `[., item]`
says where the rows are that an item leans on. A cell leans on rows without the same observation:
counts are whole, so a coarser tier has a cell for it.
"""

import numpy as np

from colonnade.kernels.compiled import part
from colonnade.kernels.tier_learning import strength_scores, weigh_bases
from colonnade.kernels.tiers import MEANS, STORED, take_roots


@part
def add_up(below, inside, axes, counts, begin):
    """Fill counts `[state, configuration]` of all tiers from those of the last one.

    Those of tier t are counts[begin[t]:begin[t + 1]].
    """
    number, states = len(begin) - 1, begin[1]  # the first tier has one configuration
    for u in range(number - 2, -1, -1):
        # Of the tiers with one axis more take the one where that axis is the first of those that
        # tier u lacks: what stays together is then longest.
        fine, lacking = -1, 0
        while inside[u, lacking]:
            lacking += 1
        for t in range(u + 1, number):
            for b in range(below.shape[1]):
                if below[t, b] == u and inside[t, lacking]:
                    fine = t
        outer, size, inner = _dropped(fine, u, inside, axes)
        to, of = begin[u], begin[fine]
        for i in range(states * outer):
            if inner == 1:
                total = 0.0
                for j in range(size):
                    total += counts[np.uint64(of + i * size + j)]
                counts[to + i] = total
                continue
            for j in range(size):
                some, added = to + i * inner, of + (i * size + j) * inner
                for k in range(inner):
                    value = counts[np.uint64(added + k)]
                    if j > 0:
                        value += counts[np.uint64(some + k)]
                    counts[np.uint64(some + k)] = value


@part
def _dropped(t, u, inside, axes):
    """Return the size of the axis that tier t has and tier u has not, between those around it."""
    outer, size, inner = 1, 0, 1
    for k in range(len(axes)):
        if inside[t, k] and not inside[u, k]:
            size = axes[k]
        elif inside[t, k] and size:
            inner *= axes[k]
        elif inside[t, k]:
            outer *= axes[k]
    return outer, size, inner


@part
def number_cells(states, rows, begin, counts, cell_of, first):
    """Number the cells of each tier, and return the configurations of all of them, in order.

    cell_of[k] becomes the number of the cell counts[k], if it has observations, and first[t, x] the
    first cell of tier t with state x. A tier has at most so many cells as there are `rows`.
    """
    number = len(begin) - 1
    of_cell = np.empty((number, rows + 1), np.uint32)
    for t in range(number):
        size, cell = (begin[t + 1] - begin[t]) // states, 0
        for x in range(states):
            first[t, x] = cell
            here = begin[t] + x * size
            for i in range(size):
                # Others are overwritten.
                of_cell[t, np.uint64(cell)] = i
                cell_of[np.uint64(here + i)] = cell
                cell += counts[np.uint64(here + i)] > 0.0
        first[t, states] = cell
    return of_cell


@part
def learn_dense(below, inside, degree, axes, prior, begin, counts, cell_of, of_cell, first):
    """Return the rows of the last tier, `[state, item]`.

    prior: alpha0, the prior mean of strengths, and those that are tried, in multiples of the number
    of states.
    """
    alpha0, s_mean, multiples = prior
    number, states = len(begin) - 1, first.shape[1] - 1
    grid = multiples * np.float64(states)
    # Where the rows of each tier are, and how many.
    place, items = np.zeros(number + 1, np.int64), np.empty(number, np.int64)
    most = 0
    for t in range(number):
        items[t] = (begin[t + 1] - begin[t]) // states + first[t, states]
        place[t + 1] = place[t] + states * items[t]
        most = max(most, items[t])
    store, room = np.empty((STORED, place[number])), np.empty((3, states * most))
    wide_most = below.shape[1]
    idx, lent = np.empty((wide_most, most), np.uint32), np.empty((wide_most + MEANS, most))
    work = np.empty((5, most))
    for t in range(number):
        n, m = (begin[t + 1] - begin[t]) // states, items[t]
        size = states * m
        own, g, v = room[0, :size], room[1, :size], room[2, :size]
        found = store[0, place[t] : place[t + 1]]
        total = work[0, :m]
        _take_counts(n, m, counts[begin[t] : begin[t + 1]], of_cell[t], first[t], own, total)
        if t == 0:
            for k in range(size):
                found[k] = own[k] + alpha0
            for x in range(states):
                here = found[x * m : (x + 1) * m]
                for i in range(m):
                    here[i] /= total[i] + alpha0 * states
        else:
            wide, parents = 0, 0
            while below[t, wide] >= 0:
                _find(t, below[t, wide], n, inside, axes, begin, cell_of, of_cell, first, idx[wide])
                wide += 1
            for k in range(len(axes)):
                parents += inside[t, k]
            bases = _bases(t, wide, below, place, items, idx, store, g, v, work)
            values = _predictions(t, wide, below, place, items, idx, store, n, first, g, v, work)
            weight, strength = np.empty(bases), np.empty(bases)
            times, beside = _left_in(n, m, first[t], own, total)
            scores = strength_scores(times, beside, values, grid)
            mean = min(parents, 2) * s_mean * states
            weigh_bases(scores, grid, mean, weight, strength, np.empty(scores.shape))
            _weigh_rows(wide, weight, strength, total, work, lent)
            _mix(t, wide, below, place, items, idx, store, own, g, v, work, lent, found)
        if states == 1:
            found[:] = 1.0  # whatever was rounded
        if degree[t] > 1:
            here, end = place[t], place[t + 1]
            take_roots(found, g, degree[t], store[1, here:end], store[2, here:end])
    return store[0, place[number - 1] :]


@part
def _take_counts(n, m, counts, of_cell, first, own, total):
    """Fill counts `[state, item]` and their totals, less what is left out of cells."""
    total[:] = 0.0
    for x in range(len(first) - 1):
        here, all_of_state = own[x * m : (x + 1) * m], counts[x * n : (x + 1) * n]
        for i in range(n):
            here[i] = all_of_state[i]
        cells = here[n:]
        for i in range(len(cells)):
            cells[i] = all_of_state[of_cell[i]]
        left = cells[first[x] : first[x + 1]]
        for i in range(len(left)):
            left[i] -= 1.0
        for i in range(m):
            total[i] += here[i]


@part
def _find(t, u, n, inside, axes, begin, cell_of, of_cell, first, idx):
    """Fill where the items of tier t find rows of tier u, which has one axis less."""
    outer, size, inner = _dropped(t, u, inside, axes)
    for i in range(outer):
        for j in range(size):
            at = (i * size + j) * inner
            some, row = idx[at : at + inner], np.uint32(i * inner)
            for k in range(inner):
                some[k] = row + np.uint32(k)
    states = first.shape[1] - 1
    coarse = outer * inner
    for x in range(states):
        numbers = cell_of[begin[u] + x * coarse : begin[u] + (x + 1) * coarse]
        low, high = first[t, x], first[t, x + 1]
        cells, own = idx[n + low : n + high], of_cell[t, low:high]
        for i in range(len(cells)):
            cells[i] = np.uint32(coarse + numbers[idx[own[i]]])


@part
def _bases(t, wide, below, place, items, idx, store, g, v, work):
    """Fill g and v `[state, item]`, or the only base, and work[1:4] with what normalises them.

    Those are the factors of g, g v and g v^2. Returns the number of bases.
    """
    m = items[t]
    low, middle, high = work[1, :m], work[2, :m], work[3, :m]
    for x in range(len(g) // m):
        for kind in range(STORED if wide > 1 else 1):
            if wide == 1 or kind:
                out = v if kind == 2 else g
                here = out[x * m : (x + 1) * m]
                _multiply(t, wide, x, below, place, items, idx, store[kind], here)
    if wide == 1:
        return 1
    low[:] = 0.0
    middle[:] = 0.0
    high[:] = 0.0
    for x in range(len(g) // m):
        mean, step = g[x * m : (x + 1) * m], v[x * m : (x + 1) * m]
        for i in range(m):
            low[i] += mean[i]
        for i in range(m):
            middle[i] += mean[i] * step[i]
        for i in range(m):
            high[i] += mean[i] * step[i] * step[i]
    for i in range(m):
        low[i] = 1.0 / low[i]
    for i in range(m):
        middle[i] = 1.0 / middle[i]
    for i in range(m):
        high[i] = 1.0 / high[i]
    return wide + MEANS


@part
def _multiply(t, wide, x, below, place, items, idx, numbers, out):
    """Fill out `[item]` with the products of numbers of the rows that items lean on, in state x."""
    first = _of_state(below[t, 0], x, place, items, numbers)
    i0 = idx[0]
    if wide == 1:
        for i in range(len(out)):
            out[i] = first[i0[i]]
        return
    second = _of_state(below[t, 1], x, place, items, numbers)
    i1 = idx[1]
    if wide == 2:
        for i in range(len(out)):
            out[i] = first[i0[i]] * second[i1[i]]
        return
    third = _of_state(below[t, 2], x, place, items, numbers)
    i2 = idx[2]
    if wide == 3:
        for i in range(len(out)):
            out[i] = first[i0[i]] * second[i1[i]] * third[i2[i]]
        return
    fourth = _of_state(below[t, 3], x, place, items, numbers)
    i3 = idx[3]
    for i in range(len(out)):
        out[i] = (first[i0[i]] * second[i1[i]]) * (third[i2[i]] * fourth[i3[i]])
    for b in range(4, wide):
        more, at = _of_state(below[t, b], x, place, items, numbers), idx[b]
        for i in range(len(out)):
            out[i] *= more[at[i]]


@part
def _of_state(u, x, place, items, numbers):
    """Return what is stored of one state of tier u, `[item]`."""
    begin = place[u] + x * items[u]
    return numbers[begin : begin + items[u]]


@part
def _predictions(t, wide, below, place, items, idx, store, n, first, g, v, work):
    """Return the probabilities that bases give to what is left out, `[base, cell]`."""
    m = items[t]
    values = np.empty((1 if wide == 1 else wide + MEANS, m - n))
    for x in range(first.shape[1] - 1):
        low, high = first[t, x], first[t, x + 1]
        if low == high:
            continue
        begin, end = n + low, n + high
        mean, step = g[x * m + begin : x * m + end], v[x * m + begin : x * m + end]
        if wide == 1:
            only = values[0, low:high]
            for i in range(len(only)):
                only[i] = mean[i]
            continue
        average = values[wide, low:high]
        average[:] = 0.0
        for b in range(wide):
            base, at = _of_state(below[t, b], x, place, items, store[0]), idx[b, begin:end]
            here = values[b, low:high]
            for i in range(len(here)):
                here[i] = base[at[i]]
            for i in range(len(here)):
                average[i] += here[i] / wide
        for kind in range(3):
            # g, then g v, the last but one, and g v^2.
            here = values[wide + 1 if kind == 0 else wide + 4 - kind, low:high]
            scale = work[1 + kind, begin:end]
            for i in range(len(here)):
                here[i] = mean[i] * scale[i]
            for _ in range(kind):
                for i in range(len(here)):
                    here[i] *= step[i]
    return values


@part
def _left_in(n, m, first, own, total):
    """Return the counts of all cells, and those of their rows without one observation."""
    times, beside = np.empty(m - n), np.empty(m - n)
    for x in range(len(first) - 1):
        low, high = first[x], first[x + 1]
        cells, rows = own[x * m + n + low : x * m + n + high], total[n + low : n + high]
        some, rest = times[low:high], beside[low:high]
        for i in range(len(some)):
            some[i] = cells[i] + 1.0
        for i in range(len(some)):
            rest[i] = rows[i]
    return times, beside


@part
def _weigh_rows(wide, weight, strength, total, work, lent):
    """Fill what items take of each base, lent `[base, item]`, and of their counts, work[4].

    Most items have few observations, so that shares are looked up by their number.
    """
    m, bases, largest = len(total), len(weight), 0.0
    mine, number = work[4, :m], np.empty(m, np.uint32)
    for i in range(m):
        largest = max(largest, total[i])
        number[i] = np.uint32(total[i])
    shares, kept = np.empty((bases, np.int64(largest) + 1)), np.zeros(np.int64(largest) + 1)
    for c in range(bases):
        s, share, here = strength[c], weight[c], shares[c]
        for k in range(len(kept)):
            here[k] = share / (k + s)
        for k in range(len(kept)):
            kept[k] += here[k]
        for k in range(len(kept)):
            here[k] *= s
    if wide > 1:
        average = shares[wide]
        for b in range(wide):
            here = shares[b]
            for k in range(len(kept)):
                here[k] += average[k] / wide
    for i in range(m):
        mine[i] = kept[number[i]]
    for c in range(bases):
        to, here = lent[c], shares[c]
        if c < wide:
            for i in range(m):
                to[i] = here[number[i]]
        elif c > wide:
            # g, g v^2 and g v, each normalised.
            scale = work[1 if c == wide + 1 else wide + 5 - c]
            for i in range(m):
                to[i] = here[number[i]] * scale[i]


@part
def _mix(t, wide, below, place, items, idx, store, own, g, v, work, lent, found):
    """Fill the estimates `[state, item]` of a tier."""
    m = items[t]
    mine = work[4, :m]
    for x in range(len(found) // m):
        answer, counted = found[x * m : (x + 1) * m], own[x * m : (x + 1) * m]
        mean, step = g[x * m : (x + 1) * m], v[x * m : (x + 1) * m]
        if wide == 1:
            share = lent[0, :m]
            for i in range(m):
                answer[i] = mine[i] * counted[i] + share[i] * mean[i]
            continue
        low, middle, high = lent[wide + 1, :m], lent[wide + 3, :m], lent[wide + 2, :m]
        for i in range(m):
            answer[i] = mine[i] * counted[i]
            answer[i] += mean[i] * (low[i] + step[i] * (middle[i] + step[i] * high[i]))
        for b in range(0, wide - 1, 2):
            left = _of_state(below[t, b], x, place, items, store[0])
            right = _of_state(below[t, b + 1], x, place, items, store[0])
            at, also, lent_left, lent_right = idx[b], idx[b + 1], lent[b], lent[b + 1]
            for i in range(m):
                answer[i] += lent_left[i] * left[at[i]] + lent_right[i] * right[also[i]]
        if wide % 2:
            base = _of_state(below[t, wide - 1], x, place, items, store[0])
            at, share = idx[wide - 1], lent[wide - 1]
            for i in range(m):
                answer[i] += share[i] * base[at[i]]
