#!/usr/bin/env python3
"""Writes src/plot/glyphs.def, the outlines of the letters that plots draw themselves, from DejaVu Sans Condensed.

    pip install fonttools
    python3 scripts/make-glyphs.py /usr/share/fonts/truetype/dejavu/DejaVuSansCondensed.ttf > src/plot/glyphs.def
"""
import sys

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

EM = 256     # units of an em in the file
SHIFT = 512  # added to every coordinate
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$"
WANTED = (list(range(33, 127)) + list(range(0xA1, 0x100)) + list(range(0x391, 0x3CA)) + [0x3D1, 0x3D5, 0x3F5]
          + list(range(0x2080, 0x2095)) + [0x2070, 0x2071] + list(range(0x2074, 0x2080))
          + [0x2010, 0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2026, 0x2032, 0x2033, 0x210F, 0x2113, 0x2202,
             0x2206, 0x2207, 0x2211, 0x2212, 0x221A, 0x221D, 0x221E, 0x2248, 0x2260, 0x2264, 0x2265, 0x2295, 0x2299,
             0x2609, 0x2190, 0x2192, 0x2020, 0x25A1])


class Flat(BasePen):
    """Contours as lists of points; curves become a few straight lines."""

    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.contours = []

    def _moveTo(self, p):
        self.contours.append([p])

    def _lineTo(self, p):
        self.contours[-1].append(p)

    def _qCurveToOne(self, control, end):
        start = self.contours[-1][-1]
        bend = max(abs(start[k] - 2 * control[k] + end[k]) for k in (0, 1)) * EM / 2048
        steps = max(2, min(6, int((bend / 2) ** .5) + 1))
        for i in range(1, steps + 1):
            t = i / steps
            self.contours[-1].append(tuple((1 - t) ** 2 * start[k] + 2 * t * (1 - t) * control[k] + t * t * end[k] for k in (0, 1)))

    def _curveToOne(self, *points):
        raise ValueError("a cubic curve in a TrueType font")


def coded(value):
    n = round(value) + SHIFT
    return DIGITS[n >> 6] + DIGITS[n & 63]


def main():
    font = TTFont(sys.argv[1])
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), EM / font["head"].unitsPerEm
    print("""/* Outlines of letters, from DejaVu Sans Condensed (THIRD_PARTY.md), by scripts/make-glyphs.py:
 * GESS_GLYPH(code point, advance, outline), lengths in 1/256 em. An outline is a list of closed contours, with a blank
 * between them; a point is four digits of base 64 (0-9A-Za-z#$): x + 512 and y + 512, y upwards. */""")
    print("/* clang-format off */")
    for code in [32] + WANTED:
        if code not in names:
            print(f"U+{code:04X} is not in the font", file=sys.stderr)
            continue
        pen = Flat(glyphs)
        glyphs[names[code]].draw(pen)
        texts = []
        for contour in pen.contours:
            points = [(round(x * scale), round(y * scale)) for x, y in contour]
            points = [p for i, p in enumerate(points) if p != points[i - 1]]
            texts.append("".join(coded(x) + coded(y) for x, y in points))
        print(f'GESS_GLYPH(0x{code:04X}, {round(glyphs[names[code]].width * scale)}, "{" ".join(texts)}")')


main()
