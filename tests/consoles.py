"""Pages with commands and what they print: run again, and written anew."""

from __future__ import annotations

import re
import shlex
import subprocess

from typer.testing import CliRunner

from colonnade.cli import app


def printed(command: str) -> str:
    """What a command prints, both streams one after the other.

    Those of the package run in this process, perhaps up to the first or last lines; all others are
    left to the shell.
    """
    if not command.startswith("colonnade "):
        shell = ["bash", "-o", "pipefail", "-c", command]
        found = subprocess.run(shell, capture_output=True, text=True, check=True)
        return found.stdout + found.stderr
    command, _, cut = command.partition(" | ")
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    lines = result.stdout.splitlines(keepends=True)
    if cut:
        program, number = cut.split(" -n ")
        lines = lines[: int(number)] if program == "head" else lines[-int(number) :]
    return "".join(lines) + result.stderr


def performed(page: str) -> str:
    """The page with what its commands print now."""

    def block(found: re.Match[str]) -> str:
        indent, lines = found[1], ["```console"]
        # A command whose line ends in a backslash goes on in the next one.
        for each in re.finditer(r"^ *(\$ (?:.*\\\n)*.*)\n", found[2], re.MULTILINE):
            command = [line.removeprefix(indent) for line in each[1].splitlines()]
            joined = " ".join(line.rstrip("\\").strip() for line in command)
            output = printed(joined.removeprefix("$ ")).splitlines()
            lines += [*command, *map(str.rstrip, output)]
        return "\n".join((indent + line).rstrip() for line in [*lines, "```"])

    return re.sub(r"^( *)```console\n(.*?)```", block, page, flags=re.DOTALL | re.MULTILINE)


def shorter(page: str) -> str:
    """The page without the last digits of long numbers, which differ between machines."""
    return re.sub(r"\d\.\d{13,}", lambda found: f"{float(found[0]):.10f}", page)
