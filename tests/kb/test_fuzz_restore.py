"""Any folder that was an export is restored as it was, or refused as damaged; nothing is left behind."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium.kb.errors import CohortiumError, DamagedExport, SchemaVersionError, UsageError
from cohortium.kb.exchange.card import CARD
from cohortium.kb.exchange.export import export_tables
from cohortium.kb.exchange.restore import restore_tables
from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.layout import generation_id
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import GenerationWriter
from tests.amounts import examples
from tests.kb.conftest import ONTOLOGY, SCALES, VALUE_SETS, invent

Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Rows]:
    """The export of a small knowledge base, and all of its rows."""
    folder = tmp_path_factory.mktemp("exported")
    ontology = folder / "ontology"
    ontology.mkdir()
    (ontology / "all.tsv").write_text(ONTOLOGY, encoding="utf-8")
    (ontology / "value_sets.toml").write_text(VALUE_SETS, encoding="utf-8")
    concepts, kb = ConceptTable.from_files(ontology), folder / "first.kb"
    with GenerationWriter(kb, concepts=concepts, scales=Scales(SCALES), versions={"pipeline": "test"}) as writer:
        writer.add([invent("P2"), Journey("P1"), invent("P3", "Another text. " * 20)])
        writer.finish({"notes_in": 4, "stored": 4, "unchanged": 0, "superseding": 0, "quarantined": 0})
    with KnowledgeBase.open(kb) as opened:
        export_tables(opened, folder / "export", progress=False)
    return folder / "export", rows(kb)


def rows(kb: Path) -> Rows:
    """All rows of all tables, in their order."""
    with KnowledgeBase.open(kb) as opened, duckdb.connect(str(opened.database), read_only=True) as database:
        names = [name for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: database.table(name).fetchall() for name in sorted(names)}


def spoil(folder: Path, random: Random) -> None:
    """Change one thing of an export."""
    files = [path for path in sorted(folder.glob("*.parquet")) if path.is_file()]
    member = random.choice(files or [folder / CARD])
    how = random.choice("flip flip cut remove empty extra link outside swap folder column rows card card".split())
    content = bytearray(member.read_bytes()) if member.is_file() else bytearray(b"x")
    if how == "flip":
        for _ in range(random.randint(1, 8)):
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        member.write_bytes(content)
    elif how == "cut":
        member.write_bytes(content[: random.randrange(len(content))])
    elif how == "remove":
        member.unlink()
    elif how == "empty":
        member.write_bytes(b"")
    elif how == "extra":
        (folder / random.choice(("more.parquet", "kb.duckdb", "CURRENT", ".hidden"))).write_bytes(content)
    elif how in ("link", "outside"):
        target = folder / "away.bin" if how == "link" else folder.parent / "outside.bin"
        target.write_bytes(content)
        member.unlink()
        member.symlink_to(target)
    elif how == "swap":
        other = random.choice(files or [member])
        member.write_bytes(other.read_bytes())
    elif how == "folder":
        member.unlink()
        member.mkdir()
    elif how in ("column", "rows") and member.suffix == ".parquet":
        spoil_table(member, how, random)
    else:
        spoil_card(folder / CARD, random)


def spoil_table(member: Path, how: str, random: Random) -> None:
    """A sound file of another table: a column more, less or of another type; rows more or less."""
    try:
        table = pq.read_table(pa.BufferReader(member.read_bytes()))
    except (pa.ArrowException, OSError):
        return
    if how == "rows":
        table = pa.concat_tables([table, table]) if random.random() < 0.5 else table.slice(1)
    elif random.random() < 0.5 and table.num_columns > 1:
        table = table.drop_columns([random.choice(table.column_names)])
    else:
        table = table.append_column("more", pa.array([1] * table.num_rows))
    pq.write_table(table, member)


def spoil_card(path: Path, random: Random) -> None:
    """The card with another value somewhere, or no card at all."""
    values: tuple[Any, ...] = (
        None, -1, 0, 10**30, 1e308, "", "../../etc/passwd", "\0", "/", [], {}, True, "x" * 1000,
        {"rows": 1, "bytes": 1, "sha256": "0"},
    )  # fmt: skip
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        place = card
        while isinstance(place, dict) and place:
            key = random.choice(sorted(place))
            if not isinstance(place[key], dict) or random.random() < 0.3:
                break
            place = place[key]
        how = random.randrange(4)
        if how == 0:
            place[random.choice(("../up", "/etc/passwd", "more", "", "\0", "a/b"))] = random.choice(values)
        elif how == 1:
            place[random.choice(("../up", "..", "x"))] = place.pop(key)
        else:
            place[key] = random.choice(values)
        text = json.dumps(card)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        text = random.choice(
            ("", "{", "[]", "null", "[" * 100_000, '{"form": "cohortium export"}', "\ufeff{}", "1" * 5000)
        )
    if random.random() < 0.1:
        text = random.choice((text[: len(text) // 2], "[" * 100_000, "1" * 5000, text.replace(":", "")))
    path.write_text(text, encoding="utf-8")


def sign(folder: Path) -> None:
    """Give the card the sizes and checksums of the files as they now are, as somebody would who means it."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        for name, told in card["tables"].items():
            content = (folder / f"{name}.parquet").read_bytes()
            told.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        return
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")


