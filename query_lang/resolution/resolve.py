"""The resolution of names: a parsed query becomes one over concept ids, or one error that tells all that is unknown."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from typing import Final

from ...kb.deadline import check
from ...kb.kinds import CONDITIONS, COURSES, KINDS, MEASURED, MOLECULAR, OPERATIONS, PROCEDURES, TESTS
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ..errors import QueryError
from ..nodes import (
    AgeAt,
    AllOf,
    And,
    AtLeast,
    Change,
    Clear,
    Compare,
    Concept,
    ConceptExpression,
    Condition,
    Day,
    Defined,
    Definition,
    Documented,
    Events,
    Exists,
    Is,
    Name,
    Node,
    Ongoing,
    Or,
    Ordered,
    OtherThan,
    PatientExpression,
    Query,
    QueryTreeError,
    Repeated,
    Sequence,
    StateAt,
    Total,
    Under,
    Union,
)
from ..parsing.habits import advised
from ..parsing.mistakes import hint_for_name
from ..parsing.not_held import misspelled_topic
from ..parsing.parameters import Parameters
from ..parsing.parse import Parsed, parse_with_places
from ..render import name_text
from ..terms import Term, term_called
from ..tree import attributes_of, map_parts, require_shallow
from ..vocabulary import KIND_WORDS, MEANT_BY_CONCEPT, kind_spelling
from .allergies import split_allergy
from .compounds import spelled_out, split_biomarker, split_place, split_side, split_spread, split_variant
from .conditions import BY_ID, ConditionResolver, concept_ids, either, named, shown
from .findings import SECTIONS, findings
from .meanings import (
    Meaning,
    bare_name,
    in_context,
    is_any,
    is_whole,
    meaning_of,
    narrowed,
    over_alternatives,
    recorded_term,
    renamed,
    sides_of,
)
from .now import Today, at_day
from .severity import severity_in, told
from .spread import hint_for_spread
from .states import ending
from .units import in_usual_units, of_measured
from .written_apart import hint_for_parts, respelled, without_article

_MOST_ERRORS: Final = 5
#: The kinds of concept that are named beside a value, and what tells that they are meant.
_MEASURED_CONCEPTS: Final = frozenset(KIND_WORDS[kind].named_by for kind in MEASURED)
_OF_VALUES: Final = frozenset({"value", "percent", "interpretation", "unit"})
#: Kinds of which a result may be written into the name, by signs ("ER+").
_TESTED: Final = TESTS | MOLECULAR
#: Kinds that are said of a part of the body.
_SAID_OF_PLACES: Final = CONDITIONS | OPERATIONS
#: Performance scales are known even to an ontology that lists none.
_PERFORMANCE: Final = {"ecog": "ECOG", "who": "ECOG", "zubrod": "ECOG", "kps": "KPS", "karnofsky": "KPS"}


@advised
def resolve_text(
    text: str,
    concepts: ConceptTable,
    scales: Scales,
    parameters: Parameters | None = None,
    definitions: tuple[Definition, ...] = (),
    today: Today | None = None,
) -> Query:
    """The resolved query that ``text`` spells. QueryError, with all that is wrong, if it spells none.

    ``parameters`` and ``definitions`` as for :func:`~..parsing.parse.parse`; definitions may be resolved already.
    ``today`` tells the day that *now* is.
    """
    parsed = parse_with_places(text, parameters, definitions)
    return resolve(parsed.query, concepts, scales, parsed, today)


def resolve(
    query: Query,
    concepts: ConceptTable,
    scales: Scales,
    parsed: Parsed | None = None,
    today: Today | None = None,
) -> Query:
    """``query`` with every concept name a :class:`Concept`, kinds inferred where one fits, and attributes checked.

    Values that are plain words or scale values (``laterality``, ``T2b``) stay names, in their recorded form.
    ``parsed`` gives the errors their places. Names may already be resolved: then they stay as they are. *Now* becomes
    the day that ``today`` tells. QueryError tells up to five problems at once.
    """
    of_day: list[QueryError] = []
    try:
        query = at_day(query, today)
    except QueryError as error:
        # Told with what else is wrong.
        of_day.append(error)
    resolver = _Resolver(concepts, scales, parsed)
    try:
        resolved = resolver.query(query)
    except _TooMany:
        resolved = query
    if resolver.errors or of_day:
        raise QueryError.of_several([*resolver.errors, *of_day])
    if resolved.definitions:
        # Without any, the parser has seen how deep it is.
        require_shallow(resolved)
    return resolved


def term_meant(written: Events, concepts: ConceptTable, scales: Scales) -> Meaning | None:
    """What a fact that has a name alone means where that is a clinical term; else None."""
    return _Resolver(concepts, scales, None, hints=False)._meant(written)


class _TooMany(Exception):
    """Enough errors have been found."""


class _Resolver:
    def __init__(
        self, concepts: ConceptTable, scales: Scales, parsed: Parsed | None, *, hints: bool = True, terms: bool = True
    ) -> None:
        """Without ``hints`` an unknown name is told without what may be meant: that takes longest. Without ``terms`` a
        name is what is recorded under it."""
        self._concepts = concepts
        self._scales = scales
        self._hints = hints
        self._parsed = parsed
        self._conditions = ConditionResolver(concepts, scales, self._report, self._can_be_asked)
        self._defined: list[str] = []
        self._terms = terms
        self._meanings: dict[str, Meaning | None] = {}
        #: What is recorded under a bare name.
        self._resolved: dict[Events, Events] = {}
        #: Name of a term -> its name in this query, and its definition.
        self._called: dict[str, str] = {}
        self._added: dict[str, Definition] = {}
        self._taken: frozenset[str] = frozenset()
        self._seen: set[tuple[str, str]] = set()
        self.errors: list[QueryError] = []

    def _report(self, message: str, words: str, hint: str, *, settled: bool = False) -> None:
        if (message, hint) in self._seen:
            return
        self._seen.add((message, hint))
        text = "" if self._parsed is None else self._parsed.text
        offset = None if self._parsed is None else self._parsed.places.get(words)
        self.errors.append(QueryError(message, text=text, offset=offset, hint=hint))
        self.errors[-1].settled = settled
        if len(self.errors) >= _MOST_ERRORS:
            raise _TooMany

    # --- patients -----------------------------------------------------------------------------------------------------

    def query(self, query: Query) -> Query:
        definitions = []
        self._taken = frozenset(definition.name.casefold() for definition in query.definitions)
        for definition in query.definitions:
            definitions.append(Definition(definition.name, self._patients(definition.body)))
            self._defined.append(definition.name)
        body = self._patients(query.body)
        return Query(body, (*self._added.values(), *definitions), query.as_of)

    def _patients(self, node: PatientExpression) -> PatientExpression:
        match node:
            case And(parts):
                return And(self._each(parts, " and "))
            case Or(parts):
                return Or(self._each(parts, " or "))
            case AtLeast(n, parts):
                return AtLeast(n, self._each(parts, ", "))
            case Defined(name):
                if name not in self._defined:
                    hint = f"defined before are {', '.join(self._defined)}" if self._defined else ""
                    self._report(f"'{shown(name)}' is not defined", name, hint)
                return node
            case Exists(events):
                return self._exists(events)
            case StateAt(events, day):
                return self._state_at(events, day)
            case Ongoing(events, day):
                return self._ongoing(events, day)
            case Ordered() | Sequence() | Clear() | AgeAt() | Repeated():
                return self._relation(node)
            case Change():
                return self._change(node)
            case Total(attribute, events):
                return dataclasses.replace(node, events=self._with_numbers(events, attribute))
        return map_parts(node, self._part)

    def _part(self, node: Node) -> Node:
        if isinstance(node, Events):
            return self._events(node)
        return self._patients(node) if isinstance(node, PatientExpression) else map_parts(node, self._part)

    # --- clinical terms -----------------------------------------------------------------------------------------------

    def _exists(self, events: Events) -> PatientExpression:
        """A fact, or the criterion that a term means: whole where nothing is said about its name."""
        meaning = self._meant(events)
        if meaning is not None and meaning.definitions and is_whole(events):
            return self._use(meaning)
        found = tuple(Exists(fact) for fact in self._alternatives(events, meaning))
        return found[0] if len(found) == 1 else Or(found)

    def _ongoing(self, events: Events, day: Day) -> PatientExpression:
        """A course that goes on; of a name that is a state's, the state at the day."""
        found = self._events(events)
        if found.kind == "state":
            if found.window is None:
                return self._state_at(events, day)
            self._report("a state at a day takes no other day beside it", bare_name(events), "join two with 'and'")
            return Exists(found)
        if found.kind is not None and found.kind not in COURSES:
            courses = ", ".join(kind for kind in KINDS if kind in COURSES)
            self._report(
                f"what goes on is a treatment or a state, and this is a {kind_spelling(found.kind)}", bare_name(events),
                f"'ongoing' stands before {courses} or state",
            )  # fmt: skip
            return Exists(found)
        return Ongoing(found, day)

    def _state_at(self, events: Events, day: Day) -> PatientExpression:
        """A state on a day, with those that end it."""
        found = self._recorded(events)
        ends = ending(found.concept, self._concepts) if found.concept is not None else None
        return StateAt(found, day, ends)

    def _change(self, node: Change) -> Change:
        """A change, by an amount in the usual unit of what is measured."""
        if node.events.kind is not None and node.attribute not in KIND_WORDS[node.events.kind].attributes:
            kind = kind_spelling(node.events.kind)
            self._report(f"{kind} has no number that rises or falls", "", "for example: rise of lab PSA >= 50%")
            return node
        events = self._with_numbers(node.events, node.attribute)
        during = None if node.during is None else self._events(node.during)
        amount, unit = node.amount, node.unit
        if unit:
            # A difference is what lies between two values: a rise by 2 °F is none to a temperature of 2 °F.
            told = [
                in_usual_units(Compare(node.attribute, ">=", one, unit), events.concept, self._concepts, self._report)
                for one in (amount, 0.0)
            ]
            bounds = [one.value for one in told if isinstance(one, Compare) and isinstance(one.value, float)]
            if len(bounds) == 2 and isinstance(told[0], Compare):
                amount, unit = round(abs(bounds[0] - bounds[1]), 9), told[0].unit
        return dataclasses.replace(node, events=events, amount=amount, unit="" if unit == "%" else unit, during=during)

    def _with_numbers(self, written: Events, attribute: str) -> Events:
        """A fact whose numbers in an attribute are asked for: that it has the attribute tells which kind is meant."""
        asked = Documented(attribute)
        condition = asked if written.condition is None else AllOf((written.condition, asked))
        found = self._events(dataclasses.replace(written, condition=condition))
        if found.kind is not None:
            type_ = KIND_WORDS[found.kind].attributes.get(attribute, "number")
            if type_ not in ("number", "measure"):
                numbers = [
                    name for name, one in KIND_WORDS[found.kind].attributes.items() if one in ("number", "measure")
                ]
                hint = f"numbers of {kind_spelling(found.kind)} are {', '.join(numbers)}" if numbers else ""
                self._report(f"the '{attribute}' of {kind_spelling(found.kind)} is no number", attribute, hint)
        return dataclasses.replace(found, condition=_without(found.condition, asked))

    def _relation(self, node: PatientExpression) -> PatientExpression:
        """A relation of facts, with the facts that terms are any of in their places."""
        sides = {written: self._alternatives(written, self._meant(written)) for written in sides_of(node)}
        try:
            found = over_alternatives(node, sides)
        except QueryTreeError as error:
            self._report(str(error), "", "relate fewer of them")
            return node
        # What is resolved already stays as it is.
        parts = tuple(map_parts(part, self._part) for part in found)
        return parts[0] if len(parts) == 1 else Or(parts)

    def _alternatives(self, written: Events, meaning: Meaning | None) -> tuple[Events, ...]:
        """The facts, resolved, any of which is meant where a fact stands: of a term as many as it is, where it is no
        more than that and its name stands alone; else what is recorded under the name."""
        if meaning is not None and meaning.facts is not None and is_any(written):
            return tuple(narrowed(fact, written) for fact in meaning.facts)
        return (self._as_fact(written, meaning),)

    def _events(self, events: Events) -> Events:
        """A fact at a place where only one can stand."""
        return self._as_fact(events, self._meant(events))

    def _as_fact(self, events: Events, meaning: Meaning | None) -> Events:
        if meaning is None:
            return self._resolved.get(events) or self._recorded(events)
        if meaning.fact is not None:
            return in_context(meaning.fact, events)
        if meaning.recorded is None:
            name = bare_name(events)
            self._report(
                f"'{shown(name)}' means more than one fact, and no fact alone", name,
                "let it stand by itself, joined by 'and'; here, write one of the facts that it follows from",
            )  # fmt: skip
            return events
        return meaning.recorded

    def _use(self, meaning: Meaning) -> Defined:
        """The name of a term's definition, which the query then has."""
        for one in meaning.definitions:
            name = one.name
            while name.casefold() in self._taken:
                name = f"{name} (as usual)"
            self._called[one.name] = name
        for one in meaning.definitions:
            self._added.setdefault(one.name, renamed(one, self._called))
        return Defined(self._called[meaning.term.name])

    def _meant(self, events: Events) -> Meaning | None:
        """What the name of a fact means, if it is a clinical term, with what is recorded under it; else None."""
        name = bare_name(events) if self._terms else ""
        # A name that the query defines is that of the concept only behind "any".
        if not name or name.casefold() in self._taken:
            return None
        recorded = self._quietly(Query(Exists(events)))
        resolved = recorded.body.events if recorded is not None and isinstance(recorded.body, Exists) else None
        if resolved is not None:
            self._resolved[events] = resolved
        term = term_called(name) or (None if resolved is None else recorded_term(resolved))
        meaning = None if term is None else self._meaning(term)
        return None if meaning is None else dataclasses.replace(meaning, recorded=resolved)

    def _meaning(self, term: Term) -> Meaning | None:
        if term.name not in self._meanings:
            self._meanings[term.name] = meaning_of(term, self._quietly)
        return self._meanings[term.name]

    def _quietly(self, query: Query, *, terms: bool = False) -> Query | None:
        """A query, resolved, of recorded facts alone or with ``terms``; None if it cannot be."""
        resolver = _Resolver(self._concepts, self._scales, None, hints=False, terms=terms)
        try:
            resolved = resolver.query(query)
        except _TooMany:
            return None
        return None if resolver.errors else resolved

    def _each(self, parts: SequenceOf[PatientExpression], word: str) -> tuple[PatientExpression, ...]:
        found = []
        for at, part in enumerate(parts):
            whole = None
            if self._bare_name(part) and not self._stands_alone(self._bare_name(part)):
                # "head and neck cancer" without quotes falls apart into two names.
                for first, second in ((at - 1, at), (at, at + 1)):
                    if first >= 0 and second < len(parts):
                        names = self._bare_name(parts[first]), self._bare_name(parts[second])
                        whole = self._whole_name(names, word) or whole
            if whole is not None:
                self._report(
                    f"'{shown(whole)}' is one name, and was read as two",
                    self._bare_name(part),
                    f"put it in quotes: '{shown(whole)}'",
                )
                found.append(part)
            else:
                found.append(self._patients(part))
        return tuple(found)

    def _whole_name(self, names: tuple[str, str], word: str) -> str | None:
        whole = word.join(names)
        return whole if all(names) and len(whole) < 200 and concept_ids(self._concepts, whole, None) else None

    def _bare_name(self, node: PatientExpression) -> str:
        if isinstance(node, Exists) and isinstance(node.events.concept, Under):
            term = node.events.concept.term
            return term.text if isinstance(term, Name) else ""
        return ""

    def _stands_alone(self, text: str) -> bool:
        return any(MEANT_BY_CONCEPT[self._concepts.get(one).kind] for one in self._concepts.lookup(text))

    # --- events -------------------------------------------------------------------------------------------------------

    def _recorded(self, events: Events) -> Events:
        check()
        events = self._spelled_out(events)
        kind, concept, condition = events.kind, events.concept, events.condition
        if concept is not None:
            if kind is None:
                concept, kinds = self._any_kind(concept, condition)
                kind = kinds[0] if len(kinds) == 1 else None
            else:
                kinds = (kind,)
                concept = self._of_kind(concept, kind)
        else:
            kinds = () if kind is None else (kind,)
        if condition is not None and kinds:
            condition = self._conditions.resolve(of_measured(condition, kinds), kinds)
            condition = in_usual_units(condition, concept, self._concepts, self._report)
        return dataclasses.replace(events, kind=kind, concept=concept, condition=condition)

    def _spelled_out(self, events: Events) -> Events:
        """What a name says beyond its concept becomes a condition: *HER2 positive*, *EGFR L858R*, *radiation to brain*;
        only for a single name that is no concept of the kind as a whole."""
        kind, concept = events.kind, events.concept
        if not isinstance(concept, Under) or isinstance(concept.term, Concept):
            return events
        text = concept.term.text
        if (kind is None or kind in _TESTED) and (signed := spelled_out(text, self._concepts)) != text:
            self._place_as(signed, text)
            return self._spelled_out(dataclasses.replace(events, concept=Under(Name(signed), concept.exact)))
        known = self._concepts.lookup(text) if kind is None else self._ids(text, KIND_WORDS[kind].concepts)
        extra: Condition | None = None
        name = text
        if kind == "biomarker" or (kind is None and known):
            value = self._concepts.lookup(text, ("value",))
            if kind == "biomarker" and value and not known and split_biomarker(text, self._concepts) is None:
                # "biomarker exactly positive": no marker is named, only a result.
                return self._with(events, None, Is("result", (concept.term,), concept.exact))
            if (
                value
                and concept_ids(self._concepts, text, ("biomarker",))
                and "result" not in attributes_of(events.condition)
            ):
                # "dMMR" is a result of a marker as much as the marker's name.
                return self._with(events, concept, Is("result", (concept.term,)))
        if kind is None and not known and (place := split_spread(text, self._concepts)) is not None:
            return self._as_spread(events, concept, place)
        if known and (kind is not None or any(self._concepts.get(one).kind != "value" for one in known)):
            return events
        if (kind is None or kind in TESTS) and (found := split_biomarker(text, self._concepts)) is not None:
            name, extra = found
            kind = kind or "biomarker"
        elif kind in (None, "variant") and (split := split_variant(text, self._concepts)) is not None:
            name, extra = split
            kind = "variant"
        elif kind in PROCEDURES:
            whole = f"{kind_spelling(kind)} {text}"
            if self._ids(whole, KIND_WORDS[kind].concepts):
                name = whole
            elif self._ids(text, ("site",)):
                return self._with(events, None, Is("site", (concept.term,)))
        elif kind == "medication" and concept_ids(self._concepts, text, ("regimen",)):
            kind = "regimen"
        if name == text:
            name, extra = self._without_place(text, kind, extra)
        if kind == "allergy" and concept_ids(self._concepts, whole := f"{kind} {text}", None):
            # "Allergy testing" is no allergy.
            self._place_as(whole, text)
            return dataclasses.replace(events, kind=None, concept=Under(Name(whole), concept.exact))
        if name == text and kind in (None, "allergy", "medication"):
            found_in = split_allergy(text, kind, lambda name: bool(self._ids(name, KIND_WORDS["allergy"].concepts)))
            if found_in is not None:
                name, extra = found_in
                kind = "allergy"
        if (name, kind) == (text, events.kind):
            return events
        self._place_as(name, text)
        changed = dataclasses.replace(events, kind=kind, concept=Under(Name(name), concept.exact))
        return changed if extra is None else self._with(changed, changed.concept, extra)

    def _without_place(self, text: str, kind: str | None, extra: Condition | None) -> tuple[str, Condition | None]:
        # "Right inguinal hernia repair" is known by more of its words than "hernia repair" at the groin.
        sided = split_side(text, self._concepts, _sided_concepts(kind))
        if sided is not None:
            return sided.name, sided.condition()
        placed = split_place(text, self._concepts, _placed_concepts(kind))
        return (text, extra) if placed is None else (placed.name, placed.condition(placed.place))

    def _as_spread(self, events: Events, concept: Under, place: str) -> Events:
        if isinstance(concept.term, Name):
            self._place_as(place, concept.term.text)
        return dataclasses.replace(events, kind="metastasis", concept=Under(Name(place), concept.exact))

    def _place_as(self, name: str, text: str) -> None:
        if self._parsed is not None and text in self._parsed.places and isinstance(self._parsed.places, dict):
            self._parsed.places.setdefault(name, self._parsed.places[text])

    def _with(self, events: Events, concept: ConceptExpression | None, extra: Condition) -> Events:
        condition = extra if events.condition is None else AllOf((extra, events.condition))
        return dataclasses.replace(events, concept=concept, condition=condition)

    # --- concepts -----------------------------------------------------------------------------------------------------

    def _ids(self, text: str, kinds: Iterable[str] | None) -> tuple[str, ...]:
        # A set's own name goes before a concept, which may be wider ("FGFR1/2/3" and the family) or another thing.
        found = self._members(text, kinds, spelled_so=True) or concept_ids(self._concepts, text, kinds)
        return found or self._members(text, kinds, spelled_so=False)

    def _members(self, text: str, kinds: Iterable[str] | None, *, spelled_so: bool) -> tuple[str, ...]:
        wanted = None if kinds is None else frozenset(kinds)
        members = self._concepts.value_set(text, spelled_so=spelled_so) or ()
        return tuple(one for one in members if wanted is None or self._concepts.get(one).kind in wanted)

    def _of_kind(self, concept: ConceptExpression, kind: str) -> ConceptExpression:
        match concept:
            case Union(parts):
                return Union(tuple([self._of_kind(part, kind) for part in parts]))
            case OtherThan(base, excluded):
                return OtherThan(self._of_kind(base, kind), self._of_kind(excluded, kind))
        if isinstance(concept.term, Concept):
            return concept
        text, kinds = concept.term.text, KIND_WORDS[kind].concepts
        if not kinds:
            self._report(
                f"{kind_spelling(kind)} has no concept of its own, and '{shown(text)}' was given", text,
                f"write '{name_text(shown(text))} and {kind_spelling(kind)} …'",
            )  # fmt: skip
            return concept
        if kind == "performance" and text.casefold() in _PERFORMANCE and not self._ids(text, kinds):
            name = _PERFORMANCE[text.casefold()]
            return Under(Concept(name.lower(), name), concept.exact)
        ids = self._ids(text, kinds)
        if ids:
            return self._under(text, ids, concept.exact, kinds)
        others = self._concepts.lookup(text)
        if others:
            readings = self._readings(text, others)
            what = self._concepts.get(others[0]).kind
            self._report(
                f"'{shown(text)}' is {_with_article(what)}, which is no {kind_spelling(kind)}", text,
                f"write {either(readings)}" if readings else "",
            )  # fmt: skip
        else:
            self._unknown_name(text, f"no {kind_spelling(kind)} is called '{shown(text)}'", kinds, kind_spelling(kind))
        return concept

    def _any_kind(
        self, concept: ConceptExpression, condition: Condition | None
    ) -> tuple[ConceptExpression, tuple[str, ...]]:
        """The concept, and the kinds of event that it can mean under ``condition``."""
        match concept:
            case Union(parts):
                pairs = [self._any_kind(part, condition) for part in parts]
                kinds = tuple(dict.fromkeys(kind for _, part_kinds in pairs for kind in part_kinds))
                return Union(tuple([part for part, _ in pairs])), kinds
            case OtherThan(base, excluded):
                kept, kinds = self._any_kind(base, condition)
                if len(kinds) == 1:
                    # What is taken away is of the same kind, or it would take nothing away.
                    return OtherThan(kept, self._of_kind(excluded, kinds[0])), kinds
                return OtherThan(kept, self._any_kind(excluded, None)[0]), kinds
        attributes = attributes_of(condition)
        if isinstance(concept.term, Concept):
            row = self._concepts.get(concept.term.id) if concept.term.id in self._concepts else None
            return concept, _fitting(MEANT_BY_CONCEPT[row.kind], attributes) if row else ()
        text = concept.term.text
        if text.casefold() in _PERFORMANCE and not self._ids(text, None):
            return self._of_kind(concept, "performance"), ("performance",)
        ids = self._ids(text, None)
        by_kind: dict[str, list[str]] = {}
        for one in ids:
            kind = self._concepts.get(one).kind
            if MEANT_BY_CONCEPT[kind]:
                by_kind.setdefault(kind, []).append(one)
        if not by_kind:
            if ids:
                row = self._concepts.get(ids[0])
                readings = self._readings(text, ids)
                self._report(
                    f"'{shown(text)}' is {_with_article(row.kind)}, and no fact by itself", text,
                    f"write {either(readings)}" if readings else "say which kind of fact it belongs to",
                )  # fmt: skip
            else:
                self._unknown_name(text, f"'{shown(text)}' is not known", None)
            return concept, ()
        if len(by_kind) > 1:
            fitting = [kind for kind in by_kind if _has(_fitting(MEANT_BY_CONCEPT[kind], attributes), attributes)]
            by_kind = {kind: by_kind[kind] for kind in fitting} if fitting else by_kind
            if _OF_VALUES.isdisjoint(attributes):
                # Without a value a short form that another thing has too (EGFR, CR) is not what is measured.
                by_kind = {kind: ids for kind, ids in by_kind.items() if kind not in _MEASURED_CONCEPTS} or by_kind
        if len(by_kind) > 1 and concept_ids(self._concepts, text, None) == ids:
            readings = self._readings(text, [one for found in by_kind.values() for one in found])
            self._report(f"'{shown(text)}' has several readings", text, f"write {either(readings)}")
            return concept, ()
        chosen = tuple(one for found in by_kind.values() for one in found)
        meant = tuple(dict.fromkeys(kind for name in by_kind for kind in MEANT_BY_CONCEPT[name]))
        kinds = _fitting(meant, attributes)
        naming = KIND_WORDS[kinds[0]].concepts if len(kinds) == 1 else None
        return self._under(text, chosen, concept.exact, naming), kinds

    def _under(self, text: str, ids: tuple[str, ...], exact: bool, kinds: Iterable[str] | None) -> ConceptExpression:
        """One concept, or the union of a value set's members; several readings of one name are an error."""
        parts = tuple(Under(named(self._concepts, one, kinds), exact) for one in ids)
        if len(parts) == 1:
            return parts[0]
        if concept_ids(self._concepts, text, kinds) == ids:
            names = [f"{self._concepts.get(one).name} ({BY_ID}{one})" for one in ids]
            self._report(f"'{shown(text)}' has several readings", text, f"it could be {either(names)}")
        return Union(parts)

    def _readings(self, text: str, ids: Iterable[str]) -> list[str]:
        """How the name can be written so that its kind is clear."""
        found = []
        for one in ids:
            kind = self._concepts.get(one).kind
            if kind == "site":
                found.append(f"metastasis to {name_text(shown(text))}")
            elif kind == "allergen":
                found.append(f"{kind_spelling('allergy')} to {name_text(shown(text))}")
            elif MEANT_BY_CONCEPT[kind]:
                found.append(f"{kind_spelling(MEANT_BY_CONCEPT[kind][0])} {name_text(shown(text))}")
        return list(dict.fromkeys(found))

    def _unknown_name(self, text: str, message: str, kinds: Iterable[str] | None, kind: str = "") -> None:
        """Reports a name that no concept of ``kinds`` has, ``kind`` being how the kind of fact before it is written."""
        if not self._hints:
            self._report(message, text, "")
            return
        hint = hint_for_name(text)
        near = [] if hint or len(text) <= 2 else self._concepts.nearest(text[:200], kinds)
        if hint or (near and kinds is not None):
            self._report(message, text, hint or f"did you mean {either(near)}?")
        elif bare := self._without_article(text, kinds):
            self._report(message, text, f"leave the article out: {name_text(bare)}", settled=True)
        elif spread := self._spread(text) or (kind and self._spread(f"{kind} {text}")):
            # "lymph node metastasis": the first words of a name may have been read as a kind of fact.
            self._report(message, text, spread, settled=True)
        elif (severity := severity_in(text, self._concepts)) is not None and severity.known:
            self._report(*_about(text, told(severity, self._can_be_asked)), settled=True)
        elif near := near or (self._concepts.nearest(text[:200]) if len(text) > 2 else []):
            self._report(message, text, f"did you mean {either(near)}?")
        elif right := self._respelled(f"{kind} {text}" if kind else text):
            self._report(message, text, f"did you mean {right}?", settled=True)
        elif topic := misspelled_topic(text):
            self._report(*_about(text, topic), settled=True)
        elif severity is not None:
            # "lnug cancer stage 4": what nobody knows is the illness.
            self._place_as(severity.illness, text)
            self._unknown_name(severity.illness, f"'{shown(severity.illness)}' is not known", None)
        else:
            none = "no name is spelled nearly so; 'cohortium ontology search WORDS' looks names up"
            self._report(message, text, hint_for_parts(text, self._can_be_asked) or none)

    def _respelled(self, text: str) -> str:
        return respelled(text, _result_words(self._concepts), self._can_be_asked)

    def _spread(self, text: str) -> str:
        return hint_for_spread(text, self._concepts, self._can_be_asked)

    def _without_article(self, text: str, kinds: Iterable[str] | None) -> str:
        bare = without_article(text)
        return bare if bare and self._ids(bare, kinds) else ""

    def _can_be_asked(self, text: str) -> bool:
        """Whether the words are a query by themselves."""
        try:
            query = parse_with_places(text).query
        except QueryError:
            return False
        return self._quietly(query, terms=True) is not None


