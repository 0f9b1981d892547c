"""The concepts that a text names: by normal form, abbreviation, code, or as a drug with a salt behind it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence

from .drug_names import without_endings
from .normal_forms import ONTOLOGY_FOLDER, normal_form, normal_forms, read_pairs, squashed, without_plural
from .rows import Abbreviation, ConceptRow

_CODE = re.compile(r"([A-Za-z][A-Za-z0-9 \-]*?)\s*[:\s]\s*([A-Za-z0-9][\w.\-/]*)")
_NOT_ALPHANUMERIC = re.compile(r"[^A-Z0-9]+")


class NameIndex:
    """Names to concept positions: first by normal form, then with plurals folded, then with spaces dropped."""

    def __init__(
        self,
        rows: Sequence[ConceptRow],
        ids: Mapping[str, int],
        exact_short: dict[str, list[int]],
        normal: dict[str, list[int]],
    ) -> None:
        """``exact_short`` has the abbreviations as written, ``normal`` the normal forms that stand for a concept."""
        self._rows = rows
        self._ids = ids
        self.exact_short = exact_short
        self.normal = normal
        self._by_letter: dict[tuple[Callable[[str], str], str], dict[str, list[int]]] = {}

    @classmethod
    def from_rows(cls, rows: Sequence[ConceptRow]) -> NameIndex:
        """The index of these concepts."""
        index = cls(rows, {row.id: position for position, row in enumerate(rows)}, {}, {})
        shorts: dict[str, list[tuple[int, Abbreviation]]] = {}
        synonyms: list[tuple[str, int]] = []
        normals = iter(
            normal_forms(
                [
                    name
                    for row in rows
                    for name in (row.name, *row.synonyms, *(short.text for short in row.abbreviations))
                ]
            )
        )
        for position, row in enumerate(rows):
            name = next(normals)
            if row.name:
                _append(index.normal, name, position)
            synonyms.extend((next(normals), position) for _ in row.synonyms)
            for short in row.abbreviations:
                _append(index.exact_short, short.text, position)
                shorts.setdefault(next(normals), []).append((position, short))
        for normal, position in synonyms:
            _append(index.normal, normal, position)
        for normal, readings in shorts.items():
            positions = {position for position, _ in readings} | set(index.normal.get(normal, ()))
            ambiguous = len(positions) > 1 or any(short.cues for _, short in readings)
            for position, short in readings:
                if len(short.text) > 4 or not ambiguous:
                    _append(index.normal, normal, position)
        return index

    @functools.cached_property
    def _codes(self) -> tuple[dict[str, str], dict[str, list[int]]]:
        """Spellings of code systems to the one that stands for them, and ``SYSTEM:CODE`` to positions."""
        systems = dict(code_systems())
        codes: dict[str, list[int]] = {}
        for position, row in enumerate(self._rows):
            for code in row.codes:
                system, _, value = code.partition(":")
                bare = bare_system(system)
                _append(codes, f"{systems.setdefault(bare, bare)}:{value.upper()}", position)
        return systems, codes

    def _folded(self, fold: Callable[[str], str], key: str) -> list[int]:
        """The concepts of the normal forms that a rule folds to ``key``. It keeps the first letter: only the forms with
        that letter are folded, once."""
        known = self._by_letter.get((fold, key[:1]))
        if known is None:
            known = {}
            for normal, found in self.normal.items():
                if normal[:1] == key[:1]:
                    for position in found:
                        _append(known, fold(normal), position)
            self._by_letter[fold, key[:1]] = known
        return known.get(key, [])

    def find(self, text: str) -> list[int]:
        """Positions of the concepts that ``text`` names."""
        text = text.strip()
        found = [self._ids[text]] if text in self._ids else []
        normal = normal_form(text)
        if normal:
            found += (
                self.normal.get(normal)
                or self._folded(without_plural, without_plural(normal))
                or self._folded(squashed, squashed(normal))
                or ()
            )
        found += self.exact_short.get(text, [])
        if not found:
            found = self._find_code(text) or self._find_drug(text)
        return list(dict.fromkeys(found))

    def _find_drug(self, text: str) -> list[int]:
        """The drug that ``text`` names with a salt or a suffix behind it; not a class of drugs."""
        bare = without_endings(text)
        if bare == text:
            return []
        return [at for at in self.find(bare) if self._rows[at].kind == "drug" and at not in self._classes]

    @functools.cached_property
    def _classes(self) -> frozenset[int]:
        """Positions of the concepts above others that RxNorm has no code for: classes, not drugs with special forms."""
        parents = {parent for row in self._rows for parent in row.parents}
        ingredients = {at for at, row in enumerate(self._rows) if any(code.startswith("RXNORM:") for code in row.codes)}
        return frozenset(at for at, row in enumerate(self._rows) if row.id in parents and at not in ingredients)

    def _find_code(self, text: str) -> list[int]:
        match = _CODE.fullmatch(text)
        if match is None:
            return []
        systems, codes = self._codes
        bare = bare_system(match[1])
        return codes.get(f"{systems.get(bare, bare)}:{match[2].upper()}", [])


def _append(index: dict[str, list[int]], key: str, position: int) -> None:
    held = index.setdefault(key, [])
    if position not in held:
        held.append(position)


@functools.cache
def bare_system(system: str) -> str:
    """A code system in capitals without punctuation."""
    return _NOT_ALPHANUMERIC.sub("", system.upper())


@functools.cache
def code_systems() -> dict[str, str]:
    """Every spelling of a code system, in capitals without punctuation, to the one that the data uses."""
    systems = {}
    for system, aliases in read_pairs(ONTOLOGY_FOLDER / "code_systems.tsv"):
        for alias in (system, *aliases.split("|")):
            systems[alias] = system
    return systems
