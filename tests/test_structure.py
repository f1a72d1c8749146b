"""Scores, hill climbing, trees, resampling and comparison."""

import itertools
import logging
import math
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.classifier import BayesianNetworkClassifier
from colonnade.counts import FamilyCounts
from colonnade.dag import Dag
from colonnade.exceptions import ConvergenceWarning, DataError, InputError, NotSupportedError
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.structure import (
    AIC,
    BIC,
    ArcStrengths,
    LogLikelihood,
    arc_strength,
    chow_liu,
    compare,
    compelled,
    hill_climb,
    kdb,
    naive_bayes,
    score,
    score_families,
    search,
    tan,
)
from colonnade.structure.columns import Columns, prepare
from colonnade.structure.scores import FamilyScores

NAMES = ("a", "b", "c", "d", "e")
TRUTH = Dag((("a", "b"), ("b", "c"), ("d", "c"), ("c", "e")), NAMES)


def drawn(rows: int, seed: int = 0, sizes: tuple[int, ...] = (2, 3, 2, 3, 2)) -> dict:
    """Rows from a network with the graph TRUTH and strong random tables."""
    rng = np.random.default_rng(seed)
    size = dict(zip(NAMES, sizes, strict=True))
    columns: dict[str, np.ndarray] = {}
    for name in TRUTH.order:
        parents = TRUTH.parents(name)
        place = np.zeros(rows, int)
        for parent in parents:
            place = place * size[parent] + columns[parent]
        table = rng.dirichlet(np.full(size[name], 0.4), math.prod(size[p] for p in parents))
        uniform = rng.random(rows)[:, None]
        columns[name] = (uniform > table.cumsum(axis=1)[place]).sum(axis=1).clip(0, size[name] - 1)
    return {name: columns[name] for name in NAMES}


def frame(table: dict):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({name: [str(v) for v in column] for name, column in table.items()})


# ------------------------------------------------------------------ scores


@pytest.mark.parametrize("rows", [12, 300])
@pytest.mark.parametrize(
    ("ours", "peer", "options"),
    [
        (BIC(), "BIC", {}),
        (AIC(), "AIC", {}),
        (LogLikelihood(), "LogLikelihood", {}),
        (BDeu(1), "BDeu", {"equivalent_sample_size": 1}),
        (BDeu(10), "BDeu", {"equivalent_sample_size": 10}),
    ],
)
def test_scores_equal_those_of_pgmpy(ours, peer, options, rows):
    scores = pytest.importorskip("pgmpy.structure_score")
    data = frame(drawn(rows))
    families = score_families(data, TRUTH, ours)
    judge = getattr(scores, peer)(data, **options)
    for name, value in families.items():
        assert value == pytest.approx(judge.local_score(name, TRUTH.parents(name)), abs=1e-8)


@pytest.mark.parametrize(
    ("ours", "peer", "tolerance"),
    [
        (BIC(), "useScoreBIC", 1e-9),
        (LogLikelihood(), "useScoreLog2Likelihood", 1e-9),
        (SymmetricDirichlet(), "useScoreK2", 1e-4),  # its table of logarithms has few digits
    ],
)
def test_scores_equal_those_of_pyagrum_in_other_units(ours, peer, tolerance):
    import pyagrum

    data = frame(drawn(300))
    learner = pyagrum.BNLearner(data)
    getattr(learner, peer)()
    learner.useNoPrior()
    for name, value in score_families(data, TRUTH, ours).items():
        theirs = learner.score(name, list(TRUTH.parents(name))) * math.log(2.0)
        assert value == pytest.approx(theirs, rel=tolerance)


