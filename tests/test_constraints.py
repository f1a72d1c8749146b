"""PC: with certain answers it finds the class, with tests what other packages' tests say."""

import warnings

import networkx
import numpy as np
import pytest
from scipy.stats import chi2_contingency

import colonnade as cn
from colonnade.exceptions import ColonnadeWarning, InputError
from colonnade.structure import independence, pc
from colonnade.structure.constraints import ConstraintSearch
from colonnade.structure.mixed import named
from colonnade.structure.rules import Rules
from test_search import drawn


def random_dag(rng, size, share):
    order = rng.permutation(size)
    names = [f"x{k}" for k in range(size)]
    arcs = [
        (names[order[i]], names[order[j]])
        for i in range(size)
        for j in range(i + 1, size)
        if rng.random() < share
    ]
    return cn.Dag(arcs, names)


def oracle(dag):
    graph, names = dag.to_networkx(), dag.variables

    def independent(x, y, given):
        return networkx.is_d_separator(graph, names[x], names[y], {names[k] for k in given})

    return independent


@pytest.mark.parametrize("orientation", ["majority", "conservative"])
@pytest.mark.parametrize("seed", range(30))
def test_with_certain_answers_the_class_is_found(seed, orientation):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, int(rng.integers(3, 8)), rng.random())
    rules = Rules.of(dag.variables, (), (), None)
    search = ConstraintSearch(rules, oracle(dag), orientation, None)
    assert named(search.run(), dag.variables) == dag.cpdag()
    assert not search.undecided


@pytest.mark.parametrize("seed", range(20))
def test_rules_direct_what_tests_cannot(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 6, 0.5)
    tiers = [dag.order[:2], dag.order[2:4], dag.order[4:]]
    rules = Rules.of(dag.variables, (), (), None, tiers)
    found = named(ConstraintSearch(rules, oracle(dag), "majority", None).run(), dag.variables)
    assert set(found.arcs) <= set(dag.arcs)
    place = {name: k for k, tier in enumerate(tiers) for name in tier}
    assert all(place[a] == place[b] for a, b in found.edges)
    assert set(found.arcs) >= set(dag.cpdag().arcs)


@pytest.mark.parametrize("given", [(), ("x2",), ("x2", "x3")])
def test_statistics_are_those_of_scipy(given):
    rng = np.random.default_rng(1)
    table = {f"x{k}": rng.integers(3, size=600) for k in range(4)}
    table["x1"] = np.where(rng.random(600) < 0.2, table["x0"], table["x1"])
    found = independence(table, "x0", "x1", given)
    codes = sum(table[name] * 3**k for k, name in enumerate(given)) + np.zeros(600, int)
    statistic = degrees = 0
    for value in np.unique(codes):
        rows = codes == value
        counts = np.zeros((3, 3))
        np.add.at(counts, (table["x0"][rows], table["x1"][rows]), 1)
        part = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        statistic, degrees = statistic + part.statistic, degrees + part.dof
    assert found.statistic == pytest.approx(statistic, rel=1e-10)
    assert found.degrees == degrees
    assert found.information == pytest.approx(statistic / 1200, rel=1e-10)


def test_statistics_are_those_of_pyagrum():
    gum = pytest.importorskip("pyagrum")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    a, c = rng.integers(2, size=500), rng.integers(3, size=500)
    b = np.where(rng.random(500) < 0.15, a, rng.integers(2, size=500))
    frame = pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)
    learner = gum.BNLearner(frame)
    learner.useNoPrior()
    for given in ([], ["c"]):
        statistic, p_value = learner.G2("a", "b", given)
        found = independence(frame, "a", "b", given)
        assert found.statistic == pytest.approx(statistic, rel=1e-6)
        assert found.p_value == pytest.approx(p_value, abs=1e-5)


def test_sparse_tables_keep_power_where_only_what_occurs_is_counted():
    rng = np.random.default_rng(3)
    wide = rng.integers(40, size=300)
    a = rng.integers(2, size=300)
    table = {"a": a, "b": np.where(rng.random(300) < 0.7, a, 1 - a), "wide": wide}
    sizes = {"a": 2, "b": 2, "wide": 400}
    variables = [cn.Variable(name, range(size)) for name, size in sizes.items()]
    coded = cn.tables.encode(table, variables=variables)
    all_states = independence(coded, "a", "b", ["wide"])
    assert independence(coded, "a", "b", "wide") == all_states
    occurring = independence(coded, "a", "b", ["wide"], test="mi")
    assert all_states.statistic == occurring.statistic
    assert all_states.degrees == 400
    assert occurring.degrees <= 40
    assert occurring.p_value < all_states.p_value


