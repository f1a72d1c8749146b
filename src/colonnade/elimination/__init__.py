"""Variable elimination: sums of products of factors and their gradients, for many cases at once."""

from colonnade.elimination.elimination import Elimination, run
from colonnade.elimination.layout import Answers, Cases, Program
from colonnade.elimination.planning import Plan, components, plan
from colonnade.elimination.programs import write_program

__all__ = [
    "Answers",
    "Cases",
    "Elimination",
    "Plan",
    "Program",
    "components",
    "plan",
    "run",
    "write_program",
]
