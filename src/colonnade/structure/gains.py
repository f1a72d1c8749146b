"""What each arc of a graph is worth: the score that would be lost without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from colonnade.dag import Dag
from colonnade.missing.treatment import Missing
from colonnade.structure.scores import GraphPrior, Score, family_scores
from colonnade.tables.bounds import Allowed
from colonnade.tables.tabular import Tabular

Arc = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArcGains(Mapping[Arc, float], Tabular):
    """What each arc of a graph adds to its score: a mapping from arcs to numbers.

    Attributes
    ----------
    gains : dict of (str, str) to float
        Score of the graph less its score without the arc; the arc worth most first.
    """

    gains: dict[Arc, float]

    def __getitem__(self, arc: Arc) -> float:
        return self.gains[arc]

    def __iter__(self) -> Iterator[Arc]:
        return iter(self.gains)

    def __len__(self) -> int:
        return len(self.gains)

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "from": [parent for parent, _ in self.gains],
            "to": [child for _, child in self.gains],
            "gain": list(self.gains.values()),
        }

    def __repr__(self) -> str:
        lines = [f"  {a} -> {b}: {gain:.2f}" for (a, b), gain in self.gains.items()]
        return "\n".join(["ArcGains", *lines])


def arc_gain(
    table: Any,
    dag: Dag,
    score: Score | None = None,
    *,
    graph_prior: GraphPrior = None,
    missing: Missing = "raise",
    memory: Allowed = None,
) -> ArcGains:
    """How much of the score of a graph each of its arcs is worth.

    The score less that without the arc, everything else equal: an arc with a negative gain is not
    supported by the data under this score. For the log evidence of a prior the gain is the log
    Bayes factor of the two graphs. How *certain* an arc is, among all graphs, is another question:
    see :func:`arc_strength` and :func:`arc_posterior`.

    Parameters
    ----------
    table, dag, score, graph_prior, missing, memory
        As for :func:`colonnade.structure.score`.

    Returns
    -------
    ArcGains

    Examples
    --------
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> arc_gain(table, Dag([("a", "b")]))
    ArcGains
      a -> b: 2.08
    """
    families = family_scores(table, dag, score, graph_prior, missing, memory)
    gains: dict[Arc, float] = {}
    for child in dag.variables:
        parents = dag.parents(child)
        full = families.named(child, parents)
        for parent in parents:
            rest = families.named(child, [name for name in parents if name != parent])
            gains[parent, child] = full - rest
    return ArcGains(dict(sorted(gains.items(), key=lambda item: -item[1])))
