"""What is guessed, changed or left out when a table is read, and that it is said, once."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import colonnade as cn
from colonnade.classifier import BayesianNetworkClassifier
from colonnade.exceptions import ColonnadeError, DataError, DataWarning
from colonnade.tables import discretize, encode
from command_line import flat, run

PENGUINS = """species,island,bill_length_mm,body_mass_g,sex
Adelie,Torgersen,39.1,3750,male
Adelie,Torgersen,39.5,3800,female
Adelie,Torgersen,NA,NA,NA
Adelie,Dream,36.7,3450,female
Chinstrap,Dream,46.5,3500,female
Chinstrap,Dream,50.0,3900,male
Gentoo,Biscoe,46.1,4500,NA
Gentoo,Biscoe,50.0,5700,male
"""
CODES = ["NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "-nan", "1.#IND", "NULL", "null", "?"]
# As pandas writes it, with its index.
TITANIC = """,Survived,Pclass,Name,Sex,Age,Ticket,Cabin,Embarked
0,0,3,"Braund, Mr. Owen Harris",male,22.0,A/5 21171,,S
1,1,1,"Cumings, Mrs. John Bradley",female,38.0,PC 17599,C85,C
2,1,3,"Heikkinen, Miss. Laina",female,,STON/O2. 3101282,,S
3,1,1,"Futrelle, Mrs. Jacques",female,35.0,113803,C123,S
4,0,3,"Allen, Mr. William Henry",male,,373450,,
"""


@contextmanager
def said(*parts: str) -> Iterator[None]:
    """Expect exactly these warnings, in order, each with a text that contains the part."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts = [str(each.message) for each in caught]
    assert len(texts) == len(parts), texts
    for text, part in zip(texts, parts, strict=True):
        assert part in text
    assert all(each.category is DataWarning for each in caught)
    assert all(each.filename == __file__ for each in caught), "the place is the user's"


def file(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def rows(*lines: str, head: str = "x,y") -> str:
    return "\n".join([head, *lines]) + "\n"


# -------------------------------------------------------------------- missing values


def test_penguins(tmp_path: Path) -> None:
    path = file(tmp_path, PENGUINS)
    told = "read 4 values 'NA' as missing, in columns 'bill_length_mm' (1), 'body_mass_g' (1) and"
    with said(f"File '{path}': {told} 'sex' (2)."):
        table = cn.read(path)
    assert table["bill_length_mm"].dtype == np.float64
    assert np.isnan(table["bill_length_mm"][2])
    assert table["body_mass_g"][2] is None
    assert set(table["sex"]) == {"male", "female", None}
    assert discretize(table, bins=2).discretizer.get("bill_length_mm") is not None


def test_titanic(tmp_path: Path) -> None:
    path = file(tmp_path, TITANIC)
    with said("column 1 has no name: read as an index of the rows, and left out."):
        table = cn.read(path)
    assert next(iter(table)) == "Survived"
    assert table["Embarked"] == ["S", "C", "S", "S", None]
    assert np.isnan(table["Age"]).tolist() == [False, False, True, False, True]
    assert isinstance(table["Ticket"], list)  # some are numbers, but too many are not


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("quoted", [False, True])
def test_every_usual_code(tmp_path: Path, code: str, quoted: bool) -> None:
    cell = f'"{code}"' if quoted else code
    with said(f"read 2 values {code!r} as missing, in columns 'x' (1) and 'y' (1)."):
        table = cn.read(file(tmp_path, rows("1,a", f"{cell},{cell}", "3,b")))
    assert table == {"x": [1, None, 3], "y": ["a", None, "b"]}


def test_codes_are_chosen(tmp_path: Path) -> None:
    path = file(tmp_path, rows("1,NA", "-9,a", "3,b"))
    with said("Column 'y': 'NA' (1 row) read as a state, not as missing."):
        table = cn.read(path, na=["-9"])
    assert table == {"x": [1, None, 3], "y": ["NA", "a", "b"]}
    with said():
        assert cn.read(path, na=["-9", "NA"])["y"] == [None, "a", "b"]
    with said():  # of a user who says that nothing is a code, nobody needs to be reminded
        assert cn.read(path, na=[])["y"] == ["NA", "a", "b"]


def test_none_is_a_state_among_words_and_missing_among_numbers(tmp_path: Path) -> None:
    path = file(tmp_path, rows("None,1.5", "light,None", "None,.", "heavy,2"))
    with said(
        "read 1 value 'None' and 1 value '.' as missing, in column 'y'.",
        "Column 'x': 'None' (2 rows) read as a state, not as missing.",
    ):
        table = cn.read(path)
    assert table["x"] == ["None", "light", "None", "heavy"]
    np.testing.assert_equal(table["y"], [1.5, np.nan, np.nan, 2.0])
    with said():
        assert cn.read(path, na=["None", "."])["x"] == [None, "light", None, "heavy"]
    with said():
        assert cn.read(file(tmp_path, rows("none,.a", "some,b")))["x"] == ["none", "some"]


def test_a_dash_is_missing_among_numbers_only(tmp_path: Path) -> None:
    with said("read 1 value '-' and 1 value '--' as missing, in column 'x'."):
        table = cn.read(file(tmp_path, rows("1.5,-", "-,a", "--,a", "2,b")))
    np.testing.assert_equal(table["x"], [1.5, np.nan, np.nan, 2.0])
    assert table["y"] == ["-", "a", "a", "b"]


def test_words_among_numbers_with_decimal_commas_are_named(tmp_path: Path) -> None:
    lines = ["x;y", *(f"{k},5;a" for k in range(9)), "unknown;b"]
    with said(
        "read values separated by ';'",
        "Column 'x': text, not numbers, because of 'unknown' (1 row).",
    ):
        table = cn.read(file(tmp_path, "\n".join(lines) + "\n"))
    assert table["x"][-1] == "unknown"


def test_a_column_without_values(tmp_path: Path) -> None:
    with said("read 2 values 'NA'"):
        table = cn.read(file(tmp_path, rows("NA,a", "NA,b", ",b")))
    assert table["x"] == [None, None, None]
    with pytest.raises(DataError, match="Column 'x': no values, so no states"):
        encode(table)
    assert cn.fit(table, cn.Dag([], ["y"]))["y"].counts is not None


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["1", "2", "3", "unknown", "unknown"], "'unknown' (2 rows)."),
        (["1.5", "12,5", "3"], "'12,5' (1 row)."),
        # These may be thousands.
        (["1,500", "2,250", "-3,125"], "'1,500' (1 row), '2,250' (1 row) and '-3,125' (1 row)."),
        (["1,234.5", "2.5"], "'1,234.5' (1 row)."),
        (["0", "1", "2", "3+"], "'3+' (1 row)."),
        (["a", "1"], ""),
        (["a", "b", "1"], ""),
        (["01234", "56789", "4711"], ""),  # names, as the leading zero shows
        (["01234", "56789", "4711", "z"], ""),
    ],
)
def test_strange_values_among_numbers(tmp_path: Path, values: list[str], told: str) -> None:
    table = "x,y\n" + "".join(f'"{value}",a\n' for value in values)
    with said(*([f"Column 'x': text, not numbers, because of {told}"] if told else [])):
        assert cn.read(file(tmp_path, table))["x"] == values


