"""Greedy equivalence search: operators against all graphs, results against hill climbing."""

import gzip
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from all_graphs import adjacency, all_dags, markov_class
from colonnade.exceptions import TooLargeError
from colonnade.structure import ges
from colonnade.structure import operators as operators_module
from colonnade.structure.columns import prepare
from colonnade.structure.mixed import Mixed, bits
from colonnade.structure.operators import Deletions, Insertions
from colonnade.structure.rules import Rules
from colonnade.structure.scores import FamilyScores
from plain_search import PlainSearch
from test_search import drawn

# Scores that tell equivalent graphs apart.
APART = [cn.SymmetricDirichlet(), cn.Hierarchical()]


def parents_of(graph):
    return tuple(frozenset(bits(some)) for some in graph.parents)


def classes(size):
    """All classes of equivalent graphs, by what their graphs have in common."""
    found = defaultdict(list)
    for parents in all_dags(size):
        found[markov_class(parents)].append(parents)
    return found


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_essential_graph_has_the_arcs_of_all_graphs_of_its_class(size):
    for members in list(classes(size).values())[:: 1 if size < 5 else 20]:
        shared = np.logical_and.reduce([adjacency(parents) for parents in members])
        some = np.logical_or.reduce([adjacency(parents) for parents in members])
        graph = Mixed.of(adjacency(members[0])).essential()
        np.testing.assert_array_equal(graph.matrix(), some)
        np.testing.assert_array_equal(graph.matrix() & ~graph.matrix().T, shared)
        assert parents_of(graph.extension()) in members
        assert len({str(Mixed.of(adjacency(each)).essential().matrix()) for each in members}) == 1


def neighbouring(members, known, step):
    """Classes of the graphs one arc away from any graph of a class."""
    if step == "reverse":
        return reversed_arcs(members, known)
    found = set()
    for parents in members:
        for child, some in enumerate(parents):
            for other in set(range(len(parents))) - {child}:
                if (other in some) == (step == "delete"):
                    after = list(parents)
                    after[child] = some ^ {other}
                    key = markov_class(tuple(after))
                    if key in known and tuple(after) in known[key]:
                        found.add(key)
    return found


def reversed_arcs(members, known):
    """Classes of the graphs with one arc of a graph of a class reversed."""
    found = set()
    for parents in members:
        for child, some in enumerate(parents):
            for other in some:
                after = list(parents)
                after[child], after[other] = some - {other}, parents[other] | {child}
                key = markov_class(tuple(after))
                if key in known and tuple(after) in known[key]:
                    found.add(key)
    return found


@pytest.mark.parametrize("kind", [Insertions, Deletions])
def test_operators_lead_to_every_neighbouring_class_and_gain_what_the_scores_say(kind):
    """Chickering's theorems 15 and 17, on all 185 classes of four variables."""
    table = drawn(np.random.default_rng(4), 4, rows=60)
    names, known = table.names, {key: set(some) for key, some in classes(4).items()}

    class Everything(FamilyScores):
        """The score with a constant for an arc, so that every insertion or deletion gains."""

        def _log_prior(self, parents):
            return (1e6 if kind is Insertions else -1e6) * parents

    families = Everything(prepare(table), cn.BIC())
    operators = kind(families, Rules.of(names, (), (), None))

    def total(parents):
        return sum(families.family(child, tuple(some)) for child, some in enumerate(parents))

    for members in known.values():
        graph = Mixed.of(adjacency(next(iter(members)))).essential()
        reached, before = set(), total(next(iter(members)))
        for child in range(4):
            for operator in operators.of(graph, child):
                if not operators.is_valid(graph, operator):
                    continue
                after = operators.applied(graph, operator).extension()
                assert after is not None
                reached.add(markov_class(parents_of(after)))
                assert operator.gain == pytest.approx(total(parents_of(after)) - before, abs=1e-4)
        assert reached == neighbouring(members, known, operators.operation)


def test_turns_lead_to_every_class_with_an_arc_reversed():
    table = drawn(np.random.default_rng(5), 4, rows=60)
    known = {key: set(some) for key, some in classes(4).items()}
    families, rules = FamilyScores(prepare(table), cn.BDeu(2)), Rules.of(table.names, (), (), None)

    def total(parents):
        return sum(families.family(child, tuple(some)) for child, some in enumerate(parents))

    for members in known.values():
        graph = Mixed.of(adjacency(next(iter(members)))).essential()
        before, reached = total(next(iter(members))), set()
        operators = Insertions(families, rules), Deletions(families, rules)
        for turn in operators_module.turns(graph, *operators, -np.inf):
            after = turn.after.extension()
            reached.add(markov_class(parents_of(after)))
            assert turn.gain == pytest.approx(total(parents_of(after)) - before, abs=1e-8)
        assert reached >= reversed_arcs(members, known)


