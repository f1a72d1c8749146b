"""The command line: what it prints, what it writes, and how it refuses."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import colonnade as cn
from colonnade.cli import app
from colonnade.cli.evidence import state_of
from colonnade.cli.output import figure, interval
from command_line import DAG, example, flat, plain_terminal, run

SOURCE = Path(cn.__file__).parent


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, arcs and a fitted network; tests write elsewhere."""
    return example(tmp_path_factory.mktemp("cli"))


# -------------------------------------------------------------------------- fit


def test_fit_with_a_graph_is_the_fit_of_python(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    result = run("fit", folder / "data.csv", "--dag", folder / "arcs.csv", "-o", model)
    assert cn.load(model) == cn.load(folder / "model.json")
    assert cn.load(model)["smoker"].family.child.states == ("no", "yes")
    assert cn.load(model)["group"].family.child.states == (1, 2, 3)
    assert "3 variables, 2 arcs" in result.stdout
    assert "Saved" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("word", "prior"),
    [
        ("hierarchical", cn.Hierarchical()),
        ("hierarchical:learn", cn.Hierarchical(s="learn")),
        ("hierarchical:8", cn.Hierarchical(8)),
        ("bdeu", cn.BDeu(1)),
        ("bdeu:10", cn.BDeu(10)),
        ("symmetric", cn.SymmetricDirichlet()),
        ("symmetric:2", cn.SymmetricDirichlet(2)),
        ("ml", cn.MaximumLikelihood()),
        ("ml:uniform", cn.MaximumLikelihood("uniform")),
    ],
)
def test_words_for_priors(folder: Path, tmp_path: Path, word: str, prior: Any) -> None:
    model = tmp_path / "model.json"
    files = folder / "data.csv", "--dag", folder / "arcs.csv", "-o", model
    result = run("fit", *files, "--prior", word)
    assert set(cn.load(model).priors.values()) == {prior}
    # The summary names the prior by the word that would be typed.
    assert f"; {word if word != 'bdeu' else 'bdeu:1'}\n" in result.stdout


