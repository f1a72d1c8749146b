"""The command line: files and words in, the public functions in between, tables out."""

from colonnade.cli.app import app, main

__all__ = ["app", "main"]
