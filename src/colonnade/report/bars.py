"""A network as a figure with bars in its nodes: the probability of every state, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from colonnade.arrays import Seed
from colonnade.exceptions import Advice, NotSupportedError, TooLargeError, require
from colonnade.inference.actions import checked_do
from colonnade.inference.evidence import Evidence, Observed
from colonnade.layout import Layout
from colonnade.markup import told_apart
from colonnade.randomness import generator
from colonnade.report.paper import BLUE, FONT_SIZE, GREEN, GREY, INK, ORANGE, PALE, width_of
from colonnade.tables.cuts import brief_names

if TYPE_CHECKING:
    from colonnade.cpt import Cpt
    from colonnade.network import BayesianNetwork

_MAX_VARIABLES = 60
_MAX_STATES = 8
# Pixels of the layout: of a line, of the node, and of what stands left of the bars.
_LINE, _WIDTH, _LABELS = 15.0, 168.0, 80.0
_PIXELS_PER_INCH = 80.0
# Inches of the line that says what colours mean.
_LEGEND = 0.25
# Characters of the name of a variable, and of a state.
_MAX_NAME, _MAX_LABEL = 20, 14
DRAWS = 500


class _Look(NamedTuple):
    """How the bars of a variable look, and what that means; hatched, they differ without colour."""

    colour: str
    meaning: str
    hatch: str | None = None


_OPEN = _Look(BLUE, "probability")
_OBSERVED = _Look(ORANGE, "observed")
_SET = _Look(GREEN, "set by an action", "////")


class _Bar(NamedTuple):
    label: str
    value: float
    ends: tuple[float, float] | None


def draw_bars(
    network: BayesianNetwork,
    observed: Observed,
    do: Any,
    draws: int | None,
    level: float,
    rng: Seed,
    ax: Any = None,
    columns: int | None = None,
) -> Any:
    """Draw the graph with bars in its nodes, given what was observed and done; return the axes.

    The arcs into variables that are set are gone. A new figure is as wide as it needs, or of one or
    two columns. Letters shrink with the nodes.
    """
    if len(network) > _MAX_VARIABLES:
        hint = Advice.NO_BARS
        what = "A figure with bars"
        size, limit = len(network), _MAX_VARIABLES
        raise TooLargeError(what, size=size, limit=limit, hint=hint, unit="variables")
    known = Evidence.of(network, observed)
    if do is not None:
        network, _ = checked_do(network, do, dict.fromkeys(known.likelihoods, "observed"))
    looks = {name: _look(network[name], name in known) for name in network}
    nodes = _nodes(network, known, draws, level, rng)
    sizes = {name: (_WIDTH, _LINE * (len(bars) + 1) + 10.0) for name, bars in nodes.items()}
    layout = Layout.of(network.dag, sizes)
    width, height = layout.size
    wide, high = width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH
    if ax is None:
        pyplot = require("matplotlib.pyplot", feature="plot()", extra="plot")
        page = wide if columns is None else width_of(columns)
        inches = page, high * min(1.0, page / wide) + _LEGEND * (len({*looks.values()}) > 1)
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
        _draw_node(ax, names[name], bars, *where, looks[name], FONT_SIZE * scale)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    _explain(ax, looks.values())
    return ax


def _look(cpt: Cpt, known: bool) -> _Look:
    """How a variable looks; what an action sets has no parents and a single possible state."""
    if known:
        return _OBSERVED
    rows = cpt.table.rows
    done = cpt.prior is None and not cpt.family.parents and rows.shape[1] > 1
    return _SET if done and rows.max() == 1.0 else _OPEN


def _explain(ax: Any, looks: Iterable[_Look]) -> None:
    """Say what the looks of bars mean, below the graph, if there are several."""
    from matplotlib.patches import Patch

    there = [look for look in (_OPEN, _OBSERVED, _SET) if look in looks]
    if len(there) > 1:
        handles = [
            Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=PALE, label=look.meaning)
            for look in there
        ]
        below = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "frameon": False}
        ax.legend(handles=handles, ncols=len(there), fontsize=FONT_SIZE - 1, **below)


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
    look: _Look,
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
        style: dict[str, Any] = {"facecolor": look.colour, "zorder": 3, "alpha": 0.85}
        if look.hatch:
            style |= {"hatch": look.hatch, "edgecolor": PALE, "linewidth": 0.0}
        ax.add_patch(Rectangle(box, span * bar.value, _LINE * 0.7, **style))
        if bar.ends is not None:
            low, high = (begin + span * end for end in bar.ends)
            thick = 1.2 * font_size / FONT_SIZE
            ax.plot([low, high], [line, line], color=INK, linewidth=thick, zorder=5)
        share = f"{100.0 * bar.value:.1f}"
        ax.text(left + width - 4, line, share, ha="right", **text)
