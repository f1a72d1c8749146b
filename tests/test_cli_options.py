"""Every option of every command: when it cannot apply, it is refused and never ignored."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import colonnade as cn
from colonnade.cli import app
from command_line import example, flat, plain_terminal, run

ALWAYS = "always applies"


def _intervals(command: str) -> dict[str, str | list[tuple[int, str]]]:
    """Options about intervals, of a command with a place for the file of a model."""
    fitted, known = command.format("model.json"), command.format("known.bif")
    return {
        "--draws": [(1, f"{known} --draws 100")],
        "--level": [(2, f"{fitted} --draws 0 --level 0.9"), (1, f"{known} --level 0.9")],
        "--seed": [(2, f"{fitted} --draws 0 --seed 1"), (1, f"{known} --seed 1")],
    }


def _reading(verb: str) -> dict[str, str | list[tuple[int, str]]]:
    """Options about reading a text, of a command that takes a model and data."""
    words = {"--na": "NA", "--header": "", "--separator": ";", "--decimal": ","}
    words["--encoding"] = "utf-8"
    return {
        option: [(2, f"{verb} model.json data.parquet {option} {word}".rstrip())]
        for option, word in words.items()
    }


# For each option, a command in which it cannot apply, with the exit code: 2 if that is so whatever
# the files hold, else 1.
CANNOT_APPLY: dict[str, dict[str, str | list[tuple[int, str]]]] = {
    "fit": {
        "--counts": [
            (2, "fit data.csv --counts counts.json"),
            (2, "fit --counts counts.json --dag arcs.csv"),
        ],
        "--output": ALWAYS,
        "--overwrite": ALWAYS,
        "--prior": ALWAYS,
        "--report": ALWAYS,
        "--missing": ALWAYS,
        "--dag": [(2, "fit data.csv --learn hc --dag arcs.csv")],
        "--learn": [(2, "fit data.csv --dag arcs.csv --learn hc")],
        "--json": ALWAYS,
        "--recode": [
            (1, "fit data.csv --recode nowhere:a=b"),
            (2, "fit data.csv --bins dose=3 --recode dose:1=2"),
        ],
        "--order": [
            (1, "fit data.csv --order nowhere:a,b"),
            (2, "fit data.csv --cut dose:1 --order dose:1,2"),
            (2, "fit data.csv --learn forest --target cancer --order cancer:true,false"),
        ],
        "--cut": [
            (1, "fit data.csv --learn hc --cut age:30"),
            (1, "fit data.csv --dag arcs.csv --cut dose:1"),
            (2, "fit data.csv --learn hc --bins dose=3 --cut dose:1"),
        ],
        "--keep": [
            (2, "fit data.csv --dag arcs.csv --keep cancer"),
            (1, "fit data.csv --learn hc --keep age"),
        ],
        "--required": [(2, "fit data.csv --learn tan --target cancer --required arcs.csv")],
        "--forbidden": [(2, "fit data.csv --dag arcs.csv --forbidden smoker->cancer")],
        "--tiers": [
            (2, "fit data.csv --dag arcs.csv --tiers smoker<cancer"),
            (2, "fit data.csv --tiers smoker<"),
            (2, "fit data.csv --tiers words.csv<cancer,"),
            (1, "fit data.csv --tiers smoker<age"),
        ],
        "--separator": [(2, "fit data.parquet --learn hc --separator ;")],
        "--decimal": [(2, "fit data.parquet --learn hc --decimal ,")],
        "--encoding": [(2, "fit data.parquet --learn hc --encoding utf-8")],
        "--target": [
            (2, "fit data.csv --learn hc --target cancer"),
            (2, "fit data.csv --learn chow-liu --target cancer"),
            (2, "fit data.csv --dag arcs.csv --target cancer"),
        ],
        "--score": [
            (2, "fit data.csv --learn tan --target cancer --score bic"),
            (2, "fit data.csv --learn pc --score bic"),
        ],
        "--max-parents": [
            (2, "fit data.csv --dag arcs.csv --max-parents 2"),
            (2, "fit data.csv --learn pc --max-parents 2"),
        ],
        "--tabu": [(2, "fit data.csv --learn ges --tabu 2")],
        "--restarts": [(2, "fit data.csv --learn exact --restarts 2")],
        "--seed": [
            (2, "fit data.csv --learn hc --seed 1"),
            (2, "fit data.csv --learn hc --restarts 0 --seed 1"),
        ],
        "--k": [(2, "fit data.csv --learn tan --target cancer --k 1")],
        "--bins": [
            (2, "fit words.csv --learn hc --bins 3"),
            (2, "fit data.csv --dag smoke.csv --bins 3"),
            (1, "fit data.csv --dag dose.csv --bins group=3"),
            (1, "fit data.csv --learn hc --weights n --bins n=3"),
        ],
        "--graph-prior": [(2, "fit data.csv --learn chow-liu --graph-prior sizes")],
        "--header": [
            (2, "fit data.parquet --learn hc --header"),
            (2, "fit data.parquet --learn hc --no-header"),
        ],
        "--group": [
            (2, "fit data.csv --learn tan --target group --group group"),
            (2, "fit data.csv --learn hc --weights n --group n"),
            (1, "fit data.csv --dag arcs.csv --group cancer"),
        ],
        "--ignore": [(2, "fit data.csv --dag arcs.csv --ignore cancer")],
        "--na": [(2, "fit data.parquet --learn hc --na NA")],
        "--weights": [(1, "fit data.csv --dag arcs.csv --weights cancer")],
        "--memory": [(2, "fit book.xlsx --learn hc --memory 1GB"), (2, "fit - --memory 1GB")],
        "--table": [
            (2, "fit data.csv --learn hc --table visits"),
            (2, "fit clinic.duckdb/visits --learn hc --table visits"),
        ],
    },
    "show": {
        "--level": [
            (2, "show model.json --level 0.9"),
            (1, "show known.bif cancer --level 0.9"),
            (1, "show known.bif cancer --level 0.95 --json"),
            (1, "show ml.json cancer --level 0.9"),
        ],
        "--limit": ALWAYS,
        "--json": ALWAYS,
    },
    "most-probable": {
        "--observed": [(1, "most-probable model.json cancer --observed cancer=true")],
        "--do": [(1, "most-probable model.json cancer --do cancer=true")],
        "--json": ALWAYS,
    },
    "effect": {
        "--of": [
            (2, "effect model.json cancer --of smoker=yes"),
            (1, "effect model.json cancer --of cancer=true,false"),
            (2, "effect model.json cancer --of smoker=yes,no --of smoker=no,yes"),
        ],
        "--given": [(1, "effect model.json cancer --of smoker=yes,no --given cancer=true")],
        "--seen": ALWAYS,
        **_intervals("effect {} cancer --of smoker=yes,no"),
        "--json": ALWAYS,
    },
    "explain": {
        "--observed": [
            (2, "explain model.json cancer"),
            (1, "explain model.json cancer --observed cancer=true"),
        ],
        "--do": [(1, "explain model.json cancer --observed group=1 --do group=1")],
        **_intervals("explain {} cancer --observed smoker=yes"),
        "--json": ALWAYS,
    },
    "informative": {
        "--observed": [(1, "informative model.json cancer --observed cancer=true")],
        "--do": [(1, "informative model.json cancer --do cancer=true")],
        **_intervals("informative {} cancer"),
        "--limit": ALWAYS,
        "--json": ALWAYS,
    },
    "sensitivity": {
        "--observed": [(1, "sensitivity model.json cancer true --observed cancer=true")],
        "--do": [(1, "sensitivity model.json cancer true --do cancer=true")],
        "--level": [(1, "sensitivity known.bif cancer True --level 0.9")],
        **dict.fromkeys(("--limit", "--pairs", "--json"), ALWAYS),
    },
    "graph": {
        "--given": [
            (2, "graph model.json cancer --given smoker"),
            (1, "graph model.json smoker cancer --given smoker"),
        ],
        "--against": [(2, "graph model.json cancer --against arcs.csv")],
        "--json": ALWAYS,
    },
    "impute": {
        "--how": ALWAYS,
        "--output": ALWAYS,
        "--overwrite": ALWAYS,
        "--ignore": ALWAYS,
        "--json": [(2, "impute model.json holes.csv -o x.csv --json")],
        "--tables": [(2, "impute model.json holes.csv --tables 2")],
        "--seed": [(2, "impute model.json holes.csv --how mean --seed 2")],
        **_reading("impute"),
    },
    "anomaly": {
        **dict.fromkeys(("--output", "--overwrite", "--ignore", "--limit", "--keep"), ALWAYS),
        "--json": [(2, "anomaly model.json data.csv -o x.csv --json")],
        **_reading("anomaly"),
    },
    "sample": {
        "--observed": ALWAYS,
        "--do": [(1, "sample model.json 5 --observed smoker=yes --do smoker=yes")],
        **dict.fromkeys(("--output", "--overwrite", "--seed"), ALWAYS),
        "--json": [(2, "sample model.json 5 -o x.csv --json")],
    },
    "query": {
        "--observed": [(1, "query model.json cancer --observed cancer=true")],
        "--do": [
            (1, "query model.json cancer --do cancer=true"),
            (1, "query model.json cancer --observed smoker=yes --do smoker=yes"),
            (1, "query model.json cancer --do group=1|2"),
        ],
        "--draws": [
            (1, "query known.bif cancer --draws 100"),
            (1, "query ml.json cancer --draws 100"),
        ],
        "--level": [
            (2, "query model.json cancer --draws 0 --level 0.9"),
            (1, "query known.bif cancer --level 0.9"),
        ],
        "--seed": [
            (2, "query model.json cancer --draws 0 --seed 1"),
            (1, "query known.bif cancer --seed 1"),
        ],
        "--json": ALWAYS,
    },
    "compare": {
        "--dag": ALWAYS,
        "--learn": ALWAYS,
        "--prior": ALWAYS,
        "--folds": ALWAYS,
        "--seed": ALWAYS,  # it assigns the rows to the folds
        "--ignore": ALWAYS,  # columns that no --dag names are variables, too
        "--json": ALWAYS,
        "--target": ALWAYS,  # predictions of it are scored
        "--group": [
            (2, "compare data.csv --learn naive --target group --group group"),
        ],
        "--recode": [(1, "compare data.csv --recode nowhere:a=b")],
        "--order": [(1, "compare data.csv --order nowhere:a,b")],
        "--cut": [(1, "compare data.csv --learn hc --cut age:30")],
        "--keep": [(1, "compare data.csv --learn hc --keep age")],
        "--required": [(2, "compare data.csv --learn chow-liu --required arcs.csv")],
        "--forbidden": [(2, "compare data.csv --learn chow-liu --forbidden arcs.csv")],
        "--tiers": [(2, "compare data.csv --learn chow-liu --tiers smoker<cancer")],
        "--separator": [(2, "compare data.parquet --learn hc --separator ;")],
        "--decimal": [(2, "compare data.parquet --learn hc --decimal ,")],
        "--encoding": [(2, "compare data.parquet --learn hc --encoding utf-8")],
        "--score": [(2, "compare data.csv --dag arcs.csv --score bic")],
        "--max-parents": [(2, "compare data.csv --learn chow-liu --max-parents 2")],
        "--tabu": [(2, "compare data.csv --learn chow-liu --tabu 2")],
        "--restarts": [(2, "compare data.csv --dag arcs.csv --restarts 2")],
        "--k": [(2, "compare data.csv --learn hc --k 1")],
        "--bins": [(2, "compare words.csv --learn hc --bins 3")],
        "--graph-prior": [(2, "compare data.csv --dag arcs.csv --graph-prior sizes")],
        "--header": [(2, "compare data.parquet --learn hc --header")],
        "--missing": ALWAYS,
        "--na": [(2, "compare data.parquet --learn hc --na NA")],
    },
    "convert": {
        "--dialect": [(2, "convert model.json out.json --dialect agrum")],
        "--overwrite": ALWAYS,
    },
    "report": {
        "--output": ALWAYS,
        "--overwrite": ALWAYS,
        "--title": ALWAYS,
        "--level": ALWAYS,
        "--data": ALWAYS,
        "--na": [(2, "report model.json --na x -o out.html")],
        "--header": [(2, "report model.json --no-header -o out.html")],
        "--separator": [(2, "report model.json --data data.parquet --separator ; -o out.html")],
        "--decimal": [(2, "report model.json --decimal , -o out.html")],
        "--encoding": [(2, "report model.json --encoding utf-8 -o out.html")],
        "--compare": [(2, "report model.json --compare -o out.html")],
        "--target": ALWAYS,  # of a forest with --data
        "--folds": [
            (2, "report model.json --data data.csv --folds 3 -o out.html"),
            (2, "report model.json --target cancer --folds 3 -o out.html"),
        ],
        "--member": [(2, "report model.json --member 1 -o out.html")],
    },
    "explore": {"--port": ALWAYS, "--minutes": ALWAYS, "--browser": ALWAYS},
    "reproduce": {
        "--quick": ALWAYS,
        "--seed": ALWAYS,
        "--out": ALWAYS,
        "--data": [
            (2, "reproduce mse --data cache"),
            (2, "reproduce engines --quick --data cache"),
        ],
        "--jobs": [(2, "reproduce engines --jobs 2")],
    },
    "demo": {},
    "warm": {},
    "inspect": {
        "--json": ALWAYS,
        "--ignore": ALWAYS,
        "--bins": [(2, "inspect words.csv --bins 3")],
        "--recode": [(1, "inspect data.csv --recode nowhere:a=b")],
        "--order": [(1, "inspect data.csv --order nowhere:a,b")],
        "--cut": [(1, "inspect data.csv --cut age:30")],
        "--keep": [
            (1, "inspect data.csv --keep age"),
            (2, "inspect data.csv --ignore n --keep n"),
        ],
        "--na": [(2, "inspect data.parquet --na NA")],
        "--header": [(2, "inspect data.parquet --no-header")],
        "--separator": [(2, "inspect data.parquet --separator ;")],
        "--decimal": [(2, "inspect data.parquet --decimal ,")],
        "--encoding": [(2, "inspect data.parquet --encoding utf-8")],
        "--memory": [(2, "inspect book.xlsx --memory 1GB")],
        "--table": [(2, "inspect data.csv --table visits")],
    },
    "structure": {
        **dict.fromkeys(("--learn", "--resamples", "--seed", "--output", "--json"), ALWAYS),
        **dict.fromkeys(("--missing", "--ignore", "--weights", "--overwrite"), ALWAYS),
        "--averaged": [(2, "structure data.csv --resamples 0 --averaged")],
        "--target": [(2, "structure data.csv --learn hc --target cancer")],
        "--score": [(2, "structure data.csv --learn chow-liu --score bic")],
        "--graph-prior": [(2, "structure data.csv --learn chow-liu --graph-prior sizes")],
        "--max-parents": [(2, "structure data.csv --learn chow-liu --max-parents 2")],
        "--k": [(2, "structure data.csv --learn hc --k 2")],
        "--required": [(2, "structure data.csv --learn chow-liu --required arcs.csv")],
        "--forbidden": [(2, "structure data.csv --learn chow-liu --forbidden arcs.csv")],
        "--tiers": [(2, "structure data.csv --learn chow-liu --tiers smoker<cancer")],
        "--tabu": [(2, "structure data.csv --learn chow-liu --tabu 2")],
        "--restarts": [(2, "structure data.csv --learn chow-liu --restarts 2")],
        "--bins": [(2, "structure words.csv --bins 3")],
        "--recode": [(1, "structure data.csv --recode nowhere:a=b")],
        "--order": [(1, "structure data.csv --order nowhere:a,b")],
        "--cut": [(1, "structure data.csv --cut age:30")],
        "--keep": [(1, "structure data.csv --keep age")],
        "--na": [(2, "structure data.parquet --na NA")],
        "--header": [(2, "structure data.parquet --header")],
        "--separator": [(2, "structure data.parquet --separator ;")],
        "--decimal": [(2, "structure data.parquet --decimal ,")],
        "--encoding": [(2, "structure data.parquet --encoding utf-8")],
    },
    "predict": {
        **dict.fromkeys(("--target", "--overwrite", "--ignore", "--keep"), ALWAYS),
        "--memory": [(2, "predict model.json book.xlsx --memory 1GB")],
        "--table": [(2, "predict model.json data.csv --table visits")],
        "--output": [(2, "predict model.json data.csv --target cancer --json --output x.csv")],
        "--json": [(2, "predict model.json data.csv --target cancer --output x.csv --json")],
        "--draws": [(1, "predict known.bif data.csv --target cancer --draws 100")],
        "--level": [
            (2, "predict model.json data.csv --target cancer --draws 0 --level 0.9"),
            (1, "predict known.bif data.csv --target cancer --level 0.9"),
        ],
        "--seed": [
            (2, "predict model.json data.csv --target cancer --draws 0 --seed 1"),
            (1, "predict known.bif data.csv --target cancer --seed 1"),
        ],
        "--na": [(2, "predict model.json data.parquet --na NA")],
        "--header": [(2, "predict model.json data.parquet --header")],
        "--separator": [(2, "predict model.json data.parquet --separator ;")],
        "--decimal": [(2, "predict model.json data.parquet --decimal ,")],
        "--encoding": [(2, "predict model.json data.parquet --encoding utf-8")],
    },
    "plot": {
        **dict.fromkeys(("--output", "--overwrite", "--tables"), ALWAYS),
        "--observed": [(2, "plot model.json -o x.svg --observed smoker=yes")],
        "--do": [
            (2, "plot model.json -o x.svg --do smoker=yes"),
            (1, "plot model.json -o x.svg --tables --do smoker=yes --observed smoker=yes"),
        ],
    },
    "export": {
        **dict.fromkeys(("--output", "--overwrite", "--limit"), ALWAYS),
        "--level": [(1, "export known.bif cancer -o x.csv --level 0.9")],
    },
    **{
        verb: {
            **dict.fromkeys(("--output", "--overwrite", "--ignore", "--json", "--weights"), ALWAYS),
            "--missing": [(2, f"{verb} model.json data.csv -o x.json --missing em")],
            "--na": [(2, f"{verb} model.json data.parquet -o x.json --na NA")],
            "--header": [(2, f"{verb} model.json data.parquet -o x.json --header")],
            "--separator": [(2, f"{verb} model.json data.parquet -o x.json --separator ;")],
            "--decimal": [(2, f"{verb} model.json data.parquet -o x.json --decimal ,")],
            "--encoding": [(2, f"{verb} model.json data.parquet -o x.json --encoding utf-8")],
        }
        for verb in ("update", "forget")
    },
    "merge": dict.fromkeys(("--output", "--overwrite", "--json"), ALWAYS),
    "count": {
        **dict.fromkeys(("--output", "--overwrite", "--json", "--dag"), ALWAYS),
        **dict.fromkeys(("--weights", "--group"), ALWAYS),
        "--memory": [(2, "count book.xlsx --dag arcs.csv -o x.json --memory 1GB")],
        "--table": [(2, "count data.csv --dag arcs.csv -o x.json --table visits")],
        "--missing": [(2, "count data.csv --dag arcs.csv -o x.json --missing em")],
        "--cut": [(2, "count data.csv --dag arcs.csv -o x.json --cut dose:1")],
        "--recode": [(2, "count data.csv --dag arcs.csv -o x.json --recode dose:1=2")],
        "--order": [(2, "count data.csv --dag arcs.csv -o x.json --order dose:1,2")],
        "--na": [(2, "count data.parquet --dag arcs.csv -o x.json --na NA")],
        "--header": [(2, "count data.parquet --dag arcs.csv -o x.json --header")],
        "--separator": [(2, "count data.parquet --dag arcs.csv -o x.json --separator ;")],
        "--decimal": [(2, "count data.parquet --dag arcs.csv -o x.json --decimal ,")],
        "--encoding": [(2, "count data.parquet --dag arcs.csv -o x.json --encoding utf-8")],
    },
    "datasets": {
        "--overwrite": ALWAYS,
        "--output": [(2, "datasets --output x.csv")],
        "--data": [(2, "datasets --data cache")],
        "--json": [(2, "datasets iris --output x.csv --json")],
    },
}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_terminal(monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in more formats, and networks without a posterior."""
    import polars

    folder = example(tmp_path_factory.mktemp("cli"))
    (folder / "words.csv").write_text("a,b\nx,y\ny,y\nx,x\n")
    (folder / "dose.csv").write_text("cancer,dose\n")
    (folder / "smoke.csv").write_text("smoker,cancer\n")
    polars.read_csv(folder / "data.csv").write_parquet(folder / "data.parquet")
    network = cn.load(folder / "model.json")
    network.save(folder / "known.bif")
    table = cn.read(folder / "data.csv")
    cn.fit(table, network.dag, cn.MaximumLikelihood("uniform")).save(folder / "ml.json")
    return folder


