"""Numbers by name, with a report."""
from __future__ import annotations

import difflib
import html
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def nearest(name: str, names: Iterable[str]) -> str:
    """"; did you mean ...?", or "" if no name is similar or begins like this. Upper and lower case do not count."""
    word, folded = name.casefold(), {known.casefold(): known for known in names}
    found = difflib.get_close_matches(word, folded, 1, 0.75) or sorted(known for known in folded if len(word) > 2 and known.startswith(word))
    return f"; did you mean {folded[found[0]]!r}?" if found else ""


class Picture(str):
    """An SVG text, which Jupyter draws and `save` writes."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file that ends in .svg."""
        if not os.fspath(path).endswith(".svg"):
            raise ValueError(f"a picture is written to a file that ends in .svg, not to {os.fspath(path)!r}")
        pathlib.Path(path).write_text(self, encoding="utf-8")


def html_table(head: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> str:
    """A table of texts, at most 200 rows of it."""
    most = 200

    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    more = f"<tr><td>and {len(rows) - most} more</td></tr>" if len(rows) > most else ""
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows[:most])}{more}</tbody></table>"


def html_report(report: str, picture: str = "") -> str:
    """A report as it is printed, and a picture below."""
    return f"<pre>{html.escape(report)}</pre>" + (f"<div>{picture}</div>" if picture else "")


class Values(Mapping[str, float]):
    """A mapping from names to numbers; `print` shows a report."""

    _values: dict[str, float]
    _text: str

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return self._text or repr(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.6g}" for name, value in list(self._values.items())[:8])
        return f"<daedal.{type(self).__name__}: {shown}{', ...' if len(self) > 8 else ''}>"

    def _repr_html_(self) -> str:
        return html_report(self._text)
