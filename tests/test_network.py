"""Networks: fitting, scoring, sampling, learning more and forgetting, bad input."""

import itertools
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import (
    ColumnWarning,
    CountsError,
    DataError,
    InputError,
    NotSupportedError,
    TooManyStatesError,
)
from colonnade.files import load
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.structure import score
from colonnade.tables import discretize
from colonnade.tables.memory import encode
from colonnade.variables import Family, Variable
from drawn_networks import SMALL, SMALL_DAG, dags, plain_names

PRIORS = [
    Hierarchical(),
    Hierarchical(s="learn"),
    BDeu(2),
    SymmetricDirichlet(),
    MaximumLikelihood(),
]


@st.composite
def variables(draw, names):
    kinds = st.sampled_from([("a", "b"), (0, 1, 2), (False, True), ("only",)])
    return [Variable(name, draw(kinds)) for name in names]


def columns(rows, names):
    return {name: [row[name] for row in rows] for name in names}


@st.composite
def data(draw, missing=False):
    """A graph, its variables, and the rows of a table."""
    dag = draw(dags(plain_names, most=4))
    declared = draw(variables(dag.variables))
    gap = [None] if missing else []
    row = st.fixed_dictionaries({v.name: st.sampled_from([*gap, *v.states]) for v in declared})
    return dag, declared, draw(st.lists(row, max_size=12))


# -------------------------------------------------------------------- fitting


@given(data())
def test_tables_are_those_of_the_counts(drawn):
    dag, declared, rows = drawn
    table = columns(rows, dag.variables)
    priors = {name: PRIORS[k % len(PRIORS)] for k, name in enumerate(dag.variables)}
    network = fit(table, dag, variables=declared, per_variable=priors)
    for variable in declared:
        name = variable.name
        cpt = network[name]
        counts = np.zeros((cpt.family.configurations, variable.cardinality), dtype=int)
        for row in rows:
            place = cpt.family.configuration_index([row[p] for p in dag.parents(name)])
            counts[place, variable.index(row[name])] += 1
        counts = FamilyCounts.from_array(counts, cpt.family.parent_sizes)
        assert cpt == Cpt.of(cpt.family, counts, priors[name])


def random_frame(rows=200):
    rng = np.random.default_rng(11)
    a = rng.integers(0, 3, rows)
    b = (a + rng.integers(0, 2, rows)) % 3
    c = np.where(rng.random(rows) < 0.8, (a + b) % 2, rng.integers(0, 2, rows))
    return pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)


STATES = {"a": ["0", "1", "2"], "b": ["0", "1", "2", "3"], "c": ["0", "1"]}
ABC = Dag([("a", "b"), ("a", "c"), ("b", "c")])


def test_bdeu_tables_equal_those_of_pyagrum():
    import pyagrum

    frame = random_frame()
    network = fit(frame, ABC, BDeu(5), variables=STATES)
    template = pyagrum.BayesNet()
    for name, states in STATES.items():
        template.add(pyagrum.LabelizedVariable(name, name, states))
    learner = pyagrum.BNLearner(frame, template)
    learner.useBDeuPrior(5.0)
    graph = pyagrum.DAG()
    for node in range(3):
        graph.addNodeWithId(node)
    for parent, child in ABC.arcs:
        graph.addArc("abc".index(parent), "abc".index(child))
    learned = learner.learnParameters(graph)
    for name in ABC.variables:
        family = network[name].family
        for place in range(family.configurations):
            given = dict(zip(ABC.parents(name), family.configuration(place), strict=True))
            row = learned.cpt(name)[given] if given else learned.cpt(name)[:]
            np.testing.assert_allclose(network[name].table.row(place), row, rtol=1e-12)


