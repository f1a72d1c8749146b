"""Options that several commands share, what their words mean, and commands with classes of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from colonnade.exceptions import InputError

if TYPE_CHECKING:
    from colonnade.priors import Prior
    from colonnade.structure import Score

_BY_NAME = inspect.Parameter.KEYWORD_ONLY

# An option that takes a number of things.
number = functools.partial(typer.Option, min=0, metavar="N")

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="File of a network.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a file that is there already.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs; undefined numbers are null.")
]


def misuse(option: str, problem: str) -> typer.BadParameter:
    """Word the error for options that do not go together: exit code 2."""
    return typer.BadParameter(problem, param_hint=option)


def _checked_level(level: float | None) -> float | None:
    if level is not None and not 0.0 < level < 1.0:
        raise misuse("--level", f"{level:g} is not between 0 and 1; write 0.95 for 95 %.")
    return level


level_option = functools.partial(typer.Option, metavar="P", callback=_checked_level)


def prior_of(text: str, option: str = "--prior") -> Prior:
    """Return the prior that a word such as ``hierarchical:learn`` stands for."""
    from colonnade.priors import PRIORS, prior_named

    keyword = text.partition(":")[0]
    kinds = {kind.keyword: kind for kind in PRIORS.values() if kind.keyword}
    if keyword not in kinds:
        known = (word for kind in kinds.values() for word in kind.examples)
        raise misuse(option, f"{text!r} is not one of {', '.join(known)}.")
    try:
        return prior_named(text)
    except InputError as error:
        if isinstance(error.value, str):  # a word that the prior does not know
            problem = f"{text!r} is not a prior such as {', '.join(kinds[keyword].examples)}."
        else:
            problem = f"{text!r}: {error.naming('the setting')}"
        raise misuse(option, problem) from None


def score_of(text: str) -> Score:
    """Return the score that a word stands for; most priors are scores."""
    from colonnade.priors import PRIORS
    from colonnade.structure import AIC, BIC, LogLikelihood

    penalised: dict[str, Score] = {"bic": BIC(), "aic": AIC(), "loglik": LogLikelihood()}
    if text in penalised:
        return penalised[text]
    scoring = [kind for kind in PRIORS.values() if kind.score_name is not None]
    if text.partition(":")[0] not in {kind.keyword for kind in scoring}:
        known = [*penalised, *(word for kind in scoring for word in kind.examples)]
        raise misuse("--score", f"{text!r} is not one of {', '.join(known)}.")
    return prior_of(text, "--score")


def with_priors(text: str) -> str:
    """Return a help text with the words of all priors for ``{priors}``, of scores for ``{scores}``.

    They are looked up when help is shown: priors may be registered later, and take long to load.
    """
    from colonnade.priors import PRIORS

    for place, kinds in {
        "{priors}": list(PRIORS.values()),
        "{scores}": [kind for kind in PRIORS.values() if kind.score_name is not None],
    }.items():
        examples = [example for kind in kinds for example in kind.examples.items()]
        words = [f"{word} ({meaning})" if meaning else word for word, meaning in examples]
        text = text.replace(place, ", ".join(words))
    return text


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of the option classes it takes.

    A parameter whose type is a dataclass stands for the fields of that class, in their order: each
    is an annotated option or argument with its default. The command gets the object.
    """
    hints = get_type_hints(command, include_extras=True)
    classes = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, kind in classes.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in classes:
            parameters += _options(classes[parameter.name])
        else:
            annotation = hints[parameter.name]
            parameters.append(parameter.replace(annotation=annotation, kind=_BY_NAME))
    flat: Any = run
    flat.__signature__ = inspect.Signature(parameters)
    return run


def _options(kind: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(field.name, _BY_NAME, default=default, annotation=hints[field.name])
