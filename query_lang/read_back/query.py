"""Query tree to plain English: what a query really asks, for readers who do not know the language."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ..nodes import (
    AgeAt,
    Among,
    And,
    AtLeast,
    Change,
    Clear,
    Defined,
    Definition,
    EventCriterion,
    Events,
    Except,
    Exists,
    Lacking,
    Node,
    Not,
    Now,
    Ongoing,
    Or,
    Ordered,
    OtherThan,
    PatientExpression,
    Pick,
    Query,
    QueryTreeError,
    Repeated,
    SameEvent,
    SameTumor,
    Sequence,
    StateAt,
    Times,
    Total,
)
from ..tree import parts, walk
from .facts import (
    FactWriter,
    age,
    amount,
    change,
    date_words,
    day_words,
    gap,
    later,
    one_line,
    relation,
    with_article,
)
from .layout import WORDS, Piece

#: What a criterion is said of: a patient or a tumor *has* a fact; one fact *is* something.
_HAS: Final = "has"
_IS: Final = "is"


def read_back(query: Query, concepts: ConceptTable | None = None, *, rules: bool = True) -> str:
    """What ``query``, resolved or not, asks, in English: the criterion, each definition, the rules that bear on it.

    Paragraphs are parted by blank lines; lists are indented by two spaces a level. With ``concepts``, *or any kind of
    it* stands only where the ontology has a kind of it. ``rules=False`` leaves out the rules, which are the same for
    all queries.
    """
    piece = _Writer(FactWriter(concepts)).criterion(query.body, _HAS)
    words = WORDS["whole"]
    opening = words["query"] if query.as_of is None else words["query_as_of"].format(day=date_words(query.as_of))
    paragraphs = [_paragraph(piece.after(opening))]
    # The last definition comes first, since it may use those before it: what a name means stands after its use.
    paragraphs += [read_back_definition(definition, concepts) for definition in reversed(query.definitions)]
    if rules:
        paragraphs.append(" ".join(_rules(query)))
    return "\n\n".join([paragraph for paragraph in paragraphs if paragraph])


def read_back_definition(definition: Definition, concepts: ConceptTable | None = None) -> str:
    """What a definition means, as one paragraph."""
    piece = _Writer(FactWriter(concepts)).criterion(definition.body, _HAS)
    return _paragraph(piece.after(WORDS["whole"]["definition"].format(name=_quoted(definition.name))))


def _paragraph(piece: Piece) -> str:
    lines = piece.lines()
    return f"{lines[0]}." if len(lines) == 1 else "\n".join(lines)


def _quoted(name: str) -> str:
    return f'"{one_line(name)}"'


@dataclass(frozen=True, slots=True)
class _Writer:
    facts: FactWriter

    def criterion(self, node: PatientExpression, frame: str, *, negated: bool = False) -> Piece:
        """The criterion, or that it is not met, as what somebody has or as what a fact is."""
        words: Mapping[str, str] = WORDS["frames"][frame]
        no = "not_" if negated else ""
        match node:
            case Exists(events):
                fact = self.facts.fact(events)
                start = words[f"{no}fact"].format(fact=fact.words, a_fact=with_article(fact.words))
                return dataclasses.replace(fact, words=start)
            case Defined(name):
                return Piece(words[f"{no}defined"].format(name=_quoted(name)))
            case And(parts):
                return Piece("", "not_all" if negated else "all", self._each(parts, frame))
            case Or(parts):
                return Piece("", "none" if negated else "any", self._each(parts, frame))
            case AtLeast(n, parts):
                group = "fewer" if negated else "at_least"
                return Piece("", group, self._each(parts, frame), {"n": str(n)})
            case Not(part):
                return self.criterion(part, frame, negated=not negated)
            case Except(left, right):
                first = self.criterion(left, frame, negated=negated)
                second = self.criterion(right, frame, negated=not negated)
                if negated:
                    # Not (A except B) is: not A, or B.
                    return Piece("", "any", (first, second))
                return Piece("", "except", (first, second.after(WORDS["whole"]["but"])))
            case SameTumor(body, least) if least > 1:
                return self.criterion(body, _HAS).after(words[f"{no}tumors"].format(n=least))
            case SameTumor(body):
                return self.criterion(body, _HAS).after(words[f"{no}same_tumor"])
            case SameEvent(body) if frame == _IS:
                # One fact of one fact is that fact.
                return self.criterion(body, _IS, negated=negated)
            case SameEvent(body):
                return self.criterion(body, _IS).after(words[f"{no}same_event"])
            case EventCriterion():
                return self._of_events(node, words, no)
            case Among(patients):
                ids = ", ".join(one_line(patient) for patient in patients)
                return self._as(words, no, Piece(""), WORDS["patients"]["listed"].format(ids=ids))
        if isinstance(node, StateAt) and isinstance(node.day, Now):
            # Nothing is expanded before the day is known.
            fact = self.facts.fact(node.events)
            at = WORDS["ongoing"]["state"].format(fact=fact.words, day=day_words(node.day))
            return self._as(words, no, fact, at)
        if node.expansion is not None:
            return self.criterion(node.expansion, frame, negated=negated)
        raise QueryTreeError(f"{type(node).__name__} is no patient expression")

    def _of_events(self, node: EventCriterion, words: Mapping[str, str], no: str) -> Piece:
        """How the facts lie to each other; ``no`` begins the groups of what is not so."""
        match node:
            case Ordered(left, _, right, without=None):
                return self._facts(f"{no}ordered", (left, right), relation(node))
            case Ordered(left, _, right, without=without):
                return self._facts(f"{no}apart", (left, right, *([] if without is None else [without])), relation(node))
            case Clear(events, _, absent):
                return self._facts(f"{no}clear", (events, absent), gap(node))
            case Sequence():
                return Piece("", f"{no}sequence", tuple(self._steps(node)))
            case Times(n, events, by):
                fact = self.facts.fact(events)
                return self._as(words, no, fact, WORDS["counts"][by].format(fact=fact.words, n=n))
            case Repeated(n, events, _, other):
                order = Ordered(events, node.relation, other, node.minimum, node.maximum)
                return Piece("", f"{no}repeated", self._pair(events, other), {"n": str(n), "gap": relation(order)})
            case Change(_, events, during=None):
                fact = self.facts.fact(events)
                return self._as(words, no, fact, WORDS["changes"]["fact"].format(change=change(node), fact=fact.words))
            case Change(_, events, during=during) if during is not None:
                moved = change(node) if no else with_article(change(node))
                return Piece("", f"{no}changed", self._pair(events, during), {"gap": moved})
            case Total(_, events):
                fact = self.facts.fact(events)
                return self._as(words, no, fact, WORDS["changes"]["total"].format(**amount(node), fact=fact.words))
            case AgeAt(None, day):
                on = day_words(day or 1)
                return self._as(words, no, Piece(""), WORDS["ages"]["on"].format(age=age(node), day=on))
            case Ongoing(events, day):
                fact = self.facts.fact(events)
                at = WORDS["ongoing"]["course"].format(fact=fact.words, day=day_words(day))
                return self._as(words, no, fact, at)
            case AgeAt(events) if events is not None:
                fact = self.facts.fact(events)
                at = WORDS["ages"]["at"].format(age=age(node), a_fact=with_article(fact.words))
                return self._as(words, no, fact, at)
            case Lacking(how, events):
                fact = self.facts.fact(events)
                return self._as(words, no, fact, WORDS["absences"][how].format(a_fact=with_article(fact.words)))
        raise QueryTreeError(f"there are no words for {type(node).__name__}")

    def _as(self, words: Mapping[str, str], no: str, fact: Piece, noun: str) -> Piece:
        """What is said of a fact, in the frame; what follows the fact follows it."""
        return dataclasses.replace(fact, words=words[f"{no}fact"].format(fact=noun, a_fact=with_article(noun)))

    def _facts(self, group: str, facts: tuple[Events, ...], relation: str) -> Piece:
        return Piece("", group, self._each(tuple([Exists(events) for events in facts]), _HAS), {"gap": relation})

    def _pair(self, one: Events, other: Events) -> tuple[Piece, ...]:
        return self._each((Exists(one), Exists(other)), _HAS)

    def _steps(self, node: Sequence) -> Iterator[Piece]:
        yield self.criterion(Exists(node.steps[0]), _HAS)
        for events, between in zip(node.steps[1:], node.gaps, strict=True):
            if between.without is None:
                yield self.criterion(Exists(events), _HAS).after(f"then{later(between)}")
            else:
                yield self._facts("step_apart", (events, between.without), later(between))

    def _each(self, parts: tuple[PatientExpression, ...], frame: str) -> tuple[Piece, ...]:
        return tuple([self.criterion(part, frame) for part in parts])


# --- rules ----------------------------------------------------------------------------------------------------------


def _rules(query: Query) -> list[str]:
    """The rules that apply without being written and bear on ``query``, in the order of the words."""
    apply = set()
    root: Node = query
    for node in walk(root, _worded):
        match node:
            case Defined():
                apply.add("defined")
            case Not():
                apply.add("not")
            case SameTumor():
                apply.add("tumor")
            case OtherThan():
                apply.add("other_than")
            case Ordered(relation="during" | "overlapping") | Repeated(relation="during" | "overlapping"):
                apply.add("lasting")
            case Change(during=during):
                apply |= {"change"} if during is None else {"change", "lasting"}
            case Total():
                apply.add("total")
            case Ordered(relation="specimen"):
                apply.add("specimen")
            case AgeAt():
                apply.add("age")
            case Ongoing():
                apply.add("ongoing")
            case Lacking():
                apply.add("absence")
            case Events(context=context, pick=pick, moment=moment, lasting=lasting):
                apply |= {"present"} if context == "present" else set()
                apply |= {"denial"} if context == "absent" else set()
                apply |= {"pick"} if pick != Pick() else set()
                apply |= {"ends"} if moment == "end" or lasting is not None else set()
    return [rule for name, rule in WORDS["rules"].items() if name in apply]


def _worded(node: Node) -> tuple[Node, ...]:
    """What a node is made of, or the other words for it: rules that bear on those bear on it."""
    if isinstance(node, StateAt) and isinstance(node.day, Now):
        return parts(node)
    expansion = node.expansion if isinstance(node, PatientExpression) else None
    return parts(node) if expansion is None else (expansion,)
