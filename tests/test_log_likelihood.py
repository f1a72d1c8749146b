"""Log likelihood of rows, complete or not, against sums over all states and against pyAgrum."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import DataError, InputError
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import MaximumLikelihood
from colonnade.tables.coded import CodedTable
from colonnade.variables import Variable
from drawn_networks import SMALL, SMALL_DAG, networks, plain_names, states


def completions(network, row):
    """All rows that agree with the values a row has."""
    choices = [
        variable.states if row[variable.name] is None else (row[variable.name],)
        for variable in network.variables
    ]
    for row in itertools.product(*choices):
        yield dict(zip(network.dag.variables, row, strict=True))


def places(network, row):
    """The variables, each with the configuration of its parents in a complete row."""
    for name, cpt in network.tables.items():
        parents = [row[parent.name] for parent in cpt.family.parents]
        yield name, cpt.family.configuration_index(parents)


def probability(network, row, tables):
    """Probability of a complete row: the product of one entry a table."""
    return math.prod(
        tables[name][place, network[name].family.child.index(row[name])]
        for name, place in places(network, row)
    )


def undefined_parts(network, row):
    """Whether a completion uses a row without probabilities, of a variable that matters."""
    matters = network.dag.ancestors([name for name in network if row[name] is not None])
    return any(
        np.isnan(network[name].table.row(place)[0])
        for each in completions(network, row)
        for name, place in places(network, each)
        if name in matters
    )


def brute_force(network, row, rng):
    """Log probability by summing over all completions; NaN if it depends on undefined rows.

    Undefined rows are filled with random distributions, twice: what changes depends on them.
    """
    answers = []
    for _ in range(2):
        tables = {name: cpt.probabilities for name, cpt in network.tables.items()}
        for table in tables.values():
            gone = np.isnan(table[:, 0])
            table[gone] = rng.dirichlet(np.ones(table.shape[1]), size=int(gone.sum()))
        rows = completions(network, row)
        answers.append(math.fsum(probability(network, each, tables) for each in rows))
    if not math.isclose(*answers, rel_tol=1e-9):
        return math.nan
    return math.log(answers[0]) if answers[0] else -math.inf


@st.composite
def rows_of(draw, network, most=6):
    row = st.fixed_dictionaries(
        {v.name: st.sampled_from([None, *v.states]) for v in network.variables}
    )
    return draw(st.lists(row, min_size=1, max_size=most))


@given(networks(plain_names, states=states(3)), st.data())
@settings(max_examples=200)
def test_log_likelihood_against_brute_force(network, data):
    rows = data.draw(rows_of(network))
    rng = np.random.default_rng(0)
    wanted = [brute_force(network, row, rng) for row in rows]
    found = network.log_likelihood({name: [row[name] for row in rows] for name in network})
    # Where what does not exist cancels out, NaN is as good: it was part of the sum.
    for k, row in enumerate(rows):
        if np.isnan(found[k]) and undefined_parts(network, row):
            wanted[k] = np.nan
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_unknown_states_of_all_columns_are_named() -> None:
    network = fit({"a": ["x", "y"], "b": [1, 2], "c": ["u", "u"]}, Dag([("a", "b")], ["c"]))
    rows = {"a": ["q", "q", "x"], "b": [9, 1, 1], "c": ["u", "u", "u"]}
    with pytest.raises(DataError) as caught:
        network.log_likelihood(rows)
    assert str(caught.value) == (
        "Column 'a': state 'q' (2 rows) is not one of 'x', 'y'. "
        "Column 'b': state 9 (1 row) is not one of 1, 2. "
        "Hint: correct them, or take them as missing with unknown='missing'."
    )
    assert caught.value.columns == {"a": {"q": 2}, "b": {9: 1}}


def gum_network(network):
    """The same network in pyAgrum, written out here: our own translation is not to be trusted."""
    import pyagrum

    other = pyagrum.BayesNet()
    for variable in network.variables:
        labels = [f"s{k}" for k in range(variable.cardinality)]
        other.add(pyagrum.LabelizedVariable(variable.name, variable.name, labels))
    for arc in network.dag.arcs:
        other.addArc(*arc)
    for name, cpt in network.tables.items():
        for place in range(cpt.family.configurations):
            given = {
                parent.name: parent.index(state)
                for parent, state in zip(
                    cpt.family.parents, cpt.family.configuration(place), strict=True
                )
            }
            other.cpt(name)[given if given else slice(None)] = cpt.table.row(place).tolist()
    return other


def test_log_likelihood_against_pyagrum():
    import pyagrum

    rng = np.random.default_rng(3)
    names = [f"v{k}" for k in range(9)]
    arcs = [(a, b) for a, b in itertools.combinations(names, 2) if rng.random() < 0.35]
    known = [Variable(name, range(int(rng.integers(2, 4)))) for name in names]
    table = {v.name: rng.integers(0, v.cardinality, 40) for v in known}
    network = fit(table, Dag(arcs, names), variables=known)
    other = gum_network(network)
    rows = {v.name: rng.integers(0, v.cardinality, 30).tolist() for v in known}
    complete = network.log_likelihood(rows)
    for k, value in enumerate(complete):
        instance = pyagrum.Instantiation()
        for name in names:
            instance.add(other.variable(name))
        instance.fromdict({name: rows[name][k] for name in names})
        assert value == pytest.approx(math.log(other.jointProbability(instance)), rel=1e-10)
    for name in names:
        rows[name] = [None if rng.random() < 0.4 else state for state in rows[name]]
    for k, value in enumerate(network.log_likelihood(rows)):
        engine = pyagrum.LazyPropagation(other)
        engine.setEvidence({n: rows[n][k] for n in names if rows[n][k] is not None})
        assert value == pytest.approx(math.log(engine.evidenceProbability()), rel=1e-9, abs=1e-9)


def test_a_row_without_any_value_is_certain():
    network = fit(SMALL, SMALL_DAG)
    assert network.log_likelihood({name: [None] for name in SMALL}).tolist() == [0.0]


def test_impossible_and_undefined_rows_differ():
    table = {"a": ["u", "u", "v"], "b": ["x", "y", "x"]}
    declared = {"a": ["u", "v", "w"]}
    network = fit(table, Dag([("a", "b")]), MaximumLikelihood(), variables=declared)
    asked = {"a": ["v", "w", "w", None, "u"], "b": ["y", "x", None, "x", "x"]}
    found = network.log_likelihood(asked)
    # a=w has probability zero, so the row (w, x) is impossible whatever b given w may be.
    assert found[:3].tolist() == [-math.inf] * 3
    assert found[3] == pytest.approx(math.log(2 / 3 * 1 / 2 + 1 / 3))
    # Nothing was seen at all: then nothing is known.
    empty = fit(
        {"a": [], "b": []},
        Dag([("a", "b")]),
        MaximumLikelihood(),
        variables={"a": [0, 1], "b": [0, 1]},
    )
    assert np.isnan(empty.log_likelihood({"a": [0, None], "b": [1, 0]})).all()
    # Unobserved parents are no parents: one table has a row for w, the other has none.
    known = Cpt.known(network["a"].family, [[0.5, 0.25, 0.25]])
    mixed = BayesianNetwork(network.dag, {"a": known, "b": network["b"]})
    found = mixed.log_likelihood(asked)
    assert np.isnan(found[[1, 3]]).all()
    assert found[2] == pytest.approx(math.log(0.25))


def test_unknown_states_may_be_taken_for_missing():
    network = fit(SMALL, SMALL_DAG)
    rows = {"age": ["old", "ancient", "ancient", "new"], "smoker": ["no"] * 4, "cancer": [True] * 4}
    found = network.log_likelihood(rows, unknown="missing")
    wanted = network.log_likelihood({**rows, "age": ["old", None, None, None]})
    assert found.tolist() == wanted.tolist()
    with pytest.raises(InputError, match="unknown"):
        network.log_likelihood(rows, unknown="ignore")


def test_columns_are_found_by_name():
    network = fit(SMALL, SMALL_DAG)
    turned = {"extra": [0.5] * 6, **dict(reversed(SMALL.items()))}
    assert network.log_likelihood(turned).tolist() == network.log_likelihood(SMALL).tolist()
    told = "Columns 'cancer' and 'smoker': not in the table"
    with pytest.raises(DataError, match=told) as caught:
        network.log_likelihood({"age": ["old"]})
    assert caught.value.columns == ("cancer", "smoker")


def test_no_rows():
    network = fit(SMALL, SMALL_DAG)
    assert network.log_likelihood({name: [] for name in SMALL}).shape == (0,)


def test_a_coded_table_with_other_states_is_translated():
    network = fit(SMALL, SMALL_DAG)
    coded = CodedTable(
        [
            Variable("age", ["young", "old"]),
            Variable("smoker", ["yes", "no"]),
            Variable("cancer", [True, False]),
        ],
        [[0, 1], [0, 1], [1, 0]],
    )
    plain = {"age": ["young", "old"], "smoker": ["yes", "no"], "cancer": [False, True]}
    assert network.log_likelihood(coded).tolist() == network.log_likelihood(plain).tolist()
