"""Places of the facts of an abstraction: site and side, and the tumor or operation that a site makes of a name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from ...kb.kinds import MOLECULAR, PROCEDURES
from ...kb.model import Mention
from .pieces import PieceReader
from .records import AbstractedFact
from .structure import IMPLIED

#: A short form, which in a note would need a cue near it: here the patient's own tumors tell what it means.
_SHORT_FORM: Final = re.compile(r"(?<![\w/])[A-Z][A-Za-z]?[A-Z]{0,4}[A-Z](?![\w/])")
_NUMBER: Final = re.compile(r"\d")
#: Kinds of which the side is that of the tumor, and none of their own.
_WITHOUT_SIDE: Final = MOLECULAR | {"performance", "state"}
#: Kinds that are of the site that the fact names.
_AT_A_SITE: Final = PROCEDURES | MOLECULAR | {"grade"}
_SIDES: Final = ("left", "right", "bilateral")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact says that it lies: a site concept and a side, each empty when it does not say."""

    site: str = ""
    side: str = ""


class PlaceReader:
    """Reads the places of facts."""

    def __init__(self, pieces: PieceReader) -> None:
        self._pieces = pieces
        self._concepts = pieces.concepts

    def place(self, fact: AbstractedFact) -> Place:
        """Site and side of the attributes, else of the concept, else of the value."""
        written = fact.attributes
        site = next((span.concept for span in self._pieces.names(written.get("site", "")) if span.kind == "site"), "")
        side = written.get("laterality", "").casefold()
        texts = (f"{written.get('laterality', '')} {written.get('site', '')}".strip(), fact.concept, fact.value)
        if not site:
            # What else a metastasis is said of is told of its tumor.
            said = texts[1:2] if fact.kind == "metastasis" else texts[1:]
            named = [span for text in said for span in self._pieces.names(text) if span.kind == "site"]
            site = named[0].concept if named else ""
        if side not in _SIDES:
            side = self.side_of(site) or next((found for text in texts if (found := self._pieces.side(text))), "")
        return Place(site, side)

    def only_place(self, text: str) -> Place:
        """The one site that a text names, and its side; none where it names several."""
        sites = {span.concept for span in self._pieces.names(text) if span.kind == "site"}
        site = sites.pop() if len(sites) == 1 else ""
        return Place(site, self._pieces.side(text) or self.side_of(site)) if not sites else Place()

    def side_of(self, site: str) -> str:
        """The side that a site lies on by its own name (right upper lobe); empty if it has none."""
        for above in self._concepts.above(site) if site in self._concepts else ():
            side, _, organ = above.partition("_")
            if side in ("left", "right") and organ in self._concepts:
                return side
        return ""

    def tumors_named(self, fact: AbstractedFact) -> tuple[str, ...]:
        """The tumors that the words of a finding name beside it, or as its specimen; then what short forms may mean."""
        if fact.kind in ("diagnosis", "histology", "comorbidity"):
            return ()
        texts = (fact.attributes.get("site", ""), fact.concept, fact.value)
        named = [span.concept for text in texts for span in self._pieces.names(text) if span.kind == "diagnosis"]
        for text in (*texts[:2], fact.value if not _NUMBER.search(fact.value) else ""):
            for word in _SHORT_FORM.findall(text):
                named += self._concepts.lookup(word, kinds=("tumor",))
        return tuple(dict.fromkeys(named))

    def placed(self, fact: AbstractedFact, mention: Mention, place: Place) -> Mention:
        """The mention at the place that the fact tells; a morphology at a site becomes the tumor that both mean."""
        attributes, concept = dict(mention.attributes), mention.concept
        if place.side and mention.kind not in _WITHOUT_SIDE:
            attributes["laterality"] = place.side
        if mention.kind == "diagnosis" and concept in self._concepts:
            own = self._concepts.get(concept).site
            elsewhere = place.site and own and not self._concepts.related(place.site, own)
            if elsewhere and concept in IMPLIED and not self._named_place(fact, own):
                concept, own = self._elsewhere(concept, own, place.site)
            spread = "spread" in attributes or "spread_site" in attributes
            if place.site and not own and not spread and self._pieces.may_be_primary(place.site):
                composed = self._pieces.compose(concept, place.site)
                if composed != concept:
                    attributes["morphology"], concept = concept, composed
                attributes["site"] = place.site
            elif place.site and own and self._concepts.is_a(place.site, own):
                attributes["site"] = place.site
            if fact.kind == "diagnosis":
                # A histology may be that of a metastasis; a diagnosis at a site is stated as a primary there.
                attributes.pop("morphology", None)
        elif place.site and mention.kind in _AT_A_SITE:
            attributes["site"] = place.site
            if mention.kind == "surgery":
                concept = self._operation(concept, place.site)
        elif mention.kind == "node" and self._pieces.is_node(place.site):
            concept = place.site
        return replace(mention, attributes=attributes, concept=concept)

    def _named_place(self, fact: AbstractedFact, site: str) -> bool:
        """Whether the words of a fact name this site or one above or below it, and not only imply it."""
        return (
            any(
                span.kind == "site" and self._concepts.related(span.concept, site)
                for span in self._pieces.names(f"{fact.concept} {fact.attributes.get('site', '')}")
            )
            or self._concepts.name(site).casefold() in fact.concept.casefold()
        )

    def _elsewhere(self, concept: str, own: str, site: str) -> tuple[str, str]:
        """A tumor whose name only implies an organ, where the fact says another: its morphology alone ("infiltrating
        duct carcinoma" of the pancreas), and no site of its own."""
        if not self._pieces.may_be_primary(site):
            return concept, own
        above = [one for one in self._concepts.above(concept) if not self._concepts.get(one).site]
        bare = [one for one in above if self._concepts.is_a(one, "malignant_neoplasm")]
        deepest = max(bare, key=lambda one: (len(self._concepts.above(one)), one), default="")
        return (deepest, "") if deepest else (concept, own)

    def _operation(self, concept: str, site: str) -> str:
        """The operation that has a name of its own at a site ("wide local excision" of the breast); else itself."""
        name = self._concepts.name(concept) if concept else ""
        for above in sorted(self._concepts.above(site), key=lambda one: -len(self._concepts.above(one))):
            organ = self._concepts.name(above)
            for text in (f"{name} of {organ}", f"{organ} {name}"):
                found = self._concepts.lookup(text, kinds=("procedure",))
                if found:
                    return found[0]
        return concept
