"""Where the classifier meets its caller: rows checked as scikit-learn does; what it warns of."""

from __future__ import annotations

import datetime as dt
import numbers
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
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

from colonnade.exceptions import (
    Advice,
    ColonnadeWarning,
    DataError,
    DataWarning,
    TooLargeError,
    checked_list,
    counted,
    did_you_mean,
    expected,
    is_word,
    listing,
    row_at,
    warn,
)
from colonnade.priors import Prior
from colonnade.tables.asked import declared_variables
from colonnade.tables.coded import checked_weights
from colonnade.tables.coding import Coded, meant_states
from colonnade.tables.countable import scanned_of
from colonnade.tables.levels import place, refuse_repeated
from colonnade.tables.sources import Source, source_of

# Rows that count less than this on average are worth a warning.
_MIN_AVERAGE_WEIGHT = 0.1
# A sparse matrix is made dense, column by column of states: beyond this many cells it is refused.
_MAX_SPARSE_CELLS = 1 << 28
_ARRAY_OR_FRAME = "an array or a data frame"


class UnknownStateWarning(ColonnadeWarning):
    """Values that did not occur in training were treated as missing."""


class ImpossibleRowWarning(UserWarning):
    """Rows have probability zero with every class."""


class SmallWeightWarning(ColonnadeWarning):
    """Weights of rows are so small that little is learned from them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labelled:
    """Rows of features with their classes, and how often each counts.

    Weights are positive, and integers if all of them are whole. `name` is that of the class, and
    `weightless` are labels whose rows were left out because of the weight of their class.
    """

    source: Source
    labels: NDArray[Any]
    weights: NDArray[Any] | None
    name: str
    weightless: tuple[Any, ...] = ()

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(len(self.labels) if self.weights is None else self.weights.sum())


def labelled_rows(
    estimator: BaseEstimator,
    table: Any,
    y: Any,
    sample_weight: Any,
    naming: Mapping[str, Sequence[str]] | None,
) -> Labelled:
    """Check training rows, and leave out those of weight zero.

    The first ones come with parameters that name variables: then the estimator takes over the names
    and the number of features, which later ones are compared to.
    """
    reset = naming is not None
    table = _checked(estimator, table, y, reset)
    name = estimator.target_name_ if naming is None else class_name(estimator, y, naming)
    if isinstance(y, list | tuple):
        _refuse_missing(y)  # NumPy makes strings of gaps between strings
    labels = column_or_1d(y, warn=True)
    _refuse_missing(labels)
    _refuse_times(labels)
    if (own := declared_variables(estimator.variables).get(name)) is not None:
        labels = np.array([own.spellings.get(label, label) for label in labels.tolist()])
    labels = check_array(labels, ensure_2d=False, dtype=None, input_name="y")
    check_consistent_length(table, labels)
    check_classification_targets(labels)
    weights = _weights(estimator, table, labels, sample_weight, reset)
    weightless = _weightless(estimator.class_weight, labels)
    if weights is not None:
        there = weights > 0.0
        if not there.all():
            rows = np.flatnonzero(there)
            table, labels, weights = _safe_indexing(table, rows), labels[rows], weights[rows]
        weights = checked_weights(weights, len(labels), "`sample_weight`")
        if (weights == np.floor(weights)).all() and weights.sum() < 2**53:
            # The same counts as of rows that are repeated.
            weights = weights.astype(np.int64)
    return Labelled(_named(estimator, table), labels, weights, name, weightless)


def _weights(
    estimator: BaseEstimator, table: Any, labels: NDArray[Any], sample_weight: Any, reset: bool
) -> NDArray[Any] | None:
    """Weights of rows times those of their classes; None if neither is given."""
    weights: NDArray[Any] | None = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, table, dtype=np.float64)
        if (weights < 0.0).any() or not (weights > 0.0).any():
            got = f"{weights.min().item()}" if (weights < 0.0).any() else "only zeros"
            what = "weights of 0 or more, some of them positive,"
            raise expected(what, "sample_weight", sample_weight, got=got)
        _warn_of_small(weights[weights > 0.0])
    if estimator.class_weight is None:
        return weights
    given: NDArray[Any] = np.ones(len(labels)) if weights is None else weights
    weights = given * _of_classes(estimator.class_weight, labels, given, reset)
    if not (weights > 0.0).any():
        what = "a positive weight of some class in `y`"
        raise expected(what, "class_weight", estimator.class_weight, got="only zeros")
    return weights


def _warn_of_small(weights: NDArray[Any]) -> None:
    """Say that rows count for little, as with weights that add up to one."""
    total = float(weights.sum())
    if total < _MIN_AVERAGE_WEIGHT * len(weights):
        statement = (
            f"The weights add up to {total:.3g} for {counted(len(weights), 'row')}, so that little "
            "is learned: they say how often rows count."
        )
        hint = f"multiply them by {len(weights) / total:.4g} to count each row once on average"
        warn(SmallWeightWarning(statement, hint))


def _of_classes(
    class_weight: Any, labels: NDArray[Any], weights: NDArray[Any], reset: bool
) -> NDArray[Any]:
    """Weight of the class of each row. Balanced, all classes have the same total."""
    if is_word(class_weight, "balanced"):
        if not reset:
            some = np.unique(labels).tolist()[:2]
            hint = f"give a weight for each class, such as {dict(zip(some, (1, 5), strict=False))}"
            got = "'balanced', which needs the totals of all rows, while these come in parts"
            raise expected("weights of classes", "class_weight", class_weight, hint, got=got)
        places = np.unique(labels, return_inverse=True)[1]
        totals = np.bincount(places, weights)
        there = totals > 0.0
        shares = np.zeros(len(totals))
        shares[there] = weights.sum() / (there.sum() * totals[there])
        return np.asarray(shares[places])
    if isinstance(class_weight, Mapping):
        _refuse_strange(class_weight, np.unique(labels).tolist())
        return np.array([_weight_of(class_weight, label) for label in labels.tolist()])
    raise expected("'balanced' or a mapping of labels", "class_weight", class_weight)


def _refuse_strange(class_weight: Mapping[Any, Any], labels: Sequence[Any]) -> None:
    """Refuse weights of labels that do not occur, unless every label that does has a weight.

    Rows of a fold may lack a class; but a label without a weight, beside one that does not occur,
    is a slip of the pen.
    """
    strange = [label for label in class_weight if label not in labels]
    if strange and any(label not in class_weight for label in labels):
        hint = did_you_mean(strange[0], [each for each in labels if each not in class_weight])
        what = f"labels that occur in `y`, {listing(labels)},"
        raise expected(what, "class_weight", class_weight, hint, got=listing(strange))


def _weight_of(class_weight: Mapping[Any, Any], label: Any) -> float:
    """Weight of one class: 1 if it is not named."""
    weight = class_weight.get(label, 1.0)
    number = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
    if not number or not 0.0 <= weight < np.inf:
        got = f"{weight!r} for {label!r}"
        raise expected("weights of 0 or more", "class_weight", class_weight, got=got)
    return float(weight)


def _weightless(class_weight: Any, labels: NDArray[Any]) -> tuple[Any, ...]:
    """Labels that occur and whose class has no weight."""
    if not isinstance(class_weight, Mapping):
        return ()
    return tuple(each for each in np.unique(labels).tolist() if class_weight.get(each, 1) == 0)


def warn_of_weightless(rows: Labelled) -> None:
    """Say that rows without weight were all that some classes had."""
    if rows.weightless:
        one = len(rows.weightless) == 1
        what = "it is no class" if one else "they are no classes"
        place = f"`class_weight` is 0 for {listing(rows.weightless)}"
        hint = "declare all classes with `classes` to keep their columns"
        warn(DataWarning(f"{place}: these rows are left out, and {what}.", hint))


def rows_to_classify(estimator: BaseEstimator, table: Any) -> Source:
    """Check rows without classes."""
    return _named(estimator, _checked(estimator, table, "no_validation", reset=False))


def class_name(estimator: Any, labels: Any, naming: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the class in the network: as asked, or one that no feature has.

    By default what the column of labels is called, else the single variable named by the user that
    is no feature, else ``class``. `naming` are the parameters that name variables, with the names.
    """
    features, asked = feature_names(estimator), estimator.target_name
    if asked is not None:
        if not isinstance(asked, str) or not asked:
            raise expected("a non-empty string or None", "target_name", asked)
        if asked in features:
            hint = "give the class another name with `target_name`"
            raise expected("a name that no feature has", "target_name", asked, hint)
        _refuse_strangers(asked, features, naming, settled=True)
        return asked
    own = _name_of(labels)
    if own and own not in features:
        _refuse_strangers(own, features, naming, settled=False)
        return own
    strangers = {each for names in naming.values() for each in names if each not in features}
    if len(strangers) == 1:
        return strangers.pop()
    name = "class"
    while name in features:
        name += "'"
    if name in strangers:
        _refuse_strangers(name, features, naming, settled=True)
    for parameter, names in naming.items():
        if strange := [each for each in names if each in strangers]:
            got = f"{listing(strange)}, of which one at most is the class"
            hint = did_you_mean(strange[-1], features)
            raise expected("features, and perhaps the class,", parameter, names, hint, got=got)
    return name


