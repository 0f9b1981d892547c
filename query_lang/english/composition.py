"""What the words between the facts of a question make of them: each rule of ``clauses.grammar`` is one method here.

A method is given what the parts of its rule are worth: a :class:`~.chunks.Criterion` for a fact, a chunk for words, or
what another method returned. It returns what they make together with its cost in a cover, or None where they do not go
together: a treatment has an intent, a patient's age has none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...kb.kinds import COURSES, DERIVABLE, DESCRIBING_TUMORS, KIND_TABLE, MAIN_ATTRIBUTE, MOLECULAR, TREATMENTS
from ...kb.ontology.concepts import ConceptTable
from ..nodes import Compare, Events, Is, Name, NotThat, Pick, Union
from ..parsing.parse import parse
from ..render import name_text
from ..tree import find, nodes_in
from ..vocabulary import MEANT_BY_CONCEPT, kind_spelling
from . import book
from .chart import SOFT, Action, Chart, Edge
from .chunks import Chunk, Criterion, Item, Unclear
from .events import each, events_of, text_of_events, with_condition
from .terms import both, concept, either
from .whole import diagnosis, meet

Made = tuple[Any, float]

#: What a composed fact costs in a cover: as much as a bare one, so that joining what belongs together always pays.
_ONE: Final = 1.0
_PART: Final = 10.0
#: Alternatives pay only inside of something larger: a list of its own is read later, with all that it may share.
_ALTERNATIVE: Final = 1.2
_OF_TUMORS: Final = frozenset({"extent", "staging", "finding", "treatment"})
#: What is said of a fact is said of each of so many alternatives; what has more ways to be told is no single fact.
_MOST_ALTERNATIVES: Final = 3
_UNSURE: Final = 4.0
#: Staging that was found after therapy.
_AFTER_THERAPY: Final = re.compile(r"\byp[TN]|prefix = yp\b")
#: Words that join no more than two names; others begin something new.
_BARE_AND: Final = frozenset({"and", "&", "plus", "as well as"})
#: The name of a treatment of which the question says that it began.
_BEGUN: Final = "begun"
_STOPPED: Final = "stopped"
_UNITS: Final = {"day": "days", "week": "weeks", "month": "months", "year": "years"}
_APART: Final = {">=": "at least", ">": "more than", "<=": "within", "<": "within"}
_SOFT: Final = frozenset({"with", "treat", "both"})
_SIGNS: Final = frozenset({"<", "<=", ">", ">=", "="})
#: The types of chunk that name a treatment.
_TREATING: Final = frozenset({"drug", "regimen", "radiation", "procedure"})
#: Kinds of which each note tells anew what is there: their days are no number of things.
_TOLD_AGAIN: Final = frozenset({"metastasis", "node"})
#: Kinds that are told of a tumor as a whole.
_TOLD_OF_TUMORS: Final = (DESCRIBING_TUMORS & DERIVABLE) - MOLECULAR
#: The types of chunk before which ``primary`` says nothing of its own.
_OWNED: Final = frozenset({"tumor", "procedure", "phrase", "site", "feature"})
#: The types of chunk with which a new assertion begins behind "but".
_GOING_ON: Final = frozenset({"later", "next", "begin", "stop", "finish", "context"})
#: What is no event in time.
_NO_EVENTS: Final = frozenset({"sex", "age"})
_TREATED: Final = frozenset(TREATMENTS)
#: The kinds of what a patient suffers, of which a treatment may be the cause.
_HARMS: Final = frozenset(kind for kind, words in KIND_TABLE.items() if words.family == "condition")


@dataclass(frozen=True, slots=True)
class Amount:
    """A length of time as the query language writes it: ``6 months``; ``high`` of a range."""

    low: str
    unit: str
    high: str = ""

    def __str__(self) -> str:
        return f"{self.low} {self.unit}"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A length of time with its bound: ``>= 6 months``."""

    operator: str
    amount: Amount

    @property
    def apart(self) -> str:
        """The begin of a relation between facts that are so far apart."""
        return f"{_APART[self.operator]} {self.amount}"


@dataclass(frozen=True, slots=True)
class Relation:
    """How one fact stands to another, in words of the query language; any of several."""

    ways: tuple[str, ...]
    #: "At the time of", which is wider where a diagnosis is meant.
    at_time: bool = False
    #: Whether a time around the other fact is meant, also where the first is an outcome.
    around: bool = False
    #: "Only after": the first of the left.
    only: bool = False
    #: A bare "at", which relates only to a beginning.
    of_begin: bool = False

    @property
    def measured(self) -> bool:
        """Whether it tells how far apart."""
        return any(any(letter.isdigit() for letter in way) for way in self.ways)


@dataclass(frozen=True, slots=True)
class Count:
    """How many: the least, the most (None: no bound)."""

    least: int
    most: int | None = None
    #: A number without a sign: as many, or as many or more.
    bare: bool = False

    def test(self) -> tuple[str, int]:
        """The sign and the number with which an attribute is compared."""
        if self.most is None:
            return ">=", self.least
        return ("=" if self.least == self.most else "<="), self.most

    def words(self) -> tuple[str, ...]:
        """Its bounds in words of the query language."""
        if self.least == self.most:
            return (f"exactly {self.least}",)
        found = [f"at least {self.least}"] if self.least > 0 else []
        return (*found, f"at most {self.most}") if self.most is not None else tuple(found)


@dataclass(frozen=True, slots=True)
class Often:
    """So many times."""

    count: Count


@dataclass(frozen=True, slots=True)
class Lasting:
    """So long."""

    bound: Bounded


@dataclass(frozen=True, slots=True)
class Age:
    """An age in completed years, as the query language tests it; not ``sure`` where only its place says that it
    is one."""

    test: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Sites:
    """One or several parts of the body, by their concepts."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kin:
    """One or several kinds of relative, any of whom is meant; ``also``: others who are meant besides."""

    names: tuple[str, ...]
    also: tuple[Kin, ...] = ()


def _house(name: str) -> Any:
    """What a word, or a time that no number is told of, means here (``clauses.toml``)."""
    return book.data("clauses")["house"][name]


def composed(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """The items with facts and the words between them read together, as far as they go together."""
    kept = [item for item in items if not _is_empty(item)]
    if not kept:
        return []
    composer = Composer(kept, concepts, any(_says_diagnosed(item) for item in items))
    terminals = [Edge(at, at + 1, _terminal(item), item, _cost(item)) for at, item in enumerate(kept)]
    chart = Chart(terminals, composer.actions(), _types)
    found: list[Item] = []
    cover = chart.cover()
    _check_shared(cover, kept)
    _check_ties(cover)
    _check_beside(cover, kept)
    _check_compounds(cover, items)
    for edge in cover:
        worth = edge.worth
        if isinstance(worth, Criterion) and edge.end - edge.start > 1:
            first, last = kept[edge.start], kept[edge.end - 1]
            worth = replace(worth, start=first.start, end=last.end)
            found.append(worth)
        elif isinstance(worth, Criterion | Chunk):
            found.append(worth)
        else:
            found += kept[edge.start : edge.end]
    return found


def of_sites(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """``stage III colon``: in a list of criteria without a disease, a site that stands by itself is its cancer."""
    if any(isinstance(item, Criterion) and item.sort == "disease" for item in items):
        return list(items)
    said = [item for item in items if not _is_empty(item)]
    places = [at for at, item in enumerate(said) if isinstance(item, Chunk) and item.type == "site"]
    if len(places) != 1 or not any(isinstance(item, Criterion) and item.sort in _OF_TUMORS for item in said):
        return list(items)
    site = said[places[0]]
    beside = (*said[: places[0]][-1:], *said[places[0] + 1 : places[0] + 2])
    alone = all(
        isinstance(one, Chunk) and one.is_join("comma", "semicolon", "with") or _is_staging(one) for one in beside
    )
    assert isinstance(site, Chunk)
    found = concepts.lookup(f"{site.text} cancer", ("tumor",))
    if len(found) != 1 or not alone:
        return list(items)
    disease = Criterion("disease", f"diagnosis {concept(found[0])}", site.text, "diagnosis", found)
    disease = replace(disease, start=site.start, end=site.end)
    return [disease if item is site else item for item in items]


def _is_staging(item: Item) -> bool:
    return isinstance(item, Criterion) and item.sort in ("extent", "staging", "finding")


def of_one_tumor(items: Sequence[Item]) -> list[Item]:
    """``…, all in the same breast``: what is said of tumors is said of one, also where no disease is named."""
    kept = [item for item in items if not (isinstance(item, Chunk) and item.type == "same_tumor")]
    diseases = [item for item in kept if isinstance(item, Criterion) and item.sort == "disease"]
    if len(kept) == len(items) or diseases:
        return kept
    first = next((item for item in kept if isinstance(item, Criterion)), None)
    if first is None:
        return kept
    tumor = Criterion("disease", "diagnosis any concept:neoplasm", "", "diagnosis", ("neoplasm",), start=-1, end=-1)
    return [tumor, *kept]


def check_words_of_people(chunks: Sequence[Chunk]) -> None:
    """Unclear where a word points at a thing that is not named (``who got it before``), or at one of the patients."""
    people, things = (frozenset(_house(name).split()) for name in ("people", "things"))
    named = False
    denied = any(chunk.is_join("not", "neither", "exclude") for chunk in chunks)
    for chunk, after in itertools.pairwise(chunks):
        if chunk.type == "pick" and after.type == "skip" and set(after.text.lower().split()) & people:
            raise Unclear(
                f"'{chunk.text} {after.text}': which of the patients is not a question for a cohort", (chunk.text,)
            )
        named = named or chunk.type in _TREATING or chunk.type == "phrase" and chunk.value == "treatment"
        tied = chunk.is_join("with") and chunk.text.lower() in ("on", "for", "to", "from")
        # "At least two operations for it": of the disease named; what was not done for it cannot be told apart.
        for_it = chunk.text.lower() == "for" and named and not denied
        if tied and not for_it and after.type == "skip" and after.text.lower() in things:
            raise Unclear(f"what '{after.text}' is", (chunk.text, after.text))
        taken = chunk.is_join("treat") or chunk.type in ("begin", "stop", "finish")
        if taken and not named and after.type == "skip" and after.text.lower() in things:
            raise Unclear(f"what '{after.text}' is", (after.text,))


def framed(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Words that carry something in some places only, as words that carry nothing in the others: ``diagnosis`` after a
    word of time is a day, ``primary`` beside a disease or an operation says nothing of its own."""
    said = [chunk for chunk in chunks if chunk.type != "skip"]
    pronouns = _house("pronouns")
    several = sum(chunk.type in ("tumor", "condition") for chunk in said) > 1
    found: list[Chunk] = []
    at = 0
    for chunk in chunks:
        if several and chunk.text.lower() in pronouns and found and found[-1].text.lower() == "for":
            # "Cancer and pneumonia with antibiotics for it": for which?
            found.append(replace(chunk, type="unread", value=""))
        else:
            found.append(chunk if chunk.type == "skip" else _framed(chunk, said[:at], said[at + 1 :]))
        at += chunk.type != "skip"
    return found


