"""FHIR R4: documents, reports and compositions, alone, in Bundles, or one resource a line (bulk export).

A resource that brings no notes (an Observation) is passed over and counts as no record; one that should bring a note
and cannot is in quarantine. A Patient that tells sex, birth, race or death is a note of that.
"""

from __future__ import annotations

import codecs
import functools
import gzip
import itertools
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...kb.errors import UsageError
from ...kb.files.limits import LimitReached, current_limits
from . import jsonl
from .attachments import Attached, formats, read_attachment, texts_of
from .fhir_scope import NOBODY, Resource, Scope, first_id, first_word, values_at, word
from .files import SourceFile, open_bytes
from .mapping import ColumnMap
from .markup import lines_of_markup
from .records import RETRACTED, RawRecord, is_retraction
from .registered import TYPE, name_of, text_of
from .told import Told

#: So many lines are looked at to tell a bulk export from lines of notes.
_LOOKED_AT: Final = 20
#: A FHIR date may leave out the day, or the month as well.
_NO_DAY: Final = re.compile(r"\d{4}(?:-\d{2})?")
#: And a day that it tells.
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class _Found:
    """One resource, or what stands where one should: with its place, its number there and its Bundle."""

    value: object
    place: str
    number: int
    scope: Scope
    full_url: str = ""


@functools.cache
def _without_notes() -> frozenset[str]:
    return frozenset(formats()["without_notes"]["types"].split())


def check(file: SourceFile, columns: ColumnMap) -> None:
    """UsageError with a map: the fields of FHIR have their places."""
    if columns.named:
        raise UsageError(
            f"{file.label}: is FHIR, whose fields have fixed places. Hint: leave out --map, or read other sources in a"
            " run of their own"
        )


def is_export(file: SourceFile) -> bool:
    """Whether the lines of a file are FHIR resources."""
    records = jsonl.read(file)
    return any("resourceType" in record.fields for record, _ in zip(records, range(_LOOKED_AT), strict=False))


def is_no_resource(file: SourceFile) -> bool:
    """Whether a file is one JSON value without any resource in it, a manifest for example."""
    records = list(itertools.islice(read(file, Told()), 2))
    return [record.fault for record in records] in (["no_resource"], ["not_an_object"])


def read_lines(file: SourceFile, told: Told) -> Iterator[RawRecord]:
    """The notes of a bulk export, one resource a line."""
    for line in jsonl.read(file):
        if line.fault:
            yield line
            continue
        for found in _resources(line.fields, f"{line.place}, ", line.place):
            yield from _records(file.label, found, told)


def read(file: SourceFile, told: Told) -> Iterator[RawRecord]:
    """The notes of a file that is one resource, one Bundle, or a list of them."""
    limits = current_limits()
    try:
        with open_bytes(file, limits) as stream:
            data = stream.read(limits.file + 1)
    except LimitReached as reached:
        yield RawRecord(file.label, "file", 1, fault=reached.code, raw="(too long to keep)")
        return
    except (EOFError, zlib.error, OSError) as error:
        torn = isinstance(error, EOFError | zlib.error | gzip.BadGzipFile)
        fault = "damaged_file" if torn else "unreadable_file"
        yield RawRecord(file.label, "file", 1, fault=fault, raw=type(error).__name__)
        return
    if len(data) > limits.file:
        yield RawRecord(file.label, "file", 1, fault="file_too_long", raw="(too long to keep)")
        return
    value, fault = jsonl.decoded(data.removeprefix(codecs.BOM_UTF8), limits)
    if fault:
        yield RawRecord(file.label, "file", 1, fault=fault, raw=jsonl.shown(data))
        return
    del data
    for found in _resources(value, "", "file"):
        yield from _records(file.label, found, told)


