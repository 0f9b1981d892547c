"""Annotated reports of MedTxt: entities with label and modality, from tuples, BIO tags or tags in the text itself.

Nothing of a report is run or shown: what cannot be read is told by its place and reason, and the rest counts.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ....kb.files.text_files import lines_of_text
from ..ner.tagging import chunks, token_spans

_FILE: Final = Path(__file__).with_name("tags.toml")
_ARTICLE: Final = re.compile(r"<article\b(?P<attributes>[^<>]*)>")
_ARTICLE_END: Final = "</article>"
_MARK: Final = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)(?P<attributes>(?:\s[^<>]*)?)>")
_ATTRIBUTE: Final = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)')")
#: Between label and modality in a BIO tag: ``B-d_positive``.
_JOINT: Final = "_"


@dataclass(frozen=True, slots=True)
class MedicalEntity:
    """A span of a report (characters, the end exclusive) with its label and modality; the latter is often empty."""

    start: int
    end: int
    label: str
    modality: str = ""

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Report:
    """One report: its text and entities."""

    id: str
    text: str
    entities: tuple[MedicalEntity, ...] = ()


@dataclass(slots=True)
class Reports:
    """The reports of a file by id, what could not be read of it, and the labels that MedTxt has not, counted."""

    reports: dict[str, Report] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    unknown_labels: Counter[str] = field(default_factory=Counter)
    #: Lines or articles of which nothing could be read.
    unread: int = 0


@cache
def tags() -> Mapping[str, Any]:
    """``attributes``: label → the attribute that is its modality; ``sets``: kind of report → the labels scored."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def read_reports(path: Path) -> Reports:
    """The reports of JSON lines (or of a file of ``<article>`` elements); UsageError when none can be read.

    A line has ``doc_id`` and one of: ``text`` with ``entities`` (``[start, end, label, modality]``); ``tokens`` with
    ``tags`` (``B-d_positive``); ``tagged``, a text with ``<d certainty="positive">…</d>`` in it.
    """
    text = lines_of_text(path, errors="replace")
    found, rows = Reports(), 0
    for place, row in _articles(text) if text.lstrip().startswith("<") else _lines(text):
        id = str(row.get("doc_id") or row.get("id") or "").strip()
        rows += 1
        if not id:
            found.unread += 1
            found.problems.append((place, "no doc_id, or not JSON"))
        elif id in found.reports:
            found.problems.append((f"{place} ({id})", "a second report of this id; the first counts"))
        else:
            found.reports[id] = _report(f"{place} ({id})", id, row, found)
    if found.unread == rows:
        # Nothing to score is not the same as a system that found nothing.
        first = f" can be read ({': '.join(found.problems[0])})" if found.problems else ""
        raise UsageError(
            f"no report in '{path}'{first}. Hint: JSON lines with doc_id and text and entities, or <article> elements"
        )
    return found


