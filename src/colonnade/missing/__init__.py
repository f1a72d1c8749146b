"""Rows that lack values: what has to be summed over, and EM."""
