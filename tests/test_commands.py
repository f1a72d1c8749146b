"""Every command as a program of its own: what it prints and writes, and how it refuses."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colonnade as cn
from programs import Programs

ROWS = 150


# Whatever starts the tests, commands have a narrow terminal without colours.
PLAIN = {"COLUMNS": "80", "TERM": "dumb"}


@pytest.fixture(scope="module", autouse=True)
def programs() -> Iterator[Programs | None]:
    """Programs that start fast, where processes can be forked."""
    if not hasattr(os, "fork"):
        yield None
        return
    _STARTED.append(Programs(**PLAIN))
    yield _STARTED[0]
    _STARTED.pop().end()


_STARTED: list[Programs] = []


def program(
    *arguments: object, folder: Path, code: int = 0, text: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it must end with an exit code, without a traceback.

    With an environment of its own, and for each command for the first time, it is started from
    nothing.
    """
    words = [str(each) for each in arguments]
    command = [sys.executable, "-m", "colonnade", *words]
    if environment or not _STARTED or words[0] not in _SEEN:
        _SEEN.add(words[0])
        settings = {**os.environ, **PLAIN, **environment}
        found = subprocess.run(command, cwd=folder, capture_output=True, input=text, env=settings)
        ended = found.returncode, found.stdout, found.stderr
    else:
        ended = _STARTED[0].run(words, folder, text)
    result = subprocess.CompletedProcess(command, ended[0], ended[1].decode(), ended[2].decode())
    assert result.returncode == code, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result


_SEEN: set[str] = set()


def swiss() -> str:
    """Mixed columns as a person has them: identifiers, dates, decimal commas, gaps."""
    rng = np.random.default_rng(3)
    smoker = rng.choice(["yes", "no"], ROWS, p=[0.4, 0.6])
    ill = rng.random(ROWS) < np.where(smoker == "yes", 0.8, 0.1)
    lines = ["patient_id;visit;age;bmi;smoker;site;study;ill"]
    for k in range(ROWS):
        bmi = "NA" if k % 17 == 3 else f"{rng.normal(26, 4):.1f}".replace(".", ",")
        day = f"{1 + k % 28:02d}.{1 + k % 12:02d}.{2020 + k % 3}"
        cells = f"P{k:04d}", day, int(rng.integers(20, 85)), bmi, smoker[k]
        site = ("Zürich", "Genève", "Bern")[k % 3]
        lines.append(";".join(map(str, (*cells, site, "A", "ja" if ill[k] else "nein"))))
    return "\r\n".join(lines) + "\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, programs: Programs | None) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "swiss.csv").write_bytes(swiss().encode("cp1252"))
    program("fit", "swiss.csv", "-o", "model.json", folder=folder)
    program("fit", "swiss.csv", "--target", "ill", "-o", "tan.json", folder=folder)
    return folder


