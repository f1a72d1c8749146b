"""What the page says, without a browser."""

import html
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from typer.testing import CliRunner

from colonnade import BDeu, Dag, Hierarchical, MaximumLikelihood, Tiered, compare, fit, load, report
from colonnade.classifier import BayesianNetworkClassifier
from colonnade.cli import app
from colonnade.exceptions import DataError, DataWarning, InputError, NotSupportedError
from colonnade.priors import Informed, NoisyMax, Smoothed
from colonnade.report.page import rendered
from colonnade.tables import discretize, encode, inspect, read
from command_line import plain_terminal
from pages import CLINIC_DAG, HOSTILE, clinic, clinic_network, hostile_network

PAIRS = {"a": [0, 0, 0, 1, 1, 2], "b": [0, 1, 0, 1, 1, 0], "c": [0, 1, 1, 1, 0, 0]}
PAIRS_DAG = Dag((("a", "c"), ("b", "c")))


def table_of(found, name):
    return next(each for each in found["variables"] if each["name"] == name)["table"]


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn"), BDeu(4), Tiered()])
def test_rows_are_those_of_the_posterior(prior):
    network = fit(PAIRS, PAIRS_DAG, prior)
    table = table_of(report.describe(network, level=0.8), "c")
    posterior = network["c"].posterior
    # Under tiers intervals come from draws, which depend on what is asked for together.
    lower, upper = posterior.interval(0.8, [tuple(row["given"]) for row in table["rows"]])
    frequencies = {(0, 0): [0.5, 0.5], (0, 1): [0.0, 1.0], (1, 1): [0.5, 0.5], (2, 0): [1.0, 0.0]}
    assert [row["n"] for row in table["rows"]] == [2, 2, 1, 1]  # most rows first
    for k, row in enumerate(table["rows"]):
        place = 2 * row["given"][0] + row["given"][1]
        np.testing.assert_allclose(row["ours"], posterior.mean[place], atol=1e-5)
        np.testing.assert_allclose(row["interval"], [lower[k], upper[k]], atol=1e-5)
        np.testing.assert_allclose(row["borrowed"], posterior.borrowed[place], atol=1e-5)
        np.testing.assert_allclose(row["ml"], frequencies[tuple(row["given"])])
        bdeu = BDeu(1).posterior(network["c"].counts)
        np.testing.assert_allclose(row["bdeu"], bdeu.mean[place], atol=1e-5)
        ends = bdeu.interval(0.8)
        np.testing.assert_allclose(
            row["bdeu_interval"], [ends.lower[place], ends.upper[place]], atol=1e-5
        )
    assert table["unseen"]["number"] == "2"
    for row in table["unseen"]["rows"]:
        place = 2 * row["given"][0] + row["given"][1]
        np.testing.assert_allclose(row["ours"], posterior.mean[place], atol=1e-5)


def test_unseen_rows_share_one_row_or_have_their_own():
    one = table_of(report.describe(fit(PAIRS, PAIRS_DAG)), "c")["unseen"]
    assert (one["kind"], len(one["rows"])) == ("shared", 1)
    own = table_of(report.describe(fit(PAIRS, PAIRS_DAG, Tiered())), "c")["unseen"]
    assert (own["kind"], len(own["rows"])) == ("own", 2)
    assert own["rows"][0]["ladder"][-1]["n"] == 0
    network = fit({"a": [0, 1], "b": [0, 1]}, Dag((("a", "b"),)), MaximumLikelihood())
    assert table_of(report.describe(network), "b")["unseen"] is None


def test_the_ladder_ends_in_the_row():
    network = clinic_network()
    for row in table_of(report.describe(network), "cancer")["rows"]:
        ladder = row["ladder"]
        assert ladder[-1]["estimate"] == row["ours"]
        assert ladder[-1]["n"] == row["n"]
        assert ladder[0]["parents"] == []
        assert ladder[0]["n"] == 300


