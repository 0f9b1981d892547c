"""Names of diseases, drugs and operations as criteria: repeated in brackets, with the site or histology elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import TREATMENTS
from ...kb.ontology.concepts import ConceptTable
from ..vocabulary import MEANT_BY_CONCEPT
from . import book
from .chunks import Chunk, Criterion, Item, Unclear, with_kind
from .terms import concept
from .whole import diagnosis, meet, other_than
from .wording import word_key

#: Kinds of chunk that are a treatment, with the kind of event asked for ("": the kinds that fit the concept).
_TREATMENTS: Final = {
    concept: kinds[0] if len(kinds) == 1 else ""
    for concept, kinds in MEANT_BY_CONCEPT.items()
    if kinds and TREATMENTS.issuperset(kinds)
}
_AROUND: Final = ("comma", "with", "colon", "semicolon", "either", "any_of", "or", "open", "close")


def tumors(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """Diseases as criteria, each with what else of the question says which disease it is."""
    items = _bracketed(list(items), concepts)
    items = _elliptic(items, concepts)
    items = _completed(items, concepts)
    found: list[Item] = []
    for item in items:
        if isinstance(item, Chunk) and item.type == "tumor":
            ids = _settled(item, items, concepts)
            found.append(
                Criterion("disease", diagnosis(ids), item.text, "diagnosis", ids, start=item.start, end=item.end)
            )
        else:
            found.append(item)
    return _general_before_list(_of_only(_refined(found, concepts), concepts), concepts)


def _of_only(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """A finding that only one disease has says which site a histology has: ``triple negative ductal carcinoma``."""
    only = {one for item in items if isinstance(item, Criterion) for one in item.only}
    if len(only) != 1:
        return items
    (disease,) = only
    found: list[Item] = []
    for item in items:
        if isinstance(item, Criterion) and item.kind == "diagnosis" and len(item.ids) == 1:
            met = meet(item.ids[0], disease, concepts)
            if met and met != item.ids and not concepts.is_a(disease, item.ids[0]):
                item = replace(item, ids=met, query=diagnosis(met))
            elif met and concepts.is_a(disease, item.ids[0]):
                item = replace(item, ids=(disease,), query=diagnosis((disease,)))
        found.append(item)
    return found


def _settled(chunk: Chunk, items: Sequence[Item], concepts: ConceptTable) -> tuple[str, ...]:
    if len(chunk.ids) == 1 or len({concepts.name(one) for one in chunk.ids}) == 1:
        return chunk.ids
    settled = book.data("words")["settled"].get(chunk.text.lower())
    if settled:
        others = [one for item in items if isinstance(item, Chunk) and item is not chunk for one in item.ids]
        if any(one in concepts and concepts.is_a(one, settled["beside"]) for one in others):
            return (settled["means"],)
    if concepts.value_set(chunk.text, spelled_so=True):
        return chunk.ids
    names = " or ".join(concepts.name(one) for one in chunk.ids)
    raise Unclear(f"'{chunk.text}' can be {names}", (chunk.text,))


def _bracketed(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """A name said again in brackets is one name: ``LMS (leiomyosarcoma)``, ``Tagrisso (osimertinib)``."""
    at = 0
    while at + 3 < len(items):
        first, opening, second, closing = items[at : at + 4]
        if (
            isinstance(first, Chunk) and isinstance(opening, Chunk) and opening.is_join("open")
            and isinstance(second, Chunk) and isinstance(closing, Chunk) and closing.is_join("close")
            and first.ids and second.ids
        ):  # fmt: skip
            kind = first.type if first.type == second.type else ""
            same = [one for one in first.ids if any(concepts.related(one, other) for other in second.ids)]
            if kind and same:
                narrower = second if any(concepts.is_a(two, same[0]) for two in second.ids) else first
                ids = tuple(one for one in narrower.ids if any(concepts.related(one, other) for other in same))
                items[at : at + 4] = [replace(first, ids=ids, end=closing.end)]
                continue
        at += 1
    return items


def _elliptic(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """``ductal or lobular carcinoma``, ``breast, gastric or GEJ ca``: the last name lends its end to those before."""
    for at in range(len(items) - 2, -1, -1):
        item = items[at]
        if not (isinstance(item, Chunk) and item.type in ("unread", "site")):
            continue
        following = at + 1
        joined = False
        while following < len(items) and isinstance(joint := items[following], Chunk):
            if not (joint.is_join("comma", "or", "and", "and_or", "slash") or joint.type == "skip"):
                break
            joined = joined or joint.type == "join"
            following += 1
        head = items[following] if following < len(items) else None
        if not joined or not (isinstance(head, Chunk) and head.type == "tumor"):
            continue
        words = head.text.split()
        for length in range(1, len(words)):
            ids = _lent(item.text, " ".join(words[-length:]), concepts)
            if ids:
                items[at] = replace(
                    item, type="tumor", ids=ids, text=f"{item.text} {' '.join(words[-length:])}", others={}
                )
                break
    return _listed_after(items, concepts)


def _listed_after(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """``carcinoma, either ductal or lobular``, ``cancer of the lung or liver``: the name before lends its end."""
    for at, item in enumerate(items):
        if not (isinstance(item, Chunk) and item.type in ("unread", "site")):
            continue
        before = at - 1
        listed = any(isinstance(one, Chunk) and one.is_join("or", "and") for one in items[max(0, at - 2) : at + 2])
        while listed and before >= 0 and isinstance(one := items[before], Chunk):
            if one.type == "tumor":
                words = one.text.split()
                of_site = "of" in words
                ids = _lent(item.text, words[0] if of_site else words[-1], concepts)
                if ids and (of_site or item.type == "unread"):
                    named = f"{words[0]} of {item.text}" if of_site else f"{item.text} {words[-1]}"
                    items[at] = replace(item, type="tumor", ids=ids, text=named, others={})
                    break
            elif not (one.type == "skip" or one.is_join("comma", "or", "and", "any_of", "open", "colon", "with")):
                break
            before -= 1
    return items


def _lent(start: str, end: str, concepts: ConceptTable) -> tuple[str, ...]:
    respelled = book.respellings()
    first, *rest_of = end.split()
    firsts = (first, *respelled.get(word_key(first), ()))
    sites = (start, *book.data("words")["sites"].get(start.lower(), ()))
    for site in sites:
        for one in firsts:
            found = concepts.lookup(" ".join([site, one, *rest_of]), ("tumor",))
            if found:
                return found[:1]
    return ()


def _completed(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """Words that mean nothing alone and complete the name of a disease beside them: ``ovarian cancer, clear cell``."""
    at = 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Chunk) and (item.type in ("unread", "site") or item.type == "value" and not item.others):
            end = at
            while end < len(items) and isinstance(items[end], Chunk) and items[end].type in ("unread", "site"):  # type: ignore[union-attr]
                end += 1
            end = max(end, at + 1)
            for stop in range(end, at, -1):
                words = " ".join(one.text for one in items[at:stop] if isinstance(one, Chunk))
                place, ids = _disease_with(words, items, at, stop, concepts)
                if ids:
                    old = items[place]
                    assert isinstance(old, Chunk)
                    items[place] = replace(old, ids=ids, text=f"{words} {old.text}", others={})
                    for number in range(at, stop):
                        used = items[number]
                        items[number] = Chunk("skip", "", used.start, used.end)
                    at = stop - 1
                    break
        at += 1
    return items


def _disease_with(
    words: str, items: Sequence[Item], start: int, stop: int, concepts: ConceptTable
) -> tuple[int, tuple[str, ...]]:
    """The place of the disease that ``words`` complete, and the concepts that it is with them."""
    for step, begin in ((-1, start - 1), (1, stop)):
        at = begin
        while 0 <= at < len(items):
            item = items[at]
            if isinstance(item, Chunk) and item.type == "tumor" and len(item.ids) == 1:
                for name in _joined_names(words, item.text, concepts.name(item.ids[0])):
                    found = concepts.lookup(name, ("tumor",))
                    if found and concepts.is_a(found[0], item.ids[0]):
                        return at, found[:1]
                break
            if not isinstance(item, Chunk) or not (item.type == "skip" or item.is_join(*_AROUND)):
                break
            at += step
    return -1, ()


def _joined_names(words: str, text: str, name: str) -> Iterator[str]:
    sites = book.data("words")["sites"].get(words.lower().removeprefix("the "), [words])
    respelled = book.respellings()
    forms = [words, *sites, *respelled.get(word_key(words), ())]
    for one in dict.fromkeys(forms):
        for base in dict.fromkeys((text, name, text.replace(" ca", " cancer"))):
            yield f"{one} {base}"
            yield f"{base} of {one}"
            parts = base.split()
            if len(parts) > 1:
                yield f"{parts[0]} {one} {' '.join(parts[1:])}"
            for instead in ("carcinoma", "cancer"):
                if parts[-1].lower() in ("cancer", "carcinoma", "tumor", "ca"):
                    yield f"{one} {' '.join([*parts[:-1], instead])}"
                    yield f"{' '.join([*parts[:-1], instead])} of {one}"


def _refined(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """Two names of one disease, not listed as alternatives, are what lies below both: ``breast cancer: carcinoma``."""
    places = [at for at, item in enumerate(items) if isinstance(item, Criterion) and item.kind == "diagnosis"]
    for first, second in itertools.pairwise(places):
        one, other = items[first], items[second]
        assert isinstance(one, Criterion)
        assert isinstance(other, Criterion)
        between = list(items[first + 1 : second])
        joins = [item for item in between if isinstance(item, Chunk) and item.type == "join"]
        if any(not isinstance(item, Chunk) for item in between):
            continue
        words = {item.value for item in joins}
        if words & {
            "or",
            "and",
            "and_or",
            "slash",
            "not",
            "exclude",
            "except",
            "neither",
            "nor",
            "before",
            "after",
            "another",
        }:
            continue
        if (
            "comma" in words
            and "semicolon" not in words
            and not any(isinstance(item, Chunk) and item.text.lower().startswith("histolog") for item in between)
            and len(places) > 2
        ):
            continue
        if words == {"with"} and other.text.isupper() and len(other.text) <= 3:
            raise Unclear(f"'{other.text}' beside '{one.text}' can mean several things; write it out", (other.text,))
        if len(one.ids) != 1 or len(other.ids) != 1:
            alternatives = _below_all(one.ids[0], other.ids, concepts) if len(one.ids) == 1 else ()
            ids = alternatives
        else:
            ids = meet(one.ids[0], other.ids[0], concepts)
        if ids:
            items[first] = Chunk("skip", "", one.start, one.end)
            items[second] = replace(other, ids=ids, query=diagnosis(ids))
    rest = [item for item in items if not (isinstance(item, Chunk) and item.type == "skip" and not item.text)]
    return _general_before_list(rest, concepts)


def _general_before_list(items: list[Item], concepts: ConceptTable) -> list[Item]:
    """``triple negative carcinoma, either ductal or lobular``: the list says which of the first are meant."""
    places = [at for at, item in enumerate(items) if isinstance(item, Criterion) and item.kind == "diagnosis"]
    if len(places) < 3:
        return items
    first, rest = items[places[0]], [items[at] for at in places[1:]]
    joins = [item for item in items[places[0] + 1 : places[1]] if isinstance(item, Chunk) and item.type == "join"]
    if not joins or any(item.is_join("or", "and", "and_or", "slash") for item in joins):
        return items
    assert isinstance(first, Criterion)
    if all(
        isinstance(one, Criterion) and one.ids and all(concepts.is_a(i, first.ids[0]) for i in one.ids) for one in rest
    ):
        items[places[0]] = Chunk("skip", "", first.start, first.end)
    return items


def _below_all(one: str, others: tuple[str, ...], concepts: ConceptTable) -> tuple[str, ...]:
    return others if all(concepts.is_a(other, one) for other in others) else ()


def treatments(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """Drugs, regimens, radiation and operations as criteria."""
    found: list[Item] = []
    for item in _bracketed(list(items), concepts):
        if isinstance(item, Chunk) and item.type in _TREATMENTS:
            item = _treatment(item, concepts)
        before = found[-1] if found else None
        if isinstance(item, Criterion) and isinstance(before, Criterion) and before.sort == item.sort == "treatment":
            if _with_radiation(before, item, concepts):
                # "Cisplatin chemoradiation": the drug and the radiation.
                found += [Chunk("join", "", item.start, item.start, "and"), item]
                continue
            # "FOLFIRI chemo", "osimertinib therapy": the second says what the first is.
            above = {one for i in before.ids for one in concepts.above(i)}
            if not (
                set(item.ids) & above or before.kind in ("regimen", "") and item.ids == ("cytotoxic_chemotherapy",)
            ):
                raise Unclear(f"how '{before.text}' and '{item.text}' go together", (before.text, item.text))
            continue
        found.append(item)
    return found


def _with_radiation(drug: Criterion, radiation: Criterion, concepts: ConceptTable) -> bool:
    return (
        drug.kind == "medication"
        and radiation.kind == "radiation"
        and any(concepts.is_a(one, "chemoradiation") for one in radiation.ids)
    )


def _treatment(chunk: Chunk, concepts: ConceptTable) -> Criterion:
    if len(chunk.ids) > 1 and not concepts.value_set(chunk.text, spelled_so=True):
        names = " or ".join(concepts.name(one) for one in chunk.ids)
        raise Unclear(f"'{chunk.text}' can be {names}", (chunk.text,))
    if chunk.others.get("condition") or chunk.others.get("state"):
        raise Unclear(f"'{chunk.text}' has several readings", (chunk.text,))
    kind = _TREATMENTS[chunk.type]
    terms = [concept(one) for one in chunk.ids]
    term = terms[0] if len(terms) == 1 else f"({' or '.join(terms)})"
    return Criterion(
        "treatment",
        f"{kind} {term}".strip() + str(chunk.data.get("with", "")),
        chunk.text,
        kind or "surgery",
        chunk.ids,
        start=chunk.start,
        end=chunk.end,
    )


def another(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """``Tagrisso and any other EGFR inhibitor``: a drug of the class other than the one named before."""
    found: list[Item] = []
    named: Criterion | None = None
    waiting = False
    for item in items:
        if isinstance(item, Chunk) and item.is_join("another"):
            waiting = True
            continue
        if isinstance(item, Criterion):
            if waiting and named is not None and item.sort == named.sort == "treatment" and item.ids and named.ids:
                item = replace(item, query=other_than(item.kind, item.ids, named.ids, concepts))
                waiting = False
            elif waiting:
                raise Unclear("other than what", ("other",))
            named = item
        found.append(item)
    if waiting:
        raise Unclear("other than what", ("other",))
    return found


def rest(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """States, conditions and deaths as criteria."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Chunk) and item.type == "state":
            found.append(_state(item, concepts))
        elif isinstance(item, Chunk) and item.type == "encounter":
            found.append(_encounter(item))
        elif isinstance(item, Chunk) and item.type == "gene" and "condition" in item.others:
            found.append(_condition(with_kind(item, "condition"), concepts))
        elif isinstance(item, Chunk) and item.type == "condition":
            found.append(_condition(item, concepts) if item.ids else item)
        else:
            found.append(item)
    return found


