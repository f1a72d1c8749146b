"""EM: the E-step against enumeration, the M-step against an optimiser, an objective that rises."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.elimination import Elimination
from colonnade.exceptions import ConvergenceWarning, InputError, NotSupportedError, TooLargeError
from colonnade.missing import completions
from colonnade.missing.em import EM
from colonnade.missing.gaps import Members, find_gaps
from colonnade.network import BayesianNetwork, fit
from colonnade.pooling import Variational
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, Prior, SymmetricDirichlet
from colonnade.variables import Family, Variable

FIXED = [BDeu(3), BDeu(0.1), SymmetricDirichlet(), SymmetricDirichlet(0.2), MaximumLikelihood()]
POOLED = [Hierarchical(), Hierarchical(s=0.3), Hierarchical(s="learn"), Hierarchical(alpha0=2.5)]


@st.composite
def gappy(draw, most=4, rows=12):
    """A graph, its variables, and a table that lacks values."""
    names = [f"v{k}" for k in range(draw(st.integers(1, most)))]
    pairs = list(itertools.combinations(draw(st.permutations(names)), 2))
    dag = Dag(draw(st.permutations([pair for pair in pairs if draw(st.booleans())])), names)
    declared = [Variable(name, range(draw(st.integers(1, 3)))) for name in names]
    row = st.tuples(*(st.sampled_from([None, *variable.states]) for variable in declared))
    table = draw(st.lists(row, max_size=rows))
    return dag, declared, {name: [row[k] for row in table] for k, name in enumerate(names)}


def rounds(table, dag, prior, number, **options):
    """The network after some iterations, however far it is from convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(table, dag, prior, missing=EM(tolerance=1e-300, iterations=number), **options)


# ----------------------------------------------------------------- brute force


def relevant(dag, row):
    """Variables that are observed, or lead to one that is."""
    return dag.ancestors([name for name in dag.variables if row[name] is not None])


def expected_by_enumeration(dag, families, rows, weights, tables):
    """Expected counts ``[configuration, state]`` and log likelihood, over all completions."""
    counts = {name: np.zeros((f.configurations, f.cardinality)) for name, f in families.items()}
    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        names = [name for name in dag.order if name in relevant(dag, row)]
        choices = [families[n].child.states if row[n] is None else (row[n],) for n in names]
        found = []
        for states in itertools.product(*choices):
            full = dict(zip(names, states, strict=True))
            cells = [
                (
                    n,
                    families[n].configuration_index([full[p] for p in dag.parents(n)]),
                    families[n].child.index(full[n]),
                )
                for n in names
            ]
            found.append((math.prod(tables[n][place, k] for n, place, k in cells), cells))
        mass = math.fsum(p for p, _ in found)
        total += weight * math.log(mass)
        for p, cells in found:
            for name, place, k in cells:
                counts[name][place, k] += weight * p / mass
    return counts, total


def start_tables(network, prior, table, dag, declared):
    """The tables the first iteration begins with: those of the rows complete for each family."""
    if isinstance(prior, MaximumLikelihood):
        prior = SymmetricDirichlet()
    start = fit(table, dag, prior, variables=declared, missing="available")
    return {name: start[name].probabilities for name in network}


