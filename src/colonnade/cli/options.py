"""Options that several commands share, what their words mean, and commands with classes of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from colonnade.cli.values import Misuse, file_that, fraction, integer, model_ending
from colonnade.exceptions import InputError
from colonnade.wording import nearest

if TYPE_CHECKING:
    from colonnade.priors import Prior
    from colonnade.structure import Score

_BY_NAME = inspect.Parameter.KEYWORD_ONLY


def number(least: int = 0, **more: Any) -> Any:
    """Return an option that takes an integer of at least `least`."""
    return typer.Option(metavar="N", parser=integer(least), **more)


model_file = file_that(model_ending)
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", parser=model_file, help="File of a network.")
]
ModelOrForest = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", parser=model_file, help="File of a network, or of a forest of networks."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", "--force", help="Replace a file that is there already.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs; undefined numbers are null.")
]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column with the group of each row, as for fit."),
]


_Debug = Annotated[
    bool, typer.Option("--debug", help="Show where in the program an error occurred.")
]
level_option = functools.partial(typer.Option, metavar="P", parser=fraction)


def prior_of(text: str, option: str = "--prior") -> Prior:
    """Return the prior that a word such as ``hierarchical:learn`` stands for."""
    from colonnade.priors import prior_named

    try:
        return prior_named(text)
    except InputError as error:
        raise Misuse(error.naming(option), hint=error.hint) from None


def score_of(text: str) -> Score:
    """Return the score that a word stands for; most priors are scores."""
    from colonnade.priors import PRIORS
    from colonnade.structure import AIC, BIC, LogLikelihood

    penalised: dict[str, Score] = {"bic": BIC(), "aic": AIC(), "loglik": LogLikelihood()}
    if text in penalised:
        return penalised[text]
    scoring = {kind.keyword: kind for kind in PRIORS.values() if kind.score_name is not None}
    keyword, colon, setting = text.partition(":")
    if keyword not in scoring:
        known = [*penalised, *(word for kind in scoring.values() for word in kind.examples)]
        near = nearest(keyword, [*penalised, *scoring])[:1]
        meant = [word if word in penalised else f"{word}{colon}{setting}" for word in near]
        hint = f"did you mean {meant[0]}?" if meant else ""
        what = f"a score such as {', '.join(known)}"
        raise Misuse(f"Expected {what} for --score, got {text!r}.", hint=hint)
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
    is an annotated option or argument with its default. The command gets the object. Every command
    has --debug as well.
    """
    hints = get_type_hints(command, include_extras=True)
    classes = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }

    @functools.wraps(command)
    def run(*, debug: bool, **values: Any) -> None:
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
    parameters.append(inspect.Parameter("debug", _BY_NAME, default=False, annotation=_Debug))
    flat: Any = run
    flat.__signature__ = inspect.Signature(parameters)
    return run


def _options(kind: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(field.name, _BY_NAME, default=default, annotation=hints[field.name])
