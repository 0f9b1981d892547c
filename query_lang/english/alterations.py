"""Statements about genes as a query: the meaning of mutations, fusions, exons and single changes."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.normal_forms import ONTOLOGY_FOLDER
from . import book
from .chunks import Criterion, Unclear
from .genes import partial_families, with_families
from .terms import both, concept, either, value

_ORIGINS = frozenset({"nonresistant", "germline", "somatic"})


@dataclass
class GenePhrase:
    """What one noun phrase says of its genes."""

    genes: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    adjectives: list[str] = field(default_factory=list)
    exons: list[int] = field(default_factory=list)
    proteins: list[str] = field(default_factory=list)
    residues: list[str] = field(default_factory=list)
    codons: list[str] = field(default_factory=list)
    others: list[GenePhrase] = field(default_factory=list)
    pair: bool = False
    all_wanted: bool = False
    slashes: int = 0
    noun_joins: set[str] = field(default_factory=set)

    def joins(self, other: GenePhrase) -> bool:
        """Whether it says of its genes what the other says of its own."""
        if any((self.exons, self.proteins, self.residues, self.codons, self.pair, self.all_wanted, other.pair)):
            return False
        if any((other.exons, other.proteins, other.residues, other.codons, other.all_wanted)):
            return False
        return set(self.nouns) == set(other.nouns) and set(self.adjectives) == set(other.adjectives)


def query_of(phrase: GenePhrase, concepts: ConceptTable) -> str:
    """The criterion that a phrase is. Unclear if it does not say which change, or which gene."""
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
    if phrase.slashes == 1 and len(genes) == 2 and nouns == ["fusion"] and not _related(genes, concepts):
        names = [concepts.name(one).removesuffix(" gene") for one in genes]
        raise Unclear(
            f"whether a fusion of the two with each other: write '{'::'.join(names)} fusion', or of either: write"
            f" '{' or '.join(names)} fusion'",
            ("/",),
        )
    if phrase.all_wanted:
        return both([_of_genes((gene,), phrase, nouns, adjectives, concepts) for gene in genes])
    return _of_genes(genes, phrase, nouns, adjectives, concepts)


def merged(members: Sequence[Criterion], concepts: ConceptTable) -> list[Criterion]:
    """Alternatives that say the same of different genes as one: ``CDK4 amp or CDK6 amp`` may be said of the pair."""
    found: list[Criterion] = []
    for member in members:
        phrase = member.phrase
        for at, other in enumerate(found):
            before = other.phrase
            if isinstance(phrase, GenePhrase) and isinstance(before, GenePhrase) and phrase.joins(before):
                both_genes = replace(before, genes=[*before.genes, *phrase.genes])
                ids = tuple(dict.fromkeys(both_genes.genes))
                found[at] = replace(other, query=query_of(both_genes, concepts), ids=ids, phrase=both_genes)
                break
        else:
            found.append(member)
    return found


def _related(genes: tuple[str, ...], concepts: ConceptTable) -> bool:
    """Whether genes are of one family: such are seldom fused with each other."""
    families = book.data("molecular")["families"]["whole"]
    return any(all(concepts.is_a(gene, family) for gene in genes) for family in families if family in concepts)


def _check(phrase: GenePhrase, nouns: list[str], adjectives: set[str]) -> None:
    if "and" in phrase.noun_joins and len(nouns) > 1 and "or" not in phrase.noun_joins:
        raise Unclear(
            f"whether {' and '.join(nouns)} are both wanted, or either; write 'or', or name the gene with each",
            ("and",),
        )
    if adjectives & {"resistant", "uncommon"}:
        raise Unclear(
            "which changes are meant: name them (T790M, C797S)", tuple(adjectives & {"resistant", "uncommon"})
        )


def _of_genes(
    genes: tuple[str, ...], phrase: GenePhrase, nouns: list[str], adjectives: set[str], concepts: ConceptTable
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
    if "exactly" in adjectives and nouns != ["wild_type"]:
        raise Unclear("what 'exactly' is said of", ("exactly",))
    placed = bool(phrase.proteins or phrase.residues or phrase.codons or phrase.exons)
    if phrase.proteins:
        parts.append(_proteins(genes, phrase.proteins, meaning, slots))
    codons = [*phrase.codons, *(residue[1:] for residue in phrase.residues)]
    parts += [meaning["codon"].format(codon=codon, **slots) for codon in codons]
    if phrase.exons:
        parts += _exons(genes, phrase, plain, harmful, meaning, slots)
    if placed:
        parts = _restricted(parts, adjectives, harmful and not phrase.proteins)
    else:
        if "mutation" in nouns or (adjectives & _ORIGINS and not plain) or (adjectives and not nouns):
            parts.append(_mutation(genes, adjectives, harmful, meaning, slots))
            if "specific" in adjectives:
                parts += _also("specific", genes)
        if "wild_type" in nouns:
            names = [*terms]
            names += ["exactly concept:ras_family"] if set(genes) & {"kras", "nras"} and not exact else []
            joined = names[0] if len(names) == 1 else f"({' or '.join(names)})"
            key = "exactly_wild_type" if "exactly" in adjectives else "wild_type"
            parts.append(meaning[key].format(genes=joined))
    if plain and adjectives & {"germline", "somatic", "germline_only"}:
        raise Unclear(f"whether the origin is said of the {plain[0]} too", (plain[0],))
    for noun in plain if not phrase.exons else ():
        if noun not in meaning:
            raise Unclear(f"what kind of {noun}: give the exon ('exon 20 insertion')", (noun,))
        if noun == "skipping":
            raise Unclear("which exon is skipped: write 'exon 14 skipping'", (noun,))
        parts += [meaning[noun].format(**slots), *_also(noun, listed)]
    if not parts:
        raise Unclear("which change of the gene is meant: a mutation, fusion, amplification or deletion")
    return either(parts)


def _restricted(parts: list[str], adjectives: set[str], harmful: bool) -> list[str]:
    """Changes at a place, of an origin or harmful where that is said of them."""
    if "germline_only" in adjectives or "nonresistant" in adjectives:
        raise Unclear("what is said of changes at a place and what of the gene: write one after the other")
    restrictions = [f"variant with origin = {origin}" for origin in ("germline", "somatic") if origin in adjectives]
    if len(restrictions) == 2 or "any_origin" in adjectives:
        restrictions = []
    if harmful:
        restrictions.append("'a harmful mutation'")
    return [f"same event ({' and '.join([part, *restrictions])})" for part in parts] if restrictions else parts


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
            return either(
                [_mutation((gene,), adjectives, True, meaning, {**slots, "genes": concept(gene)}) for gene in genes]
            )
        return meaning["harmful"].format(**slots)
    if set(genes) <= set(table["loss_is_mutation"]["genes"]):
        return meaning["loss_or_mutation"].format(**slots)
    return meaning["mutation"].format(**slots)


def _exons(
    genes: tuple[str, ...],
    phrase: GenePhrase,
    nouns: list[str],
    harmful: bool,
    meaning: dict[str, str],
    slots: dict[str, str],
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


def _exon_places(subject: str, gene: str, exons: list[int]) -> Iterator[str]:
    start = f"variant {concept(subject)}" if subject else "variant"
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
        if kind == what and (
            set(members) & set(genes)
            if kind not in ("protein", "pair", "exon_insertion")
            else set(members) <= set(genes)
        ):
            found.append(query)
    return found


def _is_harmful_set(genes: tuple[str, ...], concepts: ConceptTable) -> bool:
    sets = [concepts.value_set(name) or () for name in book.data("molecular")["harmful_sets"]["names"]]
    return any(set(members) == set(genes) for members in sets)


@functools.cache
def codons_of(gene: str, exon: int) -> tuple[int, int]:
    """The first and last codon of an exon; (0, 0) where the ontology does not tell."""
    for line in (ONTOLOGY_FOLDER / "exons.tsv").read_text(encoding="utf-8").splitlines():
        parts = line.split("\t")
        if parts[:2] == [gene, str(exon)]:
            return int(parts[2]), int(parts[3])
    return 0, 0


@functools.cache
def cdna_changes() -> tuple[tuple[str, str, str], ...]:
    """Gene, coding DNA change and protein change of those that reports often give as DNA alone."""
    lines = (ONTOLOGY_FOLDER / "cdna.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")][1:]
    return tuple((row[0], row[1], row[2]) for row in rows)
