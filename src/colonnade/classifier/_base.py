"""What the classifiers share: options about columns and classes, and scikit-learn's conventions."""

# ruff: noqa: N803 (scikit-learn calls the features X)

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from colonnade.arrays import Array, Floats, Integers, Seed
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import read_rows
from colonnade.classifier._input import (
    Labelled,
    checked_classes,
    labelled_rows,
    rows_to_classify,
    warn_of_unknown,
    warn_of_unknown_truth,
    warn_of_weightless,
)
from colonnade.classifier._passing import Passing, passing_rows
from colonnade.exceptions import expected, inapplicable, is_word, listing, renamed
from colonnade.priors import Interval, Prior
from colonnade.tables.asked import Declared, declared_variables
from colonnade.tables.coding import Coded, unknown_states
from colonnade.tables.countable import scanned_of

if TYPE_CHECKING:
    from colonnade.classifier._fitted import Fitted
    from colonnade.classifier._forest import Forest
    from colonnade.classifier._plain import Kept


class Predicted(NamedTuple):
    """Predictions for some rows of a table.

    Attributes
    ----------
    probabilities : array [row, class]
    interval : Interval or None
        Ends of credible intervals, each ``[row, class]``.
    truth : array of int [row] or None
        Positions of the true classes, where the table has them.
    """

    probabilities: Floats
    interval: Interval | None
    truth: Integers | None


