"""Files that may hold words of notes are written by one module, for their owner alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cohortium.kb.errors import UsageError
from cohortium.kb.files.whole_files import write_text_privately
from tests.places import ROOT

WRITES = re.compile(
    r"write_text\(|write_bytes\(|O_CREAT|csv\.writer|to_csv|\bopen\([^)]*[\"'][wax]b?t?[\"']|\.open\([\"'][wax]"
)
#: Who else writes files, and why it may.
OTHERS = {
    "eval/bank/acr/read_backs.py": "the bank's own file",
    "eval/baselines/retrieval/tuning.py": "thresholds, no text",
    "eval/baselines/retrieval/vectors.py": "a lock, 0600",
    "eval/benchmark/run.py": "the mark of a run: a checksum",
    "eval/benchmark/workshop.py": "costs; notes by os.open with 0600, in a folder 0700",
    "eval/extraction/corpora/splits.py": "the ids of an open corpus",
    "eval/made_up/synthetic/corpus_files.py": "fictional patients, and 0600 all the same",
    "eval/made_up/synthetic/corpus_labels.py": "fictional patients, and 0600 all the same",
    "eval/training/export/onnx_file.py": "the README of a model",
    "eval/training/linking/run.py": "numbers of a model",
    "engine/commands/repl.py": "the history, 0600 before anything is in it",
    "ingest/coral_schema/brat_folder.py": "the schema's own annotation.conf",
    "ingest/models/tagging/model_directory.py": "the card of a model",
    "ingest/run/spool.py": "0600, in a folder 0700",
    "kb/endpoint/kept.py": "0600, and only after the file was seen to be ours",
    "kb/exchange/card.py": "into a folder 0700, which is closed as a whole",
    "kb/skin/terminal.py": "the one writer of tables",
    "query_lang/syntax.py": "the grammar's tables",
}
#: Rooms that write into folders of the knowledge base, all of them 0700.
ROOMS = ("kb/files/", "kb/index/", "kb/storage/", "kb/ontology/kept_concepts.py")


def test_who_writes_files_is_known() -> None:
    """A new writer goes through kb/files, or tells here why it need not."""
    writers = {
        str(path.relative_to(ROOT))
        for folder in ("kb", "ingest", "query_lang", "engine", "eval")
        for path in (ROOT / folder).rglob("*.py")
        if WRITES.search(path.read_text(encoding="utf-8"))
    }
    assert {one for one in writers if not one.startswith(ROOMS)} == set(OTHERS)


@pytest.mark.parametrize("place", ["CURRENT", "new.json", "generations/x/kb.duckdb", "generations/new.html"])
def test_no_output_goes_into_a_knowledge_base(tmp_path: Path, place: str) -> None:
    """Whatever is named there stays as it is, over a link to the folder as well."""
    kb = tmp_path / "notes.kb"
    (kb / "generations" / "x").mkdir(parents=True)
    (kb / "CURRENT").write_text("x")
    (tmp_path / "link").symlink_to(kb)
    for root in (kb, tmp_path / "link"):
        with pytest.raises(UsageError, match="inside a knowledge base"):
            write_text_privately(root / place, "{}")
    assert (kb / "CURRENT").read_text() == "x"
    write_text_privately(tmp_path / "notes.json", "{}")
