"""`colonnade plot`: the graph of a network as a figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli import options
from colonnade.cli.models import check_output, load
from colonnade.cli.output import say
from colonnade.cli.values import ending_in, file_that
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
    overwrite: options.Overwrite = False,
) -> None:
    """Draw the graph of a network, in layers from parents to children.

    An .svg file is written without any other package; .png and .pdf need the extra plot.

    Example: colonnade plot model.json -o graph.svg
    """
    from colonnade.files.disk import write_bytes

    check_output(output, overwrite)
    network = load(model)
    if output.suffix.lower() == ".svg":
        from colonnade.report.graph import dag_svg

        content = dag_svg(network.dag).encode()
    else:
        stream = io.BytesIO()
        figure = network.plot().figure
        figure.savefig(stream, format=output.suffix.lower()[1:], dpi=_DOTS_PER_INCH)
        content = stream.getvalue()
    with renamed(path="output"):
        write_bytes(output, content, overwrite)
    say(f"Saved {output}")
