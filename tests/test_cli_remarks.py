"""What commands say beside their results, where silence would mislead."""

import json
from pathlib import Path

import pytest

import colonnade as cn
from command_line import example, flat, plain_terminal, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example."""
    return example(tmp_path_factory.mktemp("remarks"))


@pytest.fixture(autouse=True)
def _plain(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)
    monkeypatch.chdir(folder)


def test_update_says_that_counts_of_two_kinds_are_added() -> None:
    run("fit", "holes.csv", "--dag", "arcs.csv", "--missing", "em", "-o", "em.json")
    told = flat(run("update", "em.json", "holes.csv", "-o", "more.json").stderr)
    assert "Counts of two kinds are added: the network was fitted by EM" in told
    assert "two kinds" not in run("update", "em.json", "data.csv", "-o", "whole.json").stderr
    assert "two kinds" not in run("update", "model.json", "holes.csv", "-o", "av.json").stderr


def test_compare_says_which_columns_have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "compare", "holes.csv", "--dag", "arcs.csv", "--folds", 2, "--ignore", "dose"
    found = run(*words)
    assert "s.e." in found.stdout
    assert "more column" not in found.stdout
    # No graph is learned.
    assert "are used for the log evidence" in flat(found.stderr)
    monkeypatch.setenv("COLUMNS", "40")
    narrow = run(*words).stdout
    assert "s.e." not in narrow
    assert "... 2 more columns; --json or a wider terminal shows all" in narrow


def test_no_arcs_have_a_hint_that_applies() -> None:
    Path("noise.csv").write_text("a,b\n" + "x,y\nx,z\nw,y\nw,z\n" * 3)
    usual = run("fit", "noise.csv", "-o", "usual.json").stdout
    assert "--score hierarchical finds weaker ones" in usual
    most = run("fit", "noise.csv", "--score", "hierarchical", "-o", "most.json").stdout
    assert "No arcs" in most
    assert "--score hierarchical" not in most
    assert "More rows" in most


def test_cut_points_beyond_the_data_are_told() -> None:
    words = "fit", "data.csv", "--learn", "chow-liu", "--cut"
    beyond = flat(run(*words, "dose: 0, 140", "-o", "beyond.json").stderr)
    assert "'dose': --cut, but no value lies above 140." in beyond
    assert "no value lies" not in run(*words, "dose: 0, 1", "-o", "within.json").stderr


def test_commands_are_known_by_their_beginning() -> None:
    assert "Hint: did you mean 'fit'?" in flat(run("fi", code=2).stderr)


def test_effect_says_that_nothing_leads_there() -> None:
    words = "effect", "model.json"
    sentence = "cancer does not lead to smoker in this graph"
    assert sentence in run(*words, "smoker", "--of", "cancer=true,false").stdout
    assert "lead to" not in run(*words, "cancer", "--of", "smoker=yes,no").stdout
    # What is only seen needs no way there.
    assert "lead to" not in run(*words, "smoker", "--of", "cancer=true,false", "--seen").stdout
    json.loads(run(*words, "smoker", "--of", "cancer=true,false", "--json").stdout)


def test_tables_of_four_parents_are_not_broken_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parents = ["smoking history", "age group", "diabetes status", "treatment arm"]
    rows = {name: ["rather often", "never at all"] * 4 for name in parents}
    dag = cn.Dag([(name, "outcome") for name in parents])
    model = tmp_path / "four.json"
    cn.fit({**rows, "outcome": ["died", "recovered"] * 4}, dag).save(model)
    for command in (("show", model, "outcome"), ("sensitivity", model, "outcome", "died")):
        told = run(*command).stdout.splitlines()
        assert max(map(len, told)) <= 80
        words = "smoking history = never at all, age group = never at all,"
        assert any(line.endswith(words) for line in told)
        assert any(line.startswith("    diabetes status = never at all, tr") for line in told)
        assert sum("95 % interval" in line for line in told) == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("smoker=not yes", "smoker=no"),
        ("smoker==yes", "smoker=yes"),
        ("smoker=yes or no", "smoker=yes|no"),
        ("smoker = Not yes", "smoker=no"),
    ],
)
def test_evidence_as_people_write_it(written: str, meant: str) -> None:
    query = "query", "model.json", "cancer", "--draws", 0, "--json", "--observed"
    ours, theirs = (json.loads(run(*query, each).stdout) for each in (written, meant))
    assert ours["answers"] == theirs["answers"]


def test_slips_in_evidence_get_the_right_way() -> None:
    query = "query", "model.json", "cancer", "--observed"
    assert "write 'smoker!=yes'" in run(*query, "not smoker=yes", code=2).stderr
    assert "write 'smoker=yes'" in run(*query, "smoker: yes", code=2).stderr
    assert "state 'maybe' is not one of" in run(*query, "smoker=not maybe", code=1).stderr


@pytest.mark.parametrize("arrow", ["cancer<-smoker", "cancer <-- smoker", "smoker->cancer"])
def test_arcs_are_written_from_either_end(arrow: str) -> None:
    run("fit", "data.csv", "--learn", "hc", "--required", arrow, "-o", "arc.json", "--force")
    assert ("smoker", "cancer") in cn.load("arc.json").dag.arcs


def test_what_is_no_arc_is_said() -> None:
    fit = "fit", "data.csv", "--learn", "hc", "-o", "never.json", "--required"
    assert "Expected PARENT->CHILD or a file" in run(*fit, "smoker - cancer", code=2).stderr


def test_a_target_of_any_graph_has_its_place_on_the_page() -> None:
    fit = "fit", "data.csv", "--learn", "hc", "--target", "cancer", "-o", "hc.json"
    told = flat(run(*fit, code=2).stderr)
    assert "applies only with --learn tan, kdb, naive or forest. Hint: give --report" in told
    run(*fit, "--report", "target.html")
    assert '"moves":{"target"' in Path("target.html").read_text(encoding="utf-8")
    strange = "fit", "data.csv", "--dag", "arcs.csv", "--target", "dose", "-o", "strange.json"
    assert "dose" in run(*strange, "--report", "strange.html", code=1).stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("predict model.json data.csv --target nowhere", "for --target, got 'nowhere'"),
        ("graph model.json --against other.csv", "Expected a graph of the same variables"),
    ],
)
def test_wrong_targets_and_graphs(command: str, told: str) -> None:
    Path("other.csv").write_text("here,there\n")
    assert told in flat(run(*command.split(), code=1).stderr)


@pytest.mark.parametrize("command", ["fit", "predict", "graph", "sample", "reproduce"])
def test_help_shows_no_types_of_python(command: str) -> None:
    told = run(command, "--help").stdout
    assert not any(
        kind in told for kind in ("<Path>", "<bool>", "<str>", "<int>", "<path>", "list[")
    )
