"""The rows of all configurations of a tier, when its weights are known: see `dense_tiers`.

A *line* is the configurations that differ in the last axis of a tier alone. In tiers without one of
the other axes they lean on a line, too, and in the tier without the last one all on the same row. A
*block* is a few lines, which stay in the cache.

Most configurations were never observed, and take the same shares of what they lean on. Those with
observations are few, so that their shares are put among the others before a block is filled, and
taken away after.
"""

import numpy as np

from colonnade.kernels.compiled import part, part_with_separate_arrays
from colonnade.kernels.special import replace_by_logs
from colonnade.kernels.tiers import STORED, take_roots

# The size of a block, unless a line is longer.
_BLOCK = 128


@part
def fill_blocks(t, states, tiers, shares, kept, seen, total, counts, mixed, store, steps, table):
    """Fill all rows of tier t.

    Row i has total[i] observations, and takes shares[b, total[i]] of base b and kept[total[i]] of
    its counts `[state, configuration]`; `seen` are those with observations. Rows are stored with
    their roots; those of the last tier become logarithms in the table, after neighbours are mixed
    by a weight. `steps` are the steps in the table along all axes, and then along the states.
    """
    below, inside, _, axes, span, _ = tiers
    last, others, wide = 0, 0, 0
    for k in range(len(axes)):
        if inside[t, k]:
            last, others = k, others + 1
    while below[t, wide] >= 0:
        wide += 1
    line, others = axes[last], others - 1
    some = min(span[t] // line, max(1, _BLOCK // line))
    leaned, lent = np.empty((4, wide), np.int64), np.empty(len(shares) * some * line)
    room, sums = np.empty((5, states * some * line)), np.empty((4, some * line))
    walk = (
        line,
        np.empty(others, np.int64),
        np.empty((wide + 1, others), np.int64),
        np.zeros(others, np.int64),
        np.zeros(wide + 1, np.int64),
        np.empty((wide + 1, some), np.int64),
    )
    _describe(t, last, tiers, steps, leaned, walk)
    rows = (shares, kept, seen, total, counts)
    _fill(t, tiers, rows, mixed, leaned, lent, room, sums, walk, steps, store, table)


@part
def _fill(t, tiers, rows, mixed, leaned, lent, room, sums, walk, steps, store, table):
    """Fill all rows, one block after the other: see above.

    References to arrays need not be counted here, because none is made.
    """
    shares, kept, seen, total, counts = rows
    _, _, degree, axes, span, place = tiers
    line, where, wide, bases = walk[0], walk[5], leaned.shape[1], len(shares)
    some, width, lines = where.shape[1], sums.shape[1], span[t] // walk[0]
    states, done, low = room.shape[1] // width, 0, 0
    mine = sums[3]
    mine[:] = 0.0  # later it may be anything where there are no counts
    for b in range(bases):
        lent[b * width : (b + 1) * width] = shares[b, 0]
    while low < lines:
        begin, size = low * line, min(some, lines - low) * line
        end, until = states * size, done
        found, g, v = room[0, :end], room[1, :end], room[2, :end]
        while until < len(seen) and seen[until] < begin + size:
            row = np.int64(seen[until])
            number = np.int64(total[row])
            mine[row - begin] = kept[number]
            for b in range(bases):
                lent[b * width + row - begin] = shares[b, number]
            until += 1
        _walk_on(size // line, walk)
        _lean(size, width, walk, leaned, lent, store, found, g, v)
        if wide > 1:
            at = (wide + 1) * width
            more = lent[at : at + size], lent[at + width :], lent[at + 2 * width :]
            _add_means(size, more, found, g, v, sums)
        if until > done:
            for x in range(states):
                of = x * span[t] + begin
                _add_counts(mine[:size], counts[of : of + size], found[x * size : (x + 1) * size])
        for k in range(done, until):
            here = np.int64(seen[k]) - begin
            for b in range(bases):
                lent[b * width + here] = shares[b, 0]
        done = until
        if states == 1:
            found[:] = 1.0  # whatever was rounded
        if degree[t] > 0:
            if degree[t] > 1:
                take_roots(found, g, degree[t], room[3, :end], room[4, :end])
            for kind in range(STORED if degree[t] > 1 else 1):
                numbers = room[kind + 2 if kind else 0]
                for x in range(states):
                    to = place[t] + x * span[t] + begin
                    _copy(numbers[x * size : (x + 1) * size], store[kind, to : to + size])
        else:
            if mixed > 0.0:
                _mix_neighbours(size, mixed, found, g)
                found = g
            replace_by_logs(found)
            for i in range(size // line):
                _write(
                    where[wide, i],
                    steps[len(axes) - 1],
                    steps[len(axes)],
                    i * line,
                    line,
                    size,
                    found,
                    table,
                )
        low += some


@part_with_separate_arrays
def _add_counts(share, counts, total):
    for k in range(len(total)):
        total[k] += share[k] * counts[k]


@part
def _describe(t, last, tiers, steps, leaned, walk):
    """Fill which tiers tier t leans on, the one that lacks the last axis after the others.

    leaned[:2, b] becomes its number among all tiers leaned on, and how many of its rows are between
    one state and the next; the rest of it is room. Of the walk, fill the sizes of the other axes,
    how far a step along each of them leads in what is leaned on, and at last in the table, and the
    beginning.
    """
    below, inside, _, axes, span, place = tiers
    _, sizes, ahead, _, at, _ = walk
    used, wide = 0, leaned.shape[1]
    for b in range(wide):
        u = below[t, b]
        slot = used if inside[u, last] else wide - 1
        used += inside[u, last]
        leaned[0, slot], leaned[1, slot] = b, span[u]
        at[slot], step, other = place[u], axes[last] if inside[u, last] else 1, len(sizes)
        for k in range(last - 1, -1, -1):
            if inside[t, k]:
                other -= 1
                sizes[other], ahead[slot, other] = axes[k], step if inside[u, k] else 0
                step *= axes[k] if inside[u, k] else 1
    other = len(sizes)
    for k in range(last - 1, -1, -1):
        if inside[t, k]:
            other -= 1
            ahead[wide, other] = steps[k]


@part
def _walk_on(lines, walk):
    """Fill where the next lines begin in what they lean on, and in the table."""
    _, sizes, ahead, code, at, where = walk
    for i in range(lines):
        for b in range(len(at)):
            where[b, i] = at[b]
        k, turning = len(sizes) - 1, True
        while turning and k >= 0:
            # As the digits of a number: a full one begins anew, and the one before it goes on.
            code[k] += 1
            turning = code[k] == sizes[k]
            for b in range(len(at)):
                at[b] += ahead[b, k] - (sizes[k] * ahead[b, k] if turning else 0)
            code[k] = 0 if turning else code[k]
            k -= 1


@part
def _write(at, step, step_of_states, begin, line, size, rows, table):
    """Write a line, which begins there in rows `[state, .]`, into the table."""
    for x in range(len(rows) // size):
        of, to = x * size + begin, at + x * step_of_states
        if step == 1:
            _copy(rows[of : of + line], table[to : to + line])
        else:
            for k in range(line):
                table[to + k * step] = rows[of + k]


@part_with_separate_arrays
def _copy(of, to):
    for k in range(len(to)):
        to[k] = of[k]


@part
def _lean(size, width, walk, leaned, lent, store, found, g, v):
    """Fill sums of what some lines lean on, by their shares, and products of their roots.

    Of a tier that leans on one alone, the only base takes the place of the products.
    """
    p, q, r = store[0], store[1], store[2]
    line, _, _, _, _, where = walk
    last, at, by = leaned.shape[1] - 1, leaned[2], leaned[3]
    for i in range(size // line):
        for b in range(last + 1):
            at[b], by[b] = where[b, i], leaned[0, b] * width + i * line
        for x in range(len(found) // size):
            to, only = x * size + i * line, at[last]
            some = (p[only], q[only], r[only])
            if last == 0:
                _lean_on_none(line, to, some, by, lent, found, g)
            elif last == 1:
                _lean_on_one(line, to, some, at, by, lent, p, q, r, found, g, v)
            elif last == 2:
                _lean_on_two(line, to, some, at, by, lent, p, q, r, found, g, v)
            else:
                _lean_on_three(line, to, some, at, by, lent, p, q, r, found, g, v)
            for more in range(3, last):
                _lean_on_more(line, to, at[more], by[more], lent, p, q, r, found, g, v)
            for b in range(last + 1):
                at[b] += leaned[1, b]


@part_with_separate_arrays
def _lean_on_none(line, to, some, by, lent, total, g):
    a, own = some[0], by[0]
    for k in range(line):
        g[np.uint64(to + k)] = a
        total[np.uint64(to + k)] = lent[np.uint64(own + k)] * a


@part_with_separate_arrays
def _lean_on_one(line, to, some, at, by, lent, p, q, r, total, g, v):
    a, b, c = some
    one, by_one, own = at[0], by[0], by[1]
    for k in range(line):
        i, here = np.uint64(one + k), np.uint64(to + k)
        total[here] = lent[np.uint64(own + k)] * a + lent[np.uint64(by_one + k)] * p[i]
        g[here] = b * q[i]
        v[here] = c * r[i]


@part_with_separate_arrays
def _lean_on_two(line, to, some, at, by, lent, p, q, r, total, g, v):
    a, b, c = some
    one, two, by_one, by_two, own = at[0], at[1], by[0], by[1], by[2]
    for k in range(line):
        i, j, here = np.uint64(one + k), np.uint64(two + k), np.uint64(to + k)
        both = lent[np.uint64(by_one + k)] * p[i] + lent[np.uint64(by_two + k)] * p[j]
        total[here] = lent[np.uint64(own + k)] * a + both
        g[here] = b * (q[i] * q[j])
        v[here] = c * (r[i] * r[j])


@part_with_separate_arrays
def _lean_on_three(line, to, some, at, by, lent, p, q, r, total, g, v):
    a, b, c = some
    one, two, three = at[0], at[1], at[2]
    by_one, by_two, by_three, own = by[0], by[1], by[2], by[len(by) - 1]
    for k in range(line):
        i, j, h = np.uint64(one + k), np.uint64(two + k), np.uint64(three + k)
        both = lent[np.uint64(by_one + k)] * p[i] + lent[np.uint64(by_two + k)] * p[j]
        rest = lent[np.uint64(own + k)] * a + lent[np.uint64(by_three + k)] * p[h]
        total[np.uint64(to + k)] = both + rest
        g[np.uint64(to + k)] = (b * q[i]) * (q[j] * q[h])
        v[np.uint64(to + k)] = (c * r[i]) * (r[j] * r[h])


@part_with_separate_arrays
def _lean_on_more(line, to, one, by_one, lent, p, q, r, total, g, v):
    for k in range(line):
        i, here = np.uint64(one + k), np.uint64(to + k)
        total[here] += lent[np.uint64(by_one + k)] * p[i]
        g[here] *= q[i]
        v[here] *= r[i]


@part
def _add_means(size, lent, found, g, v, sums):
    """Add the means of what a block leans on, normalised, by what is lent: of g, g v^2 and g v."""
    low, middle, high = sums[0, :size], sums[1, :size], sums[2, :size]
    low[:] = 0.0
    middle[:] = 0.0
    high[:] = 0.0
    for x in range(len(g) // size):
        here = x * size
        add_to_sums(g[here : here + size], v[here : here + size], low, middle, high)
    _divide(lent[0], lent[2], lent[1], low, middle, high)
    for x in range(len(g) // size):
        here = x * size
        mean, step, answer = g[here : here + size], v[here : here + size], found[here : here + size]
        _add_mean(mean, step, low, middle, high, answer)


@part_with_separate_arrays
def add_to_sums(mean, step, low, middle, high):
    """Add g, g v and g v^2 to sums."""
    for k in range(len(low)):
        between = mean[k] * step[k]
        low[k] += mean[k]
        middle[k] += between
        high[k] += between * step[k]


@part_with_separate_arrays
def _divide(a, b, c, low, middle, high):
    for k in range(len(low)):
        low[k] = a[k] / low[k]
        middle[k] = b[k] / middle[k]
        high[k] = c[k] / high[k]


@part_with_separate_arrays
def _add_mean(mean, step, low, middle, high, answer):
    for k in range(len(low)):
        answer[k] += mean[k] * (low[k] + step[k] * (middle[k] + step[k] * high[k]))


@part
def _mix_neighbours(size, weight, rows, answer):
    """Fill rows `[state, .]`, so many, that are mixed with those of neighbouring states."""
    states = len(rows) // size
    for x in range(states):
        before, after = max(x - 1, 0) * size, min(x + 1, states - 1) * size
        left, right = rows[before : before + size], rows[after : after + size]
        here, to = rows[x * size : (x + 1) * size], answer[x * size : (x + 1) * size]
        _mix_three(weight, here, left, right, to)


@part
def _mix_three(weight, here, left, right, to):
    for k in range(len(to)):
        to[k] = (1.0 - weight) * here[k] + 0.5 * weight * (left[k] + right[k])
