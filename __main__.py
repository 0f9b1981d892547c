"""The command line's door: ``cohortium`` and ``python -m cohortium``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    print("cohortium: the commands are not joined yet", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
