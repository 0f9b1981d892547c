"""Cases of linking without a gold standard: unseen synonyms of other terminologies, names held out, concepts gone."""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ....ingest.models.linking.names import NameTable
from ....ingest.recognizers.lexicon import SPAN_KINDS, span_kind
from ....kb.errors import UsageError
from ....kb.files.text_files import lines_of_text
from ....kb.kinds import DRUGS, PROCEDURES, of_domain
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.normal_forms import normal_form

#: Parts of the split, by hundredths of the hash of a concept.
PARTS: Final = (("train", 60), ("tune", 80), ("test", 100))
_SYNONYM: Final = re.compile(r'synonym: "((?:[^"\\]|\\.)*)" EXACT')
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Case:
    """A mention and what it is to be linked to. ``concepts``: any of them is right; none: it is to stay unlinked.

    ``without_concept`` and ``without_name``: what is taken out of the ontology for this case alone. ``broader``:
    concepts that lie above what is meant, where the ontology has not the thing itself.
    """

    text: str
    kind: str
    concepts: tuple[str, ...]
    source: str
    part: str
    without_concept: str = ""
    without_name: str = ""
    broader: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of a terminology: its names, the first preferred; the codes of its parents."""

    code: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    source: str
    parents: tuple[str, ...] = ()


def fraction(key: str) -> float:
    """Between 0 and 1, drawn by the hash of a key: the same everywhere."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64


def part_of(key: str) -> str:
    """The part of the split that a key falls into."""
    at = 100 * fraction(f"linking split {key}")
    return next(part for part, below in PARTS if at < below)


# --- terminologies --------------------------------------------------------------------------------------------------


def read_terms(folder: Path) -> list[Term]:
    """The terms of the open terminologies in ``folder``: DOID, NCIt's neoplasms, MAxO, Uberon, RxNorm's ingredients.

    UsageError where one is missing or has not its columns.
    """
    try:
        return list(_read_terms(folder))
    except OSError as error:
        place = error.filename or folder
        raise UsageError(
            f"cannot read '{place}': {error.strerror}. Hint: name the folder of the terminologies"
        ) from error
    except (KeyError, csv.Error) as error:
        raise UsageError(f"'{folder}': a table of it has not the columns of its kind ({error})") from error


