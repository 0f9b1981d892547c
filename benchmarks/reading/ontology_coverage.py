"""How many names of published terminologies the shipped ontology knows, and whether they mean the right concept.

    python -m benchmarks.reading.ontology_coverage [--oncotree tree.json] [--rxnorm rxnorm_terms.tsv]
        [--genie drug_list.tsv]
        [--acr acr_concepts.tsv] [--ncit Neoplasm_Core.tsv] [--hgnc hgnc_merged.tsv] [--list N] [--json OUT]

Each file is measured on its own; one that is not given is left out. A name *resolves* when ``ConceptTable.lookup``
gives a concept of the kind that the file is about. What it gives is then held against what the file itself says (a
code, an ingredient, another name of the same thing):

- *right*: the concept of that code or ingredient, one below it, a combination that holds it, or a form that the
  ontology sets apart and calls by its name (*topical tretinoin*); for a name that a terminology gives to several
  entries (*Yolk Sac Tumor*), one above them all;
- *broader*: a concept above the right one;
- *unchecked*: the file ties the name to nothing that the ontology carries;
- *other*: something else. These are listed, and each is a question to the ontology.

Apart from this, *read* is the share of names in which reading a note (``Diagnosis: NAME.``, ``Received NAME.``) finds a
mention of a right concept, whatever else of the name it leaves over.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.normal_forms import normal_form
from cohortium.kb.ontology.regimens import read_components

#: Kinds of concept that a drug's name may resolve to; radioactive iodine is one of radiation.
DRUGS: Final = ("drug", "regimen", "radiation")
#: RxNorm's types of names, and its types of products, which are read and not looked up.
NAMES: Final = ("IN", "PIN", "MIN", "BN")
PRODUCTS: Final = ("SCDC", "SCD", "SBD", "GPCK", "BPCK")
#: Concepts so wide that resolving a name to one of them says nothing.
WIDE: Final = frozenset(
    {
        "neoplasm",
        "malignant_neoplasm",
        "benign_neoplasm",
        "solid_tumor",
        "carcinoma",
        "sarcoma",
        "therapy",
        "systemic_therapy",
    }
)
_INGREDIENTS = Path(__file__).with_name("antineoplastic_ingredients.txt")
_BRACKETED = re.compile(r"([^(]+?)\s*\((.*?)\)?")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a terminology: ``right`` are the concepts that the file ties it to; none if it ties it to nothing."""

    text: str
    kinds: tuple[str, ...]
    right: frozenset[str] = frozenset()
    group: str = ""


@dataclass
class Tally:
    """What was found of the names of one file."""

    counts: Counter[str] = field(default_factory=Counter)
    listed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, verdict: str, name: Name, found: Iterable[str]) -> None:
        """Count the name, and list it unless all is well."""
        self.counts[verdict] += 1
        if verdict not in ("right", "unchecked"):
            self.listed[verdict].append(" ".join(filter(None, [name.text, f"-> {', '.join(found)}" if found else ""])))

    def as_dict(self) -> dict[str, Any]:
        """Counts, shares and lists."""
        names = sum(self.counts[verdict] for verdict in ("right", "unchecked", "broader", "other", "unresolved"))
        resolved = names - self.counts["unresolved"]
        shares = {
            "resolved": resolved / names if names else 0.0,
            "right": self.counts["right"] / names if names else 0.0,
        }
        if "looked for by reading" in self.counts:
            shares["read"] = self.counts["read"] / self.counts["looked for by reading"]
        return {"names": names, **shares, "counts": dict(self.counts), "listed": dict(self.listed)}


class Measure:
    """Looks names up and judges what is found."""

    def __init__(self, concepts: ConceptTable) -> None:
        self.concepts = concepts
        self._components = read_components()

    def verdict(self, name: Name) -> tuple[str, tuple[str, ...]]:
        """What the look-up of a name is, and the concepts it gives."""
        found = self.concepts.lookup(name.text, name.kinds)
        if not found:
            return "unresolved", ()
        if not name.right:
            return ("broader" if found[0] in WIDE else "unchecked"), found
        if any(self._is_right(one, right) for one in found for right in name.right):
            return "right", found
        if any(self.concepts.is_a(right, one) for one in found for right in name.right):
            shared = len(name.right) > 1 and all(
                any(self.concepts.is_a(right, one) for one in found) for right in name.right
            )
            return ("right" if shared else "broader"), found
        return "other", found

    def _is_right(self, one: str, right: str) -> bool:
        """Whether ``one`` is the concept or below it; of drugs also a combination of it, or a form with its name."""
        if self.concepts.is_a(one, right):
            return True
        if self.concepts.kind(one) not in DRUGS:
            return False
        named = normal_form(self.concepts.name(right)) in normal_form(self.concepts.name(one))
        return named or any(self.concepts.is_a(part.drug, right) for part in self._components.get(one, ()))

    def is_read(self, name: Name, sentence: str) -> bool:
        """Whether reading the sentence finds the right concept; where none is known, the looked-up one."""
        right = name.right or frozenset(self.concepts.lookup(name.text, name.kinds))
        mentions = cohortium.read(sentence.format(name.text), date="2020-01-01").mentions
        return any(
            self._is_right(mention.concept, one) or (len(right) > 1 and self.concepts.is_a(one, mention.concept))
            for mention in mentions
            if mention.concept in self.concepts
            for one in right
        )

    def of(self, names: Iterable[Name], sentence: str) -> dict[str, Any]:
        """All names of a file, also by group."""
        tallies: dict[str, Tally] = defaultdict(Tally)
        for name in names:
            verdict, found = self.verdict(name)
            read = bool(sentence) and self.is_read(name, sentence)
            for group in dict.fromkeys(("all", name.group)):
                if group:
                    tallies[group].add(verdict, name, found)
                    if sentence:
                        tallies[group].counts["looked for by reading"] += 1
                        tallies[group].counts["read"] += read
        return {group: tally.as_dict() for group, tally in tallies.items()}


