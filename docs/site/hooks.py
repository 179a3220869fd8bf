"""Hooks of mkdocs: formulas become MathML, so that pages need no network; the C interface comes from the headers; links to
files outside of docs/ become their names."""
import re
from pathlib import Path

import latex2mathml.converter

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY_FOLDERS = ("src", "tests", "bench", "examples", "include", "data", "man", "tools", "python", "cli", "scripts", "packaging")


def header_page(page_text):
    """api.md: the sections of the public headers, as they are."""
    parts = [page_text]
    for name in ("gess.h", "draws.h"):
        text = (ROOT / "include" / "gess" / name).read_text()
        parts.append(f"## `<gess/{name}>`\n")
        sections = re.split(r"^/\* ---- (.*?) ---- \*/$", text, flags=re.M)
        parts.append(code(sections[0]))
        for title, body in zip(sections[1::2], sections[2::2]):
            parts.append(f"### {name}: {title}\n")
            parts.append(code(body))
    return "\n".join(parts)


def code(text):
    return f"``` c\n{text.strip()}\n```\n"


def formulas(markdown):
    """$…$ and $$…$$ outside of code."""
    def convert(match):
        display = match[1] is not None
        made = latex2mathml.converter.convert((match[1] or match[2]).strip(), display="block" if display else "inline")
        made = made.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # "is distributed as" is a relation, with room around it
        made = re.sub(r'(<mi>(?:log|cos|sin|exp)</mi>)(?!<mo stretchy="false">&#x00028;)', r'\1<mspace width="0.17em"/>', made)
        return f'<div style="overflow-x: auto">{made}</div>' if display else made  # wider than a phone: it scrolls, not the page

    def inline_at_line_start(match):
        # Markdown takes a line that begins with <math> for a block of HTML, which ends the paragraph
        return "&zwnj;" + match[0] if 'display="inline"' in match[0] else match[0]

    pieces = re.split(r"(^```.*?^```$|`[^`\n]*`)", markdown, flags=re.M | re.S)
    pattern = re.compile(r"\$\$(.+?)\$\$|\$((?:[^$\n]|\n(?!\n))+?)\$", flags=re.S)
    text = "".join(piece if index % 2 else pattern.sub(convert, piece) for index, piece in enumerate(pieces))
    return re.sub(r"^<math [^>]*>", inline_at_line_start, text, flags=re.M)


def outside_links(markdown):
    """A link to a file of the repository that is no page: its text alone."""
    folders = "|".join(REPOSITORY_FOLDERS)
    markdown = re.sub(rf"\[([^\]]+)\]\(\.\./(?:\.\./)?(?:{folders})[^)]*\)", r"\1", markdown)
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)+([A-Z_]+(?:\.md)?)\)", r"\1", markdown)


def gallery_page():
    """gallery.md: examples/gallery/README.md, with its links as this site has them."""
    text = (ROOT / "examples" / "gallery" / "README.md").read_text()
    return re.sub(r"\]\(\.\./\.\./docs/", "](", text)


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri == "gallery.md":
        return gallery_page()
    if page.file.src_uri == "api.md":
        return header_page(markdown)
    if page.file.src_uri == "method.md":
        markdown = formulas(markdown)
    return outside_links(markdown)
