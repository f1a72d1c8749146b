"""Rows of files that are predicted as they pass: out of a file, into a file, or nothing."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.command_line import flat, run

import colonnade as cn
from colonnade.cli import output as cli_output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    tables = []
    for part in range(2):
        a = rng.integers(0, 3, 40)
        b = (a + rng.integers(0, 2, 40)) % 3
        x = rng.normal(size=40) + a
        tables.append(pd.DataFrame({"a": [f"s{v}" for v in a], "b": b, "x": x}))
        tables[part].to_parquet(tmp_path / f"part{part}.parquet")
    whole = pd.concat(tables)
    whole.to_parquet(tmp_path / "whole.parquet", index=False)
    cut = cn.discretize(whole, {"x": 3, "b": None})
    cn.fit(cut, cn.Dag([("a", "b"), ("a", "x")])).save(tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize(
    "options", [("--draws", 0), ("--draws", 100, "--seed", 3, "--keep", "x,b")]
)
def test_predictions_are_those_of_the_table_in_memory(
    folder: Path, ending: str, options: tuple[object, ...]
) -> None:
    passing = run(
        "predict", "model.json", "part*.parquet", "--target", "a", "-o", f"1.{ending}", *options
    )
    whole = run(
        "predict", "model.json", "whole.parquet", "--target", "a", "-o", f"2.{ending}", *options
    )
    assert passing.output.replace("1.", "2.") == whole.output.replace("1.", "2.")
    reader = pd.read_parquet if ending == "parquet" else pd.read_csv
    pd.testing.assert_frame_equal(reader(folder / f"1.{ending}"), reader(folder / f"2.{ending}"))


@pytest.mark.parametrize("source", ["csv", "parquet"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_the_data_stay_beside_their_rows(
    folder: Path, source: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.tables.streams._MIN_ROWS", 7)  # blocks of other sizes
    monkeypatch.setattr("colonnade.tables.arrow_files.ArrowFiles.block_rows", 9, raising=False)
    whole = pd.read_parquet("whole.parquet")
    whole["id"] = [f"r{k}" for k in range(len(whole))]
    whole["seen"] = pd.Categorical(whole["a"])
    for part in range(2):
        rows = whole[40 * part : 40 * (part + 1)]
        if source == "csv":
            rows.to_csv(f"new{part}.csv", index=False)
        else:
            rows.to_parquet(f"new{part}.parquet", index=False)
    predict = "predict", "model.json", f"new*.{source}", "--target", "a", "-o", f"out.{ending}"
    run(*predict, "--draws", 0, "--keep", "all")
    found = pd.read_parquet("out.parquet") if ending == "parquet" else pd.read_csv("out.csv")
    own = ["a", "b", "x", "id", "seen"]
    assert list(found)[:6] == [*own, "predicted a"]
    assert found["id"].tolist() == whole["id"].tolist()
    assert found["seen"].tolist() == found["a"].tolist() == whole["a"].tolist()
    assert found["x"].astype(float).tolist() == whole["x"].tolist()
    network = cn.load("model.json")
    expected = network.predict(whole[["b", "x"]], "a").to_frame()
    assert found["predicted a"].tolist() == expected["predicted a"].tolist()


def test_columns_to_keep(folder: Path) -> None:
    predict = "predict", "model.json", "whole.parquet", "--target", "a", "--draws", 0
    run(*predict, "--keep", "x", "--keep", "b,a", "-o", "out.csv")
    assert list(pd.read_csv("out.csv"))[:4] == ["x", "b", "a", "predicted a"]
    said = run(*predict, "--keep", "x,nowhere", code=1).output
    assert "for --keep, got 'nowhere'" in flat(said)
    again = pd.read_csv("out.csv")
    again.to_csv("again.csv", index=False)
    predict = "predict", "model.json", "again.csv", "--target", "a", "-o", "twice.csv"
    said = run(*predict, "--keep", "all", code=1).output
    assert "Column 'predicted a': it is a column of the answer, too." in flat(said)
    run(*predict, "--ignore", "predicted a", "--keep", "id", code=1)
    whole = run(*predict[:-2], "--keep", "b", "--draws", 0, "--json").stdout
    assert list(json.loads(whole)["rows"][0])[:3] == ["b", "a", "predicted a"]


def test_a_target_that_the_files_lack(folder: Path) -> None:
    pd.read_parquet("whole.parquet").drop(columns="a").to_csv("new1.csv", index=False)
    said = run("predict", "model.json", "new*.csv", "-o", "out.csv", "--draws", 0).output
    assert "Predicted a for 80 rows" in said
    assert "known values" not in said


def test_without_a_file_to_write_to(folder: Path) -> None:
    said = run("predict", "model.json", "part*.parquet", "--target", "a", code=2).output
    assert "--output is missing" in flat(said)


def test_an_interruption_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(folder.iterdir())
    real = cli_output._lines

    def interrupted(*arguments: object, **more: object) -> str:
        real(*arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_output, "_lines", interrupted)
    run("predict", "model.json", "part*.parquet", "--target", "a", "-o", "out.csv", code=130)
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize("data", ["whole.parquet", "part*.parquet"])
def test_data_are_not_written_over(folder: Path, data: str) -> None:
    before = (folder / "part1.parquet").read_bytes(), (folder / "whole.parquet").read_bytes()
    output = "whole.parquet" if data == "whole.parquet" else "part1.parquet"
    told = run("predict", "model.json", data, "--target", "b", "-o", output, "--overwrite", code=2)
    assert f"--output: '{output}' is a file of the data." in flat(told.stderr)
    for command in ("impute", "anomaly"):
        told = run(
            command, "model.json", "whole.parquet", "-o", "whole.parquet", "--overwrite", code=2
        )
        assert "--output: 'whole.parquet' is a file of the data." in flat(told.stderr)
    after = (folder / "part1.parquet").read_bytes(), (folder / "whole.parquet").read_bytes()
    assert after == before


def test_standard_output_is_no_place_for_rows_that_pass(folder: Path) -> None:
    told = run("predict", "model.json", "part*.parquet", "--target", "b", "-o", "-", code=2)
    assert "--output - does not apply." in flat(told.stderr)
    told = run("predict", "model.json", "part*.parquet", "--target", "b", code=2)
    assert "--output is missing." in flat(told.stderr)


KEPT = "id,age,when,site\n1.1,30,1E5,a\n1.10,31,2e5,b\n1.2,,NA,a\n"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    site = rng.choice(["a", "b"], 60)
    age = np.where(site == "a", 30, 31) + (rng.random(60) < 0.2)
    cn.fit({"site": site, "age": age}, cn.Dag([("age", "site")])).save("model.json")
    Path("rows.csv").write_text(KEPT)
    return tmp_path


def texts(path: str, *names: str) -> list[list[str]]:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [[row[name] for row in rows] for name in names]


@pytest.mark.usefixtures("kept")
def test_columns_of_text_files_are_kept_as_they_are_written() -> None:
    """Ids such as 1.1 and 1.10 are two; memory and files that pass write the same."""
    names = "id", "age", "when", "site"
    expected = [["1.1", "1.10", "1.2"], ["30", "31", ""], ["1E5", "2e5", "NA"], ["a", "b", "a"]]
    predict = "predict", "model.json", "--target", "site", "--draws", 0, "--keep", "all"
    run(*predict, "rows.csv", "-o", "memory.csv")
    run(*predict, "row*.csv", "-o", "passing.csv")
    assert texts("memory.csv", *names) == texts("passing.csv", *names) == expected
    run("anomaly", "model.json", "rows.csv", "--keep", "all", "-o", "rare.csv")
    assert texts("rare.csv", *names) == expected
    run("impute", "model.json", "rows.csv", "-o", "full.csv")
    assert texts("full.csv", "id", "when") == [expected[0], expected[2]]
    assert "" not in texts("full.csv", "age")[0]
    shown = run(*predict, "rows.csv").stdout
    assert "1.10" in shown


@pytest.mark.usefixtures("kept")
def test_columns_that_are_kept_have_types_where_there_are_types() -> None:
    predict = "predict", "model.json", "rows.csv", "--target", "site", "--draws", 0
    run(*predict, "--keep", "all", "-o", "out.parquet")
    found = pd.read_parquet("out.parquet")
    assert found["id"].tolist() == ["1.1", "1.10", "1.2"]
    assert found["when"].tolist()[:2] == [1e5, 2e5]
    rows = json.loads(run(*predict, "--keep", "all", "--json").stdout)["rows"]
    assert [row["id"] for row in rows] == ["1.1", "1.10", "1.2"]
    assert [row["age"] for row in rows] == [30, 31, None]
