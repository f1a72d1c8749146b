"""The classifier against brute force, scikit-learn, and queries of its network."""

# ruff: noqa: N806 (scikit-learn calls the features X)

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from colonnade.classifier import (
    BayesianNetworkClassifier,
    _gaps,
    _intervals,
    _tables,
)
from colonnade.classifier._choice import CANDIDATES
from colonnade.classifier._tables import ClassTables
from colonnade.dag import Dag
from colonnade.exceptions import InputError, NotSupportedError
from colonnade.network import fit
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
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
            patch.setattr(_tables, "_DENSE_CELLS", 0)
            patch.setattr(_gaps, "_DENSE_CELLS", 0)
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
    monkeypatch.setattr(_gaps, "_CELLS", 100)
    np.testing.assert_allclose(model.predict_log_proba(X), whole, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), best)


def test_large_families_are_stored_sparsely(monkeypatch) -> None:
    X, y = letters(features=8, states=6)
    dag = Dag([("class", "x7"), *((f"x{j}", "x7") for j in range(7)), ("x6", "class")])
    model = BayesianNetworkClassifier(dag).fit(X, y)
    sparse = model.predict_joint_log_proba(X)
    assert [family.dense is None for family in model._fitted.tables._blanket].count(True) == 1
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
            name: model.network_.discretizer.get(name).states[code]
            for name, value in zip(model.network_, row, strict=False)
            if not np.isnan(value)
            for code in model.network_.discretizer.get(name).codes(np.array([value]))
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
    model = BayesianNetworkClassifier("hill_climb").fit(X, y)
    dag = model.network_.dag
    blanket = {*dag.parents("class"), *dag.children("class")}
    blanket |= {p for child in dag.children("class") for p in dag.parents(child)}
    outside = [j for j in range(6) if f"x{j}" not in blanket]
    changed = X.copy()
    changed[:, outside] = X[::-1][:, outside]
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(changed))


# ------------------------------------------------------------------------------ intervals


def test_interval_of_a_class_alone_is_that_of_its_table() -> None:
    y = np.array(["a"] * 7 + ["b"] * 2 + ["c"])
    X = np.zeros((10, 1), dtype=int)
    model = BayesianNetworkClassifier(Dag([], ["class"])).fit(X, y)
    lower, upper = model.predict_interval(X[:1], level=0.9, draws=40_000, rng=1)
    wanted = model.network_["class"].posterior.interval(0.9)
    np.testing.assert_allclose(lower, wanted.lower, atol=0.01)
    np.testing.assert_allclose(upper, wanted.upper, atol=0.01)


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn"), BDeu(1)], ids=repr)
@pytest.mark.parametrize("structure", ["tan", "kdb"])
def test_intervals_agree_with_those_of_a_query(structure, prior) -> None:
    X, y = letters(rows=30, features=4, states=3, classes=2)
    model = BayesianNetworkClassifier(structure, prior).fit(X, y)
    rows = with_gaps(X[:4], 0.4, seed=8)
    lower, upper = model.predict_interval(rows, level=0.8, draws=4000, rng=2)
    for k, row in enumerate(rows):
        names = [f"x{j}" for j in range(4) if not np.isnan(row[j])]
        observed = {name: int(row[int(name[1])]) for name in names}
        wanted = model.network_.query("class", observed, draws=4000, level=0.8, rng=3)
        np.testing.assert_allclose(lower[k], wanted.lower, atol=0.04)
        np.testing.assert_allclose(upper[k], wanted.upper, atol=0.04)