def _state(chunk: Chunk, concepts: ConceptTable) -> Criterion:
    if len(chunk.ids) > 1 or chunk.others:
        raise Unclear(f"'{chunk.text}' has several readings", (chunk.text,))
    one = chunk.ids[0]
    if one == "death":
        return Criterion("patient", "death", chunk.text, start=chunk.start, end=chunk.end)
    return Criterion(
        "extent", f"state {concept(one)}", chunk.text, "state", chunk.ids, start=chunk.start, end=chunk.end
    )


def _encounter(chunk: Chunk) -> Criterion:
    query = f"encounter {concept(chunk.ids[0])}"
    return Criterion("patient", query, chunk.text, "encounter", chunk.ids, start=chunk.start, end=chunk.end)


def _condition(chunk: Chunk, concepts: ConceptTable) -> Criterion:
    if len(chunk.ids) > 1:
        raise Unclear(f"'{chunk.text}' has several readings", (chunk.text,))
    one = chunk.ids[0]
    query = concept(one) + str(chunk.data.get("with", ""))
    genes = book.data("words")["syndromes"].get(one)
    if genes:
        query = f"({query} or same event (variant {genes} with origin = germline and 'a harmful mutation'))"
    elif chunk.others:
        raise Unclear(f"'{chunk.text}' has several readings", (chunk.text,))
    return Criterion(
        "patient", query, chunk.text, "condition", chunk.ids, start=chunk.start, end=chunk.end, condition=True
    )


Step = Callable[[Sequence[Item], ConceptTable], list[Item]]
