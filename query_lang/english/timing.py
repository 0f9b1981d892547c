"""Time: order and gaps between two facts, dates, lines of therapy, age at diagnosis; and what is not simply so."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import DRUGS
from ...kb.ontology.concepts import ConceptTable
from ..errors import QueryError
from ..nodes import Events, Exists
from ..parsing.parse import parse
from . import book
from .chunks import Chunk, Criterion, Item, Unclear
from .terms import either

_UNITS: Final = {"day": "days", "week": "weeks", "month": "months", "year": "years"}
_SOFT: Final = ("comma", "with", "treat", "colon")


def timing(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """The items with what is said of time, line, age and context joined to the criteria that it is said of."""
    found = [item for item in items if not (isinstance(item, Chunk) and item.type == "skip")]
    found = _ages(found)
    found = _lines(found)
    found = _contexts(found)
    found = _dates(found)
    return _orders(found, concepts)


@functools.lru_cache(maxsize=4096)
def is_atom(query: str) -> bool:
    """Whether a criterion is one fact: only such can stand in time, be planned, suspected or of the family."""
    try:
        body = parse(query).body
    except QueryError:
        return False
    return isinstance(body, Exists) and body.events.context == "present"


@functools.lru_cache(maxsize=4096)
def _kind(query: str) -> str:
    body = parse(query).body
    return (body.events.kind or "") if isinstance(body, Exists) and isinstance(body.events, Events) else ""


def _at(items: Sequence[Item], at: int) -> Chunk | None:
    item = items[at] if 0 <= at < len(items) else None
    return item if isinstance(item, Chunk) else None


def _soft(items: Sequence[Item], at: int, step: int = 1) -> int:
    while (chunk := _at(items, at)) is not None and chunk.is_join(*_SOFT):
        at += step
    return at


def _listed(items: Sequence[Item], at: int, step: int) -> tuple[str, int] | None:
    """The joining word between the criterion at a place and another of its sort beside it, and that one's place."""
    own, chunk = items[at], _at(items, at + step)
    other = items[at + 2 * step] if 0 <= at + 2 * step < len(items) else None
    if chunk is None or not chunk.is_join("or", "and", "and_or", "slash", "comma"):
        return None
    if not (isinstance(own, Criterion) and isinstance(other, Criterion)) or own.sort != other.sort:
        return None
    return ("or" if chunk.is_join("or", "and_or", "slash") else "and"), at + 2 * step


def _check_alone(items: Sequence[Item], at: int, words: str, *steps: int) -> None:
    """What is said of one of a list may be said of all of it: that is not decided here."""
    for step in steps:
        if _listed(items, at, step) is not None:
            raise Unclear(f"whether '{words}' is said of all that is listed; say it of each", (words,))


# --- line of therapy ---------------------------------------------------------------------------------------


def _lines(items: list[Item]) -> list[Item]:
    found: list[Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Chunk) and item.type == "line":
            after = _soft(items, at + 1)
            following = items[after] if after < len(items) else None
            before = found[-1] if found else None
            if isinstance(following, Criterion) and following.sort == "treatment":
                _check_alone(items, after, item.text, 1)
                items[after] = _of_line(following, item)
                at = after
                continue
            back = len(found) - 1
            while back >= 0 and isinstance(one := found[back], Chunk) and one.is_join("with", "comma", "open"):
                back -= 1
            before = found[back] if back >= 0 else None
            if not isinstance(before, Criterion) or before.sort != "treatment":
                raise Unclear(f"which treatment is {item.text}", (item.text,))
            _check_alone(found, back, item.text, -1)
            found[back:] = [_of_line(before, item)]
            following_chunk = _at(items, at + 1)
            spoken = following_chunk is not None and following_chunk.is_join("treat")
            at = _soft(items, at + 1) if spoken else at + 1
            continue
        if isinstance(item, Chunk) and item.type == "lines":
            found = _counted_lines(found, item)
            at += 1
            continue
        found.append(item)
        at += 1
    return found


