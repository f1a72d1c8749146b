"""Words of the command line become priors, scores, learners and graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from colonnade.exceptions import DataError, InputError

if TYPE_CHECKING:
    from colonnade.dag import Dag
    from colonnade.priors import Prior
    from colonnade.structure import Found, Score

__all__ = ["Learn", "Learning", "Missing", "dag_of", "prior_of", "score_of"]

_HEADS = {("from", "to"), ("parent", "child"), ("source", "target")}


class Learn(StrEnum):
    """Ways to learn a graph."""

    HC = "hc"
    TAN = "tan"
    CHOW_LIU = "chow-liu"
    KDB = "kdb"
    NAIVE = "naive"


class Missing(StrEnum):
    """What to do with rows that lack values."""

    RAISE = "raise"
    AVAILABLE = "available"
    EM = "em"


_SUPERVISED = (Learn.TAN, Learn.KDB, Learn.NAIVE)


def prior_of(text: str, option: str = "--prior") -> Prior:
    """Return the prior that a word stands for.

    Examples
    --------
    >>> prior_of("hierarchical:learn"), prior_of("bdeu:10")
    (Hierarchical(s='learn', alpha0=1.0, engine=None), BDeu(ess=10.0))
    """
    from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet

    name, colon, rest = text.partition(":")
    # The class, and what its setting is read as.
    priors: dict[str, tuple[Callable[..., Prior], Callable[[str], Any]]] = {
        "hierarchical": (Hierarchical, lambda s: s if s == "learn" else float(s)),
        "bdeu": (BDeu, float),
        "symmetric": (SymmetricDirichlet, float),
        "ml": (MaximumLikelihood, str),
    }
    if name not in priors:
        known = "hierarchical, hierarchical:learn, hierarchical:8, bdeu:10, symmetric, symmetric:2"
        raise typer.BadParameter(f"{text!r} is not one of {known}, ml.", param_hint=option)
    make, setting = priors[name]
    try:
        return make(setting(rest)) if colon else make()
    except InputError as error:
        raise typer.BadParameter(f"{text!r}: {error}", param_hint=option) from None
    except ValueError:
        problem = f"{text!r}: {rest!r} is not a number."
        raise typer.BadParameter(problem, param_hint=option) from None


def score_of(text: str) -> Score:
    """Return the score that a word stands for; a prior is one by its log evidence.

    Examples
    --------
    >>> score_of("bic"), score_of("symmetric")
    (BIC(), SymmetricDirichlet(s=None))
    """
    from colonnade.structure import AIC, BIC, LogLikelihood

    penalised: dict[str, Score] = {"bic": BIC(), "aic": AIC(), "loglik": LogLikelihood()}
    if text in penalised:
        return penalised[text]
    if text.partition(":")[0] not in ("hierarchical", "bdeu", "symmetric"):
        known = "bic, aic, loglik, hierarchical, hierarchical:learn, bdeu:10, symmetric"
        raise typer.BadParameter(f"{text!r} is not one of {known}.", param_hint="--score")
    return prior_of(text, "--score")


def dag_of(path: Path, variables: tuple[str, ...] = ()) -> Dag:
    """Read a graph from a CSV file with one arc a line.

    Parameters
    ----------
    path : Path
        Two columns, parent and child, with or without a first line that says so. A line with one
        name is a variable without arcs.
    variables : tuple of str, optional
        Names that are there in any case, and come first.
    """
    from colonnade.dag import Dag
    from colonnade.tables.files import read_lines

    arcs, names = [], dict.fromkeys(variables)
    for number, (line, row) in enumerate(read_lines(path)):
        cells = [cell.strip() for cell in row]
        if number == 0 and tuple(cell.lower() for cell in cells) in _HEADS:
            continue
        if not 1 <= len(cells) <= 2 or not cells[0]:
            where = f"File {str(path)!r}, line {line}"
            hint = "write parent,child in each line"
            raise DataError(where, f"{row} is not an arc.", hint, line=line)
        if len(cells) == 2 and cells[1]:
            arcs.append((cells[0], cells[1]))
        else:
            names[cells[0]] = None
    if not arcs and not names:
        raise DataError(f"File {str(path)!r}", "no arcs.", "write parent,child in each line")
    return Dag(tuple(arcs), tuple(names))


@dataclass(frozen=True, slots=True)
class Learning:
    """How to come by a graph: options that belong together, checked together.

    What is None was not given.
    """

    learn: tuple[Learn, ...]
    dags: tuple[Path, ...]
    target: str | None = None
    score: str | None = None
    max_parents: int | None = None
    k: int | None = None
    tabu: int | None = None
    restarts: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.learn and not self.dags:
            problem = "give --dag ARCS.csv or --learn hc, tan, chow-liu, kdb or naive."
            raise typer.BadParameter(problem, param_hint="--dag / --learn")
        for option, value, learners in (
            ("--target", self.target, _SUPERVISED),
            ("--score", self.score, (Learn.HC,)),
            ("--max-parents", self.max_parents, (Learn.HC,)),
            ("--tabu", self.tabu, (Learn.HC,)),
            ("--restarts", self.restarts, (Learn.HC,)),
            ("--k", self.k, (Learn.KDB,)),
        ):
            if value is not None and not set(learners) & set(self.learn):
                problem = f"it only applies to --learn {' or '.join(learners)}."
                raise typer.BadParameter(problem, param_hint=option)
        lacking = [each for each in self.learn if each in _SUPERVISED and self.target is None]
        if lacking:
            problem = f"--learn {lacking[0]} needs the variable to be predicted."
            raise typer.BadParameter(problem, param_hint="--target")
        if self.score is not None:
            score_of(self.score)  # a wrong word is told before any work

    def learner(self, learn: Learn) -> Callable[[Any], Dag | Found]:
        """Return a function from a table to a graph."""
        from colonnade import structure

        def climb(table: Any) -> Found:
            return structure.hill_climb(
                table,
                score_of(self.score or "bic"),
                max_parents=self.max_parents,
                tabu=self.tabu or 0,
                restarts=self.restarts or 0,
                rng=self.seed,
            )

        target = self.target or ""
        learners: Mapping[Learn, Callable[[Any], Dag | Found]] = {
            Learn.HC: climb,
            Learn.TAN: lambda table: structure.tan(table, target),
            Learn.CHOW_LIU: structure.chow_liu,
            Learn.KDB: lambda table: structure.kdb(table, target, 2 if self.k is None else self.k),
            Learn.NAIVE: lambda table: structure.naive_bayes(table, target),
        }
        return learners[learn]

    def structures(self, variables: tuple[str, ...]) -> dict[str, Dag | Callable[[Any], Any]]:
        """Return all graphs and learners by name, each graph over all variables."""
        from colonnade.tables.sources import absent

        found: dict[str, Dag | Callable[[Any], Any]] = {}
        for path in self.dags:
            dag = dag_of(path, variables)
            if error := absent(dag.variables, variables):
                raise error
            found[str(path)] = dag
        return found | {str(learn): self.learner(learn) for learn in self.learn}
