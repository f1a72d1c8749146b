"""A network as a figure with bars in its nodes: the probability of every state, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from colonnade.arrays import Seed
from colonnade.exceptions import NotSupportedError, TooLargeError, require
from colonnade.inference.evidence import Evidence, Observed
from colonnade.layout import Layout
from colonnade.markup import told_apart
from colonnade.randomness import generator
from colonnade.report.paper import BLUE, FONT_SIZE, GREY, INK, ORANGE, PALE, width_of
from colonnade.tables.cuts import brief_names

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork

_MAX_VARIABLES = 60
_MAX_STATES = 8
# Pixels of the layout: of a line, of the node, and of what stands left of the bars.
_LINE, _WIDTH, _LABELS = 15.0, 150.0, 62.0
_PIXELS_PER_INCH = 80.0
# Characters of the name of a variable, and of a state.
_MAX_NAME, _MAX_LABEL = 20, 11
DRAWS = 500


class _Bar(NamedTuple):
    label: str
    value: float
    ends: tuple[float, float] | None


def draw_bars(
    network: BayesianNetwork,
    observed: Observed,
    draws: int | None,
    level: float,
    rng: Seed,
    ax: Any = None,
    columns: int | None = None,
) -> Any:
    """Draw the graph with bars in its nodes, given what was observed; return the axes.

    A new figure is as wide as it needs, or of one or two columns. Letters shrink with the nodes.
    """
    if len(network) > _MAX_VARIABLES:
        hint = "draw a part of the network, or leave out `tables`"
        what = "A figure with bars"
        size, limit = len(network), _MAX_VARIABLES
        raise TooLargeError(what, size=size, limit=limit, hint=hint, unit="variables")
    known = Evidence.of(network, observed)
    nodes = _nodes(network, known, draws, level, rng)
    sizes = {name: (_WIDTH, _LINE * (len(bars) + 1) + 10.0) for name, bars in nodes.items()}
    layout = Layout.of(network.dag, sizes)
    width, height = layout.size
    wide, high = width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH
    if ax is None:
        pyplot = require("matplotlib.pyplot", feature="plot()", extra="plot")
        page = wide if columns is None else width_of(columns)
        inches = page, high * min(1.0, page / wide)
        _, ax = pyplot.subplots(figsize=inches, layout="constrained")
    else:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        inches = box.width, box.height
    scale = min(1.0, inches[0] / wide, inches[1] / high)
    for route in _around(layout, sizes):
        ax.plot(*zip(*route[:-1], strict=True), color=GREY, linewidth=scale, zorder=1)
        arrow = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 0, "shrinkB": 0}
        arrow |= {"linewidth": scale, "mutation_scale": 10.0 * scale}
        ax.annotate("", xy=route[-1], xytext=route[-2], arrowprops=arrow, zorder=1)
    names = dict(zip(nodes, told_apart(list(nodes), _MAX_NAME), strict=True))
    for name, bars in nodes.items():
        where = layout.places[name], sizes[name]
        _draw_node(ax, names[name], bars, *where, name in known, FONT_SIZE * scale)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _around(
    layout: Layout, sizes: dict[str, tuple[float, float]]
) -> Iterator[list[tuple[float, float]]]:
    """The routes of all arcs, which pass other nodes straight, from their top to their bottom."""
    half: dict[float, float] = {}
    for name, (_, y) in layout.places.items():
        half[round(y)] = max(half.get(round(y), 0.0), sizes[name][1] / 2)
    for first, *between, last in layout.routes.values():
        passing = [
            (x, y + side * half.get(round(y), 0.0)) for x, y in between for side in (-1.0, 1.0)
        ]
        yield [first, *passing, last]


def _nodes(
    network: BayesianNetwork,
    observed: Evidence,
    draws: int | None,
    level: float,
    rng: Seed,
) -> dict[str, list[_Bar]]:
    """The bars of every node: the first states, in their order."""
    nodes = {}
    source = generator(rng) if draws != 0 else None
    fixed = observed.fixed
    for name in network:
        states = brief_names(network[name].family.child.states)
        if name in fixed:
            found = [_Bar(s, float(k == fixed[name]), None) for k, s in enumerate(states)]
        else:
            answer = _answer(network, name, observed, draws, level, source)
            found = [
                _Bar(
                    state,
                    float(answer.probabilities[k]),
                    None
                    if answer.lower is None
                    else (float(answer.lower[k]), float(answer.upper[k])),
                )
                for k, state in enumerate(states)
            ]
        nodes[name] = found[:_MAX_STATES]
        if len(found) > _MAX_STATES:
            rest = sum(bar.value for bar in found[_MAX_STATES:])
            nodes[name].append(_Bar(f"{len(found) - _MAX_STATES} more", rest, None))
    return nodes


def _answer(
    network: BayesianNetwork,
    name: str,
    observed: Evidence,
    draws: int | None,
    level: float,
    source: Any,
) -> Any:
    """The probabilities of one variable; with intervals, unless nothing it depends on has any."""
    if draws == 0:
        return network.query(name, observed)
    try:
        return network.query(name, observed, DRAWS if draws is None else draws, level, source)
    except NotSupportedError:
        return network.query(name, observed)


def _draw_node(
    ax: Any,
    name: str,
    bars: list[_Bar],
    place: tuple[float, float],
    size: tuple[float, float],
    known: bool,
    font_size: float,
) -> None:
    from matplotlib.patches import Rectangle

    (x, y), (width, height) = place, size
    left, top = x - width / 2, y - height / 2
    ax.add_patch(Rectangle((left, top), width, height, facecolor=PALE, edgecolor=GREY, zorder=2))
    text = {"va": "center", "parse_math": False, "zorder": 4, "color": INK}
    middle = top + 5.0 + _LINE / 2
    ax.text(x, middle, name, ha="center", fontsize=font_size, weight="bold", **text)
    span = width - _LABELS - 38.0
    begin = left + _LABELS
    labels = told_apart([bar.label for bar in bars], _MAX_LABEL)
    text["fontsize"] = font_size * (FONT_SIZE - 1) / FONT_SIZE
    for k, (label, bar) in enumerate(zip(labels, bars, strict=True)):
        line = middle + _LINE * (k + 1)
        ax.text(begin - 4, line, label, ha="right", **text)
        box = (begin, line - _LINE * 0.35)
        colour = ORANGE if known else BLUE
        ax.add_patch(
            Rectangle(box, span * bar.value, _LINE * 0.7, facecolor=colour, zorder=3, alpha=0.85)
        )
        if bar.ends is not None:
            low, high = (begin + span * end for end in bar.ends)
            thick = 1.2 * font_size / FONT_SIZE
            ax.plot([low, high], [line, line], color=INK, linewidth=thick, zorder=5)
        share = f"{100.0 * bar.value:.1f}"
        ax.text(left + width - 4, line, share, ha="right", **text)
