"""`colonnade demo`: the package at work on data that ship with scikit-learn."""

from __future__ import annotations


def demo() -> None:
    """Demonstrate the package on data that ship with scikit-learn.

    A network is estimated from 60 rows under every prior, and the held-out log likelihoods are
    printed side by side.

    Example: colonnade demo
    """
    from colonnade.demo import main

    main()
