"""Learning the graph: scores, hill climbing, trees, and how certain an arc is."""

from colonnade.dag import compelled
from colonnade.network.targets import Prediction
from colonnade.structure.comparison import Compared, Comparison, compare
from colonnade.structure.resampling import ArcStrengths, arc_strength
from colonnade.structure.scores import AIC, BIC, LogLikelihood, Score, score, score_families
from colonnade.structure.search import Found, Step, hill_climb
from colonnade.structure.trees import chow_liu, kdb, naive_bayes, tan

__all__ = [
    "AIC",
    "BIC",
    "ArcStrengths",
    "Compared",
    "Comparison",
    "Found",
    "LogLikelihood",
    "Prediction",
    "Score",
    "Step",
    "arc_strength",
    "chow_liu",
    "compare",
    "compelled",
    "hill_climb",
    "kdb",
    "naive_bayes",
    "score",
    "score_families",
    "tan",
]