def rows_of(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


@given(gappy(), st.sampled_from(FIXED + POOLED[:2]))
@settings(max_examples=150)
def test_the_first_round_against_enumeration(drawn, prior):
    dag, declared, table = drawn
    start = fit(table, dag, prior, variables=declared, missing="em")
    if start.diagnostics.iterations == 0:
        assert start == fit(table, dag, prior, variables=declared, missing="available")
        return
    network = rounds(table, dag, prior, 1, variables=declared)
    families = {name: network[name].family for name in network}
    tables = start_tables(network, prior, table, dag, declared)
    rows = rows_of(table)
    wanted, _ = expected_by_enumeration(dag, families, rows, [1.0] * len(rows), tables)
    for name, cpt in network.tables.items():
        np.testing.assert_allclose(cpt.counts.to_array(), wanted[name], rtol=1e-9, atol=1e-12)
        assert cpt == Cpt.of(cpt.family, cpt.counts, prior)


@given(gappy(rows=6), st.sampled_from(FIXED), st.data())
@settings(max_examples=60)
def test_four_rounds_against_enumeration(drawn, prior, data):
    # With a fixed alpha the tables of an iteration are the posterior means of its counts.
    dag, declared, table = drawn
    size = len(table[dag.variables[0]])
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=size, max_size=size))
    if fit(table, dag, prior, variables=declared, missing="em").diagnostics.iterations == 0:
        return
    network = rounds(table, dag, prior, 4, variables=declared, weights=weights)
    done = network.diagnostics.iterations
    families = {name: network[name].family for name in network}
    start = prior if not isinstance(prior, MaximumLikelihood) else SymmetricDirichlet()
    begin = fit(table, dag, start, variables=declared, weights=weights, missing="available")
    tables = {name: begin[name].probabilities for name in network}
    for _ in range(done):
        counts, likelihood = expected_by_enumeration(dag, families, rows_of(table), weights, tables)
        last = tables
        tables = {}
        for name, family in families.items():
            estimate = FamilyCounts.from_array(counts[name], family.parent_sizes)
            fresh = prior.estimate(estimate)
            tables[name] = np.where(np.isnan(fresh), last[name], fresh)
    for name, cpt in network.tables.items():
        np.testing.assert_allclose(cpt.counts.to_array(), counts[name], rtol=1e-7, atol=1e-10)
    penalty = sum(_penalty(prior, families[name], last[name]) for name in families)
    assert network.diagnostics.objective[-1] == pytest.approx(
        likelihood + penalty, rel=1e-8, abs=1e-8
    )


def _penalty(prior, family, table):
    """- s KL(alpha || theta) for every configuration, alpha uniform."""
    r = family.cardinality
    s = {
        BDeu: lambda: prior.ess / family.configurations,
        SymmetricDirichlet: lambda: r if prior.s is None else prior.s,
        MaximumLikelihood: lambda: 0.0,
    }[type(prior)]()
    if not s:
        return 0.0
    return -s * float((np.log(1 / r) - np.log(table)).sum()) / r


# --------------------------------------------------------------------- laws


@given(gappy(), st.sampled_from(FIXED + POOLED))
@settings(max_examples=150)
def test_the_objective_never_falls(drawn, prior):
    dag, declared, table = drawn
    network = rounds(table, dag, prior, 12, variables=declared)
    objective = np.array(network.diagnostics.objective)
    scale = 1.0 + np.abs(objective).max(initial=0.0)
    assert (np.diff(objective) >= -1e-11 * scale).all()


def test_the_likelihood_of_maximum_likelihood_never_falls():
    table, dag, _ = chain(60, 0.4)
    prior = MaximumLikelihood("uniform")
    values = [
        rounds(table, dag, prior, number).log_likelihood(table).sum() for number in range(1, 12)
    ]
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > values[0] + 0.01
    network = fit(table, dag, prior, missing=EM(tolerance=1e-12))
    assert network.diagnostics.objective[-1] == pytest.approx(
        network.log_likelihood(table).sum(), abs=1e-6
    )


