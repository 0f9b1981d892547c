"""The memory that the writer of a knowledge base may take: a setting, or what suits the machine."""

from __future__ import annotations

import os
import re
from typing import Final

from ..errors import UsageError

SETTING: Final = "COHORTIUM_WRITER_MEMORY"
_MOST: Final = 4_000_000_000
_LEAST: Final = 100_000_000
#: No machine has more; numbers without end are no sizes that the database could take.
_LARGEST: Final = 1 << 60
_UNITS: Final = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SIZE: Final = re.compile(r"\s*([0-9]{1,19}(?:\.[0-9]{1,19})?)\s*([A-Za-z]*)\s*")
_LONGEST_SHOWN: Final = 40


def writer_memory() -> int:
    """Bytes that the database may hold while it writes: what COHORTIUM_WRITER_MEMORY says (``2GB``, ``900MB``), by
    default 4 GB or half of the machine's memory, whichever is less. UsageError if the setting is no size."""
    setting = os.environ.get(SETTING, "").strip()
    if not setting:
        return max(_LEAST, min(_MOST, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2))
    match, shown = _SIZE.fullmatch(setting), setting[:_LONGEST_SHOWN]
    unit = _UNITS.get(match[2].upper()) if match else None
    size = int(float(match[1]) * unit) if match is not None and unit is not None else _LARGEST
    if size >= _LARGEST:
        raise UsageError(f"{SETTING} is {shown!r}, which is no size. Hint: for example {SETTING}=2GB")
    if size < _LEAST:
        raise UsageError(f"{SETTING} is {shown!r}; the writer needs 100MB at least")
    return size
