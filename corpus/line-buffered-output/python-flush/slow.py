"""A log of lines; each is flushed."""

state = 1
for i in range(250000):
    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    print("item", i, "has value", state, flush=True)