def truth_and_training(rng, rows):
    """Tables drawn from the prior of adding one, and rows drawn from them."""
    share = rng.dirichlet(np.ones(2))
    tables = rng.dirichlet(np.ones(3), (2, 2))
    y = (rng.random(rows) < share[1]).astype(int)
    X = np.column_stack(
        [(rng.random(rows)[:, None] > tables[j, y].cumsum(axis=1)).sum(axis=1) for j in (0, 1)]
    ).clip(0, 2)
    return share, tables, X, y


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(12)
    inside = narrow = 0
    for _ in range(300):
        share, tables, X, y = truth_and_training(rng, 25)
        if len(set(y)) < 2:
            continue
        frame = pd.DataFrame(X, columns=["a", "b"]).astype(pd.CategoricalDtype([0, 1, 2]))
        model = BayesianNetworkClassifier("naive", SymmetricDirichlet()).fit(frame, y)
        lower, upper = model.predict_interval(frame.iloc[:1], level=0.8, draws=400, rng=rng)
        chance = share * tables[0, :, X[0, 0]] * tables[1, :, X[0, 1]]
        chance /= chance.sum()
        inside += lower[0, 1] <= chance[1] <= upper[0, 1]
        middle, half = (lower + upper)[0, 1] / 2, (upper - lower)[0, 1] / 4
        narrow += abs(chance[1] - middle) <= half
    # 300 trials at 80 %: four standard deviations are 28. Half as wide must be seen to fail.
    assert abs(inside - 240) < 30
    assert narrow < 200


def test_interval_is_reproducible_and_in_blocks(monkeypatch) -> None:
    X, y = letters(rows=60)
    model = BayesianNetworkClassifier().fit(X, y)
    first = model.predict_interval(X, rng=5)
    second = model.predict_interval(X, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(first, second)
    assert first.lower.shape == (60, 3)
    assert (first.lower <= first.upper).all()
    monkeypatch.setattr(_intervals, "_CELLS", 2000)
    blocks = model.predict_interval(X, level=0.5, draws=2000, rng=5)
    monkeypatch.undo()
    whole = model.predict_interval(X, level=0.5, draws=2000, rng=6)
    np.testing.assert_allclose(blocks, whole, atol=0.1)
    assert np.abs(np.subtract(blocks, whole)).mean() < 0.005


@pytest.mark.parametrize(
    "options", [{"level": 1.0}, {"level": True}, {"draws": 1}, {"draws": 2.5}], ids=str
)
def test_interval_refuses(options) -> None:
    X, y = letters(rows=20)
    with pytest.raises(InputError, match=f"for `{next(iter(options))}`"):
        BayesianNetworkClassifier().fit(X, y).predict_interval(X, **options)


def test_no_interval_without_a_prior() -> None:
    X, y = letters(rows=20)
    model = BayesianNetworkClassifier(prior=MaximumLikelihood("uniform")).fit(X, y)
    with pytest.raises(NotSupportedError, match="predict_interval with MaximumLikelihood"):
        model.predict_interval(X)


# ----------------------------------------------------------------------- choice of a prior


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_automatic_prior_equals_leaving_rows_out(structure) -> None:
    X, y = letters(rows=24, features=3, states=3, classes=2)
    model = BayesianNetworkClassifier(structure, prior="auto").fit(X, y)
    assert list(model.loo_scores_) == list(CANDIDATES)
    assert model.loo_scores_[model.prior_] == max(model.loo_scores_.values())
    assert set(model.network_.priors.values()) == {model.prior_}
    rows = pd.DataFrame(table_of(X, y))
    for prior, score in model.loo_scores_.items():
        total = 0.0
        for k in range(len(rows)):
            others = fit(
                rows.drop(index=k), model.network_.dag, prior, variables=model.network_.variables
            )
            total += others.log_likelihood(rows.iloc[[k]])[0]
        assert score == pytest.approx(total, abs=1e-4 if "learn" in repr(prior) else 1e-8)


def test_automatic_prior_is_not_always_the_same() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    clear = np.column_stack([y, 1 - y, y])
    vague = rng.integers(0, 4, (60, 3))
    chosen = {
        BayesianNetworkClassifier("naive", "auto").fit(X, labels).prior_
        for X, labels in ((clear, y), (vague, y[:60]), letters(rows=60))
    }
    assert len(chosen) > 1
    model = BayesianNetworkClassifier("naive", "auto").fit(clear, y)
    assert not hasattr(model.set_params(prior=None).fit(clear, y), "loo_scores_")
