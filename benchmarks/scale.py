"""Tables larger than memory: files of up to 10^8 rows, against bare readers of the same files.

Every figure is of a process of its own, which compiles and loads on a small file first: wall time,
processor time and the largest memory. Data are drawn into a temporary folder and removed.

``python -m benchmarks scale`` goes up to 10^8 rows, which need 3 GB in the folder for temporary
files (TMPDIR names another one); SCALE_ROWS=1e7 stops earlier. It draws docs/images/scale.svg.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import print_table, shown

VARIABLES = 20
STATES = [2 + k % 5 for k in range(VARIABLES)]
NAMES = [f"x{k}" for k in range(VARIABLES)]
ARCS = [
    *((f"x{k}", f"x{k + 1}") for k in range(VARIABLES - 1)),
    *((f"x{k}", f"x{k + 2}") for k in range(0, VARIABLES - 2, 2)),
]
GROUP_ROWS, DRAWN_GROUPS = 1 << 20, 8
SIZES = [10**5, 10**6, 10**7, 10**8]
CSV_ROWS = 2_000_000
# What is measured at every size, and how it is called in the figure.
GROWING = {
    "scan": "PyArrow's bare scan",
    "fit": "fit",
    "hill_climb": "hill_climb",
    "predict": "colonnade predict",
}


def run() -> None:
    """Draw the data, measure everything, print it and draw the growth."""
    largest = int(float(os.environ.get("SCALE_ROWS", SIZES[-1])))
    sizes = [rows for rows in SIZES if rows <= largest]
    with tempfile.TemporaryDirectory(prefix="colonnade-scale-") as name:
        folder = Path(name)
        small = draw(folder / "small.parquet", 10**5)
        growth = {}
        for rows in sizes:
            path = draw(folder / f"{rows}.parquet", rows)
            whats = [*GROWING, *(["log_likelihood"] if rows == 10**7 else [])]
            whats += ["encode"] if rows == sizes[-1] else []
            growth[rows] = {what: measured(what, path, small) for what in whats}
            _print_parquet(rows, path, growth[rows])
            if rows < sizes[-1]:
                path.unlink()
        text = folder / "table.csv"
        rows = min(CSV_ROWS, sizes[-1])
        as_text(folder / f"{sizes[-1]}.parquet", text, rows)
        _print_csv(rows, text, as_text(small, folder / "small.csv", 10**5))
    draw_growth(growth)


# ---------------------------------------------------------------------------- data


def draw(path: Path, rows: int, seed: int = 0) -> Path:
    """Write rows of a chain of variables as a Parquet file of texts.

    Eight million rows are drawn, and written again where there are to be more.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    kind = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema([(name, kind) for name in NAMES])
    drawn: list[Any] = []
    # Without the schema of Arrow the file says that they are texts, and not that they are codes.
    with pq.ParquetWriter(path, schema, store_schema=False) as writer:
        for low in range(0, rows, GROUP_ROWS):
            group = low // GROUP_ROWS
            if group < DRAWN_GROUPS:
                drawn.append(_group(rng, schema))
            table = drawn[group % DRAWN_GROUPS].slice(0, min(GROUP_ROWS, rows - low))
            writer.write_table(table, row_group_size=GROUP_ROWS)
    return path


def _group(rng: np.random.Generator, schema: Any) -> Any:
    """Draw the rows of one group."""
    import pyarrow as pa

    columns, before = [], np.zeros(GROUP_ROWS, np.uint8)
    for states in STATES:
        fresh = rng.integers(0, states, GROUP_ROWS, dtype=np.uint8)
        kept = rng.integers(0, 256, GROUP_ROWS, dtype=np.uint8) < 150
        before = np.where(kept, before % states, fresh)
        labels = pa.array([f"state {k}" for k in range(states)])
        codes = pa.array(before.astype(np.int8))
        columns.append(pa.DictionaryArray.from_arrays(codes, labels))
    return pa.table(columns, schema=schema)


def as_text(parquet: Path, path: Path, rows: int) -> Path:
    """Write the first rows of a file as CSV."""
    import pyarrow.csv
    import pyarrow.parquet as pq

    plain = pyarrow.csv.WriteOptions(quoting_style="none")
    left, source = rows, pq.ParquetFile(parquet)
    with pyarrow.csv.CSVWriter(path, source.schema_arrow, write_options=plain) as writer:
        for batch in source.iter_batches():
            writer.write(batch.slice(0, left))
            left -= min(left, batch.num_rows)
            if not left:
                break
    return path


# -------------------------------------------------------------------------- peers


def scan_parquet(path: str) -> None:
    """PyArrow's own scan, with texts as dictionaries."""
    import pyarrow.parquet as pq

    for _ in pq.ParquetFile(path, read_dictionary=NAMES).iter_batches(batch_size=1 << 19):
        pass