def test_the_evidence_is_that_of_the_posterior():
    table = drawn(60)
    families = FamilyScores(prepare(table), Hierarchical())
    counts = families.columns.counts(2, (1, 3))
    for prior in (Hierarchical(), Hierarchical(s="learn"), BDeu(3), SymmetricDirichlet()):
        expected = prior.posterior(counts).log_evidence
        assert score_families(table, TRUTH, prior)["c"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn"), Hierarchical(s=0.7)])
@pytest.mark.parametrize(
    "counts", [[25, 25], [8, 2], [50, 0], [490, 10], [3, 1, 0, 7], [1.5, 2.25, 3.0], [12]], ids=str
)
@pytest.mark.parametrize("alpha0", [1.0, 0.3, "each"])
def test_without_parents_the_score_is_the_limit_of_a_large_strength(prior, counts, alpha0):
    parameters = tuple(0.5 + k for k in range(len(counts))) if alpha0 == "each" else alpha0
    limit = [
        Hierarchical(s=s, alpha0=parameters).log_evidence([counts]) for s in (1e6, 2e6)
    ]  # the error is proportional to 1/s
    found = replace(prior, alpha0=parameters).structure_score([counts])
    assert found == pytest.approx(2.0 * limit[1] - limit[0], abs=1e-8 * (1.0 + sum(counts)))
    # Dirichlet-multinomial, written out
    a = np.broadcast_to(np.asarray(parameters, float), len(counts))
    n = np.asarray(counts, float)
    cells = sum(math.lgamma(x + y) - math.lgamma(y) for x, y in zip(n, a, strict=True))
    assert found == pytest.approx(
        cells + math.lgamma(a.sum()) - math.lgamma(a.sum() + n.sum()), abs=1e-10
    )


def test_only_the_score_of_a_variable_without_parents_is_the_limit():
    table = drawn(60, seed=3)
    columns = prepare(table)
    for prior in (Hierarchical(), Hierarchical(s="learn")):
        families = score_families(table, TRUTH, prior)
        alone = FamilyCounts.from_array([np.bincount(table["a"])])
        assert families["a"] == pytest.approx(SymmetricDirichlet().log_evidence(alone))
        assert families["a"] != pytest.approx(prior.log_evidence(alone), abs=1e-3)
        assert families["b"] == pytest.approx(prior.log_evidence(columns.counts(1, (0,))))
        found = hill_climb(table, prior)
        assert found.score == pytest.approx(score(table, found.dag, prior))
        assert prior.structure_score(np.zeros((1, 3), int)) == 0.0
    for prior in (BDeu(1), SymmetricDirichlet(), SymmetricDirichlet(0.5)):
        assert prior.structure_score(alone) == prior.log_evidence(alone)


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn"), Hierarchical(s=40.0)])
def test_a_constant_column_is_nobodys_parent(prior):
    # Neither one with a single state nor one whose other states do not occur in these rows.
    from colonnade.tables import encode

    table = {"a": [0] * 50, "b": [0] * 48 + [1] * 2}
    for states in ({}, {"a": [0, 1, 2]}):
        coded = encode(table, states)
        assert ("a", "b") not in hill_climb(coded, prior).dag.arcs
        families = FamilyScores(prepare(coded), prior)
        assert families.family(1, (0,)) == families.family(1, ())


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn")])
@pytest.mark.parametrize(("states", "most"), [(2, 10), (5, 10), (10, 30)])
def test_independent_columns_seldom_get_an_arc_from_the_pool(prior, states, most):
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, states, (2, 50)) for _ in range(60)]
    false = [hill_climb({"a": a, "b": b}, prior).dag.arcs for a, b in tables]
    assert 100 * sum(map(bool, false)) / 60 <= most
    copied = [(a, np.where(rng.random(50) < 0.6, a, b)) for a, b in tables[:20]]
    assert all(hill_climb({"a": a, "b": b}, prior).dag.arcs for a, b in copied)


# -------------------------------------------------------------- graph prior


def log_prior(dag: Dag) -> float:
    """Each size of a parent set has the same probability, and each set of one size."""
    others = len(dag.variables) - 1
    return -sum(math.log(math.comb(others, len(dag.parents(name)))) for name in dag.variables)


SCORES = [BIC(), AIC(), BDeu(3), SymmetricDirichlet(), Hierarchical()]


@pytest.mark.parametrize("judge", SCORES, ids=repr)
def test_the_graph_prior_is_added_to_the_score_of_every_graph(judge):
    names = NAMES[:4]
    table = {name: column for name, column in drawn(40, seed=6).items() if name in names}
    best = -math.inf
    for dag in every_dag_over(names):
        plain = score(table, dag, judge)
        assert score(table, dag, judge, graph_prior=None) == plain
        with_prior = score(table, dag, judge, graph_prior="sizes")
        assert with_prior == pytest.approx(plain + log_prior(dag), abs=1e-9)
        best = max(best, with_prior)
    found = hill_climb(table, judge, graph_prior="sizes", tabu=20, restarts=5, rng=0)
    assert found.score == pytest.approx(best, abs=1e-8)
    assert found.score == pytest.approx(
        score(table, found.dag, judge) + log_prior(found.dag), abs=1e-9
    )


@pytest.mark.parametrize("judge", SCORES, ids=repr)
def test_every_step_gains_what_the_score_with_the_graph_prior_says(judge, monkeypatch):
    table = drawn(120, seed=8)
    start = Dag((("a", "c"), ("e", "c"), ("d", "a")), NAMES)
    climbers = []
    climb = search._Climber.climb

    def watched(self, tabu):
        climbers.append(self)
        climb(self, tabu)

    monkeypatch.setattr(search._Climber, "climb", watched)
    hill_climb(table, judge, graph_prior="sizes", start=start, tabu=5)
    steps = climbers[0].steps  # also those beyond the best graph
    assert {step.operation for step in steps} == {"add", "delete", "reverse"}
    arcs, before = set(start.arcs), score(table, start, judge, graph_prior="sizes")
    for step in steps:
        arcs -= {step.arc}
        arcs |= {"add": {step.arc}, "delete": set(), "reverse": {step.arc[::-1]}}[step.operation]
        dag = Dag(tuple(arcs), NAMES)
        assert step.score == pytest.approx(score(table, dag, judge, graph_prior="sizes"))
        assert step.gain == pytest.approx(step.score - before, abs=1e-9)
        before = step.score


