"""Count the words of standard input."""

import sys

counts = {}
for line in sys.stdin:
    for word in line.split():
        counts[word] = counts.get(word, 0) + 1
for word in sorted(counts, key=lambda word: (-counts[word], word))[:10]:
    print(word, counts[word])
