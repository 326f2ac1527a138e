"""What daedal says about a model or a run: diagnostics with their place, raised as exceptions when they are errors."""
from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Callable

from . import _library
from ._library import text

_SEVERITIES = ("note", "warning", "error")


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in a model's text, counted from 1; line 0 means that there is no place."""

    path: str
    line: int
    column: int
    length: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path

    def excerpt(self) -> str:
        """The line, with a mark below the part that the message is about; "" without a place."""
        if not self.line:
            return ""
        before = "".join("\t" if c == "\t" else " " for c in self.text[: self.column - 1])
        return f"{self.text}\n{before}{'^' * max(1, self.length)}"


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message; severity is "note", "warning" or "error"."""

    severity: str
    message: str
    place: Place
    notes: tuple[tuple[str, Place], ...] = ()
    code: str = ""  # of docs/messages.md

    def __str__(self) -> str:
        where = str(self.place)
        lines = [f"{where}: {self.message}" if where else self.message]
        if self.place.line:
            lines.append(self.place.excerpt())
        for message, place in self.notes:
            lines.append(f"note: {place}: {message}" if place.line else f"note: {message}")
        return "\n".join(lines)


class DaedalWarning(UserWarning):
    """A warning about a model or a run."""


class Error(Exception):
    """Something went wrong; `diagnostics` says what and where, and `result` is the part that was computed, or None."""

    def __init__(self, diagnostics: list[Diagnostic], result: Any = None) -> None:
        self.diagnostics = diagnostics
        self.result = result
        errors = [str(d) for d in diagnostics if d.severity == "error"]
        super().__init__("\n".join(errors) or "no reason was given")

    def __reduce__(self) -> Any:
        return type(self), (self.diagnostics, self.result)

    @property
    def place(self) -> Place | None:
        """The place of the first error; None if it has none."""
        for diagnostic in self.diagnostics:
            if diagnostic.severity == "error" and diagnostic.place.line:
                return diagnostic.place
        return None


class InternalError(Error):
    """A defect of daedal, or no memory."""


class UsageError(Error, ValueError):
    """An option, a name or a value that does not exist."""


class ModelError(Error):
    """The text of the model is wrong, or uses an unsupported feature."""


class StructureError(Error):
    """The equations are unbalanced or singular, or the method does not apply."""


class InitializationError(Error):
    """There are no consistent initial values."""


class IntegrationError(Error):
    """The integration failed; `result` has the trajectory up to the failure."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


def refuse(message: str) -> UsageError:
    """The error of a value that the package itself refuses."""
    return UsageError([Diagnostic("error", message, Place("", 0, 0, 0, ""), (), "D200")])


_CLASSES: dict[int, type[Error]] = {1: InternalError, 2: UsageError, 3: ModelError, 4: StructureError, 5: InitializationError,
                                    6: IntegrationError, 7: FileError}


def _place(raw: _library.Place) -> Place:
    return Place(text(raw.path), raw.line, raw.column, raw.length, text(raw.text))


def read_diagnostics(count: int, get: Callable[[int], _library.Diagnostic], first: int = 0) -> list[Diagnostic]:
    """The messages from number `first` on."""
    found = []
    for k in range(first, count):
        raw = get(k)
        notes = tuple((text(raw.notes[n].message), _place(raw.notes[n].place)) for n in range(raw.note_count))
        found.append(Diagnostic(_SEVERITIES[raw.severity], text(raw.message), _place(raw.place), notes,
                                text(raw.code)))
    return found


def check(status: int, diagnostics: Callable[[], list[Diagnostic]], result: Any = None) -> None:
    """Raises the exception for a status that is an error."""
    if status:
        raise _CLASSES.get(status, InternalError)(diagnostics(), result)


def warn(diagnostics: list[Diagnostic]) -> None:
    """Passes warnings on to Python's `warnings`."""
    for diagnostic in diagnostics:
        if diagnostic.severity == "warning":
            warnings.warn(str(diagnostic), DaedalWarning, stacklevel=4)
