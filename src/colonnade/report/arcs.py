"""Strengths of arcs as a figure: one bar per pair of variables, divided by direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import counted
from colonnade.markup import shortened
from colonnade.report.paper import BLUE, FONT_SIZE, INK, ORANGE, axes

_MAX_PAIRS = 40
_MAX_LABEL = 14


def draw_strengths(
    names: tuple[str, ...], directed: Floats, threshold: float, ax: Any = None, columns: int = 1
) -> Any:
    """Draw the strongest pairs, strongest first, and the threshold; return the axes."""
    strength = np.triu(directed + directed.T, 1)
    pairs = [(a, b) for a, b in np.argwhere(strength > 0.0).tolist()]
    pairs = [(a, b) if directed[a, b] >= directed[b, a] else (b, a) for a, b in pairs]
    pairs.sort(key=lambda pair: (-directed[pair] - directed[pair[::-1]], pair))
    drawn = pairs[:_MAX_PAIRS]
    ax = axes(ax, columns, 0.8 + 0.17 * max(1, len(drawn)))
    places = np.arange(len(drawn))
    forward = np.array([directed[pair] for pair in drawn])
    backward = np.array([directed[pair[::-1]] for pair in drawn])
    ax.barh(places, forward, height=0.7, color=BLUE, label="as named")
    ax.barh(places, backward, left=forward, height=0.7, color=ORANGE, label="the other way")
    ax.axvline(threshold, color=INK, linewidth=0.8, linestyle="--", label="threshold")
    labels = [
        f"{shortened(names[a], _MAX_LABEL)} → {shortened(names[b], _MAX_LABEL)}" for a, b in drawn
    ]
    ax.set_yticks(places, labels, fontsize=FONT_SIZE)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(max(len(drawn), 1) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.0)
    ax.tick_params(labelsize=FONT_SIZE)
    ax.set_xlabel("share", fontsize=FONT_SIZE)
    if len(pairs) > len(drawn):
        rest = counted(len(pairs) - len(drawn), "weaker pair")
        ax.set_title(f"{rest} not shown", fontsize=FONT_SIZE)
    ax.legend(fontsize=FONT_SIZE - 1, frameon=False, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
