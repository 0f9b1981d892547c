"""Limits of sources: a file made to exhaust memory or time ends soon, with a reason that says which limit and how to
raise it."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from cohortium.ingest.abstraction.records import Abstraction, BadRecord, read_abstractions
from cohortium.ingest.readers.records import Incoming, reason
from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import UsageError
from cohortium.kb.files.bounded import unpacked
from cohortium.kb.files.limits import LimitReached, current_limits, limit_table, limits_in_words, shown_bytes
from cohortium.kb.storage.rows import QuarantinedRecord
from tests.amounts import ALL
from tests.ingest.bombs import BOMBS, HEADER, times
from tests.places import ROOT

#: What reading a bomb may take beyond what the program itself does (MiB), and how long (seconds, a loaded machine).
#: A page of Parquet is unpacked whole by DuckDB, within its own limit.
MEMORY, OF_A_TABLE, SECONDS = 350, 1100, 60
_CHILD: Final = """
import json, sys
from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import CohortiumError
import duckdb
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
before, reasons, number = peak(), set(), 0
try:
    for one in Sources([sys.argv[1]]):
        number += 1
        if hasattr(one, "reason"):
            reasons.add(one.reason.partition(":")[0])
except CohortiumError as error:
    reasons.add(type(error).__name__)
print(json.dumps([number, sorted(reasons), peak() - before]))
"""

#: What becomes of each bomb: the reasons of its quarantine rows, or the error that refuses the file.
EXPECTED: Final = {
    "a field of CSV, packed": "row_too_long",
    "a field of short lines of CSV, packed": "row_too_long",
    "a line of CSV without an end, packed": "row_too_long",
    "a row of empty cells of CSV": "too_many_cells",
    "a header of CSV": "UsageError",
    "blank lines of CSV, packed": "blank_lines",
    "a line of JSON, packed": "packed_too_tight",
    "a line of JSON": "line_too_long",
    "blank lines of JSON, packed": "blank_lines",
    "lines of one letter, packed": "malformed_json too_many_faults",
    "a line of empty lists": "too_many_values",
    "a line of empty objects": "too_many_values",
    "FHIR of empty objects": "too_many_values",
    "FHIR of one string, packed": "packed_too_tight",
    "a text file": "text_too_long",
    "one long text in many rows of Parquet": "",
    "long texts in one page of Parquet": "text_too_long",
    "a list of Parquet": "",
    "one long text in many rows of DuckDB": "",
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is told by Linux")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_soon_in_little_memory(tmp_path: Path, name: str) -> None:
    """Whatever it would unpack to."""
    (tmp_path / "src" / "P").mkdir(parents=True)
    bomb = BOMBS[name](tmp_path / "src", 300 if ALL else 120)
    source = bomb.parent.parent if bomb.suffix == ".txt" else bomb
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", _CHILD, str(source)], capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stderr[-500:]
    number, reasons, memory = json.loads(done.stdout)
    assert " ".join(reasons) == EXPECTED[name]
    assert number <= current_limits().faults + 2
    assert memory <= (OF_A_TABLE if name.endswith(("Parquet", "DuckDB")) else MEMORY)
    assert time.monotonic() - begun < SECONDS


def codes(*sources: Path) -> list[str]:
    """For each record the code of its reason, or ``note``."""
    return [one.reason.partition(":")[0] if isinstance(one, QuarantinedRecord) else "note" for one in Sources(sources)]


LINE = '{"patient_id": "P", "text": "x"}\n'
_FAULTS: Final = "note malformed_json malformed_json note malformed_json malformed_json malformed_json too_many_faults"
#: Limit, its value, a file's name and content, and what becomes of the records.
REACHED: Final = {
    "line": ("40", "n.jsonl", LINE + '{"patient_id": "' + "x" * 40 + '"}\n' + LINE, "note line_too_long note"),
    "field": ("10", "n.csv", "patient_id,text\nP,x\nP,xxxxxxxxxxxxxxx\nP,x\n", "note row_too_long"),
    "row": ("100", "n.csv", "patient_id,text\nP,x\nP,\"" + "x\n" * 40 + "\nP,x\n", "note row_too_long"),
    "cells": ("5", "n.csv", "patient_id,text\nP,x\nP,x,,,,,,,,\nP,x\n", "note too_many_cells"),
    "file": ("30", "n.json", '{"resourceType": "Patient", "id": "1"}', "file_too_long"),
    "values": ("4", "n.jsonl", LINE + '{"patient_id": "P", "text": "x", "a": [1, 2, 3]}\n', "note too_many_values"),
    "unpacked": ("60", "n.jsonl.gz", LINE * 9, "unpacked_too_long"),
    "blank_lines": ("3", "n.jsonl", LINE + "\n\n\n" + LINE + "\n\n \n\n" + LINE, "note note blank_lines"),
    "blank_rows": ("3", "n.csv", "patient_id,text\nP,x\n\n\n\nP,x\n\n\n\n\nP,x\n", "note note blank_lines"),
    "faults": ("2", "n.jsonl", LINE + "x\nx\n" + LINE + "x\n" * 9, _FAULTS),
}  # fmt: skip
_NAMED: Final = {"row": "line", "cells": "values", "blank_rows": "blank_lines"}


@pytest.mark.parametrize("limit", REACHED)
def test_what_goes_over_a_limit_is_quarantined_and_the_reason_says_how_to_raise_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Each is set by its variable; what stands before is read, and what can be told apart behind it."""
    value, name, content, expected = REACHED[limit]
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    if limit != "values":
        assert "too" not in " ".join(set(codes(path)) - {"text_too_long", "malformed_json"})
    variable = limit_table()[_NAMED.get(limit, limit)]["variable"]
    monkeypatch.setenv(variable, value)
    assert codes(path) == expected.split()
    last = [one for one in Sources([path]) if isinstance(one, QuarantinedRecord)][-1]
    assert variable in last.reason


