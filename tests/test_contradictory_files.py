"""Files that contradict themselves are refused at a place; those that are untidy are read."""

import re

import numpy as np
import pytest

from colonnade.exceptions import FileFormatError
from colonnade.files import FormatWarning, load

BIF = """network n { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { u, v }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.125, 0.875; }
"""
NET = """net { }
node a { states = ("x" "y"); }
node b { states = ("u" "v"); }
potential (a) { data = (0.25 0.75); }
potential (b | a) { data = ((0.5 0.5) (0.125 0.875)); }
"""
XMLBIF = """<?xml version="1.0"?><BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.5 0.5 0.125 0.875</TABLE></DEFINITION>
</NETWORK></BIF>"""
XDSL = """<?xml version="1.0"?><smile version="1.0" id="n"><nodes>
<cpt id="a"><state id="x" /><state id="y" /><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="b"><state id="u" /><state id="v" /><parents>a</parents>
<probabilities>0.5 0.5 0.125 0.875</probabilities></cpt></nodes></smile>"""
UAI = "BAYES 2 2 2 2 1 0 2 0 1 2 0.25 0.75 4 0.5 0.5 0.125 0.875"
FILES = {".bif": BIF, ".net": NET, ".xmlbif": XMLBIF, ".xdsl": XDSL, ".uai": UAI}


def written(folder, suffix, text):
    path = folder / f"model{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.filterwarnings("ignore::colonnade.files.FormatWarning")
@pytest.mark.parametrize("suffix", FILES)
def test_the_files_that_are_changed_below_are_good(suffix, tmp_path) -> None:
    first, second = load(written(tmp_path, suffix, FILES[suffix])).tables.values()
    assert first.probabilities.tolist() == [[0.25, 0.75]]
    assert second.probabilities.tolist() == [[0.5, 0.5], [0.125, 0.875]]


