"""Pictures of a graph: the layout, as SVG for a notebook, and with matplotlib."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import counted, expected, require
from colonnade.markup import safe, shortened

Point: TypeAlias = tuple[float, float]
Node: TypeAlias = str | tuple[str, str, int]

_MAX_LABEL = 16
_ORDERING_SWEEPS = 8
# A picture of more variables would be unreadable; the arcs are listed instead.
_MAX_DRAWN_VARIABLES = 60
_MAX_LISTED_ARCS = 100
_MAX_SHOWN_TABLES = 20
# Pixels: height of a node, width of a character, distances between nodes.
_NODE_HEIGHT, _CHARACTER_WIDTH, _NODE_GAP, _ROW_DISTANCE = 26, 7.5, 18, 64


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of the nodes of a graph, parents above their children, and the routes of its arcs."""

    places: Mapping[str, Point]  # centres of the nodes in pixels, downwards
    widths: Mapping[str, float]
    # From the lower edge of the parent, past the nodes of the rows between, to the child.
    routes: Mapping[tuple[str, str], list[Point]]
    size: Point  # width and height of the picture

    @classmethod
    def of(cls, dag: Dag) -> Layout:
        """Put every variable one row below its lowest parent, in an order with few crossings."""
        grid = _Grid(dag)
        grid.sort()
        half = max((abs(x) + grid.widths[n] / 2 for n, x in grid.centres.items()), default=0.0)
        half += _NODE_GAP

        def point(name: Node, shift: float = 0.0) -> Point:
            y = _ROW_DISTANCE * grid.depth[name] + _NODE_HEIGHT + shift
            return half + grid.centres[name], y

        routes = {}
        for arc, (start, *between, end) in grid.ways.items():
            low, high = point(start, _NODE_HEIGHT / 2), point(end, -_NODE_HEIGHT / 2)
            routes[arc] = [low, *(point(name) for name in between), high]
        widths = {name: grid.widths[name] for name in dag.variables}
        height = _ROW_DISTANCE * max(len(grid.rows) - 1, 0) + 2 * _NODE_HEIGHT
        return cls({name: point(name) for name in widths}, widths, routes, (2 * half, height))


class _Grid:
    """Rows of nodes; an arc past several rows has a narrow node of its own in each."""

    def __init__(self, dag: Dag) -> None:
        self.depth: dict[Node, int] = {}
        for name in dag.order:
            above = [self.depth[parent] for parent in dag.parents(name)]
            self.depth[name] = 1 + max(above, default=-1)
        for name in dag.variables:
            # A variable without parents may stand right above its first child.
            if dag.children(name) and not dag.parents(name):
                self.depth[name] = min(self.depth[child] for child in dag.children(name)) - 1
        self.widths: dict[Node, float] = {
            name: _CHARACTER_WIDTH * len(shortened(name, _MAX_LABEL)) + 20 for name in dag.variables
        }
        self.ways: dict[tuple[str, str], list[Node]] = {}
        for parent, child in dag.arcs:
            between: list[Node] = []
            for depth in range(self.depth[parent] + 1, self.depth[child]):
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


def dag_svg(dag: Dag) -> str:
    """Draw a graph as an SVG element."""
    layout = Layout.of(dag)
    width, height = layout.size
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Graph of the network</title>",
    ]
    for route in layout.routes.values():
        (x, y), (x2, y2) = route[0], route[-1]
        path = f"M{x:.1f},{y:.1f}"
        for (x, y), (x3, y3) in itertools.pairwise([*route[:-1], (x2, y2 - 6)]):
            middle = (y + y3) / 2
            path += f" C{x:.1f},{middle:.1f} {x3:.1f},{middle:.1f} {x3:.1f},{y3:.1f}"
        parts.append(
            f'<path d="{path}" fill="none" stroke="#607d8b"/>'
            f'<path d="M{x2:.1f},{y2:.1f} l-4,-8 h8 z" fill="#607d8b"/>'
        )
    for name in dag.variables:
        (x, y), wide = layout.places[name], layout.widths[name]
        parts.append(
            f'<g><title>{safe(name)}</title><rect x="{x - wide / 2:.1f}" '
            f'y="{y - _NODE_HEIGHT / 2:.1f}" width="{wide:.1f}" height="{_NODE_HEIGHT}" rx="8" '
            f'fill="#eceff1" stroke="#455a64"/><text x="{x:.1f}" y="{y + 4.5:.1f}" '
            f'text-anchor="middle" fill="#102027">{safe(shortened(name, _MAX_LABEL))}</text></g>'
        )
    return "".join([*parts, "</svg>"])


def network_html(dag: Dag, tables: Mapping[str, Cpt], note: str = "") -> str:
    """Show a network in a notebook: its graph and its tables, both within limits; and a note."""
    few = len(dag) <= _MAX_DRAWN_VARIABLES
    graph = f'<div style="overflow:auto">{dag_svg(dag)}</div>' if few else _arc_list(dag)
    shown = list(tables.items())[:_MAX_SHOWN_TABLES]
    parts = [
        f"<details><summary>{safe(shortened(name, 60))}</summary>{cpt._repr_html_()}</details>"
        for name, cpt in shown
    ]
    if len(tables) > len(shown):
        parts.append(f"<p>{counted(len(tables) - len(shown), 'more table')}</p>")
    title = f"Bayesian network: {counted(len(dag), 'variable')}, {counted(len(dag.arcs), 'arc')}"
    return f"<div><p>{title}{safe(note)}</p>{graph}{''.join(parts)}</div>"


def draw(dag: Dag, ax: Any = None) -> Any:
    """Draw a graph with matplotlib, by default on the axes of a new figure; return the axes."""
    layout = Layout.of(dag)
    width, height = layout.size
    if ax is None:
        pyplot = require("matplotlib.pyplot", feature="plot()", extra="plot")
        inches = (min(max(width / 80, 2.0), 40.0), min(max(height / 80, 1.0), 40.0))
        _, ax = pyplot.subplots(figsize=inches, layout="constrained")
    elif not hasattr(ax, "annotate"):
        raise expected("matplotlib Axes", "ax", ax)
    for route in layout.routes.values():
        ax.plot(*zip(*route[:-1], strict=True), color="#607d8b", linewidth=1.0)
        arrow = {"arrowstyle": "-|>", "color": "#607d8b", "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=route[-1], xytext=route[-2], arrowprops=arrow)
    for name, (x, y) in layout.places.items():
        box = {"boxstyle": "round", "facecolor": "#eceff1", "edgecolor": "#455a64"}
        text = shortened(name, _MAX_LABEL)
        # Names are names: a dollar sign does not begin a formula.
        ax.text(x, y, text, ha="center", va="center", bbox=box, parse_math=False)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_axis_off()
    return ax


def _arc_list(dag: Dag) -> str:
    arcs = [f"<li>{safe(parent)} → {safe(child)}</li>" for parent, child in dag.arcs]
    more = f"<li>{len(arcs) - _MAX_LISTED_ARCS} more</li>" if len(arcs) > _MAX_LISTED_ARCS else ""
    return f"<ul>{''.join(arcs[:_MAX_LISTED_ARCS])}{more}</ul>"
