"""Prior: all that the rest of the package asks of a prior.

The other rooms never ask which prior they have. A new one overrides :meth:`Prior.posterior`, or
:meth:`Prior.table` if it has no posterior, and whatever else it can do better than the general way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from colonnade.arrays import Floats, Integers
from colonnade.counts import FamilyCounts, as_counts
from colonnade.docstrings import inherit_docstrings
from colonnade.exceptions import (
    Advice,
    CountsError,
    NotSupportedError,
    TooManyStatesError,
    amount,
    did_you_mean,
    expected,
    listing,
)
from colonnade.pooling.penalty import Pull
from colonnade.sparse import SparseTable

if TYPE_CHECKING:
    from colonnade.pooling.growing import Leaning
    from colonnade.priors.noisy import Effects
    from colonnade.priors.table_posterior import TablePosterior

Counts = FamilyCounts | ArrayLike

LOG_EVIDENCE = "log evidence"
# Of an option that files had not from the beginning: they have it if it is not the default.
SAVED_IF_GIVEN = {"saved": "if given"}

# Stored probabilities and those that follow from counts and prior may differ by rounding.
_TABLE_TOLERANCE = 1e-6
# Beyond this many states a table takes minutes and gigabytes.
_MAX_POOLED_STATES = 5000
# Parameters of a prior. Outside these the prior is one of its limits to all digits, or nearly.
_MIN_PARAMETER, _MAX_PARAMETER = 1e-100, 1e12


class Inconsistency(NamedTuple):
    """What is wrong with a table that was saved.

    Attributes
    ----------
    part, problem : str
        A part of the table, and a sentence about it.
    """

    part: str
    problem: str


@dataclass(frozen=True)
class Prior:
    """What turns counts into an estimate of a table.

    A prior is a frozen dataclass; its fields are its options, and files save them.

    Attributes
    ----------
    keyword : str
        Its name on the command line; empty if it has none.
    setting : str
        What its first option is called there, for messages.
    examples : dict of str to str
        Words of the command line for it, to be shown to a user, and what each means.
    score_name : str or None
        What :meth:`structure_score` returns; None if the prior is no score.
    score_equivalent : bool
        Whether graphs with the same independences have the same score.
    """

    keyword: ClassVar[str] = ""
    setting: ClassVar[str] = "setting"
    examples: ClassVar[Mapping[str, str]] = {}
    score_name: ClassVar[str | None] = LOG_EVIDENCE
    score_equivalent: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherit_docstrings(cls)

    def estimate(self, counts: Counts) -> Floats:
        """Estimated probabilities from counts, both ``[configuration, state]``.

        Examples
        --------
        >>> from colonnade import BDeu
        >>> BDeu(4).estimate([[3, 1], [0, 0]])
        array([[0.66666667, 0.33333333],
               [0.5       , 0.5       ]])
        """
        return self.table(counts).dense()

    def table(self, counts: Counts) -> SparseTable:
        """Estimated probabilities of the observed configurations, and of any other.

        Examples
        --------
        >>> from colonnade import BDeu
        >>> BDeu(4).table([[3, 1], [0, 0]]).rows_of(np.array([[1], [0]]))
        array([[0.5       , 0.5       ],
               [0.66666667, 0.33333333]])
        """
        return self.posterior(counts).table

    @property
    def has_posterior(self) -> bool:
        """Whether there is more than a table: a posterior with its uncertainty."""
        return type(self).posterior is not Prior.posterior

    def posterior(self, counts: Counts) -> TablePosterior:
        """Posterior of the table; refused if the prior has none (see :attr:`has_posterior`)."""
        what = f"A posterior of {type(self).__name__}()"
        raise NotSupportedError(what, "it has no prior distribution", Advice.PRIOR_WITH_POSTERIOR)

    def strength(self, counts: FamilyCounts) -> float:
        """Number of observations that the prior is worth in each row of a table."""
        raise NotSupportedError(f"A strength of {self!r}", "it is not one number")

    def row_strength(self, configurations: int, states: int) -> float | None:
        """Strength of all rows of a table, if they are independent and it does not need the counts.

        The rows are then Dirichlet distributed with strength / states for each cell, and the
        structure score is their log evidence. None for any other prior.
        """
        return None

    def log_evidence(self, counts: Counts) -> float:
        """Log probability of the counts under the prior, in the order the observations came.

        Examples
        --------
        >>> from colonnade import SymmetricDirichlet
        >>> bool(np.isclose(SymmetricDirichlet(2).log_evidence([[1, 1]]), np.log(1 / 6)))
        True
        """
        if not self.has_posterior:
            what = f"The log evidence of {type(self).__name__}()"
            hint = "use a score such as BIC for comparison"
            raise NotSupportedError(what, "it has no prior distribution", hint)
        return self._evidence(self.posterior(counts).log_evidence)

    def _evidence(self, value: float | None) -> float:
        if value is None:
            raise NotSupportedError(f"The log evidence of {self!r}", "its engine has none")
        return value

    def structure_score(self, counts: Counts) -> float:
        """Score of a family in a graph, larger is better; :attr:`score_name` says what it is."""
        return self.log_evidence(counts)

    def structure_scores(self, tables: Integers) -> Floats | None:
        """Structure scores of many tables of whole counts, ``[table, configuration, state]``.

        None if the prior has no quicker way than one after the other, or if its score depends on
        more than the rows of a table, such as the order of the parents.
        """
        return None

    def leave_one_out_score(self, counts: Counts) -> float:
        """Sum over all observations of their log probability given all others.

        Examples
        --------
        >>> from colonnade import SymmetricDirichlet
        >>> score = SymmetricDirichlet().leave_one_out_score([[2, 1]])
        >>> bool(np.isclose(score, np.log(2 / 4) * 2 + np.log(1 / 4)))
        True
        """
        return self.posterior(counts).leave_one_out_score()

    def leaves_out_exactly(self, counts: FamilyCounts) -> bool:
        """Whether nothing in :meth:`leave_one_out_score` was learned from what is left out."""
        return True

    def em_penalty(self, counts: FamilyCounts) -> Pull:
        """What the prior adds to the log likelihood while EM fills in missing values.

        The counts are those to begin with: of the rows that are complete for the family.
        """
        what = f"missing='em' with {self!r}"
        raise NotSupportedError(what, "there is no penalty for it", "use Hierarchical()")

    def reweighted(self, weight: float) -> Prior | None:
        """Return the prior of the same knowledge with another weight; None if it holds none."""
        return None

    def effects(self, counts: Counts) -> Effects | None:
        """Effects of single parents that all rows follow from; None if the table is free."""
        return None

    def inconsistency(self, counts: FamilyCounts, table: SparseTable) -> Inconsistency | None:
        """Return what does not follow from the counts and the prior in a table that was saved.

        Examples
        --------
        >>> from colonnade import BDeu
        >>> counts = FamilyCounts.from_array([[3, 1]])
        >>> BDeu().inconsistency(counts, BDeu(10).table(counts))
        Inconsistency(part='rows', problem='they do not follow from the counts and the prior.')
        """
        with np.errstate(all="ignore"):  # numbers of a forged file may be of any size
            wanted = self.table(counts)
        if wanted.default is None and table.default is not None:
            return Inconsistency("default", "the prior leaves such configurations out.")
        if wanted.default is not None and not _close(table.default, wanted.default):
            return Inconsistency("default", "it does not follow from the prior.")
        return self._inconsistency_of_rows(table, wanted.rows)

    def completed(self, counts: FamilyCounts, table: SparseTable) -> SparseTable:
        """Return a table that was saved with what follows from the counts and is not saved."""
        return table

    @staticmethod
    def _inconsistency_of_rows(table: SparseTable, wanted: Floats) -> Inconsistency | None:
        if _close(table.rows, wanted):
            return None
        return Inconsistency("rows", "they do not follow from the counts and the prior.")

    @property
    def word(self) -> str:
        """How the command line writes the prior: its keyword, and its first option if need be.

        A prior with other options that have no word is written in full.

        Examples
        --------
        >>> from colonnade import BDeu, Hierarchical
        >>> BDeu(10).word, Hierarchical(s="learn").word, Hierarchical().word
        ('bdeu:10', 'hierarchical:learn', 'hierarchical')
        >>> Hierarchical(alpha0=2.0).word
        'Hierarchical(s=None, alpha0=2.0, engine=None)'
        """
        options = fields(self)
        unsaid = any(getattr(self, each.name) != each.default for each in options[1:])
        if not self.keyword or unsaid:
            return repr(self)
        setting = getattr(self, options[0].name) if options else None
        if isinstance(setting, float):
            short = format(setting, "g")
            return f"{self.keyword}:{short if float(short) == setting else repr(setting)}"
        plain = not options or setting == options[0].default
        return self.keyword if plain else f"{self.keyword}:{setting}"

    @property
    def in_words(self) -> str:
        """What the prior is, for a reader who has not written it: its word, if it has one.

        Examples
        --------
        >>> from colonnade import BDeu, Hierarchical
        >>> BDeu(10).in_words, Hierarchical(alpha0=2.0).in_words
        ('bdeu:10', 'hierarchical (alpha0 = 2)')
        """
        if self.word != repr(self):
            return self.word
        asked = [each for each in fields(self) if each.compare]
        changed = [each.name for each in asked if getattr(self, each.name) != each.default]
        name = self.keyword or type(self).__name__
        options = ", ".join(self._option_in_words(option) for option in changed)
        return f"{name} ({options})" if options else name

    def _option_in_words(self, name: str) -> str:
        """Say what an option is that is not the default."""
        value = getattr(self, name)
        return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Options by name, as scikit-learn asks for them.

        Examples
        --------
        >>> from colonnade import BDeu
        >>> BDeu(10).get_params()
        {'ess': 10.0}
        """
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def set_params(self, **options: Any) -> Self:
        """Return the prior with other options; the prior itself never changes.

        Examples
        --------
        >>> from colonnade import Hierarchical
        >>> Hierarchical(s=4).set_params(s="learn").s
        'learn'
        """
        known = self.get_params()
        for name in options:
            if name not in known:
                what = f"an option of {type(self).__name__}, one of {listing(known)},"
                what = what if known else f"no options of {type(self).__name__}, which has none,"
                raise expected(what, "options", name, did_you_mean(name, known))
        return replace(self, **options)

    @property
    def leaning(self) -> Leaning | None:
        """What many tables can be learned with at once, or None: see `pooling.growing`."""
        return None

    def __sklearn_clone__(self) -> Self:
        return self  # it never changes

    @classmethod
    def from_setting(cls, text: str) -> Self:
        """Return the prior for what follows its keyword and a colon on the command line.

        Examples
        --------
        >>> from colonnade import MaximumLikelihood, SymmetricDirichlet
        >>> SymmetricDirichlet.from_setting("8"), MaximumLikelihood.from_setting("uniform")
        (SymmetricDirichlet(s=8.0), MaximumLikelihood(unobserved='uniform'))
        """
        kind: Any = cls  # its first option is not known here
        made: Self = kind(_number(text))
        return made


