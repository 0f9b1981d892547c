"""Arguments of the Python API: one of a wrong type is a usage error that says what is expected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .errors import UsageError

#: What a path may be given as.
PATH: Final = (str, os.PathLike)
_AN: Final = tuple("aeiouAEIOU")


def expect(name: str, value: object, types: type | tuple[type, ...], what: str) -> None:
    """UsageError unless ``value`` is of ``types``; ``what`` tells a reader what is (*a query as text*)."""
    if not isinstance(value, types):
        given = "None" if value is None else type(value).__name__
        article = "" if value is None else "an " if given.startswith(_AN) else "a "
        raise UsageError(f"'{name}' is {article}{given}. Hint: it takes {what}")


def expect_path(name: str, value: object, what: str) -> None:
    """UsageError unless ``value`` is a path: text or a path object. Text must not be empty."""
    expect(name, value, PATH, f"{what}, as text or a path")
    if not os.fspath(value):  # type: ignore[call-overload]
        raise UsageError(f"'{name}' is empty. Hint: it takes {what}, as text or a path")


def expect_patient(value: object) -> None:
    """UsageError unless ``value`` is a patient id."""
    expect("patient_id", value, str, "the id of one patient, as text")


def expect_patients(values: object) -> None:
    """UsageError unless ``values`` are patient ids: several, not the text of one."""
    what = "patient ids, as a list"
    expect("patients", values, Iterable, what)
    if isinstance(values, str | bytes):
        expect("patients", values, list, what)


def paths_of(name: str, values: Any, what: str) -> list[Any]:
    """One path, or several, as a list; UsageError for anything else."""
    if isinstance(values, PATH):
        values = [values]
    if isinstance(values, Mapping | bytes):
        # They can be walked through, and are no list of paths.
        expect(name, values, list, f"{what}, or a list of such")
    expect(name, values, Iterable, f"{what}, or a list of such")
    found = list(values)
    for one in found:
        expect_path(name, one, what)
    return found
