"""How much work something is, counted in steps and not in seconds: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def steps_of(work: Callable[[], object]) -> int:
    """How many lines are run while something is done, each turn of a loop anew, and functions of the interpreter."""
    steps = 0

    def line(_frame: FrameType, _event: str, _argument: object) -> Callable[..., object]:
        nonlocal steps
        steps += 1
        return line

    def call(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event == "c_call"

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(line)
    sys.setprofile(call)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return steps
