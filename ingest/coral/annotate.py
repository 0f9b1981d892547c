"""The annotations of one note under the CORAL schema: the mentions of its reading, and what the schema adds to them.

Runs for ``cohortium.read`` alone; nothing of it goes into a knowledge base. ``STEPS`` are run in order over one page,
then overlaps are settled, contexts read, attributes set and relations drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ...kb.kinds import MEASURED, PROCEDURES, of_domain
from ...kb.model import Mention, Relation
from ...kb.ontology.concepts import ConceptTable
from ..coral_schema.types import schema
from ..text.frame import Frame, Span
from ..text.shape import without_blanks
from ..text.word_classes import word_classes
from .annotation import Annotation, Edge, Page
from .attributes import set_attributes, value_of_marker
from .contexts import read_contexts
from .overlaps import settle
from .relations import relate
from .words import Found, compiled, rows, table

_CLASSES: Final = word_classes("coral", "annotate")

_LATERALITY = compiled(_CLASSES.pattern(r"{laterality}|(?-i:L|R)(?=[ ][a-z]{4})"))
#: Kinds whose names may hold a place ("breast cancer", "CT chest").
_NAMED_AFTER_PLACES: Final = PROCEDURES | {"diagnosis", "metastasis"}
#: A side as part of a name of a place: the guidelines annotate place and side apart.
_SIDE_BEFORE = _CLASSES.compile(r"{side_before}[ \-]+(?=\S)", re.IGNORECASE)
_VALUE = re.compile(r"(?:[<>~≥≤]\s?)?[\d+]")
_STAGE_WORD = _CLASSES.compile(r"(?P<stage>{named_stage})[ \-]stage", re.IGNORECASE)
_MEMBER = re.compile(r"(?!and\b)[A-Za-z0-9][A-Za-z0-9\-]*")
#: A result within the name of a marker.
_RESULT_BEHIND = _CLASSES.compile(
    r"(?:\s*[:=\-]?\s*(?P<result>{result}))$|\s?(?P<sign>\++|-)$",
    re.IGNORECASE,
)
#: Kinds that are no drug, whatever their name ends in; how far before a span words may speak of it as a drug.
_PROBLEM_KINDS: Final = frozenset(of_domain("Condition")) - {"symptom"} | {"state"}
_BEFORE_DRUG: Final = 50
_MOST_OTHERS: Final = 8
#: What stands before the words of a name in the source of a mention.
_NAMED: Final = "lexicon:"
#: Rules of the reading whose cue is a result.
_RESULT_HELPERS: Final = ("lexicon:", "abbreviation:", "pattern:percent", "pattern:plus", "pattern:score", "number")


def annotate(
    frame: Frame,
    mentions: Sequence[Mention],
    relations: Sequence[Relation],
    names: Sequence[Span],
    concepts: ConceptTable,
    targets: Mapping[tuple[int, int], str],
) -> tuple[list[Annotation], list[Edge]]:
    """The annotations of a note in the order of its text, and the relations between them.

    ``names``: what the lexicon knows in the note, overlaps settled. ``targets``: spans that were asked for, each with
    the type that it is to have, or none.
    """
    page = Page(frame, mentions, names, concepts, targets)
    for step in STEPS:
        step(page)
    settle(page)
    read_contexts(page)
    set_attributes(page)
    page.annotations.sort(key=lambda one: (one.start, one.end, one.label))
    return page.annotations, relate(page, relations)


# --- what the reading found -------------------------------------------------------------------------------------------


def relabel(page: Page) -> None:
    """Each mention of the reading, with the label of Table S1 and the span that the guidelines ask for."""
    for mention in page.mentions:
        label = mention.label
        if mention.source == "target":
            label = page.targets.get((mention.start, mention.end)) or _asked_for(page, mention)
        else:
            label = label_of(mention, page.concepts)
        start, end = _narrowed(page.frame.text, mention, label, page.concepts)
        changed = replace(mention, label=label, start=start, end=end, text=page.frame.text[start:end])
        page.annotations.append(Annotation(changed, mention.mention_id, mention.kind))


def _asked_for(page: Page, mention: Mention) -> str:
    """The type of a span that was asked for without one: a drug where its name or the words around say so."""
    if _is_problem(page, mention.start, mention.end):
        return mention.label
    if _is_drug(page, mention.start, mention.end):
        return "MedicationName"
    # Beside nothing but problems a bare word is what they are told of.
    others = [span for span, label in page.targets.items() if not label and span != (mention.start, mention.end)]
    bare = (
        0 < len(others) <= _MOST_OTHERS
        and len(mention.text.split()) == 1
        and all(_is_problem(page, *span) for span in others)
    )
    return "MedicationName" if bare else mention.label


def _is_problem(page: Page, start: int, end: int) -> bool:
    known = (other.start == start and other.end == end and other.kind in _PROBLEM_KINDS for other in page.mentions)
    return bool(_relabelling().problem.fullmatch(page.frame.text, start, end)) or any(known)


def _is_drug(page: Page, start: int, end: int) -> bool:
    words, text = _relabelling(), page.frame.text
    if any(name.kind == "medication" and (name.start, name.end) == (start, end) for name in page.names):
        return True
    last = text[start:end].split()[-1:]
    if last and words.drug.fullmatch(last[0]):
        return True
    before = words.drug_before.search(text, max(0, start - _BEFORE_DRUG), start)
    return bool(before or words.drug_behind.match(text, end))


def label_of(mention: Mention, concepts: ConceptTable) -> str:
    """The label of a mention (``words/relabel.toml``)."""
    words = _relabelling()
    if mention.concept in concepts:
        for of, label in words.concepts:
            if any(one in concepts and concepts.is_a(mention.concept, one) for one in of):
                return label
    if mention.kind == "medication" and words.therapy.search(mention.text):
        return "TreatmentType"
    if mention.kind == "diagnosis" and words.heads.search(mention.text) and not words.but.search(mention.text):
        return "ClinicalCondition"
    return mention.label


class _Relabelling:
    """``words/relabel.toml``, compiled."""

    def __init__(self) -> None:
        words = table("relabel")
        self.concepts = tuple((tuple(row["of"]), str(row["label"])) for row in words["concept"])
        self.therapy = re.compile(words["therapy"]["pattern"], re.IGNORECASE)
        self.heads = compiled(words["everyday"]["heads"])
        self.but = compiled(words["everyday"]["but"])
        drug = words["drug"]
        self.problem = re.compile(drug["problem"], re.IGNORECASE)
        self.drug = re.compile(drug["name"], re.IGNORECASE)
        self.drug_behind = re.compile(drug["behind"], re.IGNORECASE)
        self.drug_before = re.compile(rf"(?<![^\W_]){drug['before']}$", re.IGNORECASE)
        self.narrow = {
            label: re.compile(pattern, re.IGNORECASE) for label, pattern in words["narrow"].items()
        }  # fmt: skip


@lru_cache(maxsize=1)
def _relabelling() -> _Relabelling:
    return _Relabelling()


def _narrowed(text: str, mention: Mention, label: str, concepts: ConceptTable) -> tuple[int, int]:
    """The span of the value alone, where the reading's span has its name too (``Stage IIA``)."""
    pattern = _relabelling().narrow.get(label)
    ahead = pattern.match(text, mention.start, mention.end) if pattern and mention.source != "target" else None
    if ahead and ahead.end() < mention.end:
        return ahead.end(), mention.end
    stage = _STAGE_WORD.match(text, mention.start, mention.end) if label == "Stage" else None
    if stage:
        return stage.span("stage")
    if label == "BiomarkerName" and mention.source != "target":
        # "ER positive", "HER2-": the name alone; what stands behind it is the result.
        result = _RESULT_BEHIND.search(text, mention.start, mention.end)
        end = result.start() if result and result.start() > mention.start else mention.end
        # "ER and PR" is read for each of the two.
        for piece in _MEMBER.finditer(text, mention.start, end):
            if piece.end() - piece.start() < end - mention.start and mention.concept in concepts.lookup(piece.group()):
                return piece.span()
        return mention.start, end
    return mention.start, mention.end


