"""Markers with results, metastases to sites, numbers: what is said of one thing, as criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...kb.kinds import MEASURED
from ...kb.ontology.concepts import ConceptTable
from ...kb.units import usual_units
from ..render import name_text
from ..vocabulary import kind_spelling
from . import book
from .chunks import Chunk, Criterion, Item, Unclear
from .terms import concept

_SIGNAL: Final = frozenset({"skip"})
#: Markers of which "high" has a fixed meaning are in the phrase book; of all others it is too vague.
#: Results of these are told of one specimen, joined by slashes: "ER+/HER2-" is both.
_RECEPTORS: Final = frozenset({"er", "pr", "her2", "hormone_receptor"})
#: Counts of blood cells from here on are told per microlitre.
_PER_MICROLITRE: Final = 1000
_LEVELS: Final = frozenset({"high", "low", "intermediate", "normal_level", "rising", "falling"})


def markers(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """The items with markers and their results, and numbers of markers, as criteria."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        read = _marker(items, at, concepts)
        if read is None:
            found.append(items[at])
            at += 1
        else:
            criterion, at = read
            found.append(criterion)
    return found


def _chunk(items: Sequence[Item], at: int) -> Chunk | None:
    item = items[at] if 0 <= at < len(items) else None
    return item if isinstance(item, Chunk) else None


def _skipped(items: Sequence[Item], at: int) -> int:
    while (chunk := _chunk(items, at)) is not None and (
        chunk.type in _SIGNAL
        or chunk.is_join("hyphen", "colon", "scored")
        or chunk.is_join("with")
        and chunk.text.lower() == "of"
        and (after := _chunk(items, at + 1)) is not None
        and after.type in ("comparison", "number")
    ):
        at += 1
    return at


def _marker(items: Sequence[Item], at: int, concepts: ConceptTable) -> tuple[Criterion, int] | None:
    chunk = _chunk(items, at)
    if chunk is None:
        return None
    if chunk.type == "value" and not chunk.others:
        following = _skipped(items, at + 1)
        marker = _chunk(items, following)
        while marker is not None and marker.is_join("with") and marker.text.lower() in ("for", "of"):
            following = _skipped(items, following + 1)
            marker = _chunk(items, following)
        if marker is not None and marker.type == "biomarker" and _result_after(items, following) is None:
            return _criterion(marker, chunk, items[at].start, marker.end, concepts), following + 1
        return None
    if chunk.type in MEASURED:
        return _measured(items, at, chunk)
    if chunk.type != "biomarker":
        return None
    result = _result_after(items, at)
    if result is not None:
        value, end = result
        return _criterion(chunk, value, chunk.start, value.end, concepts), end
    return _number(items, at, chunk, concepts)


def _result_after(items: Sequence[Item], at: int) -> tuple[Chunk, int] | None:
    following = _skipped(items, at + 1)
    value = _chunk(items, following)
    if value is not None and value.type == "value":
        return value, following + 1
    return None


def _criterion(marker: Chunk, value: Chunk, start: int, end: int, concepts: ConceptTable) -> Criterion:
    if len(value.ids) != 1 or len(marker.ids) != 1:
        raise Unclear(f"what '{marker.text} {value.text}' means", (marker.text, value.text))
    if value.ids[0] in _LEVELS:
        raise Unclear(
            f"how much '{value.text}' is of {marker.text}: give a number ('{marker.text} >= …')", (value.text,)
        )
    # A marker that is a gene as well: reports give the result under either.
    named = [concept(one) for one in (*marker.ids, *marker.others.get("gene", ()))]
    whole = named[0] if len(named) == 1 else f"({' or '.join(named)})"
    query = f"biomarker {whole} = {name_text(concepts.name(value.ids[0]))}"
    name = "receptor" if marker.ids[0] in _RECEPTORS else ""
    return Criterion("finding", query, start=start, end=end, kind="biomarker", ids=marker.ids, name=name)


