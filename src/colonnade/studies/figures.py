"""The figures of the studies, laid out as in the paper."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.exceptions import require
from colonnade.files.disk import write_bytes
from colonnade.studies.claims import BASELINES
from colonnade.studies.engines import LABELS
from colonnade.studies.prepared import LABELS as PRIOR_LABELS
from colonnade.studies.tidy import Row, Tidy

# As in the paper: test 1 light blue and test 2 green; BDeu with ess 1 orange and with ess 10 red.
_TESTS = {1: ("test 1", "#7fb8e0"), 2: ("test 2", "#4f9d4f")}
_ESS = {"bdeu 1": ("BDeu, ess 1", "#f39c34"), "bdeu 10": ("BDeu, ess 10", "#cf3b34")}
# Colours and markers of priors, told apart in grey and by readers who do not see all colours.
_PRIORS = {
    "bdeu 1": ("#e69f00", "s"),
    "bdeu 10": ("#d55e00", "D"),
    "hierarchical": ("#56b4e9", "v"),
    "learned": ("#0072b2", "^"),
    "tiered": ("#000000", "o"),
}


def draw_mse(results: Tidy, path: Path) -> None:
    """Draw Fig. 1 as a PNG file: gains in MSE, one panel per q, boxes over n, both tests."""
    gains = results.gains("mse", "bayesian", "hierarchical")
    sizes, qs = sorted(results.unique("n")), sorted(results.unique("q"))
    figure, axes = _figure(1, len(qs), 2.6)
    for axis, q in zip(axes[0], qs, strict=True):
        series = [
            (*_TESTS[test], [gains.where(test=test, q=q, n=n)["gain"] for n in sizes])
            for test in results.unique("test")
        ]
        _boxes(axis, series, sizes)
        axis.set(title=f"q = {q}", xlabel="n")
    axes[0][0].set_ylabel("MSE(Bayesian) − MSE(hierarchical)")
    lows, highs = zip(*(axis.get_ylim() for axis in axes[0]), strict=True)
    for axis in axes[0]:
        axis.set_ylim(min(lows), max(highs))
    _finish(figure, axes[0][-1], path)


def draw_theory(results: Tidy, path: Path) -> None:
    """Draw the MSE itself over n, as simulated and, where Theorem 2 gives it, as computed."""
    names = {
        "bayesian, theorem": ("Bayesian, Theorem 2", "#8c8c8c", "-", ""),
        "ideal, theorem": ("ideal, Theorem 2", "#222222", "--", ""),
        "bayesian": ("Bayesian", "#cf3b34", "", "s"),
        "hierarchical": ("hierarchical, s = r", "#2b6ca3", "", "o"),
        "learned": ("hierarchical, s learned", "#7b4fa3", "", "^"),
    }
    sizes, qs, tests = (sorted(results.unique(name)) for name in ("n", "q", "test"))
    figure, axes = _figure(len(tests), len(qs), 2.4)
    for row, test in zip(axes, tests, strict=True):
        for axis, q in zip(row, qs, strict=True):
            part = results.where(test=test, q=q)
            for name, (label, colour, line, marker) in names.items():
                values = [part.where(estimator=name, n=n)["mse"].mean() for n in sizes]
                style = {"linestyle": line or "none", "marker": marker, "markersize": 4}
                axis.plot(sizes, values, color=colour, label=label, **style)
            axis.set(xscale="log", yscale="log", title=f"test {test}, q = {q}")
            axis.set_xticks(sizes, [str(n) for n in sizes], rotation=45)
            axis.minorticks_off()
        row[0].set_ylabel("mean MSE")
    _finish(figure, axes[0][-1], path)


def draw_data_sets(joint: Tidy | None, classification: Tidy | None, path: Path) -> None:
    """Draw Fig. 2: one column per data set; log-likelihood ratio, gains in accuracy and AUC.

    Boxes are the gains of the paper's estimator, lines the mean gains of tiers on the same samples.
    Rows of a study that was not run are left out.
    """
    rows: list[tuple[Tidy, str, float, str]] = []
    if joint is not None:
        rows.append((joint, "log_likelihood", 1.0, "log-likelihood ratio"))
    if classification is not None:
        rows.append((classification, "accuracy", 100.0, "accuracy gain (points)"))
        rows.append((classification, "auc", 100.0, "ROC AUC gain (points)"))
    names = rows[0][0].unique("data")
    figure, axes = _figure(len(rows), len(names), 2.3)
    for line, (results, measure, scale, label) in zip(axes, rows, strict=True):
        sizes = sorted(results.unique("n"))
        over = {base: results.gains(measure, "hierarchical", base) for base in BASELINES}
        tiered = {base: results.gains(measure, "tiered", base) for base in BASELINES}
        for axis, name in zip(line, names, strict=True):
            series = [
                (*_ESS[base], [scale * gains.where(data=name, n=n)["gain"] for n in sizes])
                for base, gains in over.items()
            ]
            _boxes(axis, series, sizes)
            for base, gains in tiered.items():
                values = [scale * gains.where(data=name, n=n)["gain"].mean() for n in sizes]
                known, colour = _ESS[base]
                axis.plot(
                    values,
                    color=colour,
                    marker="D",
                    markersize=2.5,
                    linewidth=0.8,
                    label=f"mean of tiered over {known}",
                )
        line[0].set_ylabel(label)
    for axis, name in zip(axes[0], names, strict=True):
        axis.set_title(name.capitalize())
    for axis in axes[-1]:
        axis.set_xlabel("n")
    _finish(figure, axes[0][-1], path)


def draw_coverage(
    averages: Sequence[Row], panels: Mapping[tuple[str, str], str], level: float, path: Path
) -> None:
    """Draw the share of probabilities that intervals hold, and below it their width, over n.

    `averages` are rows of one question, truth, n and prior; `panels` gives the questions and truths
    to be drawn, one column of panels each, with their titles.
    """
    drawn = {key: title for key, title in panels.items() if _rows_of(averages, key)}
    figure, axes = _figure(2, len(drawn), 2.3)
    for (upper, lower), (key, title) in zip(axes.T, drawn.items(), strict=True):
        rows = _rows_of(averages, key)
        sizes = sorted({row["n"] for row in rows})
        for place, (name, (colour, marker)) in enumerate(_PRIORS.items()):
            own = sorted((row for row in rows if row["estimator"] == name), key=lambda r: r["n"])
            # Bars side by side, or they hide each other.
            n = [row["n"] * 1.04 ** (place - 2) for row in own]
            style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2}
            style["label"] = PRIOR_LABELS[name]
            spread = [row["spread"] for row in own]
            upper.errorbar(n, [row["held"] for row in own], spread, elinewidth=0.8, **style)
            lower.plot(n, [row["width"] for row in own], **style)
        upper.axhline(level, color="#777777", linestyle="--", linewidth=0.9, zorder=0)
        upper.set(title=title)
        lower.set(xlabel="n", ylim=(0.0, None))
        for axis in (upper, lower):
            axis.set_xscale("log")
            axis.set_xticks(sizes, [str(n) for n in sizes])
            axis.minorticks_off()
    lowest = min(axis.get_ylim()[0] for axis in axes[0])
    for axis in axes[0]:
        axis.set_ylim(lowest, 1.0)
    axes[0][0].set_ylabel(f"share held by {100 * level:g} % intervals")
    axes[1][0].set_ylabel("mean width")
    _finish(figure, axes[1][0], path)


def _rows_of(averages: Sequence[Row], key: tuple[str, str]) -> list[Row]:
    return [row for row in averages if (row["what"], row["truth"]) == key]


def draw_engines(results: Tidy, path: Path) -> None:
    """Draw time against error of the estimate, one point per table and engine."""
    colours = {"exact": "#222222", "variational": "#4f9d4f", "advi": "#f39c34", "nuts": "#2b6ca3"}
    figure, axes = _figure(1, 1, 3.6)
    axis = axes[0][0]
    # The exact engine is the reference: its own error is rounding only.
    least = np.finfo(np.float64).eps
    for name in results.unique("engine"):
        part = results.where(engine=name)
        errors = np.maximum(part["table_error"], least)
        label = LABELS[name] + " (the reference)" * (name == "exact")
        axis.scatter(part["seconds"], errors, label=label, color=colours[name], s=24)
    axis.set(xscale="log", yscale="log", xlabel="seconds for a table")
    axis.set_ylabel("largest error of an entry")
    _finish(figure, axis, path)


def _figure(rows: int, columns: int, height: float) -> tuple[Any, Any]:
    require("matplotlib", feature="The figures of the studies", extra="report")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Made without pyplot: nothing global is changed, and no screen is needed.
    width = 2.7 * columns + 0.4 if columns > 1 else 8.0
    figure = Figure(figsize=(width, height * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _boxes(
    axis: Any, series: Sequence[tuple[str, str, list[NDArray[Any]]]], sizes: Sequence[int]
) -> None:
    """Draw boxes side by side for each n; a series has a label, a colour and values for each n."""
    width = 0.8 / len(series)
    for place, (label, colour, values) in enumerate(series):
        positions = np.arange(len(sizes)) + (place - (len(series) - 1) / 2) * width
        drawn = axis.boxplot(
            values,
            positions=positions,
            widths=0.85 * width,
            patch_artist=True,
            flierprops={"marker": ".", "markersize": 2, "markeredgecolor": colour},
            medianprops={"color": "#222222", "linewidth": 1},
            **{f"{part}props": {"linewidth": 0.7} for part in ("whisker", "cap", "box")},
        )
        for box in drawn["boxes"]:
            box.set_facecolor(colour)
        axis.plot([], [], color=colour, linewidth=6, label=label)
    axis.axhline(0.0, color="#777777", linewidth=0.7, zorder=0)
    axis.set_xticks(range(len(sizes)), [str(n) for n in sizes], rotation=45)
    axis.set_xlim(-0.6, len(sizes) - 0.4)


def _finish(figure: Any, axis: Any, path: Path) -> None:
    """Set sizes, put the legend of one panel below all of them, and write the file."""
    for each in figure.axes:
        each.tick_params(labelsize=7)
        each.title.set_fontsize(10)
        each.xaxis.label.set_fontsize(8)
        each.yaxis.label.set_fontsize(8)
        each.spines[["top", "right"]].set_visible(False)
    handles, labels = axis.get_legend_handles_labels()
    where = {"loc": "outside lower center", "ncols": len(labels)}
    figure.legend(handles, labels, fontsize=8, frameon=False, **where)
    # Without the version of the drawing package, the same numbers give the same file.
    content = io.BytesIO()
    figure.savefig(content, dpi=150, metadata={"Software": None})
    write_bytes(path, content.getvalue(), overwrite=True)
