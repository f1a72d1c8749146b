"""Groups: related sets of rows that share a graph, each with tables of its own."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import colonnade as cn
from colonnade import Dag, Hierarchical, MaximumLikelihood, SymmetricDirichlet, Tiered
from colonnade.cli import app
from colonnade.exceptions import (
    ColonnadeError,
    ColumnWarning,
    DataError,
    DataWarning,
    FileFormatError,
    InputError,
    NotSupportedError,
)
from command_line import plain_terminal

DAG = Dag([("a", "c"), ("b", "c")], ["a", "b"])


def drawn(rows=400, seed=0, sites=("bergen", "hamar", "oslo")):
    """Rows of related sites, the first of them small."""
    rng = np.random.default_rng(seed)
    site = rng.choice(len(sites), rows, p=np.arange(1, len(sites) + 1) / sum(range(len(sites) + 1)))
    a, b = rng.integers(2, size=rows), rng.integers(3, size=rows)
    c = (rng.random(rows) < 0.15 + 0.3 * a + 0.1 * b + 0.1 * (site == 0)).astype(int)
    return {"site": np.array(sites)[site], "a": a, "b": b, "c": c, "id": np.arange(rows)}


@pytest.fixture(scope="module")
def network():
    return cn.fit(drawn(), DAG, group="site")


# ------------------------------------------------------------------------- fit


def test_the_group_is_the_first_parent_of_every_variable(network) -> None:
    assert network.dag.variables == ("site", "a", "b", "c")
    assert [network.dag.parents(name) for name in network] == [
        (),
        ("site",),
        ("site",),
        ("site", "a", "b"),
    ]
    assert network.group == "site"
    assert network.groups == ("bergen", "hamar", "oslo")
    assert set(network.priors.values()) == {Tiered()}
    arcs = [("site", name) for name in "abc"]
    plain = cn.fit(drawn(), Dag([*arcs, *DAG.arcs], ["site", "a", "b"]), Tiered())
    assert plain.groups == ()
    assert dict(plain.tables) == dict(network.tables)
    assert plain != network


def test_any_prior_serves_groups() -> None:
    own = {"c": Hierarchical(s="learn")}
    network = cn.fit(drawn(), DAG, SymmetricDirichlet(2), per_variable=own, group="site")
    assert network.priors["a"] == SymmetricDirichlet(2)
    assert network.priors["c"] == Hierarchical(s="learn")


def test_states_of_the_group_may_be_declared() -> None:
    states = ["oslo", "hamar", "bergen", "moss"]
    network = cn.fit(drawn(), DAG, variables={"site": states}, group="site")
    assert network.groups == tuple(states)
    assert network.for_group("moss")["c"].probabilities.shape == (6, 2)


@pytest.mark.parametrize("group", ["a", "", 3, ["site"]])
def test_a_group_is_a_column_outside_the_graph(group) -> None:
    with pytest.raises(InputError, match="`group`") as error:
        cn.fit(drawn(), DAG, group=group)
    assert error.value.parameter == "group"


def test_a_group_that_is_no_column() -> None:
    with pytest.raises(DataError, match=r"Column 'ward': not in the table, which has 'site'"):
        cn.fit(drawn(), DAG, group="ward")
    with pytest.raises(InputError, match="`dag`"):
        cn.fit(drawn(), "a->b", group="site")
    with pytest.raises(InputError, match="at least one variable"):
        cn.fit(drawn(), Dag([]), group="site")
    with pytest.raises(InputError, match="`weights`"):
        cn.fit({**drawn(), "site": np.arange(400)}, DAG, group="site", weights="site")


def test_missing_groups_follow_the_rule_of_other_columns() -> None:
    table = drawn()
    gaps = {**table, "site": [None, *table["site"][1:]]}
    with pytest.raises(DataError, match="Column 'site'"):
        cn.fit(gaps, DAG, group="site")
    rest = {name: column[1:] for name, column in table.items()}
    assert cn.fit(gaps, DAG, missing="available", group="site") == cn.fit(rest, DAG, group="site")
    filled = cn.fit(gaps, DAG, missing="em", group="site")
    assert filled.diagnostics.rows == 1
    assert filled.group == "site"
    assert filled["c"].counts.total == pytest.approx(400)


# ------------------------------------------------------------------- one group


def test_the_network_of_a_group_answers_as_the_whole_one_does(network) -> None:
    for group in network.groups:
        own = network.for_group(group)
        assert own.group is None
        assert own.dag == DAG
        for observed in ({}, {"a": 1}, {"b": 2, "c": 0}):
            target = "a" if "a" not in observed else "c"
            np.testing.assert_allclose(
                own.query(target, observed).probabilities,
                network.query(target, {"site": group, **observed}).probabilities,
                atol=1e-14,
            )
    rows = {name: column[drawn()["site"] == "oslo"] for name, column in drawn().items()}
    share = network.query("site")["oslo"]
    np.testing.assert_allclose(
        network.for_group("oslo").log_likelihood(rows) + np.log(share),
        network.log_likelihood(rows),
        atol=1e-12,
    )
    assert network.query("a", {"site": "oslo"}, draws=100, rng=0).lower is not None


@pytest.mark.parametrize("prior", [Tiered(), Hierarchical()])
def test_a_group_with_too_many_configurations_to_list(prior) -> None:
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(10)]
    table = {name: rng.integers(20, size=200) for name in names}
    table |= {"x": rng.choice(["u", "v", "w"], 200), "site": rng.choice(["here", "there"], 200)}
    dag = Dag([(name, "x") for name in names])
    network = cn.fit(table, dag, prior, group="site")
    own = network.for_group("there")
    wanted = network["x"].table.rows_of
    for codes in (network["x"].counts.codes[:, 1:], rng.integers(20, size=(30, 10))):
        full = np.column_stack([np.ones(len(codes), dtype=int), codes])
        np.testing.assert_allclose(own["x"].table.rows_of(codes), wanted(full), atol=1e-15)
    copy = pickle.loads(pickle.dumps(own))
    assert copy == own
    assert np.array_equal(copy["x"].table.row((3,) * 10), own["x"].table.row((3,) * 10))


@pytest.mark.filterwarnings("ignore:Column")
def test_what_cannot_be_listed_is_not_saved(tmp_path) -> None:
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(10)]
    table = {name: rng.integers(20, size=50) for name in names}
    table |= {"x": rng.integers(2, size=50), "site": rng.choice(["here", "there"], 50)}
    network = cn.fit(table, Dag([(name, "x") for name in names]), group="site")
    with pytest.raises(NotSupportedError, match="table of 'x'"):
        network.for_group("here").save(tmp_path / "here.json")
    assert not list(tmp_path.iterdir())
    network.save(tmp_path / "all.json")
    assert cn.load(tmp_path / "all.json").for_group("here") == network.for_group("here")


def test_a_group_that_does_not_exist(network) -> None:
    with pytest.raises(InputError, match=r"'bergen', 'hamar', 'oslo'.*got 'olso'"):
        network.for_group("olso")
    with pytest.raises(InputError, match="`group`"):
        network.for_group(None)


def test_tables_without_all_probabilities_are_refused() -> None:
    table = {"site": ["here", "there", "there"], "a": [0, 0, 1], "x": [0, 1, 1]}
    network = cn.fit(table, Dag([("a", "x")]), MaximumLikelihood(), group="site")
    assert network.for_group("there")["x"].probabilities.tolist() == [[0, 1], [0, 1]]
    with pytest.raises(DataError, match="Group 'here' of 'site': the table of 'x'"):
        network.for_group("here")
    with pytest.raises(DataError, match="'a'"):
        network.for_new_group()


# ------------------------------------------------------- all groups, and new ones


def test_pooling_is_fitting_without_the_group(network) -> None:
    assert network.pooled() == cn.fit(drawn(), DAG, Tiered())
    assert network.pooled()["c"].has_posterior
    weighted = cn.fit({**drawn(), "id": np.full(400, 0.5)}, DAG, weights="id", group="site")
    assert weighted.pooled()["c"].counts.total == 200


def test_the_pooled_table_is_the_tier_without_the_group(network) -> None:
    pooled = network.pooled()["c"].probabilities.reshape(2, 3, 2)
    for a in range(2):
        for b in range(3):
            steps = network["c"].posterior.ladder((2, a, b))
            without = next(step for step in steps if step.parents == (1, 2))
            np.testing.assert_array_equal(without.estimate, pooled[a, b])


def test_one_more_group_does_not_change_the_others(network) -> None:
    more = network.with_group("moss")
    assert more.groups == (*network.groups, "moss")
    for group in network.groups:
        ours, theirs = (each.for_group(group) for each in (network, more))
        for name in DAG.variables:
            np.testing.assert_array_equal(ours[name].probabilities, theirs[name].probabilities)
    new = network.for_new_group()
    assert new == more.for_group("moss")
    assert new.dag == DAG
    # It leans on all groups, so it is near the pool and is none of them.
    near = np.abs(new["c"].probabilities - network.pooled()["c"].probabilities).max()
    others = [
        np.abs(new["c"].probabilities - network.for_group(each)["c"].probabilities).max()
        for each in network.groups
    ]
    assert near < min(others)
    with pytest.raises(InputError, match="besides"):
        network.with_group("oslo")
    with pytest.raises(InputError, match="states of 'site'"):
        network.with_group(1.5)


def test_the_state_of_a_new_group_is_free() -> None:
    sites = ("new group", "new group'")
    network = cn.fit(drawn(sites=sites), DAG, group="site")
    assert network.for_new_group().dag == DAG


def test_a_new_group_learns() -> None:
    table = drawn()
    late = table["site"] == "bergen"
    first = {name: column[~late] for name, column in table.items()}
    rest = {name: column[late] for name, column in table.items()}
    network = cn.fit(first, DAG, group="site")
    with pytest.raises(DataError, match="bergen"):
        network.update(rest)
    states = ["hamar", "oslo", "bergen"]
    at_once = cn.fit(table, DAG, variables={"site": states}, group="site")
    learned = network.with_group("bergen").update(rest)
    assert learned == at_once
    assert learned.forget(rest) == network.with_group("bergen")


def test_rows_of_a_new_group_are_met_with_what_to_do(network) -> None:
    rows = drawn(rows=20, sites=("moss",))
    advice = r"Hint: add a new group first: network\.with_group\(name\)"
    for call in (
        lambda: network.update(rows),
        lambda: network.log_likelihood(rows),
        lambda: network.merge(cn.fit(rows, DAG, group="site")),
    ):
        with pytest.raises(ColonnadeError, match=advice):
            call()
    # A misspelt group is not taken for a new one, nor is another column taken for the group.
    for wrong, hint in (({"site": "Oslo"}, "did you mean 'oslo'"), ({"a": 7}, "7")):
        table = drawn(rows=20) | {name: np.full(20, value) for name, value in wrong.items()}
        with pytest.raises(DataError, match=hint) as caught:
            network.update(table)
        assert "with_group" not in str(caught.value)


def test_a_new_group_is_no_help_where_none_is_meant(network) -> None:
    rows = drawn(rows=20)
    without = {name: values for name, values in rows.items() if name != "site"}
    for call in (network.update, network.forget, network.log_likelihood):
        with pytest.raises(DataError, match=r"Column 'site': not in the table") as caught:
            call(without)
        assert "group" not in caught.value.hint
    strange = rows | {"site": np.full(20, "moss")}
    with pytest.raises(DataError, match=r"state 'moss' \(20 rows\)") as caught:
        network.forget(strange)
    assert not caught.value.hint
    with pytest.raises(DataError, match=r"Column 'a': .*Hint: add a new group first"):
        network.update(strange | {"a": np.full(20, 7)})


@pytest.mark.parametrize(
    "observed", [{"site": "moss"}, {"site": ["moss", "oslo"]}, "site = moss", {"site": {"moss": 1}}]
)
def test_a_question_about_an_unknown_group_is_met_with_what_to_do(network, observed) -> None:
    advice = r"Hint: ask network\.for_new_group\(\) .* network\.with_group\(name\)"
    with pytest.raises(DataError, match=advice):
        network.query("c", observed)
    with pytest.raises(DataError) as caught:
        network.query("c", {"a": 7})
    assert "group" not in str(caught.value)
    with pytest.raises(DataError, match="did you mean 'oslo'"):
        network.query("c", {"site": "Oslo"})


def test_intervals_of_one_group_are_asked_of_the_whole_network(network) -> None:
    with pytest.raises(NotSupportedError, match="the whole network with the group observed"):
        network.for_group("oslo").query("c", draws=200)
    assert network.query("c", {"site": "oslo"}, draws=200).lower is not None
    likely = cn.fit(drawn(), DAG, MaximumLikelihood())
    with pytest.raises(NotSupportedError, match="fit with a prior such as"):
        likely.query("c", draws=200)


@pytest.mark.parametrize(
    "values", [lambda n: [f"s{k}" for k in range(n)], lambda n: list(range(n))]
)
def test_a_group_may_have_many_states(values) -> None:
    rows = drawn(rows=60) | {"site": values(30) * 2, "visit": values(60)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cn.fit(rows, DAG, group="site")
        cn.fit(rows, DAG, group="visit")
        few = {name: rows[name] for name in ("a", "c", "site")}
        cn.compare(few, {"arc": Dag([("a", "c")])}, group="site", folds=2)
    with pytest.warns(ColumnWarning):
        cn.fit(rows, Dag([("visit", "c")]))


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [("oslo", "Oslo", "case or blanks"), ("oslo", "oslo ", "case or blanks"), (1, "1", "type")],
)
def test_a_new_group_that_is_like_another_is_worth_a_warning(old, new, difference) -> None:
    rows = drawn(rows=40)
    rows["site"] = [old] * 40
    message = f"Column 'site': states {old!r} and {new!r} differ only by {difference}. Hint: write"
    with pytest.warns(DataWarning, match=message):
        more = cn.fit(rows, DAG, group="site").with_group(new)
    assert more.groups == (old, new)


def test_a_group_called_new_is_no_reason_to_warn() -> None:
    rows = drawn(rows=40) | {"site": ["New group"] * 40}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cn.fit(rows, DAG, group="site").for_new_group().group is None


def test_a_misspelt_group_is_recognised() -> None:
    for wrong in ("sit", "sites", "Site"):
        with pytest.raises(DataError, match="did you mean 'site'"):
            cn.fit(drawn(), DAG, group=wrong)


def test_empty_tables_have_groups() -> None:
    states = {"site": ["here", "there"], "x": [0, 1]}
    empty = {"site": [], "x": []}
    network = cn.fit(empty, Dag([], ["x"]), variables=states, group="site")
    for plain in (network.pooled(), network.for_group("here"), network.for_new_group()):
        np.testing.assert_allclose(plain["x"].probabilities, [[0.5, 0.5]], rtol=1e-15)


def test_networks_without_groups_say_so(network) -> None:
    plain = network.pooled()
    assert plain.group is None
    for call in (
        plain.pooled,
        plain.for_new_group,
        lambda: plain.for_group("oslo"),
        lambda: plain.with_group("oslo"),
    ):
        with pytest.raises(NotSupportedError, match="without groups"):
            call()


# ----------------------------------------------------------- the field is carried


def test_merging_needs_the_same_groups(network) -> None:
    table = drawn()
    halves = [{name: column[k::2] for name, column in table.items()} for k in range(2)]
    here, there = (cn.fit(half, DAG, group="site") for half in halves)
    assert here + there == network
    assert (here + there).group == "site"
    plain = cn.BayesianNetwork(there.dag, there.tables)
    with pytest.raises(InputError, match="group variable"):
        here.merge(plain)


def test_the_group_must_group_every_variable(network) -> None:
    for group in ("a", "c", "nobody"):
        with pytest.raises(InputError, match="`group`"):
            cn.BayesianNetwork(network.dag, network.tables, group=group)
    tables = {name: network[name] for name in ("site", "a")}
    dag = Dag([("site", "a")])
    assert cn.BayesianNetwork(dag, tables, group="site").groups == network.groups


def test_pickled_and_shown(network) -> None:
    copy = pickle.loads(pickle.dumps(network))
    assert copy == network
    assert copy.group == "site"
    assert ", grouped by site (3 groups))" in repr(network)
    assert ", grouped by site (3 groups)</p>" in network._repr_html_()
    assert "grouped" not in repr(network.pooled())


def test_saved_and_loaded(network, tmp_path) -> None:
    path = tmp_path / "model.json"
    network.save(path)
    found = cn.load(path)
    assert found == network
    assert found.group == "site"
    assert found.for_group("oslo") == network.for_group("oslo")
    network.for_group("oslo").save(tmp_path / "oslo.json")
    assert cn.load(tmp_path / "oslo.json") == network.for_group("oslo")
    network.pooled().save(tmp_path / "pooled.json")
    assert "group" not in json.loads((tmp_path / "pooled.json").read_text())
    network.save(tmp_path / "model.bif")
    assert cn.load(tmp_path / "model.bif").group is None


@pytest.mark.parametrize("group", [1, 4, -1, "site", None, True])
def test_a_forged_group_is_refused(network, tmp_path, group) -> None:
    from colonnade.files import native

    document = json.loads(native.render(network)) | {"group": group}
    document["checksum"] = native.checksum(document)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="group"):
        cn.load(path)


# ---------------------------------------------------------------- command line


@pytest.fixture
def at_command_line(tmp_path, monkeypatch):
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    table = drawn(seed=1)
    rows = zip(*(table[name].tolist() for name in ("site", "a", "b", "c")), strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    Path("rows.csv").write_text("\n".join(["site,a,b,c", *lines]) + "\n")
    Path("arcs.csv").write_text("a,c\nb,c\n")

    def run(command: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, command.split())
        return result.exit_code, result.stdout + result.stderr

    return run


def test_groups_on_the_command_line(at_command_line) -> None:
    code, text = at_command_line("fit rows.csv --dag arcs.csv --group site -o model.json")
    assert code == 0
    assert "4 variables, 5 arcs" in text
    assert "; tiered" in text
    assert "\nGrouped by site: 3 groups\n" in text
    network = cn.load("model.json")
    assert network == cn.fit(cn.read("rows.csv"), Dag(DAG.arcs), group="site")
    assert "Grouped by site: 3 groups" in at_command_line("show model.json")[1]
    assert json.loads(at_command_line("show model.json --json")[1])["group"] == "site"
    code, text = at_command_line("query model.json c --observed site=oslo --observed a=1 --json")
    assert code == 0
    wanted = network.for_group("oslo").query("c", {"a": 1})[1]
    assert json.loads(text)["answers"][1]["probability"] == pytest.approx(wanted)
    code, text = at_command_line("query model.json c --observed site=olso")
    assert code == 1
    assert "'bergen', 'hamar', 'oslo'" in text


def test_an_unseen_group_on_the_command_line(at_command_line) -> None:
    at_command_line("fit rows.csv --dag arcs.csv --group site -o model.json")
    network = cn.load("model.json")
    network.for_new_group().save("new.json")
    network.with_group("moss").save("more.json")
    answers = []
    for command in ("query new.json c", "query more.json c --observed site=moss"):
        code, text = at_command_line(f"{command} --observed a=1 --observed b=2 --json")
        assert code == 0
        answers.append([each["probability"] for each in json.loads(text)["answers"]])
    wanted = network.for_new_group()["c"].probabilities[5]
    np.testing.assert_allclose(answers, [wanted, wanted], rtol=1e-12)
    # Nothing was seen of it, so it is none of the groups that were.
    for group in network.groups:
        assert np.abs(network.for_group(group)["c"].probabilities[5] - wanted).max() > 0.01


def test_a_graph_is_learned_without_the_group(at_command_line) -> None:
    command = "fit rows.csv --learn tan --target c --group site --prior hierarchical:learn"
    code, _ = at_command_line(f"{command} -o model.json")
    assert code == 0
    network = cn.load("model.json")
    table = cn.read("rows.csv")
    features = {name: table[name] for name in "abc"}
    wanted = cn.tan(features, "c")
    assert network.pooled().dag == wanted
    assert network == cn.fit(table, wanted, Hierarchical(s="learn"), group="site")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--dag arcs.csv --group ward", "Column 'ward': not in the table"),
        ("--dag arcs.csv --group a", "for --group, got 'a'"),
        ("--learn tan --target c --group c", "--target"),
        ("--learn hc --group c --weights c", "--weights"),
        ("--learn hc --group site --ignore site", "--group: 'site' is given for --ignore, too."),
        ("--learn hc --group sit", "did you mean 'site'?"),
    ],
)
def test_wrong_groups_on_the_command_line(at_command_line, options, message) -> None:
    code, text = at_command_line(f"fit rows.csv {options} -o model.json")
    assert code in (1, 2)
    assert message in text
    assert not Path("model.json").exists()


def test_words_about_groups_on_the_command_line(at_command_line) -> None:
    at_command_line("fit rows.csv --dag arcs.csv --group site -o model.json")
    code, text = at_command_line("query model.json c --observed site=moss")
    assert code == 1
    assert "Hint: leave it out of --observed, or fit again to all rows, with those of" in text
    code, text = at_command_line("query model.json c --observed sit=oslo")
    assert code == 1
    assert "did you mean 'site'?" in text
    Path("moss.csv").write_text("site,a,b,c\nmoss,1,1,1\n")
    assert (
        "with those of the new group" in at_command_line("update model.json moss.csv -o m.json")[1]
    )
    code, text = at_command_line("forget model.json moss.csv -o m.json")
    assert code == 1
    assert "'moss' (1 row) is not one of" in text
    assert "Hint" not in text
    code, text = at_command_line("compare rows.csv --group site --ignore site")
    assert code == 2
    assert "--group: 'site' is given for --ignore, too." in text


@pytest.mark.parametrize("options", ["--dag arcs.csv", "--learn hc"])
def test_numbers_of_groups_are_cut_only_if_named(at_command_line, options) -> None:
    lines = Path("rows.csv").read_text().splitlines()
    for k in range(1, len(lines)):
        lines[k] = f"{k % 40},{lines[k].partition(',')[2]}"
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    fit = f"fit rows.csv {options} --group site"
    for bins in ("", " --bins 3"):
        code, text = at_command_line(f"{fit}{bins} -o m.json --force")
        assert code == 0
        assert "Warning" not in text
        assert cn.load("m.json").groups == tuple(range(40))
    assert at_command_line(f"{fit} --bins site=3 -o c.json")[0] == 0
    network = cn.load("c.json")
    assert len(network.groups) == 3
    wanted = network.query("c", {"site": 2})
    assert network.for_group(network.groups[0]).query("c")[1] == pytest.approx(wanted[1])
    assert network.pooled().group is None
    # What no column is left for is refused.
    Path("words.csv").write_text("site,a,c\n" + "1,x,y\n2,z,y\n3,x,w\n" * 9)
    code, text = at_command_line("fit words.csv --learn hc --group site --bins 3 -o w.json")
    assert code == 2
    assert "--bins applies only to columns of numbers" in text
