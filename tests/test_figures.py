"""Figures of networks, tables and arcs, and results as data frames, CSV and LaTeX."""

import csv
import io
import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from colonnade.exceptions import InputError, NotSupportedError, TooLargeError
from colonnade.inference import Evidence
from colonnade.report.bars import _WIDTH
from colonnade.tables import tabular

mpl.use("Agg")
from matplotlib import pyplot

RNG = np.random.default_rng(0)
SMOKER = np.where(RNG.random(200) < 0.3, "yes", "no")
AGE = RNG.choice(["old", "young", "$x^2"], 200)
ILL = np.where(RNG.random(200) < np.where(SMOKER == "yes", 0.6, 0.1), "yes", "no")
TABLE = {"age": AGE, "smoker": SMOKER, "ill": ILL}
DAG = cn.Dag([("age", "ill"), ("smoker", "ill")])
NETWORK = cn.fit(TABLE, DAG)


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def bars(ax):
    """Widths of the bars, and the ends of the intervals, of all nodes from left to right."""
    widths = [p.get_width() for p in ax.patches if p.get_height() < 12]
    level = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
    lines = [line.get_xdata() for line in level if len(line.get_xdata()) == 2]
    return widths, lines


def test_bars_are_the_probabilities_with_their_intervals(tmp_path):
    ax = NETWORK.plot(tables=True, rng=0)
    widths, lines = bars(ax)
    assert len(widths) == 7
    assert len(lines) == 7
    texts = [text.get_text() for text in ax.texts]
    wanted = NETWORK.query("ill")
    assert f"{100 * wanted['yes']:.1f}" in texts
    assert {"age", "smoker", "ill", "$x^2"} <= set(texts)
    span = widths[0] / NETWORK.query("age").probabilities[0]
    drawn = [width / span for width in widths]
    every = [NETWORK.query(name).probabilities for name in NETWORK]
    np.testing.assert_allclose(drawn, np.concatenate(every), atol=1e-9)
    for ending in ("svg", "png"):
        path = tmp_path / f"net.{ending}"
        ax.figure.savefig(path)
        assert path.stat().st_size > 1000


def test_what_is_observed_and_what_is_set_look_different():
    def looks(ax):
        found = [p for p in ax.patches if p.get_height() < 12]
        return {(patch.get_facecolor()[:3], patch.get_hatch()) for patch in found}

    plain = NETWORK.plot(tables=True, draws=0)
    assert len(looks(plain)) == 1
    assert plain.get_legend() is None
    observed = NETWORK.plot(tables=True, draws=0, observed={"ill": "yes"})
    both = NETWORK.plot(tables=True, draws=0, observed={"ill": "yes"}, do={"smoker": "no"})
    assert len(looks(observed)) == 2
    assert len(looks(both)) == 3
    assert {hatch for _, hatch in looks(both)} == {None, "////"}
    told = [text.get_text() for text in both.get_legend().get_texts()]
    assert told == ["probability", "observed", "set by an action"]
    assert len(observed.get_legend().get_texts()) == 2
    # The probabilities are those of the network after the action, which is drawn alike.
    after = NETWORK.do({"smoker": "no"})
    again = after.plot(tables=True, draws=0, observed={"ill": "yes"})
    assert bars(again) == bars(both)
    assert looks(again) == looks(both)
    assert len(NETWORK.plot(tables=True, draws=0, do={"ill": "yes"}).lines) == 0 < len(plain.lines)
    with pytest.raises(InputError, match="variables that are not observed for `do`"):
        NETWORK.plot(tables=True, observed={"smoker": "no"}, do={"smoker": "no"})
    with pytest.raises(InputError, match="`do` applies only to tables=True"):
        NETWORK.plot(do={"smoker": "no"})


def test_bars_given_evidence_and_without_intervals():
    ax = NETWORK.plot(tables=True, observed={"ill": "yes"}, draws=0)
    widths, lines = bars(ax)
    assert lines == []
    span = max(widths)  # of what was observed
    share = NETWORK.query("smoker", {"ill": "yes"})["yes"]
    assert any(math.isclose(width / span, share, abs_tol=1e-9) for width in widths)
    assert "100.0" in [text.get_text() for text in ax.texts]
    known = cn.BayesianNetwork(
        cn.Dag([], ["coin"]),
        {"coin": cn.Cpt.known(cn.Family(cn.Variable("coin", ["heads", "tails"])), [0.5, 0.5])},
    )
    assert bars(known.plot(tables=True))[1] == []  # nothing is uncertain


