"""The classifier against brute force, scikit-learn, and queries of its network."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from colonnade import lookup
from colonnade.classifier import BayesianNetworkClassifier, _families, _gaps, _tables
from colonnade.classifier._tables import ClassTables
from colonnade.dag import Dag
from colonnade.priors import SymmetricDirichlet
from colonnade.tables.coded import CodedTable
from drawn_networks import joint, networks, plain_names
from labelled_tables import STRUCTURES, letters, table_of, with_gaps

# ------------------------------------------------------------------ all classes at once


def brute_log_joint(network, target, codes):
    """Log probability of rows of codes with each class, by summing the joint of everything."""
    table = joint(network)
    names = [variable.name for variable in network.variables]
    answer = []
    for row in codes:
        index = []
        for name, variable in zip(names, network.variables, strict=True):
            code = row.get(name, variable.cardinality)
            index.append(slice(None) if code == variable.cardinality else slice(code, code + 1))
        others = tuple(k for k, name in enumerate(names) if name != target)
        answer.append(table[tuple(index)].sum(axis=others))
    with np.errstate(divide="ignore"):
        return np.log(np.array(answer))


@st.composite
def questions(draw):
    """A network, its class, and rows of codes with gaps."""
    network = draw(networks(plain_names, least=2, most=5))
    target = draw(st.sampled_from(list(network)))
    features = [variable for variable in network.variables if variable.name != target]
    rows = draw(st.integers(1, 6))
    columns = [
        draw(st.lists(st.integers(0, v.cardinality), min_size=rows, max_size=rows))
        for v in features
    ]
    return network, target, CodedTable(tuple(features), tuple(map(np.array, columns)))


@pytest.mark.parametrize("dense", [True, False])
@settings(max_examples=150)
@given(question=questions())
def test_log_joint_agrees_with_brute_force(question, dense) -> None:
    network, target, coded = question
    assume(all(cpt.table.complete for cpt in network.tables.values()))
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            patch.setattr(_families, "MAX_FILLED_CELLS", 0)
            patch.setattr(lookup.Lookup, "filled", lambda table: table)
        tables = ClassTables(network, target)
        found = tables.log_joint(coded, everything=True, normalised=False)
        chances = np.exp(tables.log_joint(coded, everything=False, normalised=True))
        best, possible = tables.most_probable(coded)
    rows = [dict(zip(coded.names, codes, strict=True)) for codes in zip(*coded.codes, strict=True)]
    wanted = brute_log_joint(network, target, rows)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    totals = np.exp(wanted).sum(axis=1)
    np.testing.assert_allclose(
        chances[totals > 0], np.exp(wanted[totals > 0]) / totals[totals > 0, None], atol=1e-9
    )
    # Where the row cannot occur, a class is told if that is not the fault of its own surroundings.
    sums = chances[totals == 0].sum(axis=1)
    assert (np.isnan(sums) | np.isclose(sums, 1.0)).all()
    assert (possible >= (totals > 0)).all()
    chosen = wanted[np.arange(len(wanted)), best]
    np.testing.assert_allclose(
        np.exp(chosen)[totals > 0], np.exp(wanted).max(axis=1)[totals > 0], rtol=1e-9
    )


@pytest.mark.parametrize("structure", STRUCTURES)
def test_small_blocks_change_nothing(structure, monkeypatch) -> None:
    X, y = letters()
    X = with_gaps(X, 0.1)
    model = BayesianNetworkClassifier(structure).fit(X, y)
    whole, best = model.predict_log_proba(X), model.predict(X)
    monkeypatch.setattr(_tables, "_TASK_ROWS", 7)
    monkeypatch.setattr(_gaps, "_MAX_GAP_CELLS", 100)
    np.testing.assert_allclose(model.predict_log_proba(X), whole, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), best)


def test_large_families_are_stored_sparsely() -> None:
    X, y = letters(features=8, states=6)
    dag = Dag([("class", "x7"), *((f"x{j}", "x7") for j in range(7)), ("x6", "class")])
    model = BayesianNetworkClassifier(dag).fit(X, y)
    sparse = model.predict_joint_log_proba(X)
    blanket = [family for family in model._fitted.tables._families if family.has_class]
    assert [family.shape is None for family in blanket].count(True) == 1
    wanted = [model.network_.log_likelihood(table_of(X, np.full(len(y), c))) for c in range(3)]
    np.testing.assert_allclose(sparse, np.transpose(wanted), atol=1e-10)


# --------------------------------------------------------------------- independent checks


@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_naive_structure_equals_categorical_nb(alpha) -> None:
    X, y = letters(states=4)
    prior = SymmetricDirichlet(4 * alpha)
    ours = BayesianNetworkClassifier("naive", prior).fit(X, y)
    share = ours.network_["class"].probabilities[0]
    theirs = CategoricalNB(alpha=alpha, class_prior=share).fit(X, y)
    for j in range(X.shape[1]):
        np.testing.assert_allclose(
            np.log(ours.network_[f"x{j}"].probabilities), theirs.feature_log_prob_[j], atol=1e-12
        )
    new = letters(seed=9)[0]
    np.testing.assert_allclose(
        ours.predict_log_proba(new), theirs.predict_log_proba(new), atol=1e-10
    )
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


def test_adding_one_equals_categorical_nb_whatever_the_states() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, states, 200) for states in (2, 3, 7)])
    y = rng.integers(0, 3, 200)
    ours = BayesianNetworkClassifier("naive", SymmetricDirichlet()).fit(X, y)
    theirs = CategoricalNB(class_prior=ours.network_["class"].probabilities[0]).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_probabilities_equal_queries_of_the_network(structure) -> None:
    X, y = letters(rows=150)
    model = BayesianNetworkClassifier(structure).fit(with_gaps(X, 0.1), np.array(list("uvw"))[y])
    rows = with_gaps(letters(seed=4)[0][:12], 0.4)
    found = model.predict_proba(rows)
    for row, chances in zip(rows, found, strict=True):
        observed = {
            name: int(value)
            for name, value in zip(model.network_, row, strict=False)
            if not np.isnan(value)
        }
        wanted = model.network_.query("class", observed)
        assert wanted.states == (("u", "v", "w"),)
        np.testing.assert_allclose(chances, wanted.probabilities, atol=1e-10)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_joint_sums_to_the_likelihood_of_the_features(structure) -> None:
    X, y = letters(rows=150)
    model = BayesianNetworkClassifier(structure).fit(X, y)
    rows = with_gaps(X[:40])
    logs = model.predict_joint_log_proba(rows)
    nobody = np.full(len(rows), None)
    whole = model.network_.log_likelihood(table_of(rows, nobody))
    np.testing.assert_allclose(np.log(np.exp(logs).sum(axis=1)), whole, atol=1e-10)
    np.testing.assert_allclose(logs - whole[:, None], model.predict_log_proba(rows), atol=1e-9)


def test_hill_climbing_predicts_from_the_markov_blanket() -> None:
    X, y = letters(rows=800)
    noise = np.random.default_rng(1).integers(0, 3, 800)
    X = np.column_stack([X, noise, (noise + (np.arange(800) % 9 == 0)) % 3])
    model = BayesianNetworkClassifier("hill_climb").fit(X, y)
    dag = model.network_.dag
    blanket = {*dag.parents("class"), *dag.children("class")}
    blanket |= {p for child in dag.children("class") for p in dag.parents(child)}
    outside = [j for j in range(8) if f"x{j}" not in blanket]
    assert outside == [6, 7]
    assert dag.parents("x6") or dag.parents("x7")
    changed = X.copy()
    changed[:, outside] = X[::-1][:, outside]
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(changed))
    changed[:, 0] = X[::-1][:, 0]
    assert not np.array_equal(model.predict_proba(X), model.predict_proba(changed))
