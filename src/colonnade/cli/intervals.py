"""Options about credible intervals, which are given by default where tables have a posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from colonnade.cli import options
from colonnade.cli.output import complain, say
from colonnade.cli.values import Misuse
from colonnade.cli.values import draws as draws_of
from colonnade.exceptions import NotSupportedError, TooLargeError, inapplicable, renamed

if TYPE_CHECKING:
    from colonnade.network import BayesianNetwork

# If nobody says how many.
DRAWS = 500
_DRAWS_HELP = "Draws of all tables, for credible intervals: from 100 to a million; 0 is none."
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalOptions:
    """How intervals are computed. What is None was not given."""

    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=draws_of,
            help=_DRAWS_HELP,
            show_default="500 where tables have a posterior",
        ),
    ] = None
    level: Annotated[
        float | None,
        options.level_option(help="Probability inside the intervals; 0.95 by default."),
    ] = None
    seed: Annotated[
        int | None, options.number(help="Other draws; the same seed gives the same ones.")
    ] = None

    def __post_init__(self) -> None:
        for option, value in (("--level", self.level), ("--seed", self.seed)):
            if value is not None and self.draws == 0:
                raise Misuse(f"{option} applies only with --draws.", hint="leave out --draws 0")

    @property
    def asked_for(self) -> bool:
        """Whether somebody asked for intervals."""
        return self.draws is not None or self.level is not None or self.seed is not None

    def settings(self, posterior: bool) -> dict[str, Any]:
        """Draws, level and random numbers, if there is a posterior; else none, or an error."""
        for option, given in (("level", self.level), ("seed", self.seed)):
            if given is not None and not posterior:
                raise inapplicable(option, given, "networks whose tables have a posterior")
        draws = self.draws
        if draws is None:
            draws = DRAWS if posterior or self.asked_for else 0
        if not draws:
            return {}
        level = 0.95 if self.level is None else self.level
        return {"draws": draws, "level": level, "rng": self.seed or 0}

    @property
    def of_forest(self) -> dict[str, Any]:
        """The same for a forest, which always has a posterior and knows how many draws it needs."""
        return {**self.settings(True), "draws": self.draws} if self.draws != 0 else {}

    def answered(self, network: BayesianNetwork, ask: Callable[..., _Answer]) -> _Answer:
        """Ask with `draws`, `level` and `rng`, or without them where intervals cannot be had."""
        posterior = any(cpt.has_posterior for cpt in network.tables.values())
        settings = self.settings(posterior)
        try:
            with renamed(rng="seed"):
                return ask(**settings)
        except (NotSupportedError, TooLargeError) as error:
            # Nobody asked for intervals, and the answer can be had.
            if self.asked_for or not settings:
                raise
            complain(f"Note: no intervals. {error.statement}")
            return ask()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIntervalOptions(IntervalOptions):
    """The same where a forest may answer."""

    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=draws_of,
            help=_DRAWS_HELP,
            show_default="500 where tables have a posterior; of a forest from 400 to 4000, the "
            "fewer the more rows",
        ),
    ] = None


def say_fixed(names: Sequence[str], tell: Callable[[str], None] = say) -> None:
    """Name the variables whose tables have no share in intervals, if there are any."""
    if names:
        tell(f"Fixed, with no share in the intervals: {', '.join(names)}")