def _end_of_name(mention: Mention) -> int:
    """Where the name of what was measured ends, whose reading has the value too: *AST* of ``AST 33``."""
    name = mention.source.removeprefix(_NAMED)
    return mention.start + len(name) if mention.text.startswith(name) else mention.end


def values_measured(page: Page) -> None:
    """The values within the readings of laboratory tests, scores and vital signs."""
    for mention in page.mentions:
        if mention.kind in MEASURED:
            value = _VALUE.search(page.frame.text, _end_of_name(mention), mention.end)
            if value:
                page.add(value.start(), mention.end, "LabTestResult", "reading:value")


def results_of_markers(page: Page) -> None:
    """The words that the reading took as a marker's result."""
    for mention in page.mentions:
        if mention.kind != "biomarker":
            continue
        label = "LabTestResult" if label_of(mention, page.concepts) == "DiagnosticLabTest" else "BiomarkerResult"
        within = _RESULT_BEHIND.search(page.frame.text, mention.start, mention.end)
        if within and within.start() > mention.start and label == "BiomarkerResult":
            start, end = within.span("result" if within["result"] else "sign")
            page.add(start, end, label, "reading:name", **_of_marker(mention, label))
        for cue in mention.cues:
            if not cue.rule.startswith(_RESULT_HELPERS):
                continue
            start, end = cue.start, cue.end
            value = _VALUE.search(page.frame.text, start, end)
            if value and not cue.rule.startswith(("lexicon:", "abbreviation:")):
                start = value.start()
            if start < end and not (mention.start == start and mention.end == end):
                page.add(start, end, label, f"reading:{cue.rule}", **_of_marker(mention, label))