def _refuse_strangers(
    target: str, features: Sequence[str], naming: Mapping[str, Sequence[str]], settled: bool
) -> None:
    """Refuse names that are neither features nor the class, whose name may not be `settled` yet."""
    known = [*features, target]
    for parameter, names in naming.items():
        strange = [name for name in names if name not in known]
        if strange:
            first = strange[0]
            alone = not settled and len(strange) == 1 and target not in names
            hint = f"target_name={first!r} calls the class so" if alone else "leave it out"
            hint = did_you_mean(first, known) or hint
            got = f"{first!r}, which is neither a feature nor the class {target!r}"
            raise expected("features, and perhaps the class,", parameter, names, hint, got=got)


def _name_of(labels: Any) -> str | None:
    """Return what a series, or a data frame of one column, calls its values."""
    if _is_frame(labels):
        labels_of = _labels(labels)
        name = labels_of[0] if len(labels_of) == 1 else None
    else:
        name = getattr(labels, "name", None)
    return name if isinstance(name, str) and name else None


def feature_names(estimator: Any) -> list[str]:
    """Return what the features are called: as in training, or x0, x1, ..."""
    known = getattr(estimator, "feature_names_in_", None)
    count = estimator.n_features_in_
    return [f"x{k}" for k in range(count)] if known is None else [str(name) for name in known]


