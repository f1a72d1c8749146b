"""Study 2: how well the joint distribution of real data is recovered (Fig. 2, top)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from colonnade.network import BayesianNetwork
from colonnade.studies.claims import BASELINES, Claim, Gains, judged, mean_gains, share
from colonnade.studies.samples import SampleStudy
from colonnade.studies.tidy import Tidy
from colonnade.tables import CodedTable

# Ratios the paper gives for n = 320; it does not say over which ess.
_PUBLISHED = {"nursery": 50, "letter": 85000}


def _log_likelihood(network: BayesianNetwork, rest: CodedTable, target: str) -> dict[str, float]:
    return {"log_likelihood": float(network.log_likelihood(rest).sum())}


STUDY = SampleStudy("joint", _log_likelihood)


def claims(results: Tidy, parents: Mapping[str, float]) -> list[Claim]:
    """Judge what the paper says of the top of Fig. 2; `parents` are those per variable."""
    gains = mean_gains(results, "log_likelihood")
    large = [gain > 0.0 for (_, _, n), gain in gains.items() if n >= 640]
    return [
        *_all_samples(gains),
        *_nursery(gains, parents),
        *_at_320({(base, name): gain for (base, name, n), gain in gains.items() if n == 320}),
        judged(
            "Large samples: significant ratios are obtained in general",
            "in general",
            "mean ratio above 0 at n = 640 and 1280 in most cells (data set, ess)",
            (share(large), sum(large) > len(large) / 2) if large else None,
        ),
    ]


def _all_samples(gains: Gains) -> list[Claim]:
    small = {key: gain for key, gain in gains.items() if key[2] in (20, 40)}
    thousands = None
    if small:
        (base, name, n), least = min(small.items(), key=lambda item: item[1])
        most = max(small.values())
        thousands = f"least {least:,.0f} ({name}, n = {n}, {base}), most {most:,.0f}", least > 1000
    better = [gain > 0.0 for gain in gains.values()]
    exceptions = [f"{name} n = {n}" for (_, name, n), gain in gains.items() if gain <= 0.0]
    listed = f" (not {', '.join(dict.fromkeys(exceptions))})" if exceptions else ""
    cells = [(name, n) for base, name, n in gains if base == "bdeu 1"]
    ten = [gains["bdeu 10", *cell] < gains["bdeu 1", *cell] for cell in cells]
    return [
        judged(
            "Small samples: log-likelihood ratios above one thousand on all data sets",
            "> 1000",
            "mean ratio above 1000 on every data set, n = 20 and 40, both BDeu",
            thousands,
        ),
        judged(
            "The hierarchical estimator consistently outperforms BDeu with either ess",
            "all",
            "mean ratio above 0 for every data set, n and ess",
            (share(better) + listed, all(better)),
        ),
        judged(
            "In general BDeu with ess 10 is better than with ess 1",
            "in general",
            "smaller ratio over ess 10 than over ess 1 in most cells (data set, n)",
            (share(ten), sum(ten) > len(ten) / 2),
        ),
    ]


def _nursery(gains: Gains, parents: Mapping[str, float]) -> list[Claim]:
    names = list(dict.fromkeys(name for _, name, _ in gains))
    if "nursery" not in names or len(names) < 2:
        return []
    n = min(key[2] for key in gains)
    by_data = {name: min(gains[base, name, n] for base in BASELINES) for name in names}
    others = {name: parents[name] for name in names if name != "nursery"}
    own, mean = parents["nursery"], float(np.mean(list(others.values())))
    ratios = ", ".join(f"{name} {gain:,.0f}" for name, gain in by_data.items())
    listed = ", ".join(f"{name} {number:.2f}" for name, number in others.items())
    return [
        judged(
            "The lowest gains are those on Nursery",
            "lowest",
            f"at n = {n} the mean ratio over the better BDeu is lowest on Nursery",
            (ratios, min(by_data, key=by_data.__getitem__) == "nursery"),
        ),
        judged(
            "Nursery has the lowest number of parents per node",
            "0.9",
            "lowest, and 0.9 when rounded",
            (f"{own:.2f}", own < min(others.values()) and round(own, 1) == 0.9),
        ),
        judged(
            "The other structures have about twice as many",
            "about 1.8",
            "mean of the others between 1.5 and 2.5 times that of Nursery",
            (listed, 1.5 <= mean / own <= 2.5),
        ),
    ]


def _at_320(gains: Mapping[tuple[str, str], float]) -> list[Claim]:
    """Claims about the mean gains by baseline and data set; they need Nursery and Letter."""
    both = {("bdeu 10", "nursery"), ("bdeu 1", "letter")} <= set(gains)
    order = None
    if both:
        lowest, highest = (end(gains, key=gains.__getitem__)[1] for end in (min, max))
        said = f"lowest on {lowest}, highest on {highest}"
        order = said, (lowest, highest) == ("nursery", "letter")
    found = [
        judged(
            "At n = 320 the ratios range from Nursery (lowest) to Letter (highest)",
            "Nursery, Letter",
            "lowest mean ratio on Nursery, highest on Letter",
            order,
        )
    ]
    for name, figure in _PUBLISHED.items():
        one, ten = (gains.get((base, name), math.nan) for base in BASELINES)
        close = any(0.5 <= gain / figure <= 2.0 for gain in (one, ten))
        claim = judged(
            f"At n = 320 the ratio on {name.capitalize()}",
            f"{figure:,}",
            "the mean ratio over one of the BDeu within a factor of 2",
            (f"{one:,.0f} over ess 1, {ten:,.0f} over ess 10", close) if both else None,
        )
        found.append(claim)
    return found