def _rows(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(10_000_000)
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


# --- what each file says ---------------------------------------------------------------------------------------------


def oncotree_leaves(path: Path, concepts: ConceptTable) -> Iterator[Name]:
    """The leaves of OncoTree's nested JSON; a name shared by several leaves is tied to the concepts of all of them."""
    leaves: list[tuple[str, str, str]] = []

    def walk(node: dict[str, Any]) -> None:
        children = node.get("children") or {}
        if not children:
            leaves.append((node["code"], node["name"], node.get("tissue") or ""))
        for child in children.values():
            walk(child)

    for root in json.loads(path.read_text(encoding="utf-8")).values():
        walk(root)
    codes: dict[str, set[str]] = defaultdict(set)
    for code, text, _ in leaves:
        codes[text].update(concepts.lookup(f"ONCOTREE:{code}", ("tumor",)))
    for _, text, _ in leaves:
        yield Name(text, ("tumor",), frozenset(codes[text]))


def antineoplastic_ingredients() -> frozenset[str]:
    """The names of ``antineoplastic_ingredients.txt``."""
    lines = [line for line in _INGREDIENTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return frozenset(name.strip() for line in lines for name in line.split(";") if name.strip())


def rxnorm_names(path: Path, concepts: ConceptTable) -> Iterator[Name]:
    """The antineoplastic terms of an RxNorm extract with the columns rxcui, tty, name, nested_under_rxcuis.

    An ingredient is antineoplastic by the list; a brand or product by an ingredient that its links or, for a
    combination, its parts lead to; a precise ingredient (a salt) by the ingredient that its name begins with.
    """
    listed = antineoplastic_ingredients()
    rows = list(_rows(path))
    above = {row["rxcui"]: row["nested_under_rxcuis"].split("|") for row in rows if row["nested_under_rxcuis"]}
    ingredients = {row["rxcui"]: row["name"].lower() for row in rows if row["tty"] == "IN"}

    @functools.cache
    def linked(rxcui: str) -> frozenset[str]:
        own = frozenset({ingredients[rxcui]} if rxcui in ingredients else ())
        return own.union(*(linked(one) for one in above.get(rxcui, ())))

    for row in rows:
        text = row["name"]
        if row["tty"] == "PIN":
            words = text.lower().split()
            found = frozenset(" ".join(words[:count]) for count in range(1, len(words) + 1))
        elif row["tty"] == "MIN":
            found = frozenset(part.strip().lower() for part in text.split(" / "))
        else:
            found = linked(row["rxcui"])
        counted = found & listed
        if counted and row["tty"] in (*NAMES, *PRODUCTS):
            right = set(concepts.lookup(f"RXNORM:{row['rxcui']}", DRUGS))
            for ingredient in counted:
                right.update(concepts.lookup(ingredient, DRUGS))
            yield Name(text, DRUGS, frozenset(right), row["tty"])


def genie_names(path: Path, concepts: ConceptTable) -> Iterator[Name]:
    """Each drug of GENIE BPC, and each code and brand in the brackets behind it (some lists lack a bracket)."""
    seen = set()
    for row in _rows(path):
        full = row["drug_name_full"].strip()
        match = _BRACKETED.fullmatch(full)
        main, rest = (match[1], match[2]) if match else full.partition(",")[::2]
        right = frozenset(concepts.lookup(main, DRUGS))
        for group, text in [("drug", main), *(("code or brand", one) for one in rest.split(","))]:
            text = text.strip(" ()")
            if text and (main, text) not in seen:
                seen.add((main, text))
                yield Name(text, DRUGS, frozenset() if group == "drug" else right, group)


def acr_names(path: Path, concepts: ConceptTable) -> Iterator[Name]:
    """The concepts that the query bank needs: names and synonyms, of any kind; tied by the codes in the file."""
    for row in _rows(path):
        right = {concept for code in row["id"].split("|") if ":" in code for concept in concepts.lookup(code)}
        for text in (row["concept"], *row["synonyms"].split("|")):
            if text.strip():
                yield Name(text.strip(), KINDS, frozenset(right), row["kind"])


def ncit_names(path: Path, concepts: ConceptTable) -> Iterator[Name]:
    """The neoplasms of the NCI Thesaurus core set: preferred terms and synonyms."""
    for row in _rows(path):
        right = frozenset(concepts.lookup(f"NCIT:{row['Code']}", ("tumor",)))
        status = row["Neoplastic Status"].strip().lower() or "no status"
        yield Name(row["Preferred Term"], ("tumor",), right, f"preferred, {status}")
        for text in row["Synonyms"].split(" || "):
            if text.strip():
                yield Name(text.strip(), ("tumor",), right, f"synonym, {status}")


def hgnc_names(path: Path, concepts: ConceptTable) -> Iterator[Name]:
    """Symbols of the genes that the ontology carries, and those of their aliases that no other gene shares."""
    rows = list(_rows(path))
    owners: Counter[str] = Counter()
    for row in rows:
        owners.update({name.upper() for name in (row["symbol"], *row["previous_and_alias"].split("|")) if name})
    for row in rows:
        right = frozenset(concepts.lookup(row["hgnc_id"], ("gene",))) if row["hgnc_id"] else frozenset()
        if right:
            yield Name(row["symbol"], ("gene",), right, "symbol")
            for text in row["previous_and_alias"].split("|"):
                if len(text) > 2 and owners[text.upper()] == 1:
                    yield Name(text, ("gene",), right, "alias")


KINDS: Final = ("tumor", "site", "drug", "regimen", "gene", "biomarker", "procedure", "radiation", "condition", "state",
                "value", "performance")  # fmt: skip
#: A file, how its names come, and the sentence in which they are read (none: not read).
SOURCES: Final[tuple[tuple[str, Callable[[Path, ConceptTable], Iterator[Name]], str], ...]] = (
    ("oncotree", oncotree_leaves, "Diagnosis: {}."),
    ("rxnorm", rxnorm_names, "Received {}."),
    ("genie", genie_names, "Received {}."),
    ("acr", acr_names, ""),
    ("ncit", ncit_names, ""),
    ("hgnc", hgnc_names, ""),
)


def measure(paths: dict[str, Path], concepts: ConceptTable, *, reading: bool = True) -> dict[str, Any]:
    """The result for each file given. RxNorm's products are only read: they are descriptions, not names."""
    measured: dict[str, Any] = {}
    judge = Measure(concepts)
    for source, names_of, sentence in SOURCES:
        if source in paths:
            names = list(names_of(paths[source], concepts))
            products = [name for name in names if name.group in PRODUCTS]
            measured[source] = judge.of((name for name in names if name.group not in PRODUCTS), sentence * reading)
            if products and reading:
                read = sum(judge.is_read(name, sentence) for name in products)
                measured[source]["products"] = {"names": len(products), "read": read / len(products)}
    return measured


def main() -> int:
    """Prints the table, and writes JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for source, _, _ in SOURCES:
        parser.add_argument(f"--{source}", type=Path, metavar="FILE")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="list up to N names of each verdict but right")
    parser.add_argument("--no-reading", action="store_true", help="look names up only; read none")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    paths = {source: path for source, _, _ in SOURCES if (path := getattr(asked, source)) is not None}
    if not paths:
        parser.error("name at least one file, for example --oncotree tree.json")
    for source, path in paths.items():
        if not path.is_file():
            parser.error(f"--{source}: there is no file {path.name}")
    measured = measure(paths, ConceptTable.from_files(), reading=not asked.no_reading)
    header = ("source", "names", "resolve", "right", "broader", "other", "read")
    rows = [
        (f"{source}: {group}", found["names"], found.get("resolved", ""), found.get("right", ""),
         found["counts"].get("broader", 0) if "counts" in found else "",
         found["counts"].get("other", 0) if "counts" in found else "", found.get("read", ""))
        for source, groups in measured.items()
        for group, found in groups.items()
    ]  # fmt: skip
    print(markdown(header, rows))
    for source, groups in measured.items():
        for verdict, names in groups["all"]["listed"].items():
            if asked.list:
                print(f"\n{source}, {verdict}: {len(names)}", *(f"  {name}" for name in names[: asked.list]), sep="\n")
    signed = signature(command_line(), 0)
    print("\n" + ", ".join(f"{name} {value}" for name, value in signed.items()))
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, **measured}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
