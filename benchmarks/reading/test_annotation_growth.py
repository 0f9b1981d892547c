"""How the annotation of one text grows with its length, whatever is repeated."""

from __future__ import annotations

import time

import pytest

import cohortium


@pytest.mark.parametrize(
    "piece",
    [
        "CT showed a 2.3 cm mass. ",
        "nausea, vomiting, rash, ",
        "large large large ",
        "no evidence of ",
        "2 x ",
        "1 2 3 4 ",
        "cisplatin induced nausea and ",
        "daily ",
        "left ",
        "- ",
        "three weeks ",
        "\n",
    ],
)
def test_cost_grows_with_the_text(piece: str) -> None:
    """Four times the text takes no more than about four times as long, whatever is repeated."""
    short, long = (piece * (size // len(piece)) for size in (4_000, 16_000))
    cohortium.read(short[:1000])
    started = time.process_time()
    cohortium.read(short)
    between = time.process_time()
    cohortium.read(long)
    ended = time.process_time()
    assert ended - between <= max(0.5, 8 * (between - started))
