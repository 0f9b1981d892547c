"""Where findings lie: each diagnosis at its site, spread at its places, and tumors composed of morphology and site."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ...kb.kinds import CONDITIONS, MOLECULAR, OPERATIONS, PLACED
from ...kb.model import Value
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.rows import ConceptRow
from ..recognizers.spread import DEPOSIT, RETURN
from ..recognizers.type_fields import TYPE_FIELD
from ..text.cue_files import cue_file
from ..text.frame import Frame, Span, starting
from ..text.gates import Gate
from ..text.word_classes import word_classes
from ..text.words import Remembered
from .regions import headed_findings

_CLASSES: Final = word_classes("binding", "placing")

_SIDE = _CLASSES.compile(
    r"(?<![A-Za-z])(?:(?P<left>{left})|(?P<right>{right})"
    r"|(?P<both>{both}))(?![A-Za-z])"
    # A single letter counts only as a word of its own, never inside a specimen number or beside an initial.
    r"|(?<![\w/.\-'’])(?:(?P<left_short>{left_short})|(?P<right_short>{right_short}))(?=[\s,)])(?!\s?[-/]|\s\d)"
)
#: The words for a side, and so far behind a thing may one stand (characters).
_OPENS_SIDE: Final = Gate(
    within=_CLASSES.pattern(r"(?<![A-Za-z])(?:{left}|{right}|{both_written_out}|b\Z|Lt\Z|LT\Z|L\Z|Rt\Z|RT\Z|R\Z)")
)
_REACH_OF_SIDE = 16
#: And so far before it may the word begin.
_BEFORE_SIDE = 28
#: What parts of the body other than the body itself have too.
_ENDS: Final = frozenset({"head", "neck"})
_OF_PART: Final = _CLASSES.compile(r"\sof\s(?:{whose})?(?:{which_side})?")
_ADJECTIVE_OF_PART: Final = _CLASSES.compile(r"(?<![^\W_])(?!{of_whole_head})\w+{adjective_ends}\Z", re.IGNORECASE)
_SIDE_BEHIND = re.compile(r"[\s,(]{0,3}(?:(?:of|on)\s(?:(?:the|his|her)\s)?)?")
_SPECIMEN_LINE = _CLASSES.compile(r"^[ \t]*(?:\(?{part}?[A-Z1-9]\d?[.):]\s|[1-9]\s{1,3}(?=[A-Z][a-z])|{specimen})")
_SPECIMEN_WORDS = _CLASSES.compile(
    r"\b{taken}\b",
    re.IGNORECASE,
)
#: Words between a morphology and its site that keep them together.
_TIE = _CLASSES.compile(
    r"(?:\s?\(\s?\d{1,3}\s?%\s?\))?(?:{ties}\b|[,()\-:.\s]){0,60}+",
    re.IGNORECASE,
)
#: "Squamous cell carcinoma, moderately differentiated, keratinizing, of the right lower lobe".
_APPOSED = _CLASSES.compile(r",\s[^.;:]{1,110}?,\s{origin}\b(?:{ties}\b|[\s\-]){1,40}+", re.IGNORECASE)
#: Words between a morphology and a place that make the place that of another finding.
_OF_SOMETHING_ELSE = _CLASSES.compile(r"\b{something_else}\b", re.IGNORECASE)
#: What is at a margin began elsewhere.
_AT_MARGIN = _CLASSES.compile(r"\b{margin_before}\.?\s(?:\w+\s){0,2}\Z", re.IGNORECASE)
_REACH_OF_MARGIN: Final = 60
_REACH_OF_APPOSED: Final = 150
#: A word, and the next beside it (``bone marrow``).
_PLACE = re.compile(r"(?P<first>[A-Za-z]+)(?=(?P<second>[ ][A-Za-z]+)?)")
_SPREAD_BEHIND = _CLASSES.compile(r"\W{1,3}{spread}\b", re.IGNORECASE)
_FORMS_JOINED = _CLASSES.compile(r"[\s,/+]{0,4}(?:\(\s?\d{1,3}\s?%\s?\))?[\s,/+]{0,4}{joined}?[\s,/+]{0,4}")
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
_OF_ANY_CELL: Final = cue_file("implied")["of_any_cell"]
_WORDS: Final = re.compile(r"[a-z]+")
#: So many letters of a word of a place stand in its adjective as well.
_STEM: Final = 5
_RECURRENCE: Final = "recurrence"


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
        self.is_local = lru_cache(maxsize=20_000)(self._is_local)

    def _is_local(self, concept: str) -> bool:
        """Whether what the concept means is always at some part of the body, and its name does not say at which."""
        return not self.place_of(concept) and self._concepts.is_any(concept, headed_findings())

    def _compose(self, morphology: str, site: str) -> str:
        """The shallowest concept below ``morphology`` at the closest site that covers ``site``; else ``morphology``."""
        concepts = self._concepts
        if not site or site not in concepts or morphology not in concepts or concepts.get(morphology).site:
            return morphology
        above_site = concepts.above(site)
        fitting = [row for row in map(concepts.get, concepts.below(morphology)) if row.site and row.site in above_site]
        found = self._shallowest(fitting, morphology, site)
        is_any = morphology in _OF_ANY_CELL["concepts"]
        if is_any and (found == morphology or not self._says_no_more(found, morphology)):
            fitting = [row for row in fitting if self._says_no_more(row.id, morphology)]
            found = self._shallowest(fitting, morphology, site)
            if not (found == morphology or self._says_no_more(found, morphology)):
                return morphology
        return found

    def _shallowest(self, fitting: Sequence[ConceptRow], morphology: str, site: str) -> str:
        """Of tumors at places that cover a site, the shallowest at the closest; the morphology if there is none."""
        concepts, above_site = self._concepts, self._concepts.above(site)
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

    def _says_no_more(self, tumor: str, morphology: str) -> bool:
        """Whether some name of a tumor says no more than its place and the morphology: *lung cancer*, but no *sarcoma
        of the chest wall*."""
        concepts = self._concepts
        place = concepts.get(tumor).site
        if not place or (_MALIGNANT in concepts.above(tumor) and _MALIGNANT not in concepts.above(morphology)):
            return False
        known = {*_OF_ANY_CELL["words"], *_OF_ANY_CELL["concepts"][morphology]}
        for one in (place, morphology, *(concepts.above(place) if place in concepts else ())):
            known.update(word for name in concepts.names(one) for word in _WORDS.findall(name.lower()))
        stems = {word[:_STEM] for word in known if len(word) >= _STEM}
        return any(
            all(word in known or word[:_STEM] in stems for word in _WORDS.findall(name.lower()))
            for name in concepts.names(tumor)
        )

    def right_below(self, finding: str, site: str) -> str:
        """As :meth:`compose`, of a finding: only the concept right below it means no more than both. A lesion of the
        thyroid need not be a nodule."""
        found = self.compose(finding, site)
        return found if found != finding and finding in self._concepts.get(found).parents else finding

    def place_of(self, finding: str) -> str:
        """The place that the name of a finding holds; empty if it holds none."""
        return self._concepts.get(finding).site if finding in self._concepts else ""

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

    def with_ends(self, text: str, sites: list[Span]) -> list[Span]:
        """The sites, in text order; the head or neck of another part (*humeral head*, *neck of the gallbladder*) is
        that part."""
        if not any(site.concept in _ENDS for site in sites):
            return sites
        found: list[Span] = []
        for site in sites:
            before = found[-1] if found else None
            if before is not None and before.concept in _ENDS and _OF_PART.fullmatch(text, before.end, site.start):
                found[-1] = replace(site, start=before.start)
            elif (
                before is not None
                and site.concept in _ENDS
                and text[before.end : site.start] == " "
                and _ADJECTIVE_OF_PART.search(text, before.start, before.end)
            ):
                found[-1] = replace(before, end=site.end)
            else:
                found.append(site)
        return found

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
        if here and _AT_MARGIN.search(frame.text, max(low, span.start - _REACH_OF_MARGIN), span.start):
            return None
        behind = [site for site in here if site.start >= span.end and _TIE.fullmatch(frame.text, span.end, site.start)]
        if not behind:
            # "endometrioid (60%) and clear cell carcinoma (40%) of the left ovary": joined morphologies share the site.
            joined = next(iter(starting(tumors, span.end, span.end + 25)), None)
            if joined is not None and _FORMS_JOINED.fullmatch(frame.text, span.end, joined.start):
                behind = [
                    site
                    for site in here
                    if site.start >= joined.end and _TIE.fullmatch(frame.text, joined.end, site.start)
                ]
        if not behind:
            behind = [
                site
                for site in here
                if span.end <= site.start <= span.end + _REACH_OF_APPOSED
                and _APPOSED.fullmatch(frame.text, span.end, site.start)
                and not _OF_SOMETHING_ELSE.search(frame.text, span.end, site.start)
                and not starting(tumors, span.end, site.start)
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
        """The places that names of biopsies, scans and findings hold: ``liver biopsy: …``, ``adrenal nodule``."""
        for span in spans:
            if span.kind == "procedure" or (span.kind in CONDITIONS and self._concepts.get(span.concept).site):
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


#: Spread in a sentence about nodes, without a site of its own, is nodal.
_NODES = _CLASSES.compile(r"\b{nodes}\b", re.IGNORECASE)
#: "cancer of the lung", "lung: malignancy": the bare word takes a site only where the two are one name.
_CANCER_OF = _CLASSES.compile(r"[\s:,\-]{0,3}(?:{cancer_of}\s{whose}?{which_side}?)?")
#: Between two places that are named together.
_PLACES_JOINED = re.compile(r"[\s,/&+]*(?:and|or)?[\s,/&+]*")
_METASTA = _CLASSES.compile("{metastasis}", re.IGNORECASE)
#: Words for spread that are said of nodes without a place, and what lies between a result and the place it is of.
_DEPOSIT = _CLASSES.compile("{deposit}")
_SAID_OF = _CLASSES.compile(r"\s*(?:\w+\s){0,2}{from_what}\s+(?:the\s)?")
_SPREAD_WORD = _CLASSES.compile(r"\b(?<!non.){spread}\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_LIST_OF_SITES = _CLASSES.compile(
    r"(?:[ ]?\([^()\n]{1,30}\))?[\s,/&+]{0,4}(?:{between_sites}"
    r"|[\d.]{1,5}\s?cm)?[\s,/&+]{0,4}{leads_site}?\s{0,4}",
    re.IGNORECASE,
)
_TO_SITE = _CLASSES.compile(
    r"\W{0,4}{what_spread}?\W{0,4}{is_or_are}?\W{0,4}(?:{to_site}|:|-|,|\()\s{0,4}(?:{before_site}"
    r"|\d{1,3})?\s{0,4}{side_or_letter}?\s{0,4}",
    re.IGNORECASE,
)
#: "Met" right before the name of a tumor, as it stands behind a sign or a word of finding.
_MET_ADJECTIVE = _CLASSES.compile(r"(?:[:;,(=+\-–]\s{0,2}|\b(?i:{before_met})\s)[Mm]et\s$")
#: Short for "metastases", up to a place right behind it, and what makes that the place of an examination.
_METS_AT_ONCE = _CLASSES.compile(r"mets\s(?:{either_side}\s)?", re.IGNORECASE)
_EXAMINED = _CLASSES.compile(r"\s{examined}", re.IGNORECASE)
#: Between a node and the word of the spread that was found in it.
_NODE_HOLDS = _CLASSES.compile(
    r"(?:\s?\([^()\n]{1,20}\))?(?::|,|\s{holds})\s{one}?(?:\d{1,2}(?:\.\d)?\s?[mc]m\s)?",
    re.IGNORECASE,
)
#: What came back: a date may stand before the place, and the place may be what it came back with.
_RETURNED_TO = _CLASSES.compile(
    r"(?:\s(?:[A-Z][a-z]{2,8}\s)?\d{4}|\s(?:\d{1,2}/){1,2}\d{2,4})?(?:\s(?P<with>{returned_with})\s|"
    + _TO_SITE.pattern
    + r")(?:{returned_as}\s){0,2}",
    re.IGNORECASE,
)
#: "With liver lesions", "with liver (x5) and bone": a place, and not the trouble of one ("with liver failure").
_IS_A_PLACE = _CLASSES.compile(r"\s?(?:{is_a_place}|[(,+/]|and\s)", re.IGNORECASE)

#: The field of a form that names the organ of the tumor, in whatever note it was pasted.
_TUMOR_SITE = _CLASSES.compile(r"[ \t\-*]{0,6}{tumor_or_primary}\s+site", re.IGNORECASE)
#: No name of a thing is longer (characters): so far back is looked for one that holds a place.
_LONGEST_NAME = 200

#: "Liver lesions consistent with metastases", "nodules in the lung are mets": what lies at the place is called spread.
_IS_SPREAD = _CLASSES.compile(
    r"(?:[^\s.;:]{1,14}(?={seen_begins}))?[\s,.:]{0,2}(?:\([^()\n]{0,40}\)\s?)?(?:{that}\s"
    r"[^.;:,]{3,40},\s)?(?:(?:[\w\-]+:?\s){0,4}?{seen}[\s,]{1,2}(?:[^\s;:]{1,20}\s){0,8}?)?"
    r"(?:{hedged}\s){0,3}(?:{means}|{found_to_be}\sto\sbe|{read_as}\s(?:by\s(?:\w+\s){1,3})?as|:|=|-)\s"
    r"(?:{such_spread}\s){0,3}",
    re.IGNORECASE,
)
#: Something seen that spread may be.
_LESION = _CLASSES.compile("{lesion_begins}", re.IGNORECASE)
#: "Lesions in the liver and lung …": what is there leads, and the place follows.
_LESION_AT = _CLASSES.compile(
    r"{lesion_at}\s(?:\w+\s){0,3}?{lies_in}\s(?:[\w\-]+\s){0,3}$|{bone_lesion}\s(?:{lesions_or_foci}\s)?"
    r"(?:[\w\-]+\s)?$",
    re.IGNORECASE,
)


#: Kinds of spans, other than the disease itself, that have a side or a site.
_PLACED = PLACED - CONDITIONS - {"diagnosis", "state"}
#: Of these a place counts only where it heads them or where they are said to be of it.
_PLACED_BY_HEADING = MOLECULAR | {"stage", "metastasis"}
_ANY_NODE = "lymph_node"
#: What tells of a tumor as a whole, and so has the place at which that began.
_OF_PRIMARY: Final = frozenset({"tnm", "grade"})
#: The places of these are not where a tumor began.
_AT_ANOTHER_PLACE: Final = frozenset({"metastasis", "node"})
_REACHED: Final = _CLASSES.compile(
    r"(?<![^\W_]){reached}(?:\s(?!{and_then}\s)[\w\-]{1,16}){0,4}\s{1,2}\Z", re.IGNORECASE
)
_REACH_OF_SPREAD: Final = 60


class Placement:
    """Gives spans of one note their sites and sides, and makes the spans that only a place or an adjective tells."""

    def __init__(self, concepts: ConceptTable, implied: Mapping[str, Mapping[str, str]]) -> None:
        """``implied``: the tables *adjective*, *fluid*, *nodes_of* and *spread_of* of ``cues/implied.toml``."""
        self.concepts = concepts
        self.sites = SiteReader(concepts)
        self.composer = TumorComposer(concepts)
        self._adjectives = {words: state for words, state in implied["adjective"].items() if state in concepts}
        self._ahead = tuple(self._adjectives)
        self._at_head = tuple(words + " " for words in self._adjectives)
        #: Place → the states that a solid tumor's cells there mean.
        self._states_in: dict[str, list[str]] = {}
        for fluid, state in implied["fluid"].items():
            for place in concepts.at_or_below(fluid):
                self._states_in.setdefault(place, []).append(state)
        self._nodes_of = implied["nodes_of"]
        self._spread_of = implied["spread_of"]
        self._images = concepts.at_or_below("imaging")

    def diagnoses(self, frame: Frame, diagnoses: list[Span], sites: list[Span], document_class: str) -> list[Span]:
        """Give each diagnosis its site and side, and the concept that means morphology and site together; those whose
        site is told by the line above them alone."""
        diagnoses = _in_text_order(diagnoses)
        tied: dict[str, Span] = {}
        by_specimen: list[Span] = []
        specimens = self.sites.specimen_sites(frame, sites)
        # A report is all about its specimens; in another note a pasted report's heading, which is in capitals there,
        # holds for the lines below it.
        holds_for = 1500
        if document_class not in ("pathology", "molecular", "operative"):
            holds_for = 400
            lines = ((held, frame.text[slice(*frame.shape.line_at(held[0]))]) for held in specimens)
            specimens = [held for held, line in lines if line.isupper() or _TUMOR_SITE.match(line)]
        for span in diagnoses:
            low, high = frame.sentence_span(span.start)
            spread = bool(
                _METASTA.match(frame.text, span.start, span.end)
                or _SPREAD_WORD.search(frame.text, max(low, span.start - 40), span.start)
            )
            row = self.concepts.get(span.concept)
            side_from = span
            if row.site:
                span.attributes["site"] = row.site
            # What stands beside the field of a synopsis is another field.
            near = None if span.source == TYPE_FIELD else self.sites.near(frame, span, sites, diagnoses)
            if near is None and not row.site:
                near = self._held(span, specimens, holds_for)
                if near is not None or document_class in ("pathology", "molecular", "operative"):
                    by_specimen.append(span)
            elif near is not None and not row.site:
                tied[span.concept] = near
            if near is not None:
                if not row.site or self.concepts.is_a(near.concept, row.site):
                    side_from = near
                if spread and near.start < span.start or near.concept in self.sites.nodes:
                    span.attributes["spread_site"] = near.concept
                elif not row.site:
                    span.attributes["site"] = near.concept
                    if self.sites.primary_site(near.concept):
                        composed = self._composed(span, near, frame)
                        if composed != span.concept:
                            span.attributes["morphology"] = span.concept
                            span.concept = composed
            if spread:
                span.attributes["spread"] = "metastatic"
            # The organ is in the tumor's own name: a side further off is of something else.
            words = 1 if side_from is span and row.site else 3
            side = self.sites.side_in(frame, side_from.start, side_from.end, max(0, low), high, words)
            if side and not spread:
                span.attributes["laterality"] = side
        for span in by_specimen:
            # Where the report itself ties this morphology to a site, the last specimen heading says nothing.
            morphology = str(span.attributes.get("morphology", span.concept))
            if morphology in tied and "spread" not in span.attributes:
                span.attributes["site"] = tied[morphology].concept
                span.concept = self.composer.compose(morphology, tied[morphology].concept)
        return [span for span in by_specimen if str(span.attributes.get("morphology", span.concept)) not in tied]

    def _held(self, span: Span, specimens: Sequence[tuple[int, Span]], reach: int) -> Span | None:
        """The place that the last line above heads; the type in the field of a synopsis is that of no node."""
        above = bisect.bisect_right(specimens, span.start, key=lambda held: held[0]) - 1
        if above < 0 or span.start - specimens[above][0] >= reach:
            return None
        near = specimens[above][1]
        return near if span.source != TYPE_FIELD or self.sites.primary_site(near.concept) else None

    def _composed(self, span: Span, site: Span, frame: Frame) -> str:
        if span.concept == "malignant_neoplasm" and not _CANCER_OF.fullmatch(
            frame.text, min(span.end, site.end), max(span.start, site.start)
        ):
            return span.concept
        return self.composer.compose(span.concept, site.concept)

    def spread(self, frame: Frame, spreads: list[Span], sites: list[Span], diagnoses: list[Span]) -> list[Span]:
        """A metastasis event for each site of each word of spread; node findings for nodes; else a bare state."""
        diagnoses = _in_text_order(diagnoses)
        found: list[Span] = []
        for word in spreads:
            found += self._spread_by(frame, word, sites, diagnoses)
        return found

    def _spread_by(self, frame: Frame, word: Span, sites: list[Span], diagnoses: list[Span]) -> list[Span]:
        """What one word of spread means: at the places beside it, at that of its tumor's name, or nowhere named."""
        low, high = frame.sentence_span(word.start)
        here = starting(sites, low, high)
        chosen = self._places_ahead(frame.text, word, here)
        chosen += self._places_behind(frame.text, word, here, alone=not chosen)
        tumor = _tumor_beside(word, diagnoses)
        if word.source in (DEPOSIT, RETURN):
            # Deposits lie at the place before them; what came back did so at the one behind.
            behind = word.source == RETURN
            chosen = [site for site in chosen if (site.start >= word.end) == behind and self._distant(site.concept)]
            if not chosen:
                return []
        elif not chosen:
            places = [*here, *self._in_names(starting(diagnoses, low, word.start))]
            before = _in_text_order([one for one in places if one.end <= word.start])
            called = [self._lesion(word, site) for site in self._called_spread(frame.text, word, before)]
            if called:
                return called
        if not chosen and tumor is not None and "spread_site" in tumor.attributes:
            return [self._spread_span(word, str(tumor.attributes["spread_site"]))]
        if not chosen:
            if _NODES.search(frame.text, low, high) or _DEPOSIT.match(frame.text[word.start : word.end]):
                return []
            return [Span(word.start, word.end, "state", "metastatic_disease", "pattern:metastasis")]
        return [
            self._spread_span(word, site.concept, site)
            for site in chosen
            if tumor is None or site.start < tumor.start or self.concepts.get(tumor.concept).site != site.concept
        ]

    def _places_ahead(self, text: str, word: Span, here: Sequence[Span]) -> list[Span]:
        """The places right before a word of spread, with those joined to them; else the nodes that hold it."""
        ahead = [site for site in here if site.end <= word.start]
        before = [site for site in ahead if re.fullmatch(r"[\s\-]*", text[site.end : word.start])]
        if not before:
            # "Sentinel node: macrometastasis", "one node with a 3 mm metastasis".
            before = [
                site
                for site in ahead
                if site.concept in self.sites.nodes and _NODE_HOLDS.fullmatch(text, site.end, word.start)
            ]
        # "liver and bone metastases": the sites in front of the last one belong too.
        return _last_and_joined(text, here[: here.index(before[-1]) + 1]) if before else []

    def _places_behind(self, text: str, word: Span, here: Sequence[Span], alone: bool) -> list[Span]:
        """The places that the words behind a word of spread lead to; ``alone``: none stands before it."""
        chosen: list[Span] = []
        position = word.end
        for site in (item for item in here if item.start >= word.end):
            first = position == word.end
            gap = _LIST_OF_SITES if not first else _RETURNED_TO if word.source == RETURN else _TO_SITE
            leads = gap.fullmatch(text, position, site.start)
            if leads is None and first and alone and self._distant(site.concept):
                # "Mets bone, liver": the place follows at once, and is not that of an examination.
                leads = _METS_AT_ONCE.fullmatch(text, word.start, site.start)
                if leads and _EXAMINED.match(text, site.end):
                    leads = None
            if leads and leads.groupdict().get("with") and not _IS_A_PLACE.match(text, site.end):
                leads = None
            if leads:
                chosen.append(site)
                position = site.end
            elif site.start > position + 30:
                break
        return chosen

    def _lesion(self, word: Span, place: Span) -> Span:
        """Spread at a place whose lesion is called so: its span is the word alone, for what stands between may deny."""
        span = self._spread_span(word, place.concept)
        span.helpers.append((place.start, place.end, "place of the lesion"))
        return span

    def _in_names(self, diagnoses: Sequence[Span]) -> Iterator[Span]:
        """The places that names of findings hold (``pulmonary nodules``), with the word of the finding left out."""
        for span in diagnoses:
            site = self.concepts.get(span.concept).site
            if site and not self.concepts.is_a(span.concept, "malignant_neoplasm"):
                yield Span(span.start, span.start + 1, "site", site)

    @staticmethod
    def _called_spread(text: str, word: Span, before: list[Span]) -> list[Span]:
        """The places whose lesions the word of spread behind them is said of (``liver lesions c/w mets``)."""
        if (
            not before
            or word.start - before[-1].end > 160
            or not _IS_SPREAD.fullmatch(text, before[-1].end, word.start)
        ):
            return []
        chosen = _last_and_joined(text, before)
        behind = text[chosen[-1].end : word.start]
        if _LESION.search(behind) or _LESION_AT.search(text, max(0, chosen[0].start - 80), chosen[0].start):
            return chosen
        return []

    def secondaries(self, names: Iterable[Span]) -> Iterator[Span]:
        """The spread that a classification calls a secondary cancer of a place."""
        for span in names:
            site = self.concepts.get(span.concept).site
            if site:
                yield self._spread_span(replace(span, source="pattern:metastasis"), site)

    def _distant(self, site: str) -> bool:
        """An organ where a tumor that came back has spread (in the chest wall a breast cancer recurs locally)."""
        organs = (organ for organ in SITES_OF_SPREAD if organ != "chest_wall" and organ in self.concepts)
        return any(self.concepts.is_a(site, organ) for organ in organs)

    def _spread_span(self, word: Span, concept: str, site: Span | None = None) -> Span:
        start = min(word.start, site.start) if site else word.start
        end = max(word.end, site.end) if site else word.end
        if concept in self.sites.nodes:
            return Span(start, end, "node", concept, "pattern:node-metastasis", {"result": "positive"})
        return Span(start, end, "metastasis", concept, word.source)

    def adjective_states(self, frame: Frame, diagnoses: list[Span]) -> list[Span]:
        """The states that adjectives before or at the head of a tumor's name tell (``metastatic``, ``recurrent``)."""
        found: list[Span] = []
        for span in diagnoses:
            low, _ = frame.sentence_span(span.start)
            before = frame.text[max(low, span.start - 40) : span.start].lower().replace("-", " ").rstrip()
            inside = frame.text[span.start : span.end].lower().replace("-", " ")
            if not before.endswith(self._ahead) and not inside.startswith(self._at_head):
                continue
            for words, state in self._adjectives.items():
                ahead = before.endswith(words) and not before[: -len(words)][-1:].isalnum()
                if ahead or inside.startswith(words + " "):
                    attributes: dict[str, Value] = {"of": span.concept}
                    start = span.start if inside.startswith(words + " ") else span.start - len(words) - 1
                    # "Liver bx: met adenoca": no word of spread but this tells it; elsewhere it is a verb, or a gene.
                    short = words == "met" and _MET_ADJECTIVE.search(frame.text, max(0, span.start - 24), span.start)
                    if state == "metastatic_disease" and not short and not self.concepts.get(span.concept).site:
                        continue
                    found.append(Span(max(low, start), span.end, "state", state, "pattern:adjective", attributes))
                    break
        return found

    def without_adjectives(self, text: str, events: list[Span], diagnoses: list[Span]) -> list[Span]:
        """The events but for words of a state that are the adjective of a histology without a place (``metastatic
        carcinoma``): where it has spread to, and so what it is, is told by the place beside it; and but for those of
        a complaint that comes again (``recurrent nausea``)."""
        again = {span.start for span in events if span.kind in CONDITIONS}
        bare = {span.start for span in diagnoses if not self.concepts.get(span.concept).site}
        return [
            span
            for span in events
            if span.kind != "state"
            or not {span.end + 1, span.end + 2} & (bare | again if span.concept == _RECURRENCE else bare)
            or text[span.start : span.end].lower() not in self._adjectives
        ]

    def _is_solid(self, tumor: str) -> bool:
        """Whether it is a cancer, but not of the blood: blood cancers are at home in nodes and fluids."""
        is_a = self.concepts.is_a
        return is_a(tumor, "malignant_neoplasm") and not is_a(tumor, "haematological_malignancy")

    def fluid_states(self, diagnoses: Iterable[Span]) -> Iterator[Span]:
        """The state that a solid tumor's cells in a fluid mean (``CSF cytology: malignant cells``)."""
        for span in diagnoses:
            place = str(span.attributes.get("spread_site", span.attributes.get("site", "")))
            if place in self._states_in and self._is_solid(span.concept):
                for state in self._states_in[place]:
                    yield replace(span, kind="state", concept=state, attributes={}, helpers=list(span.helpers))

    def involved_nodes(self, diagnoses: Iterable[Span]) -> Iterator[Span]:
        """The finding in the nodes that a solid tumor's cells mean (``EBUS-FNA 4R: positive for malignant cells``)."""
        for span in diagnoses:
            place = str(span.attributes.get("spread_site", ""))
            if place in self.sites.nodes and self._is_solid(span.concept):
                yield replace(span, kind="node", concept=place, attributes={"result": "positive"}, helpers=[])

    def spread_states(self, states: Iterable[Span]) -> Iterator[Span]:
        """The metastasis that a state of spread with a place in its name is (``leptomeningeal disease``)."""
        for span in states:
            if span.kind == "state" and span.concept in self._spread_of:
                yield replace(span, kind="metastasis", concept=self._spread_of[span.concept], attributes={}, helpers=[])

    def others(self, frame: Frame, events: list[Span], sites: list[Span]) -> None:
        """Give findings and treatments their side, and the site that stands near or heads them."""
        operations = [one for one in events if one.kind in OPERATIONS and one.concept in self._nodes_of]
        for span in events:
            if span.kind not in _PLACED:
                continue
            low, high = frame.sentence_span(span.start)
            side = self.sites.side_in(frame, span.start, span.end, low, high) if span.kind not in MOLECULAR else ""
            if side:
                span.attributes.setdefault("laterality", side)
            if span.kind in _PLACED_BY_HEADING:
                self._place_by_heading(frame, span, sites, low, high)
                continue
            if span.kind == "procedure" and span.concept in self._images:
                # An image has the place that its name leads to, and not those of what it showed.
                continue
            here = starting(sites, max(low, span.start - 99), min(high, span.start + 100))
            if span.kind in _OF_PRIMARY:
                here = self._where_it_began(frame.text, low, here, events)
            if here:
                closest = min(here, key=lambda site: abs(site.start - span.start))
                if span.kind != "node":
                    span.attributes.setdefault("site", closest.concept)
            if span.kind == "node" and not span.concept:
                span.concept = self._region(span, [*here, *(one for one in operations if low <= one.start < high)])

    def _where_it_began(self, text: str, low: int, sites: Sequence[Span], events: Sequence[Span]) -> list[Span]:
        """Those of the sites of a sentence at which its tumor may have begun: none that it reaches or has spread to."""
        return [
            site
            for site in sites
            if site.concept not in self.sites.nodes
            and not _REACHED.search(text, max(low, site.start - _REACH_OF_SPREAD), site.start)
            and not any(
                one.kind in _AT_ANOTHER_PLACE and one.start <= site.start and site.end <= one.end for one in events
            )
        ]

    def _region(self, count: Span, beside: Sequence[Span]) -> str:
        """The nodes that were counted: the nearest that are named or were operated on, else those of the place."""
        named = {
            id(one): one.concept if one.concept in self.sites.nodes else self._nodes_of.get(one.concept, "")
            for one in beside
            if one.concept != _ANY_NODE
        }
        with_region = [one for one in beside if named.get(id(one))]
        sure = [one for one in with_region if one.kind != "site" or one.concept in self.sites.nodes]
        nearest = min(sure or with_region, key=lambda one: abs(one.start - count.start), default=None)
        return named[id(nearest)] if nearest else _ANY_NODE

    @staticmethod
    def _place_by_heading(frame: Frame, span: Span, sites: list[Span], low: int, high: int) -> None:
        """A result under a site's own heading (``BLADDER: …``) or said to be of a site (``mutation of bladder``)."""
        for site in starting(sites, low, high):
            heads = site.start - low <= 3 and frame.text[site.end : site.end + 2].lstrip(") ")[:1] == ":"
            enclosed = site.start - low <= 3 and frame.text[site.end : site.end + 1] == ")"
            said = site.start >= span.end and _SAID_OF.fullmatch(frame.text[span.end : site.start])
            if heads or enclosed or said:
                span.attributes.setdefault("site", site.concept)
                return

    def grades(self, events: list[Span]) -> None:
        """A grade right beside a symptom or toxicity is that toxicity's grade."""
        harms = _in_text_order([span for span in events if span.kind in CONDITIONS])
        bound: set[int] = set()
        for grade in [span for span in events if span.kind == "grade" and "scale" not in span.attributes]:
            for harm in starting(harms, grade.start - _LONGEST_NAME, grade.end + 4):
                if 0 <= harm.start - grade.end <= 3 or 0 <= grade.start - harm.end <= 3:
                    harm.attributes["grade"] = grade.attributes["grade"]
                    if harm.kind != "comorbidity" or self._is_toxicity(harm.concept):
                        harm.kind = "adverse_event"
                    bound.add(id(grade))
                    break
        events[:] = [span for span in events if id(span) not in bound]

    def _is_toxicity(self, concept: str) -> bool:
        return concept in self.concepts and self.concepts.is_a(concept, "toxicity")


def _tumor_beside(word: Span, diagnoses: Sequence[Span]) -> Span | None:
    """The tumor in whose name a word of spread stands, or right before whose name."""
    for span in starting(diagnoses, word.start - _LONGEST_NAME, word.end + 4):
        if span.start <= word.start < span.end or 0 <= span.start - word.end <= 3:
            return span
    return None


def _last_and_joined(text: str, sites: Sequence[Span]) -> list[Span]:
    """The last of the sites, with those before it that are coordinated with it (``liver, lung and bone``)."""
    chosen = [sites[-1]]
    for site in reversed(sites[:-1]):
        if not _PLACES_JOINED.fullmatch(text, site.end, chosen[0].start):
            break
        chosen.insert(0, site)
    return chosen


def _in_text_order(spans: list[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: span.start)
