"""Layout: where the nodes of a graph stand in a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from colonnade.dag import Dag
from colonnade.markup import shortened

__all__ = ["MAX_LABEL", "NODE_HEIGHT", "Layout"]

Point: TypeAlias = tuple[float, float]
Node: TypeAlias = str | tuple[str, str, int]

# Characters of a name that a node has room for.
MAX_LABEL = 24
# Pixels: height of a node, width of a character, distances between nodes.
NODE_HEIGHT = 26
_CHARACTER_WIDTH, _NODE_GAP, _ROW_DISTANCE = 7.5, 18, 64
_ORDERING_SWEEPS = 8
# Rows that all arcs together may be led past; beyond, in graphs that are deep and wide, arcs are
# straight lines, and only nodes have places.
_MAX_BENDS = 20_000


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of the nodes of a graph, parents above their children, and the routes of its arcs."""

    places: Mapping[str, Point]  # centres of the nodes in pixels, downwards
    widths: Mapping[str, float]
    # From the lower edge of the parent, past the nodes of the rows between, to the child.
    routes: Mapping[tuple[str, str], list[Point]]
    size: Point  # width and height of the picture

    @classmethod
    def of(cls, dag: Dag, sizes: Mapping[str, Point] | None = None) -> Layout:
        """Put every variable one row below its lowest parent, in an order with few crossings.

        Nodes are as wide as their names, or have the sizes given: width and height of each.
        """
        grid = _Grid(dag, sizes)
        grid.sort()
        heights = {name: NODE_HEIGHT if sizes is None else sizes[name][1] for name in dag.variables}
        tallest = max(heights.values(), default=NODE_HEIGHT)
        distance = _ROW_DISTANCE - NODE_HEIGHT + tallest
        half = max((abs(x) + grid.widths[n] / 2 for n, x in grid.centres.items()), default=0.0)
        half += _NODE_GAP

        def point(name: Node, shift: float = 0.0) -> Point:
            y = distance * grid.depth[name] + (NODE_HEIGHT + tallest) / 2 + shift
            return half + grid.centres[name], y

        routes = {}
        for arc, (start, *between, end) in grid.ways.items():
            low, high = point(start, heights[arc[0]] / 2), point(end, -heights[arc[1]] / 2)
            routes[arc] = [low, *(point(name) for name in between), high]
        widths = {name: grid.widths[name] for name in dag.variables}
        height = distance * max(len(grid.rows) - 1, 0) + NODE_HEIGHT + tallest
        return cls({name: point(name) for name in widths}, widths, routes, (2 * half, height))


class _Grid:
    """Rows of nodes; an arc past several rows has a narrow node of its own in each, if they fit."""

    def __init__(self, dag: Dag, sizes: Mapping[str, Point] | None = None) -> None:
        self.depth: dict[Node, int] = {}
        for name in dag.order:
            above = [self.depth[parent] for parent in dag.parents(name)]
            self.depth[name] = 1 + max(above, default=-1)
        for name in dag.variables:
            # A variable without parents may stand right above its first child.
            if dag.children(name) and not dag.parents(name):
                self.depth[name] = min(self.depth[child] for child in dag.children(name)) - 1
        self.widths: dict[Node, float] = {
            name: _CHARACTER_WIDTH * len(shortened(name, MAX_LABEL)) + 20
            if sizes is None
            else sizes[name][0]
            for name in dag.variables
        }
        self.ways: dict[tuple[str, str], list[Node]] = {}
        bends = sum(self.depth[child] - self.depth[parent] - 1 for parent, child in dag.arcs)
        for parent, child in dag.arcs:
            between: list[Node] = []
            passed = range(self.depth[parent] + 1, self.depth[child])
            for depth in passed if bends <= _MAX_BENDS else ():
                between.append((parent, child, depth))
                self.depth[between[-1]] = depth
                self.widths[between[-1]] = 0.0
            self.ways[parent, child] = [parent, *between, child]
        self.rows: list[list[Node]] = [[] for _ in range(max(self.depth.values(), default=-1) + 1)]
        for node, depth in self.depth.items():
            self.rows[depth].append(node)
        self.centres: dict[Node, float] = {}
        for row in self.rows:
            self._place(row)

    def sort(self) -> None:
        """Order each row by the mean place of its neighbours, in sweeps down and up."""
        above: dict[Node, list[Node]] = {node: [] for node in self.depth}
        below: dict[Node, list[Node]] = {node: [] for node in self.depth}
        for way in self.ways.values():
            for upper, lower in itertools.pairwise(way):
                above[lower].append(upper)
                below[upper].append(lower)
        for sweep in range(_ORDERING_SWEEPS):
            near = below if sweep % 2 else above
            for row in reversed(self.rows) if sweep % 2 else self.rows:
                # A node without neighbours on that side stays where it is.
                pull = {n: fmean(self.centres[k] for k in near[n] or [n]) for n in row}
                row.sort(key=pull.__getitem__)
                self._place(row)

    def _place(self, row: list[Node]) -> None:
        """Put a row of nodes side by side around zero."""
        left = -(math.fsum(self.widths[node] for node in row) + _NODE_GAP * (len(row) - 1)) / 2
        for node in row:
            self.centres[node] = left + self.widths[node] / 2
            left += self.widths[node] + _NODE_GAP
