"""Where a finding lies: sites and sides of mentions, specimen headings, and tumors composed of morphology and site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ..text.frame import Frame, Span, starting
from ..text.gates import Gate
from ..text.tokens import Remembered

_SIDE = re.compile(
    r"(?<![A-Za-z])(?:(?P<left>left|Left|LEFT)|(?P<right>right|Right|RIGHT)"
    r"|(?P<both>bilateral(?:ly)?|Bilateral|BILATERAL|b/l))(?![A-Za-z])"
    # A single letter counts only as a word of its own, never inside a specimen number or beside an initial.
    r"|(?<![\w/.\-'’])(?:(?P<left_short>Lt\.?|LT|L)|(?P<right_short>Rt\.?|RT|R))(?=[\s,)])(?!\s?[-/]|\s\d)"
)
#: The words for a side, and so far behind a thing may one stand (characters).
_OPENS_SIDE: Final = Gate(
    within=r"(?<![A-Za-z])(?:left|Left|LEFT|right|Right|RIGHT|bilateral|Bilateral|BILATERAL|b\Z|Lt\Z|LT\Z|L\Z|Rt\Z|RT\Z|R\Z)"
)
_REACH_OF_SIDE = 12
#: And so far before it may the word begin.
_BEFORE_SIDE = 28
_SIDE_BEHIND = re.compile(r"[\s,(]{0,3}(?:of\s(?:the\s)?)?")
_SPECIMEN_LINE = re.compile(
    r"^[ \t]*(?:\(?(?:Part\s+|Specimen\s+|SPECIMEN\s+)?[A-Z1-9]\d?[.):]\s|[1-9]\s{1,3}(?=[A-Z][a-z])"
    r"|[Ss]pecimen|SPECIMEN|[Tt]issue\b|TISSUE|[Ss]ample\b|SAMPLE|[Mm]aterial\b|[Ss]ource\b|[Tt]umou?r\s+[Ss]ite|TUMOU?R\s+SITE"
    r"|[Pp]rimary\s+[Ss]ite|[Ss]ite\b|SITE\b|[Pp]rocedure|PROCEDURE|[Ll]aterality)"
)
_SPECIMEN_WORDS = re.compile(
    r"\b(?:biops(?:y|ies)|bx|core|excision|resection|FNA|aspirat\w*|\w*ectomy|brushings?|washings?|fluid"
    r"|curettage|TURBT|punch|shave|needle|mass|margin|nodes?|lesion)\b",
    re.IGNORECASE,
)
#: Words between a morphology and its site that keep them together.
_TIE = re.compile(
    r"(?:\s?\(\s?\d{1,3}\s?%\s?\))?(?:(?:of|in|from|at|involving|arising|primary|within|to|the|a|an|her|his|left|right"
    r"|upper|lower|outer|inner|L|R|Lt|Rt|bilateral|distal|proximal|mid|origin|site|type)\b|[,()\-:.\s]){0,60}+",
    re.IGNORECASE,
)
#: Words between a morphology and a place that make the place that of another finding.
_OF_SOMETHING_ELSE = re.compile(r"\b(?:no|not|without|negative|metasta\w+|mets|spread)\b", re.IGNORECASE)
#: A word, and the next beside it (``bone marrow``).
_PLACE = re.compile(r"(?P<first>[A-Za-z]+)(?=(?P<second>[ ][A-Za-z]+)?)")
_SPREAD_BEHIND = re.compile(r"\W{1,3}(?:metasta\w+|mets?)\b", re.IGNORECASE)
_JOINED = re.compile(r"[\s,/+]{0,4}(?:\(\s?\d{1,3}\s?%\s?\))?[\s,/+]{0,4}(?:and|with|AND|mixed)?[\s,/+]{0,4}")
#: Sites that are never where a primary of another tissue begins.
_SPREAD_ONLY = ("lymph_node", "pleural_fluid", "ascites", "bone_marrow", "body_fluid")
#: Organs in which a carcinoma without a name of its own is more often a metastasis than a primary.
SITES_OF_SPREAD: Final = (
    "liver",
    "lung",
    "brain",
    "bone",
    "pleura",
    "peritoneum",
    "adrenal_gland",
    "omentum",
    "spine",
    "chest_wall",
)
_MALIGNANT: Final = "malignant_neoplasm"


def _heads_specimen(line: str) -> tuple[bool, bool]:
    """Whether a line has the label of a specimen; whether it is in capitals and names one."""
    return bool(_SPECIMEN_LINE.match(line)), _in_capitals(line) and bool(_SPECIMEN_WORDS.search(line))


def _in_capitals(line: str) -> bool:
    """Whether more than three quarters of the letters are capitals."""
    # Most lines are told by their frequent letters alone.
    if 4 * sum(map(line.count, "aeinorst")) >= len(line):
        return False
    letters = sum(map(str.isalpha, line))
    return letters > 0 and sum(map(str.isupper, filter(str.isalpha, line))) > 0.75 * letters


#: Lines come again; longer ones seldom do.
_HEADS_SPECIMEN: Final = Remembered(_heads_specimen, most=20_000, longest=160)


class TumorComposer:
    """Joins a morphology and a site to the tumor concept that means both."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self.compose = lru_cache(maxsize=20_000)(self._compose)

    def _compose(self, morphology: str, site: str) -> str:
        """The shallowest concept below ``morphology`` at the closest site that covers ``site``; else ``morphology``."""
        concepts = self._concepts
        if not site or site not in concepts or morphology not in concepts or concepts.get(morphology).site:
            return morphology
        above_site = concepts.above(site)
        fitting = [row for row in map(concepts.get, concepts.below(morphology)) if row.site and row.site in above_site]
        if not fitting:
            return morphology
        depth = max(len(concepts.above(row.site)) for row in fitting)
        closest = [row for row in fitting if len(concepts.above(row.site)) == depth]
        # The tops: those that lie below no other candidate.
        ids = {row.id for row in closest}
        tops = [row.id for row in closest if not (concepts.above(row.id) & ids) - {row.id}]
        if len(tops) == 1:
            return tops[0]
        shared = frozenset.intersection(*(concepts.above(top) for top in tops))
        with_site = [
            concept
            for concept in shared
            if concepts.kind(concept) == "tumor" and concepts.get(concept).site in above_site
        ]
        found = max(with_site, key=lambda concept: (len(concepts.above(concept)), concept), default=morphology)
        if _MALIGNANT in concepts.above(morphology) and _MALIGNANT not in concepts.above(found):
            # The forms of the morphology there share no cancer of their own: it is the cancer of the site.
            found = self._cancer_of(site) or morphology
        return found

    def _cancer_of(self, site: str) -> str:
        """The cancer of the closest site that covers ``site``: the one that most of its tumors lie below."""
        concepts = self._concepts
        above_site = concepts.above(site)
        there = [row for row in map(concepts.get, concepts.below(_MALIGNANT)) if row.site and row.site in above_site]
        return max(
            (row.id for row in there),
            key=lambda one: (len(concepts.above(concepts.get(one).site)), len(concepts.below(one)), one),
            default="",
        )


