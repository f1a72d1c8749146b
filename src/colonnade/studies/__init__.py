"""The published experiments, run again claim by claim, on the public interface only.

``python -m colonnade.studies all`` runs them; :func:`colonnade.studies.run.main` is the same from
Python.
"""
