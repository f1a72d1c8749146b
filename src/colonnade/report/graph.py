"""Pictures of a graph: as SVG for a notebook, and with matplotlib."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import counted, expected, inapplicable, require
from colonnade.layout import MAX_LABEL, NODE_HEIGHT, Layout
from colonnade.markup import safe, shortened
from colonnade.report.paper import given_axes

# A picture of more variables would be unreadable; the arcs are listed instead.
_MAX_DRAWN_VARIABLES = 60
_MAX_LISTED_ARCS = 100
_MAX_SHOWN_TABLES = 20


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
            f'y="{y - NODE_HEIGHT / 2:.1f}" width="{wide:.1f}" height="{NODE_HEIGHT}" rx="8" '
            f'fill="#eceff1" stroke="#455a64"/><text x="{x:.1f}" y="{y + 4.5:.1f}" '
            f'text-anchor="middle" fill="#102027">{safe(shortened(name, MAX_LABEL))}</text></g>'
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
    else:
        ax = given_axes(ax)
    for route in layout.routes.values():
        ax.plot(*zip(*route[:-1], strict=True), color="#607d8b", linewidth=1.0)
        arrow = {"arrowstyle": "-|>", "color": "#607d8b", "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=route[-1], xytext=route[-2], arrowprops=arrow)
    for name, (x, y) in layout.places.items():
        box = {"boxstyle": "round", "facecolor": "#eceff1", "edgecolor": "#455a64"}
        text = shortened(name, MAX_LABEL)
        # Names are names: a dollar sign does not begin a formula.
        ax.text(x, y, text, ha="center", va="center", bbox=box, parse_math=False)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_axis_off()
    return ax


def draw_network(network: Any, ax: Any, tables: bool, bars: Mapping[str, Any]) -> Any:
    """Draw the graph of a network, or the network with bars in its nodes; return the axes."""
    if not isinstance(tables, bool):
        raise expected("True or False", "tables", tables)
    if not tables:
        for name in ("observed", "do", "draws", "rng", "columns"):
            if bars[name] is not None:
                raise inapplicable(name, bars[name], "tables=True", "write tables=True as well")
        return draw(network.dag, ax)
    from colonnade.report.bars import draw_bars

    if ax is not None and bars["columns"] is not None:
        raise inapplicable("columns", bars["columns"], "a new figure", "leave out `ax`")
    return draw_bars(network, **bars, ax=None if ax is None else given_axes(ax))


def _arc_list(dag: Dag) -> str:
    arcs = [f"<li>{safe(parent)} → {safe(child)}</li>" for parent, child in dag.arcs]
    more = f"<li>{len(arcs) - _MAX_LISTED_ARCS} more</li>" if len(arcs) > _MAX_LISTED_ARCS else ""
    return f"<ul>{''.join(arcs[:_MAX_LISTED_ARCS])}{more}</ul>"
