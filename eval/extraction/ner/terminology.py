"""Canonical names of conditions and drugs, from the lists that come with the corpus; none of them is shipped.

A condition's synonyms go to its MeSH name, or an ICD title stands for itself; a drug's synonyms go to the common name
of each list that has them, and only names of one or two words count. A name may have several canonical forms.
Source: NeuroTrialNER, section 4.2 and appendix C; Wood (2023) for the form of drug names.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from .types import vocabulary

FOLDER: Final = "terminology"
SHARED: Final = "COHORTIUM_SHARED"
_LEVELS_UP: Final = 3
#: One word, or two joined by a blank or hyphen, and at most one capital behind them.
_DRUG_NAME: Final = re.compile(r"[A-Za-z0-9,]+[ -]?[A-Za-z0-9-]+([ -][A-Z])?")


@dataclass(frozen=True, slots=True)
class Terminology:
    """Name in small letters → its canonical forms, by type.

    ``source`` says which folder, empty without one; ``missing`` which of the lists it has not.
    """

    forms: Mapping[str, Mapping[str, frozenset[str]]]
    source: str = ""
    missing: tuple[str, ...] = ()

    def canonical(self, kind: str, names: Iterable[str]) -> list[str]:
        """The canonical forms of the names of a type, in order; a name that no list has stays as it is.

        Two names of one thing give its form twice. A part that names nothing is left out where the type has lists.
        """
        known = self.forms.get(kind)
        if known is None:
            return list(names)
        found: list[str] = []
        for name in names:
            plain = name.lower().strip()
            if plain not in vocabulary().nothing:
                found.extend(sorted(known.get(plain, (plain,))))
        return found

    def mapped(self, kind: str, names: Iterable[str]) -> int:
        """How many of the names a list has."""
        known = self.forms.get(kind, {})
        return sum(name.lower().strip() in known for name in names)


def find_folder(*files: Path) -> Path | None:
    """The first folder ``terminology`` beside one of the files, or beside one of the three folders around it.

    The lists may stand in such a place without a folder of their own. Else the one in the folder of open corpora that
    the environment names (``COHORTIUM_SHARED``; else ``../shared``), if it has one.
    """
    places = [file.absolute().parent for file in files]
    near = [folder for place in places for folder in (place, *place.parents)[: _LEVELS_UP + 1]]
    near.append(Path(os.environ.get(SHARED) or Path("..", "shared")) / "data" / "neurotrialner")
    for folder in (at for one in near for at in (one / FOLDER, one)):
        if any((folder / str(row["file"])).is_file() for row in vocabulary().lists):
            return folder
    return None


def no_terminology() -> Terminology:
    """A terminology of empty lists: every name is its own canonical form."""
    return Terminology({str(row["type"]): {} for row in vocabulary().lists})


def read_terminology(folder: Path) -> Terminology:
    """The lists of a folder. UsageError when it has none of them, or one cannot be read."""
    forms: dict[str, dict[str, set[str]]] = {str(row["type"]): {} for row in vocabulary().lists}
    present = [row for row in vocabulary().lists if (folder / str(row["file"])).is_file()]
    if not present:
        hint = ", ".join(str(row["file"]) for row in vocabulary().lists)
        raise UsageError(f"no list of names in '{folder}'. Hint: it holds {hint}")
    for row in present:
        table = forms[str(row["type"])]
        pairs = _drugs(folder, row) if "name" in row else _conditions(folder / str(row["file"]))
        for canonical, variant in pairs:
            table.setdefault(variant, set()).add(canonical)
    frozen = {kind: {name: frozenset(known) for name, known in table.items()} for kind, table in forms.items()}
    # Of two spellings of one list's name, either is the list.
    wanted, named = (
        dict.fromkeys(str(row["file"]).replace(" ", "_") for row in rows) for rows in (vocabulary().lists, present)
    )
    return Terminology(frozen, folder.absolute().name, tuple(name for name in wanted if name not in named))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            for row in csv.DictReader(file):
                yield {str(key): value if isinstance(value, str) else "" for key, value in row.items()}
    except (OSError, csv.Error) as error:
        raise UsageError(f"cannot read '{path}': {error}") from error


def _conditions(path: Path) -> Iterator[tuple[str, str]]:
    """Canonical name and variant of each condition, in small letters."""
    for row in _rows(path):
        mesh, icd = row.get("MeSH Common name", "").lower(), row.get("ICD Title", "").lower()
        synonyms = row.get("MeSH Synonyms", "")
        if synonyms and mesh:
            for synonym in synonyms.split("|"):
                yield mesh, synonym.strip().lower()
        elif icd or mesh:
            yield icd or mesh, icd or mesh


def _drugs(folder: Path, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Canonical name and variant of each drug of a list, in small letters."""
    given = re.compile(rf" ({'|'.join(map(re.escape, row['forms']))})") if "forms" in row else None
    for drug in _rows(folder / str(row["file"])):
        name = drug.get(str(row["name"]), "")
        name = (given.sub("", name) if given else name).lower().strip()
        if _DRUG_NAME.fullmatch(name):
            synonyms = drug.get(str(row["synonyms"]), "").split("|") if "synonyms" in row else []
            for variant in (name, *map(str.strip, synonyms)):
                if _DRUG_NAME.fullmatch(variant):
                    yield name, variant.lower()