def test_bdeu_tables_equal_those_of_pgmpy():
    with warnings.catch_warnings():
        # pgmpy announces that parts of it will move.
        warnings.simplefilter("ignore", FutureWarning)
        from pgmpy.estimators import BayesianEstimator
        from pgmpy.models import DiscreteBayesianNetwork

        frame = random_frame()
        model = DiscreteBayesianNetwork(list(ABC.arcs))
        estimator = BayesianEstimator(model, frame, state_names=STATES)
        learned = {
            name: estimator.estimate_cpd(name, prior_type="BDeu", equivalent_sample_size=5)
            for name in ABC.variables
        }
    network = fit(frame, ABC, BDeu(5), variables=STATES)
    for name, cpd in learned.items():
        family = network[name].family
        for place in range(family.configurations):
            given = dict(zip(ABC.parents(name), family.configuration(place), strict=True))
            for state, value in zip(
                family.child.states, network[name].table.row(place), strict=True
            ):
                assert cpd.get_value(**{name: state}, **given) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "kind", ["pandas", "categories", "polars", "arrow", "arrays", "coded", "structured"]
)
def test_every_kind_of_table_gives_the_same_network(kind):
    frame = random_frame(50)
    table = {
        "pandas": lambda: frame,
        "categories": lambda: frame.astype("category"),
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pl.from_pandas(frame).to_arrow(),
        "arrays": lambda: (frame.to_numpy(dtype=str), list(frame.columns)),
        "coded": lambda: encode(frame, STATES),
        "structured": lambda: np.array(
            [tuple(row) for row in frame.to_numpy()], dtype=[(n, "U1") for n in frame]
        ),
    }[kind]()
    network = fit(table, ABC, variables=STATES)
    assert network == fit(frame.to_dict("list"), ABC, variables=STATES)
    assert network.log_likelihood(table).tolist() == network.log_likelihood(frame).tolist()
    assert network.update(table).forget(table) == network


def test_the_default_prior_is_hierarchical_and_single_variables_have_their_own():
    network = fit(SMALL, SMALL_DAG, per_variable={"age": BDeu(3)})
    assert network.priors == {"age": BDeu(3), "cancer": Hierarchical(), "smoker": Hierarchical()}
    with pytest.raises(InputError, match=r"names of variables.*got \['height'\]"):
        fit(SMALL, SMALL_DAG, per_variable={"height": BDeu(3)})
    with pytest.raises(InputError, match="a prior for 'age'"):
        fit(SMALL, SMALL_DAG, per_variable={"age": 3})
    with pytest.raises(InputError, match="mapping of names to priors"):
        fit(SMALL, SMALL_DAG, per_variable=[BDeu()])
    with pytest.raises(InputError, match="a prior"):
        fit(SMALL, SMALL_DAG, "bdeu")


def test_columns_outside_the_graph_are_no_part_of_the_network():
    table = {**SMALL, "income": [0.5] * 6, "born": [object()] * 6}
    assert fit(table, SMALL_DAG) == fit(SMALL, SMALL_DAG)
    assert fit(pd.DataFrame(table), SMALL_DAG) == fit(SMALL, SMALL_DAG)


def test_states_declared_and_discovered():
    declared = [Variable("age", ["young", "middle", "old"])]
    network = fit(SMALL, SMALL_DAG, variables=declared)
    assert network["age"].family.child == declared[0]
    assert network["cancer"].family.parents[0] == declared[0]
    assert network["cancer"].family.child.states == (False, True)
    assert network == fit(SMALL, SMALL_DAG, variables={"age": ["young", "middle", "old"]})
    with pytest.raises(InputError, match=r"variables of the graph.*got \['height'\]"):
        fit(SMALL, SMALL_DAG, variables={"height": ["low", "high"]})
    with pytest.raises(InputError, match="only Variable objects"):
        fit(SMALL, SMALL_DAG, variables=["age"])
    with pytest.raises(InputError, match="different names"):
        fit(SMALL, SMALL_DAG, variables=[*declared, *declared])
    with pytest.raises(InputError, match="a list of Variable"):
        fit(SMALL, SMALL_DAG, variables=declared[0])
    with pytest.raises(DataError, match="Column 'age': state 'old'"):
        fit(SMALL, SMALL_DAG, variables={"age": ["young"]})


def test_weights_by_column_and_by_array():
    times = [1, 3, 2, 1, 0, 1]
    repeated = {
        n: [v for v, k in zip(c, times, strict=True) for _ in range(k)] for n, c in SMALL.items()
    }
    wanted = fit(repeated, SMALL_DAG)
    assert fit(SMALL, SMALL_DAG, weights=times) == wanted
    assert fit({**SMALL, "n": times}, SMALL_DAG, weights="n") == wanted
    assert fit(pd.DataFrame({**SMALL, "n": times}), SMALL_DAG, weights="n") == wanted
    with pytest.raises(InputError, match="no variable of the graph"):
        fit(SMALL, SMALL_DAG, weights="age")
    with pytest.raises(DataError, match="Column 'n': not in the table"):
        fit(SMALL, SMALL_DAG, weights="n")
    with pytest.raises(DataError, match="negative"):
        fit(SMALL, SMALL_DAG, weights=[-1] * 6)


