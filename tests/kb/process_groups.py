"""Runs in process groups of their own, which are killed at moments that are drawn, awaited or counted."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cohortium.kb.errors import CohortiumError

#: Events of the interpreter that change what is on disk, or open it.
_CHANGES = frozenset({"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "fcntl.flock"})


#: As a step: further than any run goes.
COUNTED = 1_000_000


@dataclass
class Group:
    """A run in a group of its own: a function in a child of this process, or a command."""

    run: Callable[[], Any] | None = None
    command: Sequence[str] = ()
    #: Kill itself before this many events of the interpreter that concern ``below`` (0: never; COUNTED: say how many).
    step: int = 0
    below: str = ""
    pid: int = 0
    code: int | None = None
    told: Path = field(default_factory=lambda: Path(tempfile.mkstemp(prefix="cohortium-run-")[1]))

    def start(self) -> Group:
        """Start it; what it prints goes to a file."""
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self._child())
        return self

    def _child(self) -> int:
        try:
            os.setsid()
            out = os.open(self.told, os.O_WRONLY | os.O_APPEND)
            os.dup2(out, 1)
            os.dup2(out, 2)
            if self.command:
                os.execv(self.command[0], list(self.command))
            assert self.run is not None
            left = _kill_at(self.step, self.below) if self.step else [0]
            self.run()
            if self.step == COUNTED:
                print(COUNTED - left[0], flush=True)
        except CohortiumError as error:
            print(error, file=sys.stderr, flush=True)
            return error.exit_code
        except BaseException:
            traceback.print_exc()
            return 70
        return 0

    def poll(self) -> int | None:
        """The exit code (negative: the signal that ended it), or None while it runs."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self, seconds: float = 900.0) -> int:
        """The exit code, once it has ended."""
        limit = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > limit:
                self.kill("group")
                raise TimeoutError(f"a run did not end within {seconds:.0f} s: {self.said()}")
            time.sleep(0.002)
        return int(self.code or 0)

    def workers(self) -> list[int]:
        """The processes of the group but the first that read notes."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.pid:
                continue
            try:
                of_group = os.getpgid(int(entry.name)) == self.pid
                if of_group and b"spawn_main" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except (OSError, ProcessLookupError):
                continue
        return found

    def kill(self, whom: str, chance: random.Random | None = None) -> bool:
        """SIGKILL to the ``group``, the ``main`` process or a ``worker``; False when there was nobody left."""
        if self.poll() is not None:
            return False
        try:
            if whom == "group":
                os.killpg(self.pid, signal.SIGKILL)
            elif whom == "main":
                os.kill(self.pid, signal.SIGKILL)
            else:
                workers = self.workers()
                if not workers:
                    return False
                os.kill((chance or random).choice(workers), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def gone(self, seconds: float = 120.0) -> bool:
        """Whether nobody of the group is left, perhaps after a while."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.01)
        return False

    def said(self) -> str:
        """What it printed."""
        return self.told.read_text(encoding="utf-8", errors="replace")

    def forget(self) -> None:
        """Remove the file of what it printed."""
        self.told.unlink(missing_ok=True)


def _kill_at(step: int, below: str) -> list[int]:
    """Let this process kill itself before so many changes of files below a folder; how many are left until then."""
    left = [step]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CHANGES and _concerns(arguments, below):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return left


def _concerns(arguments: tuple[Any, ...], below: str) -> bool:
    first = arguments[0] if arguments else ""
    if isinstance(first, int):
        return True
    # A path of rmtree is relative to a handle: it has no folder.
    return isinstance(first, str | bytes | os.PathLike) and (
        (text := os.fsdecode(first)).startswith(below) or os.sep not in text
    )


def in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` gives, done in a child: the database's threads never live in the process that forks."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            result = (True, work())
        except BaseException as error:
            result = (False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        with os.fdopen(write, "wb") as file:
            pickle.dump(result, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    well, value = pickle.loads(data) if data else (False, "the child ended without a word")
    if not well:
        raise RuntimeError(value)
    return value
