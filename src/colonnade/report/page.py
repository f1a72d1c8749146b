"""The page: a network, described in plain values, in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import itertools
import json
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from colonnade import __version__
from colonnade.exceptions import checked_level, counted, expected, inapplicable, require
from colonnade.files.disk import as_path, writable, write_bytes
from colonnade.layout import MAX_LABEL, Layout
from colonnade.markup import printable, shortened
from colonnade.network import BayesianNetwork, Origin
from colonnade.progress import Progress
from colonnade.report.beliefs import margins
from colonnade.report.classification import HeldOut, described_predictions
from colonnade.report.forests import described_forest, is_forest, network_of
from colonnade.report.moves import described_moves
from colonnade.report.summary import (
    coded_rows,
    described_comparison,
    described_counts,
    described_data,
)
from colonnade.report.tables import Extent, described_table, rounded
from colonnade.structure import Comparison

if TYPE_CHECKING:
    from colonnade.classifier import BayesianNetworkClassifier, BayesianNetworkForest

# Cells (a configuration and a state) of all tables together; each has about ten numbers.
_MAX_CELLS = 60_000
_MIN_CONFIGURATIONS = 3
MAX_MARGIN_STATES = 24
_MAX_CHANGED = 10
_CLEAN = (float, int, bool, type(None))
_SCRIPTS = ("base.js", "figures.js", "graph.js", "table.js", "sections.js", "answers.js")


def write(
    network: BayesianNetwork | BayesianNetworkClassifier | BayesianNetworkForest,
    path: str | PathLike[str],
    *,
    data: Any = None,
    comparison: Comparison | None = None,
    held_out: HeldOut | None = None,
    target: str | None = None,
    member: int | None = None,
    left_out: Mapping[str, str] | None = None,
    title: str | None = None,
    level: float = 0.95,
    overwrite: bool = False,
) -> None:
    """Write a report about a network: one HTML file that opens from disk and fetches nothing.

    Needs the extra ``report``.

    Parameters
    ----------
    network : BayesianNetwork, or fitted BayesianNetworkClassifier or BayesianNetworkForest
    path : str or path
    data : table, optional
        Rows to be summarised, usually those that the network was fitted to. Without them the page
        says what the counts of the network tell.
    comparison : Comparison, optional
        What :func:`colonnade.compare` found.
    held_out : HeldOut, optional
        What :func:`colonnade.report.held_out` found: ROC, calibration and confusion.
    target : str, optional
        Show what tells most about this variable, and what would move it.
    member : int, optional
        Which member of a forest has its graph and tables shown; by default the one that weighs
        most.
    left_out : mapping of str to str, optional
        Why columns of the data are no variables, if that was wished and the data do not tell.
    title : str, optional
        Heading of the page.
    level : float, optional
        Probability inside the credible intervals.
    overwrite : bool, optional
        Whether a file that is there already may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colonnade import Dag, fit
    >>> network = fit({"a": [0, 1, 1], "b": [0, 1, 0]}, Dag([("a", "b")]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(network, f"{folder}/report.html")
    ...     Path(f"{folder}/report.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    file = as_path(path)
    writable(file, overwrite)
    found = describe(
        network,
        data=data,
        comparison=comparison,
        held_out=held_out,
        target=target,
        member=member,
        left_out=left_out,
        title=title,
        level=level,
    )
    with Progress("Writing the page"):
        write_bytes(file, rendered(found).text.encode("utf-8"), overwrite)


def describe(
    network: BayesianNetwork | BayesianNetworkClassifier | BayesianNetworkForest,
    *,
    data: Any = None,
    comparison: Comparison | None = None,
    held_out: HeldOut | None = None,
    target: str | None = None,
    member: int | None = None,
    left_out: Mapping[str, str] | None = None,
    title: str | None = None,
    level: float = 0.95,
) -> dict[str, Any]:
    """Describe what the page shows, in plain values ready for JSON; parameters are of `write`.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> found = describe(fit({"a": [0, 1, 1], "b": [0, 1, 0]}, Dag([("a", "b")])))
    >>> [variable["name"] for variable in found["variables"]], found["graph"]["arcs"][0][:2]
    (['a', 'b'], [0, 1])
    """
    model, network = network, network_of(network, member)
    if comparison is not None and not isinstance(comparison, Comparison):
        raise expected("a Comparison", "comparison", comparison, "use compare(...)")
    if held_out is not None and not isinstance(held_out, HeldOut):
        raise expected("a HeldOut", "held_out", held_out, "use report.held_out(...)")
    if target is not None and is_forest(model):
        raise inapplicable("target", target, "single networks", "leave it out")
    if title is not None and not isinstance(title, str):
        raise expected("a string", "title", title)
    if data is None:
        summary = described_counts(network)
    else:
        coded = coded_rows(data, network)
        summary = described_data(data, coded, network, left_out or {})
    variables, not_shown = _variables(network, _extent(network, checked_level(level)))
    return {
        "title": title or "Bayesian network",
        "version": __version__,
        "level": level,
        "group": None if network.group is None else network.dag.variables.index(network.group),
        "graph": _graph(network),
        "origin": None if network.origin is None else _origin(network.origin),
        "completed": None if network.diagnostics is None else network.diagnostics.rows,
        "variables": variables,
        "changed": _changed(variables),
        "data": summary,
        "comparison": None if comparison is None else described_comparison(comparison),
        "classifier": None if held_out is None else described_predictions(network, held_out),
        "forest": described_forest(model, member) if is_forest(model) else None,
        "moves": None if target is None else described_moves(network, target, level),
        "left_out": not_shown,
        "live": None,
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {"words": origin.in_words, "score": origin.score, "rows": origin.rows}


class Rendered(NamedTuple):
    """A page, and the policy that lets a browser run and load nothing but what is in it."""

    text: str
    policy: str


def rendered(found: dict[str, Any], live: bool = False) -> Rendered:
    """Write the page about what :func:`describe` found; a live one asks the server it came from."""
    jinja2 = require("jinja2", feature="The report", extra="report")
    assets = importlib.resources.files("colonnade.report") / "assets"

    def read(name: str) -> str:
        return (assets / name).read_text(encoding="utf-8")

    script = "\n".join(
        read(name) for name in (*_SCRIPTS, *(["live.js"] if live else []), "page.js")
    )
    script = f'"use strict";\n{{\n{script}\n}}\n'
    style = read("page.css")
    parts = [
        "default-src 'none'",
        f"script-src {_digest(script)}",
        f"style-src {_digest(style)}",
        "img-src data:",
        "connect-src 'self'" if live else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    policy = "; ".join(parts)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(read("page.html"))
    text: str = page.render(
        title=printable(found["title"]),
        policy=policy,
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        content=jinja2.utils.markupsafe.Markup(_json(found)),
        live=live,
    )
    return Rendered(text, policy)


def _json(found: Any) -> str:
    """JSON that no HTML parser reads anything else into."""
    text = json.dumps(_cleaned(found), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _cleaned(value: Any) -> Any:
    """The same values with texts that a page may hold."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # Most of a page are numbers.
        return [item if type(item) in _CLEAN else _cleaned(item) for item in value]
    return value


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _extent(network: BayesianNetwork, level: float) -> Extent:
    """Choose how many configurations of each table are shown, so that the page stays small."""
    extent = Extent(level)
    while extent.configurations > _MIN_CONFIGURATIONS:
        cells = sum(
            min(len(cpt.table.rows), extent.configurations)
            * extent.of_states(cpt.family.cardinality)
            for cpt in network.tables.values()
        )
        if cells <= _MAX_CELLS:
            break
        extent = Extent(level, max(extent.configurations // 2, _MIN_CONFIGURATIONS))
    return extent


def _variables(
    network: BayesianNetwork, extent: Extent
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Describe every variable; and how many configurations and states were left out."""
    place = {name: k for k, name in enumerate(network.dag.variables)}
    known = margins(network)
    variables: list[dict[str, Any]] = []
    with Progress("Tables", len(network)) as progress:
        for name, cpt in network.tables.items():
            margin = rounded(known[name][:MAX_MARGIN_STATES]) if name in known else None
            variables.append(
                {
                    "name": name,
                    "states": [str(state) for state in cpt.family.child.states],
                    "parents": [place[parent] for parent in network.dag.parents(name)],
                    "children": [place[child] for child in network.dag.children(name)],
                    "margin": margin,
                    "table": described_table(cpt, extent),
                }
            )
            progress.advance()
    left = {
        "configurations": sum(each["table"]["left_out"] for each in variables),
        "states": sum(len(v["states"]) - len(v["table"]["states"]) for v in variables),
        "margins": len(network) - len(known),
    }
    for variable in variables:
        _shorten(variable)
    return variables, left


def _shorten(variable: dict[str, Any]) -> None:
    """Keep only the names of states that something on the page refers to."""
    if len(variable["states"]) > 1000:
        rest = len(variable["states"]) - 1000
        variable["states"] = [*variable["states"][:1000], f"({counted(rest, 'more state')})"]


def _changed(variables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where pooling changed the answer most, of all tables."""
    every = [
        {"variable": k, **change}
        for k, variable in enumerate(variables)
        for change in variable["table"]["changed"]
    ]
    every.sort(key=lambda change: (-change["distance"], -change["n"]))
    return every[:_MAX_CHANGED]


def _graph(network: BayesianNetwork) -> dict[str, Any]:
    """Where nodes stand and how arcs run."""
    layout = Layout.of(network.dag)
    place = {name: k for k, name in enumerate(network.dag.variables)}
    nodes = [
        [
            *(round(c, 1) for c in layout.places[name]),
            round(layout.widths[name], 1),
            shortened(name, MAX_LABEL),
        ]
        for name in network.dag.variables
    ]
    arcs = [
        [place[parent], place[child], _path(route)]
        for (parent, child), route in layout.routes.items()
    ]
    return {"size": [round(c, 1) for c in layout.size], "nodes": nodes, "arcs": arcs}


def _path(route: list[tuple[float, float]]) -> str:
    """A smooth line in the notation of SVG."""
    (x, y), (x2, y2) = route[0], route[-1]
    path = f"M{x:.0f},{y:.0f}"
    for (_, y0), (x3, y3) in itertools.pairwise([*route[:-1], (x2, y2 - 6)]):
        middle = (y0 + y3) / 2
        path += f"C{x:.0f},{middle:.0f} {x3:.0f},{middle:.0f} {x3:.0f},{y3:.0f}"
        x = x3
    return path
