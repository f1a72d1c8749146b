"""Names and states that are asked for and are nearly there: did you mean ...?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import colonnade as cn
from colonnade.classifier import UnknownStateWarning
from colonnade.exceptions import ColonnadeError
from colonnade.structure import hill_climb, tan
from colonnade.tables import encode
from colonnade.wording import did_you_mean, with_hint
from command_line import run

TABLE = {
    "income": ["high", "low", "high", "low"],
    "car": [True, True, False, False],
    "rooms": [1, 2, 2, 3],
}
NETWORK = cn.fit(TABLE, cn.Dag([("income", "car"), ("income", "rooms")]))


@pytest.mark.parametrize(
    ("asked", "known", "hint"),
    [
        ("High", ["high", "low"], "did you mean 'high'?"),
        (" high", ["high", "low"], "did you mean 'high'?"),
        ("upper  class", ["upper class", "lower class"], "did you mean 'upper class'?"),
        ("hihg", ["high", "low"], "did you mean 'high'?"),
        ("1", [1, 2], "did you mean 1?"),
        (1, ["1", "2"], "did you mean '1'?"),
        ("true", [False, True], "did you mean True?"),
        ("YES", ["Yes", "yes", "no"], "did you mean 'Yes' or 'yes'?"),
        ("medium", ["high", "low"], ""),
        ("female", ["male"], ""),
        ("male", ["female", "other"], ""),
        ("east", ["west", "north"], ""),
        ("mal", ["male", "female"], "did you mean 'male'?"),
        ("ma", ["male", "female"], ""),
        (2010, [2007, 2008, 2009], ""),
        ("2010", ["2007", "2008", "2009"], ""),
        ("age", ["age.1", "sex"], "did you mean 'age.1'?"),
        ("Chinstr", ["Chinstrap", "Adelie"], "did you mean 'Chinstrap'?"),
        ("x", [], ""),
    ],
)
def test_what_looks_like_it_is_suggested(asked: Any, known: list[Any], hint: str) -> None:
    assert did_you_mean(asked, known) == hint


def test_a_question_is_not_ended_by_a_full_stop() -> None:
    assert with_hint("No.", "did you mean 'a'?") == "No. Hint: did you mean 'a'?"
    assert with_hint("No.", "write a") == "No. Hint: write a."


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: NETWORK.query("car", {"income": "High"}), "'high'"),
        (lambda: NETWORK.query("car", {"income": "high "}), "'high'"),
        (lambda: NETWORK.query("car", {"rooms": "2"}), "2"),
        (lambda: NETWORK.query("car", {"Income": "high"}), "'income'"),
        (lambda: NETWORK.query("Car"), "'car'"),
        (lambda: NETWORK.most_probable({"incone": "high"}), "'income'"),
        (lambda: NETWORK["incom"], "'income'"),
        (lambda: NETWORK.dag.parents("CAR"), "'car'"),
        (lambda: NETWORK.update(TABLE | {"income": ["HIGH"] * 4}), "'high'"),
        (
            lambda: NETWORK.log_likelihood({"income": ["high"], "Car": [True], "rooms": [1]}),
            "'Car'",
        ),
        (lambda: cn.fit(TABLE, cn.Dag([("Income", "car")])), "'income'"),
        (lambda: cn.fit(TABLE, NETWORK.dag, per_variable={"Car": cn.BDeu()}), "'car'"),
        (lambda: cn.fit(TABLE, NETWORK.dag, variables={"Car": [False, True]}), "'car'"),
        (lambda: tan(TABLE, "Car"), "'car'"),
        (lambda: hill_climb(TABLE, required=[("Car", "rooms")]), "'car'"),
        (lambda: encode(TABLE).select(["Rooms"]), "'rooms'"),
    ],
)
def test_every_question_suggests(ask: Callable[[], Any], meant: str) -> None:
    with pytest.raises(ColonnadeError) as caught:
        ask()
    assert caught.value.hint == f"did you mean {meant}?"


def test_a_classifier_suggests() -> None:
    classifier = cn.BayesianNetworkClassifier("naive").fit([["high"], ["low"]] * 5, [0, 1] * 5)
    with pytest.warns(UnknownStateWarning, match=r"'High'.* Hint: did you mean 'high'\?"):
        classifier.predict([["High"]])


def test_a_suggestion_names_its_column() -> None:
    rows = [["high", "a"], ["low", "b"]] * 5
    classifier = cn.BayesianNetworkClassifier("naive").fit(rows, [0, 1] * 5)
    with pytest.warns(UnknownStateWarning, match=r"Hint: in column 'x0', did you mean 'high'\?"):
        classifier.predict([["High", "c"]])
    with pytest.raises(ColonnadeError, match=r"in column 'income', did you mean 'high'\?"):
        NETWORK.update(TABLE | {"income": ["HIGH"] * 4, "rooms": [9] * 4})


def test_the_command_line_suggests(tmp_path: Path) -> None:
    NETWORK.save(tmp_path / "model.json")
    ask = "query", tmp_path / "model.json"
    for words, meant in (
        (("car", "--observed", "income=High"), "'high'"),
        (("car", "--observed", "Income=high"), "'income'"),
        (("Car",), "'car'"),
    ):
        assert run(*ask, *words, code=1).stderr.endswith(f"Hint: did you mean {meant}?\n")
    blank = run(*ask, "car", "--observed", "income=high ")  # no state ends in a blank
    assert blank.stdout.startswith("Probability of car given income = high\n")
    shown = run("show", tmp_path / "model.json", "Rooms", code=1)
    assert shown.stderr.endswith("Hint: did you mean 'rooms'?\n")
