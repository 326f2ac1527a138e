"""Numbers by name, with a report."""
from __future__ import annotations

from collections.abc import Iterator, Mapping


class Values(Mapping):
    """A mapping from names to numbers; printed, it is a report."""

    _values: dict[str, float]
    _text: str

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return self._text
