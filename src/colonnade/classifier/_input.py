"""What scikit-learn's users hand over: checked by its conventions, made named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from colonnade.exceptions import DataError, expected, listing
from colonnade.variables import State

__all__ = ["Labelled", "checked_classes", "class_states", "labelled_rows", "named_columns"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labelled:
    """Rows of features with their classes, and how often each counts.

    Parameters
    ----------
    columns : dict of str to column
    labels : array [row]
    weights : array of int64 or float64 [row] or None
        All positive; whole numbers are integers.
    """

    columns: dict[str, Any]
    labels: NDArray[Any]
    weights: NDArray[Any] | None


def labelled_rows(
    estimator: BaseEstimator, table: Any, y: Any, sample_weight: Any, reset: bool
) -> Labelled:
    """Check training rows. Those of weight zero are left out: they are as good as not there.

    Parameters
    ----------
    estimator : BayesianNetworkClassifier
        Learns, or compares, the names and the number of features.
    table, y, sample_weight
        As the user gave them.
    reset : bool
        Whether the features are new.
    """
    table = _checked(estimator, table, y, reset)
    labels = column_or_1d(y, warn=True)
    labels = check_array(labels, ensure_2d=False, dtype=None, input_name="y")
    check_consistent_length(table, labels)
    check_classification_targets(labels)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, table, dtype=np.float64)
        there = weights > 0.0
        if (weights < 0.0).any() or not there.any():
            got = f"{weights.min().item()}" if (weights < 0.0).any() else "only zeros"
            what = "weights of 0 or more, some of them positive,"
            raise expected(what, "sample_weight", sample_weight, got=got)
        if not there.all():
            rows = np.flatnonzero(there)
            table, labels, weights = _safe_indexing(table, rows), labels[rows], weights[rows]
        if (weights == np.floor(weights)).all() and weights.sum() < 2**53:
            # The same counts as of rows that are repeated.
            weights = weights.astype(np.int64)
    return Labelled(_named(estimator, table), labels, weights)


def named_columns(estimator: BaseEstimator, table: Any) -> dict[str, Any]:
    """Check rows to be classified."""
    return _named(estimator, _checked(estimator, table, "no_validation", reset=False))


def checked_classes(classes: Any) -> NDArray[Any]:
    """Return declared classes, sorted.

    Examples
    --------
    >>> checked_classes(["yes", "no"])
    array(['no', 'yes'], dtype='<U3')
    """
    given = column_or_1d(classes)
    found: NDArray[Any] = np.unique(given)
    if len(found) < len(given) or not len(found):
        raise expected("different labels", "classes", classes)
    return found


def class_states(classes: NDArray[Any]) -> tuple[State, ...]:
    """Return the labels of classes as states of a variable.

    Examples
    --------
    >>> class_states(np.array([0.0, 1.0])), class_states(np.array(["a", "b"]))
    ((0, 1), ('a', 'b'))
    """
    labels = classes.tolist()
    # scikit-learn takes whole floating-point numbers for classes, and no others.
    return tuple(int(label) if isinstance(label, float) else label for label in labels)


def _checked(estimator: BaseEstimator, table: Any, y: Any, reset: bool) -> Any:
    if not _is_frame(table):
        return _checked_array(estimator, table, y, reset)
    _refuse_repeated(_labels(table))
    validate_data(estimator, table, y, reset=reset, skip_check_array=True)
    rows, columns = table.shape
    if not rows or not columns:
        got = f"{rows} rows and {columns} columns"
        raise expected("at least one row and one column", "X", table, got=got)
    return table


def _checked_array(estimator: BaseEstimator, table: Any, y: Any, reset: bool) -> NDArray[Any]:
    checks: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan"}
    if isinstance(table, list | tuple):
        array = np.asarray(table)
        if array.dtype.kind in "SU":
            # Numbers beside strings must not become strings.
            table = np.array(table, dtype=object)
    array = validate_data(
        estimator, table, "no_validation" if y is not None else y, reset=reset, **checks
    )
    return np.asarray(array)


def _is_frame(table: Any) -> bool:
    """Whether it is a data frame of whatever package."""
    return hasattr(table, "shape") and (hasattr(table, "columns") or hasattr(table, "column_names"))


def _named(estimator: Any, table: Any) -> dict[str, Any]:
    """Give every column a name: its own if all are strings, else x0, x1, ..."""
    known = getattr(estimator, "feature_names_in_", None)
    count = estimator.n_features_in_
    names = [f"x{k}" for k in range(count)] if known is None else [str(name) for name in known]
    if estimator.target_name in names:
        hint = "give the class another name with `target_name`"
        raise expected("a name that no feature has", "target_name", estimator.target_name, hint)
    if not _is_frame(table):
        table = np.asfortranarray(table)  # every column is gone through several times
        return {name: table[:, k] for k, name in enumerate(names)}
    return {name: table[label] for name, label in zip(names, _labels(table), strict=True)}


def _labels(table: Any) -> list[Any]:
    """What a data frame calls its columns."""
    return list(getattr(table, "column_names", None) or table.columns)


def _refuse_repeated(labels: Sequence[Any]) -> None:
    repeated = [label for label in dict.fromkeys(labels) if labels.count(label) > 1]
    if repeated:
        raise DataError(
            f"Columns {listing(repeated)}", "these names occur more than once.", "rename columns"
        )
