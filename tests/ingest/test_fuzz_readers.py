"""Any bytes under any name: every reader ends, raises errors of ours alone, and loses no record on the way."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cohortium.eval.bank.acr.labels import load_labels
from cohortium.ingest.abstraction.records import Abstraction, BadRecord, read_abstractions
from cohortium.ingest.readers.files import FAMILIES
from cohortium.ingest.readers.records import Incoming
from cohortium.ingest.readers.sources import READERS, Sources
from cohortium.ingest.run import pipeline
from cohortium.kb.errors import CohortiumError
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.rows import QuarantinedRecord
from tests.amounts import examples
from tests.ingest.mutated_files import SEEDS, mutated
from tests.ingest.stub_reading import stub

#: A file of a few thousand bytes takes a fraction of this (seconds), also on a busy machine.
SECONDS = 20
#: How many records a file of so many bytes can have: a byte and an end of line each, and a few for the file itself.
_AROUND = 5


@contextmanager
def ends_soon() -> Iterator[None]:
    """An error when the block takes longer than any small file may."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise AssertionError("it does not end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(path: Path) -> int:
    """How many records a source gives; -1 when it is refused by an error of ours. Anything else is a failure."""
    with ends_soon():
        try:
            found = list(Sources([path]))
        except CohortiumError:
            return -1
    for one in found:
        assert isinstance(one, Incoming | QuarantinedRecord)
        if isinstance(one, QuarantinedRecord):
            assert one.reason.partition(": ")[2]
        else:
            assert one.note.patient_id
            assert one.note.doc_id
            assert one.retraction or one.note.text.strip()
            one.note.text.encode()
    return len(found)


def raw_records(path: Path) -> int:
    """How many records the readers tell apart, before any is judged."""
    try:
        sources = Sources([path])
        return sum(sum(1 for _ in READERS[kind].read(file, sources.told)) for file, kind in sources.files)
    except CohortiumError:
        return -1


def put(folder: str, name: str, data: bytes) -> Path:
    """A file in the folder of a patient; what is read is the folder around it, or the file."""
    path = Path(folder) / "P1" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def run(name: str, data: bytes) -> None:
    """Every record that is told apart is a note or in quarantine, named or found in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = put(folder, name, data)
        number = outcome(path)
        assert number == raw_records(path)
        assert number <= 40 * len(data) + _AROUND
        if not name.endswith(".duckdb"):
            outcome(Path(folder))


def quiet(number: int) -> settings:
    """So many examples, however long each takes on a busy machine."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(max_examples=number, deadline=None, suppress_health_check=slow)


NAMES = st.sampled_from(sorted(FAMILIES))


@quiet(examples(600, 20))
@given(NAMES, st.binary(max_size=300))
@example(".csv", b"patient_id,text\nP,x\x00\n")
@example(".csv", b'"\n' * 30)
@example(".jsonl.gz", b"\x1f\x8b\x08")
@example(".parquet", b"PAR1PAR1")
def test_any_bytes_are_read_or_refused(ending: str, data: bytes) -> None:
    """Under the name of every family."""
    run(f"n{ending}", data)


@quiet(examples(1500, 15))
@given(st.data(), st.sampled_from([one for one in sorted(SEEDS) if one not in (".facts", ".duckdb")]), st.booleans())
def test_changed_files_are_read_or_refused(data: st.DataObject, ending: str, other_name: bool) -> None:
    """Whatever became of their bytes, under their own name or that of another kind, packed or not."""
    content = data.draw(mutated(ending))
    own = "." + ending.rpartition(".")[2]
    name = data.draw(NAMES) if other_name else own
    if content[:2] == b"\x1f\x8b" and f"{name}.gz" in FAMILIES:
        name += ".gz"
    run(f"n{name}", content)


@quiet(examples(300, 12))
@given(st.one_of(mutated(".facts"), st.binary(max_size=300)))
@example(b'{"patient_id": "A", "facts": [{"kind": ' + b"[" * 900 + b"]" * 900 + b"}]}")
@example(b'{"patient_id": "A", "facts": [{"kind": "diagnosis", "concept": ' + b"[" * 900 + b"]" * 900 + b"}]}")
@example(b'{"patient_id": "A", "facts": [], "vital_status": ' + b"[" * 900 + b"]" * 900 + b"}")
def test_changed_facts_are_read_or_quarantined(content: bytes) -> None:
    """A line is a patient or a bad record, and never neither."""
    with tempfile.TemporaryDirectory() as folder, ends_soon():
        path = put(folder, "facts.jsonl", content)
        found = list(read_abstractions(path))
        assert all(isinstance(one, Abstraction | BadRecord) for one in found)
        assert bool(found) == bool(content.removeprefix(b"\xef\xbb\xbf").strip())


@quiet(examples(200, 12))
@given(st.one_of(mutated(".facts"), mutated(".jsonl"), st.binary(max_size=300)))
def test_changed_labels_are_refused(content: bytes) -> None:
    """With an error of ours."""
    with tempfile.TemporaryDirectory() as folder, ends_soon():
        path = put(folder, "labels.jsonl", content)
        with pytest.raises(CohortiumError):
            load_labels(path, range(1, 60))


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """An ontology without concepts: what matters here is what comes in."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "shipped_concepts", lambda extra: ConceptTable([]))
        yield


@quiet(examples(60, 6))
@given(st.data(), st.sampled_from([".jsonl", ".csv", ".json", ".ndjson", ".parquet", ".txt"]))
def test_a_run_over_changed_files_balances(quick: None, data: st.DataObject, ending: str) -> None:
    """Rows in = stored + unchanged + superseding + quarantined; a second run over the same stores nothing more."""
    with tempfile.TemporaryDirectory() as folder, ends_soon():
        put(folder, f"n{ending}", data.draw(mutated(ending)))
        put(folder, "good.jsonl", SEEDS[".jsonl"])
        kb = Path(folder) / "x.kb"
        try:
            first = pipeline.run_ingest([Path(folder) / "P1"], kb, reading=stub(), progress=False)
            again = pipeline.run_ingest([Path(folder) / "P1"], kb, reading=stub(), progress=False)
        except CohortiumError:
            return
        assert first.balanced
        assert again.balanced
        assert (again.notes_in, again.stored) == (first.notes_in, 0)
