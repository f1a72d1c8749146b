"""Smoothed: states mixed with their neighbours, by a weight that is given or learned."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import colonnade as cn
from colonnade.exceptions import InputError, NotSupportedError
from colonnade.priors import Informed
from colonnade.priors.smoothed import WEIGHTS, smoothed_logs

RNG = np.random.default_rng(5)
# Three tables over two parents whose rows have one mode each: neighbours look alike.
MODES = RNG.integers(0, 6, (4, 3, 1))
VALUES = RNG.poisson(4 * np.exp(-((np.arange(6) - MODES) ** 2) / 3.0)).reshape(12, 6)
VALUES[5] = 0
COUNTS = cn.FamilyCounts.from_array(VALUES, parent_sizes=(4, 3))
PRIORS = [cn.Tiered(), cn.Hierarchical(), cn.SymmetricDirichlet(), cn.BDeu(4)]


def mixing(states, weight):
    """The matrix that mixes a row: what each state gives to every other."""
    matrix = (1.0 - weight) * np.eye(states)
    for x in range(states):
        for neighbour in (x - 1, x + 1):
            matrix[x, neighbour if 0 <= neighbour < states else x] += weight / 2.0
    return matrix


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_rows_are_mixed_with_their_neighbours(prior, weight):
    wanted = prior.estimate(COUNTS) @ mixing(6, weight)
    posterior = cn.Smoothed(prior, weight).posterior(COUNTS)
    np.testing.assert_allclose(posterior.mean, wanted, rtol=1e-12)
    np.testing.assert_allclose(posterior.row((1, 2)), wanted[5], rtol=1e-12)
    np.testing.assert_allclose(wanted.sum(axis=1), 1.0)


def left_out(prior, values, row, state):
    """A row without one observation; only priors whose strengths and pool are fixed."""
    fewer = values.copy()
    fewer[row, state] -= 1
    return prior.estimate(cn.FamilyCounts.from_array(fewer, parent_sizes=(4, 3)))[row]


def test_the_weight_is_chosen_by_leaving_out():
    prior = cn.SymmetricDirichlet()
    scores = []
    for weight in WEIGHTS:
        score = 0.0
        for row, state in np.argwhere(VALUES):
            mixed = left_out(prior, VALUES, row, state) @ mixing(6, weight)
            score += VALUES[row, state] * np.log(mixed[state])
        scores.append(score)
        fixed = cn.Smoothed(prior, weight)
        assert fixed.leave_one_out_score(COUNTS) == pytest.approx(score)
        assert fixed.structure_score(COUNTS) == pytest.approx(score)
    learned = cn.Smoothed(prior).posterior(COUNTS)
    assert learned.weight == WEIGHTS[int(np.argmax(scores))] > 0.0
    # Shuffled states have no neighbours to learn from.
    shuffled = RNG.permuted(VALUES.repeat(20, axis=0), axis=1)
    assert cn.Smoothed(prior).posterior(shuffled).weight < learned.weight


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_rows_without_one_observation(prior):
    posterior = prior.posterior(COUNTS)
    rows = posterior.left_out_rows()
    cells = np.argwhere(VALUES)
    assert rows.shape == (len(cells), 6)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    own = rows[np.arange(len(cells)), cells[:, 1]]
    np.testing.assert_allclose(posterior.left_out_cells(), own, rtol=1e-13)
    if isinstance(prior, cn.Hierarchical):
        return  # its score learns the pool anew, the rows keep it
    wanted = posterior.leave_one_out_score()
    assert VALUES[VALUES > 0] @ np.log(own) == pytest.approx(wanted)
    if not isinstance(prior, cn.Tiered):
        for each, (row, state) in zip(rows, cells, strict=True):
            np.testing.assert_allclose(each, left_out(prior, VALUES, row, state))


def test_draws_are_mixed_as_well():
    plain = cn.Tiered().posterior(COUNTS).sample(50, rng=3)
    mixed = cn.Smoothed(cn.Tiered(), 0.4).posterior(COUNTS).sample(50, rng=3)
    np.testing.assert_allclose(mixed, plain @ mixing(6, 0.4), rtol=1e-9)
    posterior = cn.Smoothed(cn.Tiered(), 0.4).posterior(COUNTS)
    lower, upper = posterior.interval(0.9, [(0, 0)])
    assert ((lower < posterior.row((0, 0))) & (posterior.row((0, 0)) < upper)).all()
    codes = np.array([[0, 0], [1, 2]])
    draws = posterior.draws(40, rng=1)
    assert draws.log_cells(codes, np.array([1, 5])).shape == (2, 40)
    assert draws.log_rows(codes, draws_last=True).shape == (2, 6, 40)
    assert posterior.variance.shape == (12, 6)


@pytest.mark.parametrize("weight", [0.15, 0.6, 1.0])
def test_logarithms_are_mixed_where_numbers_are_rounded_to_zero(weight):
    logs = np.array([[-1e5, -2e5, -1e4, -0.7, -0.7], [-1e9, -800.0, -745.0, -1e9, 0.0]])
    logs = np.stack([logs, np.log([[0.1, 0.2, 0.3, 0.2, 0.2]] * 2)])
    found = smoothed_logs(logs, weight)
    np.testing.assert_allclose(found[1], np.log(np.exp(logs[1]) @ mixing(5, weight)))
    with mp.workdps(40):
        for row, mixed in zip(logs[0], found[0], strict=True):
            exact = [mp.exp(mp.mpf(each)) for each in row]
            for x in range(5):
                beside = exact[max(x - 1, 0)] + exact[min(x + 1, 4)]
                wanted = mp.log((1 - mp.mpf(weight)) * exact[x] + mp.mpf(weight) / 2 * beside)
                assert mixed[x] == pytest.approx(float(wanted), rel=1e-13, abs=1e-13)


def test_a_network_with_it_is_saved_and_loaded(tmp_path):
    table = {"x": [0, 0, 1, 2, 2, 1], "y": [0, 1, 2, 2, 1, 0], "z": [0, 1, 0, 1, 0, 1]}
    dag = cn.Dag([("x", "z"), ("y", "z"), ("x", "y")])
    per_variable = {"z": cn.Smoothed(), "y": cn.Smoothed(cn.BDeu(2), 0.5)}
    network = cn.fit(table, dag, per_variable=per_variable)
    network.save(tmp_path / "model.json")
    loaded = cn.load(tmp_path / "model.json")
    assert loaded == network
    assert loaded.priors["y"] == cn.Smoothed(cn.BDeu(2), 0.5)
    np.testing.assert_array_equal(loaded["z"].probabilities, network["z"].probabilities)


@pytest.mark.parametrize("weight", [-0.1, 1.5, "much", True, None])
def test_a_wrong_weight_is_refused(weight):
    with pytest.raises(InputError, match="`weight`"):
        cn.Smoothed(weight=weight)


def test_what_it_cannot_do_it_says():
    with pytest.raises(InputError, match="a prior with a posterior"):
        cn.Smoothed(cn.MaximumLikelihood())
    with pytest.raises(NotSupportedError, match="log evidence"):
        cn.Smoothed().log_evidence(COUNTS)


def test_the_interval_of_a_row_does_not_depend_on_what_else_is_asked_for():
    values = np.random.default_rng(3).poisson(1.0, size=(3, 2, 4))
    posterior = cn.Smoothed(cn.Tiered(), 0.3).posterior(cn.FamilyCounts.from_array(values))
    every, one = posterior.interval(0.9), posterior.interval(0.9, [4])
    np.testing.assert_array_equal(one.lower[0], every.lower[4])
    np.testing.assert_array_equal(one.upper[0], every.upper[4])


@pytest.mark.parametrize("prior", [cn.Smoothed(), Informed(((0.2, 0.3, 0.5),), 4.0)])
def test_the_interval_of_a_table_without_parents_can_be_asked_for_by_its_configuration(prior):
    posterior = prior.posterior(cn.FamilyCounts.from_array([[5, 2, 1]], parent_sizes=()))
    whole, one = posterior.interval(), posterior.interval(configurations=[()])
    assert np.array_equal(one.lower, whole.lower)
    assert np.array_equal(one.upper, whole.upper)
