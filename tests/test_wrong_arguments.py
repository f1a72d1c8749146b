"""Every argument of every public function, tried with what it cannot be: our errors, no others."""

import inspect
import math
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from colonnade.exceptions import DataError, InputError, TooLargeError
from colonnade.tables import encode

VALUES = [
    None,
    "x",
    -1,
    0,
    10**20,
    1.5,
    math.nan,
    [],
    {},
    (),
    b"x",
    object(),
    np.arange(3),
    "learn",
]
TABLE = {"a": ["u", "v", "u", "v"] * 5, "b": [0, 1, 1, 1] * 5, "c": [0.5, 1.5, 2.5, 3.5] * 5}
DISCRETE = {name: TABLE[name] for name in "ab"}
DAG = cn.Dag([("a", "b")])
NETWORK = cn.fit(DISCRETE, DAG)
CPT = NETWORK["b"]
COUNTS = cn.FamilyCounts.from_array([[3, 1], [0, 2]])
POSTERIOR = cn.Hierarchical().posterior(COUNTS)
FEATURES = pd.DataFrame({"a": TABLE["a"], "c": TABLE["c"]})
CLASSIFIER = cn.BayesianNetworkClassifier().fit(FEATURES, TABLE["b"])


def _fitted(**options):
    return cn.BayesianNetworkClassifier(**options).fit(FEATURES, TABLE["b"])


