"""A Circe document, read part by part: what nobody asked for is left over, and told at the end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...kb.errors import CohortiumError
from ...kb.files.text_files import text_of

_DEEPEST: Final = 60
#: Definitions with long concept lists have a hundredth of it (bytes).
_LONGEST_FILE: Final = 64 << 20
#: What a loss does to the answer: patients may be in it, or missing, or both, or none of that.
EFFECTS: Final = ("wider", "narrower", "other", "none")


_OPPOSITE: Final = {"wider": "narrower", "narrower": "wider"}


class CirceError(CohortiumError):
    """A file is no cohort definition, or nothing of it can be asked (exit 3)."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Loss:
    """What could not be carried: its place in the document (``$.InclusionRules[0].name``), what it is, and why.

    ``effect`` says what that does to the answer, one of :data:`EFFECTS`: the query finds more patients than the
    document does (*wider*), fewer (*narrower*), perhaps others (*other*), or the same (*none*).
    """

    path: str
    what: str
    why: str
    effect: str

    def as_dict(self) -> dict[str, str]:
        """path, what, why, effect."""
        return {"path": self.path, "what": self.what, "why": self.why, "effect": self.effect}


@dataclass
class Losses:
    """Collects losses, each place and thing once. While ``negated``, what is read is denied: a loss that would make the
    answer wider makes it narrower."""

    found: dict[tuple[str, str], Loss] = field(default_factory=dict)
    negated: bool = False
    #: What the loss of a whole criterion does where it stands: one of several that are all asked for makes the answer
    #: wider, one of several alternatives makes it narrower.
    whole: str = "wider"

    def add(self, path: str, what: str, why: str, effect: str) -> None:
        """Note one, with its effect on what is read at the moment."""
        if self.negated:
            effect = _OPPOSITE.get(effect, effect)
        held = self.found.get((path, what))
        if held is not None and held.effect != effect:
            effect = "other"
        self.found[path, what] = Loss(path, what, why, effect)


@dataclass
class Part:
    """One object of the document. ``take`` reads a field; fields that were never taken are told by ``leftovers``."""

    data: Mapping[str, Any]
    path: str
    taken: set[str] = field(default_factory=set)
    below: list[Part] = field(default_factory=list)

    def take(self, name: str) -> Any:
        """The field, None if it is not there."""
        self.taken.add(name)
        return self.data.get(name)

    def part(self, name: str) -> Part | None:
        """The object in the field; None if there is none."""
        value = self.take(name)
        if value is None:
            return None
        return self._below(value, f"{self.path}.{name}")

    def parts(self, name: str) -> list[Part]:
        """The objects in a list."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise CirceError(f"{self.path}.{name} is not a list")
        return [self._below(one, f"{self.path}.{name}[{at}]") for at, one in enumerate(value)]

    def text(self, name: str) -> str:
        """The field as text; empty if it is not there."""
        value = self.take(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> float | None:
        """The field as a number; None if it is not there."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CirceError(f"{self.path}.{name} is not a number")
        if not abs(value) < 1e9:
            raise CirceError(f"{self.path}.{name} is too large a number")
        return float(value)

    def whole(self, name: str) -> int | None:
        """The field as a whole number; None if it is not there."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise CirceError(f"{self.path}.{name} is not a whole number")
        return None if value is None else int(value)

    def _below(self, value: Any, path: str) -> Part:
        if not isinstance(value, dict):
            raise CirceError(f"{path} is not an object")
        part = Part(value, path)
        self.below.append(part)
        return part

    def leftovers(self) -> Iterator[tuple[str, str]]:
        """Path and name of each field that holds something and that nobody took, here and below."""
        for name, value in self.data.items():
            if name not in self.taken and value not in (None, False, "", [], {}):
                yield f"{self.path}.{name}", str(name)
        for part in self.below:
            yield from part.leftovers()


def read_document(source: str | os.PathLike[str] | Mapping[str, Any]) -> Part:
    """The document: a path, JSON text (it begins with a brace) or a dict. CirceError if it is no cohort definition."""
    data: Any = source
    if not isinstance(source, Mapping):
        text = str(source) if isinstance(source, str) and source.lstrip().startswith("{") else _file_text(source)
        data = _json(text)
    if not isinstance(data, Mapping):
        raise CirceError("a cohort definition is a JSON object")
    if "PrimaryCriteria" not in data and isinstance(data.get("expression"), Mapping | str):
        # As WebAPI exports it: the definition inside a record with name and id.
        inner = data["expression"]
        data = _json(inner) if isinstance(inner, str) else inner
    if not isinstance(data, Mapping) or not isinstance(data.get("PrimaryCriteria"), Mapping):
        raise CirceError("this is no cohort definition: it has no PrimaryCriteria. Hint: export the cohort as JSON")
    _check_depth(data)
    return Part(data, "$")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CirceError(f"this is not JSON: {error}") from error


def _file_text(source: str | os.PathLike[str]) -> str:
    return text_of(Path(source), longest=_LONGEST_FILE)


def _check_depth(data: Any) -> None:
    waiting = [(data, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise CirceError(f"the definition is nested more than {_DEEPEST} levels deep")
        if isinstance(value, Mapping):
            waiting.extend((one, depth + 1) for one in value.values())
        elif isinstance(value, list):
            waiting.extend((one, depth + 1) for one in value)
