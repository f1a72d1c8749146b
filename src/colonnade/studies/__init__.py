"""The published experiments, run again claim by claim, on the public interface only.

``colonnade reproduce all`` runs them; :func:`colonnade.studies.run.reproduce` is the same from
Python.
"""