def _number(items: Sequence[Item], at: int, marker: Chunk, concepts: ConceptTable) -> tuple[Criterion, int] | None:
    """``PD-L1 >= 50%``, ``PSA over 10 ng/mL``."""
    following = _skipped(items, at + 1)
    sign = _chunk(items, following)
    if sign is None or sign.type != "comparison" or sign.value in ("between", "through"):
        if sign is not None and sign.type == "number":
            after = _chunk(items, following + 1)
            if after is not None and after.type == "comparison_after":
                return _numbered(marker, after.value, sign, items, following + 2)
        return None
    following = _skipped(items, following + 1)
    number = _chunk(items, following)
    if number is None or number.type != "number":
        raise Unclear(f"which value of {marker.text}", (sign.text,))
    return _numbered(marker, sign.value, number, items, following + 1)


def _measured(items: Sequence[Item], at: int, named: Chunk) -> tuple[Criterion, int] | None:
    """``hemoglobin below 8 g/dL``, ``A1c of 7 or more``, ``BP over 140/90``: of a pair both are meant, or either."""
    following = _skipped(items, at + 1)
    sign, operator = _chunk(items, following), ""
    if sign is not None and sign.type == "comparison" and sign.value not in ("between", "through"):
        operator, following = sign.value, _skipped(items, following + 1)
    number = _chunk(items, following)
    if number is None or number.type != "number":
        return None
    end = following + 1
    slash, second = _chunk(items, end), _chunk(items, end + 1)
    if slash is None or second is None or not slash.is_join("slash") or second.type != "number":
        second = None
    else:
        end += 2
    unit = ""
    if (behind := _chunk(items, end)) is not None and behind.type == "unit":
        unit, end = f" {behind.value}", end + 1
    if not operator:
        after = _chunk(items, end)
        if after is None or after.type != "comparison_after":
            return None
        operator, end = after.value, end + 1
    if len(named.ids) != 1:
        raise Unclear(f"which of several '{named.text}' is", (named.text,))
    kind, ids = named.type, named.ids
    numbers = [number.text] if second is None else [number.text, second.text]
    if not unit and kind == "lab" and float(number.text.rstrip("%")) >= _PER_MICROLITRE and second is None:
        usual = str(usual_units().get(ids[0], ""))
        if "9" in usual or "K" in usual:
            # "WBC > 10000" counts cells in a microlitre, and the usual unit thousands of them.
            numbers = [f"{float(number.text) / 1000:g}"]
    pressures = book.data("words")["pressures"]
    if ids[0] in pressures["of"]:
        ids = tuple(pressures["parts"][: len(numbers)])
    elif second is not None:
        return None
    each = [
        f"{kind_spelling(kind)} {concept(one)} {operator} {text}{unit}" for one, text in zip(ids, numbers, strict=True)
    ]
    query = each[0] if len(each) == 1 else f"({(' or ' if '>' in operator else ' and ').join(each)})"
    last = _chunk(items, end - 1) or number
    # A laboratory value, a pressure, a weight is the patient's, and no tumor's.
    return Criterion("patient", query, start=named.start, end=last.end, kind=kind, ids=ids), end


def _numbered(
    marker: Chunk, operator: str, number: Chunk, items: Sequence[Item], end: int
) -> tuple[Criterion, int] | None:
    percent = number.text.endswith("%") or marker.ids[0] in book.data("words")["percents"]["markers"]
    attribute = "percent" if percent else "value"
    unit = _chunk(items, end)
    if unit is not None and unit.type == "unit" and marker.ids[0] in usual_units():
        query = f"lab {concept(marker.ids[0])} {operator} {number.text} {unit.value}"
        return Criterion("finding", query, start=marker.start, end=unit.end, kind="lab", ids=marker.ids), end + 1
    if unit is not None and unit.type == "unread":
        raise Unclear(f"units cannot be asked for yet: '{unit.text}'", (unit.text,))
    amount = number.text.rstrip("%")
    if not percent and marker.ids[0] in book.data("words")["one_unit"]["markers"]:
        # A tumor marker that every laboratory reports in one unit.
        query = f"lab {concept(marker.ids[0])} {operator} {amount}"
        return Criterion("finding", query, start=marker.start, end=number.end, kind="lab", ids=marker.ids), end
    if not percent and marker.ids[0] not in book.data("words")["unitless"]["markers"]:
        raise Unclear(f"in which unit '{marker.text}' is {amount}: a number alone is not compared", (amount,))
    if percent and (float(amount) > 100 or float(amount) == 100 and operator == ">"):
        raise Unclear(f"there is no {marker.text} {operator} {number.text}", (number.text,))
    query = f"biomarker {concept(marker.ids[0])} with {attribute} {operator} {amount}"
    return Criterion("finding", query, start=marker.start, end=number.end, kind="biomarker", ids=marker.ids), end