def checked_classes(classes: Any) -> NDArray[Any]:
    """Return declared classes, sorted."""
    given = np.array(checked_list(classes, "a list of labels", "classes"))
    found: NDArray[Any] = np.unique(given)
    if given.ndim != 1 or len(found) < len(given) or not len(found):
        raise expected("different labels", "classes", classes)
    return found


def warn_of_unknown(coded: Coded) -> None:
    """Say which values are treated as missing, and in how many rows."""
    told = "; ".join(
        f"{place(name)}: {counted(sum(rows.values()), 'row')} with {listing(rows, 5)}"
        for name, rows in coded.unknown.items()
    )
    hint = meant_states(coded) or Advice.UNKNOWN_AS_ERROR
    statement = f"Values that did not occur in training are treated as missing. {told}."
    warn(UnknownStateWarning(statement, hint))


def warn_of_unknown_truth(name: str, values: Mapping[Any, int], classes: Sequence[Any]) -> None:
    """Say which values of the target are no classes, and in how many rows."""
    rows = counted(sum(values.values()), "row")
    none = "none of the classes" if len(values) == 1 else "not among the classes"
    statement = f"{place(name)}: {rows} with {listing(values, 5)}, {none}, so without a true class."
    hints = (did_you_mean(value, classes) for value in values)
    warn(UnknownStateWarning(statement, next(filter(None, hints), "")))


def warn_of_impossible(rows: NDArray[np.intp], prior: Prior) -> None:
    """Say which rows have probability zero with every class."""
    warn(
        f"{counted(len(rows), 'row')} cannot occur with any class under {prior!r}, first "
        f"{row_at(rows[0])}; the classes with the fewest impossible values are taken. "
        "Hint: use a prior such as Hierarchical(), which leaves nothing impossible.",
        ImpossibleRowWarning,
    )


def undefined_rows(rows: NDArray[np.intp], prior: Prior) -> DataError:
    """Word the error for rows that the tables have no probabilities for."""
    return DataError(
        row_at(rows[0]).capitalize(),
        f"{prior!r} has no probabilities for a combination of its values, which never occurred in "
        f"training ({counted(len(rows), 'such row')}).",
        Advice.PRIOR_FOR_UNOBSERVED,
        row=int(rows[0]),
    )


def _refuse_missing(labels: NDArray[Any] | Sequence[Any]) -> None:
    """Refuse labels that are missing: None, NaN, or what a data frame has for them."""
    if not isinstance(labels, np.ndarray) or labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels], dtype=bool)
    elif labels.dtype.kind == "f":
        missing = np.isnan(labels)
    else:
        return
    if missing.any():
        row = int(missing.argmax())
        problem = f"{counted(int(missing.sum()), 'label')} missing, the first in {row_at(row)}."
        raise DataError("`y`", problem, "leave those rows out", row=row)


