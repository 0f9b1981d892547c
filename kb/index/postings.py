"""The table ``posting``: of each event kind, concept and world, how many patients are listed (see :mod:`.lists`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

SCHEMA: Final = pa.schema([("kind", pa.string()), ("concept", pa.string()), ("world", pa.int8()), ("size", pa.int32())])


def posting_table(sizes: Iterable[tuple[str, str, int, int]]) -> pa.Table:
    """The rows of the table from kind, concept, world and size of each list."""
    columns = list(zip(*sizes, strict=True)) or [()] * len(SCHEMA)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
