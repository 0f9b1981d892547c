"""Reads the free text of one abstracted fact with the lexicon and the patterns of the notes, attributes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.model import Context, DayInterval, Mention, Note, Polarity, Temporality, Value
from ..document import NoteReader
from ..frame import Frame, Span
from ..recognizers.molecular import MolecularRecognizer
from ..statements import statement
from .records import AbstractedFact
from .structure import ASSERTIONS, DEFAULTS, IMPLIED, KINDS, LEADS, in_full, leaves_open, reason_of, standing_of

_MOLECULAR: Final = frozenset({"biomarker", "genomic_variant", "lab"})
_TREATMENTS: Final = frozenset({"medication", "regimen", "radiation", "surgery", "procedure", "clinical_trial"})
_SIDES: Final = ("left", "right", "bilateral")
#: A prefix of a TNM category that is written into it (``cN0``).
_PREFIXED: Final = re.compile(r"(?:yp|yc|rp|[cpra])?[TNM]")
#: Attributes that the text of a molecular finding may tell, by the key of an abstraction that tells it.
_MOLECULAR_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "alteration": frozenset({"alteration", "effect", "exon", "exons"}),
    "protein_change": frozenset({"protein", "codon", "effect", "cdna"}),
    "exon": frozenset({"exon", "exons"}),
    "origin": frozenset({"origin"}),
    "result": frozenset({"significance"}),
}
_MEASURED: Final = frozenset({"percent", "value", "score"})
#: Results that point the same way do not disagree, whatever words tell them.
_SIGNS: Final = (("result_positive", "abnormal_expression"), ("result_negative", "normal_expression"))
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact says that it lies: a site concept and a side, each empty when it does not say."""

    site: str = ""
    side: str = ""


@dataclass(frozen=True, slots=True)
class ReadFact:
    """What a fact became: its mentions, as spans of ``text``; ``resolved`` is yes, kind (only its kind is known) or no.

    ``tumor`` is the tumor that it names beside what it says ("stage of the cholangiocarcinoma"), a concept or empty;
    ``sentence_tumors`` are those that the words name from which it was taken.
    """

    fact: AbstractedFact
    text: str
    mentions: tuple[Mention, ...]
    resolved: str
    place: Place = Place()
    tumor: str = ""
    sentence_tumors: tuple[str, ...] = ()