@pytest.mark.parametrize("prior", [Hierarchical(), Hierarchical(s="learn")])
def test_the_pool_is_that_of_the_posterior(prior):
    network = fit(clinic(), Dag((("smoker", "cancer"), ("age", "cancer"))), prior)
    pool = table_of(report.describe(network), "cancer")["pool"]
    posterior = network["cancer"].posterior
    drawn = posterior.sample_alpha(20_000, rng=0)[0]
    np.testing.assert_allclose(pool["mean"], posterior.alpha.mean, atol=1e-5)
    wanted = np.quantile(drawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(pool["interval"], wanted, atol=0.015)
    np.testing.assert_allclose(pool["strength"], posterior.mean_strength, atol=1e-4)
    assert (pool["strength_interval"] is not None) == (prior.s == "learn")


def test_the_rows_that_changed_most_come_first():
    found = report.describe(clinic_network())
    distances = [change["distance"] for change in found["changed"]]
    assert distances == sorted(distances, reverse=True)
    parents = [found["variables"][change["variable"]]["parents"] for change in found["changed"]]
    assert all(parents)  # rows of a table without parents have nobody to lean on
    best = found["changed"][0]
    name = found["variables"][best["variable"]]["name"]
    counts = clinic_network()[name].counts
    row = counts.row(tuple(best["given"]))
    np.testing.assert_allclose(best["ml"], row[best["state"]] / row.sum(), atol=1e-5)


def test_parts_of_an_observation_did_not_change_most():
    rows = {"a": ["x", "x", "x", "y", "y", "y"], "b": ["u", "u", "v", "v", "v", None]}
    network = fit(rows | {"c": [0, 1, 0, 1, 1, 0]}, Dag((("a", "c"), ("b", "c"))), missing="em")
    totals = network["c"].counts.row_totals
    assert (totals < 1.0).any()  # EM gives the last row to u and v in parts
    changed = table_of(report.describe(network), "c")["changed"]
    assert len(changed) == (totals >= 1.0).sum() > 0
    assert min(change["n"] for change in changed) >= 1.0


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (BDeu(4), "bdeu:4"),
        (Hierarchical(s="learn"), "hierarchical:learn"),
        (Hierarchical(alpha0=2.0), "hierarchical (alpha0 = 2)"),
        (Tiered(s_mean=3.5), "tiered (s_mean = 3.5)"),
        (Smoothed(BDeu(1), 0.3), "bdeu:1, neighbouring states mixed (weight 0.3)"),
        (
            Smoothed(Tiered(one_parent="left_out")),
            "tiered (strengths learned by leaving out), neighbouring states mixed (weight learned)",
        ),
        (NoisyMax(), "noisy-max (1 observation added)"),
        (Informed([[0.9, 0.1], [0.2, 0.8]], 8), "given probabilities (worth 8 observations)"),
    ],
)
def test_priors_are_in_words(prior, words):
    rows = {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}
    network = fit(rows, Dag((("a", "b"),)), per_variable={"b": prior})
    assert table_of(report.describe(network), "b")["prior"] == words


def test_margins_are_answers_to_queries():
    network = clinic_network()
    for each in report.describe(network)["variables"]:
        wanted = network.query(each["name"]).probabilities
        np.testing.assert_allclose(each["margin"], wanted, atol=1e-5)


def test_held_out_predictions():
    data, network = clinic(), clinic_network()
    found = report.held_out(network, data, "cancer", folds=4, rng=3)
    shown = report.describe(network, data=data, held_out=found)["classifier"]
    truth, chance = found.truth, found.probabilities[:, 1]
    assert shown["rows"] == 300
    np.testing.assert_allclose(shown["accuracy"], ((chance > 0.5) == truth).mean(), atol=1e-5)
    np.testing.assert_allclose(shown["log_loss"], log_loss(truth, chance), atol=1e-5)
    np.testing.assert_allclose(shown["roc"][1]["area"], roc_auc_score(truth, chance), atol=1e-5)
    assert np.array(shown["confusion"]).sum() == 300
    np.testing.assert_allclose(shown["brier"], brier_score_loss(truth, chance), atol=1e-5)
    # Of two classes one is told, that of the curve; each row is in one place.
    assert sum(each["n"] for each in shown["calibration"]) == 300
    middle = sum(each["n"] * each["came_true"] for each in shown["calibration"])
    np.testing.assert_allclose(middle, truth.sum(), atol=0.01)
    # A row is predicted by tables that have not seen it.
    in_sample = fit(data | {"marker": np.zeros(300, int)}, CLINIC_DAG, Tiered())
    assert not np.allclose(chance[0], in_sample.query("cancer").probabilities[1])
    with pytest.raises(InputError, match="one of"):
        report.held_out(network, data, "weather")
    with pytest.raises(DataError, match="fewer than 5"):
        report.held_out(network, {name: column[:3] for name, column in data.items()}, "cancer")
    with pytest.raises(InputError, match="at least 2"):
        report.held_out(network, data, "cancer", folds=1)


