"""A prior that the package has never heard of works everywhere: one class and one registration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import colonnade as cn
from colonnade.cli import app
from colonnade.counts import FamilyCounts, as_counts
from colonnade.exceptions import FileFormatError, NotSupportedError
from colonnade.priors import PRIORS, Independent, Prior, prior_named, register
from colonnade.sparse import SparseTable
from command_line import plain_terminal


@dataclass(frozen=True, slots=True)
class Laplace(Independent):
    """The same pseudo-count in every cell."""

    pseudo_count: float = 1.0

    keyword: ClassVar[str] = "laplace"
    examples: ClassVar[dict[str, str]] = {"laplace:1": "a pseudo-count of 1"}

    def strength(self, counts: FamilyCounts) -> float:
        return self.pseudo_count * counts.states


@dataclass(frozen=True, slots=True)
class Shrunken(Prior):
    """Relative frequencies and the uniform distribution, mixed; no posterior and no score."""

    weight: float = 0.1

    keyword: ClassVar[str] = "shrunken"
    examples: ClassVar[dict[str, str]] = {"shrunken:0.1": ""}
    score_name: ClassVar[str | None] = None

    def table(self, counts):
        counts = as_counts(counts)
        uniform = np.full(counts.states, 1.0 / counts.states)
        shares = counts.values / counts.row_totals[:, None]
        rows = (1.0 - self.weight) * shares + self.weight * uniform
        return SparseTable.beside(counts, rows, uniform)


RNG = np.random.default_rng(12)
A = RNG.integers(0, 3, 200)
B = np.where(RNG.random(200) < 0.7, A, RNG.integers(0, 3, 200))
TABLE = {"a": A.tolist(), "b": B.tolist(), "c": RNG.integers(0, 2, 200).tolist()}
GAPS = {name: [None if k % 7 == 0 else v for k, v in enumerate(TABLE[name])] for name in TABLE}
DAG = cn.Dag([("a", "b")], ["a", "b", "c"])
COUNTS = [[8, 2], [0, 0], [7, 1]]


@pytest.fixture(autouse=True)
def _registered():
    for kind in (Laplace, Shrunken):
        register(kind)
    yield
    for kind in (Laplace, Shrunken):
        del PRIORS[kind.__name__]


def test_it_estimates():
    np.testing.assert_allclose(Laplace(0.5).estimate(COUNTS)[0], [8.5 / 11, 2.5 / 11])
    # Pseudo-counts of one are the symmetric Dirichlet prior, in every respect.
    twin = cn.SymmetricDirichlet()
    np.testing.assert_array_equal(Laplace().estimate(COUNTS), twin.estimate(COUNTS))
    assert Laplace().log_evidence(COUNTS) == twin.log_evidence(COUNTS)
    assert Laplace().leave_one_out_score(COUNTS) == twin.leave_one_out_score(COUNTS)
    found, wanted = (prior.posterior(COUNTS) for prior in (Laplace(), twin))
    np.testing.assert_array_equal(found.interval(0.9).lower, wanted.interval(0.9).lower)
    np.testing.assert_allclose(Shrunken().estimate(COUNTS)[:2], [[0.77, 0.23], [0.5, 0.5]])


def test_it_says_what_it_cannot_do():
    assert Laplace().has_posterior
    assert not Shrunken().has_posterior
    for ask in (Shrunken().posterior, Shrunken().log_evidence, Shrunken().structure_score):
        with pytest.raises(NotSupportedError, match=r"Shrunken\(\)"):
            ask(COUNTS)
    with pytest.raises(NotSupportedError, match="there is no penalty"):
        cn.fit(GAPS, DAG, Shrunken(), missing="em")


def test_it_fits_networks_answers_and_draws():
    network = cn.fit(TABLE, DAG, Laplace())
    wanted = cn.fit(TABLE, DAG, cn.SymmetricDirichlet())
    np.testing.assert_array_equal(network.log_likelihood(TABLE), wanted.log_likelihood(TABLE))
    found, same = (each.query("b", {"a": 1}, draws=100, rng=1) for each in (network, wanted))
    np.testing.assert_array_equal(found.lower, same.lower)
    plain = cn.fit(TABLE, DAG, Shrunken())
    with pytest.raises(NotSupportedError, match="A credible interval of this answer"):
        plain.query("b", {"a": 1}, draws=100, rng=1)


def test_it_fills_in_missing_values():
    found = cn.fit(GAPS, DAG, Laplace(), missing="em")
    wanted = cn.fit(GAPS, DAG, cn.SymmetricDirichlet(), missing="em")
    assert found.diagnostics == wanted.diagnostics


def test_it_scores_graphs():
    twin = cn.SymmetricDirichlet()
    assert cn.score(TABLE, DAG, Laplace()) == cn.score(TABLE, DAG, twin)
    assert cn.hill_climb(TABLE, Laplace()).dag == cn.hill_climb(TABLE, twin).dag
    rows = cn.compare(TABLE, DAG, [Laplace(), Shrunken()], folds=2, rng=1).rows
    assert {row.prior: row.log_evidence is None for row in rows} == {
        "Laplace(pseudo_count=1.0)": False,
        "Shrunken(weight=0.1)": True,
    }


@pytest.mark.parametrize("prior", [Laplace(0.5), Shrunken(0.25)], ids=repr)
def test_it_is_saved_and_loaded_and_checked(prior, tmp_path):
    network = cn.fit(TABLE, DAG, prior)
    network.save(tmp_path / "model.json")
    assert cn.load(tmp_path / "model.json") == network
    del PRIORS[type(prior).__name__]
    with pytest.raises(NotSupportedError, match="files do not know its class"):
        network.save(tmp_path / "again.json")
    with pytest.raises(FileFormatError, match=r"tables\[0\].prior: it is not one of"):
        cn.load(tmp_path / "model.json")
    register(type(prior))


@pytest.mark.parametrize("prior", [Laplace(0.5), Shrunken(0.25)], ids=repr)
def test_a_saved_table_must_follow_from_it(prior):
    counts = FamilyCounts.from_array(COUNTS)
    assert prior.inconsistency(counts, prior.table(counts)) is None
    other = type(prior)(0.75)
    assert prior.inconsistency(counts, other.table(counts)).part == "rows"
    moved = SparseTable.beside(counts, prior.table(counts).rows, [0.6, 0.4])
    assert prior.inconsistency(counts, moved).part == "default"


def test_it_has_a_word_on_the_command_line(tmp_path, monkeypatch):
    plain_terminal(monkeypatch)
    assert Laplace(2.0).word == "laplace:2"
    assert prior_named("laplace:0.5") == Laplace(0.5)
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    rows = zip(*TABLE.values(), strict=True)
    data.write_text("\n".join(["a,b,c", *(",".join(map(str, row)) for row in rows)]) + "\n")
    files = [str(data), "-o", str(model), "--overwrite", "--learn", "hc"]
    words = ["--score", "laplace", "--prior", "laplace:2"]
    result = CliRunner().invoke(app, ["fit", *files, *words])
    assert result.exit_code == 0, result.output
    assert "laplace:2" in result.stdout
    assert set(cn.load(model).priors.values()) == {Laplace(2.0)}
    shown = " ".join(re.sub("[│]", " ", CliRunner().invoke(app, ["fit", "--help"]).output).split())
    assert shown.count("laplace:1 (a pseudo-count of 1)") == 2  # --prior and --score
    assert shown.count("shrunken:0.1") == 1  # no score
    wrong = CliRunner().invoke(app, ["fit", *files, "--score", "shrunken"])
    assert wrong.exit_code == 2
    assert "laplace:1" in " ".join(wrong.output.split())


def test_it_classifies():
    features = np.stack([TABLE["a"], TABLE["c"]], axis=1)
    found, wanted = (
        cn.BayesianNetworkClassifier(structure="tan", prior=prior).fit(features, B)
        for prior in (Laplace(), cn.SymmetricDirichlet())
    )
    np.testing.assert_array_equal(found.predict_proba(features), wanted.predict_proba(features))
    assert found.predict_interval(features[:2], draws=100, rng=1).lower.shape == (2, 3)
    plain = cn.BayesianNetworkClassifier(structure="tan", prior=Shrunken()).fit(features, B)
    with pytest.raises(NotSupportedError, match="it has no posterior to draw tables from"):
        plain.predict_interval(features)