class FactReader:
    """Reads facts with one ontology; build once."""

    def __init__(self, reader: NoteReader) -> None:
        self._reader = reader
        self._concepts = reader.concepts
        self._molecular = MolecularRecognizer()

    def read(self, patient_id: str, fact: AbstractedFact) -> ReadFact:
        """The fact as mentions of a line of its own."""
        place = self._place(fact)
        tumor = self._tumor_named(fact)
        found = self._molecular_findings(fact) if fact.kind in _MOLECULAR else self._findings(fact)
        resolved = "yes"
        if not found:
            found, resolved = self._by_default(fact, place), "kind"
        if not found:
            resolved = "no"
        line = _line(fact)
        note = Note(patient_id, f"fact {fact.number}", line, type="abstraction", title=fact.kind.replace("_", " "))
        placed = [self._placed(fact, mention, place) for mention in found]
        mentions = {
            mention.mention_id: mention
            for mention in (self._settled(fact, mention, note) for mention in placed)
        }
        told = dict.fromkeys(
            mention.concept
            for mention in self._read(fact.evidence)
            if mention.kind == "diagnosis" and mention.context.really_happened
        )
        return ReadFact(fact, line, tuple(mentions.values()), resolved, place, tumor, tuple(told))

    # --- what the text names ----------------------------------------------------------------------------------------

    def _read(self, text: str) -> list[Mention]:
        """The mentions of a piece of text, by their place in it."""
        return list(self._reader.read(Note("", "", text)).mentions) if text else []

    def _findings(self, fact: AbstractedFact) -> list[Mention]:
        """The first piece of the text that names something of the fact's kind; attributes from all of it."""
        wanted = KINDS[fact.kind]
        named = self._named(fact, wanted)
        if named:
            return named
        lead = LEADS.get(fact.kind, "")
        whole = in_full(fact.kind, fact.text)
        # A state is told in any of its words; what else a value holds is beside the point of its fact.
        concept = "" if fact.kind == "disease_state" else in_full(fact.kind, fact.concept)
        pieces = (
            *self._pieces_of_attributes(fact),
            concept,
            whole,
            f"{lead} {fact.value}" if lead and fact.value else "",
            f"{lead} {fact.concept}" if lead and fact.concept else "",
        )
        for piece in pieces:
            found = [mention for mention in self._read(piece) if mention.kind in wanted]
            if fact.kind == "disease_state":
                found = [mention for mention in found if mention.context.polarity is Polarity.PRESENT] or found
            if found:
                break
        else:
            return []
        found = _without_lesser(found, wanted)
        return found if piece == whole else _enriched(found, self._read(whole))

    def _named(self, fact: AbstractedFact, wanted: Sequence[str]) -> list[Mention]:
        """What a diagnosis or histology names, in the order in which it is written or with its head put last.

        Registries write "Carcinoma, squamous cell, NOS" for squamous cell carcinoma.
        """
        if fact.kind not in ("diagnosis", "histology"):
            return []
        text = in_full(fact.kind, fact.concept)
        best: list[Mention] = []
        for piece in (text, *_inverted(text)):
            found = [mention for mention in self._read(piece) if mention.kind in wanted]
            # What the name itself denies ("too small for a diagnosis of carcinoma") is not what it names.
            found = [mention for mention in found if mention.context.polarity is Polarity.PRESENT] or found
            if self._closeness(found) > self._closeness(best):
                best = found
        return self._refined(fact, best) if best else []

    def _closeness(self, found: Iterable[Mention]) -> int:
        """How much the names found say: the deepest tumor among them."""
        return max(
            (len(self._concepts.above(mention.concept)) for mention in found if mention.concept in self._concepts),
            default=0,
        )

    @staticmethod
    def _pieces_of_attributes(fact: AbstractedFact) -> Iterable[str]:
        """Attributes that make a finding by themselves, written as a note would write them."""
        attributes = fact.attributes
        if fact.kind == "tnm":
            prefix = attributes.get("prefix", "")
            parts = []
            for key in ("t", "n", "m"):
                written = attributes.get(key, "")
                if written:
                    written = written if _PREFIXED.match(written) else f"{key.upper()}{written}"
                    # M is hardly ever pathological, and a category may bear a prefix of its own.
                    own = written[0] in "TNM" and prefix and not (key == "m" and prefix.startswith("y"))
                    parts.append(f"{prefix}{written}" if own else written)
            if parts:
                yield " ".join(parts)
        elif fact.kind == "performance_status":
            yield f"{attributes.get('scale') or fact.concept} {fact.value}"
        elif fact.kind == "grade" and "grade" in attributes:
            grade = attributes["grade"]
            for name in (attributes.get("scale", ""), fact.concept):
                if name:
                    yield f"{name} {grade}"
                    yield f"{name} grade {grade}"
            yield f"grade {grade}"
        elif fact.kind == "lymph_node" and {"positive", "examined"} <= attributes.keys():
            yield f"{fact.concept or 'lymph nodes'}: {attributes['positive']}/{attributes['examined']}"

    def _refined(self, fact: AbstractedFact, found: list[Mention]) -> list[Mention]:
        """A tumor as its value names it more closely ("breast cancer": "invasive ductal"), and its grade."""
        value = in_full(fact.kind, fact.value)
        first = next((mention for mention in self._read(value) if mention.kind == "diagnosis"), None)
        found = _without_lesser(_enriched(found, self._read(in_full(fact.kind, fact.text))), KINDS[fact.kind])
        refined = []
        for mention in found:
            site = str(mention.attributes.get("site", ""))
            if first is not None and mention.kind == "diagnosis" and first.start <= 2:
                closer = self._compose(first.concept, site)
                part = statement("component").search(value)
                if not part and closer != mention.concept and self._concepts.is_a(closer, mention.concept):
                    mention = replace(mention, concept=closer)
            refined.append(mention)
        if any(mention.kind == "diagnosis" for mention in found):
            text = f"grade {grade}" if (grade := fact.attributes.get("grade")) else fact.text
            refined += [mention for mention in self._read(text) if mention.kind == "grade"]
        return refined

    def _by_default(self, fact: AbstractedFact, place: Place) -> list[Mention]:
        """What a fact is by its kind alone; a metastasis is at the site of its attribute."""
        kind, concept = DEFAULTS.get(fact.kind, ("", ""))
        if not kind:
            return []
        attributes: dict[str, Value] = {}
        if fact.kind == "metastasis":
            concept = place.site
        elif fact.kind == "biomarker":
            # The marker is none that the ontology has; what was found of it is as if it were any.
            marker = Mention("", 0, 0, "", kind, "", concept)
            result = self._value(marker, fact.value) or self._value(marker, fact.attributes.get("result", ""))
            if not result:
                return []
            attributes["result"] = result
        return [Mention("", 0, len(fact.text), fact.text, kind, "", concept, attributes, source="kind")]

    # --- molecular findings -----------------------------------------------------------------------------------------

    def _molecular_findings(self, fact: AbstractedFact) -> list[Mention]:
        """Markers and variants: of the gene that the attribute names, else of those that the concept names."""
        wanted = KINDS[fact.kind]
        gene = self._gene(fact.attributes.get("gene", ""))
        text = fact.text
        found = [mention for mention in self._read(text) if mention.kind in wanted]
        own = [mention for mention in found if mention.start < max(1, len(fact.concept))]
        if gene:
            about = [mention for mention in own or found if self._concerns(mention, gene)]
            own = about or [mention for mention in own if fact.kind != "genomic_variant"]
        if not own and fact.kind == "genomic_variant":
            own = self._from_attributes(fact, gene)
        if not own:
            lead = fact.attributes.get("gene") or fact.concept
            result = fact.attributes.get("result") or fact.value
            own = [mention for mention in self._read(f"{lead} {result}") if mention.kind in wanted]
        if not own:
            own = [mention for mention in found if not gene][:1]
        return [self._with_result(fact, mention) for mention in _joined(own)]

    def _concerns(self, mention: Mention, gene: str) -> bool:
        """Whether the finding is of the gene, its product, its family, or a fusion with it."""
        names = {mention.concept, mention.attributes.get("gene"), mention.attributes.get("partner")}
        if gene in names:
            return True
        if any(str(name) in self._concepts and self._concepts.is_a(str(name), gene) for name in names if name):
            return True
        symbol = self._concepts.name(gene).casefold()
        return mention.kind != "variant" and self._gene(self._concepts.name(mention.concept)).casefold() == symbol

    def _gene(self, text: str) -> str:
        """The gene (or family of genes) of this name; empty if it is none."""
        found = self._concepts.lookup(text, kinds=("gene",)) if text else ()
        return found[0] if found else ""

    def _from_attributes(self, fact: AbstractedFact, gene: str) -> list[Mention]:
        """A variant that only the attributes tell, or none where they name no gene."""
        if not gene:
            genes = [span for span in self._spans(fact.text) if span.kind == "gene"]
            if not genes:
                return []
            gene = genes[0].concept
        attributes = self._details(fact.text)
        attributes.pop("percent", None)
        return [Mention("", 0, len(fact.text), fact.text, "variant", "", gene, attributes, source="attributes")]

    def _details(self, text: str) -> dict[str, Value]:
        """What the words and notations of a text tell of a variant, the first of each winning."""
        details: dict[str, Value] = {}
        for span in sorted(self._molecular.find(Frame(Note("", "", text))), key=lambda span: (-span.priority)):
            for name, value in span.attributes.items():
                if name != "plus":
                    details.setdefault(name, value)
        return details

    def _with_result(self, fact: AbstractedFact, mention: Mention) -> Mention:
        """The finding with what the attributes say: they win over the text, unless it only says the same more closely."""
        attributes = dict(mention.attributes)
        written = fact.attributes
        if mention.kind == "variant":
            for key, told in _MOLECULAR_KEYS.items():
                if key in written:
                    text = f"exon {written[key]}" if key == "exon" else written[key]
                    details = {name: value for name, value in self._details(text).items() if name in told}
                    if key == "alteration" and details.get("alteration") == "deletion":
                        # Deletion is also the kind of a mutation within a named exon, as the text may have it.
                        details.pop("alteration", None) if "exon" in attributes or "protein" in attributes else None
                    attributes.update(details)
            attributes.setdefault("alteration", "mutation" if {"protein", "cdna", "exon"} & attributes.keys() else "")
            attributes = {name: value for name, value in attributes.items() if value != ""}
        elif "result" in written:
            result = self._value(mention, written["result"])
            if result and not self._agrees(attributes.get("result"), result):
                attributes["result"] = result
        elif "result" not in attributes and fact.kind == "genomic_variant" and not attributes.keys() & _MEASURED:
            # A cytogenetic change is found or not; its fact need not say so again.
            attributes["result"] = "negative" if fact.assertion == "absent" else "positive"
        percent = _NUMBER.search(written.get("percent", ""))
        if percent and "percent" not in attributes:
            attributes["percent"] = float(percent.group())
        return replace(mention, attributes=attributes)

    def _value(self, mention: Mention, text: str) -> str:
        """The result that a text means for this marker; empty if it means none."""
        if not text:
            return ""
        name = self._concepts.name(mention.concept)
        for found in self._read(f"{name}: {text}"):
            if found.concept == mention.concept and "result" in found.attributes:
                return str(found.attributes["result"])
        named = self._concepts.lookup(text, kinds=("value",))
        return named[0] if named else ""

    def _agrees(self, closer: Value | None, result: str) -> bool:
        """Whether the text's own result is the attribute's, a kind of it, or one that points the same way."""
        if not isinstance(closer, str) or closer not in self._concepts:
            return False
        is_a = self._concepts.is_a
        return is_a(closer, result) or any(
            any(is_a(closer, sign) for sign in signs) and any(is_a(result, sign) for sign in signs) for signs in _SIGNS
        )

    # --- place ------------------------------------------------------------------------------------------------------

    def _spans(self, text: str) -> list[Span]:
        """The names of the ontology that a text holds."""
        return list(self._reader.lexicon.find(Frame(Note("", "", text)))) if text else []

    def _place(self, fact: AbstractedFact) -> Place:
        """Site and side of the attributes, else of the concept, else of the value."""
        written = fact.attributes
        site = next((span.concept for span in self._spans(written.get("site", "")) if span.kind == "site"), "")
        side = written.get("laterality", "").casefold()
        texts = (written.get("site", ""), fact.concept, fact.value)
        if not site and fact.kind != "metastasis":
            named = [span for text in texts[1:] for span in self._spans(text) if span.kind == "site"]
            site = named[0].concept if named else ""
        if side not in _SIDES:
            side = self.side_of(site) or next(
                (found for text in texts if (found := self._reader.side(text))), ""
            )
        return Place(site, side)

    def side_of(self, site: str) -> str:
        """The side that a site lies on by its own name (right upper lobe); empty if it has none."""
        for above in self._concepts.above(site) if site in self._concepts else ():
            side, _, organ = above.partition("_")
            if side in ("left", "right") and organ in self._concepts:
                return side
        return ""

    def _tumor_named(self, fact: AbstractedFact) -> str:
        """The tumor that the words of a finding name beside it."""
        if fact.kind in ("diagnosis", "histology", "comorbidity"):
            return ""
        named = (span for text in (fact.concept, fact.value) for span in self._spans(text) if span.kind == "diagnosis")
        return next((span.concept for span in named), "")

    def _compose(self, morphology: str, site: str) -> str:
        return self._reader.compose(morphology, site) if site else morphology

    def _placed(self, fact: AbstractedFact, mention: Mention, place: Place) -> Mention:
        """The mention at the place that the fact tells; a morphology at a site becomes the tumor that both mean."""
        attributes, concept = dict(mention.attributes), mention.concept
        if place.side and mention.kind not in ("biomarker", "variant", "performance", "state"):
            attributes["laterality"] = place.side
        if mention.kind == "diagnosis" and concept in self._concepts:
            own = self._concepts.get(concept).site
            if place.site and own and concept in IMPLIED and not self._named_place(fact, own):
                concept, own = self._elsewhere(concept, own, place.site)
            spread = "spread" in attributes or "spread_site" in attributes
            if place.site and not own and not spread and self._reader.may_be_primary(place.site):
                composed = self._compose(concept, place.site)
                if composed != concept:
                    attributes["morphology"], concept = concept, composed
                attributes["site"] = place.site
            elif place.site and own and self._concepts.is_a(place.site, own):
                attributes["site"] = place.site
        elif place.site and mention.kind in ("surgery", "radiation", "procedure", "variant", "biomarker", "grade"):
            attributes["site"] = place.site
            if mention.kind == "surgery":
                concept = self._operation(concept, place.site)
        elif mention.kind == "node" and self._reader.is_node(place.site):
            concept = place.site
        return replace(mention, attributes=attributes, concept=concept)

    def _named_place(self, fact: AbstractedFact, site: str) -> bool:
        """Whether the words of a fact name this site or one above or below it, and not only imply it."""
        is_a = self._concepts.is_a
        return any(
            span.kind == "site" and (is_a(span.concept, site) or is_a(site, span.concept))
            for span in self._spans(f"{fact.concept} {fact.attributes.get('site', '')}")
        ) or self._concepts.name(site).casefold() in fact.concept.casefold()

    def _elsewhere(self, concept: str, own: str, site: str) -> tuple[str, str]:
        """A tumor whose name only implies an organ, where the fact says another: its morphology alone ("infiltrating
        duct carcinoma" of the pancreas), and no site of its own."""
        if not self._reader.may_be_primary(site):
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

    # --- context and day --------------------------------------------------------------------------------------------

    def _settled(self, fact: AbstractedFact, mention: Mention, note: Note) -> Mention:
        """The mention as a part of the fact's own line, with the context and the day that the abstraction gives."""
        start, end = 0, len(fact.text) or len(note.text)
        at = note.text.find(mention.text) if mention.text else -1
        if 0 <= at <= end:
            start, end = at, at + len(mention.text)
        return replace(
            mention,
            note_id=note.note_id,
            start=start,
            end=end,
            text=note.text[start:end],
            context=self._context(fact, mention),
            day=fact.day or DayInterval(),
            section="",
            sentence=(0, len(fact.text) or len(note.text)),
            cues=(),
        )

    def _context(self, fact: AbstractedFact, mention: Mention) -> Context:
        context = ASSERTIONS[fact.assertion]
        written = fact.attributes
        status = " ".join(filter(None, (written.get("status"), written.get("reason"), written.get("result"))))
        if fact.assertion == "uncertain" and mention.attributes.get("significance") == "vus":
            # A variant of uncertain significance was found for certain.
            return replace(context, polarity=Polarity.PRESENT)
        if context.really_happened and mention.kind == "diagnosis" and statement("component").search(fact.concept):
            # A component does not name the tumor, unless it is one in situ, which stands for itself.
            if not self._concepts.is_a(mention.concept, "in_situ_neoplasm"):
                return replace(context, polarity=Polarity.UNCERTAIN)
        if context.really_happened and fact.kind in _TREATMENTS and leaves_open(fact.text):
            return replace(context, polarity=Polarity.UNCERTAIN)
        if context.really_happened:
            standing = standing_of(written.get("status", "")) if fact.kind in _TREATMENTS else ""
            if standing == "planned":
                return replace(context, temporality=Temporality.PLANNED)
            if standing == "absent" or self._denied(fact, mention):
                context = replace(context, polarity=Polarity.ABSENT)
            elif fact.end is not None:
                context = replace(context, temporality=Temporality.HISTORICAL)
        if context.polarity is Polarity.ABSENT:
            reason = reason_of(status) if status else "none"
            if reason == "none" and fact.kind in _TREATMENTS:
                reason = reason_of(fact.value)
            return replace(context, reason=reason)
        if fact.kind in _TREATMENTS and context.really_happened:
            reason = reason_of(written.get("status", ""))
            return replace(context, reason=reason if reason in ("discontinued", "completed", "held") else "none")
        return context

    def _denied(self, fact: AbstractedFact, mention: Mention) -> bool:
        """Whether a fact that is said to be so is itself a denial ("no metastases", "variant not detected")."""
        if mention.kind == "variant":
            result = self._details(fact.attributes.get("result", ""))
            named = self._concepts.lookup(fact.attributes.get("result", ""), kinds=("value",))
            negative = bool(named) and self._concepts.is_a(named[0], "result_negative") and not result
            return mention.context.polarity is Polarity.ABSENT or (
                negative and mention.attributes.get("alteration") != "copy_gain"
            )
        if mention.kind in ("biomarker", "lab", "node", "performance", "tnm", "stage"):
            return mention.kind == "node" and mention.context.polarity is Polarity.ABSENT
        return any(
            other.context.polarity is Polarity.ABSENT and (other.kind, other.concept) == (mention.kind, mention.concept)
            for other in self._read(fact.concept)
        )


