"""Tabular: a result that can be handed on as a data frame, as CSV or as LaTeX."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any, Literal

from colonnade.exceptions import NotSupportedError, checked_whole

# What data frames are made of, the first that is installed.
_FRAMES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


class Tabular(ABC):
    """A result with rows and named columns."""

    __slots__ = ()

    @abstractmethod
    def _columns(self) -> dict[str, list[Any]]:
        """Columns by name, all of the same length; None where there is no value."""

    @property
    def _index(self) -> Any:
        """Labels of the rows in a pandas data frame; None to number them."""
        return None

    def to_frame(self) -> Any:
        """Return a data frame: of pandas if that is installed, else of Polars or PyArrow.

        A result about the rows of a pandas data frame has its index.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> list(network.query("a", {"b": 1}).to_frame().columns)
        ['a', 'probability']
        """
        import narwhals as nw

        for backend in _FRAMES:
            if find_spec(backend) is not None:
                frame = nw.from_dict(self._columns(), backend=backend).to_native()
                if backend == "pandas" and self._index is not None:
                    frame.index = self._index
                return frame
        reason = f"none of {', '.join(_FRAMES)} is installed"
        raise NotSupportedError("A data frame", reason, "install pandas, or use to_csv()")

    def to_csv(self) -> str:
        """Return the text of a CSV file, with all digits.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]}, Dag([("a", "b")]))
        >>> print(network.query("a").to_csv())
        a,probability
        0,0.5
        1,0.5
        <BLANKLINE>
        """
        columns, text = self._columns(), io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def to_latex(self, digits: int = 4) -> str:
        r"""Return a LaTeX table, for the package ``booktabs``.

        Parameters
        ----------
        digits : int
            Decimals of numbers with fractions.

        Examples
        --------
        >>> from colonnade import Dag, fit
        >>> network = fit({"a_1": [0, 0, 1, 1]}, Dag([], ["a_1"]))
        >>> print(network.query("a_1").to_latex(2))
        \begin{tabular}{rr}
        \toprule
        a\_1 & probability \\
        \midrule
        0 & 0.50 \\
        1 & 0.50 \\
        \bottomrule
        \end{tabular}
        """
        digits = checked_whole(digits, "digits", 0, 17)
        columns = self._columns()
        sides = "".join("r" if _is_numeric(values) else "l" for values in columns.values())
        head = " & ".join(_escaped(name) for name in columns)
        rows = [
            " & ".join(_cell(value, digits) for value in row)
            for row in zip(*columns.values(), strict=True)
        ]
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        lines += [rf"{row} \\" for row in rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _is_numeric(values: list[Any]) -> bool:
    numbers = [value for value in values if value is not None]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers)


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return "--"
    return f"{value:.{digits}f}" if isinstance(value, float) else _escaped(str(value))


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
