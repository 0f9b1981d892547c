"""Genes and what happened to them: ``oncogenic FGFR3 mutation``, ``a fusion in NTRK1, NTRK2 or NTRK3`` as criteria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...kb.concepts import ConceptTable
from ...kb.words import ONTOLOGY_FOLDER
from . import book
from .chunks import Chunk, Criterion, Item, Unclear, with_kind
from .genes import gene_ids, partial_families, with_families

#: Joining words that part the members of one list.
_LIST: Final = ("comma", "and", "or", "and_or", "slash", "nor")
_PREPOSITIONS: Final = frozenset({"in", "of", "to", "between", "involving", "for", "with", "within", "on", "at"})
_PARTS: Final = frozenset({"gene", "noun", "adjective", "exon", "protein", "residue", "codon"})
_TRANSPARENT: Final = frozenset({"skip"})


@dataclass
class _Phrase:
    """What one noun phrase says of its genes."""

    genes: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    adjectives: list[str] = field(default_factory=list)
    exons: list[int] = field(default_factory=list)
    proteins: list[str] = field(default_factory=list)
    residues: list[str] = field(default_factory=list)
    codons: list[str] = field(default_factory=list)
    others: list[_Phrase] = field(default_factory=list)
    pair: bool = False
    all_wanted: bool = False
    noun_joins: set[str] = field(default_factory=set)

    def joins(self, other: _Phrase) -> bool:
        """Whether it says of its genes what the other says of its own."""
        if any((self.exons, self.proteins, self.residues, self.codons, self.pair, self.all_wanted, other.pair)):
            return False
        if any((other.exons, other.proteins, other.residues, other.codons, other.all_wanted)):
            return False
        return set(self.nouns) == set(other.nouns) and set(self.adjectives) == set(other.adjectives)


def molecular(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """The items with every molecular noun phrase as one criterion."""
    found: list[Item] = []
    at = 0
    named: tuple[str, ...] = ()
    while at < len(items):
        reader = _Reader(items, at, concepts, named if _excepted(items, at) else ())
        phrase = reader.phrase() if _starts(items[at]) else None
        if phrase is None:
            found.append(items[at])
            at += 1
            continue
        query = _query(phrase, concepts)
        first, last = items[at], items[reader.at - 1]
        ids = named = tuple(dict.fromkeys(phrase.genes))
        found.append(
            Criterion("finding", query, kind="variant", ids=ids, start=first.start, end=last.end, said=phrase)
        )
        at = reader.at
    return found


def merged(members: Sequence[Criterion], concepts: ConceptTable) -> list[Criterion]:
    """Alternatives that say the same of different genes as one: ``CDK4 amp or CDK6 amp`` may be reported of the pair."""
    found: list[Criterion] = []
    for member in members:
        phrase = member.said
        for at, other in enumerate(found):
            before = other.said
            if isinstance(phrase, _Phrase) and isinstance(before, _Phrase) and phrase.joins(before):
                both_genes = replace(before, genes=[*before.genes, *phrase.genes])
                ids = tuple(dict.fromkeys(both_genes.genes))
                found[at] = replace(other, query=_query(both_genes, concepts), ids=ids, said=both_genes)
                break
        else:
            found.append(member)
    return found


def _excepted(items: Sequence[Item], at: int) -> bool:
    """Whether an exception is being made here: then a change without a gene is of the gene named before."""
    return any(
        isinstance(item, Chunk) and item.is_join("not", "except", "exclude", "neither") for item in items[:at]
    )


def _starts(item: Item) -> bool:
    return isinstance(item, Chunk) and (item.type in _PARTS or "gene" in item.others)


class _Reader:
    """Reads one phrase from a place of the items."""

    def __init__(self, items: Sequence[Item], at: int, concepts: ConceptTable, inherited: tuple[str, ...] = ()) -> None:
        self.items, self.at, self.concepts, self.inherited = items, at, concepts, inherited

    def _peek(self, at: int) -> Chunk | None:
        item = self.items[at] if at < len(self.items) else None
        return item if isinstance(item, Chunk) else None

    def _after(self, at: int, *types: str) -> int:
        """The next place that is not of a transparent type."""
        while (chunk := self._peek(at)) is not None and chunk.type in (types or _TRANSPARENT):
            at += 1
        return at

    def _gene(self, at: int) -> Chunk | None:
        chunk = self._peek(at)
        if chunk is not None and chunk.type != "gene" and "gene" in chunk.others:
            chunk = with_kind(chunk, "gene")
        return chunk if chunk is not None and chunk.type == "gene" else None

    def phrase(self) -> _Phrase | None:
        phrase = _Phrase()
        start = self.at
        if (header := self._header()) is not None:
            self.at = header
        self._front(phrase)
        if not self._genes(phrase):
            if not (phrase.nouns or phrase.exons or phrase.proteins or phrase.residues or phrase.codons):
                self.at = start
                return None
            self._of_genes(phrase)
        self._back(phrase)
        if not phrase.genes:
            phrase.genes = list(self._usual(phrase)) or list(self.inherited)
        if not phrase.genes:
            self.at = start
            return None
        said = phrase.nouns or phrase.exons or phrase.proteins or phrase.residues or phrase.codons
        if not said and "specific" in phrase.adjectives:
            said = ["mutation"]
        if not said and not phrase.adjectives:
            self.at = start
            return None
        return phrase

    def _header(self) -> int | None:
        """``alteration: …`` heads what follows and says nothing itself; the place after it."""
        chunk, sign = self._peek(self.at), self._peek(self.at + 1)
        if chunk is None or chunk.type != "noun" or chunk.value not in ("alteration", "mutation"):
            return None
        if sign is None or not sign.is_join("colon") or chunk.value == "mutation" and self._gene(self.at + 2) is None:
            return None
        at = self._after(self.at + 2, "skip", "join")
        return at if (following := self._peek(at)) is not None and following.type in _PARTS else None

    # --- parts --------------------------------------------------------------------------------------------------------

    def _front(self, phrase: _Phrase) -> None:
        """Adjectives, exons, changes and nouns before the genes."""
        at = self.at
        while True:
            chunk = self._peek(at)
            if chunk is None:
                break
            if chunk.type == "adjective":
                phrase.adjectives.append(chunk.value)
            elif chunk.type in ("exon", "protein", "residue", "codon"):
                self._take(phrase, chunk)
            elif chunk.type == "noun":
                self._noun(phrase, chunk)
            elif chunk.is_join("or", "and_or", "slash", "comma", "and", "hyphen") and self._list_goes_on(phrase, at):
                if phrase.nouns:
                    phrase.noun_joins.add(chunk.value)
            elif chunk.type in _TRANSPARENT and self._front_goes_on(at):
                pass
            else:
                break
            at += 1
        self.at = at

    def _list_goes_on(self, phrase: _Phrase, at: int) -> bool:
        """Whether after a joining word another noun, change or adjective of the same genes follows."""
        chunk = self._peek(self._after(at + 1, "skip", "join"))
        before = self._peek(at - 1)
        if chunk is None or before is None:
            return False
        if before.type == "adjective" and self._gene(at + 1) is not None:
            return True
        if chunk.type in ("noun",):
            return bool(phrase.nouns)
        if chunk.type == "adjective":
            return before.type == "adjective" or bool(phrase.nouns) and self._noun_follows(at)
        if chunk.type in ("protein", "residue"):
            return before.type in ("protein", "residue")
        return chunk.type == "exon" and before.type == "exon"

    def _noun_follows(self, at: int) -> bool:
        at = self._after(at + 1, "skip", "join", "adjective")
        chunk = self._peek(at)
        following = self._peek(self._after(at + 1))
        return chunk is not None and chunk.type == "noun" and following is not None and following.type == "join"

    def _front_goes_on(self, at: int) -> bool:
        chunk = self._peek(self._after(at))
        return chunk is not None and chunk.type in _PARTS and chunk.type != "gene"

    def _genes(self, phrase: _Phrase) -> bool:
        """A list of genes from here; False, and nothing taken, if none begins here."""
        at = self._after(self.at)
        chunk = self._gene(at)
        if chunk is None:
            return False
        while True:
            if "noun" in chunk.data:
                phrase.nouns.append(str(chunk.data["noun"]))
            exons: Any = chunk.data.get("exons", ())
            phrase.exons += exons
            phrase.genes += self._ids(chunk)
            at += 1
            at = self._repeated(at, chunk)
            following = self._next_gene(at)
            if following is None or phrase.nouns and "noun" in chunk.data:
                break
            join = self._peek(at)
            if join is not None and (join.is_join("pair") or join.is_join("hyphen")):
                phrase.pair = True
            at = following
            chunk = self._gene(at)
            assert chunk is not None
        self.at = at
        return True

    def _ids(self, chunk: Chunk) -> tuple[str, ...]:
        sets = book.data("molecular")["set_of"]
        if len(chunk.ids) == 1 and chunk.ids[0] in sets:
            return gene_ids(sets[chunk.ids[0]], self.concepts)
        return gene_ids(chunk.text, self.concepts) if chunk.type != "gene" else chunk.ids

    def _repeated(self, at: int, chunk: Chunk) -> int:
        """Past a bracket that says the same gene once more: ``HER2 (ERBB2)``."""
        inner, opening = self._gene(at + 1), self._peek(at)
        closing = self._peek(at + 2)
        if opening is not None and opening.is_join("open") and closing is not None and closing.is_join("close"):
            if inner is not None and set(inner.ids) & set(chunk.ids):
                return at + 3
            again = self._peek(at + 1)
            if again is not None and again.type in ("biomarker", "unread") and again.text.upper() == chunk.text.upper():
                return at + 3
        return at

    def _next_gene(self, at: int) -> int | None:
        """The place of the next gene of the list, if a joining word stands here and a gene after it."""
        chunk = self._peek(at)
        if chunk is None:
            return None
        if not chunk.is_join(*_LIST, "pair", "hyphen"):
            return None
        following = at + 1
        while (one := self._peek(following)) is not None and (one.is_join("and", "or", "and_or") or one.type == "skip"):
            following += 1
        return following if self._gene(following) is not None else None

    def _of_genes(self, phrase: _Phrase) -> None:
        """``in``, ``of``, ``between`` and a list of genes, after the nouns."""
        start = at = self.at
        between = any_of = False
        while (chunk := self._peek(at)) is not None:
            if chunk.type == "comparison" and chunk.value == "between":
                between = True
            elif chunk.is_join("with") and chunk.text.lower() in _PREPOSITIONS or chunk.is_join("colon"):
                any_of = True
            elif not (chunk.type in _TRANSPARENT or chunk.is_join("any_of", "both", "open")):
                if chunk.type in ("exon", "codon") and any_of:
                    self._take(phrase, chunk)
                else:
                    break
            if chunk.is_join("both"):
                phrase.all_wanted = True
            at += 1
        self.at = at
        if not self._genes(phrase):
            self.at = start
            return
        phrase.pair = phrase.pair or between
        last = self._peek(self.at)
        opened = any(isinstance(one, Chunk) and one.is_join("open") for one in self.items[start : self.at])
        if opened and last is not None and last.is_join("close"):
            self.at += 1
        self._not_shared(phrase)

    def _not_shared(self, phrase: _Phrase) -> None:
        """A gene list after its noun is not followed by a noun of its own: ``mutations in ATM, MET amplification``."""
        chunk = self._peek(self._after(self.at))
        if chunk is None or chunk.type != "noun" or chunk.value in phrase.nouns:
            return
        if len(set(phrase.genes)) > 1 and not phrase.exons:
            raise Unclear(
                f"'{chunk.text}' may belong to the gene before it or to the whole list; name the change before each gene",
                (chunk.text,),
            )

    def _back(self, phrase: _Phrase) -> None:
        """What stands after the genes."""
        at = self.at
        had_genes = bool(phrase.genes)
        noun_before = bool(phrase.nouns)
        while had_genes:
            chunk = self._peek(at)
            if chunk is None:
                break
            if chunk.type == "noun" and (not noun_before or chunk.value in ("mutation",) or chunk.value in phrase.nouns):
                self._noun(phrase, chunk)
            elif chunk.type in ("exon", "protein", "residue", "codon"):
                self._take(phrase, chunk)
            elif chunk.type == "adjective" and self._adjective_belongs(phrase, at):
                phrase.adjectives.append(chunk.value)
            elif chunk.type == "value" and self._positive(chunk):
                if not (phrase.nouns or phrase.proteins or phrase.exons):
                    noun = self._tested(phrase)
                    if noun is None:
                        break
                    phrase.nouns.append(noun)
            elif chunk.type in _TRANSPARENT or chunk.is_join("hyphen", "colon"):
                if not self._back_goes_on(phrase, at):
                    break
                at += 1
                continue
            elif chunk.is_join("or", "and_or", "slash", "comma", "and") and self._back_list_goes_on(phrase, at):
                if phrase.nouns:
                    phrase.noun_joins.add(chunk.value)
                at += 1
                continue
            elif (only := self._not_somatic(phrase, at)) is not None:
                phrase.adjectives.append("germline_only")
                at = only
                self.at = at
                continue
            elif chunk.is_join("with") and chunk.text.lower() in ("in", "of") and self._changes_at(at + 1):
                pass
            elif chunk.is_join("semicolon", "comma") and self._said_later(phrase, at):
                pass
            elif chunk.is_join("open", "any_of") and (self._bracket(phrase, at) or self._changes_at(at + 1)):
                pass
            elif chunk.is_join("close") and self._opened(at):
                pass
            elif chunk.is_join("with") and chunk.text.lower() in ("in", "of") and self._exon_at(at + 1):
                pass
            else:
                break
            at += 1
            self.at = at

    def _exon_at(self, at: int) -> bool:
        chunk = self._peek(self._after(at))
        return chunk is not None and chunk.type == "exon"

    def _adjective_belongs(self, phrase: _Phrase, at: int) -> bool:
        """An adjective after the gene belongs to it unless a gene of its own follows."""
        following = self._peek(self._after(at + 1, "skip"))
        if following is not None and following.type == "gene":
            return False
        if following is not None and following.type == "noun" and phrase.nouns:
            # "ERBB2 amplification or specific ERBB2 mutations"
            return self._gene(self._after(at + 2)) is None
        return True

    def _positive(self, chunk: Chunk) -> bool:
        return bool({"positive", "detected", "present_result", "mutated"} & set(chunk.ids))

    def _tested(self, phrase: _Phrase) -> str | None:
        table = book.data("molecular")["positive"]
        nouns = {table.get(gene) for gene in phrase.genes}
        return nouns.pop() if len(nouns) == 1 else None

    def _back_goes_on(self, phrase: _Phrase, at: int) -> bool:
        following = self._after(at + 1, "skip")
        while (one := self._peek(following)) is not None and (one.is_join("hyphen", "colon", "open") or one.type == "skip"):
            following += 1
        chunk = self._peek(following)
        if chunk is None:
            return False
        if chunk.type == "noun" and self._gene_of_its_own(following):
            return False
        return chunk.type in ("noun", "exon", "protein", "residue", "codon") and not (
            phrase.nouns and chunk.type == "noun"
        ) or (chunk.type == "adjective" and self._adjective_belongs(phrase, following)) or (
            chunk.type == "value" and self._positive(chunk)
        )  # fmt: skip

    def _gene_of_its_own(self, at: int) -> bool:
        """Whether the noun at a place is followed by ``in`` or ``of`` and a gene."""
        following = self._after(at + 1, "skip", "noun")
        chunk = self._peek(following)
        while chunk is not None and chunk.is_join("or", "slash", "comma", "and_or") and self._noun_at(following + 1):
            following = self._after(following + 1, "skip", "noun")
            chunk = self._peek(following)
        if chunk is not None and chunk.is_join("with") and chunk.text.lower() in _PREPOSITIONS:
            return self._gene(self._after(following + 1, "skip", "join")) is not None
        return False

    def _noun_at(self, at: int) -> bool:
        chunk = self._peek(self._after(at, "skip"))
        return chunk is not None and chunk.type == "noun"

    def _back_list_goes_on(self, phrase: _Phrase, at: int) -> bool:
        following = self._after(at + 1, "skip")
        while (one := self._peek(following)) is not None and (one.is_join("or", "and", "and_or") or one.type == "skip"):
            following += 1
        chunk, before = self._peek(following), self._peek(at - 1)
        if chunk is None or before is None:
            return False
        if chunk.type == "noun":
            return bool(phrase.nouns) and not self._gene_of_its_own(following) or before.type == "noun"
        if chunk.type in ("protein", "residue"):
            own = self._gene(self._after(following + 1)) is not None and before.type != "protein"
            return before.type in ("protein", "residue") and not own
        if chunk.type == "adjective" and chunk.value in ("any_origin", "harmful", "germline_only"):
            after = self._peek(self._after(following + 1, "skip"))
            return after is None or after.type not in ("gene", "noun")
        return chunk.type == "exon" and (before.type == "exon" or not phrase.exons)

    def _not_somatic(self, phrase: _Phrase, at: int) -> int | None:
        """``germline mutation in BRCA, but not a somatic one``: the place after it."""
        if "germline" not in phrase.adjectives:
            return None
        at = self._after(at, "skip")
        while (chunk := self._peek(at)) is not None and (chunk.is_join("comma") or chunk.text.lower() == "but"):
            at += 1
        if (chunk := self._peek(at)) is None or not chunk.is_join("not"):
            return None
        at = self._after(at + 1, "skip")
        if (chunk := self._peek(at)) is None or chunk.type != "adjective" or chunk.value != "somatic":
            return None
        at = self._after(at + 1, "skip", "noun")
        return at if self._gene(at) is None else None

    def _changes_at(self, at: int) -> bool:
        """Whether a list of protein changes follows: ``BRAF mutation in (V600E, V600K)``."""
        while (chunk := self._peek(at)) is not None and (chunk.type == "skip" or chunk.is_join("open", "any_of")):
            at += 1
        return chunk is not None and chunk.type in ("protein", "residue") and self._gene(at + 1) is None

    def _said_later(self, phrase: _Phrase, at: int) -> bool:
        """``gene: TSC1 and TSC2; mutation: oncogenic``: what was not said yet stands in the next part."""
        if phrase.nouns or phrase.proteins or phrase.exons or phrase.adjectives:
            return False
        following = self._after(at + 1, "skip")
        chunk = self._peek(following)
        if chunk is None or chunk.type not in ("noun", "adjective"):
            return False
        while (one := self._peek(following)) is not None and (
            one.type in ("noun", "adjective", "skip") or one.is_join("colon", "or", "slash")
        ):
            following += 1
        return one is None or one.is_join("semicolon", "comma", "and", "close")

    def _bracket(self, phrase: _Phrase, at: int) -> bool:
        """Whether a bracket holds only what belongs to the phrase: ``(germline or somatic)``."""
        inner = at + 1
        while (chunk := self._peek(inner)) is not None and not chunk.is_join("close"):
            fits = chunk.type in ("noun", "adjective", "exon", "protein", "residue", "skip") or chunk.is_join(*_LIST)
            if not fits:
                return False
            inner += 1
        return chunk is not None

    def _opened(self, at: int) -> bool:
        depth = 0
        for item in self.items[self.at - 12 if self.at > 12 else 0 : at]:
            if isinstance(item, Chunk):
                depth += item.is_join("open") - item.is_join("close")
        return depth > 0

    def _take(self, phrase: _Phrase, chunk: Chunk) -> None:
        if chunk.type == "exon":
            exons: Any = chunk.data["exons"]
            phrase.exons += exons
            if chunk.data.get("noun"):
                phrase.nouns.append(str(chunk.data["noun"]))
        elif chunk.type == "protein":
            phrase.proteins.append(chunk.value)
            self._letters(phrase, chunk)
        elif chunk.type == "residue":
            phrase.residues.append(chunk.value)
        else:
            phrase.codons.append(chunk.value)

    def _letters(self, phrase: _Phrase, chunk: Chunk) -> None:
        """``V600E/D/K/R``: the letters after the slashes are told by the lexer."""
        for letter in str(chunk.data.get("letters", "")):
            phrase.proteins.append(chunk.value[:-1] + letter)

    def _noun(self, phrase: _Phrase, chunk: Chunk) -> None:
        phrase.nouns.append(chunk.value)

    def _usual(self, phrase: _Phrase) -> Iterator[str]:
        """The gene of a change that is written without one, where there is no doubt of it."""
        table = book.data("molecular")["usual_gene"]
        genes = {table.get(protein) for protein in phrase.proteins}
        if len(genes) == 1 and None not in genes:
            yield from (str(gene) for gene in genes)


# --- queries ----------------------------------------------------------------------------------------------------------


def _query(phrase: _Phrase, concepts: ConceptTable) -> str:
    genes = tuple(dict.fromkeys(phrase.genes))
    adjectives = set(phrase.adjectives)
    nouns = list(dict.fromkeys(phrase.nouns))
    _check(phrase, nouns, adjectives)
    meaning = book.data("molecular")["meaning"]
    if phrase.pair and len(genes) == 2 and (nouns == ["fusion"] or not nouns):
        query = meaning["pair_fusion"].format(
            first=concept(genes[0]), second=concept(genes[1]), first_value=value(genes[0]), second_value=value(genes[1])
        )
        return either([query, *_also("pair", genes)])
    if phrase.all_wanted:
        return both([_of_genes((gene,), phrase, nouns, adjectives, concepts) for gene in genes])
    return _of_genes(genes, phrase, nouns, adjectives, concepts)


def _check(phrase: _Phrase, nouns: list[str], adjectives: set[str]) -> None:
    if "and" in phrase.noun_joins and len(nouns) > 1 and "or" not in phrase.noun_joins:
        raise Unclear(
            f"whether {' and '.join(nouns)} are both wanted, or either; write 'or', or name the gene with each", ("and",)
        )
    if adjectives & {"resistant", "uncommon"}:
        raise Unclear("which changes are meant: name them (T790M, C797S)", tuple(adjectives & {"resistant", "uncommon"}))


def _of_genes(
    genes: tuple[str, ...], phrase: _Phrase, nouns: list[str], adjectives: set[str], concepts: ConceptTable
) -> str:
    meaning = book.data("molecular")["meaning"]
    listed = with_families(genes, concepts)
    exact = partial_families(genes)
    terms = [concept(one) for one in listed] + [f"exactly {concept(one)}" for one in exact]
    slots = {
        "genes": terms[0] if len(terms) == 1 else f"({' or '.join(terms)})",
        "partners": f"({', '.join(value(one) for one in listed)})",
    }
    harmful = bool(adjectives & {"harmful", "germline_only"}) or _is_harmful_set(genes, concepts)
    parts: list[str] = []
    plain = [noun for noun in nouns if noun not in ("mutation", "wild_type")]
    if phrase.proteins:
        parts.append(_proteins(genes, phrase.proteins, meaning, slots))
    elif phrase.residues or phrase.codons:
        codons = [*phrase.codons, *(residue[1:] for residue in phrase.residues)]
        parts += [meaning["codon"].format(codon=codon, **slots) for codon in codons]
    elif phrase.exons:
        parts += _exons(genes, phrase, plain, harmful, meaning, slots)
    else:
        if "mutation" in nouns or adjectives & {"nonresistant", "germline", "somatic"} and not plain or (
            adjectives and not nouns
        ):
            parts.append(_mutation(genes, adjectives, harmful, meaning, slots))
            if "specific" in adjectives:
                parts += _also("specific", genes)
        if "wild_type" in nouns:
            names = [*terms]
            names += ["exactly concept:ras_family"] if set(genes) & {"kras", "nras"} and not exact else []
            joined = names[0] if len(names) == 1 else f"({' or '.join(names)})"
            key = "exactly_wild_type" if "exactly" in adjectives else "wild_type"
            parts.append(meaning[key].format(genes=joined))
        for noun in plain:
            if noun not in meaning:
                raise Unclear(f"what kind of {noun}: give the exon ('exon 20 insertion')", (noun,))
            if noun == "skipping":
                raise Unclear("which exon is skipped: write 'exon 14 skipping'", (noun,))
            parts += [meaning[noun].format(**slots), *_also(noun, listed)]
    if not parts:
        raise Unclear("which change of the gene is meant: a mutation, fusion, amplification or deletion")
    return either(parts)


def _mutation(
    genes: tuple[str, ...], adjectives: set[str], harmful: bool, meaning: dict[str, str], slots: dict[str, str]
) -> str:
    table = book.data("molecular")
    if "germline_only" in adjectives:
        return f"({meaning['germline'].format(**slots)} and not {meaning['somatic_harmful'].format(**slots)})"
    if "any_origin" not in adjectives:
        if "germline" in adjectives and "somatic" not in adjectives:
            return meaning["germline"].format(**slots)
        if "somatic" in adjectives and "germline" not in adjectives:
            return meaning["somatic_harmful" if harmful else "somatic"].format(**slots)
    if "nonresistant" in adjectives:
        known = [table["resistance"][gene] for gene in genes if gene in table["resistance"]]
        if len(known) != len(genes):
            raise Unclear("which mutations resist is known for EGFR only; name the changes", ("nonresistant",))
        one = known[0]
        inner = meaning["nonresistant"].format(
            proteins=", ".join(one["proteins"]), codons=", ".join(map(str, one["codons"])),
            insertions=one["insertions"], **slots,
        )  # fmt: skip
        return f"same event ({inner})"
    if "specific" in adjectives and set(genes) <= set(table["specific"]["genes"]):
        return meaning["harmful"].format(**slots)
    if harmful:
        spots = {table["hot_spots"].get(gene) for gene in genes}
        if len(spots) == 1 and None not in spots:
            return meaning["hot_spots"].format(spots=spots.pop(), **slots)
        if any(spots - {None}):
            return either([_mutation((gene,), adjectives, True, meaning, {**slots, "genes": concept(gene)}) for gene in genes])
        return meaning["harmful"].format(**slots)
    if set(genes) <= set(table["loss_is_mutation"]["genes"]):
        return meaning["loss_or_mutation"].format(**slots)
    return meaning["mutation"].format(**slots)


def _exons(
    genes: tuple[str, ...], phrase: _Phrase, nouns: list[str], harmful: bool, meaning: dict[str, str], slots: dict[str, str]
) -> list[str]:
    exons = list(dict.fromkeys(phrase.exons))
    if len(genes) == 1 and nouns:
        parts = []
        for exon in exons:
            for noun in nouns:
                key = f"exon_{noun}" if noun in ("deletion", "insertion") else noun
                if noun not in ("deletion", "insertion", "skipping"):
                    raise Unclear(f"exon {exon} and {noun} do not go together", (noun,))
                first, last = codons_of(genes[0], exon)
                place = f"exon = {exon} or codon between {first} and {last}" if last else f"exon = {exon}"
                known = (noun, exon) in (("deletion", 19), ("insertion", 20)) and genes[0] in ("egfr", "erbb2")
                template = meaning[key if known or noun == "skipping" else f"{key}_plain"]
                if noun == "skipping" and not last:
                    raise Unclear(f"where exon {exon} of the gene ends is not known", (str(exon),))
                parts.append(template.format(exon=exon, place=place, last=last, **slots))
                parts += _also(f"{key}", (*genes, str(exon)))
        return parts
    if nouns:
        raise Unclear("which exon belongs to which gene; write one gene at a time", (str(exons[0]),))
    spots = book.data("molecular")["exon_hot_spots"]
    if set(genes) <= set(spots["genes"]) and all(str(exon) in spots for exon in exons):
        codons = ", ".join(str(codon) for exon in exons for codon in spots[str(exon)])
        numbers = ", ".join(map(str, exons))
        places = f"variant with codon in ({codons}) or variant with exon in ({numbers}), not codon documented"
        if len(exons) == len([key for key in spots if key.isdigit()]):
            places += " or 'a mutation without details'"
    else:
        places = " or ".join(
            part
            for gene in genes
            for part in _exon_places(gene if len(genes) > 1 else "", genes[0] if len(genes) == 1 else gene, exons)
        )
    return [meaning["exon_harmful" if harmful else "exon"].format(places=places, **slots)]


def _exon_places(of: str, gene: str, exons: list[int]) -> Iterator[str]:
    start = f"variant {concept(of)}" if of else "variant"
    numbers = ", ".join(map(str, exons))
    yield f"{start} with exon in ({numbers})"
    for exon in exons:
        first, last = codons_of(gene, exon)
        if last:
            yield f"{start} with codon between {first} and {last}"


def _proteins(genes: tuple[str, ...], proteins: list[str], meaning: dict[str, str], slots: dict[str, str]) -> str:
    if len(genes) != 1:
        raise Unclear("which gene each change belongs to: write the gene before each change", tuple(proteins))
    gene = genes[0]
    proteins = list(dict.fromkeys(proteins))
    dna = [cdna for one, cdna, protein in cdna_changes() if one == gene and protein in proteins]
    parts = []
    if len({protein[1:-1] for protein in proteins}) == 1 and len(proteins) >= 3:
        # All that is seen at one place is listed: a report that gives the place alone counts, too.
        first, others = proteins[0], proteins[1:]
        codon = first[1:-1]
        parts.append(_one_protein(gene, [first], slots, [c for g, c, p in cdna_changes() if g == gene and p == first]))
        parts.append(f"variant {slots['genes']} with protein in ({', '.join(others)})")
        parts.append(
            f"variant {slots['genes']} with codon = {codon}, not protein documented,"
            " not significance in (vus, 'likely benign', benign)"
        )
    else:
        parts.append(_one_protein(gene, proteins, slots, dna))
    for protein in proteins:
        parts += _also("protein", (gene, protein))
    return either(parts)


def _one_protein(gene: str, proteins: list[str], slots: dict[str, str], dna: list[str]) -> str:
    changes = f"protein in ({', '.join(proteins)})" if len(proteins) > 1 else f"protein = {proteins[0]}"
    if dna:
        quoted = [f"'{one}'" for one in dna]
        changes += f" or cdna in ({', '.join(quoted)})" if len(dna) > 1 else f" or cdna = {quoted[0]}"
    return f"variant {slots['genes']} with ({changes})"


def _also(what: str, genes: tuple[str, ...]) -> list[str]:
    """Other tests and names that show the same change of any of the genes."""
    found = []
    for key, query in book.data("molecular")["also"].items():
        kind, *members = key.split()
        if kind == what and (set(members) & set(genes) if kind not in ("protein", "pair", "exon_insertion") else set(members) <= set(genes)):
            found.append(query)
    return found


def _is_harmful_set(genes: tuple[str, ...], concepts: ConceptTable) -> bool:
    sets = [concepts.value_set(name) or () for name in book.data("molecular")["harmful_sets"]["names"]]
    return any(set(members) == set(genes) for members in sets)


def concept(one: str) -> str:
    """A concept, written so that nothing else can be meant."""
    return f"concept:{one}"


def value(one: str) -> str:
    """A concept as a value of an attribute."""
    return f"concept:{one}"


def either(parts: Sequence[str]) -> str:
    """Any of the criteria."""
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"


def both(parts: Sequence[str]) -> str:
    """All of the criteria."""
    parts = list(dict.fromkeys(parts))
    if len(parts) == 1:
        return parts[0]
    return f"({' and '.join(parts)})"


def codons_of(gene: str, exon: int) -> tuple[int, int]:
    """The first and last codon of an exon; (0, 0) where the ontology does not tell."""
    for line in (ONTOLOGY_FOLDER / "exons.tsv").read_text(encoding="utf-8").splitlines():
        parts = line.split("\t")
        if parts[:2] == [gene, str(exon)]:
            return int(parts[2]), int(parts[3])
    return 0, 0


def cdna_changes() -> list[tuple[str, str, str]]:
    """Gene, coding DNA change and protein change of those that reports often give as DNA alone."""
    lines = (ONTOLOGY_FOLDER / "cdna.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")][1:]
    return [(row[0], row[1], row[2]) for row in rows]
