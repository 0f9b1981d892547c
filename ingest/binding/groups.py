"""Groups of markers in one sentence, and which descriptors belong to each.

The markers of a sentence form groups (``ER and PR``, ``EGFR / ALK / KRAS``); a descriptor belongs to the group before
it, unless it leads into the next one (``mutation in KRAS``, ``negative for ER``, ``germline BRCA2``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ...kb.ontology.variants import gene_of
from ..recognizers.molecular import sign_after
from ..text.cue_files import cue_file
from ..text.frame import Span
from ..text.statements import statement
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("binding", "groups")


@lru_cache(maxsize=1)
def marker_rules() -> dict[str, Any]:
    """``cues/markers.toml``."""
    return cue_file("markers")


def members_of(marker: str) -> tuple[str, ...]:
    """The markers that one name holds together (``ER/PR``); none for a single marker."""
    return tuple(marker_rules()["joint"].get(marker, {}).get("members", ()))


_COORDINATION = re.compile(
    r"(?:--?|::|–)|(?:[\s,/&+|]|\band\b|\bor\b|\bnor\b|\bgenes?\b|\(|\)){0,8}:?\s*", re.IGNORECASE
)
_LEADS_ON = _CLASSES.compile(
    r"\s{0,4}{leads_on}?\s{0,4}{each_of}?\s{0,4}(?:gene\s)?[\s\"']{0,4}",
    re.IGNORECASE,
)
_LEADS_WITH_WORD = _CLASSES.compile(
    r"\s{0,4}(?:\(\s?{for_example}|{leads_in_words})[\s,]{1,4}{each_of}?\s{0,4}(?:gene\s)?",
    re.IGNORECASE,
)
_BREAK = _CLASSES.compile(r"[,;.]|{breaks}|\s-\s|\s{3,}|\+")
_HARD_BREAK = _CLASSES.compile(r"[;.]\s|{ends}")


_STOP = re.compile(r"[.;]\s")
_FIGURES: Final = frozenset({"percent", "score", "plus"})
_PARTED = re.compile(r"[,;]|\.\s")
#: A sign that stands apart, and ends its clause.
_LONE_SIGN = re.compile(r"[ \t](?P<sign>[+\-–\u2212])(?:ve)?(?=[ \t]*(?:[,;.)\n]|\Z))")
#: Behind a word of change: "KRAS mutation (-)".
_DENYING_SIGN = _CLASSES.compile(
    r"[ \t]{0,2}[(\[](?:[-–\u2212](?:ve)?|{denied})[)\]]|[ \t][-–\u2212](?:ve)?(?=[ \t]*(?:[,;.)\n]|\Z))"
)
_CHROMOSOME_ARM = re.compile(r"(?<![\w(/])\d{1,2}[pq](?![\w(])")
_HEADS = re.compile(r"\s*:?\s+")


@dataclass(slots=True)
class Group:
    """Markers that share their descriptors."""

    markers: list[Span] = field(default_factory=list)
    descriptors: list[Span] = field(default_factory=list)
    led: list[Span] = field(default_factory=list)
    #: Text before the first marker that is this group's (from here), and where its own stretch ends.
    lead_from: int = 0
    ends: int = 0

    def begins(self) -> int:
        """Where its first descriptor or marker stands."""
        first = self.markers[0].start
        return min([first, *(span.start for span in self.led if span.start < first)])

    def reach(self, default: int) -> int:
        """Where the last of its markers and its own descriptors ends (those lent by a later group lie beyond)."""
        return max(
            [
                default,
                self.markers[-1].end,
                *(span.end for span in self.descriptors if not self.ends or span.end <= self.ends),
            ]
        )


def groups_of(text: str, items: Sequence[Span]) -> list[Group]:
    """The groups of one sentence's markers and descriptors (``items``, in text order)."""
    groups: list[Group] = []
    waiting: list[Span] = []
    previous_end = items[0].start if items else 0
    for index, item in enumerate(items):
        gap = text[previous_end : item.start]
        if item.kind in ("gene", "biomarker"):
            current = groups[-1] if groups else None
            # "ER +, PR +, Ki-67 30%": what has a sign of its own takes no figure from the end of the list.
            told = current is not None and sign_after(text, current.markers[-1].end)
            if current and not told and not current.descriptors and not waiting and _COORDINATION.fullmatch(gap):
                if _HEADS.fullmatch(gap) and _names_again(current, item):
                    # "ER/PR/HER2: ER positive …": the list is a heading, and each of its members has its own line.
                    groups[-1] = Group([item], [], current.led)
                else:
                    current.markers.append(item)
            else:
                groups.append(Group([item], [], waiting))
                waiting = []
        elif not groups:
            # A result word far in front of the first marker is of something else ("high-risk disease, MSS").
            if item.kind == "value":
                leads = _leads(text, items, index, gap, True, first=True)
            else:
                # A figure before a full stop is of what was told before ("necrosis 5%. - ER, PR: pending").
                figure = item.attributes.keys() <= _FIGURES
                leads = not (figure and _STOP.search(text, item.end, _next_marker(items, index)))
            if leads:
                waiting.append(item)
        elif _CHROMOSOME_ARM.search(gap):
            continue  # "11q deletion, 17p intact": what is said of another arm, which no list knows.
        elif waiting or _leads(text, items, index, gap, bool(groups[-1].descriptors or groups[-1].led)):
            waiting.append(item)
        else:
            groups[-1].descriptors.append(item)
        previous_end = max(previous_end, item.end)
    if groups and waiting:
        groups[-1].descriptors.extend(waiting)
    groups = _joined_lists(text, groups)
    # "BRAF, MET amp, RET: not detected": the result behind a list is that of every member.
    for group, following in zip(reversed(groups[:-1]), reversed(groups[1:]), strict=True):
        open_ended = not any(
            span.kind == "value" or {"protein", "cdna", "percent", "score", "plus"} & span.attributes.keys()
            for span in group.descriptors
        )
        if (
            open_ended
            and not following.led
            and _COORDINATION.fullmatch(text, group.reach(0), following.markers[0].start)
        ):
            group.descriptors.extend(span for span in following.descriptors if span.kind == "value")
    _hand_on(text, groups)
    return groups