def test_more_than_two_classes_are_told_together():
    data, network = clinic(), clinic_network()
    found = report.held_out(network, data, "age", folds=2)
    shown = report.describe(network, held_out=found)["classifier"]
    wanted = brier_score_loss(found.truth, found.probabilities, labels=[0, 1, 2])
    np.testing.assert_allclose(shown["brier"], wanted, atol=1e-5)
    assert sum(each["n"] for each in shown["calibration"]) == 900


def test_one_prediction_by_hand():
    rows = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}
    network = fit(rows, Dag((("a", "b"),)))
    found = report.held_out(network, rows, "b", folds=4, rng=0)
    for k in range(4):
        rest = {name: [v for i, v in enumerate(column) if i != k] for name, column in rows.items()}
        fresh = fit(rest, network.dag, variables=network.variables)
        wanted = fresh.query("b", {"a": rows["a"][k]}).probabilities
        np.testing.assert_allclose(found.probabilities[k], wanted)


def test_known_tables_have_no_held_out_predictions(tmp_path):
    words = {name: [f"s{value}" for value in column] for name, column in PAIRS.items()}
    fit(words, PAIRS_DAG).save(tmp_path / "model.bif")
    known = load(tmp_path / "model.bif")
    with pytest.raises(NotSupportedError, match="was given"):
        report.held_out(known, words, "c")
    table = table_of(report.describe(known), "c")
    assert table["n"] is None
    assert table["changed"] == []
    report.write(known, tmp_path / "known.html")


def test_data_are_summarised():
    data = clinic() | {"site": ["oslo"] * 300}
    data["sex"] = np.array([None, "unknown", *data["sex"][2:]], dtype=object)
    found = report.describe(clinic_network(), data=data)["data"]
    columns = {each["name"]: each for each in found["columns"]}
    assert [each["variable"] for each in found["columns"]].count(None) == 1
    assert columns["site"]["reason"] == "a single value"
    assert columns["marker"]["type"] == "numbers"
    assert columns["marker"]["different"] == len(set(data["marker"]))
    assert found["complete"] == 298
    assert (columns["sex"]["missing"], columns["sex"]["unknown"]) == (1, {"unknown": 1})
    assert len(columns["marker"]["cuts"]) == 3
    without = report.describe(clinic_network())["data"]
    assert (without["source"], without["rows"]) == ("counts", 300)


def test_the_page_says_of_data_what_inspect_says(tmp_path):
    path = tmp_path / "odd.csv"
    rows = [f"P{k},{'Yes' if k % 9 == 0 else 'yes' if k % 2 else 'no'}" for k in range(40)]
    rows = [f"{row},{'NA' if k % 8 == 0 else k % 7 + k / 100},{k}" for k, row in enumerate(rows)]
    path.write_text("\n".join(["id,smoker,dose,day", *rows]) + "\n")
    with pytest.warns(DataWarning):
        table = read(path)
    cut = discretize({name: table[name] for name in ("smoker", "dose")}, bins={"dose": 3})
    with pytest.warns(DataWarning, match="case or blanks"):
        network = fit(cut, Dag([("smoker", "dose")]), missing="available")
    found = report.describe(network, data=table)["data"]
    columns = {each["name"]: each for each in found["columns"]}
    seen = inspect(table, bins={"smoker": None, "dose": cut.discretizer.get("dose")})
    for each in seen.columns:
        told = columns[each.name]
        assert (told["type"], told["different"]) == (each.kind, each.different)
        assert (told["missing"], told["remarks"]) == (each.missing, list(each.remarks))
    assert columns["dose"]["codes"] == {"NA": 5}
    assert columns["id"]["reason"] == seen["id"].reason
    assert columns["day"]["reason"] == seen["day"].reason
    # Numbers that were cut before, and rows of states alone, are no columns of numbers.
    before = report.describe(network, data=cut)["data"]["columns"]
    assert {each["name"]: each["type"] for each in before}["dose"] == "text"
    coded = encode(cut, network.variables)
    assert "type" not in report.describe(network, data=coded)["data"]["columns"][0]


