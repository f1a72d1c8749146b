"""Forests on the command line: they are those of Python, and refuse what they do not take."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import colonnade as cn
from colonnade.cli import app
from command_line import flat, plain_terminal

ROWS = 60


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    ill = rng.random(ROWS) < 0.4
    frame = pd.DataFrame(
        {
            "id": [f"P{k}" for k in range(ROWS)],
            "dose": (rng.normal(size=ROWS) + ill).round(2),
            "smoker": np.where(rng.random(ROWS) < 0.3 + 0.4 * ill, "yes", "no"),
            "n": [1 + k % 3 for k in range(ROWS)],
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.loc[3, "dose"] = None
    frame.to_csv("data.csv", index=False)
    frame.assign(ill=frame["ill"].where(frame.index > 1)).to_csv("gaps.csv", index=False)
    return frame


def run(command: str, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == code, done.stderr
    return done.stdout, done.stderr


def test_a_forest_is_that_of_python(table: pd.DataFrame) -> None:
    told, warned = run(
        "fit data.csv --learn forest --target ill --seed 5 --ignore n -o forest.json"
    )
    assert "Forest that predicts ill: 16 networks, from 2 columns of 60 rows\n" in told
    assert told.endswith("Saved forest.json\n")
    assert "Column 'id' (seems to identify rows" in warned
    features = table[["dose", "smoker"]]
    own = cn.BayesianNetworkForest(random_state=5, target_name="ill").fit(features, table["ill"])
    assert cn.BayesianNetworkForest.load("forest.json").networks_ == own.networks_
    told, _ = run("predict forest.json data.csv --seed 2 --level 0.8 -o out.csv")
    accuracy = 100 * (own.predict(features) == table["ill"]).mean()
    assert f"{accuracy:.1f} % of the known values of ill" in told
    found = pd.read_csv("out.csv")
    np.testing.assert_allclose(found["ill=yes"], own.predict_proba(features)[:, 1], atol=1e-12)
    ends = own.predict_interval(features, 0.8, rng=2)
    np.testing.assert_allclose(found["ill=yes lower"], ends.lower[:, 1], atol=1e-12)
    assert found["predicted ill"].tolist() == own.predict(features).tolist()
    assert found["ill"].tolist() == table["ill"].tolist()
    plain = json.loads(run("predict forest.json data.csv --draws 0 --json")[0])
    assert list(plain["rows"][0]) == ["ill", "predicted ill", "ill=no", "ill=yes"]
    assert plain["target"] == "ill"


def test_weights_bins_priors_and_rows_without_a_class(table: pd.DataFrame) -> None:
    more = "--weights n --bins 3 --prior hierarchical --ignore id --json"
    told, warned = run(f"fit gaps.csv --learn forest --target ill {more} -o forest.json")
    assert "Column 'ill': 2 rows without a value left out." in warned
    kept = table.iloc[2:]
    own = cn.BayesianNetworkForest(
        random_state=0, bins=3, prior=cn.Hierarchical(), target_name="ill"
    ).fit(kept[["dose", "smoker"]], kept["ill"], kept["n"])
    assert cn.BayesianNetworkForest.load("forest.json").networks_ == own.networks_
    found = json.loads(told)
    assert (found["target"], found["classes"], found["networks"]) == ("ill", ["no", "yes"], 16)
    assert sum(found["importances"].values()) == pytest.approx(1.0)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("fit data.csv --learn forest -o new.json", 2, "--target is missing"),
        ("fit data.csv --learn forest --target ill -o new.bif", 2, ".json for --output"),
        ("fit data.csv --learn forest --target ill --group smoker -o new.json", 2, "--group"),
        ("fit data.csv --learn forest --target ill --cut dose:0 -o new.json", 2, "--cut"),
        ("fit data.csv --learn forest --target ill --missing em -o new.json", 2, "--missing em"),
        ("fit data.csv --learn forest --target ill --score bic -o new.json", 2, "--score"),
        ("fit data.csv --learn forest --target dose -o new.json", 1, "predicts states"),
        ("fit data.csv --learn forest --target x -o new.json", 1, "for --target, got 'x'"),
        ("structure data.csv --learn forest", 2, "for --learn, got 'forest'"),
        ("compare data.csv --learn forest", 2, "for --learn, got 'forest'"),
    ],
)
def test_what_a_forest_does_not_take_is_refused(command: str, code: int, message: str) -> None:
    _, error = run(command, code)
    assert message in error.splitlines()[0 if code == 2 else -1]
    assert not Path("new.json").exists()


@pytest.mark.usefixtures("table")
def test_other_commands_say_what_the_file_is() -> None:
    run("fit data.csv --learn forest --target ill --ignore n -o forest.json")
    assert "it is a forest: predict and report take it" in run("show forest.json", 1)[1]
    assert "for --target, got 'smoker'" in run("predict forest.json data.csv --target smoker", 1)[1]


def test_a_column_that_the_data_lack_is_missing_in_every_row(table: pd.DataFrame) -> None:
    run("fit data.csv --learn forest --target ill --ignore n -o forest.json")
    table.assign(dose=np.nan).drop(columns="id").to_csv("empty.csv", index=False)
    table[["smoker", "ill"]].to_csv("lacking.csv", index=False)
    for part, rows in (("part1", slice(0, 20)), ("part2", slice(20, None))):
        table[["smoker", "ill"]][rows].to_csv(f"{part}.csv", index=False)
    told = "Warning: Column 'dose': not in the table, so missing in every row.\n"
    for more in ("--seed 1 --draws 500", "--draws 0"):
        run(f"predict forest.json empty.csv {more} -o empty-out.csv --overwrite")
        expected = pd.read_csv("empty-out.csv")
        for data in ("lacking.csv", "part*.csv", "lacking.csv --memory 1kB"):
            said, warned = run(f"predict forest.json {data} {more} -o out.csv --overwrite")
            assert warned.count(told) == 1
            assert "% of the known values of ill" in said
            pd.testing.assert_frame_equal(pd.read_csv("out.csv"), expected, rtol=1e-12)
    # A slip of the pen is named, and a table without any of the columns is refused.
    table.rename(columns={"dose": "doses"}).to_csv("slip.csv", index=False)
    assert "did you mean 'doses'?" in run("predict forest.json slip.csv")[1]
    Path("other.csv").write_text("x\n1\n")
    assert "not in the table, which has 'x'" in run("predict forest.json other.csv", 1)[1]


def test_values_that_are_new_are_told_once(table: pd.DataFrame) -> None:
    run("fit data.csv --learn forest --target ill --ignore n -o forest.json")
    table.assign(smoker="perhaps").to_csv("new.csv", index=False)
    table.assign(smoker="perhaps").to_csv("new2.csv", index=False)
    for data in ("new.csv", "new*.csv -o out.csv"):
        _, warned = run(f"predict forest.json {data}")
        assert warned.count("Values that did not occur in training") == 1
        assert "unknown=" not in warned
        assert "'perhaps'" in warned


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("option", "code", "message"),
    [
        ("--prior ml", 2, "--prior ml has no posterior, which --learn forest needs. Hint: choose"),
        ("--weights dose", 1, "Column 'dose': weight -0."),
        ("--weights zero", 1, "Column 'zero': all weights are 0"),
        ("--weights smoker", 1, "cannot be a weight"),
    ],
)
def test_priors_and_weights_are_refused_in_options(option: str, code: int, message: str) -> None:
    frame = pd.read_csv("data.csv").assign(zero=0, dose=lambda own: own["dose"].fillna(1))
    frame.to_csv("weighted.csv", index=False)
    _, error = run(f"fit weighted.csv --learn forest --target ill {option} -o new.json", code)
    assert message in error
    assert "()" not in error
    assert "sample_weight" not in error


@pytest.mark.usefixtures("table")
def test_small_weights_are_told_in_words_of_the_command_line() -> None:
    pd.read_csv("data.csv").assign(n=0.001).to_csv("small.csv", index=False)
    _, warned = run("fit small.csv --learn forest --target ill --weights n -o new.json")
    assert "The weights add up to 0.06 for 60 rows" in warned
    assert "sample_weight" not in warned


def test_columns_that_are_cut_are_told_once(table: pd.DataFrame) -> None:
    table.assign(age=np.arange(ROWS) % 25).to_csv("ages.csv", index=False)
    for more in ("", "--report page.html"):
        _, warned = run(f"fit ages.csv --learn forest --target ill -o new.json --overwrite {more}")
        assert warned.count("Column 'age' (25 different values)") == 1


@pytest.mark.parametrize("learn", ["tan", "forest"])
def test_a_target_with_a_single_value_is_told_once(table: pd.DataFrame, learn: str) -> None:
    table.assign(ill="no").to_csv("same.csv", index=False)
    command = f"fit same.csv --learn {learn} --target ill --ignore id"
    told, warned = run(f"{command} -o new.json --report page.html")
    assert warned.count("Column 'ill': a single value, so there is nothing to predict.") == 1
    assert "no figures on held-out rows: 'ill' has a single value" in told
    told, _ = run("report new.json --data same.csv --target ill -o other.html")
    assert "no figures on held-out rows: 'ill' has a single value" in told
    table[:4].to_csv("four.csv", index=False)
    told, _ = run("report new.json --data four.csv --target ill -o four.html")
    assert "no figures on held-out rows: " in told
    assert Path("four.html").exists()
    _, warned = run(f"fit data.csv --learn {learn} --target ill --ignore id -o two.json")
    assert "a single value" not in warned


@pytest.mark.parametrize("learn", ["tan", "forest"])
def test_values_of_a_target_that_are_unknown_are_told(table: pd.DataFrame, learn: str) -> None:
    run(f"fit data.csv --learn {learn} --target ill --ignore id -o new.json")
    spelt = table.assign(ill=table["ill"].replace("yes", "YES"))
    spelt.to_csv("spelt.csv", index=False)
    report = "report new.json --data spelt.csv --target ill"
    told, _ = run(f"{report} -o one.html")
    times = int((spelt["ill"] == "YES").sum())
    assert "no figures on held-out rows: 'ill' has a single value that the model knows" in told
    assert f"1 value that the model does not know ('YES') in {times} rows\n" in told
    spelt["ill"] = [*table["ill"][:40], *spelt["ill"][40:]]
    spelt.to_csv("spelt.csv", index=False)
    _, warned = run(f"{report} -o two.html")
    assert warned.count("('YES')") == 1
    assert "left out of held-out predictions" in warned


def test_a_page_without_figures_is_still_a_page(table: pd.DataFrame) -> None:
    table.assign(ill=table["ill"].where(table.index < 3)).to_csv("few.csv", index=False)
    command = "fit few.csv --learn forest --target ill --ignore id"
    told, _ = run(f"{command} -o new.json --report page.html")
    assert "no figures on held-out rows: 3 rows with a value of 'ill', fewer than 5" in told
    table[:1].to_csv("one.csv", index=False)
    command = "fit one.csv --learn forest --target ill --ignore id --keep dose --keep n"
    told, _ = run(f"{command} --keep smoker -o one.json --report one.html")
    assert "no figures on held-out rows: 1 row is too few" in told


def test_help_says_what_holds_for_forests() -> None:
    words = " ".join(flat(run("predict --help")[0]).split())
    assert "of a forest from 400 to 4000, the fewer the more rows" in words
    assert "File of a network, or of a forest of networks." in words
    assert "or of a forest of networks" in flat(run("report --help")[0])
    assert "or of a forest of networks" not in flat(run("show --help")[0])
    for command in ("structure", "compare"):
        words = flat(run(f"{command} --help")[0])
        assert "forest" not in words
        assert "--report" not in words
    assert "naive or forest" in flat(run("fit --help")[0])
    assert "tiered with --group or --learn forest" in flat(run("fit --help")[0])
    _, error = run("predict forest.json data.csv --draws 50", 2)
    assert "500" not in error


def test_a_whole_number_with_many_values_is_predicted_if_it_is_kept(table: pd.DataFrame) -> None:
    table.assign(score=np.arange(ROWS) % 11).drop(columns=["id", "n"]).to_csv("s.csv", index=False)
    command = "fit s.csv --learn forest --target score -o new.json"
    _, error = run(command, 1)
    assert "or --bins score=keep to predict its values" in error
    for more in ("", "--bins 3 --bins dose=2"):
        run(f"{command} --bins score=keep {more} --overwrite")
        assert cn.BayesianNetworkForest.load("new.json").classes_.tolist() == list(range(11))
    _, error = run("fit s.csv --learn forest --target dose -o other.json", 1)
    assert "keep" not in error


def test_tables_whose_rows_are_elsewhere_are_read_into_memory(table: pd.DataFrame) -> None:
    import duckdb

    table = table.assign(level=[None if k == 9 else k % 12 for k in range(ROWS)])
    table["level"] = table["level"].astype("Int64")
    table.to_csv("whole.csv", index=False)
    table[:20].to_csv("part1.csv", index=False)
    table[20:].to_csv("part2.csv", index=False)
    table.to_parquet("whole.parquet", index=False)
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE visits AS SELECT * FROM 'whole.parquet'")
    more = "--learn forest --target ill --weights n --overwrite"
    run(f"fit whole.csv {more} -o expected.json")
    expected = cn.BayesianNetworkForest.load("expected.json").networks_
    for data in ("clinic.duckdb --table visits", "part*.csv", "whole.parquet"):
        run(f"fit {data} {more} -o forest.json")
        assert cn.BayesianNetworkForest.load("forest.json").networks_ == expected
        more_of_page = "--learn forest --target ill --ignore n --report page.html --overwrite"
        told, _ = run(f"fit {data} {more_of_page} -o forest.json")
        assert "no figures" not in told
        run(f"fit {data} --learn tan --target ill --report page.html --overwrite -o net.json")
    for data in ("clinic.duckdb --table visits", "part*.csv", "whole.csv"):
        _, error = run(f"fit {data} {more} -o other.json --memory 1kB", 2)
        assert "does not fit into 1kB of memory. Hint: give --memory with more than 1kB" in error


def test_a_target_that_identifies_rows_is_told_once(table: pd.DataFrame) -> None:
    _, warned = run("fit data.csv --learn forest --target id -o new.json")
    assert warned.count("'id' (60 different values in 60 rows): it seems to identify rows") == 1
    assert "regression" not in warned
    table.assign(rare=[f"v{min(k, 40)}" for k in range(ROWS)]).to_csv("rare.csv", index=False)
    _, warned = run("fit rare.csv --learn forest --target rare -o new.json --overwrite")
    assert warned.count("'rare' (41 different values in 60 rows): it seems to identify") == 1
    _, warned = run("fit data.csv --learn forest --target ill -o new.json --overwrite")
    assert "different values in" not in warned.replace("'id' (seems", "").split("Hint")[-1]


@pytest.mark.usefixtures("table")
def test_rows_and_gaps_of_a_forest_are_told() -> None:
    command = "fit gaps.csv --learn forest --target ill --ignore n --ignore id"
    told, _ = run(f"{command} -o new.json")
    assert "1 value missing (dose 1); each table was estimated from the rows" in told
    assert "from 2 columns of 58 rows\n" in told
    told, _ = run(f"{command} -o new.json --overwrite --json")
    assert json.loads(told)["rows"] == 58


def test_a_forest_knows_its_target_for_the_report(table: pd.DataFrame) -> None:
    run("fit data.csv --learn forest --target ill --ignore n --ignore id -o forest.json")

    def folds(more: str) -> int | None:
        run(f"report forest.json {more} -o page.html --overwrite")
        page = Path("page.html").read_text()
        found = re.search(r'"classifier":(null|\{.*?"folds":(\d+))', page)
        assert found is not None
        return None if found[1] == "null" else int(found[2])

    assert folds("--data data.csv") == folds("--data data.csv --target ill") == 5
    assert folds("--data data.csv --folds 3") == 3
    assert folds("") is None
    table[:6].to_csv("few.csv", index=False)
    told, _ = run("report forest.json --data few.csv -o few.html")
    assert "no figures on held-out rows: 6 rows are too few" in told
    run("fit data.csv --learn tan --target ill --ignore id -o tan.json")
    message = "--folds applies only with --data, and --compare, --target or a forest."
    for command in ("forest.json --folds 3", "tan.json --data data.csv --folds 3"):
        assert message in run(f"report {command} -o other.html", 2)[1]


def test_the_command_line_gives_the_network_of_the_classifier(table: pd.DataFrame) -> None:
    """As the how-to about scikit-learn says."""
    run("fit data.csv --learn kdb --target ill --prior tiered --ignore id -o model.json")
    run("predict model.json data.csv --draws 0 -o out.csv")
    features = table[["dose", "smoker", "n"]]
    own = cn.BayesianNetworkClassifier().fit(features, table["ill"]).predict_proba(features)
    np.testing.assert_allclose(pd.read_csv("out.csv")["ill=yes"], own[:, 1], atol=1e-12)
