"""A report of 60000 lines."""

state = 1
for i in range(60000):
    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    print(f"item {i:06d} has value {state:010d} and state {'ready' if state & 1024 else 'waiting'}")
