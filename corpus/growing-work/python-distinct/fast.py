"""Prints how many different lines and words standard input has."""
import collections
import sys

lines, words = set(), collections.Counter()


def add(line):
    words.update(line.split())
    lines.add(line)


for line in sys.stdin:
    add(line.strip().lower())
print(len(lines), len(words))
