"""The examples in the help of all commands: each line is run, in one folder, and does its work."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.main import get_command

from colonnade.cli import app
from command_line import plain_terminal, run

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
# Whoever writes a file comes before those who read it.
FIRST = ("datasets", "inspect", "structure", "fit", "count", "merge")
# These serve until somebody stops them, or take minutes; tests of their own run them.
ONLY_PARSED = ("explore", "reproduce", "demo", "warm")


def examples(name: str) -> list[str]:
    """The lines after the word Example or Examples in the help of a command."""
    _, _, text = COMMANDS[name].callback.__doc__.partition("Example")
    text = re.sub(r"^(s\n *-+|:)", "", text)
    return [" ".join(line.split()) for line in re.split(r"\n\s*\n", text) if line.strip()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data of the documentation, and parts of them by the names that examples use."""
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for name in ("clinics", "survey", "wine"):
        run("datasets", name, "-o", f"{name}.csv")
    return tmp_path


def parts(folder: Path) -> None:
    patients = pd.read_csv(folder / "patients.csv")
    for name, rows in (("june", patients[:100]), ("withdrawn", patients[:20])):
        rows.to_csv(folder / f"{name}.csv", index=False)
    for name, rows in (("north", patients[:150]), ("south", patients[150:])):
        (folder / name).mkdir()
        rows.to_parquet(folder / name / "rows.parquet")


def test_the_examples_of_the_help_run(folder: Path) -> None:
    done: set[str] = set()
    for name in sorted(COMMANDS, key=lambda name: (*FIRST, name).index(name)):
        lines = examples(name)
        assert any(f"colonnade {name}" in line for line in lines), name
        for line in lines:
            if line in done:
                continue
            done.add(line)
            before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
            if "|" in line:
                program = f'colonnade() {{ {shlex.quote(sys.executable)} -m colonnade "$@"; }}; '
                bash = shutil.which("bash")
                assert bash is not None
                subprocess.run([bash, "-c", f"set -e; {program}{line}"], check=True)
                continue
            _, command, *words = shlex.split(line)
            if command in ONLY_PARSED:
                COMMANDS[command].make_context(command, words)
                continue
            run(command, *words)
            if "-o" in words:
                written = Path(words[words.index("-o") + 1])
                changed = written.stat().st_mtime_ns != before.get(folder / written)
                assert changed, line
        if name == "datasets":
            parts(folder)