def test_the_graph_prior_is_the_same_for_equivalent_graphs():
    graphs = list(every_dag_over(NAMES[:4]))
    classes: dict = {}
    for dag in graphs:
        classes.setdefault(signature(dag), set()).add(round(log_prior(dag), 9))
    assert {len(priors) for priors in classes.values()} == {1}


def test_the_graph_prior_counts_the_variables_of_the_graph():
    # The other columns of the table are no candidates.
    pair = Dag((("a", "b"),), ("a", "b"))
    table = drawn(50)
    assert score(table, pair, graph_prior="sizes") == score(table, pair)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), ess=st.floats(0.1, 50.0))
def test_bdeu_and_bic_are_equal_for_equivalent_graphs(seed, ess):
    table = {name: column for name, column in drawn(40, seed).items() if name in "abc"}
    chain = Dag((("a", "b"), ("b", "c")), ("a", "b", "c"))
    fork = Dag((("b", "a"), ("b", "c")), ("a", "b", "c"))
    for judge in (BDeu(ess), BIC(), LogLikelihood()):
        assert score(table, chain, judge) == pytest.approx(score(table, fork, judge), abs=1e-8)


def test_a_collider_is_not_equivalent_to_a_chain():
    table = drawn(300, seed=3)
    chain = Dag((("b", "c"), ("c", "e")), NAMES)
    collider = Dag((("b", "c"), ("e", "c")), NAMES)
    for judge in (BDeu(1), BIC(), LogLikelihood()):
        assert abs(score(table, chain, judge) - score(table, collider, judge)) > 0.1


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_additions_by_sums_equal_families_by_counts(seed):
    table = drawn(50, seed)
    fast = FamilyScores(prepare(table), BIC())
    slow = FamilyScores(prepare(table), BIC())
    for child, parents in [(0, ()), (2, (1,)), (4, (0, 3))]:
        others = [k for k in range(5) if k != child and k not in parents]
        values = fast.additions(child, parents, others)
        assert values == pytest.approx([slow.family(child, (*parents, z)) for z in others])


def test_weighted_rows_score_like_repeated_rows():
    table = drawn(40)
    weights = np.random.default_rng(1).integers(1, 4, 40)
    repeated = {name: np.repeat(column, weights) for name, column in table.items()}
    from colonnade.tables.memory import encode

    coded = encode(table, weights=weights)
    for judge in (BIC(), BDeu(2), Hierarchical()):
        assert score(coded, TRUTH, judge) == pytest.approx(score(repeated, TRUTH, judge), abs=1e-7)
    found = hill_climb(coded)
    assert found.score == pytest.approx(hill_climb(repeated).score)


# ------------------------------------------------------------------ search


def every_dag_over(names):
    pairs = list(itertools.combinations(names, 2))
    for choice in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = tuple(
            pair if kind == 1 else pair[::-1]
            for pair, kind in zip(pairs, choice, strict=True)
            if kind
        )
        try:
            yield Dag(arcs, names)
        except InputError:
            continue


def test_hill_climbing_reaches_the_best_of_all_graphs_on_an_easy_table():
    names = ("a", "b", "c")
    table = {name: drawn(500)[name] for name in names}
    best = max(score(table, dag) for dag in every_dag_over(names))
    assert hill_climb(table).score == pytest.approx(best)


@pytest.mark.parametrize("judge", [BIC(), BDeu(5), Hierarchical()])
def test_the_score_and_the_trace_add_up(judge):
    table = drawn(400)
    found = hill_climb(table, judge)
    assert found.status == "converged"
    assert found.score == pytest.approx(score(table, found.dag, judge))
    empty = score(table, Dag((), NAMES), judge)
    assert found.score == pytest.approx(empty + sum(step.gain for step in found.trace))
    assert all(step.gain > 0 for step in found.trace)
    # no neighbour is better: adding, deleting and reversing, all tried afresh
    for dag in neighbours(found.dag):
        assert score(table, dag, judge) <= found.score + 1e-6


def neighbours(dag):
    for arc in dag.arcs:
        rest = tuple(other for other in dag.arcs if other != arc)
        yield Dag(rest, dag.variables)
        yield from valid(dag.variables, (*rest, arc[::-1]))
    for pair in itertools.permutations(dag.variables, 2):
        if pair not in dag.arcs and pair[::-1] not in dag.arcs:
            yield from valid(dag.variables, (*dag.arcs, pair))


def valid(names, arcs):
    try:
        yield Dag(arcs, names)
    except InputError:
        return


