"""Progress bars: on standard error, and only of jobs that take a while."""

import pytest

from colonnade import progress


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Rich take the captured streams for a terminal; it shows no bars elsewhere."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def run() -> None:
    with progress.Progress("Counting", total=2) as job:
        job.advance()
        job.advance(text="Counted")


def test_a_short_job_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    assert capsys.readouterr() == ("", "")


def test_a_long_job_shows_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BEFORE_SHOWN", 0.0)
    run()
    printed, told = capsys.readouterr()
    assert printed == ""
    assert "Counted" in told
