"""What a page says about one variable: what moves it, and what a forest predicts it from."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from colonnade import (
    BayesianNetwork,
    BayesianNetworkForest,
    Cpt,
    Dag,
    MaximumLikelihood,
    fit,
    report,
)
from colonnade.cli import app
from colonnade.cli.forests import Grown, say_forest
from colonnade.exceptions import DataError, InputError
from colonnade.tables.files import TextTable
from command_line import plain_terminal
from pages import clinic, clinic_forest, clinic_network

FEATURES = ["smoker", "age", "sex", "marker", "x-ray", "dyspnoea"]


def test_what_moves_a_variable_is_what_the_network_answers():
    network = clinic_network()
    found = report.describe(network, target="cancer", level=0.9)["moves"]
    names = network.dag.variables
    assert names[found["target"]] == "cancer"
    informative = network.informative("cancer")
    assert [names[row["variable"]] for row in found["rows"]] == list(informative)
    assert found["open"] == pytest.approx(network.entropy("cancer").value, abs=1e-5)
    for row in found["rows"]:
        name = names[row["variable"]]
        states = network[name].family.child.states
        asked = {name: (states[row["to"]], states[row["from"]])}
        assert row["information"] == pytest.approx(informative[name].value, abs=1e-5)
        seen = network.association("cancer", asked, draws=400, level=0.9, rng=0)[True]
        assert row["seen"]["difference"][0] == pytest.approx(seen.difference, abs=1e-5)
        assert row["seen"]["difference"][1:] == pytest.approx(seen.difference_interval, abs=1e-5)
        assert row["seen"]["to"] == pytest.approx([seen.one, *seen.one_interval], abs=1e-5)
        assert row["seen"]["from"] == pytest.approx([seen.other, *seen.other_interval], abs=1e-5)
        # No two states differ by more.
        chances = [network.query("cancer", {name: state})[True] for state in states]
        assert seen.difference == pytest.approx(max(chances) - min(chances))
        if name in ("smoker", "age", "sex"):
            done = network.effect("cancer", asked)[True]
            assert row["set"]["difference"][0] == pytest.approx(done.difference, abs=1e-5)
        else:
            assert row["set"] is None


def test_rare_states_are_not_compared():
    rows = {"a": [0] * 150 + [1] * 149 + [2], "b": [0, 1] * 75 + [0] * 100 + [1] * 50}
    network = fit(rows, Dag((("a", "b"),)), MaximumLikelihood())
    (row,) = report.describe(network, target="b")["moves"]["rows"]
    assert {row["from"], row["to"]} == {0, 1}
    assert row["seen"]["difference"][1:] == [None, None]  # no posterior, no interval


def test_known_tables_have_no_intervals_and_the_others_do():
    rows = {name: [0, 0, 1, 1] * 5 for name in ("a", "b", "c")}
    network = fit(rows, Dag((("a", "b"), ("b", "c"))))
    known = {name: Cpt.known(network[name].family, network[name].probabilities) for name in "ab"}
    mixed = BayesianNetwork(network.dag, {**known, "c": network["c"]})
    moves = report.describe(mixed, target="a")["moves"]["rows"]
    ends = {row["variable"]: row["seen"]["difference"][1] for row in moves}
    assert ends[1] is None  # both tables are known
    assert ends[2] is not None


def test_large_networks_have_no_intervals_of_moves(monkeypatch):
    monkeypatch.setattr("colonnade.report.moves._MAX_DRAWN_CELLS", 1000)
    found = report.describe(clinic_network(), target="cancer")["moves"]
    assert found["draws"] == 0
    assert {row["seen"]["to"][1] for row in found["rows"]} == {None}


def test_a_variable_that_is_not_there_has_no_moves():
    with pytest.raises(InputError, match="for `target`, got 'weather'"):
        report.describe(clinic_network(), target="weather")
    with pytest.raises(InputError, match="only to single networks"):
        report.describe(clinic_forest(), target="cancer")


def test_a_forest_is_described():
    forest = clinic_forest()
    found = report.describe(forest, data=clinic())
    shown = found["forest"]
    best = int(forest.weights_.argmax())
    assert shown["shown"] == best
    assert [each["weight"] for each in shown["members"]] == pytest.approx(forest.weights_, abs=1e-5)
    names = [each["name"] for each in found["variables"]]
    assert names == list(forest.networks_[best].dag.variables)
    order = np.argsort(-forest.feature_importances_, kind="stable")
    assert [names[k] for k, _ in shown["importances"]] == [FEATURES[k] for k in order]
    shares = [share for _, share in shown["importances"]]
    assert shares == pytest.approx(forest.feature_importances_[order], abs=1e-5)
    other = (best + 1) % len(forest.networks_)
    again = report.describe(forest, member=other)
    arcs = {(names[a], names[b]) for a, b, _ in again["graph"]["arcs"]}
    assert arcs == set(forest.networks_[other].dag.arcs)
    assert again["forest"]["shown"] == other


def test_predictions_of_a_forest_have_not_seen_the_row():
    data = clinic(120)
    frame = pandas.DataFrame(data)
    forest = BayesianNetworkForest(n_members=2, random_state=3, target_name="cancer")
    forest.fit(frame[FEATURES], frame["cancer"])
    found = report.held_out(forest, data, "cancer", folds=3, rng=5)
    assert found.relearned
    fold = np.random.default_rng(5).permutation(120) % 3
    for k in range(3):
        fresh = BayesianNetworkForest(n_members=2, random_state=3, target_name="cancer")
        fresh.fit(frame[FEATURES][fold != k], frame["cancer"][fold != k])
        wanted = fresh.predict_proba(frame[FEATURES][fold == k])
        np.testing.assert_allclose(found.probabilities[fold == k], wanted)
    assert found.truth.tolist() == frame["cancer"].astype(int).tolist()
    shown = report.describe(forest, held_out=found)["classifier"]
    area = roc_auc_score(frame["cancer"], found.probabilities[:, 1])
    assert shown["roc"][1]["area"] == pytest.approx(area, abs=1e-5)
    assert shown["relearned"]
    # Rows without a class are left out, and say nothing.
    gaps = data | {"cancer": np.array([None, *data["cancer"][1:]], dtype=object)}
    assert len(report.held_out(forest, gaps, "cancer", folds=2).truth) == 119
    with pytest.raises(InputError, match="for `target`, got 'age'"):
        report.held_out(forest, data, "age")
    with pytest.raises(DataError, match="fewer than 5"):
        report.held_out(forest, {name: column[:3] for name, column in data.items()}, "cancer")


@pytest.mark.parametrize(
    ("model", "member", "message"),
    [
        (clinic_forest, 6, "a place from 0 to 5 for `member`, got 6"),
        (clinic_forest, -1, "for `member`, got -1"),
        (clinic_network, 0, "forests"),
    ],
)
def test_members_that_are_not_there(model, member, message):
    with pytest.raises(InputError, match=message):
        report.describe(model(), member=member)


# ------------------------------------------------------------------ the command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain_terminal(monkeypatch)
    frame = pandas.DataFrame(clinic(60)).drop(columns=["sex", "dyspnoea"])
    frame.loc[3, "marker"] = None
    frame.assign(n=1 + np.arange(60) % 2).to_csv("data.csv", index=False)
    return tmp_path


def run(command, code=0):
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.exit_code == code, done.stderr
    return done


def content(path):
    text = re.search(r'id="content">(.*?)</script>', Path(path).read_text("utf-8"), re.DOTALL)[1]
    return json.loads(text)


def reasons(path):
    columns = content(path)["data"]["columns"]
    return {each["name"]: each.get("reason") for each in columns if each["variable"] is None}


@pytest.mark.usefixtures("folder")
def test_fit_writes_the_page_of_a_forest(monkeypatch, capsys):
    monkeypatch.setattr("colonnade.cli.commands.report.FOLDS", 2)
    done = run("fit data.csv --learn forest --target cancer --ignore n -o f.json --report f.html")
    assert done.stdout.endswith("Saved f.json\nSaved f.html\n")
    assert done.stderr == ""  # nothing is told again for every fold
    found = content("f.html")
    assert found["title"] == "data.csv"
    assert (found["classifier"]["rows"], found["classifier"]["folds"]) == (60, 2)
    assert found["comparison"] is found["moves"] is None
    assert reasons("f.html") == {"n": "left out by --ignore"}
    done = run("report f.json --data data.csv --target cancer --folds 3 --member 2 -o two.html")
    assert content("two.html")["forest"]["shown"] == 1
    assert content("two.html")["classifier"]["folds"] == 3
    assert reasons("two.html") == {"n": "no variable of the network"}
    grown = Grown(BayesianNetworkForest.load("f.json"), 60, TextTable({}))
    say_forest(grown, Path("f.json"), True, Path("f.html"))
    assert json.loads(capsys.readouterr().out)["report"] == "f.html"
    for command, message in (
        ("--member 17", "Expected a number up to 16 for --member, got 17."),
        ("--compare --data data.csv", "--compare does not apply to a forest."),
        ("--target cancer", "--target applies to a forest only with --data."),
    ):
        assert message in run(f"report f.json {command} -o no.html", code=2).stderr
    age = run("report f.json --data data.csv --target age -o no.html", code=1).stderr
    assert "for --target, got 'age'" in age
    assert not Path("no.html").exists()


@pytest.mark.usefixtures("folder")
def test_fit_writes_the_page_of_a_classifier_and_warns_once():
    command = "fit data.csv --learn tan --target cancer --ignore age --weights n"
    run(f"{command} -o weighted.json --report weighted.html")
    assert reasons("weighted.html") == {"age": "left out by --ignore", "n": "weights of the rows"}
    done = run("fit data.csv --learn tan --target cancer -o m.json --report m.html")
    assert done.stderr.count("59 of 60 rows") == 1  # of the graph, and not again of the comparison
    found = content("m.html")
    assert [row["structure"] for row in found["comparison"]["rows"]]
    assert found["moves"]["target"] == [each["name"] for each in found["variables"]].index("cancer")
    run("report m.json --target cancer -o model.html")
    assert content("model.html")["moves"]["rows"] == found["moves"]["rows"]
    assert content("model.html")["classifier"] is None
    assert "only to forests" in run("report m.json --member 1 -o no.html", code=2).stderr
