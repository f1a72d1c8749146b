"""Values that stand for states, and the order of states: typed, in Python and in files."""

import json
from pathlib import Path

import pandas as pd
import pytest

import colonnade as cn
from colonnade.exceptions import DataError, FileFormatError, InputError
from colonnade.wording import synonyms
from command_line import flat, run

SMOKER = ["yes", "Y", "no", "N", "yes", "no", "Y", "no"] * 5
STAGE = ["I", "II", "III", "IV", "II", "I", "IV", "I"] * 5
SEX = [1, 2, 2, 1, 2, 1, 1, 2] * 5
RECODE = "--recode", "smoker: Y = yes, N = no", "--recode", "sex: 1 = male, 2 = female"
ORDER = "--order", "stage: IV, III, II, I, 0"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows of two files, together and apart."""
    rows = pd.DataFrame({"smoker": SMOKER, "stage": STAGE, "sex": SEX})
    rows.to_csv(tmp_path / "whole.csv", index=False)
    rows[:20].to_csv(tmp_path / "part1.csv", index=False)
    rows[20:].to_csv(tmp_path / "part2.csv", index=False)
    clean = rows.replace({"smoker": {"Y": "yes", "N": "no"}, "sex": {1: "male", 2: "female"}})
    clean.to_csv(tmp_path / "clean.csv", index=False)
    (tmp_path / "arcs.csv").write_text("smoker,stage\nsex\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("data", ["whole.csv", "part*.csv"])
@pytest.mark.parametrize("graph", [("--dag", "arcs.csv"), ("--target", "stage")])
def test_a_network_is_that_of_clean_data_and_knows_the_others(
    folder: Path, data: str, graph: tuple[str, str]
) -> None:
    run("fit", data, *RECODE, *ORDER, *graph, "-o", "model.json")
    run("fit", "clean.csv", *ORDER, *graph, "-o", "clean.json")
    network, clean = cn.load("model.json"), cn.load("clean.json")
    assert network == clean
    assert network["stage"].family.child.states == ("IV", "III", "II", "I", "0")
    assert network["sex"].family.child.spellings == {1: "male", 2: "female"}
    # New rows, questions and further rows are understood.
    for target in ("stage", "smoker"):
        told = run("predict", "model.json", "whole.csv", "--target", target, "--json").stdout
        asked = run("predict", "clean.json", "clean.csv", "--target", target, "--json").stdout
        ours, theirs = json.loads(told), json.loads(asked)
        assert ours["accuracy"] == theirs["accuracy"]
        title = f"predicted {target}"
        assert [row[title] for row in ours["rows"]] == [row[title] for row in theirs["rows"]]
    question = "query", "model.json", "stage", "--draws", 0, "--observed"
    assert "smoker = yes" in run(*question, "smoker=Y").stdout
    assert "sex = male" in run(*question, "sex=1").stdout
    run("update", "model.json", "whole.csv", "-o", "more.json")
    assert (
        cn.load("more.json")["smoker"].counts == clean.update(cn.read("clean.csv"))["smoker"].counts
    )
    assert cn.load("more.json")["smoker"].family.child.spellings == {"Y": "yes", "N": "no"}


def test_inspect_shows_the_effect(folder: Path) -> None:
    told = run("inspect", "whole.csv").stdout
    assert "smoker: states 'Y' and 'yes'; 'N' and 'no' may mean the same" in told
    assert '--recode "smoker: Y = yes, N = no" makes them one' in told
    told = run("inspect", "whole.csv", *RECODE, *ORDER).stdout
    assert "no (20), yes (20)" in told
    assert "IV (10), III (5), II (10), I (15), 0 (0)" in told
    assert "may mean the same" not in told
    whole = json.loads(run("inspect", "whole.csv", *RECODE, "--json").stdout)
    assert whole["columns"][2]["states"] == ["female", "male"]


@pytest.mark.parametrize("order", [(), ORDER])
def test_counts_of_parts_are_those_of_clean_data(folder: Path, order: tuple[str, ...]) -> None:
    # The second part lacks a value that stands for a state.
    second = pd.read_csv("part2.csv")
    second[second["smoker"] != "N"].to_csv("part2.csv", index=False)
    clean = pd.concat([pd.read_csv("clean.csv")[:20], second[second["smoker"] != "N"]])
    clean = clean.replace({"smoker": {"Y": "yes"}, "sex": {1: "male", 2: "female"}})
    clean.to_csv("clean.csv", index=False)
    graph = "--dag", "arcs.csv"
    first = run("count", "part1.csv", *RECODE, *order, *graph, "-o", "1.json")
    assert "Warning" not in first.stderr
    told = run("count", "part2.csv", *RECODE, *order, *graph, "-o", "2.json").stderr
    assert "Column 'smoker': no value 'N' to be recoded; it has" in flat(told)
    for pair in (("1.json", "2.json"), ("2.json", "1.json")):
        run("merge", *pair, "-o", "both.json", "--overwrite")
        run("fit", "--counts", "both.json", "-o", "model.json", "--overwrite")
        run("fit", "clean.csv", *order, *graph, "-o", "clean.json", "--overwrite")
        network = cn.load("model.json")
        assert network == cn.load("clean.json")
        assert network["smoker"].family.child.spellings == {"Y": "yes", "N": "no"}
        assert network["sex"].family.child.spellings == {1: "male", 2: "female"}
    # Another meaning of the same value, or none, is not put together.
    for other in ((), ("--recode", "smoker: Y = no")):
        run("count", "part2.csv", *other, *RECODE[2:], *graph, "-o", "3.json", "--overwrite")
        refused = flat(run("merge", "1.json", "3.json", "-o", "no.json", code=1).stderr)
        assert "counts in which 'Y' of 'smoker' means the same" in refused


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--recode", "nowhere: Y = yes"), "--recode: 'nowhere' is no variable of the graph"),
        (("--order", "nowhere: Y, yes"), "--order: 'nowhere' is no variable of the graph"),
        (("--recode", "sex: 1 = m, 2 = f", "--cut", "sex: 1.5"), "is given for --cut, too"),
    ],
)
def test_what_count_does_not_take(folder: Path, options: tuple[str, ...], told: str) -> None:
    words = "count", "whole.csv", "--dag", "arcs.csv", "-o", "x.json"
    assert told in flat(run(*words, *options, code=2).stderr)


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--recode", "smoker: Z = yes"), 1, "no value 'Z' to be recoded; it has"),
        (("--recode", "smoker"), 2, "Expected COLUMN: VALUE = STATE"),
        (("--recode", "smoker: Y"), 2, "Expected VALUE = STATE, each value once, for --recode"),
        (("--recode", "smoker: Y = yes, Y = no"), 2, "each value once"),
        (("--recode", "smoker: Y = yes", "--recode", "smoker: N = no"), 2, "is given twice"),
        (("--recode", "nowhere: Y = yes"), 1, "for --recode, got 'nowhere'"),
        (("--recode", "smoker: Y = yes", "--bins", "smoker=3"), 2, "for --bins or --cut, too"),
        (("--order", "stage: I, II"), 1, "are not among 'I', 'II'. Hint: name all"),
        (("--order", "stage: I, II, I"), 2, "Expected different states for --order"),
        (("--order", "stage"), 2, "Expected COLUMN: STATE"),
        (("--order", "stage: I, II", "--order", "stage: I, II"), 2, "'stage' is given twice"),
        (("--recode", "smoker: Y = yes", "--order", "smoker: no, N, Y"), 2, "lacks 'yes'"),
        (("--recode", "smoker: Y = yes", "--order", "smoker: no, N, Y, yes"), 2, "is recoded as"),
        (("--recode", "sex: 1 = male"), 1, "strings and integers mixed have no order"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    folder: Path, options: tuple[str, ...], code: int, told: str
) -> None:
    assert told in flat(run("inspect", "whole.csv", *options, code=code).stderr)


def test_in_python() -> None:
    smoker = cn.Variable("smoker", ["no", "yes"], {"Y": "yes", 1: "yes"})
    assert smoker.index("Y") == smoker.index(1) == 1
    assert smoker == cn.Variable("smoker", ["no", "yes"])
    rows = {"smoker": ["Y", "no", "yes"], "ill": ["a", "b", "a"]}
    network = cn.fit(rows, cn.Dag([("smoker", "ill")]), variables=[smoker])
    assert network["smoker"].counts.values.tolist() == [[1, 2]]
    assert (
        network.query("ill", {"smoker": "Y"})["a"] == network.query("ill", {"smoker": "yes"})["a"]
    )
    assert network.query("ill", ["smoker = Y"])["a"] == network.query("ill", {"smoker": "yes"})["a"]
    with pytest.raises(InputError, match="no states of 'x'"):
        cn.Variable("x", ["a", "b"], {"a": "b"})
    with pytest.raises(InputError, match="states of 'x'"):
        cn.Variable("x", ["a", "b"], {"c": "d"})
    with pytest.raises(InputError, match="a mapping of values to states"):
        cn.Variable("x", ["a", "b"], ["c"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'maybe' is not one of"):
        smoker.index("maybe")


def test_damaged_spellings_in_a_file(tmp_path: Path) -> None:
    from test_files import sealed

    x = cn.Variable("x", ["a", "b"], {"A": "a"})
    cn.fit({"x": ["a", "A", "b"]}, cn.Dag([], ["x"]), variables=[x]).save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["variables"][0]["spellings"] == [["A", "a"]]
    for wrong in (1, [1], [["A"]], [["A", "z"]], [["a", "b"]], [[1.5, "a"]], [[["A"], "a"]]):
        document["variables"][0]["spellings"] = wrong
        (tmp_path / "wrong.json").write_bytes(sealed(document))
        with pytest.raises(FileFormatError, match=r"variables\[0\]"):
            cn.load(tmp_path / "wrong.json")


def test_words_that_mean_the_same() -> None:
    assert synonyms(["f", "m", "female"]) == [["f", "female"]]
    assert synonyms(["yes", "Yes", "no"]) == []  # these only look alike
    assert synonyms(["a", "b"]) == []


def test_count_hints_at_options_that_it_has(folder: Path) -> None:
    Path("numbers.csv").write_text("sex,smoker,stage\n1.5,no,I\n2.5,yes,II\n")
    told = run("count", "numbers.csv", "--dag", "arcs.csv", "-o", "x.json", code=1).stderr
    assert "Hint: cut them at the same points in all parts, with --cut 'sex: 1, 2'." in flat(told)


def test_a_forest_is_that_of_clean_data_and_knows_the_others(folder: Path) -> None:
    learn = "--learn", "forest", "--target", "smoker", "--seed", 1
    run("fit", "whole.csv", *RECODE, *ORDER, *learn, "-o", "forest.json")
    run("fit", "clean.csv", *ORDER, *learn, "-o", "clean.json")
    forest = cn.BayesianNetworkForest.load("forest.json")
    clean = cn.BayesianNetworkForest.load("clean.json")
    assert forest.networks_ == clean.networks_
    assert forest.networks_[0]["stage"].family.child.states == ("IV", "III", "II", "I", "0")
    answers = []
    for model, data in (("forest.json", "whole.csv"), ("clean.json", "clean.csv")):
        found = run("predict", model, data, "--draws", 0, "--json")
        assert "Warning" not in found.stderr
        answers.append(json.loads(found.stdout))
    ours, theirs = answers
    assert ours["accuracy"] == theirs["accuracy"] > 0.5
    for mine, yours in zip(ours["rows"], theirs["rows"], strict=True):
        assert {**mine, "smoker": None} == {**yours, "smoker": None}
    # Files that pass know the values as well, and so do more rows and the page.
    told = run("predict", "forest.json", "part*.csv", "-o", "out.csv")
    assert "Warning" not in told.stderr
    assert f"{100 * ours['accuracy']:.1f} % of the known values" in told.stdout
    run("report", "forest.json", "--data", "whole.csv", "--target", "smoker", "-o", "page.html")
    again = cn.BayesianNetworkForest.load("forest.json")
    raw, pure = pd.read_csv("whole.csv"), pd.read_csv("clean.csv")
    again.partial_fit(raw[["stage", "sex"]], raw["smoker"])
    clean.partial_fit(pure[["stage", "sex"]], pure["smoker"])
    assert again.networks_ == clean.networks_
    with pytest.raises(DataError, match=r"'V' .* is not one of .* Hint: declare them"):
        again.partial_fit(raw[["stage", "sex"]].assign(stage="V"), raw["smoker"])
    refused = run("fit", "whole.csv", *learn, "--order", "smoker: a, b", "-o", "x.json", code=2)
    assert "whose states are sorted" in flat(refused.stderr)


@pytest.mark.parametrize("kind", [cn.BayesianNetworkClassifier, cn.BayesianNetworkForest])
def test_classifiers_take_declared_variables(kind: type) -> None:
    table = pd.DataFrame({"smoker": SMOKER, "stage": STAGE})
    clean = table.replace({"smoker": {"Y": "yes", "N": "no"}})
    smoker = cn.Variable("smoker", ["no", "yes"], {"Y": "yes", "N": "no"})
    stage = cn.Variable("stage", ["0", "I", "II", "III", "IV"])
    raw = kind(variables=[smoker, stage], class_weight={"yes": 3})
    raw.fit(table[["stage"]], table["smoker"])
    pure = kind(variables={"stage": stage.states}, class_weight={"yes": 3})
    pure.fit(clean[["stage"]], clean["smoker"])
    assert raw.classes_.tolist() == ["no", "yes"]
    chances = raw.predict_proba(pd.DataFrame({"stage": ["0", "IV"]}))
    assert (chances == pure.predict_proba(pd.DataFrame({"stage": ["0", "IV"]}))).all()
    # Values of a feature that stand for states.
    other = kind(variables=[smoker]).fit(table[["smoker"]], table["stage"])
    both = other.predict_proba(pd.DataFrame({"smoker": ["Y", "yes"]}))
    assert (both[0] == both[1]).all()
    nowhere = cn.Variable("nowhere", ["a", "b"])
    for wrong, told in (
        ({"variables": [smoker, nowhere]}, "features, and perhaps the class"),
        ({"variables": [nowhere], "target_name": "smoker"}, "neither .* nor the class 'smoker'"),
        ({"variables": {"smoker": ["yes", "no"]}}, "sorted states of the class 'smoker'"),
        ({"variables": [smoker], "classes": ["no", "yes", "maybe"]}, "`variables` declares"),
        ({"variables": [stage], "bins": {"stage": 3}}, "states are not declared"),
        ({"variables": {"stage": ["I", "II"]}}, "are not among 'I', 'II'"),
    ):
        with pytest.raises((InputError, DataError), match=told):
            kind(**wrong).fit(clean[["stage"]], clean["smoker"])
