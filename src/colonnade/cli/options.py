"""Options that several commands share, each described once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "Bins",
    "Cut",
    "Data",
    "Ignore",
    "K",
    "MaxParents",
    "Model",
    "Na",
    "Overwrite",
    "Restarts",
    "ScoreWord",
    "Tabu",
    "Target",
    "about_data",
    "about_graph",
]

# Options that help shows together.
about_data = partial(typer.Option, rich_help_panel="Data")
about_graph = partial(typer.Option, rich_help_panel="Structure")
_number = partial(about_graph, min=0, metavar="N")

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="Table of data: CSV or TSV with names in the first line, or Parquet."
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="File of a network.")]

Bins = Annotated[
    int | None,
    about_data(
        min=2,
        metavar="N",
        help="Cut columns of floating-point numbers into so many intervals with about the same "
        "number of rows; the cut points are kept with the network.",
    ),
]
Cut = Annotated[
    list[str] | None,
    about_data(
        metavar="COLUMN",
        help="Cut this column of integers as well; may be given several times. Needs --bins.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    about_data(metavar="COLUMN", help="Leave this column out; may be given several times."),
]
Na = Annotated[
    list[str] | None,
    about_data(
        metavar="TEXT",
        help="Text that stands for a missing value in a CSV file, besides the empty one; may be "
        "given several times.",
    ),
]
Target = Annotated[
    str | None,
    about_graph(
        metavar="VARIABLE", help="The variable to be predicted, for --learn tan, kdb and naive."
    ),
]
ScoreWord = Annotated[
    str | None,
    about_graph(
        "--score",
        metavar="SCORE",
        help="What hill climbing maximises: bic (by default), aic, loglik, or the log evidence of "
        "a prior: hierarchical, hierarchical:learn, bdeu:10, symmetric.",
    ),
]
MaxParents = Annotated[int | None, _number(help="Largest number of parents, for --learn hc.")]
K = Annotated[
    int | None,
    _number(help="Parents of a feature besides the target, for --learn kdb; 2 by default."),
]
Tabu = Annotated[
    int | None,
    _number(help="Length of the tabu list with which --learn hc goes on past a local optimum."),
]
Restarts = Annotated[
    int | None,
    _number(help="How often --learn hc perturbs the best graph at random and climbs again."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a file that is there already.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs; undefined numbers are null.")
]