def test_the_ratio_is_looked_at_behind_the_first_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file of one note over and over is read; a flood is not, though each of its lines is a note."""
    path = tmp_path / "n.jsonl.gz"
    line = b'{"patient_id": "P", "text": "' + b"x" * 900_000 + b'"}\n'
    path.write_bytes(gzip.compress(line * 20))
    assert codes(path) == ["note"] * 20
    path.write_bytes(gzip.compress(line * 90))
    assert codes(path)[-1] == "packed_too_tight"
    monkeypatch.setenv("COHORTIUM_HIGHEST_RATIO", "2000")
    assert codes(path) == ["note"] * 90


def test_small_parts_of_a_packed_file_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty ones and such of a letter, wherever they stand; larger ones may be as many as they are."""
    note, empty, letter = gzip.compress(LINE.encode() * 3), gzip.compress(b""), gzip.compress(b" ")
    path = tmp_path / "n.jsonl.gz"
    path.write_bytes(note + empty * 5 + letter * 5 + note * 300 + b"\0" * 70_000)
    assert codes(path) == ["note"] * 903
    monkeypatch.setenv("COHORTIUM_MOST_SMALL_PARTS", "9")
    assert codes(path) == ["note"] * 3 + ["too_many_parts"]
    monkeypatch.undo()
    for flood in (empty, letter):
        packed = io.BytesIO(flood * 120_000)
        stream = unpacked(packed, True, current_limits())
        with pytest.raises(LimitReached, match="too_many_parts"):
            stream.read()
        assert packed.tell() < 101_000 * len(flood)


@pytest.mark.parametrize("tail", [b"\x1f", b"x", b"\x1f\x8b\x08", b"\x1f\x8b\x09" + b"\0" * 20])
def test_what_stands_behind_a_packed_file_is_told(tmp_path: Path, tail: bytes) -> None:
    """And what stands before is read: half a header, no header, another packing; and a part whose checksum is wrong."""
    path = tmp_path / "n.jsonl.gz"
    packed = gzip.compress(LINE.encode())
    path.write_bytes(packed + tail)
    assert codes(path) == ["note", "damaged_file"]
    path.write_bytes(packed + packed[:-8] + b"\0" * 8)
    assert codes(path)[-1] == "damaged_file"


