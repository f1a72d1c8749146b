"""What a network is asked: queries, actions, information, and tables of rows.

Every method here is one line of work; the work itself is in ``inference``, which is loaded when a
method is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from colonnade.arrays import Array, Seed
from colonnade.randomness import generator
from colonnade.variables import State

if TYPE_CHECKING:
    from colonnade.inference import (
        Anomalies,
        Effect,
        Entry,
        EntryPair,
        Estimate,
        Explanation,
        Informative,
        MostProbable,
        Observed,
        Predictions,
        QueryResult,
        Sensitivity,
    )
    from colonnade.network.model import BayesianNetwork


class Questions:
    """The questions that a network answers; :class:`BayesianNetwork` has them all."""

    __slots__ = ()

    @property
    def _network(self) -> BayesianNetwork:
        return cast("BayesianNetwork", self)

    # -------------------------------------------------------------- questions

    def query(
        self,
        target: str | Sequence[str],
        observed: Observed = None,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
        do: Observed = None,
    ) -> QueryResult:
        """Probabilities of one or several variables together, given what was observed.

        The answer is exact for the estimated tables. With a prior it is the probability for the
        next case, all uncertainty about the tables averaged out: the estimated tables are posterior
        means, and the probability of a case is linear in each table. The mean of the draws is
        something else once anything is observed: each draw divides by its own probability of what
        was observed, so draws in which that is improbable count as much as the others.

        Parameters
        ----------
        target : str or sequence of str
            What is asked for; several names give their joint probabilities.
        observed : mapping of str to state, optional
            What is known: for each variable its state; several states of which one is true
            (``["middle", "old"]``); a condition (``"not no"``, ``"> 60"``); or how likely what was
            found is under each state (``{"no": 0.1, "yes": 0.4}``), which is also called soft or
            virtual evidence. Also as text, one for each variable: ``["age > 60", "smoker = yes"]``,
            or ``"age > 60"`` alone. See :class:`colonnade.inference.Evidence`.
        draws : int, optional
            Independent draws of all tables that matter, for credible intervals: from 100 to a
            million, or 0 for none. Tables without a posterior (known ones, and those of
            ``MaximumLikelihood`` and ``NoisyMax``) stay as they are, so that the intervals lack
            their share; the result names them in `fixed`.
        level : float, optional
            Probability inside the intervals; only with draws.
        rng : Generator or int, optional
            Only with draws.
        do : mapping of str to state, optional
            Variables that are set by an action, see :meth:`do`; text as for `observed`.

        Returns
        -------
        QueryResult

        Raises
        ------
        DataError
            If a state does not exist, if what is observed cannot occur, or if a configuration that
            matters has no probabilities.
        TooLargeError
            If exact inference would need more memory than is sensible; the error says how much.
        NotSupportedError
            If draws are asked for and no table that matters has a posterior.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> round(network.query("a", {"b": 1})[1], 3)
        0.704
        """
        from colonnade.inference import query

        return query(self._network, target, observed, draws, level, rng, do)

    def most_probable(
        self, observed: Observed = None, target: str | Sequence[str] | None = None
    ) -> MostProbable:
        """Most probable states of all variables together, or of some, given what was observed.

        Exact. These need not be the states that are most probable one by one.

        Parameters
        ----------
        observed : mapping of str to state, optional
            As for :meth:`query`.
        target : str or sequence of str, optional
            Some variables; the others are summed out first. By default all variables.

        Returns
        -------
        MostProbable
            The ``states``, of equally probable ones the first; and their ``log_probability``: of
            all variables, that of the states themselves, whatever likelihoods were observed; of
            some, together with what was observed, with likelihoods divided by their largest.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> network.most_probable({"b": 1}).states
        {'a': 1, 'b': 1}
        >>> network.most_probable(target="b").states
        {'b': 0}
        """
        from colonnade.inference import most_probable

        return most_probable(self._network, observed, target)

    # ---------------------------------------------------------------- actions

    def do(self, actions: Observed) -> BayesianNetwork:
        """Return the network after actions: variables are set, whatever their parents are.

        The arcs into them are gone, and all other tables stay as they are. That this is what an
        action does assumes that the graph is causal and complete. In a grouped network the group
        remains a parent, with the same row in every group.

        Parameters
        ----------
        actions : mapping of str to state
            Also as text: ``"smoker = no"``, or a list with a text for each variable.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> network.do({"b": 1}).dag
        Dag([], variables=['a', 'b'])
        >>> round(network.query("a", {"b": 1})[1], 3), round(network.do({"b": 1}).query("a")[1], 3)
        (0.704, 0.5)
        """
        from colonnade.inference import do

        return do(self._network, actions)

    def effect(
        self,
        target: str,
        of: Mapping[str, tuple[Any, Any]],
        given: Observed = None,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
    ) -> Effect:
        """How much setting variables to one state and to another changes a variable.

        Difference, ratio and odds ratio of the probabilities of each state of the target after the
        two actions. Exact for the estimated tables; the network adjusts for common causes by
        itself. What is assumed is in the result. Both sides use the same draws of all tables, so
        the intervals are those of the comparison.

        Parameters
        ----------
        target : str
        of : mapping of str to (state, state)
            The variables that are set, to the first state and to the second.
        given : mapping of str to state, optional
            What is observed after the action, as for :meth:`query`: for whom the effect is. If the
            action itself changes it, the result says so (`changed`): those in this state after one
            action are not those in it after the other.
        draws, level, rng
            As for :meth:`query`.

        Returns
        -------
        Effect

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> table = {"smoker": ["yes", "no"] * 10, "ill": ["yes", "no", "no", "no"] * 5}
        >>> network = fit(table, Dag([("smoker", "ill")]))
        >>> effect = network.effect("ill", of={"smoker": ("yes", "no")})
        >>> round(effect["yes"].difference, 3)
        0.417
        """
        from colonnade.inference import effect
        from colonnade.inference.queries import Precision

        return effect(self._network, target, of, given, Precision(draws, level, rng))

    def association(
        self,
        target: str,
        of: Mapping[str, tuple[Any, Any]],
        given: Observed = None,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
    ) -> Effect:
        """How much a variable differs between those found in one state and in another.

        The same as :meth:`effect`, parameter by parameter, for states that are observed and not
        set: common causes have their part in it.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> round(network.association("a", of={"b": (1, 0)})[1].difference, 3)
        0.294
        >>> round(network.effect("a", of={"b": (1, 0)})[1].difference, 3)
        0.0
        """
        from colonnade.inference import association
        from colonnade.inference.queries import Precision

        return association(self._network, target, of, given, Precision(draws, level, rng))

    # ------------------------------------------------------------ information

    def entropy(
        self,
        target: str | Sequence[str] | None = None,
        observed: Observed = None,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
    ) -> Estimate:
        """How much is open about variables, given what was observed, in nats.

        Parameters
        ----------
        target : str or sequence of str, optional
            By default all variables together.
        observed, draws, level, rng
            As for :meth:`query`.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> round(network.entropy("a").value, 4)
        0.6931
        """
        from colonnade.inference import entropy
        from colonnade.inference.queries import Precision

        return entropy(self._network, target, observed, Precision(draws, level, rng))

    def mutual_information(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        given: str | Sequence[str] = (),
        observed: Observed = None,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
    ) -> Estimate:
        """How much variables tell about others on average, in nats.

        Parameters
        ----------
        x, y : str or sequence of str
        given : str or sequence of str, optional
            Variables that are known, over whose states the mean is taken.
        observed, draws, level, rng
            As for :meth:`query`.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> round(network.mutual_information("a", "b").value, 4)
        0.0376
        """
        from colonnade.inference import mutual_information
        from colonnade.inference.queries import Precision

        precision = Precision(draws, level, rng)
        return mutual_information(self._network, x, y, given, observed, precision)

    def informative(
        self,
        target: str,
        observed: Observed = None,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
    ) -> Informative:
        """What to ask next: how much each variable would tell about one, the most telling first.

        The expected information in nats, given what was observed, for every other variable whose
        state is not known.

        Parameters
        ----------
        target : str
        observed, draws, level, rng
            As for :meth:`query`.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> network.informative("a")
        Information about 'a' in nats
          b  0.0376
        """
        from colonnade.inference import informative
        from colonnade.inference.queries import Precision

        return informative(self._network, target, observed, Precision(draws, level, rng))

    def explain(
        self,
        target: str,
        observed: Observed,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
    ) -> Explanation:
        """Which findings moved the probabilities of a variable, and by how much.

        For every finding the answer with it alone, and with all others but it.

        Parameters
        ----------
        target : str
        observed, draws, level, rng
            As for :meth:`query`; with draws there are intervals of what each finding adds to the
            others. The answers with and without it use the same draws.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> network.explain("a", {"b": 1})
        Explanation of 'a'
          nothing known: 0: 0.5000, 1: 0.5000
          all known:     0: 0.2963, 1: 0.7037
          b alone: 0: 0.2963, 1: 0.7037; without: 0: 0.5000, 1: 0.5000
        """
        from colonnade.inference import explain
        from colonnade.inference.queries import Precision

        return explain(self._network, target, observed, Precision(draws, level, rng))

    def sensitivity(
        self, target: str, state: State, observed: Observed = None, level: float | None = None
    ) -> Sensitivity:
        """How the probability of a state depends on single entries of the tables.

        Exact: as a function of one entry, while the others of its row change in proportion, the
        probability is a ratio of two linear functions. Entries of 0 and 1 are left out, and those
        that do not matter.

        Parameters
        ----------
        target : str
        state : state
        observed : mapping of str to state, optional
            As for :meth:`query`.
        level : float, optional
            If given, entries also have their credible intervals and their ``swing``, the answers at
            the ends of these: which of them is worth more data.

        Returns
        -------
        Sensitivity
            A sequence of :class:`colonnade.inference.Entry`: the largest derivative first, or with
            a level the largest swing.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> entry = network.sensitivity("a", 1, {"b": 1})[0]
        >>> entry.variable, entry.configuration, entry.state, round(entry.derivative, 3)
        ('b', {'a': 0}, 0, 1.147)
        >>> round(entry.at(entry.value), 4)
        0.7037
        """
        from colonnade.inference import sensitivity

        return sensitivity(self._network, target, state, observed, level)

    def joint_sensitivity(
        self,
        target: str,
        state: State,
        entries: tuple[Entry, Entry],
        observed: Observed = None,
    ) -> EntryPair:
        """How the probability of a state depends on two entries of the tables together.

        Exact: a ratio of two functions that are linear in each of the entries.

        Parameters
        ----------
        target : str
        state : state
        entries : pair of Entry
            Two that :meth:`sensitivity` gives for the same question.
        observed : mapping of str to state, optional
            As for :meth:`query`.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> one, other = network.sensitivity("a", 1, {"b": 1}).first(2)
        >>> pair = network.joint_sensitivity("a", 1, (one, other), {"b": 1})
        >>> round(pair.at(one.value, other.value), 4), round(pair.at(0.5, other.value), 4)
        (0.7037, 0.4634)
        """
        from colonnade.inference import joint_sensitivity

        return joint_sensitivity(self._network, target, state, entries, observed)

    def kl(
        self, other: BayesianNetwork, draws: int = 0, level: float = 0.95, rng: Seed = None
    ) -> Estimate:
        """Kullback-Leibler divergence to another network of the same variables, in nats.

        How much higher the log likelihood of a row of this network is, in the mean, than under
        the other one. Exact, whatever the two graphs; infinite if the other excludes rows that
        this one has.

        Parameters
        ----------
        other : BayesianNetwork
            With the same variables and states.
        draws, level, rng
            As for :meth:`query`. The tables of both networks are drawn, independently of each
            other, so two networks with the same estimates are apart in every draw: the interval
            is that of the divergence of what the estimates stand for, and lies above the value
            where data are few.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}
        >>> network, other = fit(table, Dag([("a", "b")])), fit(table, Dag([], ["a", "b"]))
        >>> network.kl(network).value, round(network.kl(other).value, 4)
        (0.0, 0.0376)
        """
        from colonnade.inference import kl
        from colonnade.inference.queries import Precision

        return kl(self._network, other, Precision(draws, level, rng))

    # ------------------------------------------------------------------- rows

    def sample(self, n: int, rng: Seed = None, observed: Observed = None) -> dict[str, Array]:
        """Draw independent rows from the network.

        Parameters
        ----------
        n : int
        rng : Generator or int, optional
        observed : mapping of str to state, optional
            What all rows must agree with, as for :meth:`query`. The rows are exact: none is drawn
            and thrown away, however improbable this is.

        Returns
        -------
        dict of str to array [row]
            One column of states per variable: a table that :func:`colonnade.fit` takes, and that
            ``pandas.DataFrame`` or ``polars.DataFrame`` make a data frame of.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"x": ["a", "a", "b"]}, Dag([], ["x"]))
        >>> network.sample(5, rng=1)
        {'x': array(['a', 'b', 'a', 'b', 'a'], dtype=object)}
        >>> network.sample(2, rng=1, observed={"x": "not a"})
        {'x': array(['b', 'b'], dtype=object)}
        """
        from colonnade.inference import sample

        return sample(self._network, n, observed, generator(rng))

    def predict(
        self,
        table: Any,
        target: str,
        draws: int = 0,
        level: float = 0.95,
        rng: Seed = None,
        unknown: Literal["raise", "missing"] = "raise",
    ) -> Predictions:
        """Predict one variable for every row of a table from the others.

        Parameters
        ----------
        table : table
            As for :func:`colonnade.fit`; a column of the target is ignored. Missing values are
            summed out exactly. A variable without a column is missing in every row, which a
            ``DataWarning`` tells. Files and lazy tables are read as a whole, because the result is
            in memory; ``colonnade predict`` goes from a file of any size into a file.
        target : str
        draws, level, rng
            As for :meth:`query`: with draws, the probabilities have credible intervals.
        unknown : {"raise", "missing"}
            What to do with values that are no states of their variable.

        Returns
        -------
        Predictions
            Its ``to_frame()`` has the index of a pandas data frame.

        Raises
        ------
        DataError
            If a row cannot occur, whatever the target is, or needs a configuration without
            probabilities; as for :meth:`query`.
        NotSupportedError
            If draws are asked for and no table that matters has a posterior.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}, Dag([("a", "b")]))
        >>> found = network.predict({"b": [1, None]}, "a")
        >>> found.states.tolist(), found.probabilities.round(3).tolist()
        ([1, 0], [[0.25, 0.75], [0.5, 0.5]])
        """
        from colonnade.inference import predict
        from colonnade.inference.queries import Precision

        return predict(self._network, table, target, Precision(draws, level, rng), unknown)

    def impute(
        self,
        table: Any,
        how: Literal["probable", "sample", "mean"] = "probable",
        draws: int | None = None,
        rng: Seed = None,
        unknown: Literal["raise", "missing"] = "raise",
    ) -> Any:
        """Fill in the missing values of a table.

        Parameters
        ----------
        table : table
            As for :meth:`predict`; columns that are no variables are kept. Files are read as a
            whole.
        how : {"probable", "sample", "mean"}
            By the states that are most probable together, row by row; by states drawn from their
            joint distribution given the rest of the row; or, where states are integers, by their
            mean, and elsewhere by the state that is most probable alone.
        draws : int, optional
            Number of completed tables, for multiple imputation; only with ``"sample"``. For each of
            them, all tables of the network that have a posterior are drawn from it first, so that
            the completed tables differ as much as is unknown.
        rng : Generator or int, optional
            Only with ``"sample"``.
        unknown : {"raise", "missing"}
            What to do with values that are no states of their variable: refuse them, or fill
            these in as well.

        Returns
        -------
        table of the same kind, or a list of them with `draws`
            A data frame with its index, or a dictionary of columns (also of arrays); other columns
            stay as they are, and variables that had no column come last. Of files, databases and
            coded tables, a dictionary with one column per variable. A variable that was cut has
            its intervals. With ``"mean"``, columns of integers are floating-point numbers.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}, Dag([("a", "b")]))
        >>> network.impute({"a": [None, 0], "b": [1, None]})
        {'a': array([1, 0]), 'b': array([1, 0])}
        >>> len(network.impute({"a": [None, 0], "b": [1, None]}, "sample", draws=5, rng=0))
        5
        """
        from colonnade.inference import impute

        return impute(self._network, table, how, draws, rng, unknown)

    def anomaly(self, table: Any, unknown: Literal["raise", "missing"] = "raise") -> Anomalies:
        """How unusual each row is, and the share of each variable.

        Parameters
        ----------
        table, unknown
            As for :meth:`log_likelihood`, whose values are taken apart. Files are read as a whole,
            because the result, a number for each row and variable, is in memory.

        Returns
        -------
        Anomalies

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}, Dag([("a", "b")]))
        >>> found = network.anomaly({"a": [0, 0], "b": [0, 1]})
        >>> found.lowest(1).tolist(), list(found.of(1))
        ([1], ['b', 'a'])
        """
        from colonnade.inference import anomaly

        return anomaly(self._network, table, unknown)
