"""Markers and variants of an abstraction: what the text of a fact states, and what its attributes state instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import TESTS
from ...kb.model import Mention, Note, Value
from ..recognizers.molecular import MolecularRecognizer
from ..text.frame import Frame
from .pieces import PieceReader
from .records import AbstractedFact
from .structure import BLOOD, IN_BLOOD, KINDS, PLAINLY_POSITIVE, in_full

#: Attributes that the text of a molecular finding may state, by the key of an abstraction that states it.
_STATED_BY: Final[Mapping[str, frozenset[str]]] = {
    "alteration": frozenset({"alteration", "effect", "exon", "exons"}),
    "protein_change": frozenset({"protein", "codon", "effect", "cdna"}),
    "exon": frozenset({"exon", "exons"}),
    "origin": frozenset({"origin"}),
    "result": frozenset({"significance"}),
}
_MEASURED: Final = frozenset({"percent", "value", "score"})
#: Results that point the same way do not disagree, whatever words tell them.
_SIGNS: Final = (("result_positive", "abnormal_expression"), ("result_negative", "normal_expression"))
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


class MolecularReader:
    """Reads facts about markers and genes."""

    def __init__(self, pieces: PieceReader) -> None:
        self._pieces = pieces
        self._concepts = pieces.concepts
        self._molecular = MolecularRecognizer()

    def findings(self, fact: AbstractedFact) -> list[Mention]:
        """What :meth:`_findings` reads of the fact with its shorthand written out."""
        return self._findings(
            replace(fact, concept=in_full(fact.kind, fact.concept), value=in_full(fact.kind, fact.value))
        )

    def _findings(self, fact: AbstractedFact) -> list[Mention]:
        """Markers and variants: of the gene that the attribute names, else of those that the concept names.

        What the value says again of the same marker, or where the concept names none with a result, is its finding.
        """
        wanted = KINDS[fact.kind]
        gene = self._gene(fact.attributes.get("gene", ""))
        found = [mention for mention in self._pieces.mentions(fact.text) if mention.kind in wanted]
        own = [mention for mention in found if mention.start < max(1, len(fact.concept))]
        if gene:
            about = [mention for mention in own or found if self._concerns(mention, gene)]
            own = about or [mention for mention in own if fact.kind != "genomic_variant"]
        if not own and fact.kind == "genomic_variant":
            own = self._from_attributes(fact, gene)
        if not own:
            lead = fact.attributes.get("gene") or fact.concept
            result = fact.attributes.get("result") or fact.value
            own = [mention for mention in self._pieces.mentions(f"{lead} {result}") if mention.kind in wanted]
        if not own:
            own = [mention for mention in found if not gene] or self._bare_marker(fact, wanted)
        things = set(map(_thing, own))
        joined = _joined([*own, *(mention for mention in found if _thing(mention) in things)])
        if fact.kind == "biomarker" and "result" not in fact.attributes and not any(map(_has_result, joined)):
            joined = self._stated_elsewhere(fact, joined, [mention for mention in found if _has_result(mention)])
        named = [self._by_name(fact, mention) for mention in joined]
        # Where one of several results of a marker (by stain, by hybridisation) is the attribute's, none contradicts it.
        agreed = {_thing(mention) for mention in named if self._is_as_written(fact, mention)}
        stated = [self._of_blood(fact, self._with_result(fact, one, keep=_thing(one) in agreed)) for one in named]
        return stated + self._plainly_positive(fact, stated)

    def _by_name(self, fact: AbstractedFact, mention: Mention) -> Mention:
        """The marker with what its value says right behind its name: other words of the concept may part the two."""
        if mention.kind != "biomarker" or not fact.value or self._names_markers(fact.value):
            return mention
        name = self._concepts.name(mention.concept)
        same = [one for one in self._pieces.mentions(f"{name}: {fact.value}") if _thing(one) == _thing(mention)]
        method = mention.attributes.get("method")
        stated = [one for one in same if _has_result(one) and method in (None, one.attributes.get("method", method))]
        return replace(mention, attributes={**mention.attributes, **stated[0].attributes}) if stated else mention

    def _names_markers(self, text: str) -> bool:
        return any(name.kind in ("biomarker", "gene") for name in self._pieces.names(text))

    @staticmethod
    def _plainly_positive(fact: AbstractedFact, stated: Sequence[Mention]) -> list[Mention]:
        """A test of a gene whose value is the word positive is, beside its variant, such a result."""
        if fact.kind != "genomic_variant" or fact.assertion != "present" or not PLAINLY_POSITIVE.match(fact.value):
            return []
        return [
            replace(mention, kind="biomarker", attributes={"result": "positive", "gene": mention.concept})
            for mention in stated[:1]
            if mention.kind == "variant"
        ]

    def _stated_elsewhere(self, fact: AbstractedFact, named: list[Mention], found: Sequence[Mention]) -> list[Mention]:
        """Findings for a marker that is named without a result: those of its value, else of the words it is from."""
        if found:
            return _joined(found)
        things = {_thing(mention) for mention in named}
        quoted = [mention for mention in self._pieces.mentions(fact.evidence) if _thing(mention) in things]
        stated = [mention for mention in quoted if _has_result(mention)]
        return _joined([*named, *stated]) if stated else named

    def _of_blood(self, fact: AbstractedFact, mention: Mention) -> Mention:
        """The finding, as the marker that it is when it was measured in blood."""
        other = IN_BLOOD.get(mention.concept, "")
        said = f"{fact.text} {fact.attributes.get('site', '')}".casefold()
        return replace(mention, concept=other) if other and any(word in said for word in BLOOD) else mention

    def _bare_marker(self, fact: AbstractedFact, wanted: Sequence[str]) -> list[Mention]:
        """A marker that the text names without a result (a cytogenetic change), or a gene without any change."""
        kinds = {"biomarker": "biomarker", "gene": "variant"}
        for name in self._pieces.names(fact.text):
            kind = kinds.get(name.kind, "")
            if kind in wanted:
                text = fact.text[name.start : name.end]
                return [Mention("", name.start, name.end, text, kind, "", name.concept, source=name.source)]
        # A short form, which in a note would need words around it.
        for concept in self._concepts.lookup(fact.concept, kinds=tuple(kinds)):
            kind = kinds[self._concepts.kind(concept)]
            if kind in wanted:
                return [Mention("", 0, len(fact.concept), fact.concept, kind, "", concept, source="lexicon")]
        return []

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
            genes = [span for span in self._pieces.names(fact.text) if span.kind == "gene"]
            if not genes:
                return []
            gene = genes[0].concept
        attributes = self.details(fact.text)
        attributes.pop("percent", None)
        return [Mention("", 0, len(fact.text), fact.text, "variant", "", gene, attributes, source="attributes")]

    def details(self, text: str) -> dict[str, Value]:
        """What the words and notations of a text tell of a variant, the first of each winning."""
        details: dict[str, Value] = {}
        for span in sorted(self._molecular.find(Frame(Note("", "", text))), key=lambda span: -span.priority):
            for name, value in span.attributes.items():
                if name != "plus":
                    details.setdefault(name, value)
        return details

    def _is_as_written(self, fact: AbstractedFact, mention: Mention) -> bool:
        """Whether the text's result of a marker is that of the attribute, or a closer one."""
        result = self.value(mention, fact.attributes.get("result", ""))
        return bool(result) and self._agrees(mention.attributes.get("result"), result)

    def _with_result(self, fact: AbstractedFact, mention: Mention, *, keep: bool) -> Mention:
        """The finding as its attributes say: they win over the text, unless that says the same more closely."""
        attributes = dict(mention.attributes)
        written = fact.attributes
        if mention.kind == "variant":
            for key, stated in _STATED_BY.items():
                if key in written:
                    text = f"exon {written[key]}" if key == "exon" else written[key]
                    details = {name: value for name, value in self.details(text).items() if name in stated}
                    if key == "alteration" and details.get("alteration") == "deletion":
                        # Deletion is also the kind of a mutation within a named exon, as the text may have it.
                        details.pop("alteration", None) if "exon" in attributes or "protein" in attributes else None
                    attributes.update(details)
            attributes.setdefault("alteration", "mutation" if {"protein", "cdna", "exon"} & attributes.keys() else "")
            attributes = {name: value for name, value in attributes.items() if value != ""}
        elif "result" in written:
            result = self.value(mention, written["result"])
            if result and not keep:
                attributes["result"] = result
        elif "result" not in attributes and fact.kind == "genomic_variant" and not attributes.keys() & _MEASURED:
            # A cytogenetic change is found or not; its fact need not say so again.
            attributes["result"] = "negative" if fact.assertion == "absent" else "positive"
        percent = _NUMBER.search(written.get("percent", ""))
        if percent:
            attributes["percent"] = float(percent.group())
        return replace(mention, attributes=attributes)

    def value(self, mention: Mention, text: str) -> str:
        """The result that a text means for this marker; empty if it means none."""
        if not text:
            return ""
        name = self._concepts.name(mention.concept)
        for found in self._pieces.mentions(f"{name}: {text}"):
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