def test_missing_values_are_refused_with_their_places():
    table = {
        **SMALL,
        "age": [None, None, *SMALL["age"][2:]],
        "smoker": [*SMALL["smoker"][:5], None],
    }
    with pytest.raises(DataError, match=r"^Columns 'age' \(2\), 'smoker' \(1\): values ") as caught:
        fit(table, SMALL_DAG)
    assert caught.value.columns == {"age": 2, "smoker": 1}
    with pytest.raises(InputError, match="missing"):
        fit(table, SMALL_DAG, missing="drop")


def test_each_family_uses_the_rows_that_are_complete_for_it():
    table = {"a": [0, None, 1, 1], "b": [0, 1, None, 1], "c": [None, 1, 1, 0]}
    network = fit(table, Dag([("a", "b"), ("b", "c")]), missing="available")
    assert network["a"].counts.to_array().tolist() == [[1, 2]]
    assert network["b"].counts.to_array().tolist() == [[1, 0], [0, 1]]
    assert network["c"].counts.to_array().tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("prior", [Hierarchical(), BDeu(1), Hierarchical(s="learn")])
def test_too_many_states_are_refused_before_the_work(prior) -> None:
    name = r"Variable 'id': .* pool of 20,000 states .* identifier"
    with pytest.warns(ColumnWarning, match=r"Column 'id' \(20,000 different values in 20,000 rows"):
        coded = encode({"id": np.arange(20_000)})
    for missing in ("raise", "em"):
        with pytest.raises(TooManyStatesError, match=name) as caught:
            fit(coded, Dag([], ["id"]), prior, missing=missing)
        assert caught.value.states == 20_000
    if prior == Hierarchical(s="learn"):  # the others have a formula for the score
        with pytest.raises(TooManyStatesError, match=name):
            score(coded, Dag([], ["id"]), prior)


def test_observed_numbers_of_a_variable_that_was_cut() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=100)
    network = fit(discretize({"x": x, "y": x > 0.2}), Dag([("y", "x")]))
    cuts = network.discretizer.columns[0]
    for number in (-9, 0.3, np.float32(0.1), np.int64(9)):
        state = cuts.states[int(cuts.codes(np.array([float(number)]))[0])]
        asked = network.query("y", {"x": number})
        assert asked.observed == {"x": state}
        wanted = network.query("y", {"x": state}).probabilities
        np.testing.assert_array_equal(asked.probabilities, wanted)
    with pytest.raises(DataError, match="nan"):
        network.query("y", {"x": np.nan})


@pytest.mark.parametrize("states", ["yes", 3, Variable("a", ["y"])])
def test_declared_states_are_lists(states) -> None:
    with pytest.raises(InputError, match="a list of states for 'a'"):
        fit({"a": ["y", "e"]}, Dag([], ["a"]), variables={"a": states})


def test_a_constant_column():
    network = fit({**SMALL, "sex": ["f"] * 6}, Dag([("sex", "age"), ("age", "cancer")]))
    assert network["sex"].probabilities.tolist() == [[1.0]]
    plain = fit(SMALL, Dag([("age", "cancer")]))
    rows = {**SMALL, "sex": ["f"] * 6}
    np.testing.assert_allclose(network.log_likelihood(rows), plain.log_likelihood(SMALL))


def test_an_empty_table():
    empty = {name: [] for name in SMALL}
    for table in (empty, pd.DataFrame(empty)):
        with pytest.raises(DataError, match="Table: it has no rows"):
            fit(table, SMALL_DAG)
    declared = {"age": ["young", "old"], "smoker": ["no", "yes"], "cancer": [False, True]}
    network = fit(empty, SMALL_DAG, variables=declared)
    np.testing.assert_allclose(network["cancer"].probabilities, 0.5)
    assert network.update(SMALL) == fit(SMALL, SMALL_DAG, variables=declared)


def test_bad_graphs_and_tables():
    with pytest.raises(DataError, match=r"Column 'height': not in the table, which has 'age'"):
        fit(SMALL, Dag([("height", "cancer")]))
    with pytest.raises(InputError, match="a Dag"):
        fit(SMALL, [("age", "cancer")])
    with pytest.raises(InputError, match="at least one variable"):
        fit(SMALL, Dag([]))
    with pytest.raises(DataError, match="'age': the name occurs 2 times"):
        fit(
            pd.DataFrame([["old", "old", "no"]], columns=["age", "age", "smoker"]),
            Dag([("age", "smoker")]),
        )
    with pytest.raises(DataError, match=r"Column 'w': floating-point.*discretize\(table\)"):
        fit({"w": [0.5, 0.25]}, Dag([], ["w"]))


