"""The mathematics of alpha: arrays in, arrays out, no names.

One engine a file: :class:`Exact`, :class:`Quadrature`, :class:`Variational` and :class:`Reference`;
``strength`` learns s, ``choose`` picks an engine. All return an
:class:`~colonnade.pooling.alpha.AlphaPosterior`.
"""

from colonnade.pooling.exact import Exact
from colonnade.pooling.quadrature import Quadrature
from colonnade.pooling.reference import Reference
from colonnade.pooling.variational import Variational

__all__ = ["Exact", "Quadrature", "Reference", "Variational"]
