"""The claims of the paper, held against made-up results: each can hold, and each can fail."""

import math

import numpy as np
import pytest

from colonnade.exceptions import InputError
from colonnade.studies import classification, engines, joint, mse
from colonnade.studies.claims import Claim, judged, share, winners
from colonnade.studies.tidy import Tidy, pooled_interval


def verdicts(claims: list[Claim]) -> dict[str, bool | None]:
    return {claim.claim: claim.holds for claim in claims}


# ------------------------------------------------------------------------------ study 1


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


# ------------------------------------------------------------------------------ study 3


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


# ------------------------------------------------------------------------------ study 4


def timed(error: dict[str, float], seconds: dict[str, float]) -> Tidy:
    return Tidy.of(
        [
            {"engine": name, "table_error": error.get(name, 0.0), "seconds": seconds.get(name, 0.5)}
            for name in ("exact", "variational", "advi", "nuts")
            for _ in range(3)
        ]
    )


@pytest.mark.parametrize(
    ("error", "seconds", "expected"),
    [
        ({"advi": 0.01, "nuts": 0.01}, {"nuts": 61.0}, [True, True, True]),
        ({"advi": 0.02}, {"nuts": 61.0}, [False, True, True]),
        ({"nuts": 0.02}, {"nuts": 61.0}, [False, True, True]),
        ({"variational": 0.5}, {"variational": 1.5, "nuts": 61.0}, [True, False, True]),
        ({}, {"nuts": 59.0}, [True, True, False]),
    ],
)
def test_claims_of_study_4_hold_or_fail_one_by_one(
    error: dict[str, float], seconds: dict[str, float], expected: list[bool]
) -> None:
    assert [claim.holds for claim in engines.claims(timed(error, seconds))] == expected


# ------------------------------------------------------------------------------ in words


def test_what_is_said_of_a_claim() -> None:
    found = [("4.5", True), ("3", False), None]
    claims = [judged("more is better", "5", "above 4", each) for each in found]
    assert [claim.verdict for claim in claims] == ["yes", "no", "not measured"]
    assert [claim.ours for claim in claims] == ["4.5", "3", "not in this run"]
    assert share([True, True, False]) == "2 of 3"


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
