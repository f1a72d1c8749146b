"""Commands that pages show without what they print: each page's, run in order in a new folder."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from command_line import plain_terminal, run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# These serve until somebody stops them, or take hours; what installs is not run either.
NOT_HERE = ("colonnade explore", "colonnade reproduce")
RUN = ("colonnade ", "mkdir ", "printf ")


def commands(page: Path) -> list[str]:
    """The lines of the blocks of shell commands of a page."""
    blocks = re.findall(r"^ *```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.M | re.S)
    lines = [line.split("    #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith(RUN) and not line.startswith(NOT_HERE)]


# The one line of the page about the command line needs jq; its sessions have a test of their own.
WITH_COMMANDS = [
    page
    for page in PAGES
    if page.stem != "command-line" and any(c.startswith("colonnade ") for c in commands(page))
]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_documented_commands_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        if line.startswith("colonnade "):
            run(*shlex.split(line)[1:])
        else:
            subprocess.run(["bash", "-c", line], check=True)


def test_pages_are_found() -> None:
    assert {"README", "report", "groups", "big-data", "scale"} <= {p.stem for p in WITH_COMMANDS}
