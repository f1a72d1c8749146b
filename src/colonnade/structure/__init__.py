"""Learning the graph: scores, searches, trees, and how certain an arc is."""

from colonnade.dag import compelled
from colonnade.network.targets import Prediction
from colonnade.structure.comparison import Compared, Comparison, compare
from colonnade.structure.constraints import FoundByTests, pc
from colonnade.structure.equivalence import FoundClass, ges
from colonnade.structure.exact import ArcPosterior, arc_posterior, exact_search
from colonnade.structure.gains import ArcGains, arc_gain
from colonnade.structure.independence import Independence, independence
from colonnade.structure.resampling import ArcStrengths, arc_strength
from colonnade.structure.scores import AIC, BIC, LogLikelihood, Score, score, score_families
from colonnade.structure.search import Found, Step, hill_climb
from colonnade.structure.shares import ArcShares
from colonnade.structure.trees import chow_liu, kdb, naive_bayes, tan

__all__ = [
    "AIC",
    "BIC",
    "ArcGains",
    "ArcPosterior",
    "ArcShares",
    "ArcStrengths",
    "Compared",
    "Comparison",
    "Found",
    "FoundByTests",
    "FoundClass",
    "Independence",
    "LogLikelihood",
    "Prediction",
    "Score",
    "Step",
    "arc_gain",
    "arc_posterior",
    "arc_strength",
    "chow_liu",
    "compare",
    "compelled",
    "exact_search",
    "ges",
    "hill_climb",
    "independence",
    "kdb",
    "naive_bayes",
    "pc",
    "score",
    "score_families",
    "tan",
]
