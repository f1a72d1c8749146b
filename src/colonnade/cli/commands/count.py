"""`colonnade count`: the counts of a graph's families, which can travel without any row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.arcs import dag_of
from colonnade.cli.cuts import cuts_of
from colonnade.cli.data import Missing, OrderOption, RecodeOption, ScanOptions
from colonnade.cli.learned import Gaps, Weights, counting, save_counts, say_gaps
from colonnade.cli.models import check_output
from colonnade.cli.output import say
from colonnade.cli.restating import restatings_of, variables_passing
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import counted


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
    recode: RecodeOption = None,
    order: OrderOption = None,
    weights: Weights = None,
    missing: Gaps = Missing.AVAILABLE,
    group: options.Group = None,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Count the families of a graph, in one pass over files of any size.

    Counts of separate data, perhaps on separate machines, are put together by colonnade merge, and
    colonnade fit --counts makes a network of them: the one that all rows together give. --recode
    and --order need another pass over their columns; they should be the same for all parts, which
    need not have all the values that --recode names.

    Examples
    --------
    colonnade count 'north/*.parquet' --dag arcs.csv --cut "marker: 0, 1" -o north.json

    colonnade count 'south/*.parquet' --dag arcs.csv --cut "marker: 0, 1" -o south.json

    colonnade merge north.json south.json -o all.json

    colonnade fit --counts all.json -o counted.json
    """
    from colonnade.network import count as counts_of
    from colonnade.network.learning import coded_for_fit, grouped
    from colonnade.tables import Discretizer

    how = counting(missing)
    cuts = [cuts_of(text) for text in cut or ()]
    restatings = restatings_of(recode or (), order or ())
    check_output(output, overwrite)
    table = data.scanned
    graph = dag_of(dag, table.names)
    for each in cuts:
        if each.name not in graph:
            raise Misuse(f"--cut: {each.name!r} is no variable of the graph.")
        if each.name in restatings:
            raise Misuse(f"{restatings[each.name].option}: {each.name!r} is given for --cut, too.")
    for own in restatings.values():
        if own.name not in graph and own.name != group:
            raise Misuse(f"{own.option}: {own.name!r} is no variable of the graph.")
    # Opened here and not by `counts_of`: the pass that counts also finds how many rows there are.
    rows = coded_for_fit(
        Discretizer(tuple(cuts)).cut(table) if cuts else table,
        graph if group is None else grouped(graph, group),
        variables_passing(table, restatings, part=True) or None,
        weights,
        group,
    )
    found = counts_of(rows, graph, missing=how, group=group)
    if not json:
        say(f"Counted {counted(rows.rows, 'row')} of {counted(len(found.dag), 'variable')}")
        say_gaps(rows, how)
    save_counts(found, output, overwrite, {"rows": rows.rows}, json)
