#!/usr/bin/env python3
"""Runs the code blocks of README.md and docs/: those of a page one after the other in an empty folder, with the command on the
path. Blocks marked `sh` are run as shells run them, the blocks marked `python` of a page as one program, and blocks marked `c`
are compiled. A block with title="FILE" is written into that file instead. On the pages of cases.OUTPUT a block marked
`text` is what the block before it printed. cases.py has what pages need beforehand and
the few commands that cannot run here, each with its reason; of these the options and files they name are looked up.

    blocks.py GESS SOURCE_FOLDER [PAGE...]
    blocks.py GESS SOURCE_FOLDER --python PYTHON [PAGE...]      only the blocks in Python, by this interpreter
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cases

LANGUAGES = {"sh", "python", "c", "cmake", "r", "json", "text"}
SECONDS = 300


class Page:
    def __init__(self, path, source):
        self.name, self.blocks, self.faults = str(path.relative_to(source)), [], []
        text = path.read_text()
        for match in re.finditer(r"^(`{3,})[ ]?(\w*)[ ]*(.*?)\n(.*?)^\1$", text, flags=re.M | re.S):
            title = re.search(r'title="([^"]+)"', match[3])
            self.blocks.append((match[2], title and title[1], match[4]))
            if match[2] not in LANGUAGES:
                self.faults.append(f"a block is marked {match[2]!r} and not one of {', '.join(sorted(LANGUAGES))}: {match[4][:60]!r}")
        prose = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.M | re.S)
        for match in re.finditer(r"\n\n((?:    \S.*\n)+)", prose):
            if not re.match(r" *(-|\*|\d+\.) ", match[1]):
                self.faults.append(f"an indented block, which no test runs; mark it as ```sh or ```text: {match[1][:60]!r}")


def plain(line):
    """A command without its comment."""
    return re.sub(r"(^|\s+)#(\s.*|$)", "", line).rstrip()


class Commands:
    """The commands of a page's blocks: replaced or left out where cases.py says so. What cases.py has and no page has is a fault."""

    def __init__(self, page, gess, source, python):
        self.page, self.gess, self.source = page, gess, source
        self.instead = cases.INSTEAD.get(page.name, {})
        self.reasons = (cases.PYTHON_NOT_RUN if python else cases.NOT_RUN).get(page.name, {})
        self.unused, self.left_out = set(self.reasons) | (set() if python else set(self.instead)), 0

    def line(self, line):
        command = plain(line)
        if command in self.instead:
            self.unused.discard(command)
            return self.instead[command]
        for pattern in self.reasons:
            if command and re.fullmatch(pattern, command):
                self.unused.discard(pattern)
                self.left_out += 1
                self.look_up(command)
                return ""
        return line

    def block(self, text):
        return "\n".join(map(self.line, text.splitlines()))

    def look_up(self, command):
        """The options and files that a command names, which does not run here."""
        for words in re.findall(r"(?:^|\s)(?:build/)?gess (\w+)((?: [^&|;]+)?)", command):
            text = subprocess.run([self.gess, words[0], "--help"], capture_output=True, text=True, check=False).stdout
            for option in re.findall(r"\s(--[a-z-]+)", words[1]):
                if not re.search(rf"{option}\b", text):
                    self.page.faults.append(f"gess {words[0]} has no option {option}: {command}")
            if words[0] in ("bench", "reproduce") and (name := re.match(r" (\w[\w-]+)", words[1])) and name[1] not in text:
                self.page.faults.append(f"gess {words[0]} {name[1]} does not exist: {command}")
        for path in re.findall(r"(?:^|\s)((?:bench|tests|scripts|packaging)/[\w./-]+\.(?:py|sh))\b", command):
            if not (self.source / path).exists():
                self.page.faults.append(f"there is no {path}: {command}")
        for goal in re.findall(r"(?:^|&& )make ([a-z][a-z-]*)", command):
            if not re.search(rf"^{goal}:", (self.source / "Makefile").read_text(), flags=re.M):
                self.page.faults.append(f"make {goal} does not exist: {command}")


