"""Queries against brute force over all states, and against pyAgrum itself."""

import itertools
import math
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.elimination import Elimination, Plan, plan, write_program
from colonnade.elimination.layout import Workspace
from colonnade.exceptions import DataError, InputError, NotSupportedError, TooLargeError
from colonnade.inference import most_probable, query
from colonnade.network import BayesianNetwork, fit
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.tables import discretize
from colonnade.variables import Family, Variable
from drawn_networks import conditional, joint, networks, random_rows, states


@st.composite
def questions(draw, **options):
    """A network, targets and observed codes."""
    network = draw(networks(**options))
    order = draw(st.permutations(list(network)))
    cut = draw(st.integers(1, len(order)))
    targets = order[: draw(st.integers(1, min(3, cut)))]
    observed = {
        name: draw(st.integers(0, network[name].family.cardinality - 1)) for name in order[cut:]
    }
    return network, targets, observed


def in_states(network, observed):
    return {name: network[name].family.child.states[code] for name, code in observed.items()}


def complete(network):
    return all(network[name].table.complete for name in network)


@given(questions())
def test_query_agrees_with_brute_force(question) -> None:
    network, targets, observed = question
    assume(complete(network))
    wanted = conditional(network, joint(network), targets, observed)
    if wanted is None:
        with pytest.raises(DataError, match=r"cannot occur( together)?: the probability is 0"):
            query(network, targets, in_states(network, observed))
        return
    result = query(network, targets, in_states(network, observed))
    assert result.targets == tuple(targets)
    assert result.states == tuple(network[name].family.child.states for name in targets)
    np.testing.assert_allclose(result.probabilities, wanted, atol=1e-12)
    if len(targets) == 1:
        alone = query(network, targets[0], in_states(network, observed))
        np.testing.assert_allclose(alone.probabilities, wanted, atol=1e-12)


@given(questions(known=True, states=states(3)))
def test_query_agrees_with_pyagrum(question) -> None:
    gum = pytest.importorskip("pyagrum")
    network, targets, observed = question
    model = gum.BayesNet()
    names = {name: f"n{k}" for k, name in enumerate(network)}
    for name in network:
        size = max(2, network[name].family.cardinality)
        model.add(gum.LabelizedVariable(names[name], "", size))
    for name in network:
        family = network[name].family
        for parent in family.parents:
            model.addArc(names[parent.name], names[name])
    for name in network:
        family = network[name].family
        tensor = model.cpt(names[name])
        tensor.fillWith(0.5)
        for row, probabilities in enumerate(network[name].probabilities):
            codes = dict(
                zip(
                    [names[p.name] for p in family.parents],
                    np.unravel_index(row, family.parent_sizes) if family.parents else (),
                    strict=True,
                )
            )
            cells = [*probabilities, 0.0] if family.cardinality == 1 else probabilities
            tensor[{key: int(code) for key, code in codes.items()}] = list(cells)
    # What is impossible but does not touch the targets, pyAgrum may pass over.
    if conditional(network, joint(network), targets, observed) is None:
        with pytest.raises(DataError, match=r"cannot occur( together)?: the probability is 0"):
            query(network, targets, in_states(network, observed))
        return
    engine = gum.LazyPropagation(model)
    engine.setEvidence({names[name]: code for name, code in observed.items()})
    engine.makeInference()
    wanted = [engine.posterior(names[name]).toarray() for name in targets]
    for name, posterior in zip(targets, wanted, strict=True):
        found = query(network, name, in_states(network, observed)).probabilities
        np.testing.assert_allclose(found, posterior[: len(found)], atol=1e-12)


