"""Contradictions: of two statements about one thing that is believed which the first of ``RULES`` to decide says.

Corrections and preliminary results are settled before (``conflicts``). Each rule asks only of what still stands. What
gives way is disputed: it stays on record and is possible; what is believed in its place is not certain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from ...kb.model import Polarity, Temporality
from ...kb.ontology.concepts import ConceptTable
from ..text.statements import statement
from .bench import Workbench, dispute, is_dated, is_own
from .conflicts import sign_of
from .facts import Fact
from .record import (
    REPORTED,
    REPORTS,
    Key,
    Record,
    by_subject,
    contradict,
    differ,
    on_one_side,
    once,
    one_method,
    repeats,
    statement_of,
    subject_of,
)
from .tumors import organ_of

#: Documents that tell of findings from the outside.
_IMPRESSIONS: Final = frozenset({"clinical", "imaging"})
#: Days: an addendum after its report; tissue after the impression that led to it; the resection after the biopsy; and
#: two notes that speak of one time.
_ADDENDUM_WITHIN: Final = 90
_TISSUE_WITHIN: Final = 120
_RESECTION_WITHIN: Final = 183
_ONE_TIME: Final = 60


def settle_contradictions(bench: Workbench) -> None:
    """What contradicts each other is settled by the rules in their order."""
    record = Record(bench)
    for rule in RULES:
        rule(record)


# --- the rules -------------------------------------------------------------------------------------------------------


def addendum_over_report(record: Record) -> None:
    """What an addendum states outweighs what the report before it states otherwise of the same thing."""
    addenda = record.addenda
    if not addenda:
        return
    of_addenda = {id(fact) for fact in addenda}
    statements = by_subject(record.standing(*REPORTED))
    for added in once(addenda):
        rejected = [
            fact
            for fact in statements[subject_of(added)]
            if id(fact) not in of_addenda
            and not fact.rejected
            and fact.document_class in REPORTS
            and (fact.note, fact.mention.start) < (added.note, added.mention.start)
            and (fact.note == added.note or 0 <= record.written(added) - record.written(fact) <= _ADDENDUM_WITHIN)
            and fact.context.temporality is Temporality.CURRENT
            and contradict(record.concepts, added, fact)
        ]
        if added.kind == "diagnosis" and _is_named_before(record.concepts, added, statements[subject_of(added)]):
            continue
        _settle(record, "addendum over report", rejected, [added], statements[subject_of(added)])


def _is_named_before(concepts: ConceptTable, added: Fact, statements: Sequence[Fact]) -> bool:
    """Whether the report names the histology as well: its addendum then speaks of a part of it."""
    return any(
        fact.document_class in REPORTS
        and (fact.note, fact.mention.start) < (added.note, added.mention.start)
        and concepts.is_a(fact.concept, added.concept)
        for fact in statements
    )


def pathology_over_impression(record: Record) -> None:
    """What tissue shows outweighs what an image or an examination was taken for before."""
    _benign_tissue(record)
    _histology_of_tissue(record)
    _free_nodes(record)
    _reported_markers(record)


def _benign_tissue(record: Record) -> None:
    """A lesion that pathology finds benign was no metastasis, and no cancer of its organ."""
    concepts, shown = record.concepts, record.standing("diagnosis", "metastasis")
    spread: dict[str, list[Fact]] = defaultdict(list)
    cancers: dict[str, list[Fact]] = defaultdict(list)
    for fact in shown:
        if fact.kind == "metastasis":
            spread[fact.concept].append(fact)
        elif _is_cancer(concepts, fact):
            cancers[_organ(concepts, fact)].append(fact)
    # A report that names a cancer of any kind, be it uncertain, is of no benign lesion alone.
    naming = {fact.note for fact in record.bench.facts if _names_cancer(concepts, fact)}
    proven = {
        organ_of(concepts, site)
        for fact in record.bench.facts
        if fact.note in naming
        for site in (fact.topic, str(fact.attributes.get("site", "")))
    }
    for fact in once(fact for fact in record.bench.facts if fact.document_class == "pathology" and is_own(fact)):
        site = _free_site(concepts, fact)
        if not site or fact.note in naming or is_dated(fact):
            continue
        # What is only not found in a sample may have been missed: only a lesion of another name ends a cancer.
        named = cancers.get(organ_of(concepts, site), []) if fact.context.really_happened else []
        # Where tissue has shown a cancer, a later sample may have missed it.
        if organ_of(concepts, site) in proven:
            continue
        there = [one for place, facts in spread.items() if concepts.related(place, site) for one in facts]
        for claims in (there, named):
            day = record.written(fact)
            if claims and all(not one.rejected and _is_impression(record, one, fact, day) for one in claims):
                first = min(one.day.low for one in claims)
                if not record.is_treated(first, day):
                    _settle(record, "pathology over impression", claims, [fact], ())


def _is_cancer(concepts: ConceptTable, fact: Fact) -> bool:
    return fact.kind == "diagnosis" and concepts.is_a(fact.concept, "malignant_neoplasm")


def _names_cancer(concepts: ConceptTable, fact: Fact) -> bool:
    if fact.document_class != "pathology" or fact.context.polarity is Polarity.ABSENT:
        return False
    return fact.kind == "metastasis" or _is_cancer(concepts, fact) or concepts.is_a(fact.concept, "in_situ_neoplasm")


def _free_site(concepts: ConceptTable, fact: Fact) -> str:
    """The site at which a report finds a benign lesion, or no malignancy; empty where it finds neither."""
    if fact.kind == "metastasis" and fact.context.polarity is Polarity.ABSENT:
        return fact.concept
    site = str(fact.attributes.get("site", ""))
    if fact.kind != "diagnosis" or not site:
        return ""
    if fact.context.polarity is Polarity.ABSENT:
        return site if _is_cancer(concepts, fact) else ""
    benign = concepts.is_a(fact.concept, "benign_neoplasm") or concepts.is_a(fact.concept, "neoplasm_mimic")
    return site if benign and fact.context.really_happened else ""


def _organ(concepts: ConceptTable, fact: Fact) -> str:
    site = concepts.get(fact.concept).site if fact.concept in concepts else ""
    return organ_of(concepts, site or str(fact.attributes.get("site", "")))


def _is_impression(record: Record, claim: Fact, tissue: Fact, day: int) -> bool:
    """Whether a claim is what a scan or a note took the lesion for, shortly before tissue was taken from it."""
    if claim.document_class not in _IMPRESSIONS or not on_one_side(claim, tissue):
        return False
    if record.has(record.words.rests_on_tissue, claim):
        return False
    before = claim.note < tissue.note and claim.day.low >= day - _TISSUE_WITHIN
    return before or (claim.copied and claim.note > tissue.note)


def _histology_of_tissue(record: Record) -> None:
    """The histology that tissue shows is the tumor's, and not the one that it was taken for before."""
    of_tumor: dict[str, list[Fact]] = defaultdict(list)
    for fact in record.standing("diagnosis"):
        if fact.tumor:
            of_tumor[fact.tumor].append(fact)
    for facts in of_tumor.values():
        reports = [fact for fact in facts if fact.document_class == "pathology"]
        taken_for: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            if fact.document_class in _IMPRESSIONS:
                taken_for[fact.concept].append(fact)
        for concept, claims in taken_for.items():
            if not reports or not all(differ(record.concepts, concept, report.concept) for report in reports):
                continue
            report = reports[0]
            day = record.written(report)
            if is_dated(report) or not all(_is_impression(record, one, report, day) for one in claims):
                continue
            if not record.is_treated(min(one.day.low for one in claims), day):
                _settle(record, "pathology over impression", claims, [report], ())