# A part of the file, what stands there instead, and what the error says.
CHANGES = [
    (".bif", "network n { }", "network n { } network m { }", "line 1: there is a second network"),
    (
        ".bif",
        "{ u, v };",
        "{ u, v }; type discrete [ 2 ] { p, q };",
        "'b': its type is given twice",
    ),
    (".bif", "{ u, v }", "{ u, u }", "'b': its state 'u' is listed twice"),
    (".bif", "{ u, v }", '{ u, "" }', "'b': its state 2 has no name"),
    (".bif", "variable b", "variable a", "'a': it is defined twice"),
    (".bif", "( b | a )", "( b | a, a )", "'b': (x) does not name one state for each parent"),
    (".bif", "( b | a ) { (x) 0.5, 0.5; (y)", "( b | a, a ) { default 0 1; (x, y)", "named twice"),
    (".bif", "( b | a ) {", "( a ) {", "'a': (x) does not name one state"),
    (".bif", "{ table", "{ table 0.5 0.5; table", "'a': its probabilities are given twice"),
    (".bif", "(y)", "(x)", "'b': the row of (x) is given twice"),
    (".bif", "{ (x)", "{ default 1 0; default 0 1; (x)", "'b': its default row is given twice"),
    (".bif", "{ (x)", "{ property function max; (x)", "'b': tables of the function 'max'"),
    (".bif", "{ (x)", '{ property "function = noisy-or"; (x)', "of the function 'noisy-or'"),
    (".bif", "{ (x)", "{ function max; (x)", "line 5: 'table', 'default', '(' or '}' is missing"),
    (
        ".bif",
        "variable b {",
        "variable b { property colonnade_types i; property colonnade_types b;",
        "'b': its property colonnade_types is given twice",
    ),
    (
        ".bif",
        "{ u, v };",
        "{ 0, True }; property colonnade_types ib;",
        "'b': its states are booleans and integers",
    ),
    (".net", "net { }", "net { } net { }", "line 1: there is a second net"),
    (".net", '("u" "v");', '("u" "v"); states = ("p" "q");', "'b': its states are given twice"),
    (".net", '("u" "v")', '("u" "u")', "'b': its state 'u' is listed twice"),
    (".net", '("u" "v")', '("" "v")', "'b': its state 1 has no name"),
    (".net", "node b", "node a", "'a': it is defined twice"),
    (".net", "data = (0.25", "data = (1 0); data = (0.25", "'a': its data are given twice"),
    (".net", "(b | a)", "(a)", "'a': its probabilities are given twice"),
    (".net", "(b | a)", "(b | b)", "'b': it is its own parent"),
    (".net", "(b | a)", "(b | a a)", "'b': its parent 'a' is named twice"),
    (".net", "0.5 0.5", "0 0", "'b': its probabilities given a = x are all 0"),
    (
        ".xmlbif",
        "</NETWORK>",
        "</NETWORK><NETWORK></NETWORK>",
        "its element 'NETWORK' is given twice",
    ),
    (".xmlbif", "<NAME>b", "<NAME>c</NAME><NAME>b", "'c': its element 'NAME' is given twice"),
    (".xmlbif", "<NAME>b</NAME>", "<NAME/>", "a VARIABLE has no name"),
    (".xmlbif", "<NAME>b", "<NAME>a", "'a': it is defined twice"),
    (".xmlbif", "<OUTCOME>u<", "<OUTCOME> <", "'b': its state 1 has no name"),
    (".xmlbif", "<OUTCOME>u<", "<OUTCOME>v<", "'b': its state 'v' is listed twice"),
    (
        ".xmlbif",
        "<FOR>b</FOR>",
        "<FOR>b</FOR><FOR>a</FOR>",
        "'b': its element 'FOR' is given twice",
    ),
    (".xmlbif", "<FOR>b</FOR>", "", "a DEFINITION has no name"),
    (".xmlbif", "<FOR>b</FOR><GIVEN>a</GIVEN>", "<FOR>a</FOR>", "'a': its probabilities are given"),
    (".xmlbif", "<GIVEN>a</GIVEN>", "<GIVEN>a</GIVEN>" * 2, "'b': its parent 'a' is named twice"),
    (
        ".xmlbif",
        "<TABLE>0.25",
        "<TABLE>1 0</TABLE><TABLE>0.25",
        "'a': its element 'TABLE' is given twice",
    ),
    (
        ".xmlbif",
        "<TABLE>0.25",
        "<TABLE/>" * 2 + "<TABLE>0.25",
        "its element 'TABLE' is given 3 times",
    ),
    (".xmlbif", "<TABLE>0.25 0.75</TABLE>", "", "'a': it has no TABLE"),
    (".xmlbif", "<GIVEN>", "<PROPERTY>function = max</PROPERTY><GIVEN>", "of the function 'max'"),
    (".xdsl", "</nodes>", "</nodes><nodes></nodes>", "its element 'nodes' is given twice"),
    (
        ".xdsl",
        "</nodes>",
        "</nodes><dynamic numslices='3' />",
        "dynamic networks are not",
    ),
    (".xdsl", 'id="b"', 'id="a"', "'a': it is defined twice"),
    (".xdsl", ' id="b"', "", "a cpt has no id"),
    (".xdsl", '<state id="u"', "<state", "'b': its state 1 has no name"),
    (".xdsl", '<state id="u"', '<state id="v"', "'b': its state 'v' is listed twice"),
    (
        ".xdsl",
        "<parents>",
        "<parents>a</parents><parents>",
        "'b': its element 'parents' is given twice",
    ),
    (".xdsl", "<parents>a", "<parents>a a", "'b': its parent 'a' is named twice"),
    (
        ".xdsl",
        "<probabilities>0.25",
        "<probabilities>1 0</probabilities><probabilities>0.25",
        "'a': its element 'probabilities' is given twice",
    ),
    (".xdsl", "<probabilities>0.25 0.75</probabilities>", "", "'a': it has no probabilities"),
    (
        ".xdsl",
        "<probabilities>0.25",
        "<resultingstates>x</resultingstates><probabilities>0.25",
        "'a': it has probabilities and resultingstates",
    ),
    (".uai", "0.875", "0.875 0.5", "1 word follows its tables"),
    (".uai", "2 0 1 2", "2 1 1 2", "'v1': it is its own parent"),
    (".uai", "2 0 1 2", "2 1 0 2", "variable 0 has a table already"),
]