LEARNERS = {
    "hc": (cn.hill_climb, []),
    "hc bdeu": (
        lambda table: cn.hill_climb(table, cn.BDeu(10), max_parents=1, tabu=2, restarts=1, rng=3),
        [
            "--score",
            "bdeu:10",
            "--max-parents",
            "1",
            "--tabu",
            "2",
            "--restarts",
            "1",
            "--seed",
            "3",
        ],
    ),
    "hc hierarchical": (
        lambda table: cn.hill_climb(table, cn.Hierarchical(s="learn")),
        ["--score", "hierarchical:learn"],
    ),
    "hc sizes": (
        lambda table: cn.hill_climb(table, cn.AIC(), graph_prior="sizes"),
        ["--score", "aic", "--graph-prior", "sizes"],
    ),
    "hc loglik": (lambda table: cn.hill_climb(table, cn.LogLikelihood()), ["--score", "loglik"]),
    "tan": (lambda table: cn.tan(table, "cancer"), ["--target", "cancer"]),
    "chow-liu": (cn.chow_liu, []),
    "kdb": (lambda table: cn.kdb(table, "cancer", 2), ["--target", "cancer"]),
    "kdb 1": (lambda table: cn.kdb(table, "cancer", 1), ["--target", "cancer", "--k", "1"]),
    "naive": (lambda table: cn.naive_bayes(table, "cancer"), ["--target", "cancer"]),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_fit_learns_the_graph(folder: Path, tmp_path: Path, name: str) -> None:
    learner, options = LEARNERS[name]
    model = tmp_path / "model.json"
    data = folder / "data.csv", "--bins", 3, "--ignore", "n", "-o", model
    result = run("fit", *data, "--learn", name.split()[0], *options)
    table = cn.read(folder / "data.csv")
    del table["n"]
    cut = cn.discretize(table, bins=3)
    found: Any = learner(cut)
    dag = getattr(found, "dag", found)
    assert cn.load(model) == cn.fit(cut, dag)
    if name.startswith("hc"):
        assert f"score {found.score:.2f} after" in result.stdout


def test_cut_points_are_kept_and_few_integers_are_cut_on_demand(
    folder: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.json"
    data = folder / "data.csv", "--learn", "naive", "--target", "cancer", "-o", model
    run("fit", *data, "--bins", 3, "--bins", "group=2", "--weights", "n")
    network = cn.load(model)
    assert network.discretizer is not None
    cuts = {column.name: len(column.states) for column in network.discretizer.columns}
    assert cuts == {"dose": 3, "group": 2}
    assert "n" not in network
    counts = network["cancer"].counts
    assert counts is not None
    assert counts.total == sum(k % 3 for k in range(150))


def test_weights_with_a_graph_stay_numbers(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    path = tmp_path / "weighted.csv"
    path.write_text("x,w,y\na,0.5,0.1\nb,1.25,0.2\nb,1.0,0.3\n")
    arcs = tmp_path / "arcs.csv"
    arcs.write_text("x\ny\n")
    run("fit", path, "--dag", arcs, "--weights", "w", "--bins", 2, "-o", model)
    counts = cn.load(model)["x"].counts
    assert counts is not None
    assert counts.values.tolist() == [[0.5, 2.25]]


@pytest.mark.parametrize("missing", ["available", "em", "state"])
def test_missing_values(folder: Path, tmp_path: Path, missing: Any) -> None:
    model = tmp_path / "model.json"
    files = folder / "holes.csv", "--dag", folder / "arcs.csv", "-o", model
    assert "--missing available" in run("fit", *files, "--missing", "raise", code=1).stderr
    assert not model.exists()
    run("fit", *files, "--missing", missing)
    expected = cn.fit(cn.read(folder / "holes.csv"), DAG, missing=missing)
    assert cn.load(model) == expected


def test_with_missing_values_the_graph_comes_from_complete_rows(
    folder: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.json"
    common = folder / "holes.csv", "--learn", "chow-liu", "--ignore", "dose", "-o", model
    refused = run("fit", *common, "--missing", "raise", code=1)
    assert "to learn the graph from the complete rows" in refused.stderr
    result = run("fit", *common)
    assert "--missing available was used" in result.stdout
    table = cn.read(folder / "holes.csv")
    del table["dose"]
    rows = [k for k, value in enumerate(table["smoker"]) if value is not None]
    assert f"Only {len(rows)} of 150 rows are used for the graph" in result.stderr
    assert f"values are missing in 'smoker' ({150 - len(rows)})." in result.stderr
    complete = {name: [column[k] for k in rows] for name, column in table.items()}
    dag = cn.chow_liu(complete)
    assert cn.load(model) == cn.fit(table, dag, missing="available")


def test_texts_for_missing_values(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x,y\n1,a\n?,b\n2,NA\n")
    (tmp_path / "arcs.csv").write_text("x,y\n")
    files = tmp_path / "data.csv", "--dag", tmp_path / "arcs.csv", "-o", tmp_path / "m.json"
    run("fit", *files, "--na", "?", "--na", "NA", "--missing", "available")
    network = cn.load(tmp_path / "m.json")
    assert [variable.states for variable in network.variables] == [(1, 2), ("a", "b")]


@pytest.mark.parametrize("text", ["a,b\nc\n", "parent, child\na, b\nc,\n", '"a","b"\n\nc\n'])
def test_arcs_with_and_without_a_head(tmp_path: Path, text: str) -> None:
    (tmp_path / "data.csv").write_text("a,b,c,d\n1,2,3,0.5\n2,2,3,0.7\n")
    (tmp_path / "arcs.csv").write_text(text)
    files = tmp_path / "data.csv", "--dag", tmp_path / "arcs.csv", "-o", tmp_path / "m.json"
    run("fit", *files)
    assert cn.load(tmp_path / "m.json").dag == cn.Dag([("a", "b")], ["c", "a", "b"])


def test_an_existing_file_is_only_replaced_on_demand(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text("precious")
    files = folder / "data.csv", "--dag", folder / "arcs.csv", "-o", model
    refused = run("fit", *files, code=1)
    assert "--overwrite" in refused.stderr
    assert model.read_text() == "precious"
    refused = run("convert", folder / "model.json", model, code=1)
    assert "--overwrite" in refused.stderr
    assert model.read_text() == "precious"
    run("fit", *files, "--overwrite")
    assert cn.load(model) == cn.load(folder / "model.json")


# ------------------------------------------------------------------------- show


def test_show_a_network(folder: Path) -> None:
    text = run("show", folder / "model.json").stdout
    assert "3 variables, 2 arcs" in text
    assert re.search(r"^cancer +2 +smoker, group +6 of 6 +150$", text, re.MULTILINE)
    assert "... 2 more variables" in run("show", folder / "model.json", "--limit", 1).stdout
    found = json.loads(run("show", folder / "model.json", "--json").stdout)
    assert found["arcs"] == [["smoker", "cancer"], ["group", "cancer"]]
    assert found["cuts"] == {}
    assert found["variables"][1] == {
        "name": "cancer",
        "states": [False, True],
        "parents": ["smoker", "group"],
        "configurations": 6,
        "stored": 6,
        "rows": 150,
        "prior": "hierarchical",
    }


def test_show_a_table(folder: Path) -> None:
    cpt = cn.load(folder / "model.json")["cancer"]
    text = run("show", folder / "model.json", "cancer", "--level", 0.9).stdout
    lower, upper = cpt.posterior.interval(0.9)
    assert cpt.counts is not None
    cells = int(cpt.counts.values[3, 1]), cpt.mean[3, 1], lower[3, 1], upper[3, 1]
    assert "90 % interval" in text
    assert re.search(r" True +{} +{:.4f} +{:.4f} - {:.4f}\n".format(*cells), text)
    found = json.loads(run("show", folder / "model.json", "cancer", "--json").stdout)
    assert found["level"] == 0.95
    assert found["rows"][4]["given"] == {"smoker": "yes", "group": 2}
    for end, expected in zip(("lower", "upper"), cpt.posterior.interval(0.95), strict=True):
        # One more row in the computation may change the last digit.
        np.testing.assert_allclose([row[end] for row in found["rows"]], expected, rtol=1e-12)
    np.testing.assert_array_equal([row["mean"] for row in found["rows"]], cpt.mean)
    np.testing.assert_array_equal([row["counts"] for row in found["rows"]], cpt.counts.values)
    assert found["other"] is None
    short = run("show", folder / "model.json", "cancer", "--limit", 2).stdout
    assert "... 4 more configurations" in short


def test_show_what_a_huge_table_stores(tmp_path: Path) -> None:
    states = list(range(20))
    parents = [f"p{k}" for k in range(10)]
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 20, 30) for name in parents} | {"x": rng.integers(0, 3, 30)}
    dag = cn.Dag([(name, "x") for name in parents])
    network = cn.fit(table, dag, variables=dict.fromkeys(parents, states))
    network.save(tmp_path / "m.json")
    found = json.loads(run("show", tmp_path / "m.json", "x", "--json").stdout)
    assert found["configurations"] == 20**10
    assert len(found["rows"]) == 30
    unseen = next(k for k in range(31) if not network["x"].posterior.counts.row(k).any())
    lower, upper = network["x"].posterior.interval(0.95, [unseen])
    assert found["other"]["mean"] == pytest.approx(network["x"].posterior.row(unseen))
    assert found["other"]["lower"] == pytest.approx(lower[0])
    assert found["other"]["upper"] == pytest.approx(upper[0])
    text = run("show", tmp_path / "m.json", "x").stdout
    assert "... 10 more configurations" in text
    assert "4 more" in run("show", tmp_path / "m.json").stdout


def test_the_row_of_other_configurations_is_one_without_counts(tmp_path: Path) -> None:
    # Configurations 0 and 1 are seen, 2 is the first that is not.
    table = {"p": ["a", "a", "b", "d"], "x": [0, 1, 0, 0]}
    network = cn.fit(table, cn.Dag([("p", "x")]), variables={"p": ["a", "b", "c", "d"]})
    network.save(tmp_path / "m.json")
    found = json.loads(run("show", tmp_path / "m.json", "x", "--json").stdout)
    lower, _ = network["x"].posterior.interval(0.95, [2])
    assert found["other"]["lower"] == pytest.approx(lower[0])
    assert "(any other)" in run("show", tmp_path / "m.json", "x").stdout


def test_tables_without_a_posterior(tmp_path: Path) -> None:
    table = {"p": ["a", "a", "b"], "x": [0, 1, 0]}
    states = {"p": ["a", "b", "c"]}
    dag = cn.Dag([("p", "x")])
    cn.fit(table, dag, cn.MaximumLikelihood(), variables=states).save(tmp_path / "m.json")
    text = run("show", tmp_path / "m.json", "x").stdout
    assert "interval" not in text
    assert "1 configuration has no data" in text
    found = json.loads(run("show", tmp_path / "m.json", "x", "--json").stdout)
    assert found["level"] is None
    assert "lower" not in found["rows"][0]
    result = run("query", tmp_path / "m.json", "p", "--draws", 100, code=1)
    assert "leave out --draws" in result.stderr


# ------------------------------------------------------------------------ query


def test_query_is_the_query_of_python(folder: Path) -> None:
    network = cn.load(folder / "model.json")
    asked = "query", folder / "model.json", "cancer", "--observed", "smoker=yes"
    expected = network.query("cancer", {"smoker": "yes"}, draws=100, level=0.8, rng=4)
    draws = "--draws", 100, "--level", 0.8, "--seed", 4
    assert json.loads(run(*asked, *draws, "--json").stdout) == expected.to_dict()
    text = run(*asked, *draws).stdout
    assert "Probability of cancer given smoker = yes" in text
    assert "80 % interval" in text
    assert expected.lower is not None
    assert expected.upper is not None
    line = rf"^True +{expected[True]:.4f} +{expected.lower[1]:.4f} - {expected.upper[1]:.4f}$"
    assert re.search(line, text, re.MULTILINE)
    usual = json.loads(run(*asked, "--json").stdout)
    assert usual == network.query("cancer", {"smoker": "yes"}, draws=500, rng=0).to_dict()
    plain = json.loads(run(*asked, "--draws", 0, "--json").stdout)
    assert plain["draws"] == 0
    assert plain["answers"][1]["probability"] == expected[True]


def test_several_targets_and_typed_states(folder: Path) -> None:
    network = cn.load(folder / "model.json")
    asked = "query", folder / "model.json", "smoker", "cancer", "--observed", "group=2", "--json"
    found = json.loads(run(*asked, "--draws", 0).stdout)
    assert found == network.query(["smoker", "cancer"], {"group": 2}).to_dict()
    observed = "--observed", "cancer=TRUE", "--observed", "group=3"
    found = json.loads(run("query", folder / "model.json", "smoker", *observed, "--json").stdout)
    assert found["observed"] == {"cancer": True, "group": 3}
    assert found["observed"]["cancer"] is True


def test_numbers_as_they_are_printed() -> None:
    assert [figure(0.25), figure(0.99999), figure(float("nan"))] == ["0.2500", "1.0000", "-"]
    assert interval(0.1, 0.25) == "0.1000 - 0.2500"


def test_texts_for_states() -> None:
    mixed = cn.Variable("x", ["1", 1, "a"])
    with pytest.raises(cn.ColonnadeError, match="stands for each of"):
        state_of(mixed, "1")
    assert state_of(cn.Variable("x", ["true", "True"]), "true") == "true"
    with pytest.raises(cn.ColonnadeError, match="is not one of"):
        state_of(cn.Variable("x", ["yes"]), "Yes")


def test_odd_names(tmp_path: Path) -> None:
    # A sign of equality, markup, and what would turn a terminal red.
    names = ["a", "a=b", "[bold]c[/bold]", "d\x1b[31m"]
    table = {name: ["x=1", "y", "[red]"] for name in names}
    network = cn.fit(table, cn.Dag([("a", "a=b"), ("a", names[2]), ("a", names[3])]))
    network.save(tmp_path / "m.json")
    observed = ["--observed", "a=b=x=1", "--observed", "[bold]c[/bold]=[red]"]
    found = json.loads(run("query", tmp_path / "m.json", "a", *observed, "--json").stdout)
    assert found["observed"] == {"a=b": "x=1", "[bold]c[/bold]": "[red]"}
    for command in (["show"], ["show", "d\x1b[31m"], ["query", *names[2:]]):
        text = run(command[0], tmp_path / "m.json", *command[1:]).stdout
        assert "\x1b" not in text
        assert "d\\x1b[31m" in text
    assert "[bold]c[/bold]" in run("show", tmp_path / "m.json").stdout
    assert "[red]" in run("show", tmp_path / "m.json", names[2]).stdout


def test_a_number_stands_for_its_interval(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    run("fit", folder / "data.csv", "--learn", "chow-liu", "--bins", 3, "-o", model)
    network = cn.load(model)
    middle = network["dose"].family.child.states[1]
    low, high = map(float, middle.split(" to "))
    for text in (str((low + high) / 2), middle):
        asked = "query", model, "cancer", "--observed", f"dose={text}", "--json"
        assert json.loads(run(*asked).stdout)["observed"] == {"dose": middle}
    result = run("query", model, "cancer", "--observed", "dose=nan", code=1)
    assert "state 'nan' is not one of" in result.stderr


# ---------------------------------------------------------------------- convert


@pytest.mark.parametrize("suffix", ["bif", "xmlbif", "net", "xdsl"])
def test_convert_there_and_back(folder: Path, tmp_path: Path, suffix: str) -> None:
    out, back = tmp_path / f"m.{suffix}", tmp_path / "back.json"
    told = run("convert", folder / "model.json", out).stderr
    assert told.count("Not kept: counts and priors") == 1
    assert "Not kept" not in run("convert", out, back).stderr  # there is nothing to lose
    original, returned = cn.load(folder / "model.json"), cn.load(back)
    assert returned.dag == original.dag
    np.testing.assert_allclose(
        returned["cancer"].probabilities, original["cancer"].probabilities, atol=1e-12
    )
    assert "known" in run("show", out).stdout


def test_convert_for_agrum(folder: Path, tmp_path: Path) -> None:
    out, back = tmp_path / "m.xdsl", tmp_path / "back.json"
    run("convert", folder / "model.json", out, "--dialect", "agrum")
    assert 'app="aGrUM"' in out.read_text()
    assert "read in that way" in run("convert", out, back).stderr
    assert cn.load(back).dag == cn.load(folder / "model.json").dag


@pytest.mark.parametrize("suffix", ["json", "bif", "net", "xmlbif"])
def test_convert_refuses_a_dialect_without_meaning(suffix, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / f"m.{suffix}"
    refused = run("convert", folder / "model.json", out, "--dialect", "agrum", code=2)
    assert f"applies only to .xdsl and .uai files, got 'm.{suffix}'" in flat(refused.stderr)
    assert not out.exists()


def test_a_number_where_the_cut_points_were_lost(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "arcs.csv").write_text("dose,cancer\n")
    model, out = tmp_path / "m.json", tmp_path / "m.bif"
    run(
        "fit", folder / "data.csv", "--dag", tmp_path / "arcs.csv", "--bins", "3", "--output", model
    )
    run("convert", model, out)
    states = cn.load(model)["dose"].family.child.states
    assert "given dose" in run("query", model, "cancer", "--observed", "dose=0").stdout
    refused = run("query", out, "cancer", "--observed", "dose=99", code=1)
    assert "99 is a number, but its states are names of intervals" in refused.stderr
    assert "only .json keeps" in refused.stderr
    assert refused.stderr.endswith(f"Hint: give the name of an interval, such as {states[-1]!r}.\n")


def test_a_full_disk_names_the_file(folder: Path, tmp_path: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "m.bif"
    refused = run("convert", folder / "model.json", out, code=1)
    assert refused.stderr.splitlines() == [f"Error: {str(out)!r}: No space left on device."]
    assert not any(tmp_path.iterdir())


def test_a_warning_is_one_line_on_standard_error(folder: Path, tmp_path: Path) -> None:
    result = run("convert", folder / "model.json", tmp_path / "m.uai")
    assert re.fullmatch(r"Warning: File 'm\.uai': .*\nNote: \.uai files .*\n", result.stderr)
    assert result.stdout == f"Saved {tmp_path / 'm.uai'}\n"


# ---------------------------------------------------------------------- compare


def test_compare_is_the_comparison_of_python(folder: Path) -> None:
    data = folder / "data.csv", "--bins", 3, "--ignore", "n"
    ways = "--learn", "naive", "--target", "cancer", "--dag", folder / "other.csv"
    priors = "--prior", "bdeu:1", "--prior", "hierarchical"
    options = *data, *ways, *priors, "--folds", 3, "--seed", 7
    found = json.loads(run("compare", *options, "--json").stdout)
    table = cn.read(folder / "data.csv")
    del table["n"]
    cut = cn.discretize(table, bins=3)
    expected = cn.compare(
        cut,
        {
            # A column that the arcs do not name is a variable without arcs.
            str(folder / "other.csv"): cn.Dag([("cancer", "smoker")], list(table)),
            "naive": lambda rows: cn.naive_bayes(rows, "cancer"),
        },
        {"bdeu:1": cn.BDeu(1), "hierarchical": cn.Hierarchical()},
        folds=3,
        rng=7,
        target="cancer",
    )
    assert found["folds"] == 3
    for row, same in zip(found["rows"], expected.rows, strict=True):
        assert row == {
            name: getattr(same, name)
            for name in (
                *("structure", "prior", "arcs", "held_out", "standard_error", "log_evidence"),
            )
        } | _predicted(same)
    text = run("compare", *options).stdout
    assert "3 folds, 150 rows" in text
    assert f"{expected.best.held_out:.4f}" in text.splitlines()[2]


def _predicted(row: Any) -> dict[str, float]:
    found = row.prediction
    assert found is not None
    return {"accuracy": found.accuracy, "auc": found.auc, "log_loss": found.log_loss}


# ----------------------------------------------------------------- the program


COMMANDS: dict[str, Any] = vars(get_command(app))["commands"]


def test_singular_and_plural(tmp_path: Path) -> None:
    data, arcs, model = (tmp_path / name for name in ("one.csv", "arcs.csv", "m.json"))
    data.write_text("x,y\na,1\n,1\n")
    arcs.write_text("x\n")
    common = "fit", data, "--missing", "available", "--overwrite", "-o", model
    learned = run(*common, "--learn", "chow-liu").stderr
    assert "Only 1 of 2 rows is used for the graph: values are missing in 'x' (1)." in learned
    assert "1 variable, 0 arcs, 1 probability stored" in run(*common, "--dag", arcs).stdout


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"colonnade {cn.__version__}\n"


def test_help_lists_every_command() -> None:
    names = list(COMMANDS)
    modules = {path.stem for path in (SOURCE / "cli" / "commands").glob("[a-z]*.py")}
    called = {name.replace("-", "_") for name in names}
    assert called == modules, "a command is a module of its name, registered in app.py"
    for text in (run("-h").stdout, CliRunner().invoke(app, []).output):
        listed = re.findall(r"^│ ([\w-]+) +[A-Z]", text.split("─ Commands ─")[1], re.MULTILINE)
        assert listed == names


@pytest.mark.parametrize("name", COMMANDS)
def test_help_describes_every_option(name: str) -> None:
    command = COMMANDS[name]
    text = flat(run(name, "--help").stdout)
    assert flat(command.help).split(". ")[0] in text
    assert re.search(rf"Examples?:? colonnade {name}", text)
    for each in command.params:
        spelled = each.opts[0] if each.param_type_name == "option" else each.metavar or each.name
        # A description is cut into lines by its column, so its first words have to do.
        assert each.help, spelled
        words = " ".join(each.help.split()[:3])
        assert re.search(rf"{re.escape(spelled)}\b.*?{re.escape(words)}", text), spelled


def test_the_same_options_are_described_alike() -> None:
    compared = {each.name: each.help for each in COMMANDS["compare"].params}
    fitted = {each.name: each.help for each in COMMANDS["fit"].params}
    shared = {"bins", "ignore", "na"}
    shared |= {"score", "graph_prior", "max_parents", "k", "tabu", "restarts"}
    assert {name: compared[name] for name in shared} == {name: fitted[name] for name in shared}
    kinds, _, _ = compared["path"].partition("; - is")
    assert fitted["path"].startswith(f"{kinds}, or a DuckDB database; - is")  # and takes patterns


def shell(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "colonnade", *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_as_a_program(folder: Path, tmp_path: Path) -> None:
    found = shell("query", str(folder / "model.json"), "cancer", "--json")
    assert found.returncode == 0
    assert json.loads(found.stdout)["targets"] == ["cancer"]
    assert found.stderr == ""
    (tmp_path / "data.csv").write_text("é,b\nx,p\n,q\nx,q\n", encoding="utf-8")
    source = str(Path(cn.__file__).parents[1])
    failed = shell(
        *("fit", "data.csv", "--learn", "chow-liu", "--missing", "raise", "-o", "m.json"),
        cwd=tmp_path,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": source},
    )
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert failed.stderr.startswith("Error: Column '\\xe9': the value is missing")
    assert "Traceback" not in failed.stderr


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; import colonnade.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    packages = {name.split(".")[0] for name in loaded.stdout.split()}
    assert packages & {"numba", "scipy", "sklearn", "pyagrum", "pandas", "narwhals"} == set()
