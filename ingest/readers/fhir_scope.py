"""Targets of FHIR references: into the resource itself, into its Bundle, or to an id that it spells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

_PATIENT: Final = re.compile(r"(?:^|/)Patient/([^/?#|\s]+)")
_LOOKED_UP: Final = re.compile(r"(?:^|/)Patient\?(?:[^#]*&)?identifier=(?:[^|&#]*\|)?([^|&#\s]+)")
_URN: Final = re.compile(r"urn:(?:uuid|oid):(\S+)")

Resource = Mapping[str, Any]


def values_at(value: object, path: str) -> Iterator[object]:
    """What stands at a dotted path, through every member of a list; a lone object counts as a list of one."""
    found = [value]
    for name in path.split("."):
        found = [item for one in found for item in _members(one, name)]
    return (item for item in found if item is not None)


def _members(value: object, name: str) -> list[object]:
    held = value.get(name) if isinstance(value, Mapping) else None
    return held if isinstance(held, list) else [held]


def word(value: object) -> str:
    """A string or whole number as text without outer blanks; empty for everything else."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    try:
        return str(value).strip()
    except ValueError:  # an integer of thousands of digits
        return ""


def first_word(value: object, *paths: str) -> str:
    """The first text at these paths, empty if there is none."""
    return next((found for path in paths for one in values_at(value, path) if (found := word(one))), "")


class Scope:
    """The resources of one Bundle, by full URL and by type and id."""

    def __init__(self, entries: Iterable[tuple[str, Resource]] = ()) -> None:
        self._held: dict[str, Resource] = {}
        for url, resource in entries:
            kind, own = word(resource.get("resourceType")), word(resource.get("id"))
            for key in (url, f"{kind}/{own}" if own else ""):
                if key:
                    self._held.setdefault(key, resource)

    def find(self, reference: str, within: Resource) -> Resource | None:
        """The resource that a reference names: contained in ``within``, or of this Bundle; a version is left aside."""
        if reference.startswith("#"):
            contained = values_at(within, "contained")
            return next((one for one in contained if isinstance(one, Mapping) and one.get("id") == reference[1:]), None)
        plain = reference.partition("/_history/")[0]
        return self._held.get(plain) or self._held.get("/".join(plain.rsplit("/", 2)[-2:]))

    def patient_id(self, resource: Resource) -> str:
        """The id of the patient whom a resource is about, empty when it tells none.

        ``Patient/123`` is 123, in a Bundle and out of it. A reference that is only a name within its Bundle or its
        resource gives the id or the record number of the Patient there; last, the identifier that the subject carries.
        """
        subject = resource.get("subject")
        reference = first_word(subject, "reference")
        spelled = _PATIENT.search(reference) or _LOOKED_UP.search(reference)
        if spelled:
            return spelled[1]
        patient = self.find(reference, resource) if reference else None
        if patient is not None and patient.get("resourceType") != "Patient":
            return ""
        if patient is not None:
            # The id of a contained resource is a name within that resource alone: p1 of one note is not p1 of the next.
            own = "" if reference.startswith("#") else word(patient.get("id"))
            if found := own or _record_number(patient):
                return found
        if found := first_word(subject, "identifier.value"):
            return found
        urn = _URN.fullmatch(reference)
        return urn[1] if urn else ""


def _record_number(patient: Resource) -> str:
    identifiers = list(values_at(patient, "identifier"))
    numbers = [one for one in identifiers if "MR" in values_at(one, "type.coding.code")]
    return next((found for one in (*numbers, *identifiers) if (found := first_word(one, "value"))), "")
