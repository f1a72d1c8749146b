"""`colonnade compare`: graphs, or ways to learn them, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from colonnade.cli import options
from colonnade.cli.arcs import dag_of
from colonnade.cli.data import DataOptions
from colonnade.cli.graphs import Learn, ScoredLearnerOptions, graph_learner, graph_option
from colonnade.cli.output import fits, grid, say, say_json, say_rest
from colonnade.cli.values import Misuse, refuse_repeated
from colonnade.exceptions import counted


def compare(
    *,
    learn: Annotated[
        list[Learn] | None,
        graph_option(
            parser=graph_learner,
            metavar="HOW",
            help="A way to learn the graph, anew in every fold: hc, ges, exact, pc, tan, chow-liu, "
            "kdb or naive; may be given several times.",
        ),
    ] = None,
    dag: Annotated[
        list[Path] | None,
        graph_option(
            metavar="ARCS.csv",
            help="File with a graph, as for fit; may be given several times. Columns that it does "
            "not name are variables without arcs.",
        ),
    ] = None,
    learning: ScoredLearnerOptions,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRIOR",
            help="As for fit; may be given several times. By default hierarchical, and tiered "
            "with --group.",
        ),
    ] = None,
    group: options.Group = None,
    folds: Annotated[int, options.number(2, help="Parts for cross-validation.")] = 5,
    seed: Annotated[
        int, options.number(help="Assigns the rows to the folds, and drives --restarts.")
    ] = 0,
    data: DataOptions,
    json: options.AsJson = False,
) -> None:
    """Compare graphs, or ways to learn them, under several priors.

    By the mean log likelihood of held-out rows, and by the log evidence of all rows. With --target,
    also by how well held-out values of it are predicted: accuracy, AUC and log loss; then the
    smallest log loss is first. Columns are chosen and cut as by fit, once, on all rows.

    Examples
    --------
    colonnade compare wine.csv --learn hc --learn tan --target class --prior bdeu:1 --prior
    hierarchical

    colonnade compare patients.csv --dag arcs.csv --learn chow-liu --json
    """
    from colonnade.structure import compare as compared
    from colonnade.tables import encode

    learners, paths = learn or [], dag or []
    if not learners and not paths:
        learners = [Learn.HC] if learning.target is None else [Learn.HC, Learn.TAN]
    words = prior or ["hierarchical" if group is None else "tiered"]
    refuse_repeated("--learn", "learners", [str(each) for each in learners])
    refuse_repeated("--dag", "files", [str(path) for path in paths])
    learning.check(learners, scored=True)
    for option, columns in {"--target": [learning.target], "--ignore": data.ignore or ()}.items():
        if group is not None and group in columns:
            raise Misuse(f"--group: {group!r} is given for {option}, too.")
    chosen = [options.prior_of(word) for word in words]
    # By their own words: bdeu is bdeu:1.
    refuse_repeated("--prior", "priors", [each.word for each in chosen])
    priors = {each.word: each for each in chosen}
    table = data.read(group)
    learning.check_target([name for name in table if name != group])
    # Before any work: graphs must be of these columns.
    named = [dag_of(path, list(table)).variables for path in paths]
    kept = list(dict.fromkeys(name for names in named for name in names))
    cut = data.chosen(table, keep=[learning.target, *kept], group=group)
    coded = encode(cut, group=group)
    variables = [name for name in coded.names if name != group]
    structures: dict[str, Any] = {
        **{str(path): dag_of(path, variables, all_columns=True) for path in paths},
        **{str(each): learning.learner(each, seed) for each in learners},
    }
    found = compared(
        coded,
        structures,
        priors,
        folds=folds,
        rng=seed,
        missing=data.missing.value,
        target=learning.target,
        group=group,
    )
    if json:
        say_json(found.to_dict())
        return
    say(f"Mean log likelihood of a held-out row, {found.folds} folds, {counted(coded.rows, 'row')}")
    head, rows = list(found.head), [list(row) for row in found.cells()]
    for spare in ("arcs", "s.e."):
        # What a narrow terminal has no room for.
        if not fits([head, *rows]):
            place = head.index(spare)
            for row in (head, *rows):
                del row[place]
    grid(head, rows, numbers=head[2:])
    say_rest(len(found.head) - len(head), "column", "--json or a wider terminal shows all")
