"""What is said of a tumor itself, as criteria: features, sizes, margins, what it grows into; and how that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.kinds import DERIVABLE
from ...kb.ontology.concepts import ConceptTable
from .. import nodes
from ..errors import QueryError
from ..parsing.parse import parse
from ..render import render
from ..tree import map_nodes, nodes_in
from . import book
from .chunks import Chunk, Criterion, Item, Unclear
from .terms import concept

_LENGTHS: Final = ("mm", "cm")
_MARGIN: Final = "resection_margin"
_SIZE: Final = "tumor_size"
_PLACES: Final = ("structure", "site")
_BETWEEN: Final = ("between", "through")


@dataclass(frozen=True, slots=True)
class _Margin:
    """A margin as it is named: the feature, what is said of it, and which one it is."""

    feature: str
    result: str = ""
    which: str = ""


@dataclass(frozen=True, slots=True)
class _Bound:
    """A comparison with one figure or two; ``of``: the feature that its words say is compared; ``end``: behind it."""

    operator: str
    low: str
    high: str
    unit: str
    of: str
    end: int

    @property
    def share(self) -> bool:
        """Whether the figure is a percentage."""
        return self.low.endswith("%")

    def condition(self, attribute: str = "") -> str:
        """``> 5 cm``, ``between 2 and 5 cm``, with the attribute before it, if one is given."""
        unit = f" {self.unit}" if self.unit else ""
        low, high = self.low.rstrip("%"), self.high.rstrip("%")
        text = f"between {low} and {high}{unit}" if self.high else f"{self.operator} {low}{unit}"
        return f"{attribute} {text}".strip()


def features(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """Features of tumors, their sizes, margins, and what they grow into, as criteria."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        read = (
            _margin(items, at)
            or _feature(items, at, concepts)
            or _sized(items, at, found)
            or _grown(items, at)
            or _grown_before(items, at)
        )
        if read is None:
            found.append(items[at])
            at += 1
            continue
        criteria, at, taken = read
        if taken:
            del found[len(found) - taken :]
        _leave_out_tumor(found)
        found += criteria
    return found


_Read = tuple[list[Item], int, int]


def _chunk(items: Sequence[Item], at: int) -> Chunk | None:
    item = items[at] if 0 <= at < len(items) else None
    return item if isinstance(item, Chunk) else None


def _ahead(items: Sequence[Item], at: int, *prepositions: str) -> int:
    """The next place behind words that carry nothing, and these prepositions."""
    while (chunk := _chunk(items, at)) is not None and (
        chunk.type == "skip"
        or chunk.is_join("hyphen", "colon")
        or chunk.is_join("with")
        and chunk.text.lower() in prepositions
    ):
        at += 1
    return at


def _leave_out_tumor(found: list[Item]) -> None:
    """A word for any tumor, right before what is said of it, names none: *tumors larger than 5 cm*."""
    at = len(found) - 1
    while (
        at >= 0
        and (chunk := _chunk(found, at)) is not None
        and (chunk.type == "skip" or chunk.is_join("with", "hyphen"))
    ):
        at -= 1
    last = _chunk(found, at)
    if last is not None and last.type == "tumor" and last.ids == ("neoplasm",):
        found[at] = Chunk("skip", last.text, last.start, last.end)


def _criterion(query: str, first: Item, last: Item, feature: str, name: str = "") -> Criterion:
    return Criterion("finding", query, start=first.start, end=last.end, kind="feature", ids=(feature,), name=name)


def _finding(query: str, items: Sequence[Item], at: int, end: int, feature: str) -> list[Item]:
    return [_criterion(query, items[at], items[end - 1], feature)]


# --- figures ----------------------------------------------------------------------------------------------------------


def _bound(items: Sequence[Item], at: int) -> _Bound | None:
    """The comparison that stands here: ``over 4 mm``, ``between 2 and 5 cm``, ``2 to 5 cm``, ``5 cm or larger``."""
    sign = _chunk(items, at)
    of, operator = "", ""
    if sign is not None and sign.type == "comparison":
        of, operator = str(sign.data.get("of", "")), sign.value
        at = _ahead(items, at + 1)
    number = _chunk(items, at)
    if number is None or number.type != "number":
        return None
    unit, at = _unit(items, at + 1)
    joint = _chunk(items, at)
    ranged = joint is not None and (
        joint.is_join("hyphen") and not operator
        or joint.text.lower() in ("to", "through", "thru") and operator in ("", *_BETWEEN)
        or joint.is_join("and") and operator == "between"
    )  # fmt: skip
    if ranged:
        second = _chunk(items, at + 1)
        if second is None or second.type != "number":
            return None
        other, at = _unit(items, at + 2)
        unit = unit if unit and unit == other else other if not unit else ""
        return _Bound("between", number.text, second.text, unit, of, at)
    if operator in _BETWEEN:
        return None
    if not operator:
        after = _chunk(items, _ahead(items, at))
        if after is None or after.type != "comparison_after":
            return None
        return _Bound(after.value, number.text, "", unit, str(after.data.get("of", "")), _ahead(items, at) + 1)
    return _Bound(operator, number.text, "", unit, of, at)


