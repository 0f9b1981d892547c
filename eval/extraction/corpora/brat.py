"""BRAT standoff: a folder of ``.txt`` and ``.ann``, or one such pair; what fails is left out and told.

A discontinuous entity becomes one span from the first letter of its first fragment to the last of its last (its hull):
it stays one mention, and holds all of its words; its fragments alone would be mentions without their head. Nested
entities are all kept. Relations, events and attributes are passed over: here entities are learned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ....ingest.coral_schema.standoff import Entity, StandoffError, parse
from ....kb.errors import UsageError
from .assembling import of_text, why_not_a_place
from .corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan, SourceFile, Unread
from .sources import content_of, corpus_name

_ENTITY: Final = "T"


def looks_like(folder: Path) -> bool:
    """Whether a folder holds annotation files."""
    return any(folder.glob("*.ann"))


def read(path: Path, form: str = "") -> AnnotatedCorpus:
    """The corpus of a folder, or of one ``.ann`` or ``.txt`` with the other beside it.

    A document is named as its files. One without a text, or that is not UTF-8, is left out and told; a text without an
    annotation file is told and left out too: nobody knows whether it was read by anyone.
    """
    pairs = _pairs(path)
    documents: list[AnnotatedDocument] = []
    problems: list[Unread] = []
    files: list[SourceFile] = []
    for stem in pairs:
        text_file, annotations = stem.parent / (stem.name + ".txt"), stem.parent / (stem.name + ".ann")
        missing = next((one for one in (text_file, annotations) if not one.is_file()), None)
        if missing:
            problems.append(Unread(stem.name, f"no {missing.suffix} file; left out"))
            continue
        try:
            text, ann = content_of(text_file), content_of(annotations)
        except UsageError as error:
            problems.append(Unread(stem.name, f"{error}; left out"))
            continue
        files += (text.file, ann.file)
        written, spans, unread = _placed(annotations.name, ann.text, text.text)
        documents.append(of_text(stem.name, written, spans))
        problems += unread
    if not documents:
        shown = f" ({problems[0].place}: {problems[0].reason})" if problems else ""
        raise UsageError(f"no annotated document in '{path}'{shown}. Hint: NAME.txt with NAME.ann beside it")
    name = corpus_name(path) if path.is_file() else path.resolve().name
    return AnnotatedCorpus(
        name, tuple(documents), source=str(path), problems=tuple(problems), form=form, files=tuple(files)
    )


def _pairs(path: Path) -> list[Path]:
    """The documents of a place, as paths without an ending, in the order of their names."""
    if path.is_file():
        return [path.with_suffix("")]
    found = {one.parent / one.stem for one in path.iterdir() if one.suffix in (".txt", ".ann") and one.is_file()}
    return sorted(found)


def _placed(name: str, ann: str, text: str) -> tuple[str, list[LabelledSpan], list[Unread]]:
    """The text as its annotations count it, their spans, and what fails.

    Some programs turn line ends into those of Windows when they copy a file, and every place behind shifts: then the
    text is taken with plain ones, where more annotations fit it so.
    """
    readings = []
    for written in dict.fromkeys((text, text.replace("\r\n", "\n"))):
        problems: list[Unread] = []
        readings.append((written, _spans(name, ann, written, problems), problems))
    return min(readings, key=lambda one: len(one[2]))


def _spans(name: str, ann: str, text: str, problems: list[Unread]) -> list[LabelledSpan]:
    """The entities of an annotation file; what is none goes to the problems, with its line."""
    spans = []
    for number, row in enumerate(ann.split("\n"), 1):
        if not row.startswith(_ENTITY):
            continue
        try:
            entity = parse(row.rstrip("\r"), text).lines[0]
        except StandoffError as error:
            problems.append(Unread(f"{name}, line {number}", f"{str(error).partition(': ')[2]}; left out"))
            continue
        assert isinstance(entity, Entity)
        reason = why_not_a_place(text, entity.start, entity.end)
        if reason:
            problems.append(Unread(f"{name}, line {number}", f"{reason}; left out"))
        else:
            spans.append(LabelledSpan(entity.start, entity.end, entity.type))
    return spans
