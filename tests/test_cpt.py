"""Tables of one variable: sparse storage, estimates, known probabilities, how they are shown."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.configurations import codes_at, configuration_codes
from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt, SparseTable
from colonnade.exceptions import DataError, InputError, NotSupportedError, TooLargeError
from colonnade.pooling import Quadrature
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.variables import Family, Variable

PRIORS = [
    BDeu(2),
    SymmetricDirichlet(),
    Hierarchical(),
    Hierarchical(s="learn"),
    Hierarchical(s=3, alpha0=(2.0, 1.0, 0.5), engine=Quadrature()),
]
COUNTS = FamilyCounts.from_array(
    [[3, 1, 0], [0, 0, 0], [2, 5, 1], [0, 0, 0], [0, 1, 0], [9, 0, 2]], (2, 3)
)


def family(states=3, parents=(2, 3)):
    return Family(
        Variable("x", [f"s{k}" for k in range(states)]),
        [Variable(f"p{k}", range(size)) for k, size in enumerate(parents)],
    )


@st.composite
def tables(draw):
    """A sparse table of some of its configurations, and all of them in a dictionary."""
    sizes = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    configurations = math.prod(sizes)
    stored = sorted(draw(st.sets(st.integers(0, configurations - 1))))
    r = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    rows = rng.dirichlet(np.ones(r), size=len(stored))
    default = draw(st.sampled_from([None, rng.dirichlet(np.ones(r))]))
    codes = np.array([configuration_codes(k, sizes) for k in stored]).reshape(
        len(stored), len(sizes)
    )
    table = SparseTable(sizes, codes.astype(int), rows.reshape(-1, r), default)
    missing = np.full(r, np.nan) if default is None else default
    return table, [rows[stored.index(k)] if k in stored else missing for k in range(configurations)]


# ------------------------------------------------------------------- storage


@given(tables())
def test_rows_by_index_by_codes_and_dense(pair):
    table, wanted = pair
    np.testing.assert_array_equal(table.dense(), wanted)
    for k, row in enumerate(wanted):
        codes = configuration_codes(k, table.parent_sizes)
        np.testing.assert_array_equal(table.row(k), row)
        np.testing.assert_array_equal(table.row(codes), row)
        np.testing.assert_array_equal(table.row(np.array(codes, dtype=int)), row)
    assert table.complete == (not np.isnan(wanted).any())
    assert table.configurations == len(wanted)
    assert pickle.loads(pickle.dumps(table)) == table


def test_no_rows_are_stored():
    table = SparseTable((2, 2), np.zeros((0, 2), int), np.zeros((0, 3)), [0.5, 0.25, 0.25])
    assert table.row(3).tolist() == [0.5, 0.25, 0.25]
    assert table.lookup.at(np.array([[0, 1]])).tolist() == [[0.5, 0.25, 0.25]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2,), [[0], [0]], [[1.0], [1.0]]), "different configurations"),
        (((2,), [[1], [0]], [[1.0], [1.0]]), "in order"),
        (((2,), [[2]], [[1.0]]), "below the parent sizes"),
        (((2,), [[0]], [[0.5, 0.4]]), "sums to 0.9"),
        (((2,), [[0]], [[1.5, -0.5]]), "0 or more"),
        (((2,), [[0]], [[math.nan, 1.0]]), "finite"),
        (((2,), [[0]], [[]]), "rows of probabilities"),
        (((2,), [[0]], [0.5, 0.5]), "rows of probabilities"),
        (((2,), [[0]], [["a", "b"]]), "an array of numbers"),
        (((2,), [[0]], [[0.5, 0.5]], [1.0]), "2 probabilities"),
        (((2,), [[0]], [[0.5, 0.5]], [0.5, 0.6]), "sum to 1"),
    ],
)
def test_what_is_no_table(arguments, message):
    with pytest.raises(InputError, match=message):
        SparseTable(*arguments)


@pytest.mark.parametrize("configuration", [-1, 6, (2, 0), (0,), (0, 0, 0), 0.5, "a"])
def test_configurations_that_do_not_exist(configuration):
    table = SparseTable((2, 3), np.zeros((0, 2), int), np.zeros((0, 2)), [0.5, 0.5])
    with pytest.raises(InputError, match="configuration"):
        table.row(configuration)


def test_arrays_are_private_and_not_writeable():
    rows = np.array([[0.25, 0.75]])
    table = SparseTable((2,), [[0]], rows, [0.5, 0.5])
    rows[0, 0] = 7.0
    assert table.rows[0, 0] == 0.25
    for array in (table.codes, table.rows, table.default):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_rows_that_are_off_by_rounding_stay_as_they_are():
    # Otherwise what is saved and loaded would creep with every round trip.
    row = np.array([[0.1, 0.2, 0.7 + 4e-16]])
    table = SparseTable((), np.zeros((1, 0), int), row)
    assert table.rows.tolist() == row.tolist()
    again = SparseTable((), table.codes, table.rows)
    assert again == table
    third = SparseTable((), np.zeros((1, 0), int), [[1 / 3 + 5e-7, 1 / 3, 1 / 3]])
    assert abs(third.rows.sum() - 1.0) < 1e-15
    assert SparseTable((), third.codes, third.rows) == third


def test_a_dense_table_beyond_the_limit_is_refused_with_its_size():
    table = SparseTable((20,) * 10, np.zeros((0, 10), int), np.zeros((0, 2)), [0.5, 0.5])
    with pytest.raises(TooLargeError) as caught:
        table.dense()
    assert caught.value.size == 2 * 20**10
    with pytest.raises(TooLargeError, match="limit of 3"):
        SparseTable((2,), [[0]], [[0.5, 0.5]], [0.5, 0.5]).dense(limit=3)


# ------------------------------------------------------------------ estimates


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_estimates_are_posterior_means(prior):
    cpt = Cpt.of(family(), COUNTS, prior)
    posterior = prior.posterior(COUNTS)
    np.testing.assert_array_equal(cpt.probabilities, posterior.mean)
    np.testing.assert_array_equal(cpt.mean, prior.estimate(COUNTS))
    np.testing.assert_array_equal(cpt.table.default, posterior.default)
    assert cpt.posterior.log_evidence == posterior.log_evidence
    assert cpt.posterior is cpt.posterior
    np.testing.assert_array_equal(cpt.posterior.interval(0.9).lower, posterior.interval(0.9).lower)


def test_a_table_with_every_configuration_needs_no_default():
    counts = FamilyCounts.from_array([[1, 2], [3, 4]])
    assert Cpt.of(family(2, (2,)), counts, Hierarchical()).table.default is None
    assert Cpt.of(family(2, (2,)), counts, MaximumLikelihood()).table.complete


def test_maximum_likelihood_and_the_configurations_it_never_saw():
    frequencies = COUNTS.to_array() / np.maximum(COUNTS.to_array().sum(axis=1, keepdims=True), 1)
    seen = COUNTS.to_array().any(axis=1)
    table = Cpt.of(family(), COUNTS, MaximumLikelihood()).probabilities
    np.testing.assert_array_equal(table[seen], frequencies[seen])
    assert np.isnan(table[~seen]).all()
    np.testing.assert_array_equal(table, MaximumLikelihood().estimate(COUNTS))
    uniform = Cpt.of(family(), COUNTS, MaximumLikelihood("uniform"))
    np.testing.assert_allclose(uniform.probabilities[~seen], 1 / 3)
    with pytest.raises(DataError, match="Variable 'x': 2 of 6 configurations") as caught:
        Cpt.of(family(), COUNTS, MaximumLikelihood("raise"))
    assert caught.value.unobserved == 2
    with pytest.raises(DataError, match=r"1 of 3 configurations of its parents 'p0' has no obs"):
        Cpt.of(family(2, (3,)), [[1, 2], [0, 0], [3, 1]], MaximumLikelihood("raise"))
    with pytest.raises(NotSupportedError, match="it has no prior"):
        _ = uniform.posterior


def test_known_probabilities():
    values = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.25, 0.75], [0.1, 0.9]]])
    cpt = Cpt.known(family(2, (2, 2)), values)
    assert cpt == Cpt.known(family(2, (2, 2)), values.reshape(4, 2))
    assert cpt.probabilities.tolist() == values.reshape(4, 2).tolist()
    assert cpt.counts is None
    assert cpt.prior is None
    with pytest.raises(NotSupportedError, match="given, not estimated"):
        _ = cpt.posterior
    assert Cpt.known(family(2, ()), [0.5, 0.5]).probabilities.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.5, 0.5]], "shape"),
        ([[0.5, 0.5]] * 3, r"shape \(4, 2\)"),
        ([[0.5, 0.4]] * 4, "sum to 1"),
        ([[2.0, -1.0]] * 4, "0 or more"),
        ([[math.inf, 0.0]] * 4, "finite"),
        ("abc", "numbers"),
        (0.5, "rows of probabilities"),
    ],
)
def test_what_cannot_be_known(values, message):
    with pytest.raises(InputError, match=message):
        Cpt.known(family(2, (2, 2)), values)


def test_parts_must_fit_together():
    counts = FamilyCounts.from_array([[1, 2], [3, 4]])
    table = SparseTable((2,), [[0], [1]], [[0.5, 0.5]] * 2)
    with pytest.raises(InputError, match="`counts`"):
        Cpt(family(3, (2,)), counts, BDeu(), SparseTable((2,), [[0]], [[1, 0, 0]], [1, 0, 0]))
    with pytest.raises(InputError, match="`table`"):
        Cpt(family(2, (3,)), None, None, table)
    with pytest.raises(InputError, match="or neither"):
        Cpt(family(2, (2,)), counts, None, table)
    with pytest.raises(InputError, match="a prior"):
        Cpt.of(family(2, (2,)), counts, "bdeu")
    with pytest.raises(InputError, match="a Family"):
        Cpt.known("x", [[1.0]])
    with pytest.raises(InputError, match="a Family"):
        Cpt("x", None, None, table)
    with pytest.raises(InputError, match="a SparseTable"):
        Cpt(family(2, (2,)), None, None, [[1.0]])


def stored_otherwise(draw, table):
    """The same probabilities, with rows that equal the default stored or not."""
    dense, default, sizes = table.dense(), table.default, table.parent_sizes
    if default is None:
        here = np.isfinite(dense).all(axis=1)
    else:
        here = [draw(st.booleans()) or row.tolist() != default.tolist() for row in dense]
    index = np.flatnonzero(here)
    return SparseTable(sizes, codes_at(index, sizes), dense[index], default)


@given(data=st.data(), sizes=st.lists(st.integers(1, 3), max_size=3))
def test_equality_is_about_probabilities_not_about_what_is_stored(data, sizes):
    """Rows from a set of three, so that many of them are the default row."""
    rows = st.sampled_from([(0.5, 0.5), (0.25, 0.75), (1.0, 0.0)])
    here = np.array(data.draw(st.lists(st.booleans(), min_size=q(sizes), max_size=q(sizes))))
    index = np.flatnonzero(here)
    stored = [data.draw(rows) for _ in index]
    codes = codes_at(index, tuple(sizes))
    default = data.draw(st.none() | rows)
    table = SparseTable(tuple(sizes), codes, np.reshape(stored, (-1, 2)), default)
    again = stored_otherwise(data.draw, table)
    assert table == again
    assert again == table
    other = SparseTable(
        tuple(sizes), codes, np.reshape([data.draw(rows) for _ in index], (-1, 2)), default
    )
    for one, two in ((table, other), (again, other), (other, again)):
        assert (one == two) == np.array_equal(one.dense(), two.dense(), equal_nan=True)


def q(sizes):
    return int(np.prod(sizes, dtype=int))


def test_equality_of_tables_that_no_memory_holds():
    sizes, half = (20,) * 30, [0.5, 0.5]
    bare = SparseTable(sizes, np.zeros((0, 30), dtype=int), np.zeros((0, 2)), half)
    assert SparseTable(sizes, [[3] * 30], [half], half) == bare
    assert SparseTable(sizes, [[3] * 30], [[0.25, 0.75]], half) != bare
    assert SparseTable(sizes, [[3] * 30], [half]) != bare
    assert SparseTable(sizes[1:], [[3] * 29], [half], half) != bare
    with pytest.raises(TypeError, match="unhashable"):
        hash(bare)


def test_a_default_row_that_stands_for_nothing_is_left_out():
    table = SparseTable((2,), [[0], [1]], [[0.5, 0.5], [0.25, 0.75]], [0.9, 0.1])
    assert table.default is None
    assert table == SparseTable((2,), [[0], [1]], [[0.5, 0.5], [0.25, 0.75]])


def test_equality_looks_at_everything():
    counts = FamilyCounts.from_array([[1, 2], [3, 4]])
    cpt = Cpt.of(family(2, (2,)), counts, BDeu(1))
    assert cpt == Cpt.of(family(2, (2,)), counts, BDeu(1))
    assert cpt != Cpt.of(family(2, (2,)), counts, BDeu(2))
    assert cpt != Cpt.of(family(2, (2,)), counts + counts, BDeu(1))
    assert cpt != Cpt.known(family(2, (2,)), cpt.probabilities)
    assert cpt != 3
    known = Cpt.known(family(2, (2,)), [[0.5, 0.5], [0.25, 0.75]])
    assert known == Cpt.known(family(2, (2,)), [[0.5, 0.5], [0.25, 0.75]])
    assert known != Cpt.known(family(2, (2,)), [[0.5, 0.5], [0.75, 0.25]])
    half = ((2,), [[0]], [[0.5, 0.5]])
    assert SparseTable(*half, [0.25, 0.75]) == SparseTable(*half, [0.25, 0.75])
    assert SparseTable(*half, [0.25, 0.75]) != SparseTable(*half, [0.75, 0.25])
    assert SparseTable(*half, [0.25, 0.75]) != SparseTable(*half)
    assert SparseTable(*half, [0.25, 0.75]) != SparseTable((2,), [[1]], [[0.5, 0.5]], [0.25, 0.75])
    assert pickle.loads(pickle.dumps(cpt)) == cpt


def test_one_state_and_one_configuration():
    cpt = Cpt.of(family(1, ()), FamilyCounts.from_array([[5]], ()), Hierarchical())
    assert cpt.probabilities.tolist() == [[1.0]]


# -------------------------------------------------------------------- showing


def test_shown_with_the_default_row_and_what_was_left_out():
    cpt = Cpt.of(family(), COUNTS, BDeu(1))
    text = repr(cpt)
    assert "Cpt('x' given 'p0', 'p1', n=24, prior=BDeu(ess=1.0))" in text
    assert "(any other)" in text
    assert text.count("\n") == 6
    assert "2 configurations without probabilities" in repr(
        Cpt.of(family(), COUNTS, MaximumLikelihood())
    )
    many = FamilyCounts.from_array(np.ones((100, 30), dtype=int))
    text = repr(Cpt.of(family(30, (100,)), many, BDeu(1)))
    assert "80 more configurations" in text
    assert "18 more states" in text
    assert len(text) < 5000


def test_html_is_escaped_and_limited():
    nasty = Family(
        Variable("<script>alert(1)</script>", ["<=50K", ">50K", "\x00\ud800"]),
        [Variable('"&', ["<b>", "x"])],
    )
    html = Cpt.known(nasty, [[0.5, 0.25, 0.25]] * 2)._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;=50K" in html
    html.encode()
    many = FamilyCounts.from_array(np.ones((5000, 200), dtype=int))
    assert len(Cpt.of(family(200, (5000,)), many, BDeu(1))._repr_html_()) < 20_000


def test_a_table_without_parents_and_without_counts_can_be_shown():
    from colonnade.dag import Dag
    from colonnade.network import fit

    rows = {"x": ["a", "b"]}
    empty = fit(rows, Dag([], ["x"])).forget(rows)
    assert "0.5000" in repr(empty["x"])
    assert "0.5000" in empty["x"]._repr_html_()


@pytest.mark.parametrize("unobserved", ["nan", "uniform", "raise"])
def test_a_single_state_is_certain_in_an_estimate_and_in_a_table(unobserved):
    prior, counts = MaximumLikelihood(unobserved), FamilyCounts.from_array([[3], [1]])
    wanted = Cpt.of(family(1, (2,)), counts, prior).probabilities
    assert prior.estimate(counts).tolist() == wanted.tolist() == [[1.0], [1.0]]
    if unobserved != "raise":
        counts = FamilyCounts.from_array([[3], [0]])
        wanted = Cpt.of(family(1, (2,)), counts, prior).probabilities
        assert prior.estimate(counts).tolist() == wanted.tolist() == [[1.0], [1.0]]
