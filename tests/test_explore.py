"""The explorer without a browser: its answers, and whom it answers."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from typer.testing import CliRunner

from colonnade import Dag, MaximumLikelihood, fit
from colonnade.cli import app
from colonnade.exceptions import DataError, InputError, TooLargeError
from colonnade.explore import Beliefs, Explorer, Situation
from colonnade.explore.reasons import next_questions, reasons
from command_line import plain_terminal
from pages import alarm_network, clinic_network

PAIR = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag((("a", "b"),)))


def test_answers_are_those_of_queries():
    network = alarm_network()
    beliefs = Beliefs(network)
    names = list(network)
    observed = {"HR": 1, "BP": 2, "VTUB": 0}
    states = {name: network[name].family.child.states[code] for name, code in observed.items()}
    situation = Situation(observed={names.index(name): code for name, code in observed.items()})
    answer = beliefs.answer(situation)
    for k, name in enumerate(names):
        if name in observed:
            np.testing.assert_array_equal(answer.means[k].argmax(), observed[name])
        else:
            wanted = network.query(name, states).probabilities
            np.testing.assert_allclose(answer.means[k], wanted, atol=1e-12)
    for name in ("CCHL", "INT"):
        k = names.index(name)
        wanted = network.query(name, states, draws=5000, rng=0)
        np.testing.assert_allclose(answer.lower[k], wanted.lower, atol=0.04)
        np.testing.assert_allclose(answer.upper[k], wanted.upper, atol=0.04)


def test_what_to_ask_next_is_what_tells_most():
    network = alarm_network()
    beliefs, names = Beliefs(network), list(network)
    target = names.index("CCHL")
    situation = Situation(
        observed={names.index("HR"): 1},
        likely={names.index("BP"): (0.2, 0.5, 1.0)},
        done={names.index("VTUB"): 0},
    )
    states = {name: network[name].family.child.states for name in names}
    known = {"HR": states["HR"][1], "BP": dict(zip(states["BP"], (0.2, 0.5, 1.0), strict=True))}
    world = network.do({"VTUB": states["VTUB"][0]})
    for told, wanted in (
        (next_questions(beliefs, Situation(), target), network.informative("CCHL")),
        (next_questions(beliefs, situation, target), world.informative("CCHL", known)),
    ):
        best = [name for name in wanted if name != "VTUB"][: len(told)]
        assert [names[each["variable"]] for each in told] == best
        assert [each["information"] for each in told] == pytest.approx(
            [wanted[name].value for name in best], abs=1e-5
        )
    share = network.informative("CCHL")[best[0]].value / network.entropy("CCHL").value
    first = next_questions(beliefs, Situation(), target)
    assert {names[each["variable"]]: each["settled"] for each in first}[best[0]] == pytest.approx(
        share, abs=1e-5
    )
    assert next_questions(beliefs, situation, names.index("HR")) == []
    assert next_questions(beliefs, situation, names.index("VTUB")) == []


def test_the_probability_of_what_is_observed():
    network = clinic_network()
    names = list(network)
    answer = Beliefs(network).answer(Situation(observed={names.index("smoker"): 1}))
    wanted = network.query("smoker").probabilities[1]
    assert answer.log_probability == pytest.approx(np.log(wanted))


def test_an_action_is_a_network_without_arcs_into_it():
    network = clinic_network()
    names = list(network)
    cancer = names.index("cancer")
    arcs = tuple(arc for arc in network.dag.arcs if arc[1] != "cancer")
    tables = {name: network[name] for name in names if name != "cancer"}
    from colonnade import BayesianNetwork, Cpt, Family

    cut = Cpt.known(Family(network["cancer"].family.child), [[0.0, 1.0]])
    surgery = BayesianNetwork(Dag(arcs, names), {**tables, "cancer": cut})
    seen = {names.index("dyspnoea"): 1}
    answer = Beliefs(network).answer(Situation(observed=seen, done={cancer: 1}))
    for k, name in enumerate(names):
        if name not in ("cancer", "dyspnoea"):
            wanted = surgery.query(name, {"dyspnoea": True}).probabilities
            np.testing.assert_allclose(answer.means[k], wanted, atol=1e-12)


def test_a_likelihood_is_a_child_that_was_observed():
    network = clinic_network()
    names = list(network)
    weights = (0.3, 0.9)
    likely = Beliefs(network).answer(Situation(likely={names.index("cancer"): weights}))
    # By hand: the joint distribution with cancer, reweighted.
    joint = network.query(["smoker", "cancer"]).probabilities * np.array(weights)
    np.testing.assert_allclose(
        likely.means[names.index("smoker")], joint.sum(axis=1) / joint.sum(), atol=1e-12
    )


def test_without_a_posterior_there_are_no_intervals():
    network = fit({"a": [0, 0, 1], "b": [0, 1, 1]}, Dag((("a", "b"),)), MaximumLikelihood())
    beliefs = Beliefs(network)
    assert (beliefs.draws, beliefs.answer(Situation()).lower) == (0, None)
    with pytest.raises(DataError, match="cannot occur"):
        beliefs.answer(Situation(observed={0: 1, 1: 0}))


def test_a_variable_with_one_state():
    network = fit({"a": ["x"] * 3, "b": [0, 1, 1]}, Dag((("a", "b"),)))
    answer = Beliefs(network).answer(Situation())
    np.testing.assert_array_equal(answer.means[0], [1.0])
    np.testing.assert_allclose(answer.means[1], network.query("b").probabilities)
    alone = fit({"a": ["x"] * 3}, Dag((), ("a",)))
    np.testing.assert_array_equal(Beliefs(alone).answer(Situation()).means[0], [1.0])


def test_what_is_too_large_is_refused():
    names = [f"v{k}" for k in range(30)]
    rng = np.random.default_rng(0)
    arcs = [(names[i], names[j]) for i in range(30) for j in range(i + 1, min(i + 9, 30))]
    table = {name: rng.integers(0, 8, 50) for name in names}
    with pytest.raises(TooLargeError):
        Beliefs(fit(table, Dag(tuple(arcs))))


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {"observed": []},
        {"observed": {"7": 0}},
        {"observed": {"-1": 0}},
        {"observed": {"٣": 0}},
        {"observed": {"9" * 100_000: 0}},
        {"observed": {"0": 2}},
        {"observed": {"0": True}},
        {"observed": {"0": "0"}},
        {"likely": {"0": [1]}},
        {"likely": {"0": [0, 0]}},
        {"likely": {"0": [0.5, 2]}},
        {"likely": {"0": [0.5, float("nan")]}},
        {"done": {"0": 0}, "observed": {"0": 0}},
        {"file": "/etc/passwd"},
    ],
)
def test_strange_messages_are_refused(message):
    with pytest.raises(InputError):
        Situation.of(message, PAIR)


def test_reasons_are_those_of_explanations():
    network = clinic_network()
    names, beliefs = list(network), Beliefs(network)
    place = names.index
    known = {"smoker": "yes", "dyspnoea": True}
    codes = {place(name): network[name].family.child.index(own) for name, own in known.items()}
    found = reasons(beliefs, Situation(observed=codes), place("cancer"))
    wanted = network.explain("cancer", known)
    adds = {names[each["variable"]]: each["adds"] for each in found["adds"]}
    assert set(adds) == set(known)
    for name, moved in wanted.findings.items():
        assert adds[name] == pytest.approx(moved.shift.values[found["state"]], abs=1e-3)
    assert found["now"] == pytest.approx(wanted.after[found["state"]], abs=1e-3)
    assert reasons(beliefs, Situation(), place("cancer")) is None
    assert reasons(beliefs, Situation(observed=codes), place("smoker")) is None
    done = reasons(beliefs, Situation(done={place("smoker"): 1}), place("cancer"))
    assert [names[each["variable"]] for each in done["adds"]] == ["smoker"]


def test_copied_questions():
    names = list(clinic_network())
    place = names.index
    situation = Situation(observed={place("smoker"): 1, place("dyspnoea"): 0})
    network = clinic_network()
    text = situation.as_python(network, place("cancer"))
    assert text == "network.query('cancer', {'smoker': 'yes', 'dyspnoea': False}, draws=500)"
    command = situation.as_command(network, place("cancer"), "my model.json")
    words = shlex.split(command)
    assert words[:4] == ["colonnade", "query", "my model.json", "cancer"]
    assert words[4:8] == ["--observed", "smoker=yes", "--observed", "dyspnoea=False"]
    assert situation.as_python(network, place("smoker")) is None
    done = Situation(done={place("smoker"): 1})
    assert "--do smoker=yes" in done.as_command(network, place("cancer"), "m.json")
    likely = Situation(likely={place("smoker"): (0.5, 1.0)})
    assert "smoker=no:0.5,yes:1.0" in likely.as_command(network, place("cancer"), "m.json")
    strange = fit({"a": ["x:1", "y"], "b": [0, 1]}, Dag([("a", "b")]))
    assert Situation(likely={0: (0.5, 1.0)}).as_command(strange, 1, "m.json") is None


def test_copied_commands_run(tmp_path, monkeypatch):
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    network = clinic_network()
    network.save("model.json")
    names = list(network)
    observed = {names.index("smoker"): 1, names.index("dyspnoea"): 0, names.index("marker"): 2}
    for situation in (
        Situation(observed=observed),
        Situation(likely={names.index("smoker"): (0.25, 1.0)}, done={names.index("marker"): 0}),
    ):
        command = situation.as_command(network, 1, "model.json")
        done = CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"])
        assert done.exit_code == 0, done.stderr
        python = eval(situation.as_python(network, 1), {"network": network})
        answers = [answer["probability"] for answer in json.loads(done.stdout)["answers"]]
        assert answers == python.probabilities.tolist()


# --------------------------------------------------------------------------- the server


@pytest.fixture(scope="module")
def explorer():
    made = Explorer(PAIR, "model.json", idle=60.0)
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.idle = 0.05
    thread.join(20)
    assert not thread.is_alive()


def sent(address, content=None, **headers):
    """The status, the headers and the content of an answer."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, content, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(100):
        try:
            with opener.open(request, timeout=10) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()
        except urllib.error.URLError:
            time.sleep(0.05)  # not up yet
    raise AssertionError("nobody answers")