def test_strange_values_and_codes_in_a_data_frame() -> None:
    frame = pd.DataFrame({"x": ["1", "2", "3", "unknown"], "y": ["a", "NA", " ", None]})
    with said(
        "Column 'y': ' ' and 'NA' taken as states, not as missing.",
        "Column 'x': text, not numbers, because of 'unknown'.",
    ):
        assert encode(frame).missing == (0, 1)
    with said():  # declared states are as they should be
        encode(frame, {"x": ["1", "2", "3", "unknown"], "y": ["a", "NA", " "]})


def test_strange_objects_among_numbers_are_named() -> None:
    column = pd.Series([1.5, 2.5, "unknown", None], dtype=object)
    with pytest.raises(DataError, match=r"mixed with other values \('unknown'\) are not states"):
        encode({"x": column})


def test_missing_values_of_packages() -> None:
    column = ["a", None, pd.NA, float("nan"), np.nan]
    frame = pd.DataFrame({"x": pd.Series(column, dtype=object), "y": pd.Series([1, *column[1:]])})
    assert encode(frame).missing == (4, 4)


# -------------------------------------------------------------------- blanks and case


def test_blanks_are_removed(tmp_path: Path) -> None:
    path = file(tmp_path, ' x , y\r\nno ,"1 "\r\nno, 2\r\n" yes",3 \r\n   \r\n')
    with said("Column 'x': blanks around 'no' (1 row) and 'yes' (1 row) were removed."):
        table = cn.read(path)
    assert table["x"] == ["no", "no", "yes"]
    assert table["y"].tolist() == [1, 2, 3]


def test_states_that_look_alike(tmp_path: Path) -> None:
    path = file(tmp_path, rows("Yes,a", "yes,B", "YES,b", "no,a"))
    told = (
        "Column 'x': states 'YES', 'Yes' and 'yes' differ only by case or blanks. "
        "Column 'y': states 'B' and 'b' differ only by case or blanks. "
        "Hint: write each state in one way."
    )
    table = cn.read(path)
    with said(told):
        cn.fit(table, cn.Dag([("x", "y")]))
    with said(told):
        cn.hill_climb(table)
    with said(told):
        coded = encode(pd.DataFrame(table))
    with said():
        encode(coded, weights=[1, 1, 1, 1])
        encode(table, {"x": ["YES", "Yes", "no", "yes"], "y": ["a", "b", "B"]})


