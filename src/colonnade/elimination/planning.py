"""Orders in which to sum out variables: scopes and sizes in, no arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush


@dataclass(frozen=True, slots=True)
class Plan:
    """An order of elimination, the cells of its largest table, and of all of them together."""

    order: tuple[int, ...]
    largest: int
    cells: int


def components(scopes: Iterable[tuple[int, ...]]) -> list[set[int]]:
    """Sets of variables that share factors, directly or through others."""
    found: list[set[int]] = []
    for scope in scopes:
        if scope:
            together = {*scope}.union(*(part for part in found if not part.isdisjoint(scope)))
            found = [part for part in found if part.isdisjoint(scope)] + [together]
    return found


def plan(
    scopes: Iterable[tuple[int, ...]], sizes: Mapping[int, int], keep: Sequence[int] = ()
) -> Plan:
    """Choose an order that eliminates all variables but `keep` through small tables.

    Two greedy orders are tried, fewest new neighbours first and smallest table first; both are
    good, neither is always better. Numbers of cells are Python integers and may be of any size.
    """
    scopes = [*scopes, tuple(keep)]
    found = _greedy(scopes, sizes, keep, fewest_fills=True)
    # No order has smaller tables than the factors themselves.
    if found.largest == max(math.prod(sizes[v] for v in scope) for scope in scopes):
        return found
    other = _greedy(scopes, sizes, keep, fewest_fills=False)
    return min(found, other, key=lambda each: (each.largest, each.cells))


def _greedy(
    scopes: Sequence[tuple[int, ...]],
    sizes: Mapping[int, int],
    keep: Sequence[int],
    fewest_fills: bool,
) -> Plan:
    near: dict[int, set[int]] = {v: set() for scope in scopes for v in scope}
    for scope in scopes:
        for v in scope:
            near[v].update(scope)
            near[v].discard(v)

    def cost(v: int) -> tuple[int, int]:
        around = near[v]
        cells = sizes[v] * math.prod(sizes[u] for u in around)
        if not fewest_fills:
            return cells, v
        joined = sum(len(near[u] & around) for u in around)
        return (len(around) * (len(around) - 1) - joined) // 2, cells

    waiting = {v: cost(v) for v in near.keys() - set(keep)}
    # Costs change; an entry of the heap counts if it is the present one.
    heap = [(first, v) for v, first in waiting.items()]
    heapify(heap)
    order: list[int] = []
    largest = total = math.prod(sizes[v] for v in keep)
    while waiting:
        first, v = heappop(heap)
        if waiting.get(v) != first:
            continue
        del waiting[v]
        order.append(v)
        around = near.pop(v)
        cells = sizes[v] * math.prod(sizes[u] for u in around)
        largest, total = max(largest, cells), total + cells
        touched = around
        if fewest_fills and first[0] == 0:
            for u in around:
                near[u].discard(v)
        else:
            for u in around:
                near[u] |= around
                near[u] -= {u, v}
            # New arcs between neighbours change the cost of whoever is near to two of them.
            if fewest_fills:
                touched = around.union(*(near[u] for u in around))
        for u in touched:
            if u in waiting:
                waiting[u] = cost(u)
                heappush(heap, (waiting[u], u))
    return Plan(tuple(order), largest, total)