def test_the_true_arcs_are_found_in_many_rows():
    found = hill_climb(drawn(5000, seed=3)).dag
    assert {frozenset(arc) for arc in found.arcs} == {frozenset(arc) for arc in TRUTH.arcs}


def test_the_score_reached_is_at_least_that_of_the_peers():
    import pyagrum

    data = frame(drawn(2000, seed=5))
    ours = hill_climb(data).score
    learner = pyagrum.BNLearner(data)
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()
    learned = learner.learnBN()
    arcs = tuple(
        (learned.variable(a).name(), learned.variable(b).name()) for a, b in learned.arcs()
    )
    assert ours >= score(data, Dag(arcs, NAMES)) - 1e-6
    search = pytest.importorskip("pgmpy.estimators")
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = search.HillClimbSearch(data)
            theirs = found.estimate(scoring_method="bic-d", show_progress=False)
    finally:
        logging.disable(logging.NOTSET)
    assert ours >= score(data, Dag(tuple(theirs.edges()), NAMES)) - 1e-6


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), data=st.data())
def test_required_and_forbidden_arcs_and_the_limit_always_hold(seed, data):
    pairs = list(itertools.permutations(NAMES, 2))
    required = data.draw(st.lists(st.sampled_from(pairs), max_size=3, unique=True))
    forbidden = data.draw(st.lists(st.sampled_from(pairs), max_size=8, unique=True))
    limit = data.draw(st.integers(1, 3))
    restarts = data.draw(st.integers(0, 2))
    learn = partial(
        hill_climb,
        drawn(60, seed),
        required=required,
        forbidden=forbidden,
        max_parents=limit,
        tabu=data.draw(st.sampled_from([0, 5])),
        restarts=restarts,
        rng=seed if restarts else None,
    )
    crowded = max(Counter(child for _, child in required).values(), default=0) > limit
    cyclic = not list(valid(NAMES, required))
    if crowded or cyclic or set(required) & set(forbidden):
        with pytest.raises(InputError):
            learn()
        return
    found = learn()
    assert set(required) <= set(found.dag.arcs)
    assert not set(forbidden) & set(found.dag.arcs)
    assert all(len(found.dag.parents(name)) <= limit for name in NAMES)


def test_tabu_and_restarts_never_lose_and_repeat_with_the_seed():
    table = drawn(150, seed=9)
    plain = hill_climb(table)
    with_tabu = hill_climb(table, tabu=10)
    restarted = hill_climb(table, restarts=5, rng=1)
    assert with_tabu.score >= plain.score - 1e-9
    assert restarted.score >= plain.score - 1e-9
    assert restarted.dag == hill_climb(table, restarts=5, rng=1).dag
    assert restarted.score == pytest.approx(score(table, restarted.dag))


@pytest.mark.parametrize("options", [{"tabu": 10}, {"restarts": 10, "rng": 0}], ids=str)
def test_a_local_optimum_is_left_where_plain_climbing_stays(options):
    # exclusive or: no single arc into c gains, the pair does
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    table = {"a": a, "b": b, "c": a ^ b}
    plain = hill_climb(table, start=Dag((), ("a", "b", "c")))
    assert hill_climb(table, **options).score > plain.score + 100


def test_tabu_does_not_come_back_to_the_last_graphs(monkeypatch):
    graphs = [bytes(len(NAMES) ** 2)]
    original = search._Climber._take

    def taken(self, move):
        original(self, move)
        graphs.append(self.paths.adjacency.tobytes())

    monkeypatch.setattr(search._Climber, "_take", taken)
    hill_climb(drawn(150, seed=9), tabu=6)
    assert len(graphs) > 10
    assert all(graph not in graphs[max(0, k - 6) : k] for k, graph in enumerate(graphs))


def test_a_start_is_where_the_search_begins():
    table = drawn(300)
    found = hill_climb(table, start=hill_climb(table).dag)
    assert found.trace == ()


