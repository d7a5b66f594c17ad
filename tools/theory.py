#!/usr/bin/env python3
"""Draws the figures of docs/analysis.md: model.svg, interval.svg, counter.svg and cycle.svg of docs/analysis/.

    tools/theory.py
"""

import os

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs/analysis")
BLUE, YELLOW, RED, GREEN, WHITE = "#4c78a8", "#f2cf5b", "#e45756", "#54a24b", "#ffffff"
DARK = (BLUE, RED, GREEN)


class Figure:
    """A picture of lines, boxes and words; places are in points."""

    def __init__(self, name, title, width, height):
        self.name = name
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width * 1.6:.0f}" '
            f'height="{height * 1.6:.0f}" font-family="DejaVu Sans, sans-serif" font-size="8">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
        ]

    def word(self, x, y, text, anchor="start", style=""):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" {style}>{text}</text>')

    def box(self, x, y, width, height, fill, text="", dashed=False):
        dash = ' stroke-dasharray="2 1.5"' if dashed else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" stroke="#333" '
            f'stroke-width="0.6"{dash}/>'
        )
        colour = "#fff" if fill in DARK else "#222"
        if text:
            self.word(x + width / 2, y + height / 2 + 3, text, "middle", f'fill="{colour}"')

    def line(self, path, dashed=False, colour="#222", width=0.6):
        dash = ' stroke-dasharray="1 2"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')

    def instant(self, x, top, bottom, text):
        self.line(f"M{x} {top}V{bottom}", dashed=True)
        self.word(x, top - 4, text, "middle", 'font-style="italic"')

    def arrow(self, x, y, up, colour="#222"):
        """A release points up to its end, a deadline down."""
        tip, tail = (y - 12, y) if up else (y, y - 12)
        side = 3 if up else -3
        self.line(f"M{x} {tail}V{tip}M{x - 2} {tip + side}L{x} {tip}L{x + 2} {tip + side}", colour=colour, width=0.9)

    def write(self):
        with open(os.path.join(FOLDER, self.name), "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts + ["</svg>", ""]))


def model():
    figure = Figure("model.svg", "Two clusters on one channel: a stripe and a superblock", 470, 190)
    for x, width, kind in [(10, 215, "stripe, s = 2"), (245, 215, "superblock, s = 2")]:
        figure.box(x, 24, width, 108, "#f4f4f4", dashed=True)
        figure.word(x + width / 2, 19, f"cluster: {kind}", "middle", 'font-weight="bold"')
    queue = "requests, GC, server"
    for x in (20, 125):
        figure.box(x, 34, 90, 18, YELLOW)
        figure.word(x + 45, 46, "EDF queue", "middle")
        figure.line(f"M{x + 45} 52V70")
    figure.box(255, 34, 195, 18, YELLOW, f"one EDF queue ({queue})")
    for x in (300, 405):
        figure.line(f"M{x} 52V70")
    for number, x in enumerate((20, 125, 255, 360)):
        figure.box(x, 70, 90, 52, WHITE)
        figure.word(x + 45, 80, f"chip {number}", "middle")
        figure.box(x + 6, 86, 78, 14, RED, "array: t_r, t_w, t_e")
        figure.box(x + 6, 103, 78, 14, GREEN, "page register")
        figure.line(f"M{x + 45} 122V150")
    figure.box(10, 150, 450, 16, BLUE, "channel, m_c = 4 chips: one page at a time, t_d each; first come, first served, or round robin")
    figure.word(10, 182, "A processor is one queue: each chip of the stripe, and the superblock as a whole.")
    figure.write()


def interval():
    figure = Figure("interval.svg", "The busy interval of Lemma 4", 470, 150)
    figure.word(62, 75, "processor", "end")
    figure.line("M68 80H455", colour="#999")
    steps = [(80, 62, WHITE, "due after z"), (142, 60, BLUE, "read"), (202, 78, BLUE, "write"), (280, 96, RED, "pass of GC"),
             (376, 64, BLUE, "late job")]
    for x, width, fill, text in steps:
        figure.box(x, 60, width, 20, fill, text, dashed=fill == WHITE)
    figure.instant(134, 36, 108, "x")
    figure.instant(424, 36, 108, "z")
    for x in (134, 168, 236, 300):
        figure.arrow(x, 98, True)
    figure.word(62, 96, "releases", "end")
    for x in (262, 352, 424):
        figure.arrow(x, 54, False)
    figure.word(62, 50, "deadlines", "end")
    figure.line("M134 114H424M134 111V117M424 111V117")
    figure.word(279, 124, "L = z − x", "middle", 'font-style="italic"')
    figure.word(10, 140, "One step begun before x blocks: B(L). All others are of jobs released in [x, z] and due by z: dbf(L) and U_s L.")
    figure.write()


def counter():
    figure = Figure("counter.svg", "The counter of rule R1 releases GC jobs", 470, 190)
    left, bottom, unit = 60, 140, 16
    figure.line(f"M{left} {bottom}H450M{left} {bottom}V20")
    figure.word(455, bottom + 3, "t")
    figure.word(left - 4, 22, "a(t), pages", "end")
    for k in (1, 2, 3):
        y = bottom - 2 * k * unit
        figure.line(f"M{left} {y}H440", dashed=True)
        figure.word(left - 4, y + 3, f"{k}α" if k > 1 else "α", "end", 'font-style="italic"')
    path, at, jobs = f"M{left} {bottom}", 0, []
    for x, pages in [(90, 1), (150, 1), (190, 1), (240, 2), (330, 1.5)]:
        crossed = [k for k in (1, 2, 3) if at < 2 * k <= at + pages]
        jobs += [(x, k) for k in crossed]
        at += pages
        path += f"H{x}V{bottom - at * unit}"
    figure.line(path + "H440", colour=BLUE, width=1.4)
    length = 76
    for x, k in jobs:
        figure.arrow(x, bottom + 14, True, RED)
        figure.arrow(x + length, bottom + 14, False, RED)
        figure.line(f"M{x} {bottom + 8}H{x + length}", colour=RED)
        figure.word(x + 3, bottom + 24, f"job {k}", "start", f'fill="{RED}"')
    figure.word(left - 4, bottom + 12, "GC jobs", "end")
    figure.word(10, 182, "Red: a job is released where a(t) reaches the next multiple of α, and is due D_g later.")
    figure.write()


def cycle():
    figure = Figure("cycle.svg", "A cycle: two reads of chip i, one after the other", 493, 172)
    page, sense, left = 70.0, 87.5, 86.8
    g, end = left + page, left + 2 * page
    asked = end + sense
    busy = asked - page
    rows = {"bus": 34, "chip i": 62, "chip j": 90, "chip k": 118}
    for name, y in rows.items():
        figure.word(70, y + 11, name, "end")
        figure.line(f"M78 {y + 16}H463", colour="#999")
    for row, x, width, fill, text in [
        ("bus", left, page, BLUE, "j"), ("bus", g, page, BLUE, "i"), ("bus", busy, page, BLUE, "j"),
        ("bus", asked, page, BLUE, "k"), ("bus", asked + page, page, BLUE, "i"),
        ("chip i", left, page, WHITE, "waits"), ("chip i", g, page, BLUE, "transfer"),
        ("chip i", end, sense, YELLOW, "senses, ε"), ("chip i", asked, page, WHITE, "waits, ω'"),
        ("chip i", asked + page, page, BLUE, "transfer"),
        ("chip j", left, page, BLUE, "transfer"), ("chip j", g, sense, YELLOW, "senses"),
        ("chip j", busy, page, BLUE, "transfer"), ("chip j", asked, sense, YELLOW, "senses"),
        ("chip k", asked - page / 2, page / 2, WHITE, "waits"), ("chip k", asked, page, BLUE, "data in"),
        ("chip k", asked + page, page, RED, "programs"),
    ]:
        figure.box(x, rows[row], width, 16, fill, text, dashed=fill == WHITE)
    for x, text in [(g, "g"), (end, "G"), (busy, "τ"), (asked, "y"), (asked + page, "y + ω'")]:
        figure.instant(x, 26, 142, text)
    figure.word(78, 154, "j’s request is not fresh: it senses since its last transfer ended, at p = g. k’s is fresh: a program’s.")
    figure.word(78, 165, "From τ on the bus is not idle: (y − τ) + ω' = 2 t_d, and y − τ = φ is saved.")
    figure.write()


if __name__ == "__main__":
    for draw in (model, interval, counter, cycle):
        draw()
