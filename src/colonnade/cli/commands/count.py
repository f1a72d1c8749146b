"""`colonnade count`: the counts of a graph's families, which can travel without any row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.arcs import dag_of
from colonnade.cli.cuts import cuts_of
from colonnade.cli.data import Missing, ScanOptions
from colonnade.cli.learned import Gaps, Weights
from colonnade.cli.models import check_output
from colonnade.cli.output import say, say_json
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import counted, renamed, tally


def count(
    *,
    data: ScanOptions,
    dag: Annotated[
        Path,
        typer.Option(
            metavar="ARCS.csv",
            help="File with the graph, as for colonnade fit; the same for all parts of the data.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="COUNTS",
            parser=file_that(ending_in((".json",))),
            help="File to write: .json.",
        ),
    ],
    cut: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CUTS",
            help="Cut one column at given points, as for colonnade fit; the same for all parts of "
            "the data. May be given several times.",
        ),
    ] = None,
    weights: Weights = None,
    missing: Gaps = Missing.AVAILABLE,
    group: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the group of each row, such as a site."),
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Count the families of a graph, in one pass over files of any size.

    Counts of separate data, perhaps on separate machines, are put together by colonnade merge, and
    colonnade fit --counts makes a network of them: the one that all rows together give.

    Examples
    --------
    colonnade count 'north/*.parquet' --dag arcs.csv -o north.json

    colonnade merge north.json south.json -o all.json

    colonnade fit --counts all.json -o model.json
    """
    from colonnade.network import count as counts_of
    from colonnade.tables import Discretizer

    if missing not in (Missing.RAISE, Missing.AVAILABLE):
        raise Misuse(f"Expected raise or available for --missing, got {str(missing)!r}.")
    cuts = [cuts_of(text) for text in cut or ()]
    check_output(output, overwrite)
    table = data.scanned
    graph = dag_of(dag, table.names)
    for each in cuts:
        if each.name not in graph:
            raise Misuse(f"--cut: {each.name!r} is no variable of the graph.")
    found = counts_of(
        Discretizer(tuple(cuts)).cut(table) if cuts else table,
        graph,
        weights=weights,
        missing="raise" if missing is Missing.RAISE else "available",
        group=group,
    )
    with renamed(path="output"):
        found.save(output, overwrite)
    rows = max(each.total for each in found.counts)
    if json:
        say_json({"saved": str(output), "rows": rows, "variables": list(found.dag.variables)})
        return
    say(f"Counted {tally(rows)} rows of {counted(len(found.dag), 'variable')}")
    say(f"Saved {output}")
