"""A network of the alarm graph's shape (37 variables, 46 arcs), held against pyAgrum."""

import numpy as np
import pytest

import alarm
from colonnade import files
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import BDeu, Hierarchical, SymmetricDirichlet


@pytest.fixture(scope="module")
def dag() -> Dag:
    return alarm.graph()


@pytest.fixture(scope="module")
def network(dag: Dag) -> BayesianNetwork:
    return fit(alarm.draw(400), dag, Hierarchical(s="learn"))


@pytest.fixture(scope="module")
def model(network: BayesianNetwork):
    return network.to_pyagrum()


def test_the_shape(dag):
    assert (len(dag), len(dag.arcs)) == (37, 46)


def test_log_likelihood_equals_the_joint_of_pyagrum(network, model):
    rows = alarm.draw(30, seed=7)
    states = {
        v.name: [v.states[c] for c in codes]
        for v, codes in zip(rows.variables, rows.codes, strict=True)
    }
    ours = network.log_likelihood(rows)
    for row in range(rows.rows):
        theirs = 0.0
        for name in network:
            cell = {n: str(states[n][row]) for n in model.cpt(name).names}
            theirs += np.log(model.cpt(name)[cell])
        assert ours[row] == pytest.approx(theirs, rel=1e-10)


def test_queries_equal_those_of_lazy_propagation(network, model):
    import pyagrum

    rng = np.random.default_rng(0)
    names = list(network)
    for _ in range(12):
        chosen = rng.choice(len(names), size=5, replace=False)
        target, *given = [names[k] for k in chosen]
        observed = {n: network[n].family.child.states[0] for n in given}
        engine = pyagrum.LazyPropagation(model)
        engine.setEvidence({n: str(state) for n, state in observed.items()})
        theirs = engine.posterior(target).toarray()
        result = network.query(target, observed)
        assert result.probabilities == pytest.approx(theirs, abs=1e-12)


def test_intervals_hold_the_answer(network):
    result = network.query("HR", {"BP": "LOW"}, draws=200, rng=0)
    assert np.all(result.lower <= result.probabilities)
    assert np.all(result.probabilities <= result.upper)


@pytest.mark.parametrize("prior", [BDeu(5), SymmetricDirichlet(), Hierarchical()], ids=repr)
def test_a_file_gives_back_the_network(dag, prior, tmp_path):
    network = fit(alarm.draw(300, seed=2), dag, prior)
    network.save(tmp_path / "alarm.json")
    assert files.load(tmp_path / "alarm.json") == network