@pytest.mark.parametrize("observed", [{"ill": {"no": 0.2, "yes": 0.8}}, "ill is not no"])
def test_bars_take_what_queries_take(observed):
    evidence = Evidence.of(NETWORK, observed)
    for given in (observed, evidence):
        texts = [
            each.get_text() for each in NETWORK.plot(tables=True, observed=given, draws=0).texts
        ]
        for name in ("smoker", "ill"):
            if name in evidence.fixed:
                assert "100.0" in texts
            else:
                share = NETWORK.query(name, observed)["yes"]
                assert f"{100.0 * share:.1f}" in texts


def test_many_states_are_summed_up_and_own_axes_are_used():
    wide = cn.fit({"x": [f"s{k % 20}" for k in range(100)]}, cn.Dag([], ["x"]), cn.BDeu())
    ax = pyplot.subplots()[1]
    assert wide.plot(ax, tables=True, draws=0) is ax
    assert "12 more" in [text.get_text() for text in ax.texts]
    assert "60.0" in [text.get_text() for text in ax.texts]
    everything = NETWORK.plot(tables=True, observed={n: TABLE[n][0] for n in TABLE}, draws=0)
    assert [text.get_text() for text in everything.texts].count("100.0") == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NETWORK.plot(observed={"ill": "yes"}), "`observed` applies only to tables=True"),
        (lambda: NETWORK.plot(draws=100), "`draws` applies only to tables=True"),
        (lambda: NETWORK.plot(columns=1), "`columns` applies only to tables=True"),
        (lambda: NETWORK.plot(tables=True, columns=3), "1 or 2 for `columns`"),
        (
            lambda: NETWORK.plot(pyplot.subplots()[1], tables=True, columns=1),
            "`columns` applies only to a new figure",
        ),
        (lambda: NETWORK.plot(tables="yes"), "True or False for `tables`"),
        (lambda: NETWORK.plot("x", tables=True), "matplotlib Axes for `ax`"),
        (lambda: NETWORK["ill"].plot(columns=3), "1 or 2 for `columns`, got 3"),
        (lambda: NETWORK["ill"].plot("x"), "matplotlib Axes for `ax`"),
        (lambda: NETWORK["ill"].plot(level=2), "between 0 and 1 for `level`, got 2"),
    ],
)
def test_wrong_figures_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_too_many_variables_are_refused():
    names = [f"x{k}" for k in range(61)]
    network = cn.fit({name: [0, 1] for name in names}, cn.Dag([], names), cn.BDeu())
    with pytest.raises(TooLargeError, match="61 variables, more than the limit of 60"):
        network.plot(tables=True)


def head(ax):
    """The title and the legend above a figure, which stand clear of what is drawn."""
    (legend,) = ax.figure.legends
    ax.figure.draw_without_rendering()
    page, box = ax.figure.bbox, legend.get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1
    assert box.x1 <= page.x1 + 1
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


def test_a_table_shows_means_intervals_and_frequencies():
    posterior = NETWORK["ill"].posterior
    ax = NETWORK["ill"].plot(level=0.9, columns=2)
    assert ax.figure.get_size_inches()[0] == pytest.approx(7.0)
    assert head(ax) == ("ill = yes given age, smoker", ["yes", "frequency"])
    assert [label.get_text() for label in ax.get_yticklabels()][:2] == ["$x^2, no", "$x^2, yes"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), posterior.mean[:, 1])
    segments = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 0], posterior.interval(0.9).lower[:, 1])
    counts = posterior.counts.to_array().reshape(-1, 2)
    np.testing.assert_allclose(ax.lines[1].get_xdata(), counts[:, 1] / counts.sum(axis=1))
    assert NETWORK["age"].posterior.plot().figure.get_size_inches()[0] == pytest.approx(3.4)
    with pytest.raises(NotSupportedError, match="A posterior of the table"):
        cn.Cpt.known(cn.Family(cn.Variable("coin", ["heads", "tails"])), [0.5, 0.5]).plot()


def test_many_rows_are_cut_off():
    states = [f"s{k}" for k in range(60)]
    many = cn.fit({"a": states * 5, "b": ["x", "y", "z"] * 100}, cn.Dag([("a", "b")]), cn.BDeu())
    ax = many["b"].plot()
    title, legend = head(ax)
    assert "first 40 of 60 rows" in title
    assert len(ax.lines[0].get_xdata()) == 40
    assert legend == ["x", "y", "z", "frequency"]
    own = pyplot.subplots()[1]
    assert "first 40 of 60 rows" in many["b"].plot(own).get_title()


