"""The study of intervals: what is taken for the truth, and what counts as held."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from colonnade import BDeu, Tiered, Variable, fit, tan
from colonnade.studies import coverage, truths
from colonnade.studies.coverage import Held
from colonnade.studies.prepared import Prepared, with_tan
from colonnade.studies.run import reproduce
from colonnade.studies.tidy import Tidy
from colonnade.tables import CodedTable
from test_studies import TinyPlan, synthetic


def test_a_truth_of_zero_is_held_within_half_an_observation() -> None:
    truth = np.array([[0.0, 1.0], [0.5, 0.5]])
    lower = np.array([[0.001, 0.9], [0.4, 0.1]])
    upper = np.array([[0.1, 0.999], [0.6, 0.2]])
    rows = np.array([400.0, 400.0])
    held = Held.of((lower, upper), truth + 0.25, truth, rows)
    # Half an observation of 400 is 0.00125.
    assert (held.cells, held.held, held.held_strictly) == (4, 0.75, 0.25)
    assert held.width == pytest.approx((0.099 + 0.099 + 0.2 + 0.1) / 4)
    assert held.error == 0.25
    assert Held.of((lower, upper), truth, truth, 2 * rows).held == 0.25


def test_parts_count_by_their_cells() -> None:
    parts = [Held(1, 1.0, 1.0, 0.4, 0.0), Held(3, 0.0, 0.0, 0.8, 0.4)]
    whole = Held.together(parts)
    assert (whole.cells, whole.held) == (4, 0.25)
    assert (whole.width, whole.error) == pytest.approx((0.7, 0.3))


def test_the_truth_is_the_frequency_in_the_full_data() -> None:
    data = with_tan(synthetic("small", rows=2000))
    columns = {name: data.table.codes[k] for k, name in enumerate(data.table.names)}
    for truth in truths.tables(data, 100):
        parents = data.dag.parents(truth.child)
        assert len(parents) == 2
        for codes, row, rows in zip(
            truth.configurations, truth.frequencies, truth.rows, strict=True
        ):
            same = np.all([columns[p] == c for p, c in zip(parents, codes, strict=True)], axis=0)
            assert rows == same.sum() >= 100
            found = np.bincount(columns[truth.child][same], minlength=len(row)) / same.sum()
            np.testing.assert_allclose(row, found, rtol=1e-14)
    asked = truths.queries(data, 100, 5, np.random.default_rng(1))
    assert [len(query.observed) for query in asked] == [1] * 5 + [2] * 5
    network = fit(data.table, data.dag, BDeu(1))
    for query in asked:
        same = np.all([columns[k] == code for k, code in query.observed.items()], axis=0)
        assert query.rows == same.sum() >= 100
        np.testing.assert_allclose(
            query.frequencies,
            np.bincount(columns[query.target][same], minlength=len(query.frequencies)) / same.sum(),
        )
        states = truths.states_of(network, query.observed)
        answer = network.query(query.target, states).probabilities
        np.testing.assert_allclose(query.same_graph, answer)


def test_classes_of_rows_that_agree() -> None:
    data = with_tan(synthetic("small", rows=3000))
    known = truths.classes(data, 100)
    assert known is not None
    codes = np.stack(known.table.codes, axis=1)
    for case, row, rows in zip(known.features, known.frequencies, known.rows, strict=True):
        same = (codes[:, :-1] == case).all(axis=1)
        assert rows == same.sum() >= 100
        found = np.bincount(codes[same, -1], minlength=len(row)) / same.sum()
        np.testing.assert_allclose(row, found)
    assert truths.classes(data, 10**6) is None
    # With all rows the classifier knows what the same graph says.
    held = coverage.on_classes(Tiered(), known, np.arange(3000))
    assert held["same graph"].error < 0.01


def test_features_with_many_states_are_not_cut() -> None:
    rng = np.random.default_rng(2)
    features = rng.integers([2, 15, 2], size=(8000, 3))
    label = (rng.random(8000) < 0.1 + 0.8 * (features[:, 1] % 2)).astype(np.int64)
    sizes = {"a": 2, "b": 15, "c": 2, "label": 2}
    variables = tuple(Variable(name, range(size)) for name, size in sizes.items())
    table = CodedTable(variables, (*features.T, label))
    known = truths.classes(Prepared("many", table, "label", tan(table, "label")), 80)
    assert known is not None
    assert len(known.rows) == 60
    # In bins, odd and even codes would be together, with a probability near one half.
    held = coverage.on_classes(Tiered(), known, np.arange(8000))
    assert held["same graph"].error < 0.02


def test_the_study_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "LEAST_ROWS", 40)
    monkeypatch.setattr(coverage, "_QUERIES", 1)
    plan = TinyPlan(tmp_path / "out", names=("nursery", "letter"))
    text = reproduce("coverage", plan).read_text(encoding="utf-8")
    assert "held strictly" in text
    assert "](coverage.png)" in text
    assert (plan.out / "coverage.png").stat().st_size > 10_000
    results = Tidy.read(plan.out / "coverage.csv")
    assert results.unique("estimator") == list(coverage.PRIORS)
    assert set(results["what"]) == {"table", "query", "class"}
    averages = Tidy.read(plan.out / "coverage-means.csv")
    part = {"what": "table", "n": 80, "estimator": "tiered"}
    by_data = [results.mean("held", **part, data=data) for data in ("nursery", "letter")]
    assert averages.mean("held", **part) == pytest.approx(np.mean(by_data))


def test_one_repetition_does_not_say_how_much_they_differ(tmp_path: Path) -> None:
    about = {"data": "nursery", "n": 80, "what": "table", "truth": "frequencies"}
    held = {"cells": 9, "held": 0.9, "held_strictly": 0.8, "width": 0.2, "error": 0.1}
    rows = [{**about, "repetition": 0, "estimator": name, **held} for name in coverage.PRIORS]
    section = coverage.report(Tidy.of(rows), tmp_path)
    place = section.tables[0].head.index("± between repetitions")
    assert {row[place] for row in section.tables[0].rows} == {"–"}
    assert np.isnan(Tidy.read(tmp_path / "coverage-means.csv")["spread"]).all()
    assert "repetitions" not in section.figures[0][1]
    again = [{**row, "repetition": 1, "held": 0.7} for row in rows]
    section = coverage.report(Tidy.of([*rows, *again]), tmp_path)
    assert {row[place] for row in section.tables[0].rows} == {"0.141"}
    assert "repetitions" in section.figures[0][1]