def _of_marker(mention: Mention, label: str) -> dict[str, str]:
    value = value_of_marker(mention) if label == "BiomarkerResult" else ""
    return {"BiomarkerResultVal": value} if value else {}


# --- places and times -------------------------------------------------------------------------------------------------


def places(page: Page) -> None:
    """Sites that the ontology names, without their side; sides as annotations of their own."""
    text = page.frame.text
    for span in page.names:
        if span.kind == "site" and not _no_place().match(text, span.end):
            side = _SIDE_BEFORE.match(text, span.start, span.end)
            page.add(side.end() if side else span.start, span.end, "Site", span.source)
    for mention in page.mentions:
        # "Breast cancer": the place stands within the name of the disease, and has its own annotation.
        if mention.kind in _NAMED_AFTER_PLACES and mention.source != "target":
            for found in _site_words().finditer(text, mention.start, mention.end):
                page.add(found.start(), found.end(), "Site", "words:site")
    for found in _LATERALITY.finditer(text):
        page.add(found.start(), found.end(), "Laterality", "words:laterality")


@lru_cache(maxsize=1)
def _no_place() -> re.Pattern[str]:
    return re.compile(rf"\s{{1,2}}(?:{table('places')['none']['behind']})(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=1)
def _site_words() -> re.Pattern[str]:
    return compiled("|".join(table("places")["organ"]["words"]))


def dates(page: Page) -> None:
    """The dates that the note's frame has read."""
    for date in page.frame.dates:
        made = page.add(date.start, date.end, "Datetime", f"date:{date.rule}")
        made.mention = replace(made.mention, day=date.day)


# --- words and patterns -----------------------------------------------------------------------------------------------


def free_rows(page: Page) -> None:
    """Rows of words and patterns that count wherever they stand."""
    for row in rows():
        if not row.beside:
            for found in row.find(page.frame, 0, len(page.frame.text)):
                _add(page, found)


def tied_rows(page: Page) -> None:
    """Rows that count only beside an annotation of a certain type in their sentence."""
    tied = [row for row in rows() if row.beside]
    wanted = frozenset().union(*(row.beside for row in tied))
    anchors = [one for one in page.annotations if one.label in wanted]
    for sentence, here in page.by_sentence(anchors):
        if not here:
            continue
        labels = {one.label for one in here}
        for row in tied:
            if row.beside.isdisjoint(labels):
                continue
            near = [one for one in here if one.label in row.beside]
            for found in row.find(page.frame, sentence.start, sentence.end):
                if any(row.reaches(page.frame.text, one.start, one.end, found) for one in near):
                    _add(page, found)


def _add(page: Page, found: Found) -> None:
    label = found.row.label
    page.add(found.start, found.end, label, f"words:{found.row.order}", found.row.kind, **_value(label, found.value))


#: The attribute that a named alternative of a row tells.
_ATTRIBUTE_OF: Final = {
    "RadPathResult": "RadPathResultVal",
    "LabTestResult": "LabTestResultVal",
    "MarginStatus": "MarginVal",
    "BiomarkerResult": "BiomarkerResultVal",
}
_SPELLED: Final = {"unclear2": "unclear", "Neg": "MoreThan2mm(Neg)", "close": "LessThan2mm"}


def _value(label: str, value: str) -> dict[str, str]:
    return {_ATTRIBUTE_OF[label]: _SPELLED.get(value, value)} if value and label in _ATTRIBUTE_OF else {}


# --- sections ---------------------------------------------------------------------------------------------------------


def skipped_sections(page: Page) -> None:
    """Sections that the guidelines skip, each as one annotation without the blanks around it."""
    text, words = page.frame.text, table("sections")
    for section in page.frame.shape.sections:
        kind = words["section"].get(section.name)
        start, end = without_blanks(text, section.start, section.end)
        if kind and start < end:
            page.add(start, end, "SectionSkip", f"section:{section.name}", SectionSkipType=kind)
    for found in _copied().finditer(text):
        section = page.frame.shape.section_at(found.start())
        start, end = without_blanks(text, found.start(), section.end)
        page.add(start, end, "SectionSkip", "words:copied", SectionSkipType="copy_forward")


@lru_cache(maxsize=1)
def _copied() -> re.Pattern[str]:
    return compiled(table("sections")["copied"]["pattern"])


#: What finds annotations, in order.
STEPS: Final[tuple[Callable[[Page], None], ...]] = (
    relabel,
    results_of_markers,
    values_measured,
    places,
    dates,
    free_rows,
    tied_rows,
    skipped_sections,
)


def recognised() -> frozenset[str]:
    """The entity types that some step can give."""
    given = {row.label for row in rows()} | {label for _, label in _relabelling().concepts}
    given |= {"Site", "Laterality", "Datetime", "SectionSkip", "BiomarkerResult", "LabTestResult", "TreatmentType"}
    from ..note.mentions import LABELS

    return frozenset(given | set(LABELS.values())) & schema().entities.keys()
