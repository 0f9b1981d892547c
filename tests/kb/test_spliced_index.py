"""An update's index is spliced from the one before: the same files, byte for byte, as one made from all tables."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cohortium.kb.index import build, moved, recoded
from cohortium.kb.index.arrays import ArrayFile, ArrayWriter
from cohortium.kb.index.build import build_columns, build_index
from cohortium.kb.index.columns import EVENTS, EventIndex
from cohortium.kb.index.moved import Moved, Unlike
from cohortium.kb.index.splice import Splicing
from cohortium.kb.model import Context, DayInterval, Event, Journey, Temporality, World
from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.sql_files import script, statements
from cohortium.kb.storage import writer as load
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import StagingRows
from cohortium.kb.storage.writer import GenerationWriter, build_generation
from tests.amounts import examples

CONCEPTS = ConceptTable(
    [
        ConceptRow("top", "tumor", "top"),
        ConceptRow("left", "tumor", "left", ("top",)),
        ConceptRow("right", "tumor", "right", ("top",)),
        ConceptRow("bottom", "tumor", "bottom", ("left", "right")),
    ]
)
TURNED = ConceptTable([*CONCEPTS.rows()][::-1])

DAYS = st.sampled_from(
    [None, *(DayInterval(low, low + days) for low in (3, 300, 700_000) for days in (0, 1, 90, 70_000))]
)
VALUES = st.sampled_from(["lung", "", "é", "𝔸", "z", 0.0, -0.0, 2, 1.5, -7])


@st.composite
def events(draw: Callable[..., Any], patient: str) -> Event:
    """An event of few kinds, concepts, days and values: so that some are one patient's alone."""
    context = draw(
        st.sampled_from([Context(), Context(temporality=Temporality.PLANNED), Context(reason="declined"), Context()])
    )
    return Event(
        patient,
        draw(st.sampled_from(["diagnosis", "stage", "medication"])),
        draw(st.sampled_from(["top", "left", "bottom", "stranger", ""])),
        draw(DAYS) or DayInterval(),
        draw(DAYS),
        draw(st.dictionaries(st.sampled_from(["site", "dose"]), VALUES)),
        context,
        draw(st.sampled_from(World)) if context.really_happened else World.NONE,
        draw(st.sampled_from(["", "*", "a", "b"])),
    )


@st.composite
def people(draw: Callable[..., Any]) -> dict[str, Journey]:
    """Some of eight patients, with few events or none."""
    names = draw(st.sets(st.sampled_from("ABCDEFGH")))
    return {name: Journey(name, events=tuple(draw(st.lists(events(name), max_size=4)))) for name in sorted(names)}


@settings(max_examples=examples(40), deadline=None)
@example(
    before={name: Journey(name) for name in "AEH"},
    changed={name: Journey(name) for name in "ABCDH"},
    removed=set(),
    small=True,
)
@given(before=people(), changed=people(), removed=st.sets(st.sampled_from("ABCDEFGH")), small=st.booleans())
def test_splicing_makes_the_columns_that_the_tables_make(
    before: dict[str, Journey], changed: dict[str, Journey], removed: set[str], small: bool
) -> None:
    """Whoever is corrected, added or removed: first, last or all of them, with events or without any."""
    with pytest.MonkeyPatch.context() as patch:
        if small:
            in_small_pieces(patch)
        removed -= changed.keys()
        assert spliced(before, changed, removed) == made({**before, **changed}, removed)


@pytest.mark.parametrize("seed", range(3))
def test_many_patients_whose_codes_grow_and_shrink(seed: int) -> None:
    """Types of columns widen and narrow, attributes turn from a code a row to few rows with codes, and back."""
    draw = random.Random(seed)
    plain = {f"P{number:03}": many(draw, f"P{number:03}", range(3), 5) for number in range(100)}
    rich = {name: many(draw, name, range(290, 310), 5_000) for name in draw.sample(sorted(plain)[1:-1], 8)}
    for before, changed in ((plain, rich), ({**plain, **rich}, {name: plain[name] for name in rich})):
        old, new = types_of(before), types_of({**before, **changed})
        assert old.keys() ^ new.keys() == {"attribute_0_rows", "attribute_1_rows"}
        assert {"ordinal", "span", "tumor", "row_of_event"} <= {name for name in old if old[name] != new.get(name)}
        assert spliced(before, changed, {"P000", "P099"}) == made({**before, **changed}, {"P000", "P099"})


def many(draw: random.Random, name: str, number: range, values: int) -> Journey:
    """A patient with many kinds of everything, when ``values`` is high; doses are then told of every event."""
    return Journey(
        name,
        events=tuple(
            Event(
                name,
                draw.choice(["diagnosis", "medication"]),
                draw.choice(["top", "left", "right", "bottom"]),
                DayInterval(low := draw.randrange(1, values), low + draw.randrange(values)),
                None if draw.random() < 0.9 else DayInterval(low + values, low + 2 * values),
                {"dose": draw.randrange(values)} if values > 100 or draw.random() < 0.1 else {},
                world=draw.choice([*World]),
                tumor=f"t{draw.randrange(values // 5)}",
            )
            for _ in range(draw.choice(number))
        ),
    )


