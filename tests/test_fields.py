"""Splitting text into fields gives what the standard library reads, or says that it cannot tell."""

import csv
import io
import random
import re
from pathlib import Path

import numpy as np
import pytest

import colonnade as cn
from colonnade.kernels.fields import PADDING, SPLITS, join_texts, split_fields, what_is_in
from colonnade.tables.bounds import Memory
from colonnade.tables.opened_text import CannotTellError, Dialect, OpenedText
from colonnade.tables.opening import TextFile
from colonnade.tables.scanning import Scanned
from colonnade.tables.text_files import TextFiles

pytestmark = pytest.mark.skipif(not SPLITS, reason="numbers have another order of bytes here")


def split(text: bytes, columns: int, separator: str = ",") -> list[list[str]] | None:
    data = np.frombuffer(text + b"\xff" * PADDING, np.uint8)
    begins, ends = np.full((2, columns, text.count(b"\n")), -1, np.int32)
    kinds = what_is_in(data, len(text))
    places = np.arange(columns)
    sign = np.uint8(ord(separator))
    rows = split_fields(data, len(text), sign, places, bool(kinds & 1), begins, ends)
    if rows < 0:
        return None
    return [
        [text[begins[c, row] : ends[c, row]].decode() for c in range(columns)]
        for row in range(rows)
    ]


def by_the_library(text: bytes, columns: int) -> list[list[str]] | None:
    """What `read` makes of lines; None if it refuses them."""
    try:
        lines = csv.reader(io.StringIO(text.decode(), newline=""), strict=True)
        rows = [row for row in lines if row]
    except csv.Error:
        return None
    return rows if all(len(row) == columns for row in rows) else None


@pytest.mark.parametrize(
    "alphabet", ["ab,\n", 'ab,\n"', "ab,\r\n", 'a",\r\né', "a,\n\0", "abcdef,\n"]
)
def test_what_is_split_is_what_the_library_reads(alphabet: str) -> None:
    draw = random.Random(alphabet)
    agreed = 0
    for _ in range(4000):
        columns = draw.randint(1, 3)
        fields = ["".join(draw.choices(alphabet, k=draw.randint(0, 12))) for _ in range(6)]
        if draw.random() < 0.7:  # mostly as files are
            fields = [re.sub(r'[",\r\n\0]', "", each) for each in fields]
            if '"' in alphabet:
                fields = [f'"{each}"' if draw.random() < 0.5 else each for each in fields]
            if draw.random() < 0.4:  # and one sign where it does not belong
                k, sign = draw.randrange(6), draw.choice(alphabet)
                at = draw.randint(0, len(fields[k]))
                fields[k] = fields[k][:at] + sign + fields[k][at:]
        ending = "\r\n" if "\r" in alphabet and draw.random() < 0.7 else "\n"
        lines = [",".join(fields[k : k + columns]) for k in range(0, 6, columns)]
        text = (ending.join(lines) + ending).encode()
        found = split(text, columns)
        if found is not None and columns > 1:  # of one column, an empty line may be a value
            assert found == by_the_library(text, columns), text
            assert "\0" not in text.decode()
            agreed += bool(found)
    assert agreed > 100


def test_long_fields_and_places_that_are_not_wanted() -> None:
    words = ["", "a", "seven77", "eight888", "nine99999", "x" * 100]
    lines = [[words[(k + c) % 6] for c in range(5)] for k in range(30)]
    text = "\n".join("|".join(line) for line in lines).encode() + b"\n"
    assert split(text, 5, "|") == lines
    data = np.frombuffer(text + bytes(PADDING), np.uint8)
    begins, ends = np.empty((2, 2, 30), np.int32)
    places = np.array([-1, 1, -1, -1, 0])
    assert split_fields(data, len(text), np.uint8(ord("|")), places, False, begins, ends) == 30
    for place, column in ((1, 1), (0, 4)):
        offsets, joined = np.empty(31, np.int32), np.empty(len(text), np.uint8)
        join_texts(begins[place], ends[place], data, offsets, joined)
        found = [joined[offsets[k] : offsets[k + 1]].tobytes().decode() for k in range(30)]
        assert found == [line[column] for line in lines]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("end", ["", "\n"])
def test_blocks_are_whole_lines(size: int, end: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = ["title", "a,b", "1,2", "", "333333333,4", "5,6"]
    path.write_text("\ufeff" + "\n".join(lines) + end)
    blocks = list(TextFile(str(path)).whole_lines(2, size))
    assert b"".join(blocks).decode() == "\n".join(lines[2:]) + "\n"
    assert all(block.endswith(b"\n") for block in blocks)


def of_file(path: Path, bytes_at_once: int = 1 << 16) -> Scanned:
    memory = Memory()
    return Scanned((path,), TextFiles((path,), Dialect(), bytes_at_once), memory)


PLAIN = {
    "plain": "a,b\n" + "x,1\ny,2\n" * 300,
    "quoted": '"a","b"\n' + '"x, x",1\n"y",2\n' * 300,
    "returns": "a,b\r\n" + "x,1\r\n\r\ny,2\r\n" * 300,
    "letters": "a,b\n" + "é,1\nü,2\n" * 300,
    "no end": "a,b\n" + "x,1\ny,2\n" * 300 + "x,2",
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text_needs_no_package(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(PLAIN[name].encode())
    expected = cn.encode(cn.read(path))

    def unneeded(*_: object) -> None:
        raise AssertionError("it was split already")

    monkeypatch.setattr(OpenedText, "_parsed", unneeded)
    monkeypatch.setattr(OpenedText, "_slow", unneeded)
    found = cn.encode(of_file(path, 100))
    assert found.variables == expected.variables
    assert [c.tolist() for c in found.codes] == [c.tolist() for c in expected.codes]


@pytest.mark.parametrize("odd", ['"x\nx",1\n', '"x ""y""",1\n', ' "x",1\n'])
def test_what_cannot_be_split_is_read_from_there_on(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = '"x",1\ny,2\n' * 50 + odd + "z,3\n" * 80 + '"x ""y""",4\n' + "x,2\n" * 30
    path.write_bytes(b"a,b\n" + lines.encode())
    opened = OpenedText.of(path, Dialect())
    with pytest.raises(CannotTellError):
        list(opened._split([0, 1], 100, 0))
    expected, found = cn.encode(cn.read(path)), cn.encode(of_file(path, 400))
    assert found.variables == expected.variables
    assert [c.tolist() for c in found.codes] == [c.tolist() for c in expected.codes]
