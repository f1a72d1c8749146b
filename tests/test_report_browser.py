"""The page as a person uses it, in a real browser."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from browser import DESK, PHONE, Page, browser, why_not
from colonnade import Dag, discretize, fit, report
from colonnade.network import Origin
from pages import (
    HOSTILE,
    alarm_network,
    clinic,
    clinic_forest,
    clinic_network,
    hostile_network,
)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=f"no browser: {why_not()}"),
    # Connections to a browser that has ended are closed late.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pages")
    network, data = clinic_network(), clinic()
    held_out = report.held_out(network, data, "cancer")
    about = {"data": data, "held_out": held_out}
    report.write(network, made / "clinic.html", title="Clinic", target="cancer", **about)
    held_out = report.held_out(clinic_forest(), data, "cancer", folds=2)
    report.write(clinic_forest(), made / "forest.html", data=data, held_out=held_out)
    hostile = {"title": HOSTILE[0], "target": HOSTILE[3]}
    report.write(hostile_network(), made / "hostile.html", **hostile)
    report.write(alarm_network(), made / "alarm.html")
    return made


@pytest.fixture(scope="module")
def window(folder: Path) -> Iterator[Page]:
    with browser(folder) as page:
        yield page


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """A desk-sized window; whatever is done with it, nothing is complained about or fetched."""
    window.resize(DESK)
    window.prefer("light")
    window.driver.get("about:blank")
    window.complaints(), window.requests()
    yield window
    assert window.complaints() == []
    asked = [each for each in window.requests() if not each.startswith(("data:", "blob:"))]
    assert all(each.startswith(("file:", "about:")) for each in asked), asked


def overflow(page: Page) -> int:
    """How many pixels the page is wider than its window."""
    return int(page.run("return document.documentElement.scrollWidth - innerWidth"))


def test_a_click_shows_the_table_of_a_variable(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    names = [node.text for node in page.all(".node")]
    page.all(".node")[names.index("marker")].click()
    assert page.text("#variable h2") == "marker"
    assert page.count("#variable .configuration") == 2
    assert page.find(".node.chosen").text == "marker"
    assert [node.text for node in page.all(".node.parent")] == ["cancer"]
    page.all("#variable p .link")[0].click()
    assert page.text("#variable h2") == "cancer"


def test_figures_and_numbers_say_what_the_posterior_says(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    assert page.text("#variable h2") == "cancer"  # the largest table comes first
    shown = report.describe(clinic_network(), data=clinic())
    place = next(k for k, each in enumerate(shown["variables"]) if each["name"] == "cancer")
    row = shown["variables"][place]["table"]["rows"][0]
    assert f"{row['ours'][0]:.3f}" in page.text("#variable .configuration figure")
    assert f"{row['n']} rows" in page.text("#variable .configuration header")
    page.click('[data-view="numbers"]')
    cells = [cell.text for cell in page.all("#variable .numbers tbody tr:nth-child(2) td")]
    low, high = row["interval"][0][0], row["interval"][1][0]
    figures = [f"{row[kind][0]:.3f}" for kind in ("ml", "bdeu", "ours")]
    assert cells[1:] == [f"{row['counts'][0]:g}", *figures, f"{low:.3f} – {high:.3f}"]


def test_a_ladder_opens(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    page.click("#variable details summary")
    rows = page.all("#variable details[open] tbody tr")
    assert "all rows" in rows[0].text
    assert "300" in rows[0].text
    assert len(rows) == 8  # every subset of three parents


def test_search_by_keys(page: Page, folder: Path) -> None:
    page.open(folder / "alarm.html")
    body = page.find("body")
    body.send_keys("/")
    box = page.driver.switch_to.active_element
    assert box.get_attribute("id") == "search"
    box.send_keys("hr")
    page.until(lambda: page.count("#found li") >= 4, "hits")
    assert page.all("#found li")[0].text == "HR"
    box.send_keys("\ue015")  # arrow down
    second = page.find('#found li[aria-selected="true"]').text
    box.send_keys("\ue007")  # enter
    assert page.text("#variable h2") == second
    assert not page.find("#found").is_displayed()
    box.send_keys("no such thing")
    assert page.find("#found").text == "No such variable"
    box.send_keys("\ue00c")  # escape
    assert not page.find("#found").is_displayed()


def test_keys_walk_through_the_graph(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    page.run("document.querySelector('.node.chosen').focus()")
    active = page.driver.switch_to.active_element
    assert active.text == "cancer"
    active.send_keys("\ue015")  # down
    below = page.driver.switch_to.active_element
    assert below.text in ("marker", "x-ray", "dyspnoea")
    name = below.text
    below.send_keys("\ue007")
    assert page.text("#variable h2") == name
    # One stop for the tabulator, not one for each node.
    assert page.count('.node[tabindex="0"]') == 1


def test_zoom_and_pan(page: Page, folder: Path) -> None:
    page.open(folder / "alarm.html")

    def box() -> list[float]:
        return [float(n) for n in page.find(".graph > svg").get_dom_attribute("viewBox").split()]

    before = box()
    page.click('[aria-label="Zoom in"]')
    assert box()[2] == pytest.approx(0.75 * before[2], abs=0.2)
    page.click('[aria-label="Show the whole graph"]')
    assert box() == before
    page.run(
        """const svg = document.querySelector('.graph > svg'), at = svg.getBoundingClientRect();
        const send = (kind, x) => svg.dispatchEvent(new PointerEvent(kind,
          {clientX: at.x + x, clientY: at.y + 5, pointerId: 1, bubbles: true}));
        SVGElement.prototype.setPointerCapture = () => {};
        send('pointerdown', 5); send('pointermove', 65); send('pointerup', 65);"""
    )
    assert box()[0] < before[0]
    assert box()[2] == before[2]


def test_dark_and_light(page: Page, folder: Path) -> None:
    def paper() -> str:
        script = "return getComputedStyle(document.querySelector('.card')).backgroundColor"
        return str(page.run(script))

    page.prefer("dark")
    page.open(folder / "clinic.html")
    assert paper() == "rgb(24, 32, 42)"
    page.click("#theme")
    assert paper() == "rgb(255, 255, 255)"
    page.driver.refresh()
    page.until(lambda: page.count("#variable h2"), "the page")
    assert paper() == "rgb(255, 255, 255)"  # a choice is kept
    page.run("localStorage.clear()")
    page.prefer("light")


@pytest.mark.parametrize("name", ["clinic", "alarm", "hostile", "forest"])
def test_a_phone_shows_all_without_scrolling_sideways(page: Page, folder: Path, name: str) -> None:
    page.resize(PHONE)
    page.open(folder / f"{name}.html")
    assert overflow(page) <= 0
    page.click('[data-view="numbers"]')
    assert overflow(page) <= 0
    page.click('[data-view="figures"]')
    # Graph above, table below.
    assert page.find("#graph").rect["y"] < page.find("#variable").rect["y"]


def test_hostile_names_do_nothing(page: Page, folder: Path) -> None:
    page.open(folder / "hostile.html")
    assert page.driver.title == HOSTILE[0]
    assert page.text("h1") == HOSTILE[0]
    for k in range(len(HOSTILE)):
        page.run(
            "document.querySelectorAll('.node')[arguments[0]].dispatchEvent("
            "new KeyboardEvent('keydown', {key: 'Enter'}))",
            k,
        )
        shown = page.text("#variable h2")
        assert shown == HOSTILE[k].replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
        page.click('[data-view="numbers"]')
        page.click('[data-view="figures"]')
    assert page.driver.title == HOSTILE[0]
    assert page.count("main img, main script") == 0
    assert page.run("return {}.polluted") is None


def test_figures_are_saved_as_svg(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    page.click('[aria-label="Save the graph as SVG"]')
    page.click('[aria-label^="Save as SVG: ROC"]')
    for name, texts in (("graph", "cancer"), ("roc", "true positive rate")):
        path = folder / f"{name}.svg"
        page.until(path.exists, str(path))
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert texts in "".join(root.itertext())
        # A file of its own has its colours in itself.
        colours = {element.get("stroke") for element in root.iter()}
        assert any(colour and colour.startswith("rgb") for colour in colours)


def test_everything_has_a_name(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    nameless = page.run(
        """return [...document.querySelectorAll("button, input, select, a, [role=button]")].filter(
          (e) => !(e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    assert page.run("return document.documentElement.lang") == "en"
    assert page.count("svg[role=img]:not([aria-label])") == 0
    assert page.count("h1") == 1


def test_a_table_that_is_too_large_for_margins(page: Page, folder: Path) -> None:
    rng = np.random.default_rng(0)
    table = {f"p{k}": rng.integers(0, 10, 2000) for k in range(6)}
    table["y"] = rng.integers(0, 20, 2000)
    dag = Dag(tuple((f"p{k}", "y") for k in range(6)))
    report.write(fit(table, dag), folder / "large.html")
    page.open(folder / "large.html")
    assert page.text("#variable h2") == "y"
    assert page.count("#margins .margin") == 6
    assert "1 variable with nothing observed" in page.text("#reading")
    assert "more configurations with fewer rows" in page.text("#variable")
    shown = page.count("#variable .configuration")
    page.click("#variable .configuration ~ p > button")
    assert page.count("#variable .configuration") == shown + 24


def test_predictions_and_data(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    shown = report.describe(
        clinic_network(), held_out=report.held_out(clinic_network(), clinic(), "cancer")
    )["classifier"]
    assert f"{100 * shown['accuracy']:.1f} %" in page.text("#classifier")
    cells = [int(cell.text) for cell in page.all(".confusion tbody td")]
    assert cells == [cell for row in shown["confusion"] for cell in row]
    assert page.count("#classifier figure") == 2
    assert "the squared error of the probability of True, mean of all rows" in page.text(
        "#classifier"
    )
    assert page.count("#classifier figure circle") == len(shown["calibration"])
    assert "Of True, with 95 % intervals" in page.text("#classifier")
    assert page.count("#data tbody tr") == 7
    assert "300 rows, 7 columns, all in the network. No value is missing." in page.text("#data")


def test_what_moves_a_variable(page: Page, folder: Path) -> None:
    page.open(folder / "clinic.html")
    assert page.text("#moves h2") == "What moves cancer"
    found = report.describe(clinic_network(), target="cancer")["moves"]["rows"]
    page.click("#moves summary")
    rows = [
        [cell.text for cell in row.find_elements("css selector", "td")]
        for row in page.all("#moves tbody tr")
    ]
    assert len(rows) == len(found) == page.count("#moves figure svg > g")
    names = clinic_network().dag.variables
    for cells, row in zip(rows, found, strict=True):
        assert cells[0] == names[row["variable"]]
        low, high = row["seen"]["difference"][1:]
        assert cells[5] == f"{row['seen']['difference'][0]:.3f} ({low:.3f} to {high:.3f})"
        assert (cells[6] == "–") == (row["set"] is None)
    page.click("#moves tbody .link")
    assert page.text("#variable h2") == rows[0][0]


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_page_about_a_target_opens_with_it_and_names_its_state(
    page: Page, folder: Path, size: tuple[int, int]
) -> None:
    page.resize(size)
    target, state = "outcome of the treatment", "dead after a year"
    rows = {"dose": ["low", "high"] * 20, target: ["alive", "alive", state, "alive"] * 10}
    network = fit(rows, Dag([(target, "dose")]))
    path = folder / "target.html"
    report.write(network, path, target=target, overwrite=True)
    page.open(path)
    assert page.text("#variable h2") == target  # though the other table is larger
    lines = page.all("#moves .what")
    assert " ".join(line.text for line in lines).startswith("difference in the probability of ")
    assert lines[-1].text.endswith((f"{target} = {state}", f"{target} = alive"))
    outside = """const svg = arguments[0].ownerSVGElement, all = svg.viewBox.baseVal;
        const own = arguments[0].getBBox();
        return own.x < 0 || own.x + own.width > all.width || own.y + own.height > all.height"""
    assert not any(page.run(outside, line) for line in lines)
    covered = """const own = arguments[0].getBoundingClientRect();
        const over = document.querySelector("#moves .save").getBoundingClientRect();
        return own.right > over.left && own.bottom > over.top && own.top < over.bottom"""
    assert not any(page.run(covered, line) for line in lines)
    other = network.dag.variables.index("dose") + 1
    page.open(f"{path.resolve().as_uri()}#v{other}")
    assert page.text("#variable h2") == "dose"  # as the address wants


def test_the_page_says_what_em_completed_and_that_there_are_no_arcs(
    page: Page, folder: Path
) -> None:
    rows = {"a": [0, 1, 1, None], "b": [0, 1, None, 1]}
    report.write(fit(rows, Dag((), ("a", "b")), missing="em"), folder / "em.html")
    page.open(folder / "em.html")
    assert "2 rows with gaps completed by EM" in page.text("#overview")
    assert "No arcs" in page.text("#overview")
    assert "The graph was" not in page.text("#overview")
    network = fit({"a": [0, 1, 1, 0], "b": [0, 1, 0, 1]}, Dag((), ("a", "b")))
    learned = replace(network, origin=Origin("hill climbing", "BIC", 4, 6))
    report.write(learned, folder / "learned.html")
    page.open(folder / "learned.html")
    said = page.text("#overview")
    assert "learned by hill climbing, which maximises BIC, from the 4 complete rows of 6." in said
    assert "No dependence was clear enough for BIC in 4 rows" in said
    page.open(folder / "clinic.html")
    assert page.count("#overview p") == 0


def test_a_forest(page: Page, folder: Path) -> None:
    page.open(folder / "forest.html")
    forest = clinic_forest()
    sections = [each.get_attribute("id") for each in page.all("main > *")]
    assert sections[:5] == ["overview", "data", "forest", "classifier", "network"]
    assert "6 networks predict cancer together" in page.text("#forest")
    assert page.count("#forest .importance") == 6
    best = forest.feature_names_in_[forest.feature_importances_.argmax()]
    assert page.text("#forest figure text") == best
    page.click("#forest summary")
    shown = int(forest.weights_.argmax())
    rows = [row.text.split() for row in page.all("#forest tbody tr")]
    assert [float(row[-3]) for row in rows] == pytest.approx(forest.weights_, abs=6e-4)
    assert [k for k, row in enumerate(rows) if "shown" in row] == [shown]
    assert "everything is learned again" in page.text("#classifier")
    assert page.count(".node") == 7


def test_the_data_open_the_page(page: Page, folder: Path) -> None:
    data = clinic() | {"id": [f"P{k}" for k in range(300)], "site": ["oslo"] * 300}
    data["sex"] = np.array([None, "unknown", *data["sex"][2:]], dtype=object)
    report.write(clinic_network(), folder / "data.html", data=data)
    page.open(folder / "data.html")
    sections = [each.get_attribute("id") for each in page.all("main > *")]
    assert sections[:3] == ["overview", "data", "network"]
    told = page.text("#data")
    assert "300 rows, 9 columns, 7 of them in the network. 1 value missing, in 1 column" in told
    assert "id: seems to identify rows: 300 different values in 300 rows" in told
    assert "site: a single value" in told
    assert "sex: no states of the network, taken as missing: unknown (1)" in told
    assert not page.find("#data table").is_displayed()
    page.click("#data summary")
    row = page.find("#data tbody tr:nth-child(8)")
    assert row.text.split("\n")[0].startswith("id text")
    page.resize(PHONE)
    assert page.find("#data tbody td").is_displayed()
    assert overflow(page) <= 0


def test_one_row_is_one_row(page: Page, folder: Path) -> None:
    row = {"petal length (cm)": [1.5], "kind": ["a"]}
    network = fit(discretize(row, bins=3), Dag([("kind", "petal length (cm)")]))
    report.write(network, folder / "row.html", data=row)
    page.open(folder / "row.html")
    page.click("#data summary")
    assert "1 different value, not cut" in page.text("#data tbody")
    assert "1 row, prior" in page.text("#network")
    assert {each.text for each in page.all(".node text")} == {"petal length (cm)", "kind"}
