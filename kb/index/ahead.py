"""The next item taken while this one is worked on: the database and NumPy then use a core each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


@contextmanager
def ahead(items: Iterator[Item]) -> Iterator[Iterator[Item]]:
    """The same items; a thread of its own takes them, never more than one before it is asked for.

    Whatever ``items`` works with is not to be used elsewhere within.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="cohortium-ahead") as thread:
        coming = thread.submit(next, items, None)

        def taken() -> Iterator[Item]:
            nonlocal coming
            while (item := coming.result()) is not None:
                coming = thread.submit(next, items, None)
                yield item

        yield taken()
