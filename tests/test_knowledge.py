"""What was known beforehand, and what it is worth beside data."""

import numpy as np
import pytest
from scipy.stats import beta

import colonnade as cn
from colonnade.counts import FamilyCounts
from colonnade.exceptions import CountsError, InputError, NotSupportedError
from colonnade.priors import Informed

RAIN, WET = cn.Variable("rain", ["no", "yes"]), cn.Variable("wet", ["no", "yes", "soaked"])
ROWS = {
    "rain": ["no", "yes", "yes", "no", "yes"],
    "wet": ["no", "yes", "soaked", "no", "yes"],
}


def expert():
    tables = {
        "rain": cn.Cpt.known(cn.Family(RAIN), [0.75, 0.25]),
        "wet": cn.Cpt.known(cn.Family(WET, [RAIN]), [[0.9, 0.1, 0.0], [0.1, 0.6, 0.3]]),
    }
    return cn.BayesianNetwork(cn.Dag([("rain", "wet")]), tables)


def test_before_data_nothing_changes():
    network = expert().with_weight(50)
    for name in network:
        np.testing.assert_allclose(network[name].probabilities, expert()[name].probabilities)
    np.testing.assert_allclose(
        network.log_likelihood(ROWS), expert().log_likelihood(ROWS), rtol=1e-12
    )
    impossible = {"rain": ["no"], "wet": ["soaked"]}
    assert network.log_likelihood(impossible)[0] == -np.inf
    assert network.query("rain", {"wet": "yes"})["yes"] == pytest.approx(
        expert().query("rain", {"wet": "yes"})["yes"], rel=1e-12
    )


def test_rows_are_learned_on_top():
    network = expert().with_weight({"rain": 3, "wet": 8}).update(ROWS)
    np.testing.assert_allclose(network["rain"].probabilities, [[(2.25 + 2) / 8, (0.75 + 3) / 8]])
    wanted = [[(7.2 + 2) / 10, 0.8 / 10, 0.0], [0.8 / 11, (4.8 + 2) / 11, (2.4 + 1) / 11]]
    np.testing.assert_allclose(network["wet"].probabilities, wanted)
    assert network.forget(ROWS) == expert().with_weight({"rain": 3, "wet": 8})
    again = expert().with_weight({"rain": 3, "wet": 8}).update(ROWS)
    assert network.merge(again) == network.update(ROWS)
    assert network.merge(again)["rain"].counts.total == 10


def test_fixed_tables_stay_fixed():
    network = expert().with_weight({"wet": 8}).update(ROWS)
    assert network["rain"] == expert()["rain"]
    assert network["wet"].counts.total == 5
    assert network.forget(ROWS)["rain"] == expert()["rain"]
    assert network.merge(network)["rain"] == expert()["rain"]
    other = dict(network.tables)
    other["rain"] = cn.Cpt.known(cn.Family(RAIN), [0.5, 0.5])
    with pytest.raises(InputError, match="the same known table of 'rain' for `other`"):
        network.merge(cn.BayesianNetwork(network.dag, other))


def test_posteriors_are_dirichlet_rows():
    prior = Informed([[0.9, 0.1, 0.0], [0.1, 0.6, 0.3]], 8)
    counts = FamilyCounts.from_array([[2, 0, 0], [0, 0, 0]])
    posterior = prior.posterior(counts)
    parameters = np.array([[9.2, 0.8, 0.0], [0.8, 4.8, 2.4]])
    totals = parameters.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior.mean, parameters / totals)
    lower, upper = posterior.interval(0.9)
    np.testing.assert_allclose(lower[0, 0], beta.ppf(0.05, 9.2, 0.8))
    np.testing.assert_allclose(upper[1, 2], beta.ppf(0.95, 2.4, 5.6))
    assert lower[0, 2] == upper[0, 2] == 0.0
    some = posterior.interval(0.9, configurations=[1])
    np.testing.assert_array_equal(some.upper[0], upper[1])
    draws = posterior.sample(20_000, rng=0)
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.01)
    np.testing.assert_allclose(draws.var(axis=0), posterior.variance, atol=0.002)
    cells = np.exp(posterior.draws(20_000, rng=1).log_cells(np.array([[0], [1]]), np.array([0, 2])))
    np.testing.assert_allclose(cells.mean(axis=1), [9.2 / 10, 2.4 / 8], atol=0.01)
    np.testing.assert_allclose(posterior.borrowed, [0.8, 1.0])


