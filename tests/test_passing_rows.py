"""Rows of files that are predicted as they pass: out of a file, into a file, or nothing."""

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
@pytest.mark.parametrize("options", [("--draws", 0), ("--draws", 100, "--seed", 3)])
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
