"""The synthetic corpus as files: notes, facts, gold places and labels, made block by block and resumed.

Patients are made in blocks, each by one process. A block is finished when its last file stands; a run that was broken
off goes on with the blocks that are missing, and the end is the same. Files belong to their owner alone.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from ....kb.errors import NotWritable, UsageError
from ....kb.files.foreign_names import name_for_libraries
from ....kb.skin.progress import bar
from .courses.simulate import FULL_SIZE, course
from .gold import abstraction
from .hands import HANDS
from .writing.banks import shipped_banks
from .writing.notes import WrittenNote

#: What a corpus consists of, besides its manifest and its labels.
FILES: Final = ("notes.jsonl", "facts.jsonl", "gold.jsonl")
_BLOCK: Final = 16
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What a corpus is determined by."""

    patients: int
    documents: int | None
    seed: int
    length: float
    made_by: str
    hand: str = "first"


# What a corpus is like and how it is written, each by its name and with a default, as the command has it.
def write_corpus(
    folder: str | os.PathLike[str],
    *,
    patients: int = FULL_SIZE,
    documents: int | None = None,
    seed: int = 0,
    length: float = 1.0,
    hand: str = "first",
    workers: int = 1,
    labels: bool = True,
    command: str = "",
    progress: bool | None = None,
) -> dict[str, Any]:
    """Write a corpus of ``patients`` into ``folder`` and return its manifest.

    ``documents`` is how many notes are aimed at: visits at which nothing new was found are left out evenly, never any
    that says something new, so that there may be more. ``length`` multiplies the words of a note; ``hand`` (one of
    ``HANDS``) is whose words and layouts they are. A folder that holds the same corpus is left as it is, one in which
    it was begun is finished. UsageError for settings that make no sense, or a folder with another corpus or with files
    of its names that this did not write; NotWritable where nothing can be written.
    """
    if patients < 1 or workers < 1 or not 0 < length <= 20 or (documents is not None and documents < 1):
        raise UsageError("a corpus needs at least one patient, document and worker, and a length between 0 and 20")
    if hand not in HANDS:
        raise UsageError(f"no hand is called {hand[:40]!r}. Hint: they are {', '.join(HANDS)}")
    where = Path(folder)
    settings = Settings(patients, documents, seed, length, _made_by(), hand)
    try:
        finished = _prepared(where, settings)
        if finished is not None and (not labels or "labels.jsonl" in finished["files"]):
            return finished
        if finished is None:
            finished = _manifest(where, settings, _blocks(where, settings, workers, progress), command)
        if labels:
            from .corpus_labels import write_labels

            finished["labels"] = write_labels(where / "facts.jsonl", where / "labels.jsonl", progress=progress)
            finished["files"]["labels.jsonl"] = _described(where / "labels.jsonl")
            _write_json(where / "manifest.json", finished)
    except OSError as error:
        raise NotWritable(f"the corpus cannot be written to {where}: {error.strerror}") from error
    return finished


def _prepared(where: Path, settings: Settings) -> dict[str, Any] | None:
    """Make the folder ready; the manifest when the corpus is already whole."""
    # Its knowledge base is made last.
    name_for_libraries(where)
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    manifest = where / "manifest.json"
    begun = where / "blocks" / "settings.json"
    for path in (manifest, begun):
        if path.exists():
            held = json.loads(path.read_text(encoding="utf-8"))
            if held.get("settings") != asdict(settings):
                raise UsageError(
                    f"{where} holds a corpus of other settings or of another version. Hint: give an empty folder"
                )
    if not manifest.exists() and not begun.exists():
        foreign = [name for name in (*FILES, "labels.jsonl") if (where / name).exists()]
        if foreign:
            raise UsageError(f"{where} holds a {foreign[0]} that is of no corpus. Hint: give an empty folder")
    if manifest.exists():
        whole: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
        if all((where / name).exists() for name in FILES):
            return whole
    begun.parent.mkdir(mode=0o700, exist_ok=True)
    _write_json(begun, {"settings": asdict(settings)})
    manifest.unlink(missing_ok=True)
    return None