def _number(text: str) -> int | float | str:
    """Return the number that a text is, as it was written; else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text  # a word that the prior knows or refuses


def checked_positive(
    value: Any, parameter: str, hint: str = "", least: float = _MIN_PARAMETER
) -> float:
    """Return a number from `least` to 1e12, or say what is wrong."""
    number = math.nan
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
    if not least <= number <= _MAX_PARAMETER:
        raise expected(f"a number from {least:g} to {_MAX_PARAMETER:g}", parameter, value, hint)
    return number


def checked_counts(counts: Counts, bits: int = 53) -> FamilyCounts:
    """Return counts with a total of at most 2**bits and not too many states."""
    counts = as_counts(counts)
    if counts.total > 2**bits:
        hint = "divide all counts, or the weights of the rows, by the same number"
        what, got = f"counts with a total of at most 2**{bits}", amount(counts.total)
        raise expected(what, "counts", counts, hint, got=got, kind=CountsError)
    # The covariance of alpha has a cell for each pair of states.
    if counts.states > _MAX_POOLED_STATES:
        raise TooManyStatesError(counts.states, _MAX_POOLED_STATES)
    return counts


def _close(found: Floats | None, wanted: Floats) -> bool:
    return found is not None and np.allclose(found, wanted, rtol=0.0, atol=_TABLE_TOLERANCE)


def observations(weight: float) -> str:
    """Say how many observations something is worth."""
    return "1 observation" if weight == 1.0 else f"{weight:g} observations"
