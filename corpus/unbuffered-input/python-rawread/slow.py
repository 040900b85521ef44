"""Count the letters of standard input, byte by byte from an unbuffered file."""

counts = {}
with open(0, "rb", buffering=0) as source:
    while letter := source.read(1):
        counts[letter] = counts.get(letter, 0) + 1
for letter in sorted(counts):
    print(letter, counts[letter])
