"""The rivals, in an interpreter of their own: asked by JSON lines, timed there (:mod:`.rival_worker`)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from benchmarks.scale.turns import Call, Spent

WORKER: Final = Path(__file__).with_name("rival_worker.py")
#: Versions that the figures are of.
PINNED: Final = "'openmed[duckdb]==3.1.0' medspacy==1.3.1"
HINT: Final = (
    f"Hint: python3 -m venv rivals && rivals/bin/pip install {PINNED}, then --rivals rivals/bin/python "
    "(docs/results/speed_at_scale.md)"
)


class RivalMissing(Exception):
    """A rival is not installed where it was looked for."""


class RivalFailed(Exception):
    """A rival answered with an error."""


class RivalProcess:
    """One running interpreter."""

    def __init__(self, interpreter: str | Path) -> None:
        """RivalMissing when there is no such interpreter."""
        try:
            self._process = subprocess.Popen(
                [str(interpreter), str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise RivalMissing(f"no interpreter {interpreter}: {error.strerror}. {HINT}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def ask(self, operation: str, **fields: Any) -> dict[str, Any]:
        """The answer of an operation of the worker. RivalMissing, RivalFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"operation": operation, **fields}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RivalFailed(f"{operation}: the process has ended")
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise RivalMissing(f"{answer['missing']} is not installed there. {HINT}")
        if "error" in answer:
            raise RivalFailed(f"{operation}: {answer['error']}")
        return answer

    def timed(self, operation: str, **fields: Any) -> Call:
        """What the operation takes, as the worker measured it."""

        def measured() -> Spent:
            answer = self.ask(operation, **fields)
            return Spent(answer["wall"], answer["processor"])

        return measured


def distinct(values: Sequence[int]) -> set[int]:
    """Patient numbers as ours: the rival's begin at 1."""
    return {value - 1 for value in values}
