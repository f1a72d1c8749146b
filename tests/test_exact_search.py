"""Exact search and the posterior of arcs, against all graphs of a few variables."""

import math

import numpy as np
import pytest

import colonnade as cn
from all_graphs import adjacency, all_dags, orders
from colonnade.exceptions import InputError
from colonnade.structure import ges, hill_climb
from colonnade.structure.columns import prepare
from colonnade.structure.exact import arc_posterior, exact_search
from colonnade.structure.rules import Rules
from colonnade.structure.scores import FamilyScores
from test_search import drawn, rules_of

JUDGES = [cn.BIC(), cn.BDeu(5), cn.AIC(), cn.SymmetricDirichlet(), cn.LogLikelihood()]


def allowed_graphs(table, judge, prior, rules):
    """All graphs that obey the rules, as matrices, with their scores and numbers of orders."""
    families = FamilyScores(prepare(table), judge, prior)
    for parents in all_dags(len(table.names)):
        matrix = adjacency(parents)
        if (
            (rules.required <= matrix).all()
            and (matrix <= rules.allowed).all()
            and matrix.sum(axis=0).max() <= rules.limit
        ):
            score = sum(families.family(k, tuple(some)) for k, some in enumerate(parents))
            yield matrix, score, orders(parents)


def options_of(rng, table):
    options = rules_of(rng, table.names)
    if rng.random() < 0.5:
        options["tiers"] = [[table.names[0]], list(table.names[2:3])]
        options["required"] = []
    prior = [None, "sizes"][int(rng.integers(2))]
    return options, prior, Rules.of(table.names, **options)


@pytest.mark.parametrize(("width", "seed"), [(4, k) for k in range(20)] + [(5, 0), (5, 1)])
def test_no_graph_scores_more(width, seed):
    rng = np.random.default_rng(seed)
    table, judge = drawn(rng, width), JUDGES[seed % len(JUDGES)]
    options, prior, rules = options_of(rng, table)
    found = exact_search(table, judge, graph_prior=prior, **options)
    best = max(score for _, score, _ in allowed_graphs(table, judge, prior, rules))
    assert found.score == pytest.approx(best, abs=1e-8)
    own = cn.score(table, found.dag, judge, graph_prior=prior)
    assert own == pytest.approx(found.score, abs=1e-8)
    assert rules.starting(found.dag).sum() == len(found.dag.arcs)  # obeys the rules


@pytest.mark.parametrize(("width", "seed"), [(4, k) for k in range(20)] + [(5, 0), (5, 1)])
def test_arcs_have_the_probabilities_of_all_graphs_and_orders(width, seed):
    rng = np.random.default_rng(100 + seed)
    table, judge = drawn(rng, width), JUDGES[seed % 4]
    options, prior, rules = options_of(rng, table)
    found = arc_posterior(table, judge, graph_prior=prior, **options)
    graphs = list(allowed_graphs(table, judge, prior, rules))
    top = max(score for _, score, _ in graphs)
    weights = [math.exp(score - top) * ways for _, score, ways in graphs]
    wanted = sum(w * matrix for w, (matrix, _, _) in zip(weights, graphs, strict=True))
    np.testing.assert_allclose(found.directed, wanted / sum(weights), atol=1e-10)
    assert (found.strength <= 1 + 1e-12).all()


@pytest.mark.parametrize("rows", [20, 100_000])
def test_probabilities_survive_scores_of_any_size(rows):
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(3, size=rows))
    c = np.where(rng.random(rows) < 0.8, b, rng.integers(3, size=rows))
    found = arc_posterior({"a": a, "b": b, "c": c, "d": rng.integers(2, size=rows)})
    assert np.isfinite(found.directed).all()
    if rows > 20:
        # Three equivalent chains; the fork has two orders, each of the others one.
        assert found.directed[0, 1] == pytest.approx(0.25, abs=0.02)
        assert found.directed[1, 0] == pytest.approx(0.75, abs=0.02)
        assert found.averaged().arcs == (("b", "a"), ("b", "c"))


@pytest.mark.parametrize("seed", range(4))
def test_searches_do_not_pass_the_best(seed):
    table = drawn(np.random.default_rng(seed), 8, rows=300)
    best = exact_search(table).score
    assert hill_climb(table).score <= best + 1e-8
    assert ges(table).score <= best + 1e-8
    assert exact_search(table, max_parents=1).score <= best + 1e-8


def test_a_penalty_excludes_sets_without_changing_the_best(monkeypatch):
    table = drawn(np.random.default_rng(3), 9, rows=60)
    scored = []
    original = FamilyScores.enlarged

    def watched(self, child, parents, candidates):
        scored.append(len(candidates))
        return original(self, child, parents, candidates)

    monkeypatch.setattr(FamilyScores, "enlarged", watched)
    pruned, some = exact_search(table), sum(scored)
    monkeypatch.setattr(FamilyScores, "bound", lambda *_: math.inf)
    scored.clear()
    assert exact_search(table).score == pytest.approx(pruned.score, abs=1e-9)
    assert some < sum(scored) == 9 * (2**8 - 1)


def test_one_variable_and_too_many():
    assert exact_search({"a": [0, 1, 1]}).dag.variables == ("a",)
    assert arc_posterior({"a": [0, 1, 1]}).directed.shape == (1, 1)
    wide = {f"x{k}": [0, 1] for k in range(21)}
    for search in (exact_search, arc_posterior):
        with pytest.raises(InputError, match="a table of at most 20 columns for `table`, got 21"):
            search(wide)