@pytest.mark.parametrize(
    "options",
    [
        {"tabu": 6},
        {"restarts": 5, "rng": 1},
        {"restarts": 3, "rng": 0, "tabu": 4},
        {"start": TRUTH, "tabu": 8},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(4))
def test_the_trace_leads_to_the_graph(options, seed):
    table = drawn(120, seed=seed)
    found = hill_climb(table, AIC(), **options)
    graph = Dag(options["start"].arcs if "start" in options else (), NAMES)
    before = score(table, graph, AIC())
    for step in found.trace:
        arcs = set(graph.arcs) - {step.arc}
        arcs |= {"add": {step.arc}, "delete": set(), "reverse": {step.arc[::-1]}}[step.operation]
        graph = Dag(tuple(arcs), NAMES)  # a cycle would be an error
        after = score(table, graph, AIC())
        assert step.score == pytest.approx(after)
        assert step.gain == pytest.approx(after - before, abs=1e-8)
        before = after
    assert set(graph.arcs) == set(found.dag.arcs)
    assert found.score == pytest.approx(before)


def test_an_interrupt_before_the_first_step_returns_the_start(monkeypatch):
    table, start = drawn(200), Dag((("e", "a"),), NAMES)
    original = search._Climber._refresh

    def interrupted(self, child):
        if child == 2:
            raise KeyboardInterrupt
        original(self, child)

    monkeypatch.setattr(search._Climber, "_refresh", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted after 0 steps"):
        found = hill_climb(table, start=start)
    assert (found.dag, found.trace, found.status) == (start, (), "interrupted")
    assert found.score == pytest.approx(score(table, start))


@pytest.mark.filterwarnings("ignore:The search was interrupted")
def test_an_interrupted_restart_returns_the_best_so_far(monkeypatch):
    table = drawn(120, seed=3)
    plain = hill_climb(table)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "_way", interrupted)
    found = hill_climb(table, restarts=3, rng=0)
    assert found == replace(plain, status="interrupted")


@pytest.mark.filterwarnings("ignore:The search was interrupted")
@pytest.mark.parametrize(
    "work",
    [
        lambda table: arc_strength(table, hill_climb, 5, 0),
        lambda table: arc_strength(table, lambda rows: hill_climb(rows).dag, 5, 0),
        lambda table: compare(table, hill_climb),
        lambda table: BayesianNetworkClassifier("hill_climb").fit(frame(table), table["e"]),
        lambda table: BayesianNetworkClassifier("hill_climb", "auto").fit(frame(table), table["e"]),
    ],
)
def test_an_interrupt_is_raised_where_the_graph_goes_on_as_a_result(monkeypatch, work):
    def interrupted(self, visited):
        raise KeyboardInterrupt

    monkeypatch.setattr(search._Climber, "_best_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        work(drawn(100))
    assert hill_climb(drawn(100)).status == "interrupted"


@pytest.mark.filterwarnings("ignore:The search was interrupted")
def test_an_interrupt_returns_the_best_so_far(monkeypatch):
    table = drawn(400)
    calls = itertools.count()
    original = search._Climber._best_step

    def interrupted(self, visited):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return original(self, visited)

    monkeypatch.setattr(search._Climber, "_best_step", interrupted)
    found = hill_climb(table)
    assert found.status == "interrupted"
    assert len(found.trace) == len(found.dag.arcs) == 2
    assert found.score == pytest.approx(score(table, found.dag))


# ------------------------------------------------------------------- trees


def information(table, x, y, given=None):
    """Mutual information from relative frequencies, written out."""
    rows = len(table[x])
    condition = table[given] if given else np.zeros(rows, int)
    total = 0.0
    for c, u, v in itertools.product(set(condition), set(table[x]), set(table[y])):
        here = condition == c
        both = np.mean(here & (table[x] == u) & (table[y] == v))
        if both > 0:
            left = np.mean(here & (table[x] == u))
            right = np.mean(here & (table[y] == v))
            total += both * math.log(both * np.mean(here) / (left * right))
    return total


def best_tree_weight(names, weight):
    """Largest weight of a spanning tree, by trying all."""
    pairs = list(itertools.combinations(names, 2))
    best = -math.inf
    for tree in itertools.combinations(pairs, len(names) - 1):
        reached, grown = {names[0]}, True
        while grown:
            grown = False
            for a, b in tree:
                if (a in reached) != (b in reached):
                    reached |= {a, b}
                    grown = True
        if len(reached) == len(names):
            best = max(best, sum(weight(a, b) for a, b in tree))
    return best


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_chow_liu_is_the_heaviest_tree(seed):
    table = drawn(80, seed)
    dag = chow_liu(table, root="c")
    assert len(dag.arcs) == 4
    assert dag.parents("c") == ()
    assert all(len(dag.parents(name)) == 1 for name in NAMES if name != "c")
    weight = sum(information(table, a, b) for a, b in dag.arcs)
    assert weight == pytest.approx(best_tree_weight(NAMES, lambda a, b: information(table, a, b)))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tan_is_the_heaviest_tree_given_the_target(seed):
    table = drawn(80, seed)
    dag = tan(table, target="c", root="e")
    features = [name for name in NAMES if name != "c"]
    assert dag.parents("c") == ()
    assert dag.parents("e") == ("c",)
    assert all("c" in dag.parents(name) for name in features)
    tree = [arc for arc in dag.arcs if "c" not in arc]
    weight = sum(information(table, a, b, "c") for a, b in tree)
    best = best_tree_weight(features, lambda a, b: information(table, a, b, "c"))
    assert weight == pytest.approx(best)


def test_kdb_takes_the_best_earlier_features():
    table = drawn(200, seed=4)
    dag = kdb(table, "c", k=1)
    order = sorted("abde", key=lambda name: -information(table, name, "c"))
    for place, name in enumerate(order):
        extra = [p for p in dag.parents(name) if p != "c"]
        assert len(extra) == min(1, place)
        if extra:
            assert extra[0] == max(
                order[:place], key=lambda other: information(table, name, other, "c")
            )
    assert kdb(table, "c", k=0) == naive_bayes(table, "c")


@pytest.mark.parametrize("learner", [tan, kdb, naive_bayes])
def test_a_single_feature_a_constant_feature_and_a_constant_target_work(learner):
    assert learner({"t": [0, 1, 0], "x": [1, 1, 0]}, "t").arcs == (("t", "x"),)
    constant = learner({"t": [0, 1, 0], "x": [1, 1, 1], "y": [0, 1, 1]}, "t")
    assert ("t", "x") in constant.arcs
    assert ("t", "x") in learner({"t": [0, 0, 0], "x": [1, 0, 1], "y": [0, 1, 1]}, "t").arcs


# ------------------------------------------------- equivalence, resampling


def signature(dag):
    """What equivalent graphs have in common: the skeleton and the colliders."""
    skeleton = frozenset(frozenset(arc) for arc in dag.arcs)
    colliders = frozenset(
        (frozenset((p, q)), child)
        for child in dag.variables
        for p, q in itertools.combinations(dag.parents(child), 2)
        if frozenset((p, q)) not in skeleton
    )
    return skeleton, colliders


def test_compelled_arcs_against_all_equivalent_graphs():
    names = ("a", "b", "c", "d")
    graphs = list(every_dag_over(names))
    classes: dict = {}
    for dag in graphs:
        classes.setdefault(signature(dag), []).append(set(dag.arcs))
    for dag in graphs[::7]:
        same = classes[signature(dag)]
        assert compelled(dag) == {arc: all(arc in other for other in same) for arc in dag.arcs}


def test_arc_strengths_and_the_averaged_network():
    table = drawn(5000, seed=1)
    strengths = arc_strength(table, hill_climb, resamples=20, rng=0)
    position = {name: k for k, name in enumerate(NAMES)}
    for a, b in TRUTH.arcs:
        assert strengths.strength[position[a], position[b]] > 0.8
    assert np.all(strengths.strength <= 1.0 + 1e-12)
    assert {frozenset(arc) for arc in strengths.averaged().arcs} == {
        frozenset(arc) for arc in TRUTH.arcs
    }
    again = arc_strength(table, hill_climb, 20, 0, resampling="halves")
    assert np.array_equal(strengths.directed, again.directed)
    # b -> c <- d is a collider: its direction can be told
    assert strengths.directed[position["d"], position["c"]] > 0.8
    assert strengths.averaged(1.0).variables == NAMES


def test_a_direction_that_no_data_can_tell_counts_half_each_way():
    strengths = arc_strength({"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8}, hill_climb, 5, rng=0)
    assert strengths.directed.tolist() == [[0.0, 0.5], [0.5, 0.0]]


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_that_of_the_nearest_step_function(seed):
    # Scutari and Nagarajan: of the distribution functions that are t between 0 and 1, the nearest
    # to that of the strengths in L1; here by trying many t on a fine grid.
    values = np.random.default_rng(seed).beta(0.4, 0.6, 10).round(2)
    directed = np.zeros((5, 5))
    directed[np.triu_indices(5, 1)] = values
    grid = (np.arange(10_000) + 0.5) / 10_000
    shares = (values[None, :] <= grid[:, None]).mean(axis=1)
    heights = np.arange(11) / 10
    best = heights[np.argmin([np.abs(shares - t).mean() for t in heights])]
    strengths = ArcStrengths(tuple("abcde"), directed, 100)
    assert strengths.threshold == np.quantile(values, best, method="inverted_cdf")
    assert len(strengths.averaged().arcs) == np.sum(values > strengths.threshold)


@pytest.mark.parametrize(
    ("strengths", "threshold", "kept"),
    [
        # F is 5/6 from .14 to 1, most of the way: 5 of the 6 arcs are noise.
        ((1.0, 0.14, 0.06, 0.04, 0.02, 0.0), 0.14, {1.0}),
        # Ties at the threshold go together.
        ((1.0, 0.14, 0.14, 0.14, 0.02, 0.0), 0.14, {1.0}),
        # F is 2/6 from .2 to .9; the arcs above are kept, though none is in every resample.
        ((0.9, 0.9, 0.94, 0.92, 0.2, 0.0), 0.2, {0.9, 0.92, 0.94}),
        # F is 1 from .14 on: no arc is significant.
        ((0.14, 0.1, 0.06, 0.04, 0.02, 0.0), 0.14, set()),
        # F is 0 up to .8: all are.
        ((1.0, 0.96, 0.9, 0.9, 0.8, 0.8), 0.0, {0.8, 0.9, 0.96, 1.0}),
        # F is 0 for half of the way and 1 for the other: of equally near ones the fewest arcs.
        ((0.5, 0.5, 0.5, 0.5, 0.5, 0.5), 0.5, set()),
        ((1.0, 1.0, 1.0, 1.0, 1.0, 1.0), 0.0, {1.0}),
        ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0, set()),
    ],
)
def test_averaged_keeps_what_exceeds_the_threshold_worked_out_by_hand(strengths, threshold, kept):
    directed = np.zeros((4, 4))
    directed[np.triu_indices(4, 1)] = strengths  # a < b < c < d: no cycles
    found = ArcStrengths(tuple("abcd"), directed, 50)
    assert found.threshold == threshold
    pairs = list(itertools.combinations("abcd", 2))
    expected = {pair for pair, value in zip(pairs, strengths, strict=True) if value in kept}
    assert set(found.averaged().arcs) == expected
    assert f"{len(expected)} arc" in repr(found)


def test_strengths_are_compared_as_the_shares_they_are():
    # 0.1 + 0.2 > 0.3 in floating point
    directed = np.array([[0.0, 0.1, 0.3], [0.2, 0.0, 29 / 49], [0.0, 20 / 49, 0.0]])
    found = ArcStrengths(("a", "b", "c"), directed, 490)
    assert found.strength[0, 1] != found.strength[0, 2]
    assert found.averaged(0.3).arcs == (("b", "c"),)
    assert found.averaged(1.0).arcs == (("b", "c"),)
    assert {frozenset(arc) for arc in found.averaged(0.29).arcs} == {
        frozenset("ab"),
        frozenset("ac"),
        frozenset("bc"),
    }


def resampled(table, **options) -> list:
    """The tables that a learner is given."""
    seen = []

    def learner(coded):
        seen.append(coded)
        return Dag((), coded.names)

    arc_strength(table, learner, 20, 0, **options)
    return seen


@pytest.mark.filterwarnings("ignore:Column")
@pytest.mark.parametrize("rows", [1, 2, 9, 100])
def test_halves_hold_no_row_twice_and_a_bootstrap_holds_as_many_rows(rows):
    table = {"row": [f"row {k}" for k in range(rows)]}
    halves = [coded.codes[0].tolist() for coded in resampled(table)]
    assert all(len(half) == len(set(half)) == max(1, rows // 2) for half in halves)
    again = [coded.codes[0].tolist() for coded in resampled(table, resampling="bootstrap")]
    assert all(len(drawn) == rows for drawn in again)
    if rows > 2:
        assert {place for half in halves for place in half} == set(range(rows))
        assert any(len(set(drawn)) < rows for drawn in again)


def test_whole_weights_are_resampled_as_rows():
    from colonnade.tables import encode

    table = {"a": ["x", "y", "z"], "n": [40, 0, 61]}
    for coded in resampled(encode(table, weights="n")):
        assert coded.weights.sum() == 50
        assert set(coded.codes[0].tolist()) == {0, 2}
        assert (coded.weights <= [40, 61]).all()
    drawn = resampled(encode(table, weights="n"), resampling="bootstrap")
    assert {int(coded.weights.sum()) for coded in drawn} == {101}
    assert len({int(coded.weights[0]) for coded in drawn}) > 5
    many = {"a": ["x", "y"], "n": [10**12, 10**12]}
    for coded in resampled(encode(many, weights="n")):
        assert coded.weights.sum() == pytest.approx(10**12, rel=1e-5)


def test_halves_find_less_in_noise_than_a_bootstrap():
    rng = np.random.default_rng(0)
    table = {f"x{k}": rng.integers(0, 2 + k % 2, 113) for k in range(6)}
    learner = partial(hill_climb, score=Hierarchical())
    halves, boots = (
        arc_strength(table, learner, 20, 0, resampling=how) for how in ("halves", "bootstrap")
    )
    assert halves.strength.mean() < 0.6 * boots.strength.mean()
    assert np.sum(np.triu(halves.strength) > 0.5) <= 1


# -------------------------------------------------------------- comparison


def test_compare_ranks_by_held_out_rows_and_agrees_with_a_plain_loop():
    from colonnade.network import fit

    table = drawn(90, seed=2)
    comparison = compare(
        table,
        {"truth": TRUTH, "none": Dag((), NAMES), "climbed": hill_climb},
        {"pooled": Hierarchical(), "bdeu": BDeu(1)},
        folds=3,
        rng=4,
    )
    assert len(comparison.rows) == 6
    assert [row.held_out for row in comparison.rows] == sorted(
        (row.held_out for row in comparison.rows), reverse=True
    )
    dealt = np.random.default_rng(4).permutation(90) % 3
    values = []
    states = {name: sorted(set(column.tolist())) for name, column in table.items()}
    for fold in range(3):
        train = {name: column[dealt != fold] for name, column in table.items()}
        test = {name: column[dealt == fold] for name, column in table.items()}
        network = fit(train, TRUTH, BDeu(1), variables=states)
        values.append(network.log_likelihood(test))
    row = next(r for r in comparison.rows if (r.structure, r.prior) == ("truth", "bdeu"))
    values = np.concatenate(values)
    assert row.held_out == pytest.approx(values.mean())
    assert row.standard_error == pytest.approx(values.std(ddof=1) / math.sqrt(90))
    assert row.log_evidence == pytest.approx(score(table, TRUTH, BDeu(1)))
    assert "held-out" in repr(comparison)


def test_compare_says_where_maximum_likelihood_calls_rows_impossible():
    comparison = compare(drawn(40), TRUTH, [MaximumLikelihood("uniform"), Hierarchical()], folds=4)
    assert comparison.best.prior.startswith("Hierarchical")
    assert comparison.rows[1].held_out == -math.inf
    assert comparison.rows[1].log_evidence is None


# --------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda t: hill_climb(t, BIC), "score"),
        (lambda t: hill_climb(t, "bic"), "score"),
        (lambda t: hill_climb(t, max_parents=-1), "max_parents"),
        (lambda t: hill_climb(t, tabu=1.5), "tabu"),
        (lambda t: hill_climb(t, restarts=-1), "restarts"),
        (lambda t: hill_climb(t, required=[("a", "z")]), "required"),
        (lambda t: hill_climb(t, required=["ab"]), "required"),
        (lambda t: hill_climb(t, required=[("a", "b")], forbidden=[("a", "b")]), "required"),
        (lambda t: hill_climb(t, required=[("a", "b")], max_parents=0), "max_parents"),
        (lambda t: hill_climb(t, start=Dag((("a", "z"),))), "start"),
        (lambda t: hill_climb(t, start=Dag((("a", "b"),)), forbidden=[("a", "b")]), "start"),
        (lambda t: tan(t, target="z"), "target"),
        (lambda t: tan(t, target="a", root="a"), "root"),
        (lambda t: chow_liu(t, root="z"), "root"),
        (lambda t: kdb(t, "a", k=-1), "k"),
        (lambda t: tan({"a": [0, 1]}, "a"), "table"),
        (lambda t: arc_strength(t, hill_climb, resamples=0), "resamples"),
        (lambda t: arc_strength(t, "hc"), "learner"),
        (lambda t: arc_strength(t, hill_climb, resampling="thirds"), "resampling"),
        (lambda t: arc_strength(t, hill_climb, 2).averaged(1.5), "threshold"),
        (lambda t: hill_climb(t, graph_prior="size"), "graph_prior"),
        (lambda t: score(t, TRUTH, graph_prior=1.0), "graph_prior"),
        (lambda t: arc_strength(t, lambda table: 3, resamples=1), "learner"),
        (lambda t: compare(t, TRUTH, folds=1), "folds"),
        (lambda t: compare(t, [], folds=2), "structures"),
        (lambda t: compare(t, TRUTH, ["bdeu"], folds=2), "priors"),
    ],
)
def test_bad_input_names_the_parameter(call, parameter):
    with pytest.raises(InputError) as caught:
        call(drawn(20))
    assert caught.value.parameter == parameter


def test_missing_values_no_rows_and_cycles_are_clear_errors():
    with pytest.raises(
        DataError, match=r"^Column 'a': the value is missing in 1 of 3 rows\."
    ) as one:
        hill_climb({"a": [0, None, 1], "b": [0, 1, 1]})
    assert (one.value.columns, one.value.rows) == ({"a": 1}, 3)
    several = r"^Columns 'a' \(1\), 'b' \(2\): values are missing in some of 3 rows\. Hint: use"
    with pytest.raises(DataError, match=several):
        hill_climb({"a": [0, None, 1], "b": [None, None, 1]})
    with pytest.raises(InputError, match="cycle"):
        hill_climb(drawn(20), required=[("a", "b"), ("b", "a")])
    with pytest.raises(NotSupportedError):
        score(drawn(20), TRUTH, MaximumLikelihood())


@pytest.mark.parametrize("given", [(), (1,), (0, 2)])
def test_sums_of_all_pairs_at_once_are_those_of_one_pair_after_the_other(given):
    rng = np.random.default_rng(4)
    table = {f"x{k}": rng.integers(0, 2 + k, 90) for k in range(5)}
    columns = prepare(table)
    chosen = [k for k in (4, 3, 0, 2, 1) if k not in given]
    found = columns.pair_sums(chosen, given)
    np.testing.assert_allclose(found, Columns.pair_sums(columns, chosen, given), rtol=1e-13)
    for i, j in itertools.combinations_with_replacement(range(len(chosen)), 2):
        members = {*given, chosen[i], chosen[j]}
        times = Counter(zip(*(table[f"x{k}"].tolist() for k in members), strict=True))
        assert found[i, j] == pytest.approx(sum(n * math.log(n) for n in times.values()))
