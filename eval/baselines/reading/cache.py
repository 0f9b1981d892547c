"""What a model answered, on disk, so that nothing is paid for twice; no passage is kept, only what an answer quotes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ....kb.errors import UsageError
from .answers import Cited, Kept, Reading, Verdict

__all__ = ["AnswerCache", "key_of"]

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS answer (
    key TEXT PRIMARY KEY, verdict TEXT NOT NULL, evidence TEXT NOT NULL, reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL
) WITHOUT ROWID
"""
_KEEP: Final = "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)"
_FIND: Final = "SELECT verdict, evidence, reason, prompt_tokens, answer_tokens FROM answer WHERE key = ?"
#: Marks the file as ours (it is what 'PRAGMA application_id' holds), and in which form answers are kept.
_OURS: Final = 0x636F6872
_FORM: Final = 1


def key_of(model: str, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any], server: str = "") -> str:
    """The SHA-256 of everything that is asked, and of whom: model, messages, options, server."""
    asked = json.dumps([model, list(messages), dict(options), server], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class AnswerCache:
    """A file of answers that its owner alone may read; threads share it, and so may several runs at a time.

    An answer is kept as soon as it comes. Failures of the line (time-outs, rate limits, no connection, no budget) are
    not kept: the next run asks again. A refusal, or an answer of the wrong form, was an answer, and is kept.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens or makes the file. UsageError when it is something else."""
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._make()
            self._lines = sqlite3.connect(self.path, timeout=30.0, isolation_level=None, check_same_thread=False)
            self._check()
            # Only now: the rights of a file that is not ours stay as they are.
            self.path.chmod(0o600)
            self._open()
        except OSError as error:
            raise UsageError(f"answers cannot be kept in '{self.path}': {error.strerror}") from None
        except sqlite3.Error:
            raise self._broken() from None

    def _make(self) -> None:
        """The file, before SQLite sees it: so it is never readable by others, and its journals take its rights."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            # Not opened here: whoever closes a file gives up the locks that others of this process have on it.
            if not stat.S_ISREG(self.path.lstat().st_mode):
                raise UsageError(f"'{self.path}' is no file, and answers cannot be kept there") from None

    def _check(self) -> None:
        ours = self._lines.execute("PRAGMA application_id").fetchone()[0]
        tables = self._lines.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        form = self._lines.execute("PRAGMA user_version").fetchone()[0]
        if (tables and ours != _OURS) or form not in (0, _FORM):
            self._lines.close()
            raise UsageError(f"'{self.path}' is no file of answers of this version. Hint: name another one")

    def _open(self) -> None:
        self._lines.execute("PRAGMA journal_mode = WAL")
        self._lines.execute("PRAGMA synchronous = NORMAL")
        self._lines.execute(f"PRAGMA application_id = {_OURS}")
        self._lines.execute(f"PRAGMA user_version = {_FORM}")
        self._lines.execute(_TABLE)

    def find(self, key: str) -> Kept | None:
        """What was answered to the messages of this key."""
        try:
            with self._lock:
                row = self._lines.execute(_FIND, (key,)).fetchone()
            if row is None:
                return None
            evidence = tuple(Cited(int(passage), str(quote)) for passage, quote in json.loads(row[1]))
            return Kept(Reading(Verdict(row[0]), evidence, row[2]), row[3], row[4])
        except (sqlite3.Error, ValueError, TypeError):
            raise self._broken() from None

    def keep(self, key: str, kept: Kept) -> None:
        """Written at once: whatever happens next, this answer need not be asked for again."""
        evidence = json.dumps([[one.passage, one.quote] for one in kept.reading.evidence])
        row = (key, kept.reading.verdict.value, evidence, kept.reading.reason, kept.prompt_tokens, kept.answer_tokens)
        try:
            with self._lock:
                self._lines.execute(_KEEP, row)
        except sqlite3.Error:
            raise self._broken() from None

    def __len__(self) -> int:
        with self._lock:
            count: int = self._lines.execute("SELECT count(*) FROM answer").fetchone()[0]
        return count

    def close(self) -> None:
        """Afterwards nothing can be kept or found."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._lines.close()

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _broken(self) -> UsageError:
        return UsageError(f"'{self.path}' cannot be read or written as a file of answers. Hint: name another one")
