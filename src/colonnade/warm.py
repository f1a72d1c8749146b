"""Compile everything ahead: each step uses a part of the package on next to no data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from colonnade.arrays import Array
from colonnade.classifier import BayesianNetworkClassifier, BayesianNetworkForest
from colonnade.dag import Dag
from colonnade.exceptions import ColonnadeWarning
from colonnade.kernels.fields import PADDING, has_quote_or_nul, join_texts, split_fields, what_is_in
from colonnade.network import BayesianNetwork, fit
from colonnade.pooling import Exact, Quadrature, Variational
from colonnade.priors import BDeu, Hierarchical, Prior, Tiered
from colonnade.structure import arc_posterior, exact_search, hill_climb, score
from colonnade.tables import encode
from colonnade.tables.numbering import TextNumbers, read_only

__all__ = ["STEPS", "can_be_kept", "compiled", "quietly"]

Rows = Sequence[Sequence[float]]

_FEW: Rows = [[12, 3, 0], [2, 5, 1], [0, 4, 9], [7, 0, 2]]
_MANY: Rows = [[900, 30, 0], [20, 50, 1], [0, 4, 100], [7, 0, 2]]
_FRACTIONS: Rows = [[1.5, 3.0, 0.0], [2.0, 0.25, 1.0]]
_LARGE: Rows = [[2e6, 3e6], [5e6, 1e6]]
_SCATTERED: Rows = [[0.5 + row % 7, 0.25 * row, 1.5, 0.75 * (row % 5)] for row in range(40)]
_ROWS = 96
# Tables of variables with so many states are not stored densely.
_MANY_STATES = 40
_STATES_OF_TWO_BYTES = 300


def compiled() -> int:
    """How many kernels were compiled in this process, and not found on disk."""
    from colonnade.kernels.compiled import notice

    return notice.kernels


def can_be_kept() -> bool:
    """Whether later processes find what is compiled."""
    from colonnade.kernels.compiled import notice

    return not notice.cannot_keep


def _posteriors() -> None:
    for engine in (None, Exact(), Quadrature(), Variational()):
        for counts in (_FEW, _MANY):
            posterior = Hierarchical(engine=engine).posterior(counts)
            posterior.interval()
            posterior.sample(2, rng=1)
    for counts in (_FRACTIONS, _LARGE, _SCATTERED):
        Hierarchical().posterior(counts).interval()


def _strengths() -> None:
    for counts in (_FEW, _MANY, _FRACTIONS):
        posterior = Hierarchical(s="learn").posterior(counts)
        posterior.interval()
        posterior.sample(2, rng=1)
    Hierarchical(s="learn", engine=Quadrature()).posterior(_FRACTIONS)


def _table(states: int = 3, columns: int = 5, gaps: int = 0) -> dict[str, list[str | None]]:
    rng = np.random.default_rng(1)
    codes = np.cumsum(rng.integers(0, 2, (columns, _ROWS)), axis=0) + rng.integers(0, states, _ROWS)
    codes %= states
    codes[:, :states] = np.arange(states)[:_ROWS]
    names = "abcdefgh"[:columns]
    table: dict[str, list[str | None]] = {
        name: [str(code) for code in column] for name, column in zip(names, codes, strict=True)
    }
    for k, name in enumerate(table):
        for row in range(gaps):
            table[name][(5 * row + k) % _ROWS] = None
    return table


_GRAPH = Dag((("a", "b"), ("b", "c"), ("a", "d"), ("b", "d"), ("c", "e")))


def _ask(network: BayesianNetwork, table: dict[str, Any]) -> None:
    network.query("a", {"c": "1"}, draws=100, rng=1)
    network.log_likelihood(table)
    network.sample(3, rng=1)


def _networks() -> None:
    table = _table()
    weights = np.linspace(0.5, 1.5, _ROWS)
    whole = np.ones(_ROWS, dtype=np.int64)
    _ask(fit(table, _GRAPH), table)
    for each in (weights, whole):
        fit(table, _GRAPH, weights=each)
    integers = {name: np.array(column, dtype=np.int64) for name, column in table.items()}
    fit(integers, _GRAPH)


def _large_tables() -> None:
    table = _table(_MANY_STATES)
    for weights in (None, np.linspace(0.5, 1.5, _ROWS), np.ones(_ROWS, dtype=np.int64)):
        for parents in ("bc", "bcde"):
            network = fit(
                table, Dag(tuple((each, "a") for each in parents)), BDeu(1), weights=weights
            )
            network.log_likelihood(table)


def _gaps() -> None:
    table = _table(gaps=4)
    for prior in (Hierarchical(), BDeu(1)):
        network = fit(table, _GRAPH, prior=prior, missing="em")
        network.log_likelihood(table)
        network.most_probable(observed={"c": "1"})
    network.impute(table, how="sample", rng=1)


def _large_codes() -> dict[str, list[str]]:
    """A column with so many states that codes take two bytes, and two others."""
    rows = range(_STATES_OF_TWO_BYTES)
    return {
        name: [str(row % states) for row in rows]
        for name, states in zip("abc", (len(rows), 2, 3), strict=True)
    }


def _graphs() -> None:
    priors: list[Prior | None] = [None, BDeu(1), Hierarchical()]
    for table in (_table(), _large_codes()):
        for prior in priors:
            graph = hill_climb(table) if prior is None else hill_climb(table, score=prior)
            score(table, graph.dag)
        rows = len(table["a"])
        for weights in (np.ones(rows, dtype=np.int64), np.linspace(0.5, 1.5, rows)):
            hill_climb(encode(table, weights=weights))
    exact_search(_table())
    arc_posterior(_table(), score=BDeu(1))


def _tiers() -> None:
    # With more states, most configurations are not observed: they are looked up all at once.
    for states in (3, 6):
        table = _table(states)
        _ask(fit(table, Dag((("a", "d"), ("b", "d"), ("c", "d"))), prior=Tiered()), table)


# Large tables of a feature, and of the class.
_OF_FEATURE = Dag((("class", "x0"), ("x1", "x0"), ("x2", "x0"), ("x3", "x0")))
_OF_CLASS = Dag((("x0", "class"), ("x1", "class"), ("x2", "class"), ("x3", "class")))


def _labelled(table: dict[str, list[str | None]]) -> tuple[Array, Array]:
    return np.array([table[name] for name in "abcd"], dtype=object).T, np.array(table["e"])


def _classifiers() -> None:
    features, labels = _labelled(_table())
    classifier = BayesianNetworkClassifier().fit(features, labels)
    classifier.predict_proba(features)
    classifier.predict_interval(features[:2], draws=100, rng=1)
    at_once = Tiered(one_parent="left_out")
    BayesianNetworkForest(1, prior=at_once, random_state=0).fit(features, labels)
    features, labels = _labelled(_table(_MANY_STATES))
    for graph in (_OF_FEATURE, _OF_CLASS):
        classifier = BayesianNetworkClassifier(prior=BDeu(1), structure=graph)
        classifier.fit(features, labels).predict_proba(features)
    BayesianNetworkForest(1, random_state=0).fit(features, labels)
    numbers = np.linspace(0.0, 1.0, 2 * len(labels)).reshape(-1, 2)
    BayesianNetworkForest(1, random_state=0).fit(numbers, labels).predict_proba(numbers)


def _files() -> None:
    # More texts than there is room for at first.
    texts = [f"text {number}" for number in range(5000)]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    data = np.frombuffer("".join(texts).encode(), np.uint8)
    TextNumbers().add(ends[:-1], ends[1:], data)
    has_quote_or_nul(data)
    lines = np.frombuffer(b"a,b\n" + bytes(PADDING), np.uint8)
    begins, ends = np.empty((2, 2, 1), np.int32)
    what_is_in(lines, 4)
    split_fields(lines, 4, np.uint8(ord(",")), np.arange(2), False, begins, ends)
    room = np.empty(2, np.int32), np.empty(1, np.uint8)
    join_texts(read_only(begins[0]), read_only(ends[0]), read_only(lines), *room)


# What is used, in words, and how.
STEPS: dict[str, Callable[[], None]] = {
    "posteriors of a table": _posteriors,
    "learned strengths": _strengths,
    "networks": _networks,
    "large tables": _large_tables,
    "rows that lack values": _gaps,
    "learning graphs": _graphs,
    "tiers": _tiers,
    "classifiers": _classifiers,
    "texts of files": _files,
}


@contextmanager
def quietly() -> Iterator[None]:
    """Ignore what would be said about the data, which mean nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        yield
