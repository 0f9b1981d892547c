"""Finished batches on disk until the run is over, so that a killed run goes on where it was.

A batch is one file: a checksum, then a header in JSON, then its tables as Arrow streams. Its name is what its result
depends on. The folder is readable by its owner alone, for it holds notes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Final

import pyarrow as pa

from ...kb.errors import NotWritable
from .batches import BatchResult

_MAGIC: Final = b"COHORTIUM-BATCH-1\n"
_DIGEST: Final = 32
_LENGTH: Final = 8
#: The folder inside the knowledge base's own.
FOLDER: Final = "unfinished"


class Spool:
    """The folder of finished batches below the knowledge base at ``kb_path``."""

    def __init__(self, kb_path: Path) -> None:
        self.folder = kb_path / FOLDER

    def make(self) -> None:
        """Make the folder, 0700; NotWritable if that fails."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.folder.chmod(0o700)
            for part in self.folder.glob("*.part"):
                part.unlink(missing_ok=True)
        except OSError as error:
            raise NotWritable(
                f"{self.folder} cannot be written: {error.strerror or type(error).__name__}. "
                "Hint: name a directory in a place where you may write."
            ) from error

    def remove(self) -> None:
        """Remove the folder and all batches."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.batch"

    def holds(self, key: str) -> bool:
        """Whether a batch of this name was finished (it may yet turn out to be damaged)."""
        return self._path(key).is_file()

    def put(self, key: str, result: BatchResult) -> None:
        """Write a batch: whole, or not at all."""
        streams = [(name, _stream(table)) for name, table in result.tables.items()]
        header = json.dumps(
            {
                "tables": [(name, len(stream)) for name, stream in streams],
                "counts": result.counts,
                "kept": result.kept,
                "quarantined": result.quarantined,
            }
        ).encode()
        body = b"".join([len(header).to_bytes(_LENGTH, "little"), header, *(stream for _, stream in streams)])
        part = self.folder / f"{key}.{os.getpid()}.part"
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(_MAGIC + hashlib.sha256(body).digest())
                file.write(body)
            part.replace(self._path(key))
        except OSError:
            # On a full disk every byte counts.
            part.unlink(missing_ok=True)
            raise

    def get(self, key: str) -> BatchResult | None:
        """A finished batch; None when there is none or its file is not whole (it is then removed)."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        body = memoryview(data)[start:]
        if data[:start] != _MAGIC + hashlib.sha256(body).digest():
            path.unlink(missing_ok=True)
            return None
        end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
        header = json.loads(bytes(body[_LENGTH:end]))
        tables = {}
        for name, length in header["tables"]:
            tables[name] = pa.ipc.open_stream(pa.py_buffer(body[end : end + length])).read_all()
            end += length
        return BatchResult(tables, header["counts"], header["kept"], [tuple(row) for row in header["quarantined"]])


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