def _next_marker(items: Sequence[Span], index: int) -> int:
    """Where the next marker behind an item begins; where the item ends, if there is none."""
    following = (one.start for one in items[index + 1 :] if one.kind in ("gene", "biomarker"))
    return next(following, items[index].end)


def _hand_on(text: str, groups: Sequence[Group]) -> None:
    """Descriptors that lead into a list govern every later group that has none of its own; a class of significance
    before a colon or bracket ("VUS: A, B, C") governs the whole list."""
    carried: list[Span] = []
    classes: list[Span] = []
    for group in groups:
        if group.led:
            carried = group.led
            start = min(span.end for span in group.led)
            if re.search(r"[:(]\s*$", text[start : group.markers[0].start]):
                classes = [span for span in group.led if span.kind == "value" or "significance" in span.attributes]
        elif carried and not group.descriptors:
            group.led = carried
        own = (*group.led, *group.descriptors)
        if classes and not any(span.kind == "value" or "significance" in span.attributes for span in own):
            group.led = [*group.led, *classes]


def _names_again(group: Group, marker: Span) -> bool:
    """Whether a list that goes on with this marker has named it before, alone or in a pair (``ER/PR``)."""
    if len(group.markers) < 2:
        return False
    named = {one for span in group.markers for one in (span.concept, *members_of(span.concept))}
    return marker.concept in named


def _known_by_change(span: Span) -> str:
    """The only gene of which its change of protein is known; empty for most, which have none."""
    protein = span.attributes.get("protein")
    return gene_of(str(protein)) if protein else ""


def with_implied_genes(here: list[Span]) -> list[Span]:
    """A change that only one gene is known for (T790M) brings its gene along."""
    found: list[Span] = []
    for span in here:
        gene = str(span.attributes.pop("implied", "")) or _known_by_change(span)
        if gene:
            found.append(Span(span.start, span.end, "gene", gene, "change:" + gene))
        found.append(span)
    return found


def with_genes_of_their_own(text: str, here: list[Span]) -> list[Span]:
    """A hotspot among other genes brings its own gene, if a comma parts it from them (``T790M, new CCDC6-RET``)."""
    genes = [span for span in here if span.kind == "gene"]
    named = {one for span in genes for one in (span.concept, *(concept for concept, _ in span.alternatives))}
    found: list[Span] = []
    for span in here:
        gene = _known_by_change(span) if span.kind == "molecular" else ""
        if gene and gene not in named and not any(gene.startswith(one.removesuffix("_family")) for one in named):
            before = max((other.end for other in genes if other.end <= span.start), default=-1)
            after = min((other.start for other in genes if other.start >= span.end), default=-1)
            own = before < 0 or _PARTED.search(text, before, span.start)
            if own and (after < 0 or _PARTED.search(text, span.end, after)):
                found.append(Span(span.start, span.start, "gene", gene, "change:" + gene))
        found.append(span)
    return found


