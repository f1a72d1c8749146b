"""How the command line refuses: its exit code and its words, and that nothing is written."""

import re
from pathlib import Path

import pytest

import colonnade as cn
from colonnade.cli.messages import _ADVICE, worded
from colonnade.exceptions import Advice, ConvergenceWarning
from command_line import example, flat, plain_terminal, run

SOURCE = Path(cn.__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, and files that are no data, no arcs and no network."""
    folder = example(tmp_path_factory.mktemp("cli"))
    for name, text in {
        "data.xls": "a\n1\n",
        "cycle.csv": "a,b\nb,a\n",
        "wide.csv": "a,b\na,b,c\n",
        "empty.csv": "from,to\n",
        "strange.csv": "income,cancer\n",
        "new.csv": "smoker,group,cancer\nno,9,true\n",
        "half.json": (folder / "model.json").read_text()[:300],
    }.items():
        (folder / name).write_text(text)
    data = cn.read(folder / "data.csv")
    cn.fit(data, cn.Dag([("cancer", "smoker")], ["group"])).save(folder / "other.json")
    (folder / "folder.json").mkdir()
    return folder


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("fit data.csv --dag arcs.csv --learn hc", 2, "Expected --dag or --learn, got both."),
        (
            "fit data.csv --dag arcs.csv --target cancer",
            2,
            "--target applies only with --learn tan, kdb, naive or forest.",
        ),
        ("fit data.csv --learn hc --target cancer", 2, "--target applies only with"),
        ("fit data.csv --learn tan", 2, "--target is missing: --learn tan needs"),
        ("fit data.csv --learn tan --target cancer --score bic", 2, "--score applies only"),
        (
            "fit data.csv --learn naive --target cancer --k 2",
            2,
            "--k applies only with --learn",
        ),
        ("fit data.csv --dag arcs.csv --max-parents 2", 2, "--max-parents applies only"),
        ("fit data.csv --learn chow-liu --tabu 2", 2, "--tabu applies only with --learn hc."),
        (
            "fit data.csv --learn chow-liu --restarts 2",
            2,
            "--restarts applies only with",
        ),
        ("fit data.csv --learn hc --seed 2", 2, "--seed applies only with --restarts or --learn"),
        ("fit data.csv --learn hc --score ml", 2, "Expected a score such as bic"),
        ("fit data.csv --dag arcs.csv --graph-prior sizes", 2, "--graph-prior applies only"),
        ("fit data.csv --learn hc --graph-prior size", 2, "for --graph-prior, got 'size'"),
        (
            "fit data.csv --learn hc --score bdeu:-1",
            2,
            "to 1e+12 for the equivalent sample size in --score, got -1.",
        ),
        (
            "fit data.csv --learn hc --prior dirichlet",
            2,
            "Expected a prior such as hierarchical, hier",
        ),
        (
            "fit data.csv --learn hc --prior bdeu:many",
            2,
            "Expected a prior such as bdeu, bdeu:10 for --prior, got 'bdeu:many'.",
        ),
        (
            "fit data.csv --learn hc --prior hierarchical:x",
            2,
            "a prior such as hierarchical, hierarchical:learn, hierarchical:8 for --prior",
        ),
        (
            "fit data.csv --learn hc --prior ml:8",
            2,
            "Expected a prior such as ml, ml:uniform for --prior, got 'ml:8'.",
        ),
        (
            "fit data.csv --learn best",
            2,
            "Expected hc, ges, exact, pc, tan, chow-liu, kdb, naive or forest for --learn, got",
        ),
        (
            "fit data.csv --learn hc --missing maybe",
            2,
            "Expected raise, available, em or state for --missing, got 'maybe'.",
        ),
        ("fit data.csv --learn hc --bins 1", 2, "for --bins, got '1'."),
        ("fit data.csv --learn hc --bins few", 2, "a number of at least 2, COLUMN="),
        ("fit data.csv --learn hc --bins group=1", 2, "for --bins, got 'group=1'"),
        ("fit data.csv --learn hc --bins 3 --bins 4", 2, "'4' is the second number for all"),
        ("fit data.csv --learn hc --bins n=3 --bins n=keep", 2, "'n=keep' is the second number"),
        ("fit arcs.csv --learn hc --bins 3", 2, "--bins applies only to columns of numbers"),
        ("fit data.csv --dag arcs.csv --bins n=3", 1, "Column 'n': not one of the variables"),
        ("fit data.csv --dag arcs.csv --ignore cancer", 2, "--ignore applies only with --learn."),
        ("fit data.csv --learn hc --nonsense", 2, "--nonsense is not an option of"),
        ("fit arcs.csv --learn tan --target x", 1, "one of 'from', 'to' for --target, got 'x'"),
        ("fit data.csv --dag nothing.csv", 1, "an existing file for --dag, got 'nothing.csv'"),
        ("fit data.csv --dag cycle.csv", 1, "no cycle for --dag, got a -> b -> a"),
        ("fit data.csv --dag wide.csv", 1, "line 2: 'a,b,c' is not an arc"),
        ("fit data.csv --dag empty.csv", 1, "File 'empty.csv': no arcs"),
        ("fit data.csv --dag strange.csv", 1, "Column 'income': not in the table"),
        ("fit data.csv --learn hc --bins 3 --ignore x", 1, "Column 'x': not in the table"),
        ("fit data.csv --learn hc --bins 3 --weights w", 1, "Column 'w': not in the table"),
        (
            "fit data.csv --dag arcs.csv --weights w",
            1,
            "'w': not in the table, which has 'smoker', 'group', 'cancer', 'dose', 'n'.",
        ),
        ("fit data.csv --learn hc --bins smoker=3", 1, "'smoker': not a column of"),
        ("fit data.xls --learn hc", 2, "a file ending in .csv"),
        ("show model.txt", 2, "a name that ends in"),
        ("show model.json --level 0.9", 2, "--level applies only to the table of a VARIABLE."),
        ("show model.json cancer --level 95", 2, "write 0.95 for 95 %"),
        ("show model.json --limit 0", 2, "--limit"),
        (
            "query model.json cancer --observed smoker",
            2,
            "Expected VARIABLE=STATE for --observ",
        ),
        (
            "query model.json cancer --observed group=1 --observed group=2",
            2,
            "different variables for --observed, got 'group' twice.",
        ),
        ("query model.json cancer --draws 0 --level 0.9", 2, "--level applies only with --draws."),
        ("query model.json cancer --draws 0 --seed 1", 2, "--seed applies only with --draws."),
        (
            "query model.json cancer --draws 500 --level 1",
            2,
            "a number between 0 and 1 for --le",
        ),
        ("query model.json cancer --draws -1", 2, "--draws"),
        ("query model.json", 2, "TARGET is missing."),
        ("query model.json cancer --observed age=3", 1, "'age': not a variable of"),
        (
            "query model.json cancer --observed smoker=maybe",
            1,
            "'maybe' is not one of 'no', 'yes'",
        ),
        ("query model.json cancer --observed group=2.5", 1, "state '2.5' is not one of 1, 2, 3"),
        ("fit data.csv --dag arcs.csv -o m.txt", 2, ".uai for --output, got 'm.txt'"),
        ("convert model.json m.foo", 2, ".uai for OUT, got 'm.foo'"),
        ("convert m.foo model.json", 2, ".uai for IN, got 'm.foo'"),
        ("query model.json cancer --draws 1", 2, "an integer from 100 to 1,000,000 for --draws"),
        ("query model.json cancer --draws -1", 2, "an integer from 100 to 1,000,000 for --draws"),
        ("query model.json cancer --draws 99999999", 2, "from 100 to 1,000,000 for --draws"),
        ("fit data.csv --learn hc --restarts 99999999", 2, "from 0 to 1,000,000 for --restarts"),
        ("compare data.csv --learn hc --tabu 99999999", 2, "from 0 to 1,000,000 for --tabu"),
        ("query model.json cancer cancer", 2, "for TARGET, got 'cancer' twice."),
        ("compare data.csv --learn hc --learn hc", 2, "for --learn, got 'hc' twice."),
        (
            "compare data.csv --learn hc --prior bdeu:1 --prior bdeu:1",
            2,
            "got 'bdeu:1' twice.",
        ),
        ("compare data.csv --learn hc --learn naive", 2, "--learn naive needs the variable"),
        ("compare data.csv --learn hc --k 1", 2, "--k applies only with"),
        ("compare data.csv --learn hc --folds 1", 2, "an integer of at least 2 for --folds"),
        ("compare data.csv --learn hc --bins 3 --folds 151", 1, "for --folds, got 151"),
        ("compare data.csv --dag strange.csv --bins 3", 1, "Column 'income': not in the table"),
        ("fit data.csv --dag arcs.csv --overwrite -o folder.json", 1, "the folder"),
        ("reproduce novel", 2, "coverage or all for STUDY, got 'novel'."),
        ("reproduce mse --jobs 0", 2, "an integer of at least 1 for --jobs"),
        ("fit data.csv --required smoker=>cancer", 2, "Hint: write 'smoker->cancer'."),
        ("fit data.csv --required smoker>cancer", 2, "Hint: write 'smoker->cancer'."),
        ("fit data.csv --ignore dose --required smoker->cance", 1, "table for --required, got sm"),
        ("fit data.csv --bins dosee=3", 1, "Hint: did you mean 'dose'?"),
        ("update model.json data.csv --ignore group -o m.json", 2, "'group' is a variable of the"),
        ("update model.json new.csv -o m.json", 1, "Hint: fit again to all rows, or leave"),
        ("merge model.json other.json -o m.json", 1, "for MODEL, got one with the arcs cancer->sm"),
        (f"fit {'long/' * 30}absent.csv", 1, "long/absent.csv'."),
        ("show half.json", 1, "half.json"),
        ("query half.json cancer", 1, "half.json"),
        ("convert half.json out.bif", 1, "half.json"),
    ],
)
def test_refusals(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, code: int, message: str
) -> None:
    """1 for what cannot be used, in one line; 2 for a wrong command. Nothing is written."""
    monkeypatch.chdir(folder)
    before = set(folder.iterdir())
    output = ["-o", "m.json"] if command.startswith("fit") and "-o" not in command else []
    result = run(*command.split(), *output, code=code)
    assert message in flat(result.stderr)
    assert result.stdout == ""
    assert set(folder.iterdir()) == before
    pointer = "" if code == 1 else r"See \S+ \S+ --help\.\n"
    assert re.fullmatch(rf"Error: .*\n{pointer}", result.stderr)


@pytest.mark.parametrize(
    "word", ["foo", "hierarchical:-1", "hierarchical:x", "bdeu:x", "ml:8", "ml:"]
)
def test_a_wrong_prior_is_worded_without_python(folder: Path, word: str) -> None:
    common = "fit", folder / "data.csv", "--dag", folder / "arcs.csv", "-o", folder / "m.json"
    text = flat(run(*common, "--prior", word, code=2).stderr)
    assert "--prior, got" in text
    assert not re.search(r"None|nan|raise|`|s=|unobserved", text)


def test_all_advice_occurs_and_has_words_of_the_command_line() -> None:
    assert set(_ADVICE) == set(Advice)
    apart = {SOURCE / "exceptions.py", *(SOURCE / "cli").rglob("*.py")}
    code = "".join(path.read_text(encoding="utf-8") for path in set(SOURCE.rglob("*.py")) - apart)
    assert set(re.findall(r"\bAdvice\.(\w+)", code)) == set(Advice.__members__)


def test_a_warning_is_worded_like_an_error() -> None:
    text = worded(ConvergenceWarning("EM stopped.", Advice.ALLOW_MORE_ITERATIONS), {})
    assert text.startswith("EM stopped. Hint: check the result, or fit in Python")
    assert worded(UserWarning("Plain."), {}) == "Plain."


PYTHON_WORDS = re.compile(r"`|\w\(|\b\w+=(True|'|\d)")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit fractions.csv --dag arcs.csv --bins x=keep -o m.json", "intervals with --bins 5"),
        ("fit holes.csv --dag arcs.csv --missing raise -o m.json", "give --missing available to"),
        ("fit holes.csv --learn chow-liu --missing raise -o m.json", "give --missing available or"),
        (
            "compare holes.csv --learn chow-liu --folds 2 --missing raise",
            "give --missing available or",
        ),
        (
            "compare torn.csv --learn chow-liu --folds 2 --missing em",
            "Table: none of 2 rows is complete; values are missing in 'x' (1), 'y' (1). Hint: give "
            "--missing state, or leave the columns that lack most values out with --ignore.",
        ),
        ("fit nameless.csv --learn hc -o m.json", "no column has a name. Hint: give --no-header"),
        ("fit hollow.csv --dag arcs.csv -o m.json", "leave the column out, with --ignore"),
        ("fit data.csv --dag arcs.csv -o ml.json", "a name that is not taken for --output"),
        ("fit data.csv --dag arcs.csv -o no/m.json", "an existing folder for --output"),
        ("fit data.csv --dag arcs.csv --weights y -o m.json", "for --weights, got 'y'"),
        ("fit sparse.csv --dag sparse_arcs.csv --prior ml -o m.bif", "or with ml:uniform"),
        ("fit sparse.csv --dag sparse_arcs.csv --prior ml:raise -o m.json", "or with ml:uniform"),
        ("show absent.json", "an existing file for MODEL"),
        ("show foreign.json", "the ending of its own format"),
        ("show ml.json z", "one of 'x', 'y' for VARIABLE"),
        ("query ml.json z", "one of 'x', 'y' for TARGET"),
        ("query ml.json x --observed x=1", "leave it out of --observed"),
        ("query ml.json x --draws 100", "leave out --draws, or fit with a prior such as hierarch"),
        ("query ml.json x --observed y=a", "or with ml:uniform"),
        ("convert ml.json m.bif", "or with ml:uniform"),
        ("convert ml.json ml.json", "for OUT, got 'ml.json'. Hint: choose another name, or give"),
        ("convert absent.json m.bif", "an existing file for IN"),
    ],
)
def test_messages_speak_of_options_not_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "data.csv": "x,y\n1,a\n2,b\n",
        "fractions.csv": "x,y\n1.5,a\n2.0,b\n",
        "holes.csv": "x,y\n1,\n,b\n2,a\n",
        "torn.csv": "x,y\n1,\n,b\n",
        "hollow.csv": "x,y\n1,\n2,\n",
        "nameless.csv": ",\n1,2\n",
        "arcs.csv": "x,y\n",
        "sparse.csv": "x,z,y\n1,a,b\n2,b,c\n",
        "sparse_arcs.csv": "x,y\nz,y\n",
        "foreign.json": "{}",
    }.items():
        Path(name).write_text(text)
    table, arcs = {"x": [1, 2], "y": ["a", "b"]}, cn.Dag([("x", "y")])
    network = cn.fit(table, arcs, cn.MaximumLikelihood(), variables={"x": [1, 2, 3]})
    network.save("ml.json")
    result = run(*command.split(), code=1)
    assert message in result.stderr
    assert not PYTHON_WORDS.search(result.stderr), result.stderr
