"""Counts that travel: saved, loaded, added and subtracted, they give the network of all rows."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import flat, run

import colonnade as cn
from colonnade.exceptions import FileFormatError, InputError, NotSupportedError, ShortfallError

DAG = cn.Dag([("a", "b"), ("b", "c")], ["d"])


def rows(seed: int, n: int = 60) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    return {
        "a": [f"s{v}" for v in rng.integers(0, 2 + seed, n)],
        "b": rng.integers(0, 3, n).tolist(),
        "c": (rng.random(n) < 0.5).tolist(),
        "d": [f"{v}" for v in rng.integers(0, 12, n)],
        "x": rng.normal(size=n).tolist(),
        "site": [f"site {seed}"] * n,
    }


def together(*tables: dict[str, list[object]]) -> dict[str, list[object]]:
    return {name: [v for table in tables for v in table[name]] for name in tables[0]}


def test_counts_of_parts_give_the_network_of_all_rows(tmp_path: Path) -> None:
    parts = [rows(seed) for seed in (2, 0, 1)]  # with different states
    counts = [cn.count(part, DAG) for part in parts]
    for k, each in enumerate(counts):
        each.save(tmp_path / f"{k}.json")
        assert cn.NetworkCounts.load(tmp_path / f"{k}.json") == each
    total = sum(counts[1:], counts[0])
    assert total.fit() == cn.fit(together(*parts), DAG)
    assert (counts[2] + counts[0] + counts[1]).fit(cn.BDeu(1)) == cn.fit(
        together(*parts), DAG, cn.BDeu(1)
    )
    assert (total - counts[1]).fit()["b"].counts.total == 120
    with pytest.raises(ShortfallError, match="cannot take"):
        counts[1] - counts[0]


def test_groups_and_cut_points_travel(tmp_path: Path) -> None:
    cutter = cn.tables.Discretizer([cn.tables.Cuts("x", [0.0])])
    dag = cn.Dag([("b", "x")])
    parts = [rows(0), rows(1)]
    counts = [cn.count(cutter.cut(part), dag, group="site") for part in parts]
    counts[0].save(tmp_path / "counts.json")
    merged = cn.NetworkCounts.load(tmp_path / "counts.json") + counts[1]
    network = merged.fit()
    assert network == cn.fit(cutter.cut(together(*parts)), dag, group="site")
    assert network.discretizer == cutter
    other = cn.tables.Discretizer([cn.tables.Cuts("x", [0.5])]).cut(rows(1))
    with pytest.raises(InputError, match="the same cut points of 'x'"):
        counts[0] + cn.count(other, dag, group="site")


def test_counts_that_do_not_go_together() -> None:
    here = cn.count(rows(0), DAG)
    with pytest.raises(InputError, match="counts of the same graph"):
        here + cn.count(rows(0), cn.Dag([("a", "b")]))
    texts = rows(0) | {"b": ["x"] * 60}
    with pytest.raises(InputError, match="states of 'b' of one type"):
        here + cn.count(texts, DAG)
    with pytest.raises(TypeError):
        here + 1
    with pytest.raises(InputError, match="'raise' or 'available'"):
        cn.count(rows(0), DAG, missing="em")
    assert repr(here) == "NetworkCounts(4 variables, 2 arcs, n=60)"


def test_declared_order_is_kept() -> None:
    one = cn.count({"a": ["low", "high"]}, cn.Dag([], ["a"]), variables={"a": ["low", "high"]})
    two = cn.count({"a": ["middle"]}, cn.Dag([], ["a"]))
    assert (one + two).variables[0].states == ("low", "high", "middle")


def test_known_tables_have_no_counts_to_save(tmp_path: Path) -> None:
    coin = cn.Cpt.known(cn.Family(cn.Variable("coin", ["h", "t"])), [[0.5, 0.5]])
    dag = cn.Dag([], ["coin"])
    counts = cn.NetworkCounts(dag, [coin.family], [coin.family], {"coin": coin})
    with pytest.raises(NotSupportedError, match="known tables"):
        counts.save(tmp_path / "counts.json")


def test_files_of_counts_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    cn.count(rows(0), DAG).save(path)
    with pytest.raises(InputError, match="a name that is not taken"):
        cn.count(rows(0), DAG).save(path)
    with pytest.raises(FileFormatError, match="it holds counts"):
        cn.load(path)
    document = json.loads(path.read_text())
    document["tables"][0]["counts"][0][0] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="checksum: it does not fit"):
        cn.NetworkCounts.load(path)
    cn.fit(rows(0), DAG).save(tmp_path / "model.json")
    with pytest.raises(FileFormatError, match="not a file of counts"):
        cn.NetworkCounts.load(tmp_path / "model.json")
    with pytest.raises(InputError, match=r"ends in \.json"):
        cn.count(rows(0), DAG).save(tmp_path / "counts.csv")


def test_commands_count_merge_and_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    (tmp_path / "arcs.csv").write_text("a,b\nb,x\n")
    for seed in (0, 1):
        pd.DataFrame(rows(seed)).to_parquet(tmp_path / f"part{seed}.parquet")
    cut = ("--cut", "x: -0.5, 0.5", "--dag", "arcs.csv")
    for seed in (0, 1):
        said = run("count", f"part{seed}.parquet", *cut, "-o", f"{seed}.json").output
        assert "Counted 60 rows of 3 variables" in said
    merged = run("merge", "0.json", "1.json", "-o", "all.json").output
    assert "Merged 2 files: up to 120 observations a table" in merged
    run("fit", "--counts", "all.json", "-o", "model.json")
    run("fit", "part*.parquet", *cut, "-o", "direct.json")
    assert cn.load(tmp_path / "model.json") == cn.load(tmp_path / "direct.json")
    run("count", "part0.parquet", "part1.parquet", *cut, "-o", "both.json")
    assert cn.NetworkCounts.load(tmp_path / "both.json") == cn.NetworkCounts.load(
        tmp_path / "all.json"
    )
    refused = run("merge", "0.json", "model.json", "-o", "no.json", code=2)
    assert "files of counts only" in flat(refused.output)
    learned = run("fit", "part*.parquet", "--ignore", "site", "-o", "l.json")
    assert "Hill climbing" in learned.output
    assert not (tmp_path / "no.json").exists()


def test_rows_with_gaps_are_counted_as_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arcs.csv").write_text("a,b\n")
    (tmp_path / "rows.csv").write_text("a,b\nx,y\n,y\n,z\nx,\nx,z\n")
    words = "count", "rows.csv", "--dag", "arcs.csv"
    said = run(*words, "-o", "counts.json").output
    assert "Counted 5 rows of 2 variables\n" in said
    assert "3 values missing (a 2, b 1); --missing available was used\n" in said
    assert json.loads(run(*words, "-o", "again.json", "--json").stdout)["rows"] == 5
    merged = run("merge", "counts.json", "again.json", "-o", "both.json", "--json")
    assert json.loads(merged.stdout)["observations"] == 6