def chain(rows, gaps, seed=0):
    """A sample of a -> b -> c, b -> d, with values missing at random places."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 3, rows))
    c = np.where(rng.random(rows) < 0.8, b % 2, rng.integers(0, 2, rows))
    d = np.where(rng.random(rows) < 0.7, b, rng.integers(0, 3, rows))
    full = {"a": a, "b": b, "c": c, "d": d}
    table = {
        name: [None if rng.random() < gaps else int(state) for state in column]
        for name, column in full.items()
    }
    return table, Dag([("a", "b"), ("b", "c"), ("b", "d")]), full


@pytest.mark.parametrize("prior", FIXED + POOLED, ids=repr)
def test_converged_tables_belong_to_their_counts(prior):
    table, dag, _ = chain(80, 0.3)
    network = fit(table, dag, prior, missing="em")
    diagnostics = network.diagnostics
    assert diagnostics.converged
    assert diagnostics.iterations == len(diagnostics.objective)
    assert diagnostics.rise == diagnostics.objective[-1] - diagnostics.objective[-2]
    assert diagnostics.rows == sum(None in row for row in zip(*table.values(), strict=True))
    for cpt in network.tables.values():
        assert cpt == Cpt.of(cpt.family, cpt.counts, prior)
        assert not cpt.counts.integral
    # One more look at the same rows changes nothing any more.
    again = fit(table, dag, prior, missing=EM(tolerance=1e-12, iterations=5000))
    for name in network:
        apart = np.abs(again[name].counts.to_array() - network[name].counts.to_array())
        assert apart.max() < 0.05


def test_the_engine_of_the_prior_makes_the_final_tables():
    table, dag, _ = chain(30, 0.3)
    quick = fit(table, dag, Hierarchical(engine=Variational()), missing="em")
    exact = fit(table, dag, Hierarchical(), missing="em")
    for name in quick:
        assert quick[name].counts == exact[name].counts
        assert quick[name].posterior.alpha.engine == Variational()
        assert not np.array_equal(quick[name].probabilities, exact[name].probabilities)


def test_values_missing_because_of_what_is_observed():
    # a is lost whenever b is 1: the complete rows then say that b is always 0.
    rng = np.random.default_rng(4)
    a = rng.random(20_000) < 0.3
    b = np.where(a, rng.random(20_000) < 0.9, rng.random(20_000) < 0.2)
    lost = b & (rng.random(20_000) < 0.8)
    table = {"a": [None if gone else bool(x) for x, gone in zip(a, lost, strict=True)], "b": b}
    dag = Dag([("a", "b")])
    filled = fit(table, dag, missing="em")
    available = fit(table, dag, missing="available")
    assert filled["a"].probabilities[0, 1] == pytest.approx(0.3, abs=0.02)
    assert filled["b"].probabilities[:, 1] == pytest.approx([0.2, 0.9], abs=0.02)
    assert abs(available["a"].probabilities[0, 1] - 0.3) > 0.1
    assert abs(available["b"].probabilities[1, 1] - 0.9) > 0.1


def test_what_nothing_depends_on_is_not_counted():
    # A missing child tells nothing about its table, nor about its parents.
    table = {"a": [0, 0, 1, 1, None], "b": [0, 1, None, None, None]}
    network = fit(table, Dag([("a", "b")]), missing="em")
    assert network["a"].counts.to_array().tolist() == [[2, 2]]
    assert network["b"].counts.to_array().tolist() == [[1, 1], [0, 0]]
    assert network.diagnostics.iterations == 0
    assert network.diagnostics.rows == 3
    assert network == fit(table, Dag([("a", "b")]), missing="available")


def test_a_table_without_gaps_is_just_counted():
    _, dag, full = chain(50, 0.0)
    assert fit(full, dag, missing="em") == fit(full, dag)


@pytest.mark.parametrize("prior", [Hierarchical(), MaximumLikelihood()], ids=repr)
def test_equal_rows_are_handled_once(prior):
    table, dag, _ = chain(40, 0.3)
    many = {name: column * 3 for name, column in table.items()}
    one = fit(table, dag, prior, missing="em", weights=np.full(40, 3))
    three = fit(many, dag, prior, missing="em")
    assert one.diagnostics.cases == three.diagnostics.cases
    assert three.diagnostics.rows == 3 * one.diagnostics.rows
    for name in one:
        left, right = one[name].counts.to_array(), three[name].counts.to_array()
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-3)
    zero = fit(many, dag, prior, missing="em", weights=[1] * 40 + [0] * 80)
    plain = fit(table, dag, prior, missing="em")
    assert zero.diagnostics.objective == pytest.approx(plain.diagnostics.objective)
    assert zero.diagnostics.rows == plain.diagnostics.rows


@pytest.mark.parametrize("times", [1, 10])
def test_the_tolerance_is_per_row(times):
    table, dag, _ = chain(40, 0.3)
    settings = EM(tolerance=1e-4)
    network = fit(table, dag, missing=settings, weights=np.full(40, times))
    rises = np.diff(network.diagnostics.objective)
    assert rises[-1] <= 1e-4 * 40 * times < rises[-2]


def test_every_variable_may_have_its_own_prior():
    table, dag, _ = chain(40, 0.3)
    own = {"a": MaximumLikelihood(), "b": BDeu(2), "c": SymmetricDirichlet()}
    network = fit(table, dag, missing="em", per_variable=own)
    assert network.priors == {**own, "d": Hierarchical()}
    objective = np.diff(network.diagnostics.objective)
    assert (objective > -1e-9).all()


def test_a_variable_that_was_never_seen():
    table = {"a": [None] * 6, "b": [0, 1, 0, 1, 1, 1]}
    dag = Dag([("a", "b")])
    network = fit(table, dag, variables={"a": ["u", "v"]}, missing="em")
    np.testing.assert_allclose(network["a"].probabilities, 0.5)
    rows = network["b"].probabilities
    np.testing.assert_allclose(rows[0], rows[1])


def test_impossible_rows_stay_possible_under_maximum_likelihood():
    table = {"a": [0, 0, 1, None, None], "b": [0, 0, 0, 1, 1]}
    network = fit(table, Dag([("a", "b")]), MaximumLikelihood(), missing="em")
    assert np.isfinite(network.log_likelihood(table)).all()


def test_wide_families_stay_sparse():
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(10)]
    known = [Variable(name, range(20)) for name in [*names, "x"]]
    dag = Dag([(name, "x") for name in names], [*names, "x"])
    table = {variable.name: rng.integers(0, 20, 300).tolist() for variable in known}
    table["p3"][0] = table["p7"][0] = table["p1"][5] = None
    network = fit(table, dag, BDeu(), missing="em", variables=known)
    assert network["x"].counts.observed == 298 + 400 + 20
    assert network["x"].counts.total == pytest.approx(300)
    for name in names:
        table[name][0] = None
    with pytest.raises(TooLargeError, match="missing values that depend on each other"):
        fit(table, dag, missing="em", variables=known)
    with pytest.raises(TooLargeError):
        network.log_likelihood(table)


def test_all_completions_together_may_be_too_many():
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(5)]
    known = [Variable(name, range(20)) for name in [*names, "x"]]
    dag = Dag([(name, "x") for name in names], [*names, "x"])
    table = {variable.name: rng.integers(0, 20, 1000).tolist() for variable in known}
    for name in names[:4]:
        table[name] = [None] * 1000
    with pytest.raises(TooLargeError, match="EM over all completions") as caught:
        fit(table, dag, missing="em", variables=known)
    assert caught.value.size > 1000 * 20**4


# --------------------------------------------------------------------- bounds


def test_a_warning_if_it_was_not_enough():
    table, dag, _ = chain(60, 0.4)
    with pytest.warns(ConvergenceWarning, match="EM stopped after 2 iterations"):
        network = fit(table, dag, missing=EM(iterations=2))
    assert not network.diagnostics.converged
    assert network.diagnostics.iterations == 2


@pytest.mark.parametrize(
    "options",
    [
        *({"tolerance": value} for value in (0, 1.0, "x", True)),
        *({"iterations": value} for value in (0, 2.5, True)),
    ],
)
def test_settings_are_checked(options):
    with pytest.raises(InputError, match=next(iter(options))):
        EM(**options)


def test_a_prior_without_a_penalty():
    class Odd(Prior):
        def posterior(self, counts):
            return BDeu().posterior(counts)

    table, dag, _ = chain(10, 0.5)
    with pytest.raises(NotSupportedError, match="there is no penalty"):
        fit(table, dag, Odd(), missing="em")


def test_nothing_is_printed_by_a_quick_run(capfd):
    table, dag, _ = chain(30, 0.3)
    fit(table, dag, missing="em")
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


def test_networks_from_em_can_learn_more():
    table, dag, full = chain(40, 0.3)
    network = fit(table, dag, missing="em")
    back = network.update(full).forget(full)
    assert back.diagnostics is None
    for name in network:
        np.testing.assert_allclose(back[name].probabilities, network[name].probabilities, rtol=1e-9)
    assert isinstance(network + network, BayesianNetwork)


# -------------------------------------------------------------------- the parts


@given(st.data())
@settings(max_examples=100)
def test_elimination_against_one_big_sum(data):
    sizes = {k: data.draw(st.integers(1, 3)) for k in range(data.draw(st.integers(1, 4)))}
    subsets = st.lists(st.sampled_from(sorted(sizes)), min_size=1, unique=True)
    scopes = [tuple(sorted(s)) for s in data.draw(st.lists(subsets, min_size=1, max_size=5))]
    used = sorted({v for scope in scopes for v in scope})
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    cases = data.draw(st.integers(1, 3))
    factors = [
        rng.gamma(0.3, size=(cases, *(sizes[v] for v in scope)))
        * (rng.random((cases, *(sizes[v] for v in scope))) < 0.9)
        for scope in scopes
    ]
    operands = [x for f, s in zip(factors, scopes, strict=True) for x in (f, [9, *s])]
    joint = np.einsum(*operands, [9, *used])
    with np.errstate(divide="ignore"):
        logs = [np.log(factor) for factor in factors]
        wanted = np.log(joint.reshape(cases, -1).sum(axis=1))
    plan = Elimination.of(sizes, scopes)
    total, marginals = plan.marginals(logs)
    np.testing.assert_allclose(total, wanted, rtol=1e-10, atol=1e-10)
    # A single variable is summed directly, which rounds otherwise.
    np.testing.assert_allclose(plan.log_total(logs), total, rtol=1e-14, atol=1e-14)
    mass = joint.reshape(cases, -1).sum(axis=1)
    for scope, marginal in zip(scopes, marginals, strict=True):
        axes = tuple(1 + k for k, v in enumerate(used) if v not in scope)
        share = joint.sum(axis=axes) / np.where(mass > 0, mass, 1).reshape(-1, *(1 for _ in scope))
        np.testing.assert_allclose(marginal, share, rtol=1e-9, atol=1e-12)


def test_elimination_of_a_long_chain_stays_small():
    sizes = dict.fromkeys(range(50), 4)
    plan = Elimination.of(sizes, [(0,), *((k, k + 1) for k in range(49))])
    assert plan.cells == 16
    rng = np.random.default_rng(0)
    first = rng.dirichlet(np.ones(4), size=1)
    steps = [rng.dirichlet(np.ones(4), size=(1, 4)) for _ in range(49)]
    total, marginals = plan.marginals([np.log(first), *(np.log(step) for step in steps)])
    np.testing.assert_allclose(total, 0.0, atol=1e-12)
    row = first[0]
    for step, marginal in zip(steps, marginals[1:], strict=True):
        np.testing.assert_allclose(marginal[0], row[:, None] * step[0], rtol=1e-10)
        row = row @ step[0]


def test_probabilities_too_small_for_floating_point():
    plan = Elimination.of({0: 2}, [(0,), (0,)])
    logs = [np.array([[-2000.0, -2001.0]]), np.array([[-3000.0, -3000.0]])]
    total, (share, _) = plan.marginals(logs)
    assert total[0] == pytest.approx(-5000 + math.log1p(math.exp(-1)))
    assert share[0, 0] == pytest.approx(1 / (1 + math.exp(-1)))


def test_what_is_not_a_number_is_not_lost():
    plan = Elimination.of({0: 2, 1: 2}, [(0,), (0, 1)])
    wide = np.zeros((1, 2, 2))
    for bad in ([np.nan, -np.inf], [-np.inf, np.nan], [np.nan, 0.0], [0.0, np.nan]):
        assert np.isnan(plan.log_total([np.array([bad]), wide]))[0]
    assert plan.log_total([np.full((1, 2), -np.inf), wide])[0] == -np.inf


def test_factors_may_have_their_variables_in_any_order():
    rng = np.random.default_rng(0)
    sizes = {3: 2, 5: 3, 8: 4}
    scopes = [(8, 3), (5, 8), (3,), (5, 3, 8)]
    factors = [rng.gamma(1.0, size=(2, *(sizes[v] for v in scope))) for scope in scopes]
    operands = [x for f, s in zip(factors, scopes, strict=True) for x in (f, [0, *s])]
    total, marginals = Elimination.of(sizes, scopes).marginals([np.log(f) for f in factors])
    mass = np.einsum(*operands, [0])
    np.testing.assert_allclose(total, np.log(mass))
    for scope, marginal in zip(scopes, marginals, strict=True):
        wanted = np.einsum(*operands, [0, *scope]) / mass.reshape(-1, *(1 for _ in scope))
        np.testing.assert_allclose(marginal, wanted)


def test_gaps_of_one_row_fall_apart():
    # a -> b -> c -> d -> e with b and d missing: given c they have nothing to do with each other.
    chain = Members((2,) * 5, ((0,), (0, 1), (1, 2), (2, 3), (3, 4)), (0, 1, 2, 3, 4))
    rows = np.array([[0, 2, 1, 2, 0], [0, 2, 1, 2, 1], [0, 2, 2, 2, 1], [0, 0, 1, 2, 2]])
    found = {gap.missing: gap for gap in find_gaps(chain, rows, np.array([1.0, 2.0, 4.0, 8.0]))}
    assert set(found) == {(1,), (3,), (1, 2, 3)}
    assert found[(1,)].known == (0, 2)
    assert found[(1,)].weights.tolist() == [3.0]
    assert found[(3,)].weights.tolist() == [1.0, 2.0]
    assert found[(1, 2, 3)].families == (1, 2, 3, 4)


def test_gaps_of_more_variables_than_a_word_has_bits():
    # A chain of 70 variables of which each row lacks two neighbours; what is around them decides.
    rng = np.random.default_rng(0)
    count, states = 70, 5
    families = ((0,), *((k - 1, k) for k in range(1, count)))
    members = Members((states,) * count, families, tuple(range(count)))
    rows = rng.integers(0, 2, size=(500, count))
    hole = rng.integers(1, count - 2, size=500)
    rows[np.arange(500), hole] = rows[np.arange(500), hole + 1] = states
    gaps = find_gaps(members, rows, np.ones(500))
    around = {}
    for row, k in zip(rows, hole, strict=True):
        around.setdefault((k, k + 1), set()).add((row[k - 1], row[k + 2]))
    assert {gap.missing: set(map(tuple, gap.codes)) for gap in gaps} == around
    assert sum(gap.weights.sum() for gap in gaps) == 500
    for gap in gaps:
        first, last = gap.missing
        assert gap.known == (first - 1, last + 1)
        assert gap.families == (first, last, last + 1)
        np.testing.assert_array_equal(rows[gap.rows][:, gap.known], gap.codes[gap.case])


def test_cases_taken_in_turns(monkeypatch):
    table, dag, _ = chain(200, 0.4)
    network = fit(table, dag, missing="em")
    together = network.log_likelihood(table)
    monkeypatch.setattr(completions, "_MAX_BLOCK_COMPLETIONS", 7)
    np.testing.assert_allclose(network.log_likelihood(table), together, rtol=1e-13)


@given(st.data())
@settings(max_examples=50)
def test_the_best_alpha_against_an_optimiser(data):
    r = data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    values = rng.gamma(0.5, 4.0, size=(data.draw(st.integers(1, 5)), r))
    values[rng.random(values.shape) < 0.3] = 0.0
    prior = Hierarchical(
        s=data.draw(st.sampled_from([0.1, 1.0, 30.0])),
        alpha0=data.draw(st.sampled_from([0.5, 1.0, 4.0])),
    )
    s, alpha0 = prior.s, prior.alpha0
    counts = FamilyCounts.from_array(values)
    penalty = prior.em_penalty(counts).moved(values)

    def objective(alpha):
        rows = (values + s * alpha) / (values.sum(axis=1, keepdims=True) + s)
        pull = -s * (alpha * (np.log(alpha) - np.log(rows))).sum()
        return (values * np.log(rows)).sum() + pull + alpha0 * np.log(alpha).sum()

    def negative(y):
        alpha = np.exp(y - y.max())
        return -objective(alpha / alpha.sum())

    best = -optimize.minimize(
        negative,
        np.log(penalty.alpha),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    ).fun
    other = -optimize.minimize(negative, np.zeros(r), method="BFGS").fun
    assert objective(penalty.alpha) >= max(best, other) - 1e-8 * (1 + abs(best))
    # The rows are the best for this alpha, too.
    rows = penalty.rows(values, values)
    for _ in range(5):
        moved = rows * np.exp(rng.normal(scale=0.01, size=rows.shape))
        moved /= moved.sum(axis=1, keepdims=True)
        at, away = ((values * np.log(t)).sum() + penalty.value(np.log(t)) for t in (rows, moved))
        assert at >= away


def test_brute_force_would_notice():
    # The test of the E-step is worth something only if wrong tables fail it.
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    families = {"a": Family(a), "b": Family(b, (a,))}
    rows = [{"a": None, "b": 1}]
    one = {"a": np.array([[0.5, 0.5]]), "b": np.array([[0.9, 0.1], [0.2, 0.8]])}
    counts, total = expected_by_enumeration(Dag([("a", "b")]), families, rows, [1.0], one)
    np.testing.assert_allclose(counts["a"], [[1 / 9, 8 / 9]])
    assert total == pytest.approx(math.log(0.45))
