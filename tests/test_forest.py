"""The forest of networks, against a plain reading of what a member is."""

# ruff: noqa: N803, N806 (scikit-learn calls the features X)

from __future__ import annotations

import itertools
import json
import math
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import colonnade as cn
from colonnade.classifier import (
    BayesianNetworkForest,
    SmallWeightWarning,
    UnknownStateWarning,
    _families,
    _intervals,
    _members,
)
from colonnade.classifier._drawn import DrawnLogs
from colonnade.classifier._forest import averaged
from colonnade.exceptions import ColumnWarning, DataError, FileFormatError, InputError
from colonnade.files import native
from colonnade.tables import Bins, Cuts
from command_line import plain_terminal, run
from labelled_tables import letters, mixed, with_gaps


def small(**options):
    """A forest that is quick to learn."""
    options = {"n_members": 3, "random_state": 0, "prior": cn.SymmetricDirichlet(), **options}
    return BayesianNetworkForest(**options)


def few_rows(rows=40, seed=3):
    """Two columns of numbers, one of few of them, and two of states."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows) + y,
            "b": rng.normal(size=rows) - y,
            "c": rng.choice([0.5, 1.5], rows),
            "d": rng.choice(["p", "q", "r"], rows),
            "e": rng.integers(0, 3, rows) + y,
        }
    ), y


# ------------------------------------------------------ one member, read from its description


class PlainMember:
    """Cuts, order and parents of one member, in plain loops."""

    def __init__(self, X, y, seed, most_parents=3):
        rng = np.random.default_rng(seed)
        self.n, self.y = len(y), np.asarray(y)
        limit = min(10, max(3, round(self.n**0.28)))
        self.points, self.codes = {}, {}
        for name in X:
            column = X[name]
            if column.dtype.kind == "f":
                b, u = int(rng.integers(2, limit + 1)), rng.random()
                self.points[name] = self.cuts(np.sort(column.to_numpy()), b, u)
                self.codes[name] = np.searchsorted(self.points[name], column, side="left")
            else:
                self.codes[name] = np.unique(column, return_inverse=True)[1]
        names = list(X)
        gumbel = rng.gumbel(size=len(names))
        free = rng.random((len(names), len(names)))
        rank = {
            name: math.log(self.information(name) + 0.001) + gumbel[k] / 2
            for k, name in enumerate(names)
        }
        self.order = sorted(names, key=lambda name: -rank[name])
        self.parents = {}
        for place, name in enumerate(self.order):
            earlier = self.order[:place]
            if place > most_parents:
                k, often = names.index(name), min(0.5, math.sqrt(self.n) / place)
                earlier = [each for each in earlier if free[k, names.index(each)] < often]
            # Of equally good ones, those that come first in the table.
            gains = {each: -round(self.gain(name, each), 12) for each in earlier}
            best = sorted(sorted(earlier, key=names.index), key=gains.__getitem__)
            self.parents[name] = best[:most_parents]

    @staticmethod
    def cuts(numbers, b, u):
        different = np.unique(numbers)
        if len(different) <= b:
            return (different[1:] + different[:-1]) / 2
        points = []
        for i in range(b):
            # All values differ: the quantile is so far between two neighbours.
            share = (i + u) / b * len(numbers)
            k = math.ceil(share) - 1
            if k + 1 < len(numbers):
                part = share - k
                points.append(numbers[k] + part * (numbers[k + 1] - numbers[k]))
        return np.array(points)

    def information(self, name):
        """Mutual information with the class, by its definition."""
        total = 0.0
        for x, c in itertools.product(np.unique(self.codes[name]), np.unique(self.y)):
            both = np.mean((self.codes[name] == x) & (self.y == c))
            if both:
                total += both * math.log(
                    both / np.mean(self.codes[name] == x) / np.mean(self.y == c)
                )
        return total

    def gain(self, first, second):
        """Mutual information given the class, less what chance adds."""
        total, freedom = 0.0, 0
        for c in np.unique(self.y):
            one, two = self.codes[first][self.y == c], self.codes[second][self.y == c]
            here = len(one) / self.n
            for v, w in itertools.product(np.unique(one), np.unique(two)):
                both = np.mean((one == v) & (two == w))
                if both:
                    total += here * both * math.log(both / np.mean(one == v) / np.mean(two == w))
            freedom += (len(np.unique(one)) - 1) * (len(np.unique(two)) - 1)
        return total - freedom / (2 * self.n)


def wide_rows(rows=16, columns=40):
    """Many columns of numbers that say nothing."""
    rng = np.random.default_rng(8)
    numbers = rng.normal(size=(rows, columns))
    X = pd.DataFrame({f"x{k}": numbers[:, k] for k in range(columns)})
    return X.assign(a=X["x0"], c=X["x1"], d="p", e="q"), np.arange(rows) % 3


@pytest.mark.parametrize("seed", range(5))
def test_a_member_is_what_it_is_described_to_be(seed):
    X, y = few_rows(seed=seed) if seed < 4 else wide_rows()
    model = small(n_members=4, random_state=seed).fit(X, y)
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=4)
    for network, own in zip(model.networks_, seeds, strict=True):
        plain = PlainMember(X, y, own)
        for name, points in plain.points.items():
            found = network.discretizer.get(name).points
            # Points may be rounded, but the rows stay in their intervals.
            codes = np.searchsorted(found, X[name], side="left")
            np.testing.assert_array_equal(codes, plain.codes[name])
            assert len(found) == len(points)
        for name, parents in plain.parents.items():
            assert list(network.dag.parents(name)) == ["class", *parents]
        kinds = {name: type(prior).__name__ for name, prior in network.priors.items()}
        assert kinds["a"] == kinds["c"] == "Smoothed"
        assert kinds["d"] == kinds["e"] == "SymmetricDirichlet"


def plain_s_mean(tables):
    """The prior mean of strengths that many tables have in common, in plain loops."""
    multiples, strengths = [2 ** (k / 2) for k in range(-4, 15)], [2.0**k for k in range(-5, 8)]
    chances = []
    for multiple in multiples:
        density = [s * s * math.exp(-2 * s / multiple) for s in strengths]
        total = -((math.log(multiple / 4) / 0.5) ** 2) / 2
        for table in tables:
            classes, states = table.shape
            own = 0.0
            for s, share in zip(strengths, density, strict=True):
                score = 1.0
                for c, x in itertools.product(range(classes), range(states)):
                    if table[c, x]:
                        rest = table.astype(float)
                        rest[c, x] -= min(1.0, table[c, x])
                        pool = (rest[:, x].sum() + 1) / (rest.sum() + states)
                        chance = (rest[c, x] + s * states * pool) / (rest[c].sum() + s * states)
                        score *= chance ** table[c, x]
                own += share / sum(density) * score
            total += math.log(own)
        chances.append(math.exp(total))
    logs = [math.log(multiple) for multiple in multiples]
    return math.exp(np.average(logs, weights=chances))


def test_the_prior_is_learned_from_all_features_given_the_class():
    X, y = few_rows(61)
    X.loc[::7, "d"] = None
    X.loc[3::8, "a"] = np.nan
    X["one"] = "always"  # says nothing of strengths
    prior = BayesianNetworkForest(1, random_state=0).fit(X, y).prior_
    tables = []
    for name in X.columns[:5]:
        known = X[name].notna().to_numpy()
        values = X[name][known]
        if values.dtype.kind == "f":
            points = PlainMember.cuts(np.sort(values.to_numpy()), 3, 0.5)
            codes = np.searchsorted(points, values, side="left")
        else:
            codes = np.unique(values, return_inverse=True)[1]
        table = np.zeros((3, codes.max() + 1))
        np.add.at(table, (y[known], codes), 1)
        tables.append(table)
    wanted = plain_s_mean(tables)
    assert prior == cn.Tiered(s_mean=prior.s_mean, one_parent="left_out")
    assert prior.s_mean == pytest.approx(wanted, rel=0.005)
    assert abs(wanted - 4.0) > 0.3


def test_the_prior_leans_more_where_columns_say_less():
    X, y = wide_rows(200)
    noise = BayesianNetworkForest(1, random_state=0).fit(X, y).prior_
    numbers = X.select_dtypes("number") + 3.0 * y[:, None]
    said = BayesianNetworkForest(1, random_state=0).fit(numbers, y).prior_
    assert said.s_mean < 2.0 < 8.0 < noise.s_mean


def test_the_posterior_of_tables_with_one_parent_is_integrated_where_that_is_quick():
    numbers = np.random.default_rng(0).normal(size=(51, 101))
    y = np.arange(51) % 2
    for rows, columns, wanted in (
        (50, 3, "integrated"),
        (51, 3, "left_out"),
        (20, 101, "left_out"),
    ):
        model = BayesianNetworkForest(1).fit(numbers[:rows, :columns], y[:rows])
        assert model.prior_.one_parent == wanted
    # Weights count rows.
    model = BayesianNetworkForest(1).fit(numbers[:20, :3], y[:20], np.full(20, 3.0))
    assert model.prior_.one_parent == "left_out"


def test_a_learned_prior_is_that_of_the_networks_and_stays(tmp_path):
    X, y = few_rows(48)
    forest = BayesianNetworkForest(2, random_state=0).fit(X, y)
    assert forest.prior_.one_parent == "integrated"
    for network in forest.networks_:
        assert network["d"].prior == forest.prior_
        assert network["a"].prior == cn.Smoothed(forest.prior_)
    forest.save(tmp_path / "forest.json")
    again = BayesianNetworkForest.load(tmp_path / "forest.json")
    assert again.prior_ == forest.prior_
    first = forest.prior_
    more = forest.partial_fit(*few_rows(80, seed=9))
    assert more.prior_ == first == more.networks_[0]["d"].prior
    assert more.set_params(prior=cn.BDeu(1)).partial_fit(X, y).prior_ == cn.BDeu(1)
    asked = cn.Tiered(s_mean=2.0)
    assert small(prior=asked).fit(X, y).prior_ == asked


def test_weights_of_any_size_teach_a_prior():
    X, y = few_rows(60)
    twice = BayesianNetworkForest(1).fit(X, y, np.full(60, 2.0)).prior_
    both = BayesianNetworkForest(1).fit(pd.concat([X, X]), np.concatenate([y, y])).prior_
    assert twice == both
    # Weights that add up to one say little.
    with pytest.warns(SmallWeightWarning):
        little = BayesianNetworkForest(1).fit(X, y, np.full(60, 1 / 60)).prior_
    assert abs(little.s_mean - 4.0) < 0.3 < abs(both.s_mean - 4.0)


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_pairs_of_features_are_counted_at_once_or_one_by_one(weights, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = wide_rows(40)
    X = X.mask(rng.random(X.shape) < 0.005)
    options = {
        None: None,
        "whole": rng.integers(1, 4, len(X)),
        "fractions": rng.random(len(X)) + 0.5,
    }
    found = []
    for many in (1e9, 0.0):
        monkeypatch.setattr(_members, "_FEW_PAIRS", many)
        found.append(small(n_members=4).fit(X, y, options[weights]).networks_)
    for one, other in zip(*found, strict=True):
        assert one.dag == other.dag


def codes_of(network, X, y):
    """The rows as a member sees them, ``{name: codes}``."""
    found = {}
    for variable in network.variables:
        if variable.name == "class":
            found["class"] = np.asarray(y)
        elif (cuts := network.discretizer.get(variable.name)) is not None:
            found[variable.name] = np.searchsorted(cuts.points, X[variable.name], side="left")
        else:
            found[variable.name] = np.array([variable.states.index(v) for v in X[variable.name]])
    return found


def class_logs(network, codes, left_out):
    """Log probabilities of classes, by tables that are counted again without the row."""
    n, classes = len(codes["class"]), network["class"].family.cardinality
    found = np.zeros((n, classes))
    everything = np.ones(n, dtype=bool)
    for i, c in itertools.product(range(n), range(classes)):
        keep = np.arange(n) != i if left_out else everything
        found[i, c] = math.log((codes["class"][keep] == c).sum() + 1)
        # Only what concerns the row's own class is counted without it.
        used = keep if c == codes["class"][i] else everything
        for name in network.dag.variables:
            if name == "class":
                continue
            family = network[name].family
            match = used.copy()
            for parent in family.parents:
                match &= codes[parent.name] == (
                    c if parent.name == "class" else codes[parent.name][i]
                )
            counts = np.bincount(codes[name][match], minlength=family.cardinality)
            row = (counts + 1.0) / (counts.sum() + family.cardinality)
            weight = getattr(network[name].posterior, "weight", 0.0)
            x, last = codes[name][i], family.cardinality - 1
            around = row[max(x - 1, 0)] + row[min(x + 1, last)]
            found[i, c] += math.log((1 - weight) * row[x] + weight / 2 * around)
    return found - np.logaddexp.reduce(found, axis=1, keepdims=True)


def test_one_member_predicts_what_its_tables_say():
    X, y = few_rows(30)
    model = small(n_members=1).fit(X, y)
    network = model.networks_[0]
    wanted = class_logs(network, codes_of(network, X, y), left_out=False)
    np.testing.assert_allclose(model.predict_log_proba(X), wanted)
    np.testing.assert_array_equal(model.predict(X), wanted.argmax(axis=1))


@pytest.mark.parametrize("dense", [True, False])
def test_weights_are_leave_one_out_scores_of_the_class(dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(_families, "MAX_FILLED_CELLS", 0)
    X, y = few_rows(30)
    model = small().fit(X, y)
    scores = []
    for network in model.networks_:
        logs = class_logs(network, codes_of(network, X, y), left_out=True)
        scores.append(logs[np.arange(30), y].sum())
    wanted = np.exp(np.array(scores) / 32)
    np.testing.assert_allclose(model.weights_, wanted / wanted.sum())
    assert np.ptp(model.weights_) > 0.001


def odd_rows(rows=130):
    """Numbers, states and gaps; columns with one state, without values, and with a copy."""
    X, y = few_rows(rows)
    # That there is a value says much about the class, and the value nothing.
    X["ticked"] = np.where((y == 0) & (np.arange(rows) % 5 > 0), "yes", None)
    X["one"] = "always"
    X["none"] = np.nan
    X["copy"] = X["a"]
    X.loc[::7, "b"] = np.nan
    X.loc[3::9, "d"] = None
    return X, y


def has_network(member):
    """Whether the network of a member has been made."""
    return "network" in vars(member.tables._origin)


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
@pytest.mark.parametrize("max_parents", [0, 1, 3, 4])
def test_tables_learned_at_once_are_those_of_the_networks(weights, max_parents, monkeypatch):
    X, y = odd_rows()
    rng = np.random.default_rng(1)
    drawn = {"whole": rng.integers(0, 4, len(y)), "fractions": rng.random(len(y)) * 2}.get(weights)
    options = {"prior": cn.Tiered(one_parent="left_out"), "max_parents": max_parents}
    quick = small(**options).fit(X, y, sample_weight=drawn)
    monkeypatch.setattr(_members, "_grown", lambda *_: None)
    plain = small(**options).fit(X, y, sample_weight=drawn)
    assert all(has_network(member) for member in plain._forest.members)
    assert weights == "fractions" or not any(
        has_network(member) for member in quick._forest.members
    )
    scores = [[member.log_score for member in each._forest.members] for each in (quick, plain)]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)
    found, wanted = quick.predict_log_proba(X), plain.predict_log_proba(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert quick.networks_ == plain.networks_


def test_a_column_with_one_value_is_no_parent():
    X, y = odd_rows()
    networks = small(n_members=16).fit(X, y).networks_
    parents = {parent for network in networks for name in X for parent in network.dag.parents(name)}
    assert {"a", "b"} <= parents
    assert not {"ticked", "one", "none"} & parents


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (_members, "_MAX_GROWN_ROWS", 39),
        (_members, "_MAX_GROWN_STATES", 2),
        (_families, "MAX_FILLED_CELLS", 9),
    ],
)
def test_tables_that_are_too_large_are_not_learned_at_once(module, name, value, monkeypatch):
    X, y = few_rows()
    options = {"prior": cn.Tiered(one_parent="left_out")}
    wanted = small(**options).fit(X, y).predict_log_proba(X)
    monkeypatch.setattr(module, name, value)
    model = small(**options).fit(X, y)
    assert all(has_network(member) for member in model._forest.members)
    np.testing.assert_allclose(model.predict_log_proba(X), wanted, rtol=1e-9, atol=1e-9)


def test_weights_of_any_size_are_counted():
    X, y = few_rows()
    options = {"prior": cn.Tiered(one_parent="left_out")}
    chances = [
        small(**options).fit(X, y, sample_weight=np.full(len(y), each)).predict_proba(X)
        for each in (1e6, 1e9, 1e12)
    ]
    np.testing.assert_allclose(chances[0], chances[2], atol=1e-3)
    np.testing.assert_allclose(chances[1], chances[2], atol=1e-6)


@pytest.mark.parametrize("average", ["geometric", "arithmetic"])
def test_members_are_averaged(average):
    X, y = few_rows()
    model = small(average=average).fit(X, y)
    each = [class_logs(net, codes_of(net, X, y), False) for net in model.networks_]
    if average == "geometric":
        wanted = np.exp(np.tensordot(model.weights_, each, 1))
        wanted /= wanted.sum(axis=1, keepdims=True)
    else:
        wanted = np.tensordot(model.weights_, np.exp(each), 1)
    np.testing.assert_allclose(model.predict_proba(X), wanted)
    one = averaged(each, np.array([0.0, 1.0, 0.0]), average)
    np.testing.assert_allclose(one, each[1])


# ------------------------------------------------------------------------------------- laws


def test_the_same_for_any_number_of_jobs_and_a_larger_forest_begins_with_a_smaller_one():
    X, y = few_rows()
    chances = small().fit(X, y).predict_proba(X)
    for jobs in (2, -1, np.int64(2)):
        np.testing.assert_array_equal(small(n_jobs=jobs).fit(X, y).predict_proba(X), chances)
    larger = small(n_members=5).fit(X, y)
    assert larger.networks_[:3] == small().fit(X, y).networks_
    other = small(random_state=1).fit(X, y)
    assert other.networks_ != larger.networks_[:3]


def test_weight_two_is_two_rows_and_the_order_of_rows_does_not_matter():
    X, y = few_rows()
    X = X.where(np.random.default_rng(0).random(X.shape) < 0.9)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = small().fit(X, y, sample_weight=weights)
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    repeated = small().fit(X.iloc[rows], y[rows])
    for one, two in zip(weighted.networks_, repeated.networks_, strict=True):
        assert one == two
    np.testing.assert_allclose(weighted.weights_, repeated.weights_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_labels_may_be_called_anything():
    X, y = few_rows()
    names = np.array(["z", "y", "x"])
    chances = small().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(small().fit(X, names[y]).predict_proba(X)[:, ::-1], chances)


def test_gaps_are_summed_out_in_every_member():
    X, y = letters(rows=120, features=4)
    gappy = with_gaps(X)
    bins = {f"x{k}": None for k in range(4)}
    model = small(prior=cn.Tiered(), n_members=2, bins=bins).fit(gappy, y)
    rows = gappy[:25]
    wanted = np.zeros((25, 3))
    for network, weight in zip(model.networks_, model.weights_, strict=True):
        for i, row in enumerate(rows):
            seen = {f"x{k}": int(v) for k, v in enumerate(row) if not np.isnan(v)}
            wanted[i] += weight * np.log(network.query("class", seen).probabilities)
    wanted -= np.logaddexp.reduce(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(rows), wanted, rtol=1e-9, atol=1e-12)


def test_mixed_columns_unknown_values_and_declared_classes():
    X, y = mixed()
    model = small(classes=[0, 1, 2]).fit(X, y)
    assert model.predict_proba(X).shape == (90, 3)
    strange = X.copy()
    strange["colour"] = "green"
    lacking = X.copy()
    lacking["colour"] = None
    with pytest.warns(UnknownStateWarning, match="'green'"):
        found = model.predict_proba(strange)
    np.testing.assert_array_equal(found, model.predict_proba(lacking))
    with pytest.raises(DataError, match="green"):
        small(unknown="raise").fit(X, y).predict(strange)


def cut_columns(model):
    """Which columns the members cut."""
    return {tuple(cuts.name for cuts in each.discretizer.columns) for each in model.networks_}


def test_whole_numbers_are_cut_or_kept_as_asked():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame({"age": rng.integers(20, 60, 80) + 5 * y, "zone": rng.integers(0, 4, 80)})
    with pytest.warns(ColumnWarning, match="'age'"):
        model = small().fit(X, y)
    assert all(
        net.discretizer.get("age") and not net.discretizer.get("zone") for net in model.networks_
    )
    kept = small(bins={"age": None, "zone": 2}).fit(X, y)
    assert all(
        net.discretizer.get("zone") and not net.discretizer.get("age") for net in kept.networks_
    )


def test_more_rows_keep_cuts_and_graphs():
    X, y = few_rows(60)
    X["e"] = X["e"].clip(0, 2)
    model = small().partial_fit(X[:30], y[:30], classes=[0, 1, 2])
    first = model.networks_
    scores = [member.log_score for member in model._forest.members]
    model.partial_fit(X[30:], y[30:])
    for old, new in zip(first, model.networks_, strict=True):
        assert old.dag == new.dag
        assert old.discretizer == new.discretizer
        assert new["class"].counts.total == 60
    # Later rows judge members by how well they are predicted before they are counted.
    for k, member in enumerate(model._forest.members):
        network = first[k]
        codes = codes_of(network, X, y)
        counts = {name: network[name] for name in network.dag.variables}
        logs = np.zeros((30, 3))
        for i, c in itertools.product(range(30), range(3)):
            for name, cpt in counts.items():
                given = [
                    c if parent.name == "class" else codes[parent.name][30 + i]
                    for parent in cpt.family.parents
                ]
                state = c if name == "class" else codes[name][30 + i]
                logs[i, c] += math.log(cpt.table.row(tuple(given))[state])
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        gained = logs[np.arange(30), y[30:]].sum()
        assert member.log_score == pytest.approx(scores[k] + gained)


def test_new_states_and_classes_join_later():
    X, y = few_rows(60)
    model = small().partial_fit(X[y < 2], y[y < 2])
    model.partial_fit(X[y == 2].assign(d="new"), y[y == 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.networks_[0]["d"].family.child.states == ("new", "p", "q", "r")
    assert model.score(X, y) > 0.6


# -------------------------------------------------------------------------------- answers


def test_intervals_hold_the_estimate_and_repeat():
    X, y = few_rows()
    model = small(prior=cn.Tiered()).fit(X, y)
    chances = model.predict_proba(X)
    lower, upper = model.predict_interval(X, level=0.99, draws=2000, rng=0)
    assert lower.shape == chances.shape
    assert ((lower <= chances) & (chances <= upper)).all()
    again = model.predict_interval(X, level=0.99, draws=2000, rng=0)
    np.testing.assert_array_equal(again.lower, lower)
    narrow = model.predict_interval(X, level=0.5, draws=2000, rng=0)
    assert (narrow.upper - narrow.lower).mean() < (upper - lower).mean()
    gaps = X.where(np.random.default_rng(0).random(X.shape) < 0.7)
    lower, upper = model.predict_interval(gaps, draws=500, rng=0)
    assert ((lower >= 0) & (lower < upper) & (upper <= 1)).all()


def test_an_interval_tells_how_far_members_agree():
    """With one member that weighs everything, it is the interval of that member."""
    X, y = few_rows()
    model = small(n_members=2).fit(X, y)
    both = model.predict_interval(X, level=0.9, draws=4000, rng=1)
    model.weights_ = np.array([1.0, 0.0])
    one = model.predict_interval(X, level=0.9, draws=4000, rng=1)
    model.weights_ = np.array([0.0, 1.0])
    two = model.predict_interval(X, level=0.9, draws=4000, rng=1)
    # A mixture reaches at most as far as its parts.
    slack = 0.03
    assert (both.lower >= np.minimum(one.lower, two.lower) - slack).all()
    assert (both.upper <= np.maximum(one.upper, two.upper) + slack).all()


def test_importances_find_what_matters():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack(
        [rng.normal(size=200), 2 * y + rng.normal(size=200), y + rng.normal(size=200)]
    )
    model = small().fit(X, y)
    shares = model.feature_importances_
    assert shares.shape == (3,)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[1] > shares[2] > shares[0] >= 0.0
    nothing = small().fit(X, np.zeros(200, dtype=int))
    assert nothing.feature_importances_.sum() in (0.0, pytest.approx(1.0))


def test_the_class_has_a_name_that_no_feature_has():
    X, y = few_rows()
    named = pd.Series(y, name="kind")
    assert small().fit(X, named).target_name_ == "kind"
    assert small().fit(X, pd.Series(y, name="a")).target_name_ == "class"
    model = small().fit(X.rename(columns={"a": "class"}), y)
    assert model.target_name_ == "class'"
    assert model.networks_[0].dag.parents("class")[0] == "class'"
    assert small(target_name="k").fit(X, named).target_name_ == "k"
    with pytest.raises(InputError, match="a name that no feature has"):
        small(target_name="a").fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_members": 0}, "`n_members`"),
        ({"max_parents": -1}, "`max_parents`"),
        ({"average": "median"}, "`average`"),
        ({"prior": cn.MaximumLikelihood()}, "a prior with a posterior"),
        ({"prior": "auto"}, "a prior with a posterior"),
        ({"n_jobs": 0}, "`n_jobs`"),
        ({"bins": 1}, "`bins`"),
        ({"unknown": "drop"}, "`unknown`"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        small(**options).fit(*few_rows())


def test_clone_and_pickle():
    X, y = few_rows()
    model = small().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()


def test_better_than_one_network():
    """Log-loss on wine: sixteen networks beat the single one of their kind."""
    X, y = load_wine(return_X_y=True)
    train, test, known, hidden = train_test_split(X, y, train_size=60, stratify=y, random_state=0)
    own = np.arange(len(hidden)), hidden
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        many = BayesianNetworkForest(random_state=0).fit(train, known)
        one = cn.BayesianNetworkClassifier("kdb").fit(train, known)
    losses = [-model.predict_log_proba(test)[own].mean() for model in (many, one)]
    assert losses[0] < losses[1]


# ---------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior": cn.Tiered(), "bins": {"a": 3}, "classes": [0, 1, 2]},
        {"average": "arithmetic"},
        {"bins": {"a": [0.0, 0.5]}},
        {"bins": {"a": Cuts("a", [0.0], ["low", "high"])}},
        {"bins": Bins(3, {"a": Cuts("a", [0.0], ["low", "high"])})},
    ],
    ids=str,
)
def test_a_forest_is_saved_and_loaded(options, tmp_path):
    X, y = few_rows()
    X = X.where(np.random.default_rng(0).random(X.shape) < 0.9)
    model = small(**options).fit(X, pd.Series(y, name="kind"))
    model.save(tmp_path / "forest.json")
    again = BayesianNetworkForest.load(tmp_path / "forest.json")
    assert again.get_params() == model.get_params()
    assert again.networks_ == model.networks_
    assert again.target_name_ == "kind"
    for name in ("classes_", "weights_", "feature_names_in_", "feature_importances_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    ends, same = (each.predict_interval(X, draws=200, rng=1) for each in (again, model))
    np.testing.assert_array_equal(ends.lower, same.lower)
    more = again.partial_fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(more, model.partial_fit(X, y).predict_proba(X))
    with pytest.raises(InputError, match="a name that is not taken"):
        model.save(tmp_path / "forest.json")


@pytest.mark.parametrize("name", ["forest.pkl", "forest", "forest.json.gz"])
def test_a_forest_is_saved_as_json_only(name, tmp_path):
    model = small(n_members=1).fit(*few_rows())
    with pytest.raises(InputError, match=r"Expected a name that ends in \.json for `path`"):
        model.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    model.save(tmp_path / "FOREST.JSON")


def test_a_forest_is_no_network(tmp_path, monkeypatch):
    path = tmp_path / "forest.json"
    small(n_members=1).fit(*few_rows()).save(path)
    advice = r"not a network saved by Colonnade\. Hint: .*BayesianNetworkForest\.load\(path\)"
    with pytest.raises(FileFormatError, match=advice):
        cn.load(path)
    plain_terminal(monkeypatch)
    text = run("show", path, code=1).stderr
    hint = "it is a forest: predict and report take it, and Python, with BayesianNetworkForest.load"
    assert f"Hint: {hint}." in text


def test_labels_keep_their_type(tmp_path):
    X, y = few_rows()
    for number, labels in enumerate([np.array(["z", "y", "x"])[y], y.astype(float), y > 0]):
        for given in (labels, labels.astype(object)) if number == 0 else (labels,):
            path = tmp_path / f"{number}{given.dtype.kind}.json"
            model = small(n_members=1).fit(X.to_numpy()[:, :2].astype(float), given)
            model.save(path)
            again = BayesianNetworkForest.load(path)
            assert again.classes_.dtype.kind == model.classes_.dtype.kind
            np.testing.assert_array_equal(again.classes_, model.classes_)
            assert not hasattr(again, "feature_names_in_")


def test_a_damaged_file_is_refused(tmp_path):
    X, y = few_rows()
    path = tmp_path / "forest.json"
    small().fit(X, y).save(path)
    text = path.read_text()
    for old, new, message in (
        ('"rows": 40.0', '"rows": 41.0', "checksum"),
        ("colonnade forest", "colonnade jungle", "not a forest"),
        ('"version": 1', '"version": 9', "only version 1"),
        ("]", "", "not JSON"),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(FileFormatError, match=message):
            BayesianNetworkForest.load(path)
    document = native.parsed(text.encode())
    changes = [
        ("scores", [1.0]),
        ("members", []),
        ("used", ["a"]),
        ("classes", [0, "1"]),
        ("rows", -1.0),
        ("bins", 3),
        ("parameters", {}),
        ("identifiers", [1]),
        ("target", 3),
        ("more", 1),
    ]
    for key, value in changes:
        broken = {**document, key: value}
        broken["checksum"] = native.checksum(broken)
        path.write_text(json.dumps(broken))
        with pytest.raises(FileFormatError):
            BayesianNetworkForest.load(path)
    network = small().fit(X, y).networks_[0]
    network.save(tmp_path / "one.json")
    with pytest.raises(FileFormatError, match=r"colonnade\.load"):
        BayesianNetworkForest.load(tmp_path / "one.json")
    assert cn.load(tmp_path / "one.json") == network


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_do_not_depend_on_how_rows_are_drawn_for(monkeypatch, classes: int) -> None:
    X, y = letters(rows=80)
    X = with_gaps(X, 0.1)
    y = np.where(y == y[0], "b", "a") if classes == 2 else y
    model = BayesianNetworkForest(n_members=3, random_state=0).fit(X, y)
    usual = model.predict_interval(X, level=0.5, draws=3000, rng=1)
    assert usual.lower.shape == (80, len(set(y)))
    home = "colonnade.classifier._intervals"
    # Blocks of the cache and threads make no difference, and tables that are drawn again little.
    monkeypatch.setattr(f"{home}._BLOCK_CELLS", 30_000)
    monkeypatch.setattr("colonnade.threads.worker_count", lambda _: 1)
    np.testing.assert_array_equal(model.predict_interval(X, level=0.5, draws=3000, rng=1), usual)
    monkeypatch.setattr(f"{home}._MAX_DRAWN", 1 << 18)
    other = model.predict_interval(X, level=0.5, draws=3000, rng=1)
    np.testing.assert_allclose(other, usual, atol=0.12)
    assert 0.0 < np.abs(np.subtract(other, usual)).mean() < 0.01
    if classes == 2:
        np.testing.assert_allclose(usual.lower[:, 0], 1.0 - usual.upper[:, 1], atol=1e-12)


def test_tables_are_drawn_once_for_many_rows(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    X = rng.integers(3, size=(100, 8)) + y[:, None]
    model = BayesianNetworkForest(n_members=2, random_state=0).fit(X, y)
    tables, drawn = sum(len(network) for network in model.networks_), []
    for name in ("rows", "margins"):
        made = getattr(DrawnLogs, name)
        counting = partial(_counted, made, drawn)
        monkeypatch.setattr(DrawnLogs, name, lambda self, *args, do=counting: do(self, *args))
    model.predict_interval(rng.integers(4, size=(3000, 8)), draws=4000, rng=0)
    assert len(drawn) <= tables


def _counted(made, drawn, *args):
    drawn.append(made)
    return made(*args)


def test_there_are_fewer_draws_for_many_rows() -> None:
    X, y = letters(rows=60)
    model = BayesianNetworkForest(n_members=2, random_state=0).fit(X, y)
    tables = [member.tables for member in model._forest.members]

    def draws(rows: int) -> int:
        return _intervals._affordable_of_all(tables, model.weights_, rows)

    assert draws(10) == 4000
    assert 400 < draws(12_000) < 4000
    assert draws(10**7) == 400


def test_one_class_is_certain() -> None:
    X, _ = few_rows()
    model = small().fit(X, ["only"] * len(X))
    np.testing.assert_array_equal(np.stack(model.predict_interval(X.head(3), rng=0)), 1.0)


def test_equal_rows_have_equal_intervals(monkeypatch) -> None:
    monkeypatch.setattr("colonnade.classifier._intervals._MAX_DRAWN", 1 << 20)  # several parts
    X, y = letters(rows=80)
    model = BayesianNetworkForest(n_members=3, random_state=0).fit(X, y)
    ends = model.predict_interval(np.tile(X[:3], (400, 1)), draws=200, rng=0)
    for end in ends:
        assert len(np.unique(end, axis=0)) <= 3
        assert np.array_equal(end[:3], end[-3:])
