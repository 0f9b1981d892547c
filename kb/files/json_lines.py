"""One line of a JSONL file as the object that it must be, or why it is none."""

from __future__ import annotations

import json
from typing import Any


def json_object(line: bytes, wanted: str) -> dict[str, Any]:
    """The object of a line. ValueError, without any of its text, if it is none; ``wanted`` tells what it must hold."""
    try:
        entry = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(entry, dict):
        raise ValueError(f"not an object with {wanted}")
    return entry


def patient_of(entry: dict[str, Any]) -> str:
    """The ``patient_id`` of such an object. ValueError if it is missing, empty or not text."""
    patient = entry.get("patient_id")
    if not isinstance(patient, str) or not patient:
        raise ValueError('"patient_id" is missing or not text')
    return patient
