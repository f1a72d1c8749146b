"""Commands that ask a network and a graph: the answers are those of Python."""

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

import colonnade as cn
from colonnade.tables import Cuts, Discretizer
from command_line import plain_terminal, run

DAG = cn.Dag([("age", "smoker"), ("age", "ill"), ("smoker", "ill"), ("ill", "test")])


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with a variable that was cut, and its data with gaps and a column more."""
    folder = tmp_path_factory.mktemp("questions")
    rng = np.random.default_rng(3)
    n = 200
    age = rng.uniform(20, 90, n).round(1)
    smoker = rng.random(n) < 0.2 + age / 400
    ill = rng.random(n) < 0.05 + 0.3 * smoker + age / 300
    test = np.where(rng.random(n) < 0.9, ill, ~ill)
    table = {
        "age": age,
        "smoker": np.where(smoker, "yes", "no"),
        "ill": ill,
        "test": 1 + test + (rng.random(n) < 0.2),
    }
    cut = Discretizer([Cuts("age", [40, 60, 75])]).cut(table)
    network = cn.fit(cut, DAG)
    network.save(folder / "model.json")
    cn.fit(cut, DAG, cn.MaximumLikelihood("uniform")).save(folder / "ml.json")
    with (folder / "data.csv").open("w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", *table])
        for k in range(n):
            row = [f"p{k}", *(str(own[k]).lower() for own in table.values())]
            if k % 3 == 0:
                row[1 + k % 4] = ""
            writer.writerow(row)
    return folder


@pytest.fixture(scope="module")
def network(folder: Path) -> cn.BayesianNetwork:
    return cn.load(folder / "model.json")


def told(*words: object) -> dict:
    return json.loads(run(*words, "--json").stdout)


@pytest.mark.parametrize(
    ("texts", "known"),
    [
        (["age>60"], {"age": "> 60"}),
        (["age=up to 40|50"], {"age": ["up to 40", "40 to 60"]}),
        (["age=30,70"], {"age": [30, 70]}),
        (["age>40", "age<=75"], {"age": "> 40 and <= 75"}),
        (["smoker!=no", "test>=2"], {"smoker": "not no", "test": ">= 2"}),
        (["test=1|3"], {"test": [1, 3]}),
        (["smoker=no:0.1,yes:0.8"], {"smoker": {"no": 0.1, "yes": 0.8}}),
        (["age is above 75"], {"age": "above 75"}),
    ],
)
def test_what_is_known_as_people_write_it(folder, network, texts, known) -> None:
    options = [word for text in texts for word in ("--observed", text)]
    found = told("query", folder / "model.json", "ill", *options, "--draws", 0)
    assert found == network.query("ill", known).to_dict()
    assert found["observed"]


def test_actions(folder, network) -> None:
    words = "query", folder / "model.json", "ill", "--observed", "age>60", "--do", "smoker=no"
    found = told(*words, "--draws", 200, "--seed", 4)
    wanted = network.query("ill", {"age": "> 60"}, 200, 0.95, 4, {"smoker": "no"})
    assert found == wanted.to_dict()
    assert found["done"] == {"smoker": "no"}
    text = run(*words).stdout
    head = "Probability of ill given age = 60 to 75 or above 75 after smoker = no is done\n"
    assert text.startswith(head)


def test_effects(folder, network) -> None:
    words = "effect", folder / "model.json", "ill", "--of", "smoker=yes,no", "--given", "age>60"
    settings = {"draws": 200, "level": 0.9, "rng": 1}
    found = told(*words, "--draws", 200, "--level", 0.9, "--seed", 1)
    asked = "ill", {"smoker": ("yes", "no")}, {"age": "> 60"}
    # Pairs are lists in JSON.
    assert found == json.loads(json.dumps(network.effect(*asked, **settings).to_dict()))
    seen = told(*words, "--draws", 200, "--level", 0.9, "--seed", 1, "--seen")
    assert seen == json.loads(json.dumps(network.association(*asked, **settings).to_dict()))
    text = run(*words[:-2]).stdout
    assert "To be adjusted for (done here): age" in text
    assert "Assumed: the graph is causal" in text
    assert " odds ratio " in text
    plain = run("effect", folder / "ml.json", "ill", "--of", "smoker=yes,no").stdout
    assert "interval" not in plain
    tables = {**network.tables, "ill": cn.load(folder / "ml.json")["ill"]}
    mixed = cn.BayesianNetwork(network.dag, tables, network.discretizer)
    mixed.save(folder / "mixed.json")
    words = "effect", folder / "mixed.json", "ill", "--of", "age=50,70", "--given", "test=2"
    text = run(*words).stdout
    assert "Changed by the action itself, and yet given: test" in text
    assert "Fixed, with no share in the intervals: ill" in text
    text = run("query", folder / "mixed.json", "ill").stdout
    assert "Fixed, with no share in the intervals: ill" in text


def test_most_probable(folder, network) -> None:
    words = "most-probable", folder / "model.json"
    best = network.most_probable({"ill": True})
    found = told(*words, "--observed", "ill=true")
    assert found == {"states": best.states, "log_probability": best.log_probability}
    some = told(*words, "age", "smoker", "--observed", "ill=true", "--do", "test=2")
    wanted = network.do({"test": 2}).most_probable({"ill": True}, ["age", "smoker"])
    assert some == {"states": wanted.states, "log_probability": wanted.log_probability}
    text = run(*words, "age", "--observed", "ill=true").stdout
    _, wanted = network.most_probable({"ill": True}, "age")
    assert f"together with what was observed: {wanted:.4f}" in text


def test_explanations(folder, network) -> None:
    words = "explain", folder / "model.json", "ill", "--observed", "smoker=yes"
    found = told(*words, "--observed", "test=2", "--draws", 100, "--seed", 2)
    wanted = network.explain("ill", {"smoker": "yes", "test": 2}, 100, rng=2)
    assert [each["variable"] for each in found["findings"]] == list(wanted.findings)
    first = next(iter(wanted.findings.values()))
    assert found["findings"][0]["lower"] == first.shift.lower.tolist()
    assert found["findings"][0]["adds"] == first.shift.values.tolist()
    assert found["before"] == wanted.before.tolist()
    text = run(*words).stdout
    assert text.startswith("Probability of ill given smoker = yes, and what moved it\n")
    assert "nothing known" in text


def test_what_to_ask(folder, network) -> None:
    words = "informative", folder / "model.json", "ill", "--observed", "smoker=yes"
    found = told(*words, "--draws", 100)
    wanted = network.informative("ill", {"smoker": "yes"}, 100, rng=0)
    assert {each["variable"]: each["value"] for each in found["variables"]} == {
        name: own.value for name, own in wanted.items()
    }
    assert found["variables"][0]["lower"] == wanted["test"].lower
    text = run(*words, "--limit", 1, "--draws", 0).stdout
    assert "... 1 more variable; --limit shows more, --json all" in text


def test_sensitivity(folder, network) -> None:
    words = "sensitivity", folder / "model.json", "ill", "true", "--observed", "test=2"
    found = told(*words, "--level", 0.9, "--pairs", 2)
    wanted = network.sensitivity("ill", True, {"test": 2}, 0.9)
    assert [each["derivative"] for each in found["entries"]] == [e.derivative for e in wanted]
    assert found["entries"][0]["swing"] == list(wanted[0].swing)
    assert len(found["pairs"]) == 2
    strongest = max(
        abs(network.joint_sensitivity("ill", True, (a, b), {"test": 2}).derivative)
        for k, a in enumerate(wanted.first(10))
        for b in wanted.first(10)[:k]
    )
    assert abs(found["pairs"][0]["derivative"]) == pytest.approx(strongest)
    text = run(*words, "--limit", 2, "--pairs", 1).stdout
    assert "more entries; --limit shows more" in text
    assert "mixed derivative" in text
    assert "interval" not in run("sensitivity", folder / "ml.json", "ill", "true").stdout


def test_graphs(folder, tmp_path) -> None:
    model = folder / "model.json"
    assert told("graph", model)["model_string"] == "[age][smoker|age][ill|age:smoker][test|ill]"
    assert told("graph", model, "ill") == {
        "parents": ["age", "smoker"],
        "children": ["test"],
        "markov_blanket": ["age", "smoker", "test"],
        "ancestors": ["age", "smoker"],
        "descendants": ["test"],
    }
    assert told("graph", model, "smoker", "test", "--given", "ill") == {"separated": True}
    between = told("graph", model, "smoker", "ill")
    assert between == {"separated": False, "sets_to_adjust_for": [["age"]]}
    assert "Sets to adjust for: nothing\n" in run("graph", model, "age", "ill").stdout
    assert "ill leads to test" in run("graph", model, "test", "ill").stdout
    text = "[smoker][age|smoker][ill|age][test]"
    (tmp_path / "other.txt").write_text(text)
    other = cn.Dag.from_string(text)
    found = told("graph", model, "--against", tmp_path / "other.txt")
    assert found["distance"] == DAG.shd(other)
    assert found["distance_of_classes"] == DAG.cpdag().shd(other.cpdag())
    assert found["turned_there"] == [["smoker", "age"]]
    assert found["only_here"] == [["smoker", "ill"], ["ill", "test"]]
    assert found["only_there"] == []
    run("graph", model, "--against", model, "--json")
    (tmp_path / "few.txt").write_text("[age]")
    refused = run("graph", model, "--against", tmp_path / "few.txt", code=1).stderr
    assert "a graph of the same variables for --against" in refused
    assert "Hint: name variables without arcs in a line of their own." in refused
    assert "for VARIABLE, got 'sick'" in run("graph", model, "ill", "sick", code=1).stderr


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_gaps_are_filled(folder, network, tmp_path) -> None:
    words = "impute", folder / "model.json", folder / "data.csv"
    table = dict(cn.read(folder / "data.csv"))
    filled = network.impute({name: table[name] for name in network})
    found = rows_of(run(*words, "-o", "-").stdout)
    assert [row["id"] for row in found] == list(table["id"])
    assert [row["smoker"] for row in found] == filled["smoker"].tolist()
    assert [row["age"] for row in found] == filled["age"].tolist()
    assert "Filled in 67 values of 200 rows; age written as intervals" in run(*words).stdout
    several = ["--how", "sample", "--tables", 3, "--seed", 5, "-o", tmp_path / "out.csv"]
    assert "in each of 3 tables" in run(*words, *several).stdout
    found = rows_of((tmp_path / "out.csv").read_text())
    assert [row["table"] for row in found] == ["1"] * 200 + ["2"] * 200 + ["3"] * 200
    drawn = network.impute({name: table[name] for name in network}, "sample", 3, 5)
    assert [row["smoker"] for row in found] == [s for own in drawn for s in own["smoker"]]
    taken = run(*words, *several, code=1).stderr
    assert "for --output" in taken
    mean = told(*words, "--how", "mean")
    assert mean["filled"] == 67
    numbers = network.impute({name: table[name] for name in network}, "mean")["test"]
    assert [row["test"] for row in mean["rows"]] == numbers.tolist()


def test_values_that_are_not_known_are_kept_with_a_warning(folder, tmp_path) -> None:
    lines = "age,smoker,ill,test\n50,maybe,true,2\n50,,true,2\n50,no,true,2\n"
    (tmp_path / "new.csv").write_text(lines)
    words = "impute", folder / "model.json", tmp_path / "new.csv"
    found = run(*words, "-o", "-")
    assert "'smoker': 1 value that the network does not know ('maybe') in 1 row" in found.stderr
    assert "kept, and taken as missing for the rest of the row" in found.stderr
    smokers = [row["smoker"] for row in rows_of(found.stdout)]
    assert smokers[0] == "maybe"
    assert smokers[1] in ("yes", "no")
    assert smokers[2] == "no"
    assert "Filled in 1 value of 3 rows" in run(*words).stdout
    drawn = run(*words, "--how", "sample", "--tables", 2, "-o", "-").stdout
    assert [row["smoker"] for row in rows_of(drawn)][::3] == ["maybe", "maybe"]
    (tmp_path / "numbered.csv").write_text("table,age,smoker,ill,test\n1,50,no,true,2\n")
    words = "impute", folder / "model.json", tmp_path / "numbered.csv", "--how", "sample"
    assert "a column called 'table'" in run(*words, "--tables", 2, code=2).stderr


def test_unusual_rows(folder, network, tmp_path) -> None:
    words = "anomaly", folder / "model.json", folder / "data.csv"
    table = dict(cn.read(folder / "data.csv"))
    wanted = network.anomaly({name: table[name] for name in network})
    found = told(*words, "--limit", 3)
    assert [each["row"] - 1 for each in found["lowest"]] == wanted.lowest(3).tolist()
    first = found["lowest"][0]
    assert first["values"][0]["share"] == min(wanted.of(first["row"] - 1).values())
    text = run(*words, "-o", tmp_path / "scores.csv").stdout
    assert "... 190 more rows" in text
    rows = rows_of((tmp_path / "scores.csv").read_text())
    assert [float(row["log likelihood"]) for row in rows] == wanted.log_likelihood.tolist()
    for row in rows[:5]:
        total = math.fsum(float(row[name]) for name in network)
        assert math.isclose(total, float(row["log likelihood"]), abs_tol=1e-9)


def test_rows_are_drawn(folder, network, tmp_path) -> None:
    words = "sample", folder / "model.json", 50, "--observed", "ill=true", "--do", "smoker=no"
    found = told(*words, "--seed", 7)["rows"]
    wanted = network.do({"smoker": "no"}).sample(50, 7, {"ill": True})
    assert {name: [row[name] for row in found] for name in network} == {
        name: own.tolist() for name, own in wanted.items()
    }
    head = "Drew 50 rows given ill = True after smoker = no is done\n"
    assert run(*words).stdout.startswith(head)
    run(*words, "-o", tmp_path / "rows.parquet")
    # Other commands read it; there is nothing to fill in.
    found = told("impute", folder / "model.json", tmp_path / "rows.parquet")
    assert found["filled"] == 0
    assert {row["smoker"] for row in found["rows"]} == {"no"}


def test_arcs_have_gains(folder) -> None:
    words = "structure", folder / "data.csv", "--ignore", "id", "--cut", "age: 40, 60, 75"
    common = [*words, "--missing", "state", "--resamples", 0]
    found = told(*common, "--score", "bdeu:2", "--graph-prior", "sizes")
    assert found["arcs"]
    assert all(arc["gain"] > 0.0 for arc in found["arcs"])
    assert "gain" not in run(*common, "--learn", "chow-liu").stdout


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("query model.json ill --observed age>50", 1, "Hint: write > 40, a cut point"),
        ("query model.json ill --observed ag>60", 1, "'ag': not a variable of the network"),
        ("query model.json ill --observed smoker=no:0.1,no:0.8", 1, "one state, named once"),
        ("query model.json ill --observed smoker=no:0.1", 1, "got none for 'yes'"),
        ("query model.json ill --observed smoker=no:0,yes:0", 1, "a likelihood above 0"),
        ("query model.json ill --observed smoker=a|b", 1, "state 'a' is not one of"),
        ("query model.json ill --do smok=no", 1, "'smok': not a variable of the network"),
        ("query model.json ill --do age>60", 1, "Expected one state of 'age' for --do"),
        ("effect model.json ill --of smoker=yes,yes", 1, "Hint: write smoker=yes,no."),
        ("effect model.json ill", 2, "--of is missing."),
        ("sensitivity model.json ill maybe", 1, "state 'maybe' is not one of False, True"),
        ("sensitivity model.json sick yes", 1, "for TARGET, got 'sick'"),
        ("graph model.json a b c", 2, "at most two of VARIABLE, got 3"),
        ("graph none.txt", 1, "GRAPH"),
        ("sample model.json 0", 2, "an integer of at least 1 for ROWS, got '0'"),
    ],
)
def test_bad_input_is_one_sentence(folder, monkeypatch, command, code, message) -> None:
    monkeypatch.chdir(folder)
    told = run(*command.split(), code=code).stderr
    assert message in told
    assert told.startswith("Error: ")
    assert told.count("Error") == 1


def test_small_questions_are_answered_truly(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{k % 7}.5,{'yes' if k % 3 else 'no'}\n" for k in range(60))
    Path("t.csv").write_text("dose,ill\n" + rows)
    told = run("fit", "t.csv", "--learn", "hc", "--max-parents", 0, "-o", "m.json").stdout
    assert "No arcs: --max-parents 0 allows none\n" in told
    assert "dependence" not in told
    told = run("informative", "m.json", "ill", "--observed", "dose=2.5").stdout
    assert told.endswith("Nothing is left to ask: every other variable is known\n")
    found = json.loads(run("informative", "m.json", "ill", "--observed", "dose=2", "--json").stdout)
    assert found["variables"] == []
    told = run("sensitivity", "m.json", "dose", 2.5, "--json").stdout
    state = cn.load("m.json")["dose"].family.child.states[2]
    assert state in told
    run("fit", "t.csv", "--learn", "hc", "--prior", "ml", "-o", "other.json")
    error = run("merge", "m.json", "other.json", "-o", "both.json", code=1).stderr
    assert "got ml, not hierarchical. Hint: fit both with the same --prior" in error


def test_states_with_commas_and_errors_in_words(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f'"{"A, or B" if k % 2 else "C"}",{"yes" if k % 3 else "no"}\n' for k in range(30)
    )
    Path("t.csv").write_text("drug,ill\n" + rows)
    Path("arcs.csv").write_text("drug,ill\n")
    run("fit", "t.csv", "--dag", "arcs.csv", "-o", "m.json")
    told = run("effect", "m.json", "ill", "--of", 'drug="A, or B",C').stdout
    assert told.startswith("Effect on ill of drug = A, or B against C\n")
    error = run("effect", "m.json", "ill", "--of", "drug=C,C", code=1).stderr
    assert "for --of, got 'C' twice." in error
    error = run("query", "m.json", "drug", "--observed", "ill=yes:0,no:0", code=1).stderr
    assert "for --observed, got 0 for all of them." in error