def test_comparison_and_classifier(tmp_path):
    data = {name: clinic()[name] for name in ("smoker", "age", "cancer")}
    none = Dag((), ("smoker", "age", "cancer"))
    compared = compare(data, {"none": none}, [BDeu(1), Hierarchical()])
    network = fit(data, none)
    found = report.describe(network, comparison=compared)["comparison"]
    assert [row["held_out"] for row in found["rows"]] == [
        round(row.held_out, 6) for row in compared.rows
    ]
    features = np.stack([data["smoker"], data["age"]], axis=1)
    model = BayesianNetworkClassifier().fit(features, data["cancer"])
    rows = {"x0": data["smoker"], "x1": data["age"], "class": data["cancer"]}
    held_out = report.held_out(model, rows, "class")
    report.write(model, tmp_path / "classifier.html", held_out=held_out)
    assert report.describe(model)["variables"][0]["name"] in model.network_


def test_big_tables_are_cut_and_it_is_said():
    rng = np.random.default_rng(0)
    table = {f"p{k}": rng.integers(0, 10, 20_000) for k in range(6)}
    table["y"] = rng.integers(0, 40, 20_000)
    network = fit(table, Dag(tuple((f"p{k}", "y") for k in range(6))))
    found = report.describe(network)
    shown = table_of(found, "y")
    assert shown["configurations"] == "1,000,000"
    assert len(shown["rows"]) + shown["left_out"] == network["y"].counts.observed
    assert len(shown["states"]) == 24
    assert found["left_out"]["states"] == 16
    assert found["left_out"]["configurations"] == shown["left_out"]
    assert len(rendered(found).text) < 2_000_000
    # What does not depend on the table is there, and what does is said to be left out.
    assert [each["name"] for each in found["variables"] if each["margin"] is None] == ["y"]
    assert found["left_out"]["margins"] == 1


def test_many_variables_stay_small():
    rng = np.random.default_rng(0)
    names = [f"v{k}" for k in range(150)]
    arcs = [(names[k - d], names[k]) for k in range(6, 150) for d in (1, 3, 6)]
    table = {name: rng.integers(0, 5, 400) for name in names}
    found = report.describe(fit(table, Dag(tuple(arcs)), BDeu(1)))
    assert found["left_out"]["configurations"] > 0
    assert len(rendered(found).text.encode()) < 10_000_000


def test_hostile_names_stay_texts():
    page = rendered(report.describe(hostile_network(), title=HOSTILE[0])).text
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "<!--" not in page
    page.encode("utf-8")
    text = re.search(r'id="content">(.*?)</script>', page, re.DOTALL)[1]
    names = [variable["name"] for variable in json.loads(text)["variables"]]
    assert names[:4] == list(HOSTILE[:4])


def test_the_page_holds_what_it_needs_and_no_more():
    page = html.unescape(rendered(report.describe(clinic_network())).text)
    assert "default-src 'none'" in page
    assert "connect-src 'none'" in page
    assert "unsafe" not in page
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a language


def test_a_file_is_not_overwritten(tmp_path):
    path = tmp_path / "report.html"
    report.write(fit(PAIRS, PAIRS_DAG), path)
    with pytest.raises(InputError, match="not taken"):
        report.write(fit(PAIRS, PAIRS_DAG), path)
    report.write(fit(PAIRS, PAIRS_DAG), path, overwrite=True)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"network": 3}, "a BayesianNetwork or a fitted classifier"),
        ({"comparison": "x"}, "a Comparison"),
        ({"held_out": "x"}, "a HeldOut"),
        ({"title": 7}, "a string"),
        ({"level": 2}, "level"),
    ],
)
def test_wrong_arguments(wrong, message):
    arguments = {"network": fit(PAIRS, PAIRS_DAG)} | wrong
    with pytest.raises(InputError, match=message):
        report.describe(**arguments)