def run(page, arguments, folder, environment, shown):
    try:
        done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        page.faults.append(f"not done after {SECONDS} s:\n{shown}")
        return ""
    if done.returncode != 0:
        page.faults.append(f"status {done.returncode}\n{shown}\n{(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def words(text):
    """Text without its spaces, lines and times."""
    return re.sub(r"\d+\.\d s\b", "N s", " ".join(text.split()))


def check_output(page, text, printed):
    """Lines that a page shows are lines that were printed, but for those that it leaves out."""
    for part in re.split(r"^…$", text, flags=re.M):
        if words(part) not in words(printed):
            page.faults.append(f"the command prints something else than:\n{part}\nIt prints\n{printed[-3000:]}")


def run_page(page, gess, source, python):
    """Everything that a page has in the languages asked for. Returns how many blocks ran, and how many commands were left out."""
    environment = dict(os.environ, NO_COLOR="1", SOURCE=str(source), MPLBACKEND="Agg", **cases.ENVIRONMENT)
    count = 0
    if python and not any(language == "python" and not title for language, title, _ in page.blocks):
        return 0, 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "build").mkdir()
        (Path(folder) / "build" / "gess").symlink_to(gess)
        environment["PATH"] = f"{folder}/build:{environment['PATH']}"
        commands = Commands(page, gess, source, python)
        prepared = cases.PREPARE.get(page.name, "")
        if prepared:
            run(page, ["sh", "-ec", prepared], folder, environment, "what cases.py prepares")
        program, printed = [], ""
        for language, title, text in page.blocks:
            if title:
                (Path(folder) / title).write_text(text)
            elif language == "sh" and not python:
                printed = run(page, ["sh", "-ec", commands.block(text)], folder, environment, text)
            elif language == "text" and not python and page.name in cases.OUTPUT:
                check_output(page, text, printed)
            elif language == "c" and not python:
                before, after = cases.C_FRAME[page.name]
                (Path(folder) / "block.c").write_text(f"{before}\n{text}\n{after}\n")
                run(page, ["cc", "-std=c17", "-Wall", "-Werror", "-fsyntax-only", f"-I{source}/include", "block.c"], folder,
                    environment, text)
            elif language == "python" and python:
                program.append(commands.block(text))
            else:
                continue
            count += 1
        if "\n".join(program).strip():
            text = "\n".join(program)
            run(page, [python, "-c", text, *cases.PYTHON_ARGUMENTS.get(page.name, [])], folder, environment, text)
    page.faults += [f"cases.py has a line that the page has not: {line}" for line in sorted(commands.unused)]
    return count, commands.left_out


def main():
    arguments = sys.argv[1:]
    python = None
    if "--python" in arguments:
        at = arguments.index("--python")
        python = os.path.abspath(arguments[at + 1])
        del arguments[at : at + 2]
    gess, source, wanted = Path(arguments[0]).resolve(), Path(arguments[1]).resolve(), arguments[2:]
    paths = [source / "README.md", *sorted((source / "docs").rglob("*.md"))]
    pages = [page for page in (Page(path, source) for path in paths) if not wanted or page.name in wanted]
    with ThreadPoolExecutor(max_workers=3) as team:
        counts = list(team.map(lambda page: run_page(page, gess, source, python), pages))
    for page in pages:
        for fault in page.faults:
            print(f"FAILED: {page.name}: {fault}")
    blocks = sum(count for count, _ in counts)
    print(f"{blocks} blocks of {len(pages)} pages; {sum(left for _, left in counts)} commands cannot run here (cases.py)")
    too_few = not wanted and blocks < (5 if python else 60)
    if too_few:
        print("FAILED: these are too few")
    return 1 if too_few or any(page.faults for page in pages) else 0


if __name__ == "__main__":
    sys.exit(main())
