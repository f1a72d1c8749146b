"""The paper's studies: samples, measures, and the files they end in. Nothing is downloaded."""

import csv
import math
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from colonnade import FamilyCounts, Hierarchical, Quadrature, Variational
from colonnade.cli.app import app
from colonnade.exceptions import DataError, FileFormatError, InputError, MissingExtraError
from colonnade.network import fit
from colonnade.studies import classification, engines, joint, mse
from colonnade.studies.cells import Cell, Workers, run_cells
from colonnade.studies.claims import Claim
from colonnade.studies.data import DataSet
from colonnade.studies.engines import EngineSettings
from colonnade.studies.mse import MseSettings
from colonnade.studies.plan import Plan
from colonnade.studies.prepared import ESTIMATORS, coded, networks, with_climbing, with_tan
from colonnade.studies.run import reproduce
from colonnade.studies.samples import SampleSettings
from colonnade.studies.summary import Section, claims_table, write_summary
from colonnade.studies.tidy import Tidy
from colonnade.tables import CodedTable

# --------------------------------------------------------------- prepared data and networks


def synthetic(name: str, rows: int = 400, seed: int = 0) -> DataSet:
    """A class, two numbers that depend on it and one state that depends on both."""
    rng = np.random.default_rng(seed)
    label = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    x = rng.normal(label, 1.0)
    y = np.round(rng.normal(x, 1.0))
    word = np.where(y + rng.normal(size=rows) > 1, "high", "low")
    columns = {"x": x, "y": y, "word": word.tolist(), "class": [f"c{k}" for k in label]}
    return DataSet(name, columns, "class", ("x", "y"))


def test_ties_at_a_cut_go_where_they_are_sent() -> None:
    numbers = np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    small = DataSet("small", {"x": numbers, "class": list("ababababab")}, "class", ("x",))
    below, above, split = (coded(small, ties).codes[0] for ties in ("below", "above", "split"))
    assert len(set(below[1:4])) == len(set(above[1:4])) == 1
    assert sorted(Counter(split.tolist()).values()) == [2] * 5
    assert np.all(np.diff(split[[0, 4, 5, 6, 7, 8, 9]].astype(int)) >= 0)
    # The first cut is at 2: the ties go with the 1 below them, or leave it.
    assert below[0] == below[1]
    assert above[0] != above[1]
    with pytest.raises(InputError, match="`ties`"):
        coded(small, "left")  # type: ignore[arg-type]


def test_only_complete_rows_are_coded() -> None:
    small = synthetic("small")
    words = [None, *small.columns["word"][1:]]
    gappy = replace(small, columns={**small.columns, "word": words})
    assert coded(gappy).rows == 399
    assert sum(coded(gappy).missing) == 0


def test_structures_and_their_networks() -> None:
    small = synthetic("small")
    climbed, tree = with_climbing(small), with_tan(small)
    assert climbed.parents_per_variable == len(climbed.dag.arcs) / 4
    assert {child for parent, child in tree.dag.arcs if parent == "class"} == {"x", "y", "word"}
    assert with_tan(small, root="last").dag.parents("word") == ("class",)
    sample = np.arange(50)
    found = networks(tree, sample)
    assert list(found) == list(ESTIMATORS)
    for name, prior in ESTIMATORS.items():
        direct = fit(tree.rows(sample), tree.dag, prior)
        assert found[name] == direct, name


# ----------------------------------------------------------------------------- cells


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def counted(path: Path, n: int) -> list[dict[str, float]]:
    with path.open("a") as stream:
        stream.write(f"{n}\n")
    return [{"n": n, "value": 1.0 / n}]


def test_cells_are_run_once_and_numbers_survive_the_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cells = [Cell(str(n), partial(counted, log, n)) for n in (3, 7)]
    first = run_cells("Test", cells, tmp_path / "parts")
    (tmp_path / "parts" / "7.csv").unlink()
    again = run_cells("Test", cells, tmp_path / "parts")
    assert log.read_text().split() == ["3", "7", "7"]
    assert first["value"].tolist() == again["value"].tolist() == [1.0 / 3.0, 1.0 / 7.0]


def broken(n: int) -> list[dict[str, float]]:
    raise DataError("Cell", f"{n} is broken.")


def test_an_error_in_a_cell_keeps_what_was_done(tmp_path: Path) -> None:
    cells = [Cell("3", partial(counted, tmp_path / "log", 3)), Cell("7", partial(broken, 7))]
    with pytest.raises(DataError, match="7 is broken"):
        run_cells("Test", cells, tmp_path / "parts")
    assert [path.name for path in files_below(tmp_path / "parts")] == ["3.csv"]


