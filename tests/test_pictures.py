"""How a network is shown: as text, in a notebook, and as a picture."""

import itertools

import numpy as np
import pytest
from matplotlib import pyplot

from colonnade.dag import Dag
from colonnade.exceptions import InputError
from colonnade.layout import Layout
from colonnade.network import fit
from colonnade.report.graph import network_html
from drawn_networks import SMALL, SMALL_DAG


def test_representations():
    network = fit(SMALL, SMALL_DAG)
    assert "cancer: 2 states given age, smoker, n=6, Hierarchical(" in repr(network)
    html = network._repr_html_()
    assert html.count("<rect") == 3
    assert html.count("<table") == 3
    many = Dag([(f"v{k}", f"v{k + 1}") for k in range(200)])
    large = fit({name: [0, 1] for name in many.variables}, many)
    assert len(repr(large)) < 3000
    assert "<svg" not in large._repr_html_()
    assert "181 more tables" in large._repr_html_()
    assert len(large._repr_html_()) < 60_000
    assert "0 variables, 0 arcs" in network_html(Dag([]), {})


def test_names_cannot_break_the_page():
    name = "<img src=x onerror=alert(1)>\x00\ud800"
    network = fit({name: ["<b>", "&"], "y": [0, 1]}, Dag([(name, "y")]))
    html = network._repr_html_()
    assert "<img" not in html
    assert "<b>" not in html
    html.encode()


def test_plot():
    dag = Dag(
        [
            ("a$b", "c"),
            ("d", "c"),
            ("c", "a_very_long_name_of_a_variable"),
            ("a$b", "e^{x}$"),
            ("c", "petal length (cm)"),
        ]
    )
    network = fit({name: [0, 1] for name in dag.variables}, dag)
    ax = network.plot()
    texts = {text.get_text() for text in ax.texts}
    assert {"a$b", "petal length (cm)", "a_very_long_name_of_a_v…"} <= texts
    ax.figure.canvas.draw()
    assert network.plot(ax) is ax
    pyplot.close("all")
    with pytest.raises(InputError, match="matplotlib Axes"):
        network.plot("here")


def test_the_picture_has_parents_above_children_and_nothing_overlaps():
    rng = np.random.default_rng(2)
    names = [f"{'n' * (k % 7 + 1)}{k}" for k in range(25)]
    dag = Dag([pair for pair in itertools.combinations(names, 2) if rng.random() < 0.1], names)
    layout = Layout.of(dag)
    for parent, child in dag.arcs:
        assert layout.places[parent][1] < layout.places[child][1]
    for one, two in itertools.combinations(names, 2):
        (x, y), (x2, y2) = layout.places[one], layout.places[two]
        assert y != y2 or abs(x - x2) >= (layout.widths[one] + layout.widths[two]) / 2
    # Arcs go past the nodes of the rows between, not through them.
    for route in layout.routes.values():
        for x, y in route[1:-1]:
            for name in names:
                x2, y2 = layout.places[name]
                assert y != y2 or abs(x - x2) > layout.widths[name] / 2
    assert any(len(route) > 2 for route in layout.routes.values())
    assert all(
        0 <= x <= layout.size[0] and 0 <= y <= layout.size[1] for x, y in layout.places.values()
    )


def test_a_deep_graph_with_many_long_arcs_has_a_place_for_every_node():
    names = [f"v{k}" for k in range(400)]
    arcs = [*itertools.pairwise(names), *(("v0", name) for name in names[2:])]
    layout = Layout.of(Dag(arcs, names))
    assert len(set(layout.places.values())) == len(names)
    assert all(layout.places[parent][1] < layout.places[child][1] for parent, child in arcs)
    assert max(map(len, layout.routes.values())) == 2
