"""Progress bars: on standard error, and only of jobs that take a while."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import colonnade as cn
from colonnade import progress, report
from colonnade.classifier import _files, _members, _plain
from colonnade.cpt import Cpt
from colonnade.inference.results import QueryResult
from colonnade.report import classification, page
from colonnade.structure import comparison, constraints, equivalence, exact, search

TABLE = {"a": [0, 0, 1, 1] * 8, "b": [0, 0, 1, 1] * 8, "c": [0, 1, 0, 1] * 8}


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Rich take the captured streams for a terminal; it shows no bars elsewhere."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every job be a long one: its bar opens as it begins."""

    class Timer(threading.Timer):
        def start(self) -> None:
            self.function()

    monkeypatch.setattr(progress.threading, "Timer", Timer)


def run() -> None:
    with progress.Progress("Counting", total=2) as job:
        job.advance()
        job.advance(text="Counted")


def test_a_short_job_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("at_once")
def test_a_long_job_shows_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    printed, told = capsys.readouterr()
    assert printed == ""
    assert "Counted" in told


@pytest.mark.usefixtures("at_once")
def test_nothing_is_written_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCE_COLOR")
    run()
    assert capsys.readouterr() == ("", "")


def test_a_bar_opens_before_the_first_step_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BEFORE_SHOWN", 0.0)
    with progress.Progress("Counting") as job:
        assert job._timer is not None
        job._timer.join()
    assert "Counting" in capsys.readouterr().err


@pytest.mark.usefixtures("at_once")
def test_of_jobs_within_each_other_the_outer_one_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress.Progress("Comparing", total=1) as job:
        run()
        job.advance()
    told = capsys.readouterr().err
    assert "Comparing" in told
    assert "Count" not in told


def assert_part_of_a_job(
    owner: Any, name: str, job: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run a job, and see that a bar is under way whenever it calls a function."""
    original = getattr(owner, name)
    under_way: list[bool] = []

    def watched(*args: Any, **options: Any) -> Any:
        under_way.append(progress._one_at_a_time.locked())
        return original(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, watched)
        job()
    assert under_way
    assert all(under_way)


@pytest.mark.parametrize(
    ("owner", "name", "job"),
    [
        (search, "prepare", lambda: cn.hill_climb(TABLE)),
        (search._Climber, "_refresh", lambda: cn.hill_climb(TABLE)),
        (equivalence, "prepare", lambda: cn.ges(TABLE)),
        (equivalence._Walk, "_of", lambda: cn.ges(TABLE)),
        (exact, "_parent_scores", lambda: cn.exact_search(TABLE)),
        (exact, "_parent_scores", lambda: cn.arc_posterior(TABLE)),
        (constraints, "tested", lambda: cn.pc(TABLE)),
        (comparison, "learned", lambda: cn.compare(TABLE, cn.hill_climb)),
        (Cpt, "of", lambda: cn.fit(TABLE, cn.Dag([("a", "b")]))),
        (QueryResult, "of", lambda: cn.fit(TABLE, cn.Dag([("a", "b")])).query("b", draws=100)),
    ],
)
def test_what_may_take_long_is_part_of_a_job(
    owner: Any, name: str, job: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_part_of_a_job(owner, name, job, monkeypatch)


def test_pages_and_files_of_a_forest_are_part_of_a_job(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = {"a": [0, 1] * 30, "b": list("xyz") * 20, "c": [0, 1, 1] * 20}
    features = pd.DataFrame(rows)[["a", "b"]]
    forest = cn.BayesianNetworkForest(n_members=2, random_state=0, target_name="c")
    forest.fit(features, rows["c"])
    network = cn.fit(rows, cn.Dag([("a", "b"), ("c", "b")]))
    for owner, name, job in (
        (cn.BayesianNetworkForest, "fit", lambda: report.held_out(forest, rows, "c")),
        (classification, "_predicted", lambda: report.held_out(network, rows, "c")),
        (page, "rendered", lambda: report.write(network, tmp_path / "page.html")),
        (type(_files._KIND), "write", lambda: forest.save(tmp_path / "forest.json")),
    ):
        assert_part_of_a_job(owner, name, job, monkeypatch)


def test_networks_of_a_forest_are_part_of_a_job(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows, labels = [[a, b] for a in range(2) for b in range(30)], [0, 1, 1] * 20
    forest = cn.BayesianNetworkForest(n_members=2, bins={"x1": 3}, random_state=0)
    forest.fit(rows, labels)
    file = tmp_path / "forest.json"
    for owner, name, job in (
        (_members, "_tables", lambda: forest.networks_),
        (_members.Member, "information", lambda: forest.feature_importances_),
        (_members.Member, "add", lambda: forest.partial_fit(rows, labels)),
        (_files.native, "document_of", lambda: forest.save(file)),
        (_plain, "network_in", lambda: type(forest).load(file)),
    ):
        assert_part_of_a_job(owner, name, job, monkeypatch)
