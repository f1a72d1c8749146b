"""`make demo`: the estimates of a small table by every prior, with intervals, in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, Prior, SymmetricDirichlet

# A side effect (none, mild, severe) by dose group: the last two groups have next to no data.
STATES = ("none", "mild", "severe")
GROUPS = {"dose 1": (14, 4, 1), "dose 2": (9, 5, 0), "dose 3": (2, 1, 0), "dose 4": (0, 0, 0)}
PRIORS: dict[str, Prior] = {
    "maximum likelihood": MaximumLikelihood(),
    "BDeu(1)": BDeu(1),
    "symmetric Dirichlet": SymmetricDirichlet(),
    "hierarchical": Hierarchical(),
    "hierarchical, s learned": Hierarchical(s="learn"),
}


def main() -> None:
    """Print the counts, then the estimates with 90 % intervals."""
    console = Console()
    counts = list(GROUPS.values())
    console.print(
        "[bold]Colonnade[/bold]: one conditional probability table, estimated by every prior.\n"
        "Side effect given dose group. Cells: mean (90 % interval)."
    )
    table = Table(box=None, padding=(0, 1))
    table.add_column("", no_wrap=True)
    for state in STATES:
        table.add_column(state, justify="right", no_wrap=True)
    _add(table, "counts", [[str(n) for n in row] for row in counts])
    for name, prior in PRIORS.items():
        _add(table, name, _cells(prior, counts))
    console.print(table)
    posterior = Hierarchical(s="learn").posterior(counts)
    console.print(
        f"\nWeight each group takes from the pool: {posterior.borrowed.round(2).tolist()}.\n"
        f"Strength of pooling, learned: {posterior.strength}.\n"
        f"Engine: {posterior.alpha.engine}, estimated error {posterior.alpha.error.mean:.0e}."
    )


def _add(table: Table, title: str, rows: list[list[str]]) -> None:
    table.add_row(f"[bold]{title}[/bold]")
    for group, cells in zip(GROUPS, rows, strict=True):
        table.add_row(f"  {group}", *cells)


def _cells(prior: Prior, counts: list[tuple[int, ...]]) -> list[list[str]]:
    if isinstance(prior, MaximumLikelihood):
        return [[f"{value:.2f}" for value in row] for row in prior.estimate(counts)]
    posterior = prior.posterior(counts)
    lower, upper = posterior.interval(0.9)
    return [
        [f"{m:.2f} ({a:.2f}-{b:.2f})" for m, a, b in zip(*row, strict=True)]
        for row in zip(posterior.mean, lower, upper, strict=True)
    ]


if __name__ == "__main__":
    main()
