"""What is read off a graph, against networkx, pgmpy and plain search."""

import itertools

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade import Dag
from colonnade.dag import MixedGraph
from colonnade.exceptions import InputError, NotSupportedError


@st.composite
def dags(draw, least=2, most=6):
    names = draw(st.permutations("abcdef"[: draw(st.integers(least, most))]))
    pairs = list(itertools.combinations(names, 2))
    arcs = [pair for pair in pairs if draw(st.booleans())]
    return Dag(draw(st.permutations(arcs)), sorted(names))


def all_dags(names):
    pairs = list(itertools.combinations(names, 2))
    for ways in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = [(a, b) if w == 1 else (b, a) for (a, b), w in zip(pairs, ways, strict=True) if w]
        if networkx.is_directed_acyclic_graph(networkx.DiGraph(arcs)):
            yield Dag(arcs, list(names))


@given(dags())
def test_closures_and_blankets_are_those_of_networkx(dag):
    graph = dag.to_networkx()
    for name in dag:
        assert dag.ancestors(name) == networkx.ancestors(graph, name)
        assert dag.descendants(name) == networkx.descendants(graph, name)
        assert dag.descendants([name]) == networkx.descendants(graph, name) | {name}
        blanket = dag.markov_blanket(name)
        rest = set(dag) - blanket - {name}
        assert not rest or networkx.is_d_separator(graph, {name}, rest, blanket)
        for member in blanket:  # and no smaller set does
            others = rest | {member}
            assert not networkx.is_d_separator(graph, {name}, others, blanket - {member})


@given(dags(), st.data())
def test_d_separation_is_that_of_networkx(dag, data):
    side = {name: data.draw(st.sampled_from("xyzo")) for name in dag}
    x, y, z = ([name for name in dag if side[name] == letter] for letter in "xyz")
    if x and y:
        graph = dag.to_networkx()
        assert dag.d_separated(x, y, z) == networkx.is_d_separator(graph, set(x), set(y), set(z))


@given(dags())
def test_moral_graph_and_skeleton(dag):
    graph = dag.to_networkx()
    moral = dag.moral().to_networkx()
    assert networkx.utils.graphs_equal(moral, networkx.moral_graph(graph))
    skeleton = dag.skeleton().to_networkx()
    assert {frozenset(e) for e in skeleton.edges} == {frozenset(e) for e in graph.edges}
    assert set(skeleton.nodes) == set(dag)


def independences(dag):
    graph = dag.to_networkx()
    return frozenset(
        (x, y, z)
        for x, y in itertools.combinations(sorted(dag), 2)
        for k in range(len(dag) - 1)
        for z in itertools.combinations(sorted(set(dag) - {x, y}), k)
        if networkx.is_d_separator(graph, {x}, {y}, set(z))
    )


def test_classes_of_equivalent_graphs_by_trying_all():
    classes = {}
    for dag in all_dags("abcd"):
        classes.setdefault(independences(dag), []).append(dag)
    assert len(classes) == 185  # the number of classes of graphs of four variables
    for members in classes.values():
        common = members[0].cpdag()
        for dag in members:
            assert dag.cpdag() == common
            assert dag.is_equivalent(members[0])
        for arc in itertools.permutations("abcd", 2):
            assert (arc in common.arcs) == all(arc in dag.arcs for dag in members)
        assert set(common.to_dag().arcs) in [set(dag.arcs) for dag in members]
    shown = [members[0] for members in classes.values()]
    for one, two in itertools.combinations(shown, 2):
        assert not one.is_equivalent(two)
        assert one.cpdag() != two.cpdag()


@given(dags(3, 5), st.data())
def test_distance_is_that_of_pgmpy(dag, data):
    from pgmpy.base import DAG
    from pgmpy.metrics import SHD

    pairs = list(itertools.combinations(data.draw(st.permutations(sorted(dag))), 2))
    other = Dag([pair for pair in pairs if data.draw(st.booleans())], sorted(dag))
    graphs = []
    for each in (dag, other):
        graph = DAG()
        graph.add_nodes_from(each)
        graph.add_edges_from(each.arcs)
        graphs.append(graph)
    assert dag.shd(other) == SHD()(true_causal_graph=graphs[0], est_causal_graph=graphs[1])
    assert dag.shd(other) == other.shd(dag)
    assert dag.shd(dag) == 0


def backdoor(dag, x, y, z):
    """The criterion as it is written: no descendant, and every path into x is blocked."""
    graph = dag.to_networkx()
    if networkx.descendants(graph, x) & set(z):
        return False
    graph.remove_edges_from([(x, child) for child in dag.children(x)])
    return networkx.is_d_separator(graph, {x}, {y}, set(z))


def check_backdoor_sets(dag, x, y):
    if y in dag.ancestors(x):
        with pytest.raises(InputError, match="does not lead to"):
            dag.backdoor_sets(x, y)
        assert dag.backdoor_set(x, y) is None
        return
    others = sorted(set(dag) - {x, y})
    sets = [frozenset(z) for k in range(5) for z in itertools.combinations(others, k)]
    valid = [z for z in sets if backdoor(dag, x, y, z)]
    found = dag.backdoor_sets(x, y)
    assert set(found) == {z for z in valid if not any(small < z for small in valid)}
    assert len(found) == len(set(found))
    assert [len(z) for z in found] == sorted(map(len, found))
    assert dag.backdoor_set(x, y) in found
    for z in sets:
        assert dag.is_backdoor_set(x, y, z) == (z in valid)


