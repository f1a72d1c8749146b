"""Tiers of a table all of whose configurations are estimated, in long loops.

What is computed is what `tier_learning` and `tiers` compute, for whole counts. First come the
*cells* of a tier, those with observations: the row of the cell's configuration without one
observation of the cell. They are in the order of their states. A cell leans on rows without the
same observation: counts are whole, so a coarser tier has a cell for it. Arrays `[state, cell]` have
the cells innermost, and idx `[., cell]` says which cells a cell leans on. When the weights are
learned, all configurations follow (`tier_blocks`).

`tiers` is a tuple. below, inside and degree are as in `tiers`; axes are their sizes, and span[t]
the number of configurations of tier t. The rows of all tiers but the last are stored with their
roots: those of tier t from place[t] on, `[state, configuration]`, and then `[state, cell]`.
"""

import numpy as np

from colonnade.kernels.compiled import part, part_with_separate_arrays
from colonnade.kernels.special import logarithm, replace_by_logs
from colonnade.kernels.strength_scores import fill_scores, logs_of, weigh_bases
from colonnade.kernels.tier_blocks import add_to_sums, fill_blocks
from colonnade.kernels.tiers import MEANS, take_roots

# The smallest number of which `logarithm` is taken.
_SMALLEST = 1e-300
# Arrays `[state, cell]` that are room to work, besides one for each row that is leaned on.
ROOMS = 4


@part
def learn_dense(plan, axes, prior, codes, times, start, store, room, steps, at, losses, table):
    """Fill a table with logarithms. `steps` are those along all axes, and along the states.

    And fill where the cells of the last tier are in the table, and what each of them loses without
    one of its observations. Their `codes` are `[axis, cell]`, times[k] is how often cell k was
    observed, and start[x] the first one with state x. `plan` has below, inside and degree; `store`
    and `room` are room.

    prior: alpha0, the prior mean of strengths, those that are tried, both in multiples of the
    number of states, the weights of neighbours that are tried, and how close scores are ties.
    """
    below, inside, degree = plan
    alpha0, s_mean, multiples, tried, tolerance = prior
    number, states, most, size = len(degree), len(start) - 1, below.shape[1], len(times)
    grid, largest = np.empty(len(multiples)), len(table) // states
    for g in range(len(grid)):
        grid[g] = multiples[g] * states
    logs = logs_of(grid)
    span, cells = np.empty(number, np.int64), np.empty(number, np.int64)
    place = np.zeros(number + 1, np.int64)
    tiers = (below, inside, degree, axes, span, place)
    # Of each cell of the last tier, its configuration and its cell in all tiers.
    config, member = np.zeros((number, size), np.uint32), np.empty((number, size), np.uint32)
    counts, total = np.empty(states * largest), np.empty(largest)
    cell_of, seen = np.empty(largest, np.uint32), np.empty(size + 1, np.uint32)
    of_cell, item_of = np.empty(size, np.uint32), np.empty(size, np.uint32)
    first, most_seen = np.empty(states + 1, np.int64), 1.0
    for k in range(size):
        most_seen += times[k]
    shares, kept = np.empty((most + MEANS, int(most_seen))), np.empty(int(most_seen))
    scores, chance = np.empty((most + MEANS, len(grid))), np.empty((most + MEANS, len(grid)))
    idx = np.empty((most, size), np.uint32)
    values, lent = np.empty((most + MEANS, size)), np.empty((most + MEANS, size))
    work, left, mixed = np.empty((5, size)), np.empty(size), 0.0
    weight, strength = np.ones(most + MEANS), np.ones(most + MEANS)
    for t in range(number):
        wide, parents, n = 0, 0, 1
        for k in range(len(axes)):
            if inside[t, k]:
                parents, n = parents + 1, n * axes[k]
        while below[t, wide] >= 0:
            wide += 1
        _number(t, below[t, :wide], inside, axes, codes, config)
        here, some = counts[: states * n], total[:n]
        found = _find_cells(
            config[t], times, start, here, some, seen, first, cell_of, of_cell, item_of, member[t]
        )
        m = first[states]
        span[t], cells[t] = n, m
        place[t + 1] = place[t] + states * (n + m)
        begin, end = place[t] + states * n, place[t + 1]
        own, beside = room[0, : states * m], work[0, :m]
        _take_counts(n, of_cell, here, first, own, beside, left)
        if t == 0:
            # The pool has one configuration.
            for x in range(states):
                store[0, x] = (here[x] + alpha0) / (some[0] + alpha0 * states)
                answer, counted = store[0, begin + x * m :], own[x * m : (x + 1) * m]
                for i in range(m):
                    answer[i] = (counted[i] + alpha0) / (beside[i] + alpha0 * states)
            continue
        for b in range(wide):
            to, of = idx[b], member[below[t, b]]
            for i in range(m):
                to[i] = of[item_of[i]]
        g = room[2, : states * m]
        bases = 1 if wide == 1 else wide + MEANS
        _take_bases(t, wide, states, m, tiers, cells, idx, store, room, work)
        _predict(wide, states, m, first, room, work, values)
        fill_scores(left[:m], beside, values[:bases], grid, logs, scores[:bases])
        mean = min(parents, 2) * s_mean * states
        weigh_bases(scores[:bases], grid, logs, mean, weight[:bases], strength[:bases], chance)
        _share(wide, weight[:bases], strength, some, shares, kept)
        _lend(wide, shares[:bases], kept, beside, work, lent)
        answer = room[1, : states * m] if t == number - 1 else store[0, begin:end]
        _mix(wide, states, own, room, work, lent, answer)
        if states == 1:
            answer[:] = 1.0  # whatever was rounded
        if t == number - 1:
            mixed = _mix_neighbours(states, m, first, left, tried, tolerance, answer, losses)
            replace_by_logs(losses)
        elif degree[t] > 1:
            mean_of = g if wide > 1 else room[ROOMS, : states * m]
            take_roots(answer, mean_of, degree[t], store[1, begin:end], store[2, begin:end])
        fill_blocks(
            t,
            states,
            tiers,
            shares[:bases],
            kept,
            seen[:found],
            some,
            here,
            mixed,
            store,
            steps,
            table,
        )
    for x in range(states):
        at[start[x] : start[x + 1]] = x * steps[len(axes)]
    for k in range(len(axes)):
        step, code = steps[k], codes[k]
        for cell in range(size):
            at[cell] += code[cell] * step
    for cell in range(size):
        losses[cell] -= table[at[cell]]


