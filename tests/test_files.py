"""The native file: nothing is lost, and nothing wrong is believed."""

import errno
import hashlib
import json
import os
import pickle
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.exceptions import (
    ColonnadeError,
    FileFormatError,
    InputError,
    NotSupportedError,
    TooLargeError,
)
from colonnade.files import disk, load, native, save
from colonnade.missing.em import EmDiagnostics
from colonnade.network import BayesianNetwork, Origin, fit
from colonnade.pooling import Exact, Quadrature, Reference, Variational
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.tables import Cuts, Discretizer
from colonnade.variables import Family, Variable
from drawn_networks import networks

many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def typed(network):
    """Everything equality of networks might be lenient about."""
    for name in network:
        cpt = network[name]
        counts = None
        if cpt.counts is not None:
            counts = (cpt.counts.values.tolist(), cpt.counts.codes.tolist())
        default = None if cpt.table.default is None else cpt.table.default.tolist()
        states = [(type(state), state) for state in cpt.family.child.states]
        yield name, states, repr(cpt.prior), repr(counts), cpt.table.rows.tolist(), default


def assert_same(found, network) -> None:
    assert found == network
    assert found.dag.arcs == network.dag.arcs
    assert found.discretizer == network.discretizer
    assert list(typed(found)) == list(typed(network))


@many
@given(network=networks())
def test_round_trip(network, tmp_path) -> None:
    save(network, tmp_path / "model.json", overwrite=True)
    assert_same(load(tmp_path / "model.json"), network)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def one(prior, counts=((3, 1), (0, 0), (2, 5)), states=("a", "b")):
    """One child with one parent of three states."""
    parent = Variable("parent", [1, 2, 3])
    family = Family(Variable("child", states), (parent,))
    tables = {
        "parent": Cpt.known(Family(parent), [[0.2, 0.3, 0.5]]),
        "child": Cpt.of(family, FamilyCounts.from_array(counts), prior),
    }
    return BayesianNetwork(Dag([("parent", "child")]), tables)


@pytest.mark.parametrize(
    "prior",
    [
        MaximumLikelihood("nan"),
        MaximumLikelihood("uniform"),
        BDeu(3.7),
        SymmetricDirichlet(),
        SymmetricDirichlet(1 / 3),
        Hierarchical(),
        Hierarchical(0.1, (0.5, 1.5)),
        Hierarchical("learn"),
        Hierarchical("learn", 0.3, Quadrature()),
        Hierarchical(engine=Exact()),
        Hierarchical(engine=Variational(1e-9, 777)),
    ],
)
def test_every_prior(prior, tmp_path) -> None:
    for counts in ([[3, 1], [0, 0], [2, 5]], [[3, 1], [1, 1], [2, 5]], [[0, 0]] * 3):
        network = one(prior, counts)
        save(network, tmp_path / "model.json", overwrite=True)
        assert_same(load(tmp_path / "model.json"), network)


def test_a_sampler_is_not_run_again(tmp_path) -> None:
    """A table whose engine takes minutes loads with the digits it had."""
    network = one(Hierarchical())
    prior = Hierarchical(engine=Reference("nuts", draws=128, seed=9))
    cpt = network["child"]
    tables = {**network.tables, "child": Cpt(cpt.family, cpt.counts, prior, cpt.table)}
    network = BayesianNetwork(network.dag, tables)
    save(network, tmp_path / "model.json")
    found = load(tmp_path / "model.json")
    assert_same(found, network)
    assert found["child"].prior.engine == Reference("nuts", draws=128, seed=9)
    assert "posterior" not in found["child"].__dict__


