"""Takes the next item while this one is worked on: the database and NumPy then use a core each."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterator[Item]) -> Generator[Item, None, None]:
    """The same items; a thread of its own takes them, never more than one before it is asked for.

    Whatever ``items`` works with is not to be used elsewhere until this iterator is at its end or closed.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="cohortium-ahead") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