def test_the_evidence_is_that_of_one_observation_after_the_other():
    prior = Informed([[0.7, 0.3], [0.2, 0.8]], 5)
    seen, total = np.zeros((2, 2)), 0.0
    for row, state in [(0, 0), (1, 1), (0, 1), (0, 0), (1, 1), (1, 0)]:
        total += np.log(prior.estimate(seen)[row, state])
        seen[row, state] += 1
    assert prior.log_evidence(seen) == pytest.approx(total)
    left = 0.0
    for row, state in np.argwhere(seen):
        less = seen.copy()
        less[row, state] -= 1
        left += seen[row, state] * np.log(prior.estimate(less)[row, state])
    assert prior.leave_one_out_score(seen) == pytest.approx(left)
    assert Informed([[1.0, 0.0]], 5).log_evidence([[3, 1]]) == -np.inf


def test_intervals_of_queries_narrow_with_the_weight():
    widths = []
    for weight in (5, 500):
        network = expert().with_weight(weight).update(ROWS)
        found = network.query("wet", {"rain": "yes"}, draws=400, rng=0)
        widths.append(float(np.max(found.upper - found.lower)))
    assert widths[1] < widths[0] / 3


@pytest.mark.parametrize("learned", [False, True])
def test_it_is_saved_and_imported_files_learn(tmp_path, learned):
    expert().save(tmp_path / "expert.bif")
    network = cn.load(tmp_path / "expert.bif").with_weight(50)
    network = network.update(ROWS) if learned else network
    network.save(tmp_path / "model.json")
    again = cn.load(tmp_path / "model.json")
    assert again == network
    assert again.update(ROWS) == network.update(ROWS)
    assert network.sample(20, rng=0)["wet"].shape == (20,)


def test_what_cannot_be_weighed_is_refused():
    with pytest.raises(InputError, match="for `weight`, got 'sun'"):
        expert().with_weight({"sun": 3})
    with pytest.raises(InputError, match="a number from 1e-100 to 1e"):
        expert().with_weight(0)
    with pytest.raises(InputError, match="a network with known tables"):
        cn.fit(ROWS, cn.Dag([("rain", "wet")])).with_weight(3)
    rain = cn.fit(ROWS, cn.Dag([], ["rain"]))["rain"]
    mixed = cn.BayesianNetwork(expert().dag, {"rain": rain, "wet": expert()["wet"]})
    with pytest.raises(InputError, match="whose tables are known, which are 'wet'"):
        mixed.with_weight({"rain": 3})
    with pytest.raises(NotSupportedError, match=r"network\.with_weight\(50\)"):
        expert().update(ROWS)
    with pytest.raises(CountsError, match="counts of 1 configuration and 2 states"):
        Informed([[0.5, 0.5]], 3).estimate([[1, 2, 3]])
    assert repr(Informed([[0.5, 0.5]], 3)) == "Informed(1 row, weight=3)"


def test_a_weight_can_be_changed():
    assert expert().with_weight(20).with_weight(5) == expert().with_weight(5)
    learned = expert().with_weight(20).update(ROWS)
    assert learned.with_weight({"wet": 5})["wet"] == expert().with_weight(5).update(ROWS)["wet"]
    assert learned.with_weight({"wet": 5})["rain"] == learned["rain"]
    noisy = cn.Cpt.noisy_max(cn.Family(RAIN, [WET]), [[[1, 0], [0.5, 0.5], [0.2, 0.8]]])
    wet = cn.Cpt.known(cn.Family(WET), [0.5, 0.3, 0.2])
    network = cn.BayesianNetwork(cn.Dag([("wet", "rain")]), {"wet": wet, "rain": noisy})
    assert network.with_weight(20).with_weight(5) == network.with_weight(5)
