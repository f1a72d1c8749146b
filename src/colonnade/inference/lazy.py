"""pyAgrum's lazy propagation behind neutral names: v0, v1, ... with states 0, 1, ...

No name of a user reaches pyAgrum, so none can be one that it does not accept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.gum import load_pyagrum
from colonnade.inference.reduction import Piece, Question

__all__ = ["propagate"]

# pyAgrum multiplies plain probabilities. Below this the observed states are so improbable that
# numbers on the way may have lost digits, or vanished.
_SMALLEST = 1e-250
# pyAgrum's own order of elimination may need more memory than ours; then it stops and we go on.
_GIGABYTES = 1


def propagate(question: Question) -> NDArray[np.float64] | None:
    """Joint probabilities of the targets, or None if pyAgrum's numbers or memory do not suffice.

    Parameters
    ----------
    question : Question
        With at least one target; its tables must fit into memory.

    Returns
    -------
    array [target, ..., target] or None
    """
    gum = load_pyagrum()
    model = gum.BayesNet()
    for label in sorted({label for piece in question.pieces for label in piece.scope}):
        model.add(_variable(gum, f"v{label}", question.sizes[label]))
    seen = {}
    for k, piece in enumerate(question.pieces):
        name = f"v{piece.child}"
        if piece.child is None:
            # An observed variable is a truth value here: it has its observed state, or not.
            name = f"e{k}"
            model.add(_variable(gum, name, 2))
            seen[name] = 0
        _fill(model, name, piece)
    engine = gum.LazyPropagation(model)
    engine.setMaxMemory(_GIGABYTES)
    engine.setEvidence(seen)
    names = [f"v{label}" for label in question.targets]
    try:
        return _answer(engine, names, bool(seen))
    except gum.IncompatibleEvidence:
        return None
    except Exception as error:
        # Beyond the limit it raises no more than this.
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):
            return None
        raise


def _answer(engine: Any, names: list[str], observed: bool) -> NDArray[np.float64] | None:
    if len(names) == 1:
        engine.addTarget(names[0])
        engine.makeInference()
        tensor = engine.posterior(names[0])
    else:
        engine.addJointTarget(set(names))
        engine.makeInference()
        tensor = engine.jointPosterior(set(names))
    if observed and engine.evidenceProbability() < _SMALLEST:
        return None
    # The first name of a tensor varies fastest: it is the last axis of the array.
    axes = list(reversed(tensor.names))
    values: NDArray[np.float64] = tensor.toarray().transpose([axes.index(name) for name in names])
    return np.asarray(values / values.sum())


def _fill(model: Any, name: str, piece: Piece) -> None:
    # The last arc added is the slowest axis for pyAgrum and the first parent for us.
    model.beginTopologyTransformation()
    for label in reversed(piece.parents):
        model.addArc(f"v{label}", name)
    model.endTopologyTransformation()
    values = piece.probabilities()
    if piece.child is None:
        values = np.stack([values, 1.0 - values], axis=-1)
    model.cpt(name)[:] = np.ascontiguousarray(values)


def _variable(gum: Any, name: str, states: int) -> Any:
    return gum.RangeVariable(name, "", 0, states - 1)
