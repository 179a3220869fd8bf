#!/usr/bin/env python3
"""Line coverage of src/: what the tests of a build with the preset `coverage` have executed.

    coverage.py SOURCE_FOLDER BUILD_FOLDER [--lines]      a row per folder, then the files below 90 %; --lines: their lines
    coverage.py SOURCE_FOLDER BUILD_FOLDER --check        fails below 90 %, or if docs/measurements.md lacks a file below 90 %

`make coverage` builds, runs the tests and calls this.
"""
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WANTED = 90.0
BATCH = 20


def counts_of(notes):
    """Of every line that the compiler knows, how often it was executed: {file: {line: count}}."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, notes)], capture_output=True, text=True, check=False)
    found = {}
    for text in done.stdout.splitlines():
        if not text.startswith("{"):
            continue
        answer = json.loads(text)
        for file in answer["files"]:
            path = (Path(answer["current_working_directory"]) / file["file"]).resolve()
            lines = found.setdefault(path, {})
            for line in file["lines"]:
                lines[line["line_number"]] = max(lines.get(line["line_number"], 0), line["count"])
    return found


def merge(source, build):
    notes = sorted(build.rglob("CMakeFiles/gess*.dir/**/*.gcno"))
    batches = [notes[i : i + BATCH] for i in range(0, len(notes), BATCH)]
    merged = {}
    with ThreadPoolExecutor() as team:
        for found in team.map(counts_of, batches):
            for path, lines in found.items():
                if not path.is_relative_to(source / "src"):
                    continue
                into = merged.setdefault(str(path.relative_to(source)), {})
                for number, count in lines.items():
                    into[number] = into.get(number, 0) + count
    return merged


def share(lines):
    return 100.0 * sum(count > 0 for count in lines.values()) / max(1, len(lines))


def ranges(numbers):
    text, first, last = [], None, None
    for n in [*sorted(numbers), None]:
        if last is not None and n == last + 1:
            last = n
            continue
        if first is not None:
            text.append(str(first) if first == last else f"{first}-{last}")
        first = last = n
    return ", ".join(text)


def main():
    source, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    merged = merge(source, build)
    if not merged:
        sys.exit(f"{build} has no notes of gcov: configure it with the preset `coverage` and build it")
    folders = {}
    for name, lines in merged.items():
        folders.setdefault(re.match(r"src/[^/]+", name)[0], []).append(lines)
    for folder, files in sorted(folders.items()):
        run, known = sum(c > 0 for l in files for c in l.values()), sum(map(len, files))
        print(f"{folder:<20} {run:6} of {known:6}  {100.0 * run / max(1, known):5.1f} %")
    run, known = sum(c > 0 for l in merged.values() for c in l.values()), sum(map(len, merged.values()))
    print(f"{'src':<20} {run:6} of {known:6}  {100.0 * run / known:5.1f} %")
    low = {name: lines for name, lines in sorted(merged.items()) if share(lines) < WANTED}
    for name, lines in low.items():
        missing = [n for n, count in lines.items() if count == 0]
        print(f"  {name:<40} {share(lines):5.1f} %  {len(missing)} lines" + (f": {ranges(missing)}" if "--lines" in sys.argv else ""))
    if "--check" in sys.argv:
        page = (source / "docs" / "measurements.md").read_text()
        unexplained = [name for name in low if f"`{name}`" not in page]
        if unexplained:
            print("FAILED: docs/measurements.md (Line coverage) gives no reason for", ", ".join(unexplained))
        if 100.0 * run / known < WANTED:
            print(f"FAILED: below {WANTED} %")
        return 1 if unexplained or 100.0 * run / known < WANTED else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
