"""Strengths of arcs as a figure: one bar per pair of variables, divided by direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import counted
from colonnade.markup import told_apart
from colonnade.report.paper import BLUE, FONT_SIZE, INK, ORANGE, Page

_MAX_PAIRS = 40
_MAX_LABEL = {1: 14, 2: 30}  # characters of a name, by the number of columns


def draw_strengths(
    names: tuple[str, ...], directed: Floats, threshold: float, ax: Any = None, columns: int = 1
) -> Any:
    """Draw the strongest pairs, strongest first, and the threshold; return the axes."""
    strength = np.triu(directed + directed.T, 1)
    pairs = [(a, b) for a, b in np.argwhere(strength > 0.0).tolist()]
    pairs = [(a, b) if directed[a, b] >= directed[b, a] else (b, a) for a, b in pairs]
    pairs.sort(key=lambda pair: (-directed[pair] - directed[pair[::-1]], pair))
    drawn = pairs[:_MAX_PAIRS]
    rest = len(pairs) - len(drawn)
    title = f"{counted(rest, 'weaker pair')} not shown" if rest else ""
    legend = "as named", "the other way", "threshold"
    page = Page(ax, columns, 0.6 + 0.17 * max(1, len(drawn)), title, legend)
    ax = page.axes
    places = np.arange(len(drawn))
    forward = np.array([directed[pair] for pair in drawn])
    backward = np.array([directed[pair[::-1]] for pair in drawn])
    ax.barh(places, forward, height=0.7, color=BLUE, label=legend[0])
    ax.barh(places, backward, left=forward, height=0.7, color=ORANGE, label=legend[1])
    ax.axvline(threshold, color=INK, linewidth=0.8, linestyle="--", label=legend[2])
    short = told_apart(names, _MAX_LABEL[columns])
    ax.set_yticks(places, [f"{short[a]} → {short[b]}" for a, b in drawn])
    ax.set_ylim(max(len(drawn), 1) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share", fontsize=FONT_SIZE)
    return page.finish()
