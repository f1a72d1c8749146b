"""What is known and what is done, as it is typed: states, several of them, bounds, likelihoods."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colonnade.cli.values import Misuse
from colonnade.exceptions import Advice, DataError, did_you_mean, listing

if TYPE_CHECKING:
    from colonnade.inference.evidence import Finding
    from colonnade.network import BayesianNetwork
    from colonnade.variables import State, Variable

KNOWN_HELP = (
    "VARIABLE=STATE; several states of which one is true, as 'age=middle|old'; a condition, as "
    "'age>60', 'age!=old' or 'age>18 and <=65'; or how likely what was found is under each state, "
    "as 'test=no:0.1,yes:0.8'. A variable that was cut into intervals also takes a number. May be "
    "given several times."
)
# A text in which there is more than one state.
_SEVERAL = re.compile(r"[,|]|:\s*[\d.]+\s*$")
_NOT = re.compile(r"not\s+(.+)", re.IGNORECASE)
_SIGN = re.compile(r"\s*(?:[<>=!≤≥≠]|\bis\b|\bnot\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOptions:
    """What was observed, and what is done. What is None was not given."""

    observed: Annotated[
        list[str] | None,
        typer.Option(metavar="KNOWN", help=f"What was observed: {KNOWN_HELP}"),
    ] = None
    do: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VARIABLE=STATE",
            help="What is set by an action, whatever its parents are; may be given several times. "
            "Assumes that the graph is causal.",
        ),
    ] = None

    def known(self, network: BayesianNetwork) -> dict[str, Any]:
        """What was observed of the variables of a network."""
        return findings(network, self.observed or (), "--observed")

    def done(self, network: BayesianNetwork) -> dict[str, Any] | None:
        """The actions on the variables of a network; None if there are none."""
        return findings(network, self.do, "--do") if self.do else None

    def world(
        self, network: BayesianNetwork, targets: Iterable[str] = ()
    ) -> tuple[BayesianNetwork, dict[str, Any]]:
        """The network after the actions, and what was observed in it."""
        from colonnade.inference.actions import checked_do

        known, done = self.known(network), self.done(network)
        if done is None:
            return network, known
        used = dict.fromkeys(targets, "targets") | dict.fromkeys(known, "observed")
        return checked_do(network, done, used)[0], known

    def in_words(self, network: BayesianNetwork) -> str:
        """What is known and done, for a heading; empty if nothing is."""
        from colonnade.inference import Evidence

        parts = []
        if self.observed:
            found = Evidence.of(network, self.known(network)).findings
            parts.append(f" given {worded_findings(found)}")
        if done := self.done(network):
            parts.append(f" after {worded_findings(done)} is done")
        return "".join(parts)


def worded_findings(found: dict[str, Finding]) -> str:
    """Write what is known of variables: ``age = middle or old, test = no: 0.1, yes: 0.8``."""
    parts = []
    for name, own in found.items():
        if isinstance(own, dict):
            shown = ", ".join(f"{state}: {value:g}" for state, value in own.items())
        elif isinstance(own, tuple | list):
            shown = " or ".join(map(str, own))
        else:
            shown = str(own)
        parts.append(f"{name} = {shown}")
    return ", ".join(parts)


def findings(network: BayesianNetwork, texts: Sequence[str], option: str) -> dict[str, Any]:
    """Return what texts such as ``smoker=yes`` and ``age>60`` say of each variable."""
    from colonnade.inference.conditions import check_alone, state_in_words

    found: dict[str, Any] = {}
    for text in texts:
        name, sign, written = _split(network, text, option)
        variable = network[name].family.child
        check_alone(variable, written if sign == "=" else f"{sign} {written}", network)
        value: Any
        try:
            written = _without_second_sign(variable, written) if sign == "=" else written
            if sign != "=":
                value = f"{sign} {written}"
            elif opposite := _opposite(variable, written):
                value = f"!= {opposite}"
            elif _SEVERAL.search(written) and written not in variable.states:
                value = state_in_words(variable, written, _is_cut(network, name))
            else:
                value = state_in(network, name, written)
        except DataError as error:
            if name != network.group or "state" not in error.details:
                raise
            raise error.advising(Advice.ASK_NEW_GROUP) from None
        if name in found:
            if sign == "=" or not _is_condition(found[name], variable):
                raise Misuse(f"Expected different variables for {option}, got {name!r} twice.")
            value = f"{found[name]} and {value}"
        found[name] = value
    return found


def _opposite(variable: Variable, text: str) -> str:
    """Return what is excluded by a text such as *not no*; empty if it is no such text."""
    found = _NOT.fullmatch(text)
    return "" if found is None or text in variable.states else found[1]


def _without_second_sign(variable: Variable, text: str) -> str:
    """Take ``==`` for ``=``, as programs write it, and *a or b* for ``a|b``."""
    if text in variable.states:
        return text
    text = text.removeprefix("=").strip()
    return text if text in variable.states else "|".join(re.split(r"\s+or\s+", text))


def _is_condition(value: Any, variable: Variable) -> bool:
    return isinstance(value, str) and value not in variable.states and value[0] in "<>!"


def _split(network: BayesianNetwork, text: str, option: str) -> tuple[str, str, str]:
    """Split a text into a name, a sign and a value; names may contain signs themselves."""
    from colonnade.inference.conditions import split_condition

    known = network.dag.variables
    equal = [k for k, letter in enumerate(text) if letter == "=" and text[:k] in network]
    if equal:
        # The longest name that fits: a shorter one would need a state that contains the sign.
        return text[: equal[-1]], "=", text[equal[-1] + 1 :]
    if found := split_condition(text, known):
        return found
    sign = _SIGN.search(text)
    if sign is None or sign.start() == 0:
        raise Misuse(
            f"Expected VARIABLE=STATE for {option}, got {text!r}.", hint=_meant(text, known)
        )
    name = text[: sign.start()]
    problem = f"not a variable of the network, which has {listing(known)}."
    raise DataError(f"Variable {name!r}", problem, did_you_mean(name, known))


def _meant(text: str, known: Sequence[str]) -> str:
    """Say how to write what begins with *not*, or has another sign between name and state."""
    for name in sorted(known, key=len, reverse=True):
        found = re.fullmatch(rf"(not\s+)?{re.escape(name)}\s*(?:[:=]+|\s)\s*(.+)", text.strip())
        if found:
            return f"write '{name}{'!=' if found[1] else '='}{found[2]}'"
    return "write smoker=yes"


def _is_cut(network: BayesianNetwork, name: str) -> bool:
    return network.discretizer is not None and network.discretizer.get(name) is not None


def state_in(network: BayesianNetwork, name: str, text: str) -> State:
    """Return a state; for a variable that was cut, a number stands for its interval."""
    from colonnade.tables.intervals import infinite, without_cut_points

    variable = network[name].family.child
    cuts = network.discretizer.get(name) if network.discretizer is not None else None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if text in variable.states or math.isnan(number):
        return state_of(variable, text)
    if cuts is not None:
        if math.isinf(number):
            raise infinite(name, text)
        return cuts.states[int(cuts.codes(np.array([number]))[0])]
    if error := without_cut_points(variable, number):
        raise error
    return state_of(variable, text)


def state_of(variable: Variable, text: str) -> State:
    """Return the state of a variable that a text stands for, with its type."""
    written = [
        state
        for state in variable.states
        if text == str(state) or (isinstance(state, bool) and text.lower() == str(state).lower())
    ]
    written = written or [s for value, s in variable.spellings.items() if text == str(value)]
    if len(written) == 1:
        return written[0]
    if not written and (whole := _whole(variable, text)) is not None:
        return whole
    where = f"Variable {variable.name!r}"
    if written:
        problem = f"{text!r} stands for each of {listing(written)}."
        raise DataError(where, problem, "ask with `network.query` in Python, which knows types")
    problem = f"state {text!r} is not one of {listing(variable.states)}."
    raise DataError(
        where,
        problem,
        did_you_mean(text, map(str, variable.states)),
        variable=variable.name,
        state=text,
        allowed=variable.states,
    )


def _whole(variable: Variable, text: str) -> State | None:
    """Return the integer state that is written with decimals, such as 2007.0; None if none is."""
    try:
        return variable.states[variable.index(float(text))]
    except ValueError:  # neither a number nor a state
        return None
