"""Tokens to chunks: of all ways to read a question as known phrases and names, the one that leaves least over."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...kb.kinds import KIND_TABLE
from ...kb.ontology.concepts import ConceptTable
from ...kb.units import unit_named, unit_pattern
from ..resolution.allergies import allergies_named
from ..resolution.compounds import split_place, split_side
from ..resolution.findings import is_protein_change, protein_change
from . import book
from .chunks import Chunk, text_of
from .genes import gene_list
from .senses import stands_for, words_beside
from .terms import value
from .wording import Token, key_of, word_key

_NO_ENTRIES: Final[Mapping[str, book.Entry]] = {}
_MOST_TOKENS: Final = 18
_LONGEST_NAME: Final = 9
_MOST_RESPELLINGS: Final = 12
#: Signs over which no name reaches.
_BARRIERS: Final = frozenset(',;:()"=<>') | {"<=", ">=", "!=", "::"}
_SIGNS: Final = {
    ",": "comma", ";": "semicolon", ":": "colon", "=": "colon", "/": "slash", "(": "open", ")": "close",
    "-": "hyphen", "::": "pair",
}  # fmt: skip
_CATEGORY: Final = re.compile(
    r"(?P<prefix>yp|yc|rp|[cpr])?(?P<axis>[tnm])(?P<value>is|x|[0-4](?:mi|[a-d])?)", re.IGNORECASE
)
_TNM: Final = re.compile(
    r"(?P<prefix>yp|yc|rp|[cpr])?(?P<t>t(?:is|[0-4](?:mi|[a-d])?))(?P<n>n[0-3](?:mi|[a-c])?)(?P<m>m[01][a-d]?)?",
    re.IGNORECASE,
)
_GROUP: Final = re.compile(r"(?:0|i{1,3}|iv)[a-d]?\d?|[0-4][a-d]?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?%?")
#: Letters that stand for no amino acid.
_NO_RESIDUE: Final = re.compile("[BJOUZ]")
_UNIT: Final = re.compile(unit_pattern(in_queries=True), re.IGNORECASE)
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?")
_CODON: Final = re.compile(r"[A-Z]\d{1,4}")
_EXON: Final = re.compile(r"(?:exon|ex|e)(\d{1,2})", re.IGNORECASE)
_EXON_GLUED: Final = re.compile(r"(?:exon|ex|e)(\d{1,2})(del|ins|skip|skipping)?|(del)(19)|(19)(del)", re.IGNORECASE)
#: Those whose names are said of a part of the body.
_PLACED: Final = ("condition", "procedure")
#: Chunk types of concepts, the one that wins first where a name is of several kinds and nothing else decides.
_KINDS: Final = (
    "tumor", "drug", "regimen", "biomarker", "gene", "radiation", "procedure", "state", "condition", "performance",
    "site", "value", "vital", "lab", "measurement", "feature", "structure", "encounter",
)  # fmt: skip
_COST: Final = {"unread": 40.0, "skip": 1.0, "join": 1.0, "condition": 1.0}
_TINY: Final = 0.001
_AXIS: Final = re.compile(r"(?:yp|yc|rp|[cpr])[TNM]")
_GRADE: Final = re.compile(r"g[1-4]", re.IGNORECASE)
_TREATMENTS: Final = ("drug", "radiation", "procedure", "regimen")
#: The kinds of concept in whose names words of the frame of a question may be a part.
_WITH_FRAME: Final = ("state", "condition", "drug")
_NEXT_WORD: Final = re.compile(r"\s+([A-Za-z]+)")
_OF_ORGANS: Final = frozenset({"cancer", "carcinoma", "metastases", "metastasis", "mets", "tumor", "tumors", "cancers"})
_CARCINOMA: Final = re.compile(r"\bcarcinomas?\b", re.IGNORECASE)
#: A name like "lung carcinoma": an organ, and no histology.
_TWO_WORDS: Final = 2
#: Words that only join the words of a name.
_FUNCTION: Final = frozenset({"of", "on", "in", "to", "the", "a", "an", "at", "for"})


def chunks_of(
    text: str, tokens: Sequence[Token], concepts: ConceptTable, own: Mapping[str, book.Entry] = _NO_ENTRIES
) -> list[Chunk]:
    """The chunks of a question; tokens that nothing explains are chunks of the type ``unread``. ``own`` are phrases
    that go before those of the book."""
    count = len(tokens)
    best: list[tuple[float, int, Chunk | None]] = [(float("inf"), count, None) for _ in range(count)]
    best.append((0.0, count, None))
    for start in range(count - 1, -1, -1):
        for end in range(start + 1, min(count, start + _MOST_TOKENS) + 1):
            span = tuple(tokens[start:end])
            chunk = _chunk(span, text, concepts, own)
            if chunk is None:
                continue
            # Of two readings that cost the same, the one with the longer chunks.
            cost = _COST.get(chunk.type, 2.0) + best[end][0] - _TINY * (end - start) ** 2
            if cost < best[start][0]:
                best[start] = (cost, end, chunk)
    found: list[Chunk] = []
    at = 0
    while at < count:
        _, at, chunk = best[at]
        assert chunk is not None  # a single token always is a chunk
        found.append(chunk)
    return found


def _chunk(span: tuple[Token, ...], text: str, concepts: ConceptTable, own: Mapping[str, book.Entry]) -> Chunk | None:
    first, last = span[0], span[-1]
    shown = text_of(span, text)
    place = (shown, first.start, last.end)
    if len(span) == 1 and first.text in _SIGNS:
        return Chunk("join", *place, _SIGNS[first.text])
    if len(span) == 1 and _AXIS.fullmatch(first.text):
        # "pT" is no patient.
        return _single(first, place)
    if not (first.is_word or first.text in ("<", ">", "<=", ">=", "&")) or last.text in (",", ";", "-", "/"):
        return None if len(span) > 1 else Chunk("comparison", *place, first.text) if first.text in (
            "<", ">", "<=", ">="
        ) else Chunk("skip" if first.text in "\"'.*" else "unread", *place)  # fmt: skip
    if _is_unit(shown, text, first.start):
        return Chunk("unit", *place, unit_named(shown) or "")
    key = key_of(span)
    entry = own.get(key) or (book.entries().get(key) if len(span) <= book.longest() + 4 else None)
    if entry is not None and not (len(span) == 1 and _is_gene_symbol(first, text, concepts)):
        return Chunk(entry.type, *place, entry.value, data=entry.data)
    found = _pattern(span, place) or gene_list(span, place, concepts)
    if found is not None and not (found.type == "residue" and concepts.lookup(shown, _TREATMENTS)):
        return found
    if len(span) > 1 and not _is_loose(first) and not _is_loose(last):
        found = _allergy(shown, place, concepts)
        if found is not None:
            return found
    if (
        len(span) <= _LONGEST_NAME
        and not any(token.text in _BARRIERS for token in span)
        and not (_is_loose(first) and not _is_part(span, shown, concepts))
        and (not _is_loose(last) or _is_therapy(last) or _is_part(span, shown, concepts))
    ):
        found = _name(span, text, place, concepts)
        if found is not None:
            return found
    return Chunk("unread", *place) if len(span) == 1 else None


def _is_unit(shown: str, text: str, start: int) -> bool:
    """Whether the words are the unit of the number right before them."""
    return bool(_UNIT.fullmatch(shown)) and text[:start].rstrip()[-1:].isdigit()


def _is_gene_symbol(token: Token, text: str, concepts: ConceptTable) -> bool:
    """``MET`` in a text that is not all capitals is the gene, whatever ``met`` is."""
    return token.text.isupper() and len(token.text) >= 3 and not text.isupper() and bool(
        concepts.lookup(token.text, ("gene",))
    )  # fmt: skip


def _is_loose(token: Token) -> bool:
    """Whether no name begins or ends with it: a skipped or joining word."""
    entry = book.entries().get(word_key(token.text))
    return entry is not None and entry.type in ("skip", "join", "comparison")


def _is_part(span: tuple[Token, ...], shown: str, concepts: ConceptTable) -> bool:
    """Whether words that else carry nothing are a part of this name, which without them names nothing: ``residual
    disease``, ``type 2 diabetes``."""
    inner = [token.text for token in span if not _is_loose(token)]
    if len(span) < 2 or not inner or len(inner) == len(span) or not concepts.lookup(shown, _WITH_FRAME):
        return False
    without = concepts.lookup(" ".join(inner))
    return not without or without == concepts.lookup(shown, _WITH_FRAME)


def _is_therapy(token: Token) -> bool:
    """Whether a name may end with the word, though it also joins: ``endocrine therapy``."""
    entry = book.entries().get(word_key(token.text))
    return entry is not None and entry.value == "treat" and word_key(token.text) in ("therapy", "treatment")


# --- patterns ------------------------------------------------------------------------------------------------


def _pattern(span: tuple[Token, ...], place: tuple[str, int, int]) -> Chunk | None:
    if len(span) == 1:
        return _single(span[0], place)
    if len(span) >= 3 and len(span) % 2 and all(sign.text == "/" for sign in span[1::2]):
        head = _single(span[0], place)
        letters = [token.text.upper() for token in span[2::2]]
        if head is not None and head.type == "protein" and all(re.fullmatch("[A-Z]", one) for one in letters):
            return replace(head, data={"letters": "".join(letters)})
        return None
    if len(span) >= 2 and span[0].low in ("exon", "exons", "ex"):
        return _exons(span, place)
    if len(span) == 2 and span[0].low in ("codon", "codons") and span[1].text.isdigit():
        return Chunk("codon", *place, span[1].text)
    if len(span) == 2 and span[0].low in ("stage",) and _GROUP.fullmatch(span[1].text):
        return Chunk("group", *place, span[1].text.upper())
    if len(span) == 3 and span[0].low == "stage" and span[1].text == "-" and _GROUP.fullmatch(span[2].text):
        return Chunk("group", *place, span[2].text.upper())
    return None


def _single(token: Token, place: tuple[str, int, int]) -> Chunk | None:
    word = token.text
    category = _CATEGORY.fullmatch(word)
    if category is not None:
        axis, value = category["axis"].lower(), category["value"].lower()
        return Chunk("category", *place, f"{axis.upper()}{value}", data={"prefix": (category["prefix"] or "").lower()})
    whole = _TNM.fullmatch(word)
    if whole is not None:
        parts = {axis: axis.upper() + whole[axis][1:].lower() for axis in ("t", "n", "m") if whole[axis]}
        return Chunk("tnm", *place, data={"prefix": (whole["prefix"] or "").lower(), **parts})
    axis = re.fullmatch(r"(yp|yc|rp|[cpr])([TNM])", word)
    if axis is not None:
        return Chunk("axis", *place, axis[2].lower(), data={"prefix": axis[1]})
    if word.lower().startswith("score") and word.lower().endswith("plus"):
        # "IHC 2+" in the one form of a question.
        return Chunk("stain", *place, word[5:-4])
    if _DATE.fullmatch(word):
        return Chunk("date", *place, word)
    if _NUMBER.fullmatch(word):
        return Chunk("number", *place, word)
    if re.fullmatch(r"i{1,3}[a-d]?\d?|iv[a-d]?", word, re.IGNORECASE) and (len(word) > 1 or word == "I"):
        return Chunk("group", *place, word.upper(), data={"bare": True})
    glued = _EXON_GLUED.fullmatch(word)
    if glued is not None and not word.isdigit():
        number = glued[1] or glued[4] or glued[5]
        what = {"del": "deletion", "ins": "insertion", "ski": "skipping"}.get(
            (glued[2] or glued[3] or glued[6] or "")[:3].lower(), ""
        )
        return Chunk("exon", *place, number, data={"exons": (int(number),), "noun": what})
    bare = word[2:].strip("()") if word.lower().startswith("p.") else word
    upper = bare.upper() if re.fullmatch(r"[a-z]\d{1,4}[a-z]", bare) else bare
    if len(bare) >= 4 and is_protein_change(upper) and not _NO_RESIDUE.search(upper.split("fs")[0].split("del")[0]):
        return Chunk("protein", *place, protein_change(upper))
    if re.fullmatch(r"[VGKELRTDSYAQ]\d{2,4}", bare.upper()) and not re.fullmatch(r"[EKDLTS]\d\d?", bare.upper()):
        return Chunk("residue", *place, bare.upper())
    return None


def _exons(span: tuple[Token, ...], place: tuple[str, int, int]) -> Chunk | None:
    """``exons 9, 11, 13, 14 and 17``; ``exon 2/3/4``; ``exons 2-4``."""
    numbers: list[int] = []
    ranged = False
    for at, token in enumerate(span[1:]):
        if token.text.isdigit() and len(token.text) <= 2:
            low = numbers[-1] if ranged and numbers else int(token.text)
            numbers += range(low + 1, int(token.text)) if ranged else ()
            numbers.append(int(token.text))
            ranged = False
        elif token.text in ("-", "to", "through") and numbers:
            ranged = True
        elif token.text not in (",", "/") and token.low not in ("and", "or", "exon", "exons", "&") or at == 0:
            return None
    if not span[-1].text.isdigit() or not numbers:
        return None
    return Chunk("exon", *place, str(numbers[0]), data={"exons": tuple(dict.fromkeys(numbers)), "noun": ""})


# --- names ---------------------------------------------------------------------------------------------------


def _name(span: tuple[Token, ...], text: str, place: tuple[str, int, int], concepts: ConceptTable) -> Chunk | None:
    shown = place[0]
    if len(shown) < 2 or shown.isdigit() or any(token.low == "or" for token in span):
        # Alternatives are a list, also where the ontology has a name for them.
        return None
    code = re.fullmatch(r"(?:rxnorm\s)?(?:rxcui|cui|rxnorm)(?:\scode)?(?:\s?#)?\s(\d+)", shown, re.IGNORECASE)
    if code is not None:
        return _concept_chunk(concepts.lookup(f"RxCUI {code[1]}"), place, concepts)
    other = book.also_called().get(key_of(span))
    if other is not None and other in concepts:
        return _concept_chunk((other,), place, concepts)
    findings = book.data("words")["said_by_findings"]["diseases"]
    for name in _spellings(span, text):
        found = tuple(one for one in concepts.lookup(name) if one not in findings)
        if found and _of_several_genes(span, found, concepts):
            # A list of genes means those genes, also where the ontology has a wider name for them.
            return None
        found = tuple(one for one in found if not _states_more(name, span, one, concepts))
        found = tuple(one for one in found if not _ends_before_cancer(span, text, one, concepts))
        found = _organ_cancer(name, found, concepts)
        if found and not (len(span) > 1 and len(name.replace(" ", "")) <= 3):
            return _concept_chunk(found, place, concepts)
    if len(span) == 1 and shown.isalpha() and shown.islower() and 2 <= len(shown) <= 6 and not text.isupper():
        # Typed in a hurry: a short form in small letters.
        ids = stands_for(shown, words_beside(text, shown), concepts)
        if ids and word_key(shown) not in book.own_words():
            return _concept_chunk(ids, place, concepts)
    placed = _placed_name(shown, place, concepts)
    if placed is not None and placed.ids and _ends_before_cancer(span, text, placed.ids[0], concepts):
        return None
    return placed


def _allergy(shown: str, place: tuple[str, int, int], concepts: ConceptTable) -> Chunk | None:
    """``allergic to latex or penicillin``, ``sulfa allergy``: as many allergies as substances are named."""
    kinds = KIND_TABLE["allergy"].concepts
    found = allergies_named(shown, lambda name: bool(concepts.lookup(name, kinds)))
    if found is None:
        return None
    joined, named = found
    parts = [f"allergy to {value(concepts.lookup(name, kinds)[0])}" for name in named]
    query = parts[0] if len(parts) == 1 else f"({f' {joined} '.join(parts)})"
    return Chunk("phrase", *place, "patient", data={"query": query})


def _placed_name(shown: str, place: tuple[str, int, int], concepts: ConceptTable) -> Chunk | None:
    """``chest pain``, ``fracture of the left hip``: the name of the complaint, with where it is."""
    for kind in _PLACED:
        placed = split_place(shown, concepts, (kind,))
        if placed is not None:
            (where, *_) = concepts.lookup(placed.place, ("site",))
            side = f" and laterality = {placed.side}" if placed.side else ""
            return Chunk(
                kind,
                *place,
                ids=concepts.lookup(placed.name, (kind,)),
                data={"with": f" with (site = {value(where)}{side})"},
            )
        sided = split_side(shown, concepts, (kind,))
        if sided is not None:
            return Chunk(
                kind,
                *place,
                ids=concepts.lookup(sided.name, (kind,)),
                data={"with": f" with laterality = {sided.side}"},
            )
    return None


def _states_more(name: str, span: tuple[Token, ...], found: str, concepts: ConceptTable) -> bool:
    """Whether the words ask for more than the concept: ``metastatic breast carcinoma``, ``severe nausea``."""
    if len(span) == 1 or concepts.get(found).kind not in ("tumor", "condition", "drug", "procedure", "regimen"):
        return False
    preferred = concepts.name(found).lower()
    words = name.replace("-", " ").split()
    for word in words:
        entry = book.entries().get(word_key(word))
        asks = entry is not None and (entry.type == "vague" or (entry.type == "phrase" and entry.value == "extent"))
        if asks and word.lower() not in preferred:
            rest = " ".join(one for one in words if one is not word)
            if found in concepts.lookup(rest):
                return True
    return _states_result(span, found, concepts) or _says_besides(words, found, concepts)


def _organ_cancer(name: str, found: tuple[str, ...], concepts: ConceptTable) -> tuple[str, ...]:
    """``carcinoma of the lung`` as people say it of any cancer of the organ."""
    if len(found) != 1 or concepts.kind(found[0]) != "tumor" or not _CARCINOMA.search(name):
        return found
    cancer = concepts.lookup(_CARCINOMA.sub("cancer", name), ("tumor",))
    plain = concepts.name(found[0]).lower().split()
    if len(cancer) == 1 and cancer != found and concepts.is_a(found[0], cancer[0]) and len(plain) == _TWO_WORDS:
        return cancer
    return found


def _ends_before_cancer(span: tuple[Token, ...], text: str, found: str, concepts: ConceptTable) -> bool:
    """Whether an operation's name takes the organ of the cancer named next: ``resection of colon cancer``."""
    following = _NEXT_WORD.match(text[span[-1].end :])
    if (
        following is None
        or following[1].lower() not in _OF_ORGANS
        or concepts.kind(found) not in ("procedure", "radiation")
    ):
        return False
    return len(span) > 1 and bool(concepts.lookup(span[-1].text, ("site",)))


