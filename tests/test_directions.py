"""Directions of arcs in resampled tables: what data leave open, and rules decide."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import colonnade as cn
from colonnade.exceptions import InputError
from command_line import run


def test_directions_that_rules_determine_count_as_they_point() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=200)
    table = {"a": a, "b": a ^ (rng.random(200) < 0.1), "c": a ^ (rng.random(200) < 0.1)}

    def directed(**rules) -> list[float]:
        learner = partial(cn.hill_climb, **rules)
        found = cn.arc_strength(table, learner, resamples=10, rng=0, **rules)
        return [float(found.directed[pair]) for pair in ((0, 1), (1, 0), (0, 2))]

    assert directed() == [0.5, 0.5, 0.5]
    assert directed(tiers=[["a"], ["b", "c"]]) == [1.0, 0.0, 1.0]
    # The one that is required leads away from b, and so no collider is at a.
    assert directed(required=[("b", "a")]) == [0.0, 1.0, 1.0]
    assert directed(forbidden=[("b", "a")]) == [1.0, 0.0, 0.5]
    learner = partial(cn.hill_climb, required=[("a", "b")])
    with pytest.raises(InputError, match="graphs obey the rules"):
        cn.arc_strength(table, learner, resamples=2, rng=0, forbidden=[("a", "b")])


def test_arcs_leave_the_target_of_a_classifier(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    a = [0, 1] * 30
    rows = "\n".join(
        f"{x},{x if k % 5 else 1 - x},{x if k % 7 else 1 - x}" for k, x in enumerate(a)
    )
    Path("t.csv").write_text(f"a,b,c\n{rows}\n")
    for options in (
        ["--learn", "tan", "--target", "a"],
        ["--learn", "naive", "--target", "a"],
        ["--tiers", "a < b, c"],
    ):
        done = run("structure", "t.csv", *options, "--resamples", 5, "--seed", 0, "--json")
        arcs = json.loads(done.stdout)["arcs"]
        own = [arc["direction"] for arc in arcs if arc["from"] == "a"]
        assert own
        assert set(own) == {1.0}