# What is called, and arguments with which it succeeds.
CALLS = {
    "Variable": (cn.Variable, {"name": "a", "states": ["u", "v"]}),
    "Family": (cn.Family, {"child": cn.Variable("a", [0, 1]), "parents": ()}),
    "Dag": (cn.Dag, {"arcs": [("a", "b")], "variables": ["a", "b"]}),
    "Dag.parents": (DAG.parents, {"name": "a"}),
    "Dag.children": (DAG.children, {"name": "a"}),
    "Dag.ancestors": (DAG.ancestors, {"names": ["a"]}),
    "Dag.with_arc": (DAG.with_arc, {"parent": "a", "child": "b"}),
    "Dag.without_arc": (DAG.without_arc, {"parent": "a", "child": "b"}),
    "Variable.index": (CPT.family.child.index, {"state": 1}),
    "configuration_index": (CPT.family.configuration_index, {"states": ["u"]}),
    "configuration": (CPT.family.configuration, {"index": 1}),
    "Cpt.of": (cn.Cpt.of, {"family": CPT.family, "counts": CPT.counts, "prior": cn.BDeu()}),
    "Cpt.known": (
        cn.Cpt.known,
        {"family": CPT.family, "probabilities": [[0.5, 0.5], [0.1, 0.9]]},
    ),
    "BayesianNetwork": (
        cn.BayesianNetwork,
        {"dag": DAG, "tables": {name: NETWORK[name] for name in NETWORK}},
    ),
    "Hierarchical": (cn.Hierarchical, {"s": 2.0, "alpha0": 1.0, "engine": None}),
    "Tiered": (cn.Tiered, {"alpha0": 1.0, "s_mean": 4.0}),
    "Hierarchical, learned": (cn.Hierarchical, {"s": "learn", "s_mean": 1.0}),
    "SymmetricDirichlet": (cn.SymmetricDirichlet, {"s": 2.0}),
    "BDeu": (cn.BDeu, {"ess": 2.0}),
    "MaximumLikelihood": (cn.MaximumLikelihood, {"unobserved": "nan"}),
    "Variational": (cn.Variational, {"tolerance": 1e-9, "iterations": 10}),
    "Reference": (
        cn.Reference,
        {"kind": "nuts", "draws": 80, "warmup": 10, "chains": 2, "seed": 1},
    ),
    "EM": (cn.EM, {"tolerance": 1e-9, "iterations": 10}),
    "estimate": (cn.Hierarchical().estimate, {"counts": [[1, 2]]}),
    "posterior": (cn.Hierarchical().posterior, {"counts": [[1, 2]]}),
    "log_evidence": (cn.BDeu().log_evidence, {"counts": [[1, 2]]}),
    "leave_one_out_score": (cn.BDeu().leave_one_out_score, {"counts": [[1, 2]]}),
    "FamilyCounts.from_array": (
        cn.FamilyCounts.from_array,
        {"counts": [[1, 2]], "parent_sizes": (1,)},
    ),
    "FamilyCounts.from_observed": (
        cn.FamilyCounts.from_observed,
        {"parent_sizes": (2,), "codes": [[0]], "values": [[1, 2]]},
    ),
    "FamilyCounts.row": (COUNTS.row, {"configuration": 0}),
    "FamilyCounts.to_array": (COUNTS.to_array, {"limit": 100}),
    "posterior.row": (POSTERIOR.row, {"configuration": 0}),
    "posterior.covariance": (POSTERIOR.covariance, {"y": 0, "y2": 1}),
    "posterior.interval": (POSTERIOR.interval, {"level": 0.9, "configurations": [0]}),
    "posterior.sample": (POSTERIOR.sample, {"n": 2, "rng": 1}),
    "posterior.sample_alpha": (POSTERIOR.sample_alpha, {"n": 2, "rng": 1}),
    "posterior.draws": (POSTERIOR.draws, {"n": 2, "rng": 1, "pools": 1}),
    "posterior.sample_rows": (POSTERIOR.sample_rows, {"rows": [[1, 2]], "n": 2, "rng": 1}),
    "posterior.with_limit": (POSTERIOR.with_limit, {"limit": 100}),
    "strength.interval": (
        cn.Hierarchical(s="learn").posterior([[3, 1]]).strength.interval,
        {"level": 0.9},
    ),
    "fit": (
        cn.fit,
        {
            "table": DISCRETE,
            "dag": DAG,
            "prior": cn.BDeu(),
            "variables": None,
            "weights": None,
            "missing": "raise",
            "per_variable": None,
        },
    ),
    "network[]": (NETWORK.__getitem__, {"name": "a"}),
    "log_likelihood": (NETWORK.log_likelihood, {"table": DISCRETE, "unknown": "raise"}),
    "sample": (NETWORK.sample, {"n": 3, "rng": 1}),
    "update": (NETWORK.update, {"table": DISCRETE, "weights": None, "missing": "raise"}),
    "forget": (NETWORK.forget, {"table": DISCRETE, "weights": None, "missing": "raise"}),
    "merge": (NETWORK.merge, {"other": NETWORK}),
    "query": (
        NETWORK.query,
        {"target": "b", "observed": {"a": "u"}, "draws": 100, "level": 0.9, "rng": 1},
    ),
    "most_probable": (NETWORK.most_probable, {"observed": {"a": "u"}}),
    "classifier": (
        _fitted,
        {
            "structure": "kdb",
            "prior": None,
            "bins": 3,
            "unknown": "missing",
            "k": 1,
            "classes": [0, 1],
            "target_name": "class",
        },
    ),
    "classifier, tree": (_fitted, {"structure": "tan", "root": "a"}),
    "classifier, search": (_fitted, {"structure": "hill_climb", "structure_score": cn.BIC()}),
    "partial_fit": (
        cn.BayesianNetworkClassifier().partial_fit,
        {"X": FEATURES, "y": TABLE["b"], "classes": [0, 1], "sample_weight": None},
    ),
    "save": (NETWORK.save, {"path": "", "overwrite": False}),
    "predict_interval": (
        CLASSIFIER.predict_interval,
        {"X": FEATURES[:3], "level": 0.9, "draws": 100, "rng": 1},
    ),
    "encode": (
        encode,
        {
            "table": DISCRETE,
            "variables": None,
            "weights": None,
            "unknown": "raise",
            "discretizer": None,
            "columns": None,
        },
    ),
    "discretize": (
        cn.discretize,
        {"table": TABLE, "bins": 3, "strategy": "quantile", "columns": None, "weights": None},
    ),
    "read": (cn.read, {"path": "nowhere.csv"}),
    "load": (cn.load, {"path": "nowhere.json"}),
    "mse_ideal": (
        cn.theory.mse_ideal,
        {"alpha": [0.5, 0.5], "s": 2.0, "n": 3, "weight": 0.5},
    ),
    "mse_bayesian": (
        cn.theory.mse_bayesian,
        {"alpha": [0.5, 0.5], "s": 2.0, "n": 3, "weight": 0.5},
    ),
    "mse_maximum_likelihood": (
        cn.theory.mse_maximum_likelihood,
        {"alpha": [0.5, 0.5], "s": 2.0, "n": 3},
    ),
}
# Rows and labels are checked by scikit-learn, whose errors its users know.
FOREIGN = {
    ("predict_interval", "X"),
    *(("partial_fit", argument) for argument in ("X", "y", "sample_weight")),
}


