import pickle

import pytest

from colonnade.classifier.estimator import _NoImportancesError
from colonnade.exceptions import (
    AbsentFileError,
    Advice,
    ColonnadeError,
    ConvergenceWarning,
    CountsError,
    DataError,
    FileFormatError,
    InputError,
    MissingExtraError,
    NotSupportedError,
    ShortfallError,
    TooLargeError,
    TooManyStatesError,
    UnknownNameError,
    UnobservedError,
    amount,
    conditions,
    counted,
    did_you_mean,
    expected,
    inapplicable,
    listing,
    require,
    tally,
    with_hint,
)
from colonnade.files import FormatWarning
from colonnade.files.misfit import MisfitError
from colonnade.wording import percent, tallies

ERRORS = [
    expected("a number above 0", "s", -1, "use s=None"),
    expected("counts", "counts", [1], kind=CountsError),
    DataError("Column 'smoker'", "is empty.", "drop it", column="smoker", rows=12),
    MissingExtraError("Reference()", package="numpyro", extra="reference"),
    TooLargeError("The dense table", size=20**30, limit=10, hint="use `row`"),
    NotSupportedError("Sampling", "there is no posterior", "use a prior"),
    FileFormatError("m.json", "arcs[3]", "parent 9 does not exist.", Advice.OVERWRITE),
]
# Those whose wording is tested elsewhere.
MORE = [
    ColonnadeError("It failed.", "try again"),
    expected("an existing file", "path", "no.csv", kind=AbsentFileError),
    expected("one of 'a'", "name", "b", kind=UnknownNameError),
    InputError("Expected an integer for ", ", got 1.5.", parameter="k", value=1.5),
    ShortfallError(3, 1, (0, 2), 1),
    UnobservedError(2, 5, [[0, 0]]),
    TooManyStatesError(9000, 5000, "Variable 'id'"),
    ConvergenceWarning("Stopped.", Advice.CUT),
    FormatWarning("Rescaled."),
    MisfitError("line 3", "it ends.", "take a copy"),
    _NoImportancesError("The largest table", size=20**30, limit=10, hint="use a forest"),
]


def public(error: BaseException) -> dict[str, object]:
    """Everything an error carries, wherever it is kept."""
    # OSError lists an attribute that only some of its subclasses have.
    names = [name for name in dir(error) if not name.startswith("_") and hasattr(error, name)]
    return {name: value for name in names if not callable(value := getattr(error, name))}


@pytest.mark.parametrize("error", [*ERRORS, *MORE], ids=lambda error: type(error).__name__)
def test_all_attributes_survive_pickling(error: BaseException) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), copy.args) == (str(error), error.args)
    assert public(copy) == public(error)


def test_every_class_of_errors_is_pickled_here() -> None:
    found, waiting = set(), [ColonnadeError]
    while waiting:
        kind = waiting.pop()
        found.add(kind)
        waiting += [each for each in kind.__subclasses__() if each.__module__.startswith("colon")]
    assert found <= {type(error) for error in (*ERRORS, *MORE)}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_with_their_data(error: ColonnadeError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (InputError, ValueError),
        (CountsError, ValueError),
        (DataError, ValueError),
        (TooLargeError, ValueError),
        (MissingExtraError, ImportError),
        (NotSupportedError, NotImplementedError),
    ],
)
def test_one_root_and_the_builtin_a_caller_expects(kind: type, builtin: type) -> None:
    assert issubclass(kind, ColonnadeError)
    assert issubclass(kind, builtin)


def test_wording() -> None:
    assert [str(error) for error in ERRORS] == [
        "Expected a number above 0 for `s`, got -1. Hint: use s=None.",
        "Expected counts for `counts`, got [1].",
        "Column 'smoker': is empty. Hint: drop it.",
        "Reference() needs the package 'numpyro'. Hint: install the extra 'reference': "
        'in a clone of Colonnade, pip install ".[reference]".',
        "The dense table would have 1.07e39 cells, more than the limit of 10. Hint: use `row`.",
        "Sampling is not supported: there is no posterior. Hint: use a prior.",
        "File 'm.json', arcs[3]: parent 9 does not exist. "
        "Hint: choose another name, or write overwrite=True.",
    ]


def test_attributes() -> None:
    bad, _, data, extra, large, _, file = ERRORS
    assert (bad.parameter, bad.value) == ("s", -1)  # type: ignore[attr-defined]
    assert (data.place, data.rows) == ("Column 'smoker'", 12)  # type: ignore[attr-defined]
    assert (extra.extra, extra.package) == ("reference", "numpyro")  # type: ignore[attr-defined]
    assert (large.size, large.limit) == (20**30, 10)  # type: ignore[attr-defined]
    assert (file.place, file.hint) == ("arcs[3]", Advice.OVERWRITE)  # type: ignore[attr-defined]
    assert [error.hint for error in ERRORS[:3]] == ["use s=None", "", "drop it"]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_message_is_its_statement_and_its_hint(error: ColonnadeError) -> None:
    hint = f" Hint: {error.hint.removesuffix('.')}." if error.hint else ""
    assert str(error) == error.statement + hint


