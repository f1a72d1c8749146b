"""A network as a figure with bars in its nodes: the probability of every state, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from colonnade.arrays import Seed
from colonnade.exceptions import NotSupportedError, TooLargeError, require
from colonnade.inference.evidence import Evidence, Observed
from colonnade.layout import Layout
from colonnade.markup import shortened
from colonnade.randomness import generator
from colonnade.report.paper import BLUE, FONT_SIZE, GREY, INK, ORANGE, PALE

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork

_MAX_VARIABLES = 60
_MAX_STATES = 8
# Pixels of the layout: of a line, of the node, and of what stands left of the bars.
_LINE, _WIDTH, _LABELS = 15.0, 150.0, 62.0
_PIXELS_PER_INCH = 80.0
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
) -> Any:
    """Draw the graph with bars in its nodes, given what was observed; return the axes."""
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
    if ax is None:
        pyplot = require("matplotlib.pyplot", feature="plot()", extra="plot")
        inches = width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH
        _, ax = pyplot.subplots(figsize=inches, layout="constrained")
    for route in layout.routes.values():
        ax.plot(*zip(*route[:-1], strict=True), color=GREY, linewidth=1.0)
        arrow = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=route[-1], xytext=route[-2], arrowprops=arrow)
    for name, bars in nodes.items():
        _draw_node(ax, name, bars, layout.places[name], sizes[name], name in known)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_axis_off()
    return ax


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
        states = network[name].family.child.states
        if name in fixed:
            found = [_Bar(str(s), float(k == fixed[name]), None) for k, s in enumerate(states)]
        else:
            answer = _answer(network, name, observed, draws, level, source)
            found = [
                _Bar(
                    str(state),
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
) -> None:
    from matplotlib.patches import Rectangle

    (x, y), (width, height) = place, size
    left, top = x - width / 2, y - height / 2
    ax.add_patch(Rectangle((left, top), width, height, facecolor=PALE, edgecolor=GREY, zorder=2))
    text = {"va": "center", "parse_math": False, "zorder": 4, "color": INK}
    middle = top + 5.0 + _LINE / 2
    ax.text(x, middle, shortened(name, 20), ha="center", fontsize=FONT_SIZE, weight="bold", **text)
    span = width - _LABELS - 38.0
    begin = left + _LABELS
    for k, bar in enumerate(bars):
        line = middle + _LINE * (k + 1)
        label = shortened(bar.label, 9)
        ax.text(begin - 4, line, label, ha="right", fontsize=FONT_SIZE - 1, **text)
        box = (begin, line - _LINE * 0.35)
        colour = ORANGE if known else BLUE
        ax.add_patch(
            Rectangle(box, span * bar.value, _LINE * 0.7, facecolor=colour, zorder=3, alpha=0.85)
        )
        if bar.ends is not None:
            low, high = (begin + span * end for end in bar.ends)
            ax.plot([low, high], [line, line], color=INK, linewidth=1.2, zorder=5)
        share = f"{100.0 * bar.value:.1f}"
        ax.text(left + width - 4, line, share, ha="right", fontsize=FONT_SIZE - 1, **text)
