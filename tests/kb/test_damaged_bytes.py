"""Whatever becomes of the bytes of a knowledge base, it gives the answers that it gave, or says that it is damaged.

Every kind of file is damaged at every class of byte (headers, offsets, payload, padding, the end), cut short, emptied,
lengthened, removed, swapped with another and replaced by another generation's; `make test` takes a few of each.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cohortium
from cohortium.engine.verification import verify
from cohortium.kb.check.checking import check_kb
from cohortium.kb.check.repair import repair_index
from cohortium.kb.errors import DamagedIndex, DamagedKb, MissingKb, SqlError
from cohortium.kb.files.block_digests import BLOCK, digest_of
from cohortium.kb.files.kept_file import KeptFile, Stated
from cohortium.kb.index.arrays import ArrayFile, ArrayWriter, Column
from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.digests import manifest_bytes, read_manifest
from cohortium.kb.storage.layout import Layout
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import GenerationWriter, build_generation
from tests.amounts import ALL, examples
from tests.kb.conftest import ONTOLOGY, SCALES, VALUE_SETS, invent

QUERIES = (
    "diagnosis lung cancer",
    "any diagnosis and not medication osimertinib",
    "medication osimertinib after diagnosis lung adenocarcinoma",
    "diagnosis lung cancer with laterality = left",
    "stage >= II",
    "same tumor (diagnosis lung cancer and diagnosis leukemia)",
    "family history of leukemia",
    "latest any diagnosis",
)
#: What a generation consists of, and what leads to it.
FILES = (
    "CURRENT",
    "PREVIOUS",
    "manifest.json",
    "digests",
    "kb.duckdb",
    *(
        f"index/{name}"
        for name in ("concepts", "events.bin", "events.json", "holdings.json", "lists", "patients", "values.json")
    ),
)
#: Flips of each kind of file, beside what is done to it as a whole.
FLIPS = examples(250) if ALL else 5
_WIDTHS = struct.Struct("<8s6Q")


@dataclasses.dataclass(frozen=True)
class Whole:
    """A knowledge base as it was written, and what it answers."""

    path: Path
    answers: str

    def file(self, name: str, kb: Path | None = None) -> Path:
        """A file of its current generation, or of the same one in a copy."""
        place = kb or self.path
        if name in ("CURRENT", "PREVIOUS"):
            return place / name
        return place / "generations" / str(Layout(self.path).current()) / name

    def other(self, name: str) -> Path:
        """The same file of the generation before."""
        return self.path / "generations" / str(Layout(self.path).previous()) / name


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Two generations, of few patients and of one more, under an ontology that fills several blocks."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "ontology").mkdir()
    more = "".join(f"code_{at}\ttumor\tmade-up tumor of the number {at}\tneoplasm\t\t\t\t\ttest\n" for at in range(500))
    (folder / "ontology" / "all.tsv").write_text(ONTOLOGY + more, encoding="utf-8")
    (folder / "ontology" / "other.tsv").write_text("british\tamerican\nx\ty\n", encoding="utf-8")
    (folder / "ontology" / "value_sets.toml").write_text(VALUE_SETS, encoding="utf-8")
    given: dict[str, Any] = {"concepts": ConceptTable.from_files(folder / "ontology"), "scales": Scales(SCALES)}
    journeys = [invent(f"TCGA-44-{number}") for number in range(5640, 5652)] + [Journey("P1")]
    build_generation(folder / "x.kb", journeys, **given)
    build_generation(folder / "x.kb", [*journeys, invent("TCGA-44-5700")], **given)
    return Whole(folder / "x.kb", answers_of(folder / "x.kb"))


def answers_of(path: Path) -> str:
    """All that the questions of this file are answered."""
    told: list[Any] = []
    with cohortium.open(path) as kb:
        told.append([kb.patients, {**kb.info(), "generations": []}])
        for query in QUERIES:
            cohort = kb.find(query)
            members = sorted(cohort)
            told.append([query, members, sorted(cohort.certain), sorted(cohort.possible)])
            told.append([repr(cohort.explain(patient)) for patient in members[:2]])
        told.append([row.name for row in kb.concepts.rows()])
        told.append(repr(kb.find(QUERIES[0]).why_not("P1")))
        told.append(repr(kb.journey("TCGA-44-5644")))
        told.append(verify(kb, QUERIES[2], ["TCGA-44-5641"], read_again=False).as_dict())
    return json.dumps(told, default=str)


def outcome(path: Path, whole: Whole) -> str:
    """``same`` or ``damaged``, if all is well; whatever else is raised is an error."""
    try:
        found = answers_of(path)
    except DamagedKb as error:
        return "damaged" if "Hint: " in str(error) else f"no hint: {error}"
    return "same" if found == whole.answers else "other"


@pytest.fixture(scope="module")
def copy(whole: Whole, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A function to a fresh copy of the knowledge base, whose files are links until they are written anew."""
    place = tmp_path_factory.mktemp("copies")
    numbers = iter(range(1_000_000))

    def make() -> Path:
        path = place / f"{next(numbers)}.kb"
        for old in place.iterdir():
            shutil.rmtree(old)
        # Linked: to copy them takes longer than what is asked of them.
        shutil.copytree(whole.path, path, copy_function=lambda one, other: Path(other).hardlink_to(one))
        return path

    return make