def _thing(mention: Mention) -> tuple[str, str, Value | None]:
    """What a finding is of."""
    return mention.kind, mention.concept, mention.attributes.get("partner")


def _has_result(mention: Mention) -> bool:
    """Whether a finding says what was found."""
    return mention.kind not in TESTS or bool({"result", *_MEASURED} & mention.attributes.keys())


def _joined(found: Iterable[Mention]) -> list[Mention]:
    """One mention for each thing and method: what several say of it is joined, the first of each attribute winning.

    A mention without a finding only adds what it says of the others.
    """
    groups: dict[tuple[str, str, Value | None], list[Mention]] = {}
    for mention in found:
        groups.setdefault(_thing(mention), []).append(mention)
    joined: list[Mention] = []
    for group in groups.values():
        with_result = [mention for mention in group if _has_result(mention)] or group
        silent = [mention for mention in group if mention not in with_result]
        by_method: dict[Value | None, Mention] = {}
        for mention in with_result:
            method = mention.attributes.get("method") if mention.kind == "biomarker" else None
            first = by_method.get(method)
            by_method[method] = mention if first is None else _filled(first, mention)
        if None in by_method and len(by_method) > 1:
            # What names no method says no more than what does.
            unnamed = by_method.pop(None)
            first_method = next(iter(by_method))
            by_method[first_method] = _filled(by_method[first_method], unnamed)
        for mention in by_method.values():
            for other in silent:
                mention = _filled(mention, other) if len(by_method) == 1 else mention
            joined.append(mention)
    return joined


def _filled(mention: Mention, other: Mention) -> Mention:
    """The mention with what another adds."""
    return replace(mention, attributes={**other.attributes, **mention.attributes})