class NetworkEstimator(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier made of Bayesian networks: from rows to what is learned, and to predictions."""

    if TYPE_CHECKING:  # parameters of every classifier, set by its constructor
        unknown: Literal["missing", "raise"]
        classes: Sequence[Any] | None
        target_name: str | None
        identifiers: Literal["drop", "keep"]
        class_weight: Mapping[Any, float] | Literal["balanced"] | None
        variables: Declared

    classes_: NDArray[Any]
    target_name_: str

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; those of a prior as ``prior__s``, so that grids can vary them.

        Priors never change, so another one takes the place of the one that is there.

        Examples
        --------
        >>> from colonnade import BayesianNetworkClassifier, Hierarchical
        >>> model = BayesianNetworkClassifier(prior=Hierarchical(s=4))
        >>> model.set_params(prior__s="learn").prior.s
        'learn'
        """
        nested = {name: value for name, value in params.items() if "__" in name}
        super().set_params(**{name: params[name] for name in params if name not in nested})
        for name, value in nested.items():
            owner, _, option = name.partition("__")
            part = getattr(self, owner, None)
            if not isinstance(part, Prior):
                hint = "give the prior itself first, for example prior=Hierarchical()"
                raise expected(f"a prior for the option {option!r}", owner, part, hint)
            with renamed(options=owner, **{option: name}):
                setattr(self, owner, part.set_params(**{option: value}))
        return self

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn everything from these rows; what was learned before stays if that fails.

        Parameters
        ----------
        X : array or data frame [row, feature]
        y : array [row]
            Labels: strings, integers or booleans.
        sample_weight : array [row], optional
            How often each row counts, in the structure and in the cut points as well. A row of
            weight zero has no influence, whatever values or class it has.

        Returns
        -------
        self
        """
        with renamed(table="X"), self._all_or_nothing():
            return self._first(labelled_rows(self, X, y, sample_weight, self._naming), None)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from more rows: counts add up, and the tables follow.

        The first call is like :meth:`fit`. It settles the structure and the cut points for good.
        New values of a column become states, and new labels become classes unless the classes were
        declared.

        Parameters
        ----------
        X : array or data frame [row, feature]
        y : array [row]
        classes : array [class], optional
            All labels there will be, in the first call; the same or nothing later.
        sample_weight : array [row], optional

        Returns
        -------
        self
        """
        first = not hasattr(self, "classes_")
        with renamed(table="X"), self._all_or_nothing():
            rows = labelled_rows(self, X, y, sample_weight, self._naming if first else None)
            if first:
                return self._first(rows, classes)
            self._declared(rows.name, classes, first)
            self._add(rows)
        return self

    # ------------------------------------------------------------- prediction

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array, data frame [row, feature], paths or lazy table

        Returns
        -------
        array [row]
        """
        best = self._answered(X, self._best)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class given the row, ``[row, class]``.

        Parameters
        ----------
        X : array or data frame [row, feature], paths or lazy table
            Rows of files (a path, a pattern, a list of them, or what :func:`colonnade.scan`
            returns) and of lazy tables are read block by block. Their columns are found by name,
            and others are ignored.
        """
        logs = self.predict_log_proba(X)
        return np.exp(logs, out=logs)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of each class given the row, ``[row, class]``.

        Parameters
        ----------
        X : array, data frame [row, feature], paths or lazy table
        """
        return self._answered(X, self._log_chances)

    def predict_interval(
        self, X: Any, level: float = 0.95, draws: int | None = None, rng: Seed = None
    ) -> Interval:
        """Credible interval of the probability of each class."""
        parts = [self._interval(rows, level, draws, rng) for rows in self._passing(X)]
        return Interval(
            _joined([each.lower for each in parts]), _joined([each.upper for each in parts])
        )

    def predict_blocks(
        self,
        X: Any,
        level: float | None = None,
        draws: int | None = None,
        rng: Seed = None,
        absent: Literal["raise", "missing"] = "raise",
    ) -> Iterator[Predicted]:
        """Classify rows block by block, so that predictions of any number need little memory.

        Parameters
        ----------
        X : paths, lazy table, array or data frame [row, feature]
            As for :meth:`predict_proba`; rows in memory are one block.
        level : float, optional
            Probability inside the intervals; without it there are none.
        draws, rng
            As for :meth:`predict_interval`, for each block; so the ends of a forest's intervals
            depend a little on what else is in the block.
        absent : {"raise", "missing"}
            What to do with columns that a table with names lacks: refuse it, or take them as
            missing in every row, with a ``DataWarning``.

        Yields
        ------
        Predicted
            Of some rows, in their order: ``probabilities [row, class]``, the ``interval`` or None,
            and ``truth [row]``, the positions of their true classes if the table has a column of
            the target's name (a class that is missing or new has the number of classes), or None.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> from colonnade import BayesianNetworkClassifier
        >>> rows = pd.DataFrame({"x": ["a", "b"] * 50, "y": [0, 1] * 50})
        >>> model = BayesianNetworkClassifier().fit(rows[["x"]], rows["y"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows.to_csv(f"{folder}/rows.csv", index=False)
        ...     for block in model.predict_blocks(f"{folder}/*.csv"):
        ...         best = block.probabilities.argmax(axis=1)
        ...         print(len(best), (best == block.truth).mean())
        100 1.0
        """
        if level is None:
            for name, value in {"draws": draws, "rng": rng}.items():
                if value is not None:
                    raise inapplicable(name, value, "intervals", "give `level`, too")
        if not is_word(absent, "raise", "missing"):
            raise expected("'raise' or 'missing'", "absent", absent)
        for rows in self._passing(X, absent == "missing", self._tell_unknown_truth):
            logs = self._log_chances(rows)
            ends = None if level is None else self._interval(rows, level, draws, rng)
            yield Predicted(np.exp(logs, out=logs), ends, rows.truth)

    @property
    @abstractmethod
    def _model(self) -> Fitted | Forest:
        """What is known after training."""

    @abstractmethod
    def _best(self, rows: Passing) -> NDArray[np.intp]:
        """Position of the most probable class of each row."""

    @abstractmethod
    def _log_chances(self, rows: Passing) -> Floats:
        """Logarithm of the probability of each class, ``[row, class]``."""

    @abstractmethod
    def _interval(self, rows: Passing, level: float, draws: int | None, rng: Seed) -> Interval:
        """Ends of intervals, each ``[row, class]``."""

    def _passing(
        self,
        X: Any,
        lacking: bool = False,
        tell_truth: Callable[[Mapping[Any, int]], None] | None = None,
    ) -> Iterator[Passing]:
        """Yield rows to be classified: those in memory at once, all others in blocks."""
        check_is_fitted(self)
        model = self._model
        with renamed(table="X"):
            table = scanned_of(X)
        if table is not None or lacking:
            rest = X if table is None else table
            tell = self._tell_unknown
            yield from passing_rows(model.views, model.classes, rest, tell, lacking, tell_truth)
            return
        with renamed(table="X"):
            rows = read_rows(model.views, rows_to_classify(self, X))
        if rows.unknown is not None:
            self._tell_unknown(rows.unknown)
        yield Passing(0, rows)

    def _answered(self, X: Any, answer: Callable[[Passing], Array]) -> Array:
        """Return the answers for all rows."""
        return _joined([answer(rows) for rows in self._passing(X)])

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write everything to a file: JSON that loses nothing, with all networks.

        A `random_state` that is a generator is not kept, since nothing is drawn any more. A file
        has at most 134,217,728 bytes. What would need more, such as 64 members of 64 columns and
        10 classes, is a ``TooLargeError``; ``pickle`` keeps it for one version of the package.

        Parameters
        ----------
        path : path
            Ends in ``.json``; its folder exists.
        overwrite : bool, optional
            Whether an existing file is replaced; by default that is an error.
        """
        check_is_fitted(self)
        self._write(path, overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote; all of it is checked, and nothing in it is run.

        Parameters
        ----------
        path : path

        Examples
        --------
        >>> import tempfile
        >>> from sklearn.datasets import load_iris
        >>> from colonnade import BayesianNetworkForest
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianNetworkForest(n_members=2, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/iris.json")
        ...     again = BayesianNetworkForest.load(f"{folder}/iris.json")
        >>> again.networks_ == model.networks_
        True
        """
        kept = cls._read(path)
        model = cls(**kept.parameters)
        model.n_features_in_ = len(kept.columns)
        if kept.named:
            model.feature_names_in_ = np.array(kept.columns, dtype=object)
        model.target_name_ = kept.learned.classes.name
        model._take(kept.learned)
        return model

    @abstractmethod
    def _write(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        """Write a fitted estimator."""

    @classmethod
    @abstractmethod
    def _read(cls, path: str | os.PathLike[str]) -> Kept:
        """Read what was written."""

    @abstractmethod
    def _take(self, learned: Any) -> None:
        """Take over what was learned, as attributes."""

    # ---------------------------------------------------------------- fitting

    @abstractmethod
    def _learn(self, rows: Labelled, classes: Classes) -> None:
        """Check the options that are not checked yet, and learn everything from these rows."""

    @abstractmethod
    def _add(self, rows: Labelled) -> None:
        """Learn from more rows."""

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put all attributes back if learning fails: names of other rows fit no old model."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    @property
    def _naming(self) -> dict[str, Sequence[str]]:
        """Parameters that name variables, with the names; one of these may be the class."""
        return {"variables": tuple(declared_variables(self.variables))}

    def _first(self, rows: Labelled, given: ArrayLike | None) -> Self:
        if not is_word(self.unknown, "missing", "raise"):
            raise expected("'missing' or 'raise'", "unknown", self.unknown)
        if not is_word(self.identifiers, "drop", "keep"):
            raise expected("'drop' or 'keep'", "identifiers", self.identifiers)
        declared = self._declared(rows.name, given, first=True)
        if declared is None:
            warn_of_weightless(rows)
            classes = Classes.seen(rows.name, rows.labels)
        else:
            own = declared_variables(self.variables).get(rows.name)
            classes = Classes(rows.name, declared, True, {} if own is None else own.spellings)
        self._learn(rows, classes)
        self.target_name_ = rows.name
        return self

    def _declared(self, name: str, classes: ArrayLike | None, first: bool) -> NDArray[Any] | None:
        """Classes declared here or in the constructor, which must agree."""
        declared = None if self.classes is None else checked_classes(self.classes)
        if (own := declared_variables(self.variables).get(name)) is not None:
            states = checked_classes(own.states)
            if states.tolist() != list(own.states):
                what = f"sorted states of the class {own.name!r}"
                raise expected(what, "variables", own, got=listing(own.states))
            if declared is not None and not np.array_equal(declared, states):
                what = f"the classes that `variables` declares, {listing(own.states)},"
                raise expected(what, "classes", self.classes)
            declared = states
        if classes is None:
            return declared
        given = checked_classes(classes)
        known = declared if first else self.classes_
        if known is not None and not np.array_equal(known, given):
            raise expected(
                f"the classes known already, {listing(known.tolist())},", "classes", classes
            )
        return given

    def _tell_unknown(self, coded: Coded) -> None:
        """Refuse values that did not occur in training, or say that they are treated as missing."""
        if self.unknown == "raise":
            raise unknown_states(coded).advising("correct them, or set unknown='missing'")
        warn_of_unknown(coded)

    def _tell_unknown_truth(self, values: Mapping[Any, int]) -> None:
        """Say that some rows have no true class, because they have values that are no classes."""
        warn_of_unknown_truth(self.target_name_, values, self.classes_.tolist())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _joined(parts: Sequence[Array]) -> Array:
    """Put the answers for blocks together; one block is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