@pytest.mark.parametrize(
    ("label", "argument"),
    [
        (label, argument)
        for label, (_, arguments) in CALLS.items()
        for argument in arguments
        if (label, argument) not in FOREIGN
    ],
)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:12].replace(" object", ""))
def test_a_wrong_argument_is_our_error(label, argument, value):
    function, arguments = CALLS[label]
    assert set(arguments) <= set(inspect.signature(function).parameters) or function is _fitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(cn.ColonnadeError):
            function(**{**arguments, argument: value})


# --------------------------------------------------- what was once a foreign error, in words


@pytest.mark.parametrize("y", [[0.0, math.nan, 1.0], ["u", None, "v"], pd.array([1, pd.NA, 0])])
def test_missing_labels_are_said_to_be_in_y(y):
    with pytest.raises(DataError, match=r"`y`: 1 label missing, the first in row 2 \(counted"):
        cn.BayesianNetworkClassifier().fit(FEATURES[:3], y)


def test_a_dictionary_of_columns_is_no_table_for_the_classifier():
    for call in (lambda x: cn.BayesianNetworkClassifier().fit(x, TABLE["b"]), CLASSIFIER.predict):
        with pytest.raises(InputError, match="got 2 columns in a dict") as caught:
            call({"a": TABLE["a"], "c": TABLE["c"]})
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("n", [10**12, 10**20])
def test_samples_too_large_to_hold_are_refused_at_once(n):
    for sample in (NETWORK.sample, POSTERIOR.sample, POSTERIOR.sample_alpha, POSTERIOR.draws):
        with pytest.raises(TooLargeError, match="A sample of") as caught:
            sample(n)
        assert caught.value.size >= 2 * n
        assert caught.value.hint


@pytest.mark.parametrize("draws", [1, 99, 1_000_001, 10**20, 100.0, True])
def test_numbers_of_draws_have_limits(draws):
    for ask in (
        lambda: NETWORK.query("b", draws=draws),
        lambda: CLASSIFIER.predict_interval(FEATURES[:2], draws=draws),
    ):
        with pytest.raises(InputError, match="an integer from 100 to 1,000,000 for `draws`"):
            ask()


@pytest.mark.filterwarnings("ignore")
def test_answers_of_many_draws_too_large_to_hold_are_refused():
    wide = {name: list(range(200)) for name in "ab"}
    network = cn.fit(wide, DAG, cn.BDeu())
    with pytest.raises(TooLargeError, match="answers of all draws"):
        network.query(["a", "b"], draws=100_000)


@pytest.mark.parametrize("rng", ["x", -1, 1.5, object()])
def test_a_wrong_generator_is_named(rng):
    for draw in (
        lambda: NETWORK.sample(2, rng=rng),
        lambda: NETWORK.query("b", draws=100, rng=rng),
        lambda: POSTERIOR.sample(2, rng=rng),
        lambda: CLASSIFIER.predict_interval(FEATURES[:2], rng=rng),
    ):
        with pytest.raises(InputError, match="a Generator or None for `rng`"):
            draw()


