"""Data sets that are made up, for the examples of the documentation: the same rows every time."""

from __future__ import annotations

from typing import Any

import numpy as np


def patients() -> dict[str, list[Any]]:
    """Return three hundred patients: who smokes, their age, a marker, and who has cancer."""
    rng = np.random.default_rng(1)
    smoker = rng.choice(["no", "yes"], 300, p=[0.7, 0.3])
    age = rng.choice(["young", "middle", "old"], 300)
    cancer = rng.random(300) < 0.05 + 0.25 * (smoker == "yes") + 0.15 * (age == "old")
    marker = rng.normal(size=300) + cancer
    return {
        "smoker": smoker.tolist(),
        "age": age.tolist(),
        "marker": [round(value, 2) for value in marker.tolist()],
        "cancer": cancer.tolist(),
    }


def clinics() -> dict[str, list[Any]]:
    """Return patients of three sites of different sizes, with gaps and an identifier."""
    rng = np.random.default_rng(2)
    rows = 400
    site = rng.choice(["oslo", "bergen", "moss"], rows, p=[0.6, 0.3, 0.1])
    smoker = rng.random(rows) < np.where(site == "oslo", 0.2, 0.35)
    age = rng.integers(20, 90, rows)
    bmi = rng.normal(25.0 + 2.0 * (site == "moss"), 4.0)
    stage = 1 + rng.binomial(2, 0.2 + 0.3 * (bmi > 27))
    ill = rng.random(rows) < 0.05 + 0.25 * smoker + 0.004 * (age - 20) + 0.08 * (stage - 1)
    unknown = rng.random(rows) < 0.05
    return {
        "id": [f"P{k:03d}" for k in range(rows)],
        "site": site.tolist(),
        "age": age.tolist(),
        "bmi": [None if gap else round(x, 1) for x, gap in zip(bmi.tolist(), unknown, strict=True)],
        "stage": stage.tolist(),
        "smoker": np.where(smoker, "yes", "no").tolist(),
        "ill": np.where(ill, "yes", "no").tolist(),
    }


def survey() -> dict[str, list[Any]]:
    """Return columns as people have them: identifiers, dates, decimal commas, codes, spellings."""
    rng = np.random.default_rng(8)
    names = ("id", "interviewed", "age", "bmi", "smoker", "region", "wave", "ill")
    rows = []
    for k in range(150):
        bmi = "NA" if k % 19 == 4 else f"{rng.normal(26, 4):.1f}".replace(".", ",")
        day, age = f"{1 + k % 28:02d}.{1 + k % 12:02d}.2024", int(rng.integers(20, 85))
        smoker = ("no", "no", "yes", "No")[k % 4 if k % 24 == 3 else k % 3]
        ill = "yes" if rng.random() < (0.6 if smoker == "yes" else 0.1) else "no"
        rows.append((f"P{k:03d}", day, age, bmi, smoker, "NS"[k % 2], 1, ill))
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
