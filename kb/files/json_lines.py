"""One line of a JSONL file as the object that it must be, or why it is none."""

from __future__ import annotations

from typing import Any

from .limits import current_limits
from .strict_json import check_amount, loads


def json_object(line: bytes, wanted: str) -> dict[str, Any]:
    """The object of a line. ValueError, without any of its text, if it is none; ``wanted`` tells what it must hold."""
    check_amount(line, current_limits().values)
    try:
        entry = loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    if not isinstance(entry, dict):
        raise ValueError(f"not an object with {wanted}")
    return entry


def patient_of(entry: dict[str, Any]) -> str:
    """The ``patient_id`` of such an object. ValueError if it is missing, empty, no text or half a character."""
    patient = entry.get("patient_id")
    if not isinstance(patient, str) or not patient:
        raise ValueError('"patient_id" is missing or not text')
    if any("\ud800" <= letter <= "\udfff" for letter in patient):
        raise ValueError('"patient_id" holds half a character (a lone surrogate)')
    return patient