def types_of(journeys: dict[str, Journey]) -> dict[str, str]:
    """The types of the columns that the tables make."""
    directory, _ = made(journeys, set())
    return {name: kind for name, (kind, _, _) in json.loads(directory)["arrays"].items()}


def test_another_order_of_concepts_is_not_spliced() -> None:
    """Rows would have to change places."""
    before = {name: Journey(name, events=(Event(name, "diagnosis", name),)) for name in ("left", "right")}
    with pytest.raises(Unlike, match="order"):
        spliced(before, {}, set(), TURNED)


def test_rows_that_are_not_where_the_index_says_are_not_spliced() -> None:
    """The rows of who goes are found by their events, and must be theirs."""
    before = {name: Journey(name, events=(Event(name, "diagnosis", "top"),)) for name in "ABC"}
    with columns(before.values()) as old, columns([before["B"]]) as fresh:
        old._arrays["patient"] = old.array("patient")[::-1]
        assert Splicing(old, np.array([1]), fresh, np.array([1]), CONCEPTS).events == 3
        with pytest.raises(Unlike, match="rows"):
            Splicing(old, np.array([0]), fresh, np.array([0]), CONCEPTS)


def test_places_move_by_what_goes_and_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether told by old places or new ones, as lists do."""
    draw = np.random.default_rng(5)
    in_small_pieces(monkeypatch)
    for _ in range(200):
        length, much = draw.integers(12), draw.integers(12)
        gone = np.flatnonzero(draw.random(length) < 0.3)
        before = np.sort(draw.integers(0, length + 1, much))
        expected: list[int] = []
        for old in range(length + 1):
            expected += [-1] * int((before == old).sum())
            expected += [old] if old < length and old not in gone else []
        by_old = Moved(length, gone, before)
        places = np.full(by_old.length, -1)
        for at, to in by_old.stretches():
            places[to] = np.arange(length)[at]
        assert places.tolist() == expected
        assert by_old.come.tolist() == [at for at, old in enumerate(expected) if old < 0]
        stay = np.array([old for old in expected if old >= 0], dtype=np.int64)
        assert by_old.to(stay).tolist() == [expected.index(old) for old in stay.tolist()]
        by_new = Moved.by_new_places(length, gone, by_old.come)
        assert (by_new.length, by_new.to(stay).tolist()) == (by_old.length, by_old.to(stay).tolist())
        low, high = sorted(draw.integers(0, length + 1, 2).tolist())
        some = [place for at, _ in by_old.stretches(low, high) for place in np.arange(length)[at].tolist()]
        assert sorted(some) == [old for old in range(low, high) if old not in gone]


# --- an update ------------------------------------------------------------------------------------------------------

#: The fixture of that name.
MakeUpdate = Callable[[Sequence[str]], tuple[list[Journey], list[Journey]]]
#: Who is read again, of P00 to P11.
CHANGES: dict[str, list[str]] = {
    "nobody": [],
    "one": ["P05"],
    "both ends": ["P00", "P11"],
    "new ones on all sides": ["A", "P05a", "P11a", "é"],
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_an_update_splices_its_index(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    concepts: ConceptTable,
    scales: Scales,
    make_update: MakeUpdate,
    changed: list[str],
) -> None:
    """All files are those that the new tables make, and nothing else is left in the folder."""
    monkeypatch.setattr(build, "_MOST_CHANGED", 1)
    told = told_of_update(tmp_path, monkeypatch, make_update, changed, (concepts, concepts), scales)
    assert told["spliced"]


def test_another_ontology_has_the_index_made_from_the_tables(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    concepts: ConceptTable,
    scales: Scales,
    make_update: MakeUpdate,
) -> None:
    """Where concepts have another order; where only others were added that nobody has, it is spliced."""
    monkeypatch.setattr(build, "_MOST_CHANGED", 1)
    turned = ConceptTable([*concepts.rows()][::-1])
    more = ConceptTable([*concepts.rows(), ConceptRow("new", "drug", "new")])
    for other, is_spliced in ((turned, False), (more, True)):
        folder = tmp_path / str(is_spliced)
        told = told_of_update(folder, monkeypatch, make_update, ["P05"], (concepts, other), scales)
        assert told["spliced"] == is_spliced


@pytest.mark.parametrize("damage", ["short", "version", "an array", "many changed"])
def test_what_cannot_be_spliced_is_made_from_the_tables(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    concepts: ConceptTable,
    scales: Scales,
    make_update: MakeUpdate,
    damage: str,
) -> None:
    """An index that is damaged or of another version, and an update of many patients."""
    monkeypatch.setattr(build, "_MOST_CHANGED", 0.1 if damage == "many changed" else 1)

    def damaging(folder: Path) -> None:
        directory = json.loads((folder / "events.json").read_text())
        if damage == "short":
            (folder / "events.bin").write_bytes((folder / "events.bin").read_bytes()[:-1])
        elif damage == "version":
            directory["version"] += 1
        elif damage == "an array":
            directory["arrays"]["row_of_event"][1] -= 5
        (folder / "events.json").write_text(json.dumps(directory))

    told = told_of_update(tmp_path, monkeypatch, make_update, ["P05", "P11"], (concepts, concepts), scales, damaging)
    assert not told["spliced"]


def told_of_update(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_update: MakeUpdate,
    changed: Sequence[str],
    concepts: tuple[ConceptTable, ConceptTable],
    scales: Scales,
    damaging: Callable[[Path], None] = lambda folder: None,
) -> dict[str, Any]:
    """What the index of an update tells, after its files were compared with those that are made from its tables."""
    before, again = make_update(changed)
    build_generation(folder / "a.kb", before, concepts=concepts[0], scales=scales)
    told: list[dict[str, Any]] = []

    def telling(*arguments: Any) -> dict[str, Any]:
        told.append(build_index(*arguments))
        return told[-1]

    with monkeypatch.context() as patch, KnowledgeBase.open(folder / "a.kb") as previous:
        patch.setattr(load, "build_index", telling)
        damaging(previous.database.parent / "index")
        with GenerationWriter(folder / "a.kb", concepts=concepts[1], scales=scales) as writer:
            writer.add(again)
            writer.copy_others(previous)
            writer.finish()
    with KnowledgeBase.open(folder / "a.kb") as opened:
        (folder / "again").mkdir()
        with duckdb.connect() as database:
            database.execute("ATTACH $1 AS built (READ_ONLY)", [str(opened.database)])
            build_index(database, folder / "again", opened.concepts)
        assert files(opened.database.parent / "index") == files(folder / "again")
    return told[0]


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- columns without a knowledge base -------------------------------------------------------------------------------


def spliced(
    before: dict[str, Journey], changed: dict[str, Journey], removed: set[str], concepts: ConceptTable = CONCEPTS
) -> tuple[bytes, bytes]:
    """The files of the columns, spliced."""
    names, after = sorted(before), sorted({*before, *changed} - removed)
    gone = [at for at, name in enumerate(names) if name in changed or name in removed]
    come = [at for at, name in enumerate(after) if name in changed]
    with columns(before.values()) as old, columns(changed.values(), concepts) as fresh, folder_of_columns() as folder:
        writer = ArrayWriter(folder, EVENTS)
        numbers = [np.array(some, dtype=np.int64) for some in (gone, come)]
        splicing = Splicing(old, numbers[0], fresh, numbers[1], concepts)
        writer.finish(splicing.write(writer))
        writer.close()
        return contents(folder)


def made(journeys: dict[str, Journey], removed: set[str]) -> tuple[bytes, bytes]:
    """The files of the columns, made from the tables."""
    with folder_of_columns() as folder:
        write([journey for name, journey in journeys.items() if name not in removed], folder, CONCEPTS)
        return contents(folder)


def contents(folder: Path) -> tuple[bytes, bytes]:
    """The bytes of the directory and of the arrays."""
    return (folder / "events.json").read_bytes(), (folder / "events.bin").read_bytes()


@contextmanager
def columns(journeys: Iterable[Journey], concepts: ConceptTable = CONCEPTS) -> Iterator[EventIndex]:
    """The index of these patients."""
    with folder_of_columns() as folder:
        write(journeys, folder, concepts)
        yield EventIndex(ArrayFile(folder, EVENTS))


@contextmanager
def folder_of_columns() -> Iterator[Path]:
    """An empty folder."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def write(journeys: Iterable[Journey], folder: Path, concepts: ConceptTable) -> None:
    """Write the columns of these patients into the folder."""
    rows = StagingRows()
    for journey in journeys:
        rows.add_journey(journey, ())
    with duckdb.connect() as database:
        database.execute("ATTACH ':memory:' AS built; USE built")
        database.execute(script("storage/schema"))
        database.execute("USE memory; CREATE SCHEMA staging")
        for name, table in rows.take().items():
            database.register("incoming", table)
            database.execute(f"CREATE TABLE staging.{name} AS SELECT * FROM incoming")
            if name in ("patient", "event", "event_attribute"):
                database.execute(statements("storage/assemble")[name])
        build_columns(database, folder, concepts)


def in_small_pieces(patch: pytest.MonkeyPatch) -> None:
    """Work on few rows at a time, as if there were many."""
    patch.setattr(moved, "_BLOCK", 4)
    patch.setattr(moved, "_LONG", 3)
    patch.setattr(moved, "_FEWEST_BITS", 1)
    patch.setattr(recoded, "_BLOCK", 4)