@pytest.mark.parametrize("test", ["g2", "mi"])
def test_the_class_is_found_from_many_rows(test):
    dag = cn.Dag([("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")], list("abcde"))
    rng = np.random.default_rng(5)
    a, b = rng.random(20000) < 0.5, rng.random(20000) < 0.4
    c = rng.random(20000) < 0.1 + 0.4 * a + 0.4 * b
    d = rng.random(20000) < np.where(c, 0.8, 0.2)
    e = rng.random(20000) < np.where(d, 0.7, 0.1)
    found = pc({"a": a, "b": b, "c": c, "d": d, "e": e}, test, 0.001)
    assert found.pdag == dag.cpdag()
    assert found.dag.cpdag() == found.pdag
    assert found.separated["a", "b"] == ()
    assert "c" in found.separated["a", "d"]
    assert found.tests > 10


@pytest.mark.parametrize("seed", range(12))
def test_the_result_does_not_depend_on_the_order_of_columns(seed):
    rng = np.random.default_rng(seed)
    table = drawn(rng, 6, rows=400)
    columns = dict(zip(table.names, table.codes, strict=True))
    shuffled = {name: columns[name] for name in rng.permutation(table.names).tolist()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        first, second = pc(columns), pc(shuffled)
    assert {frozenset(arc) for arc in first.dag.arcs} == {frozenset(arc) for arc in second.dag.arcs}


@pytest.mark.parametrize("seed", range(12))
def test_the_graph_obeys_all_rules(seed):
    rng = np.random.default_rng(seed)
    table = drawn(rng, 6, rows=300)
    names = rng.permutation(table.names).tolist()
    rules = {
        "tiers": [names[:2], names[2:4]],
        "required": [(names[0], names[2])],
        "forbidden": [(names[4], names[5]), (names[5], names[4])],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColonnadeWarning)
        found = pc(table, alpha=0.2, **rules)
    arcs = set(found.dag.arcs)
    assert (names[0], names[2]) in arcs
    assert not arcs & set(rules["forbidden"])
    assert not {(a, b) for a in names[2:4] for b in names[:2]} & arcs
    pairs = {frozenset(arc) for arc in (*found.pdag.arcs, *found.pdag.edges)}
    assert {frozenset(arc) for arc in arcs} <= pairs


def test_directions_without_a_graph_are_told():
    dag = cn.Dag([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], list("abcd"))
    rng = np.random.default_rng(8)
    # A square without a diagonal and without a collider: no graph has these independences.
    joint = np.ones((2, 2, 2, 2))
    for k in range(4):
        axes = np.moveaxis(joint, [k, (k + 1) % 4], [0, 1])
        axes[0, 0] *= 4
        axes[1, 1] *= 4
    states = rng.choice(16, size=20000, p=joint.ravel() / joint.sum())
    table = {name: states >> (3 - k) & 1 for k, name in enumerate("abcd")}
    with pytest.warns(ColonnadeWarning, match="fit no graph without cycles and other colliders"):
        found = pc(table, alpha=0.001)
    pairs = {frozenset(arc) for arc in dag.arcs}
    assert {frozenset(arc) for arc in found.dag.arcs} == pairs
    assert {frozenset(edge) for edge in (*found.pdag.edges, *found.pdag.arcs)} == pairs


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: pc(t, "chi"), "'g2' or 'mi' for `test`, got 'chi'"),
        (lambda t: pc(t, alpha=5), "between 0 and 1 for `alpha`, got 5"),
        (lambda t: pc(t, orientation="x"), "'majority' or 'conservative' for `orientation`"),
        (lambda t: pc(t, max_given=-1), "for `max_given`, got -1"),
        (lambda t: independence(t, "a", "z"), "for `y`, got 'z'"),
        (lambda t: independence(t, "a", "a"), "different variables for `given`, got 'a'"),
        (lambda t: independence(t, "a", "b", 3), "a list of names for `given`, got 3"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call({"a": [0, 1] * 4, "b": [0, 0, 1, 1] * 2, "c": [0, 1] * 4})
