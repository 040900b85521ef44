"""Random numbers on one line, to a buffered file."""

state = 1
with open(1, "wb") as output:
    for _ in range(300000):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        output.write(b"%d " % (state >> 20))
    output.write(b"\n")