def _joined_lists(text: str, groups: list[Group]) -> list[Group]:
    """``EGFR / ALK / MET ex14 / RET: none``: a bare exon or codon inside a list does not end the list."""
    joined: list[Group] = []
    for group in groups:
        last = joined[-1] if joined else None
        if (
            last is not None
            and not group.led
            and last.descriptors
            and all(
                span.attributes.keys() <= {"exon", "exons", "codon"} and span.kind == "molecular"
                for span in last.descriptors
            )
            and _COORDINATION.fullmatch(text, last.reach(0), group.markers[0].start)
        ):
            joined[-1] = Group(last.markers + group.markers, group.descriptors, last.led)
        else:
            joined.append(group)
    return joined


def _leads(text: str, items: Sequence[Span], index: int, gap: str, satisfied: bool, first: bool = False) -> bool:
    """Whether the descriptor at ``index`` belongs to the marker that follows rather than the one before."""
    end = items[index].end
    for following in items[index + 1 :]:
        between = text[end : following.start]
        if following.kind in ("gene", "biomarker"):
            if _LEADS_WITH_WORD.fullmatch(between):
                return True
            if first and re.fullmatch(r"\s*:\s*(?:\w+\s){0,3}", between):
                return True
            if not _LEADS_ON.fullmatch(between):
                return False
            return first or bool(_HARD_BREAK.search(gap) or (satisfied and _BREAK.search(gap)))
        if not re.fullmatch(r"[\s\-]*", between):
            return False
        end = following.end
    return False


def is_denied_before(text: str, low: int, first: int) -> bool:
    """Whether the words before a marker deny it; not what a denial excepts (``no mutation except in KRAS``)."""
    excepted = statement("excepted_marker").search(text, low, first)
    if excepted:
        sentence = max(text.rfind(mark, 0, excepted.start()) for mark in (". ", ";", "\n")) + 1
        if statement("denying").search(text, sentence, excepted.start()):
            return False
    return statement("denied_before").search(text, low, first) is not None


def said_no(text: str, group: Group, marker: Span, places: list[Span]) -> list[bool]:
    """For each change (or once, without any): whether the words before the group or behind the change deny it."""
    first = group.markers[0].start
    denied_before = bool(
        is_denied_before(text, group.lead_from, first)
        or statement("minus_before").search(text, max(0, first - 40), first)
    )
    if not places:
        own = sign_after(text, marker.end)
        if own:  # "EGFR -, KRAS +, ALK -": a gene with a sign of its own takes none from the end of the list.
            return [own[0] == "negative"]
        loci = [
            span.end
            for span in group.descriptors
            if span.kind == "molecular" and span.attributes.keys() <= {"exon", "exons", "codon"}
        ]
        behind = max([group.markers[-1].end, *(end for end in loci if end <= group.ends)])
        changes = [span for span in group.descriptors if span.kind == "molecular" and span.end <= group.ends]
        words = [span.end for span in changes]
        return [
            denied_before
            or any(statement("not_shown").search(text, max(behind, span.start - 48), span.start) for span in changes)
            or bool(_DENYING_SIGN.match(text, max([behind, *words])))
            or bool(
                statement("denied_at_once").match(text, behind, group.ends)
                or statement("denied_at_once").match(text, group.markers[-1].end, group.ends)
                or statement("denied_behind").search(text, behind, group.ends)
            )
        ]
    denied = []
    for index, place in enumerate(places):
        sign = sign_after(text, place.end)
        alone = _LONE_SIGN.match(text, place.end)
        if sign or alone:
            denied.append(sign[0] == "negative" if sign else alone is not None and alone["sign"] != "+")
            continue
        end = places[index + 1].start if index + 1 < len(places) and places[index + 1].start > place.end else group.ends
        before = is_denied_before(text, max(group.lead_from, place.start - 24), place.start)
        after = statement("denied_behind").match(text, place.end, end) or statement("denied_behind").search(
            text, place.end, min(end, place.end + 45)
        )
        if after and after.group().lower() in ("retained", "intact"):
            after = None  # What is told of a stain; a change that is retained is still there.
        if after and after.group().lower() in ("ruled out", "excluded") and "," in text[place.end : after.start()]:
            after = None  # "BRAF V600E, Lynch ruled out": the verdict is of what stands behind the comma.
        denied.append(bool((denied_before and place.start > marker.start and index == 0) or before or after))
    return denied
