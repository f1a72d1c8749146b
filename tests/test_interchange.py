"""Files of other programs: round trips with any name, and pyAgrum and pgmpy as witnesses."""

import itertools
import json
import re
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt, SparseTable
from colonnade.dag import Dag
from colonnade.exceptions import (
    DataError,
    FileFormatError,
    InputError,
    MissingExtraError,
    TooLargeError,
)
from colonnade.files import (
    SUFFIXES,
    FormatWarning,
    from_pgmpy,
    from_pyagrum,
    load,
    save,
    to_pgmpy,
    to_pyagrum,
)
from colonnade.files.identifiers import Identifiers
from colonnade.files.names import Alphabet, decode, encode, pattern, typed, types_of
from colonnade.files.registry import FORMATS
from colonnade.network import BayesianNetwork
from colonnade.priors import Hierarchical, MaximumLikelihood
from colonnade.variables import Family, Variable
from drawn_networks import NASTY, names, networks, plain_names, random_rows

many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
NAMED = [form.suffixes[0] for form in FORMATS if not form.lost]


@pytest.fixture(scope="module")
def gum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum
    return pyagrum


def quiet(function, *args):
    """Call a function whose warning about names is not what the test is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        return function(*args)


def there_and_back(network, path):
    quiet(save, network, path, True)
    return quiet(load, path)


def assert_same(found, network) -> None:
    """Same names, types and order of states, parents and their order, probabilities."""
    assert found.dag == network.dag
    assert found.variables == network.variables
    for name in network:
        assert found[name].prior is None
        # Every digit is written; rows that do not sum to 1.0 exactly may be divided once more.
        np.testing.assert_allclose(
            found[name].probabilities, network[name].probabilities, rtol=1e-11, atol=0
        )


def complete(network) -> bool:
    return all(network[name].table.complete for name in network)


# ------------------------------------------------------------------------ names


def test_reserved_words_are_encoded_in_capitals_too() -> None:
    held = pattern("[a-zA-Z]+", ["net"])
    assert [bool(held.fullmatch(word)) for word in ("nets", "net", "NET")] == [True, False, False]


def test_files_that_exist_can_be_decoded() -> None:
    codes = {"<=50K": "cn___3c__3d_50K", "a_b c": "cn__a__b_20_c", "table": "cn___74_able"}
    assert {text: encode(text) for text in codes} == codes
    decoded = {"cn___3c__3d_50K": "<=50K", "cn__": "", "cn__50K": "cn__50K"}
    assert {code: decode(code) for code in decoded} == decoded


@given(st.text())
def test_any_text_can_be_encoded(text) -> None:
    encoded = encode(text)
    assert pattern(r"cn__[A-Za-z0-9_]*").fullmatch(encoded)
    assert decode(encoded) == text


@given(st.one_of(st.sampled_from(NASTY), st.from_regex(r"(cn_*)?[a-z0-9_]*", fullmatch=True)))
def test_what_was_not_encoded_stays(text) -> None:
    """Only what has the prefix and a code is decoded, and what has the prefix is encoded again."""
    if text != "cn__" and not re.fullmatch(r"cn__.*_[0-9a-f]+_.*", text, re.DOTALL):
        assert decode(text) == text
    (written,) = Alphabet(pattern(".*"), pattern(".*")).write_names([text])
    assert decode(written) == text
    assert (written != text) == (text.startswith("cn__") or not pattern(".*").fullmatch(text))


@given(st.lists(st.one_of(st.text(max_size=3), st.integers()), min_size=1, unique=True))
def test_states_keep_their_types(states) -> None:
    alphabet = Alphabet(pattern("[a-z0-9]+"), pattern("[a-z0-9]+"))
    labels = alphabet.write_states(states)
    assert len(set(labels)) == len(labels)
    found = typed(labels, types_of(states))
    assert [(type(state), state) for state in found] == [(type(state), state) for state in states]


def test_types_that_do_not_fit() -> None:
    for labels, types in ((["a"], "i"), (["1.5"], "i"), (["yes"], "b"), (["1", "2"], "iii")):
        with pytest.raises(ValueError, match=r"integer|boolean|do not fit"):
            typed(labels, types)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("above_21_3", "above_21_3"),
        ("above 21.3", "above_21_3"),
        ("(21.3, inf)", "above_21_3"),
        ("(-inf, 18.6]", "up_to_18_6"),
        ("(18.6, 21.3]", "from_18_6_to_21_3"),
        ("[-1.5, -0.5)", "minus_1_5_to_minus_0_5"),
        ("18.6 to 21.3", "from_18_6_to_21_3"),
        ("<=50K", "at_most_50K"),
        (">50K", "above_50K"),
        ("Never-married", "Never_married"),
        ("12+", "state_12_plus"),
        ("na\u00efve", "naive"),
        ("a b", "a_b"),
        ("_x", "x"),
        ("3", "state_3"),
        ("", "state"),
        ("\u65e5\u672c", "state"),
    ],
)
def test_identifiers_can_be_read(text, identifier) -> None:
    assert Identifiers().write_states([text]) == [identifier]


@given(st.lists(st.one_of(names, st.text(max_size=3), st.integers(-3, 3)), unique=True))
def test_identifiers_are_identifiers_and_different(states) -> None:
    for written in (
        Identifiers().write_states(states),
        Identifiers().write_names(map(str, states)),
    ):
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", each, re.ASCII) for each in written)
    written = Identifiers().write_states(states)
    assert len(set(written)) == len(states)
    for state, each in zip(states, written, strict=True):
        if isinstance(state, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", state, re.ASCII):
            assert each == state


# ------------------------------------------------------------------ round trips


@pytest.mark.parametrize("suffix", NAMED)
@many
@given(network=networks())
def test_round_trip(network, suffix, tmp_path) -> None:
    assume(complete(network))
    assert_same(there_and_back(network, tmp_path / f"model{suffix}"), network)


@pytest.mark.parametrize("suffix", [*NAMED, ".json"])
@settings(many, max_examples=40)
@given(network=networks(known=True))
def test_known_tables_come_back_equal(network, suffix, tmp_path) -> None:
    assert there_and_back(network, tmp_path / f"model{suffix}") == network


@st.composite
def rows_and_default(draw):
    """Rows of b given a, many of them equal to the default row, and which of those are listed."""
    row = st.sampled_from(["0.5 0.5", "0.25 0.75", "0.1 0.9"])
    rows = draw(st.lists(row, min_size=3, max_size=3))
    default = draw(row)
    listed = [draw(st.booleans()) or each != default for each in rows]
    return rows, default, listed


@settings(many, max_examples=40)
@given(drawn=rows_and_default())
def test_a_default_row_and_the_same_row_written_out_are_equal(drawn, tmp_path) -> None:
    rows, default, listed = drawn
    head = """variable a {type discrete[3]{x,y,z};} variable b {type discrete[2]{u,v};}
    probability(a){%s 0.2 0.3 0.5;} probability(b|a){%s}"""
    lines = [f"({state}) {row};" for state, row in zip("xyz", rows, strict=True)]
    some = [line for line, here in zip(lines, listed, strict=True) if here]
    (tmp_path / "full.bif").write_text(head % ("table", "".join(lines)))
    (tmp_path / "short.bif").write_text(head % ("default", f"default {default};" + "".join(some)))
    full, short = load(tmp_path / "full.bif"), load(tmp_path / "short.bif")
    assert short == full
    for suffix in (*NAMED, ".json"):
        assert there_and_back(short, tmp_path / f"again{suffix}") == short == full


@many
@given(network=networks())
def test_round_trip_uai(network, tmp_path) -> None:
    """No names: everything else is the same."""
    assume(complete(network))
    found = there_and_back(network, tmp_path / "model.uai")
    places = {name: f"v{k}" for k, name in enumerate(network)}
    assert list(found) == list(places.values())
    for name, place in places.items():
        cpt = network[name]
        assert found.dag.parents(place) == tuple(places[p] for p in network.dag.parents(name))
        assert found[place].family.child.states == tuple(range(cpt.family.cardinality))
        np.testing.assert_allclose(
            found[place].probabilities, cpt.probabilities, rtol=1e-11, atol=0
        )


def test_every_nasty_name_at_once(tmp_path) -> None:
    variables = [Variable(name, ["", *NASTY, 0, 1]) for name in NASTY]
    rng = np.random.default_rng(0)
    tables = {
        v.name: Cpt.known(Family(v), random_rows(rng, 1, v.cardinality)) for v in variables[1:]
    }
    family = Family(variables[0], (variables[1],))
    tables[family.child.name] = Cpt.known(
        family, random_rows(rng, family.configurations, family.cardinality)
    )
    network = BayesianNetwork(Dag([(NASTY[1], NASTY[0])], NASTY), tables)
    for suffix in NAMED:
        assert_same(there_and_back(network, tmp_path / f"model{suffix}"), network)


def simple(rows=((0.9, 0.1), (0.4, 0.6))):
    a, b = Variable("a", ["no", "yes"]), Variable("b", ["x", "y"])
    tables = {"a": Cpt.known(Family(a), [[0.7, 0.3]]), "b": Cpt.known(Family(b, (a,)), rows)}
    return BayesianNetwork(Dag([("a", "b")]), tables)


@pytest.mark.parametrize("suffix", NAMED)
def test_one_warning_when_names_are_encoded(suffix, tmp_path) -> None:
    save(simple(), tmp_path / f"plain{suffix}")  # a warning would be an error here
    assert load(tmp_path / f"plain{suffix}") == simple()
    name = "two  spaces"
    variable = Variable(name, ["", "\x00"])
    network = BayesianNetwork(Dag([], [name]), {name: Cpt.known(Family(variable), [[0.5, 0.5]])})
    code = "two_spaces'" if suffix == ".xdsl" else "cn__"
    with pytest.warns(
        FormatWarning, match=rf"3 names or states .* 'two  spaces' as '{code}"
    ) as seen:
        network.save(tmp_path / f"odd{suffix}")
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert str(seen[0].message).endswith("; Colonnade decodes them.")
    assert ", for example " in str(seen[0].message)
    assert load(tmp_path / f"odd{suffix}") == network


def test_the_warning_shows_what_was_written(tmp_path) -> None:
    """NET holds 'a b' as a state, but not as a name."""
    table = {"a b": Cpt.known(Family(Variable("a b", ["a b", "c"])), [[0.5, 0.5]])}
    one = r"1 name or state that NET cannot hold, 'a b' as 'cn__a_20_b'; Colonnade decodes it\.$"
    with pytest.warns(FormatWarning, match=one):
        save(BayesianNetwork(Dag([], ["a b"]), table), tmp_path / "model.net")


def test_uai_warns_both_ways(tmp_path) -> None:
    with pytest.warns(FormatWarning, match="holds no names") as seen:
        save(simple(), tmp_path / "model.uai")
    assert len(seen) == 1
    with pytest.warns(FormatWarning, match=r"v0, v1 .* 0, 1 and so on\.$") as seen:
        load(tmp_path / "model.uai")
    assert len(seen) == 1


@pytest.mark.parametrize("suffix", [*NAMED, ".uai"])
def test_digits_survive(suffix, tmp_path) -> None:
    rows = [[1e-300, 1.0 - 1e-300], [1 / 3, 2 / 3]]
    found = there_and_back(simple(rows), tmp_path / f"model{suffix}")
    child = "v1" if suffix == ".uai" else "b"
    np.testing.assert_array_equal(found[child].probabilities, rows)


def test_estimated_tables_are_written_as_their_means(tmp_path) -> None:
    network = simple()
    family = network["b"].family
    counts = FamilyCounts.from_array([[3, 1], [0, 0]])
    cpt = Cpt.of(family, counts, Hierarchical())
    network = BayesianNetwork(network.dag, {**network.tables, "b": cpt})
    save(network, tmp_path / "model.bif")
    found = load(tmp_path / "model.bif")
    np.testing.assert_allclose(found["b"].probabilities, cpt.mean, rtol=1e-12)
    assert found["b"].counts is None


# -------------------------------------------------------------------- witnesses


@pytest.mark.parametrize(
    ("suffix", "dialect"),
    [
        *((suffix, "standard") for suffix in (".bif", ".bifxml", ".net", ".xdsl", ".uai")),
        *((suffix, "agrum") for suffix in (".xdsl", ".uai")),
    ],
)
@settings(many, max_examples=40)
@given(network=networks(names=plain_names, known=True))
def test_pyagrum_reads_our_files(network, suffix, dialect, gum, tmp_path) -> None:
    # Its own order of parents is that of its dialect; one parent has no order.
    few = 1 if dialect == "standard" and suffix in (".xdsl", ".uai") else 9
    assume(all(len(network.dag.parents(name)) <= few for name in network))
    # A single state is more than its readers can hold.
    assume(all(v.cardinality > 1 for v in network.variables))
    quiet(save, network, tmp_path / f"model{suffix}", True, dialect)
    model = gum.loadBN(str(tmp_path / f"model{suffix}"))
    # UAI has no names, but numbers.
    called = {name: str(k) if suffix == ".uai" else name for k, name in enumerate(network)}
    assert set(model.names()) == set(called.values())
    for name in network:
        tensor = model.cpt(called[name])
        family = network[name].family
        members = [called[member.name] for member in (*family.parents, family.child)]
        axes = list(reversed(tensor.names))
        found = tensor.toarray().transpose([axes.index(member) for member in members])
        wanted = network[name].probabilities.reshape(found.shape)
        # It reads single precision in two of the formats.
        np.testing.assert_allclose(found, wanted, atol=1e-6)
        labels = list(model.variable(called[name]).labels())
        if suffix == ".xdsl":
            assert labels == Identifiers().write_states(family.child.states)
        elif suffix != ".uai":
            assert list(map(decode, labels)) == [str(state) for state in family.child.states]


@pytest.mark.parametrize("suffix", [".xdsl", ".uai"])
@settings(many, max_examples=40)
@given(network=networks(known=True))
def test_the_dialect_of_agrum_comes_back(network, suffix, tmp_path) -> None:
    standard, agrum = tmp_path / f"standard{suffix}", tmp_path / f"agrum{suffix}"
    quiet(save, network, standard, True)
    quiet(save, network, agrum, True, "agrum")
    assert quiet(load, agrum) == quiet(load, standard)


def test_dialects_are_two(tmp_path) -> None:
    network, _ = two_parents()
    with pytest.raises(InputError, match="'standard' or 'agrum'"):
        save(network, tmp_path / "model.xdsl", dialect="genie")
    for suffix in (".json", ".bif", ".net", ".xmlbif", ".xml"):
        with pytest.raises(InputError, match=r"`dialect` applies only to \.xdsl and \.uai files"):
            save(network, tmp_path / f"model{suffix}", dialect="agrum")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net", ".xdsl", ".uai"])
@settings(many, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_we_read_the_files_of_pyagrum(seed, suffix, gum, tmp_path) -> None:
    """With its order of parents where that is its own, and to the digits that it writes."""
    gum.initRandom(seed + 1)
    model = gum.fastBN("a{x|y|z}->c{0|1|2|3}<-b{T|F};a->b;d[2,4]->c->e{u|v}")
    path = tmp_path / f"model{suffix}"
    model.saveUAI(str(path)) if suffix == ".uai" else gum.saveBN(model, str(path))
    found = quiet(load, path)
    # UAI has no names; its numbers are those of the nodes.
    places = {n: f"v{model.idFromName(n)}" if suffix == ".uai" else n for n in "abcde"}
    for name in "abcde":
        tensor = model.cpt(name)
        cpt = found[places[name]]
        parents = [parent.name for parent in cpt.family.parents]
        assert sorted(parents) == sorted(places[n] for n in tensor.names[1:])
        axes = [places[n] for n in reversed(tensor.names)]
        wanted = tensor.toarray().transpose([axes.index(n) for n in (*parents, places[name])])
        np.testing.assert_allclose(cpt.probabilities.reshape(wanted.shape), wanted, atol=2e-6)


def two_parents():
    """A child with parents of 3 and 2 states: their order shows."""
    a, b, c = Variable("a", ["x", "y", "z"]), Variable("b", ["u", "v"]), Variable("c", ["k", "l"])
    table = np.random.default_rng(4).dirichlet([1, 1], size=6)
    tables = {
        "a": Cpt.known(Family(a), [[0.2, 0.3, 0.5]]),
        "b": Cpt.known(Family(b), [[0.4, 0.6]]),
        "c": Cpt.known(Family(c, (a, b)), table),
    }
    return BayesianNetwork(Dag([("a", "c"), ("b", "c")], ["a", "b", "c"]), tables), table


def test_xdsl_orders_parents_as_its_definition(tmp_path) -> None:
    """The first parent varies slowest: pgmpy agrees, pyAgrum 3.3 does not."""
    readwrite = pytest.importorskip("pgmpy.readwrite")
    network, table = two_parents()
    save(network, tmp_path / "model.xdsl")
    cpd = readwrite.XDSLReader(str(tmp_path / "model.xdsl")).get_model().get_cpds("c")
    axes = [cpd.variables.index(name) for name in "abc"]
    np.testing.assert_allclose(cpd.values.transpose(axes).reshape(6, 2), table, atol=1e-9)


def fruit():
    """Names and states that are no identifiers, and a graph with two rows of nodes."""
    a, b = Variable("a b", ["<=50K", ">50K"]), Variable("b", [0, 1])
    c = Variable("c", ["x", "(-inf, 2.5]", "(2.5, inf)"])
    tables = {
        "a b": Cpt.known(Family(a), [[0.25, 0.75]]),
        "b": Cpt.known(Family(b), [[0.5, 0.5]]),
        "c": Cpt.known(Family(c, (a, b)), np.full((4, 3), 1 / 3)),
    }
    return BayesianNetwork(Dag([("a b", "c"), ("b", "c")], ["c", "a b", "b"]), tables)


def test_xdsl_is_written_for_people(tmp_path) -> None:
    network, path = fruit(), tmp_path / "model.xdsl"
    with pytest.warns(FormatWarning, match=r"encoded 7 names or states .* as 'up_to_2_5'"):
        save(network, path)
    root = ElementTree.parse(path).getroot()
    states = {node.get("id"): [s.get("id") for s in node.iter("state")] for node in root[0]}
    assert states == {
        "a_b": ["at_most_50K", "above_50K"],
        "b": ["state_0", "state_1"],
        "c": ["x", "up_to_2_5", "above_2_5"],
    }
    shown = root.findall("extensions/genie/node")
    assert [node.findtext("name") for node in shown] == ["c", "a b", "b"]
    parts = ["name", "interior", "outline", "font", "position"]
    assert all([part.tag for part in node] == parts for node in shown)
    assert load(path) == network


@settings(many, max_examples=30)
@given(network=networks(known=True, most=7))
def test_nodes_of_xdsl_do_not_overlap_and_stand_below_their_parents(network, tmp_path) -> None:
    quiet(save, network, tmp_path / "model.xdsl", True)
    root = ElementTree.parse(tmp_path / "model.xdsl").getroot()
    shown = root.findall("extensions/genie/node")
    boxes = [tuple(map(int, node.findtext("position").split())) for node in shown]
    for (left, top, right, bottom), (left2, top2, right2, bottom2) in itertools.combinations(
        boxes, 2
    ):
        assert right < left2 or right2 < left or bottom < top2 or bottom2 < top
    place = dict(zip(network, boxes, strict=True))
    for parent, child in network.dag.arcs:
        assert place[parent][3] < place[child][1]
    assert min(min(box) for box in boxes) >= 0


def test_what_is_renamed_in_genie_has_its_new_name(tmp_path) -> None:
    path = tmp_path / "model.xdsl"
    quiet(save, fruit(), path)
    renamed = path.read_text().replace('state id="state_1"', 'state id="many"')
    path.write_text(
        renamed.replace('cpt id="a_b"', 'cpt id="income"').replace(">a_b b<", ">income b<")
    )
    found = load(path)
    assert found["b"].family.child.states == (0, "many")
    assert found["income"].family.child.states == ("<=50K", ">50K")


def test_xdsl_files_of_earlier_versions_are_read(tmp_path) -> None:
    text = """<smile><nodes><cpt id="cn__a_20_b"><state id="cn___30_" /><state id="cn___31_" />
    <probabilities>0.25 0.75</probabilities><property id="colonnade_types">i</property></cpt>
    </nodes></smile>"""
    (tmp_path / "x.xdsl").write_text(text)
    assert load(tmp_path / "x.xdsl")["a b"].family.child.states == (0, 1)


@pytest.mark.parametrize("kept", ["[1]", "{", '{"x": null}', '{"x": [1]}', "[" * 100_000])
def test_what_identifiers_stand_for_is_checked(kept, tmp_path) -> None:
    text = f"""<smile><nodes><cpt id="a"><state id="x" /><probabilities>1</probabilities>
    <property id="colonnade_states">{kept}</property></cpt></nodes></smile>"""
    (tmp_path / "x.xdsl").write_text(text)
    with pytest.raises(FileFormatError, match="variable 'a': its property colonnade_states does"):
        load(tmp_path / "x.xdsl")


def test_uai_orders_variables_as_its_definition(tmp_path) -> None:
    """The last variable of a scope varies fastest: taken apart by hand."""
    network, table = two_parents()
    quiet(save, network, tmp_path / "model.uai")
    words = (tmp_path / "model.uai").read_text().split()
    assert words[:13] == ["BAYES", "3", "3", "2", "2", "3", "1", "0", "1", "1", "3", "0", "1"]
    assert words[13] == "2"
    values = list(map(float, words[-12:]))
    for a, b, c in itertools.product(range(3), range(2), range(2)):
        assert values[(a * 2 + b) * 2 + c] == table[a * 2 + b, c]


@pytest.mark.parametrize("name", ["child", "asia", "alarm"])
def test_networks_of_the_bnlearn_repository(name, tmp_path) -> None:
    """As pgmpy ships them; pyAgrum 3.3 stops at the states of one."""
    import gzip
    from importlib.util import find_spec
    from pathlib import Path

    package = find_spec("pgmpy")
    path = Path(package.origin).parent / f"utils/example_models/{name}.bif.gz" if package else None
    if path is None or not path.exists():
        pytest.skip("pgmpy ships no such network")
    (tmp_path / "model.bif").write_bytes(gzip.decompress(path.read_bytes()))
    network = load(tmp_path / "model.bif")
    model = (
        pytest.importorskip("pgmpy.readwrite").BIFReader(str(tmp_path / "model.bif")).get_model()
    )
    for variable in network:
        cpd, family = model.get_cpds(variable), network[variable].family
        axes = [cpd.variables.index(p.name) for p in (*family.parents, family.child)]
        assert tuple(cpd.state_names[variable]) == family.child.states
        np.testing.assert_allclose(
            cpd.values.transpose(axes).reshape(-1, family.cardinality),
            network[variable].probabilities,
            atol=1e-6,
        )
    for suffix in NAMED:
        assert there_and_back(network, tmp_path / f"again{suffix}") == network


def test_pgmpy_reads_our_bif(tmp_path) -> None:
    readwrite = pytest.importorskip("pgmpy.readwrite")
    save(simple(), tmp_path / "model.bif")
    model = readwrite.BIFReader(str(tmp_path / "model.bif")).get_model()
    np.testing.assert_allclose(model.get_cpds("b").values, [[0.9, 0.4], [0.1, 0.6]])
    assert from_pgmpy(model) == simple()


# --------------------------------------------------------------- files by others

BIF_BY_HAND = """
// a comment
network "Dog-Problem" { property "credal-set constant-density-bounded 1.1" ; }
/* states as they are found in the wild */
variable age { type discrete[3] { <5 5-12 12+ }; property "position = (73, 165)" ; }
variable "dog out" { property x; type discrete [ 2 ] { "yes", no.way }; }
probability ( "age" ) { table 0.2 0.3 0.5 ; }
probability ( "dog out" | age ) {
  default 0.5, 0.5;
  (12+) 0.25 , 7.5e-1;
}
"""


def test_bif_of_others(tmp_path) -> None:
    (tmp_path / "dog.bif").write_text(BIF_BY_HAND, encoding="utf-8")
    found = load(tmp_path / "dog.bif")
    assert found["age"].family.child.states == ("<5", "5-12", "12+")
    assert found["dog out"].family.child.states == ("yes", "no.way")
    np.testing.assert_array_equal(
        found["dog out"].probabilities, [[0.5, 0.5], [0.5, 0.5], [0.25, 0.75]]
    )


def test_a_quoted_comma_is_a_state(tmp_path) -> None:
    text = 'variable a {type discrete[2]{",", "|"};} probability(a){table 0.25, 0.75;}'
    (tmp_path / "x.bif").write_text(text)
    assert load(tmp_path / "x.bif")["a"].family.child.states == (",", "|")


def test_a_word_that_is_no_number_is_shown_in_quotes(tmp_path) -> None:
    word = "x" * 100
    text = f"variable a {{type discrete[2]{{0, 1}};}} probability(a){{table 0.25, {word};}}"
    (tmp_path / "x.bif").write_text(text)
    with pytest.raises(FileFormatError, match=f"'{word[:80]}' is not a number"):
        load(tmp_path / "x.bif")


def test_bif_with_one_list_for_the_table(tmp_path) -> None:
    """The definition has the child slowest; some write it fastest; only one sums to 1."""
    head = "network x {} variable a {type discrete[2]{u,v};} variable b {type discrete[3]{0,1,2};}"
    for numbers in ("0.1 0.5 0.2 0.3 0.7 0.2", "0.1 0.2 0.7 0.5 0.3 0.2"):
        text = f"{head} probability(a){{table 0.5 0.5;}} probability(b a){{table {numbers};}}"
        (tmp_path / "x.bif").write_text(text)
        found = load(tmp_path / "x.bif")
        np.testing.assert_array_equal(found["b"].probabilities, [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])


def test_a_default_row_keeps_a_table_sparse(tmp_path) -> None:
    """Thirty parents: 2**30 rows that are never made."""
    lines = ["network x { }", "variable y { type discrete [ 2 ] { 0, 1 }; }"]
    for k in range(30):
        lines.append(f"variable p{k} {{ type discrete [ 2 ] {{ 0, 1 }}; }}")
        lines.append(f"probability ( p{k} ) {{ table 0.5, 0.5; }}")
    given = ", ".join(f"p{k}" for k in range(30))
    ones = ", ".join("1" * 30)
    lines.append(f"probability ( y | {given} ) {{ default 0.9, 0.1; ({ones}) 0.2, 0.8; }}")
    (tmp_path / "wide.bif").write_text("\n".join(lines))
    found = load(tmp_path / "wide.bif")
    assert found["y"].table.row((1,) * 30).tolist() == [0.2, 0.8]
    assert found["y"].table.row((0,) * 30).tolist() == [0.9, 0.1]
    with pytest.raises(TooLargeError, match=r"2,147,483,\d+ cells"):
        save(found, tmp_path / "again.bif")


def test_net_of_others(tmp_path) -> None:
    text = """
    net { name = "x"; node_size = (50 50); HR_Color = "1;2 }"; }  % { comment
    discrete node A { label = "the (first)"; position = (1 2); states = ("<5" "a b"); }
    node B { states = (yes no); subtype = label; }
    potential (A) { data = ( 0.25 0.75 ); }
    potential (B | A) { data = ((0.1 0.9) % first
                                (0.8 0.2)); }
    """
    (tmp_path / "x.net").write_text(text)
    found = load(tmp_path / "x.net")
    assert found["A"].family.child.states == ("<5", "a b")
    np.testing.assert_array_equal(found["B"].probabilities, [[0.1, 0.9], [0.8, 0.2]])


def test_net_of_counts(tmp_path) -> None:
    """Hugin takes any positive numbers and divides by their sum."""
    text = "net { } node a { states = (x y); } potential (a) { data = ( 10 %s ); }"
    (tmp_path / "x.net").write_text(text % 90)
    with pytest.warns(FormatWarning, match="rescaled 1 row of variable 'a'"):
        found = load(tmp_path / "x.net")
    np.testing.assert_allclose(found["a"].probabilities, [[0.1, 0.9]])
    (tmp_path / "x.net").write_text((text % 0).replace("10", "0"))
    with pytest.raises(FileFormatError, match="variable 'a': its probabilities are all 0"):
        load(tmp_path / "x.net")


def test_a_row_of_zeros_is_the_fault_not_the_row_of_counts_beside_it(tmp_path) -> None:
    text = """net { } node a { states = (x "y z"); } node b { states = (u v); }
    potential (a) { data = (1 1); } potential (b | a) { data = ((13 13) (0 0)); }"""
    (tmp_path / "x.net").write_text(text)
    with pytest.raises(FileFormatError, match="'b': its probabilities given a = y z are all 0"):
        load(tmp_path / "x.net")


def test_xdsl_of_others(tmp_path) -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?>
    <smile version="1.0" id="x"><nodes>
      <cpt id="Success"><state id="Yes"/><state id="No"/>
        <probabilities>0.2 0.8</probabilities></cpt>
      <deterministic id="Copy"><state id="u"/><state id="v"/><parents>Success</parents>
        <resultingstates>v u</resultingstates></deterministic>
    </nodes></smile>"""
    (tmp_path / "x.xdsl").write_text(text)
    found = load(tmp_path / "x.xdsl")
    np.testing.assert_array_equal(found["Copy"].probabilities, [[0, 1], [1, 0]])


def test_xmlbif_of_others(tmp_path) -> None:
    text = """<?xml version="1.0" encoding="US-ASCII"?>
    <!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
    <BIF VERSION="0.3" xmlns="urn:x"><NETWORK><NAME>x</NAME>
    <VARIABLE TYPE="nature"><NAME> a </NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME>
      <PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
    <DEFINITION><FOR>a</FOR><TABLE>0.3 <!-- one --> 0.7 </TABLE></DEFINITION>
    </NETWORK></BIF>"""
    (tmp_path / "x.xml").write_text(text)
    np.testing.assert_array_equal(load(tmp_path / "x.xml")["a"].probabilities, [[0.3, 0.7]])


def test_rows_with_few_digits_are_rescaled_with_a_warning(tmp_path) -> None:
    text = "network x {} variable a {type discrete[3]{u,v,w};} probability(a){table %s;}"
    (tmp_path / "x.bif").write_text(text % "0.333 0.333 0.333")
    with pytest.warns(FormatWarning, match=r"rescaled 1 row of variable 'a' .* by up to 0\.001"):
        found = load(tmp_path / "x.bif")
    np.testing.assert_allclose(found["a"].probabilities, 1 / 3)
    (tmp_path / "x.bif").write_text(text % "0.3 0.3 0.3")
    with pytest.raises(FileFormatError, match=r"variable 'a': .* not sum to 1 but to 0\.9"):
        load(tmp_path / "x.bif")


def test_one_warning_tells_of_many_rescaled_tables(tmp_path) -> None:
    one = "variable %s {type discrete[2]{u,v};} probability(%s){table 0.333 0.666;}"
    text = " ".join(one % (name, name) for name in "abcde")
    (tmp_path / "x.bif").write_text(f"network x {{}} {text}")
    with pytest.warns(FormatWarning, match=r"'c' .* \(and 2 more of this kind\)") as told:
        load(tmp_path / "x.bif")
    assert len(told) == 1


# ----------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("suffix", "content", "problem"),
    [
        (".bif", "", "no variables"),
        (".bif", "nonsense", "'network', 'variable'"),
        (".bif", "network x {", "ends too early"),
        (".bif", 'network "x {', "not closed"),
        (".bif", "network x {} variable a {type continuous;}", "not discrete"),
        (".bif", "variable a {type discrete[3]{x,y};}", "expected 3 states, got 2"),
        (
            ".bif",
            "variable a {type discrete[2]{x,x};} probability(a){table 0.5 0.5;}",
            "listed twice",
        ),
        (".bif", "variable a {type discrete[2]{x,y};}", "no probabilities"),
        (".bif", "variable a {} variable a {}", "defined twice"),
        (
            ".bif",
            "variable a {type discrete[1]{x};} probability(a|b){(y) 1;}",
            "'b' is not defined",
        ),
        (".bif", "probability(b){table 1;}", "'b' is not defined"),
        (".bif", "variable a {type discrete[1]{x};} probability(a){table one;}", "'one' is not a"),
        (".bif", "variable a {type discrete[1]{x};} probability(a){table nan;}", "not a number"),
        (".bif", "variable a {type discrete[2]{x,y};} probability(a){table 2 -1;}", "negative"),
        (
            ".bif",
            "variable a {type discrete[2]{x,y};} probability(a){table 1;}",
            "1 probability ",
        ),
        (".bif", "variable a {type discrete[1]{x};} probability(a|a){(x) 1;}", "its own parent"),
        (".bif", "/* " * 200_000, "no variables"),
        (".bif", "a" * 200_000 + '"', "'network', 'variable'"),
        (".net", "net { } utility node u {}", "discrete chance nodes"),
        (".net", "net { } node a { }", "states are not listed"),
        (".net", "node a { states = (x y; }", "parentheses"),
        (".net", "potential (a) { data = (1); }", "'a' is not defined"),
        (".net", "node a { states = (x); } potential (a) { }", "no probabilities"),
        (".xml", "<BIF>", "not XML"),
        (".xml", "<BIF></BIF>", "no NETWORK"),
        (".xml", "<a>" * 100_000, "nested too deeply"),
        (".xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "defines entities"),
        (".xml", "<?xml version='1.0' encoding='nonsense'?><a/>", "encoding|not XML"),
        (".xml", "<BIF><NETWORK><VARIABLE/></NETWORK></BIF>", "no name"),
        (".xdsl", "<smile/>", "with nodes"),
        (".xdsl", "<smile><nodes><noisyadder id='x'/></nodes></smile>", "'noisyadder' are not"),
        (
            ".xdsl",
            "<smile><nodes><cpt id=''><state id='x'/><probabilities>1</probabilities></cpt>"
            "</nodes></smile>",
            "a cpt has no id",
        ),
        (".uai", "MARKOV 1 2", "'MARKOV', not 'BAYES'"),
        (".uai", "BAYES 1", "ends before a size"),
        (".uai", "BAYES 1 999999999999999999 1 1 0 999999999999999999 0.5", "after 1 of"),
        (".uai", "BAYES 999999999999999999 2", "ends before a size"),
        (".uai", "BAYES 1 2 1 1 0 3 0.5 0.5", "not the product"),
        (".uai", "BAYES 1 2 1 1 5 2 0.5 0.5", "scope"),
        # A table without cells would excuse any number of states.
        (".uai", "BAYES 2 0 1000000 2 1 0 2 0 1 0 0", "variable 0: it has no states"),
        (".uai", "BAYES 1 2 0", "no table for 1 variable."),
        (".uai", "BAYES 2 2 2 2 2 0 1 2 1 0 4 1 0 0 1 4 1 0 0 1", "no cycle"),
        (".uai", "BAYES x", "'x' is not the number of variables"),
    ],
)
def test_bad_files_are_named(suffix, content, problem, tmp_path) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_text(content)
    with pytest.raises(FileFormatError) as caught:
        load(path)
    assert any(part in str(caught.value) for part in problem.split("|"))
    assert str(caught.value).startswith(f"File {str(path)!r}")


def test_a_hint_of_the_package_is_kept_apart(tmp_path) -> None:
    (tmp_path / "x.uai").write_text("BAYES 2 2 2 2 2 0 1 2 1 0 4 1 0 0 1 4 1 0 0 1")
    with pytest.raises(FileFormatError, match="no cycle") as caught:
        load(tmp_path / "x.uai")
    assert caught.value.hint == "remove or turn one of these arcs"
    assert "Hint" not in caught.value.problem


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One file of each format, of a network with three variables."""
    folder = tmp_path_factory.mktemp("written")
    rng = np.random.default_rng(2)
    a, b, c = Variable("a b", ["<", "y"]), Variable("b", [0, 1, 2]), Variable("c", [False, True])
    tables = {
        "a b": Cpt.known(Family(a), random_rows(rng, 1, 2)),
        "b": Cpt.known(Family(b, (a,)), random_rows(rng, 2, 3)),
        "c": Cpt.known(Family(c, (b, a)), random_rows(rng, 6, 2)),
    }
    network = BayesianNetwork(Dag([("a b", "b"), ("b", "c"), ("a b", "c")]), tables)
    for suffix in [*NAMED, ".uai"]:
        quiet(save, network, folder / f"model{suffix}")
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("suffix", [*NAMED, ".uai"])
def test_damaged_files_never_do_anything_else(suffix, written, tmp_path) -> None:
    """Cut short and with bytes changed: a clear error, or a network; never another exception."""
    content, path = written[suffix], tmp_path / f"model{suffix}"
    rng = np.random.default_rng(3)
    damaged = [content[:length] for length in range(0, len(content), 5)]
    for position in rng.choice(len(content), size=300):
        value = bytes([int(rng.integers(256))])
        damaged.append(content[:position] + value + content[position + 1 :])
    for other in damaged:
        path.write_bytes(other)
        try:
            found = quiet(load, path)
        except FileFormatError:
            continue
        assert isinstance(found, BayesianNetwork)


def test_what_cannot_be_written(tmp_path) -> None:
    family = simple()["b"].family
    counts = FamilyCounts.from_array([[3, 1], [0, 0]])
    tables = {**simple().tables, "b": Cpt.of(family, counts, MaximumLikelihood())}
    with pytest.raises(DataError, match=r"Variable 'b': .* for 1 configuration of"):
        save(BayesianNetwork(simple().dag, tables), tmp_path / "model.bif")
    with pytest.raises(InputError, match=r"ends in one of \.json, \.bif"):
        save(simple(), tmp_path / "model.dsl")
    with pytest.raises(InputError, match="a BayesianNetwork"):
        save("x", tmp_path / "model.bif")
    with pytest.raises(InputError, match="create the folder"):
        save(simple(), tmp_path / "missing" / "model.bif")
    save(simple(), tmp_path / "model.bif")
    with pytest.raises(InputError, match="not taken"):
        save(simple(), tmp_path / "model.bif")
    save(simple(), tmp_path / "model.bif", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.bif"]


def test_what_is_said_about_files_names_every_suffix() -> None:
    for function in (load, save, BayesianNetwork.save):
        assert all(f"``{suffix}``" in function.__doc__ for suffix in SUFFIXES)


def test_load_and_save_choose_by_suffix(tmp_path) -> None:
    for name in ("model.json", "model.bif", "model.XDSL"):
        save(simple(), tmp_path / name)
        assert load(str(tmp_path / name)) == simple()
    assert json.loads((tmp_path / "model.json").read_text())["format"] == "colonnade network"
    with pytest.raises(InputError, match="not taken"):
        save(simple(), tmp_path / "model.json")
    with pytest.raises(InputError, match="ends in one of"):
        load(tmp_path / "model.pkl")


# -------------------------------------------------------------------- in memory


@many
@given(network=networks())
def test_pyagrum_round_trip(network) -> None:
    assume(complete(network))
    model = quiet(to_pyagrum, network)
    assert_same(quiet(from_pyagrum, model), network)


def test_pyagrum_holds_the_same_numbers(gum) -> None:
    rng = np.random.default_rng(1)
    a, b, c = Variable("a a", ["x", "y", "z"]), Variable("<b>", [1, 2]), Variable("c", ["k", "l"])
    table = rng.dirichlet([1, 1], size=(3, 2))
    tables = {
        "a a": Cpt.known(Family(a), [[0.2, 0.3, 0.5]]),
        "<b>": Cpt.known(Family(b), [[0.4, 0.6]]),
        "c": Cpt.known(Family(c, (a, b)), table),
    }
    network = BayesianNetwork(Dag([("a a", "c"), ("<b>", "c")]), tables)
    model = to_pyagrum(network)
    assert model.check() == ()
    for i, j in itertools.product(range(3), range(2)):
        row = model.cpt("c")[{"a a": a.states[i], "<b>": str(b.states[j])}]
        np.testing.assert_array_equal(row, table[i, j])


@pytest.mark.parametrize(("kind", "truth"), [("addOR", max), ("addAND", min)])
def test_from_pyagrum_with_aggregators(kind, truth, gum) -> None:
    """They have no array in memory; what was there before must not be taken for one."""
    model = gum.BayesNet()
    x, y = (model.add(gum.LabelizedVariable(name, "", 2)) for name in "xy")
    node = getattr(model, kind)(gum.LabelizedVariable("o", "", 2))
    model.addArc(x, node)
    model.addArc(y, node)
    model.cpt("x").fillWith([0.3, 0.7])
    model.cpt("y").fillWith([0.6, 0.4])
    wanted = [[1.0 - truth(a, b), truth(a, b)] for a in (0, 1) for b in (0, 1)]
    for _ in range(5):
        from_pyagrum(gum.fastBN("p->r;q->r"))  # leaves numbers in memory
        np.testing.assert_array_equal(from_pyagrum(model)["o"].probabilities, wanted)


def test_from_pyagrum_with_its_own_kinds_of_variables(gum) -> None:
    model = gum.fastBN("r[3,5]->l{a|b}<-i{2|4|9}")
    found = from_pyagrum(model)
    assert found["r"].family.child.states == (3, 4, 5)
    assert found["i"].family.child.states == (2, 4, 9)
    assert found["l"].family.child.states == ("a", "b")
    assert found.dag.parents("l") == ("r", "i")
    axes = found["l"].probabilities.reshape(3, 3, 2)
    for r, i in itertools.product(range(3), range(3)):
        np.testing.assert_allclose(axes[r, i], model.cpt("l")[{"r": r, "i": i}], rtol=1e-12)
    with pytest.raises(InputError, match=r"a pyagrum\.BayesNet"):
        from_pyagrum("x")
    empty = gum.BayesNet()
    empty.add("x", 2)
    with pytest.raises(InputError, match=r"variable 'x': .* sum to 1 but to 0"):
        from_pyagrum(empty)


def test_pyagrum_loads_where_warnings_are_errors() -> None:
    import subprocess
    import sys

    code = "from colonnade.gum import load_pyagrum; load_pyagrum(); print('fine')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.filterwarnings("ignore")
@settings(many, max_examples=25)
@given(network=networks())
def test_pgmpy_round_trip(network) -> None:
    pytest.importorskip("pgmpy")
    assume(complete(network))
    assert_same(from_pgmpy(to_pgmpy(network)), network)


def test_from_pgmpy_refuses_what_it_cannot_take() -> None:
    models = pytest.importorskip("pgmpy.models")
    with pytest.raises(InputError, match="DiscreteBayesianNetwork of pgmpy"):
        from_pgmpy("x")
    model = models.DiscreteBayesianNetwork([("a", "b")])
    with pytest.raises(InputError, match="a table for 'a'"):
        from_pgmpy(model)


def test_pgmpy_is_optional(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pgmpy", None)
    monkeypatch.setitem(__import__("sys").modules, "pgmpy.models", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"\.\[interop\]\""):
        to_pgmpy(simple())


def test_a_large_network_is_refused(tmp_path) -> None:
    parents = [Variable(f"p{k}", range(20)) for k in range(10)]
    family = Family(Variable("x", [0, 1]), tuple(parents))
    table = SparseTable((20,) * 10, np.zeros((0, 10), int), np.zeros((0, 2)), [0.5, 0.5])
    tables = {p.name: Cpt.known(Family(p), np.full((1, 20), 0.05)) for p in parents}
    tables["x"] = Cpt(family, None, None, table)
    network = BayesianNetwork(Dag([(p.name, "x") for p in parents]), tables)
    for function in (to_pyagrum, lambda n: save(n, tmp_path / "model.bif")):
        with pytest.raises(TooLargeError, match=r"2\.05e13 cells") as caught:
            function(network)
        assert caught.value.size == 2 * 20**10 + 200


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net", ".xdsl"])
def test_an_integer_and_its_text_stay_apart_in_every_format(suffix, gum, tmp_path) -> None:
    variable = Variable("a", (0, "0"))
    network = BayesianNetwork(Dag((), ("a",)), {"a": Cpt.known(Family(variable), [[0.25, 0.75]])})
    quiet(save, network, tmp_path / f"model{suffix}", True)
    model = gum.loadBN(str(tmp_path / f"model{suffix}"))  # its variables die with it
    assert len(set(model.variable("a").labels())) == 2
    assert quiet(load, tmp_path / f"model{suffix}") == network


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("table 0.5;", r"line 4, variable 'a': 1 probability for .*Hint: give 2 probabilities\."),
        (
            "table 0.5, 0.9;",
            "line 4, variable 'a': its probabilities do not sum to 1.*Hint: correct",
        ),
        ("table 0.5, x;", "line 4, variable 'a': 'x' is not a number"),
        ("", "line 4, variable 'a': there are no probabilities .*Hint: give them, or a default"),
    ],
)
def test_errors_in_bif_name_the_line(rows, message, tmp_path) -> None:
    head = "network x {\n}\nvariable a { type discrete [2] { n, y }; }\n"
    (tmp_path / "x.bif").write_text(f"{head}probability ( a ) {{\n{rows}\n}}\n")
    with pytest.raises(FileFormatError, match=message):
        load(tmp_path / "x.bif")
    states = head.replace("[2]", "[3]")
    (tmp_path / "x.bif").write_text(states)
    with pytest.raises(FileFormatError, match="line 3, variable 'a': expected 3 states, got 2"):
        load(tmp_path / "x.bif")