JSON = {"Content_Type": "application/json"}


def test_the_page_has_a_strict_policy(explorer):
    status, headers, content = sent(explorer.address)
    assert status == 200
    assert b"live.js" not in content
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"


def test_questions_are_answered(explorer):
    status, _, content = sent(explorer.address + "ask", b'{"observed": {"1": 1}}', **JSON)
    assert status == 200
    wanted = PAIR.query("a", {"b": 1}).probabilities
    np.testing.assert_allclose(json.loads(content)["means"][0], wanted, atol=1e-5)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", b'{"x": 1}'])
def test_nonsense_gets_an_error(explorer, content):
    status, _, answer = sent(explorer.address + "ask", content, **JSON)
    assert status == 400
    assert b"error" in answer


def test_only_this_page_is_answered(explorer):
    host = explorer.address.split("/")[2]
    ask = explorer.address + "ask"
    assert sent(f"http://{host}/")[0] == 404
    assert sent(f"http://{host}/wrong-token/")[0] == 404
    assert sent(f"http://{host}/wrong-token/ask", b"{}", **JSON)[0] == 404
    assert sent(explorer.address + "../../etc/passwd")[0] == 404
    # Another page in the same browser, and a name that was made to point here.
    assert sent(ask, b"{}", Origin="https://example.org", **JSON)[0] == 403
    assert sent(ask, b"{}", Host="example.org", **JSON)[0] == 403
    assert sent(explorer.address, Host="example.org")[0] == 403
    assert sent(ask, b"{}", Content_Type="text/plain")[0] == 403
    assert sent(ask, b" " * (2 << 20), **JSON)[0] == 413
    assert sent(ask, b"{}", Origin=f"http://{host}", **JSON)[0] == 200


