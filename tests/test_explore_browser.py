"""The explorer as a person uses it, in a real browser."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from browser import DESK, PHONE, Page, browser, why_not
from colonnade.explore import Explorer
from colonnade.network import BayesianNetwork
from pages import HOSTILE, alarm_network, clinic_network, hostile_network

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=f"no browser: {why_not()}"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def served(network: BayesianNetwork) -> Iterator[str]:
    """Serve a network in a thread, until the end of the test."""
    explorer = Explorer(network, "model.json", idle=60.0)
    thread = threading.Thread(target=explorer.run)
    thread.start()
    try:
        yield explorer.address
    finally:
        explorer.idle = 0.05  # nobody asks any more
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def window() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture(scope="module")
def clinic_address() -> Iterator[str]:
    with served(clinic_network()) as address:
        yield address


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    window.resize(DESK)
    window.prefer("light")
    window.driver.get("about:blank")
    window.complaints(), window.requests()
    yield window
    assert window.complaints() == []
    asked = [each for each in window.requests() if not each.startswith(("data:", "about:"))]
    assert all(each.startswith("http://127.0.0.1:") for each in asked), asked


def card(name: str) -> str:
    return f'.margin[aria-label="{name}"]'


def margin(page: Page, name: str) -> list[float]:
    return [
        float(cell.get_property("textContent"))
        for cell in page.all(f"{card(name)} button.state .value")
    ]


def settled(page: Page, before: str | None) -> None:
    """Wait until the page shows the answer to another question than before."""
    page.until(lambda: answered(page) not in (None, before), "an answer")


def answered(page: Page) -> str | None:
    """The question whose answer is shown."""
    found: str | None = page.run("return document.documentElement.dataset.answered")
    return found


def opened(page: Page, address: str) -> None:
    page.open(address)
    settled(page, None)


def press(page: Page, selector: str) -> None:
    """Click on something that asks another question."""
    before = answered(page)
    page.click(selector)
    settled(page, before)


def click(page: Page, name: str, state: int) -> None:
    press(page, f"{card(name)} .state:nth-of-type({state + 1})")


def test_clicks_are_observations(page: Page, clinic_address: str) -> None:
    network = clinic_network()
    opened(page, clinic_address)
    for name in network:
        wanted = network.query(name).probabilities
        np.testing.assert_allclose(margin(page, name), wanted, atol=6e-4)
    click(page, "smoker", 1)
    click(page, "x-ray", 1)
    observed = {"smoker": "yes", "x-ray": network["x-ray"].family.child.states[1]}
    for name in set(network) - set(observed):
        wanted = network.query(name, observed).probabilities
        np.testing.assert_allclose(margin(page, name), wanted, atol=6e-4)
    assert margin(page, "smoker") == [0.0, 1.0]
    assert page.count(".margin.seen") == 2
    assert page.count(".node.seen") == 2
    moved = [row.text for row in page.all("#live .moved li")]
    assert moved[0].startswith("cancer")


def test_intervals_are_those_of_queries(page: Page, clinic_address: str) -> None:
    opened(page, clinic_address)
    click(page, "smoker", 1)
    text = page.find(f"{card('cancer')} .state:nth-of-type(2)").get_attribute("aria-label")
    low, high = (float(end) for end in text.split("interval ")[1].split(" to "))
    wanted = clinic_network().query("cancer", {"smoker": "yes"}, draws=4000, rng=1)
    assert wanted.lower is not None
    assert wanted.upper is not None
    assert abs(low - wanted.lower[1]) < 0.04
    assert abs(high - wanted.upper[1]) < 0.04


def test_undo_and_reset(page: Page, clinic_address: str) -> None:
    opened(page, clinic_address)
    before = margin(page, "cancer")
    click(page, "smoker", 1)
    between = margin(page, "cancer")
    click(page, "age", 0)
    press(page, "#live .tools button:nth-last-of-type(2)")  # undo
    assert margin(page, "cancer") == between
    click(page, "smoker", 1)  # the same state again takes it back
    assert margin(page, "cancer") == before
    click(page, "smoker", 0)
    press(page, "#live .tools button:last-of-type")  # reset
    assert margin(page, "cancer") == before
    assert page.find("#live .tools button:last-of-type").get_attribute("disabled")


def test_actions_leave_causes_alone(page: Page, clinic_address: str) -> None:
    opened(page, clinic_address)
    causes, effects = margin(page, "smoker"), margin(page, "marker")
    page.click('[data-mode="done"]')
    click(page, "cancer", 1)
    assert margin(page, "smoker") == causes
    wanted = clinic_network()["marker"].probabilities[1]
    np.testing.assert_allclose(margin(page, "marker"), wanted, atol=6e-4)
    assert margin(page, "marker") != effects
    assert page.count(".margin.done") == 1
    page.click('[data-mode="observed"]')
    click(page, "cancer", 1)
    assert margin(page, "smoker") != causes


def test_a_likelihood_is_slid(page: Page, clinic_address: str) -> None:
    opened(page, clinic_address)
    before = margin(page, "x-ray")
    page.click(f"{card('x-ray')} [data-likely]")
    question = answered(page)
    page.run(
        """const input = document.querySelector(arguments[0]);
        input.value = "0.2";
        for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind));""",
        f"{card('x-ray')} input",
    )
    settled(page, question)
    weights = np.array([0.2, 1.0, 1.0]) * before
    np.testing.assert_allclose(margin(page, "x-ray"), weights / weights.sum(), atol=2e-3)
    assert page.count(".margin.likely") == 1
    press(page, "#live .tools button:nth-last-of-type(2)")
    assert margin(page, "x-ray") == before


def test_what_each_finding_adds(page: Page, clinic_address: str) -> None:
    opened(page, clinic_address)
    assert page.count(".reasons") == 0
    click(page, "smoker", 1)
    click(page, "dyspnoea", 1)
    network = clinic_network()
    known = {"smoker": "yes", "dyspnoea": network["dyspnoea"].family.child.states[1]}
    found = network.explain("cancer", known)
    state = abs(found.after - found.before).round(9).argmax()  # the first, if two move alike
    adds = [f"{name} {own.shift.values[state]:.3f}" for name, own in found.findings.items()]
    assert page.text(".reasons").replace("−", "-") == "".join(adds)
    assert page.text("#reasons-title").startswith("What each adds to the others for cancer = False")


def test_what_to_ask_next(page: Page, clinic_address: str) -> None:
    opened(page, clinic_address)
    click(page, "smoker", 1)
    network = clinic_network()
    told = [row.text for row in page.all(".next li")]
    wanted = network.informative("cancer", {"smoker": "yes"})
    assert [text.split(" ")[0] for text in told] == list(wanted)[: len(told)]
    share = wanted["x-ray"].value / network.entropy("cancer", {"smoker": "yes"}).value
    assert told[0] == f"x-ray {100 * share:.0f} %"
    assert "nats" in page.find(".next li").get_attribute("title")
    press(page, ".next .link")  # the variable that it names is the next one to be asked about
    assert page.text("#next-title").startswith("What to ask next about x-ray")


def test_a_state_that_is_pressed_can_be_read(page: Page, clinic_address: str) -> None:
    """Its text stands out from what is behind it, also under the pointer, in both colours."""
    contrast = """
      const luminance = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map((v) => v / 255).map(
          (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const style = getComputedStyle(document.querySelector(arguments[0]));
      const both = [style.color, style.backgroundColor].map(luminance).sort((a, b) => b - a);
      return (both[0] + 0.05) / (both[1] + 0.05);"""
    chain = pytest.importorskip("selenium.webdriver").ActionChains
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        for mode in ("observed", "done"):
            opened(page, clinic_address)
            page.click(f'[data-mode="{mode}"]')
            click(page, "smoker", 1)
            pressed = f"{card('smoker')} .state[aria-pressed='true']"
            chain(page.driver).move_to_element(page.find("h1")).perform()
            assert page.run(contrast, pressed) >= 4.5
            chain(page.driver).move_to_element(page.find(pressed)).perform()
            assert page.run(f"return document.querySelector({pressed!r}).matches(':hover')")
            assert page.run(contrast, pressed) >= 4.5


def test_questions_are_copied(page: Page, clinic_address: str) -> None:
    network = clinic_network()
    opened(page, clinic_address)
    click(page, "smoker", 1)
    page.click("#live details summary")
    code = page.text("#as-python")
    assert code == "network.query('cancer', {'smoker': 'yes'}, draws=500)"
    answer = eval(code, {"network": network})
    np.testing.assert_allclose(margin(page, "cancer"), answer.probabilities, atol=6e-4)
    wanted = "colonnade query model.json cancer --observed smoker=yes --draws 500"
    assert page.text("#as-command") == wanted
    page.driver.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    page.click('[data-copy="command"]')
    page.until(lambda: page.text("#said") == "Copied", "the text to be copied")
    assert page.run("return navigator.clipboard.readText()") == wanted


def test_hostile_names(page: Page) -> None:
    network = hostile_network()
    with served(network) as address:
        opened(page, address)
        states = network.variables[0].states
        press(page, ".margin .state")
        seen = {HOSTILE[0]: states[0]}
        cells = page.all(".margin:nth-of-type(2) .value")
        shown = [float(cell.get_property("textContent")) for cell in cells]
        wanted = network.query(HOSTILE[1], seen).probabilities
        np.testing.assert_allclose(shown, wanted, atol=6e-4)
        assert "broken" not in page.driver.title
        assert page.count("main img, main script") == 0


def test_alarm_on_a_phone_and_what_happens_at_the_end(page: Page) -> None:
    page.resize(PHONE)
    with served(alarm_network()) as address:
        opened(page, address)
        assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
        network = alarm_network()
        click(page, "HR", 1)
        wanted = network.query("CCHL", {"HR": "LOW"}).probabilities
        np.testing.assert_allclose(margin(page, "CCHL"), wanted, atol=6e-4)
    page.click(f"{card('HR')} .state:nth-of-type(1)")
    page.until(lambda: "has ended" in page.text("#live .error"), "the page to say so")
    page.until(lambda: page.complaints(), "the browser's own complaint, and no other")
