"""Rows that lack values: which missing variables are connected, and which rows are alike.

Codes are ``[row, variable]``, and the number of states means missing. A graph has the `sizes` of
its variables, and an `order` with parents before their children; the family of variable f is
member[start[f]:start[f + 1]], the variable itself last.
"""

import numpy as np

from colonnade.kernels.compiled import entry
from colonnade.kernels.counting import number_keys, place_keys


@entry
def label_gaps(codes, sizes, start, member, order, wanted):
    """Label each missing variable of each row with the first variable of its gap.

    The label is -1 for what is there, and for what nothing observed or `wanted` (a boolean per
    variable) depends on. Returns the labels
    ``[row, variable]`` and the number of gaps.
    """
    rows, count = codes.shape
    labels = np.full((rows, count), -1, np.int32)
    matters = np.empty(count, np.bool_)
    gaps = 0
    for row in range(rows):
        label = labels[row]
        for v in range(count):
            matters[v] = wanted[v] or codes[row, v] != sizes[v]
        for i in range(count - 1, -1, -1):
            v = order[i]
            if matters[v]:
                for k in range(start[v], start[v + 1]):
                    matters[member[k]] = True
        for v in range(count):
            if matters[v] and codes[row, v] == sizes[v]:
                label[v] = v
        for f in range(count):
            leader = -1
            for k in range(start[f], start[f + 1]):
                v = member[k]
                if not matters[f] or label[v] < 0:
                    continue
                while label[v] != v:
                    v = label[v]
                if leader < 0:
                    leader = v
                # The smaller one leads, so labels never point forward.
                label[max(leader, v)] = leader = min(leader, v)
        for v in range(count):
            if label[v] >= 0:
                label[v] = label[label[v]]
                gaps += label[v] == v
    return labels, gaps


@entry
def pack_gaps(codes, labels, gaps, sizes, start, member, word, shift):
    """Describe every gap of every row by the variables of its families.

    Returns the row of each gap; the codes of its variables as a key ``[gap, word]``, each plus one
    in word[v] from bit shift[v] on, and 0 for other variables; and their roles as a key
    ``[gap, word]`` with two bits per variable and 31 variables per word: 1 for one that is there,
    2 for a missing one.
    """
    count = sizes.size
    rows = np.empty(gaps, np.int64)
    keys = np.zeros((gaps, word[-1] + 1), np.int64)
    roles = np.zeros((gaps, count // 31 + 1), np.int64)
    slot = np.empty(count, np.int64)
    found = 0
    for row in range(len(codes)):
        label = labels[row]
        for v in range(count):
            if label[v] == v:
                slot[v] = found
                rows[found] = row
                found += 1
        for f in range(count):
            leader = -1
            if codes[row, f] != sizes[f] or label[f] >= 0:
                for k in range(start[f], start[f + 1]):
                    leader = max(leader, label[member[k]])
            if leader < 0:
                continue
            gap = slot[leader]
            for k in range(start[f], start[f + 1]):
                v, code = member[k], np.int64(codes[row, member[k]])
                keys[gap, word[v]] |= (code + 1) << shift[v]
                roles[gap, v // 31] |= np.int64(1 + (code == sizes[v])) << (2 * (v % 31))
    return rows, keys, roles


@entry
def number_rows(keys):
    """Number distinct keys ``[row, word]`` in order of appearance; also say where each begins."""
    numbers = np.empty(len(keys), np.int64)
    slots, placed = place_keys(keys[:0], len(keys))
    missing = np.zeros(len(keys), np.bool_)
    found = number_keys(keys, missing, slots, placed, 0, True, numbers)
    first = np.empty(found, np.int64)
    seen = 0
    for row in range(len(keys)):
        if numbers[row] == seen:
            first[seen] = row
            seen += 1
    return numbers, first


@entry
def complete(
    codes, sizes, members, first_case, first_factor, rows, family, completed, where, states
):
    """Fill in the missing parents of one variable in all ways, in all cases.

    `codes` are those of the cases, ``[case, variable]``; `members` are the parents and then the
    variable itself; `family` has the variable of each factor of the cases. Writes the codes of the
    parents, the last missing one fastest; where each completion is among the rows of all cases;
    and the code of the variable itself, 0 if that is missing.
    """
    parents, child = members.size - 1, members[-1]
    digit = np.empty(parents, np.int32)
    row = n = 0
    for g in range(first_case.size - 1):
        for c in range(first_case[g], first_case[g + 1]):
            for f in range(first_factor[g], first_factor[g + 1]):
                if family[f] == child:
                    for k in range(parents):
                        code = codes[c, members[k]]
                        digit[k] = code if code != sizes[members[k]] else 0
                    for i in range(rows[f]):
                        for k in range(parents):
                            completed[n, k] = digit[k]
                        known = codes[c, child] != sizes[child]
                        where[n] = row + i
                        states[n] = codes[c, child] if known else 0
                        n += 1
                        for k in range(parents - 1, -1, -1):
                            if codes[c, members[k]] == sizes[members[k]]:
                                digit[k] += 1
                                if digit[k] < sizes[members[k]]:
                                    break
                                digit[k] = 0
                row += rows[f]