def _of_line(treatment: Criterion, line: Chunk) -> Criterion:
    if not is_atom(treatment.query) or _kind(treatment.query) not in DRUGS:
        raise Unclear(f"which drugs are {line.text}: name them", (line.text,))
    order = {"1": "first", "2": "second", "3": "third", "4": "4th"}[line.value]
    return replace(treatment, query=f"{order}-line {treatment.query}", beside="")


def _counted_lines(found: list[Item], item: Chunk) -> list[Item]:
    """``at least 2 lines of therapy``."""
    number = found[-1] if found else None
    sign = found[-2] if len(found) > 1 else None
    if not (isinstance(number, Chunk) and number.type == "number"):
        raise Unclear("how many lines of therapy: write 'at least 2 lines'", (item.text,))
    operator = sign.value if isinstance(sign, Chunk) and sign.type == "comparison" else ""
    count = int(float(number.text.rstrip("%")))
    if operator not in (">=", ">"):
        raise Unclear("whether so many lines or more: write 'at least 2 lines'", (item.text,))
    least = count + (operator == ">")
    query = f"medication 'systemic therapy' in at least {least} lines"
    return [*found[:-2], Criterion("treatment", query, item.text, "medication", start=number.start, end=item.end)]


# --- age ---------------------------------------------------------------------------------------


def _ages(items: list[Item]) -> list[Item]:
    """``aged 65 or older at diagnosis``: of the one disease that the question names."""
    marks = [at for at, item in enumerate(items) if isinstance(item, Chunk) and item.type in ("age", "at_diagnosis")]
    if not marks:
        return items
    first, last = marks[0], marks[-1]
    parts = {"age", "at_diagnosis", "comparison", "comparison_after", "number", "unit"}

    def belongs(at: int) -> bool:
        chunk = _at(items, at)
        return chunk is not None and (chunk.type in parts or chunk.is_join("hyphen", "comma", "with", "and"))

    while first > 0 and belongs(first - 1):
        first -= 1
    while last + 1 < len(items) and belongs(last + 1):
        last += 1
    stated = [item for item in items[first : last + 1] if isinstance(item, Chunk) and item.type in parts]
    types = [item.type for item in stated]
    numbers = [item.text for item in stated if item.type == "number"]
    if "age" not in types and not any(item.type == "unit" for item in stated) or not numbers:
        raise Unclear("which age: write 'aged 65 or older at diagnosis'", tuple(item.text for item in stated))
    if "at_diagnosis" not in types:
        raise Unclear("age at what: write 'at diagnosis'", tuple(item.text for item in stated))
    if len(stated) != last - first + 1 - sum(
        isinstance(item, Chunk) and item.type == "join" for item in items[first : last + 1]
    ):
        raise Unclear("what is said of the age")
    diseases = [item for item in items if isinstance(item, Criterion) and item.kind == "diagnosis"]
    if len(diseases) != 1 or not is_atom(diseases[0].query):
        raise Unclear("at the diagnosis of which disease", tuple(item.text for item in stated))
    operator = next((item.value for item in stated if item.type in ("comparison", "comparison_after")), "")
    if operator == "between" and len(numbers) == 2 or len(numbers) == 2 and operator == "":
        test = f"between {numbers[0]} and {numbers[1]}"
    elif len(numbers) == 1 and operator in (">=", "<=", ">", "<", "="):
        test = f"{operator} {numbers[0]}"
    else:
        raise Unclear("which age: write 'aged 65 or older at diagnosis'", tuple(item.text for item in stated))
    query = f"age {test} at first {diseases[0].query}"
    # The words of a list around the age part it from what stands beside it.
    places = [at for at in range(first, last + 1) if not _is_join(items, at)]
    start, end = places[0], places[-1]
    age = Criterion("patient", query, "age", "age", start=items[start].start, end=items[end].end)
    return [*items[:start], age, *items[end + 1 :]]