def test_cut_points_stay_with_the_network():
    rng = np.random.default_rng(5)
    x = rng.normal(size=80)
    table = {"x": x, "y": np.where(x > 0, "up", "down"), "z": rng.normal(size=80)}
    cut = discretize(table, bins=4)
    network = fit(cut, Dag([("x", "y")]))
    # Only what the network needs, and new numbers are cut where the old ones were.
    assert [column.name for column in network.discretizer.columns] == ["x"]
    fresh = {"x": [-9.0, 0.1, 9.0], "y": ["down", "up", "up"]}
    named = {"x": cut.discretizer.apply({**fresh, "z": [0.0] * 3})["x"], "y": fresh["y"]}
    assert network.log_likelihood(fresh).tolist() == network.log_likelihood(named).tolist()
    assert network.update(table).forget(cut) == network
    assert network.discretizer == network.update(table).discretizer
    assert network != BayesianNetwork(network.dag, network.tables)
    assert fit(cut, Dag([], ["y"])).discretizer is None
    # A coded table may have been cut in more columns than the network has.
    coded = encode(cut)
    assert fit(coded, Dag([("x", "y")])) == network
    assert network.log_likelihood(coded).tolist() == network.log_likelihood(table).tolist()
    with pytest.raises(InputError, match="the same cut points"):
        network.merge(fit(discretize(table, bins=3), Dag([("x", "y")])))


# ----------------------------------------------------------- learning more


@given(data(), st.sampled_from(PRIORS), st.data())
def test_learning_in_parts_is_learning_at_once(drawn, prior, more):
    dag, declared, rows = drawn
    cut = more.draw(st.integers(0, len(rows)))
    first, second = (columns(part, dag.variables) for part in (rows[:cut], rows[cut:]))
    whole = fit(columns(rows, dag.variables), dag, prior, variables=declared)
    here = fit(first, dag, prior, variables=declared)
    there = fit(second, dag, prior, variables=declared)
    assert here.update(second) == whole
    assert here.merge(there) == whole
    assert here + there == there + here
    assert whole.forget(second) == here
    assert here.update(second).forget(second) == here
    assert here.update(first, weights=np.full(cut, 2)).forget(first, weights=[2] * cut) == here


@given(data(missing=True))
def test_learning_rows_that_lack_values(drawn):
    dag, declared, rows = drawn
    table = columns(rows, dag.variables)
    empty = fit({name: [] for name in dag.variables}, dag, variables=declared)
    network = empty.update(table, missing="available")
    assert network == fit(table, dag, variables=declared, missing="available")
    assert network.forget(table, missing="available") == empty


def test_fractional_weights_are_forgotten_to_rounding():
    network = fit(SMALL, SMALL_DAG)
    weights = np.random.default_rng(0).random(6)
    back = network.update(SMALL, weights).forget(SMALL, weights)
    for name in network:
        np.testing.assert_allclose(
            back[name].probabilities, network[name].probabilities, rtol=1e-12
        )


def test_what_was_never_learned_cannot_be_forgotten():
    network = fit(SMALL, SMALL_DAG)
    rows = {"age": ["old"] * 9, "smoker": ["no"] * 9, "cancer": [True] * 9}
    message = "Variable 'age': cannot take 9 from 3 counts of state 'old'"
    with pytest.raises(CountsError, match=message) as caught:
        network.forget(rows)
    assert caught.value.state == 0
    few = fit({"age": ["old"] * 3, "smoker": ["yes", "no", "no"]}, Dag([("age", "smoker")]))
    with pytest.raises(CountsError, match=r"1 count of state 'yes' given age = 'old'"):
        few.forget({"age": ["old"] * 2, "smoker": ["yes"] * 2})
    with pytest.raises(DataError, match=r"^Column 'smoker': the value is missing in 1 of 1 row\."):
        network.update({"age": ["old"], "smoker": [None], "cancer": [True]})
    with pytest.raises(DataError, match="Column 'cancer': not in the table"):
        network.update({"age": ["old"], "smoker": ["no"]})