def _unit(items: Sequence[Item], at: int) -> tuple[str, int]:
    unit = _chunk(items, at)
    return (unit.value, at + 1) if unit is not None and unit.type == "unit" else ("", at)


def _dimension(items: Sequence[Item], at: int) -> tuple[str, int]:
    """The word behind a figure that says what it measures (*in diameter*), and where what follows begins."""
    word = _chunk(items, at)
    return (word.value, at + 1) if word is not None and word.type == "dimension" else ("", at)


def _measured(feature: str, bound: _Bound, named: str) -> str:
    """The criterion of a figure. Unclear where the figure cannot be one of the feature."""
    numbers = book.data("features")["numbers"]
    if feature in numbers["lengths"] and (bound.unit not in _LENGTHS or bound.share):
        raise Unclear(f"in which unit '{named}' is {bound.low}: write it in mm or cm", (bound.low,))
    if feature in (*numbers["shares"], *numbers["either"]) and not bound.share:
        raise Unclear(f"'{named}' is a share: write it in %", (bound.low,))
    if feature in numbers["counts"] and (bound.unit or bound.share):
        raise Unclear(f"'{named}' is a number, without a unit", (bound.low,))
    return f"feature {concept(feature)} {bound.condition()}"


# --- features ---------------------------------------------------------------------------------------------------------


def _id(chunk: Chunk) -> str:
    if chunk.value:
        return chunk.value
    if len(chunk.ids) > 1:
        raise Unclear(f"which of several '{chunk.text}' is", (chunk.text,))
    return chunk.ids[0]


def _feature(items: Sequence[Item], at: int, concepts: ConceptTable) -> _Read | None:
    """``LVI``, ``positive for perineural invasion``, ``depth of invasion over 4 mm``."""
    chunk = _chunk(items, at)
    if chunk is None or chunk.type != "feature":
        return None
    feature = _id(chunk)
    if concepts.is_a(feature, _MARGIN):
        return _read_margin(items, at, _Margin(feature))
    numbers = book.data("features")["numbers"]
    bound = _bound(items, _ahead(items, at + 1, "of", "in"))
    if any(feature in numbers[part] for part in numbers):
        if bound is not None:
            _, end = _dimension(items, bound.end)
            return _finding(_measured(feature, bound, chunk.text), items, at, end, feature), end, 0
        if feature not in numbers["either"]:
            raise Unclear(f"which '{chunk.text}': give a number", (chunk.text,))
    query = f"feature {concept(feature)}"
    if feature == "treatment_effect":
        query = f"({query} with not result = none)"
    end = _ahead(items, at + 1)
    said = _chunk(items, end)
    taken = 0
    if said is not None and said.type == "value":
        end += 1
    else:
        end = at + 1
        said, taken = _said_before(items, at)
    if said is None:
        return _finding(query, items, at, end, feature), end, 0
    if "positive" in said.ids or "result_positive" in said.ids:
        return _finding(query, items, at, end, feature), end, taken
    if "negative" in said.ids or "result_negative" in said.ids:
        return _finding(f"no evidence of feature {concept(feature)}", items, at, end, feature), end, taken
    raise Unclear(f"what '{said.text}' says of '{chunk.text}'", (said.text, chunk.text))


def _said_before(items: Sequence[Item], at: int) -> tuple[Chunk | None, int]:
    """The result right before a feature (*positive for LVI*), and how many items it and what is between are."""
    before = at - 1
    while (chunk := _chunk(items, before)) is not None and (
        chunk.type == "skip" or chunk.is_join("hyphen") or chunk.is_join("with") and chunk.text.lower() in ("for", "of")
    ):
        before -= 1
    said = _chunk(items, before)
    return (said, at - before) if said is not None and said.type == "value" else (None, 0)