def _is_join(items: Sequence[Item], at: int) -> bool:
    chunk = _at(items, at)
    return chunk is not None and chunk.type == "join"


# --- context ---------------------------------------------------------------------------------------


def _contexts(items: list[Item]) -> list[Item]:
    """``family history of breast or ovarian cancer``, ``planned surgery``: of the next criterion and its list."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        if not (isinstance(item, Chunk) and item.type == "context"):
            found.append(item)
            at += 1
            continue
        at = _soft(items, at + 1)
        criterion = items[at] if at < len(items) else None
        if not isinstance(criterion, Criterion) or not is_atom(criterion.query):
            raise Unclear(f"what is {item.text}", (item.text,))
        found.append(_in_context(criterion, item))
        at += 1
        # A list of alternatives shares the words before it.
        while (chunk := _at(items, at)) is not None and chunk.is_join("or", "and_or", "slash", "comma", "and"):
            other = items[at + 1] if at + 1 < len(items) else None
            if not isinstance(other, Criterion) or other.sort != criterion.sort:
                break
            if not chunk.is_join("or", "and_or", "slash"):
                raise Unclear(f"whether '{item.text}' is said of '{other.text}', too", (item.text,))
            if not is_atom(other.query):
                raise Unclear(f"what is {item.text}", (item.text,))
            found += [chunk, _in_context(other, item)]
            at += 2
    return found


def _in_context(criterion: Criterion, context: Chunk) -> Criterion:
    sort = "treatment" if criterion.sort == "treatment" else "patient"
    query = f"{context.value} {criterion.query}"
    return replace(criterion, sort=sort, query=query, ids=(), beside="", kind="context", outside=True)


# --- dates ---------------------------------------------------------------------------------------


def _dates(items: list[Item]) -> list[Item]:
    """``since 2020``, ``in 2019``, ``between 2018 and 2020`` of the criterion before."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        read = _window(items, at)
        if read is None:
            found.append(items[at])
            at += 1
            continue
        window, end = read
        back = len(found) - 1
        while back >= 0 and isinstance(one := found[back], Chunk) and one.is_join("with", "comma", "open"):
            back -= 1
        before = found[back] if back >= 0 else None
        if not isinstance(before, Criterion) or not is_atom(before.query) or " with " in before.query:
            raise Unclear(f"what happened {window}", (window,))
        _check_alone(found, back, window, -1)
        found[back:] = [replace(before, query=f"{before.query} {window}")]
        at = end
    return found


def _window(items: Sequence[Item], at: int) -> tuple[str, int] | None:
    chunk, date = _at(items, at), _at(items, at + 1)
    if chunk is None or date is None or date.type != "date":
        return None
    if chunk.is_join("since", "until") or chunk.type == "order" and chunk.value in ("before", "after"):
        return f"{chunk.value} {date.text}", at + 2
    if chunk.type == "comparison" and chunk.value == "between":
        joint, other = _at(items, at + 2), _at(items, at + 3)
        if joint is None or other is None or other.type != "date":
            raise Unclear(f"until when, after {date.text}", (date.text,))
        return f"between {date.text} and {other.text}", at + 4
    if chunk.is_join("with") and chunk.text.lower() in ("in", "on"):
        return f"in {date.text}", at + 2
    return None


# --- order ---------------------------------------------------------------------------------------


