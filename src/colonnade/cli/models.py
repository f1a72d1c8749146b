"""Networks in files, and what is said about one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from colonnade.cli.output import grid, number, say, tally
from colonnade.exceptions import amount, expected, listing

if TYPE_CHECKING:
    from colonnade.cpt import Cpt
    from colonnade.network import BayesianNetwork
    from colonnade.priors import Prior

__all__ = ["check_output", "described", "load", "prior_word", "summarise"]

_SHOWN_PARENTS = 6


def load(path: Path) -> BayesianNetwork:
    """Read a network in the format its name says."""
    from colonnade import files

    return files.load(path)


def check_output(path: Path, overwrite: bool) -> None:
    """Refuse a file that could not be written, before the work and not after it."""
    _check_suffix(path)
    if not path.parent.is_dir():
        hint = "create the folder first"
        raise expected("a path in an existing folder", "output", str(path), hint)
    if path.is_dir():
        raise expected("the name of a file", "output", str(path), got=f"the folder {str(path)!r}")
    if path.exists() and not overwrite:
        hint = "choose another name, or give --overwrite"
        raise expected("a name that is not taken", "output", str(path), hint)


def _check_suffix(path: Path) -> None:
    from colonnade.files import SUFFIXES

    if path.suffix.lower() not in SUFFIXES:
        raise expected(f"a name that ends in one of {listing(SUFFIXES)}", "path", str(path))


def prior_word(prior: Prior | None) -> str:
    """Write a prior as the command line has it.

    Examples
    --------
    >>> from colonnade import BDeu, Hierarchical
    >>> prior_word(BDeu(10)), prior_word(Hierarchical()), prior_word(None)
    ('bdeu:10', 'hierarchical', 'known')
    """
    from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet

    if prior is None:
        return "known"
    if isinstance(prior, BDeu):
        return f"bdeu:{prior.ess:g}"
    if isinstance(prior, SymmetricDirichlet):
        return "symmetric" if prior.s is None else f"symmetric:{prior.s:g}"
    if isinstance(prior, MaximumLikelihood):
        return "ml" if prior.unobserved == "nan" else f"ml:{prior.unobserved}"
    # A prior with settings that have no word shows all of them.
    if isinstance(prior, Hierarchical) and prior.alpha0 == 1.0 and prior.engine is None:
        if prior.s is None:
            return "hierarchical"
        return f"hierarchical:{prior.s if isinstance(prior.s, str) else format(prior.s, 'g')}"
    return repr(prior)


def described(network: BayesianNetwork) -> dict[str, Any]:
    """Describe a network in plain values, ready for JSON."""
    cutter = network.discretizer
    return {
        "variables": [_variable(name, network[name]) for name in network],
        "arcs": [list(arc) for arc in network.dag.arcs],
        "cuts": {} if cutter is None else {c.name: list(c.points) for c in cutter.columns},
    }


def _variable(name: str, cpt: Cpt) -> dict[str, Any]:
    return {
        "name": name,
        "states": list(cpt.family.child.states),
        "parents": [parent.name for parent in cpt.family.parents],
        "configurations": cpt.family.configurations,
        "stored": len(cpt.table.rows),
        "rows": None if cpt.counts is None else cpt.counts.total,
        "prior": prior_word(cpt.prior),
    }


def summarise(network: BayesianNetwork, limit: int | None = 40) -> None:
    """Print one line a variable: its parents, the size of its table, what it was estimated from."""
    facts = [_variable(name, network[name]) for name in network]
    priors = list(dict.fromkeys(each["prior"] for each in facts))
    arcs, cells = len(network.dag.arcs), sum(cpt.table.rows.size for cpt in network.tables.values())
    common = f"; {priors[0]}" if len(priors) == 1 else ""
    say(
        f"{number(len(network), 'variable')}, {number(arcs, 'arc')}, "
        f"{cells:,} probabilities stored{common}"
    )
    head = ["variable", "states", "parents", "configurations", "rows"]
    lines = []
    for each in facts[:limit]:
        parents = each["parents"][:_SHOWN_PARENTS]
        if more := len(each["parents"]) - len(parents):
            parents.append(f"{more} more")
        seen = f"{each['stored']:,} of {amount(each['configurations'])}"
        line = [each["name"], str(len(each["states"])), ", ".join(parents) or "-", seen]
        line.append(tally(each["rows"]))
        # A prior that all tables share was named above.
        lines.append(line if common else [*line, each["prior"]])
    grid(head if common else [*head, "prior"], lines, ("states", "configurations", "rows"))
    if limit is not None and len(network) > limit:
        say(f"... {number(len(network) - limit, 'more variable')}; --limit shows more")