def _sized(items: Sequence[Item], at: int, found: Sequence[Item]) -> _Read | None:
    """A length that says itself what it is of, or stands beside a tumor: ``tumors > 5 cm``, ``2 to 5 cm tumors``."""
    chunk = _chunk(items, at)
    if chunk is None or chunk.type not in ("comparison", "number"):
        return None
    bound = _bound(items, at)
    if bound is None or bound.unit not in _LENGTHS:
        return None
    dimension, end = _dimension(items, bound.end)
    feature = bound.of or dimension
    behind = _ahead(items, end, "of", "in")
    named = _chunk(items, behind)
    if named is not None and named.type == "feature" and _id(named) in book.data("features")["numbers"]["lengths"]:
        if feature not in ("", _id(named)):
            raise Unclear(f"whether '{named.text}' is meant, or another size", (named.text,))
        feature, end = _id(named), behind + 1
    elif named is not None and named.type == "margin" and not named.value and not feature:
        return _read_margin(items, at, _Margin(_MARGIN, which=str(named.data.get("which", ""))), bound, behind + 1)
    before = next((one for one in reversed(found) if not _carries_nothing(one)), None)
    if before is not None and not (_is_tumor(before) or isinstance(before, Chunk) and before.type == "join"):
        # "Metastases larger than 2 cm" are no tumor's size.
        raise Unclear(f"what is {bound.condition()}: write 'tumor size'", (items[at].text,))
    if not feature:
        if not any(one is not None and _is_tumor(one) for one in (before, named)):
            raise Unclear(f"what is {bound.condition()}: write 'tumor size'", (items[at].text,))
        feature = _SIZE
    criteria = _finding(_measured(feature, bound, feature.replace("_", " ")), items, at, end, feature)
    if named is not None and named.type == "tumor" and named.ids == ("neoplasm",):
        # "2 to 5 cm tumors": the word for any tumor names none.
        criteria.append(Chunk("skip", named.text, named.start, named.end))
        end = behind + 1
    return criteria, end, 0


def _is_tumor(item: Item) -> bool:
    return item.type == "tumor" if isinstance(item, Chunk) else item.sort == "disease"


def _carries_nothing(item: Item) -> bool:
    return isinstance(item, Chunk) and (item.type == "skip" or item.is_join("with", "hyphen"))


# --- margins ----------------------------------------------------------------------------------------------------------


def _margin(items: Sequence[Item], at: int) -> _Read | None:
    """``positive margins``, ``deep margin under 1 mm``, ``close margins``."""
    chunk = _chunk(items, at)
    if chunk is None or chunk.type != "margin":
        return None
    return _read_margin(items, at, _Margin(_MARGIN, chunk.value, str(chunk.data.get("which", ""))))


def _read_margin(items: Sequence[Item], at: int, margin: _Margin, bound: _Bound | None = None, end: int = 0) -> _Read:
    feature, result, which = margin.feature, margin.result, margin.which
    if bound is None:
        bound, end = _bound(items, _ahead(items, at + 1, "of", "at", "by")), at + 1
        end = bound.end if bound is not None else end
    taken = 0
    text = items[at].text
    if not result and bound is None:
        said, taken = _said_before(items, at)
        after = _chunk(items, _ahead(items, at + 1))
        if said is None and after is not None and after.type == "value":
            said, end = after, _ahead(items, at + 1) + 1
        ids = said.ids if said is not None else ()
        result = "involved" if "positive" in ids else "clear" if "negative" in ids else ""
        if not result:
            raise Unclear(f"what of '{text}': positive, negative or close", (text,))
    if bound is not None and (bound.unit not in _LENGTHS or result == "involved"):
        raise Unclear(f"which distance of '{text}' is meant: write it in mm or cm", (bound.low,))
    name = f"feature {concept(feature)}"
    place = f", which = {which}" if which else ""
    if bound is not None:
        query = f"{name} with {bound.condition('distance')}{place}"
    else:
        query = f"{name} with result = {result}{place}"
    if result == "clear":
        # Of several margins one may be clear, and another not.
        query = f"({query} and not {name} with result = involved{place})"
    return _finding(query, items, at, max(end, at + 1), feature), end, taken


# --- what a tumor grows into ------------------------------------------------------------------------------------------


def _grown(items: Sequence[Item], at: int) -> _Read | None:
    """``extending into the perinephric fat or renal vein``, ``confined to the prostate``."""
    word = _chunk(items, at)
    if word is None or word.type != "growth":
        return None
    places, joins, end = _places(items, _ahead(items, at + 1))
    if not places:
        raise Unclear(f"what '{word.text}' is said of: name an organ or a structure", (word.text,))
    return _extensions(places, joins, word.value, items, at, end), end, 0


