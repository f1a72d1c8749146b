"""Variable elimination: sums of products of factors and their gradients, for many cases at once."""

from colonnade.elimination.elimination import Elimination, draw, run, write_program
from colonnade.elimination.layout import Cases
from colonnade.elimination.planning import Plan, components, plan

__all__ = ["Cases", "Elimination", "Plan", "components", "draw", "plan", "run", "write_program"]
