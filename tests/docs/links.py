#!/usr/bin/env python3
"""Looks up every link of the repository's Markdown that does not leave it: the file must be there, and the heading or anchor. The
site's own test does that for docs/ alone.

    links.py SOURCE_FOLDER
"""
import re
import subprocess
import sys
from pathlib import Path

WITHOUT = {"build", "node_modules", ".git"}


def pages(source):
    listed = subprocess.run(["git", "-C", source, "ls-files", "*.md"], capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [source / name for name in listed.stdout.splitlines() if (source / name).exists()]
    return [path for path in source.rglob("*.md") if not WITHOUT & set(path.relative_to(source).parts)]


def prose(path):
    """A page without its blocks and pieces of code."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", path.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def anchors(path):
    """What a link to the page may name: headings, as Markdown's viewers turn them into names, and anchors in HTML."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", path.read_text(), flags=re.M | re.S)
    names = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.*)$", text, flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        names.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return names


def main():
    source = Path(sys.argv[1]).resolve()
    failures = count = 0
    for page in pages(source):
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            other = (page.parent / path).resolve() if path else page
            if not other.exists():
                fault = "there is no such file"
            elif anchor and other.suffix == ".md" and anchor not in anchors(other):
                fault = "the page has no such heading"
            else:
                continue
            failures += 1
            print(f"FAILED: {page.relative_to(source)}: {target}: {fault}")
    print(f"{count} links")
    if count < 100:
        print("FAILED: these are too few")
    return 1 if failures or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
