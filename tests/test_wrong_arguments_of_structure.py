"""Whatever is given for a parameter, what comes out is a result or an error of our own."""

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import colonnade as cn
from colonnade import structure
from colonnade.dag import MixedGraph
from colonnade.exceptions import ColonnadeError, InputError

TABLE = {"a": [0, 0, 1, 1] * 3, "b": [0, 0, 1, 1, 0, 1] * 2, "c": ["x", "y"] * 6}
DAG = cn.Dag([("a", "b")], ["a", "b", "c"])
STRENGTHS = structure.ArcStrengths(("a", "b"), np.array([[0.0, 0.6], [0.2, 0.0]]), 5)
# Functions with what they need; the prior without a pool is quick.
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "hill_climb": (cn.hill_climb, {"table": TABLE}),
    "ges": (cn.ges, {"table": TABLE}),
    "exact_search": (cn.exact_search, {"table": TABLE}),
    "arc_posterior": (cn.arc_posterior, {"table": TABLE}),
    "pc": (cn.pc, {"table": TABLE}),
    "independence": (structure.independence, {"table": TABLE, "x": "a", "y": "b"}),
    "MixedGraph": (MixedGraph, {"arcs": [("a", "b")]}),
    "chow_liu": (cn.chow_liu, {"table": TABLE}),
    "tan": (cn.tan, {"table": TABLE, "target": "a"}),
    "kdb": (cn.kdb, {"table": TABLE, "target": "a"}),
    "naive_bayes": (cn.naive_bayes, {"table": TABLE, "target": "a"}),
    "score": (cn.score, {"table": TABLE, "dag": DAG}),
    "score_families": (cn.score_families, {"table": TABLE, "dag": DAG}),
    "arc_strength": (
        cn.arc_strength,
        {"table": TABLE, "learner": cn.chow_liu, "resamples": 3},
    ),
    "compare": (cn.compare, {"table": TABLE, "structures": DAG, "priors": cn.BDeu(1), "folds": 2}),
    "compelled": (structure.compelled, {"dag": DAG}),
    "averaged": (STRENGTHS.averaged, {}),
    "of": (cn.BIC().of, {"counts": cn.FamilyCounts.from_array([[3, 1]]), "rows": 4}),
    "penalty": (cn.BIC().penalty, {"rows": 4}),
    "EM": (cn.EM, {}),
    "fit": (cn.fit, {"table": TABLE, "dag": DAG, "prior": cn.BDeu(1)}),
}
VALUES: tuple[Any, ...] = (
    *(None, "x", 3, -1, 10**20, 10**400, 1.5, [], {}, math.nan, object(), True, b"a"),
    *([3], {"x": 3}, {3: 4}, [("a",)], [([], [])], np.array([1, 2]), len),
)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        (name, parameter)
        for name, (function, _) in FUNCTIONS.items()
        for parameter in inspect.signature(function).parameters
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_no_foreign_error(name: str, parameter: str) -> None:
    function, needed = FUNCTIONS[name]
    for value in VALUES:
        if value is len and parameter in ("learner", "structures"):
            continue  # a function, whose errors are its own
        try:
            function(**{**needed, parameter: value})
        except ColonnadeError:
            continue
        except Exception as error:
            pytest.fail(f"{parameter}={value!r}: {type(error).__name__}: {error}")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cn.hill_climb(TABLE, tabu=10**20), "from 0 to 1,000,000 for `tabu`"),
        (lambda: cn.hill_climb(TABLE, restarts=10**20), "from 0 to 1,000,000 for `restarts`"),
        (lambda: cn.hill_climb(TABLE, start="x"), "a Dag for `start`, got 'x'"),
        (
            lambda: cn.hill_climb(TABLE, required=3),
            r"child\) for `required`, got 3",
        ),
        (lambda: cn.hill_climb(TABLE, rng="x"), "a Generator or None for `rng`, got 'x'"),
        (lambda: cn.hill_climb(TABLE, rng=1), r"`rng` applies only to restarts > 0, got rng=1"),
        (
            lambda: cn.hill_climb(TABLE, required=[("a", "b"), ("b", "a")]),
            "no cycle for `required`, got a -> b -> a",
        ),
        (
            lambda: cn.hill_climb(TABLE, required=[("a", "b")], start=cn.Dag([("b", "a")])),
            "no cycle for `start`, got a -> b -> a",
        ),
        (lambda: cn.score(TABLE, 3), "a Dag for `dag`, got 3"),
        (lambda: cn.fit(TABLE, cn.hill_climb(TABLE)), r"converged\). Hint: give its `dag`"),
        (lambda: cn.score(TABLE, cn.Dag([])), "at least one variable for `dag`"),
        (lambda: cn.compare(TABLE, None), "functions of a table for `structures`, got None"),
        (lambda: cn.compare(TABLE, {3: DAG}), "strings for `structures`, got 3"),
        (
            lambda: cn.arc_strength(TABLE, cn.hill_climb, resamples=10**20),
            "from 1 to 1,000,000 for `resamples`",
        ),
        (
            lambda: cn.arc_strength(TABLE, lambda rows: cn.Dag([("a", "z")]), resamples=2),
            r"a graph of 'a', 'b', 'c', .* for `learner`, got 'z' as well",
        ),
        (lambda: STRENGTHS.averaged("x"), "from 0 to 1 for `threshold`, got 'x'"),
        (lambda: structure.compelled("x"), "a Dag for `dag`, got 'x'"),
    ],
)
def test_the_error_names_the_parameter(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_sizes_that_a_search_cannot_use_up_are_accepted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cn.hill_climb(TABLE, max_parents=10**20).dag == cn.hill_climb(TABLE).dag
        assert cn.kdb(TABLE, "a", k=10**20) == cn.kdb(TABLE, "a", k=2)
        assert cn.hill_climb({"a": [0, 1]}, restarts=2).dag.arcs == ()


def test_scores_need_only_the_columns_of_the_graph() -> None:
    table = {**TABLE, "weight": [0.5] * 12}
    assert cn.score(table, DAG) == cn.score(TABLE, DAG)
    with pytest.raises(cn.ColonnadeError, match="Column 'z': not in the table"):
        cn.score(TABLE, cn.Dag([("a", "z")]))


def test_one_row_has_no_folds() -> None:
    with pytest.raises(ColonnadeError, match="Table: one row cannot be divided into folds"):
        cn.compare({"a": [0], "b": [1]}, cn.hill_climb)
    found = cn.compare(TABLE, DAG, cn.BDeu(1), folds=np.int64(2))
    assert found.folds == 2