def _says_besides(words: Sequence[str], found: str, concepts: ConceptTable) -> bool:
    """Whether one of the words, without which the rest names the same concept, says a place, a side, a grade or an
    intent: ``net g2``, ``surgery on the lung``."""
    own = concepts.name(found).lower().replace("-", " ").split()
    for at, word in enumerate(words):
        if word.lower() in own:
            continue
        entry = book.entries().get(word_key(word))
        marked = entry is not None and entry.type in ("graded", "side", "intent", "line", "pick")
        if not (marked or _GRADE.fullmatch(word) or concepts.lookup(word, ("site",))):
            continue
        rest = [one for one in (*words[:at], *words[at + 1 :]) if one.lower() not in _FUNCTION]
        named = " ".join(rest)
        if rest and len(rest) < len(words) and found in (*concepts.lookup(named), *concepts.lookup(named.upper())):
            return True
    return False


def _states_result(span: tuple[Token, ...], found: str, concepts: ConceptTable) -> bool:
    """Whether the span begins with a finding that the concept does not tell: ``HPV-positive oropharyngeal cancer``."""
    for length in range(1, min(5, len(span))):
        words = [token for token in span[:length] if token.is_word]
        results = [token for token in words if concepts.lookup(token.text, ("value",))]
        rest = " ".join(token.text for token in span[length:] if token.text != "-")
        if results and len(words) > 1 and found in concepts.lookup(rest):
            return True
    return False