def test_counts_keep_every_digit(tmp_path) -> None:
    whole = [[2**61 + 1, 2**53 + 1], [0, 1], [3, 0]]
    network = one(BDeu(1), whole)
    save(network, tmp_path / "whole.json")
    found = load(tmp_path / "whole.json")["child"].counts.values
    assert found.dtype == np.int64
    assert found.tolist() == whole
    parts = [[0.1, 1e-300], [1 / 3, 2.0], [5e-324, 1e15 + 0.125]]
    network = one(BDeu(1), parts)
    save(network, tmp_path / "parts.json")
    found = load(tmp_path / "parts.json")["child"].counts.values
    assert found.dtype == np.float64
    assert found.tolist() == parts
    # Whole numbers with a point stay numbers with a point.
    network = one(BDeu(1), [[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
    save(network, tmp_path / "point.json")
    assert load(tmp_path / "point.json")["child"].counts.values.dtype == np.float64


def test_cut_points(tmp_path) -> None:
    variable = Variable("x", ["(-inf, 0.1]", "(0.1, inf)"])
    cpt = Cpt.of(Family(variable), FamilyCounts.from_array([[3, 4]], ()), BDeu())
    cutter = Discretizer([Cuts("x", [0.1], variable.states), Cuts("other", [-5e-324, 1e300])])
    network = BayesianNetwork(Dag([], ["x"]), {"x": cpt}, cutter)
    save(network, tmp_path / "model.json")
    assert load(tmp_path / "model.json").discretizer == cutter


def test_how_em_went_is_kept(tmp_path) -> None:
    table = {"a": [0, 0, 1, 1, None], "b": [0, 0, 1, None, 1]}
    network = fit(table, Dag([("a", "b")]), missing="em")
    save(network, tmp_path / "model.json")
    assert load(tmp_path / "model.json").diagnostics == network.diagnostics
    assert network.diagnostics.iterations > 1


def test_where_a_graph_is_from_is_kept(tmp_path) -> None:
    rows = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    plain = fit(rows, Dag([("a", "b")]))
    network = replace(plain, origin=Origin("hill climbing", "BIC", 3, 4))
    save(network, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.origin == network.origin
    assert loaded.update(rows).forget(rows).origin == network.origin
    assert pickle.loads(pickle.dumps(loaded)).origin == network.origin
    assert loaded == plain  # it is no part of what a network says
    assert "from the 3 complete rows of 4" in network.origin.in_words
    document = json.loads((tmp_path / "model.json").read_text())
    for key, value, problem in (
        ("rows", 5, "at least 5"),
        ("learner", "", "a non-empty string"),
        ("score", 1, "a string"),
        ("more", 1, "does not belong here"),
    ):
        wrong = {**document, "origin": {**document["origin"], key: value}}
        assert problem in str(outcome(sealed(wrong), tmp_path / "wrong.json"))
    with pytest.raises(InputError, match="an Origin"):
        replace(plain, origin="somewhere")


def test_files_of_version_one_are_read(sample, tmp_path) -> None:
    document = json.loads(sample[1])
    del document["em"]
    document["version"] = 1
    found = outcome(sealed(document), tmp_path / "old.json")
    assert found == sample[0]
    assert found.diagnostics is None


def test_sparse_tables_stay_small(tmp_path) -> None:
    rng = np.random.default_rng(0)
    above = [Variable(f"p{k}", range(20)) for k in range(10)]
    codes, values = (
        rng.integers(0, 20, (5000, 10)),
        np.eye(20, dtype=int)[rng.integers(0, 20, 5000)],
    )
    counts = FamilyCounts.from_observed((20,) * 10, codes, values)
    family = Family(Variable("x", range(20)), tuple(above))
    tables = {p.name: Cpt.known(Family(p), np.full((1, 20), 0.05)) for p in above}
    tables["x"] = Cpt.of(family, counts, SymmetricDirichlet())
    network = BayesianNetwork(Dag([(p.name, "x") for p in above]), tables)
    save(network, tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 5_000_000
    assert_same(load(tmp_path / "model.json"), network)


# ---------------------------------------------------------------------- on disk


def test_an_existing_file_is_kept(tmp_path) -> None:
    path = tmp_path / "model.json"
    first, second = one(BDeu(1)), one(BDeu(2))
    save(first, path)
    with pytest.raises(InputError, match=r"a name that is not taken .* overwrite=True"):
        save(second, path)
    assert load(path) == first
    save(second, path, overwrite=True)
    assert load(str(path)) == second


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "model.json"
    save(one(BDeu(1)), path)
    before = path.read_bytes()

    def broken(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="no space left"):
        save(one(BDeu(2)), path, overwrite=True)
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="no space left"):
        save(one(BDeu(2)), tmp_path / "other.json")
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


def test_errors_of_the_system_name_the_file_of_the_user(tmp_path, monkeypatch) -> None:
    path = tmp_path / "model.json"

    def refused(name, *_):
        raise PermissionError(errno.EACCES, "Permission denied", str(name), None, "other")

    for function in ("open", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, refused)
            with pytest.raises(PermissionError) as caught:
                save(one(BDeu(1)), path)
        assert str(caught.value) == f"[Errno 13] Permission denied: {str(path)!r}"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_an_error_of_the_disk_names_the_file(tmp_path, monkeypatch, step) -> None:
    """Some errors name no file, and some the temporary one."""

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    network = fit({"x": [1, 2]}, Dag([], ["x"]))
    monkeypatch.setattr(disk.os, step, fail)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save(network, tmp_path / "model.json")
    monkeypatch.undo()
    assert caught.value.filename == str(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no permissions of this kind")
def test_permissions_and_links(tmp_path) -> None:
    path, link = tmp_path / "model.json", tmp_path / "link.json"
    mask = os.umask(0o022)
    try:
        save(one(BDeu(1)), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        path.chmod(0o600)
        link.symlink_to(path)
        save(one(BDeu(2)), link, overwrite=True)
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load(path) == one(BDeu(2))


def test_paths_that_do_not_work(tmp_path) -> None:
    network = one(BDeu(1))
    with pytest.raises(InputError, match="create the folder first"):
        save(network, tmp_path / "missing" / "model.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="the folder"):
        save(network, tmp_path / "folder.json", overwrite=True)
    with pytest.raises(InputError, match="the folder"):
        load(tmp_path / "folder.json")
    with pytest.raises(InputError, match="an existing file"):
        load(tmp_path / "nothing.json")
    for path in (3, None, "", b"model.json"):
        with pytest.raises(InputError, match="`path`"):
            load(path)
    with pytest.raises(InputError, match=r"ends in one of \.json, \.bif"):
        save(network, tmp_path / "model.pkl")
    with pytest.raises(InputError, match=r"ends in one of \.json, \.bif"):
        load(tmp_path / "model")
    with pytest.raises(InputError, match="a BayesianNetwork"):
        save("network", tmp_path / "model.json")
    with pytest.raises(InputError, match="`overwrite`"):
        save(network, tmp_path / "model.json", overwrite="no")


def test_size_limit(tmp_path, monkeypatch) -> None:
    save(one(BDeu(1)), tmp_path / "model.json")
    monkeypatch.setattr(disk, "MAX_BYTES", 500)
    with pytest.raises(TooLargeError, match=r"model\.json.* bytes, more than the limit of 500"):
        load(tmp_path / "model.json")
    with pytest.raises(TooLargeError, match="bytes"):
        save(one(BDeu(1)), tmp_path / "other.json")


def test_a_prior_of_ones_own_is_refused(tmp_path) -> None:
    class Mine(BDeu):
        pass

    with pytest.raises(NotSupportedError, match="do not know its class"):
        save(one(Mine(1)), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------ wrong files


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A network with everything a file can hold, and its file."""
    a, b = Variable("a", ["é", "y"]), Variable("b", [1, 2, 3])
    c, d = Variable("c", [False, True]), Variable("d", ["only"])
    families = [Family(a), Family(b, (a,)), Family(c, (b, a)), Family(d)]
    priors = [BDeu(2), Hierarchical(), Hierarchical("learn", engine=Quadrature())]
    tables = {"d": Cpt.known(families[3], [[1.0]])}
    rng = np.random.default_rng(1)
    for family, prior in zip(families, priors, strict=False):
        counts = rng.integers(0, 9, (family.configurations, family.cardinality))
        counts[0] = 0 if family.parents else counts[0]
        if family.child is b:
            counts = counts * 0.37
        tables[family.child.name] = Cpt.of(
            family, FamilyCounts.from_array(counts, family.parent_sizes), prior
        )
    network = BayesianNetwork(
        Dag([("a", "b"), ("b", "c"), ("a", "c")], list("abcd")),
        tables,
        Discretizer([Cuts("z", [0.5])]),
        EmDiagnostics(True, (-40.5, -39.25), rows=7, cases=5),
    )
    path = tmp_path_factory.mktemp("sample") / "model.json"
    save(network, path)
    return network, path.read_bytes()


def outcome(content, path):
    """What loading does: a network, or the clear error; anything else fails the test."""
    path.write_bytes(content)
    try:
        return load(path)
    except FileFormatError as error:
        found = error
    assert str(found).startswith(f"File {str(path)!r}")
    return found


def test_truncated_anywhere(sample, tmp_path) -> None:
    network, content = sample
    # The last two bytes are a brace and a newline; without the newline it is still whole.
    for length in range(0, len(content) - 1, 7):
        assert isinstance(outcome(content[:length], tmp_path / "cut.json"), FileFormatError)
    assert outcome(content[:-1], tmp_path / "cut.json") == network


def test_any_changed_byte_is_seen(sample, tmp_path) -> None:
    network, content = sample
    rng = np.random.default_rng(0)
    changed = 0
    for position in rng.choice(len(content), size=400, replace=False):
        value = content[position] ^ (1 << int(rng.integers(8)))
        found = outcome(
            content[:position] + bytes([value]) + content[position + 1 :], tmp_path / "flip.json"
        )
        if isinstance(found, FileFormatError):
            changed += 1
        else:  # a change that means the same, such as one kind of white space for another
            assert found == network
    assert changed > 380


def sealed(document):
    """A file with a checksum that fits, whatever it says."""
    document = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    document["checksum"] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(document).encode()


def places(value, path=()):
    """Every place in a document."""
    yield path
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*path, key))


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.sampled_from([0, 1, -1, 2, 2**31, 2**63, 10**400, 1e308, 5e-324, -0.0, 0.5, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from([[], {}, [[]], [[1]], [[1, 2]], [None], {"class": "Exact"}, ["learn"]]),
)


@settings(many, max_examples=400)
@given(data=st.data())
def test_forged_values_are_checked(data, sample, tmp_path) -> None:
    """With a fitting checksum, every value may be anything: the checks are all there is."""
    document = json.loads(sample[1])
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([p for p in places(document) if p and p[0] != "checksum"]))
        value = document
        for key in path[:-1]:
            value = value[key]
        action = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
        if action == "replace":
            value[path[-1]] = data.draw(odd)
        elif action == "remove":
            del value[path[-1]]
        elif isinstance(value, list):
            value.insert(path[-1], value[path[-1]])
        else:
            value["more"] = value[path[-1]]
    found = outcome(sealed(document), tmp_path / "forged.json")
    if not isinstance(found, FileFormatError):
        # Whatever was believed is a network that can be used and saved.
        assert isinstance(found, BayesianNetwork)
        save(found, tmp_path / "again.json", overwrite=True)
        assert load(tmp_path / "again.json") == found


def change(document, path, value):
    document = json.loads(json.dumps(document))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "place", "problem"),
    [
        (["format"], "other", "format", "not a network saved by"),
        (["version"], 3, "version", "newer than 2"),
        (["version"], 1, "", "'em' does not belong here"),
        (["version"], True, "version", "an integer"),
        (["colonnade"], 1, "colonnade", "not a string"),
        (["em", "converged"], 1, "em.converged", "not a boolean"),
        (["em", "rows"], -1, "em.rows", "integer of at least 0"),
        (["em", "cases"], 1.5, "em.cases", "integer of at least 0"),
        (["em", "objective"], -1.5, "em.objective", "not a list"),
        (["em", "objective", 0], True, "em.objective", "not all numbers"),
        (["em", "objective", 0], 10**400, "em.objective", "too large"),
        (["em"], [], "em", "not an object"),
        (["variables"], {}, "variables", "not a list"),
        (["variables", 1, "name"], "a", "variables", "same name"),
        (["variables", 1, "states"], [1, 1, 2], "variables[1]", "different states"),
        (["variables", 1, "states"], [1, True, 2], "variables[1]", "not both"),
        (["variables", 1, "states", 0], 1.5, "variables[1].states[0]", "neither a string"),
        (["arcs", 0], [1, 1], "arcs", "two variables"),
        (["arcs", 0], [0, 9], "arcs[0]", "beyond the 4"),
        (["arcs", 0], [0, -1], "arcs[0]", "beyond the 4"),
        (["arcs", 0], [True, 0], "arcs[0]", "pair of integers"),
        (["arcs", 0], [2, 0], "arcs", "no cycle"),
        (["tables", 1, "codes"], [[0], [1]], "tables[1].codes", "2 configurations for 1 row"),
        (["tables", 2, "codes", 0], [2, 2], "tables[2].rows", "parent codes"),
        (["tables", 2, "codes", 0], [0, 0.0], "tables[2].codes", "all integers"),
        (["tables", 2, "codes", 0], [2, 1], "tables[2].rows", "in order"),
        (["tables", 0, "counts", 0], [-1, 2], "tables[0].counts", "0 or more"),
        (["tables", 0, "counts", 0], [0, 0], "tables[0].counts", "has no counts"),
        (["tables", 0, "counts", 0], [True, 2], "tables[0].counts", "all integers"),
        (["tables", 0, "counts", 0], [1, 2.5], "tables[0].counts", "neither all integers"),
        (["tables", 0, "counts", 0], [2**70, 2], "tables[0].counts", "too large"),
        (["tables", 0, "counts", 0], [500, 2], "tables[0].rows", "do not follow"),
        (["tables", 1, "counts", 0], [500.5, 2.0, 1.0], "tables[1].", "do not follow"),
        (["tables", 0, "rows", 0], [0.5, 0.6], "tables[0].rows", "sum to 1"),
        (["tables", 0, "rows", 0], [1.5, -0.5], "tables[0].rows", "0 or more"),
        (["tables", 0, "rows", 0], [0.5], "tables[0].rows[0]", "list of 2"),
        (["tables", 0, "rows", 0], ["0.5", 0.5], "tables[0].rows", "not all numbers"),
        (["tables", 1, "default"], None, "tables[1].default", "missing"),
        (["tables", 0, "default"], [0.5, 0.5], "tables[0].default", "no default row is allowed"),
        (["tables", 0, "prior", "ess"], 0.0, "tables[0].prior", "from 1e-100"),
        (["tables", 0, "prior", "ess"], "1", "tables[0].prior", "from 1e-100"),
        (["tables", 0, "prior", "class"], "os.system", "tables[0].prior", "not one of BDeu"),
        (["tables", 0, "prior", "more"], 1, "tables[0].prior", "does not belong"),
        (["tables", 2, "prior", "engine", "class"], "eval", "tables[2].prior.engine", "not one of"),
        (["tables", 1, "prior", "alpha0"], [1.0, 1.0], "tables[1].prior", "alpha0 does not have 3"),
        (["tables", 3, "prior"], {"class": "BDeu", "ess": 1}, "tables[3].counts", "not a list"),
        (["tables", 0, "prior"], None, "tables[0].prior", "not one of"),
        (["tables"], [], "tables", "0 tables for 4"),
        (["discretizer"], [], "discretizer", "mapping"),
        (["discretizer", "z", "points"], [2.0, 1.0], "discretizer", "increasing"),
        (["more"], 1, "", "'more' does not belong"),
    ],
)
def test_contradictions_are_named(sample, tmp_path, path, value, place, problem) -> None:
    document = json.loads(sample[1])
    found = outcome(sealed(change(document, path, value)), tmp_path / "forged.json")
    assert isinstance(found, FileFormatError)
    assert found.place.startswith(place)
    assert any(part in str(found) for part in problem.split("|"))


def test_the_checksum_sees_what_is_consistent(sample, tmp_path) -> None:
    """Another name is a valid network, and not the one that was saved."""
    document = change(json.loads(sample[1]), ["variables", 0, "name"], "other")
    found = outcome(json.dumps(document).encode(), tmp_path / "changed.json")
    assert isinstance(found, FileFormatError)
    assert found.place == "checksum"
    assert isinstance(outcome(sealed(document), tmp_path / "sealed.json"), BayesianNetwork)


def test_layout_and_order_of_keys_do_not_matter(sample, tmp_path) -> None:
    document = json.loads(sample[1])
    again = json.dumps(dict(reversed(document.items())), indent=3)
    assert outcome(again.encode(), tmp_path / "again.json") == sample[0]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
        (b'{"format": 1, "format": 2}', "given twice"),
        (b'{"format": NaN}', "NaN is not a number"),
        (b'{"format": -Infinity}', "Infinity is not a number"),
        (b'{"format": 1e999}', "too large"),
        (b'{"format": ' + b"9" * 10_000 + b"}", "digits|format"),
        (b"\xff\xfe", "UTF-8"),
        (b"null", "not a network"),
        (b"{}", "not a network"),
        (b"\x80\x04\x95", "UTF-8"),
        (b"network x {}", "not JSON"),
    ],
)
def test_what_is_not_a_native_file(content, problem, tmp_path) -> None:
    found = outcome(content, tmp_path / "odd.json")
    assert isinstance(found, FileFormatError)
    assert any(part in str(found) for part in problem.split("|"))


def test_a_graph_cannot_ask_for_memory(tmp_path) -> None:
    """60 parents of 50 states: the table has 1e101 configurations and one row."""
    parents = [Variable(f"p{k}", range(50)) for k in range(60)]
    family = Family(Variable("x", [0, 1]), tuple(parents))
    counts = FamilyCounts.from_observed((50,) * 60, [[49] * 60], [[1, 2]])
    tables = {p.name: Cpt.known(Family(p), np.full((1, 50), 0.02)) for p in parents}
    tables["x"] = Cpt.of(family, counts, Hierarchical())
    network = BayesianNetwork(Dag([(p.name, "x") for p in parents]), tables)
    save(network, tmp_path / "wide.json")
    assert load(tmp_path / "wide.json") == network
    document = json.loads((tmp_path / "wide.json").read_bytes())
    document["tables"][list(network).index("x")]["codes"] = None
    found = outcome(sealed(document), tmp_path / "forged.json")
    assert isinstance(found, FileFormatError)
    assert "1 row for 8.67e101 configurations" in str(found)


def test_the_file_holds_what_the_documentation_says(sample) -> None:
    document = json.loads(sample[1])
    assert document["format"] == "colonnade network"
    assert document["version"] == 2
    assert all(key in native.__doc__ for key in (*document, *document["tables"][0]))
    assert issubclass(FileFormatError, ColonnadeError)
    assert issubclass(FileFormatError, ValueError)


def test_files_written_together_are_there_all_or_none(tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text("old")

    def interrupted():
        with disk.together():
            disk.write_bytes(first, b"new", True)
            disk.write_bytes(second, b"new", False)
            assert (first.read_text(), second.exists()) == ("old", False)
            raise ZeroDivisionError

    def hindered():
        with disk.together():
            disk.write_bytes(second, b"new", False)
            disk.write_bytes(first, b"new", True)
            first.unlink()
            first.mkdir()

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["first.json"]
    with pytest.raises(InputError, match="the name of a file"):
        hindered()
    first.rmdir()
    assert not [*tmp_path.iterdir()]
    with disk.together():
        disk.write_bytes(first, b"new", False)
        disk.write_bytes(second, b"new", False)
    assert (first.read_text(), second.read_text()) == ("new", "new")
    assert not disk.unfinished
    disk.write_bytes(first, b"newer", True)
    assert first.read_text() == "newer"
