"""Graphs from rows that lack values: one word, one meaning, in Python and on the command line."""

import json
import math
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colonnade as cn
from colonnade.exceptions import DataError, IncompleteRowsWarning, InputError
from colonnade.tables import encode
from command_line import example, flat, plain_terminal, run

LEARNERS = {
    "hill_climb": cn.hill_climb,
    "restarts": partial(cn.hill_climb, score=cn.BDeu(5), restarts=2, rng=3),
    "chow_liu": cn.chow_liu,
    "tan": partial(cn.tan, target="c"),
    "kdb": partial(cn.kdb, target="c"),
    "score": lambda table, **more: cn.score(table, DAG, **more),
    "score_families": lambda table, **more: cn.score_families(table, DAG, **more),
    "arc_strength": lambda table, **more: cn.arc_strength(
        table, cn.chow_liu, resamples=5, rng=1, **more
    ).directed.tolist(),
}
DAG = cn.Dag([("a", "b"), ("b", "c")], ["a", "b", "c", "d"])


def gappy(rows: int = 120, seed: int = 0) -> dict[str, list[Any]]:
    """Four dependent columns of texts; `b` lacks many values, `d` a few."""
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=rows)
    b = np.where(rng.random(rows) < 0.8, a, 1 - a)
    c = np.where(rng.random(rows) < 0.8, b, 1 - b)
    d = np.where(rng.random(rows) < 0.7, a, rng.integers(3, size=rows))
    table = {
        name: [f"h{value}" for value in column]
        for name, column in {"a": a, "b": b, "c": c, "d": d}.items()
    }
    gone = b * rng.random(rows) > 0.4
    table["b"] = [None if gone[k] else v for k, v in enumerate(table["b"])]
    table["d"] = [None if k % 30 == 7 else v for k, v in enumerate(table["d"])]
    return table


def complete(table: dict[str, list[Any]]) -> Any:
    """The rows without gaps, with the states of all rows."""
    coded = encode(table)
    return coded.take(coded.complete)


def named(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same table with a text where values are missing."""
    return {
        name: ["missing" if value is None else value for value in column]
        for name, column in table.items()
    }


# ------------------------------------------------------------------------- Python


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("missing", ["available", "em", cn.EM(iterations=3)])
def test_graphs_come_from_the_complete_rows_and_a_warning_says_so(name: str, missing: Any) -> None:
    table = gappy()
    learn = LEARNERS[name]
    gaps = {column: table[column].count(None) for column in "bd"}
    kept = sum(None not in row for row in zip(*table.values(), strict=True))
    with pytest.warns(IncompleteRowsWarning) as caught:
        found = learn(table, missing=missing)
    assert found == learn(complete(table))
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith(
        f"Only {kept} of 120 rows are used for the graph: "
        f"values are missing in 'b' ({gaps['b']}), 'd' ({gaps['d']}). Hint:"
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_with_state_all_rows_count_and_missing_is_one_more_state(name: str) -> None:
    table = gappy()
    learn = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = learn(table, missing="state")
    assert found == learn(named(table))


@pytest.mark.parametrize("name", LEARNERS)
def test_gaps_are_refused_unless_a_word_is_given_and_the_hint_names_one(name: str) -> None:
    learn, table = LEARNERS[name], gappy()
    with pytest.raises(DataError, match="use missing='available' to take the complete rows"):
        learn(table)
    with pytest.raises(InputError, match=r"'em', 'state' or EM\(\) for `missing`"):
        learn(table, missing="drop")


def test_complete_tables_give_no_warning_and_the_same_graph() -> None:
    table = named(gappy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graphs = {cn.hill_climb(table, missing=word).dag for word in ("raise", "available", "em")}
    assert graphs == {cn.hill_climb(table).dag}


def test_naive_bayes_does_not_depend_on_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cn.naive_bayes(gappy(), "c") == cn.naive_bayes(named(gappy()), "c")


@pytest.mark.parametrize(
    "call",
    [
        lambda table: cn.tan(table, "nope", missing="available"),
        lambda table: cn.kdb(table, "nope", missing="available"),
        lambda table: cn.chow_liu(table, "nope", missing="available"),
        lambda table: cn.hill_climb(table, "nope", missing="available"),
        lambda table: cn.hill_climb(table, required=[("a", "z")], missing="available"),
        lambda table: cn.compare(table, cn.hill_climb, folds=0, missing="available"),
        lambda table: cn.arc_strength(table, "nope", missing="available"),
    ],
)
def test_a_wrong_parameter_is_reported_before_rows_are_left_out(call: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError):
            call(gappy())


def test_no_complete_row_is_an_error_that_names_the_columns() -> None:
    table = {"a": [0, None, 1, None], "b": [None, 1, None, 0]}
    with pytest.raises(DataError, match=r"none of 4 rows is complete; .* 'a' \(2\), 'b' \(2\)"):
        cn.hill_climb(table, missing="available")
    assert cn.hill_climb(table, missing="state").status == "converged"


def test_tables_with_state_are_those_of_a_table_that_names_it(tmp_path: Path) -> None:
    table = gappy()
    network = cn.fit(table, DAG, missing="state")
    assert network == cn.fit(named(table), DAG)
    assert network["b"].family.child.states == ("h0", "h1", "missing")
    network.save(tmp_path / "model.json")
    assert cn.load(tmp_path / "model.json") == network


def test_integers_and_intervals_may_have_the_state_as_well(tmp_path: Path) -> None:
    table = {"n": [1, 2, None, 2], "x": [0.5, math.nan, 1.5, 2.5], "m": ["missing", None, "a", "a"]}
    cut = cn.discretize(table, bins=2, columns=["x"])
    network = cn.fit(cut, cn.Dag([("n", "x"), ("m", "x")]), missing="state")
    assert network["n"].family.child.states == (1, 2, "missing")
    assert network["m"].family.child.states == ("a", "missing", "missing'")
    assert network["x"].family.child.states[-1] == "missing"
    assert network["x"].counts.total == 4
    network.save(tmp_path / "model.json")
    same = cn.load(tmp_path / "model.json")
    assert same == network
    rows = {"n": [1, "missing"], "x": [2.0, math.nan], "m": ["a", "a"]}
    values = same.log_likelihood(rows)  # a gap in new rows is still a value nobody observed
    assert values[0] < values[1] < 0


# ------------------------------------------------------------------------ compare


@pytest.mark.parametrize("missing", ["available", "em"])
def test_comparison_sums_out_what_held_out_rows_lack(missing: Any) -> None:
    table = gappy()
    with pytest.warns(IncompleteRowsWarning, match="learned graphs and the log evidence") as caught:
        found = cn.compare(
            table, {"given": DAG, "tree": cn.chow_liu}, cn.BDeu(1), folds=3, missing=missing
        )
    assert len(caught) == 1
    coded = encode(table)
    fold = np.random.default_rng(0).permutation(120) % 3
    held: dict[str, list[Any]] = {"given": [], "tree": []}
    for k in range(3):
        train = coded.take(fold != k)
        for name, dag in (("given", DAG), ("tree", cn.chow_liu(train.take(train.complete)))):
            network = cn.fit(train, dag, cn.BDeu(1), missing=missing)
            held[name] += [
                _summed_out(network, {column: [table[column][row]] for column in table})
                for row in np.flatnonzero(fold == k)
            ]
    for row in found.rows:
        assert row.held_out == pytest.approx(np.mean(held[row.structure]), abs=1e-10)
    (given,) = (row for row in found.rows if row.structure == "given")
    assert given.log_evidence == pytest.approx(cn.score(complete(table), DAG, cn.BDeu(1)))


def _summed_out(network: cn.BayesianNetwork, row: dict[str, list[Any]]) -> float:
    """Log of the sum of the probabilities of all ways to complete a row."""
    for name, (value,) in row.items():
        if value is None:
            states = network[name].family.child.states
            return float(
                np.logaddexp.reduce([_summed_out(network, {**row, name: [s]}) for s in states])
            )
    return float(network.log_likelihood(row)[0])


def test_comparison_with_state_is_that_of_a_table_that_names_it() -> None:
    ways: Any = {"given": DAG, "hc": cn.hill_climb}
    found = cn.compare(gappy(), ways, cn.BDeu(1), missing="state")
    assert found == cn.compare(named(gappy()), ways, cn.BDeu(1))


def test_given_graphs_are_compared_without_any_complete_row() -> None:
    table = {"a": [0, None, 1, None] * 3, "b": [None, 1, None, 0] * 3}
    dags = {"arc": cn.Dag([("a", "b")]), "none": cn.Dag([], ["a", "b"])}
    with pytest.warns(IncompleteRowsWarning, match=r"None of 12 rows is used for .* log evidence"):
        found = cn.compare(table, dags, cn.BDeu(1), missing="available")
    assert [row.log_evidence for row in found.rows] == [None, None]
    with pytest.raises(DataError, match="none of 12 rows is complete"):
        cn.compare(table, cn.hill_climb, cn.BDeu(1), missing="available")
    with pytest.raises(DataError, match="values are missing"):
        cn.compare(table, dags, cn.BDeu(1))


# --------------------------------------------------------------- the command line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = example(tmp_path_factory.mktemp("gaps"))
    table = gappy()
    rows = zip(*table.values(), strict=True)
    lines = [",".join(table), *(",".join(value or "" for value in row) for row in rows)]
    (folder / "gappy.csv").write_text("\n".join(lines) + "\n")
    (folder / "one.csv").write_text("a,b\n1,2\n")
    return folder


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


@pytest.mark.parametrize("missing", ["available", "em", "state"])
@pytest.mark.parametrize("learn", ["hc", "chow-liu", "tan", "kdb"])
@pytest.mark.filterwarnings("ignore::colonnade.exceptions.IncompleteRowsWarning")
def test_the_command_line_follows_the_same_rule(
    folder: Path, tmp_path: Path, learn: str, missing: Any
) -> None:
    model = tmp_path / "m.json"
    target = ["--target", "c"] if learn in ("tan", "kdb") else []
    common = folder / "gappy.csv", "--learn", learn, *target, "-o", model
    result = run("fit", *common, "--missing", missing, "--prior", "bdeu:1")
    learner = {
        "hc": lambda rows: cn.hill_climb(rows, missing=missing).dag,
        "chow-liu": lambda rows: cn.chow_liu(rows, missing=missing),
        "tan": lambda rows: cn.tan(rows, "c", missing=missing),
        "kdb": lambda rows: cn.kdb(rows, "c", missing=missing),
    }[learn]
    table = gappy()
    assert cn.load(model) == cn.fit(table, learner(table), cn.BDeu(1), missing=missing)
    left_out = says_what_was_left_out(result.stderr)
    assert left_out == (missing != "state")
    assert "Only" not in result.stdout


def says_what_was_left_out(text: str) -> bool:
    """Whether a text says which rows were left out, because of which columns, in options."""
    if "Only" not in text:
        return False
    text = flat(text)
    assert "of 120 rows are used for" in text
    assert "values are missing in 'b' (" in text
    assert "--ignore, or give --missing state." in text
    return True


def test_nothing_is_said_for_naive_nor_before_an_error(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    common = folder / "gappy.csv", "--missing", "available", "-o", model, "--overwrite"
    assert run("fit", *common, "--learn", "naive", "--target", "c").stderr == ""
    for learn in ("naive", "tan", "kdb"):
        result = run("fit", *common, "--learn", learn, "--target", "nope", code=1)
        assert result.stderr.startswith("Error: Expected one of")
        assert result.stdout == ""
        common_ways = "--learn", "chow-liu", "--learn", learn, "--target", "nope"
        compared = "compare", folder / "gappy.csv", "--missing", "em", *common_ways
        assert run(*compared, code=1).stderr.startswith("Error: Expected one of")


@pytest.mark.filterwarnings("ignore::colonnade.exceptions.IncompleteRowsWarning")
def test_compare_has_the_option_it_advises(folder: Path) -> None:
    common = folder / "gappy.csv", "--learn", "chow-liu", "--prior", "bdeu:1"
    refused = run("compare", *common, "--missing", "raise", code=1).stderr
    assert "give --missing available or --missing em" in refused
    for missing in ("available", "em", "state"):
        result = run("compare", *common, "--missing", missing, "--json")
        assert says_what_was_left_out(result.stderr) == (missing != "state")
        ours = cn.compare(gappy(), cn.chow_liu, cn.BDeu(1), rng=0, missing=missing)
        assert json.loads(result.stdout)["rows"][0]["held_out"] == ours.best.held_out


def test_one_row_cannot_be_compared(folder: Path) -> None:
    result = run("compare", folder / "one.csv", "--learn", "chow-liu", code=1)
    assert "Table: one row cannot be divided into folds. Hint: give at least two" in result.stderr


@pytest.mark.parametrize("option", ["--tabu", "--restarts"])
def test_a_size_that_never_ends_is_refused_in_options(folder: Path, option: str) -> None:
    common = folder / "one.csv", "--learn", "hc", "-o", folder / "never.json"
    result = run("fit", *common, option, 10**20, code=2)
    assert f"from 0 to 1,000,000 for {option}, got 1" in result.stderr
