"""How seldom garbage in circles is looked for where much is made and nearly all of it stays, or goes by itself."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Final

#: So many new objects before garbage in circles is looked for, and so many times each older generation is left out.
COLLECTIONS: Final = (100_000, 20, 50)


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage in circles rarely: what reads notes or the ontology makes many things, and next to none in
    circles. The search would take a third of the time."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
