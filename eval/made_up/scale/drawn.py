"""Events as they are drawn, before anyone has told them: columns that grow by parts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .draws import Array

#: ``tumor`` of what belongs to none and to all of a patient's tumors.
NONE: Final = -1
ALL: Final = -2
#: ``end`` of what has none.
ENDLESS: Final = 0
_COLUMNS: Final = ("owner", "fact", "day", "end", "tumor", "rule", "voice", "kept")


class Drawn:
    """Events of many patients. ``owner``: the patient's place in the chunk; ``tumor``: the tumor's position with its
    patient; ``kept``: whether it stays when a patient has more events than are wanted."""

    def __init__(self) -> None:
        """No events yet."""
        self._parts: dict[str, list[Array]] = {name: [] for name in _COLUMNS}

    # One parameter a column of what is drawn, most with one value for all.
    def add(
        self,
        owner: Array,
        fact: Array,
        day: Array,
        *,
        end: Any = ENDLESS,
        tumor: Any = NONE,
        rule: Any = 5,
        voice: Any = 0,
        kept: bool = False,
    ) -> None:
        """Events, but those whose fact is negative; what is one value for all may be given as such."""
        real = np.flatnonzero(np.asarray(fact) >= 0)
        cells = {"owner": owner, "fact": fact, "day": day, "end": end, "tumor": tumor, "rule": rule, "voice": voice}
        for name, cell in {**cells, "kept": kept}.items():
            column = np.asarray(cell)
            whole = column[real] if column.ndim else np.full(len(real), column)
            self._parts[name].append(whole.astype(np.int64))

    def columns(self) -> dict[str, Array]:
        """All events so far."""
        return {name: np.concatenate(parts) if parts else np.zeros(0, np.int64) for name, parts in self._parts.items()}
