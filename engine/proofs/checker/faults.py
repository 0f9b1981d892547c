"""Faults: what of a proof does not hold, where in it, by which check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not hold. ``check`` is its sort (span, cue, day, edge, note, event, …), ``where`` the place
    in the proof (``criterion/and 1/exists`` or ``mention 1f…``); ``message`` quotes no note."""

    check: str
    where: str
    message: str

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)


@dataclass(slots=True)
class Findings:
    """What one verification has found so far: faults, what it could not check, with the reasons, and the models on
    whose proposals the membership stands."""

    faults: list[Fault] = field(default_factory=list)
    unchecked: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    _place: list[str] = field(default_factory=list)

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Faults inside are told of this place, within that around it."""
        self._place.append(place)
        try:
            yield
        finally:
            self._place.pop()

    def fault(self, check: str, message: str) -> None:
        """Something does not hold."""
        self.faults.append(Fault(check, "/".join(self._place), message))

    def require(self, condition: object, check: str, message: str) -> bool:
        """A fault unless the condition is true; whether it is."""
        if not condition:
            self.fault(check, message)
        return bool(condition)

    def cannot(self, reason: str) -> None:
        """Something was left unchecked; each reason is told once."""
        self.unchecked[reason] = None


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else, which then lacks what is looked for."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A JSON list; an empty one for anything else."""
    return value if isinstance(value, list) else []