def test_only_networks_of_one_structure_merge():
    network = fit(SMALL, SMALL_DAG)
    for other, what in (
        (fit(SMALL, Dag([("age", "cancer")], ["age", "cancer", "smoker"])), "graph"),
        (fit(SMALL, SMALL_DAG, variables={"age": ["old", "young", "new"]}), "states"),
        (fit(SMALL, SMALL_DAG, BDeu(1)), "priors"),
    ):
        with pytest.raises(InputError, match=f"the same {what}"):
            network.merge(other)
    with pytest.raises(InputError, match="a BayesianNetwork"):
        network.merge(3)
    with pytest.raises(TypeError):
        _ = network + 3


def test_the_order_of_variables_makes_no_difference():
    network = fit(SMALL, SMALL_DAG)
    backwards = fit(SMALL, Dag(SMALL_DAG.arcs, SMALL_DAG.variables[::-1]))
    assert list(backwards) == list(network)[::-1]
    assert backwards == network
    assert network + backwards == network.update(SMALL)
    assert backwards + network == network + backwards


def test_known_tables_do_not_learn():
    coin = Family(Variable("coin", ["heads", "tails"]))
    network = BayesianNetwork(Dag([], ["coin"]), {"coin": Cpt.known(coin, [0.5, 0.5])})
    assert network.priors == {"coin": None}
    for learn in (network.update, network.forget):
        with pytest.raises(NotSupportedError, match="'coin' was given and has no counts"):
            learn({"coin": ["heads"]})
    with pytest.raises(NotSupportedError, match="merge"):
        network.merge(network)


# ------------------------------------------------------------------- sampling


def test_samples_follow_the_tables():
    network = fit(SMALL, SMALL_DAG)
    drawn = network.sample(40_000, rng=1)
    assert list(drawn) == list(network)
    keys = list(zip(*(drawn[name].tolist() for name in network), strict=True))
    for states in itertools.product(*(v.states for v in network.variables)):
        row = {name: [state] for name, state in zip(network, states, strict=True)}
        share = math.exp(network.log_likelihood(row)[0])
        # Five standard deviations: one false alarm in a million, for eight cells.
        assert abs(keys.count(states) / 40_000 - share) < 5 * math.sqrt(share / 40_000)


def test_samples_keep_the_types_of_states_and_can_be_fitted():
    table = {"s": ["a", "b"], "i": [3, 5], "b": [True, False], "n": ["x\x00", "é"]}
    table |= {"h": [2**70, 1], "m": [2**63, -1]}
    network = fit(table, Dag([], list(table)))
    drawn = network.sample(50, rng=2)
    for variable in network.variables:
        column = drawn[variable.name].tolist()
        assert set(column) == set(variable.states)
        assert {type(state) for state in column} == {type(state) for state in variable.states}
    assert fit(drawn, network.dag).variables == network.variables
    assert len(pd.DataFrame(drawn)) == 50


def test_samples_repeat_with_the_seed_and_never_show_the_impossible():
    network = fit(SMALL, SMALL_DAG, MaximumLikelihood("uniform"))
    one, two = network.sample(500, rng=3), network.sample(500, rng=np.random.default_rng(3))
    assert all((one[name] == two[name]).all() for name in network)
    assert np.isfinite(network.log_likelihood(one)).all()
    assert [len(column) for column in network.sample(0, rng=0).values()] == [0, 0, 0]
    for bad in (-1, 2.5, True, "3"):
        with pytest.raises(InputError, match="an integer of at least 0"):
            network.sample(bad)


def test_a_sample_that_needs_probabilities_nobody_has():
    table = {"a": [0, 1, 0, 1], "b": [0, 1, 0, 1], "c": [0, 1, 0, 1]}
    network = fit(table, Dag([("a", "c"), ("b", "c")]), MaximumLikelihood())
    with pytest.raises(DataError, match=r"Variable 'c': no probabilities given a = ") as caught:
        network.sample(200, rng=0)
    assert caught.value.configuration in {(0, 1), (1, 0)}


# --------------------------------------------------------------------- sparse