def test_a_damaged_part_is_refused(tmp_path: Path) -> None:
    (tmp_path / "3.csv").write_text("n,value\n3\n")
    with pytest.raises(FileFormatError, match="not a table of results"):
        run_cells("Test", [Cell("3", partial(broken, 3))], tmp_path)


# ------------------------------------------------------------------------------ study 1

TINY = MseSettings(r=(2, 3), q=(2, 4), n=(20, 640), repetitions=3)


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    alone = mse.run(TINY, tmp_path / "one")
    with Workers(2) as workers:
        together = mse.run(TINY, tmp_path / "two", workers)
    alone.write(tmp_path / "one.csv")
    together.write(tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert len(alone) == 2 * 2 * 2 * 2 * 3 * 6
    other = mse.run(replace(TINY, seed=2), tmp_path / "one")
    assert other["mse"].tolist() != alone["mse"].tolist()


def test_errors_are_those_of_the_estimates() -> None:
    rows = mse.run_cell(TINY, test=1, r=3, q=4, n=20)
    drawn = mse.draw_table(TINY, 1, 3, 4, 20, repetition=1)
    mine = {row["estimator"]: row["mse"] for row in rows if row["repetition"] == 1}
    table = Hierarchical().estimate(drawn.counts)
    assert mine["hierarchical"] == pytest.approx(((table - drawn.theta) ** 2).sum() / 12)
    plus_one = (drawn.counts + 1) / (drawn.counts.sum(axis=1, keepdims=True) + 3)
    assert mine["bayesian"] == pytest.approx(((plus_one - drawn.theta) ** 2).sum() / 12)
    assert mine["ideal, theorem"] < mine["bayesian, theorem"]


def test_what_is_drawn_follows_the_reading() -> None:
    second = mse.draw_table(TINY, 2, 4, 3, 20, 0)
    np.testing.assert_allclose(second.alpha, 0.25, atol=2e-3)
    balanced = mse.draw_table(replace(TINY, parents="balanced"), 1, 3, 3, 20, 0)
    assert balanced.counts.sum(axis=1).tolist() == [7, 7, 6]
    fixed = [
        mse.draw_table(replace(TINY, truth="fixed"), 1, 3, 3, n, k).alpha
        for n in (20, 40)
        for k in (0, 1)
    ]
    assert all(np.array_equal(alpha, fixed[0]) for alpha in fixed)
    fresh = [mse.draw_table(TINY, 1, 3, 3, 20, k).alpha for k in (0, 1)]
    assert not np.array_equal(*fresh)
    # Under a drawn distribution of Y the rows are less even than under a uniform one.
    spread = {
        kind: np.mean(
            [
                mse.draw_table(replace(TINY, parents=kind), 1, 2, 8, 640, k)
                .counts.sum(axis=1)
                .std()
                for k in range(20)
            ]
        )
        for kind in ("uniform", "drawn")
    }
    assert spread["drawn"] > 3 * spread["uniform"]
    with pytest.raises(InputError, match="`parents`"):
        MseSettings(parents="even")  # type: ignore[arg-type]


def test_theorem_2_agrees_with_a_simulation(tmp_path: Path) -> None:
    settings = MseSettings(r=(3,), q=(4,), n=(20,), repetitions=100)
    results = mse.run(settings, tmp_path)
    found = {claim.claim: claim.holds for claim in mse.claims(results)}
    assert found["Theorem 2 gives the MSE of the ideal and of the Bayesian estimator"] is True
    assert found["Test 1: for large n the gap vanishes"] is None


# ------------------------------------------------------------------------------ study 2


def test_the_rest_of_the_rows_is_the_test(tmp_path: Path) -> None:
    prepared = with_climbing(synthetic("small"))
    settings = SampleSettings(n=(20, 80), repetitions=2)
    results = joint.STUDY.run(settings, [prepared], tmp_path)
    assert set(results.where(n=20)["test_rows"]) == {380}
    assert set(results.where(n=80)["test_rows"]) == {320}
    late, early = (results.where(n=n, estimator="hierarchical") for n in (80, 20))
    per_row = [np.mean(part["log_likelihood"] / part["test_rows"]) for part in (late, early)]
    assert per_row[0] > per_row[1]
    # Another structure is another study: nothing of it may be taken for this one.
    other = joint.STUDY.run(settings, [with_tan(synthetic("small"))], tmp_path)
    assert other["log_likelihood"].tolist() != results["log_likelihood"].tolist()
    assert len(list(tmp_path.iterdir())) == 2
    # So are other rows under the same structure.
    rows = CodedTable(prepared.table.variables, [codes[::-1] for codes in prepared.table.codes])
    joint.STUDY.run(settings, [replace(prepared, table=rows)], tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


# ------------------------------------------------------------------------------ study 3


def test_class_probabilities_are_those_of_the_network() -> None:
    prepared = with_tan(synthetic("small"))
    network = networks(prepared, np.arange(60))["hierarchical"]
    test = prepared.rows(np.arange(60, 70))
    found = classification.class_log_joint(network, test, "class")
    rows = {
        variable.name: [variable.states[code] for code in codes]
        for variable, codes in zip(test.variables, test.codes, strict=True)
    }
    for k, state in enumerate(network["class"].family.child.states):
        direct = network.log_likelihood({**rows, "class": [state] * 10})
        np.testing.assert_allclose(found[:, k], direct, rtol=1e-13)
    evidence = {name: values[0] for name, values in rows.items() if name != "class"}
    posterior = np.exp(found[0] - np.logaddexp.reduce(found[0]))
    answer = network.query("class", evidence)
    np.testing.assert_allclose(answer.probabilities, posterior, atol=1e-12)


@pytest.mark.parametrize("decimals", [1, 8])
def test_areas_are_those_of_scikit_learn(decimals: int) -> None:
    from scipy.special import softmax
    from sklearn.metrics import log_loss, roc_auc_score

    rng = np.random.default_rng(decimals)
    truth = rng.choice(5, 300, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    scores = np.round(rng.normal(size=(300, 5)) + 2.0 * (truth[:, None] == np.arange(5)), decimals)
    chance = softmax(scores, axis=1)
    found = classification.measures(scores, truth)
    for name, options in (
        ("auc", {"multi_class": "ovr"}),
        ("auc_weighted", {"multi_class": "ovr", "average": "weighted"}),
        ("auc_pairs", {"multi_class": "ovo"}),
    ):
        assert found[name] == pytest.approx(roc_auc_score(truth, chance, **options), abs=1e-9), name
    assert found["log_loss"] == pytest.approx(log_loss(truth, chance))
    assert found["accuracy"] == np.mean(scores.argmax(axis=1) == truth)


def test_equal_scores_count_for_a_half() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(2)
    scores, truth = np.round(rng.normal(size=(100, 2))), rng.integers(0, 2, 100)
    assert len(np.unique(scores[:, 1] - scores[:, 0])) < 15
    expected = roc_auc_score(truth, scores[:, 1] - scores[:, 0])
    found = classification.measures(scores, truth)
    assert found["auc"] == pytest.approx(expected, abs=1e-12)
    assert found["auc_pairs"] == pytest.approx(expected, abs=1e-12)


def test_classes_without_rows_are_left_out() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 4))
    truth = rng.choice([0, 2], 50)
    found = classification.measures(scores, truth)
    odds = classification._log_odds(scores)
    areas = [roc_auc_score(truth == c, odds[:, c]) for c in (0, 2)]
    assert found["auc"] == pytest.approx(np.mean(areas))
    alone = classification.measures(scores, np.zeros(50, dtype=int))
    assert math.isnan(alone["auc"])
    assert math.isfinite(alone["accuracy"])


def test_rows_are_told_apart_when_their_probability_is_1() -> None:
    joint_logs = np.array([[0.0, -900.0], [0.0, -50.0], [0.0, -800.0], [0.0, -60.0]])
    found = classification.measures(joint_logs, np.array([0, 1, 0, 1]))
    assert found["auc"] == 1.0


def test_no_more_rows_are_classified_than_asked_for(tmp_path: Path) -> None:
    settings = SampleSettings(n=(20, 380), repetitions=1, test_rows=50)
    results = classification.STUDY.run(settings, [with_tan(synthetic("small"))], tmp_path)
    assert set(results.where(n=20)["test_rows"]) == {50}
    assert set(results.where(n=380)["test_rows"]) == {20}


# ------------------------------------------------------------------------------ end to end


class FastEngines(EngineSettings):
    """Engines of the package in place of those that take seconds to compile."""

    def engines(self) -> dict[str, Any]:
        return {**super().engines(), "advi": Variational(), "nuts": Quadrature()}


class TinyPlan(Plan):
    """Every study, on synthetic data, as small as it can be."""

    @property
    def mse(self) -> MseSettings:
        return MseSettings(r=(2,), q=(2, 4), n=(20, 40), repetitions=2, seed=self.seed)

    @property
    def samples(self) -> SampleSettings:
        return SampleSettings(n=(20, 80), repetitions=2, seed=self.seed, test_rows=50)

    @property
    def priors(self) -> SampleSettings:
        return self.samples

    @property
    def coverage(self) -> SampleSettings:
        return self.samples

    @property
    def engines(self) -> EngineSettings:
        return FastEngines(tables=((2, 2, 20),), n=40, seed=self.seed)

    @property
    def sets(self) -> list[DataSet]:  # type: ignore[override]
        return [synthetic("nursery"), synthetic("letter", seed=1)]


@pytest.mark.parametrize("study", ["mse", "joint", "classification"])
def test_each_study_from_end_to_end(study: str, tmp_path: Path) -> None:
    plan = TinyPlan(tmp_path / "out", names=("nursery", "letter"))
    summary = reproduce(study, plan)
    text = summary.read_text(encoding="utf-8")
    with (tmp_path / "out" / f"{study}-claims.csv").open(newline="", encoding="utf-8") as stream:
        claims = list(csv.DictReader(stream))
    assert len(claims) >= 5
    assert all(f"| {claim['claim']} | {claim['paper']} |" in text for claim in claims)
    assert "Other readings" in text
    for file in [line.split("](")[1][:-1] for line in text.splitlines() if line.startswith("![")]:
        assert (summary.parent / file).read_bytes().startswith(b"\x89PNG")
    results = Tidy.read(summary.parent / f"{study}.csv")
    assert {"n", "repetition", "estimator"} <= set(results.columns)
    assert "learned" in results.unique("estimator")
    assert ("tiered" in results.unique("estimator")) == (study != "mse")
    # What was run is not run again, and gives the same files.
    kept = {path: path.read_bytes() for path in files_below(summary.parent)}
    stamp = {path: path.stat().st_mtime_ns for path in files_below(plan.parts)}
    reproduce(study, plan)
    assert {path: path.stat().st_mtime_ns for path in files_below(plan.parts)} == stamp
    assert {path: path.read_bytes() for path in files_below(summary.parent)} == kept


def test_all_studies_in_one_summary(tmp_path: Path) -> None:
    plan = TinyPlan(tmp_path, names=("nursery", "letter"))
    summary = reproduce("all", plan)
    assert summary.name == "summary.md"
    text = summary.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Study 1: mean squared error",
        "## Study 2: joint distribution",
        "## Study 3: classification",
        "## Study 4: the engines",
    ]
    page = summary.with_suffix(".html").read_text(encoding="utf-8")
    assert "&lt; 1 s" in page
    assert page.count("<table>") == text.count("### ")
    found = Tidy.read(tmp_path / "engines.csv")
    assert found.unique("engine") == ["exact", "variational", "advi", "nuts"]
    assert len(found) == 3 * 4
    assert found.where(engine="exact")["table_error"].max() == 0.0
    assert 0.0 < found.where(engine="variational")["table_error"].max() < 0.05


