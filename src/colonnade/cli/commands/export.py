"""`colonnade export`: the table of one variable for a spreadsheet or a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.commands.show import OTHER, described_table
from colonnade.cli.models import check_output, load
from colonnade.cli.output import say, write_table, write_text
from colonnade.cli.values import Misuse, ending_in, file_that
from colonnade.exceptions import inapplicable, renamed
from colonnade.wording import percent, tally

_ENDINGS = (".csv", ".tsv", ".parquet", ".tex")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def export(
    model: options.Model,
    variable: Annotated[
        str, typer.Argument(metavar="VARIABLE", help="The variable whose table is written.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="TABLE",
            parser=file_that(ending_in(_ENDINGS, "-")),
            help="File to write: .csv, .tsv, .parquet or .tex (LaTeX), or - for CSV on standard "
            "output.",
        ),
    ],
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals; 0.95 by default."),
    ] = None,
    limit: Annotated[
        int | None,
        options.number(1, help="Largest number of configurations to write; by default all."),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write the table of a variable: counts, probabilities and credible intervals.

    CSV and Parquet have one line for each configuration of the parents and each state; LaTeX has
    one line for each configuration, ready for a paper (package booktabs).

    Examples
    --------
    colonnade export model.json cancer -o cancer.csv

    colonnade export model.json cancer --level 0.9 -o cancer.tex
    """
    if str(output) != "-":
        check_output(output, overwrite)
    network = load(model)
    with renamed(name="variable"):
        cpt = network[variable]
    if level is not None and not cpt.has_posterior:
        owner = f"a table with a posterior, and that of {variable!r} has none"
        raise inapplicable("level", level, owner)
    found = described_table(cpt, 0.95 if level is None else level, limit)
    taken = {"state", "count", "probability", "lower", "upper"} & set(found["parents"])
    if taken and output.suffix.lower() != ".tex":
        raise Misuse(f"{variable!r} has a parent called {min(taken)!r}; write a .tex file.")
    if output.suffix.lower() == ".tex":
        write_text(output, _latex(found), overwrite)
    else:
        write_table(output, _columns(found), overwrite)
    if str(output) != "-":
        say(f"Saved {output}")


def _rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """All configurations, and the row that stands for any other."""
    other = found["other"]
    if other is None:
        return list(found["rows"])
    given = dict.fromkeys(found["parents"], OTHER)
    return [*found["rows"], {"given": given, "counts": None, **other}]


def _columns(found: dict[str, Any]) -> dict[str, list[Any]]:
    """One line per configuration and state."""
    rows = [(row, k) for row in _rows(found) for k in range(len(found["states"]))]
    columns: dict[str, list[Any]] = {
        parent: [str(row["given"][parent]) for row, _ in rows] for parent in found["parents"]
    }
    columns["state"] = [str(found["states"][k]) for _, k in rows]
    columns["count"] = [None if row["counts"] is None else row["counts"][k] for row, k in rows]
    columns["probability"] = [row["mean"][k] for row, k in rows]
    if found["level"] is not None:
        columns["lower"] = [row["lower"][k] for row, k in rows]
        columns["upper"] = [row["upper"][k] for row, k in rows]
    return columns


def _latex(found: dict[str, Any]) -> str:
    """One line per configuration, with the interval of each probability in brackets."""
    parents, states = found["parents"], found["states"]
    head = [*map(_safe, parents), "$n$", *(_safe(str(state)) for state in states)]
    lines = [
        "% Needs \\usepackage{booktabs}.",
        f"% Probability of {_safe(found['variable'])}; {found['prior']}"
        + (f"; {percent(found['level'])} credible intervals" if found["level"] else ""),
        f"\\begin{{tabular}}{{{'l' * len(parents)}r{'l' * len(states)}}}",
        "\\toprule",
        " & ".join(head) + " \\\\",
        "\\midrule",
    ]
    for row in _rows(found):
        counts = "--" if row["counts"] is None else tally(sum(row["counts"]))
        cells = [f"{value:.3f}" for value in row["mean"]]
        if "lower" in row:
            ends = zip(cells, row["lower"], row["upper"], strict=True)
            cells = [f"{mean} [{low:.3f}, {high:.3f}]" for mean, low, high in ends]
        given = [_safe(str(row["given"][parent])) for parent in parents]
        lines.append(" & ".join([*given, counts, *cells]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _safe(text: str) -> str:
    """Write a name so that LaTeX takes no sign of it for a command."""
    return "".join(_LATEX.get(sign, sign) for sign in text)