@given(questions())
def test_most_probable_agrees_with_brute_force(question) -> None:
    network, _, observed = question
    assume(complete(network))
    table = joint(network)
    index = [slice(None)] * table.ndim
    for k, name in enumerate(network):
        if name in observed:
            index[k] = slice(observed[name], observed[name] + 1)
    best = table[tuple(index)].max()
    if best == 0.0:
        with pytest.raises(DataError, match=r"cannot occur( together)?: the probability is 0"):
            most_probable(network, in_states(network, observed))
        return
    found = most_probable(network, in_states(network, observed))
    assert list(found.states) == list(network)
    codes = [network[name].family.child.index(state) for name, state in found.states.items()]
    assert all(codes[list(network).index(name)] == code for name, code in observed.items())
    np.testing.assert_allclose(table[tuple(codes)], best, rtol=1e-12)
    np.testing.assert_allclose(found.log_probability, math.log(best), atol=1e-12)


# ------------------------------------------------------------------ long networks


def chain(length, rng, letters=10):
    """A hidden Markov chain with one observation a step."""
    hidden = [Variable(f"h{k}", [0, 1]) for k in range(length)]
    seen = [Variable(f"o{k}", range(letters)) for k in range(length)]
    start, step = random_rows(rng, 1, 2), rng.dirichlet([1, 1], size=2)
    emission = rng.dirichlet(np.ones(letters), size=2)
    tables = {}
    for k in range(length):
        family = Family(hidden[k], hidden[k - 1 : k] if k else [])
        tables[f"h{k}"] = Cpt.known(family, step if k else start)
        tables[f"o{k}"] = Cpt.known(Family(seen[k], [hidden[k]]), emission)
    arcs = [(f"h{k}", f"h{k + 1}") for k in range(length - 1)]
    arcs += [(f"h{k}", f"o{k}") for k in range(length)]
    return BayesianNetwork(Dag(arcs), tables), start[0], step, emission


def test_probabilities_too_small_for_floating_point() -> None:
    """Far beyond 1e-308, where pyAgrum reports impossible evidence; against forward-backward."""
    rng = np.random.default_rng(5)
    network, start, step, emission = chain(600, rng)
    letters = rng.integers(10, size=600)
    forward = start * emission[:, letters[0]]
    for letter in letters[1:300]:
        forward = (forward @ step) * emission[:, letter]
        forward /= forward.sum()
    backward = np.ones(2)
    for letter in letters[:299:-1]:
        backward = step @ (emission[:, letter] * backward)
        backward /= backward.sum()
    wanted = forward * backward / (forward @ backward)
    observed = {f"o{k}": int(letter) for k, letter in enumerate(letters)}
    np.testing.assert_allclose(query(network, "h299", observed).probabilities, wanted, atol=1e-12)
    best = most_probable(network, observed)
    assert best.log_probability < -800
    # Viterbi
    score = np.log(start) + np.log(emission[:, letters[0]])
    for letter in letters[1:]:
        score = (score[:, None] + np.log(step)).max(axis=0) + np.log(emission[:, letter])
    assert best.log_probability == pytest.approx(score.max(), rel=1e-12)


