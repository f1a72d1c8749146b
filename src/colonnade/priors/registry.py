"""The priors that files and the command line know: one line per prior.

A prior is saved as its class and its options in plain values; an engine or another prior among them
likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from colonnade.exceptions import InputError, NotSupportedError, expected
from colonnade.pooling import ENGINES
from colonnade.priors.base import SAVED_IF_GIVEN, Prior
from colonnade.priors.hierarchical import Hierarchical
from colonnade.priors.independent import BDeu, MaximumLikelihood, SymmetricDirichlet
from colonnade.priors.informed import Informed
from colonnade.priors.noisy import Effects, NoisyMax
from colonnade.priors.smoothed import Smoothed
from colonnade.priors.tiered import Tiered
from colonnade.wording import nearest

PRIORS: dict[str, type[Prior]] = {}
# Options that are objects; all others are engines.
_PARTS: dict[str, Mapping[str, Any]] = {"prior": PRIORS, "around": {"Effects": Effects}}

# Characters of a wrong key that a message shows.
_MAX_SHOWN_KEY = 80


def register(kind: type[Prior]) -> None:
    """Make a prior known to files, by the name of its class, and to the command line."""
    PRIORS[kind.__name__] = kind


register(Hierarchical)
register(Tiered)
register(Smoothed)
register(BDeu)
register(SymmetricDirichlet)
register(MaximumLikelihood)
register(Informed)
register(NoisyMax)


def prior_named(word: str) -> Prior:
    """Return the prior that a word of the command line stands for, such as ``bdeu:10``."""
    keyword, colon, setting = word.partition(":")
    known = {kind.keyword: kind for kind in PRIORS.values() if kind.keyword}
    if keyword not in known:
        examples = (example for kind in known.values() for example in kind.examples)
        near = nearest(keyword, known)
        raise _no_prior(word, examples, f"{near[0]}{colon}{setting}" if near else "")
    kind = known[keyword]
    try:
        return kind.from_setting(setting) if colon else kind()
    except InputError as error:
        if isinstance(error.value, str):  # a word that the prior does not know
            near = nearest(setting, (example.partition(":")[2] for example in kind.examples))
            meant = keyword if not setting else f"{keyword}:{near[0]}" if near else ""
            raise _no_prior(word, kind.examples, meant) from None
        before, *after = error.parts
        parts = f"{before}the {kind.setting} in ", *after
        raise InputError(*parts, parameter="prior", value=word) from None


def _no_prior(word: str, examples: Iterable[str], meant: str) -> InputError:
    hint = f"did you mean {meant}?" if meant else ""
    return expected(f"a prior such as {', '.join(examples)}", "prior", word, hint)


def no_prior(value: Any, parameter: str, what: str = "a prior") -> InputError:
    """Word the error for what is no prior, with the class that a word, or a class, stands for."""
    try:
        meant: Any = prior_named(value) if isinstance(value, str) else value()
    except Exception:  # whatever it is, it is no prior
        meant = None
    hint = repr(meant) if isinstance(meant, Prior) else "Hierarchical()"
    return expected(what, parameter, value, f"use {hint}")


def restored(record: Any) -> Prior:
    """Return the prior that was saved; nothing in the record is trusted.

    The ``parameter`` of an :class:`InputError` is the option that is wrong, or None.
    """
    prior: Prior = _made(record, PRIORS)
    return prior


def saved_effects(effects: Effects) -> dict[str, Any]:
    """Return effects in plain values."""
    return saved(effects, _PARTS["around"])


def restored_effects(record: Any) -> Effects:
    """Return effects that were saved; nothing in the record is trusted."""
    effects: Effects = _made(record, _PARTS["around"])
    return effects


def saved(value: Any, kinds: Mapping[str, Any] = PRIORS) -> dict[str, Any]:
    """Return a prior, or one of other `kinds`, in plain values: its class and its options."""
    kind = type(value).__name__
    if kinds.get(kind) is not type(value):
        hint = f"use one of {', '.join(kinds)}"
        raise NotSupportedError(f"Saving {value!r}", "files do not know its class", hint)
    record: dict[str, Any] = {"class": kind}
    for option in fields(value):
        part = getattr(value, option.name)
        if option.metadata == SAVED_IF_GIVEN and part == option.default:
            continue
        if is_dataclass(part):
            part = saved(part, _kinds(option.name))
        record[option.name] = _plain(part)
    return record


def _kinds(option: str) -> Mapping[str, Any]:
    """The classes that an option may have."""
    return _PARTS.get(option, ENGINES)


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _made(record: Any, kinds: Mapping[str, Any], option: str | None = None) -> Any:
    """Make an object of one of the known classes from its record."""
    name = record.get("class") if isinstance(record, dict) else None
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InputError(f"it is not one of {', '.join(sorted(kinds))}.", parameter=option)
    names = {"class", *(each.name for each in fields(kind))}
    needed = names - {each.name for each in fields(kind) if each.metadata == SAVED_IF_GIVEN}
    if wrong := sorted((needed - set(record)) | (set(record) - names)):
        problem = "is missing" if wrong[0] in names else "does not belong here"
        raise InputError(f"{wrong[0][:_MAX_SHOWN_KEY]!r} {problem}.", parameter=option)
    options = {key: value for key, value in record.items() if key != "class"}
    for key, value in options.items():
        if isinstance(value, dict):
            options[key] = _made(value, _kinds(key), key)
    return kind(**options)
