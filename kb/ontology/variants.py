"""Knowledge of variants: which are oncogenic or resistant, on which exon a codon lies (data: the ontology)."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache

from ..model import Value
from .concepts import ConceptTable
from .normal_forms import ONTOLOGY_FOLDER

_EXON_CHANGE = re.compile(r"exon(\d+):(\w+)")
_RESIDUE = re.compile(r"([A-Z])(\d+)([A-Z*].*)?")
_SYMBOL = re.compile(r"[A-Z][A-Z0-9]{1,9}")
#: Effects that break a protein whatever its codon.
_TRUNCATING = frozenset({"frameshift", "nonsense", "splice_site", "truncating", "start_lost"})
#: Alterations that tumors acquire.
NEVER_INHERITED = frozenset(
    {"fusion", "amplification", "copy_gain", "homozygous_deletion", "overexpression", "methylation"}
)


def _rows(name: str) -> list[list[str]]:
    lines = ONTOLOGY_FOLDER.joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")][1:]


@lru_cache(maxsize=1)
def _hotspots() -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {}
    for gene, change, classes, *_ in _rows("variants.tsv"):
        table.setdefault(gene, {})[change] = classes
    return table


@lru_cache(maxsize=1)
def _exons() -> dict[str, list[tuple[int, int, int]]]:
    table: dict[str, list[tuple[int, int, int]]] = {}
    for gene, exon, first, last in _rows("exons.tsv"):
        table.setdefault(gene, []).append((int(exon), int(first), int(last)))
    return table


@lru_cache(maxsize=1)
def _cdna_changes() -> dict[tuple[str, str], str]:
    """Changes that reports often give in cDNA notation alone, as protein changes."""
    return {(gene, cdna): protein for gene, cdna, protein, *_ in _rows("cdna.tsv")}


@lru_cache(maxsize=1)
def _genes_by_change() -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for gene, changes in _hotspots().items():
        for change in changes:
            table.setdefault(change, set()).add(gene)
    return table


@lru_cache(maxsize=1)
def gene_symbols() -> dict[str, str]:
    """The symbols of the ontology's genes, synonyms and short forms included, and the gene of each."""
    symbols: dict[str, str] = {}
    rows = _rows("genes.tsv")
    for gene, _kind, _name, _parents, synonyms, shorts, *_ in rows:
        for word in (*synonyms.split("|"), *(short.split("{")[0] for short in shorts.split("|"))):
            if _SYMBOL.fullmatch(word):
                symbols.setdefault(word, gene)
    symbols.update((row[0].upper(), row[0]) for row in rows if _SYMBOL.fullmatch(row[0].upper()))
    return symbols


def is_known(change: str) -> bool:
    """Whether this change, or another of the same residue, is in the tables of any gene."""
    return change in _genes_by_change() or change.rstrip("ACDEFGHIKLMNPQRSTVWYX*") in _known_residues()


@lru_cache(maxsize=1)
def _known_residues() -> frozenset[str]:
    matches = map(_RESIDUE.fullmatch, _genes_by_change())
    return frozenset(f"{match[1]}{match[2]}" for match in matches if match)


def known_changes() -> frozenset[str]:
    """The protein changes that the tables name, in one-letter form."""
    return frozenset(_genes_by_change())


def has_known_changes(gene: str) -> bool:
    """Whether the tables know changes of this gene."""
    return gene in _hotspots()


def gene_of(protein: str) -> str:
    """The only gene of which this change is a known hotspot; empty if there is none or more than one."""
    genes = _genes_by_change().get(protein, set()) if protein else set()
    return next(iter(genes)) if len(genes) == 1 else ""


def classes_of(gene: str, attributes: dict[str, Value]) -> tuple[str, ...]:
    """The class tags of a variant (oncogenic, resistance, sensitizing …) by its most specific row; empty if unknown."""
    table = _hotspots().get(gene, {})
    protein = str(attributes.get("protein", ""))
    if protein in table:
        return tuple(table[protein].split("|"))
    match = _RESIDUE.fullmatch(protein)
    if match and f"{match[1]}{match[2]}X" in table and not (match[3] or "").startswith(("fs", "*")):
        return tuple(table[f"{match[1]}{match[2]}X"].split("|"))
    exon = attributes.get("exon")
    effect = str(attributes.get("effect", attributes.get("alteration", "")))
    if exon is not None:
        wanted = {
            "inframe_deletion": ("deletion",),
            "inframe_indel": ("delins", "deletion"),
            "inframe_insertion": ("insertion",),
            "duplication": ("duplication", "insertion"),
            "exon_skipping": ("skipping",),
            "splice_site": ("splice", "skipping"),
        }.get(effect, ())
        for change, classes in table.items():
            found = _EXON_CHANGE.fullmatch(change)
            if found and int(found[1]) == int(float(exon)) and found[2] in wanted:
                return tuple(classes.split("|"))
    return ()


@lru_cache(maxsize=1)
def _alterations() -> frozenset[str]:
    return frozenset(tomllib.loads((ONTOLOGY_FOLDER / "alterations.toml").read_text("utf-8"))["alteration"])


def _named_alteration(attributes: dict[str, Value]) -> str:
    """The alteration that an in-frame change of an exon is known by (``exon_19_deletion``), as an id; else empty."""
    exon, effect = attributes.get("exon"), attributes.get("effect")
    if exon is None or attributes.get("alteration") != "mutation":
        return ""
    change = {"inframe_deletion": "deletion", "inframe_indel": "deletion", "inframe_insertion": "insertion"}
    return f"exon_{float(exon):g}_{change[str(effect)]}" if effect in change else ""


def complete(gene: str, attributes: dict[str, Value], concepts: ConceptTable) -> dict[str, Value]:
    """The attributes with what follows from them: protein from cDNA, codon, exon, class, significance if unstated.

    A harmless class that the report states is never overridden. A truncating change counts as pathogenic only in a
    tumor suppressor, and only where the report gives no class of its own.
    """
    found = dict(attributes)
    if found.get("alteration") not in (
        None,
        "mutation",
        "exon_skipping",
        "internal_tandem_duplication",
        "exon_19_deletion",
        "exon_20_insertion",
        "kinase_domain_duplication",
    ):
        return found
    if "cdna" in found and "protein" not in found:
        protein = _cdna_changes().get((gene, str(found["cdna"])))
        if protein:
            found["protein"] = protein
            codon = re.search(r"\d+", protein)
            if codon:
                found["codon"] = float(codon.group())
    codon_value = found.get("codon")
    if codon_value is not None and "exon" not in found:
        for exon, first, last in _exons().get(gene, ()):
            if first <= float(codon_value) <= last:
                found["exon"] = float(exon)
                break
    named = _named_alteration(found)
    if named in _alterations():
        found["alteration"] = named
    classes = classes_of(gene, found)
    if classes:
        found["class"] = "|".join(classes)
    if "significance" not in found or found["significance"] == "unclassified":
        if "oncogenic" in classes or {"resistance", "sensitizing", "hotspot"} & set(classes):
            found["significance"] = "pathogenic"
        elif str(found.get("effect")) in _TRUNCATING and concepts.is_a(gene, "tumor_suppressor_gene"):
            found["significance"] = "likely_pathogenic"
        elif {"protein", "cdna"} & found.keys():
            found["significance"] = "unclassified"
        elif found.get("alteration") == "mutation":
            # "KRAS-mutated" without detail is a pathogenic mutation of unspecified type.
            found["significance"] = "pathogenic"
    return found