@pytest.mark.parametrize("seed", range(12))
def test_no_neighbouring_class_scores_more(seed):
    rng = np.random.default_rng(seed)
    table = drawn(rng, 4)
    judge = [cn.BIC(), cn.BDeu(2), cn.AIC()][seed % 3]
    found = ges(table, judge)
    families = FamilyScores(prepare(table), judge)
    known = {key: set(some) for key, some in classes(4).items()}
    position = {name: k for k, name in enumerate(table.names)}
    parents = tuple(frozenset(position[p] for p in found.dag.parents(name)) for name in table.names)

    def total(each):
        return sum(families.family(child, tuple(some)) for child, some in enumerate(each))

    here = markov_class(parents)
    for step in ("add", "delete", "reverse"):
        for key in neighbouring(known[here], known, step):
            assert total(next(iter(known[key]))) <= found.score + 1e-6
    assert found.score == pytest.approx(cn.score(table, found.dag, judge), abs=1e-8)
    assert found.pdag == found.dag.cpdag()
    assert found.pdag.to_dag() == found.dag


def sample(name, rows, tmp_path, seed=0):
    folders = getattr(find_spec("pgmpy"), "submodule_search_locations", None) or ()
    for folder in folders:
        path = Path(folder) / "utils" / "example_models" / f"{name}.bif.gz"
        if path.exists():
            plain = tmp_path / f"{name}.bif"
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            return cn.load(plain), cn.load(plain).sample(rows, rng=seed)
    return pytest.skip("pgmpy ships no such network")


@pytest.mark.parametrize(("name", "rows"), [("sachs", 5000), ("child", 5000), ("alarm", 2000)])
@pytest.mark.parametrize("judge", [cn.BIC(), cn.BDeu(10)], ids=repr)
def test_a_local_optimum_of_hill_climbing_is_left(name, rows, judge, tmp_path):
    network, table = sample(name, rows, tmp_path)
    climbed = cn.hill_climb(table, judge)
    found = ges(table, judge)
    assert found.score > climbed.score + 10
    assert ges(table, judge, start=climbed.dag).score >= climbed.score - 1e-6
    if name == "sachs":  # strong arcs: the class that the rows were drawn from
        assert found.pdag == network.dag.cpdag()


@pytest.mark.parametrize("package", ["pyAgrum", "pgmpy"])
@pytest.mark.filterwarnings("ignore")
def test_a_local_optimum_of_other_packages_is_left(package, tmp_path):
    """Their hill climbing stops on rows of a network of theirs, where ours goes on to the truth."""
    network, table = sample("sachs", 5000, tmp_path)
    frame = pd.DataFrame(table)
    if package == "pyAgrum":
        learner = pytest.importorskip("pyagrum").BNLearner(frame)
        learner.useNoPrior()
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        names = learner.names()
        arcs = [(names[a], names[b]) for a, b in learner.learnDAG().arcs()]
    else:
        estimators = pytest.importorskip("pgmpy.estimators")
        search = estimators.HillClimbSearch(frame)
        arcs = search.estimate(scoring_method="bic-d", show_progress=False).edges()
    theirs = cn.Dag([*arcs], network.dag.variables)
    best = ges(table)
    assert best.score >= cn.score(table, theirs) - 1e-6
    if package == "pyAgrum":  # the other one stops elsewhere in every run
        assert best.score > cn.score(table, theirs) + 100
        onwards = ges(table, start=theirs)
        assert onwards.score == pytest.approx(best.score)
        assert onwards.pdag == network.dag.cpdag()


@pytest.mark.parametrize("seed", range(20))
def test_rules_are_obeyed_and_what_they_decide_is_directed(seed):
    rng = np.random.default_rng(seed)
    table = drawn(rng, 6)
    names = list(table.names)
    order = rng.permutation(6)
    tiers = [[names[k] for k in order[:2]], [names[k] for k in order[2:4]]]
    required = [(tiers[0][0], tiers[1][0])]
    forbidden = [(names[order[4]], names[order[5]]), (tiers[0][0], tiers[0][1])]
    limit = int(rng.integers(1, 4))
    judge = [cn.BIC(), cn.BDeu(5), cn.Hierarchical()][seed % 3]
    rules = {"required": required, "forbidden": forbidden, "tiers": tiers, "max_parents": limit}
    found = ges(table, judge, **rules)
    place = {name: k for k, tier in enumerate(tiers) for name in tier}
    assert set(required) <= set(found.dag.arcs)
    assert not set(forbidden) & set(found.dag.arcs)
    assert max(len(found.dag.parents(name)) for name in names) <= limit
    for parent, child in found.dag.arcs:
        if parent in place and child in place:
            assert place[parent] <= place[child]
    assert set(found.pdag.arcs) <= set(found.dag.arcs)
    assert set(required) <= set(found.pdag.arcs)
    assert found.score == pytest.approx(cn.score(table, found.dag, judge), abs=1e-6)