@given(dags(5, 6), st.data())
def test_backdoor_sets_by_trying_all(dag, data):
    check_backdoor_sets(dag, *data.draw(st.permutations(sorted(dag)))[:2])


def test_backdoor_sets_of_all_graphs_of_four_variables():
    for dag in all_dags("abcd"):
        # The others are the same graphs with other names.
        check_backdoor_sets(dag, "a", "b")


# -------------------------------------------------------------------------- texts


@given(dags())
def test_texts_give_the_graph_back(dag):
    assert Dag.from_string(dag.to_string()) == dag
    again = Dag.from_dot(dag.to_dot())
    assert again == dag
    assert again.variables == dag.variables


@given(st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=4, unique=True))
def test_any_name_can_be_written_as_dot(names):
    dag = Dag([(names[0], name) for name in names[1:]])
    assert Dag.from_dot(dag.to_dot()) == dag


def test_what_people_write_as_dot():
    text = """
    # drawn by hand
    strict digraph "my graph" {
        graph [rankdir=LR, label="x -> y"]; node [shape=box]
        rankdir = TB  // from above
        Age [label=<<b>Age</b> in years>, shape=none];
        Age -> {Smoker; "Heart disease" [color=red]} [style=dashed];
        Smoker:e -> "Heart disease":w -> 3.5 /* a score */
        subgraph cluster_0 { lonely }
        edge [dir=back]
        "Blood" + " pressure" -> Age
        Age -> Smoker [dir=forward]
    }
    """
    dag = Dag.from_dot(text)
    assert set(dag.arcs) == {
        ("Age", "Smoker"),
        ("Age", "Heart disease"),
        ("Smoker", "Heart disease"),
        ("Heart disease", "3.5"),
        ("Age", "Blood pressure"),
    }
    assert set(dag) == {"Age", "Smoker", "Heart disease", "3.5", "lonely", "Blood pressure"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph { a -- b }", "a directed graph"),
        ("digraph { a -- b }", "arcs with a direction"),
        ("digraph { a -> b [dir=none] }", "dir=none at a -> b"),
        ("digraph { a -> b", "at this place.*the end"),
        ("digraph { a -> ; }", "a name at this place"),
        ("digraph { a -> b } digraph { }", "one graph"),
        ("digraph { a -> b; a -> b }", "twice"),
        ("digraph { a -> b -> a }", "no cycle"),
        ("digraph { a -> % }", "language of Graphviz"),
        ("", "'digraph' at this place"),
        (3, "language of Graphviz"),
    ],
)
def test_what_is_no_dot(text, message):
    with pytest.raises(InputError, match=message):
        Dag.from_dot(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a][b|c]", r"brackets for all parents.*got 'c'.*add \[c\]"),
        ("[a][a]", "two for 'a'"),
        ("[a]b", "nothing but brackets"),
        ("a", "nothing but brackets"),
        ("[]", "names in all brackets"),
        ("[a][b|a:]", "names in all brackets"),
        ("[a|b][b|a]", "no cycle"),
        ("[a:b]", "one variable before the bar"),
        (None, "a model string"),
    ],
)
def test_what_is_no_model_string(text, message):
    with pytest.raises(InputError, match=message):
        Dag.from_string(text)


def test_names_that_a_model_string_cannot_hold():
    with pytest.raises(NotSupportedError, match="'a:b'"):
        Dag([("a:b", "c")]).to_string()


# ------------------------------------------------------------------------ refusals


def test_graphs_of_different_variables():
    one, two = Dag([("a", "b")]), Dag([("a", "c")])
    for ask in (one.shd, one.is_equivalent):
        with pytest.raises(InputError, match=r"same variables.*lacks 'b' and also has 'c'"):
            ask(two)
        with pytest.raises(InputError, match="a Dag"):
            ask("[a]")
    with pytest.raises(InputError, match="same variables"):
        one.cpdag().shd(two.cpdag())


def test_sets_that_overlap_or_are_empty():
    dag = Dag([("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match=r"not asked for elsewhere.*`given`, got 'a'"):
        dag.d_separated("a", "c", ["a"])
    with pytest.raises(InputError, match="at least one name for `x`"):
        dag.d_separated([], "c")
    with pytest.raises(InputError, match="one of 'a', 'b', 'c' for `given`"):
        dag.d_separated("a", "c", "z")
    with pytest.raises(InputError, match="besides `cause` and `effect`"):
        dag.is_backdoor_set("a", "c", "a")


def test_mixed_graphs_are_checked_and_compared():
    with pytest.raises(InputError, match="one arc or edge per pair"):
        MixedGraph([("a", "b")], [("b", "a")])
    with pytest.raises(NotSupportedError, match="cycle or a new collider"):
        MixedGraph([], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]).to_dag()
    one = MixedGraph([("a", "b")], [("b", "c")])
    assert one == MixedGraph([("a", "b")], [("c", "b")], ["c", "a"])
    assert hash(one) == hash(MixedGraph([("a", "b")], [("c", "b")], ["c", "a"]))
    assert one != MixedGraph([("b", "a")], [("c", "b")])
    assert one.shd(MixedGraph([("b", "a"), ("c", "b")], [])) == 2
    assert "a" in one
    assert list(one) == ["a", "b", "c"]


def test_the_class_of_a_large_graph():
    rng = np.random.default_rng(0)
    names = [f"v{k}" for k in range(100)]
    arcs = {(names[int(rng.integers(b))], names[b]) for b in range(1, 100) for _ in range(2)}
    dag = Dag(sorted(arcs), names)
    assert dag.cpdag().to_dag().is_equivalent(dag)