def test_blanks_in_a_data_frame() -> None:
    frame = pd.DataFrame({"x": ["no", "no ", "upper  class", "upper class"]})
    with said("states 'no' and 'no '; 'upper  class' and 'upper class' differ only by"):
        encode(frame)
    with said("Column 'x': states 'no' and 'no '"):
        encode(frame.astype("category"))


def test_features_and_classes_that_look_alike() -> None:
    features = pd.DataFrame({"x": ["a", "A", "b", "b"] * 5})
    with said(
        "Column 'class': states 'No' and 'no' differ only by case or blanks.",
        "Column 'x': states 'A' and 'a' differ only by case or blanks.",
    ):
        BayesianNetworkClassifier("naive").fit(features, ["no", "yes", "No", "yes"] * 5)


# ------------------------------------------------------------------- names of columns


def test_a_first_line_that_looks_like_data(tmp_path: Path) -> None:
    path = file(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,virginica\n")
    told = (
        "the first line was taken as names of columns ('5.1', '3.5' and 'setosa'), but '5.1' and "
        "'3.5' are numbers and 'setosa' also occurs as a value of its column. Hint: give "
        "header=False to read or scan if it is data"
    )
    with said(told):
        assert list(cn.read(path)) == ["5.1", "3.5", "setosa"]
    with said():
        assert list(cn.read(path, header=True)) == ["5.1", "3.5", "setosa"]
    with said():
        table = cn.read(path, header=False)
    assert list(table) == ["column1", "column2", "column3"]
    assert table["column1"].tolist() == [5.1, 4.9, 4.7]
    assert table["column3"] == ["setosa", "setosa", "virginica"]
    with said():
        cn.read(file(tmp_path, "a,b1\nb,1\n"))


def test_names_that_occur_twice_harm_only_those_who_need_them(tmp_path: Path) -> None:
    path = file(tmp_path, "age,b,age,age.1\n1,x,2,3\n1,y,2,4\n")
    with said("but 'age' occurs 2 times (called 'age.2' and 'age.3' now)."):
        table = cn.read(path)
    assert list(table) == ["age.2", "b", "age.3", "age.1"]
    with said(f"File '{path}': 'age' occurs 2 times (called 'age.2' and 'age.3' now)."):
        assert cn.read(path, header=True).keys() == table.keys()
    cn.fit(table, cn.Dag([], ["b"]))
    with pytest.raises(DataError, match=r"did you mean 'age\.3', 'age\.2' or 'age\.1'"):
        cn.fit(table, cn.Dag([], ["age"]))


def test_an_index_is_left_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": ["a", "b"], "y": [1, 2]}, index=["Mazda RX4", "Valiant"])
    frame.to_csv(tmp_path / "data.csv")
    told = "column 1 has no name: read as an index of the rows, and left out. Hint: give it a name"
    with said(told):
        table = cn.read(tmp_path / "data.csv")
    assert list(table) == ["x", "y"]
    frame.reset_index(drop=True).to_csv(tmp_path / "data.csv")
    pd.read_csv(tmp_path / "data.csv").to_csv(tmp_path / "again.csv")
    with said("columns 1 to 2 have no name: read as an index"):
        assert list(cn.read(tmp_path / "again.csv")) == ["x", "y"]


def test_columns_without_a_name(tmp_path: Path) -> None:
    with said(
        "1 column with neither a name nor values left out.",
        "column without a name called 'column2'. Hint: name all columns in the first line.",
    ):
        table = cn.read(file(tmp_path, "a,,b,\nx,1,y,\nx,2,y, \n"))
    assert list(table) == ["a", "column2", "b"]


def test_an_index_in_a_parquet_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": ["a", "b", "NA"], "gone": [None] * 3}, index=[4, 2, 7])
    frame.to_parquet(tmp_path / "data.parquet", engine="pyarrow")
    with said("'__index_level_0__' read as an index of the rows, and left out."):
        table = cn.read(tmp_path / "data.parquet")
    assert list(table) == ["x", "gone"]
    with said("Column 'x': 'NA' taken as a state, not as missing."):
        cn.fit(table, cn.Dag([], ["x"]))
    with pytest.raises(DataError, match="Column 'gone': no values"):
        encode(table, columns=["gone"])


def arrow(names: list[str], *columns: list[Any]) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.table([pa.array(column) for column in columns], names=names)


def test_unsound_names_outside_the_graph() -> None:
    frame = pd.DataFrame({"x": ["a", "b"], "y": ["c", "d"], "f": [0.5, 1.5], 3: [1, 2], "": [1, 2]})
    frame = pd.concat([frame, frame[["f"]]], axis=1)
    dag = cn.Dag([("x", "y")])
    network = cn.fit(frame, dag)
    assert network == cn.fit(frame[["x", "y"]], dag)
    assert network.update(frame)["x"].counts.total == 4
    assert cn.fit({3: [1, 2], "x": ["a", "b"]}, cn.Dag([], ["x"]))["x"].counts.total == 2
    array = np.array([["a", 1, 2], ["b", 1, 2]], dtype=object)
    assert cn.fit((array, ["x", "y", "y"]), cn.Dag([], ["x"]))["x"].counts.total == 2
    table = arrow(["x", "y", "y"], ["a", "b"], [1, 2], [3, 4])
    assert cn.fit(table, cn.Dag([], ["x"]))["x"].counts.total == 2
    for needed in (frame, frame[["x", 3]], frame[["x", ""]], (array, ["x", "y", "y"]), table):
        with pytest.raises(ColonnadeError, match=r"the name occurs 2 times|non-empty strings"):
            encode(needed)


def test_a_table_that_is_cut_keeps_columns_that_share_a_name() -> None:
    frame = pd.DataFrame([["a", 0.5, 1, 2], ["b", 1.5, 3, 4]], columns=["x", "f", "y", "y"])
    cut = discretize(frame, bins=2).table
    assert list(cut.columns) == ["x", "f", "y", "y"]
    assert cut["f"].nunique() == 2
    table = arrow(["f", "y", "y"], [0.5, 1.5], [1, 2], [3, 4])
    assert discretize(table, bins=2).table.column_names == ["f", "y", "y"]
    with pytest.raises(DataError, match="Column 'y': the name occurs 2 times"):
        discretize(frame, columns=["y"])


# ------------------------------------------------------------------- the command line


def test_the_command_line_says_it_once(tmp_path: Path) -> None:
    data, model = file(tmp_path, PENGUINS), tmp_path / "model.json"
    learn = "fit", data, "--learn", "hc", "--bins", "2", "--missing", "available", "-o", model
    told = run(*learn).stderr
    assert told.count("read 4 values 'NA' as missing") == 1
    assert "Hint: give --na for each text that is missing; --na '' if none is." in told
    assert "[" not in told
    assert len(cn.load(model)["bill_length_mm"].family.child.states) == 2
    told = run(*learn, "--na", "", "--overwrite", code=2).stderr
    assert "Column 'bill_length_mm': text, not numbers, because of 'NA' (1 row)." in told
    assert "Hint: correct them, or give --na for each text that means missing." in told


def test_the_command_line_and_headers(tmp_path: Path) -> None:
    data = file(tmp_path, "1,yes,a\n2,no,b\n1,Yes,b\n")
    arcs = file(tmp_path, "column2,column3\n", "arcs.csv")
    learn = "fit", data, "--learn", "chow-liu", "-o", tmp_path / "a.json"
    told = run(*learn).stderr
    assert "the first line was taken as names of columns ('1', 'yes' and 'a'), but" in told
    assert "Hint: give --no-header if it is data, --header if it is names." in told
    assert "first line" not in run(*learn, "--header", "--overwrite").stderr
    found = run("fit", data, "--dag", arcs, "--no-header", "-o", tmp_path / "b.json")
    assert "Column 'column2': states 'Yes' and 'yes' differ only by case or blanks." in found.stderr
    assert cn.load(tmp_path / "b.json")["column3"].counts.total == 3
    assert "first line" in run("compare", data, "--learn", "chow-liu", "--folds", "2").stderr


def test_the_command_line_and_an_index(tmp_path: Path) -> None:
    data = file(tmp_path, ",x,x,y\n0,a,b,c\n1,b,c,d\n")
    arcs = file(tmp_path, "y\n", "arcs.csv")
    found = run("fit", data, "--dag", arcs, "-o", tmp_path / "a.json")
    assert "read as an index of the rows, and left out" in found.stderr
    learn = "fit", data, "--learn", "chow-liu", "-o", tmp_path / "b.json", "--ignore", ""
    assert list(run(*learn) and cn.load(tmp_path / "b.json")) == ["x.1", "x.2", "y"]
    told = run(*learn, "--ignore", "X.1", "--overwrite", code=1).stderr
    assert "Hint: did you mean 'x.1'" in told


def test_options_about_texts_with_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": ["a", "b"]}).to_parquet(tmp_path / "data.parquet")
    fit = "fit", tmp_path / "data.parquet", "--learn", "chow-liu", "-o", tmp_path / "a.json"
    for option in (("--na", "NA"), ("--no-header",), ("--header",)):
        told = flat(run(*fit, *option, code=2).stderr)
        assert "applies only to CSV files." in told
        assert option[0] in told
        assert "missing" not in told
