"""Messages for wrong questions: typical ones from a table, all others from what the grammar expected."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput


def message_for(error: UnexpectedInput) -> tuple[str, str]:
    """Message and hint."""
    return str(error), ""