def test_a_header_behind_a_limit_is_refused_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the run, for nothing of the table can be read; a limit larger than the parser knows is none."""
    path = tmp_path / "n.csv.gz"
    path.write_bytes(gzip.compress(b"patient_id,text\nP,x\n"))
    monkeypatch.setenv("COHORTIUM_LONGEST_FIELD", "1TiB")
    assert codes(path) == ["note"]
    monkeypatch.setenv("COHORTIUM_MOST_UNPACKED", "5")
    with pytest.raises(UsageError, match="COHORTIUM_MOST_UNPACKED"):
        Sources([path])


@pytest.mark.parametrize(("written", "amount"), [("64MiB", 64 << 20), ("2 GB", 2_000_000_000), ("500_000", 500_000)])
def test_amounts_are_written_as_people_do(monkeypatch: pytest.MonkeyPatch, written: str, amount: int) -> None:
    """With a unit or without."""
    monkeypatch.setenv("COHORTIUM_LONGEST_LINE", written)
    assert current_limits().line == amount


@pytest.mark.parametrize("written", ["much", "-1", "0", "64 PB", "1e9", "9" * 30, "½"])
def test_what_is_no_amount_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    """Exit 2, before anything is read."""
    monkeypatch.setenv("COHORTIUM_MOST_FAULTS", written)
    with pytest.raises(UsageError, match="COHORTIUM_MOST_FAULTS"):
        current_limits()


def test_a_file_of_facts_is_read_within_the_same_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line too long, a flood of blank or of bad ones: one record each, and what stands around it is read."""
    fact = json.dumps({"patient_id": "A", "facts": []})
    path = tmp_path / "facts.jsonl"
    path.write_text(f"{fact}\n{' ' * 90}{fact.replace('A', 'B')}\n{fact.replace('A', 'C')}\nx\nx\nx\nx\n")
    monkeypatch.setenv("COHORTIUM_LONGEST_LINE", "80")
    monkeypatch.setenv("COHORTIUM_MOST_FAULTS", "2")
    found = list(read_abstractions(path))
    told = [one.patient_id if isinstance(one, Abstraction) else one.reason.partition(":")[0] for one in found]
    assert [told[0], told[1], told[2], told[-1]] == ["A", "line_too_long", "C", "too_many_faults"]
    assert len(told) == 7
    os.truncate(path, 0)
    path.write_text("\n" * 50 + fact)
    monkeypatch.setenv("COHORTIUM_MOST_BLANK_LINES", "20")
    (flood,) = read_abstractions(path)
    assert isinstance(flood, BadRecord)
    assert "COHORTIUM_MOST_BLANK_LINES" in flood.reason


def test_a_view_in_a_database_reads_no_other_file(tmp_path: Path) -> None:
    """Whoever made the file may have put a view there in place of the table."""
    import duckdb

    secret = tmp_path / "secret.csv"
    secret.write_text("note_id,person_id,note_text\n1,2,secret\n")
    path = tmp_path / "n.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE VIEW note AS SELECT * FROM read_csv('{secret}')")
    with pytest.raises(UsageError, match="cannot be read as DuckDB"):
        Sources([path])


def test_a_table_of_lists_has_no_text_and_a_long_cell_is_one_bad_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows around it are read, in their order and with their types."""
    import duckdb

    path = tmp_path / "n.parquet"
    with duckdb.connect() as database:
        database.execute(
            "COPY (SELECT * FROM (VALUES ('P', 'a', 'x', [1]), ('P', 'b', 'xxxxxxxxxxx', [2]), ('P', 'c', 'x', NULL))"
            f" AS t(patient_id, doc_id, text, title)) TO '{path}' (FORMAT parquet)"
        )
    monkeypatch.setenv("COHORTIUM_LONGEST_LINE", "10")
    assert codes(path) == ["note", "cell_too_long", "note"]
    monkeypatch.delenv("COHORTIUM_LONGEST_LINE")
    found = [one for one in Sources([path]) if isinstance(one, Incoming)]
    assert [one.note.text[:2] for one in found] == ["x", "xx", "x"]
    with pytest.raises(UsageError, match="no column"):
        Sources([path], {"text": "nothing"})
    assert codes_with(path, text="title") == ["bad_text", "bad_text", "empty_text"]


def codes_with(path: Path, **mapping: str) -> list[str]:
    """As :func:`codes`, with a map."""
    return [
        one.reason.partition(":")[0] if isinstance(one, QuarantinedRecord) else "note"
        for one in Sources([path], mapping)
    ]


def test_the_guide_tells_every_limit_as_it_is() -> None:
    """Its table has the variable and the value of each."""
    page = (ROOT / "docs" / "guide" / "sources.md").read_text(encoding="utf-8")
    for name, row in limit_table().items():
        shown = shown_bytes(row["value"]) if row["kind"] == "bytes" else f"{row['value']:,}"
        assert f"| `{row['variable']}` | {shown} |" in page, name


def test_every_reason_names_limits_that_there_are() -> None:
    """A word in braces is filled in."""
    words = limits_in_words()
    assert set(limit_table()) < set(words)
    for code in ("line_too_long", "packed_too_tight", "unknown_charset", "too_many_faults"):
        assert "{" not in reason(code)


def test_pieces_of_bombs_are_as_large_as_they_say() -> None:
    """So that a test of a bomb tests something."""
    assert sum(len(piece) for piece in times(b"a\n", 3, HEADER)) == 3_000_000 + len(HEADER)
    assert set(BOMBS) == set(EXPECTED)
