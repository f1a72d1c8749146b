"""The explorer: the page of a network, served on this machine, with live answers."""

from colonnade.explore.beliefs import Beliefs
from colonnade.explore.server import Explorer
from colonnade.explore.situation import Situation

__all__ = ["Beliefs", "Explorer", "Situation"]
