"""Origin: how the graph of a network was learned."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.exceptions import checked_whole, counted, expected


@dataclass(frozen=True, slots=True)
class Origin:
    """How a graph was learned, for whoever looks at the network later.

    Parameters
    ----------
    learner : str
        What learned it, in words such as ``"hill climbing"``.
    score : str, optional
        What was maximised, in words such as ``"BIC"``.
    rows : int, optional
        Rows that it was learned from: those without gaps, perhaps.
    all_rows : int, optional
        Rows that there were, if that is known; at least `rows`.

    Examples
    --------
    >>> Origin("hill climbing", "BIC", 256, 300).in_words
    'learned by hill climbing, which maximises BIC, from the 256 complete rows of 300'
    """

    learner: str
    score: str | None = None
    rows: int | None = None
    all_rows: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.learner, str) or not self.learner:
            raise expected("a non-empty string", "learner", self.learner)
        if self.score is not None and not isinstance(self.score, str):
            raise expected("a string", "score", self.score)
        if self.rows is not None:
            checked_whole(self.rows, "rows", 0)
        if self.all_rows is not None:
            checked_whole(self.all_rows, "all_rows", self.rows or 0)

    @property
    def in_words(self) -> str:
        """A phrase that goes on after "the graph was"."""
        text = f"learned by {self.learner}"
        if self.score is not None:
            text += f", which maximises {self.score},"
        if self.rows is None:
            return text.removesuffix(",")
        if self.all_rows in (None, self.rows):
            return f"{text} from {counted(self.rows, 'row')}"
        return f"{text} from the {counted(self.rows, 'complete row')} of {self.all_rows:,}"