@part
def _number(t, below, inside, axes, codes, config):
    """Fill config[t], the configurations of tier t that the cells of the last tier belong to."""
    last, to, coarser = 0, config[t], config[0]
    for k in range(len(axes)):
        last = k if inside[t, k] else last
    for b in range(len(below)):
        # The tier with all axes but the last one.
        if not inside[below[b], last]:
            coarser = config[below[b]]
    size, code = np.uint32(axes[last]), codes[last]
    if len(below) > 0:
        for i in range(len(to)):
            to[i] = coarser[i] * size + code[i]


@part
def _find_cells(
    config, times, start, counts, total, seen, first, cell_of, of_cell, item_of, member
):
    """Fill counts `[state, configuration]` and their totals, and number the cells, by their states.

    Those are the cells to which the cells of the last tier belong, member[k], with configuration
    config[k] and so many observations, times[k]. first[x] becomes the first cell with state x, and
    of_cell and item_of the configuration and a cell of the last tier of each. `seen` becomes the
    configurations with observations; their number is returned.
    """
    states, n, cell, found = len(first) - 1, len(total), 0, 0
    counts[:] = 0.0
    total[:] = 0.0
    for x in range(states):
        first[x], here = cell, counts[x * n : (x + 1) * n]
        for k in range(start[x], start[x + 1]):
            i, fresh = config[k], here[config[k]] == 0.0
            # Others are overwritten.
            of_cell[cell], item_of[cell] = i, k
            # Without a branch, which would go either way.
            member[k] = cell_of[i] + (np.uint32(cell) - cell_of[i]) * np.uint32(fresh)
            cell_of[i] = member[k]
            cell += fresh
            here[i] += times[k]
            total[i] += times[k]
    first[states] = cell
    for i in range(n):
        seen[np.uint64(found)] = i
        found += total[i] > 0.0
    return found


