"""Files that commands read and write: what is wrong with them is told once, and before the work."""

import os
import socket
from pathlib import Path

import pytest
from tests.command_line import example, flat, run

import colonnade as cn
from colonnade.files import disk


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return example(tmp_path)


# --------------------------------------------------------------------------------- encodings


def test_the_encoding_of_several_files_is_told_once() -> None:
    for k, town in enumerate(("Zürich", "Genève", "Bern", "Neuchâtel")):
        Path(f"part{k}.csv").write_text(f"town,a\n{town},x\nBern,y\n", encoding="latin-1")
    for command in ("inspect", "fit"):
        more = ["-o", "new.json"] if command == "fit" else []
        said = flat(run(command, "part*.csv", *more).stderr)
        assert said.count("not UTF-8") == 1
        assert "'part0.csv' and 2 more: not UTF-8; read as Windows-1252, for example 'Z" in said
    assert run("inspect", "part1.csv").stderr.count("not UTF-8") == 1


@pytest.mark.parametrize("more", [[], ["--encoding", "utf-8"]])
def test_files_that_hold_no_text_are_called_so(more: list[str]) -> None:
    Path("binary.csv").write_bytes(bytes(range(256)) * 20)
    for data in ("binary.csv", "bin*.csv"):
        said = flat(run("inspect", data, *more, code=1).stderr)
        assert "'binary.csv'" in said
        assert "it holds no text" in said
        assert "--encoding" not in said


def test_an_encoding_that_was_named_is_not_advised_again() -> None:
    Path("mark.csv").write_bytes(b"a,b\nx,\x81\n" * 5)
    said = flat(run("inspect", "mark.csv", "--encoding", "cp1252", code=1).stderr)
    assert "not CP1252 text" in said
    assert "such as cp1252" not in said
    assert "another encoding" in said


# ------------------------------------------------------------------------------------ quotes


@pytest.mark.parametrize("data", ["quoted.csv", "quot*.csv"])
def test_what_follows_a_closed_quote_is_named(data: str) -> None:
    Path("quoted.csv").write_text('a,b\n"x" ,1\n"y",2\n')
    said = flat(run("inspect", data, code=1).stderr)
    assert "line 2" in said
    assert "something stands between a double quote that closes a value and the next ','" in said
    assert "Hint: remove it, be it a blank, or double the quote if it is part of the value" in said


# ------------------------------------------------------------------------------------ output


def test_tables_of_any_size_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks: the limit is one of models, which are read as a whole."""
    expected = run("sample", "model.json", 2000, "-o", "-").stdout
    model = Path("model.json").stat().st_size
    monkeypatch.setattr(disk, "MAX_BYTES", model + 1)
    monkeypatch.setattr("colonnade.cli.output._BLOCK_ROWS", 300)
    assert len(expected) > 2 * model
    for name in ("out.csv", "out.tsv", "out.parquet"):
        run("sample", "model.json", 2000, "-o", name)
    assert Path("out.csv").read_text() == expected
    assert Path("out.tsv").read_text() == expected.replace(",", "\t")
    assert len(cn.read("out.parquet")["smoker"]) == 2000
    assert run("sample", "model.json", 2000, "-o", "-").stdout == expected
    assert not [*Path().glob(".*.part")]


@pytest.mark.parametrize(
    "command",
    [
        "fit data.csv -o locked/m.json",
        "predict model.json data.csv --target cancer -o locked/out.csv",
        "structure data.csv -o locked/arcs.csv",
        "report model.json -o locked/page.html",
        "fit data.csv -o m.json --report locked/page.html",
    ],
)
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("locked").mkdir()
    real = os.access

    def access(path: object, mode: int) -> bool:
        return Path(str(path)).name != "locked" and real(str(path), mode)

    monkeypatch.setattr("os.access", access)
    monkeypatch.setattr("colonnade.cli.data.ReadOptions.table", None)
    monkeypatch.setattr("colonnade.report.write", None)
    said = flat(run(*command.split(), code=1).stderr)
    option = "--report" if "--report" in command else "--output"
    assert f"Expected a path in a folder that can be written to for {option}" in said
    assert "Hint: choose another folder" in said


# -------------------------------------------------------------------------- options, a port


def test_a_text_for_missing_values_that_does_not_occur_is_told() -> None:
    said = flat(run("inspect", "data.csv", "--na", "zzz", "--na", "").stderr)
    assert "--na: no value is 'zzz'" in said
    said = flat(run("inspect", "holes.csv", "--na", "no").stderr)
    assert "no value is" not in said


def test_numbers_that_become_states_by_recode_are_told() -> None:
    lines = "\n".join(f"{20 + k % 60},{'xy'[k % 2]}" for k in range(300))
    Path("ages.csv").write_text(f"age,b\n{lines}\n")
    for data in ("ages.csv", "age*.csv"):
        said = flat(run("inspect", data, "--recode", "age: 20 = 21").stderr)
        assert said.count("each of its 59 numbers is a state, and none is cut") == 1
        assert "--recode" in said
    said = flat(run("inspect", "data.csv", "--recode", "group: 3 = 2").stderr)
    assert "is a state" not in said


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = flat(run("explore", "model.json", "--port", port, code=1).stderr)
    assert f"Expected a port that is free for --port, got {port}." in said
    assert "Hint: choose another one, or leave it out" in said