def _resources(value: object, before: str, place: str) -> Iterator[_Found]:
    """The resources of a value in their order, Bundles opened; newest last where a Bundle is a history."""
    waiting: list[tuple[object, str, Scope, str]] = [(value, place, Scope(), "")]
    number = 0
    while waiting:
        value, place, scope, full_url = waiting.pop()
        if isinstance(value, Mapping) and value.get("resourceType") == "Bundle":
            entries = value.get("entry")
            entries = entries if isinstance(entries, list) else [] if entries is None else [entries]
            scope = Scope(_held(entries))
            opened = [
                (entry["resource"], f"{before}entry {at}", scope, word(entry.get("fullUrl")))
                if isinstance(entry, Mapping)
                else (entry, f"{before}entry {at}", scope, "")
                for at, entry in enumerate(entries, 1)
                if not isinstance(entry, Mapping) or "resource" in entry
            ]
            waiting += opened if value.get("type") == "history" else reversed(opened)
        elif isinstance(value, list) and place == "file":
            waiting += [(one, f"entry {at}", scope, "") for at, one in reversed(list(enumerate(value, 1)))]
        else:
            number += 1
            yield _Found(value, place, number, scope, full_url)


def _held(entries: list[Any]) -> Iterator[tuple[str, Resource]]:
    for entry in entries:
        if isinstance(entry, Mapping) and isinstance(entry.get("resource"), Mapping):
            yield word(entry.get("fullUrl")), entry["resource"]


def _records(label: str, found: _Found, told: Told) -> Iterator[RawRecord]:
    """The notes of one resource, and what of it goes to quarantine."""
    value, place, number = found.value, found.place, found.number
    if not isinstance(value, Mapping):
        yield RawRecord(label, place, number, fault="not_an_object", raw=_raw(value))
        return
    kind = word(value.get("resourceType"))
    plan = formats()["resource"].get(kind)
    if plan is None:
        patient = found.scope.is_patient(value, found.full_url) if kind == "Patient" else NOBODY
        if patient.id and (text := text_of(_registered(value))):
            held = {"patient_id": patient.id, "doc_id": f"Patient/{patient.id}", "type": TYPE, "text": text}
            yield RawRecord(label, place, number, held, patient_space=patient.space, doc_space=kind)
        elif kind in _without_notes():
            told.resources[kind] += 1
        else:
            fault = "unknown_resource" if kind else "no_resource"
            yield RawRecord(label, place, number, fault=fault, raw=_raw(value))
        return
    named, space = _document(value, plan["doc_id"])
    if any(is_retraction(word(value.get(name))) for name in ("status", "docStatus")):
        yield from _retractions(label, found, plan, named, space)
        return
    patient = found.scope.patient(value, found.full_url)
    fields = {
        "patient_id": patient.id,
        "doc_id": named,
        "date": _date(value, plan["date"]),
        "type": next((words for path in plan["type"] for one in values_at(value, path) if (words := _kind(one))), ""),
        "title": first_word(value, *plan["title"]),
    }
    notes, faults = texts_of(_texts(value, plan, found.scope))
    if not notes and kind == "DiagnosticReport" and not any(values_at(value, plan["attachments"])):
        told.resources[f"{kind} without a text"] += 1  # Numbers, of which other resources tell.
        return
    for order, note in enumerate(notes):
        own = f"{named}#{note.position}" if named and order else named
        record = {**fields, "doc_id": own, "text": note.text}
        yield RawRecord(label, place, number, record, patient_space=patient.space, doc_space=space)
    for one in faults:
        yield RawRecord(label, place, number, fields, fault=one.fault, raw=_raw(value))


def _registered(patient: Resource) -> dict[str, str | list[str]]:
    """What a Patient says of who that is; race and ethnicity as US Core has them."""
    told: dict[str, str | list[str]] = {"sex": name_of("sex", word(patient.get("gender")))}
    if _DAY.match(born := word(patient.get("birthDate"))):
        told["birth"] = born[:10]
    for section, url in _plan_of_persons().items():
        codings = [
            coding
            for extension in values_at(patient, "extension")
            if isinstance(extension, Mapping) and word(extension.get("url")) == url
            for coding in values_at(extension, "extension.valueCoding")
        ]
        named = [name_of(section, f"OMB:{first_word(one, 'code')}", first_word(one, "display")) for one in codings]
        told[section] = [name for name in named if name]
    died = word(patient.get("deceasedDateTime"))
    if _DAY.match(died) or patient.get("deceasedBoolean") is True:
        told["death"] = died[:10]
    return told


