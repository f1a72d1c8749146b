"""Searches among classes of graphs, exact search and tests of independence as commands."""

import json
from pathlib import Path

import numpy as np
import pytest

import colonnade as cn
from command_line import flat, plain_terminal, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A chain, whose direction is open, and a variable that stands alone."""
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    a = rng.integers(2, size=400)
    b = np.where(rng.random(400) < 0.85, a, 1 - a)
    c = np.where(rng.random(400) < 0.85, b, 1 - b)
    rows = zip(a, b, c, rng.integers(2, size=400), strict=True)
    lines = ["a,b,c,d", *(",".join("ny"[k] for k in row) for row in rows)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def table() -> dict[str, list[str]]:
    return dict(cn.read("data.csv"))


LEARNERS = {"ges": cn.ges, "exact": cn.exact_search, "pc": cn.pc}


@pytest.mark.parametrize("learn", LEARNERS)
def test_graphs_are_those_of_the_functions(learn: str) -> None:
    said = run("fit", "data.csv", "--learn", learn, "-o", "m.json").stdout
    found = LEARNERS[learn](table())
    assert len(found.pdag.edges) == 2
    assert set(cn.load("m.json").dag.arcs) == set(found.dag.arcs)
    assert "directions that the data leave open: 2" in said


def test_what_was_searched_is_said() -> None:
    found = cn.ges(table())
    steps = len(found.trace)
    said = run("fit", "data.csv", "--learn", "ges", "-o", "m.json").stdout
    assert f"Greedy equivalence search: score {found.score:.2f} after {steps} steps; " in said
    said = run("fit", "data.csv", "--learn", "exact", "-o", "e.json").stdout
    assert f"Best of all graphs: score {found.score:.2f}; " in said
    said = run("fit", "data.csv", "--learn", "pc", "-o", "p.json").stdout
    assert f"Tests of independence: {cn.pc(table()).tests} made; " in said


@pytest.mark.parametrize("learn", ["hc", "ges", "exact", "pc"])
def test_tiers_direct_arcs(learn: str, folder: Path) -> None:
    (folder / "tiers.csv").write_text('"c"\na, b\n')
    for name, tiers in (("words", "c < a,b"), ("file", "tiers.csv")):
        run("fit", "data.csv", "--learn", learn, "--tiers", tiers, "-o", f"{name}.json")
        arcs = cn.load(f"{name}.json").dag.arcs
        assert ("c", "b") in arcs
        assert not {("a", "c"), ("b", "c")} & set(arcs)


def test_rules_and_scores_are_obeyed() -> None:
    rules = "--required", "d->a", "--max-parents", "1", "--score", "bdeu:2"
    for learn in ("ges", "exact"):
        said = run("structure", "data.csv", "--learn", learn, *rules, "--resamples", "0", "--json")
        arcs = {(each["from"], each["to"]) for each in json.loads(said.stdout)["arcs"]}
        expected = LEARNERS[learn](table(), cn.BDeu(2), required=[("d", "a")], max_parents=1)
        assert arcs == set(expected.dag.arcs)
        assert ("d", "a") in arcs


def test_all_serve_in_comparisons_and_resamples() -> None:
    learners = [part for each in LEARNERS for part in ("--learn", each)]
    said = run("compare", "data.csv", *learners, "--folds", "2", "--json").stdout
    assert {row["structure"] for row in json.loads(said)["rows"]} == set(LEARNERS)
    for learn in LEARNERS:
        said = run("structure", "data.csv", "--learn", learn, "--resamples", "10").stdout
        assert "strength" in said


def test_messages_name_options(folder: Path) -> None:
    names = [f"v{k}" for k in range(21)]
    rng = np.random.default_rng(0)
    rows = ["".join(f"{'xy'[k]}," for k in rng.integers(2, size=21))[:-1] for _ in range(30)]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    said = flat(run("fit", "wide.csv", "--learn", "exact", "-o", "m.json", code=1).stderr)
    assert "give --learn ges, or leave columns out with --ignore" in said
    said = flat(run("fit", "data.csv", "--tiers", "a < nope", "-o", "m.json", code=1).stderr)
    assert "one of 'a', 'b', 'c', 'd' for --tiers, got 'nope'" in said
    said = flat(run("fit", "data.csv", "--tiers", "a < b,a", "-o", "m.json", code=1).stderr)
    assert "each variable in one tier for --tiers, got 'a' twice" in said
    said = flat(run("fit", "data.csv", "--tiers", "none.csv", "-o", "m.json", code=1).stderr)
    assert "--tiers" in said
    for wrong in ("a <", "< a", "a,,b < c"):
        said = flat(run("fit", "data.csv", "--tiers", wrong, "-o", "m.json", code=2).stderr)
        assert "Expected two tiers or more" in said


def test_directions_that_fit_no_graph_are_told_without_a_count_of_nothing() -> None:
    run("datasets", "patients", "-o", "patients.csv")
    told = flat(run("structure", "patients.csv", "--learn", "pc").stderr)
    assert "the graph that was made of them has some of its own. Hint: search by scores" in told
