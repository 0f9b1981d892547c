"""An import from end to end: sources read, joined with what is known, written as a folder of rows with its report."""

from __future__ import annotations

import collections
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from ..files.whole_files import write_private
from ..ontology.concepts import shipped_concepts
from ..ontology.rows import COLUMNS, ConceptRow
from ..ontology.search import check_kind
from . import hgnc, obo, omop, oncotree, rxnorm
from .joining import extensions, join
from .terms import Dropped, Terms, tables

READERS: Final[Mapping[str, Callable[[Sequence[Path]], Terms]]] = {
    "obo": obo.read,
    "oncotree": oncotree.read,
    "omop": omop.read,
    "rxnorm": rxnorm.read,
    "hgnc": hgnc.read,
}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: concepts, names and codes added, and what was left out by reason."""

    format: str
    sources: tuple[str, ...]
    terms: int
    new: int
    extended: int
    names: int
    codes: int
    dropped: dict[str, int] = field(default_factory=dict)
    file: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def import_terms(
    form: str,
    sources: Sequence[Path],
    out: Path,
    *,
    below: str | None = None,
    kind: str | None = None,
    ontology: Path | None = None,
) -> ImportReport:
    """Write the terms of ``sources`` to the folder ``out``, as rows beside the shipped concepts and ``ontology``.

    ``form``: a key of :data:`READERS`. ``below``: only the term of this code and what lies below it; ``kind``: only
    concepts of this kind, and of a branch also what is of no known kind. Three files: ``imported_FORM.tsv``,
    ``dropped_FORM.tsv``, ``imported_FORM.json``. Equal sources give equal files. UsageError when something is missing.
    """
    if form not in READERS:
        raise UsageError(f"'{form}' is no format that can be imported. Hint: the formats are {', '.join(READERS)}")
    check_kind(kind)
    for source in sources:
        if not source.exists():
            raise UsageError(f"'{source}': there is no such file or folder")
    target = out / f"imported_{form}.tsv"
    if target.exists():
        raise UsageError(f"'{target}' is there already. Hint: remove it, or name another folder with --out")
    concepts = shipped_concepts(ontology)
    if form == "omop":
        terms = omop.read(sources, below)
    else:
        terms = READERS[form](_files(sources) if form != "rxnorm" else sources)
        terms = terms if below is None else terms.below(below)
    rows = join(concepts, terms, form, kind, below is not None)
    report = ImportReport(
        form,
        tuple(source.name for source in sources),
        len(terms.held),
        len(rows) - extensions(concepts, rows),
        extensions(concepts, rows),
        sum(len(row.synonyms) + len(row.abbreviations) for row in rows),
        sum(len(row.codes) for row in rows),
        dict(sorted(collections.Counter(one.reason for one in terms.dropped).items())),
        target.name,
    )
    _write(out, form, rows, terms.dropped, report)
    return report


def _files(sources: Iterable[Path]) -> list[Path]:
    """The files, those of a folder sorted; hidden ones aside."""
    found = []
    for source in sources:
        inside = sorted(path for path in source.iterdir() if path.is_file()) if source.is_dir() else [source]
        found += [path for path in inside if not path.name.startswith(".")]
    return found


def _write(out: Path, form: str, rows: Sequence[ConceptRow], dropped: Iterable[Dropped], report: ImportReport) -> None:
    lines = [f"# Imported from {form} ({', '.join(report.sources)}).", "\t".join(COLUMNS)]
    lines += ["\t".join(map(_cell, _cells(row))) for row in rows]
    reasons = tables()["reasons"]
    left = ["code\twhat\twhy"]
    left += ["\t".join(map(_cell, (one.code, one.what, reasons[one.reason]))) for one in sorted(set(dropped))]
    files = {
        f"dropped_{form}.tsv": "\n".join(left),
        f"imported_{form}.json": json.dumps(report.as_dict(), indent=2, ensure_ascii=False),
        # The last one: where it is there, all of them are, and each is whole.
        f"imported_{form}.tsv": "\n".join(lines),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_private(out / name, (text + "\n").encode())
    except OSError as error:
        raise UsageError(f"cannot write '{out}': {error.strerror or type(error).__name__}") from error


def _cells(row: ConceptRow) -> tuple[str, ...]:
    shorts = (f"{short.text}{{{','.join(short.cues)}}}" if short.cues else short.text for short in row.abbreviations)
    joined = ("|".join(parts) for parts in (row.parents, row.synonyms, tuple(shorts), row.codes))
    return (row.id, row.kind, row.name, *joined, row.site, row.source)


def _cell(text: str) -> str:
    """Without what would end a cell."""
    return " ".join(text.split())