@pytest.mark.parametrize("size", [4])
def test_a_class_is_admitted_if_one_of_its_graphs_obeys(size):
    rng = np.random.default_rng(0)
    names = tuple("abcd")
    for members in classes(size).values():
        required = rng.random((size, size)) < 0.05
        allowed = rng.random((size, size)) < 0.75
        allowed[required] = True
        np.fill_diagonal(allowed, False)
        np.fill_diagonal(required, False)
        rules = Rules(names, required, allowed, size)
        obeying = [
            matrix
            for matrix in map(adjacency, members)
            if (required <= matrix).all() and (matrix <= allowed).all()
        ]
        kept = rules.admitted(Mixed.of(adjacency(members[0])).essential())
        assert (kept is None) == (not obeying)
        if kept is not None:
            some = np.logical_or.reduce(obeying)
            np.testing.assert_array_equal(kept.matrix(), some)


@pytest.mark.parametrize("judge", APART, ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_scores_that_tell_equivalent_graphs_apart_end_where_no_covered_arc_turns(judge, seed):
    table = drawn(np.random.default_rng(100 + seed), 5)
    found = ges(table, judge)
    plain = PlainSearch(prepare(table), judge, None, Rules.of(table.names, (), (), None))
    position = {name: k for k, name in enumerate(table.names)}
    arcs = frozenset((position[a], position[b]) for a, b in found.dag.arcs)
    assert found.score == pytest.approx(plain.score(arcs), abs=1e-6)
    for operation, (a, b), after in plain.steps(arcs):
        above = {z for z, child in arcs if child == b} - {a}
        if operation == "reverse" and above == {z for z, child in arcs if child == a}:
            assert plain.score(after) <= found.score + 1e-6
    assert found.dag.cpdag() == found.pdag


@pytest.mark.parametrize("graph_prior", [None, "sizes"])
@pytest.mark.parametrize(
    "judge",
    [
        cn.BIC(),
        cn.AIC(),
        cn.LogLikelihood(),
        cn.BDeu(3),
        cn.SymmetricDirichlet(),
        cn.Hierarchical(),
    ],
    ids=repr,
)
def test_a_score_says_whether_equivalent_graphs_score_equally(judge, graph_prior):
    families = FamilyScores(
        prepare(drawn(np.random.default_rng(1), 4, rows=80)), judge, graph_prior
    )

    def total(parents):
        return sum(families.family(child, tuple(some)) for child, some in enumerate(parents))

    spread = max(np.ptp([total(each) for each in members]) for members in classes(4).values())
    assert (spread < 1e-8) == judge.score_equivalent


def test_what_cannot_be_enumerated_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr(operators_module, "_MAX_OPERATORS", 20)
    rng = np.random.default_rng(0)
    table = {f"x{k:02}": rng.integers(2, size=400) for k in range(8)}
    with pytest.raises(TooLargeError, match="limit the number of parents"):
        ges(table, cn.LogLikelihood())
    assert ges(table, cn.LogLikelihood(), max_parents=1).status == "converged"


def test_learners_of_classes_serve_where_learners_of_graphs_do():
    table = drawn(np.random.default_rng(9), 4, rows=200)
    strengths = cn.arc_strength(table, ges, resamples=5, rng=0)
    assert strengths.directed.shape == (4, 4)
    assert cn.compare(table, {"ges": ges}, cn.BDeu(1), folds=2).best.structure == "ges"


def test_an_interrupt_returns_the_class_so_far(monkeypatch):
    table = drawn(np.random.default_rng(2), 5, rows=300)
    original, calls = Insertions.of, []

    def interrupted(self, graph, child):
        calls.append(child)
        if len(calls) > 6:
            raise KeyboardInterrupt
        return original(self, graph, child)

    monkeypatch.setattr(Insertions, "of", interrupted)
    with pytest.warns(cn.exceptions.ConvergenceWarning, match="interrupted after 1 step:"):
        found = ges(table)
    assert found.status == "interrupted"
    assert len(found.trace) == 1
    assert found.score == pytest.approx(cn.score(table, found.dag), abs=1e-8)