def test_the_table_lists_every_option() -> None:
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        options = {each.opts[0] for each in command.params if each.param_type_name == "option"}
        listed = set(CANNOT_APPLY[name])
        assert options - {"--help", "--debug"} == listed, name


@pytest.mark.parametrize(
    ("option", "code", "command"),
    [
        pytest.param(option, code, command, id=command)
        for options in CANNOT_APPLY.values()
        for option, commands in options.items()
        if not isinstance(commands, str)
        for code, command in commands
    ],
)
def test_an_option_that_cannot_apply_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, option: str, code: int, command: str
) -> None:
    monkeypatch.chdir(folder)
    before = set(folder.iterdir())
    output = ["-o", "m.json"] if command.startswith("fit") else []
    result = run(*command.split(), *output, code=code)
    # A variable that is asked for must not be observed: the message names both.
    assert option in result.stderr
    assert result.stdout == ""
    assert set(folder.iterdir()) == before


# ------------------------------------------------------------------- the wording

FOREIGN = re.compile(r"Value error|Input should|Invalid value|unable to parse|[\[{(]'|'--|\.\.\.\.")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit -o m.json", "Error: DATA is missing."),
        ("fit data.csv --learn hc", "Error: --output is missing."),
        ("fit data.csv --learn", "--learn needs a value."),
        ("fit data.csv arcs.csv -o m.json", "Error: Expected no further argument, got arcs.csv."),
        (
            "fit data.csv --bin 3 -o m.json",
            "Error: --bin is not an option of colonnade fit. Hint: did you mean --bins?",
        ),
        (
            "compare data.csv --output m.json",
            "--output is not an option of colonnade compare. See",
        ),
        (
            "fit data.csv --learn Tan -o m.json",
            "Error: Expected hc, ges, exact, pc, tan, chow-liu, kdb, naive or forest for --learn, "
            "got 'Tan'. Hint: did you mean 'tan'?",
        ),
        (
            "fit data.csv --learn tan --target Cancer -o m.json",
            "for --target, got 'Cancer'. Hint: did you mean 'cancer'?",
        ),
        (
            "fit data.csv --dag arcs.csv --prior bdue:1 -o m.json",
            "bdeu, bdeu:10, symmetric, symmetric:2, ml, ml:uniform for --prior, got 'bdue:1'. "
            "Hint: did you mean bdeu:1?",
        ),
        (
            "fit data.csv --dag arcs.csv --prior hierarchical:-2 -o m.json",
            "Error: Expected a number from 1e-100 to 1e+12 for the strength in --prior, got -2.",
        ),
        (
            "fit data.csv --dag arcs.csv --prior hierarchical:lern -o m.json",
            "got 'hierarchical:lern'. Hint: did you mean hierarchical:learn?",
        ),
        ("fit data.csv --dag arcs.csv --prior bdeu: -o m.json", "Hint: did you mean bdeu?"),
        (
            "fit data.csv --learn hc --score bdue:2 -o m.json",
            "for --score, got 'bdue:2'. Hint: did you mean bdeu:2?",
        ),
        (
            "fit words.csv --learn hc --ignore a --ignore b -o m.json",
            "Error: Expected at least one column for DATA, got none.",
        ),
        ("fit data.csv --dag self.csv -o m.json", "for --dag, got smoker -> smoker."),
        ("fit data.csv --dag twice.csv -o m.json", "for --dag, got smoker -> cancer twice."),
        (
            "fit data.csv --learn chow-liu --bins 3 --weights smoker -o m.json",
            "Column 'smoker': 'no' in row",
        ),
        ("show model.json Cancer", "for VARIABLE, got 'Cancer'. Hint: did you mean 'cancer'?"),
        ("show model.json --limit x", "Expected an integer of at least 1 for --limit, got 'x'."),
        ("query model.json cancer smoker=yes", "Hint: write --observed smoker=yes."),
        ("query model.json cancer|smoker=yes", "Hint: write --observed VARIABLE=STATE."),
        ("query model.json cancer --obse smoker=yes", "Hint: did you mean --observed?"),
        ("query model.json cancer,smoker", "Hint: separate variables by blanks."),
        ("query model.json cancer --observed =yes", "Expected VARIABLE=STATE for --observed"),
        ("query model.json smoker --observed cancer=1", "state '1' is not one of False, True."),
        (
            "query model.json smoker --observed Cancer=true",
            "which has 'smoker', 'cancer', 'group'. Hint: did you mean 'cancer'?",
        ),
        ("compare one.csv --learn hc", "Table: one row cannot be divided into folds."),
        (
            "compare data.csv --learn hc --prior bdeu --prior bdeu:1",
            "Expected different priors for --prior, got 'bdeu:1' twice.",
        ),
        ("reproduce", "Error: STUDY is missing."),
        ("reproduce mse --out data.csv", "Expected a folder for --out, got the file 'data.csv'."),
        ("nonsense", "Error: 'nonsense' is not a command."),
    ],
)
def test_messages_are_our_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    for name, text in {
        "self.csv": "smoker,smoker\n",
        "twice.csv": "smoker,cancer\nsmoker,cancer\n",
        "one.csv": "a,b\nx,y\n",
    }.items():
        Path(name).write_text(text)
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code in (1, 2)
    assert message in flat(result.stderr)
    assert not FOREIGN.search(result.stderr), result.stderr


