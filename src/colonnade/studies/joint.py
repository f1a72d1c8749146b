"""Study 2: how well the joint distribution of real data is recovered (Fig. 2, top)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from colonnade.network import BayesianNetwork
from colonnade.studies.claims import Claim, judged, share
from colonnade.studies.samples import SampleStudy
from colonnade.studies.tidy import Tidy
from colonnade.tables import CodedTable

# 1 if larger is better, -1 if smaller is.
MEASURES = {"log_likelihood": 1}
BASELINES = ("bdeu 1", "bdeu 10")
# Ratios the paper gives for n = 320.
_AT_320 = {"nursery": 50, "letter": 85000}
# Mean gain by baseline, data set and n.
_Gains = Mapping[tuple[str, str, int], float]


def _log_likelihood(network: BayesianNetwork, rest: CodedTable, target: str) -> dict[str, float]:
    return {"log_likelihood": float(network.log_likelihood(rest).sum())}


STUDY = SampleStudy("joint", _log_likelihood)


def claims(results: Tidy, parents: Mapping[str, float]) -> list[Claim]:
    """Judge what the paper says of the top of Fig. 2; `parents` are those per variable."""
    over = {name: results.gains("log_likelihood", "hierarchical", name) for name in BASELINES}
    names, sizes = results.unique("data"), sorted(results.unique("n"))
    found = {
        (base, name, n): over[base].mean("gain", data=name, n=n)
        for base, name, n in product(BASELINES, names, sizes)
    }
    return [
        _thousands(found),
        _everywhere(found),
        _ten_better(found, names, sizes),
        *_nursery(found, names, parents),
        *_larger(found, names, sizes),
    ]


def _thousands(gains: _Gains) -> Claim:
    small = {key: value for key, value in gains.items() if key[2] in (20, 40)}
    found = None
    if small:
        (base, name, n), least = min(small.items(), key=lambda item: item[1])
        most = max(small.values())
        found = f"least {least:,.0f} ({name}, n = {n}, {base}), most {most:,.0f}", least > 1000
    return judged(
        "Small samples: log-likelihood ratios above one thousand on all data sets",
        "> 1000",
        "mean ratio above 1000 on every data set, n = 20 and 40, both BDeu",
        found,
    )


def _everywhere(gains: _Gains) -> Claim:
    better = [value > 0.0 for value in gains.values()]
    exceptions = [f"{key[1]} n = {key[2]}" for key, value in gains.items() if value <= 0.0]
    listed = f" (not {', '.join(dict.fromkeys(exceptions))})" if exceptions else ""
    return judged(
        "The hierarchical estimator consistently outperforms BDeu with either ess",
        "all",
        "mean ratio above 0 for every data set, n and ess",
        (share(better) + listed, all(better)),
    )


def _ten_better(gains: _Gains, names: Sequence[str], sizes: Sequence[int]) -> Claim:
    better = [gains["bdeu 10", d, n] < gains["bdeu 1", d, n] for d in names for n in sizes]
    return judged(
        "In general BDeu with ess 10 is better than with ess 1",
        "in general",
        "smaller ratio over ess 10 than over ess 1 in most cells (data set, n)",
        (share(better), sum(better) > len(better) / 2),
    )


def _nursery(gains: _Gains, names: Sequence[str], parents: Mapping[str, float]) -> list[Claim]:
    if "nursery" not in names or len(names) < 2:
        return []
    n = min(key[2] for key in gains)
    by_data = {d: min(gains[base, d, n] for base in BASELINES) for d in names}
    others = {d: parents[d] for d in names if d != "nursery"}
    own, mean = parents["nursery"], float(np.mean(list(others.values())))
    ratios = ", ".join(f"{d} {value:,.0f}" for d, value in by_data.items())
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
            (", ".join(f"{d} {x:.2f}" for d, x in others.items()), 1.5 <= mean / own <= 2.5),
        ),
    ]


def _larger(gains: _Gains, names: Sequence[str], sizes: Sequence[int]) -> list[Claim]:
    at_320 = {(base, d): gains[base, d, 320] for base in BASELINES for d in names if 320 in sizes}
    large = [n for n in sizes if n >= 640]
    positive = [gains[base, d, n] > 0.0 for base in BASELINES for d in names for n in large]
    order = None
    if {("bdeu 10", "nursery"), ("bdeu 1", "letter")} <= set(at_320):
        lowest, highest = (end(at_320, key=at_320.__getitem__)[1] for end in (min, max))
        said = f"lowest on {lowest}, highest on {highest}"
        order = said, (lowest, highest) == ("nursery", "letter")
    return [
        judged(
            "At n = 320 the ratios range from Nursery (lowest) to Letter (highest)",
            "Nursery, Letter",
            "lowest mean ratio on Nursery, highest on Letter",
            order,
        ),
        *(_figure(name, figure, at_320 if order else {}) for name, figure in _AT_320.items()),
        judged(
            "Large samples: significant ratios are obtained in general",
            "in general",
            "mean ratio above 0 at n = 640 and 1280 in most cells (data set, ess)",
            (share(positive), sum(positive) > len(positive) / 2) if large else None,
        ),
    ]


def _figure(name: str, figure: int, at_320: Mapping[tuple[str, str], float]) -> Claim:
    """Compare with a figure of the paper, which does not say over which ess it is."""
    found = None
    if at_320:
        one, ten = (at_320[base, name] for base in BASELINES)
        close = any(0.5 <= value / figure <= 2.0 for value in (one, ten))
        found = f"{one:,.0f} over ess 1, {ten:,.0f} over ess 10", close
    return judged(
        f"At n = 320 the ratio on {name.capitalize()}",
        f"{figure:,}",
        "the mean ratio over one of the BDeu within a factor of 2",
        found,
    )