def _framed(chunk: Chunk, before: Sequence[Chunk], behind: Sequence[Chunk]) -> Chunk:
    """The word as what it is between those that carry something before and behind it."""
    last = before[-1].type if before else ""
    following = behind[0] if behind else None
    empty = replace(chunk, type="skip", value="")
    if chunk.type == "showed":
        return chunk if last in ("procedure", "radiation") else empty
    if chunk.type == "needing":
        return chunk if last in ("condition", "unread") else empty
    if chunk.type == "lines" and "regimen" in chunk.text.lower():
        return chunk if last in ("number", "comparison_after", "kinds") else empty
    if chunk.type == "own":
        removed = len(before) > 1 and before[-1].text.lower() in ("of", "of the") and before[-2].type == "procedure"
        return chunk if removed or following is None or following.type not in _OWNED else empty
    if chunk.type == "diagnosis":
        timed = last == "order" or len(before) > 1 and before[-1].is_join("with") and before[-2].type == "unit"
        named = len(behind) > 1 and behind[0].is_join("with") and behind[1].type == "tumor"
        return chunk if timed and not named else empty
    if _is_treatment_word(chunk) and last in ("order", "during"):
        # "After treatment for breast cancer": which one is not said.
        unnamed = following is None or following.is_join("with") and following.text.lower() == "for"
        return replace(chunk, type="unread", value="") if unnamed else chunk
    if chunk.is_join("and") and chunk.text.lower().startswith(("but ", "yet ")):
        # What is asserted after "but" ends a denial before it.
        return replace(chunk, value="with")
    if chunk.is_join("except") and chunk.text.lower() == "but" and following is not None:
        goes_on = following.is_join("treat", "with") or following.type in _GOING_ON
        return replace(chunk, value="and") if goes_on else chunk
    return chunk


def _check_shared(cover: Sequence[Edge], kept: Sequence[Item]) -> None:
    """Unclear for ``chemo and radiation before surgery``: whether a time or a doubt is said of one, or of both."""
    for at, edge in enumerate(cover):
        worth = edge.worth
        if not isinstance(worth, Criterion) or worth.kind not in ("timed", "context") or edge.end - edge.start < 2:
            continue
        inside = [item for item in kept[edge.start : edge.end] if isinstance(item, Criterion)]
        for step, own in ((-1, inside[:1]), (1, inside[-1:])):
            joint, beside = (cover[at + n * step].worth if 0 <= at + n * step < len(cover) else None for n in (1, 2))
            if not isinstance(joint, Chunk) or not joint.is_join("and") or joint.text.lower() not in _BARE_AND:
                continue
            then = step == 1 and worth.steps and worth.last
            if (
                then
                and isinstance(beside, Criterion)
                and beside.sort == "treatment"
                and worth.query.count(" before ") + worth.query.count(" then ")
            ):
                raise Unclear(f"whether '{beside.text}' came after, too", (joint.text,))
            shared = worth.kind == "timed" or step == 1
            if shared and own and isinstance(beside, Criterion) and _alike(own[0], beside):
                raise Unclear(f"whether '{beside.text}' is meant as '{own[0].text}' is; say it of each", (joint.text,))


def _apart_in_time(left: Criterion, relation: Relation, right: Criterion) -> bool:
    """Whether the two cannot be in this relation of time; unclear where the one says that it is in another."""
    if "during" in relation.ways and (right.kind == "diagnosis" or right.name == _BEGUN):
        return True
    if {left.kind, right.kind} & _NO_EVENTS or "lasting" in right.query:
        return True
    if "intent = adjuvant" in left.query and "before" in relation.ways and right.kind == "surgery":
        raise Unclear(f"'{left.text}' is given after surgery, and not before it", (left.text,))
    if "intent = neoadjuvant" in left.query and "after" in relation.ways and right.kind == "surgery":
        raise Unclear(f"'{left.text}' is given before surgery, and not after it", (left.text,))
    wide = [one for one in (left, right) if one.sort == "extent" and len(events_of(one.query)) > _MOST_ALTERNATIVES]
    if wide and not (relation.measured or relation.at_time):
        return True
    # "Before the tumor": which day of it is not said.
    return "neoplasm" in (*left.ids, *right.ids)


def _check_ties(cover: Sequence[Edge]) -> None:
    """Unclear where a preposition between two facts says more than that both are wanted, and nothing took it up."""
    ties = book.data("clauses")["ties"]
    for at in range(len(cover) - 2):
        left, joint, right = (edge.worth for edge in cover[at : at + 3])
        if not (isinstance(left, Criterion) and isinstance(joint, Chunk) and isinstance(right, Criterion)):
            continue
        if not joint.is_join("with") or joint.text.lower() not in ties:
            continue
        sorts = f"{_tied(left)}|{_tied(right)}"
        if sorts not in ties[joint.text.lower()]:
            words = (left.text, joint.text, right.text)
            raise Unclear(f"how '{left.text}' and '{right.text}' go together", tuple(one for one in words if one))


def _tied(fact: Criterion) -> str:
    sort = "encounter" if fact.kind == "encounter" else "timed" if fact.kind == "timed" else fact.sort
    if sort == "treatment" and fact.kind in ("surgery", "procedure"):
        return "operation"
    return {"in_situ": "extent"}.get(sort, sort)


def _check_beside(cover: Sequence[Edge], kept: Sequence[Item]) -> None:
    """Unclear for ``FL grade 1-2 transformed to X``: of a disease and what is said of it, the second alone stands in
    time."""
    for before, edge in itertools.pairwise(cover):
        worth, disease = edge.worth, before.worth
        if not isinstance(worth, Criterion) or worth.kind != "timed" or not isinstance(disease, Criterion):
            continue
        first = next((item for item in kept[edge.start : edge.end] if isinstance(item, Criterion)), None)
        opening = kept[edge.start]
        if isinstance(opening, Chunk) and opening.type in ("order", "during", "bounded"):
            raise Unclear(f"what '{opening.text}' is said of", (opening.text,))
        told = first is not None and first.kind in _TOLD_OF_TUMORS
        words = kept[edge.start]
        if disease.kind == "diagnosis" and (told or isinstance(words, Chunk) and words.type in ("grading", "graded")):
            raise Unclear(f"what of '{disease.text}' and '{words.text}' stands in time", (words.text,))


def _check_compounds(cover: Sequence[Edge], items: Sequence[Item]) -> None:
    """Unclear for ``opiate abuse``: of a treatment and an illness side by side, how the two go together is not said."""
    for before, edge in itertools.pairwise(cover):
        left, right = before.worth, edge.worth
        if not (isinstance(left, Criterion) and isinstance(right, Criterion)):
            continue
        ends = [item for item in items if left.end <= item.start < right.start and item is not left]
        if (_tied(left), _tied(right)) == ("treatment", "patient") and not ends:
            raise Unclear(f"how '{left.text}' and '{right.text}' go together", (left.text, right.text))


def _alike(one: Criterion, other: Criterion) -> bool:
    """Whether two criteria are of one kind, so that what is said beside one may be said of both."""
    return (
        one.sort == other.sort
        and one.sort in ("treatment", "disease", "patient")
        and other.kind not in ("timed", "context")
    )


def _says_diagnosed(item: Item) -> bool:
    said = item.text.lower().split() if isinstance(item, Chunk) else []
    return bool(set(said) & set(_house("diagnosed").split()))


def _is_treatment_word(chunk: Chunk) -> bool:
    return chunk.is_join("treat") and chunk.text.lower() in ("treatment", "therapy", "treatments", "therapies")


def _is_empty(item: Item) -> bool:
    return isinstance(item, Chunk) and item.type == "skip"