def test_without_arguments_there_is_help() -> None:
    result = CliRunner().invoke(app, [])
    assert "Commands" in result.output
    assert "Error" not in result.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_output_is_named(folder: Path) -> None:
    command = [sys.executable, "-m", "colonnade", "show", str(folder / "model.json"), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "Error: Output: No space left on device.\n"


def test_a_wrong_target_is_an_error_before_anything_is_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    # Without --bins the column `dose` could not be used either.
    for options in (["--bins", "3"], []):
        common = "--learn", "tan", "--target", "nope", "--missing", "em", "-o", "m.json"
        result = run("fit", "holes.csv", *common, *options, code=1)
        assert result.stdout == ""
        assert "for --target, got 'nope'" in result.stderr


# ------------------------------------------------------------------ what is shown


def test_counts_of_one_table_are_written_alike(tmp_path: Path) -> None:
    # The weights add up to one only up to rounding, and those of one state to a whole number.
    weights = [0.2, 0.7, 0.1, 2.0, 0.5]
    table = {"a": ["x", "x", "x", "y", "y"], "b": ["u", "u", "u", "u", "v"], "w": weights}
    assert sum(weights[:3]) != 1.0
    network = cn.fit(table, cn.Dag([("a", "b")]), weights="w")
    network.save(tmp_path / "m.json")
    whole = {"a": ["x"] * 3, "w": weights[:3]}
    cn.fit(whole, cn.Dag([], ["a"]), weights="w").save(tmp_path / "whole.json")
    assert run("show", tmp_path / "whole.json").stdout.splitlines()[-1].split()[-1] == "1"
    lines = run("show", tmp_path / "m.json", "b").stdout.splitlines()[2:]
    counts = [re.search(r" (\S+) +\d\.\d{4} +\d\.\d{4} -", line) for line in lines]
    assert [found[1] for found in counts if found] == ["1.00", "0.00", "2.00", "0.50"]


def test_every_table_says_alike_that_there_is_more(tmp_path: Path) -> None:
    names = [f"v{k}" for k in range(45)]
    rows = {name: ["x", "y"] for name in names}
    network = cn.fit(rows, cn.Dag([], names))
    model = tmp_path / "m.json"
    network.save(model)
    common = "--limit shows more, --json all"
    assert f"... 5 more variables; {common}\n" in run("show", model).stdout
    assert f"... 1 more variable; {common}\n" in run("show", model, "--limit", 44).stdout
    (tmp_path / "arcs.csv").write_text("\n".join(names))
    (tmp_path / "data.csv").write_text("\n".join([",".join(names), *(",".join(["x"] * 45),) * 2]))
    fit = "fit", tmp_path / "data.csv", "--dag", tmp_path / "arcs.csv", "-o", tmp_path / "n.json"
    text = run(*fit).stdout
    command = f"colonnade show {tmp_path / 'n.json'} --limit 45"
    assert f"... 5 more variables; {command} shows all\n" in text
    assert "more" not in run(*command.split()[1:]).stdout
    text = run("query", model, *names[:9]).stdout
    assert "... 112 more answers; --json shows all\n" in text


SINGLE = [
    (name, option)
    for name, command in get_command(app).commands.items()
    for option in command.params
    if option.param_type_name == "option"
    and not option.multiple
    and (not option.is_flag or option.secondary_opts)
]


@pytest.mark.parametrize(
    ("command", "option"), SINGLE, ids=[f"{name} {option.name}" for name, option in SINGLE]
)
def test_an_option_with_one_value_is_refused_twice(command, option) -> None:
    given = [option.opts[0], "1"] * 2
    if option.is_flag:
        given = [option.opts[0], option.secondary_opts[0]]
    result = CliRunner().invoke(app, [command, *given])
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: Expected ")
    assert f"{option.opts[0]} " in result.stderr
    assert "once, got it twice.\n" in result.stderr
    assert f"See colonnade {command} --help." in result.stderr


def test_flags_and_lists_may_be_given_twice(folder: Path) -> None:
    columns = ["--ignore", "dose", "--ignore", "n"]
    run("inspect", folder / "data.csv", *columns, "--json", "--json")