def test_a_statement_can_name_the_parameter_otherwise() -> None:
    assert expected("`s` above 0", "s", -1).naming("--s") == "Expected `s` above 0 for --s, got -1."
    error = inapplicable("k", 3, "--learn kdb")
    assert error.naming("--k") == "--k applies only to --learn kdb."
    assert InputError("A message.", parameter="k").naming("--k") == "A message."


def test_advice_outlives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(DataError("Table", "no.", Advice.CUT)))
    assert copy.hint is Advice.CUT
    warning = pickle.loads(pickle.dumps(ConvergenceWarning("Stopped.", Advice.CUT)))
    assert (warning.statement, warning.hint) == ("Stopped.", Advice.CUT)
    assert str(warning) == "Stopped. Hint: cut them into intervals with discretize(table)."


def test_long_and_broken_values_do_not_hide_the_error() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert len(str(expected("x", "y", "z" * 10_000))) < 150
    assert "an object of type Broken" in str(expected("x", "y", Broken()))
    assert "e5000" in str(TooLargeError("A table", size=10**5000, limit=1))


def test_require_tells_missing_from_broken(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_for_test.py").write_text("import surely_not_installed_either")
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[demo\]"') as caught:
        require("surely_not_installed.part", feature="A thing", extra="demo")
    assert caught.value.package == "surely_not_installed"
    with pytest.raises(ModuleNotFoundError, match="either") as other:
        require("broken_for_test", feature="A thing", extra="demo")
    assert not isinstance(other.value, ColonnadeError)


def test_amounts_and_lists_in_messages() -> None:
    assert (amount(50_000_000), amount(20**300)) == ("50,000,000", "2.04e390")
    assert [counted(1, "arc"), counted(2000, "arc")] == ["1 arc", "2,000 arcs"]
    assert counted(3, "entry", "entries") == "3 entries"
    assert (listing(["no"]), listing(range(100), limit=3)) == ("'no'", "0, 1, 2, ... 97 more")
    assert listing([]) == "none"
    assert conditions({"smoker": "yes", "age": 3}) == "smoker = 'yes', age = 3"


def test_counts_that_belong_together_are_written_alike() -> None:
    assert tallies([147.00000000000003, 150, None]) == ["147", "150", "-"]
    assert tallies([150, 149.5, 0.25, None]) == ["150.00", "149.50", "0.25", "-"]
    assert (tally(1234567.0), tally(0.5), tally(1e300)) == ("1,234,567", "0.50", "1.00e300")


def test_a_probability_close_to_one_is_not_a_hundred_per_cent() -> None:
    levels = 0.95, 0.999, 0.29, 0.99999999
    assert [percent(level) for level in levels] == ["95 %", "99.9 %", "29 %", "99.999999 %"]


def test_a_misspelt_word_gets_its_neighbour() -> None:
    assert did_you_mean("Cancer ", ["smoker", "cancer"]) == "did you mean 'cancer'?"
    assert did_you_mean("bdue", ["bdeu", "ml"]) == "did you mean 'bdeu'?"
    assert (did_you_mean("x", ["smoker"]), did_you_mean(3, ["smoker"])) == ("", "")
    assert did_you_mean("naive_bayes", ["hc", "naive"]) == "did you mean 'naive'?"
    assert did_you_mean("--obs", ["--observed", "--draws"]) == "did you mean '--observed'?"
    both = "did you mean 'observed one' or 'observed two'?"
    assert did_you_mean("obser", ["observed one", "observed two"]) == both
    assert did_you_mean("a", [1, "a "]) == "did you mean 'a '?"
    assert with_hint("No.", did_you_mean("aa", ["Aa"])) == "No. Hint: did you mean 'Aa'?"


def test_a_shortfall_can_name_its_variable_and_state() -> None:
    error = ShortfallError(3, 1, (0, 2), 1)
    assert error.statement == (
        "Counts: cannot take 3 from 1 count of state 1 in configuration (0, 2)."
    )
    named = error.named("Variable 'x'", lambda codes, state: f"state {state} given {codes}")
    assert named.statement == "Variable 'x': cannot take 3 from 1 count of state 1 given (0, 2)."
    assert (named.taken, named.held, named.hint) == (3, 1, error.hint)


def test_an_error_about_a_cell_can_name_it() -> None:
    error = CountsError("it is negative.", parameter="counts", value=-1)

    def named() -> str:
        return error.named(
            "Variable 'x'", lambda codes, state: f"state {state} given {codes}"
        ).statement

    assert named() == "Variable 'x': it is negative."
    error.configuration, error.state = (0, 2), 1
    assert named() == "Variable 'x', state 1 given (0, 2): it is negative."
