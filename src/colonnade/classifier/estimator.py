"""BayesianNetworkClassifier: a Bayesian network as a scikit-learn estimator."""

# ruff: noqa: N803 (scikit-learn calls the features X)

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from colonnade.arrays import Floats, Seed
from colonnade.classifier._base import NetworkEstimator
from colonnade.classifier._choice import Structure
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Treatment
from colonnade.classifier._fitted import Fitted
from colonnade.classifier._input import (
    Labelled,
    feature_names,
    undefined_rows,
    warn_of_impossible,
)
from colonnade.classifier._intervals import class_intervals
from colonnade.classifier._network_files import read, save
from colonnade.classifier._passing import Passing
from colonnade.classifier._plain import Kept
from colonnade.dag import Dag
from colonnade.exceptions import Advice, NotSupportedError, TooLargeError
from colonnade.network import BayesianNetwork
from colonnade.priors import Interval, Prior
from colonnade.progress import Progress
from colonnade.structure.scores import GraphPrior, Score
from colonnade.tables.asked import Declared, declared_variables
from colonnade.tables.bins import DEFAULT_BINS, Bins, Wanted
from colonnade.tables.coded import CodedTable


class BayesianNetworkClassifier(NetworkEstimator):
    """A Bayesian network that gives the probability of each class.

    Takes arrays and data frames. Columns of numbers are cut at quantiles of the training rows, by
    the rule of :func:`colonnade.discretize`: if they have fractions, or more than 10 different
    values; and if they have fewer that span more than 10, two or more of them in one row each, so
    that other rows are likely to have others. Columns of few whole numbers, strings, booleans or
    categories hold states. Values may be missing in training, where every table is estimated from
    the rows that are complete for it, and in prediction, where they are summed out, exactly as long
    as that is affordable.

    Parameters
    ----------
    structure : {"naive", "tan", "kdb", "hill_climb"} or Dag
        Which variables depend on which: every feature on the class alone; on the class and one
        other feature; on the class and up to `k` others, the default; as found by hill climbing; or
        as given, between features by their names (x0, x1, ... where the columns have none) and the
        class. Features that a Dag leaves out play no part.
    prior : Prior or "auto", optional
        Of all tables; by default ``Tiered()``. ``"auto"`` takes the one that predicts rows left out
        best, out of ``Hierarchical()``, ``Hierarchical(s="learn")``, ``SymmetricDirichlet()``,
        ``BDeu(1)``, ``BDeu(10)`` and ``Tiered()``.
    bins : int, or mapping of str to int, cut points or None
        Largest number of intervals of a column that is cut. A mapping says it of single columns,
        which then are cut whatever values they have; ``{"age": [40, 60]}`` cuts there, and with
        None a column keeps its values as states. Others have up to 5.
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
    target_name : str, optional
        Name of the class in the network. By default the name of `y` if it is a named column, else
        the one variable, of a Dag or declared, that is no feature, else ``"class"``, with strokes
        after it if that is a feature.
    identifiers : {"drop", "keep"}
        What to do with columns that seem to identify rows (text with a state for every second
        training row or more, many dates, whole numbers that never repeat): leave them out, with a
        ``ColumnWarning``, or use them as any other. Columns that a Dag or `root` names are never
        left out, nor is anything if all columns are such.
    class_weight : "balanced", or mapping of labels to float, optional
        How often the rows of each class count, in everything that is learned; classes that a
        mapping does not name count once. One of weight zero is left out, with a ``DataWarning``,
        and is no class unless it is declared. ``"balanced"`` gives all classes the same total,
        which rows that come in parts do not have: ``partial_fit`` of more rows needs a mapping.
        Weights change the probabilities of classes: they are no longer those of the training rows.
    variables : sequence of Variable, or mapping of names to states, optional
        Declared states of single columns, seen or not, as for :func:`colonnade.fit`: in the order
        given, and with other values that stand for them. A value that is no state is an error in
        training. The class may be among them, with its states sorted.

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
    target_name_ : str
        Name of the class in the network.
    identifiers_ : tuple of str
        Columns that were left out, because they seem to identify rows.
    feature_importances_ : array [feature]
        Share of each feature in the information about the class; all zero if there is none.
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
    array([[0.999, 0.   , 0.001],
           [0.012, 0.565, 0.423]])
    >>> lower, upper = model.predict_interval(X.iloc[[70]], level=0.9, rng=1)
    >>> bool(lower[0, 1] < 0.565 < upper[0, 1])
    True
    """

    network_: BayesianNetwork
    prior_: Prior
    prior_scores_: dict[Prior, float]
    identifiers_: tuple[str, ...]
    _fitted: Fitted

    def __init__(
        self,
        structure: Literal["naive", "tan", "kdb", "hill_climb"] | Dag = "kdb",
        prior: Prior | Literal["auto"] | None = None,
        bins: int | Mapping[str, Wanted] | Bins = DEFAULT_BINS,
        unknown: Literal["missing", "raise"] = "missing",
        k: int = 2,
        root: str | None = None,
        structure_score: Score | None = None,
        graph_prior: GraphPrior = None,
        classes: Sequence[Any] | None = None,
        target_name: str | None = None,
        identifiers: Literal["drop", "keep"] = "drop",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        variables: Declared = None,
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
        self.variables = variables

    # ---------------------------------------------------------------- fitting

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
        return super().partial_fit(X, y, classes, sample_weight)

    @property
    def _structure(self) -> Structure:
        return Structure(
            structure=self.structure,
            k=self.k,
            root=self.root,
            score=self.structure_score,
            graph_prior=self.graph_prior,
        )

    @property
    def _naming(self) -> dict[str, Sequence[str]]:
        if not isinstance(self.structure, Dag):
            return super()._naming
        return {"structure": self.structure.variables, **super()._naming}

    def _learn(self, rows: Labelled, classes: Classes) -> None:
        structure = self._structure
        declared = declared_variables(self.variables)
        named = (*structure.named, *declared)
        treatment = Treatment(Bins.of(self.bins), self.identifiers == "drop", named, declared)
        self._take(Fitted.learn(rows, classes, structure, self.prior, treatment))

    def _add(self, rows: Labelled) -> None:
        self._take(self._fitted.add(rows, self.prior))

    def _take(self, fitted: Fitted) -> None:
        self._fitted = fitted
        self.classes_ = fitted.classes.labels
        self.network_ = fitted.network
        self.prior_ = fitted.choice.prior
        self.identifiers_ = fitted.features.identifiers
        if fitted.choice.scores is not None:
            self.prior_scores_ = fitted.choice.scores
        elif hasattr(self, "prior_scores_"):
            del self.prior_scores_  # of an earlier fit

    # ------------------------------------------------------------- prediction

    @property
    def _model(self) -> Fitted:
        return self._fitted

    def _best(self, rows: Passing) -> NDArray[np.intp]:
        coded = self._coded(rows)
        if len(self.classes_) == 1:
            return np.zeros(coded.rows, np.intp)
        best, possible = self._fitted.tables.most_probable(coded)
        if not possible.all():
            best[~possible] = self._impossible(coded, ~possible, rows.first).argmax(axis=1)
        return best

    def _log_chances(self, rows: Passing) -> Floats:
        coded = self._coded(rows)
        if len(self.classes_) == 1:
            return np.zeros((coded.rows, 1))
        logs = self._fitted.tables.log_joint(coded, everything=False, normalised=True)
        impossible = np.isnan(logs[:, 0])
        if impossible.any():
            logs[impossible] = self._impossible(coded, impossible, rows.first)
        return logs

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of the row together with each class, ``[row, class]``.

        What is missing in a row is summed out. Minus infinity for what cannot occur, NaN for what
        ``MaximumLikelihood()`` has no probabilities for.

        Parameters
        ----------
        X : array, data frame [row, feature], paths or lazy table
        """
        tables = self._fitted.tables
        return self._answered(
            X, lambda rows: tables.log_joint(self._coded(rows), everything=True, normalised=False)
        )

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
        X : array, data frame [row, feature], paths or lazy table
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
        return super().predict_interval(X, level, draws, rng)

    def _interval(self, rows: Passing, level: float, draws: int | None, rng: Seed) -> Interval:
        if not self.prior_.has_posterior:
            raise NotSupportedError(
                f"predict_interval with {self.prior_!r}",
                "it has no posterior to draw tables from",
                Advice.PRIOR_WITH_POSTERIOR,
            )
        return class_intervals(self._fitted.tables, self._coded(rows), level, draws, rng)

    def _coded(self, rows: Passing) -> CodedTable:
        return self._fitted.features.cut(rows.rows)

    def _impossible(self, coded: CodedTable, bad: NDArray[np.bool_], first: int) -> Floats:
        """Log probabilities for rows that no class can have: those of the least impossible class.

        Only relative frequencies leave anything impossible. The rows are counted from `first`.
        """
        tables = self._fitted.tables.floored
        logs = tables.log_joint(coded.take(bad), everything=False, normalised=True)
        undefined = np.isnan(logs[:, 0])
        if undefined.any():
            raise undefined_rows(first + np.flatnonzero(bad)[undefined], self.prior_)
        warn_of_impossible(first + np.flatnonzero(bad), self.prior_)
        return logs

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the information about the class, ``[feature]``.

        The mutual information of the class with each feature by itself, in the fitted network,
        divided by the sum over all features, so that the shares add up to one; all are zero if no
        feature says anything. Features that were left out have none. What several features say
        together is not divided up among them. A wide network, of 150 features that have two others
        as parents for example, has no such attribute, because exact sums would be too large.
        """
        check_is_fitted(self)
        network, target = self.network_, self.target_name_
        own = np.zeros(self.n_features_in_)
        with Progress("Importances", len(own)) as progress:
            for k, name in enumerate(feature_names(self)):
                if name in network:
                    own[k] = _information(network, name, target)
                progress.advance()
        total = own.sum()
        return own / total if total > 0.0 else own

    # ------------------------------------------------------------------ files

    def _write(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        save(self, self._fitted, path, overwrite)

    @classmethod
    def _read(cls, path: str | os.PathLike[str]) -> Kept:
        return read(path)


class _NoImportancesError(TooLargeError, AttributeError):
    """Importances would take too large sums; to ``hasattr`` they are not there."""


def _information(network: BayesianNetwork, name: str, target: str) -> float:
    """Mutual information of a feature and the class."""
    try:
        return network.mutual_information(name, target).value
    except TooLargeError as error:
        what = "The largest table of exact inference that `feature_importances_` needs"
        hint = "structure='tan' and BayesianNetworkForest have them however many features there are"
        raise _NoImportancesError(
            what, size=error.size, limit=error.limit, hint=hint, unit=error.unit
        ) from error
