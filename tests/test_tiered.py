"""Tiered: rows that lean on all coarser tables."""

from __future__ import annotations

import itertools
import math
import pickle
import re

import numpy as np
import pytest
from scipy.stats import ks_2samp
from tests.tier_reference import PlainTiers

import colonnade as cn
from colonnade import FamilyCounts, Hierarchical, Tiered
from colonnade.configurations import all_codes
from colonnade.exceptions import (
    ColonnadeError,
    InputError,
    NotSupportedError,
    TooLargeError,
)
from colonnade.pooling import tiers


def drawn_counts(seed, parents, fractional=False):
    """Counts of a small table, sparse or not, whole or not."""
    rng = np.random.default_rng([seed, parents])
    shape = (*rng.integers(2, 4, size=parents), rng.integers(2, 5))
    values = rng.poisson(rng.choice([0.3, 1.0, 4.0]), size=shape)
    if fractional:
        values = values * rng.choice([0.2, 0.7, 1.0, 1.9], size=shape)
    return values


def counts_of(values):
    values = np.asarray(values)
    return FamilyCounts.from_array(
        values.reshape(-1, values.shape[-1]), parent_sizes=values.shape[:-1]
    )


@pytest.mark.parametrize(
    ("parents", "cases", "fractional"),
    [
        *((0, 60, False), (1, 60, False), (2, 90, False), (3, 20, False), (4, 2, False)),
        *((0, 4, True), (1, 4, True), (2, 4, True), (3, 2, True), (4, 1, True)),
    ],
)
def test_estimates_and_scores_are_those_of_the_plain_tiers(parents, cases, fractional) -> None:
    for seed in range(cases):
        values = drawn_counts(seed, parents, fractional)
        plain, posterior = PlainTiers(values), Tiered().posterior(counts_of(values))
        np.testing.assert_allclose(posterior.mean, plain.table(), rtol=0, atol=1e-12)
        if parents != 1:  # the score of one parent has a test below: it keeps nothing
            score = posterior.leave_one_out_score()
            assert math.isclose(score, plain.score(), rel_tol=1e-11, abs_tol=1e-11)


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("parents", [0, 1, 2, 3])
def test_the_score_is_that_of_counts_that_lack_the_observation(parents, fractional) -> None:
    values = drawn_counts(7, parents, fractional).astype(float)
    learned = PlainTiers(values).learned
    total = 0.0
    for cell in zip(*np.nonzero(values), strict=True):
        fewer = values.copy()
        fewer[cell] -= min(values[cell], 1.0)
        # Tables of what is left. With one parent the score is exact, and nothing knows the
        # observation; with more, weights, strengths and pools do.
        rest = PlainTiers(fewer, learned=None if parents == 1 else learned)
        row = rest.row(rest.parents, dict(enumerate(cell[:-1])))
        total += values[cell] * math.log(row[cell[-1]])
    score = Tiered().posterior(counts_of(values)).leave_one_out_score()
    assert math.isclose(score, total, rel_tol=1e-8 if parents == 1 else 1e-11)


def test_without_parents_the_estimate_is_that_of_the_pool() -> None:
    posterior = Tiered().posterior([[3, 0, 1]])
    np.testing.assert_allclose(posterior.mean, [[4 / 7, 1 / 7, 2 / 7]], rtol=1e-15)
    # Gamma(3) / Gamma(7) times Gamma(4) Gamma(1) Gamma(2)
    assert math.isclose(posterior.log_evidence, math.log(2 * 6 / 720))
    left_out = 3 * math.log(3 / 6) + math.log(1 / 6)
    assert math.isclose(Tiered().leave_one_out_score([[3, 0, 1]]), left_out)
    uneven = Tiered(alpha0=(1, 2, 3)).posterior([[3, 0, 1]]).mean
    np.testing.assert_allclose(uneven, [[4 / 10, 2 / 10, 4 / 10]], rtol=1e-15)


@pytest.mark.parametrize("s_mean", [1.0, 4.0])
def test_with_one_parent_it_is_the_pooled_table_with_a_learned_strength(s_mean) -> None:
    values = [[9, 1, 0], [8, 2, 1], [0, 0, 0], [1, 7, 2]]
    tiered = Tiered(s_mean=s_mean).posterior(values)
    pooled = Hierarchical(s="learn", s_mean=s_mean).posterior(values)
    assert np.array_equal(tiered.mean, pooled.mean)
    assert np.array_equal(tiered.variance, pooled.variance)
    assert np.array_equal(tiered.interval(), pooled.interval())
    assert np.array_equal(tiered.sample(3, rng=1), pooled.sample(3, rng=1))
    assert tiered.log_evidence == pooled.log_evidence


def test_the_prior_mean_of_a_learned_strength_matters_and_needs_a_learned_strength() -> None:
    values = [[9, 1], [8, 2], [1, 7]]
    low, high = (Hierarchical("learn", s_mean=mean).posterior(values).strength for mean in (1, 4))
    assert low.mean < high.mean
    with pytest.raises(ColonnadeError, match="s_mean"):
        Hierarchical(s_mean=4)
    with pytest.raises(ColonnadeError, match="s_mean"):
        Tiered(s_mean=0)


@pytest.mark.parametrize("seed", range(5))
def test_permuting_states_or_parents_permutes_the_answer(seed) -> None:
    values = drawn_counts(seed, 3)
    shape = values.shape
    table = Tiered().estimate(counts_of(values)).reshape(shape)
    score = Tiered().leave_one_out_score(counts_of(values))
    for order in itertools.permutations(range(3)):
        turned = values.transpose(*order, 3)
        got = Tiered().estimate(counts_of(turned)).reshape(turned.shape)
        np.testing.assert_allclose(got, table.transpose(*order, 3), atol=1e-13)
        assert math.isclose(Tiered().leave_one_out_score(counts_of(turned)), score, rel_tol=1e-12)
    rng = np.random.default_rng(seed)
    mixed = [rng.permutation(size) for size in shape]
    got = Tiered().estimate(counts_of(values[np.ix_(*mixed)])).reshape(shape)
    np.testing.assert_allclose(got, table[np.ix_(*mixed)], atol=1e-13)


@pytest.mark.parametrize("parents", [0, 1, 2, 3])
def test_a_parent_with_one_state_changes_nothing(parents) -> None:
    values = drawn_counts(3, parents)
    plain = Tiered().posterior(counts_of(values))
    for place in range(parents + 1):
        posterior = Tiered().posterior(counts_of(np.expand_dims(values, place)))
        assert np.array_equal(posterior.mean, plain.mean)
        assert np.array_equal(posterior.sample(2, rng=1), plain.sample(2, rng=1))


def test_many_observations_give_relative_frequencies() -> None:
    values = np.random.default_rng(1).integers(1, 9, size=(3, 2, 4)) * 1_000_000
    wanted = (values / values.sum(axis=-1, keepdims=True)).reshape(6, 4)
    np.testing.assert_allclose(Tiered().estimate(counts_of(values)), wanted, atol=1e-5)


def test_an_empty_table_is_uniform_and_one_state_is_certain() -> None:
    np.testing.assert_allclose(Tiered().estimate(counts_of(np.zeros((2, 3, 4), int))), 0.25)
    assert (Tiered().estimate(counts_of(np.ones((2, 3, 1), int))) == 1.0).all()