def _free_nodes(record: Record) -> None:
    """Nodes that are free in the resection were not involved, whatever they looked like, unless treated in between."""
    nodes = record.standing("node")
    involved = {fact.note for fact in nodes if fact.document_class == "pathology" and _is_involved(fact)}
    for fact in once(nodes):
        if fact.document_class != "pathology" or fact.note in involved or fact.attributes.get("positive") != 0.0:
            continue
        day = record.written(fact)
        claims = [
            one
            for one in nodes
            if not one.rejected
            and _is_involved(one)
            and (not one.tumor or not fact.tumor or one.tumor == fact.tumor)
            and record.concepts.related(one.concept, fact.concept)
            and _is_impression(record, one, fact, day)
        ]
        if claims and not record.is_treated(min(one.day.low for one in claims), day):
            _settle(record, "pathology over impression", claims, [fact], ())


def _is_involved(fact: Fact) -> bool:
    return fact.attributes.get("result") == "positive" or float(fact.attributes.get("positive") or 0) > 0


def _reported_markers(record: Record) -> None:
    """A result that one clinic note states against every report of the marker is not believed.

    Not so where the sentence may speak of another specimen, where the note tells both results, or others agree with it.
    """
    results = [fact for fact in record.standing("biomarker") if sign_of(record.concepts, fact)]
    statements: dict[Key, list[Fact]] = defaultdict(list)
    for fact in results:
        statements[fact.concept, fact.tumor].append(fact)
    for facts in statements.values():
        reports = [fact for fact in facts if fact.document_class in REPORTS]
        signs = {sign_of(record.concepts, fact) for fact in reports}
        if len(signs) != 1:
            continue
        sign = signs.pop()
        against = [fact for fact in facts if sign_of(record.concepts, fact) == -sign]
        notes = {fact.note for fact in against if not fact.copied}
        in_agreement = {fact.note for fact in facts if sign_of(record.concepts, fact) == sign}
        first = min(reports, key=lambda fact: fact.note)
        if len(notes) != 1 or notes & in_agreement or any(fact.document_class != "clinical" for fact in against):
            continue
        rejected = [fact for fact in against if _speaks_of_report(record, fact, first)]
        if len(rejected) == len(against):
            _settle(record, "pathology over impression", rejected, reports, ())