def _grown_before(items: Sequence[Item], at: int) -> _Read | None:
    """``perinephric fat invasion``: the structure before its noun."""
    place = _chunk(items, at)
    if place is None or place.type not in _PLACES:
        return None
    end = _ahead(items, at + 1)
    word = _chunk(items, end)
    if word is None or word.type != "growth_behind":
        return None
    return _extensions([place], [], word.value, items, at, end + 1), end + 1, 0


def _extensions(
    places: Sequence[Chunk], joins: Sequence[Chunk], reach: str, items: Sequence[Item], at: int, end: int
) -> list[Item]:
    # Who grows through a structure has grown into it.
    reaches = "in (into, through)" if reach == "into" else f"= {reach}"
    found: list[Item] = []
    for number, place in enumerate(places):
        if number:
            found.append(joins[number - 1])
        query = f"extension to {concept(_id(place))} with reach {reaches}"
        first, last = items[at].start, items[end - 1].end
        found.append(Criterion("finding", query, start=first, end=last, kind="extension", ids=(_id(place),)))
    return found


def _places(items: Sequence[Item], at: int) -> tuple[list[Chunk], list[Chunk], int]:
    """Organs and structures in a list, what joins them, and where it ends."""
    places: list[Chunk] = []
    joins: list[Chunk] = []
    while (place := _chunk(items, at)) is not None and place.type in _PLACES:
        places.append(place)
        at += 1
        joint = _chunk(items, at)
        following = _ahead(items, at + 1)
        more = _chunk(items, following)
        if joint is not None and joint.is_join("comma") and more is not None and more.is_join("and", "or"):
            joint, following = more, _ahead(items, following + 1)
        after = _chunk(items, following)
        if (
            joint is None
            or not joint.is_join("and", "or", "and_or", "slash", "comma")
            or after is None
            or after.type not in _PLACES
        ):
            break
        joins.append(joint)
        at = following
    return places, joins[: max(0, len(places) - 1)], at


# --- how a fact is known ----------------------------------------------------------------------------------------------


def known(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """``T2 as stated in the report``, ``derived stage``: what is beside such a word is asked for as it is known."""
    found = list(items)
    for at in range(len(found)):
        word = _chunk(found, at)
        if word is None or word.type != "known":
            continue
        target = _target(found, at)
        if target is None:
            raise Unclear(f"what is '{word.text}': a stage, a T, N or M, a grade, a result", (word.text,))
        item = found[target]
        if isinstance(item, Chunk):
            query = "stage" if item.value == "stage" else f"tnm with {item.value} documented"
            item = Criterion("finding", query, start=item.start, end=item.end)
        found[target] = replace(item, query=_known_so(item.query, word))
        found[at] = Chunk("skip", word.text, word.start, word.end)
    return found


def _target(items: Sequence[Item], at: int) -> int | None:
    """The criterion, or the axis without a value, that a word of knowing is said of: of two beside it the nearer, and
    the one before an *as*, the one behind a bare participle."""
    word = items[at].text.lower()
    for step in (1, -1) if not word.startswith("as ") and " " not in word else (-1, 1):
        other = at + step
        while 0 <= other < len(items) and _carries_nothing(items[other]):
            other += step
        if 0 <= other < len(items) and _can_be_known(items[other]):
            return other
    return None


def _can_be_known(item: Item) -> bool:
    if isinstance(item, Chunk):
        return item.type == "axis" and item.value in ("t", "n", "m", "stage")
    return item.sort in ("finding", "extent") and bool(item.query)


def _known_so(query: str, word: Chunk) -> str:
    """The criterion with each of its facts asked so; Unclear where one of them never follows from others."""
    try:
        tree = parse(query)
    except QueryError as error:
        raise Unclear(f"what is '{word.text}'", (word.text,)) from error
    facts = [node for node in nodes_in(tree) if isinstance(node, nodes.Events) and not _is_aside(node)]
    if not facts or any(one.kind not in DERIVABLE for one in facts):
        raise Unclear(f"'{word.text}' is said of a stage, a T, N or M, a grade or a result alone", (word.text,))
    changed = map_nodes(tree, lambda node: replace(node, known=word.value) if node in facts else node)
    assert isinstance(changed, nodes.Query)
    text = render(changed)
    return f"({text})" if len(facts) > 1 else text


def _is_aside(events: nodes.Events) -> bool:
    """Whether it is the term that a T or N without a basis is bounded by, and not what is asked for."""
    match events.concept:
        case nodes.Under(nodes.Name(text)):
            return events.kind is None and text in book.data("features")["aside"]["terms"]
    return False