class SiteReader:
    """Finds the site and side of each span that has one, and keeps the document's own sites."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._spread_only = frozenset().union(*(concepts.below(site) for site in _SPREAD_ONLY if site in concepts))
        nodes = concepts.below("lymph_node") if "lymph_node" in concepts else frozenset()
        self.nodes = frozenset(nodes)
        # Names of procedures are few, and are said again and again.
        self._places_in = lru_cache(maxsize=20_000)(self._places_in_name)

    def primary_site(self, site: str) -> bool:
        """Whether a primary tumor may begin at ``site``."""
        return site not in self._spread_only

    def side(self, text: str, start: int, end: int, low: int, high: int, words: int = 3) -> str:
        """left, right, bilateral or empty: the side written right before the span, inside it, or right behind it."""
        for match in reversed(list(_SIDE.finditer(text, max(low, start - _BEFORE_SIDE), start))):
            if (
                not re.search(r"[;.,:()]", text[match.end() : start])
                and len(text[match.end() : start].split()) <= words
            ):
                return self._side_name(match)
            break
        inside = _SIDE.search(text, start, end)
        if inside:
            return self._side_name(inside)
        behind = _SIDE_BEHIND.match(text, end, max(end, high))
        after = _SIDE.match(text, behind.end(), high) if behind else None
        # Behind a comma RT is the next thing of the list, radiotherapy.
        return self._side_name(after) if after and after.group() not in ("RT", "LT") else ""

    def side_in(self, frame: Frame, start: int, end: int, low: int, high: int, words: int = 3) -> str:
        """As :meth:`side`, in a note: most things have no word for a side near them."""
        if not _OPENS_SIDE.stands_in(frame.places, min(start, max(low, start - _BEFORE_SIDE)), end + _REACH_OF_SIDE):
            return ""
        return self.side(frame.text, start, end, low, high, words)

    @staticmethod
    def _side_name(match: re.Match[str]) -> str:
        if match["left"] or match["left_short"]:
            return "left"
        return "right" if match["right"] or match["right_short"] else "bilateral"

    def near(self, frame: Frame, span: Span, sites: Sequence[Span], tumors: Sequence[Span]) -> Span | None:
        """The site tied to a tumor span in its own sentence: right before it, or behind it through *of*, *in* …

        ``sites`` and ``tumors`` are in text order.
        """
        low, high = frame.sentence_span(span.start)
        here = starting(sites, low, high)
        behind = [site for site in here if site.start >= span.end and _TIE.fullmatch(frame.text, span.end, site.start)]
        if not behind:
            # "endometrioid (60%) and clear cell carcinoma (40%) of the left ovary": joined morphologies share the site.
            joined = next(iter(starting(tumors, span.end, span.end + 25)), None)
            if joined is not None and _JOINED.fullmatch(frame.text, span.end, joined.start):
                behind = [
                    site
                    for site in here
                    if site.start >= joined.end and _TIE.fullmatch(frame.text, joined.end, site.start)
                ]
        before = [site for site in here if site.end <= span.start]
        if behind:
            return behind[0]
        if before:
            last = before[-1]
            between = starting(tumors, last.end, span.start)
            if span.start - last.end <= 90 and not between:
                # A list of sites before a diagnosis (A. LEFT BREAST, AXILLARY TAIL: ...) is led by its first organ.
                organs = [site for site in before if self.primary_site(site.concept) and span.start - site.end <= 120]
                return organs[0] if organs and last.concept not in self._spread_only else last
        later = [
            site
            for site in here
            if span.end <= site.start <= span.end + 40
            and not _OF_SOMETHING_ELSE.search(frame.text, span.end, site.start)
            and not _SPREAD_BEHIND.match(frame.text, site.end)
        ]
        if later and not starting(tumors, span.end, later[0].start):
            return later[0]
        return None

    def of_specimens(self, text: str, spans: Sequence[Span]) -> Iterator[Span]:
        """The places that names of biopsies and scans hold: ``liver biopsy: …``, ``brain MRI: …``."""
        for span in spans:
            if span.kind == "procedure":
                for start, end, site in self._places_in(text[span.start : span.end]):
                    start, end = span.start + start, span.start + end
                    yield Span(start, end, "site", site, "lexicon:" + text[start:end])

    def _places_in_name(self, name: str) -> tuple[tuple[int, int, str], ...]:
        """Start, end and concept of each place in the name of a procedure."""
        places = []
        at = 0
        for word in _PLACE.finditer(name):
            start = word.start()
            for end in (word.end("second"), word.end("first")) if start >= at else ():
                found = self._concepts.lookup(name[start:end], kinds=("site",)) if end - start > 3 else ()
                if found:
                    places.append((start, end, found[0]))
                    at = end
                    break
        return tuple(places)

    def specimen_sites(self, frame: Frame, sites: Sequence[Span]) -> list[tuple[int, Span]]:
        """(offset from which it holds, site) for each specimen heading line of a report."""
        holds: list[tuple[int, Span]] = []
        seen_line = held_line = -1
        labelled = capitals = False
        for site in sites:
            start, end = frame.shape.line_at(site.start)
            if start == held_line:
                continue
            if start != seen_line:
                seen_line = start
                labelled, capitals = _HEADS_SPECIMEN[frame.text[start:end]]
            if labelled or (capitals and site.start - start < 60):
                holds.append((start, site))
                held_line = start
        return holds

    def topic(self, title_sites: Sequence[str], diagnoses: Sequence[Span]) -> str:
        """The organ that a document is about: its title's, else that of most site-specific diagnoses; else empty."""
        organs = [site for site in title_sites if self.primary_site(site)]
        if organs:
            return organs[0]
        counts = Counter(
            self._concepts.get(span.concept).site
            for span in diagnoses
            if span.concept in self._concepts and self._concepts.get(span.concept).site
        )
        ranked = counts.most_common(2)
        if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
            return ranked[0][0]
        return ""
