"""python -m gess: the command."""
from __future__ import annotations

import os
import sys


def main() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    command = os.path.join(folder, "bin", "gess")
    os.environ.setdefault("GESS_DATA", os.path.join(folder, "data"))
    try:
        os.execv(command, ["gess", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"gess: cannot start {command}: {error}")


if __name__ == "__main__":
    main()