def _blocks(where: Path, settings: Settings, workers: int, progress: bool | None) -> list[Path]:
    """Make all blocks that are not finished; their folders in order."""
    share = _share(settings)
    count = -(-settings.patients // _BLOCK)
    folders = [where / "blocks" / f"{number:05d}" for number in range(count)]
    todo = [number for number, path in enumerate(folders) if not (path / "block.json").exists()]
    tasks = [(str(folders[number]), number, settings, share) for number in todo]
    with bar(progress) as shown:
        shown.step("writing patients", settings.patients)
        shown.advance((count - len(todo)) * _BLOCK)
        for _ in _done(tasks, min(workers, max(1, len(todo)))):
            shown.advance(_BLOCK)
    return folders


def _done(tasks: list[tuple[str, int, Settings, float]], workers: int) -> Iterator[None]:
    """Do the tasks in so many processes."""
    if workers == 1:
        yield from map(_write_block, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(_write_block, tasks)


def _write_block(task: tuple[str, int, Settings, float]) -> None:
    """Make the patients of one block."""
    folder, number, settings, share = Path(task[0]), task[1], task[2], task[3]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    types: Counter[str] = Counter()
    words: list[int] = []
    with _Files(folder) as files:
        for index in range(number * _BLOCK, min(settings.patients, (number + 1) * _BLOCK)):
            simulated = course(index, settings.seed)
            if share < 1.0:
                from .thinning import thinned

                simulated = thinned(simulated, share, settings.seed)
            notes = HANDS[settings.hand](simulated, settings.seed, settings.length)
            for encounter, note in zip(simulated.encounters, notes, strict=True):
                files.write("notes.jsonl", note.record())
                files.write("gold.jsonl", note.gold())
                types[encounter.type] += 1
                words.append(len(note.text.split()))
            written = _written(notes)
            files.write("facts.jsonl", abstraction(simulated, written))
            counts["patients"] += 1
            counts["documents"] += len(notes)
            counts["facts"] += len(written)
            counts["facts not stated"] += len(simulated.facts) - len(written)
    _write_json(folder / "block.json", {"counts": counts, "types": types, "words": words})


def _written(notes: Iterable[WrittenNote]) -> dict[int, tuple[list[str], str]]:
    """For each fact that the notes state: their ids, and the words of the first."""
    found: dict[int, tuple[list[str], str]] = {}
    for note in notes:
        for place in note.places:
            if place.mark.what != "statement" or place.mark.role != "fact":
                continue
            for about in place.mark.about:
                documents, _ = found.setdefault(about, ([], note.text[place.start : place.end]))
                if note.doc_id not in documents:
                    documents.append(note.doc_id)
    return found


def _manifest(where: Path, settings: Settings, folders: list[Path], command: str) -> dict[str, Any]:
    """Join the blocks, take them away, and say what was made."""
    counts: Counter[str] = Counter()
    types: Counter[str] = Counter()
    words: list[int] = []
    for name in FILES:
        part = where / f"{name}.part"
        with _owned(part) as joined:
            for folder in folders:
                with (folder / name).open("rb") as one:
                    shutil.copyfileobj(one, joined)
        part.replace(where / name)
    for folder in folders:
        block = json.loads((folder / "block.json").read_text(encoding="utf-8"))
        counts.update(block["counts"])
        types.update(block["types"])
        words.extend(block["words"])
    words.sort()
    made = {
        "format": _FORMAT,
        "fictional": True,
        "settings": asdict(settings),
        "command": command,
        "versions": {"package": _version(), "banks": shipped_banks().sha256},
        "counts": dict(counts),
        "types": dict(types.most_common()),
        "words": {
            "mean": round(sum(words) / max(1, len(words)), 1),
            **{f"p{share}": words[min(len(words) - 1, len(words) * share // 100)] for share in (5, 25, 50, 75, 95, 99)},
            "most": words[-1],
            "all": sum(words),
        },
        "files": {name: _described(where / name) for name in FILES},
    }
    _write_json(where / "manifest.json", made)
    shutil.rmtree(where / "blocks")
    return made


def _share(settings: Settings) -> float:
    """The share of the simulated visits that are to be kept."""
    if settings.documents is None:
        return 1.0
    simulated = sum(len(course(index, settings.seed).encounters) for index in range(settings.patients))
    return min(1.0, settings.documents / max(1, simulated))


class _Files:
    """The files of a block, open for writing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, BinaryIO] = {}

    def __enter__(self) -> _Files:
        self._open = {name: _owned(self._folder / name) for name in FILES}
        return self

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        """Append a line."""
        self._open[name].write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.close()


def _owned(path: Path) -> BinaryIO:
    """A new file of the owner alone."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _write_json(path: Path, value: Any) -> None:
    """Write a small file at once."""
    part = path.with_name(path.name + ".part")
    with _owned(part) as file:
        file.write(json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n")
    part.replace(path)


def _described(path: Path) -> dict[str, Any]:
    """Size and hash of a file."""
    total = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            total.update(part)
            size += len(part)
    return {"bytes": size, "sha256": total.hexdigest()}


def _version() -> str:
    from ....kb.version import __version__

    return __version__


def _made_by() -> str:
    """The hash of everything that makes courses and notes: code and data of this folder."""
    here = Path(__file__).parent
    total = hashlib.sha256()
    for path in sorted(here.rglob("*")):
        if path.suffix in (".py", ".toml") and path.name not in ("variety.py", "corpus_labels.py"):
            total.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()