def _speaks_of_report(record: Record, claim: Fact, report: Fact) -> bool:
    """Whether a clinic note, soon after a report, tells its result, and not one of another specimen or time."""
    gap = record.written(claim) - record.written(report)
    if is_dated(claim) or claim.note < report.note or not 0 <= gap <= _ONE_TIME or "site" in claim.attributes:
        return False
    return not record.has(record.words.of_another, claim) and one_method(claim, report) and on_one_side(claim, report)


def resection_over_biopsy(record: Record) -> None:
    """Grade and histology are the resection's, unless a treatment lies between; receptors and variants keep both."""
    if not record.samples or not record.resections:
        return
    statements = by_subject(record.standing("grade", "diagnosis"))
    for facts in statements.values():
        current = [f for f in facts if f.context.temporality is Temporality.CURRENT and not is_dated(f)]
        sampled = [fact for fact in current if fact.note in record.samples]
        resected = [fact for fact in current if fact.note in record.resections]
        by_note: dict[int, list[Fact]] = defaultdict(list)
        for fact in resected:
            by_note[fact.note].append(fact)
        for note, final in by_note.items():
            day, shown = record.written(final[0]), once(final)
            rejected: dict[Key, list[Fact]] = defaultdict(list)
            for fact in [
                fact
                for fact in sampled
                if not fact.rejected
                and fact.note < note
                and 0 <= day - record.written(fact) <= _RESECTION_WITHIN
                and not record.is_treated(record.written(fact), day - 1)
                and _is_replaced(record.concepts, fact, shown)
            ]:
                rejected[fact.tumor, *statement_of(fact)].append(fact)
            for same in rejected.values():
                instead = [one for one in shown if contradict(record.concepts, same[0], one)]
                _settle(record, "resection over biopsy", same, instead, facts, until=note)


def _is_replaced(concepts: ConceptTable, sampled: Fact, resected: Sequence[Fact]) -> bool:
    """Whether a resection states otherwise, and nowhere the same; of one tumor for certain."""
    of_tumor = [fact for fact in resected if fact.tumor == sampled.tumor != ""]
    return bool(of_tumor) and all(contradict(concepts, sampled, fact) for fact in of_tumor)


def later_over_earlier(record: Record) -> None:
    """Of two notes of one time that tell opposite results, and of which no report tells, the later is believed.

    More notes outweigh fewer. Only of what a tumor keeps for weeks; what evolves is true of each day.
    """
    statements: dict[Key, list[Fact]] = defaultdict(list)
    for fact in record.standing("biomarker"):
        if fact.concept in record.words.lasting:
            statements[fact.concept, fact.tumor].append(fact)
    for facts in statements.values():
        first = [fact for fact in facts if sign_of(record.concepts, fact) > 0]
        second = [fact for fact in facts if sign_of(record.concepts, fact) < 0]
        if not first or not second or not _of_one_time(record, facts):
            continue
        ranked = sorted((first, second), key=lambda side: (len({f.note for f in side if not f.copied}), side[-1].note))
        if {fact.note for fact in first} & {fact.note for fact in second}:
            continue
        _settle(record, "later over earlier", ranked[0], ranked[1], ())


def _of_one_time(record: Record, facts: Sequence[Fact]) -> bool:
    """Whether clinic notes of a few weeks state all of it, of nothing but the one specimen."""
    days = [record.written(fact) for fact in facts]
    # Of results none of which is final none is to be preferred.
    preliminary = statement("preliminary")
    return (
        all(
            fact.document_class == "clinical" and not is_dated(fact) and "site" not in fact.attributes for fact in facts
        )
        and min(days) > 0
        and max(days) - min(days) <= _ONE_TIME
        and not record.is_treated(min(days), max(days))
        and not any(record.has(words, fact) for words in (record.words.of_another, preliminary) for fact in facts)
        and all(one_method(facts[0], fact) and on_one_side(facts[0], fact) for fact in facts)
    )


def _settle(
    record: Record,
    rule: str,
    rejected: Sequence[Fact],
    believed: Sequence[Fact],
    statements: Sequence[Fact],
    until: int = 0,
) -> None:
    """Dispute statements, and what other notes repeat of them (``statements``) before what is believed was known."""
    if not rejected:
        return
    known = until or max(fact.note for fact in believed)
    again = [fact for fact in repeats(statements, rejected, known) if not fact.rejected]
    every = list({id(fact): fact for fact in (*rejected, *again)}.values())
    # A note may state more than once what is believed.
    stated = [
        fact
        for one in once(believed)
        for fact in record.of_note[one.note]
        if fact.kind == one.kind
        and fact.context == one.context
        and not fact.rejected
        and statement_of(fact) == statement_of(one)
    ]
    believed = list({id(fact): fact for fact in (*believed, *stated)}.values())
    what = " ".join(filter(None, (rejected[0].kind, record.concepts.name(rejected[0].concept or ""))))
    dispute(record.bench, rule, every, believed, f"{what}: {rule}")


#: The rules, the first that decides first.
RULES: Final[tuple[Callable[[Record], None], ...]] = (
    addendum_over_report,
    pathology_over_impression,
    resection_over_biopsy,
    later_over_earlier,
)
