"""The pictures of docs/classifier.md: the comparison by number of rows, and reliability curves.

    python -m benchmarks.classifier_figures figures.csv calibration.csv docs/classifier

draws the figures that `benchmarks.classifier_comparison` wrote to the first file. Reliability
curves are measured with one sample of each data set that confirms, and kept in the second file;
only what the file lacks is measured.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.classifier_comparison import MEASURES, complete, possible, predicted
from benchmarks.classifier_models import MODELS
from benchmarks.labelled_data import CONFIRMING

SIZES = (80, 320)
_BINS = np.linspace(0.0, 1.0, 11)
_FIELDS = ("data", "rows", "model", "bin", "cells", "chances", "hits")
_OURS = "forest of networks"
# Left out of the pictures: variants of our single network.
_MODELS = [model for model in MODELS if not model.startswith("TAN")]


def fill(path: Path) -> None:
    """Measure what the file lacks: sums of the chances of all classes, and of hits, by bin."""
    done = set()
    if path.exists():
        with path.open(encoding="utf-8") as file:
            done = {tuple(line.values())[:3] for line in csv.DictReader(file)}
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(_FIELDS)
        for size in SIZES:
            for name in CONFIRMING:
                for model in _MODELS if possible(name, size) else ():
                    if (name, str(size), model) in done:
                        continue
                    chances, hidden, _ = predicted(name, size, 0, model)
                    hits = np.eye(chances.shape[1])[hidden]
                    bins = np.clip(np.digitize(chances, _BINS) - 1, 0, len(_BINS) - 2)
                    for k in range(len(_BINS) - 1):
                        own = bins == k
                        sums = own.sum(), round(chances[own].sum(), 4), int(hits[own].sum())
                        writer.writerow((name, size, model, k, *sums))
                    file.flush()


def _style(model: str, index: int) -> dict[str, object]:
    ours = model == _OURS
    colour = "black" if ours else f"C{index}"
    return {"color": colour, "lw": 2.2 if ours else 1.2, "marker": "o", "ms": 4, "label": model}


def comparison(figures: pd.DataFrame) -> Figure:
    """Draw the mean of each measure over the data sets that confirm, by number of rows."""
    figures = figures[figures["data"].isin(CONFIRMING) & figures["model"].isin(_MODELS)]
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    axes = figure.subplots(1, 3)
    for axis, measure in zip(axes, ("log_loss", "auc", "accuracy"), strict=True):
        mean = figures.pivot_table(measure, ["rows", "data"], "model").dropna()
        mean = mean.groupby(level="rows").mean()
        for index, model in enumerate(_MODELS):
            axis.plot(mean.index, mean[model], **_style(model, index))
        axis.set(xscale="log", xlabel="training rows", title=MEASURES[measure][0])
        axis.set_xticks(mean.index, [str(size) for size in mean.index])
        axis.minorticks_off()
        if MEASURES[measure][1]:  # boosted trees learn nothing from 20 rows, far below
            axis.set_ylim(bottom=mean.drop(columns="boosted trees").min().min() - 0.02)
    _finish(figure, axes[0], columns=6)
    return figure


def reliability(bins: pd.DataFrame) -> Figure:
    """Draw how often a class is right that a model gives some chance, by that chance."""
    sizes = sorted(set(bins["rows"]))
    figure = Figure(figsize=(4.6 * len(sizes), 4.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(sizes)))
    for axis, size in zip(axes, sizes, strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", lw=1)
        for index, model in enumerate(_MODELS):
            own = bins[(bins["rows"] == size) & (bins["model"] == model)]
            sums = own.groupby("bin")[["cells", "chances", "hits"]].sum()
            sums = sums[sums["cells"] > 0]
            x, y = sums["chances"] / sums["cells"], sums["hits"] / sums["cells"]
            axis.plot(x, y, **_style(model, index))
        axis.set(xlabel="probability given", title=f"{size} training rows", aspect="equal")
    axes[0].set_ylabel("share of such classes that are right")
    _finish(figure, axes[0], columns=3)
    return figure


def _finish(figure: Figure, axis: Axes, columns: int) -> None:
    lines, labels = axis.get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=columns, frameon=False)


def calibration_error(bins: pd.DataFrame) -> pd.DataFrame:
    """Mean distance of chance and share of hits, weighted by the number of cells, by model."""
    sums = bins.groupby(["rows", "model", "bin"])[["cells", "chances", "hits"]].sum()
    off = (sums["chances"] - sums["hits"]).abs().groupby(level=["rows", "model"]).sum()
    return (off / sums["cells"].groupby(level=["rows", "model"]).sum()).unstack("rows")


def main() -> None:
    """Measure what is missing and draw both pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("figures", type=Path, help="of benchmarks.classifier_comparison")
    parser.add_argument("calibration", type=Path, help="reliability, in CSV")
    parser.add_argument("folder", type=Path, help="where the pictures are written")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    if not options.draw:
        fill(options.calibration)
    options.folder.mkdir(exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "classifier"  # the same figures give the same file
    bins = pd.read_csv(options.calibration)
    pictures = {
        "comparison": comparison(complete(pd.read_csv(options.figures))),
        "calibration": reliability(bins),
    }
    for name, figure in pictures.items():
        path = options.folder / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None})
    print(calibration_error(bins).round(4).to_string())


if __name__ == "__main__":
    main()
