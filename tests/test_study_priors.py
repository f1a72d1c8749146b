"""The comparison of priors: same samples for all, means over data sets, wins sample by sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from colonnade.network import fit
from colonnade.studies.prepared import with_kdb
from colonnade.studies.priors import PRIORS, STUDY, means, paired_wins
from colonnade.studies.run import reproduce
from colonnade.studies.samples import SampleSettings
from colonnade.studies.tidy import Tidy
from test_studies import TinyPlan, synthetic


def made(values: dict[str, list[float]], data: str = "a") -> list[dict[str, object]]:
    """Results of one cell: log losses of some priors in each repetition; all others have 9."""
    rows = []
    for name in PRIORS:
        losses = values.get(name, [9.0] * len(values["tiered"]))
        for repetition, loss in enumerate(losses):
            about = {"structure": "tan", "data": data, "n": 20, "repetition": repetition}
            found = {"log_likelihood": -loss, "log_loss": loss, "accuracy": 0.5, "auc": 0.5}
            rows.append({**about, "estimator": name, **found, "test_rows": 10})
    return rows


def test_means_give_every_data_set_the_same_weight() -> None:
    rows = made({"tiered": [1.0, 3.0]}) + made({"tiered": [8.0]}, data="b")
    found = {(row["measure"], row["estimator"]): row["mean"] for row in means(Tidy.of(rows))}
    assert found["log_loss", "tiered"] == 5.0
    assert found["log_likelihood", "tiered"] == -5.0


def test_wins_are_counted_sample_by_sample() -> None:
    ten = list(np.arange(10) / 100.0)
    rows = made({"tiered": ten, "hierarchical": [1.0] * 9 + [0.0]})
    wins = {(win.of, win.over, win.measure): win for win in paired_wins(Tidy.of(rows))}
    loss = wins["tiered", "hierarchical", "log_loss"]
    assert (loss.won, loss.samples, loss.sets_better, loss.sets_worse) == (9.0, 10, 1, 0)
    assert loss.gain == pytest.approx(0.9 - np.mean(ten))
    even = wins["tiered", "hierarchical", "accuracy"]
    assert (even.won, even.sets_better, even.sets_worse) == (5.0, 0, 0)


def test_the_study_measures_every_prior_on_the_same_rows(tmp_path: Path) -> None:
    plan = TinyPlan(tmp_path / "out", names=("nursery", "letter"))
    text = reproduce("priors", plan).read_text(encoding="utf-8")
    assert text.startswith("# Beyond the paper")
    results = Tidy.read(plan.out / "priors.csv")
    assert results.unique("structure") == ["tan", "kdb", "climbing"]
    assert results.unique("estimator") == list(PRIORS)
    # 3 structures, 2 data sets, 2 sizes, 2 repetitions
    assert len(results) == 24 * len(PRIORS)
    wins = Tidy.read(plan.out / "priors-wins.csv")
    assert set(wins["over"]) == set(PRIORS) - {"tiered", "learned 4r"} | {"learned 4r"}
    averages = Tidy.read(plan.out / "priors-means.csv")
    part = {"structure": "kdb", "n": 80, "estimator": "tiered"}
    by_data = [results.mean("auc", **part, data=data) for data in ("nursery", "letter")]
    assert averages.mean("mean", **part, measure="auc") == pytest.approx(np.mean(by_data))


def test_the_log_likelihood_is_that_of_whole_rows() -> None:
    data = with_kdb(synthetic("small"))
    assert max(len(data.dag.parents(name)) for name in data.dag.variables) == 3
    rows = np.arange(400)
    network = fit(data.rows(rows[:50]), data.dag)
    test = data.rows(rows[50:])
    found = STUDY.measure(network, test, "class")
    assert found["log_likelihood"] == pytest.approx(network.log_likelihood(test).mean())


def test_sizes_beyond_a_data_set_are_left_out(tmp_path: Path) -> None:
    settings = SampleSettings(n=(20, 400), repetitions=1, test_rows=10)
    results = STUDY.run(settings, [with_kdb(synthetic("small"))], tmp_path)
    assert results.unique("n") == [20]