def put(path: Path, data: bytes | None) -> None:
    """Other bytes in the place of a file, which may be linked from elsewhere; None removes it."""
    path.unlink()
    if data is not None:
        path.write_bytes(data)


def places(name: str, file: Path, draw: random.Random) -> Iterator[int]:
    """Places of bytes, of every class that the file has."""
    size = file.stat().st_size
    classes = [range(min(64, size)), range(max(0, size - 64), size), range(size)]
    if name == "index/events.bin":
        arrays = json.loads(file.with_suffix(".json").read_text())["arrays"]
        for kind, length, offset in arrays.values():
            end = offset + length * int(kind[2:])
            classes += [range(offset, end), range(end, min(size, -(-end // 64) * 64))]
    elif name in ("index/lists", "index/patients"):
        _, first, second, *_ = _WIDTHS.unpack(file.read_bytes()[: _WIDTHS.size])
        directory = first if name == "index/lists" else second
        classes += [range(_WIDTHS.size, directory), range(directory - 8, directory), range(directory, size)]
    elif name == "kb.duckdb":
        # Three headers, then blocks: of each its checksum and what follows.
        for at in (0, 4096, 8192, *range(12_288, size, 262_144)):
            classes += [range(at, at + 8), range(at + 8, at + 200), range(at + 200, min(size, at + 4096))]
    classes = [one for one in classes if one]
    while True:
        yield draw.choice(draw.choice(classes))


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits(whole: Whole, copy: Callable[[], Path], name: str) -> None:
    """A flipped bit, and a byte of other bits, at every class of byte."""
    draw = random.Random(name)
    data = whole.file(name).read_bytes()
    at = places(name, whole.file(name), draw)
    outcomes = set()
    # Nothing that is asked here depends on the previous one.
    for _ in range(1 if name == "PREVIOUS" else FLIPS):
        place, damaged = next(at), bytearray(data)
        damaged[place] ^= draw.choice([1 << draw.randrange(8), 0xFF, draw.randrange(1, 256)])
        path = copy()
        put(whole.file(name, path), bytes(damaged))
        outcomes.add(outcome(path, whole))
    assert outcomes <= {"same", "damaged"}
    assert not ALL or ("damaged" in outcomes) == (name != "PREVIOUS")


@pytest.mark.parametrize("name", FILES)
def test_files_cut_short_lengthened_removed_swapped_and_of_another_generation(
    whole: Whole, copy: Callable[[], Path], name: str
) -> None:
    """What becomes of a file as a whole."""
    draw = random.Random(name)
    data = whole.file(name).read_bytes()
    others = [one for one in FILES if one not in (name, "CURRENT", "PREVIOUS")]
    replaced: list[bytes | None] = [data[:-1], b"", data + b"\0", None]
    replaced += [whole.file(one).read_bytes() for one in (others if ALL else draw.sample(others, 1))]
    replaced += [data[: len(data) // 2], data[:64], data + data[:BLOCK], bytes(len(data))]
    if name not in ("CURRENT", "PREVIOUS"):
        replaced.insert(0, whole.other(name).read_bytes())
    for damaged in replaced if ALL else replaced[: 2 if name == "PREVIOUS" else 6]:
        path = copy()
        put(whole.file(name, path), damaged)
        if (name, damaged) == ("CURRENT", None):
            with pytest.raises(MissingKb):
                answers_of(path)
            continue
        assert outcome(path, whole) in ("same", "damaged")
    if name in ("CURRENT", "PREVIOUS"):
        return
    path, other = copy(), draw.choice(others)
    put(whole.file(name, path), whole.file(other).read_bytes())
    put(whole.file(other, path), data)
    assert outcome(path, whole) == "damaged"


def test_positions_of_a_column_ascend(whole: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    """All bytes between the first position and the last are proven: whoever reads a column asks for ascending ones."""
    asked = []
    given = Column.__getitem__

    def watched(column: Column, part: Any) -> Any:
        asked.append(part)
        assert isinstance(part, slice) or (part[1:] >= part[:-1]).all()
        return given(column, part)

    monkeypatch.setattr(Column, "__getitem__", watched)
    assert outcome(whole.path, whole) == "same"
    assert any(not isinstance(part, slice) and len(part) > 1 for part in asked)


def test_blocks_that_change_places(whole: Whole, copy: Callable[[], Path]) -> None:
    """Two blocks of the index that lie in each other's place are found, although each is whole."""
    data = bytearray(whole.file("index/concepts").read_bytes())
    data[:BLOCK], data[BLOCK : 2 * BLOCK] = data[BLOCK : 2 * BLOCK], data[:BLOCK]
    path = copy()
    put(whole.file("index/concepts", path), bytes(data))
    assert outcome(path, whole) == "damaged"


def test_what_is_damaged_is_found_by_a_quick_check(whole: Whole, copy: Callable[[], Path]) -> None:
    """A flipped bit in each kind of file, with what to do; of the index that is --repair."""
    draw = random.Random(0)
    for name in FILES if ALL else ["CURRENT", "manifest.json", "kb.duckdb", "index/patients", "digests"]:
        if name == "PREVIOUS":
            continue
        data = bytearray(whole.file(name).read_bytes())
        data[draw.randrange(len(data))] ^= 1
        path = copy()
        put(whole.file(name, path), bytes(data))
        report = check_kb(path, quick=True, progress=False)
        assert not report.sound, name
        if name.startswith("index/"):
            assert any(finding.example.startswith(name) for finding in report.findings), name
            assert all("--repair" in finding.advice for finding in report.findings if finding.part == "index")


@pytest.mark.parametrize("held", ["../../../other.kb/generations/0123456789abcdef", "..", "/etc", "a" * 10_000, ""])
def test_a_pointer_that_leads_elsewhere_is_refused(whole: Whole, copy: Callable[[], Path], held: str) -> None:
    """It names a generation of this knowledge base by its plain name, or nothing is opened, and nothing removed."""
    path = copy()
    kept = Layout(path).generations()
    put(path / "CURRENT", held.encode())
    with pytest.raises(DamagedKb, match=r"CURRENT .* is damaged.*Hint: ") as caught:
        cohortium.open(path)
    assert caught.value.exit_code == 10
    with pytest.raises(DamagedKb), Layout(path).writing():
        pass
    assert Layout(path).generations() == kept


@pytest.mark.parametrize("name", ["CURRENT", "manifest.json"])
@pytest.mark.parametrize("special", ["pipe", "device", "folder"])
def test_what_is_no_regular_file_is_not_waited_for(
    whole: Whole, copy: Callable[[], Path], name: str, special: str
) -> None:
    """A pipe, a device without end and a folder are damage, at once."""
    path = copy()
    file = whole.file(name, path)
    file.unlink()
    if special == "pipe":
        os.mkfifo(file)
    elif special == "device":
        file.symlink_to("/dev/zero")
    else:
        file.mkdir()
    assert outcome(path, whole) == "damaged"


FORGED: dict[str, Callable[[Any], object]] = {
    "files as a list": lambda told: told.update(files=[1]),
    "files as nothing": lambda told: told.update(files=None),
    "files as text": lambda told: told.update(files="x"),
    "bytes as text": lambda told: told["files"]["kb.duckdb"].update(bytes="9"),
    "bytes without end": lambda told: told["files"]["index/patients"].update(bytes=float("inf")),
    "no bytes": lambda told: told["files"]["index/patients"].pop("bytes"),
    "a number for a file": lambda told: told["files"].update({"index/patients": 3}),
    "no checksum": lambda told: told["files"]["index/patients"].update(sha256=None),
    "a name that leads out": lambda told: told["files"].update({"../x": {"bytes": 1, "sha256": "x", "blocks": 1}}),
    "a name that is none": lambda told: told["files"].update({"a\0b": {"bytes": 1, "sha256": "x", "blocks": 1}}),
    "a truth for a version": lambda told: told.update(schema_version=True),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_a_signed_manifest_of_another_shape_is_damage(
    whole: Whole, copy: Callable[[], Path], forge: Callable[[Any], object]
) -> None:
    """Its digest fits, and what it tells is none: told when opened, when checked, and by a repair."""
    path = copy()
    file = whole.file("manifest.json", path)
    told, _ = read_manifest(file.read_bytes())
    forge(told)
    put(file, manifest_bytes(json.dumps(told)))
    assert outcome(path, whole) == "damaged"
    assert not check_kb(path, quick=True, progress=False).sound
    with pytest.raises(DamagedKb):
        repair_index(path)


def test_free_sql_over_damaged_tables(whole: Whole, copy: Callable[[], Path]) -> None:
    """A block that does not fit its checksum is damage, and not the statement's fault; a wrong statement stays one."""
    statement = "SELECT count(*), sum(length(text)) FROM note_texts"
    with cohortium.open(whole.path) as kb:
        sound = kb.sql(statement).to_pylist()
    size = whole.file("kb.duckdb").stat().st_size
    blocks = range(12_288, size, 262_144)
    outcomes = set()
    for at in blocks if ALL else blocks[:1]:
        data = bytearray(whole.file("kb.duckdb").read_bytes())
        data[at + 5_000] ^= 1
        path = copy()
        put(whole.file("kb.duckdb", path), bytes(data))
        with cohortium.open(path) as kb:
            try:
                assert kb.sql(statement).to_pylist() == sound
                outcomes.add("same")
            except DamagedKb:
                outcomes.add("damaged")
            with pytest.raises((SqlError, DamagedKb)):
                kb.sql("SELECT no_column FROM note_texts")
    assert outcomes <= {"same", "damaged"}
    assert "damaged" in outcomes


def test_damage_goes_into_no_export(whole: Whole, copy: Callable[[], Path], tmp_path: Path) -> None:
    """An export of damaged tables is refused before a folder is made."""
    data = bytearray(whole.file("kb.duckdb").read_bytes())
    data[-10] ^= 4
    path = copy()
    put(whole.file("kb.duckdb", path), bytes(data))
    with cohortium.open(path) as kb, pytest.raises(DamagedKb, match=r"kb\.duckdb is not as it was written"):
        kb.export(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_damage_goes_into_no_other_generation(whole: Whole, copy: Callable[[], Path]) -> None:
    """An update of damaged tables is refused before any row is copied."""
    path = copy()
    data = bytearray(whole.file("kb.duckdb").read_bytes())
    data[-10] ^= 4
    put(whole.file("kb.duckdb", path), bytes(data))
    with KnowledgeBase.open(path) as before, GenerationWriter(path) as writer:
        writer.add([invent("P9")])
        with pytest.raises(DamagedKb, match=r"kb\.duckdb is not as it was written \(the block at byte"):
            writer.copy_others(before)


def test_parts_of_a_column_are_proven_where_they_are_read(tmp_path: Path) -> None:
    """Of an array of many blocks one is damaged: what does not touch it is given, and what does is not."""
    writer = ArrayWriter(tmp_path, "made")
    writer.add("before", np.arange(1000), "<u4")
    writer.add("numbers", np.arange(100_000), "<u4")
    writer.finish({})
    digests = {name: digest_of(tmp_path / name) for name in ("made.bin", "made.json")}
    data = bytearray((tmp_path / "made.bin").read_bytes())
    offset = json.loads((tmp_path / "made.json").read_text())["arrays"]["numbers"][2]
    wrong = 50_000
    data[offset + wrong * 4 + 1] ^= 2
    (tmp_path / "made.bin").write_bytes(data)

    def files(name: str) -> KeptFile:
        digest = digests[name]
        return KeptFile(
            tmp_path / name,
            Stated(name, digest.size, digest.sha256, lambda: memoryview(digest.blocks).cast("I"), DamagedIndex),
        )

    first = ((offset + wrong * 4) // BLOCK * BLOCK - offset) // 4
    last = first + BLOCK // 4
    draw = random.Random(1)
    for _ in range(200):
        column = ArrayFile(files, "made").column("numbers")
        low, high = sorted(draw.sample(range(100_000), 2))
        few = sorted(draw.sample(range(low, high + 1), min(draw.randrange(6), high - low)))
        part = draw.choice([slice(low, high), np.array(few, dtype=np.int64)])
        touched = range(100_000)[part] if isinstance(part, slice) else few
        # Of positions that lie near each other all between them is proven.
        near = not isinstance(part, slice) and bool(few) and (few[-1] + 1 - few[0]) * 4 // BLOCK < len(few)
        if any(first <= one < last for one in touched):
            with pytest.raises(DamagedIndex):
                column[part]
        elif not near:
            assert column[part].tolist() == list(touched)
    with pytest.raises(DamagedIndex):
        ArrayFile(files, "made").array("numbers")
    assert ArrayFile(files, "made").array("before").tolist() == list(range(1000))