@part
def _take_counts(n, of_cell, counts, first, own, beside, times):
    """Fill the counts `[state, cell]` beside what is left out, their sums, and those of cells."""
    m = len(beside)
    beside[:] = 0.0
    for x in range(len(first) - 1):
        here, all_of_state = own[x * m : (x + 1) * m], counts[x * n : (x + 1) * n]
        for i in range(m):
            here[i] = all_of_state[of_cell[i]]
        left, some = here[first[x] : first[x + 1]], times[first[x] : first[x + 1]]
        for i in range(len(left)):
            some[i] = left[i]
        for i in range(len(left)):
            left[i] -= 1.0
        for i in range(m):
            beside[i] += here[i]


@part
def _take_bases(t, wide, states, m, tiers, cells, idx, store, room, work):
    """Fill what cells lean on, each room[ROOMS + b], and g and v `[state, cell]`, room[2:4].

    And work[1:4] with what normalises g, g v and g v^2.
    """
    below, span, place = tiers[0][t], tiers[4], tiers[5]
    p, q, r = store[0], store[1], store[2]
    low, middle, high = work[1, :m], work[2, :m], work[3, :m]
    low[:] = 0.0
    middle[:] = 0.0
    high[:] = 0.0
    for x in range(states):
        here, end = x * m, (x + 1) * m
        g, v = room[2, here:end], room[3, here:end]
        if wide == 1:
            only, base, at = (
                _begin(below[0], x, states, span, cells, place),
                room[ROOMS, here:end],
                idx[0],
            )
            for i in range(m):
                base[i] = p[np.uint64(only + at[i])]
            continue
        g[:] = 1.0
        v[:] = 1.0
        for b in range(0, wide, 2):
            u, w = below[b], below[min(b + 1, wide - 1)]
            one = _begin(u, x, states, span, cells, place)
            two = _begin(w, x, states, span, cells, place)
            left = room[ROOMS + b, here:end]
            if b + 1 < wide:
                right = room[ROOMS + b + 1, here:end]
                _take_two(one, two, idx[b], idx[b + 1], p, q, r, left, right, g, v)
            else:
                _take_one(one, idx[b], p, q, r, left, g, v)
        add_to_sums(g, v, low, middle, high)
    if wide > 1:
        for i in range(m):
            low[i] = 1.0 / low[i]
        for i in range(m):
            middle[i] = 1.0 / middle[i]
        for i in range(m):
            high[i] = 1.0 / high[i]


@part
def _begin(t, x, states, span, cells, place):
    """Return where the cells of a tier are stored for a state."""
    return place[t] + states * span[t] + x * cells[t]


@part
def _take_one(begin, at, p, q, r, base, g, v):
    for i in range(len(base)):
        here = np.uint64(begin + at[i])
        base[i] = p[here]
        g[i] *= q[here]
        v[i] *= r[here]


@part
def _take_two(begin, other_begin, at, other_at, p, q, r, left, right, g, v):
    for i in range(len(left)):
        here, other = np.uint64(begin + at[i]), np.uint64(other_begin + other_at[i])
        left[i] = p[here]
        right[i] = p[other]
        g[i] *= q[here] * q[other]
        v[i] *= r[here] * r[other]


@part
def _predict(wide, states, m, first, room, work, values):
    """Fill the probabilities that bases give to what is left out, `[base, cell]`."""
    for x in range(states):
        low, high = first[x], first[x + 1]
        if low == high:
            continue
        average = values[wide, low:high]
        if wide > 1:
            average[:] = 0.0
        for b in range(wide):
            base, here = room[ROOMS + b, x * m + low : x * m + high], values[b, low:high]
            for i in range(len(here)):
                here[i] = base[i]
            if wide > 1:
                for i in range(len(here)):
                    average[i] += here[i] / wide
        if wide > 1:
            g, v = room[2, x * m + low : x * m + high], room[3, x * m + low : x * m + high]
            for kind in range(3):
                # g, then g v, the last but one, and g v^2.
                here = values[wide + 1 if kind == 0 else wide + 4 - kind, low:high]
                scale = work[1 + kind, low:high]
                for i in range(len(here)):
                    here[i] = g[i] * scale[i]
                for _ in range(kind):
                    for i in range(len(here)):
                        here[i] *= v[i]


