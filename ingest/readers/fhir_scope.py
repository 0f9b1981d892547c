"""Targets of FHIR references: into the resource itself, into its Bundle, or to an id that it spells."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from .attachments import formats

#: The base of a server if any, a type of resource and an id; what may follow names a version, or a part of it.
_SPELLED: Final = re.compile(r"(?:(.*)/)?([A-Z][A-Za-z]+)/([^/?#|\s]+)(?:/|/_history(?:/.*)?|[?#|].*)?")
_LOOKED_UP: Final = re.compile(r"(?:^|/)Patient\?(?:[^#]*&)?identifier=(?:(?P<system>[^|&#]*)\|)?(?P<value>[^|&#\s]+)")
#: With or without encryption, and whether its usual port is written, it is one server.
_WEB: Final = re.compile(
    r"https?://(?P<host>[^/:]+(?::(?!(?:80|443)(?:/|\Z))\d+)?)(?::(?:80|443))?(?P<path>(?:/.*)?)", re.I
)
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


def first_id(value: object, path: str) -> str:
    """The first text at this path, with the blanks around it, of which who joins ids is to know; or a whole number."""
    found = next((one for one in values_at(value, path) if word(one)), None)
    return found if isinstance(found, str) else word(found)


class PatientName(NamedTuple):
    """The id of a patient, and whose ids those are, where that is told: a server, or a system of identifiers."""

    id: str
    space: str = ""


#: A resource that tells no patient.
NOBODY: Final = PatientName("")


class Scope:
    """The resources of one Bundle, by full URL and by type and id."""

    def __init__(self, entries: Iterable[tuple[str, Resource]] = ()) -> None:
        self._held: dict[str, Resource] = {}
        self._doubled: set[str] = set()
        for url, resource in entries:
            kind, own = word(resource.get("resourceType")), word(resource.get("id"))
            for key in (url, f"{kind}/{own}" if own else ""):
                if key and not _alike(self._held.setdefault(key, resource), resource):
                    self._doubled.add(key)

    def find(self, reference: str, within: Resource) -> Resource | None:
        """The resource that a reference names: contained in ``within``, or of this Bundle; a version is left aside.

        None as well when several resources have that name: which of them is meant, nobody can tell.
        """
        return None if self._names_several(reference, within) else self._first(reference, within)

    def _first(self, reference: str, within: Resource) -> Resource | None:
        if reference.startswith("#"):
            return next(_contained(reference, within), None)
        return next((self._held[key] for key in _keys(reference) if key in self._held), None)

    def _names_several(self, reference: str, within: Resource) -> bool:
        if reference.startswith("#"):
            first = self._first(reference, within)
            return first is not None and any(one != first for one in _contained(reference, within))
        return next((key for key in _keys(reference) if key in self._held), "") in self._doubled

    def patient(self, resource: Resource, full_url: str = "") -> PatientName:
        """Who the patient is whom a resource is about; ``full_url`` is the resource's own.

        ``Patient/123`` is 123, in a Bundle and out of it. A reference that is only a name within its Bundle or its
        resource gives the id or the record number of the Patient there; last, the identifier that the subject carries.
        Who is no Patient (a Group, a Device), and a name that several resources share, is nobody.
        """
        subject = resource.get("subject")
        reference = first_word(subject, "reference")
        if self._names_several(reference, resource) or _is_other(subject, reference):
            return NOBODY
        if spelled := _SPELLED.fullmatch(reference):
            if spelled[2] == "Patient":
                # A relative reference is of the server that the resource is of.
                return PatientName(spelled[3], _server(reference) or _server(full_url))
        elif looked_up := _LOOKED_UP.search(reference):
            return PatientName(looked_up["value"], looked_up["system"] or "")
        patient = self.find(reference, resource) if reference else None
        if patient is not None and patient.get("resourceType") != "Patient":
            return NOBODY
        if patient is not None:
            # The id of a contained resource is a name within that resource alone: p1 of one note is not p1 of the next.
            if own := "" if reference.startswith("#") else first_id(patient, "id"):
                return PatientName(own, _server(reference))
            if (found := _record_number(patient)).id:
                return found
        if identifier := first_id(subject, "identifier.value"):
            return PatientName(identifier, first_word(subject, "identifier.system"))
        urn = _URN.fullmatch(reference)
        return PatientName(urn[1]) if urn else NOBODY

    def is_patient(self, patient: Resource, full_url: str = "") -> PatientName:
        """Who a Patient is, by the same id as those have it whose subject it is."""
        if own := first_id(patient, "id"):
            return PatientName(own, _server(full_url))
        return _record_number(patient)


def _server(url: str) -> str:
    """The server of a resource's full URL, one text for all that mean it; empty where the URL tells none."""
    spelled = _SPELLED.fullmatch(url)
    base = _WEB.fullmatch(spelled[1] or "") if spelled else None
    return f"{base['host'].lower()}{base['path'].rstrip('/')}" if base else ""


def _keys(reference: str) -> tuple[str, str]:
    """The names under which a Bundle may hold what is referred to: the full URL, and type and id."""
    plain = reference.partition("/_history/")[0]
    return plain, "/".join(plain.rsplit("/", 2)[-2:])


def _contained(reference: str, within: Resource) -> Iterator[Resource]:
    held = values_at(within, "contained")
    return (one for one in held if isinstance(one, Mapping) and one.get("id") == reference[1:])


def _alike(one: Resource, other: Resource) -> bool:
    """Whether two resources under one name are one: equal, versions of one, or Patients of one id."""
    if one is other or one == other:
        return True
    own = [(word(each.get("resourceType")), word(each.get("id"))) for each in (one, other)]
    if own[0] != own[1] or not own[0][1]:
        return False
    versions = {first_word(each, "meta.versionId") for each in (one, other)}
    return own[0][0] == "Patient" or len(versions) == 2


@functools.cache
def _kinds() -> frozenset[str]:
    """The types of resources of FHIR."""
    return frozenset(formats()["without_notes"]["types"].split()) | frozenset(formats()["resource"])


def _is_other(subject: object, reference: str) -> bool:
    """Whether a subject says that it is no Patient: by its type, or by the path of its reference."""
    kind = first_word(subject, "type").rpartition("/")[2]
    if kind and kind != "Patient":
        return True
    plain = re.split(r"[?#|]", reference.partition("/_history/")[0], maxsplit=1)[0]
    *before, above, _ = ("", *plain.split("/")) if "/" in plain else ("", "", "")
    return (above in _kinds() and above != "Patient") or (
        above == "Patient" and bool(before) and before[-1] in _kinds()
    )


def _record_number(patient: Resource) -> PatientName:
    identifiers = list(values_at(patient, "identifier"))
    numbers = [one for one in identifiers if "MR" in values_at(one, "type.coding.code")]
    named = (PatientName(first_id(one, "value"), first_word(one, "system")) for one in (*numbers, *identifiers))
    return next((one for one in named if one.id), NOBODY)