def _terminal(item: Item) -> frozenset[str]:
    if isinstance(item, Criterion):
        return _types("fact", item)
    if item.type == "join":
        soft = {SOFT} if item.value in _SOFT else set()
        return frozenset({item.value, f'"{item.text.lower()}"', *soft})
    if item.type == "order":
        return frozenset({item.value if item.value in ("within", "then", "during") else "order", "timed"})
    if item.type == "comparison" and item.value in ("between", "through"):
        return frozenset({"comparison", "between", f'"{item.text.lower()}"'})
    if item.type == "unit" and item.value not in _UNITS:
        return frozenset({"measure", "unit_of_value"})
    return frozenset({item.type})


def _types(made: str, worth: Any) -> frozenset[str]:
    if isinstance(worth, Criterion):
        return frozenset({"fact", worth.sort})
    return frozenset({made})


def _cost(item: Item) -> float:
    if isinstance(item, Criterion):
        return _ONE
    return 0.1 if item.type == "join" else _PART


@dataclass
class Composer:
    """The actions of the grammar, over the items of one question."""

    items: Sequence[Item]
    concepts: ConceptTable
    #: Whether the question says "diagnosed" of its disease.
    diagnosed: bool = False

    def actions(self) -> dict[str, Action]:
        """Every action by its name in the grammar."""
        return {name: getattr(self, name) for name in dir(self) if not name.startswith("_") and name != "actions"}

    # --- time -------------------------------------------------------------------------------------------------

    def amount(self, number: Chunk, unit: Chunk) -> Made | None:
        return _amount(number.text, unit)

    def one_unit(self, unit: Chunk) -> Made | None:
        """``within a year``: the article carries nothing, the unit stands for one."""
        return _amount("1", unit) if not unit.text.lower().endswith("s") and len(unit.text) > 2 else None

    def amount_range(self, low: Chunk, high: Chunk, unit: Chunk) -> Made | None:
        made = _amount(low.text, unit)
        return None if made is None else (replace(made[0], high=high.text), _PART)

    def bounded(self, sign: Chunk, amount: Amount) -> Made | None:
        return (Bounded(sign.value, amount), _PART) if sign.value in ("<", "<=", ">", ">=") else None

    def rel_order(self, order: Chunk) -> Made | None:
        return Relation((order.value,)), _PART

    def rel_only(self, order: Chunk) -> Made | None:
        """``found only after``: the first was found after."""
        return Relation((order.value,), only=True), _PART

    def rel_during(self, *_: Any) -> Made | None:
        return Relation(("during",)), _PART

    def rel_bounded(self, bound: Bounded, order: Chunk) -> Made | None:
        if order.value not in ("before", "after"):
            return None
        return Relation((f"{bound.apart} {order.value}",)), _PART

    def rel_within(self, amount: Amount, order: Chunk) -> Made | None:
        return (Relation((f"within {amount} {order.value}",)), _PART) if order.value in ("before", "after") else None

    def rel_within_after(self, amount: Amount) -> Made | None:
        return Relation((f"within {amount} after",)), _PART

    def rel_first(self, pick: Chunk, amount: Amount, order: Chunk) -> Made | None:
        """``in the first 3 months after``."""
        return self.rel_within(amount, order) if pick.value == "first" else None

    def rel_first_of(self, pick: Chunk, amount: Amount) -> Made | None:
        return (Relation((f"within {amount} after",)), _PART) if pick.value == "first" else None

    def rel_bounded_from(self, bound: Bounded) -> Made | None:
        """``less than a year from diagnosis``."""
        return Relation((f"{bound.apart} after",)), _PART

    def rel_around(self, amount: Amount) -> Made | None:
        return Relation((f"within {amount} of",)), _PART

    def rel_between(self, amount: Amount, order: Chunk) -> Made | None:
        if not amount.high or order.value not in ("before", "after"):
            return None
        return Relation((f"between {amount.low} and {amount.high} {amount.unit} {order.value}",)), _PART

    def rel_vague(self, unit: Chunk, order: Chunk) -> Made | None:
        """``years after``: no more than after."""
        return self.rel_order(order) if unit.value in _UNITS and unit.text.lower().endswith("s") else None

    def rel_same_day(self, _: Chunk) -> Made | None:
        return Relation(("on the same day as",)), _PART

    def rel_either(self, one: Relation, other: Relation) -> Made | None:
        return Relation((*one.ways, *other.ways)), _PART

    # --- one fact ---------------------------------------------------------------------------------------------

    def soft(self, fact: Any) -> Made | None:
        """A word that only leads over to what follows."""
        return fact, _ONE + 0.05

    def picked(self, pick: Chunk, fact: Criterion) -> Made | None:
        how = Pick("nth", int(pick.value[0])) if pick.value[0].isdigit() else Pick(pick.value)

        def change(events: Events) -> Events | None:
            return replace(events, pick=how) if events.pick == Pick() and events.context == "present" else None

        return self._changed(fact, change)

    def intended(self, intent: Chunk, fact: Criterion) -> Made | None:
        return self._attributed(fact, "intent", intent.value)

    def sided(self, side: Chunk, fact: Criterion) -> Made | None:
        return self._attributed(fact, "laterality", side.value)

    def begun(self, fact: Criterion) -> Made | None:
        """``started X``: no more than X by itself; in time, the first X."""
        if any(one.moment == "end" for one in events_of(fact.query)):
            return None
        return (replace(fact, name=_BEGUN), _ONE) if events_of(fact.query) else None

    def stopped(self, fact: Criterion) -> Made | None:
        made = self._attributed(fact, "status", "discontinued")
        return None if made is None else (replace(made[0], name=_STOPPED), made[1])

    def stopped_early(self, fact: Criterion, early: Criterion) -> Made | None:
        return self.stopped(fact) if early.text.lower() == "early" else None

    def because(self, fact: Criterion, reason: Chunk) -> Made | None:
        return self._attributed(fact, "reason", reason.value)

    def not_because(self, fact: Criterion, reason: Chunk) -> Made | None:
        """``…, not because of progression``."""

        def change(events: Events) -> Events | None:
            if not _names(events.condition, "reason"):
                return None
            return with_condition(events, NotThat(Is("reason", (Name(reason.value),))))

        return self._changed(fact, change)

    def of_own(self, fact: Criterion) -> Made | None:
        """``radiation to the primary``; of an operation it says which organ, that no record of it tells for certain."""
        return (fact, _ONE) if fact.kind in ("radiation", "medication", "regimen") else None

    def stain(self, stain: Chunk) -> Made | None:
        return (stain.value,), _PART

    def stain_or(self, stains: tuple[str, ...], stain: Chunk) -> Made | None:
        return (*stains, stain.value), _PART

    def stained(self, marker: Chunk, stains: tuple[str, ...]) -> Made | None:
        """``HER2 IHC 2+``."""
        if len(marker.ids) != 1:
            return None
        ids = marker.ids if marker.type == "biomarker" else marker.others.get("biomarker", marker.ids)
        values = ", ".join("'0'" if one == "0" else f"'{one}+'" for one in stains)
        return Criterion("finding", f"biomarker {concept(ids[0])} in ({values})", marker.text, "biomarker"), _ONE

    def because_of_fact(self, fact: Criterion, harm: Criterion) -> Made | None:
        """Ended for a harm that is named: reasons are held by their class, which is less than was asked."""
        if fact.kind == "timed" or not events_of(harm.query) or "context" in (fact.kind, harm.kind):
            return None
        if not all((one.kind or "adverse_event") in _HARMS for one in events_of(harm.query)):
            return None
        if self._attributed(fact, "reason", "toxicity") is None:
            return None
        raise Unclear(
            f"'{harm.text}' as the reason: reasons are held by their class (toxicity, progression, …); ask for "
            f"'stopped for toxicity', or for {harm.text} during the treatment",
            (harm.text,),
        )

    def ended_for(self, fact: Criterion, harm: Criterion) -> Made | None:
        """``stopped for diarrhea``; of what was not stopped or reduced, ``for`` says what it was given for."""
        if "status = discontinued" not in fact.query and "change =" not in fact.query:
            return None
        return self.because_of_fact(fact, harm)

    def dosed(self, dose: Chunk, fact: Criterion) -> Made | None:
        return self._attributed(fact, "change", dose.value)

    def first_treated(self, pick: Chunk, fact: Criterion) -> Made | None:
        """``first treated with X``: X in the first line."""
        return self.line(Chunk("line", pick.text, pick.start, pick.end, "1"), fact) if pick.value == "first" else None

    def line_of_any(self, line: Chunk, treat: Chunk) -> Made | None:
        """``first-line treatment`` without a drug: any systemic therapy."""
        if treat.text.lower().split()[-1] not in ("treatment", "therapy", "treatments", "therapies"):
            return None
        systemic = Criterion("treatment", "medication 'systemic therapy'", line.text, "medication")
        made = self.line(line, systemic)
        return None if made is None else (made[0], made[1] + 0.3)

    def begun_after(self, fact: Criterion) -> Made | None:
        """``cisplatin was started``; what follows may be what began, which costs less."""
        made = self.begun(fact)
        return None if made is None else (made[0], made[1] + 0.2)

    def dropped(self, fact: Criterion, word: Chunk) -> Made | None:
        return self.stopped(fact) if word.text.lower() == "dropped" else None

    # --- where, and how much ----------------------------------------------------------------------------------

    def sites(self, site: Chunk) -> Made | None:
        # "T7" is a vertebra, and looks like a category.
        plain = len(site.ids) == 1 and not any(letter.isdigit() for letter in site.text)
        return (Sites(site.ids[:1]), _PART) if plain else None

    def sites_or(self, sites: Sites, site: Chunk) -> Made | None:
        return (Sites((*sites.ids, *site.ids)), _PART) if len(site.ids) == 1 else None

    def at_sites(self, fact: Criterion, *rest: Any) -> Made | None:
        """``sarcoma of the thigh``, ``radiation to the spine``, ``relapse in the brain``."""
        ids = rest[-1].ids
        if fact.kind == "diagnosis" and any(self._elsewhere(one, ids) for one in fact.ids):
            return None
        own = [self.concepts.get(one).site for one in fact.ids] if fact.kind == "diagnosis" else []
        if own and all(one in self.concepts and any(self.concepts.is_a(one, site) for site in ids) for one in own):
            # "Gastrointestinal … of the small bowel": the wider site says nothing more.
            return fact, _ONE
        if fact.kind == "diagnosis" and len(fact.ids) == len(ids) == 1 and (named := self._named_at(fact, ids[0])):
            return replace(fact, query=diagnosis(named), ids=named), _ONE

        def change(events: Events) -> Events | None:
            if events.kind == "metastasis" or events.context != "present" or not self._can(events, fact, "site"):
                return None
            if _names(events.condition, "site"):
                return None
            return with_condition(events, Is("site", tuple(Name(concept(one)) for one in ids)))

        return self._changed(fact, change)

    def _elsewhere(self, disease: str, sites: Sequence[str]) -> bool:
        """Whether a disease is of another organ than the sites."""
        own = self.concepts.get(disease).site
        return bool(own) and own in self.concepts and not any(self.concepts.related(own, one) for one in sites)

    def _named_at(self, fact: Criterion, site: str) -> tuple[str, ...]:
        """The disease that a tumor of the site is called: ``malignancy arising in the lung``."""
        base = fact.ids[0]
        where = [self.concepts.name(site), *book.data("words")["sites"].get(self.concepts.name(site), ())]
        what = "cancer" if base in ("neoplasm", "malignant_neoplasm") else self.concepts.name(base)
        for place in where:
            for name in (f"{place} {what}", f"{what} of {place}"):
                found = self.concepts.lookup(name, ("tumor",))
                if len(found) == 1 and found[0] != base and self.concepts.is_a(found[0], base):
                    return found
        return ()

    def node_involved(self, site: Chunk) -> Made | None:
        if len(site.ids) != 1 or not self.concepts.is_a(site.ids[0], "lymph_node"):
            return None
        node = concept(site.ids[0])
        query = f"(lymph node {node} with (positive >= 1 or result = positive) or metastasis to {node})"
        return Criterion("finding", query, site.text, "node"), _ONE

    def node_positive(self, value: Chunk, site: Chunk) -> Made | None:
        return self.node_involved(site) if _is_positive(value) else None

    def graded(self, graded: Chunk) -> Made | None:
        return Criterion("finding", f"grade {graded.value}", graded.text, "grade"), _ONE

    def grade_is(self, grading: Chunk, number: Chunk) -> Made | None:
        return self._grade(grading, f"= {number.text}", number)

    def grade_compared(self, grading: Chunk, sign: Chunk, number: Chunk) -> Made | None:
        return self._grade(grading, f"{sign.value} {number.text}", number) if sign.value in _SIGNS else None

    def grade_between(self, grading: Chunk, low: Chunk, high: Chunk) -> Made | None:
        return self._grade(grading, f"between {low.text} and {high.text}", high)

    def gleason_sum(
        self, grading: Chunk, one: Chunk, plus: Chunk, other: Chunk, sign: Chunk | None = None
    ) -> Made | None:
        if grading.value != "gleason" or plus.text.lower() != "plus" or not (one.text + other.text).isdigit():
            return None
        total = int(one.text) + int(other.text)
        # 3 + 4 and 4 + 3 have one sum and are not the same.
        return None if total == 7 else self._grade(grading, f"{'=' if sign is None else sign.value} {total}", other)

    def _grade(self, grading: Chunk, test: str, number: Chunk) -> Made | None:
        if not number.text.isdigit() or int(number.text) > (10 if grading.value == "gleason" else 5):
            return None
        query = f"grade with scale = gleason, value {test}" if grading.value == "gleason" else f"grade {test}"
        return Criterion("finding", query, grading.text, "grade"), _ONE

    def event_grade(self, grading: Chunk, number: Chunk, fact: Criterion) -> Made | None:
        return self._event_grade(fact, f"grade = {number.text}") if grading.value == "grade" else None

    def event_grade_after(self, grading: Chunk, number: Chunk, sign: Chunk, fact: Criterion) -> Made | None:
        return self._event_grade(fact, f"grade {sign.value} {number.text}") if grading.value == "grade" else None

    def event_grade_between(self, low: Chunk, high: Chunk, fact: Criterion) -> Made | None:
        return self._event_grade(fact, f"grade between {low.text} and {high.text}")

    def _event_grade(self, fact: Criterion, condition: str) -> Made | None:
        """``grade 3 neuropathy``: of the illness, symptom or side effect."""
        events = events_of(fact.query)
        if not events or any(one.context != "present" or not self._can(one, fact, "grade") for one in events):
            return None
        return replace(fact, query=either([f"{text_of_events([one])} with {condition}" for one in events])), _ONE

    def abnormal(self, marker: Chunk) -> Made | None:
        """A marker whose words say what was found is positive: ``t(4;14)``, ``17p deletion``, ``double hit``."""
        words = marker.text.lower().replace("(", " ").replace("-", " ").split()
        if len(marker.ids) != 1 or not set(words) & set(_house("abnormal").split()):
            return None
        return Criterion("finding", f"biomarker {concept(marker.ids[0])} = positive", marker.text, "biomarker"), _ONE

    def gene_result(self, gene: Chunk, value: Chunk) -> Made | None:
        """``EGFR negative``: no change was found, or the test says so."""
        if len(gene.ids) != 1 or not _is_negative(value):
            return None
        named = concept(gene.ids[0])
        query = f"(no evidence of variant {named} or biomarker {named} = negative or biomarker {named} = 'wild type')"
        return Criterion("finding", query, gene.text, "biomarker"), _ONE

    def rel_at(self, _: Chunk) -> Made | None:
        """``at start of nivolumab``."""
        days = _house("days_at_the_time")
        return Relation((f"within {days} days of",), at_time=True, of_begin=True), _PART

    def rel_at_time(self, _: Chunk) -> Made | None:
        days = _house("days_at_the_time")
        return Relation((f"within {days} days of",), at_time=True), _PART

    def alternatives(self, one: Criterion, other: Criterion) -> Made | None:
        if one.sort != other.sort or not events_of(one.query) or not events_of(other.query):
            return None
        kinds = {events.kind for events in (*events_of(one.query), *events_of(other.query))}
        if len(kinds) > 1 and not kinds <= {*_TREATED, None}:
            return None
        query = text_of_events((*events_of(one.query), *events_of(other.query)))
        return replace(one, query=query, ids=(), plural=True), _ALTERNATIVE * (str(query).count(" or ") + 1)

    def finished(self, fact: Criterion) -> Made | None:
        """The end of a treatment; of several courses, of the last."""

        def change(events: Events) -> Events | None:
            if events.context != "present" or events.moment == "end":
                return None
            return replace(events, moment="end")

        return self._changed(fact, change)

    def ongoing(self, fact: Criterion) -> Made | None:
        queries = [f"ongoing {text_of_events([one])}" for one in events_of(fact.query) if one.context == "present"]
        return (replace(fact, query=either(queries), beside=""), _ONE) if queries else None

    def lasting(self, fact: Criterion, lasting: Lasting) -> Made | None:
        bound = lasting.bound
        words = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}[bound.operator]
        queries = [f"{text_of_events([one])} lasting {words} {bound.amount}" for one in events_of(fact.query)]
        return (replace(fact, query=either(queries), beside=""), _ONE) if queries else None

    def span_of(self, span: Chunk, amount: Amount, fact: Criterion) -> Made | None:
        """``fewer than 6 months of oxaliplatin``."""
        return self.lasting(fact, Lasting(Bounded(span.value, amount)))

    def bounded_of(self, bound: Bounded, fact: Criterion) -> Made | None:
        return self.lasting(fact, Lasting(bound))

    def span_said(self, span: Chunk, amount: Amount) -> Made | None:
        return Lasting(Bounded(span.value, amount)), _PART

    def span(self, bound: Bounded) -> Made | None:
        return Lasting(bound), _PART

    def span_at_least(self, amount: Amount) -> Made | None:
        return Lasting(Bounded(">=", amount)), _PART

    def line(self, line: Chunk, fact: Criterion) -> Made | None:
        events = events_of(fact.query)
        order = {"1": "first", "2": "second", "3": "third", "4": "4th"}[line.value]
        if not events or any(one.context != "present" or not self._can(one, fact, "line") for one in events):
            return None
        queries = [f"{order}-line {text_of_events([one])}" for one in events]
        return replace(fact, query=either(queries), beside=""), _ONE

    def lines(self, count: Count, told: Chunk) -> Made | None:
        systemic = Criterion("treatment", "medication 'systemic therapy'", told.text, "medication")
        return self._times(systemic, count, "in", "lines")

    def lines_before(self, count: Count, order: Chunk, fact: Criterion) -> Made | None:
        """``at least 2 lines before osimertinib``: it was first given in the third, or later."""
        events = events_of(fact.query)
        if (
            order.value != "before"
            or count.most is not None
            or len(events) != 1
            or not self._can(events[0], fact, "line")
        ):
            return None
        first = with_condition(replace(events[0], pick=Pick("first")), Compare("line", ">=", float(count.least + 1)))
        return replace(fact, query=text_of_events([first]), ids=(), kind="counted"), _ONE

    def concurrent(self, one: Criterion, both: Chunk, other: Criterion) -> Made | None:
        """``radiation with concurrent cisplatin``."""
        at_once = both.text.lower() in _house("at_once")
        return self.related(one, Relation(("overlapping",)), other) if at_once and one.kind != other.kind else None

    def needing(self, harm: Criterion, treatment: Criterion) -> Made | None:
        """``tumor lysis syndrome requiring dialysis``: given on or after it."""
        if not _is_harm(harm):
            return None
        return self.related(treatment, Relation(("on or after",)), harm)

    def first_was(self, pick: Chunk, wide: Criterion, narrow: Criterion) -> Made | None:
        """``whose first systemic therapy was carboplatin plus paclitaxel``."""
        if pick.value == "first" and "systemic therapy" in wide.query:
            return self.line(Chunk("line", pick.text, pick.start, pick.end, "1"), narrow)
        return self.as_first(narrow, pick, wide)

    def together(self, one: Criterion, joint: Chunk, other: Criterion) -> Made | None:
        """``radiotherapy together with temozolomide``: at one time."""
        words = _house("together")
        if joint.text.lower() not in words or {one.kind, other.kind} not in (
            {"radiation", "medication"}, {"radiation", "regimen"},
        ):  # fmt: skip
            return None
        return self.related(one, Relation(("overlapping",)), other)

    def lines_of(self, count: Count, fact: Criterion) -> Made | None:
        events = events_of(fact.query)
        if len(events) != 1 or not self._can(events[0], fact, "line"):
            return None
        return self._times(fact, count, "in", "lines")

    # --- days -------------------------------------------------------------------------------------------------

    def windowed(self, fact: Criterion, window: str) -> Made | None:
        events = events_of(fact.query)
        if not events or any(one.window is not None for one in events):
            return None
        return replace(fact, query=either([f"{text_of_events([one])} {window}" for one in events]), beside=""), _ONE

    def window_in(self, date: Chunk) -> Made | None:
        return f"in {date.text}", _PART

    def window_since(self, sign: Chunk, date: Chunk) -> Made | None:
        return f"{sign.value} {date.text}", _PART

    def window_order(self, order: Chunk, date: Chunk) -> Made | None:
        return (f"{order.value} {date.text}", _PART) if order.value in ("before", "after") else None

    def window_between(self, low: Chunk, high: Chunk) -> Made | None:
        return f"between {low.text} and {high.text}", _PART

    def window_last(self, amount: Amount) -> Made | None:
        return (f"in the last {amount}", _PART) if not amount.high else None

    def window_ago(self, bound: Bounded) -> Made | None:
        within = _APART[bound.operator] == "within"
        return (f"in the last {bound.amount}" if within else f"{bound.apart} ago"), _PART

    # --- what is not simply so --------------------------------------------------------------------------------

    def in_context(self, context: Chunk, fact: Criterion) -> Made | None:
        return self._of_context(fact, context.value)

    def in_context_after(self, fact: Criterion, context: Chunk) -> Made | None:
        """``brain mets suspected``; what follows it may be what is meant, which costs less."""
        made = self._of_context(fact, context.value)
        return None if made is None or "of" in context.text.lower().split() else (made[0], made[1] + 0.2)

    def in_context_seen(self, fact: Criterion, context: Chunk, seen: Criterion) -> Made | None:
        """``suspected on imaging``: by what, as long as that is any image."""
        return self.in_context_after(fact, context) if seen.ids == ("imaging",) else None

    def ruled_out(self, fact: Criterion) -> Made | None:
        """Denied; where it was suspected before, denied after that."""
        events = events_of(fact.query)
        if not events:
            return None
        if all(one.context == "uncertain" for one in events):
            pairs = [
                f"({text_of_events([one])} before {text_of_events([replace(one, context='absent')])})" for one in events
            ]
            return replace(fact, query=either(pairs), ids=(), outside=True, kind="context"), _ONE
        return self._of_context(fact, "no evidence of")

    def ruled_out_by(self, fact: Criterion, test: Criterion) -> Made | None:
        """``ruled out by biopsy``: and the test was made."""
        made = self.ruled_out(fact)
        if made is None or not events_of(test.query):
            return None
        return replace(made[0], query=f"({made[0].query} and {test.query})"), made[1]

    def denied_change(self, fact: Criterion, value: Chunk) -> Made | None:
        """``germline BRCA neg``: a change of a gene that was looked for and not found."""
        if fact.kind != "variant" or not _is_negative(value):
            return None
        events = events_of(fact.query) or tuple(
            one for one in find(parse(fact.query).body, Events) if one.concept is not None
        )
        if not events:
            return None
        denied = [Events(one.kind, one.concept, context="absent") for one in events[:1]]
        return replace(fact, query=text_of_events(denied), ids=(), phrase=None), _ONE

    def not_done(self, fact: Criterion) -> Made | None:
        """``… was planned but never done``: what was planned, and not there."""
        events = events_of(fact.query)
        if not events or any(one.context != "planned" for one in events):
            return None
        done = text_of_events([replace(one, context="present") for one in events])
        query = f"({text_of_events(events)} and not {done})"
        return replace(fact, query=query, ids=(), outside=True, kind="context"), _ONE

    def _of_context(self, fact: Criterion, context: str) -> Made | None:
        events = events_of(fact.query)
        if not events or len(events) > _MOST_ALTERNATIVES or any(one.context != "present" for one in events):
            return None
        sort = "treatment" if fact.sort == "treatment" else "patient"
        query = either([f"{context} {text_of_events([one])}" for one in events])
        made = replace(fact, sort=sort, query=query, ids=(), beside="", kind="context", outside=True, plural=False)
        return made, _ONE

    # --- the person -------------------------------------------------------------------------------------------

    def aged(self, sign: Chunk, number: Chunk) -> Made | None:
        return _age(sign.value, number.text)

    def aged_order(self, order: Chunk, number: Chunk) -> Made | None:
        """``before age 50``."""
        return _age({"before": "<", "after": ">="}.get(order.value, ""), number.text)

    def aged_range(self, low: Chunk, high: Chunk) -> Made | None:
        return Age(f"between {low.text} and {high.text}"), _PART

    def aged_years(self, sign: Chunk, number: Chunk, unit: Chunk) -> Made | None:
        made = _age(sign.value, number.text) if unit.value == "year" else None
        return None if made is None else (replace(made[0], sure=False), _PART)

    def aged_bare(self, sign: Chunk, number: Chunk) -> Made | None:
        """``women under 40``: a bare number may be an age where nothing else takes it."""
        made = _age(sign.value, number.text)
        return None if made is None or not 10 <= int(number.text) <= 100 else (replace(made[0], sure=False), _PART)

    def age_of(self, age: Age) -> Made | None:
        """An age without an event is that at a diagnosis, or now: it is asked which."""
        made = self._aged(age, self._disease(), _ONE if age.sure else _UNSURE)
        return None if made is None else (replace(made[0], readings=(made[0].query, f"age {age.test} now")), made[1])

    def age_at_day(self, age: Age) -> Made | None:
        return self._aged(age, self._disease(), _ONE)

    def age_at(self, age: Age, fact: Criterion) -> Made | None:
        return self._aged(age, fact, _ONE)

    def aged_from(self, sign: Chunk, low: Chunk, high: Chunk) -> Made | None:
        return (Age(f"between {low.text} and {high.text}"), _PART) if sign.value == "between" else None

    def age_of_disease(self, disease: Criterion, age: Age) -> Made | None:
        """``colorectal cancer diagnosed before age 50``; without that word it is open at which time."""
        if not self.diagnosed:
            return None
        made = self._aged(age, disease, _ONE if age.sure else _UNSURE)
        return None if made is None else (replace(made[0], ids=disease.ids), made[1])

    def class_of(self, scale: Chunk, letter: Chunk) -> Made | None:
        """``Child-Pugh B``."""
        if len(scale.ids) != 1 or letter.text.upper() not in ("A", "B", "C", "D"):
            return None
        query = f"measurement {concept(scale.ids[0])} with written = {letter.text.upper()}"
        return Criterion("patient", query, scale.text, "measurement"), _ONE

    def class_of_either(self, scale: Chunk, one: Chunk, other: Chunk) -> Made | None:
        first, second = self.class_of(scale, one), self.class_of(scale, other)
        if first is None or second is None:
            return None
        return replace(first[0], query=either([first[0].query, second[0].query])), _ONE

    def _aged(self, age: Age, fact: Criterion | None, cost: float) -> Made | None:
        events = () if fact is None else events_of(fact.query)
        if fact is not None and fact.disease and len(events) != 1:
            events = events_of(fact.disease)
        if fact is None or len(events) != 1 or events[0].context != "present":
            return None
        if events[0].pick == Pick():
            events = (replace(events[0], pick=Pick("first")),)
        return Criterion("patient", f"age {age.test} at {text_of_events(events)}", fact.text, "age"), cost

    def sex(self, sex: Chunk) -> Made | None:
        return Criterion("patient", f"sex = {sex.value}", sex.text, "sex"), _ONE

    def kin(self, relative: Chunk) -> Made | None:
        return Kin((relative.value,)), _PART

    def kin_and(self, one: Kin, other: Kin) -> Made | None:
        """``mom and sister``: each of them."""
        return replace(one, also=(*one.also, other)), _PART

    def kin_or(self, one: Kin, other: Kin) -> Made | None:
        return Kin((*one.names, *other.names)), _PART

    def family_in(self, context: Chunk, disease: Criterion, kin: Kin, age: Age | None = None) -> Made | None:
        return self.family(kin, disease, age) if context.value == "family history of" else None

    def family(self, kin: Kin, disease: Criterion, age: Age | None = None) -> Made | None:
        names = [f"'{name}'" for name in kin.names]
        which = f"relative = {names[0]}" if len(names) == 1 else f"relative in ({', '.join(names)})"
        at = f", relative_age {age.test}" if age is not None else ""
        queries = [f"family history of {text_of_events([one])} with {which}{at}" for one in events_of(disease.query)]
        if not queries:
            return None
        others = [made[0].query for one in kin.also if (made := self.family(one, disease, age)) is not None]
        return Criterion("patient", both([either(queries), *others]), disease.text, "context", outside=True), _ONE

    # --- how often --------------------------------------------------------------------------------------------

    def count(self, sign: Chunk, number: Chunk) -> Made | None:
        return _counted(sign.value, number.text)

    def count_exact(self, exactly: Chunk, number: Chunk) -> Made | None:
        return _counted("=", number.text) if exactly.value == "exactly" else None

    def count_bare(self, number: Chunk) -> Made | None:
        """``two recurrences``: as many, or as many or more."""
        made = _counted(">=", number.text)
        return None if made is None else (replace(made[0], bare=True), made[1])

    def often(self, count: Count) -> Made | None:
        return Often(count), _PART

    def often_times(self, sign: Chunk, times: Chunk) -> Made | None:
        made = _counted(sign.value, times.value)
        return None if made is None else (Often(made[0]), _PART)

    def often_bare(self, times: Chunk) -> Made | None:
        made = _counted(">=", times.value)
        return None if made is None else (Often(made[0]), _PART)

    def counted(self, fact: Criterion, often: Often) -> Made | None:
        return self._times(fact, often.count, "on", "days")

    def counted_before(self, count: Count, fact: Criterion) -> Made | None:
        """``two or more biopsies``; of drugs and their classes, as many of them."""
        kinds = {events.kind for events in events_of(fact.query)}
        if fact.kind == "diagnosis":
            return self._tumors(count, fact)
        if fact.kind == "condition":
            # "Type 2 diabetes": a number before an illness is seldom how often it was there.
            return None
        if kinds & {"medication", "regimen"}:
            return self._times(fact, count, "of", "kinds") if fact.text.lower().endswith("s") else None
        return self._times(fact, count, "on", "days")

    def _tumors(self, count: Count, fact: Criterion) -> Made | None:
        """``three or more primary cancers``: as many tumors."""
        if not events_of(fact.query) or count.least < 1:
            return None
        body = text_of_events(events_of(fact.query))
        made = Criterion("patient", f"{count.words()[0]} tumors ({body})", fact.text, "counted", outside=True)
        if count.bare:
            made = replace(made, readings=(made.query, f"exactly {count.least} tumors ({body})"))
        return made, _ONE

    def counted_members(self, count: Count, fact: Criterion) -> Made | None:
        if not {events.kind for events in events_of(fact.query)} & {"medication", "regimen"}:
            return None
        return self._times(fact, count, "of", "kinds")

    def members(self, fact: Criterion) -> Made | None:
        return replace(fact, plural=True), _ONE

    def cycles(self, count: Count, fact: Criterion) -> Made | None:
        return self._compared(fact, "cycles", count)

    def cycles_total(self, count: Count, fact: Criterion) -> Made | None:
        """``more than 6 cycles of carboplatin in total``: added up over all courses."""
        events = events_of(fact.query)
        if len(events) != 1 or not self._can(events[0], fact, "cycles") or events[0].context != "present":
            return None
        operator, bound = count.test()
        query = f"total cycles of {text_of_events(events)} {operator} {bound}"
        return replace(fact, query=query, ids=(), kind="counted", beside=""), _ONE

    def repeated(self, count: Count, fact: Criterion, relation: Relation, other: Criterion) -> Made | None:
        """``three or more ED visits in the year after starting chemo``."""
        events, others = events_of(fact.query), _dated(_in_time(other))
        concepts = [one.concept for one in events if one.concept is not None]
        alike = {replace(one, concept=None) for one in events}
        if len(others) != 1 or len(relation.ways) != 1 or len(alike) != 1 or len(concepts) != len(events):
            return None
        counted = events[0] if len(events) == 1 else replace(events[0], concept=Union(tuple(concepts)))
        words = count.words()[0]
        inner = f"{text_of_events([counted])} {relation.ways[0]} {text_of_events(others)}"
        return self._joint(fact, other, f"{words} times ({inner})"), _ONE

    # --- numbers that move ------------------------------------------------------------------------------------

    def doubled(self, marker: Chunk, doubled: Chunk) -> Made | None:
        return self._moved("rise", marker, f" >= {doubled.value}%")

    def rose(self, marker: Chunk, rose: Chunk) -> Made | None:
        return self._moved(rose.value, marker, "")

    def rose_by(self, marker: Chunk, rose: Chunk, sign: Chunk, number: Chunk, unit: Chunk | None = None) -> Made | None:
        """``hemoglobin dropped by more than 2 g/dL``, ``ECOG worse by at least 2 points``."""
        return self.rose_by_number(marker, rose, number, unit) if sign.value in (">", ">=") else None

    def rose_by_number(self, marker: Chunk, rose: Chunk, number: Chunk, unit: Chunk | None = None) -> Made | None:
        measure = "" if unit is None else f" {unit.value}"
        return self._moved(rose.value, marker, f" >= {number.text}{measure}")

    def rose_within(self, moved: Criterion, amount: Amount) -> Made | None:
        if moved.kind != "change" or " within " in moved.query:
            return None
        return replace(moved, query=f"{moved.query} within {amount}"), _ONE

    def _moved(self, way: str, marker: Chunk, amount: str) -> Made | None:
        if marker.type == "performance":
            what = "KPS" if "kps" in (marker.value, *marker.ids) else "ECOG"
        elif len(marker.ids) == 1:
            kind = "lab" if marker.type == "biomarker" else marker.type
            what = f"{kind_spelling(kind)} {concept(marker.ids[0])}"
        else:
            return None
        sort = "patient" if marker.type in ("performance", "vital") else "finding"
        return Criterion(sort, f"{way} of {what}{amount}", marker.text, "change"), _ONE

    def nodes(self, count: Count, told: Chunk) -> Made | None:
        operator, bound = count.test()
        return Criterion("finding", f"lymph node with {told.value} {operator} {bound}", told.text, "node"), _ONE

    def _times(self, fact: Criterion, count: Count, begin: str, end: str) -> Made | None:
        events = events_of(fact.query)
        if len(events) != 1 or events[0].pick != Pick() or events[0].context != "present":
            return None
        kind = events[0].kind or fact.kind
        if end == "days" and (kind in _TOLD_AGAIN or kind in COURSES and kind != "radiation"):
            # Spread is told again and again, and a course is given on many days: days do not count either.
            return None
        query = text_of_events(events)
        parts = [f"{query} {begin} {words} {end}" for words in count.words()]
        made = replace(fact, query=parts[0], ids=(), kind="counted")
        if count.bare:
            # "Two recurrences": two or more, or no more than two.
            made = replace(made, readings=(parts[0], f"{query} {begin} exactly {count.least} {end}"))
        return made, _ONE

    # --- two facts --------------------------------------------------------------------------------------------

    def changed(self, marker: Chunk, old: Chunk, new: Chunk) -> Made | None:
        """``HER2 changed from negative to positive``: the one result before the other."""
        named = marker.ids or ()
        if len(named) != 1 or len(old.ids) != 1 or len(new.ids) != 1:
            return None
        which = f"biomarker {concept(named[0])} ="
        query = f"({which} {self._name(old)} before {which} {self._name(new)})"
        return Criterion("finding", query, marker.text, "timed"), _ONE

    def _name(self, value: Chunk) -> str:
        return name_text(self.concepts.name(value.ids[0]))

    def found_on(self, fact: Criterion, how: Criterion) -> Made | None:
        """``ER positive on the resection``, ``brain metastases on MRI``: the specimen, or the study that showed it."""
        ids = how.ids or (("surgery",) if how.query == "surgery" else ())
        if (
            len(ids) != 1
            or how.query != "surgery"
            and how.kind not in ("surgery", "procedure")
            or not events_of(fact.query)
        ):
            return None
        if all(self._can(one, fact, "found_by") for one in events_of(fact.query)):
            return self._attributed(fact, "found_by", concept(ids[0]))
        kinds = _house("specimens")
        found = [value for value, wide in kinds.items() if any(self.concepts.is_a(ids[0], one) for one in wide)]
        return self._attributed(fact, "specimen", found[0]) if found else None

    def node_found_by(self, site: Chunk, how: Criterion) -> Made | None:
        """``mediastinal nodes proven by EBUS``."""
        made = self.node_involved(site)
        return None if made is None else self.found_on(made[0], how)

    def on_primary(self, fact: Criterion) -> Made | None:
        return self._attributed(fact, "specimen_of", "primary")

    def on_metastasis(self, fact: Criterion, spread: Criterion) -> Made | None:
        """``T790M on the metastasis``."""
        words = set(spread.text.lower().split())
        if not words & set(_house("metastasis").split()):
            return None
        return self._attributed(fact, "specimen_of", "metastasis")

    def on_same_specimen(self, one: Criterion, other: Criterion) -> Made | None:
        lefts, rights = events_of(one.query), events_of(other.query)
        if not lefts or not rights:
            return None
        query = f"({text_of_events(lefts)} on the same specimen as {text_of_events(rights)})"
        return self._joint(one, other, query), _ONE

    def switched_because(self, first: Criterion, second: Criterion, reason: Chunk) -> Made | None:
        """``switched from A to B because of intolerance``: A was ended for it."""
        ended = self._attributed(first, "reason", reason.value)
        return None if ended is None else self.related(ended[0], Relation(("before",)), second)

    def after_progression(
        self, fact: Criterion, relation: Relation, state: Criterion, treatment: Criterion
    ) -> Made | None:
        """``A after progression on B``: B, then progression, then A."""
        states = set(state.ids) & set(book.data("timing")["on_treatment"]["states"])
        facts, ended, given = _in_time(fact), events_of(state.query), _in_time(treatment)
        if relation.ways != ("after",) or not states or not facts or not ended or not given:
            return None
        parts = [text_of_events([one]) for one in (*given, *ended, *facts)]
        if len(given) == len(ended) == len(facts) == 1:
            return self._joint(fact, treatment, f"({' then '.join(parts)})"), _ONE
        steps = [text_of_events(one) for one in (given, ended, facts)]
        return self._joint(fact, treatment, f"({' then '.join(steps)})"), _ONE

    def harm_on(self, harm: Criterion, treatment: Criterion) -> Made | None:
        """``atrial fibrillation on ibrutinib``."""
        if not _is_harm(harm) or not events_of(treatment.query):
            return None
        return self.related(harm, Relation(("during",)), treatment)

    def harm_from(self, harm: Criterion, treatment: Criterion) -> Made | None:
        """``anaphylaxis to carboplatin``: as a side effect of it, or an allergy to it."""
        events, drugs = events_of(harm.query), events_of(treatment.query)
        if not _is_harm(harm) or not events or not drugs or len(treatment.ids) != 1 or len(harm.ids) != 1:
            return None
        named, cause = concept(harm.ids[0]), concept(treatment.ids[0])
        query = f"(adverse event {named} with cause = {cause} or allergy to {cause} with reaction = {named})"
        return Criterion("patient", query, harm.text, "harm"), _ONE

    def treated_onset(self, treatment: Criterion, harm: Criterion) -> Made | None:
        """``on an inhibitor who developed colitis``: after it was begun."""
        if not _is_harm(harm) and not harm.plural:
            return None
        return self.related(harm, Relation(("on or after",)), replace(treatment, name=_BEGUN))

    def onset(self, fact: Criterion) -> Made | None:
        return fact, _ONE

    def presenting(self, fact: Criterion) -> Made | None:
        """``presenting with jaundice``: at the diagnosis."""
        return self.at_diagnosis(fact) if fact.sort == "patient" else None

    def at_diagnosis_of(self, fact: Criterion, disease: Criterion) -> Made | None:
        first = self.picked(_first(disease), disease)
        return None if first is None else self.related(fact, _near_diagnosis(), first[0])

    def stay_for(self, stay: Criterion, illness: Criterion) -> Made | None:
        """``admitted for neutropenic sepsis``: which falls into the stay."""
        if stay.kind != "encounter" or not events_of(illness.query) or not events_of(stay.query):
            return None
        return self.related(illness, Relation(("during",)), stay)

    def response_to(self, state: Criterion, treatment: Criterion) -> Made | None:
        """``complete response to cetuximab``: from its beginning on."""
        if state.kind != "state":
            return None
        return self.related(state, Relation(("on or after",)), replace(treatment, name=_BEGUN))

    def given_in(self, treatment: Criterion, state: Criterion) -> Made | None:
        """``a transplant in first remission``: the state was reached by then."""
        if state.kind != "state" or not events_of(state.query):
            return None
        return self.related(state, Relation(("on or before",)), treatment)

    def two_diseases(self, one: Criterion, other: Criterion) -> Made | None:
        """``appendiceal neoplasm with pseudomyxoma``: both, where neither is a kind of the other."""
        if len(one.ids) != 1 or len(other.ids) != 1 or self.concepts.related(one.ids[0], other.ids[0]):
            return None
        wide = {"neoplasm", "malignant_neoplasm", "carcinoma", "adenocarcinoma"}
        if wide & {*one.ids, *other.ids} or meet(one.ids[0], other.ids[0], self.concepts):
            return None
        return Criterion("patient", f"({one.query} and {other.query})", one.text, "diseases"), _ONE + 0.05

    def class_with(self, wide: Criterion, narrow: Criterion) -> Made | None:
        """``chemotherapy with carboplatin``: the class says nothing beside its member."""
        classes = wide.ids or (("cytotoxic_chemotherapy",) if "cytotoxic chemotherapy" in wide.query else ())
        if len(classes) != 1 or len(narrow.ids) != 1 or not self.concepts.is_a(narrow.ids[0], classes[0]):
            return None
        return narrow, _ONE

    def at_sites_near(self, fact: Criterion, sites: Sites) -> Made | None:
        made = self.at_sites(fact, sites)
        return None if made is None else (made[0], made[1] - 0.05)

    def as_first(self, given: Criterion, pick: Chunk, wide: Criterion) -> Made | None:
        """``alectinib as the first ALK inhibitor``: with no other one before it."""
        events, others = events_of(given.query), events_of(wide.query)
        if pick.value != "first" or len(given.ids) != 1 or len(wide.ids) != 1 or len(events) != 1 or len(others) != 1:
            return None
        if not self.concepts.is_a(given.ids[0], wide.ids[0]) or given.ids == wide.ids:
            return None
        other = f"medication any {concept(wide.ids[0])} other than {concept(given.ids[0])}"
        return replace(given, query=f"{text_of_events(events)} with no {other} before it", ids=(), kind="timed"), _ONE

    def progressed_on(self, state: Criterion, treatment: Criterion) -> Made | None:
        """``progressed on osimertinib``: after it was begun."""
        if not set(state.ids) & set(book.data("timing")["on_treatment"]["states"]):
            return None
        return self.related(state, Relation(("after",)), treatment)

    def word(self, word: Chunk) -> Made | None:
        return word, _PART

    def later(self, first: Criterion, second: Criterion) -> Made | None:
        return self.related(first, Relation(("before",)), second)

    def genes(self, gene: Chunk) -> Made | None:
        return (gene,), _PART

    def genes_more(self, genes: tuple[Chunk, ...], gene: Chunk) -> Made | None:
        return (*genes, gene), _PART

    def genes_result(self, genes: tuple[Chunk, ...], value: Chunk) -> Made | None:
        """``EGFR, ALK and ROS1 negative``: each of them."""
        found = [made[0] for gene in genes if (made := self.gene_result(gene, value)) is not None]
        if len(genes) < 2 or len(found) < len(genes):
            return None
        return replace(found[0], query=both([one.query for one in found])), _ONE

    def gene_result_of(self, adjective: Chunk, gene: Chunk, value: Chunk) -> Made | None:
        """``germline BRCA negative``."""
        return self.gene_result(gene, value) if adjective.value in ("germline", "somatic") else None

    def never_after(self, fact: Criterion, absent: Criterion) -> Made | None:
        left, right = events_of(fact.query), events_of(absent.query)
        if not left or len(right) != 1:
            return None
        query = f"{text_of_events(left)} with no {text_of_events(right)} after it"
        return self._joint(fact, absent, query), _ONE

    def apart_later(self, first: Criterion, second: Criterion, bound: Bounded) -> Made | None:
        """``nephrectomy, then lung metastases more than 10 years later``."""
        return self.related(second, Relation((f"{bound.apart} after",)), first)

    def at_diagnosis(self, fact: Criterion) -> Made | None:
        """Near the first diagnosis of the one disease that the question names."""
        disease = self._disease()
        if fact.kind == "diagnosis" or disease is None:
            return None
        given = events_of(fact.query)
        if not given or not all(one.kind in COURSES for one in given):
            return self.at_diagnosis_of(fact, disease)
        # "On warfarin at diagnosis": it was being given on that day.
        first = self.picked(_first(disease), disease)
        made = None if first is None else self.related(first[0], Relation(("during",)), fact)
        return None if made is None else (replace(made[0], disease="", sort="patient"), made[1])

    def from_diagnosis(self, left: Criterion, relation: Relation) -> Made | None:
        """``within a year of diagnosis``: of the one disease that the question names."""
        disease = self._disease()
        first = None if disease is None else self.picked(_first(disease), disease)
        return None if first is None else self.related(left, relation, first[0])

    def _disease(self) -> Criterion | None:
        found = [item for item in self.items if isinstance(item, Criterion) and item.kind == "diagnosis"]
        if len(found) == 1:
            return found[0]
        named = [item for item in self.items if isinstance(item, Criterion) and item.sort == "disease"]
        if len(named) == 1 and named[0].disease:
            return replace(named[0], query=named[0].disease, kind="diagnosis")
        if not found and not named:
            # "When their cancer was diagnosed": of whatever cancer.
            return Criterion(
                "disease", "diagnosis concept:malignant_neoplasm", "", "diagnosis", ("malignant_neoplasm",)
            )
        return None

    def related(self, left: Criterion, relation: Relation, right: Criterion) -> Made | None:
        if _apart_in_time(left, relation, right):
            return None
        lefts, rights = _in_time(left), _in_time(right)
        if left.kind == "change" and rights and relation.ways == ("during",) and len(rights) == 1:
            return self._joint(left, right, f"{left.query} during {text_of_events(rights)}"), _ONE
        if relation.of_begin and right.kind == "encounter" and lefts:
            # "NED at the last visit", "ECOG 3 at admission".
            stays = all(self.concepts.is_a(one, "admission") for one in right.ids)
            relation = Relation(("during" if stays else "on the same day as",))
        if left.last and rights and relation.ways == ("before",):
            return self._chained(left, right)
        if relation.ways == ("after",) and rights and _AFTER_THERAPY.search(left.query):
            # Staging after therapy says itself that it came after.
            return self._joint(left, right, f"({left.query} and {right.query})"), _ONE
        if not lefts or not rights:
            return None
        if relation.only:
            lefts = tuple([replace(one, pick=Pick("first")) for one in lefts])
        if (
            not relation.around
            and any(way.startswith("within ") and way.endswith(" of") for way in relation.ways)
            and (_is_outcome(left) or any(one.moment == "end" for one in rights))
        ):
            # An outcome within a time of something comes after it.
            relation = Relation(tuple([f"{way.removesuffix(' of')} on or after" for way in relation.ways]))
        if any(one.pick.how == "latest" and one.kind in MAIN_ATTRIBUTE for one in lefts):
            # The latest of such values is a reading of "ECOG 2" by itself; in time, any one is meant.
            lefts = tuple([replace(one, pick=Pick()) if one.kind in MAIN_ATTRIBUTE else one for one in lefts])
        if relation.of_begin and right.name != _BEGUN:
            return None
        if relation.at_time and "diagnosis" in (left.kind, right.kind):
            relation = _near_diagnosis()
            right = replace(right, name=_BEGUN)
            rights = _in_time(right)
        if "disease" in (left.sort, right.sort) and not relation.measured:
            # "Chemo before lung cancer" is rarely said of the diagnosis, unless that is named as such.
            pick = [one.pick for one in (*lefts, *rights)]
            if (
                all(one == Pick() for one in pick)
                and left.sort == "disease"
                and right.sort not in ("disease", "patient")
            ):
                return None
        lefts, rights = _dated(lefts), _dated(rights)
        queries = [f"{text_of_events(lefts)} {way} {text_of_events(rights)}" for way in relation.ways]
        made = self._joint(left, right, either([f"({query})" for query in queries]))
        begins = [way.rpartition(" ")[2] for way in relation.ways]
        if left.kind == "diagnosis" and "after" in begins or right.kind == "diagnosis" and "before" in begins:
            # What came before a tumor was found is not of that tumor.
            made = replace(made, disease="", sort="patient")
        first = all(way.endswith("before") for way in relation.ways)
        last = rights if first else lefts
        order = (lefts, rights) if first else (rights, lefts)
        plain = relation.ways in (("before",), ("after",))
        steps = tuple([text_of_events(one) for one in order]) if plain else ()
        return replace(made, last=text_of_events(last), steps=steps), _ONE

    def _chained(self, left: Criterion, right: Criterion) -> Made | None:
        """``A after B and later C``: C also follows what came last before it."""
        rights = text_of_events(_dated(_in_time(right)))
        if left.steps:
            steps = (*left.steps, rights)
            made = self._joint(left, right, f"({' then '.join(steps)})")
            return replace(made, last=rights, steps=steps, disease=left.disease), _ONE
        made = self._joint(left, right, f"({left.query} and ({left.last} before {rights}))")
        return replace(made, last=rights, disease=left.disease), _ONE

    def _joint(self, left: Criterion, right: Criterion, query: str) -> Criterion:
        """What is said of two facts together is of the tumor where both are."""
        sort = "patient" if "patient" in (left.sort, right.sort) else "treatment"
        named = [one for one in (left, right) if one.kind == "diagnosis" and events_of(one.query)]
        diseases = [text_of_events([replace(event, pick=Pick()) for event in events_of(one.query)]) for one in named]
        # Two diseases are two tumors; one is the tumor of what stands beside it.
        disease = diseases[0] if len(diseases) == 1 and sort == "treatment" else ""
        if len(diseases) == 2:
            sort = "patient"
        return Criterion(sort, query, left.text, "timed", disease=disease)

    # --- changing facts ---------------------------------------------------------------------------------------

    def _changed(self, fact: Criterion, change: Callable[[Events], Events | None]) -> Made | None:
        query = each(fact.query, change)
        return None if query is None else (replace(fact, query=query, beside=""), _ONE)

    def _attributed(self, fact: Criterion, attribute: str, value: str) -> Made | None:
        def change(events: Events) -> Events | None:
            if events.context != "present" or not self._can(events, fact, attribute):
                return None
            return with_condition(events, Is(attribute, (Name(value),)))

        return self._changed(fact, change)

    def _can(self, events: Events, fact: Criterion, attribute: str) -> bool:
        """Whether such an event can have the attribute; one of no kind in particular, in each that it may be."""
        if events.kind is not None:
            kinds: tuple[str, ...] = (events.kind,)
        elif fact.kind in KIND_TABLE:
            kinds = (fact.kind,)
        else:
            kinds = tuple(
                kind for one in fact.ids if one in self.concepts for kind in MEANT_BY_CONCEPT[self.concepts.kind(one)]
            )
        return bool(kinds) and all(attribute in KIND_TABLE[one].attributes for one in kinds)

    def _compared(self, fact: Criterion, attribute: str, count: Count) -> Made | None:
        operator, bound = count.test()

        def change(events: Events) -> Events | None:
            if events.context != "present" or not self._can(events, fact, attribute):
                return None
            return with_condition(events, Compare(attribute, operator, float(bound)))

        return self._changed(fact, change)