# ------------------------------------------------------------------ the command line


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain_terminal(monkeypatch)
    rows = clinic()
    names = ("smoker", "age", "cancer")
    lines = [",".join(str(rows[name][k]) for name in names) for k in range(300)]
    Path("data.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    Path("arcs.csv").write_text("parent,child\nsmoker,cancer\nage,cancer\n")
    done = CliRunner().invoke(
        app, shlex.split("fit data.csv --dag arcs.csv -o model.json --report fit.html")
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith("Saved model.json\nSaved fit.html\n")


def content(path):
    text = re.search(r'id="content">(.*?)</script>', Path(path).read_text("utf-8"), re.DOTALL)[1]
    return json.loads(text)


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("rows", "more", "told"),
    [
        (7, "", "no figures on held-out rows: 7 rows are too few"),
        (300, " --weights n --ignore cancer", "no figures on held-out rows: rows have weights"),
        (200, "", "The report has no comparison, which takes long here"),
    ],
)
def test_what_a_page_lacks_is_told(rows, more, told, monkeypatch):
    monkeypatch.setattr("colonnade.cli.commands.report._MAX_COMPARED_VALUES", 600)
    lines = Path("data.csv").read_text().splitlines()[: rows + 1]
    numbered = [f"{line},{'n' if k == 0 else k % 3}" for k, line in enumerate(lines)]
    Path("few.csv").write_text("\n".join(numbered) + "\n")
    command = f"fit few.csv --learn chow-liu -o few.json --report few.html{more}"
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.exit_code == 0, done.stderr
    assert told in done.stdout
    assert content("few.html")["comparison"] is None


@pytest.mark.usefixtures("model")
def test_the_commands_write_pages():
    assert content("fit.html")["data"]["rows"] == 300
    rows = content("fit.html")["comparison"]["rows"]
    assert {row["structure"] for row in rows} == {"this graph", "no arcs"}
    assert [row["held_out"] for row in rows] == sorted((r["held_out"] for r in rows), reverse=True)
    assert content("fit.html")["comparison"]["target"] is None
    command = "report model.json --data data.csv --compare --target cancer --folds 3 -o all.html"
    done = CliRunner().invoke(app, [*shlex.split(command), "--title", "All of it"])
    assert (done.exit_code, done.stdout) == (0, "Saved all.html\n")
    found = content("all.html")
    assert found["title"] == "All of it"
    assert found["comparison"]["folds"] == 3
    assert {row["structure"] for row in found["comparison"]["rows"]} == {"this graph", "no arcs"}
    assert found["classifier"]["rows"] == 300
    learned = "fit data.csv --learn tan --target cancer -o tan.json --report tan.html"
    assert CliRunner().invoke(app, shlex.split(learned)).exit_code == 0
    assert content("tan.html")["classifier"]["rows"] == 300
    losses = [row["prediction"][2] for row in content("tan.html")["comparison"]["rows"]]
    assert losses == sorted(losses)
    plain = CliRunner().invoke(app, shlex.split("report model.json --level 0.5 -o plain.html"))
    assert plain.exit_code == 0
    assert content("plain.html")["level"] == 0.5


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("report model.json -o fit.html", 1, "Expected a name that is not taken for --output"),
        ("report model.json -o page.txt", 2, "a name that ends in .html for --output"),
        ("report model.json", 2, "--output is missing"),
        ("report none.json -o new.html", 1, "MODEL"),
        ("report model.json --data none.csv -o new.html", 1, "--data"),
        ("report model.json --data data.csv --target x -o new.html", 1, "for --target, got 'x'"),
        ("fit data.csv --dag arcs.csv -o two.json --report fit.html", 1, "for --report"),
        ("fit data.csv --dag arcs.csv -o two.json --report fit.svg", 2, ".html for --report"),
    ],
)
def test_refusals_of_the_commands(command, code, message):
    done = CliRunner().invoke(app, shlex.split(command))
    assert (done.exit_code, message in done.stderr) == (code, True), done.stderr
    assert not Path("new.html").exists()
    assert not Path("two.json").exists()