@part
def _share(wide, weight, strength, total, shares, kept):
    """Fill what rows take of each base, `[base, .]`, and of their counts, by their number."""
    bases, largest = len(weight), 0.0
    for i in range(len(total)):
        largest = max(largest, total[i])
    size = np.int64(largest) + 1
    kept[:size] = 0.0
    for c in range(bases):
        s, share, here = strength[c], weight[c], shares[c]
        for k in range(size):
            here[k] = share / (k + s)
        for k in range(size):
            kept[k] += here[k]
        for k in range(size):
            here[k] *= s
    if wide > 1:
        average = shares[wide]
        for b in range(wide):
            here = shares[b]
            for k in range(size):
                here[k] += average[k] / wide


@part
def _lend(wide, shares, kept, beside, work, lent):
    """Fill what cells take of each base, lent `[base, cell]`, and of their counts, work[4]."""
    m = len(beside)
    mine, number = work[4, :m], np.empty(m, np.uint32)
    for i in range(m):
        number[i] = np.uint32(beside[i])
    for i in range(m):
        mine[i] = kept[number[i]]
    for c in range(len(shares)):
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
def _mix(wide, states, own, room, work, lent, answer):
    """Fill the estimates `[state, cell]` of a tier."""
    m = len(answer) // states
    mine = work[4, :m]
    for x in range(states):
        here, end = x * m, (x + 1) * m
        to, counted = answer[here:end], own[here:end]
        if wide == 1:
            _mix_one(mine, counted, lent[0, :m], room[ROOMS, here:end], to)
            continue
        low, middle, high = lent[wide + 1, :m], lent[wide + 3, :m], lent[wide + 2, :m]
        _mix_means(mine, counted, room[2, here:end], room[3, here:end], low, middle, high, to)
        for b in range(0, wide - 1, 2):
            left, right = room[ROOMS + b, here:end], room[ROOMS + b + 1, here:end]
            _add_two(lent[b, :m], left, lent[b + 1, :m], right, to)
        if wide % 2:
            _add_one(lent[wide - 1, :m], room[ROOMS + wide - 1, here:end], to)


@part_with_separate_arrays
def _mix_one(mine, counted, share, base, to):
    for i in range(len(to)):
        to[i] = mine[i] * counted[i] + share[i] * base[i]


@part_with_separate_arrays
def _mix_means(mine, counted, g, v, low, middle, high, to):
    for i in range(len(to)):
        to[i] = mine[i] * counted[i] + g[i] * (low[i] + v[i] * (middle[i] + v[i] * high[i]))


@part_with_separate_arrays
def _add_one(share, base, to):
    for i in range(len(to)):
        to[i] += share[i] * base[i]


@part_with_separate_arrays
def _add_two(share, base, other_share, other_base, to):
    for i in range(len(to)):
        to[i] += share[i] * base[i] + other_share[i] * other_base[i]


@part
def _mix_neighbours(states, m, first, times, tried, tolerance, rows, answer):
    """Fill the probabilities of what is left out, mixed with neighbours; return their weight.

    It is the one with the best score, of equally good ones the first.
    """
    alone, beside, logs, share = np.empty(m), np.empty(m), np.empty(m), 0.0
    scores, best = np.zeros(len(tried)), -np.inf
    for x in range(states):
        left, right = max(x - 1, 0) * m, min(x + 1, states - 1) * m
        for cell in range(first[x], first[x + 1]):
            alone[cell] = rows[x * m + cell]
            beside[cell] = 0.5 * (rows[left + cell] + rows[right + cell])
    if len(tried) > 1 and states > 1:
        for w in range(len(tried)):
            weight = tried[w]
            for k in range(m):
                mixed = (1.0 - weight) * alone[k] + weight * beside[k]
                logs[k] = logarithm(max(mixed, _SMALLEST))
            for k in range(m):
                scores[w] += times[k] * logs[k]
            best = max(best, scores[w])
        for w in range(len(tried) - 1, -1, -1):
            if scores[w] >= best - tolerance * (1.0 + abs(best)):
                share = tried[w]
    for k in range(m):
        answer[k] = (1.0 - share) * alone[k] + share * beside[k]
    return share