def _refuse_times(labels: NDArray[Any]) -> None:
    """Refuse dates and durations, which are no labels."""
    durations = labels.dtype.kind == "m"
    if labels.dtype.kind == "O":
        durations = any(isinstance(label, dt.timedelta | np.timedelta64) for label in labels)
        kinds = dt.date | dt.time | np.datetime64
        if not durations and not any(isinstance(label, kinds) for label in labels):
            return
    elif labels.dtype.kind not in "Mm":
        return
    what = "durations are" if durations else "dates are"
    problem = f"{what} no labels, which are strings, integers or booleans."
    raise DataError("`y`", problem, "convert them to strings, such as by astype(str)")


def _is_missing(label: Any) -> bool:
    nothing = type(label).__name__ in ("NAType", "NaTType", "NoneType")
    return nothing or (isinstance(label, float | np.floating) and bool(np.isnan(label)))


def _checked(estimator: BaseEstimator, table: Any, y: Any, reset: bool) -> Any:
    if isinstance(table, Mapping) and not hasattr(table, "shape"):  # a sparse matrix is one, too
        hint = "write pandas.DataFrame(X) for columns in a dictionary"
        got = f"{counted(len(table), 'column')} in a {type(table).__name__}"
        raise expected(_ARRAY_OR_FRAME, "X", table, hint, got=got)
    if table is None or isinstance(table, str | os.PathLike):
        hint = "read the file first, for example by pandas.read_csv" if table else ""
        raise expected(_ARRAY_OR_FRAME, "X", table, hint)
    if scanned_of(table) is not None:
        hint = "collect its rows first: a classifier learns from rows in memory"
        raise expected(_ARRAY_OR_FRAME, "X", table, hint, got=f"a {type(table).__name__}")
    records = isinstance(table, list | tuple) and any(isinstance(row, Mapping) for row in table)
    if records or getattr(getattr(table, "dtype", None), "names", None):
        hint = "write pandas.DataFrame(X) for rows that have names in them"
        raise expected(_ARRAY_OR_FRAME, "X", table, hint, got=f"{type(table).__name__} of records")
    if not _is_frame(table):
        if isinstance(table, list | tuple) and np.asarray(table).dtype.kind in "SU":
            table = np.array(table, dtype=object)  # numbers beside strings stay numbers
        labels = "no_validation" if y is not None else y
        checks: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan"}
        # Nothing can be learned from no rows, but they can be classified.
        checks |= {"ensure_min_samples": 0 if is_word(y, "no_validation") else 1}
        if issparse(table):
            _refuse_huge(table)
            checks |= {"accept_sparse": ["csr", "csc", "coo"]}
            return validate_data(estimator, table, labels, reset=reset, **checks).toarray()
        return np.asarray(validate_data(estimator, table, labels, reset=reset, **checks))
    refuse_repeated(_labels(table))
    validate_data(estimator, table, y, reset=reset, skip_check_array=True)
    rows, columns = table.shape
    # Nothing can be learned from no rows, but they can be classified.
    if not columns or not (rows or is_word(y, "no_validation")):
        got = f"{counted(rows, 'row')} and {counted(columns, 'column')}"
        raise expected("at least one row and one column", "X", table, got=got)
    return table


def _refuse_huge(table: Any) -> None:
    cells = table.shape[0] * table.shape[1]
    if cells > _MAX_SPARSE_CELLS:
        hint = "choose fewer features first, or classify the rows in parts"
        what = "The dense form of the sparse matrix `X`"
        raise TooLargeError(what, size=cells, limit=_MAX_SPARSE_CELLS, hint=hint)


def _is_frame(table: Any) -> bool:
    """Whether it is a data frame of whatever package."""
    return hasattr(table, "shape") and (hasattr(table, "columns") or hasattr(table, "column_names"))


def _named(estimator: Any, table: Any) -> Source:
    """Give every column a name: its own if all are strings, else x0, x1, ..."""
    names = feature_names(estimator)
    if not _is_frame(table):
        return source_of((np.asfortranarray(table), names))  # columns are read one by one
    from colonnade.tables.frames import series_of

    columns = series_of(table) or [table[label] for label in _labels(table)]
    return source_of(dict(zip(names, columns, strict=True)))


def _labels(table: Any) -> list[Any]:
    """What a data frame calls its columns."""
    return list(getattr(table, "column_names", None) or table.columns)