def test_two_addresses_differ_and_are_long():
    one, two = (Explorer(PAIR, "m.json") for _ in range(2))
    tokens = [each.address.split("/")[3] for each in (one, two)]
    one.close()
    two.close()
    assert tokens[0] != tokens[1]
    assert all(re.fullmatch(r"[\w-]{32}", token) for token in tokens)


# ------------------------------------------------------------------------- the command


def test_the_command_serves_until_it_is_interrupted(tmp_path):
    PAIR.save(tmp_path / "model.json")
    command = [sys.executable, "-m", "colonnade", "explore", str(tmp_path / "model.json")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        first = process.stdout.readline()
        address = first.removeprefix("Open ").strip()
        assert sent(address)[0] == 200
        process.send_signal(signal.SIGINT)
        output, complaints = process.stdout.read(), process.stderr.read()
    assert "60 minutes" in output
    assert output.endswith("Ended.\n")
    assert (process.returncode, complaints) == (0, "")


def test_the_command_refuses(tmp_path, monkeypatch):
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    PAIR.save("model.json")
    for words, code, message in (
        ("explore none.json", 1, "MODEL"),
        ("explore model.json --port 70000", 2, "--port"),
        ("explore model.json --minutes 0", 2, "--minutes"),
    ):
        done = CliRunner().invoke(app, shlex.split(words))
        assert (done.exit_code, message in done.stderr) == (code, True), done.stderr
