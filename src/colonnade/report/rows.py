"""A table as a figure: each row with intervals, beside the raw frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from colonnade.markup import shortened
from colonnade.priors import TablePosterior
from colonnade.report.paper import FONT_SIZE, GREY, STATE_COLOURS, axes

# More rows or states would be unreadable.
MAX_ROWS, MAX_STATES = 40, len(STATE_COLOURS)
_MAX_LABEL = 28


class Labels(NamedTuple):
    """What rows and states are called, and the table itself."""

    rows: Sequence[str]
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
    ax = axes(ax, columns, 0.7 + 0.16 * shown * max(1.0, 0.55 * len(drawn)))
    places = np.arange(shown)
    shifts = np.linspace(-0.28, 0.28, len(drawn)) if len(drawn) > 1 else np.zeros(1)
    totals = counts.sum(axis=1)
    for state, shift, colour in zip(drawn, shifts, STATE_COLOURS, strict=False):
        own = mean[:shown, state]
        lower, upper = (end[:shown, state] for end in ends)
        y = places + shift
        ax.hlines(y, lower, upper, color=colour, linewidth=1.2)
        ax.plot(own, y, "o", color=colour, markersize=3.5, label=shortened(states[state], 20))
        seen = totals[:shown] > 0
        raw = counts[:shown, state][seen] / totals[:shown][seen]
        ax.plot(raw, y[seen], "o", markersize=5.5, markerfacecolor="none", color=GREY)
    ax.plot([], [], "o", markerfacecolor="none", color=GREY, markersize=5.5, label="frequency")
    ax.set_yticks(places, [shortened(row, _MAX_LABEL) for row in rows[:shown]], fontsize=FONT_SIZE)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(shown - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.tick_params(labelsize=FONT_SIZE)
    ax.set_xlabel("probability", fontsize=FONT_SIZE)
    rest = f" (first {shown} of {len(rows)} rows)" if shown < len(rows) else ""
    ax.set_title(title + rest, fontsize=FONT_SIZE + 1, parse_math=False)
    legend = ax.legend(fontsize=FONT_SIZE - 1, frameon=False, loc="best")
    for text in legend.get_texts():
        text.set_parse_math(False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", color="#cfd8dc", linewidth=0.5)
    ax.set_axisbelow(True)
    return ax
