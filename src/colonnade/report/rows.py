"""A table as a figure: each row with intervals, beside the raw frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from colonnade.markup import told_apart
from colonnade.priors import TablePosterior
from colonnade.report.paper import FONT_SIZE, GREY, STATE_COLOURS, Page

# More rows or states would be unreadable.
MAX_ROWS, MAX_STATES = 40, len(STATE_COLOURS)
# Characters of the label of a row, by the number of columns, and of a state in the legend.
_MAX_LABEL = {1: 26, 2: 60}
_MAX_STATE = 28


class Labels(NamedTuple):
    """What rows and states are called, and the table itself."""

    rows: Sequence[Sequence[str]]  # the state of each parent
    states: Sequence[str]
    title: str


def draw_rows(
    posterior: TablePosterior, labels: Labels, level: float, ax: Any = None, columns: int = 1
) -> Any:
    """Draw posterior means with intervals, and raw frequencies as open circles; return the axes.

    Of a table of two states only the second is drawn.
    """
    rows, states, title = labels
    mean, ends = posterior.mean, posterior.interval(level)
    counts = np.asarray(posterior.counts.to_array(limit=posterior.limit), np.float64)
    counts = counts.reshape(mean.shape)
    drawn = [1] if len(states) == 2 else list(range(min(len(states), MAX_STATES)))
    shown = min(len(rows), MAX_ROWS)
    rest = f" (first {shown} of {len(rows)} rows)" if shown < len(rows) else ""
    names = told_apart([states[state] for state in drawn], _MAX_STATE)
    legend = [*names, "frequency"]
    height = 0.6 + 0.16 * shown * max(1.0, 0.55 * len(drawn))
    page = Page(ax, columns, height, title + rest, legend)
    ax = page.axes
    places = np.arange(shown)
    shifts = np.linspace(-0.28, 0.28, len(drawn)) if len(drawn) > 1 else np.zeros(1)
    totals = counts.sum(axis=1)
    each = zip(drawn, names, shifts, STATE_COLOURS, strict=False)
    for state, name, shift, colour in each:
        own = mean[:shown, state]
        lower, upper = (end[:shown, state] for end in ends)
        y = places + shift
        ax.hlines(y, lower, upper, color=colour, linewidth=1.2)
        ax.plot(own, y, "o", color=colour, markersize=3.5, label=name)
        seen = totals[:shown] > 0
        raw = counts[:shown, state][seen] / totals[:shown][seen]
        ax.plot(raw, y[seen], "o", markersize=5.5, markerfacecolor="none", color=GREY)
    ax.plot([], [], "o", markerfacecolor="none", color=GREY, markersize=5.5, label="frequency")
    ax.set_yticks(places, _row_labels(rows, _MAX_LABEL[columns])[:shown])
    ax.set_ylim(shown - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("probability", fontsize=FONT_SIZE)
    ax.grid(axis="x", color="#cfd8dc", linewidth=0.5)
    ax.set_axisbelow(True)
    return page.finish()


def _row_labels(rows: Sequence[Sequence[str]], length: int) -> list[str]:
    """The states of the parents; each parent has its share of the length."""
    parents = [list(column) for column in zip(*rows, strict=True)]
    widest = [max(map(len, column)) for column in parents]
    share = length - 2 * (len(parents) - 1)
    # Those that need less than an equal share leave the rest to the others.
    for left, k in zip(range(len(parents), 0, -1), np.argsort(widest), strict=True):
        parents[k] = told_apart(parents[k], max(6, share // left))
        share -= min(widest[k], max(6, share // left))
    return [", ".join(row) for row in zip(*parents, strict=True)] or [""] * len(rows)