def _orders(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """Two criteria with a word of order between them as one, from left to right."""
    found = list(items)
    at = 0
    while at < len(found):
        left = found[at]
        relation = _relation(found, at + 1, left) if isinstance(left, Criterion) else None
        if relation is None or not isinstance(left, Criterion):
            at += 1
            continue
        words, place = relation
        if words == "after" and "prefix = yp" in left.query:
            # Staging after therapy says itself that it came after.
            found[at + 1 : place] = []
            at += 1
            continue
        right = found[place] if place < len(found) else None
        if not isinstance(right, Criterion):
            raise Unclear(f"what '{words}' relates to", (words,))
        first, last = at, place
        lefts, rights = [left], [right]
        while (before := _listed(found, first, -1)) is not None:
            first = _alternative(before, words)
            lefts.insert(0, found[first])  # type: ignore[arg-type]
        while (after := _listed(found, last, 1)) is not None and after[0] == "or":
            last = after[1]
            rights.append(found[last])  # type: ignore[arg-type]
        if after is not None and found[after[1] - 1].text.lower() != ",":
            raise Unclear(f"whether '{words}' is said of all that is listed; say it of each", (words,))
        parts = []
        for one in lefts:
            for other in rights:
                _check_ordered(one, other, words)
                parts.append(f"({one.query} {'after' if words == 'on' else words} {other.query})")
        # A condition or a death is of no tumor, and so is what is told of it together with a treatment.
        sort = "patient" if "patient" in (left.sort, right.sort) else "treatment"
        start, end = found[first].start, found[last].end
        joined = Criterion(sort, either(parts), left.text, "timed", start=start, end=end)
        found[first : last + 1] = [joined]
        at = first
        if (more := _relation(found, at + 1, joined)) is not None and more[0] != "on":
            raise Unclear("more than two facts in order; ask for two at a time", (more[0],))
    return found


def _alternative(listed: tuple[str, int], words: str) -> int:
    join, place = listed
    if join != "or":
        raise Unclear(f"whether '{words}' is said of all that is listed; say it of each", (words,))
    return place


def _check_ordered(left: Criterion, right: Criterion, words: str) -> None:
    for one in (left, right):
        if not is_atom(one.query):
            raise Unclear(f"'{words}' joins single facts only, and '{one.text}' is more than one", (one.text,))
    if "disease" in (left.sort, right.sort):
        raise Unclear(f"whether '{words}' is said of the diagnosis: name a treatment, a state or a condition", (words,))


def _relation(items: Sequence[Item], at: int, left: Item) -> tuple[str, int] | None:
    """The words of order that stand at a place, in the query language, and the place after them."""
    at = _comma(items, at)
    chunk = _at(items, at)
    if chunk is None:
        return None
    if chunk.type == "order" and chunk.value in ("before", "after", "then", "during"):
        word = "before" if chunk.value == "then" else chunk.value
        return word, _soft(items, at + 1)
    if chunk.type in ("order", "comparison") and chunk.value in ("within", "<=", "<", ">=", ">"):
        number, unit, sign = _at(items, at + 1), _at(items, at + 2), _at(items, at + 3)
        if number is None or number.type != "number" or unit is None or unit.type != "unit":
            return None
        gap = f"{number.text} {_UNITS[unit.value]}"
        least = chunk.value in (">=", ">")
        if sign is not None and sign.type == "order" and sign.value in ("before", "after"):
            start = "at least" if chunk.value == ">=" else "more than" if least else "within"
            return f"{start} {gap} {sign.value}", _soft(items, at + 4)
        if sign is not None and sign.is_join("with") and sign.text.lower() in ("of", "from") and not least:
            return f"within {gap} of", _soft(items, at + 4)
        raise Unclear(f"{gap} before or after what", (chunk.text, number.text, unit.text))
    on = chunk.is_join("with", "treat") and chunk.text.lower() in ("on", "was on", "were on", "is on", "are on")
    states = book.data("timing")["on_treatment"]["states"]
    if on and isinstance(left, Criterion) and set(left.ids) & set(states):
        following = items[at + 1] if at + 1 < len(items) else None
        if isinstance(following, Criterion) and following.sort == "treatment":
            return "on", at + 1
    if chunk.is_join("with") and chunk.text.lower() == "to" and isinstance(left, Criterion) and left.kind == "state":
        raise Unclear(f"'{left.text} to' a treatment: say which came after which", (left.text,))
    return None


def _comma(items: Sequence[Item], at: int) -> int:
    chunk, following = _at(items, at), _at(items, at + 1)
    if chunk is not None and chunk.is_join("comma", "and") and following is not None and following.type == "order":
        return at + 1
    return at