def _line(fact: AbstractedFact) -> str:
    """The fact as the note that it becomes: its text, its attributes, and the words that it was taken from."""
    told = "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in fact.attributes.items())
    line = fact.text + (f" ({told})" if told else "")
    if fact.assertion != "present":
        line += f" [{fact.assertion}]"
    if fact.evidence:
        line += f"\n{fact.evidence}" + (f" ({', '.join(fact.docs)})" if fact.docs else "")
    return line


def _inverted(text: str) -> Iterable[str]:
    """A name whose head comes first with the head put last, by the first modifier and by each alone."""
    head, *modifiers = [part.strip() for part in _BRACKETS.sub("", text).split(",")]
    for modifier in modifiers:
        if modifier and len(modifier.split()) <= 4:
            yield f"{modifier} {head}"


def _without_lesser(found: list[Mention], wanted: Sequence[str]) -> list[Mention]:
    """Where the usual kind of the fact is among them, the kinds that are only its substitutes give way."""
    substitutes = {"symptom", "adverse_event", "comorbidity", "procedure", "medication"}
    main = [mention for mention in found if mention.kind == wanted[0]]
    return [mention for mention in found if mention.kind not in substitutes or mention in main] if main else found


def _enriched(found: Iterable[Mention], whole: Sequence[Mention]) -> list[Mention]:
    """Mentions with the attributes that the whole text gives to the same thing."""
    enriched = []
    for mention in found:
        same = next((one for one in whole if (one.kind, one.concept) == (mention.kind, mention.concept)), None)
        attributes = {**same.attributes, **mention.attributes} if same else mention.attributes
        enriched.append(replace(mention, attributes=attributes))
    return enriched


def _joined(found: Iterable[Mention]) -> list[Mention]:
    """One mention for each thing: what several say of one marker is joined, the first of each attribute winning."""
    joined: dict[tuple[str, str, Value | None], Mention] = {}
    for mention in found:
        key = (mention.kind, mention.concept, mention.attributes.get("partner"))
        if key in joined:
            first = joined[key]
            joined[key] = replace(first, attributes={**mention.attributes, **first.attributes})
        else:
            joined[key] = mention
    return list(joined.values())
