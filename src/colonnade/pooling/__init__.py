"""The mathematics of alpha: arrays in, arrays out, no names.

The engines are :class:`Exact`, :class:`Quadrature`, :class:`Variational` and :class:`Reference`;
all return an :class:`~colonnade.pooling.alpha.AlphaPosterior`.
"""

from colonnade.pooling.exact import Exact, Quadrature
from colonnade.pooling.reference import Reference
from colonnade.pooling.variational import Variational

__all__ = ["ENGINES", "Exact", "Quadrature", "Reference", "Variational"]

# The engines that files know, by name.
ENGINES = {kind.__name__: kind for kind in (Exact, Quadrature, Reference, Variational)}
