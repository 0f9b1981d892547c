"""The workshop of a run: systems over its notes; knowledge bases and indexes are built once and kept in its folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from ...engine.api import OpenKb
from ...engine.api import open as open_kb
from ...ingest.run.pipeline import run_ingest
from ...kb.model import Note, World
from ..bank.acr.labels import Labels
from ..baselines.systems.contract import System
from ..baselines.systems.corpus import Corpus
from ..baselines.systems.engine import AskedBy, EngineSystem
from .questions import bank_questions
from .settings import EngineSetting, LexicalSetting, ReaderSetting, RetrieverSetting, Setting, retriever_of

if TYPE_CHECKING:
    from ..baselines.retrieval.chunks import Chunks
    from ..baselines.retrieval.encoders import Encoder
    from ..baselines.retrieval.retriever import Retriever

#: Beside what was built: of which notes, and what it cost.
_BUILT: Final = "built.json"
#: Cuts that were tuned once, by the name of the system.
TUNED: Final = Path(__file__).parent.parent / "baselines" / "retrieval" / "tuned"


@dataclass(frozen=True, slots=True)
class Made:
    """A system of a run. ``index`` tells what was built for it: what it is, seconds, bytes, and counts."""

    system: System
    kind: str
    index: Mapping[str, Any]


class Workshop:
    """Builds what systems need, each thing once; a context manager that closes what it opened."""

    def __init__(
        self,
        folder: Path,
        corpus: Corpus,
        *,
        known: Sequence[Setting] = (),
        kb: Path | None = None,
        tuning: tuple[Corpus, Labels] | None = None,
        workers: int = 1,
    ) -> None:
        """``known``: the settings among which a reader finds its retriever. ``kb``: a knowledge base of these notes
        that is there already; by default one is made in ``folder``. ``tuning``: notes and labels of other patients, on
        which retrievers are cut; by default as it was found once and is shipped.
        """
        self._folder = folder
        self._corpus = corpus
        self._known = known
        self._kb = kb
        self._tuning = tuning
        self._workers = workers
        self._open = ExitStack()
        self._held: dict[str, tuple[Any, Mapping[str, Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def make(self, setting: Setting) -> Made:
        """The system of a setting. UsageError where something that it needs is not there."""
        match setting:
            case EngineSetting():
                return self._engine(setting)
            case RetrieverSetting() | LexicalSetting():
                retriever, index = self._retriever(setting)
                return Made(retriever, "control" if setting.kind == "lexical" else "retriever", index)
            case ReaderSetting():
                return self._reader(setting)

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
            self._record_built(place, built)
        kb = self._open.enter_context(open_kb(place))
        return kb, {"what": "knowledge base", "bytes": _bytes(place), **built, **_counts(kb)}

    # --- retrievers and readers -------------------------------------------------------------------------------------

    def _retriever(self, setting: RetrieverSetting | LexicalSetting) -> tuple[Retriever, Mapping[str, Any]]:
        return self._once(f"retriever/{setting.name}", lambda: self._cut_retriever(setting))

    def _cut_retriever(self, setting: RetrieverSetting | LexicalSetting) -> tuple[Retriever, Mapping[str, Any]]:
        retriever, index = self._searching(setting, self._corpus, self._folder)
        if setting.share is not None:
            from ..baselines.retrieval.grouping import Cut

            return retriever.with_cut(Cut(share=setting.share)), index
        if self._tuning is not None:
            from ..baselines.retrieval.tuning import save_choice, tune

            corpus, labels = self._tuning
            other, _ = self._searching(setting, corpus, self._folder / "tuning")
            choice = tune(other, bank_questions(), labels, way=setting.way)
            kept = self._folder / "tuned"
            kept.mkdir(mode=0o700, exist_ok=True)
            save_choice(choice, kept / f"{setting.name}.json")
            return retriever.with_cut(choice.cut, choice.signature()), index
        shipped = TUNED / f"{setting.name}.json"
        if shipped.is_file():
            from ..baselines.retrieval.tuning import load_choice

            return retriever.with_cut(*load_choice(shipped)), index
        return retriever, index

    def _searching(
        self, setting: RetrieverSetting | LexicalSetting, corpus: Corpus, folder: Path
    ) -> tuple[Retriever, Mapping[str, Any]]:
        """A retriever that is not cut yet, and what its index took."""
        from ..baselines.retrieval.nearest import IndexSettings
        from ..baselines.retrieval.retriever import dense, lexical

        chunks = self._chunks(setting, corpus)
        if isinstance(setting, LexicalSetting):
            made = lexical(chunks, name=setting.name)
            return made, {"what": "BM25", **made.cost()}
        named = [setting.encoder, setting.precision, *([Path(setting.directory).name] if setting.directory else [])]
        place = folder / "vectors" / "-".join(named)
        made = dense(
            chunks,
            self._encoder(setting),
            place,
            IndexSettings(kind=setting.index),
            name=setting.name,
        )
        return made, {"what": f"FAISS {setting.index}", **made.cost(), **self._encoding(place, made)}

    def _encoding(self, place: Path, made: Retriever) -> dict[str, Any]:
        """What encoding took over all the runs that it took: chunks, seconds, and how many a second."""
        cost = self._built(place) or {"encoded": 0, "encoding_seconds": 0.0}
        if made.built is not None and made.built.encoded:
            cost["encoded"] += made.built.encoded
            cost["encoding_seconds"] += made.built.seconds
            self._record_built(place, cost)
        seconds = cost["encoding_seconds"]
        return {**cost, "chunks_a_second": cost["encoded"] / seconds if seconds else None}

    def _chunks(self, setting: RetrieverSetting | LexicalSetting, corpus: Corpus) -> Chunks:
        from ..baselines.retrieval.chunks import split

        chunks: Chunks = self._once(
            f"chunks/{setting.encoder}/{setting.directory}/{corpus.sha256}",
            lambda: (split(corpus, self._encoder(setting)), {}),
        )[0]
        return chunks

    def _encoder(self, setting: RetrieverSetting | LexicalSetting) -> Encoder:
        from ..baselines.retrieval.configured import encoder_named
        from ..baselines.retrieval.encoders import Machine

        def made() -> tuple[Encoder, Mapping[str, Any]]:
            encoder = encoder_named(
                setting.encoder,
                Path(setting.directory) if setting.directory else None,
                Machine(setting.device, setting.precision, os.cpu_count()),
            )
            return encoder, {}

        key = f"encoder/{setting.encoder}/{setting.directory}/{setting.precision}/{setting.device}"
        encoder: Encoder = self._once(key, made)[0]
        return encoder

    def _reader(self, setting: ReaderSetting) -> Made:
        from ...kb.endpoint.kept import KeptAnswers
        from ..baselines.reading import settings as reader_settings
        from ..baselines.reading.offline_reader import OfflineReader
        from ..baselines.reading.reader import Reader

        retriever, index = self._retriever(retriever_of(setting, self._known))
        if setting.endpoint == "offline":
            environment: Mapping[str, str] = self._open.enter_context(OfflineReader()).environment()
        else:
            environment = os.environ
        replies = self._folder / "replies"
        replies.mkdir(mode=0o700, exist_ok=True)
        reader = Reader(
            retriever,
            self._corpus,
            reader_settings.endpoint(environment),
            replace(reader_settings.ReaderOptions(), prices=reader_settings.prices(environment)),
            KeptAnswers(replies / f"{setting.name}.jsonl"),
            name=setting.name,
        )
        return Made(reader, "reader", index)

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

    def _record_built(self, place: Path, cost: Mapping[str, Any]) -> None:
        record = {"corpus": self._corpus.sha256, "cost": cost}
        (place.parent / f"{place.name}.{_BUILT}").write_text(json.dumps(record), encoding="utf-8")


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
    return {"patients": info["patients"], "notes": info["notes"], "events": sum(info["events"].values())}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
