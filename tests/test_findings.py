"""Evidence as people have it, against sums over all states and against pyAgrum."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colonnade import BayesianNetwork, Cpt, Dag, Family, Tiered, Variable, fit
from colonnade.exceptions import DataError, InputError
from colonnade.inference import Evidence
from colonnade.tables import Cuts, Discretizer
from drawn_networks import joint, networks

AGE, ILL = Variable("age", ["young", "middle", "old"]), Variable("ill", ["no", "yes"])


@pytest.fixture(scope="module")
def network():
    smoker = Variable("smoker", [False, True])
    return BayesianNetwork(
        Dag([("age", "ill"), ("smoker", "ill")]),
        {
            "age": Cpt.known(Family(AGE), [0.5, 0.3, 0.2]),
            "smoker": Cpt.known(Family(smoker), [0.7, 0.3]),
            "ill": Cpt.known(
                Family(ILL, (AGE, smoker)),
                [[0.95, 0.05], [0.8, 0.2], [0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.3, 0.7]],
            ),
        },
    )


@st.composite
def weighted(draw):
    """A network and a likelihood per state of some of its variables."""
    network = draw(networks(least=2, most=5))
    names = draw(st.lists(st.sampled_from(list(network)), unique=True, min_size=1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = {}
    for name in names:
        own = rng.random(network[name].family.cardinality)
        own[rng.random(own.size) < 0.3] = 0.0
        if own.any():
            found[name] = own
    assume(found and all(network[name].table.complete for name in network))
    return network, found


def as_written(network, found):
    return {
        name: dict(zip(network[name].family.child.states, own.tolist(), strict=True))
        for name, own in found.items()
    }


def weighted_joint(network, found):
    total = joint(network)
    for name, own in found.items():
        shape = [1] * total.ndim
        shape[network.dag.variables.index(name)] = -1
        total = total * own.reshape(shape)
    return total


@settings(max_examples=40)
@given(weighted(), st.data())
def test_every_verb_agrees_with_sums_over_all_states(drawn, data):
    network, found = drawn
    total, names = weighted_joint(network, found), network.dag.variables
    open_names = [n for n in names if n not in found or np.count_nonzero(found[n]) > 1]
    targets = data.draw(st.permutations(open_names))
    targets = targets[: data.draw(st.integers(1, 3))]
    assume(targets)
    observed = as_written(network, found)
    if total.sum() == 0.0:
        for ask in (network.query, lambda t, o: network.most_probable(o, t)):
            with pytest.raises(DataError, match="cannot occur"):
                ask(targets, observed)
        with pytest.raises(DataError, match="cannot occur"):
            network.sample(3, 0, observed)
        return
    others = tuple(k for k, name in enumerate(names) if name not in targets)
    marginal = total.sum(axis=others)
    kept = [name for name in names if name in targets]
    marginal = marginal.transpose([kept.index(name) for name in targets])
    result = network.query(targets, observed)
    np.testing.assert_allclose(result.probabilities, marginal / marginal.sum(), atol=1e-12)
    states, log_probability = network.most_probable(observed, targets)
    assert list(states) == list(targets)
    place = tuple(network[n].family.child.states.index(states[n]) for n in targets)
    # Likelihoods count relative to the largest one.
    scale = math.log(math.prod(own.max() for own in found.values()))
    assert math.isclose(log_probability + scale, math.log(marginal.max()), abs_tol=1e-9)
    assert math.isclose(marginal[place], marginal.max(), rel_tol=1e-9)
    everything = network.most_probable(observed).states
    place = tuple(network[n].family.child.states.index(everything[n]) for n in names)
    assert math.isclose(total[place], total.max(), rel_tol=1e-9)


def test_rows_drawn_given_findings_have_their_probabilities(network):
    observed = {"age": ["young", "old"], "ill": {"no": 0.2, "yes": 0.9}}
    rows = network.sample(40_000, 1, observed)
    total = weighted_joint(network, {"age": np.array([1, 0, 1.0]), "ill": np.array([0.2, 0.9])})
    total /= total.sum()
    sizes = [range(n) for n in total.shape]
    states = [network[name].family.child.states for name in network]
    for codes in itertools.product(*sizes):
        same = [rows[name] == own[k] for name, own, k in zip(network, states, codes, strict=True)]
        share, wanted = np.logical_and.reduce(same).mean(), total[codes]
        assert abs(share - wanted) < 5 * math.sqrt(wanted / 40_000) + 1e-9


def test_rows_are_exact_however_improbable(network):
    rare = Variable("rare", ["no", "yes"])
    tables = dict(network.tables)
    tables["rare"] = Cpt.known(Family(rare, (ILL,)), [[1 - 1e-12, 1e-12], [1 - 1e-9, 1e-9]])
    wider = BayesianNetwork(network.dag.__class__([*network.dag.arcs, ("ill", "rare")]), tables)
    rows = wider.sample(2000, 0, {"rare": "yes"})
    assert set(rows["rare"]) == {"yes"}
    wanted = wider.query("ill", {"rare": "yes"})["yes"]
    assert abs((rows["ill"] == "yes").mean() - wanted) < 0.01


def test_virtual_evidence_is_that_of_pyagrum(network):
    gum = pytest.importorskip("pyagrum")
    engine = gum.LazyPropagation(network.to_pyagrum())
    engine.setEvidence({"age": [0.1, 0.6, 0.3]})
    engine.makeInference()
    observed = {"age": {"young": 0.1, "middle": 0.6, "old": 0.3}}
    found = network.query("ill", observed).probabilities
    np.testing.assert_allclose(found, engine.posterior("ill").toarray(), atol=1e-12)
    # Also for the variable itself, of which something is known but not its state.
    total = np.array([0.5, 0.3, 0.2]) * [0.1, 0.6, 0.3]
    alone = network.query("age", observed).probabilities
    np.testing.assert_allclose(alone, total / total.sum())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"age": ["middle", "old"]}, {"age": "not young"}),
        ({"age": ["middle", "old"]}, {"age": {"young": 0, "middle": 3, "old": 3}}),
        ({"age": {"old"}}, {"age": "old"}),
        ({"smoker": "not True"}, {"smoker": False}),
        (["age != young", "smoker = true"], {"age": ["middle", "old"], "smoker": True}),
        ("age=middle,old", {"age": ["middle", "old"]}),
        (
            {"age": [{"young": 1, "middle": 2, "old": 4}, {"young": 1, "middle": 2, "old": 4}]},
            {"age": {"young": 1, "middle": 4, "old": 16}},
        ),
    ],
)
def test_ways_to_write_the_same(network, one, other):
    a, b = (network.query("ill", each).probabilities for each in (one, other))
    np.testing.assert_allclose(a, b, rtol=1e-12)
    again = Evidence.of(network, one)
    np.testing.assert_array_equal(network.query("ill", again).probabilities, a)


@pytest.fixture(scope="module")
def aged():
    """A network with a variable that was cut."""
    rng = np.random.default_rng(0)
    ages = rng.uniform(20, 90, 400)
    table = {"age": ages, "ill": np.where(rng.random(400) < ages / 100, "yes", "no")}
    cut = Discretizer([Cuts("age", [40, 60, 75])]).cut(table)
    return fit(cut, Dag([("age", "ill")]))


@pytest.mark.parametrize(
    ("observed", "named"),
    [
        ({"age": {50: 1, 45: 2, 30: 1, 70: 1, 80: 1}}, "50 and 45"),
        ({"age": {45: 2, 50: 1, 30: 1, 70: 1, 80: 1}}, "45 and 50"),
        ({"age": {"40 to 60": 5, 50: 1, 30: 1, 70: 1, 80: 1}}, "'40 to 60' and 50"),
        ("age = 50: 1, 45: 2, 30: 1, 70: 1, 80: 1", "50.0 and 45.0"),
    ],
)
def test_two_likelihoods_of_one_interval(aged, observed, named):
    """Only the last would count, so that the answer would depend on the order."""
    message = f"{named} are the same state, '40 to 60'.*one likelihood for '40 to 60'"
    with pytest.raises(DataError, match=message):
        aged.query("ill", observed)
    found = aged.query("ill", {"age": {50: 2, 30: 1, 70: 1, 80: 1}}).probabilities
    same = aged.query("ill", {"age": {80: 1, 70: 1, 30: 1, "40 to 60": 2}}).probabilities
    np.testing.assert_array_equal(found, same)


@pytest.mark.parametrize(
    "text",
    ["age > 60 and ill = yes", "age = 50, ill=yes", "ill = yes, age > 60", "ill is no;age<=60"],
)
def test_conditions_on_two_variables_in_one_text(aged, text):
    with pytest.raises(DataError, match=r"is about '(age|ill)', too.*one text per variable.*list"):
        aged.most_probable(text)
    assert aged.most_probable(["age > 60", "ill = yes"]).states["ill"] == "yes"


def test_a_state_that_reads_like_a_second_condition():
    odd = Variable("odd", ["x, age = 3", "y"])
    age = Variable("age", [3, 4])
    tables = {v.name: Cpt.known(Family(v), [0.5, 0.5]) for v in (odd, age)}
    network = BayesianNetwork(Dag([], ["odd", "age"]), tables)
    assert Evidence.of(network, "odd = x, age = 3").findings == {"odd": "x, age = 3"}


def test_bounds_on_a_variable_that_was_cut(aged):
    network = aged
    above = network.query("ill", {"age": ["60 to 75", "above 75"]})
    for written in ({"age": "> 60"}, "age>60", {"age": ">60.0"}, ["age > 60"]):
        np.testing.assert_array_equal(
            network.query("ill", written).probabilities, above.probabilities
        )
    between = network.query("ill", {"age": "> 40 and <= 75"})
    same = network.query("ill", "age > 40 and age <= 75")
    np.testing.assert_array_equal(same.probabilities, between.probabilities)
    assert between.observed == {"age": ("40 to 60", "60 to 75")}
    assert network.query("ill", {"age": [50, 90]}).observed == {"age": ("40 to 60", "above 75")}
    assert network.query("ill", "age=50").observed == {"age": "40 to 60"}
    for written, hint in (
        (">= 60", "> 60"),
        ("< 60", "<= 60"),
        ("> 62", "> 60"),
        ("<= 70", "<= 75"),
    ):
        with pytest.raises(DataError, match=f"does not divide at.*write {hint}, a cut point"):
            network.query("ill", {"age": written})
    with pytest.raises(DataError, match=r"'old' is no number to compare with\. Hint: write > 60"):
        network.query("ill", {"age": ">= old"})
    with pytest.raises(DataError, match=r"no state of .* is > 75 and <= 40"):
        network.query("ill", {"age": "> 75 and <= 40"})


def test_bounds_on_integers():
    network = fit({"n": [1, 2, 3, 4] * 5, "y": [0, 1] * 10}, Dag([("n", "y")]))
    assert network.query("y", "n >= 3").observed == {"n": (3, 4)}
    assert network.query("y", {"n": "< 2"}).observed == {"n": 1}
    assert network.query("n", {"n": "not 2", "y": 1}).probabilities[1] == 0.0


@pytest.mark.parametrize(
    ("observed", "error", "message"),
    [
        ({"age": []}, InputError, "at least one state of 'age' for `observed`, got none"),
        (
            {"age": {"young": 1}},
            InputError,
            "a likelihood for every state of 'age'.*'middle', 'old'",
        ),
        ({"age": {"young": 0, "middle": 0, "old": 0}}, InputError, "a likelihood above 0"),
        ({"ill": {"no": -1, "yes": 1}}, InputError, "likelihoods of at least 0"),
        ({"ill": {"no": "x", "yes": 1}}, InputError, "likelihoods of at least 0"),
        ({"ill": [0.2, 0.8]}, InputError, "states of 'ill'.*{'no': 0.2, 'yes': 0.8} if these are"),
        ({"ill": "not maybe"}, DataError, "state 'maybe' is not one of"),
        ({"ill": "maybe"}, DataError, "state 'maybe' is not one of"),
        ({"ill": "> 3"}, DataError, "are no numbers to compare with 3"),
        (
            {"ill": "> much"},
            DataError,
            "'no', 'yes' are no numbers to.*much.*Hint: name the states",
        ),
        ({"smokers": "no"}, InputError, "names from .*did you mean 'smoker'"),
        ("illness", InputError, "conditions on 'age'"),
        (["ill = no", "ill = yes"], DataError, "the conditions leave no state"),
        ({"age": "not young and not middle and not old"}, DataError, "no state of"),
        (3, InputError, "a mapping of names to states"),
        ({"smoker": True}, InputError, "a variable that is not observed"),
    ],
)
def test_what_is_no_evidence(network, observed, error, message):
    with pytest.raises(error, match=message):
        network.query("smoker", observed)


def test_evidence_about_another_network(network):
    other = fit({"age": ["young", "old"]}, Dag([], ["age"]))
    with pytest.raises(InputError, match="variables of this network"):
        network.query("ill", Evidence.of(other, {"age": "old"}))


def test_draws_and_words(network):
    assert network.query("ill", {"age": "not old"}).to_dict()["observed"] == {
        "age": ["young", "middle"]
    }
    soft = network.query("ill", {"smoker": {False: 1, True: 2}}).to_dict()["observed"]
    assert soft == {
        "smoker": [{"state": False, "likelihood": 0.5}, {"state": True, "likelihood": 1.0}]
    }
    assert "given {'age': ('young', 'middle')}" in repr(network.query("ill", {"age": "not old"}))


@pytest.mark.parametrize("group", [None, "site"])
def test_tiers_and_groups(group):
    """Rows that are computed on request answer to sets as they do to their members."""
    rng = np.random.default_rng(3)
    table = {name: rng.choice(list("abcd"), 60) for name in ("p", "q", "r")}
    table["y"] = rng.choice(["no", "yes"], 60)
    table["site"] = rng.choice(["x", "z"], 60)
    dag = Dag([("p", "y"), ("q", "y"), ("r", "y")])
    network = fit(table, dag, Tiered(), group=group)
    assert network["y"].table.fallback is not None
    total = joint(network)
    place = network.dag.variables.index("p")
    total = np.take(total, [1, 3], axis=place)
    wanted = total.sum(axis=tuple(k for k in range(total.ndim) if network.dag.variables[k] != "y"))
    found = network.query("y", {"p": ["b", "d"]}, draws=100, rng=0)
    np.testing.assert_allclose(found.probabilities, wanted / wanted.sum(), atol=1e-12)
    assert (found.lower <= found.upper).all()
    rows = network.sample(4000, 0, {"y": "yes", "p": "not a"})
    assert set(rows["y"]) == {"yes"}
    assert "a" not in rows["p"]
    asked = network.query("q", {"y": "yes", "p": "not a"}).probabilities
    shares = [(rows["q"] == state).mean() for state in "abcd"]
    np.testing.assert_allclose(shares, asked, atol=0.04)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("age = middle|old", {"age": ["middle", "old"]}),
        ("age=middle, old", {"age": ["middle", "old"]}),
        ("smoker = true: 0.8, false: 0.1", {"smoker": {True: 0.8, False: 0.1}}),
        (["age!=old", "smoker=False:1,True:.5"], {"age": "not old", "smoker": {False: 2, True: 1}}),
    ],
)
def test_sets_and_likelihoods_as_text(network, text, same):
    mine, yours = Evidence.of(network, text), Evidence.of(network, same)
    assert mine.variables == yours.variables
    for name, own in yours.likelihoods.items():
        np.testing.assert_allclose(mine.likelihoods[name], own)


def test_states_that_look_like_likelihoods():
    clock = Variable("hour", ["12:30", "13:30", "a|b", "c"])
    other = BayesianNetwork(Dag([], ["hour"]), {"hour": Cpt.known(Family(clock), [0.25] * 4)})
    assert Evidence.of(other, "hour = 12:30").findings == {"hour": "12:30"}
    assert Evidence.of(other, "hour = 12:30, 13:30").findings == {"hour": ("12:30", "13:30")}
    assert Evidence.of(other, "hour = a|b").findings == {"hour": "a|b"}
    with pytest.raises(DataError, match="likelihoods, which have no opposite"):
        Evidence.of(other, "hour != c: 0.5")
