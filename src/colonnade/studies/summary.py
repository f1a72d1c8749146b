"""The summary of a run, as Markdown and as a page of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from colonnade.exceptions import require
from colonnade.files.disk import write_bytes
from colonnade.studies.claims import Claim, Winner
from colonnade.studies.engines import LABELS
from colonnade.studies.prepared import LABELS as ESTIMATOR_LABELS
from colonnade.studies.tidy import Interval, Tidy

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text with a title, and a note on how to read it."""

    title: str
    head: Cells
    rows: tuple[Cells, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """What the summary says of one study."""

    title: str
    text: str  # what was run
    tables: tuple[Table, ...]
    figures: tuple[tuple[str, str], ...] = ()  # file and caption of each


def claims_table(claims: Sequence[Claim]) -> Table:
    """What the paper says, what we got, and whether it holds."""
    rows = tuple((c.claim, c.paper, c.ours, c.criterion, c.verdict) for c in claims)
    return Table("Claim by claim", ("claim", "paper", "ours", "holds if", "holds"), rows)


def readings_table(readings: Mapping[str, Sequence[Claim]]) -> Table:
    """Whether each claim holds under every reading of what the paper leaves open."""
    rows = [
        (same[0].claim, *(claim.verdict for claim in same))
        for same in zip(*readings.values(), strict=True)
    ]
    title = "Other readings of what the paper leaves open"
    return Table(title, ("claim holds", *readings), tuple(rows))


def winners_table(winners: Sequence[Winner], group: str) -> Table:
    """Which estimator won how often over all n, and by how much."""
    rows = []
    for winner in winners:
        if winner.n is None:
            measure, label = winner.measure.replace("_", " "), ESTIMATOR_LABELS[winner.estimator]
            won = f"{winner.won:g} of {winner.repetitions}"
            rows.append((str(winner.group), measure, label, won, *_gain(winner.gain)))
    head = (group, "measure", "estimator", "won", "mean gain", "interval")
    note = (
        "Samples of all sizes. Gains are over the hierarchical estimator with s = r, positive if "
        "better, with the 95 % interval of the paired differences."
    )
    return Table("Which estimator won", head, tuple(rows), note)


def engines_table(results: Tidy) -> Table:
    """Error and time of each engine."""
    rows = []
    for name in results.unique("engine"):
        part = results.where(engine=name)
        error, seconds = part["table_error"], part["seconds"]
        errors = f"{np.median(error):.1e}", f"{error.max():.1e}"
        if name == "exact":
            errors = "reference", "reference"
        times = f"{np.median(seconds):.2g} s", f"{seconds.max():.2g} s"
        doubted = f"{int(part['doubted'].sum())} of {len(part)}"
        rows.append((LABELS[name], *errors, *times, doubted))
    head = ("engine", "median error", "largest error", "median time", "longest", "warned")
    return Table("Error of an entry of the table, and time", head, tuple(rows))


def write_summary(
    sections: Sequence[Section],
    about: Sequence[tuple[str, str]],
    folder: Path,
    name: str,
    title: str = "The paper's studies, run again",
) -> None:
    """Write ``name.md`` and ``name.html``; `about` is the command, the version and so on."""
    jinja2 = require("jinja2", feature="The summary of the studies", extra="report")
    for suffix, template, escape in (("md", _MARKDOWN, False), ("html", _HTML, True)):
        environment = jinja2.Environment(
            autoescape=escape,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters["cell"] = lambda text: str(text).replace("|", r"\|")
        text = environment.from_string(template).render(title=title, sections=sections, about=about)
        write_bytes(folder / f"{name}.{suffix}", text.encode(), overwrite=True)


def _gain(gain: Interval) -> Cells:
    mean, lower, upper = gain
    if mean == lower == upper == 0.0:
        return "–", "–"
    if not np.isfinite(lower):
        return _number(mean), "–"
    return _number(mean), f"{_number(lower)} to {_number(upper)}"


def _number(value: float) -> str:
    return f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"


_MARKDOWN = """\
# {{ title }}

{% for name, value in about %}
- {{ name }}: {{ value }}
{% endfor %}

{% for section in sections %}
## {{ section.title }}

{{ section.text }}

{% for file, caption in section.figures %}
![{{ caption }}]({{ file }})

*{{ caption }}*

{% endfor %}
{% for table in section.tables %}
### {{ table.title }}

{% if table.note %}
{{ table.note }}

{% endif %}
|{% for name in table.head %} {{ name | cell }} |{% endfor %}

|{% for name in table.head %}---|{% endfor %}

{% for row in table.rows %}
|{% for value in row %} {{ value | cell }} |{% endfor %}

{% endfor %}

{% endfor %}
{% endfor %}
"""

_HTML = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0 2rem; font-size: .9em; }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .7rem; text-align: left;
  vertical-align: top; }
.scroll { overflow-x: auto; }
.yes { color: #1a6e2e; font-weight: 600; }
.no { color: #a3211a; font-weight: 600; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; }
figcaption { color: #555; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<ul>
{% for name, value in about %}
<li>{{ name }}: {{ value }}</li>
{% endfor %}
</ul>
{% for section in sections %}
<h2>{{ section.title }}</h2>
<p>{{ section.text }}</p>
{% for file, caption in section.figures %}
<figure><img src="{{ file }}" alt="{{ caption }}"><figcaption>{{ caption }}</figcaption></figure>
{% endfor %}
{% for table in section.tables %}
<h3>{{ table.title }}</h3>
{% if table.note %}<p>{{ table.note }}</p>{% endif %}

<div class="scroll"><table>
<thead><tr>{% for name in table.head %}<th>{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in table.rows %}
<tr>{% for value in row %}<td class="{{ value if value in ('yes', 'no') else '' }}">{{ value }}</td>
{%- endfor %}</tr>
{% endfor %}
</tbody>
</table></div>
{% endfor %}
{% endfor %}
</body>
</html>
"""
