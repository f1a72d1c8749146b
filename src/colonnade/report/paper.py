"""Axes of the size of a column in a paper, and the colours of all figures."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from colonnade.exceptions import expected, require

# Inches of one and two columns of a journal page.
_WIDTHS = {1: 3.4, 2: 7.0}
FONT_SIZE = 8
INK, PALE, BLUE, ORANGE, GREY = "#102027", "#eceff1", "#1565c0", "#d84315", "#607d8b"
GREEN = "#2e7d32"
# Of a line of text in this size, and how many characters an inch holds.
_LINE, _CHARACTERS = 0.16, 14.0
# Characters that the sign and the gap of an entry of a legend take.
_SIGN = 5
# Of states; they differ in print without colour as well.
STATE_COLOURS = ("#1565c0", "#d84315", "#2e7d32", "#6a1b9a", "#f9a825", "#00838f", "#5d4037")


def width_of(columns: int) -> float:
    """Inches of one or two columns."""
    if isinstance(columns, bool) or columns not in _WIDTHS:
        raise expected("1 or 2", "columns", columns, "a figure is one or two columns wide")
    return _WIDTHS[columns]


def given_axes(ax: Any) -> Any:
    """The axes that a user gave."""
    if not hasattr(ax, "annotate"):
        raise expected("matplotlib Axes", "ax", ax)
    return ax


class Page:
    """Axes of a figure of one or two columns with a title and a legend above, or those given."""

    def __init__(
        self, ax: Any, columns: int, height: float, title: str, legend: Sequence[str]
    ) -> None:
        self._own = ax is None
        width = width_of(columns)
        if not self._own:
            self.axes, self._title = given_axes(ax), title
            return
        characters = width * _CHARACTERS
        self._title = textwrap.fill(title, int(characters * FONT_SIZE / (FONT_SIZE + 1)))
        longest = max(map(len, legend)) + _SIGN
        self._beside = max(1, min(len(legend), int(characters // longest)))
        lines = self._title.count("\n") + bool(title) + math.ceil(len(legend) / self._beside)
        pyplot = require("matplotlib.pyplot", feature="plot()", extra="plot")
        size = width, height + _LINE * lines
        self.axes = pyplot.subplots(figsize=size, layout="constrained")[1]

    def finish(self) -> Any:
        """Write title and legend, where nothing is drawn, and return the axes."""
        ax = self.axes
        plain = {"fontsize": FONT_SIZE - 1, "frameon": False}
        if self._own:
            handles, labels = ax.get_legend_handles_labels()
            legend = ax.figure.legend(
                handles, labels, loc="outside upper left", ncols=self._beside, **plain
            )
            legend.set_title(self._title, {"size": FONT_SIZE + 1})
            legend.set_alignment("left")
            legend.get_title().set_parse_math(False)
        else:
            ax.set_title(self._title, fontsize=FONT_SIZE + 1, parse_math=False)
            legend = ax.legend(loc="best", **plain)
        for text in (*legend.get_texts(), *ax.get_yticklabels()):
            text.set_parse_math(False)
        ax.tick_params(labelsize=FONT_SIZE)
        ax.spines[["top", "right"]].set_visible(False)
        return ax