@functools.lru_cache(maxsize=4)
def _result_words(concepts: ConceptTable) -> tuple[str, ...]:
    """The words that results of tests and findings of genes are told in."""
    values = [name for row in concepts.rows() if row.kind == "value" for name in concepts.names(row.id)]
    told = [*values, *(one for section in SECTIONS for one in findings()[section].ids)]
    words = (word for name in told for word in name.split())
    return tuple(sorted({word.casefold() for word in words if len(word) > 4 and word.isalpha()}))


def _about(text: str, message_and_hint: tuple[str, str]) -> tuple[str, str, str]:
    message, hint = message_and_hint
    return message, text, hint


def _placed_concepts(kind: str | None) -> tuple[str, ...]:
    """The kinds of concept that name events with a place in the body besides their own: complaints and operations."""
    wanted = _SAID_OF_PLACES if kind is None else _SAID_OF_PLACES & {kind}
    return tuple(dict.fromkeys(one for event in sorted(wanted) for one in KIND_WORDS[event].concepts))


def _sided_concepts(kind: str | None) -> tuple[str, ...]:
    """The kinds of concept that name events with a side; a part of the body by itself names none."""
    wanted = [one for one in sorted(KINDS) if "laterality" in KIND_WORDS[one].attributes and kind in (None, one)]
    names = dict.fromkeys(one for event in wanted for one in KIND_WORDS[event].concepts)
    return tuple(one for one in names if kind or one != "site")


def _has(kinds: SequenceOf[str], attributes: frozenset[str]) -> bool:
    return any(attributes <= KIND_WORDS[kind].attributes.keys() for kind in kinds)


def _fitting(kinds: SequenceOf[str], attributes: frozenset[str]) -> tuple[str, ...]:
    """Those of ``kinds`` that have all ``attributes``; all of them if none has (the error then names them)."""
    return tuple(kind for kind in kinds if attributes <= KIND_WORDS[kind].attributes.keys()) or tuple(kinds)


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _without(condition: Condition | None, last: Documented) -> Condition | None:
    """The condition without its last part."""
    match condition:
        case AllOf(parts):
            rest = _without(parts[-1], last)
            kept = parts[:-1] if rest is None else (*parts[:-1], rest)
            return kept[0] if len(kept) == 1 else AllOf(kept)
    return None if condition == last else condition
