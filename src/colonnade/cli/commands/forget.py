"""`colonnade forget`: rows that a network learned from are taken back."""

from __future__ import annotations

from colonnade.cli import options
from colonnade.cli.data import FileOptions, Missing
from colonnade.cli.learned import Gaps, Output, Weights, learn_rows


def forget(
    model: options.Model,
    data: FileOptions,
    output: Output,
    weights: Weights = None,
    missing: Gaps = Missing.AVAILABLE,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Take rows back that a network has learned from, as if it had never seen them.

    Example: colonnade forget model.json withdrawn.csv -o model.json --overwrite
    """
    learn_rows("forget", (model, output), data, weights, missing, overwrite, json)