@pytest.mark.parametrize(("suffix", "old", "new", "problem"), CHANGES)
def test_a_contradiction_is_an_error_at_its_place(suffix, old, new, problem, tmp_path) -> None:
    text = FILES[suffix]
    assert old in text
    with pytest.raises(FileFormatError, match=re.escape(problem)) as caught:
        load(written(tmp_path, suffix, text.replace(old, new, 1)))
    # Nothing that only a Python programmer would know.
    assert not re.search(r"`|\[|Expected", caught.value.statement)


def test_a_cycle_is_named_without_parameters_of_python(tmp_path) -> None:
    text = BIF.replace("( a ) { table 0.25, 0.75; }", "( a | b ) { default 0.25, 0.75; }")
    with pytest.raises(FileFormatError, match=r"Expected no cycle, got a -> b -> a\."):
        load(written(tmp_path, ".bif", text))


# ---------------------------------------------------------------------- rounding


@pytest.mark.parametrize("suffix", FILES)
def test_a_probability_that_rounding_made_negative_is_zero(suffix, tmp_path) -> None:
    text = FILES[suffix].replace("0.125", "-1.2e-7").replace("0.875", "1.00000012")
    with pytest.warns(
        FormatWarning, match=r"set 1 negative probability of variable '(b|v1)' to 0"
    ) as seen:
        found = load(written(tmp_path, suffix, text))
    assert len(seen) == 1
    assert "(the lowest is -1.2e-07)" in str(seen[0].message)
    _, table = found.tables.values()
    np.testing.assert_allclose(table.probabilities, [[0.5, 0.5], [0.0, 1.0]], atol=1e-15)


def test_numbers_of_any_scale_round_in_their_scale(tmp_path) -> None:
    text = NET.replace("0.125 0.875", "-0.5 1e7")
    with pytest.warns(FormatWarning, match="set 1 negative .*; rescaled 1 row"):
        found = load(written(tmp_path, ".net", text))
    assert found["b"].probabilities.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    text = NET.replace("0.125 0.875", "-0.5 1e5")
    with pytest.raises(FileFormatError, match="given a = y is negative"):
        load(written(tmp_path, ".net", text))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("(y) 0.125, 0.875", "(y) -0.001, 1.001", "a probability given a = y is negative"),
        ("(y) 0.125, 0.875", "(y) 0.125, 0.8", "given a = y do not sum to 1 but to 0.925"),
        ("(y) 0.125, 0.875", "default 0.125, 0.8", "by default do not sum to 1 but to 0.925"),
    ],
)
def test_what_is_not_rounding_is_refused(old, new, problem, tmp_path) -> None:
    with pytest.raises(FileFormatError, match=problem):
        load(written(tmp_path, ".bif", BIF.replace(old, new)))


# ------------------------------------------------------------- before the content


@pytest.mark.parametrize("lead", [" ", "\n\n", "\ufeff", "\ufeff\r\n", "\n\ufeff ", "\t"])
@pytest.mark.parametrize("suffix", [".xmlbif", ".xdsl"])
def test_blanks_and_a_mark_may_come_before_the_declaration(lead, suffix, tmp_path) -> None:
    assert load(written(tmp_path, suffix, lead + FILES[suffix])) == load(
        written(tmp_path, suffix, FILES[suffix])
    )


def test_lines_are_counted_from_the_beginning_of_the_file(tmp_path) -> None:
    for lead in ("", "\n\n"):
        with pytest.raises(FileFormatError) as caught:
            load(written(tmp_path, ".xdsl", f"{lead}<smile>\n<nodes>\n</smile>"))
        assert caught.value.place == f"line {3 + len(lead)}"


@pytest.mark.parametrize("suffix", [".bif", ".net", ".json"])
def test_a_mark_may_come_before_text(suffix, tmp_path) -> None:
    network = load(written(tmp_path, ".bif", BIF))
    path = tmp_path / f"marked{suffix}"
    network.save(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(path) == network