def _of_several_genes(span: tuple[Token, ...], found: Sequence[str], concepts: ConceptTable) -> bool:
    if not any(token.low in ("/", "and", "&") for token in span):
        return False
    kind = concepts.get(found[0]).kind
    parts = [token.text for token in span if token.is_word and token.low != "and"]
    genes = all(concepts.lookup(part, ("gene",)) for part in parts)
    return kind == "gene" or (kind == "biomarker" and genes and len(parts) > 1)


def _spellings(span: tuple[Token, ...], text: str) -> Iterator[str]:
    """The words as they stand, then with what short forms stand for, then with the site elsewhere in the name."""
    plain = text_of(span, text)
    yield plain
    respell = book.respellings()
    choices: list[tuple[str, ...]] = []
    changed = len(span) > 1
    for token in span:
        forms = respell.get(word_key(token.text), ())
        choices.append((token.low if forms else token.text, *forms))
    if len(span) == 1:
        # A short form alone stands for nothing: "CA patients".
        return
    if any(len(choice) > 1 for choice in choices):
        for words in itertools.islice(itertools.product(*choices), 1, _MOST_RESPELLINGS):
            yield " ".join(words)
    if changed:
        yield from _site_elsewhere(choices)


def _site_elsewhere(choices: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """``sarcomatoid lung carcinoma`` as ``sarcomatoid carcinoma of lung`` and ``lung sarcomatoid carcinoma``."""
    sites = book.data("words")["sites"]
    for at, forms in enumerate(choices):
        names = next((sites[form.lower()] for form in forms if form.lower() in sites), None)
        if names is None:
            continue
        left = [choice for choice in choices[:at] if choice[0].lower() not in ("of", "the", "in", "-")]
        right = [choice for choice in choices[at + 1 :] if choice[0].lower() not in ("of", "the", "in", "-")]
        rest = [*left, *right]
        if not 1 <= len(rest) <= 4:
            return
        for words in itertools.islice(itertools.product(*rest), _MOST_RESPELLINGS):
            joined = " ".join(words)
            for name in names:
                yield f"{name} {joined}"
                yield f"{joined} of {name}"
                yield f"{' '.join(words[:-1])} {name} {words[-1]}"


def _concept_chunk(ids: Sequence[str], place: tuple[str, int, int], concepts: ConceptTable) -> Chunk | None:
    """The chunk of a name: of its best kind, the other readings beside it."""
    if not ids:
        return None
    by_kind: dict[str, tuple[str, ...]] = {}
    for one in ids:
        kind = concepts.get(one).kind
        by_kind[kind] = (*by_kind.get(kind, ()), one)
    kind = next((kind for kind in _KINDS if kind in by_kind), "")
    if not kind:
        return None
    return Chunk(kind, *place, ids=by_kind[kind], others={other: by_kind[other] for other in by_kind if other != kind})
