"""Labels: which patient matches which query of the bank, and on which pairs experts may differ."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ....kb.files.json_lines import json_object, patient_of

_MOST_ERRORS: Final = 5
#: Longer files (bytes) hold no labels of a bank.
_LONGEST: Final = 64 << 20


class LabelError(UsageError):
    """A labels file cannot be used as it stands; the message names the lines (exit 2)."""

    has_lines = True


@dataclass(frozen=True, slots=True)
class Labels:
    """Patient id to the ids of the queries that match, and to those that are ambiguous and count neither way."""

    match: Mapping[str, frozenset[int]]
    ambiguous: Mapping[str, frozenset[int]]
    sha256: str = ""

    @property
    def patients(self) -> tuple[str, ...]:
        """The labelled patients, sorted."""
        return tuple(sorted(self.match))

    def wanted(self, query: int) -> frozenset[str]:
        """The gold cohort of a query: those who match, without the ambiguous."""
        return frozenset(one for one, ids in self.match.items() if query in ids) - self.open_to(query)

    def open_to(self, query: int) -> frozenset[str]:
        """The patients on whom the query is ambiguous."""
        return frozenset(one for one, ids in self.ambiguous.items() if query in ids)


def load_labels(path: Path, known: Collection[int]) -> Labels:
    """Reads JSONL of ``{"patient_id", "match": [ids], "ambiguous": [ids]}``; other keys are left alone.

    LabelError, naming up to five bad lines, for a file that is missing or empty, a line that is no such object, an id
    that is not ``known`` to the bank, or a patient who has two lines.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_LONGEST + 1)
    except OSError as error:
        raise LabelError(f"the labels cannot be read from {path}: {error.strerror}") from error
    if len(data) > _LONGEST:
        raise LabelError(
            f"{path.name} is longer than {_LONGEST >> 20} MiB. Hint: labels of a bank are a thousandth of that"
        )
    match: dict[str, frozenset[int]] = {}
    ambiguous: dict[str, frozenset[int]] = {}
    errors: list[str] = []
    bad = 0
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.strip():
            continue
        try:
            patient, matching, unsure = _entry(line, frozenset(known))
            if patient in match:
                raise ValueError(f"patient {patient} has a line before this one")
        except ValueError as error:
            bad += 1
            if bad <= _MOST_ERRORS:
                errors.append(f"line {number}: {error}")
            continue
        match[patient], ambiguous[patient] = matching, unsure
    if errors:
        more = f"\n  … and {bad - _MOST_ERRORS} more" if bad > _MOST_ERRORS else ""
        listed = "\n  ".join(errors)
        raise LabelError(f"{path.name} has {bad} bad line{'s' * (bad > 1)}:\n  {listed}{more}")
    if not match:
        raise LabelError(
            f'{path.name} labels nobody. Hint: a line is {{"patient_id": "P1", "match": [58], "ambiguous": []}}'
        )
    return Labels(match, ambiguous, hashlib.sha256(data).hexdigest())


def _entry(line: bytes, known: frozenset[int]) -> tuple[str, frozenset[int], frozenset[int]]:
    entry = json_object(line, '"patient_id" and "match"')
    patient = patient_of(entry)
    if "match" not in entry:
        raise ValueError('"match" is missing. Hint: write "match": [] for a patient whom no query matches')
    return patient, _ids(entry, "match", known), _ids(entry, "ambiguous", known)


def _ids(entry: dict[str, Any], key: str, known: frozenset[int]) -> frozenset[int]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        raise ValueError(f'"{key}" is not a list of query ids (whole numbers)')
    if strangers := sorted(set(value) - known):
        raise ValueError(f'"{key}" names no query of the bank: {", ".join(map(str, strangers[:8]))}')
    return frozenset(value)