def written(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_one_fit_with_defaults_gives_a_sensible_network(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    result = program("fit", "swiss.csv", "-o", model, folder=folder)
    network = cn.load(model)
    assert set(network) == {"age", "bmi", "smoker", "site", "ill"}
    assert {frozenset(arc) for arc in network.dag.arcs} >= {frozenset(("smoker", "ill"))}
    assert len(network["bmi"].family.child.states) == 5
    assert "9 values missing (bmi 9); --missing available was used" in result.stdout
    for told in (
        "read as Windows-1252",
        "values separated by ';' and numbers with a decimal comma in column 'bmi'",
        "read 9 values 'NA' as missing",
        "'patient_id' (seems to identify rows: 150 different values in 150 rows), 'visit' (dates",
        "'study' (a single value): left out",
        "Column 'age'",
    ):
        assert told in result.stderr, told
    facts = program("fit", "swiss.csv", "-o", model, "--force", "--json", folder=folder)
    assert json.loads(facts.stdout)["arcs"] == [list(arc) for arc in network.dag.arcs]


def test_inspect(folder: Path) -> None:
    result = program("inspect", "swiss.csv", folder=folder)
    assert "150 rows, 8 columns, 5 used" in result.stdout
    assert "\x1b" not in result.stdout
    content = (folder / "swiss.csv").read_bytes()
    facts = program("inspect", "-", "--json", folder=folder, text=content)
    columns = {each["name"]: each for each in json.loads(facts.stdout)["columns"]}
    assert columns["bmi"]["missing_codes"] == {"NA": 9}
    assert columns["visit"]["reason"].startswith("dates")
    learned = cn.load(folder / "model.json").discretizer
    assert learned is not None
    assert {c.name: list(c.points) for c in learned.columns} == {
        name: each["cuts"] for name, each in columns.items() if each["cuts"] is not None
    }
    refused = program("inspect", "absent.csv", folder=folder, code=1)
    assert refused.stderr == "Error: Expected an existing file for DATA, got 'absent.csv'.\n"
    assert "a file ending in .csv" in program("inspect", "a.doc", folder=folder, code=2).stderr
    assert "it is empty" in program("inspect", "-", folder=folder, code=1).stderr


def test_structure(folder: Path, tmp_path: Path) -> None:
    common = "structure", "swiss.csv", "--resamples", 5, "--ignore", "site"
    for ending in ("csv", "dot", "txt"):
        arcs = tmp_path / f"arcs.{ending}"
        result = program(*common, "-o", arcs, folder=folder)
        assert f"Saved {arcs}" in result.stdout
        model = tmp_path / f"{ending}.json"
        program("fit", "swiss.csv", "--dag", arcs, "-o", model, folder=folder)
        assert set(cn.load(model)) == {"age", "bmi", "smoker", "ill"}
    graphs = {cn.load(tmp_path / f"{ending}.json").dag for ending in ("csv", "dot", "txt")}
    assert len(graphs) == 1
    facts = json.loads(program(*common, "--json", folder=folder).stdout)
    (arc,) = [each for each in facts["arcs"] if {each["from"], each["to"]} == {"smoker", "ill"}]
    assert arc["strength"] == 1.0
    assert "[smoker" in facts["model_string"]
    ruled = *common, "--required", "age->bmi", "--forbidden", "smoker->ill", "--json"
    arcs_found = json.loads(program(*ruled, folder=folder).stdout)["arcs"]
    pairs = {(each["from"], each["to"]) for each in arcs_found}
    assert ("age", "bmi") in pairs
    assert ("smoker", "ill") not in pairs
    refused = program(*common, "--required", "age->height", folder=folder, code=1).stderr
    assert "--required" in refused
    assert "ending in" in program(*common, "-o", "arcs.png", folder=folder, code=2).stderr


def test_compare(folder: Path) -> None:
    common = "compare", "swiss.csv", "--folds", 3, "--target", "ill", "--learn", "chow-liu"
    facts = json.loads(program(*common, "--json", folder=folder).stdout)
    (row,) = facts["rows"]
    assert row["accuracy"] > 0.7
    assert row["auc"] > 0.7
    assert 0 < row["log_loss"] < 0.6
    grouped = program(*common, "--group", "site", folder=folder).stdout
    assert "tiered" in grouped
    assert "log loss" in grouped
    assert max(map(len, grouped.splitlines())) <= 80
    refused = program("compare", "swiss.csv", "--target", "height", folder=folder, code=1)
    assert "for --target, got 'height'" in refused.stderr


def test_show_fits_a_narrow_terminal(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    parents = [f"a rather long name {k}" for k in range(12)]
    table = {name: rng.choice(["no", "yes"], 40) for name in (*parents, "y")}
    dag = cn.Dag([(name, "y") for name in parents])
    cn.fit(table, dag).save(tmp_path / "wide.json")
    result = program("show", tmp_path / "wide.json", "y", "--limit", 2, folder=folder)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\na rather long name 0 = " in result.stdout
    assert "Any other configuration" in result.stdout
    assert "0.5" in result.stdout
    assert program("show", "model.json", folder=folder).stdout.startswith("5 variables")
    assert json.loads(program("show", "model.json", "ill", "--json", folder=folder).stdout)["rows"]
    refused = program("show", "model.json", "il", folder=folder, code=1).stderr
    assert "for VARIABLE, got 'il'" in refused


def test_query_has_intervals_by_default(folder: Path) -> None:
    asked = "query", "tan.json", "ill", "--observed", "smoker=yes", "--observed", "bmi=31.5"
    text = program(*asked, folder=folder).stdout
    assert "95 % interval" in text
    assert program(*asked, folder=folder).stdout == text  # the draws are the same every time
    network = cn.load(folder / "tan.json")
    (state,) = [s for s in network["bmi"].family.child.states if s in text]
    expected = network.query("ill", {"smoker": "yes", "bmi": state})
    assert f"{expected['ja']:.4f}" in text
    refused = program(*asked, "--observed", "site=Paris", folder=folder, code=1).stderr
    assert "'Paris' is not one of 'Bern', 'Genève', 'Zürich'" in refused


def test_predict(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = program("predict", "tan.json", "swiss.csv", "-o", out, folder=folder)
    assert "of the known values of ill" in result.stdout
    found = cn.read(out)
    network = cn.load(folder / "tan.json")
    table = cn.read(folder / "swiss.csv", ["NA"], separator=";", decimal=",", encoding="cp1252")
    for row in (0, 3, 149):  # row 3 lacks its bmi
        names = [name for name in network if name != "ill" and name != "bmi"]
        observed: dict[str, Any] = {}
        for name in [*names, "bmi"]:
            cuts = network.discretizer.get(name) if network.discretizer else None
            value = table[name][row]
            if cuts is None:
                observed[name] = value
            elif not np.isnan(value):
                observed[name] = cuts.states[int(cuts.codes(np.array([float(value)]))[0])]
        probability = network.query("ill", observed)["ja"]
        assert found["ill=ja"][row] == pytest.approx(probability, abs=1e-12)
        assert found["ill=ja lower"][row] < probability < found["ill=ja upper"][row]
    parquet = tmp_path / "out.parquet"
    program("predict", "tan.json", "swiss.csv", "--draws", 0, "-o", parquet, folder=folder)
    assert list(cn.read(parquet)) == ["ill", "predicted ill", "ill=ja", "ill=nein"]
    printed = program("predict", "tan.json", "swiss.csv", "--draws", 0, "-o", "-", folder=folder)
    assert printed.stdout.startswith("ill,predicted ill,ill=ja,ill=nein\n")
    said = "Columns: 'ill' as in the data; 'predicted ill', the most probable state; 'ill=STATE'"
    assert said in printed.stderr
    new = "age;smoker;site;bmi\n30;perhaps;Bern;22,5\n"
    arguments = "predict", "tan.json", "-", "--separator", ";", "--decimal", ",", "--json"
    told = program(*arguments, folder=folder, text=new.encode())
    assert json.loads(told.stdout)["target"] == "ill"
    assert "1 value that the network does not know ('perhaps') in 1 row" in told.stderr
    shown = program("predict", "tan.json", "swiss.csv", folder=folder).stdout.splitlines()
    assert shown[1].split() == ["row", "ill", "predicted", "ill", "ill=ja", "ill=nein"]
    assert [line.split()[0] for line in shown[2:22]] == [str(k + 1) for k in range(20)]
    first = [table["ill"][0], found["predicted ill"][0], f"{found['ill=ja'][0]:.4f}"]
    assert shown[2].split()[1:4] == first
    small = program("predict", "tan.json", "swiss.csv", folder=folder, COLUMNS="50").stdout
    titles = ["row", "predicted", "ill", "probability", "95", "%", "interval"]
    assert small.splitlines()[1].split() == titles
    best = found["predicted ill"][0]
    cells = small.splitlines()[2].split()
    assert cells[1:3] == [best, f"{found[f'ill={best}'][0]:.4f}"]
    assert "1 more column" in small
    refused = program("predict", "model.json", "swiss.csv", folder=folder, code=2).stderr
    assert "--target is missing" in refused
    lacking = program(
        *("predict", "tan.json", "-", "--target", "ill"), folder=folder, text=b"x\n1\n", code=1
    )
    assert "not in the table" in lacking.stderr


def test_plot_and_export(folder: Path, tmp_path: Path) -> None:
    for ending, start in {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}.items():
        figure = tmp_path / f"graph.{ending}"
        program("plot", "model.json", "-o", figure, folder=folder)
        assert figure.read_bytes().startswith(start)
    assert (
        "is not taken" in program("plot", "model.json", "-o", figure, folder=folder, code=1).stderr
    )
    assert "ending in" in program("plot", "model.json", "-o", "a.gif", folder=folder, code=2).stderr
    table = tmp_path / "table.csv"
    program("export", "tan.json", "smoker", "-o", table, folder=folder)
    found = cn.read(table)
    cpt = cn.load(folder / "tan.json")["smoker"]
    assert list(found)[-5:] == ["state", "count", "probability", "lower", "upper"]
    assert found["probability"].tolist() == pytest.approx(cpt.probabilities.ravel())
    paper = tmp_path / "table.tex"
    program("export", "tan.json", "smoker", "-o", paper, folder=folder)
    text = paper.read_text(encoding="utf-8")
    assert text.count(r"\\") == len(cpt.probabilities) + 1
    assert r"\begin{tabular}" in text
    refused = program("export", "tan.json", "height", "-o", "-", folder=folder, code=1).stderr
    assert "for VARIABLE, got 'height'" in refused


def test_rows_are_learned_forgotten_and_merged(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x,y\n" + "a,1\nb,2\nb,1\n" * 8)
    (tmp_path / "two.csv").write_text("x,y\n" + "b,2\na,1\n" * 5)
    (tmp_path / "arcs.csv").write_text("x,y\n")
    (tmp_path / "gaps.csv").write_text("x,y\na,\n")
    for name in ("one", "two"):
        program(*("fit", f"{name}.csv", "--dag", "arcs.csv", "-o", f"{name}.json"), folder=tmp_path)
    both = program("update", "one.json", "two.csv", "-o", "both.json", folder=tmp_path)
    assert "34" in both.stdout
    gaps = program("update", "one.json", "gaps.csv", "-o", "gaps.json", folder=tmp_path)
    assert "1 value missing (y 1); --missing available was used" in gaps.stdout
    assert cn.load(tmp_path / "gaps.json")["x"].counts.total == 25  # type: ignore[union-attr]
    program("merge", "one.json", "two.json", "-o", "merged.json", folder=tmp_path)
    assert cn.load(tmp_path / "both.json") == cn.load(tmp_path / "merged.json")
    program("forget", "both.json", "two.csv", "-o", "again.json", folder=tmp_path)
    assert cn.load(tmp_path / "again.json") == cn.load(tmp_path / "one.json")
    program("forget", "again.json", "two.csv", "-o", "less.json", folder=tmp_path)
    wrong = program("forget", "less.json", "two.csv", "-o", "no.json", folder=tmp_path, code=1)
    assert "cannot take" in wrong.stderr
    other = folder / "model.json"
    refused = program("merge", "one.json", other, "-o", "no.json", folder=tmp_path, code=1)
    assert "a network with the same graph for MODEL" in refused.stderr
    assert "with the same --dag" in refused.stderr
    assert program("merge", "one.json", "-o", "no.json", folder=tmp_path, code=2).stderr
    assert not (tmp_path / "no.json").exists()


def test_datasets_and_convert(folder: Path, tmp_path: Path) -> None:
    names = json.loads(program("datasets", "--json", folder=folder).stdout)
    assert {"iris", "wine"} <= {each["name"] for each in names}
    program("datasets", "iris", "-o", tmp_path / "iris.csv", folder=folder)
    assert set(cn.read(tmp_path / "iris.csv")["species"]) == {"setosa", "versicolor", "virginica"}
    refused = program("datasets", "irs", "-o", "-", folder=folder, code=1).stderr
    assert "for NAME, got 'irs'. Hint: did you mean 'iris'?" in refused
    program("convert", "model.json", tmp_path / "m.bif", folder=folder)
    assert set(cn.load(tmp_path / "m.bif")) == set(cn.load(folder / "model.json"))
    (tmp_path / "torn.bif").write_text("network {")
    assert (
        "torn.bif"
        in program("convert", tmp_path / "torn.bif", "x.json", folder=folder, code=1).stderr
    )


def test_errors_show_where_only_when_asked(folder: Path) -> None:
    command = [sys.executable, "-m", "colonnade", "show", "absent.json", "--debug"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert found.returncode == 1
    assert "Traceback" in found.stderr
    plain = program("show", "absent.json", folder=folder, code=1)
    assert plain.stderr == "Error: Expected an existing file for MODEL, got 'absent.json'.\n"


def test_completion_and_colours(folder: Path) -> None:
    # The shell is named: whether one can be found depends on what runs the tests.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = program("--show-completion", "bash", folder=folder, **named).stdout
    assert "_COLONNADE_COMPLETE" in shown or "complete" in shown
    coloured = program("show", "model.json", folder=folder, FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[" in coloured
    plain = program("show", "model.json", folder=folder, NO_COLOR="1", TERM="xterm").stdout
    assert "\x1b[" not in plain
