"""Work that waits for an endpoint, done by several threads; an interrupt ends it without losing what was paid for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(work: Callable[[Item], Result], items: Iterable[Item], threads: int, stop: threading.Event) -> list[Result]:
    """``work`` on every item, in their order. What any of it raises is raised, and what has not begun is left.

    On an error or a KeyboardInterrupt ``stop`` is set, and what was under way is waited for: it was sent, so it is paid
    for, and ``work`` may still keep what comes back.
    """
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="endpoint")
    try:
        return [done.result() for done in [pool.submit(work, item) for item in items]]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