def _lines(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            row: Any = None
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
            yield f"line {number}", row if isinstance(row, dict) else {}


def _articles(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    number, at = 0, 0
    while (match := _ARTICLE.search(text, at)) and (end := text.find(_ARTICLE_END, match.end())) >= 0:
        number, at = number + 1, end + len(_ARTICLE_END)
        id = _attributes(match["attributes"]).get("id", "")
        yield f"article {number}", {"doc_id": id, "tagged": text[match.end() : end]}


def _report(place: str, id: str, row: Mapping[str, Any], found: Reports) -> Report:
    """The report of a row; without readable annotations it has no entities, and a problem."""
    if isinstance(row.get("tagged"), str):
        text, entities = _tagged(place, row["tagged"], found)
        return Report(id, text, tuple(entities))
    if row.get("tokens") is not None or row.get("tags") is not None:
        return _from_tokens(place, id, row, found)
    plain = str(row.get("text") or "")
    return Report(id, plain, tuple(_from_tuples(place, row.get("entities"), plain, found)))


def _from_tuples(place: str, parts: object, text: str, found: Reports) -> Iterator[MedicalEntity]:
    if not isinstance(parts, list):
        found.unread += 1
        found.problems.append((place, "entities: no list"))
        return
    wrong = len(found.problems)
    for number, part in enumerate(parts, 1):
        if isinstance(part, dict):
            part = [part.get("start"), part.get("end"), part.get("label"), part.get("modality", "")]
        if not isinstance(part, list) or len(part) not in (3, 4) or not all(type(one) is int for one in part[:2]):
            found.problems.append((place, f"entity {number}: not [start, end, label, modality]"))
        elif not 0 <= part[0] < part[1] or (text and part[1] > len(text)):
            found.problems.append((place, f"entity {number}: no span from {part[0]} to {part[1]} of this text"))
        elif not isinstance(part[2], str) or not isinstance(part[3] if len(part) == 4 else "", (str, type(None))):
            found.problems.append((place, f"entity {number}: label and modality are not words"))
        else:
            modality = str(part[3] or "") if len(part) == 4 else ""
            yield from _known(MedicalEntity(part[0], part[1], part[2].lower(), modality), found)
    found.unread += bool(parts) and len(found.problems) - wrong == len(parts)


def _from_tokens(place: str, id: str, row: Mapping[str, Any], found: Reports) -> Report:
    """Tokens with BIO tags; where the row has no text, the tokens are joined by blanks."""
    tokens, marks = _words(row.get("tokens")), _words(row.get("tags"))
    if tokens is None or marks is None:
        found.unread += 1
        found.problems.append((place, "tokens and tags are not lists of words"))
        return Report(id, str(row.get("text") or ""))
    text = str(row.get("text") or " ".join(tokens))
    spans = token_spans(tokens, text)
    if len(tokens) != len(marks) or spans is None:
        reason = (
            "the tokens do not stand in the text" if spans is None else f"{len(marks)} tags for {len(tokens)} tokens"
        )
        found.unread += 1
        found.problems.append((place, reason))
        return Report(id, text)
    entities: list[MedicalEntity] = []
    for begin, end, kind in chunks(marks):
        if spans[begin][0] == spans[end - 1][1]:
            found.problems.append((place, f"token {begin + 1}: a tag on a blank that the text has not"))
            continue
        label, _, modality = kind.partition(_JOINT)
        entity = MedicalEntity(spans[begin][0], spans[end - 1][1], label.lower(), modality)
        entities.extend(_known(entity, found))
    return Report(id, text, tuple(entities))


def _tagged(place: str, marked: str, found: Reports) -> tuple[str, list[MedicalEntity]]:
    """The plain text of a marked one and its entities. A mark that is not closed, or never opened, is told."""
    text, at, length = [], 0, 0
    opened: list[tuple[str, str, int]] = []
    open_names: Counter[str] = Counter()
    entities: list[MedicalEntity] = []
    for mark in _MARK.finditer(marked):
        piece = html.unescape(marked[at : mark.start()])
        text.append(piece)
        length, at = length + len(piece), mark.end()
        name = mark["name"].lower()
        if not mark["close"]:
            if not mark["attributes"].rstrip().endswith("/"):
                modality = _attributes(mark["attributes"]).get(tags()["attributes"].get(name) or "", "")
                opened.append((name, modality, length))
                open_names[name] += 1
        elif open_names[name]:
            while opened[-1][0] != name:
                left = opened.pop()[0]
                open_names[left] -= 1
                found.problems.append((place, f"<{left}> is not closed"))
            name, modality, start = opened.pop()
            open_names[name] -= 1
            if length > start:
                entities.extend(_known(MedicalEntity(start, length, name, modality), found))
        else:
            found.problems.append((place, f"</{name}> closes nothing"))
    found.problems.extend((place, f"<{name}> is not closed") for name, _, _ in opened)
    text.append(html.unescape(marked[at:]))
    return "".join(text), sorted(entities, key=lambda one: (one.start, one.end))


def _known(entity: MedicalEntity, found: Reports) -> Iterator[MedicalEntity]:
    if entity.label in tags()["attributes"]:
        yield entity
    else:
        found.unknown_labels[entity.label] += 1


def _attributes(text: str) -> dict[str, str]:
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(text)}


def _words(value: object) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else None
