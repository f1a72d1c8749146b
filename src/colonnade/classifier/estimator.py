"""BayesianNetworkClassifier: a Bayesian network as a scikit-learn estimator."""

# ruff: noqa: N803 (scikit-learn calls the features X)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from colonnade.arrays import Floats, Seed
from colonnade.classifier._choice import Structure
from colonnade.classifier._features import Classes, Treatment
from colonnade.classifier._fitted import Fitted
from colonnade.classifier._importances import class_informations
from colonnade.classifier._input import (
    Labelled,
    checked_classes,
    labelled_rows,
    rows_to_classify,
    undefined_rows,
    warn_of_impossible,
    warn_of_unknown,
)
from colonnade.classifier._intervals import class_intervals
from colonnade.dag import Dag
from colonnade.exceptions import Advice, NotSupportedError, expected, is_word, listing
from colonnade.network import BayesianNetwork
from colonnade.priors import Interval, Prior
from colonnade.structure.scores import GraphPrior, Score
from colonnade.tables.bins import DEFAULT_BINS, Bins
from colonnade.tables.coded import CodedTable
from colonnade.tables.coding import unknown_states


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network that gives the probability of each class.

    Takes arrays and data frames. Columns of numbers are cut at quantiles of the training rows, by
    the rule of :func:`colonnade.discretize`: if they have fractions, or more than 10 different
    values. Columns of few whole numbers, strings, booleans or categories hold states. Values may
    be missing in training, where every table is estimated from the rows that are complete for it,
    and in prediction, where they are summed out exactly.

    Parameters
    ----------
    structure : {"naive", "tan", "kdb", "hill_climb"} or Dag
        Which variables depend on which: every feature on the class alone; on the class and one
        other feature; on the class and up to `k` others; as found by hill climbing; or as given,
        between features by their names (x0, x1, ... where the columns have none) and
        `target_name`. Features that a Dag leaves out play no part.
    prior : Prior or "auto", optional
        Of all tables; by default ``Tiered()``. ``"auto"`` takes the one that predicts rows left out
        best, out of ``Hierarchical()``, ``Hierarchical(s="learn")``, ``SymmetricDirichlet()``,
        ``BDeu(1)``, ``BDeu(10)`` and ``Tiered()``.
    bins : int, or mapping of str to int or None
        Largest number of intervals of a column that is cut. A mapping says it of single columns,
        which then are cut whatever values they have, or with None keep their values as states;
        others have up to 5.
    unknown : {"missing", "raise"}
        What to do with values that did not occur in training: treat them as missing, with an
        ``UnknownStateWarning``, or refuse.
    k : int
        Feature parents of a feature, with ``"kdb"``; other structures ignore it, so that a grid may
        combine both.
    root : str, optional
        Feature at the root of the tree, with ``"tan"``; by default the first.
    structure_score : BIC, AIC, LogLikelihood or Prior, optional
        What ``"hill_climb"`` climbs; by default ``BIC()``.
    graph_prior : "sizes", optional
        Pays for the choice among many parents, with ``"hill_climb"``; see
        :func:`colonnade.hill_climb`.
    classes : sequence, optional
        All labels there can be; by default those in `y`. A class that is declared but not in `y`
        keeps its column, and a small probability (except under ``MaximumLikelihood``).
    target_name : str
        Name of the class in the network.
    class_weight : "balanced", or mapping of labels to float, optional
        How often the rows of each class count, in everything that is learned; classes that a
        mapping does not name count once. ``"balanced"`` gives all classes the same total. Weights
        change the probabilities of classes: they are no longer those of the training rows.
    identifiers : {"drop", "keep"}
        What to do with columns that seem to identify rows (text with a state for every second
        training row or more, many dates, integers that never repeat): leave them out, with a
        ``ColumnWarning``, or use them as any other. Columns that a Dag or `root` names are never
        left out, nor is anything if all columns are such.

    Attributes
    ----------
    classes_ : array [class]
        Labels, sorted: the columns of all probabilities.
    network_ : BayesianNetwork
        The fitted network, for queries, files, drawing and everything else.
    prior_ : Prior
        The prior of its tables.
    prior_scores_ : dict of Prior to float
        Score of each candidate, only with ``prior="auto"``. For ``"naive"`` and a Dag the
        leave-one-out log score of all rows, features and class together; for structures that are
        learned the log score of the class of rows from which nothing was learned.
    identifiers_ : tuple of str
        Columns that were left out, because they seem to identify rows.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns have names, all of them strings.

    See Also
    --------
    colonnade.fit : a network without a class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianNetworkClassifier().fit(X, y)
    >>> model.predict_proba(X.iloc[[0, 70]]).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.591, 0.409]])
    >>> lower, upper = model.predict_interval(X.iloc[[70]], level=0.9, rng=1)
    >>> bool(lower[0, 1] < 0.591 < upper[0, 1])
    True
    """

    classes_: NDArray[Any]
    network_: BayesianNetwork
    prior_: Prior
    prior_scores_: dict[Prior, float]
    identifiers_: tuple[str, ...]
    _fitted: Fitted

    def __init__(
        self,
        structure: Literal["naive", "tan", "kdb", "hill_climb"] | Dag = "tan",
        prior: Prior | Literal["auto"] | None = None,
        bins: int | Mapping[str, int | None] | Bins = DEFAULT_BINS,
        unknown: Literal["missing", "raise"] = "missing",
        k: int = 2,
        root: str | None = None,
        structure_score: Score | None = None,
        graph_prior: GraphPrior = None,
        classes: Sequence[Any] | None = None,
        target_name: str = "class",
        identifiers: Literal["drop", "keep"] = "drop",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    ) -> None:
        self.structure = structure
        self.prior = prior
        self.bins = bins
        self.unknown = unknown
        self.k = k
        self.root = root
        self.structure_score = structure_score
        self.graph_prior = graph_prior
        self.classes = classes
        self.target_name = target_name
        self.identifiers = identifiers
        self.class_weight = class_weight

    def set_params(self, **params: Any) -> BayesianNetworkClassifier:
        """Set parameters by name; those of a prior as ``prior__s``, so that grids can vary them.

        Priors never change, so another one takes the place of the one that is there.

        Examples
        --------
        >>> from colonnade import Hierarchical
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
            setattr(self, owner, part.set_params(**{option: value}))
        return self

    # ---------------------------------------------------------------- fitting

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BayesianNetworkClassifier:
        """Learn the structure and all tables.

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
        rows = labelled_rows(self, X, y, sample_weight, reset=True)
        return self._learn(rows, self._declared(None, first=True))

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> BayesianNetworkClassifier:
        """Learn from more rows: counts add up, and the tables follow.

        The first call is like :meth:`fit`. It settles the structure and the cut points for good;
        apart from that, the result equals a fit to all rows together. New values of a column become
        states, and new labels become classes unless the classes were declared. If the structure was
        learned, ``prior="auto"`` judges by how well each call's classes are predicted from the rows
        before.

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
        first = not hasattr(self, "network_")
        rows = labelled_rows(self, X, y, sample_weight, reset=first)
        declared = self._declared(classes, first)
        if first:
            return self._learn(rows, declared)
        return self._take(self._fitted.add(rows, self.prior))

    def _declared(self, classes: ArrayLike | None, first: bool) -> NDArray[Any] | None:
        """Classes declared here or in the constructor, which must agree."""
        declared = None if self.classes is None else checked_classes(self.classes)
        if classes is None:
            return declared
        given = checked_classes(classes)
        known = declared if first else self.classes_
        if known is not None and not np.array_equal(known, given):
            raise expected(f"the classes known already, {listing(known)},", "classes", classes)
        return given

    def _learn(self, rows: Labelled, declared: NDArray[Any] | None) -> BayesianNetworkClassifier:
        """Check the options, and learn everything from these rows."""
        if not is_word(self.unknown, "missing", "raise"):
            raise expected("'missing' or 'raise'", "unknown", self.unknown)
        if not isinstance(self.target_name, str) or not self.target_name:
            raise expected("a non-empty string", "target_name", self.target_name)
        if self.identifiers not in ("drop", "keep"):
            raise expected("'drop' or 'keep'", "identifiers", self.identifiers)
        structure = Structure(
            structure=self.structure,
            k=self.k,
            root=self.root,
            score=self.structure_score,
            graph_prior=self.graph_prior,
        )
        treatment = Treatment(Bins.of(self.bins), self.identifiers == "drop", structure.named)
        if declared is None:
            classes = Classes.seen(self.target_name, rows.labels)
        else:
            classes = Classes(self.target_name, declared, True)
        return self._take(Fitted.learn(rows, classes, structure, self.prior, treatment))

    def _take(self, fitted: Fitted) -> BayesianNetworkClassifier:
        self._fitted = fitted
        self.classes_ = fitted.classes.labels
        self.network_ = fitted.network
        self.prior_ = fitted.choice.prior
        self.identifiers_ = fitted.features.identifiers
        if fitted.choice.scores is not None:
            self.prior_scores_ = fitted.choice.scores
        elif hasattr(self, "prior_scores_"):
            del self.prior_scores_  # of an earlier fit
        return self

    # ------------------------------------------------------------- prediction

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array or data frame [row, feature]

        Returns
        -------
        array [row]
        """
        coded = self._coded(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, coded.rows)
        best, possible = self._fitted.tables.most_probable(coded)
        if not possible.all():
            best[~possible] = self._impossible(coded, ~possible).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of each class given the row, ``[row, class]``.

        Parameters
        ----------
        X : array or data frame [row, feature]
        """
        coded = self._coded(X)
        if len(self.classes_) == 1:
            return np.zeros((coded.rows, 1))
        logs = self._fitted.tables.log_joint(coded, everything=False, normalised=True)
        impossible = np.isnan(logs[:, 0])
        if impossible.any():
            logs[impossible] = self._impossible(coded, impossible)
        return logs

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class given the row, ``[row, class]``.

        Parameters
        ----------
        X : array or data frame [row, feature]
        """
        logs = self.predict_log_proba(X)
        return np.exp(logs, out=logs)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of the row together with each class, ``[row, class]``.

        What is missing in a row is summed out. Minus infinity for what cannot occur, NaN for what
        ``MaximumLikelihood()`` has no probabilities for.

        Parameters
        ----------
        X : array or data frame [row, feature]
        """
        coded = self._coded(X)
        return self._fitted.tables.log_joint(coded, everything=True, normalised=False)

    def predict_interval(
        self, X: Any, level: float = 0.95, draws: int | None = None, rng: Seed = None
    ) -> Interval:
        """Credible interval of the probability of each class.

        Draws all tables that the class depends on from their joint posterior, and the probability
        of each class from those: the interval says how well the training rows determine it. Tables
        are independent of each other, so the draws are put together in several ways, which makes
        the ends steadier.

        Parameters
        ----------
        X : array or data frame [row, feature]
        level : float
            Probability inside; equal tails outside.
        draws : int, optional
            Of every table, from 100 to a million. By default 1000 for few rows, and fewer for many,
            but not below 200.
        rng : Generator or int, optional
            The same seed gives the same ends for the same rows.

        Returns
        -------
        Interval
            ``lower`` and ``upper``, each ``[row, class]``.
        """
        coded = self._coded(X)
        if not self.prior_.has_posterior:
            raise NotSupportedError(
                f"predict_interval with {self.prior_!r}",
                "it has no posterior to draw tables from",
                Advice.PRIOR_WITH_POSTERIOR,
            )
        return class_intervals(self._fitted.tables, coded, level, draws, rng)

    def _coded(self, X: Any) -> CodedTable:
        check_is_fitted(self)
        coded = self._fitted.features.codes(rows_to_classify(self, X))
        if coded.unknown:
            if self.unknown == "raise":
                raise unknown_states(coded)
            warn_of_unknown(coded)
        return coded

    def _impossible(self, coded: CodedTable, bad: NDArray[np.bool_]) -> Floats:
        """Log probabilities for rows that no class can have: those of the least impossible class.

        Only relative frequencies leave anything impossible.
        """
        tables = self._fitted.tables.floored
        logs = tables.log_joint(coded.take(bad), everything=False, normalised=True)
        undefined = np.isnan(logs[:, 0])
        if undefined.any():
            raise undefined_rows(np.flatnonzero(bad)[undefined], self.prior_)
        warn_of_impossible(np.flatnonzero(bad), self.prior_)
        return logs

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the information about the class, ``[feature]``.

        The mutual information of the class with each feature by itself, in the fitted network,
        divided by the sum over all features. Features that were left out have none. What several
        features say together is not divided up among them.
        """
        check_is_fitted(self)
        informations = class_informations(self.network_, self.target_name)
        known = getattr(self, "feature_names_in_", None)
        names = [f"x{k}" for k in range(self.n_features_in_)] if known is None else list(known)
        own = np.array([informations.get(str(name), 0.0) for name in names])
        total = own.sum()
        return own / total if total > 0.0 else own

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags
