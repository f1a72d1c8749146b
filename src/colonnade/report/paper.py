"""Axes of the size of a column in a paper, and the colours of all figures."""

from __future__ import annotations

from typing import Any

from colonnade.exceptions import expected, require

# Inches of one and two columns of a journal page.
_WIDTHS = {1: 3.4, 2: 7.0}
FONT_SIZE = 8
INK, PALE, BLUE, ORANGE, GREY = "#102027", "#eceff1", "#1565c0", "#d84315", "#607d8b"
# Of states; they differ in print without colour as well.
STATE_COLOURS = ("#1565c0", "#d84315", "#2e7d32", "#6a1b9a", "#f9a825", "#00838f", "#5d4037")


def axes(ax: Any, columns: int, height: float) -> Any:
    """The axes given, or those of a new figure of one or two columns and some inches of height."""
    if ax is not None:
        if not hasattr(ax, "annotate"):
            raise expected("matplotlib Axes", "ax", ax)
        return ax
    if isinstance(columns, bool) or columns not in _WIDTHS:
        raise expected("1 or 2", "columns", columns, "a figure is one or two columns wide")
    pyplot = require("matplotlib.pyplot", feature="plot()", extra="plot")
    return pyplot.subplots(figsize=(_WIDTHS[columns], height), layout="constrained")[1]