def _read_terms(folder: Path) -> list[Term]:
    terms: list[Term] = []
    with (folder / "doid" / "doid_merged.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            names = (row["name"], *filter(None, (row["synonyms"] or "").split("|")))
            parents = tuple(filter(None, (row["parent_ids"] or "").split("|")))
            terms.append(Term(row["id"], names, ("tumor", "condition"), "doid", parents))
    with (folder / "ncit_neoplasm_core" / "Neoplasm_Core.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            names = (row["Preferred Term"], *filter(None, (row["Synonyms"] or "").split(" || ")))
            terms.append(Term("NCIT:" + row["Code"], names, ("tumor", "condition"), "ncit"))
    terms.extend(_obo(folder / "maxo" / "maxo-base.obo", ("procedure", "radiation"), "maxo"))
    terms.extend(_obo(folder / "uberon_maxo_import" / "uberon_import.obo", ("site",), "uberon"))
    with (folder / "rxnorm_prescribable" / "rxnorm_terms.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["tty"] in ("IN", "PIN"):
                terms.append(Term("RXNORM:" + row["rxcui"], (row["name"],), ("drug",), "rxnorm"))
    return terms


def _obo(path: Path, kinds: tuple[str, ...], source: str) -> Iterator[Term]:
    for stanza in lines_of_text(path).split("\n\n"):
        if not stanza.startswith("[Term]") or "\nis_obsolete: true" in stanza:
            continue
        code, name = re.search(r"^id: (\S+)", stanza, re.M), re.search(r"^name: (.+)$", stanza, re.M)
        if code and name and code[1].startswith(source.upper() + ":"):
            parents = tuple(re.findall(r"^is_a: (\S+)", stanza, re.M))
            yield Term(code[1], (name[1].strip(), *_SYNONYM.findall(stanza)), kinds, source, parents)


class Matched:
    """The terms beside the concepts of the ontology that they are, by code or by a name that names one concept."""

    def __init__(self, concepts: ConceptTable, terms: Iterable[Term]) -> None:
        self.concepts: Final = concepts
        self.terms: Final = tuple(terms)
        self._parents: Final = {one.code: one.parents for one in self.terms}
        by_code: dict[str, list[str]] = {}
        for row in concepts.rows():
            for code in row.codes:
                by_code.setdefault(code, []).append(row.id)
        #: Code of a term -> concepts.
        self.found: Final[dict[str, tuple[str, ...]]] = {}
        for term in self.terms:
            hits = [one for one in by_code.get(term.code, ()) if concepts.kind(one) in term.kinds]
            if not hits:
                named = {one for name in term.names for one in concepts.lookup(name, term.kinds)}
                # A name may be shared by a general and a special concept: then neither is sure to be the term.
                hits = sorted(named) if len(named) == 1 else []
            if hits:
                self.found[term.code] = tuple(hits)

    def touches(self, term: Term) -> bool:
        """Whether any name of the term is one of the ontology: then it is no case of what the ontology lacks."""
        return term.code in self.found or any(self.concepts.lookup(name, None) for name in term.names)

    def above(self, term: Term) -> tuple[str, ...]:
        """The concepts of the terms that lie above."""
        seen, waiting = {term.code}, list(term.parents)
        while waiting:
            code = waiting.pop()
            if code not in seen:
                seen.add(code)
                waiting.extend(self._parents.get(code, ()))
        return tuple(sorted({one for code in seen for one in self.found.get(code, ())}))


# --- cases ----------------------------------------------------------------------------------------------------------


def terminology_cases(matched: Matched, most_unlinked: int = 400) -> Iterator[Case]:
    """Names that the ontology cannot look up: of its own concepts, and of what it lacks (``most_unlinked`` a part and
    terminology, by hash)."""
    concepts = matched.concepts
    taken: set[tuple[str, str]] = set()
    kept: dict[tuple[str, str], int] = {}
    for term in sorted(matched.terms, key=lambda one: fraction(one.code)):
        hits = matched.found.get(term.code)
        if hits is None and matched.touches(term):
            continue
        part = part_of(hits[0] if hits else normal_form(term.names[0]))
        kind = span_kind(concepts, hits[0]) if hits else SPAN_KINDS[term.kinds[0]]
        for name in term.names:
            key = (kind, normal_form(name))
            if key in taken or not 3 <= len(name) <= 90 or concepts.lookup(name):
                continue
            taken.add(key)
            if hits:
                yield Case(name, kind, hits, term.source, part)
            elif kept.get((term.source, part), 0) < most_unlinked * (1 if part == "train" else 0.5):
                kept[term.source, part] = kept.get((term.source, part), 0) + 1
                if kind == "diagnosis" and fraction(f"kind {name}") < 0.5:
                    kind = "comorbidity"  # A terminology of diseases does not say which of them are cancers.
                yield Case(name, kind, (), f"{term.source} unlinked", part, broader=matched.above(term))
                break


_DISEASES: Final = of_domain("Condition")


def unsure(case: Case) -> Case:
    """The case as a recogniser would give it: of three kinds of disease one is wrong, of twenty mentions one has no
    kind, by hash."""
    draw = fraction(f"unsure {case.text}")
    if draw < 0.05:
        return replace(case, kind="")
    if draw < 0.35 and case.kind in _DISEASES:
        return replace(case, kind=_DISEASES[int(fraction(f"kind of {case.text}") * len(_DISEASES))])
    return case


def held_out_cases(names: NameTable, most: int = 2500) -> Iterator[Case]:
    """Own names, each taken out of the ontology for its case; half as many concepts taken out whole; misspellings."""
    concepts = names.concepts
    drawn = sorted(range(len(names)), key=lambda at: fraction(f"held out {names.rows[at].name} {at}"))
    named = Counter(row.concept for row in names.rows)
    used: set[str] = set()
    out = gone = spelt = 0
    for at in drawn:
        row = names.rows[at]
        if row.kind not in _LINKED or row.concept in used:
            continue
        used.add(row.concept)
        part = part_of(row.concept)
        draw = fraction(f"case of {row.concept}")
        if named[row.concept] > 1 and draw < 0.5 and not row.preferred:
            if len(concepts.lookup(row.name)) == 1 and row.kind not in _ONLY_NAMED and out < most:
                out += 1
                yield Case(row.name, row.kind, (row.concept,), "held out", part, without_name=row.name)
        elif draw < 0.75:
            if gone < most // 2:
                gone += 1
                below = concepts.above(row.concept) - {row.concept}
                yield Case(row.name, row.kind, (), "removed", part, row.concept, broader=tuple(sorted(below)))
        elif spelt < most:
            wrong = misspelt(row.name)
            if wrong != row.name and not concepts.lookup(wrong):
                spelt += 1
                yield Case(wrong, row.kind, (row.concept,), "misspelt", part)


_LINKED: Final = PROCEDURES | {*_DISEASES, "medication", "site", "gene", "biomarker"}
#: Kinds that go by their names alone: one that is taken out leaves no words to find the concept by.
_ONLY_NAMED: Final = DRUGS | {"gene"}


def misspelt(name: str) -> str:
    """The name with one slip in its longest word (a letter doubled, dropped, changed, or two turned round), drawn by
    hash; the name itself where that word is shorter than six letters."""
    words = name.split()
    at = max(range(len(words)), key=lambda one: (len(words[one]), -one), default=-1)
    if at < 0:
        return name
    word = words[at]
    if len(word) < 6 or not word.isalpha():
        return name
    draw = fraction(f"slip {name}")
    place = 1 + int(fraction(f"place {name}") * (len(word) - 2))
    letter = _LETTERS[int(fraction(f"letter {name}") * 26)]
    if draw < 0.3:
        word = word[:place] + word[place + 1 :]
    elif draw < 0.5:
        word = word[:place] + word[place] + word[place:]
    elif draw < 0.75:
        word = word[:place] + letter + word[place + 1 :]
    else:
        word = word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]
    return " ".join((*words[:at], word, *words[at + 1 :]))


def synonym_pairs(names: NameTable, matched: Matched) -> list[tuple[str, str, str]]:
    """(group, name, name) to train an encoder with: names of one concept or term, of the part ``train`` alone."""
    groups: dict[str, dict[str, None]] = {}
    for row in names.rows:
        if part_of(row.concept) == "train":
            groups.setdefault(row.concept, {})[row.name] = None
    for term in matched.terms:
        hits = matched.found.get(term.code)
        key = hits[0] if hits else normal_form(term.names[0])
        if part_of(key) == "train" and (hits or not matched.touches(term)):
            groups.setdefault(key, {}).update(dict.fromkeys(term.names))
    pairs = []
    for key, held in groups.items():
        listed = list(held)
        for at, name in enumerate(listed[1:21], start=1):
            pairs.append((key, listed[0], name))
            if at > 1:
                pairs.append((key, listed[at - 1], name))
    return pairs
