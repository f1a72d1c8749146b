"""`colonnade update`: a network learns from more rows."""

from __future__ import annotations

from colonnade.cli import options
from colonnade.cli.data import FileOptions, Missing
from colonnade.cli.learned import Gaps, Output, Weights, learn_rows


def update(
    model: options.Model,
    data: FileOptions,
    output: Output,
    weights: Weights = None,
    missing: Gaps = Missing.AVAILABLE,
    overwrite: options.Overwrite = False,
    json: options.AsJson = False,
) -> None:
    """Let a network learn from more rows, as if it had been fitted to all of them.

    The states, cut points and priors are those of the network.

    Example: colonnade update model.json june.csv -o model.json --overwrite
    """
    learn_rows("update", (model, output), data, weights, missing, overwrite, json)
