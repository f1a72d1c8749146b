"""Columns that a network cuts and that come as text: what one cell holds matters to no other."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.command_line import flat, run

import colonnade as cn
from colonnade.exceptions import DataError

BMI = ["25", "18.5", "n.d.", "31", "2.2e1", ""]
SMOKER = ["yes", "no", "no", "yes", "no", "yes"]
FILE = "smoker,bmi\n" + "".join(f"{a},{b}\n" for a, b in zip(SMOKER, BMI, strict=True))
MEANT = [25.0, 18.5, np.nan, 31.0, 22.0, np.nan]


@pytest.fixture(scope="module")
def network() -> cn.BayesianNetwork:
    rng = np.random.default_rng(0)
    smoker = rng.choice(["no", "yes"], 300)
    bmi = rng.normal(25, 4, 300) + 2 * (smoker == "yes")
    cut = cn.discretize({"smoker": smoker, "bmi": bmi}, {"bmi": 4})
    return cn.fit(cut, cn.Dag([("smoker", "bmi")]))


@pytest.fixture(params=["read", "lists", "pandas", "polars", "csv", "parts", "lazy", "duckdb"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / "rows.csv"
    path.write_text(FILE)
    lines = FILE.splitlines()
    for k in (1, 2, 3):  # one of them has numbers alone
        part = [lines[0], *lines[2 * k - 1 : 2 * k + 1]]
        (tmp_path / f"part{k}.csv").write_text("\n".join(part) + "\n")
    columns = {"smoker": SMOKER, "bmi": [text or None for text in BMI]}
    frame = pl.DataFrame(columns)
    if request.param == "duckdb":
        return duckdb.from_arrow(frame.to_arrow())
    return {
        "read": lambda: cn.read(path),
        "lists": lambda: columns,
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: frame,
        "csv": lambda: str(path),
        "parts": lambda: f"{tmp_path}/part*.csv",
        "lazy": frame.lazy,
    }[request.param]()


@pytest.mark.filterwarnings("ignore::colonnade.exceptions.DataWarning")
def test_numbers_are_numbers_and_the_others_unknown(
    network: cn.BayesianNetwork, table: Any
) -> None:
    clean = {"smoker": SMOKER, "bmi": MEANT}
    mine = network.log_likelihood(table, unknown="missing")
    np.testing.assert_allclose(mine, network.log_likelihood(clean), 1e-12)
    refused = r"Column 'bmi': state 'n\.d\.' \(1 row\) is not one of"
    with pytest.raises(DataError, match=refused):
        network.log_likelihood(table)
    with pytest.raises(DataError, match=refused):
        network.update(table)
    predicted = network.predict(table, "smoker", unknown="missing").probabilities
    np.testing.assert_allclose(predicted, network.predict(clean, "smoker").probabilities, 1e-12)


@pytest.mark.parametrize("kind", ["lazy", "duckdb"])
def test_complete_rows_of_engines(network: cn.BayesianNetwork, kind: str) -> None:
    from colonnade.tables.countable import countable

    frame = pl.DataFrame({"smoker": SMOKER, "bmi": [text or None for text in BMI]})
    table = frame.lazy() if kind == "lazy" else duckdb.from_arrow(frame.to_arrow())
    rows = countable(table, network.variables, None, "missing", network.discretizer)
    assert rows.unknown == {"bmi": {"n.d.": 1}}
    assert rows.missing == (0, 2)
    assert rows.only_complete().rows == 4


def test_decimal_commas_among_texts(network: cn.BayesianNetwork) -> None:
    """A comma that can be nothing else stands before decimals; others are not guessed."""

    texts, numbers = ["22,5", "31", "n.d."], [22.5, 31.0, None]
    mine = network.impute({"smoker": [None] * 3, "bmi": texts}, unknown="missing")
    yours = network.impute({"smoker": [None] * 3, "bmi": numbers})
    assert mine["bmi"].tolist() == yours["bmi"].tolist()
    for doubtful in ("1,250", "22,5.1"):
        with pytest.raises(DataError, match="state"):
            network.impute({"smoker": ["yes", "no"], "bmi": [doubtful, "n.d."]})
    with pytest.raises(DataError, match="infinity, or a number too large to be cut, in row 2"):
        network.impute({"smoker": ["yes", "no"], "bmi": ["25", "inf"]})


def test_names_of_intervals_stay_names() -> None:
    """Even if they look like numbers: a table that was cut before is not cut again."""
    from colonnade.tables import Cuts

    cuts = Cuts("x", [10.0, 20.0], ["1", "2", "15"])
    network = cn.fit(
        cn.discretize({"x": [5.0, 15.0, 25.0] * 9, "y": [0, 1, 1] * 9}, {"x": cuts, "y": None}),
        cn.Dag([("x", "y")]),
    )
    cut = network.log_likelihood({"x": ["1", "2", "15"], "y": [0, 1, 1]})
    np.testing.assert_allclose(
        cut, network.log_likelihood({"x": [5.0, 15.0, 25.0], "y": [0, 1, 1]})
    )


def test_on_the_command_line(
    network: cn.BayesianNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row has the same answer beside a bad cell as without it."""
    monkeypatch.chdir(tmp_path)
    network.save("model.json")
    Path("bad.csv").write_text(FILE)
    Path("good.csv").write_text(FILE.replace("n.d.", ""))
    for data in ("bad", "good"):
        run("predict", "model.json", f"{data}.csv", "--target", "smoker", "-o", f"{data}.out.csv")
        run("impute", "model.json", f"{data}.csv", "-o", f"{data}.full.csv")
        run("anomaly", "model.json", f"{data}.csv", "-o", f"{data}.rare.csv")
    assert Path("bad.out.csv").read_text() == Path("good.out.csv").read_text()
    assert Path("bad.rare.csv").read_text() == Path("good.rare.csv").read_text()
    bad, good = (cn.read(f"{data}.full.csv")["bmi"] for data in ("bad", "good"))
    assert [*bad][2] == "n.d."
    assert [*bad][:2] + [*bad][3:] == [*good][:2] + [*good][3:]
    told = run("predict", "model.json", "bad.csv", "--target", "smoker").stderr
    assert "1 value that the network does not know ('n.d.') in 1 row taken as missing" in told
    told = flat(run("update", "model.json", "bad.csv", "-o", "new.json", code=1).stderr)
    assert "state 'n.d.' (1 row)" in told
    assert "'25'" not in told
    assert "--na" in told