def _is_harm(fact: Criterion) -> bool:
    """Whether it is what a patient suffers."""
    events = events_of(fact.query)
    return (
        fact.sort == "patient"
        and bool(events)
        and all(one.kind in (None, *_HARMS) for one in events)
        and (fact.kind in ("condition", *_HARMS))
    )


def _is_outcome(fact: Criterion) -> bool:
    """Whether it is what becomes of a patient or a disease: death, relapse, spread, an illness."""
    return fact.query == "death" or fact.kind in ("state", "metastasis", "diagnosis") or _is_harm(fact)


def _in_time(fact: Criterion) -> tuple[Events, ...]:
    """The facts that stand in time: of what began, the first."""
    events = events_of(fact.query)
    if fact.name == _STOPPED:
        return tuple([replace(one, moment="end") for one in events])
    if fact.name != _BEGUN:
        return tuple(
            replace(one, moment="end") if one.pick.how == "latest" and one.kind in COURSES else one for one in events
        )
    return tuple(replace(one, pick=Pick("first")) if one.pick == Pick() else one for one in events)


def _dated(events: tuple[Events, ...]) -> tuple[Events, ...]:
    """In time a diagnosis is the first of its kind."""
    return tuple(
        replace(one, pick=Pick("first"))
        if one.kind == "diagnosis" and one.pick == Pick() and one.window is None
        else one
        for one in events
    )


