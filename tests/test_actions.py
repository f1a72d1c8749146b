"""Actions and their effects, against the truncated product over all states, and pyAgrum."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colonnade import BayesianNetwork, Cpt, Dag, Family, Tiered, Variable, fit
from colonnade.exceptions import DataError, InputError, NotSupportedError
from drawn_networks import joint, networks


@pytest.fixture(scope="module")
def confounded():
    """Age leads to smoking and to illness; smoking leads to illness through tar."""
    rng = np.random.default_rng(0)
    age = rng.choice(["young", "old"], 600)
    smoker = np.where(rng.random(600) < 0.2 + 0.5 * (age == "old"), "yes", "no")
    tar = np.where(rng.random(600) < 0.1 + 0.7 * (smoker == "yes"), "high", "low")
    ill = np.where(
        rng.random(600) < 0.1 + 0.2 * (tar == "high") + 0.4 * (age == "old"), "yes", "no"
    )
    table = {"age": age, "smoker": smoker, "tar": tar, "ill": ill}
    arcs = [("age", "smoker"), ("smoker", "tar"), ("tar", "ill"), ("age", "ill")]
    return fit(table, Dag(arcs))


def truncated(network, actions):
    """The product of all tables but those of variables that are set."""
    dense = {name: network[name].probabilities for name in network}
    for name, code in actions.items():
        dense[name] = np.zeros_like(dense[name])
        dense[name][:, code] = 1.0
    return joint(network, dense)


@settings(max_examples=40)
@given(networks(least=2, most=5), st.data())
def test_actions_agree_with_the_truncated_product(network, data):
    assume(all(network[name].table.complete for name in network))
    names = data.draw(st.permutations(list(network)))
    cut = data.draw(st.integers(1, len(names) - 1))
    codes = {n: data.draw(st.integers(0, network[n].family.cardinality - 1)) for n in names[:cut]}
    actions = {n: network[n].family.child.states[code] for n, code in codes.items()}
    target = names[cut]
    total = truncated(network, codes)
    axes = tuple(k for k, name in enumerate(network) if name != target)
    wanted = total.sum(axis=axes)
    after = network.do(actions)
    for found in (network.query(target, do=actions), after.query(target)):
        np.testing.assert_allclose(found.probabilities, wanted, atol=1e-12)
    for name in actions:
        assert after.dag.parents(name) == ()
        kept = tuple(c for c in network.dag.children(name) if c not in actions)
        assert after.dag.children(name) == kept
    for name in set(network) - set(actions):
        assert after[name] is network[name]


def test_an_effect_is_that_of_pyagrum(confounded):
    gum = pytest.importorskip("pyagrum")
    model = gum.CausalModel(confounded.to_pyagrum())
    result = confounded.effect("ill", of={"smoker": ("yes", "no")})
    for side, state in (("one", "yes"), ("other", "no")):
        _, found, _ = gum.causalImpact(model, on="ill", doing="smoker", values={"smoker": state})
        np.testing.assert_allclose(getattr(result, side).values, found.toarray(), atol=1e-9)


def test_the_effect_by_adjustment_and_the_association(confounded):
    (age,) = confounded.dag.backdoor_sets("smoker", "ill")
    weights = confounded.query("age").probabilities
    sides = []
    for smoker in ("yes", "no"):
        given = [
            confounded.query("ill", {"smoker": smoker, "age": a})["yes"] for a in ("old", "young")
        ]
        sides.append(float(np.dot(weights, given)))
    result = confounded.effect("ill", {"smoker": ("yes", "no")})
    assert result.adjusted == age == frozenset({"age"})
    found = result["yes"]
    one, other = sides
    assert math.isclose(found.one, one)
    assert math.isclose(found.other, other)
    assert math.isclose(found.difference, one - other)
    assert math.isclose(found.ratio, one / other)
    assert math.isclose(found.odds_ratio, one / (1 - one) / (other / (1 - other)))
    plain = confounded.association("ill", {"smoker": ("yes", "no")})
    seen = [confounded.query("ill", {"smoker": s})["yes"] for s in ("yes", "no")]
    assert math.isclose(plain["yes"].difference, seen[0] - seen[1])
    assert plain["yes"].difference > found.difference + 0.05  # age has its part in it
    assert result.causal
    assert not plain.causal
    assert "no common cause" in result.assumed
    assert "nothing about causes" in plain.assumed
    assert plain.adjusted is None


def test_intervals_are_those_of_paired_draws(confounded):
    result = confounded.effect("ill", {"smoker": ("yes", "no")}, draws=2000, rng=1)
    rng = np.random.default_rng(2)
    draws = {name: confounded[name].posterior.sample(2000, rng) for name in confounded}
    age, tar, ill = (draws[name] for name in ("age", "tar", "ill"))
    # P(ill | do(smoker)) = sum over age and tar; parents of ill are tar, age.
    table = ill.reshape(2000, 2, 2, 2)
    sides = np.einsum("da,dst,dtai->dsi", age[:, 0], tar, table)
    no, yes = 0, 1
    place = confounded["ill"].family.child.states.index("yes")
    one, other = sides[:, yes, place], sides[:, no, place]
    measures = (
        (result["yes"].one_interval, one),
        (result["yes"].other_interval, other),
        (result["yes"].difference_interval, one - other),
        (result["yes"].ratio_interval, one / other),
        (result["yes"].odds_ratio_interval, one / (1 - one) / (other / (1 - other))),
    )
    for found, samples in measures:
        wanted = np.quantile(samples, [0.025, 0.975])
        assert np.abs(np.array(found) - wanted).max() < 0.15 * (wanted[1] - wanted[0])
    narrow = confounded.effect("ill", {"smoker": ("yes", "no")}, draws=2000, level=0.5, rng=1)
    assert narrow["yes"].ratio_interval[0] > result["yes"].ratio_interval[0]


def test_effects_for_some_and_of_several(confounded):
    given = confounded.effect("ill", {"tar": ("high", "low")}, given={"age": "old"})
    asked = [
        confounded.query("ill", {"age": "old"}, do={"tar": tar})["yes"] for tar in ("high", "low")
    ]
    assert math.isclose(given["yes"].difference, asked[0] - asked[1])
    both = confounded.effect("ill", {"smoker": ("yes", "no"), "age": ("old", "young")})
    assert both.adjusted is None
    asked = [
        confounded.query("ill", do={"smoker": smoker, "age": age})["yes"]
        for smoker, age in (("yes", "old"), ("no", "young"))
    ]
    assert math.isclose(both["yes"].ratio, asked[0] / asked[1])
    back = confounded.effect("smoker", {"ill": ("yes", "no")}, draws=100, rng=0)
    assert back.adjusted is None
    assert back.difference.values.tolist() == [0.0, 0.0]  # no rounding is left
    np.testing.assert_allclose(back.difference.upper, 0.0, atol=1e-15)


def test_effects_given_what_the_action_changes(confounded):
    of = {"smoker": ("yes", "no")}
    found = confounded.effect("ill", of, given={"tar": "high", "age": "old"})
    assert found.changed == ("tar",)
    assert found.to_dict()["changed"] == ["tar"]
    assert "Given tar, which is itself changed by the action." in repr(found)
    assert confounded.effect("ill", of, given={"age": "old"}).changed == ()
    seen = confounded.association("ill", of, given={"tar": "high"})
    assert seen.changed == ()
    assert "changed by" not in repr(seen)


def test_actions_as_text(confounded):
    wanted = confounded.query("ill", do={"smoker": "yes", "age": "old"}).probabilities
    found = confounded.query("ill", do=["smoker = yes", "age is old"]).probabilities
    np.testing.assert_array_equal(found, wanted)
    assert confounded.do("smoker = yes") == confounded.do({"smoker": "yes"})


def test_words_and_plain_values(confounded):
    after = confounded.query("ill", do={"smoker": "yes"})
    assert after.done == after.to_dict()["done"] == {"smoker": "yes"}
    assert "after {'smoker': 'yes'} was done" in repr(after)
    assert confounded.query("ill").done == {}
    result = confounded.effect("ill", {"smoker": ("yes", "no")}, draws=100, rng=0)
    text = repr(result)
    assert text.startswith("Effect on 'ill' of smoker = 'yes' against 'no', 95 % intervals")
    assert "To be adjusted for (done here): age." in text
    plain = result.to_dict()
    assert plain["answers"][1]["state"] == "yes"
    assert plain["answers"][1]["difference"] == result["yes"].difference
    assert repr(confounded.association("ill", {"smoker": ("yes", "no")})).startswith(
        "Association of"
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.do({"smokes": "no"}), "names from .*`do`.*did you mean 'smoker'"),
        (lambda n: n.do({"smoker": "maybe"}), "state 'maybe' is not one of"),
        (lambda n: n.do({"smoker": ["yes", "no"]}), "one state of 'smoker' for `do`"),
        (lambda n: n.do({}), "a mapping of names to states"),
        (lambda n: n.do("smoker"), "conditions on .* for `do`, got 'smoker'"),
        (lambda n: n.do("smoker = yes|no"), "one state of 'smoker' for `do`, got .'no', 'yes'"),
        (lambda n: n.do(3), "a mapping of names to states"),
        (lambda n: n.query("ill", do={"ill": "yes"}), "variables that are not targets for `do`"),
        (
            lambda n: n.query("ill", {"age": "old"}, do={"age": "old"}),
            "that are not observed for `do`",
        ),
        (lambda n: n.effect("ills", {"smoker": ("yes", "no")}), "one of .* for `target`"),
        (lambda n: n.effect("ill", {"smokes": ("yes", "no")}), "one of .* for `of`"),
        (lambda n: n.effect("ill", {"ill": ("yes", "no")}), "other variables than the target"),
        (lambda n: n.effect("ill", {"smoker": "yes"}), "two states of 'smoker'"),
        (lambda n: n.effect("ill", {"smoker": ("yes", "yes")}), "two different states of 'smoker'"),
        (
            lambda n: n.effect("ill", {"smoker": (["yes", "no"], "no")}),
            r"one state of 'smoker' on each side for `of`, got \['yes', 'no'\]",
        ),
        (lambda n: n.effect("ill", "smoker"), "a mapping of names to two states"),
        (
            lambda n: n.effect("ill", {"smoker": ("yes", "no")}, {"smoker": "no"}),
            "besides the target",
        ),
        (lambda n: n.effect("ill", {"smoker": ("yes", "no")}, rng=3), "applies only to draws > 0"),
    ],
)
def test_what_is_no_action(confounded, ask, message):
    with pytest.raises((InputError, DataError), match=message):
        ask(confounded)


def test_sides_that_cannot_occur():
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    tables = {
        "a": Cpt.known(Family(a), [0.5, 0.5]),
        "b": Cpt.known(Family(b, (a,)), [[1.0, 0.0], [0.5, 0.5]]),
        "c": Cpt.known(Family(Variable("c", [0, 1]), (b,)), [[0.5, 0.5], [0.2, 0.8]]),
    }
    network = BayesianNetwork(Dag([("a", "b"), ("b", "c")]), tables)
    with pytest.raises(DataError, match="a = 0 cannot occur together with b = 1"):
        network.effect("c", {"a": (1, 0)}, {"b": 1})
    with pytest.raises(NotSupportedError, match="credible interval"):
        network.effect("c", {"a": (1, 0)}, draws=100)


def test_groups_stay_groups():
    rng = np.random.default_rng(1)
    table = {name: rng.choice(["no", "yes"], 80) for name in ("x", "y")}
    table["site"] = rng.choice(["oslo", "bergen"], 80)
    network = fit(table, Dag([("x", "y")]), Tiered(), group="site")
    after = network.do({"x": "yes"})
    assert after.group == "site"
    assert after.for_group("oslo").query("x")["yes"] == 1.0
    wanted = network.query("y", {"x": "yes", "site": "oslo"})["yes"]
    assert math.isclose(after.query("y", {"site": "oslo"})["yes"], wanted)
    result = network.effect("y", {"x": ("yes", "no")}, given={"site": "oslo"}, draws=100, rng=0)
    assert result.adjusted == frozenset({"site"})
    assert math.isclose(result["yes"].one, wanted)


def test_odds_too_far_apart_for_a_number_are_infinite():
    cause, effect = Variable("cause", ["no", "yes"]), Variable("effect", ["no", "yes"])
    rows = [[1.0, 1e-310], [2.0**-53, 1.0 - 2.0**-53]]
    tables = {
        "cause": Cpt.known(Family(cause), [[0.5, 0.5]]),
        "effect": Cpt.known(Family(effect, [cause]), rows),
    }
    network = BayesianNetwork(Dag([("cause", "effect")]), tables)
    found = network.effect("effect", of={"cause": ("yes", "no")})
    assert found["yes"].odds_ratio == math.inf
    assert found["no"].odds_ratio < 1e-300
