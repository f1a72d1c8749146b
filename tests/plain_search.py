"""Hill climbing as it is defined: every step, every time, from the counts of every family."""

from collections import deque

import numpy as np

from colonnade.dag import Dag
from colonnade.exceptions import InputError
from colonnade.structure import Step
from colonnade.structure.scores import FamilyScores

TIE = 1e-9


def is_acyclic(names, arcs):
    try:
        Dag(tuple((names[a], names[b]) for a, b in arcs), names)
    except InputError:
        return False
    return True


class PlainSearch:
    """Sets of arcs (parent, child); the rules are options of `hill_climb`, by position."""

    def __init__(self, columns, judge, graph_prior, rules):
        self.families = FamilyScores(columns, judge, graph_prior)
        self.names, self.rules = columns.names, rules

    def family(self, arcs, child):
        parents = tuple(a for a, b in sorted(arcs) if b == child)
        return self.families.family(child, parents)

    def score(self, arcs):
        return float(np.sum([self.family(arcs, child) for child in range(len(self.names))]))

    def steps(self, arcs):
        """All graphs one step away, in order, with what was done and its gain."""
        size = range(len(self.names))
        pairs = [(a, b) for a in size for b in size if a != b]
        full = [sum(b == child for _, b in arcs) >= self.rules.limit for child in size]
        for a, b in pairs:
            if (a, b) not in arcs and self.rules.allowed[a, b] and not full[b]:
                yield "add", (a, b), arcs | {(a, b)}
        for a, b in sorted(arcs):
            if not self.rules.required[a, b]:
                yield "delete", (a, b), arcs - {(a, b)}
        for a, b in sorted(arcs):
            if not self.rules.required[a, b] and self.rules.allowed[b, a] and not full[a]:
                yield "reverse", (a, b), arcs - {(a, b)} | {(b, a)}

    def gain(self, arcs, after, arc):
        return sum(self.family(after, child) - self.family(arcs, child) for child in sorted(arc))

    def climb(self, arcs, tabu):
        """The best set of arcs, its score, and the steps to it."""
        visited = deque([arcs], maxlen=max(1, tabu))
        score = best_score = self.score(arcs)
        best, trace, steps_to_best, idle = arcs, [], 0, 0
        while True:
            possible = [
                (operation, arc, after, self.gain(arcs, after, arc))
                for operation, arc, after in self.steps(arcs)
                if is_acyclic(self.names, after) and not (tabu and after in visited)
            ]
            if not possible:
                break
            top = max(gain for *_, gain in possible)
            least = top - TIE * (1.0 + abs(top))
            operation, arc, after, gain = next(each for each in possible if each[3] >= least)
            if not tabu and gain <= TIE * (1.0 + abs(score)):
                break
            arcs, score = after, self.score(after)
            visited.append(arcs)
            named = tuple(self.names[k] for k in arc)
            trace.append(Step(operation, named, gain, score))
            if score > best_score + TIE * (1.0 + abs(best_score)):
                best, best_score, steps_to_best, idle = arcs, score, len(trace), 0
            else:
                idle += 1
                if idle >= tabu:
                    break
        return best, best_score, trace[:steps_to_best]
