"""The banks of phrases: read once from the data files beside this module, with every pattern compiled.

They are kept apart from the words that the engine reads by: nothing here looks at a lexicon, a cue or an ontology.
"""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .patterns import Pattern, Pools, compile_pattern

FOLDER: Final = Path(__file__).parent / "banks"

#: How a sentence may be built: whole sentences, shorthand, or a label with its value.
REGISTERS: Final = ("prose", "terse", "form")

Sentences = Mapping[str, tuple[Pattern, ...]]


@dataclass(frozen=True, slots=True)
class Name:
    """How one thing is called: in full, and in short. ``brief`` holds only what is shorter than a name in full."""

    full: tuple[str, ...]
    brief: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mode:
    """One way in which a fact can stand (started, stopped, declined …): the assertion, and the sentences for it."""

    assertion: str
    single: Sentences
    several: Sentences


@dataclass(frozen=True, slots=True)
class Frames:
    """The sentences for one kind of fact. ``items`` are what a fact is called in a sentence, by its shape; ``must`` are
    the slots that a statement may not leave out."""

    kind: str
    must: tuple[str, ...]
    items: Mapping[str, Sentences]
    modes: Mapping[str, Mode]


@dataclass(frozen=True, slots=True)
class House:
    """The style of one hospital: all of its file's table, and its headings and titles."""

    name: str
    settings: Mapping[str, Any]
    headings: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, tuple[str, ...]]
    types: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Banks:
    """All banks, and a hash of their files."""

    frames: Mapping[str, Frames]
    details: Mapping[str, Sentences]
    hedges: Sentences
    names: Mapping[str, Name]
    results: Mapping[str, tuple[str, ...]]
    pools: Pools
    fillers: Mapping[str, Sentences]
    layouts: Mapping[str, tuple[tuple[str, ...], ...]]
    words: Mapping[str, int]
    routes: Mapping[str, tuple[str, ...]]
    quiet: frozenset[str]
    implied: frozenset[str]
    always_implied: frozenset[str]
    houses: tuple[House, ...]
    british: Mapping[str, str]
    distractors: Sentences
    notices: Mapping[str, tuple[Pattern, ...]]
    sha256: str

    def name(self, concept: str) -> Name:
        """How a concept is called; one without a bank bears its own name alone."""
        return self.names.get(concept.casefold()) or Name((concept,), ())

    def frames_of(self, kind: str) -> Frames:
        """The sentences for a kind, the general ones where it has none."""
        return self.frames.get(kind) or self.frames["any"]

    def mode(self, kind: str, mode: str, assertion: str) -> Mode:
        """The sentences for a mode of a kind; where it has none, those for its assertion, or the general ones."""
        own = self.frames_of(kind).modes
        found = own.get(mode) or own.get(assertion)
        if found is None or found.assertion != assertion:
            general = self.frames["any"].modes
            found = general.get(mode) or general[assertion]
            if found.assertion != assertion:
                found = general[assertion]
        return found


@functools.cache
def shipped_banks() -> Banks:
    """The banks that come with the package."""
    total = hashlib.sha256()
    data: dict[str, Any] = {}
    for path in sorted(FOLDER.rglob("*.toml")):
        raw = path.read_bytes()
        total.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + raw)
        data[path.relative_to(FOLDER).with_suffix("").as_posix()] = tomllib.loads(raw.decode())
    frames = [_frames(table) for name, table in data.items() if name.startswith("frames/")]
    names: dict[str, Name] = {}
    pools: dict[str, tuple[Pattern, ...]] = {}
    fillers: dict[str, Sentences] = {}
    for name, table in data.items():
        if name.startswith("names/"):
            for group in table.values():
                for concept, forms in group.items():
                    _add_name(names, concept, forms)
        elif name.startswith("pools"):
            pools.update((pool, _patterns(texts)) for pool, texts in table.items())
        elif name.startswith("fillers/"):
            for role, by_register in table.items():
                fillers[role] = _joined(fillers.get(role, {}), _sentences(by_register))
    layouts = data["layouts"]
    return Banks(
        frames={one.kind: one for one in frames},
        details={slot: _sentences(table) for slot, table in data["details"].items()},
        hedges=_sentences(data["hedges"]),
        names=names,
        results={word: tuple(forms) for word, forms in data["results"].items()},
        pools=pools,
        fillers=fillers,
        layouts={
            kind: tuple(tuple(one.split()) for one in table["layouts"]) for kind, table in layouts["types"].items()
        },
        words={kind: table["words"] for kind, table in layouts["types"].items()},
        routes={key: tuple(roles.split()) for key, roles in layouts["routes"].items()},
        quiet=frozenset(layouts["quiet"]),
        implied=frozenset(data["implied"]["words"]),
        always_implied=frozenset(data["implied"]["always"]),
        houses=tuple(_house(table) for table in data["houses"]["house"]),
        british=data["spelling"]["british"],
        distractors=_sentences(data["distractors"]["sentences"]),
        notices={role: _patterns(texts) for role, texts in data["notices"].items()},
        sha256=total.hexdigest(),
    )


def _patterns(texts: Any) -> tuple[Pattern, ...]:
    return tuple(compile_pattern(text) for text in texts)


def _sentences(table: Mapping[str, Any]) -> dict[str, tuple[Pattern, ...]]:
    """Patterns by register; those under "any" are of each."""
    common = _patterns(table.get("any", ()))
    found = {register: _patterns(table.get(register, ())) + common for register in REGISTERS}
    every = tuple(pattern for patterns in found.values() for pattern in patterns)
    return {register: patterns or every for register, patterns in found.items()}


def _joined(one: Sentences, other: Sentences) -> dict[str, tuple[Pattern, ...]]:
    return {register: (*one.get(register, ()), *other.get(register, ())) for register in REGISTERS}


def _frames(table: Mapping[str, Any]) -> Frames:
    """The frames of one file."""
    modes: dict[str, Mode] = {}
    for name, mode in table["modes"].items():
        several = mode.get("several")
        modes[name] = Mode(mode["assertion"], _sentences(mode), _sentences(several) if several else {})
    items = {shape: _sentences(forms) for shape, forms in table.get("items", {}).items()}
    return Frames(table["kind"], tuple(table.get("must", ())), items, modes)


def _add_name(names: dict[str, Name], concept: str, forms: list[str]) -> None:
    """Enter a concept: "~" marks a short form, "=" another spelling by which it is looked up and never written."""
    full = tuple(form for form in forms if form[0] not in "~=")
    brief = tuple(form[1:] for form in forms if form[0] == "~")
    name = Name(full or (concept,), brief)
    names[concept.casefold()] = name
    for form in forms:
        names.setdefault(form.lstrip("~=").casefold(), name)


def _house(table: Mapping[str, Any]) -> House:
    """One hospital."""
    parts = {
        part: {key: tuple(texts) for key, texts in table.get(part, {}).items()}
        for part in ("headings", "titles", "types")
    }
    settings = {key: value for key, value in table.items() if key not in parts}
    return House(table["name"], settings, parts["headings"], parts["titles"], parts["types"])
