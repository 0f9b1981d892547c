"""Makes the systems of a run over its notes: knowledge bases and indexes are built once and kept in its folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from ...engine.api import OpenKb
from ...engine.api import open as open_kb
from ...ingest.pipeline import run_ingest
from ...kb.model import Note, World
from ..systems.contract import System
from ..systems.corpus import Corpus
from ..systems.engine import AskedBy, EngineSystem
from .settings import EngineSetting, Setting

#: Beside what was built: of which notes, and what it cost.
_BUILT: Final = "built.json"


@dataclass(frozen=True, slots=True)
class Made:
    """A system of a run. ``index`` tells what was built for it: what it is, seconds, bytes, and counts."""

    system: System
    kind: str
    index: Mapping[str, Any]


class Workshop:
    """Builds what systems need, each thing once; a context manager that closes what it opened."""

    def __init__(self, folder: Path, corpus: Corpus, *, kb: Path | None = None, workers: int = 1) -> None:
        """``kb``: a knowledge base of these notes that is there already; by default one is made in ``folder``."""
        self._folder = folder
        self._corpus = corpus
        self._kb = kb
        self._workers = workers
        self._open = ExitStack()
        self._held: dict[str, tuple[Any, Mapping[str, Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def make(self, setting: Setting) -> Made:
        """The system of a setting. UsageError where something that it needs is not there."""
        if isinstance(setting, EngineSetting):
            return self._engine(setting)
        raise NotImplementedError(setting.kind)

    def knowledge_base(self, notes: str = "together") -> OpenKb:
        """The open knowledge base of all records, or (``alone``) of single notes."""
        kb: OpenKb = self._once(f"kb/{notes}", self._kb_of[notes])[0]
        return kb

    def _engine(self, setting: EngineSetting) -> Made:
        kb, index = self._once(f"kb/{setting.notes}", self._kb_of[setting.notes])
        patient_of = None
        if setting.notes == "alone":
            patient_of = {_alone(at): note.patient_id for at, note in enumerate(self._corpus.notes)}
        system = EngineSystem(
            kb,
            setting.name,
            world=World[setting.world.upper()],
            asked_by=AskedBy(setting.asked_by),
            ranked=setting.ranked,
            patient_of=patient_of,
        )
        return Made(system, "engine", index)

    # --- knowledge bases --------------------------------------------------------------------------------------------

    @property
    def _kb_of(self) -> Mapping[str, Callable[[], tuple[OpenKb, Mapping[str, Any]]]]:
        return {"together": self._kb_of_patients, "alone": self._kb_of_notes}

    def _kb_of_patients(self) -> tuple[OpenKb, Mapping[str, Any]]:
        if self._kb is not None:
            kb = self._open.enter_context(open_kb(self._kb))
            return kb, {"what": "knowledge base", "bytes": _bytes(self._kb), **_counts(kb)}
        return self._ingested("patients.kb", ((note.patient_id, note) for note in self._corpus.notes))

    def _kb_of_notes(self) -> tuple[OpenKb, Mapping[str, Any]]:
        return self._ingested("single-notes.kb", ((_alone(at), note) for at, note in enumerate(self._corpus.notes)))

    def _ingested(self, name: str, notes: Iterable[tuple[str, Note]]) -> tuple[OpenKb, Mapping[str, Any]]:
        """The knowledge base of the notes, each under the patient id given with it; made unless it is there."""
        place = self._folder / name
        built = self._built(place)
        if built is None:
            source = place.with_suffix(".jsonl")
            _write_notes(source, notes)
            begun = time.perf_counter()
            report = run_ingest([source], place, workers=self._workers)
            source.unlink()
            built = {"seconds": time.perf_counter() - begun, "notes_in": report.notes_in, "resumed": report.resumed}
            self._tell_built(place, built)
        kb = self._open.enter_context(open_kb(place))
        return kb, {"what": "knowledge base", "bytes": _bytes(place), **built, **_counts(kb)}

    # --- what is there already --------------------------------------------------------------------------------------

    def _once(self, name: str, make: Callable[[], tuple[Any, Mapping[str, Any]]]) -> tuple[Any, Mapping[str, Any]]:
        if name not in self._held:
            self._held[name] = make()
        return self._held[name]

    def _built(self, place: Path) -> dict[str, Any] | None:
        """What was told of a thing that was built of these very notes; None where it must be built."""
        try:
            held: dict[str, Any] = json.loads((place.parent / f"{place.name}.{_BUILT}").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return held["cost"] if held.get("corpus") == self._corpus.sha256 else None

    def _tell_built(self, place: Path, cost: Mapping[str, Any]) -> None:
        told = {"corpus": self._corpus.sha256, "cost": cost}
        (place.parent / f"{place.name}.{_BUILT}").write_text(json.dumps(told), encoding="utf-8")


def _alone(place: int) -> str:
    """The patient id of a note that is read as if it were the only one of its patient."""
    return f"note {place:09d}"


def _write_notes(path: Path, notes: Iterable[tuple[str, Note]]) -> None:
    def lines() -> Iterator[str]:
        for patient, note in notes:
            fields = {
                "patient_id": patient,
                "doc_id": note.doc_id,
                "date": "" if note.date is None else note.date.isoformat(),
                "type": note.type,
                "title": note.title,
                "text": note.text,
            }
            yield json.dumps(fields) + "\n"

    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.writelines(lines())


def _counts(kb: OpenKb) -> dict[str, Any]:
    info = kb.info()
    return {name: info[name] for name in ("patients", "notes", "events") if name in info}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
