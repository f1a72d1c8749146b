"""Graphs from files, and learners of graphs with their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from colonnade.cli.arcs import arcs_of, tiers_of
from colonnade.cli.data import Missing
from colonnade.cli.options import number, score_of
from colonnade.cli.values import Misuse, choice
from colonnade.exceptions import did_you_mean, expected, listing

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.network import Origin
    from colonnade.structure import Found, FoundByTests, Score
    from colonnade.tables import CodedTable

# Options that help shows among those about the graph.
graph_option = partial(typer.Option, rich_help_panel="Structure")
graph_number = partial(number, rich_help_panel="Structure")


GraphPrior = StrEnum("GraphPrior", ["sizes"])


class Learn(StrEnum):
    """How to learn a graph, or a forest of them."""

    HC = "hc"
    GES = "ges"
    EXACT = "exact"
    PC = "pc"
    TAN = "tan"
    CHOW_LIU = "chow-liu"
    KDB = "kdb"
    NAIVE = "naive"
    FOREST = "forest"


# A forest is many graphs, which only fit learns.
graph_learner = choice(Learn, but=[Learn.FOREST])
_SUPERVISED = (Learn.TAN, Learn.KDB, Learn.NAIVE)
_SCORED = (Learn.HC, Learn.GES, Learn.EXACT)
_RULED = (*_SCORED, Learn.PC)


_IN_WORDS = {
    Learn.HC: "hill climbing",
    Learn.GES: "greedy equivalence search",
    Learn.EXACT: "exact search",
    Learn.PC: "tests of independence (PC)",
    Learn.TAN: "tree-augmented naive Bayes",
    Learn.CHOW_LIU: "the method of Chow and Liu, a tree",
    Learn.KDB: "a k-dependence classifier",
    Learn.NAIVE: "naive Bayes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerOptions:
    """What learners of graphs can be told. What is None was not given."""

    target: Annotated[
        str | None,
        graph_option(
            metavar="VARIABLE",
            help="The variable to be predicted, by --learn tan, kdb or naive; tan by default then.",
        ),
    ] = None
    score: Annotated[
        str | None,
        graph_option(
            metavar="SCORE",
            help="What --learn hc, ges or exact maximise: bic (by default), aic, loglik, or the "
            "log evidence of a prior: {scores}.",
        ),
    ] = None
    graph_prior: Annotated[
        GraphPrior | None,
        graph_option(
            parser=choice(GraphPrior),
            metavar="HOW",
            help="Let --learn hc, ges or exact pay for the choice among many parents: sizes (all "
            "numbers of parents are equally probable, and all sets of one size).",
        ),
    ] = None
    max_parents: Annotated[
        int | None, graph_number(help="Largest number of parents, for --learn hc, ges or exact.")
    ] = None
    k: Annotated[
        int | None,
        graph_number(
            help="Parents of a feature besides the target, for --learn kdb; 2 by default."
        ),
    ] = None
    required: Annotated[
        list[str] | None,
        graph_option(
            metavar="ARCS",
            help="Arcs that --learn hc, ges, exact or pc must have: a file with one arc per "
            "line, or PARENT->CHILD; may be given several times.",
        ),
    ] = None
    forbidden: Annotated[
        list[str] | None,
        graph_option(
            metavar="ARCS",
            help="Arcs that --learn hc, ges, exact or pc must not have, as for --required; an "
            "arc may be there the other way round.",
        ),
    ] = None
    tiers: Annotated[
        str | None,
        graph_option(
            metavar="TIERS",
            help="Tiers of variables, between which arcs only point forward, for --learn hc, ges, "
            "exact or pc: 'age,sex < smoker < cancer', or a file with one tier per line. Variables "
            "that are not named are free.",
        ),
    ] = None
    tabu: Annotated[
        int | None,
        graph_number(
            help="Length of the tabu list with which --learn hc goes on past a local optimum."
        ),
    ] = None
    restarts: Annotated[
        int | None,
        graph_number(
            help="How often --learn hc perturbs the best graph at random and climbs again."
        ),
    ] = None

    @property
    def usual(self) -> Learn:
        """How graphs are learned if nobody says so."""
        return Learn.HC if self.target is None else Learn.TAN

    @property
    def prior_of_graphs(self) -> Literal["sizes"] | None:
        """What the number of parents is charged."""
        return None if self.graph_prior is None else "sizes"

    def score_by(self, learn: Learn) -> Score | None:
        """What a learner maximises; None if it is no score that can be chosen."""
        return score_of(self.score or "bic") if learn in _SCORED else None

    def check(self, learn: Sequence[Learn], *, scored: bool = False, forests: bool = False) -> None:
        """Refuse options that do not fit the graphs to be learned.

        `scored` says that a target has a meaning of its own: predictions of it are scored;
        `forests`, that they could be learned as well.
        """
        supervised = (*_SUPERVISED, Learn.FOREST) if forests else _SUPERVISED
        for option, value, learners in (
            ("--target", None if scored else self.target, supervised),
            ("--score", self.score, _SCORED),
            ("--graph-prior", self.graph_prior, _SCORED),
            ("--max-parents", self.max_parents, _SCORED),
            ("--required", self.required, _RULED),
            ("--forbidden", self.forbidden, _RULED),
            ("--tiers", self.tiers, _RULED),
            ("--tabu", self.tabu, (Learn.HC,)),
            ("--restarts", self.restarts, (Learn.HC,)),
            ("--k", self.k, (Learn.KDB,)),
        ):
            if value is not None and not set(learners) & set(learn):
                *others, last = learners
                owners = f"{', '.join(others)} or {last}" if others else last
                page = option == "--target" and forests
                hint = "give --report, whose page shows how well it is predicted" if page else ""
                raise Misuse(f"{option} applies only with --learn {owners}.", hint=hint)
        lacking = [each for each in learn if each in supervised and self.target is None]
        if lacking:
            needs = f"--learn {lacking[0]} needs the variable to be predicted"
            raise Misuse(f"--target is missing: {needs}.")
        if self.score is not None:
            score_of(self.score)  # a wrong word is reported before any work
        self._check_sizes()

    def _check_sizes(self) -> None:
        from colonnade.structure.search import MAX_RESTARTS, MAX_TABU

        for option, value, most in (
            ("--tabu", self.tabu, MAX_TABU),
            ("--restarts", self.restarts, MAX_RESTARTS),
        ):
            if value is not None and value > most:
                raise Misuse(f"Expected an integer from 0 to {most:,} for {option}, got {value}.")

    def check_target(self, columns: Sequence[str]) -> None:
        """Refuse a target that is none of the columns, before any work."""
        if self.target is not None and self.target not in columns:
            hint = did_you_mean(self.target, columns)
            raise expected(f"one of {listing(columns)}", "target", self.target, hint)

    def origin(self, learn: Learn, rows: CodedTable, missing: Missing) -> Origin:
        """Say how a graph is learned from rows, which may have gaps."""
        from colonnade.network import Origin
        from colonnade.priors import Prior

        score, words = self.score_by(learn), None
        if isinstance(score, Prior):
            words = f"the {score.score_name} of {score.in_words}"
        elif score is not None:
            words = type(score).__name__
        if words is not None and self.graph_prior is not None:
            words += " with a prior of the number of parents"
        learner = _IN_WORDS[learn]
        if learn in _SUPERVISED:
            learner += f" for {self.target}"
        if learn is Learn.NAIVE:  # which needs no rows
            return Origin(learner)
        used = rows.rows if missing is Missing.STATE else int(rows.complete.sum())
        return Origin(learner, words, used, rows.rows)

    def learner(
        self, learn: Learn, seed: int | None, missing: Missing = Missing.RAISE
    ) -> Callable[[Any], Dag | Found | FoundByTests]:
        """Return a function from a table, which may have gaps, to a graph."""
        from colonnade import structure

        rules: dict[str, Any] = {**self._rules(), "missing": missing.value}
        scored = {
            **rules,
            "score": score_of(self.score or "bic"),
            "graph_prior": self.prior_of_graphs,
            "max_parents": self.max_parents,
        }
        climbing: dict[str, Any] = {
            "tabu": self.tabu or 0,
            "restarts": self.restarts or 0,
            "rng": seed if self.restarts else None,
        }
        target = self.target or ""
        k = 2 if self.k is None else self.k
        learners: dict[Learn, Callable[[Any], Dag | Found | FoundByTests]] = {
            Learn.HC: partial(structure.hill_climb, **scored, **climbing),
            Learn.GES: partial(structure.ges, **scored),
            Learn.EXACT: partial(structure.exact_search, **scored),
            Learn.PC: partial(structure.pc, **rules),
            Learn.TAN: lambda table: structure.tan(table, target, missing=missing.value),
            Learn.CHOW_LIU: lambda table: structure.chow_liu(table, missing=missing.value),
            Learn.KDB: lambda table: structure.kdb(table, target, k, missing=missing.value),
            Learn.NAIVE: lambda table: structure.naive_bayes(table, target),
        }
        return learners[learn]

    def directions(self, learn: Learn, names: Sequence[str]) -> dict[str, Any]:
        """Return which directions do not depend on data: by the rules, or away from the target."""
        if learn not in _SUPERVISED:
            return self._rules()
        return {"forbidden": [(name, self.target) for name in names if name != self.target]}

    def _rules(self) -> dict[str, Any]:
        return {
            "required": arcs_of(self.required or (), "--required"),
            "forbidden": arcs_of(self.forbidden or (), "--forbidden"),
            "tiers": () if self.tiers is None else tiers_of(self.tiers, "--tiers"),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FitLearnerOptions(LearnerOptions):
    """The same where forests are learned and pages are written."""

    target: Annotated[
        str | None,
        graph_option(
            metavar="VARIABLE",
            help="The variable to be predicted: by --learn tan, kdb, naive or forest; tan by "
            "default then. With any other graph the page of --report is about it.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredLearnerOptions(LearnerOptions):
    """The same where predictions of the target are scored, whatever the graph."""

    target: Annotated[
        str | None,
        graph_option(
            metavar="VARIABLE",
            help="The variable whose predictions are scored, and that --learn tan, kdb and naive "
            "are for; hc and tan by default then.",
        ),
    ] = None
