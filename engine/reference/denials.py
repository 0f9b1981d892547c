"""Which denials answer a question for one: *no evidence of X* wants a denial of X, or of something wider.

A denial denies what it names and all below it, never what lies above: *no cancer* denies lung cancer, *no lung cancer*
leaves other cancers open. So does what it says besides: *no pain in the abdomen* leaves pain elsewhere open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...kb.kinds import KIND_TABLE, Denial
from ...kb.model import Event, Value
from ...kb.ontology.concepts import ConceptTable
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from ...query_lang.tree import attributes_of


@dataclass(frozen=True, slots=True)
class Denials:
    """Judges denials under an ontology. ``is_value`` tells whether a value of an attribute is what a term asks for,
    ``satisfies`` whether an event is as a condition says."""

    concepts: ConceptTable
    is_value: Callable[[str, Value, nodes.Term], bool]
    satisfies: Callable[[nodes.Condition, Event], bool]

    def denies(self, asked: nodes.Events, event: Event) -> bool:
        """Whether the event, which is a denial, denies all that is ``asked`` to be denied."""
        return self.names(asked, event) and self.leaves_nothing_out(asked, event)

    def names(self, asked: nodes.Events, event: Event) -> bool:
        """Whether the concept of the event is each of those asked for, or lies above it, or stands for the whole kind.

        A root of the ontology (*condition*, *gene*) names no more than the sort of a concept: to deny it says nothing
        of what lies below, unless the kind of event is what it names.
        """
        if asked.kind is not None and (event.kind, event.concept) in KIND_TABLE[asked.kind].denial.whole:
            return True
        if asked.kind not in (None, event.kind) or asked.concept is None:
            return False
        return all(self._is_or_covers(event.concept, wanted) for wanted in named(asked.concept))

    def _is_or_covers(self, denied: str, wanted: str) -> bool:
        if denied == wanted:
            return True
        return denied in self.concepts.at_or_above(wanted) and bool(self.concepts.parents(denied))

    # --- what a denial says besides its concept ---------------------------------------------------------------------

    def leaves_nothing_out(self, asked: nodes.Events, event: Event) -> bool:
        """Whether nothing that the event says besides its concept is narrower than what is asked, nor other.

        What a denial does not say leaves nothing out: *no pain* denies pain in the abdomen.
        """
        return not any(self.left_out(asked, event)) and self._holds(asked.condition, event) is not False

    def left_out(self, asked: nodes.Events, event: Event) -> Iterator[str]:
        """The attributes by which the event denies less than is asked."""
        denial = KIND_TABLE[event.kind].denial
        for name, value in event.attributes.items():
            if value != "" and name not in denial.beside and not self._is_asked(asked, event, name, value):
                yield name

    def _is_asked(self, asked: nodes.Events, event: Event, name: str, value: Value) -> bool:
        """Whether all that is asked has the value: by its condition, by its name, or by another value that fixes it."""
        denial = KIND_TABLE[event.kind].denial
        if self._implies(asked.condition, name, value) or self._is_in_the_name(asked.concept, value):
            return True
        if name == "site" and self._is_of_the_side(asked, event, value):
            return True
        if denial.unspecific.get(name) == value and name not in attributes_of(asked.condition):
            return True
        return any(
            (fixing := event.attributes.get(other, "")) not in ("", denial.unspecific.get(other))
            and self._implies(asked.condition, other, fixing)
            for other in denial.settled_by.get(name, ())
        )

    def _is_of_the_side(self, asked: nodes.Events, event: Event, site: Value) -> bool:
        """Whether the site is the asked side of a place that is asked for: the left breast, of *breast cancer with
        laterality = left*."""
        side = event.attributes.get("laterality", "")
        if side == "" or site not in self.concepts or not self._implies(asked.condition, "laterality", side):
            return False
        return str(side) in self.concepts.name(str(site)).split() and any(
            self._is_in_the_name(asked.concept, whole) or self._implies(asked.condition, "site", whole)
            for whole in self.concepts.parents(str(site))
        )

    def _is_in_the_name(self, concept: nodes.ConceptExpression | None, value: Value) -> bool:
        """Whether the concepts asked for say so themselves: *left breast cancer* is of the breast, a *bilateral
        mastectomy* bilateral, a carcinoma a tumor."""
        return concept is not None and all(self._says(wanted, value) for wanted in named(concept))

    def _says(self, wanted: str, value: Value) -> bool:
        if not isinstance(value, str) or wanted not in self.concepts:
            return False
        above = self.concepts.above(wanted)
        sites = {self.concepts.get(one).site for one in above} - {""}
        if value in above or any(value in self.concepts.at_or_above(site) for site in sites):
            return True
        words = f" {self.concepts.name(value).casefold()} "
        # A number in a name is no grade or line.
        return not words.strip().isdigit() and any(
            words in f" {name.casefold()} " for one in above for name in self.concepts.names(one)
        )

    def _implies(self, condition: nodes.Condition | None, name: str, value: Value) -> bool:
        """Whether what is as the condition says has the value in this attribute, or one below it."""
        term: nodes.Term = nodes.Name(_text(value))
        if isinstance(value, str) and value in self.concepts:
            term = nodes.Concept(value, "")
        match condition:
            case nodes.AllOf(parts):
                return any(self._implies(part, name, value) for part in parts)
            case nodes.AnyOf(parts):
                return all(self._implies(part, name, value) for part in parts)
            case nodes.Is(attribute, terms) if attribute == name:
                return all(self.is_value(name, _value(one), term) for one in terms)
            case nodes.Compare(attribute, "=", bound) if attribute == name:
                return self.is_value(name, bound, term)
        return False

    def _holds(self, condition: nodes.Condition | None, event: Event) -> bool | None:
        """Whether the condition holds of what the denial says; None where it says nothing of that.

        What leaves something out of a denial (:meth:`left_out`) was looked at before, and decides nothing here.
        """
        match condition:
            case None:
                return True
            case nodes.AllOf(parts):
                return _least(self._holds(part, event) for part in parts)
            case nodes.AnyOf(parts):
                return _opposite(_least(_opposite(self._holds(part, event)) for part in parts))
            case nodes.NotThat(part):
                return _opposite(self._holds(part, event))
        if event.attributes.get(condition.attribute, "") == "" or not _is_beside(event, condition.attribute):
            return None
        return self.satisfies(condition, event)


def named(concept: nodes.ConceptExpression) -> Iterator[str]:
    """The concepts that an expression asks for, those that it takes away left out: a denial of *any cancer other than
    lung cancer* is one of cancer."""
    match concept:
        case nodes.Under(nodes.Concept(id)):
            yield id
        case nodes.Union(parts):
            for part in parts:
                yield from named(part)
        case nodes.OtherThan(base, _):
            yield from named(base)
        case _:
            raise QueryTreeError("a name is not resolved. Hint: resolve the query first")


def _is_beside(event: Event, attribute: str) -> bool:
    denial: Denial = KIND_TABLE[event.kind].denial
    return attribute in denial.beside


def _least(values: Iterator[bool | None]) -> bool | None:
    found = list(values)
    return False if False in found else None if None in found else True


def _opposite(value: bool | None) -> bool | None:
    return None if value is None else not value


def _text(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _value(term: nodes.Term) -> Value:
    return term.id if isinstance(term, nodes.Concept) else term.text