def test_ten_parents_with_twenty_states_each():
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(10)]
    known = [Variable(name, range(20)) for name in [*names, "x"]]
    dag = Dag([(name, "x") for name in names], [*names, "x"])
    table = {variable.name: rng.integers(0, 20, 5000) for variable in known}
    for prior in PRIORS:
        network = fit(table, dag, prior, variables=known)
        assert network["x"].table.rows.shape == (5000, 20)
        values = network.log_likelihood(table)
        first = tuple(int(table[name][0]) for name in names)
        wanted = math.log(network["x"].table.row(first)[table["x"][0]])
        wanted += sum(math.log(network[n].table.row(0)[table[n][0]]) for n in names)
        assert values[0] == pytest.approx(wanted)
        assert network.update(table).forget(table) == network
        assert len(repr(network)) + len(network._repr_html_()) < 40_000
    gaps = {name: column.tolist() for name, column in table.items()}
    gaps["p3"][0] = gaps["p7"][0] = None
    value = fit(table, dag, variables=known).log_likelihood({n: c[:1] for n, c in gaps.items()})
    assert np.isfinite(value).all()


# --------------------------------------------------------------------- object


def test_a_network_is_checked():
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    dag = Dag([("a", "b")])
    tables = {
        "a": Cpt.known(Family(a), [0.5, 0.5]),
        "b": Cpt.known(Family(b, (a,)), [[0.5, 0.5]] * 2),
    }
    network = BayesianNetwork(dag, tables)
    assert network["b"] is tables["b"]
    other = Cpt.known(Family(b, (Variable("a", [0, 1, 2]),)), [[0.5, 0.5]] * 3)
    for wrong in (
        {"a": tables["a"]},
        {**tables, "c": tables["a"]},
        {"a": tables["a"], "b": tables["a"]},
        {"a": tables["a"], "b": Cpt.known(Family(b), [0.5, 0.5])},
        {"a": tables["a"], "b": other},
        {"a": tables["a"], "b": 3},
        [tables["a"]],
    ):
        with pytest.raises(InputError, match="tables"):
            BayesianNetwork(dag, wrong)
    with pytest.raises(InputError, match="a Dag"):
        BayesianNetwork([("a", "b")], tables)
    with pytest.raises(InputError, match=r"one of 'a', 'b'"):
        network["c"]
    with pytest.raises(TypeError):
        network.tables["a"] = tables["b"]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_equality_and_pickle(prior):
    network = fit(SMALL, SMALL_DAG, prior)
    assert pickle.loads(pickle.dumps(network)) == network
    assert network != network.update(SMALL)
    assert network != "network"


def test_questions_agree_with_brute_force():
    network = fit(SMALL, SMALL_DAG)
    joint = {
        states: math.exp(
            network.log_likelihood({n: [s] for n, s in zip(network, states, strict=True)})[0]
        )
        for states in itertools.product(*(v.states for v in network.variables))
    }
    given = {states: p for states, p in joint.items() if states[2] == "yes"}
    wanted = sum(p for states, p in given.items() if states[1] is True) / sum(given.values())
    assert network.query("cancer", {"smoker": "yes"})[True] == pytest.approx(wanted)
    best = network.most_probable({"smoker": "yes"})
    assert tuple(best.states.values()) == max(given, key=given.get)
    assert best.log_probability == pytest.approx(math.log(max(given.values())))
    drawn = network.query("cancer", {"smoker": "yes"}, draws=100, level=0.5, rng=1)
    assert repr(drawn) == repr(
        network.query("cancer", {"smoker": "yes"}, draws=100, level=0.5, rng=1)
    )


def test_shown_with_singular_and_plural():
    single = fit({"x": ["a"]}, Dag([], ["x"]))
    assert repr(single).startswith("BayesianNetwork(1 variable, 0 arcs, 1 probability stored)")


def test_saved_and_loaded(tmp_path):
    gaps = {**SMALL, "age": ["old", None, "young", None, "old", None]}
    filled = fit(gaps, SMALL_DAG, BDeu(), missing="em")
    filled.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == filled
    with pytest.raises(InputError, match="overwrite"):
        filled.save(tmp_path / "model.json")
    network = fit(SMALL, SMALL_DAG)
    network.save(tmp_path / "model.json", overwrite=True)
    assert load(tmp_path / "model.json") == network


def test_handed_to_other_packages():
    network = fit(SMALL, SMALL_DAG)
    other = network.to_pyagrum()
    family = network["cancer"].family
    for place in range(4):
        given = dict(zip(("age", "smoker"), family.configuration(place), strict=True))
        row = network["cancer"].table.row(place)
        assert other.cpt("cancer")[given].tolist() == pytest.approx(row.tolist())
    with warnings.catch_warnings():
        # pgmpy announces that parts of it will move.
        warnings.simplefilter("ignore", FutureWarning)
        model = network.to_pgmpy()
    assert set(model.edges()) == set(SMALL_DAG.arcs)
