"""The demo: what a user sees first must be true."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import colonnade as cn
from colonnade import demo


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    with pytest.MonkeyPatch.context() as patch:
        stream = io.StringIO()
        patch.setattr(demo.tempfile, "mkdtemp", lambda prefix: str(folder))
        patch.setattr(sys, "stdout", stream)
        patch.setenv("COLUMNS", "80")
        patch.setenv("NO_COLOR", "1")
        demo.main()
    return stream.getvalue()


def held_out(text: str) -> dict[str, float]:
    found = {}
    for name in demo.PRIORS:
        line = re.search(rf"^{re.escape(name)} +(-inf|-[\d.]+) ", text, re.MULTILINE)
        assert line, name
        found[name] = float(line[1])
    return found


def test_every_prior_is_compared(text: str) -> None:
    values = held_out(text)
    assert values["maximum likelihood"] == float("-inf")
    # What the demo claims: pooling predicts best from few rows, and learning s helps.
    assert values["hierarchical, s learned"] == max(values.values())
    assert values["hierarchical"] > values["symmetric Dirichlet"] > values["BDeu(1)"]


def test_one_question_with_its_interval(text: str) -> None:
    answers = re.findall(r"^  (\w+) +([\d.]+) +([\d.]+) to ([\d.]+)$", text, re.MULTILINE)
    assert [answer[0] for answer in answers] == ["benign", "malignant"]
    for _, mean, lower, upper in answers:
        assert 0.0 <= float(lower) < float(mean) < float(upper) <= 1.0
    assert sum(float(mean) for _, mean, _, _ in answers) == pytest.approx(1.0, abs=0.002)


def test_the_saved_network_is_the_one_that_was_asked(text: str, folder: Path) -> None:
    network = cn.load(folder / "tumours.json")
    assert set(network.priors.values()) == {cn.Hierarchical(s="learn")}
    assert {cpt.counts.total for cpt in network.tables.values() if cpt.counts} == {demo.ROWS}
    (state,) = re.findall(r"^  mean radius (.*)$", text, re.MULTILINE)
    assert state in network["mean radius"].family.child.states
    assert f"show {folder / 'tumours.json'}" in text


def test_it_fits_on_a_narrow_terminal(text: str) -> None:
    assert [
        line for line in text.splitlines() if len(line) > 80 and "tumours.json" not in line
    ] == []


def test_the_structure_comes_from_the_training_rows_only() -> None:
    data = demo._load()
    order = np.arange(len(data[demo.TARGET]))
    trial = demo._trial(data, order)
    # Whatever the held-out rows say, cut points and graph stay.
    other = {name: column.copy() for name, column in data.items()}
    for name, column in other.items():
        column[demo.ROWS :] = "benign" if name == demo.TARGET else 0.0
    again = demo._trial(other, order)
    assert trial.networks == again.networks