@pytest.mark.parametrize("columns", [1, 2])
def test_long_names_are_told_apart_and_stay_on_the_page(columns):
    first = [f"category number {k} of all categories" for k in range(6)]
    second = ["yes of course", "no"]
    table = {"a first parent with a long name": first * 4, "a second one": second * 12}
    table["the outcome that was measured after six months"] = ["better", "worse", "same"] * 8
    names = list(table)
    network = cn.fit(table, cn.Dag([(names[0], names[2]), (names[1], names[2])]))
    ax = network[names[2]].plot(columns=columns)
    title, _ = head(ax)
    assert title.replace("\n", " ") == f"{names[2]} given {names[0]}, {names[1]}"
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == 12
    assert max(map(len, labels)) <= (26 if columns == 1 else 60)
    long = {f"measured variable {k} in mg/l": [0, 1, 1, k % 2] * 5 for k in range(12)}
    strength = cn.arc_strength(long, cn.hill_climb, resamples=4, rng=0).plot(columns=columns)
    labels = [label.get_text() for label in strength.get_yticklabels()]
    assert len(set(labels)) == len(labels) > 0
    head(strength)


@pytest.mark.parametrize("width", [3.4, 7.0])
def test_letters_of_a_network_fit_their_nodes(width):
    names = [f"measured variable {k} in mg/l" for k in range(20)]
    arcs = [(names[(k - 1) // 3 * 3], names[k]) for k in range(1, 20)]  # three nodes side by side
    network = cn.fit({name: [0, 1] for name in names}, cn.Dag(arcs), cn.BDeu())
    columns = 1 if width < 7 else 2
    own = pyplot.subplots(figsize=(width, 5.0))[1]
    for ax in (network.plot(tables=True, draws=0, columns=columns), network.plot(own, tables=True)):
        assert ax.figure.get_size_inches()[0] == pytest.approx(width)
        ax.figure.draw_without_rendering()
        nodes = [patch for patch in ax.patches if patch.get_width() == _WIDTH]
        found = [text for text in ax.texts if text.get_weight() == "bold"]
        assert len({text.get_text() for text in found}) == 20
        for text, node in zip(found, nodes, strict=True):
            inner, outer = text.get_window_extent(), node.get_window_extent()
            assert outer.x0 <= inner.x0 <= inner.x1 <= outer.x1


def test_strengths_are_bars_divided_by_direction():
    directed = np.array([[0.0, 0.6, 0.1], [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])
    strengths = cn.structure.ArcStrengths(("a", "b", "c"), directed, 10)
    ax = strengths.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a → b", "a → c"]
    assert [patch.get_width() for patch in ax.patches] == pytest.approx([0.6, 0.1, 0.3, 0.0])
    posterior = cn.arc_posterior(TABLE)
    assert posterior.plot(columns=2).lines[0].get_xdata()[0] == 0.5
    empty = cn.structure.ArcStrengths(("a", "b"), np.zeros((2, 2)), 10)
    assert len(empty.plot().patches) == 0


# ----------------------------------------------------------------------------- frames


def test_results_are_frames():
    answer = NETWORK.query(["ill", "smoker"], {"age": "old"}, draws=100, rng=0)
    frame = answer.to_frame()
    assert list(frame.columns) == ["ill", "smoker", "probability", "lower", "upper"]
    row = frame[(frame.ill == "yes") & (frame.smoker == "no")].iloc[0]
    assert row.probability == answer["yes", "no"]
    table = NETWORK["ill"].to_frame()
    names = ["age", "smoker", "ill", "count", "frequency", "probability", "lower", "upper"]
    assert list(table.columns) == names
    assert table["count"].sum() == 200
    assert table.groupby(["age", "smoker"]).probability.sum().tolist() == pytest.approx([1.0] * 6)
    codes = NETWORK["ill"].posterior.to_frame()
    assert list(codes.columns[:3]) == ["parent 0", "parent 1", "state"]
    np.testing.assert_array_equal(codes.lower, table.lower)
    compared = cn.compare(TABLE, {"one": DAG}, cn.BDeu(1), folds=2)
    assert compared.to_frame().structure.tolist() == ["one"]
    strengths = cn.arc_strength(TABLE, cn.hill_climb, resamples=5, rng=0).to_frame()
    assert list(strengths.columns) == ["from", "to", "strength", "directed"]
    assert strengths.strength.is_monotonic_decreasing
    found = cn.ges(TABLE)
    assert found.to_frame().score.iloc[-1] == pytest.approx(found.score)
    assert found.pdag.to_frame().directed.sum() == len(found.pdag.arcs)
    assert cn.pc(TABLE).to_frame().equals(cn.pc(TABLE).pdag.to_frame())
    tested = cn.structure.independence(TABLE, "ill", "smoker")
    assert tested.to_frame()["p value"].tolist() == [tested.p_value]
    known = cn.Cpt.known(cn.Family(cn.Variable("coin", ["heads", "tails"])), [0.5, 0.5])
    assert list(known.to_frame().columns) == ["coin", "probability"]


def test_answers_of_all_kinds_as_frames():
    asked = {"draws": 100, "rng": 0}
    effect = NETWORK.effect("ill", of={"smoker": ("yes", "no")}, **asked).to_frame()
    assert effect["ratio lower"].le(effect["ratio"]).all()
    np.testing.assert_array_equal(effect.difference, effect.one - effect.other)
    best = NETWORK.most_probable({"ill": "yes"})
    assert dict(zip(*best.to_frame().to_numpy().T, strict=True)) == best.states
    told = NETWORK.entropy(**asked)
    assert told.to_frame().to_numpy().tolist() == [list(told)]
    assert NETWORK.entropy().to_frame().columns.tolist() == ["value"]
    rows = {name: column[:5] for name, column in TABLE.items()}
    predicted = NETWORK.predict(rows, "ill", **asked).to_frame()
    assert predicted["P(ill = yes) lower"].le(predicted["P(ill = yes)"]).all()
    unusual = NETWORK.anomaly(rows).to_frame()
    np.testing.assert_allclose(unusual["log likelihood"], unusual[list(NETWORK)].sum(axis=1))
    assert "derivative" in NETWORK.sensitivity("ill", "yes").to_csv()
    assert "variable & given & state" in NETWORK.sensitivity("ill", "yes").to_latex()


def test_a_row_without_counts_has_no_frequency():
    posterior = cn.BDeu(1).posterior([[3, 1], [0, 0]])
    assert posterior.to_frame().frequency.tolist()[:2] == [0.75, 0.25]
    assert posterior.to_frame().frequency.isna().tolist() == [False, False, True, True]


def test_csv_has_all_digits():
    answer = NETWORK.query("ill", draws=100, rng=0)
    rows = list(csv.DictReader(io.StringIO(answer.to_csv())))
    assert [float(row["probability"]) for row in rows] == answer.probabilities.tolist()
    again = pd.read_csv(io.StringIO(NETWORK["ill"].to_csv()))
    np.testing.assert_array_equal(again.probability, NETWORK["ill"].to_frame().probability)


def test_whole_counts_are_written_whole():
    rows, dag = {"a": ["x", "x", "y"]}, cn.Dag([], ["a"])
    for prior in (None, cn.MaximumLikelihood(), cn.priors.NoisyMax()):
        cpt = cn.fit(rows, dag, prior)["a"]
        frame = cpt.to_frame()
        assert frame["count"].tolist() == [2, 1]
        assert frame["frequency"].tolist() == [2 / 3, 1 / 3]
        assert cpt.to_csv().splitlines()[1].startswith("x,2,0.66")
    halves = cn.fit(rows, dag, weights=[0.5, 0.25, 1.0])["a"]
    assert halves.to_frame()["count"].tolist() == [0.75, 1.0]
    assert "count" not in cn.Cpt.known(halves.family, [0.5, 0.5]).to_frame()


def test_names_of_columns_have_blanks():
    table = {"a": [0, 1] * 10, "b": [0, 0, 1, 1] * 5}
    found = cn.compare(table, {"none": cn.Dag([], ["a", "b"])}, folds=2, target="a")
    assert "held out" in found.to_frame()
    assert "log loss" in found.to_frame()
    assert not any("_" in name for name in found.to_frame())
    assert "p value" in cn.structure.independence(table, "a", "b").to_frame()


def test_latex_is_escaped():
    network = cn.fit({"a_b": ["50%", "x&y", "50%"]}, cn.Dag([], ["a_b"]))
    text = network["a_b"].to_latex(2)
    assert r"a\_b & count & frequency" in text
    assert r"50\% & 2 & 0.67" in text
    assert r"x\&y" in text
    assert text.startswith(r"\begin{tabular}{lrrrrr}")
    with pytest.raises(InputError, match="for `digits`, got -1"):
        network["a_b"].to_latex(-1)


def test_other_frames_serve_as_well(monkeypatch):
    polars = pytest.importorskip("polars")
    present = tabular.find_spec
    monkeypatch.setattr(
        tabular, "find_spec", lambda name: None if name == "pandas" else present(name)
    )
    assert isinstance(NETWORK.query("ill").to_frame(), polars.DataFrame)
    monkeypatch.setattr(tabular, "find_spec", lambda name: None)
    with pytest.raises(NotSupportedError, match="none of pandas, polars, pyarrow is installed"):
        NETWORK.query("ill").to_frame()


def test_bars_of_intervals_can_be_told_apart() -> None:
    ages = ["up to 40.123456", "40.123456 to 60.25", "above 60.25"]
    table = {"age": cn.Variable("age", ages)}
    rows = {"age": [ages[k % 3] for k in range(30)], "ill": [k % 2 for k in range(30)]}
    network = cn.fit(rows, cn.Dag([("age", "ill")]), variables=list(table.values()))
    axes = network.plot(tables=True, draws=0)
    shown = [text.get_text() for text in axes.texts]
    assert {"≤ 40.1", "40.1\u201360.2", "> 60.2"} <= set(shown)
