#!/usr/bin/env python3
"""Runs the command blocks of README.md and docs/: fenced blocks marked `sh`, those of a page one after the other in an empty
folder, with the command on the path. Each line that fails is printed with its page.

blocks.py GESS SOURCE_FOLDER"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def blocks(path):
    return re.findall(r"^```sh\n(.*?)^```$", path.read_text(), flags=re.M | re.S)


def main():
    gess, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    environment = dict(os.environ, PATH=f"{gess.parent}:{os.environ['PATH']}", NO_COLOR="1")
    failed = count = 0
    for path in [source / "README.md", *sorted((source / "docs").rglob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            for block in blocks(path):
                done = subprocess.run(["sh", "-ec", block], cwd=folder, env=environment, capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, timeout=600)
                count += 1
                if done.returncode != 0:
                    failed += 1
                    print(f"FAILED: {path.relative_to(source)}: status {done.returncode}\n{block}{(done.stdout + done.stderr)[-1500:]}")
    print(f"{count} blocks")
    return 1 if failed or count < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