@functools.cache
def _plan_of_persons() -> Mapping[str, str]:
    """Race and ethnicity -> the address of the extension that tells it."""
    found: Mapping[str, str] = formats()["patient"]
    return found


def _document(resource: Resource, paths: list[str]) -> tuple[str, str]:
    """The id of a document, and whose it is: the system of its identifier; an own id is one among those of its type."""
    for path in paths:
        for one in values_at(resource, path):
            if word(one):
                holder = next(values_at(resource, path.rpartition(".")[0]), None) if "." in path else None
                return first_id(resource, path), first_word(holder, "system") or word(resource.get("resourceType"))
    return "", ""


def _retractions(label: str, found: _Found, plan: Mapping[str, Any], doc_id: str, space: str) -> Iterator[RawRecord]:
    """Of a resource that is void: a record for its note, and one for each further note that its attachments may be."""
    resource: Any = found.value
    patient = found.scope.patient(resource, found.full_url)
    attachments = len(list(values_at(resource, plan["attachments"]))) if "attachments" in plan else 0
    for position in range(1, max(attachments, 1) + 1):
        own = f"{doc_id}#{position}" if doc_id and position > 1 else doc_id
        fields = {"patient_id": patient.id, "doc_id": own, "status": RETRACTED}
        raw = _raw(resource)
        yield RawRecord(label, found.place, found.number, fields, raw=raw, patient_space=patient.space, doc_space=space)


def _texts(resource: Resource, plan: Mapping[str, Any], scope: Scope) -> list[Attached]:
    if "sections" in plan:
        return [Attached(1, narrative)] if (narrative := _narrative(resource, plan["sections"])) else []
    attachments = values_at(resource, plan["attachments"])
    found = [
        read_attachment(one, position, lambda url: _binary(url, resource, scope))
        for position, one in enumerate(attachments, 1)
    ]
    if all(one.fault for one in found) and (text := first_word(resource, plan.get("text", "text.none"))):
        found.append(Attached(len(found) + 1, text))
    return found


def _binary(url: str, resource: Resource, scope: Scope) -> Resource | None:
    found = scope.find(url, resource)
    return found if found is not None and found.get("resourceType") == "Binary" else None


def _narrative(resource: Resource, sections: str) -> str:
    """The sections as a note, each under its title; without any, the narrative of the whole."""
    parts: list[str] = []
    waiting = list(values_at(resource, sections))[::-1]
    while waiting:
        section = waiting.pop()
        title, text = first_word(section, "title").rstrip(":"), lines_of_markup(first_word(section, "text.div"))
        # A heading without words of its own still says what the sections below it are of.
        parts += [f"{title}:\n{text}".strip() if title else text] if text or title else []
        waiting += list(values_at(section, "section"))[::-1]
    if not any(":\n" in part or not part.endswith(":") for part in parts):
        return lines_of_markup(first_word(resource, "text.div"))
    return "\n\n".join(parts)


def _date(resource: Resource, paths: list[str]) -> object:
    """The first date with a day, as written; a month or a year alone dates no note. What is no text is no date."""
    dates = (one for path in paths for one in values_at(resource, path))
    written = (one if isinstance(one, str) else type(one).__name__ for one in dates)
    return next((one for one in written if not _NO_DAY.fullmatch(one.strip())), None)


def _kind(concept: object) -> str:
    """The words of a CodeableConcept, or those that its LOINC code stands for."""
    loinc = formats()["loinc"]
    by_code = (loinc[code] for one in values_at(concept, "coding.code") if (code := word(one)) in loinc)
    return first_word(concept, "text", "coding.display") or next(by_code, "")


def _raw(value: object) -> str:
    """The resource as JSON, the data of its attachments left out: a PDF would fill the quarantine."""

    def without_data(held: dict[str, Any]) -> dict[str, Any]:
        data = held.get("data")
        return {**held, "data": f"({len(data)} characters)"} if isinstance(data, str) else held

    try:
        return json.dumps(json.loads(json.dumps(value), object_hook=without_data), ensure_ascii=False)
    except (ValueError, RecursionError):
        return "(nested too deep to show)"