def sparse_counts(parents=10, states=20, rows=3000, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(states, size=(rows, parents))
    child = (codes[:, 3] + rng.integers(2, size=rows)) % 4
    return FamilyCounts.from_observed((states,) * parents, codes, np.eye(4, dtype=int)[child])


def test_unseen_configurations_of_a_large_table_have_rows_of_their_own() -> None:
    counts = sparse_counts()
    posterior = Tiered().posterior(counts)
    # Which parent matters is found first.
    assert posterior.tiers.plan.subsets[1] == (3,)
    rows = [posterior.row((0,) * 3 + (k,) + (0,) * 6) for k in range(4)]
    assert [int(row.argmax()) in (k, (k + 1) % 4) for k, row in enumerate(rows)] == [True] * 4
    assert all(row[[k, (k + 1) % 4]].sum() > 0.9 for k, row in enumerate(rows))
    with pytest.raises(TooLargeError, match="Hint: use `row` or `table`"):
        _ = posterior.mean
    some = r"Hint: use `interval\(level, configurations\)` for some rows"
    pooled = Hierarchical().posterior(counts)
    for each in (posterior, pooled, cn.priors.Smoothed(Tiered()).posterior(counts)):
        with pytest.raises(TooLargeError, match=some):
            _ = each.variance
        with pytest.raises(TooLargeError, match=some):
            each.interval(0.9)
    assert posterior.interval(configurations=[(0,) * 10]).lower.shape == (1, 4)


def test_a_ladder_takes_the_place_of_a_lattice_that_is_too_large(monkeypatch) -> None:
    values = drawn_counts(5, 3)
    lattice = Tiered().posterior(counts_of(values))
    monkeypatch.setattr(tiers, "MAX_LATTICE_PARENTS", 2)
    ladder = Tiered().posterior(counts_of(values))
    assert [len(each) for each in ladder.tiers.plan.subsets] == [0, 1, 2, 3]
    assert len(lattice.tiers.plan.subsets) == 8
    # Each step leans on the one before alone, by the same rule.
    below, above = ladder.ladder((1, 0, 1))[-2:]
    n, b, s = above.counts, below.estimate, above.strengths[0]
    np.testing.assert_allclose(above.estimate, (n + s * b) / (n.sum() + s), rtol=1e-13)
    np.testing.assert_allclose(ladder.mean.sum(axis=1), 1.0)


def test_the_ladder_of_a_configuration_ends_at_its_row() -> None:
    values = drawn_counts(7, 3)
    posterior = Tiered().posterior(counts_of(values))
    steps = posterior.ladder((1, 1, 0))
    assert [step.parents for step in steps] == [
        *[(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    ]
    np.testing.assert_array_equal(steps[-1].estimate, posterior.row((1, 1, 0)))
    for step in steps:
        assert math.isclose(step.weights.sum(), 1.0)
        shares = step.weights / (step.counts.sum() + step.strengths)
        lent = step.counts + step.strengths[:, None] * step.leaned_on
        np.testing.assert_allclose(shares @ lent, step.estimate, rtol=1e-12)


def test_borrowed_is_what_does_not_come_from_the_row_itself() -> None:
    counts = counts_of(drawn_counts(2, 2))
    posterior = Tiered().posterior(counts)
    step = posterior.ladder(0)[-1]
    shares = step.strengths / (step.counts.sum() + step.strengths)
    assert math.isclose(posterior.borrowed[0], step.weights @ shares)


def test_draws_scatter_about_the_estimate_and_rows_that_share_a_parent_move_together() -> None:
    rng = np.random.default_rng(0)
    values = rng.multinomial(3, [0.6, 0.4], size=(4, 5))
    posterior = Tiered().posterior(counts_of(values))
    draws = posterior.sample(4000, rng=1)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.03)
    np.testing.assert_allclose(draws.var(axis=0), posterior.variance, rtol=0.15)
    lower, upper = posterior.interval(0.9)
    inside = ((draws >= lower) & (draws <= upper)).mean(axis=0)
    np.testing.assert_allclose(inside, 0.9, atol=0.03)
    codes = all_codes((4, 5))
    # Rows 0 and 1 share a state of the first parent; rows 0 and 6 share none.
    assert (codes[0, 0], codes[0, 1]) == (codes[1, 0], 0)
    moved = np.corrcoef(draws[:, :, 0].T)
    assert moved[0, 1] > moved[0, 6] + 0.05


def test_rows_drawn_one_after_another_belong_to_the_same_draw() -> None:
    values = np.zeros((6, 6, 2), int)
    values[0, 0] = 1
    draws = Tiered().posterior(counts_of(values)).draws(3000, rng=1)
    # Two unseen rows that share both single-parent rows but for one.
    first = draws.log_rows(np.array([[1, 2]]))[:, 0, 0]
    second = draws.log_rows(np.array([[1, 3]]))[:, 0, 0]
    other = draws.log_rows(np.array([[4, 5]]))[:, 0, 0]
    shared = np.corrcoef(np.exp(first), np.exp(second))[0, 1]
    apart = np.corrcoef(np.exp(first), np.exp(other))[0, 1]
    assert shared > apart + 0.05


def test_single_cells_have_the_margins_of_rows() -> None:
    posterior = Tiered().posterior(counts_of(drawn_counts(3, 3)))
    codes = all_codes(posterior.counts.parent_sizes)
    child = np.arange(len(codes)) % posterior.counts.states
    cells = posterior.draws(4000, rng=1).log_cells(codes, child)
    rows = posterior.draws(4000, rng=2).log_rows(codes)
    assert cells.shape == (len(codes), 4000)
    chances = [ks_2samp(cells[i], rows[:, i, x]).pvalue for i, x in enumerate(child)]
    assert min(chances) > 1e-4


def test_rows_asked_for_by_and_by_fill_the_room_for_them() -> None:
    posterior = Tiered().posterior(counts_of(drawn_counts(3, 2)))
    codes = all_codes(posterior.counts.parent_sizes)
    by_and_by = posterior.draws(2000, rng=1)
    rows = np.concatenate(
        [np.exp(by_and_by.log_rows(codes[i : i + 1])) for i in range(len(codes))], 1
    )
    at_once = np.exp(posterior.draws(2000, rng=1).log_rows(codes))
    np.testing.assert_allclose(rows.mean(axis=0), at_once.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(rows.std(axis=0), at_once.std(axis=0), atol=0.03)


def test_there_is_no_log_evidence_with_two_parents() -> None:
    counts = counts_of(drawn_counts(1, 2))
    assert Tiered().posterior(counts).log_evidence is None
    with pytest.raises(NotSupportedError, match="leave_one_out_score"):
        Tiered().log_evidence(counts)


def test_a_posterior_survives_pickling() -> None:
    posterior = Tiered().posterior(counts_of(drawn_counts(1, 2)))
    again = pickle.loads(pickle.dumps(posterior))
    assert np.array_equal(again.mean, posterior.mean)
    assert again.table == posterior.table


# ------------------------------------------------------------------------ networks


def data(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(4, size=rows), rng.integers(5, size=rows)
    c = np.where(rng.random(rows) < 0.7, (a + b) % 3, rng.integers(3, size=rows))
    return {"a": a, "b": b, "c": c, "d": np.where(rng.random(rows) < 0.8, c > 0, a > 1)}


GRAPH = cn.Dag([("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")])


def test_a_network_fits_updates_forgets_and_merges() -> None:
    table, more = data(200), data(100, seed=1)
    network = cn.fit(table, GRAPH, prior=Tiered())
    counts = network["c"].counts
    assert np.array_equal(network["c"].probabilities, Tiered().estimate(counts))
    both = {name: np.concatenate([table[name], more[name]]) for name in table}
    together = cn.fit(both, GRAPH, prior=Tiered())
    assert network.update(more) == together
    assert together.forget(more) == network
    assert network.merge(cn.fit(more, GRAPH, prior=Tiered())) == together


def test_queries_likelihoods_and_draws_know_unseen_configurations() -> None:
    network = cn.fit(data(15), GRAPH, prior=Tiered())
    table = network["c"].table
    assert len(table.rows) < table.configurations
    unseen = next(k for k in range(table.configurations) if table.position(k) is None)
    codes = all_codes(table.parent_sizes)[unseen]
    a, b = (p.states[k] for p, k in zip(network["c"].family.parents, codes, strict=True))
    wanted = network["c"].posterior.row(unseen)
    answer = network.query("c", observed={"a": a, "b": b})
    np.testing.assert_allclose(answer.probabilities, wanted, rtol=1e-12)
    dense = cn.BayesianNetwork(
        network.dag,
        {name: cn.Cpt.known(cpt.family, cpt.probabilities) for name, cpt in network.tables.items()},
    )
    rows = network.sample(400, rng=1)
    np.testing.assert_allclose(network.log_likelihood(rows), dense.log_likelihood(rows), rtol=1e-12)
    with_gaps = {
        name: [None if k % 7 == 0 else v for k, v in enumerate(column.tolist())]
        for name, column in rows.items()
    }
    np.testing.assert_allclose(
        network.log_likelihood(with_gaps), dense.log_likelihood(with_gaps), rtol=1e-12
    )
    interval = network.query("d", observed={"b": b}, draws=400, rng=1)
    assert (interval.lower <= interval.probabilities).all()


def test_a_network_is_saved_and_loaded_as_it_is(tmp_path) -> None:
    network = cn.fit(data(15), GRAPH, prior=Tiered(s_mean=3.0))
    network.save(tmp_path / "network.json")
    again = cn.load(tmp_path / "network.json")
    assert again == network
    assert again.priors["c"] == Tiered(s_mean=3.0)
    assert np.array_equal(again["c"].probabilities, network["c"].probabilities)
    network.save(tmp_path / "network.bif")
    dense = cn.load(tmp_path / "network.bif")["c"].probabilities
    np.testing.assert_allclose(dense, network["c"].probabilities, rtol=1e-12)


def test_rows_that_do_not_follow_from_the_counts_are_refused() -> None:
    counts = counts_of(drawn_counts(1, 2))
    table = Tiered().table(counts)
    assert Tiered().inconsistency(counts, table) is None
    assert Tiered().inconsistency(counts, Tiered(s_mean=1).table(counts)).part == "rows"


def test_gaps_are_filled_in_by_em_and_counted_by_weights() -> None:
    table = data(60)
    table["c"] = [None if k % 5 == 0 else v for k, v in enumerate(table["c"].tolist())]
    filled = cn.fit(table, GRAPH, prior=Tiered(), missing="em")
    assert filled.diagnostics.converged
    counts = filled["c"].counts
    assert not counts.integral
    np.testing.assert_allclose(filled["c"].probabilities, Tiered().estimate(counts), rtol=1e-14)
    available = cn.fit(table, GRAPH, prior=Tiered(), missing="available")
    assert available["c"].counts.total == 48
    weighed = cn.fit(data(60), GRAPH, prior=Tiered(), weights=np.full(60, 2.0))
    twice = cn.fit({k: np.tile(v, 2) for k, v in data(60).items()}, GRAPH, prior=Tiered())
    np.testing.assert_allclose(weighed["c"].probabilities, twice["c"].probabilities, rtol=1e-12)


def test_structures_are_scored_by_leaving_one_out() -> None:
    table = data(300)
    graph = cn.hill_climb(table, score=Tiered()).dag
    assert set(map(frozenset, graph.arcs)) >= {frozenset("ac"), frozenset("bc")}
    parts = cn.score_families(table, graph, Tiered())
    network = cn.fit(table, graph, prior=Tiered())
    for name, value in parts.items():
        wanted = Tiered().leave_one_out_score(network[name].counts)
        assert math.isclose(value, wanted, rel_tol=1e-12)
    assert math.isclose(cn.score(table, graph, Tiered()), sum(parts.values()), rel_tol=1e-12)


def test_comparisons_take_tiers() -> None:
    found = cn.compare(data(200), GRAPH, {"tiers": Tiered(), "pool": Hierarchical()})
    assert found.best.prior == "tiers"
    evidence = {row.prior: row.log_evidence for row in found.rows}
    assert evidence["tiers"] is None
    assert evidence["pool"] < 0.0


def test_a_classifier_takes_tiers_and_large_sparse_tables() -> None:
    rng = np.random.default_rng(1)
    features = rng.integers(40, size=(400, 6))
    classes = (features[:, 0] + rng.integers(4, size=400)) % 5
    for options in ({"structure": "tan"}, {"structure": "kdb", "k": 2}):
        model = cn.BayesianNetworkClassifier(**options, prior=Tiered())
        model.fit(features.astype(str), classes)
        fresh = rng.integers(40, size=(50, 6)).astype(str)
        found = model.predict_proba(fresh)
        network = model.network_
        names = [name for name in network if name != model.target_name_]
        for row, wanted in zip(fresh[:5], found, strict=False):
            observed = dict(zip(names, row, strict=True))
            answer = network.query(model.target_name_, observed=observed)
            np.testing.assert_allclose(answer.probabilities, wanted, rtol=1e-9)
        lower, upper = model.predict_interval(fresh[:4], rng=1)
        assert ((lower <= found[:4]) & (found[:4] <= upper)).mean() > 0.8


@pytest.mark.parametrize("sizes", [(3, 5, 4), (2, 3), (3, 1, 4), (2,) * 6], ids=str)
def test_all_rows_at_once_are_the_rows_one_by_one(sizes):
    rng = np.random.default_rng(len(sizes))
    configurations = int(np.prod(sizes))
    seen = rng.random((configurations, 1)) < 0.3
    values = rng.integers(0, 3, (configurations, 4)) * seen
    posterior = Tiered().posterior(FamilyCounts.from_array(values, parent_sizes=sizes))
    codes = np.stack(np.unravel_index(np.arange(configurations), sizes), axis=1)
    # So few that they are looked up, and all of them, which are computed tier by tier.
    single = [posterior.tiers.rows(row[None])[0] for row in codes]
    np.testing.assert_array_equal(posterior.tiers.rows(codes), single)


@pytest.mark.parametrize("chosen", [(2, 0, 3), (0, 3, 2), (3, 4, 1)], ids=str)
def test_rows_of_some_states_of_each_parent_are_the_rows_one_by_one(chosen, monkeypatch):
    rng = np.random.default_rng(sum(chosen))
    sizes = (4, 5, 6)
    seen = rng.random((120, 1)) < 0.4
    values = rng.integers(0, 3, (120, 4)) * seen
    posterior = Tiered().posterior(FamilyCounts.from_array(values, parent_sizes=sizes))
    states = [
        np.sort(rng.permutation(size)[: number or 1])
        for size, number in zip(sizes, chosen, strict=True)
    ]
    codes = np.stack(np.meshgrid(*states, indexing="ij"), axis=-1).reshape(-1, 3)
    codes = rng.permutation(codes)[1:]  # one of the grid is not asked for
    single = [posterior.tiers.rows(row[None])[0] for row in codes]
    monkeypatch.setattr(tiers.Tiers, "estimates", None)  # all at once
    np.testing.assert_array_equal(posterior.tiers.rows(codes), single)


def test_rows_of_a_large_table_are_estimated_in_blocks(monkeypatch) -> None:
    posterior = Tiered().posterior(sparse_counts())
    codes = np.random.default_rng(0).integers(0, posterior.counts.parent_sizes, (50, 10))
    whole = posterior.tiers.rows(codes)
    sizes = []
    original = tiers.Tiers.estimates

    def watched(self, places):
        sizes.append(len(places))
        return original(self, places)

    monkeypatch.setattr(tiers.Tiers, "estimates", watched)
    cells = len(posterior.tiers.plan.subsets) * posterior.tiers.states
    monkeypatch.setattr(tiers, "_BLOCK_CELLS", 20 * cells)
    np.testing.assert_array_equal(posterior.tiers.rows(codes), whole)
    assert sizes == [20, 20, 10]


@pytest.mark.parametrize("values", [[[3, 0, 1]], [[9, 1, 0], [8, 2, 1], [0, 0, 0]]])
def test_a_short_ladder_ends_at_the_row(values) -> None:
    posterior = Tiered().posterior(values)
    steps = posterior.ladder(len(values) - 1)
    assert [step.parents for step in steps] == [(), (0,)][: 1 + (len(values) > 1)]
    np.testing.assert_allclose(steps[-1].estimate, posterior.row(len(values) - 1), rtol=1e-14)
    for step in steps:
        shares = step.weights / (step.counts.sum() + step.strengths)
        lent = step.counts + step.strengths[:, None] * step.leaned_on
        np.testing.assert_allclose(shares @ lent, step.estimate, rtol=1e-12)


def test_intervals_of_a_row_do_not_depend_on_the_rows_asked_for() -> None:
    posterior = Tiered().posterior(counts_of(drawn_counts(4, 3)))
    whole = posterior.interval(0.9)
    asked = [5, 0, len(whole.lower) - 1]
    some = posterior.interval(0.9, asked)
    np.testing.assert_array_equal(some.lower, whole.lower[asked])
    np.testing.assert_array_equal(some.upper, whole.upper[asked])
    for row in asked:
        one = posterior.interval(0.9, [row])
        np.testing.assert_array_equal(one.lower[0], whole.lower[row])
        own = np.diag(posterior.covariance(row))
        np.testing.assert_allclose(own, posterior.variance[row], rtol=1e-9)
        np.testing.assert_allclose(posterior.covariance(row, 1).sum(axis=0), 0.0, atol=1e-12)
    # Rows of their own, whose draws agree with other draws.
    drawn = np.quantile(posterior.sample(4000, rng=1), [0.05, 0.95], axis=0)
    np.testing.assert_allclose(np.stack([whole.lower, whole.upper]), drawn, atol=0.05)


@pytest.mark.parametrize("one_parent", ["integrated", "left_out"])
def test_the_smallest_prior_mean_of_strengths_works_and_a_smaller_one_is_refused(one_parent):
    least = Tiered(s_mean=1e-6, one_parent=one_parent)
    for seed in range(4):
        rows = least.posterior(counts_of(drawn_counts(seed, 3))).mean
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert (rows > 0.0).all()
    with pytest.raises(InputError, match=r"a number from 1e-06 to 1e\+12 for `s_mean`, got 1e-20"):
        Tiered(s_mean=1e-20, one_parent=one_parent)


def test_covariances_are_those_of_draws() -> None:
    posterior = Tiered().posterior(counts_of(drawn_counts(4, 2)))
    covariance = posterior.covariance(0)
    np.testing.assert_allclose(np.diag(covariance), posterior.variance[0], rtol=0.2)
    np.testing.assert_allclose(covariance.sum(axis=0), 0.0, atol=1e-12)
    assert posterior.covariance(0, 1).shape == covariance.shape


def test_the_command_line_has_no_setting_for_tiers() -> None:
    assert Tiered().word == "tiered"
    with pytest.raises(ColonnadeError, match="tiered"):
        cn.priors.prior_named("tiered:3")


def test_draws_go_to_arviz() -> None:
    pytest.importorskip("arviz")
    found = Tiered().posterior(counts_of(drawn_counts(4, 2))).to_arviz(draws=20, rng=1)
    assert found.posterior["theta"].sizes["draw"] == 20


def test_tiers_are_shown_in_a_line() -> None:
    posterior = Tiered().posterior(FamilyCounts.from_array(np.arange(12).reshape(2, 2, 3)))
    assert repr(posterior.tiers) == "Tiers(4 tiers, 9 rows x 3 states)"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("tiered", "Tiered("), (Tiered, "Tiered("), ("bdeu:10", "BDeu("), (3, "Hierarchical()")],
)
def test_a_word_for_a_prior_is_met_with_its_class(given, meant) -> None:
    with pytest.raises(InputError, match=re.escape(f"Hint: use {meant}")):
        cn.fit({"a": ["x", "y"]}, cn.Dag([], ["a"]), given)


# ---------------------------------------------------- strengths of single parents by leaving out


def plain_single(values, s_mean=4.0):
    """One parent by leaving out, in plain loops: the estimate and the leave-one-out score."""
    states = values.shape[1]
    totals = values.sum(axis=0)
    pool = (totals + 1.0) / (totals.sum() + states)
    grid = states * 2.0 ** np.arange(-5, 8)
    scores = 2 * np.log(grid) - 2 * grid / (s_mean * states)
    for row in values:
        for x, n in enumerate(row):
            without = (totals[x] - 1 + 1.0) / (totals.sum() - 1 + states)
            for g, s in enumerate(grid):
                if n:
                    scores[g] += n * np.log((n - 1 + s * without) / (row.sum() - 1 + s))
    chances = np.exp(scores - scores.max())
    s = np.exp(chances @ np.log(grid) / chances.sum())
    score = 0.0
    for row in values:
        for x, n in enumerate(row):
            without = totals[x] / (totals.sum() - 1 + states)
            if n:
                score += n * np.log((n - 1 + s * without) / (row.sum() - 1 + s))
    return (values + s * pool) / (values.sum(axis=1, keepdims=True) + s), score


def test_one_parent_by_leaving_out():
    values = np.random.default_rng(4).poisson(1.5, size=(9, 3))
    prior = Tiered(one_parent="left_out")
    table, score = plain_single(values)
    posterior = prior.posterior(counts_of(values))
    np.testing.assert_allclose(posterior.mean, table, rtol=1e-12)
    assert posterior.leave_one_out_score() == pytest.approx(score, rel=1e-12)
    assert not prior.leaves_out_exactly(counts_of(values))
    drawn = posterior.sample(20_000, rng=0)
    np.testing.assert_allclose(drawn.mean(axis=0), table, atol=0.02)


def test_tiers_on_single_parents_by_leaving_out_differ_little():
    values = np.random.default_rng(5).poisson(3.0, size=(4, 3, 2, 5))
    exact = Tiered().estimate(counts_of(values))
    found = Tiered(one_parent="left_out").estimate(counts_of(values))
    assert not np.array_equal(exact, found)
    np.testing.assert_allclose(found, exact, atol=0.02)
    steps = Tiered(one_parent="left_out").posterior(counts_of(values)).ladder((0, 1, 1))
    assert steps[1].bases == ((),)


def test_one_parent_is_a_word():
    with pytest.raises(ColonnadeError, match="'integrated' or 'left_out'"):
        Tiered(one_parent="guess")
