#!/usr/bin/env python3
"""Draws a command's terminal output as SVG, such as docs/bench.svg:

    cargo build --release
    scripts/terminal-svg.py 'fathom bench ARGS' < OUTPUT > docs/bench.svg

with OUTPUT from `target/release/fathom bench --style color ARGS 2>/dev/null`.
"""
import re
import sys
from html import escape

COLOURS = {"1": None, "2": "#8b949e", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff"}
COLUMN, LINE, LEFT, TOP, INK = 8.43, 18, 16, 28, "#e6edf3"


def pieces(line):
    """Yields the texts of a line with their color and weight, in order."""
    colour, bold = INK, False
    for text, codes in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m)?", line):
        if text:
            yield text, colour, bold
        for code in codes.split(";") if codes else []:
            if code in ("", "0"):
                colour, bold = INK, False
            elif code == "1":
                bold = True
            else:
                colour = COLOURS.get(code) or colour


def words(text):
    """Returns the texts between double spaces with their columns: another font's width must not shift the columns."""
    return [(match.start(), match.group()) for match in re.finditer(r"\S+(?: \S+)*", text)]


def main():
    command = sys.argv[1]
    lines = [f"$ {command}"] + sys.stdin.read().rstrip("\n").split("\n")
    widest = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
    width, height = round(2 * LEFT + widest * COLUMN), TOP + LINE * len(lines)
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">'
        '<rect width="100%" height="100%" rx="8" fill="#16181d"/>'
    )
    for row, line in enumerate(lines):
        column, spans = 0, []
        for text, colour, bold in pieces(line):
            for begin, word in words(text):
                x, long = LEFT + (column + begin) * COLUMN, len(word) * COLUMN
                weight = ' font-weight="bold"' if bold else ""
                spans.append(f'<tspan x="{x:.1f}" fill="{colour}"{weight} textLength="{long:.1f}">{escape(word)}</tspan>')
            column += len(text)
        print(f'<text y="{TOP + LINE * row}" xml:space="preserve">{"".join(spans)}</text>')
    print("</svg>")


main()
