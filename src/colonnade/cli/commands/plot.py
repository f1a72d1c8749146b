"""`colonnade plot`: the graph of a network as a figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.evidence import KNOWN_HELP, findings
from colonnade.cli.models import check_output, load
from colonnade.cli.output import say
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import renamed

_ENDINGS = (".svg", ".png", ".pdf")
_DOTS_PER_INCH = 200


def plot(
    model: options.Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FIGURE",
            parser=file_that(ending_in(_ENDINGS)),
            help="File to write: .svg, .png or .pdf.",
        ),
    ],
    tables: Annotated[
        bool,
        typer.Option(
            "--tables", help="Draw a bar for each state into the nodes, with its 95 % interval."
        ),
    ] = False,
    observed: Annotated[
        list[str] | None,
        typer.Option(metavar="KNOWN", help=f"What the bars of --tables are given: {KNOWN_HELP}"),
    ] = None,
    do: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VARIABLE=STATE",
            help="What is set by an action before --tables draws bars; may be given several times.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Draw the graph of a network, in layers from parents to children.

    Bars of what is observed, and of what is set by an action, have colours of their own. An .svg
    file of the graph alone is written without any other package; .png, .pdf and --tables
    need the extra plot.

    Examples
    --------
    colonnade plot model.json -o graph.svg

    colonnade plot model.json --tables --observed smoker=yes -o smokers.pdf
    """
    from colonnade.files.disk import write_bytes

    for option, given in (("--observed", observed), ("--do", do)):
        if given and not tables:
            raise Misuse(f"{option} applies only with --tables.")
    check_output(output, overwrite)
    network = load(model)
    if not tables and output.suffix.lower() == ".svg":
        from colonnade.report.graph import dag_svg

        content = dag_svg(network.dag).encode()
    else:
        stream = io.BytesIO()
        known = findings(network, observed, "--observed") if observed else None
        done = findings(network, do, "--do") if do else None
        rng = 0 if tables else None
        figure = network.plot(tables=tables, observed=known, do=done, rng=rng).figure
        figure.savefig(stream, format=output.suffix.lower()[1:], dpi=_DOTS_PER_INCH)
        content = stream.getvalue()
    with renamed(path="output"):
        write_bytes(output, content, overwrite)
    say(f"Saved {output}")
