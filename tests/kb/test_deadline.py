"""Deadlines: they end work, nest, are called off from another thread, and stop what the database runs."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import pytest

from cohortium.kb.deadline import Allowance, check, interruptible, remaining, too_much, within
from cohortium.kb.errors import DeadlineExceeded, UsageError
from cohortium.kb.storage.quiet_database import quiet_database

#: A statement that would run for hours.
ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) % 7 = 3"


def endless(seconds: float) -> None:
    """Work that only a deadline ends."""
    with within(seconds):
        while True:
            check()


def test_without_a_deadline_nothing_ends() -> None:
    """Outside of every deadline a check passes and the time that is left has no end; 0 and None say the same."""
    check()
    assert remaining() == math.inf
    for seconds in (None, 0, math.inf):
        with within(seconds):
            check()
            assert remaining() == math.inf


def test_the_end_is_told_with_what_to_do() -> None:
    """Past the end each check raises, with the seconds and a hint, and the work around it goes on afterwards."""
    with pytest.raises(DeadlineExceeded, match=r"within 0\.01 seconds.*--seconds"):
        endless(0.01)
    check()


@pytest.mark.parametrize(("outer", "inner"), [(0.01, 1000), (1000, 0.01)])
def test_of_nested_deadlines_the_earlier_holds(outer: float, inner: float) -> None:
    """Whichever of two ends is the earlier, inside or outside, is the one that is told."""
    with pytest.raises(DeadlineExceeded, match=r"0\.01"), within(outer):
        endless(inner)


def test_a_deadline_is_of_its_thread() -> None:
    """A thread that is begun under a deadline has none, and its own does not reach back."""
    left = []

    def other() -> None:
        left.append(remaining())
        with within(5):
            time.sleep(0.05)

    with within(1000):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.02)
        assert remaining() > 5
        thread.join()
    assert left == [math.inf]


def test_another_thread_calls_it_off() -> None:
    """Setting the event ends the work at its next check, also where a deadline is set inside."""
    cancel = threading.Event()
    threading.Timer(0.05, cancel.set).start()
    with pytest.raises(DeadlineExceeded, match="called off"), within(None, cancel):
        endless(1000)


def test_what_was_called_off_does_not_begin() -> None:
    """An event that is set already lets nothing begin."""
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(DeadlineExceeded), Allowance(None, cancel).running():
        raise AssertionError("it began")


@pytest.mark.parametrize("seconds", [-1, -0.001, math.nan, "5", [1], True, 10**400])
def test_what_is_no_number_of_seconds_is_refused(seconds: Any) -> None:
    """Below 0, or not a number at all."""
    with pytest.raises(UsageError), within(seconds):
        pass
    with pytest.raises(UsageError):
        Allowance(seconds)


@pytest.mark.parametrize("cancel", [1, "stop", threading.Event])
def test_what_is_no_event_is_refused(cancel: Any) -> None:
    """Nobody could call the answer off by it."""
    with pytest.raises(UsageError, match="cancel"), within(None, cancel):
        pass
    with pytest.raises(UsageError, match="cancel"):
        Allowance(None, cancel)


@pytest.mark.parametrize("how", ["time", "cancel"])
def test_a_statement_of_the_database_is_stopped(how: str) -> None:
    """What the database runs ends with the deadline, and the same connection answers the next statement."""
    connection = quiet_database()
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    limit = within(0.1) if how == "time" else within(60, cancel)
    with pytest.raises(DeadlineExceeded), limit, interruptible(connection):
        connection.execute(ENDLESS).fetchall()
    with within(60), interruptible(connection):
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_an_interrupt_without_a_deadline_is_that_of_the_keyboard() -> None:
    """A statement that Ctrl-C stops is a KeyboardInterrupt, not an error of the database."""
    connection = quiet_database()
    threading.Timer(0.1, connection.interrupt).start()
    with pytest.raises(KeyboardInterrupt), interruptible(connection):
        connection.execute(ENDLESS).fetchall()


def test_other_errors_stay_what_they_are() -> None:
    """A wrong statement is told as such."""
    connection = quiet_database()
    with pytest.raises(Exception, match="nowhere"), within(60), interruptible(connection):
        connection.execute("SELECT * FROM nowhere")


def test_watching_threads_end() -> None:
    """No thread stays behind when the work has ended."""
    connection = quiet_database()
    for _ in range(5):
        with within(1000), interruptible(connection):
            connection.execute("SELECT 1").fetchall()
    until = time.monotonic() + 5
    while time.monotonic() < until and any(one.name == "cohortium-deadline" for one in threading.enumerate()):
        time.sleep(0.01)
    assert not any(one.name == "cohortium-deadline" for one in threading.enumerate())


def test_what_takes_too_much_memory_is_out_of_bounds_too() -> None:
    """It has the same exit code, and says which part."""
    assert too_much("steps").exit_code == 9
    assert "steps" in str(too_much("steps"))
