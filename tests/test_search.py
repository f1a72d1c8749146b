"""The search takes the steps of a plain one, whatever is counted at once and kept in arrays."""

import numpy as np
import pytest

from colonnade.exceptions import InputError
from colonnade.priors import BDeu, Hierarchical, SymmetricDirichlet
from colonnade.structure import AIC, BIC, LogLikelihood, hill_climb
from colonnade.structure.columns import Columns, prepare
from colonnade.structure.paths import Paths
from colonnade.structure.rules import Rules
from colonnade.structure.scores import FamilyScores
from colonnade.tables.coded import CodedTable
from colonnade.variables import Variable
from plain_search import PlainSearch

JUDGES = [BIC(), AIC(), LogLikelihood(), BDeu(10), BDeu(0.3), SymmetricDirichlet(), Hierarchical()]


def drawn(rng, width, sizes=(2, 3, 4), rows=None):
    """A table of columns that depend on one or two of those before; some weighted."""
    rows = int(rng.integers(5, 300)) if rows is None else rows
    columns, variables = [], []
    for j in range(width):
        r = int(rng.choice(sizes))
        before = sum((columns[k] for k in rng.integers(j, size=2)), np.zeros(rows, int)) if j else 0
        table = rng.dirichlet(np.full(r, 0.5), 64)[before]
        table = np.broadcast_to(table, (rows, r)) if j else np.tile(table, (rows, 1))
        codes = (rng.random(rows)[:, None] > table.cumsum(axis=1)).sum(axis=1).clip(0, r - 1)
        columns.append(codes)
        variables.append(Variable(f"x{j}", range(r)))
    weights = [None, rng.integers(1, 5, rows), 3.0 * rng.random(rows)][int(rng.integers(3))]
    return CodedTable(tuple(variables), tuple(columns), weights=weights)


def rules_of(rng, names):
    """Options of a search, drawn at random."""
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    order = rng.permutation(len(pairs))
    return {
        "required": [pairs[order[0]]] if rng.random() < 0.3 else [],
        "forbidden": [pairs[k][::-1] for k in order[1:3]] if rng.random() < 0.5 else [],
        "max_parents": int(rng.integers(1, 3)) if rng.random() < 0.5 else None,
    }


@pytest.mark.parametrize("seed", range(40))
def test_every_step_is_that_of_a_plain_search(seed):
    rng = np.random.default_rng(seed)
    table = drawn(rng, int(rng.integers(2, 6)), sizes=[(2,), (2, 3, 4), (1, 2, 9)][seed % 3])
    judge, prior = JUDGES[seed % len(JUDGES)], [None, "sizes"][int(rng.integers(2))]
    options = rules_of(rng, table.names)
    tabu = int(rng.integers(0, 6))
    rules = Rules.of(table.names, **options)
    plain = PlainSearch(prepare(table), judge, prior, rules)
    start = frozenset(map(tuple, np.argwhere(rules.required).tolist()))
    arcs, score, trace = plain.climb(start, tabu)
    found = hill_climb(table, judge, graph_prior=prior, tabu=tabu, **options)
    assert [(step.operation, step.arc) for step in found.trace] == [
        (step.operation, step.arc) for step in trace
    ]
    assert set(found.dag.arcs) == {(table.names[a], table.names[b]) for a, b in arcs}
    assert found.score == pytest.approx(score, abs=1e-9)
    for ours, theirs in zip(found.trace, trace, strict=True):
        assert ours.gain == pytest.approx(theirs.gain, abs=1e-8)
        assert ours.score == pytest.approx(theirs.score, rel=1e-12)


@pytest.mark.parametrize("judge", JUDGES, ids=repr)
@pytest.mark.parametrize("weights", [None, "whole", "fractional"])
def test_additions_at_once_are_the_scores_of_their_counts(judge, weights):
    rng = np.random.default_rng(7)
    # By bits and by rows: few and many states, few and many configurations of the parents.
    table = drawn(rng, 8, sizes=(2, 3, 8, 9, 20), rows=150)
    given = {None: None, "whole": rng.integers(0, 4, 150), "fractional": rng.random(150)}[weights]
    table = CodedTable(table.variables, table.codes, weights=given)
    fast, slow = (FamilyScores(Columns(table), judge, "sizes") for _ in range(2))
    for child, parents in [(0, ()), (2, (1,)), (4, (0, 3)), (5, (1, 2, 3, 4))]:
        others = [k for k in range(8) if k != child and k not in parents]
        values = fast.additions(child, parents, others)
        wanted = [slow.family(child, (*parents, z)) for z in others]
        assert values == pytest.approx(wanted, rel=1e-12, abs=1e-9)


def test_a_family_is_scored_once_however_it_is_reached():
    families = FamilyScores(prepare(drawn(np.random.default_rng(3), 5)), BIC())
    single = families.family(0, (3, 4))
    by_three = families.additions(0, (3,), [1, 2, 4])
    assert by_three[2] == single
    by_one = families.additions(0, (1,), [2, 3])
    assert by_one[1] == by_three[0] == families.family(0, (3, 1))


def test_paths_follow_arcs_that_come_and_go():
    rng = np.random.default_rng(5)
    paths = Paths(np.zeros((8, 8), bool))
    for _ in range(300):
        a, b = rng.choice(8, size=2, replace=False)
        before = paths.reach.copy()
        if paths.adjacency[a, b]:
            changed = paths.delete(a, b)
        elif not paths.reach[b, a]:
            changed = paths.add(a, b)
        else:
            continue
        wanted = np.linalg.matrix_power(paths.adjacency + np.eye(8, dtype=int), 8) > 0
        np.testing.assert_array_equal(paths.reach, wanted)
        assert set(np.flatnonzero((before != wanted).any(axis=1))) <= set(changed.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_tiers_forbid_arcs_back(seed):
    table = drawn(np.random.default_rng(seed), 6)
    names = table.names
    tiers = [[names[4], names[5]], [names[0]], [names[1]]]
    back = [
        (late, early)
        for k, tier in enumerate(tiers)
        for early in tier
        for rest in tiers[k + 1 :]
        for late in rest
    ]
    assert hill_climb(table, tiers=tiers).dag == hill_climb(table, forbidden=back).dag
    free = Rules.of(names, (), (), None, tiers).allowed
    assert free.sum() == 6 * 5 - len(back)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tiers": "ab"}, "a list of lists of names for `tiers`, got 'ab'"),
        ({"tiers": ["x0"]}, "a list of lists of names for `tiers`, got 'x0'"),
        ({"tiers": [["x0"], ["y"]]}, "for `tiers`, got 'y'"),
        ({"tiers": [["x0"], ["x0"]]}, "each variable in one tier for `tiers`, got 'x0' twice"),
        (
            {"tiers": [["x0"], ["x1"]], "required": [("x1", "x0")]},
            "arcs from earlier to later tiers for `required`",
        ),
    ],
)
def test_tiers_that_cannot_be_are_refused(options, message):
    table = drawn(np.random.default_rng(0), 3)
    with pytest.raises(InputError, match=message):
        hill_climb(table, **options)
