"""Prints how many different lines and words standard input has."""
import collections
import sys

lines, words = [], collections.Counter()


def add(line):
    words.update(line.split())
    if line not in lines:
        lines.append(line)


for line in sys.stdin:
    add(line.strip().lower())
print(len(lines), len(words))