def _near_diagnosis() -> Relation:
    return Relation((f"within {_house('days_at_diagnosis')} days of",), around=True)


def _first(like: Criterion) -> Chunk:
    return Chunk("pick", "", like.start, like.start, "first")


def _amount(number: str, unit: Chunk) -> Made | None:
    if unit.value not in _UNITS or not number.replace(".", "", 1).isdigit():
        return None
    return Amount(number, _UNITS[unit.value]), _PART


def _counted(operator: str, number: str) -> Made | None:
    if not number.isdigit():
        return None
    amount = int(number)
    bounds = {
        ">=": (amount, None), ">": (amount + 1, None), "<=": (0, amount), "<": (0, amount - 1), "=": (amount, amount),
    }  # fmt: skip
    if operator not in bounds or amount > 999:
        return None
    return Count(*bounds[operator]), _PART


def _names(condition: Any, attribute: str) -> bool:
    """Whether the condition is about the attribute already."""
    return condition is not None and any(getattr(node, "attribute", "") == attribute for node in nodes_in(condition))


def _is_positive(value: Chunk) -> bool:
    return any(one in ("positive", "result_positive") for one in value.ids)


def _is_negative(value: Chunk) -> bool:
    return any(one in ("negative", "result_negative", "not_detected") for one in value.ids)


def _age(operator: str, number: str) -> Made | None:
    if operator not in ("<", "<=", ">", ">=", "=") or not number.isdigit():
        return None
    return Age(f"{operator} {number}"), _PART
