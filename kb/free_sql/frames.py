"""What goes between a process that asks and the one that answers: frames of a kind, a length and their bytes."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

import pyarrow as pa

from ..errors import SqlError

#: Kinds of frames: what is asked (JSON), its parameters (Arrow); that the answering process is ready, a batch of rows
#: (Arrow), the end of an answer, an error (JSON).
ASKED: Final = b"Q"
PARAMETERS: Final = b"P"
READY: Final = b"R"
BATCH: Final = b"B"
DONE: Final = b"D"
FAILED: Final = b"E"

_HEAD: Final = struct.Struct(">cQ")


def write(file: IO[bytes], kind: bytes, content: Any = b"") -> None:
    """Write one frame; OSError when the other process is gone. ``content`` is anything with a buffer of bytes."""
    file.write(_HEAD.pack(kind, memoryview(content).nbytes))
    file.write(content)
    file.flush()


def read(file: IO[bytes], most: int = 1 << 40) -> tuple[bytes, bytearray]:
    """The next frame; EOFError at the end of the file, or where a frame is cut off or longer than ``most`` bytes."""
    kind, size = _HEAD.unpack(_exactly(file, _HEAD.size))
    if size > most:
        raise EOFError
    return kind, _exactly(file, size)


def _exactly(file: IO[bytes], size: int) -> bytearray:
    content = bytearray(size)
    rest = memoryview(content)
    while rest:
        got = file.readinto(rest)  # type: ignore[attr-defined]
        if not got:
            raise EOFError
        rest = rest[got:]
    return content


def to_arrow(batch: pa.RecordBatch) -> pa.Buffer:
    """A batch with its schema, to be read by :func:`from_arrow`."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def from_arrow(content: Any) -> pa.RecordBatch:
    """The batch of a frame; it shares the frame's memory."""
    with pa.ipc.open_stream(pa.py_buffer(content)) as reader:
        return reader.read_next_batch()


def parameters_to_arrow(parameters: Sequence[object] | Mapping[str, object]) -> pa.Buffer:
    """Values of parameters as a batch of one row; SqlError if one has no type of the database."""
    named = isinstance(parameters, Mapping)
    values = [*parameters.values()] if isinstance(parameters, Mapping) else [*parameters]
    names = [str(name) for name in parameters] if named else [str(at) for at in range(1, len(values) + 1)]
    columns = []
    for name, value in zip(names, values, strict=True):
        try:
            columns.append(pa.array([_in_utc(value)]))
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            raise SqlError(
                f"the parameter '{name[:60]}' has a value of a type that cannot be given ({type(value).__name__}). "
                "Hint: texts, numbers of up to 64 bits, dates, times, and lists of one of these can"
            ) from None
    return to_arrow(pa.RecordBatch.from_arrays(columns, names)) if columns else pa.py_buffer(b"")


def parameters_from_arrow(content: bytearray, named: bool) -> list[Any] | dict[str, Any]:
    """The values again, by name or in order."""
    values = from_arrow(content).to_pylist()[0] if content else {}
    return dict(values) if named else list(values.values())


def _in_utc(value: object) -> object:
    # The other process cannot open the file of another time zone.
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    return value