def parse_pyarrow(path: str) -> None:
    """All columns as texts, in blocks of the size that takes it the least time."""
    import pyarrow as pa
    import pyarrow.csv as reader

    types = reader.ConvertOptions(column_types={name: pa.string() for name in NAMES})
    for _ in reader.open_csv(path, reader.ReadOptions(block_size=1 << 20), None, types):
        pass


def parse_polars(path: str) -> None:
    """All columns as texts, into memory."""
    import polars as pl

    pl.read_csv(path, infer_schema=False)


def parse_duckdb(path: str) -> None:
    """All columns as texts: the largest of each, so that all are parsed."""
    import duckdb

    largest = ", ".join(f"max({name})" for name in NAMES)
    duckdb.sql(f"select {largest} from read_csv('{path}', all_varchar=true)").fetchall()


# ------------------------------------------------------------------- one measurement


def _jobs() -> dict[str, Callable[[str], Any]]:
    import colonnade as cn

    dag = cn.Dag(ARCS)
    return {
        "scan": scan_parquet,
        "fit": lambda path: cn.fit(path, dag),
        "log_likelihood": lambda path: cn.fit(path, dag).log_likelihood(path),
        "encode": cn.encode,
        "hill_climb": cn.hill_climb,
        "predict": predict,
        "pyarrow": parse_pyarrow,
        "polars": parse_polars,
        "duckdb": parse_duckdb,
    }


def predict(path: str) -> None:
    """The command line's own: the last variable of every row, from a file into a file."""
    import colonnade as cn
    from colonnade.cli import app

    # Made of the small file, which every process begins with.
    model = Path(path).with_name("model.json")
    output = Path(f"{path}.predicted.parquet")
    if not model.exists():
        cn.fit(path, cn.Dag(ARCS)).save(model)
    target = ["--target", NAMES[-1], "--draws", "0", "--memory", "1GB", "--overwrite"]
    try:
        app(["predict", str(model), path, *target, "-o", str(output)], standalone_mode=False)
    finally:
        output.unlink(missing_ok=True)


def measured(what: str, path: Path, small: Path, repeats: int = 1) -> dict[str, float]:
    """Measure one job in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", what, str(path), str(small), str(repeats)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return result


def _measure(what: str, path: str, small: str, repeats: int) -> None:
    job = _jobs()[what]
    job(small)
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        job(path)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"wall": min(walls), "processor": min(processors), "peak": peak}))


# ------------------------------------------------------------------------- results


def _print_parquet(rows: int, path: Path, found: dict[str, dict[str, float]]) -> None:
    size = f"{path.stat().st_size / 1e6:.0f} MB"
    title = f"{rows:,} rows x {VARIABLES} columns of Parquet, {size}; ratios to PyArrow's scan"
    _print(title, found, "scan")


def _print_csv(rows: int, path: Path, small: Path) -> None:
    found = {
        what: measured(what, path, small, repeats=3)
        for what in ("pyarrow", "polars", "duckdb", "fit")
    }
    fastest = min(("pyarrow", "polars", "duckdb"), key=lambda what: found[what]["processor"])
    size = f"{path.stat().st_size / 1e6:.0f} MB"
    title = f"{rows:,} rows of CSV, {size}; ratios to the fastest bare parse, by {fastest}"
    _print(title, found, fastest)


def _print(title: str, found: dict[str, dict[str, float]], peer: str) -> None:
    base = found[peer]
    print_table(
        title,
        ["", "wall", "ratio", "processor", "ratio", "largest memory"],
        [
            [
                what,
                shown(each["wall"]),
                f"{each['wall'] / base['wall']:.2f}",
                shown(each["processor"]),
                f"{each['processor'] / base['processor']:.2f}",
                f"{each['peak'] / 1e6:.0f} MB",
            ]
            for what, each in found.items()
        ],
    )


def draw_growth(growth: dict[int, dict[str, dict[str, float]]]) -> None:
    """Draw processor time and memory by rows into the documentation."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "scale"  # the same figure for the same numbers
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    rows = list(growth)
    for what, label in GROWING.items():
        left.loglog(rows, [growth[n][what]["processor"] for n in rows], "o-", label=label)
        right.semilogx(rows, [growth[n][what]["peak"] / 1e9 for n in rows], "o-", label=label)
    left.set(xlabel="rows of 20 columns", ylabel="processor time, s")
    right.set(xlabel="rows of 20 columns", ylabel="largest memory, GB", ylim=(0, None))
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    path = Path(__file__).parents[1] / "docs" / "images" / "scale.svg"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"Drew {path.relative_to(path.parents[2])}")


if __name__ == "__main__":
    _measure(*sys.argv[1:4], repeats=int(sys.argv[4]))