def test_log_elimination_equals_the_plain_one() -> None:
    """More cases than a batch has, some of them with a factor too small for plain numbers."""
    rng = np.random.default_rng(3)
    scopes = [(0,), (0, 1), (1, 2), (2, 0, 3)]
    logs = [np.log(rng.random((70, *[2] * len(scope)))) for scope in scopes]
    shift = rng.choice([0.0, 440.0, 470.0, 700.0, 2000.0], size=70)
    tiny = [logs[0] - shift[:, None], *logs[1:]]
    elimination = Elimination.of(dict.fromkeys(range(4), 2), scopes, keep=(3, 1))
    table, total = elimination.table(logs)
    again, small = elimination.table(tiny)
    np.testing.assert_allclose(again, table, atol=1e-12)
    np.testing.assert_allclose(small, total - shift, atol=1e-9)
    marginals = elimination.marginals(logs)[1]
    for one, other in zip(marginals, elimination.marginals(tiny)[1], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    for case in range(70):
        alone, _ = elimination.table([factor[case : case + 1] for factor in logs])
        np.testing.assert_allclose(alone[0], table[case], atol=1e-14)


@pytest.mark.parametrize("cases", [1, 5])
def test_negligible_rows_do_no_harm(cases) -> None:
    """A row of a product whose sum is so small that its reciprocal is infinite."""
    elimination = Elimination({0: 2, 1: 2}, ((0, 1), (0,)), order=(1, 0), keep=(), cells=4)
    first = np.broadcast_to(np.log([[0.5, 0.5], [1e-309, 2e-309]]), (cases, 2, 2))
    second = np.broadcast_to(np.log([0.5, 0.5]), (cases, 2))
    log_total, marginals = elimination.marginals([first, second])
    np.testing.assert_allclose(log_total, np.log(0.5))
    for marginal, wanted in zip(marginals, ([[0.5, 0.5], [0, 0]], [1.0, 0.0]), strict=True):
        np.testing.assert_allclose(marginal, np.broadcast_to(wanted, marginal.shape), atol=1e-300)


def test_a_batch_of_long_rows_fits_beside_a_large_program() -> None:
    """The large program makes room for many cases of the small one; so must be that for rows."""
    small = Elimination.of({0: 3000}, [(0,), (0,)])
    large = Elimination.of({0: 500, 1: 500}, [(0, 1)])
    program = write_program([small, large])
    work = Workspace.of(program, back=False)
    assert work.shares.size >= min(32, work.values.size // program.values[0]) * 3000


def test_the_largest_cell() -> None:
    rng = np.random.default_rng(8)
    scopes = [(0, 2), (1,), (2, 1), (3, 0), ()]
    sizes = {0: 2, 1: 3, 2: 4, 3: 2}
    logs = [np.log(rng.random((5, *(sizes[v] for v in scope)))) for scope in scopes]
    operands = [x for f, s in zip(logs, scopes, strict=True) for x in (np.exp(f), [9, *s])]
    joint = np.einsum(*operands, [9, 0, 1, 2, 3])
    log_total, cells = Elimination.of(sizes, scopes).marginals(logs, largest=True)
    np.testing.assert_allclose(log_total, np.log(joint.reshape(5, -1).max(axis=1)))
    for case in range(5):
        best = np.unravel_index(joint[case].argmax(), joint[case].shape)
        for scope, cell in zip(scopes, cells, strict=True):
            assert cell[case].sum() == 1.0
            assert cell[case][tuple(best[v] for v in scope)] == 1.0


def test_no_largest_cell_when_nothing_is_possible() -> None:
    with np.errstate(divide="ignore"):
        factors = [np.log([[1.0, 0.0]]), np.log([[0.0, 1.0]])]
    log_total, cells = Elimination.of({0: 2}, [(0,), (0,)]).marginals(factors, largest=True)
    assert log_total[0] == -np.inf
    assert not any(cell.any() for cell in cells)


# ------------------------------------------------------------------------ draws


def small_network(prior=None):
    """Three variables with counts: a -> c <- b, and d below c."""
    rng = np.random.default_rng(1)
    a, b = Variable("a", ["no", "yes"]), Variable("b", [0, 1, 2])
    c, d = Variable("c", [False, True]), Variable("d", ["x", "y"])
    families = [Family(a), Family(b), Family(c, [a, b]), Family(d, [c])]
    tables = {}
    for family in families:
        counts = rng.integers(1, 8, size=(family.configurations, family.cardinality))
        if family.child is c:
            counts[-1] = 0  # a configuration never seen
        counts = FamilyCounts.from_array(counts, family.parent_sizes)
        tables[family.child.name] = Cpt.of(family, counts, prior or Hierarchical())
    return BayesianNetwork(Dag([("a", "c"), ("b", "c"), ("c", "d")]), tables)


def brute_force_draws(network, targets, observed, draws, rng):
    """The same intervals by drawing whole tables and enumerating all states."""
    tables = {name: network[name].posterior.sample(draws, rng) for name in network}
    found = []
    for k in range(draws):
        table = joint(network, {name: sample[k] for name, sample in tables.items()})
        found.append(conditional(network, table, targets, observed))
    return np.array(found)


@pytest.mark.parametrize("prior", [Hierarchical(), BDeu(6), Hierarchical(s="learn")])
@pytest.mark.parametrize("observed", [{}, {"d": "y"}, {"c": True}, {"d": "x", "b": 2}])
def test_draws_agree_with_brute_force(prior, observed) -> None:
    network = small_network(prior)
    codes = {name: network[name].family.child.index(state) for name, state in observed.items()}
    wanted = brute_force_draws(network, ["a"], codes, 4000, np.random.default_rng(7))[:, 1]
    result = query(network, "a", observed, draws=4000, level=0.9, rng=8)
    found = result.samples[:, 1]
    # Two samples of 4000: a difference of means beyond 5 standard errors is a fault.
    error = math.hypot(wanted.std(), found.std()) / math.sqrt(4000)
    assert abs(found.mean() - wanted.mean()) < 5 * error
    ks = np.abs(
        np.searchsorted(np.sort(found), np.sort(wanted), side="right") / 4000
        - np.arange(1, 4001) / 4000
    ).max()
    assert ks < 2.2 / math.sqrt(2000)
    np.testing.assert_allclose(
        (result.lower[1], result.upper[1]), np.quantile(found, [0.05, 0.95]), atol=1e-12
    )


def test_without_observations_the_mean_of_the_draws_is_the_answer() -> None:
    network = small_network()
    result = query(network, ["d", "a"], draws=4000, rng=3)
    error = result.samples.std(axis=0) / math.sqrt(4000)
    assert (np.abs(result.samples.mean(axis=0) - result.probabilities) < 5 * error).all()
    assert result.samples.shape == (4000, 2, 2)
    assert (result.lower < result.probabilities).all()
    assert (result.probabilities < result.upper).all()


def test_the_point_answer_is_the_predictive_probability() -> None:
    """E[P(t, e)] / E[P(e)], not E[P(t | e)]."""
    network = small_network()
    tables = {name: network[name].posterior.sample(20000, 5) for name in network}
    # P(a, d) by hand, over all draws at once.
    c_given_a = np.einsum("nb,nabc->nac", tables["b"][:, 0], tables["c"].reshape(-1, 2, 3, 2))
    together = np.einsum("na,nac,nc->na", tables["a"][:, 0], c_given_a, tables["d"][:, :, 1])
    ratio = together.mean(axis=0) / together.mean(axis=0).sum()
    found = query(network, "a", {"d": "y"}).probabilities
    np.testing.assert_allclose(found, ratio, atol=0.01)


def test_intervals_cover_the_truth() -> None:
    """Tables drawn from the prior, data from the tables: 80 % intervals hold 80 % of answers."""
    rng = np.random.default_rng(11)
    x, y = Variable("x", [0, 1]), Variable("y", [0, 1, 2])
    families = [Family(x), Family(y, [x])]
    prior, inside, runs = SymmetricDirichlet(), 0, 250
    for _ in range(runs):
        truth_x, truth_y = rng.dirichlet([1, 1]), rng.dirichlet([1, 1, 1], size=2)
        xs = rng.choice(2, size=30, p=truth_x)
        ys = np.array([rng.choice(3, p=truth_y[k]) for k in xs])
        count_x = np.bincount(xs, minlength=2)[None]
        count_y = np.bincount(3 * xs + ys, minlength=6).reshape(2, 3)
        tables = {
            "x": Cpt.of(families[0], FamilyCounts.from_array(count_x, ()), prior),
            "y": Cpt.of(families[1], FamilyCounts.from_array(count_y), prior),
        }
        network = BayesianNetwork(Dag([("x", "y")]), tables)
        result = query(network, "x", {"y": 1}, draws=200, level=0.8, rng=rng)
        truth = truth_x * truth_y[:, 1]
        inside += result.lower[0] <= truth[0] / truth.sum() <= result.upper[0]
    # 200 of 250 expected, standard deviation 6.3; a false alarm once in 10^5 runs.
    assert 200 - 28 <= inside <= 200 + 28


@pytest.mark.parametrize("unseen", [True, False])
def test_a_row_of_a_table_is_drawn_as_its_posterior(unseen) -> None:
    network = small_network()
    observed = {"a": "yes", "b": 2 if unseen else 1}
    result = query(network, "c", observed, draws=4000, level=0.9, rng=1)
    place = network["c"].family.configuration_index(list(observed.values()))
    assert network["c"].counts.row(place).any() != unseen
    exact = network["c"].posterior.interval(0.9, [place])
    np.testing.assert_allclose(result.lower, exact.lower[0], atol=0.02)
    np.testing.assert_allclose(result.upper, exact.upper[0], atol=0.02)


def test_only_relevant_tables_are_drawn(monkeypatch) -> None:
    network = small_network()
    drawn = []
    posteriors = {id(network[name].posterior): name for name in network}
    kind = type(network["a"].posterior)
    original = kind.draws

    def draws(self, n, rng=None, pools=None):
        drawn.append(posteriors[id(self)])
        return original(self, n, rng, pools)

    monkeypatch.setattr(kind, "draws", draws)
    query(network, "a", draws=100, rng=1)
    assert drawn == ["a"]
    drawn.clear()
    query(network, "a", {"c": True}, draws=100, rng=1)
    assert sorted(drawn) == ["a", "b", "c"]
    drawn.clear()
    # c separates d from the rest.
    query(network, "d", {"c": True, "a": "no"}, draws=100, rng=1)
    assert drawn == ["d"]


def test_known_tables_stay_fixed() -> None:
    network = small_network()
    tables = dict(network.tables)
    tables["a"] = Cpt.known(tables["a"].family, [[0.3, 0.7]])
    network = BayesianNetwork(network.dag, tables)
    result = query(network, "c", draws=300, rng=2)
    assert result.samples.std() > 0
    with pytest.raises(NotSupportedError, match=r"tables of 'a' only, which have no posterior"):
        query(network, "a", draws=100)
    with pytest.raises(NotSupportedError, match="by maximum likelihood"):
        query(small_network(MaximumLikelihood("uniform")), "a", draws=100)


def test_draws_repeat_with_their_seed() -> None:
    network = small_network()
    first = query(network, "a", {"d": "y"}, draws=100, rng=4)
    second = query(network, "a", {"d": "y"}, draws=100, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(first.samples, second.samples)


def test_draws_in_small_batches_are_as_many_and_as_independent(monkeypatch) -> None:
    network = small_network()
    whole = query(network, "a", {"d": "y"}, draws=4000, rng=4).samples[:, 0]
    monkeypatch.setattr("colonnade.inference.queries._MAX_BATCH_DRAWS", 7)
    parts = query(network, "a", {"d": "y"}, draws=4000, rng=4).samples[:, 0]
    assert len(set(parts)) == 4000
    error = math.hypot(whole.std(), parts.std()) / math.sqrt(4000)
    assert abs(parts.mean() - whole.mean()) < 5 * error
    assert parts.std() == pytest.approx(whole.std(), rel=0.1)


def test_draws_with_tiny_parameters() -> None:
    """Draws of such a table are 0 or 1 in floating point; the answer must not become 0/0."""
    t = Variable("t", [0, 1])
    children = [Variable(f"e{k}", [0, 1]) for k in range(2)]
    tables = {"t": Cpt.of(Family(t), FamilyCounts.from_array([[5, 5]], ()), BDeu(1))}
    for child in children:
        counts = FamilyCounts.from_observed((2,), np.zeros((0, 1), int), np.zeros((0, 2)))
        tables[child.name] = Cpt.of(Family(child, [t]), counts, BDeu(1e-3))
    network = BayesianNetwork(Dag([("t", "e0"), ("t", "e1")]), tables)
    result = query(network, "t", {"e0": 0, "e1": 1}, draws=2000, rng=6)
    assert np.isfinite(result.samples).all()
    np.testing.assert_allclose(result.samples.sum(axis=1), 1.0, atol=1e-12)
    # By symmetry the two states of t are exchangeable.
    assert abs(result.samples[:, 0].mean() - 0.5) < 0.06


# ------------------------------------------------------------------------- size


def wide_network(observed_rows=50, parents=10, size=20):
    rng = np.random.default_rng(2)
    above = [Variable(f"p{k}", range(size)) for k in range(parents)]
    child = Variable("x", ["a", "b", "c"])
    codes = rng.integers(0, size, size=(observed_rows, parents))
    values = rng.integers(1, 5, size=(observed_rows, 3))
    counts = FamilyCounts.from_observed((size,) * parents, codes, values)
    tables = {
        p.name: Cpt.of(
            Family(p),
            FamilyCounts.from_array(np.bincount(codes[:, k], minlength=size)[None], ()),
            Hierarchical(),
        )
        for k, p in enumerate(above)
    }
    tables["x"] = Cpt.of(Family(child, above), counts, Hierarchical())
    return BayesianNetwork(Dag([(p.name, "x") for p in above]), tables), codes


def test_a_table_beyond_memory() -> None:
    network, codes = wide_network()
    with pytest.raises(TooLargeError, match=r"'x' over its 10 parents .* 3\.07e13 cells") as caught:
        query(network, "x")
    assert caught.value.size == 3 * 20**10
    with pytest.raises(TooLargeError):
        most_probable(network)
    seen = {f"p{k}": int(code) for k, code in enumerate(codes[0])}
    # All parents observed: one row is enough, with its interval.
    row = network["x"].table.row(tuple(codes[0].tolist()))
    np.testing.assert_allclose(query(network, "x", seen).probabilities, row, atol=1e-12)
    result = query(network, "x", seen, draws=2000, rng=1)
    exact = network["x"].posterior.interval(0.95, [tuple(codes[0].tolist())])
    np.testing.assert_allclose(result.lower, exact.lower[0], atol=0.03)
    np.testing.assert_allclose(result.upper, exact.upper[0], atol=0.03)
    # Two parents free: 400 rows, of which nearly all are the default.
    free = {name: state for name, state in seen.items() if name not in {"p3", "p7"}}
    found = query(network, "x", free).probabilities
    wanted = np.zeros(3)
    for i, j in itertools.product(range(20), range(20)):
        config = codes[0].copy()
        config[[3, 7]] = i, j
        weight = network["p3"].probabilities[0, i] * network["p7"].probabilities[0, j]
        wanted += weight * network["x"].table.row(tuple(config.tolist()))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    best = most_probable(network, seen | {"x": "b"})
    assert best.states["x"] == "b"


def test_a_large_table_aside_does_not_disturb() -> None:
    """p0 is observed; x says nothing more about it, and all its rows are positive."""
    network, _ = wide_network()
    y = Variable("y", [0, 1])
    p0 = network["p0"].family.child
    tables = dict(network.tables)
    tables["y"] = Cpt.known(Family(y, [p0]), np.tile([0.2, 0.8], (20, 1)))
    network = BayesianNetwork(Dag([*network.dag.arcs, ("p0", "y")]), tables)
    found = query(network, "y", {"p0": 3, "x": "a"})
    np.testing.assert_allclose(found.probabilities, [0.2, 0.8])


def test_a_clique_beyond_memory() -> None:
    """No family is large, but a grid of 30 x 30 has no small order."""
    side = 30
    grid = {(i, j): Variable(f"{i},{j}", [0, 1]) for i in range(side) for j in range(side)}
    tables, arcs = {}, []
    for (i, j), variable in grid.items():
        parents = [grid[k] for k in ((i - 1, j), (i, j - 1)) if k in grid]
        arcs += [(parent.name, variable.name) for parent in parents]
        table = SparseTable(
            (2,) * len(parents), np.zeros((0, len(parents))), np.zeros((0, 2)), [0.5, 0.5]
        )
        tables[variable.name] = Cpt(Family(variable, parents), None, None, table)
    network = BayesianNetwork(Dag(arcs), tables)
    with pytest.raises(TooLargeError, match="largest table of exact inference"):
        query(network, f"{side - 1},{side - 1}")
    with pytest.raises(TooLargeError, match="largest table of exact inference"):
        query(network, [f"{k},0" for k in range(27)])
    assert query(network, "3,3")[1] == pytest.approx(0.5)


# ----------------------------------------------------------------------- errors


def test_bad_questions() -> None:
    network = small_network()
    for target in ("z", ["a", "z"], 3, ["a", 3]):
        with pytest.raises(InputError, match="`target`"):
            query(network, target)
    with pytest.raises(InputError, match="at least one name"):
        query(network, [])
    with pytest.raises(InputError, match="different names"):
        query(network, ["a", "a"])
    with pytest.raises(InputError, match="not observed for `target`, got 'a'"):
        query(network, ["b", "a"], {"a": "no"})
    with pytest.raises(InputError, match=r"names from 'a', 'c', 'b', 'd'"):
        query(network, "a", {"z": 1})
    with pytest.raises(DataError, match=r"Variable 'a': state 'maybe' is not one of 'no', 'yes'"):
        query(network, "c", {"a": "maybe"})
    with pytest.raises(DataError, match=r"Variable 'c': state 1 is not one of False, True"):
        query(network, "a", {"c": 1})
    with pytest.raises(InputError, match="`observed`"):
        query(network, "a", [("c", True)])
    for draws in (-1, 1.5, True, "5"):
        with pytest.raises(InputError, match="`draws`"):
            query(network, "a", draws=draws)
    for level in (0, 1, 95, True):
        with pytest.raises(InputError, match="`level`"):
            query(network, "a", draws=100, level=level)
    with pytest.raises(
        InputError, match=r"^`rng` applies only to draws > 0, got rng=1\. Hint: give"
    ):
        query(network, "a", rng=1)
    with pytest.raises(InputError, match=r"^`level` applies only to draws > 0, got level=0\.9\."):
        query(network, "a", level=0.9)


def test_impossible_observations() -> None:
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    tables = {
        "a": Cpt.known(Family(a), [[1.0, 0.0]]),
        "b": Cpt.known(Family(b, [a]), [[1.0, 0.0], [0.0, 1.0]]),
        "c": Cpt.known(Family(Variable("c", [0, 1])), [[0.5, 0.5]]),
    }
    network = BayesianNetwork(Dag([("a", "b")], ["a", "b", "c"]), tables)
    for target, observed in (("a", {"b": 1}), ("b", {"a": 1}), ("c", {"b": 1}), ("c", {"a": 1})):
        with pytest.raises(DataError, match="probability is 0") as caught:
            query(network, target, observed)
        assert caught.value.observed == observed
    with pytest.raises(DataError, match="probability is 0"):
        most_probable(network, {"b": 1})


def test_configurations_without_probabilities() -> None:
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    tables = {
        "a": Cpt.known(Family(a), [[0.5, 0.5]]),
        "b": Cpt.of(Family(b, [a]), FamilyCounts.from_array([[3, 1], [0, 0]]), MaximumLikelihood()),
    }
    network = BayesianNetwork(Dag([("a", "b")]), tables)
    with pytest.raises(DataError, match=r"1 of .* no probabilities, for example a = 1"):
        query(network, "b")
    np.testing.assert_allclose(query(network, "b", {"a": 0}).probabilities, [0.75, 0.25])
    np.testing.assert_allclose(query(network, "a").probabilities, [0.5, 0.5])


# ---------------------------------------------------------------------- results


def test_result_is_readable() -> None:
    network = small_network()
    result = query(network, ["a", "c"], {"d": "y"}, draws=100, rng=1)
    assert result["yes", True] == result.probabilities[1, 1]
    with pytest.raises(InputError, match="one state for each"):
        _ = result["yes"]
    with pytest.raises(DataError, match="not one of"):
        _ = result["yes", 1]
    shown = repr(result).splitlines()
    assert shown[0] == "QueryResult of 'a', 'c' given {'d': 'y'}"
    assert "95 % interval" in shown[1]
    assert len(shown) == 6
    plain = result.to_dict()
    assert plain["draws"] == 100
    assert plain["answers"][3]["states"] == ["yes", True]
    assert plain["answers"][3]["probability"] == result["yes", True]
    assert plain["answers"][0]["lower"] < plain["answers"][0]["upper"]
    with pytest.raises(ValueError, match="read-only"):
        result.probabilities[0] = 1.0
    with pytest.raises(AttributeError):
        result.level = 0.5


class NoDelay(threading.Timer):
    """A timer whose time is up at once, before anything else is done."""

    def start(self) -> None:
        self.function()


def test_progress_is_shown_when_it_takes_long(monkeypatch, capsys) -> None:
    monkeypatch.setattr("colonnade.progress.threading.Timer", NoDelay)
    monkeypatch.setattr("colonnade.inference.queries._MAX_BATCH_DRAWS", 10)
    monkeypatch.setenv("FORCE_COLOR", "1")
    query(small_network(), "a", draws=100, rng=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Draws" in captured.err


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_plan_is_an_order_and_its_size_is_true(seed) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    sizes = {k: int(rng.integers(1, 4)) for k in range(n)}
    scopes = [
        tuple(rng.choice(n, size=rng.integers(1, min(n, 3) + 1), replace=False).tolist())
        for _ in range(n)
    ]
    present = sorted({v for scope in scopes for v in scope})
    keep = present[: int(rng.integers(0, len(present)))]
    found = plan(scopes, sizes, keep)
    assert sorted((*found.order, *keep)) == present
    cliques, left = [set(keep)], [set(scope) for scope in [*scopes, keep]]
    for v in found.order:
        together = set().union(*(scope for scope in left if v in scope))
        cliques.append(together)
        left = [scope for scope in left if v not in scope] + [together - {v}]
    cells = [math.prod(sizes[v] for v in clique) for clique in cliques]
    assert found.largest == max(cells)
    assert found.cells == sum(cells)


def test_plan_takes_the_better_of_two_orders() -> None:
    # Fewest new neighbours first sums out 0 and then 1, and joins 2, 3 and 4; the sizes speak
    # against it.
    sizes = {0: 10, 1: 2, 2: 3, 3: 3, 4: 3}
    scopes = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]
    assert plan(scopes, sizes) == Plan(order=(2, 3, 4, 0, 1), largest=20, cells=65)
    # Nothing is smaller than the largest factor.
    assert plan([(0, 1), (1, 2), (2, 3)], sizes).largest == 20


@pytest.mark.parametrize(
    "states",
    [
        ("(-inf, 18]", "(18, 65.5]", "(65.5, inf)"),
        ("up to 18", "18 to 65.5", "above 65.5"),
        ("at most -1e-05", "-1e-05 to 65.5", "above 65.5"),
    ],
)
def test_a_number_for_an_interval_without_cut_points(states) -> None:
    """As it is in a network that was loaded from a file of another program."""
    cpt = Cpt.known(Family(Variable("age", states)), [[0.2, 0.3, 0.5]])
    network = BayesianNetwork(Dag([], ["age"]), {"age": cpt})
    for number, state in ((40, states[1]), (np.float64(65.5), states[1]), (10**400, states[2])):
        with pytest.raises(DataError, match=r"names of intervals, .* no cut points") as caught:
            network.most_probable({"age": number})
        assert caught.value.hint.endswith(repr(state))
    assert network.most_probable({"age": states[0]}).states == {"age": states[0]}


@pytest.mark.parametrize(
    "states", [("1 child", "2 children", "3"), ("a", "b"), (1, 2), ("1", "2"), ("1 to 2", "3 to 4")]
)
def test_other_states_are_not_taken_for_intervals(states) -> None:
    variable = Variable("x", states)
    cpt = Cpt.known(Family(variable), np.full((1, len(states)), 1 / len(states)))
    network = BayesianNetwork(Dag([], ["x"]), {"x": cpt})
    with pytest.raises(DataError, match=r"state 2\.5 is not one of"):
        network.most_probable({"x": 2.5})


def test_an_integer_beyond_all_numbers_is_refused() -> None:
    cut = discretize({"x": [0.5, 1.5, 2.5, 3.5]}, bins=2)
    network = fit(cut, Dag([], ["x"]))
    for number in (10**400, -(10**400)):
        with pytest.raises(DataError, match=r"Variable 'x': .* is infinity, or a number too large"):
            network.most_probable({"x": number})