N, M = cn.Variable("n", ["no", "yes"]), cn.Variable("m", ["no", "yes"])
TABLES = {"n": cn.Cpt.known(cn.Family(N), [0.5, 0.5])}


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (cn.Family(M), "the parents of the graph, 'n', in the table of 'm'.*got none.*lacks 'n'"),
        (cn.Family(M, (N, cn.Variable("k", [0, 1]))), "got 'n', 'k'.*'k' must go, or get an arc"),
        (
            cn.Family(M, (cn.Variable("n", ["no", "maybe"]),)),
            "the states 'no', 'yes' of 'n' in the table of 'm'.*got 'no', 'maybe'",
        ),
        (cn.Family(cn.Variable("k", [0, 1])), "the table of 'm' under its name.*got that of 'k'"),
    ],
)
def test_a_table_of_another_family_is_told_how_it_differs(family, message):
    cpt = cn.Cpt.known(family, np.full((family.configurations, 2), 0.5))
    with pytest.raises(InputError, match=message):
        cn.BayesianNetwork(cn.Dag([("n", "m")]), {**TABLES, "m": cpt})


def test_parents_in_another_order():
    parents = (N, cn.Variable("k", [0, 1]))
    wrong = cn.Cpt.known(cn.Family(M, parents[::-1]), np.full((4, 2), 0.5))
    tables = {**TABLES, "k": cn.Cpt.known(cn.Family(parents[1]), [0.5, 0.5]), "m": wrong}
    with pytest.raises(
        InputError, match=r"got 'k', 'n'\. Hint: put them in the order of the graph"
    ):
        cn.BayesianNetwork(cn.Dag([("n", "m"), ("k", "m")]), tables)


def test_networks_of_other_states_are_told_which():
    other = cn.fit({"a": DISCRETE["a"], "b": [0, 2, 2, 2] * 5}, DAG)
    with pytest.raises(InputError, match="the same states of 'b', 0, 1, for `other`, got 0, 2"):
        NETWORK.kl(other)
    other = cn.fit({"a": DISCRETE["a"], "d": DISCRETE["b"]}, cn.Dag([("a", "d")]))
    with pytest.raises(InputError, match="got one without 'b' and with 'd'"):
        NETWORK.kl(other)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: cn.discretize(TABLE, bins={"nope": 3}), "Column 'nope': .*Hint: `bins` names it"),
        (lambda: cn.discretize(TABLE, weights="zz"), "Column 'zz': .*Hint: `weights` names it"),
        (lambda: cn.fit(DISCRETE, DAG, weights="zz"), "Column 'zz': .*Hint: `weights` names it"),
        (lambda: cn.fit(DISCRETE, DAG, group="zz"), "Column 'zz': .*Hint: `group` names it"),
        (lambda: cn.fit(DISCRETE, cn.Dag([("a", "zz")])), "Column 'zz': .*Hint: `dag` names it"),
        (lambda: cn.fit(DISCRETE, cn.Dag([("a", "B")])), "Column 'B': .*did you mean 'b'"),
        (lambda: cn.tables.Cuts("age", [40, 30, 30]), r"Hint: write \[30.0, 40.0\]"),
        (lambda: cn.Cpt.known(cn.Family(M, (N,)), [[0.5, 0.5]]), "Hint: give 2 rows, one per con"),
        (lambda: cn.hill_climb(DISCRETE, "bic"), r"Hint: write score=BIC\(\)"),
        (
            lambda: cn.hill_climb(DISCRETE, required=[("a", "b")], forbidden=[("a", "b")]),
            "Hint: take it out of one of the two lists",
        ),
        (
            lambda: cn.hill_climb(DISCRETE, required=[("a", "b")], tiers=[["b"], ["a"]]),
            "Hint: leave it out, or put 'a' in an earlier tier than 'b'",
        ),
        (lambda: cn.hill_climb(DISCRETE, tiers=[["a"], ["a"]]), "Hint: leave it in one of them"),
        (lambda: NETWORK.impute(DISCRETE, "median"), "Hint: 'mean' averages integers"),
        (lambda: NETWORK.most_probable(["a", "b"]), r"most_probable\(target=\['a', 'b'\]\)"),
        (lambda: NETWORK.most_probable("a"), r"most_probable\(target='a'\)"),
    ],
)
def test_errors_say_who_is_meant_and_what_would_help(ask, message):
    with pytest.raises(cn.ColonnadeError, match=message):
        ask()