def metastases(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """``brain mets``, ``metastases to liver or bone``: sites beside a word of spread, as criteria."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        read = _sites_then_spread(items, at) or _spread_then_sites(items, at)
        if read is None:
            found.append(items[at])
            at += 1
            continue
        sites, joins, end = read
        word = items[at]
        if isinstance(word, Chunk) and _is_denied(word):
            # "Not metastatic to the brain" denies that spread alone.
            found.append(Chunk("join", "not", word.start, word.end, "not"))
        found += _spread(sites, joins, items[at].start, items[end - 1].end)
        at = end
    return found


def _spread(sites: list[Chunk], joins: list[Chunk], start: int, end: int) -> list[Item]:
    items: list[Item] = []
    for number, site in enumerate(sites):
        if number:
            items.append(joins[number - 1])
        query = f"metastasis to {concept(site.ids[0])}"
        items.append(Criterion("finding", query, start=start, end=end, kind="metastasis", ids=site.ids))
    return items


def _is_spread(chunk: Chunk | None) -> bool:
    if chunk is None or chunk.type != "phrase" or chunk.value != "extent":
        return False
    text = chunk.text.lower()
    return "met" in text and "non" not in text and " or " not in text and "/" not in text


def _is_denied(chunk: Chunk) -> bool:
    """Whether a word of spread says that there is none."""
    return chunk.data.get("name") == "non-metastatic"


def _sites(items: Sequence[Item], at: int) -> tuple[list[Chunk], list[Chunk], int]:
    sites: list[Chunk] = []
    joins: list[Chunk] = []
    while True:
        at = _skipped(items, at)
        chunk = _chunk(items, at)
        if chunk is None or chunk.type != "site":
            break
        sites.append(chunk)
        at += 1
        joint = _chunk(items, at)
        following = _skipped(items, at + 1)
        if (
            joint is not None
            and joint.is_join("comma")
            and (more := _chunk(items, following)) is not None
            and more.is_join("and", "or")
        ):
            joint, following = more, _skipped(items, following + 1)
        chunk = _chunk(items, following)
        if (
            joint is None
            or not joint.is_join("and", "or", "and_or", "slash", "comma")
            or chunk is None
            or chunk.type != "site"
        ):
            break
        joins.append(joint)
        at = following
    return sites, joins, at


def _sites_then_spread(items: Sequence[Item], at: int) -> tuple[list[Chunk], list[Chunk], int] | None:
    chunk = _chunk(items, at)
    if chunk is None or chunk.type != "site":
        return None
    sites, joins, end = _sites(items, at)
    end = _skipped(items, end)
    word = _chunk(items, end)
    if _is_spread(word) and word is not None and word.text.lower().rstrip("s") in ("met", "metastase", "metastasi"):
        return sites, joins, end + 1
    return None


def _spread_then_sites(items: Sequence[Item], at: int) -> tuple[list[Chunk], list[Chunk], int] | None:
    if not _is_spread(_chunk(items, at)):
        return None
    following = _skipped(items, at + 1)
    preposition = _chunk(items, following)
    if (
        preposition is None
        or not preposition.is_join("with")
        or preposition.text.lower() not in ("to", "in", "of", "at")
    ):
        return None
    following = _skipped(items, following + 1)
    marker = _chunk(items, following)
    if marker is not None and marker.is_join("any_of"):
        following = _skipped(items, following + 1)
    sites, joins, end = _sites(items, following)
    return (sites, joins, end) if sites else None


def phrases(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """The items with entries of the phrase book, by their words or by the concept they name, as criteria."""
    found: list[Item] = []
    for item in items:
        entry = None
        if isinstance(item, Chunk) and item.type == "phrase":
            entry = book.Entry("phrase", item.value, item.data)
        elif (
            isinstance(item, Chunk)
            and len(item.ids) == 1
            and item.type not in ("gene", "biomarker", "value")
            and "with" not in item.data
            or isinstance(item, Chunk)
            and item.ids == ("triple_negative_status",)
        ):
            entry = book.by_concept().get(item.ids[0])
        found.append(item if entry is None else _phrase(entry, item, concepts))
    return found


def _phrase(entry: book.Entry, item: Item, concepts: ConceptTable) -> Criterion:
    data = entry.data
    query = " ".join(str(data.get("query", "")).split())
    only = data.get("only", ())
    ids: tuple[str, ...] = ()
    if entry.value == "treatment" and "concept" in data:
        ids = concepts.lookup(str(data["concept"]).strip("'"), ("drug", "procedure", "radiation"))[:1]
    return Criterion(
        entry.value,
        query,
        item.text,
        str(data.get("kind", "")),
        ids,
        bool(data.get("outside")),
        str(data.get("beside", "")),
        str(data.get("concept" if entry.value == "disease" else "disease", "")),
        tuple(only) if isinstance(only, list) else (),
        item.start,
        item.end,
        name=str(data.get("name", "")),
    )


def combinations(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """Criteria that together have a name of their own are that: metastatic and castration-resistant prostate cancer."""
    found = list(items)
    joins = {item.value for item in items if isinstance(item, Chunk) and item.type == "join"}
    for one in book.data("phrases")["combination"]:
        parts = [item for item in found if isinstance(item, Criterion) and item.name in one["parts"]]
        about = [item for item in found if isinstance(item, Criterion) and _is_of(item, one["disease"], concepts)]
        if (
            {part.name for part in parts} != set(one["parts"])
            or not about
            or joins & {"or", "not", "exclude", "except"}
        ):
            continue
        whole = _phrase(book.phrase_named(one["means"]), parts[0], concepts)
        used = {id(item) for item in (*parts, *about)}
        at = min(number for number, item in enumerate(found) if id(item) in used)
        found = [
            whole if number == at else item for number, item in enumerate(found) if number == at or id(item) not in used
        ]
    return found


def _is_of(item: Criterion, disease: str, concepts: ConceptTable) -> bool:
    """Whether a criterion is a diagnosis of the disease."""
    if item.kind == "diagnosis":
        return bool(item.ids) and all(concepts.is_a(one, disease) for one in item.ids)
    return item.sort == "disease" and item.disease == f"diagnosis '{concepts.name(disease)}'"


def settle(items: Sequence[Item]) -> list[Item]:
    """Adjectives and nouns that are used up; words on staging that settled nothing carry nothing when they may."""
    found: list[Item] = []
    for item in items:
        if (
            isinstance(item, Chunk)
            and item.type == "condition"
            and (item.value == "where" or item.text.lower() in book.listed("leads_over"))
        ):
            item = Chunk("skip", item.text, item.start, item.end)
        found.append(item)
    return found


def sexes(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """Words for a sex, beside a disease that only that sex has, carry nothing."""
    tumors = [one for item in items if isinstance(item, Criterion) and item.kind == "diagnosis" for one in item.ids]
    diseases = " ".join(item.disease or item.query for item in items if isinstance(item, Criterion))
    found: list[Item] = []
    for item in items:
        if isinstance(item, Chunk) and item.type == "sex":
            implied = book.data("words")["implied_sex"][item.value]
            fits = any(concepts.is_a(one, sex) for one in tumors for sex in implied) or any(
                concepts.name(sex) in diseases for sex in implied if sex in concepts
            )
            other = next(forms for sex, forms in book.data("words")["implied_sex"].items() if sex != item.value)
            if any(concepts.is_a(one, sex) for one in tumors for sex in other):
                raise Unclear(f"'{item.text}' and the disease do not go together: which of them is meant", (item.text,))
            if not fits:
                found.append(item)
                continue
            item = Chunk("skip", item.text, item.start, item.end)
        found.append(item)
    return found


def positives(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """``positive for`` before what was read as a finding adds nothing to it."""
    found: list[Item] = []
    for at, item in enumerate(items):
        if isinstance(item, Chunk) and item.type == "value" and "positive" in item.ids:
            following = _skipped(items, at + 1)
            while (chunk := _chunk(items, following)) is not None and (
                chunk.type == "skip" or chunk.is_join("with", "any_of")
            ):
                following += 1
            after = items[following] if following < len(items) else None
            if following > at + 1 and isinstance(after, Criterion) and after.sort == "finding":
                item = Chunk("skip", item.text, item.start, item.end)
        found.append(item)
    return found


def words_of(section: str) -> dict[str, object]:
    """A table of the words file."""
    return dict(book.data("words")[section])
