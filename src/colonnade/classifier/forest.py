"""BayesianNetworkForest: many small networks that classify together."""

# ruff: noqa: N803 (scikit-learn calls the features X)

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from colonnade.arrays import Floats, Seed
from colonnade.classifier._base import NetworkEstimator
from colonnade.classifier._classes import Classes
from colonnade.classifier._features import Treatment
from colonnade.classifier._files import read, save
from colonnade.classifier._forest import Average, Forest
from colonnade.classifier._input import Labelled, feature_names
from colonnade.classifier._intervals import mixed_intervals
from colonnade.classifier._members import most_cuts
from colonnade.classifier._passing import Passing
from colonnade.classifier._plain import Kept
from colonnade.exceptions import checked_whole, expected, is_word
from colonnade.network import BayesianNetwork
from colonnade.priors import Interval, Prior
from colonnade.tables.asked import Declared, declared_variables
from colonnade.tables.bins import Bins, Wanted
from colonnade.threads import worker_count

_MAX_SEED = 2**31 - 1


class BayesianNetworkForest(NetworkEstimator):
    """Several random Bayesian networks that give the probability of each class together.

    Every member cuts the columns of numbers at other quantiles, takes the features in another order
    and chooses their parents from other features. Their probabilities are averaged, each with a
    weight that says how well it predicts rows that are left out. Takes what
    :class:`BayesianNetworkClassifier` takes: arrays and data frames, columns of numbers, strings,
    booleans or categories, and values that are missing, in training and in prediction.

    Parameters
    ----------
    n_members : int
        Number of networks.
    max_parents : int
        Largest number of features among the parents of a feature, besides the class.
    average : {"geometric", "arithmetic"}
        Whether the logarithms of the members' probabilities are averaged, or the probabilities. The
        first is sharper, the second safer where members are overconfident.
    prior : Prior, optional
        Of the tables of all features. It must have a posterior. By default ``Tiered``, with an
        `s_mean` that is learned from the tables of all features given the class, and with
        ``one_parent="left_out"`` for more than 50 rows or 100 features: `prior_` says what it was.
        Whatever the prior, the intervals of a number are mixed with their neighbours: see
        :class:`colonnade.Smoothed`.
    random_state : int, RandomState or None
        The same number gives the same forest. The first members of a larger forest are those of a
        smaller one.
    n_jobs : int, optional
        Number of members that are learned, or asked, at the same time; -1 for as many as there are
        processors. The result does not depend on it.
    bins : int, or mapping of str to int, cut points or None, optional
        Largest number of cuts of a column of numbers; each member draws one from 2 to that. By
        default the number of rows to the power 0.28, but from 3 to 10. A mapping says it of single
        columns, which then are cut whatever values they have; ``{"age": [40, 60]}`` cuts there in
        all members, and with None a column keeps its values as states.
    unknown : {"missing", "raise"}
        What to do with values that did not occur in training: treat them as missing, with an
        ``UnknownStateWarning``, or refuse.
    classes : sequence, optional
        All labels there can be; by default those in `y`.
    target_name : str, optional
        Name of the class in the networks. By default the name of `y` if it is a named column, else
        the one declared variable that is no feature, else ``"class"``, with strokes after it if
        that is a feature.
    identifiers : {"drop", "keep"}
        What to do with columns that seem to identify rows: leave them out, with a
        ``ColumnWarning``, or use them as any other.
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
    networks_ : tuple of BayesianNetwork
        The members, each a network like any other. Those of up to 65 536 rows are made when they
        are asked for: rows are classified without them.
    weights_ : array [member]
        How much each member weighs.
    prior_ : Prior
        Of the tables of all features.
    feature_importances_ : array [feature]
        Share of each feature in what the features say about the class; all zero if they say
        nothing.
    target_name_ : str
        Name of the class in the networks.
    identifiers_ : tuple of str
        Columns that were left out, because they seem to identify rows.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns have names, all of them strings.

    See Also
    --------
    BayesianNetworkClassifier : a single network.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianNetworkForest(n_members=4, random_state=0).fit(X, y)
    >>> model.predict(X.iloc[[0, 70]])
    array([0, 1])
    >>> len(model.networks_), model.networks_[0].dag.parents("sepal length (cm)")[0]
    (4, 'target')
    """

    weights_: Floats
    prior_: Prior
    identifiers_: tuple[str, ...]
    _forest: Forest

    def __init__(
        self,
        n_members: int = 16,
        max_parents: int = 3,
        average: Average = "geometric",
        prior: Prior | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        bins: int | Mapping[str, Wanted] | Bins | None = None,
        unknown: Literal["missing", "raise"] = "missing",
        classes: Sequence[Any] | None = None,
        target_name: str | None = None,
        identifiers: Literal["drop", "keep"] = "drop",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        variables: Declared = None,
    ) -> None:
        self.n_members = n_members
        self.max_parents = max_parents
        self.average = average
        self.prior = prior
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.bins = bins
        self.unknown = unknown
        self.classes = classes
        self.target_name = target_name
        self.identifiers = identifiers
        self.class_weight = class_weight
        self.variables = variables

    # ---------------------------------------------------------------- fitting

    def _learn(self, rows: Labelled, classes: Classes) -> None:
        members = checked_whole(self.n_members, "n_members")
        parents = checked_whole(self.max_parents, "max_parents", least=0)
        if not is_word(self.average, "geometric", "arithmetic"):
            raise expected("'geometric' or 'arithmetic'", "average", self.average)
        prior = _checked_prior(self.prior)
        declared = declared_variables(self.variables)
        treatment = Treatment(
            _bins(self.bins, rows.total), self.identifiers == "drop", tuple(declared), declared
        )
        seeds = _random(self.random_state).randint(_MAX_SEED, size=members).tolist()
        self._take(Forest.learn(rows, classes, parents, prior, treatment, seeds, self._threads))

    def _add(self, rows: Labelled) -> None:
        # The default is that of the first rows; another prior may be set in between.
        self._take(self._forest.add(rows, _checked_prior(self.prior), self._threads))

    def _take(self, forest: Forest) -> None:
        self._forest = forest
        self.classes_ = forest.classes.labels
        self.weights_ = forest.weights
        self.prior_ = forest.growth.prior
        self.identifiers_ = forest.members[0].features.identifiers

    @property
    def networks_(self) -> tuple[BayesianNetwork, ...]:
        """The members, each a network like any other."""
        check_is_fitted(self)
        return self._forest.networks()

    @property
    def _threads(self) -> int:
        jobs = self.n_jobs
        if jobs is None:
            return 1
        if not isinstance(jobs, Integral) or isinstance(jobs, bool) or jobs == 0:
            raise expected("an integer other than 0, or None,", "n_jobs", jobs)
        jobs = int(jobs)
        return jobs if jobs > 0 else max(1, worker_count() + 1 + jobs)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in what the features say about the class, ``[feature]``.

        What a feature says is the gain in the leave-one-out log score of its table from knowing the
        class, per row: an estimate of their mutual information given the feature's other parents.
        It is averaged over the members, by their weights, and the shares add up to one; all are
        zero if no feature says anything.
        """
        check_is_fitted(self)
        return self._forest.importances(feature_names(self), self._threads)

    # ------------------------------------------------------------- prediction

    @property
    def _model(self) -> Forest:
        return self._forest

    def _best(self, rows: Passing) -> NDArray[np.intp]:
        return np.asarray(self._log_chances(rows).argmax(axis=1))

    def _log_chances(self, rows: Passing) -> Floats:
        return self._forest.log_chances(rows.rows, self.average, self._threads)

    def predict_interval(
        self, X: Any, level: float = 0.95, draws: int | None = None, rng: Seed = None
    ) -> Interval:
        """Credible interval of the probability of each class.

        Draws members, by their weights, and for each the tables that the class depends on, from
        their joint posterior: the interval says how well the training rows determine the
        probability, and how far the members agree.

        Parameters
        ----------
        X : array, data frame [row, feature], paths or lazy table
        level : float
            Probability inside; equal tails outside.
        draws : int, optional
            Of all members together, from 100 to a million. By default 4000 for few rows, at least
            1000 where drawing takes long, and as few as 400 for many rows.
        rng : Generator or int, optional
            The same seed gives the same ends for the same rows.

        Returns
        -------
        Interval
            ``lower`` and ``upper``, each ``[row, class]``.
        """
        return super().predict_interval(X, level, draws, rng)

    def _interval(self, rows: Passing, level: float, draws: int | None, rng: Seed) -> Interval:
        coded = self._forest.coded(rows.rows)
        tables = [member.tables for member in self._forest.members]
        pairs = list(zip(tables, coded, strict=True))
        return mixed_intervals(pairs, self.weights_, level, draws, rng)

    # ------------------------------------------------------------------ files

    def _write(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        save(self, self._forest, path, overwrite)

    @classmethod
    def _read(cls, path: str | os.PathLike[str]) -> Kept:
        return read(path)


def _checked_prior(prior: Any) -> Prior | None:
    """Return the prior of all tables, or None if it is to be learned."""
    if prior is not None and not (isinstance(prior, Prior) and prior.has_posterior):
        raise expected("a prior with a posterior, or None,", "prior", prior, "use Tiered()")
    return prior


def _random(random_state: Any) -> Any:
    """Return what draws the seeds of members, as scikit-learn has it."""
    if isinstance(random_state, np.random.Generator):
        what = "an integer, a RandomState or None"
        raise expected(what, "random_state", random_state, "give a seed, such as 0")
    return check_random_state(random_state)


def _bins(bins: Any, rows: float) -> Bins:
    """Return how often columns are cut at most; the default depends on the number of rows."""
    if bins is None:
        return Bins(most_cuts(rows))
    if isinstance(bins, Mapping):
        return Bins(most_cuts(rows), bins)
    return Bins.of(bins)