@pytest.mark.slow
def test_the_engines_themselves(tmp_path: Path) -> None:
    settings = EngineSettings(tables=((2, 3, 40),), sets=(), draws=400, warmup=200)
    found = engines.run(settings, [], tmp_path)
    errors = dict(zip(found["engine"].tolist(), found["table_error"].tolist(), strict=True))
    assert errors["exact"] == 0.0
    # NUTS with 400 draws: the standard error is about 0.005.
    assert 0.0 < errors["nuts"] < 0.03
    assert 0.0 < errors["advi"] < 0.05
    assert np.all(found["seconds"] > 0.0)
    claims = engines.claims(found)
    assert len(claims) == 3
    assert claims[1].holds is True


def test_a_missing_package_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.studies.run.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install \"\.\[reference\]\""):
        reproduce("all", TinyPlan(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_largest_table_of_a_data_set_is_estimated() -> None:
    prepared = with_tan(synthetic("small"))
    counts = engines.largest_table(EngineSettings(n=40), prepared)
    assert isinstance(counts, FamilyCounts)
    assert counts.total == 40
    assert counts.configurations * counts.states == max(
        math.prod(
            len(prepared.table.variables[prepared.table.position(name)].states)
            for name in (child, *prepared.dag.parents(child))
        )
        for child in prepared.dag.variables
    )


def test_cells_of_a_table_are_escaped(tmp_path: Path) -> None:
    claim = Claim("a | b", "<1>", "2", "2 < 3", None)
    write_summary([Section("S", "T", (claims_table([claim]),))], [("Made by", "x")], tmp_path, "s")
    assert r"| a \| b | <1> | 2 | 2 < 3 | not measured |" in (tmp_path / "s.md").read_text()
    assert '<td class="">&lt;1&gt;</td>' in (tmp_path / "s.html").read_text()


def test_the_command_line(tmp_path: Path) -> None:
    arguments = ["reproduce", "mse", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert done.stdout.strip().endswith("mse.md and mse.html")
    assert "Other readings" not in (tmp_path / "mse.md").read_text(encoding="utf-8")


def test_what_to_run_is_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`seed`, got -1"):
        Plan(tmp_path, seed=-1)
    with pytest.raises(InputError, match="`jobs`, got 0"):
        Plan(tmp_path, jobs=0)
    with pytest.raises(InputError, match="`what`, got 'mde'"):
        reproduce("mde", Plan(tmp_path))
