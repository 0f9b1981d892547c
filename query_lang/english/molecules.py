"""Genes and what happened to them: ``oncogenic FGFR3 mutation``, ``a fusion in NTRK1, NTRK2 or NTRK3`` as criteria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...kb.ontology.concepts import ConceptTable
from . import book
from .alterations import GenePhrase, query_of
from .chunks import Chunk, Criterion, Item, Unclear, with_kind
from .genes import gene_ids

#: Joining words that part the members of one list.
_LIST: Final = ("comma", "and", "or", "and_or", "slash", "nor")
_PREPOSITIONS: Final = frozenset(
    {"in", "of", "to", "between", "involving", "for", "with", "within", "on", "at", "among"}
)
_PARTS: Final = frozenset({"gene", "noun", "adjective", "exon", "protein", "residue", "codon"})
_TRANSPARENT: Final = frozenset({"skip"})


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
        phrase.all_wanted = phrase.all_wanted or (_both_before(items, at) and len(set(phrase.genes)) > 1)
        phrase.all_wanted = phrase.all_wanted or _each_unchanged(phrase, items[at : reader.at])
        query = query_of(phrase, concepts)
        first, last = items[at], items[reader.at - 1]
        ids = named = tuple(dict.fromkeys(phrase.genes))
        found.append(
            Criterion("finding", query, kind="variant", ids=ids, start=first.start, end=last.end, phrase=phrase)
        )
        at = reader.at
    return found


def _both_before(items: Sequence[Item], at: int) -> bool:
    """``both EGFR and TP53 mutations`` are two findings."""
    at -= 1
    while at >= 0 and isinstance(item := items[at], Chunk) and item.type == "skip":
        at -= 1
    return at >= 0 and isinstance(item := items[at], Chunk) and item.is_join("both")


def _each_unchanged(phrase: GenePhrase, items: Sequence[Item]) -> bool:
    """``KRAS and NRAS wild type`` says it of each; for ``KRAS and NRAS mutation`` one would do."""
    chunks = [item for item in items if isinstance(item, Chunk)]
    joined = any(one.is_join("and", "slash", "comma") for one in chunks)
    either = any(one.is_join("or", "and_or", "any_of", "nor") for one in chunks)
    return set(phrase.nouns) == {"wild_type"} and len(set(phrase.genes)) > 1 and joined and not either


def _excepted(items: Sequence[Item], at: int) -> bool:
    """Whether an exception is being made here: then a change without a gene is of the gene named before."""
    return any(isinstance(item, Chunk) and item.is_join("not", "except", "exclude", "neither") for item in items[:at])


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

    def phrase(self) -> GenePhrase | None:
        phrase = GenePhrase()
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
        what = phrase.nouns or phrase.exons or phrase.proteins or phrase.residues or phrase.codons
        if not what and phrase.pair and len(set(phrase.genes)) == 2:
            phrase.nouns = what = ["fusion"]
        if not what and "specific" in phrase.adjectives:
            what = ["mutation"]
        if not what and not phrase.adjectives:
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

    # --- parts ------------------------------------------------------------------------------------------------

    def _front(self, phrase: GenePhrase) -> None:
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
            elif chunk.type in _TRANSPARENT and self._front_goes_on(at) or self._bracketed_front(phrase, at):
                pass
            elif chunk.is_join("not") and "germline" in phrase.adjectives and self._adjective_at(at + 1) == "somatic":
                phrase.adjectives.append("germline_only")
                at = self._after(at + 1, "skip")
            else:
                break
            at += 1
        self.at = at

    def _adjective_at(self, at: int) -> str:
        chunk = self._peek(self._after(at, "skip"))
        return chunk.value if chunk is not None and chunk.type == "adjective" else ""

    def _list_goes_on(self, phrase: GenePhrase, at: int) -> bool:
        """Whether after a joining word another noun, change or adjective of the same genes follows."""
        chunk = self._peek(self._after(at + 1, "skip", "join"))
        before = self._peek(at - 1)
        if chunk is None or before is None:
            return False
        if before.type == "adjective" and self._gene(at + 1) is not None:
            return True
        if chunk.type in ("noun",):
            return bool(phrase.nouns) or before.type in ("protein", "exon", "residue")
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

    def _bracketed_front(self, phrase: GenePhrase, at: int) -> bool:
        """``mutation (deleterious or suspected) in …``, ``(mut or amp) in …``: a sign of such a bracket."""
        chunk = self._peek(at)
        if chunk is None or not phrase.nouns:
            return False
        if chunk.is_join("open"):
            return self._bracket(phrase, at)
        return chunk.is_join("close") and self._opened(at) and self._in_follows(at + 1)

    def _in_follows(self, at: int) -> bool:
        chunk = self._peek(self._after(at))
        return chunk is not None and chunk.is_join("with") and chunk.text.lower() in _PREPOSITIONS

    def _front_goes_on(self, at: int) -> bool:
        chunk = self._peek(self._after(at))
        return chunk is not None and chunk.type in _PARTS and chunk.type != "gene"

    def _genes(self, phrase: GenePhrase) -> bool:
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
            if join is not None and (join.is_join("pair", "hyphen", "with")):
                phrase.pair = True
            phrase.slashes += join is not None and join.is_join("slash")
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
        if not chunk.is_join(*_LIST, "pair", "hyphen") and not self._fused_with(at):
            return None
        following = at + 1
        while (one := self._peek(following)) is not None and (one.is_join("and", "or", "and_or") or one.type == "skip"):
            following += 1
        return following if self._gene(following) is not None else None

    def _fused_with(self, at: int) -> bool:
        """``fusion of COL1A1 with PDGFB``."""
        chunk, noun = self._peek(at), self._peek(self.at - 1)
        nouns = [item for item in self.items[max(0, at - 5) : at] if isinstance(item, Chunk) and item.type == "noun"]
        fused = any(item.value == "fusion" for item in nouns) and noun is not None
        return fused and chunk is not None and chunk.is_join("with") and chunk.text.lower() in ("with", "to")

    def _of_genes(self, phrase: GenePhrase) -> None:
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

    def _not_shared(self, phrase: GenePhrase) -> None:
        """A gene list after its noun is not followed by a noun of its own: ``mutations in ATM, MET amplification``."""
        chunk = self._peek(self._after(self.at))
        if chunk is None or chunk.type != "noun" or chunk.value in phrase.nouns:
            return
        if len(set(phrase.genes)) > 1 and not phrase.exons:
            raise Unclear(
                f"'{chunk.text}' may belong to the gene before it or to all of them; name the change before each",
                (chunk.text,),
            )

    def _back(self, phrase: GenePhrase) -> None:
        """What stands after the genes."""
        at = self.at
        had_genes = bool(phrase.genes or phrase.proteins)
        noun_before = bool(phrase.nouns)
        while had_genes:
            chunk = self._peek(at)
            if chunk is None:
                break
            if chunk.type == "noun" and (
                not noun_before or chunk.value in ("mutation",) or chunk.value in phrase.nouns
            ):
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
            elif self._only_joins(phrase, chunk, at):
                pass
            else:
                break
            at += 1
            self.at = at

    def _only_joins(self, phrase: GenePhrase, chunk: Chunk, at: int) -> bool:
        """Whether a sign or word here only joins the phrase to more of it."""
        if chunk.is_join("with") and chunk.text.lower() in ("in", "of"):
            return self._changes_at(at + 1) or self._exon_at(at + 1)
        if chunk.is_join("semicolon", "comma"):
            return self._continued_later(phrase, at)
        if chunk.is_join("open", "any_of"):
            return self._bracket(phrase, at) or self._changes_at(at + 1)
        return chunk.is_join("close") and self._opened(at)

    def _exon_at(self, at: int) -> bool:
        chunk = self._peek(self._after(at))
        return chunk is not None and chunk.type == "exon"

    def _adjective_belongs(self, phrase: GenePhrase, at: int) -> bool:
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

    def _tested(self, phrase: GenePhrase) -> str | None:
        table = book.data("molecular")["positive"]
        nouns = {table.get(gene) for gene in phrase.genes}
        return nouns.pop() if len(nouns) == 1 else None

    def _back_goes_on(self, phrase: GenePhrase, at: int) -> bool:
        following = self._after(at + 1, "skip")
        while (one := self._peek(following)) is not None and (
            one.is_join("hyphen", "colon", "open") or one.type == "skip"
        ):
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

    def _back_list_goes_on(self, phrase: GenePhrase, at: int) -> bool:
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

    def _not_somatic(self, phrase: GenePhrase, at: int) -> int | None:
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

    def _continued_later(self, phrase: GenePhrase, at: int) -> bool:
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

    def _bracket(self, phrase: GenePhrase, at: int) -> bool:
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
        for item in self.items[:at]:
            if isinstance(item, Chunk):
                depth += item.is_join("open") - item.is_join("close")
        return depth > 0

    def _take(self, phrase: GenePhrase, chunk: Chunk) -> None:
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

    def _letters(self, phrase: GenePhrase, chunk: Chunk) -> None:
        """``V600E/D/K/R``: the letters after the slashes are told by the lexer."""
        for letter in str(chunk.data.get("letters", "")):
            phrase.proteins.append(chunk.value[:-1] + letter)

    def _noun(self, phrase: GenePhrase, chunk: Chunk) -> None:
        phrase.nouns.append(chunk.value)

    def _usual(self, phrase: GenePhrase) -> Iterator[str]:
        """The gene of a change that is written without one, where there is no doubt of it."""
        table = book.data("molecular")["usual_gene"]
        genes = {table.get(protein) for protein in phrase.proteins}
        if len(genes) == 1 and None not in genes:
            yield from (str(gene) for gene in genes)
