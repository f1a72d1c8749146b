"""Log evidences of many tables at once, against the exact engines table by table."""

import numpy as np
import pytest

from colonnade.pooling.evidence import log_evidences
from colonnade.priors import Hierarchical


def drawn(rng, rows, states, total, tables=6):
    """Tables whose rows resemble each other much, little or not at all, some of them empty."""
    found = np.empty((tables, rows, states), int)
    for table in found:
        pool = np.maximum(rng.dirichlet(np.full(states, rng.choice([0.3, 1.0, 5.0]))), 1e-3)
        sizes = rng.multinomial(total, rng.dirichlet(np.full(rows, rng.choice([0.2, 1.0]))))
        for y in range(rows):
            table[y] = rng.multinomial(sizes[y], rng.dirichlet(rng.choice([0.5, 5, 50]) * pool))
    return found


@pytest.mark.parametrize("states", [2, 3, 4])
@pytest.mark.parametrize("rows", [2, 3, 12, 90])
@pytest.mark.parametrize("total", [6, 60, 900, 20_000])
def test_they_are_those_of_the_exact_engines(states, rows, total):
    rng = np.random.default_rng([states, rows, total])
    tables = drawn(rng, rows, states, total)
    s = float(rng.choice([0.05, 1.0, states, 5.5]))
    alpha0 = [np.ones(states), rng.uniform(1.0, 4.0, states)][int(rng.integers(2))]
    found = log_evidences(tables, s, alpha0)
    several = (tables.sum(axis=2) > 0).sum(axis=1) > 1
    assert not np.isnan(found[several]).any()
    prior = Hierarchical(s=s, alpha0=tuple(alpha0))
    wanted = np.array([prior.log_evidence(table) for table in tables])
    # Both sum terms of the size n ln n.
    np.testing.assert_allclose(found[several], wanted[several], rtol=0, atol=2e-11 + 2e-14 * total)


@pytest.mark.parametrize(
    ("table", "s", "alpha0"),
    [
        ([[3, 1]], 2.0, 1.0),  # one row
        ([[0, 0], [3, 1]], 2.0, 1.0),
        ([[3], [4]], 2.0, 1.0),  # one state
        ([[3, 1, 2, 2, 1], [1, 1, 1, 1, 1]], 2.0, 1.0),  # five states
        ([[3, 1, 2, 2, 0], [1, 1, 1, 1, 0]], 2.0, 1.0),  # four, and one without counts
        ([[3, 1], [4, 0]], 7.0, 1.0),  # a large strength
        ([[3, 0], [4, 0]], 2.0, 0.3),  # a pole at zero
        ([[3, 1], [1 << 19, 0]], 2.0, 1.0),  # large counts
    ],
)
def test_other_tables_are_left_to_the_engines(table, s, alpha0):
    tables = np.array([table])
    assert np.isnan(log_evidences(tables, s, np.full(tables.shape[2], alpha0))).all()
    prior = Hierarchical(s=s, alpha0=alpha0)
    assert prior.structure_scores(tables) == pytest.approx(
        [prior.structure_score(table)], rel=1e-12
    )


def test_states_without_counts_are_one():
    tables = np.array([[[3, 0, 1, 0, 0], [2, 0, 2, 0, 0], [0, 0, 9, 0, 0]]])
    found = log_evidences(tables, 2.5, np.ones(5))
    assert found == pytest.approx([Hierarchical(s=2.5).log_evidence(tables[0])], abs=1e-10)


def test_tails_are_not_cut_off_where_the_sum_of_two_states_is_small():
    tables = np.array([[[0, 693, 4117, 0], [1, 6270, 7369, 1550]]])
    wanted = Hierarchical().log_evidence(tables[0])
    assert log_evidences(tables, 4.0, np.ones(4)) == pytest.approx([wanted], rel=0, abs=2e-10)


def test_room_for_larger_counts_keeps_what_is_known():
    rng = np.random.default_rng(4)
    small, large = drawn(rng, 4, 3, 50), drawn(rng, 4, 3, 5000)
    s = 2.345
    first = log_evidences(small, s, np.ones(3))
    log_evidences(large, s, np.ones(3))
    np.testing.assert_array_equal(log_evidences(small, s, np.ones(3)), first)


def test_a_learned_strength_or_a_given_engine_has_no_short_way():
    from colonnade.pooling import Exact

    tables = np.array([[[3, 1], [2, 2]]])
    assert Hierarchical(s="learn").structure_scores(tables) is None
    assert Hierarchical(engine=Exact()).structure_scores(tables) is None
