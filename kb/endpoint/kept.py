"""Answers of a model, on disk, so that nothing is asked and paid for twice; a killed run goes on from it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from ..files.text_files import bytes_of
from .settings import Settings

#: How a line begins, so that the rest of one that broke off is told from a file of something else.
_BEGINS: Final = b'{"asked": '


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The text of an answer; ``failure`` is empty, or one word for an answer that no further try would change."""

    text: str
    failure: str = ""


def key_of(settings: Settings, messages: Sequence[Mapping[str, str]], temperature: float = 0) -> str:
    """The SHA-256 of what is asked and of whom: model, server, longest answer, temperature, messages."""
    server = [settings.host, settings.port, settings.path]
    asked = [settings.model, server, settings.limits.answer_tokens, temperature, list(messages)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()


class KeptAnswers:
    """A file of answers (JSON lines: ``asked``, ``text``, ``failure``) that its owner alone may read.

    Answers quote notes. What was asked is kept as a checksum alone. A last line that breaks off was being written when
    the run was killed: it is left out.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        """``path``: the file, made when missing; None keeps answers in memory alone. UsageError when it is there and is
        something else, or cannot be read and written."""
        self._path = None if path is None else Path(path)
        self._held: dict[str, KeptAnswer] = {}
        if self._path is not None:
            self._append(self._path, "")
            self._load(self._path)

    def __len__(self) -> int:
        return len(self._held)

    def find(self, key: str) -> KeptAnswer | None:
        """The answer to what has this key (:func:`key_of`)."""
        return self._held.get(key)

    def keep(self, key: str, answer: KeptAnswer) -> None:
        """Written at once. UsageError when it cannot be."""
        self._held[key] = answer
        if self._path is None:
            return
        self._append(self._path, json.dumps({"asked": key, **asdict(answer)}) + "\n")

    @staticmethod
    def _append(path: Path, line: str) -> None:
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as file:
                file.write(line)
        except OSError as error:
            raise UsageError(f"answers cannot be kept in '{path}': {error.strerror}") from error

    def _load(self, path: Path) -> None:
        try:
            data = bytes_of(path)
            whole = data.rfind(b"\n") + 1
            for number, line in enumerate(data[:whole].split(b"\n"), 1):
                if line.strip():
                    self._take(json.loads(line), number)
            if whole < len(data):
                if not _BEGINS.startswith(data[whole:][: len(_BEGINS)]):
                    raise ValueError("the last line is none of ours")
                os.truncate(path, whole)
            # Only now: the rights of a file that is none of ours stay as they are.
            path.chmod(0o600)
        except OSError as error:
            raise UsageError(f"cannot read '{path}': {error.strerror}") from error
        except (ValueError, RecursionError):
            raise UsageError(f"'{path}' is no file of a model's answers. Hint: name another one") from None

    def _take(self, row: Any, number: int) -> None:
        if not isinstance(row, dict) or set(row) != {"asked", "text", "failure"}:
            raise ValueError(number)
        if not all(isinstance(one, str) for one in row.values()):
            raise ValueError(number)
        self._held[row["asked"]] = KeptAnswer(row["text"], row["failure"])
