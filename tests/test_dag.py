"""The graph: names, order, cycles, and the way to networkx and back."""

import itertools
import pickle

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.dag import Dag
from colonnade.exceptions import InputError


@st.composite
def dags(draw):
    """A graph over up to eight names, its arcs in any order."""
    names = draw(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=8, unique=True))
    pairs = list(itertools.combinations(draw(st.permutations(names)), 2))
    chosen = [pair for pair in pairs if draw(st.booleans())]
    return Dag(draw(st.permutations(chosen)), names)


def test_declared_names_come_first_then_those_of_the_arcs():
    dag = Dag([("c", "d"), ("a", "d")], variables=["z", "a"])
    assert dag.variables == ("z", "a", "c", "d")
    assert len(dag) == 4
    assert "z" in dag
    assert "y" not in dag


def test_parents_keep_the_order_of_arcs():
    dag = Dag([("b", "x"), ("c", "y"), ("a", "x")])
    assert dag.parents("x") == ("b", "a")
    assert dag.children("b") == ("x",)
    assert dag.parents("b") == ()


def test_arcs_may_be_any_iterable_of_pairs():
    assert Dag(iter([["a", "b"]])).arcs == (("a", "b"),)


@given(dags())
def test_order_has_parents_first_and_everybody_once(dag):
    place = {name: k for k, name in enumerate(dag.order)}
    assert sorted(dag.order) == sorted(dag.variables)
    assert all(place[parent] < place[child] for parent, child in dag.arcs)


def test_order_keeps_to_the_declared_one_where_it_can():
    assert Dag([("d", "a")], variables=["a", "b", "c", "d"]).order == ("b", "c", "d", "a")
    assert Dag([], variables=["b", "a"]).order == ("b", "a")


@given(dags(), st.data())
def test_an_arc_backwards_closes_a_cycle_and_the_error_names_it(dag, data):
    reachable = [(p, c) for c in dag.variables for p in dag.ancestors([c]) if p != c]
    if not reachable:
        return
    ancestor, name = data.draw(st.sampled_from(reachable))
    with pytest.raises(InputError) as caught:
        dag.with_arc(name, ancestor)
    cycle = caught.value.value
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    arcs = {*dag.arcs, (name, ancestor)}
    assert all(arc in arcs for arc in itertools.pairwise(cycle))
    assert (name, ancestor) in set(itertools.pairwise(cycle))


def test_the_message_shows_the_cycle_from_the_first_variable():
    with pytest.raises(InputError, match=r"got a -> b -> c -> a\. Hint: remove or turn"):
        Dag([("x", "c"), ("b", "c"), ("c", "a"), ("a", "b"), ("c", "y")], variables=["a"])


def test_a_long_cycle_is_shortened_in_the_message_only():
    names = [f"n{k}" for k in range(50)]
    with pytest.raises(InputError, match=r"n0 -> n1 .* \.\.\. -> .* -> n0") as caught:
        Dag([*itertools.pairwise(names), ("n49", "n0")])
    assert len(caught.value.value) == 51


@pytest.mark.parametrize(
    ("arcs", "variables", "message"),
    [
        ([("a", "a")], (), "between two variables"),
        ([("a", "b"), ("a", "b")], (), "twice"),
        ([("a", 1)], (), "non-empty strings"),
        ([("a", "")], (), "non-empty strings"),
        ([("a", "b", "c")], (), "pairs"),
        (["ab"], (), "pairs"),
        ("ab", (), "a sequence of arcs"),
        (3, (), "a sequence of arcs"),
        ([], ["a", "a"], "different names"),
        ([], "ab", "a sequence of names"),
        ([], [None], "non-empty strings"),
        ([], 3, "a sequence of names"),
    ],
)
def test_what_is_no_graph(arcs, variables, message):
    with pytest.raises(InputError, match=message):
        Dag(arcs, variables)


def test_unknown_names():
    dag = Dag([("a", "b")])
    for ask in (dag.parents, dag.children, lambda name: dag.with_arc(name, "a")):
        with pytest.raises(InputError, match=r"one of 'a', 'b'"):
            ask("c")
    with pytest.raises(InputError, match="one of 'a', 'b'"):
        dag.ancestors("ab")
    with pytest.raises(InputError, match="a name or a sequence of names"):
        dag.ancestors(3)
    with pytest.raises(InputError, match="a parent of 'a'"):
        dag.without_arc("b", "a")


@given(dags(), st.data())
def test_with_and_without_an_arc_are_opposites(dag, data):
    if not dag.arcs:
        return
    # The last one: an arc that is added again becomes the last parent.
    arc = data.draw(st.sampled_from(dag.arcs))
    last = {child: parent for parent, child in dag.arcs}
    smaller = dag.without_arc(*arc)
    assert arc not in smaller.arcs
    assert smaller.variables == dag.variables
    assert (smaller.with_arc(*arc) == dag) == (last[arc[1]] == arc[0])


@given(dags())
def test_equality_is_about_variables_and_the_order_of_parents(dag):
    by_child = Dag([(p, c) for c in dag.variables for p in dag.parents(c)], dag.variables)
    assert by_child == dag
    assert hash(by_child) == hash(dag)
    backwards = Dag(dag.arcs, dag.variables[::-1])
    assert backwards == dag
    assert hash(backwards) == hash(dag)
    assert dag != Dag(dag.arcs, (*dag.variables, "one more name"))
    for child in dag.variables:
        if len(dag.parents(child)) > 1:
            turned = [arc for arc in dag.arcs if arc[1] != child]
            turned += [(parent, child) for parent in reversed(dag.parents(child))]
            assert Dag(turned, dag.variables) != dag
    assert dag != "dag"


@given(dags())
def test_repr_and_pickle_give_the_graph_back(dag):
    assert eval(repr(dag)) == dag
    assert pickle.loads(pickle.dumps(dag)) == dag


@given(dags())
def test_networkx_and_back(dag):
    graph = dag.to_networkx()
    assert set(graph.edges) == set(dag.arcs)
    assert Dag.from_networkx(graph) == dag


def test_what_networkx_graphs_cannot_be_taken():
    with pytest.raises(InputError, match="directed"):
        Dag.from_networkx(networkx.Graph([("a", "b")]))
    with pytest.raises(InputError, match="directed"):
        Dag.from_networkx([("a", "b")])
    with pytest.raises(InputError, match="different arcs"):
        Dag.from_networkx(networkx.MultiDiGraph([("a", "b"), ("a", "b")]))
    with pytest.raises(InputError, match="non-empty strings"):
        Dag.from_networkx(networkx.DiGraph([(1, 2)]))
    with pytest.raises(InputError, match="no cycle"):
        Dag.from_networkx(networkx.DiGraph([("a", "b"), ("b", "a")]))
    assert Dag.from_networkx(networkx.MultiDiGraph([("a", "b")])) == Dag([("a", "b")])


def test_a_graph_cannot_be_changed():
    dag = Dag([("a", "b")])
    with pytest.raises(AttributeError):
        dag.arcs = ()
