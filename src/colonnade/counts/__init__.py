"""The counts of one family: what was observed."""

from colonnade.counts.family import FamilyCounts, as_counts

__all__ = ["FamilyCounts", "as_counts"]
