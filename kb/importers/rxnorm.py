"""RxNorm (RXNCONSO.RRF, RXNREL.RRF): ingredients are drugs; brands, salts and products give them names and codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .terms import Term, Terms, file_of, lines_of, tables, unique

# Columns of the two files, which have no header (RxNorm technical documentation).
_CUI, _LANGUAGE, _SOURCE, _TYPE, _NAME, _SUPPRESSED = 0, 1, 11, 12, 14, 16
_FIRST, _SECOND, _RELATION, _RELATION_SOURCE = 0, 4, 7, 10
_KEPT: Final = ("N", "")
#: RxNorm writes so between the ingredients of a product.
_SEVERAL: Final = " / "


def read(sources: Sequence[Path]) -> Terms:
    """The ingredients of RxNorm, each with what belongs to it alone; products of several are left out."""
    found = Terms()
    atoms: dict[str, tuple[str, str]] = {}
    distance: dict[str, int] = tables()["rxnorm"]["distance"]
    for row in _rows(file_of(sources, "RXNCONSO.RRF"), _SUPPRESSED):
        if row[_SOURCE] != "RXNORM" or row[_LANGUAGE] != "ENG" or row[_TYPE] not in distance:
            continue
        if row[_SUPPRESSED] in _KEPT:
            atoms.setdefault(row[_CUI], (row[_TYPE], row[_NAME]))
        else:
            found.drop(f"RXNORM:{row[_CUI]}", row[_NAME], "obsolete")
    drugs = _Drugs(atoms, file_of(sources, "RXNREL.RRF"))
    belonging: dict[str, list[str]] = {cui: [] for cui in atoms if drugs.is_drug(cui)}
    for cui, (_, name) in atoms.items():
        if cui in belonging:
            continue
        ingredients = drugs.ingredients_of(cui)
        if len(ingredients) == 1:
            belonging[next(iter(ingredients))].append(cui)
        else:
            found.drop(f"RXNORM:{cui}", name, "combination")
    named = tables()["rxnorm"]["named"]
    for cui, others in belonging.items():
        names = unique(atoms[other][1] for other in others if atoms[other][0] in named)
        codes = unique(f"RXNORM:{other}" for other in others)
        found.add(Term(f"RXNORM:{cui}", atoms[cui][1], names, (), codes, "drug"))
    return found


class _Drugs:
    """Which drugs a term leads to, over the relations of RxNorm."""

    def __init__(self, atoms: dict[str, tuple[str, str]], relations: Path | None) -> None:
        self._atoms = atoms
        self._below: dict[str, list[str]] = {}
        self._above: dict[str, list[str]] = {}
        known = frozenset(tables()["rxnorm"]["relations"])
        for row in _rows(relations, _RELATION_SOURCE):
            if row[_RELATION_SOURCE] == "RXNORM" and row[_RELATION] in known:
                # Each relation is there in both directions; the types tell which end is nearer to the ingredient.
                far, near = sorted((row[_FIRST], row[_SECOND]), key=self._distance, reverse=True)
                if self._distance(far) > self._distance(near) >= 0:
                    self._below.setdefault(far, []).append(near)
                    self._above.setdefault(near, []).append(far)

    def _distance(self, cui: str) -> int:
        atom = self._atoms.get(cui)
        return -1 if atom is None else int(tables()["rxnorm"]["distance"][atom[0]])

    def is_drug(self, cui: str) -> bool:
        """An ingredient, or an antibody with something joined to it, which is no form of the antibody."""
        kind, name = self._atoms[cui]
        words = name.lower().replace("-", " ").split()
        return kind == "IN" or (kind == "PIN" and not set(words).isdisjoint(tables()["rxnorm"]["conjugates"]))

    def ingredients_of(self, cui: str) -> frozenset[str]:
        """The drugs that a term consists of, none for a combination. A brand consists of what its products do."""
        products = [one for one in self._above.get(cui, ()) if self._atoms[one][0] == "SBD"]
        consisting = products if self._atoms[cui][0] == "BN" and products else [cui]
        if any(_SEVERAL in self._atoms[one][1] for one in consisting):
            return frozenset()
        return frozenset(drug for one in consisting for drug in self._reached(one))

    def _reached(self, cui: str) -> frozenset[str]:
        reached, seen, waiting = set(), {cui}, [cui]
        while waiting:
            one = waiting.pop()
            if one != cui and self.is_drug(one):
                reached.add(one)
            for near in self._below.get(one, ()):
                if near not in seen:
                    seen.add(near)
                    waiting.append(near)
        # The antibody that lies below a conjugate is part of it.
        parts = {near for one in reached for near in self._below.get(one, ())}
        return frozenset(reached - parts)


def _rows(path: Path | None, last: int) -> Iterator[list[str]]:
    """The rows of an RRF file up to the column that is needed last; each line ends with a bar."""
    for line in lines_of(path) if path else ():
        cells = line.split("|")
        if len(cells) > last:
            yield cells