@settings(max_examples=examples(80, 8), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**63), changes=st.integers(0, 3), signed=st.booleans())
def test_any_export_is_restored_or_refused(
    exported: tuple[Path, Rows], tmp_path_factory: pytest.TempPathFactory, seed: int, changes: int, signed: bool
) -> None:
    """As it was, or with an error of ours; in the second case nothing can be opened, and nothing stands about."""
    export, wanted = exported
    place = tmp_path_factory.mktemp("restored")
    folder, kb = place / "export", place / "second.kb"
    shutil.copytree(export, folder)
    random = Random(seed)
    for _ in range(changes):
        spoil(folder, random)
    if signed:
        sign(folder)
    before = set(place.rglob("*"))
    refused = None
    try:
        restore_tables(folder, kb, progress=False)
    except (DamagedExport, SchemaVersionError, UsageError) as error:
        refused = str(error)
    if refused is not None:
        assert changes
        assert "denocarcinoma" not in refused
        assert set(place.rglob("*")) == before
        with pytest.raises(CohortiumError):
            KnowledgeBase.open(kb)
    else:
        # Whoever signs again what was changed makes another export: then it is whole, if not the same.
        found = rows(kb)
        assert found.keys() == wanted.keys()
        assert signed or found == wanted
    shutil.rmtree(place)


def change_card(folder: Path, change: Callable[[Any], object]) -> None:
    """The card with something changed by whoever signs it."""
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    change(card)
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")


def change_manifest(folder: Path, change: Callable[[Any], object]) -> None:
    """The manifest with something changed, and a card that names the generation that it then is of."""
    table = pq.read_table(folder / "manifest.parquet")
    manifest = {row["name"]: json.loads(row["value"]) for row in table.to_pylist()}
    change(manifest)
    put_manifest(folder, {name: json.dumps(value) for name, value in manifest.items()})
    change_card(folder, lambda card: card.update(generation=generation_id(manifest)))


def put_manifest(folder: Path, values: dict[str, str]) -> None:
    """These values as the manifest, and a card that tells of it."""
    schema = pq.read_schema(folder / "manifest.parquet")
    rows = [{"name": name, "value": value} for name, value in values.items()]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "manifest.parquet")
    change_card(folder, lambda card: card["tables"]["manifest"].update(rows=len(rows)))
    sign(folder)


def put_special(folder: Path, name: str, special: str) -> None:
    """A pipe, or a link to an endless device, in the place of a file of no bytes."""
    (folder / name).unlink()
    if special == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    if name != CARD:
        change_card(folder, lambda card: card["tables"][name.partition(".")[0]].update(bytes=0))


NONSENSE: dict[str, Callable[[Path], object]] = {
    "a card of endless rows": lambda at: change_card(at, lambda card: card["tables"]["note"].update(rows=float("inf"))),
    "a card of fewer than no bytes": lambda at: change_card(at, lambda card: card["tables"]["note"].update(bytes=-1)),
    "a card of no tables": lambda at: change_card(at, lambda card: card.update(tables=[])),
    "a card that is a pipe": lambda at: put_special(at, CARD, "pipe"),
    "a card without end": lambda at: put_special(at, CARD, "device"),
    "a table that is a pipe": lambda at: put_special(at, "note.parquet", "pipe"),
    "a table without end": lambda at: put_special(at, "note.parquet", "device"),
    "no rows told": lambda at: change_manifest(at, lambda told: told.pop("rows")),
    "rows that are a list": lambda at: change_manifest(at, lambda told: told.update(rows=[])),
    "rows of an unknown table": lambda at: change_manifest(at, lambda told: told["rows"].update(more=1)),
    "no content told": lambda at: change_manifest(at, lambda told: told.pop("content")),
    "no schema version": lambda at: change_manifest(at, lambda told: told.pop("schema_version")),
    "another schema version": lambda at: change_manifest(at, lambda told: told.update(schema_version=9)),
    "brackets without end": lambda at: put_manifest(at, {"rows": "[" * 100_000}),
}


@pytest.mark.parametrize("spoiled", NONSENSE.values(), ids=NONSENSE.keys())
def test_signed_nonsense_is_damage_and_leaves_nothing(
    exported: tuple[Path, Rows], tmp_path: Path, spoiled: Callable[[Path], object]
) -> None:
    """Checksums that fit prove nothing of the shape of what they are of."""
    folder, kb = tmp_path / "export", tmp_path / "second.kb"
    shutil.copytree(exported[0], folder)
    spoiled(folder)
    with pytest.raises(DamagedExport, match="Hint: ") as caught:
        restore_tables(folder, kb, progress=False)
    assert caught.value.exit_code == 10
    assert not kb.exists()
